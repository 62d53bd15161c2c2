//! Writes the board of a mesh to a plain file, so that agents can look at what they share without asking.
//!
//! It is a mirror: the hub keeps what it shows, and nobody reads it back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, renameat, statat, unlinkat};
use serde_json::{Value, json};

use crate::api::{LockStatus, TaskStatus};
use crate::config::plain_json;
use crate::engine::{Engine, Seat};
use crate::model::{Moment, Pattern, Play};

/// Where the board lies in the project.
const FOLDER: &str = ".wheelhouse";
const FILE: &str = "board.json";

/// Whoever looks more often than this sees the same.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the mirror out of commits and out of `git status`, and itself too.
const IGNORED: &str = "/board.json\n/.gitignore\n";

/// What was written last, and when there is more.
#[derive(Debug, Default)]
pub(in crate::hub) struct Board {
    text: String,
    /// Not before this.
    pause_until: Moment,
    due: Option<Moment>,
    is_being_written: bool,
}

impl Board {
    /// Notes that something has changed which the board may show.
    pub(in crate::hub) fn note_change(&mut self, engine: &Engine, now: Moment) {
        let is_mesh = |play: &Play| play.cast.pattern == Pattern::Mesh;
        if engine.plays().any(is_mesh) {
            self.due = self.due.or(Some(now.max(self.pause_until)));
        }
    }

    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        // Of two boards the later one must stay.
        self.due.filter(|_| !self.is_being_written)
    }

    /// Returns what writes the board, if it is time and the board has changed.
    pub(in crate::hub) fn begin_writing(
        &mut self,
        engine: &Engine,
        project: &Path,
        now: Moment,
    ) -> Option<impl FnOnce() -> io::Result<String> + use<>> {
        if self.next_deadline().is_none_or(|due| due > now) {
            return None;
        }
        (self.due, self.pause_until) = (None, now + PAUSE);
        let text = board_text(engine);
        if text == self.text {
            return None;
        }
        self.is_being_written = true;
        let folder = project.join(FOLDER);
        Some(move || replace(&folder, &text).map(|()| text))
    }

    /// Notes what came of writing the board.
    pub(in crate::hub) fn end_writing(&mut self, written: io::Result<String>) {
        self.is_being_written = false;
        match written {
            Ok(text) => self.text = text,
            Err(error) => tracing::warn!(%error, "the board could not be written"),
        }
    }
}

/// Returns the runs that are not over, and the last one.
fn board_text(engine: &Engine) -> String {
    let plays: Vec<&Play> =
        engine.plays().filter(|play| play.cast.pattern == Pattern::Mesh).collect();
    let last = plays.last().map(|play| play.id);
    let shown = plays.into_iter().filter(|play| !play.state.is_over() || Some(play.id) == last);
    let runs: Vec<Value> = shown.map(|play| board_of(engine, play)).collect();
    let locks: Vec<LockStatus> = engine.locks().map(LockStatus::from).collect();
    let board = json!({ "runs": runs, "locks": locks });
    let text = serde_json::to_string_pretty(&board).unwrap_or_default();
    text.lines().map(|line| plain_json(line) + "\n").collect()
}

fn board_of(engine: &Engine, play: &Play) -> Value {
    let seats = play.cast.agents.iter().filter_map(|player| engine.seat(&player.name));
    let agent = |seat: &Seat| {
        let name = &seat.member.name;
        let task = engine.task_of(name).map(|task| task.id.to_string());
        json!({ "name": name, "state": seat.state, "task": task })
    };
    let agents: Vec<Value> = seats.map(agent).collect();
    let tasks: Vec<TaskStatus> =
        engine.play_tasks(play.id).into_iter().map(TaskStatus::from).collect();
    let own = engine.contracts().filter(|contract| play.casts(&contract.publisher));
    let contracts: Vec<Value> = own
        .map(|one| {
            json!({
                "title": one.title,
                "publisher": one.publisher,
                "version": one.version,
                "body": one.body,
            })
        })
        .collect();
    json!({
        "run": play.id,
        "playbook": play.cast.playbook,
        "state": play.state,
        "agents": agents,
        "tasks": tasks,
        "contracts": contracts,
    })
}

/// Says whether a file of the project is the mirror, which is nobody's work.
pub(in crate::hub) fn is_mirror(path: &Path) -> bool {
    path.parent() == Some(Path::new(FOLDER))
        && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FILE))
}

/// Puts a text in place of the old one, so that nobody ever reads half of it.
///
/// Agents write in the project, too: what one may have put there in place of the folder or of a file
/// is not followed.
fn replace(folder: &Path, text: &str) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = rustix::fs::open(folder, flags, Mode::empty())?;
    if statat(&place, ".gitignore", AtFlags::SYMLINK_NOFOLLOW).is_err() {
        create(&place, ".gitignore", IGNORED)?;
    }
    let new = format!("{FILE}.new");
    // What is left of a draft, or was planted, goes.
    let _ = unlinkat(&place, &new, AtFlags::empty());
    create(&place, &new, text)?;
    Ok(renameat(&place, &new, &place, FILE)?)
}

/// Writes a file that was not there, nor anything of its name.
fn create(place: &impl AsFd, name: &str, text: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(place, name, flags, Mode::from_raw_mode(0o644))?;
    File::from(file).write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_an_agent_planted_is_not_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join(FOLDER);
        let (victim, outside) = (directory.path().join("victim"), directory.path().join("outside"));
        fs::write(&victim, "mine").unwrap();
        fs::create_dir(&folder).unwrap();
        for name in [".gitignore", "board.json.new", FILE] {
            symlink(&victim, folder.join(name)).unwrap();
        }
        replace(&folder, "{}").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(folder.join(FILE)).unwrap(), "{}");
        assert!(!folder.join(FILE).is_symlink());
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, &folder).unwrap();
        assert!(replace(&folder, "{}").is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
