//! Dialogs that rules may answer: told to the engine once they stand still, answered as it orders.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::keystrokes::Keystrokes;
use super::pane::Pane;
use crate::deliver::{Answer, Choice};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::model::{AgentName, Moment, Place, Question, RunId, Runner, Stage, Subject};

/// A dialog that is still being drawn has changed by then.
const REST: Duration = Duration::from_millis(400);

/// A person who has not pressed a key for this long leaves the dialog to the rules.
const TYPING_PAUSE: Duration = Duration::from_secs(4);

/// The dialog in sight of a pane.
#[derive(Debug)]
pub(in crate::hub) struct Asking {
    fingerprint: String,
    /// What it asks permission for, if that can be read.
    question: Option<Question>,
    since: Moment,
    /// The engine has heard of it: whatever comes of that, it hears of it once.
    is_told: bool,
}

impl Hub {
    /// Tells the engine of dialogs that have stood still for long enough.
    pub(in crate::hub) fn ask_leave_due(&mut self, now: Moment) {
        let is_due = |pane: &Pane| pane.leave_deadline().is_some_and(|deadline| deadline <= now);
        let due = self.panes.iter().filter(|(_, pane)| is_due(pane));
        for agent in due.map(|(agent, _)| agent.clone()).collect::<Vec<_>>() {
            let Some(pane) = self.panes.get_mut(&agent) else { continue };
            let Some(asking) = &mut pane.asking else { continue };
            asking.is_told = true;
            let (run, question) = (pane.run, asking.question.clone());
            match question {
                Some(question) if matches!(question.subject, Subject::Path(_)) => {
                    self.ask_leave_for_file(&agent, run, question);
                }
                question => {
                    let event = question.map_or(RunEvent::AskedPerson, RunEvent::AskedApproval);
                    self.note_run(&agent, run, event);
                }
            }
        }
    }

    /// Tells the engine of a dialog about a file once it is known where that lies, if the dialog is
    /// still in sight then.
    fn ask_leave_for_file(&mut self, agent: &AgentName, run: RunId, question: Question) {
        // Where a link leads elsewhere, nobody sees from here.
        let has_own_files = |runner: &Runner| !matches!(runner.place, Place::Image { .. });
        let is_elsewhere = self.runner_of(agent).is_some_and(has_own_files);
        let seat = self.engine.seat(agent).filter(|_| !is_elsewhere);
        let Some(cwd) = seat.map(|seat| seat.member.cwd.clone()) else {
            return self.note_run(agent, run, RunEvent::AskedPerson);
        };
        let (agent, asked) = (agent.clone(), question.clone());
        self.in_background(
            move || resolved(&cwd, question),
            move |hub, found| {
                let is_it =
                    |asking: &Asking| asking.is_told && asking.question.as_ref() == Some(&asked);
                let pane = hub.panes.get(&agent).filter(|pane| pane.run == run);
                if pane.and_then(|pane| pane.asking.as_ref()).is_some_and(is_it) {
                    let found = found.unwrap_or_default();
                    let event = found.map_or(RunEvent::AskedPerson, RunEvent::AskedApproval);
                    hub.note_run(&agent, run, event);
                }
            },
        );
    }

    /// Answers the dialog that the engine approved.
    pub(in crate::hub) fn give_leave(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (fingerprint, yes): (String, usize),
    ) {
        let now = self.clock.now();
        let keys = self.manifest_of(agent).map(|one| one.keys.clone()).unwrap_or_default();
        let pane = self.panes.get_mut(agent).filter(|pane| pane.run == run);
        let free = pane.filter(|pane| pane.errand.is_none());
        let begun = free.and_then(|pane| {
            let scene = pane.scene()?;
            let machine = Answer::begin(&fingerprint, Choice::Option(yes), &keys, &scene, now);
            pane.errand = Some(Keystrokes::Leave { fingerprint: fingerprint.clone(), machine });
            Some(())
        });
        if begun.is_some() {
            return self.run_errand(agent, now);
        }
        let reason = Some("other keys are being pressed in its pane".to_owned());
        let stage = Stage::Refused;
        self.note_run(agent, run, RunEvent::Approved { fingerprint, stage, reason });
    }

    /// Lets the rules that hold now see every dialog that is open.
    pub(in crate::hub) fn heed_approvals(&mut self) {
        for asking in self.panes.values_mut().filter_map(|pane| pane.asking.as_mut()) {
            asking.is_told = false;
        }
    }
}

impl Pane {
    /// Notes which dialog is in sight.
    pub(in crate::hub) fn note_asking(&mut self, now: Moment) {
        let dialog = self.detector.as_ref().and_then(|detector| detector.dialog());
        let asked = dialog.map(|dialog| (dialog.fingerprint(), dialog.question()));
        let is_same = |asking: &Asking| {
            asked.as_ref().is_some_and(|(fingerprint, question)| {
                (&asking.fingerprint, &asking.question) == (fingerprint, question)
            })
        };
        if !self.asking.as_ref().is_some_and(is_same) {
            self.asking = asked.map(|(fingerprint, question)| Asking {
                fingerprint,
                question,
                since: now,
                is_told: false,
            });
        }
    }

    /// Returns when the dialog in sight has stood still for long enough.
    pub(in crate::hub) fn leave_deadline(&self) -> Option<Moment> {
        let is_live = self.link.is_some() && self.errand.is_none();
        let asking = self.asking.as_ref().filter(|asking| is_live && !asking.is_told)?;
        let typed = self.disturbed_at.map(|at| at + TYPING_PAUSE).unwrap_or_default();
        Some(typed.max(asking.since + REST))
    }
}

/// Returns a question about a file with the one that is meant, as seen from where the agent works;
/// nothing, if it does not lie there.
fn resolved(cwd: &Path, question: Question) -> Option<Question> {
    let Subject::Path(shown) = &question.subject else { return Some(question) };
    let path = within(cwd, Path::new(shown))?;
    let subject = Subject::Path(path.to_str()?.to_owned());
    Some(Question { subject, ..question })
}

/// Returns the path of a file relative to a directory, with links followed, if it lies in there.
fn within(directory: &Path, shown: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component| matches!(part, Component::Normal(_) | Component::RootDir);
    // Who shows such a path may mean somebody's home by it.
    let is_home = shown.as_os_str().as_encoded_bytes().starts_with(b"~");
    if !shown.components().all(is_plain) || is_home {
        return None;
    }
    let directory = directory.canonicalize().ok()?;
    let whole = directory.join(shown);
    // A link to nowhere is there, too: whatever it names would be written.
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    let existing = whole.ancestors().find(is_there)?;
    let rest = whole.strip_prefix(existing).ok()?;
    let real = existing.canonicalize().ok()?.join(rest);
    real.strip_prefix(&directory).ok().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_lies_where_its_links_lead() {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let work = root.join("work");
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(root.join("secret"), "").unwrap();
        symlink(&root, work.join("out")).unwrap();
        symlink(root.join("nowhere"), work.join("dangling")).unwrap();
        symlink(root.join("secret"), work.join("src/innocent.rs")).unwrap();
        symlink(work.join("src"), work.join("inside")).unwrap();
        let found = |shown: &str| within(&work, Path::new(shown));
        assert_eq!(found("src/a.rs"), Some("src/a.rs".into()));
        assert_eq!(found("new/deep/a.rs"), Some("new/deep/a.rs".into()));
        assert_eq!(found("inside/a.rs"), Some("src/a.rs".into()));
        let absolute = work.join("src/a.rs");
        assert_eq!(found(absolute.to_str().unwrap()), Some("src/a.rs".into()));
        for outside in [
            "../secret",
            "src/../../secret",
            "/etc/passwd",
            "~/.bashrc",
            "~root/.bashrc",
            "out/secret",
            "out/new",
            "dangling",
            "src/innocent.rs",
            "./../secret",
        ] {
            assert_eq!(found(outside), None, "{outside}");
        }
    }
}
