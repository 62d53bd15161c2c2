//! Follows the dialogs on screens: which one is open, when it stands still, and the answer that rules gave.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::keystrokes::Keystrokes;
use super::pane::Pane;
use super::state::Panes;
use crate::deliver::{Choice, DialogAnswer};
use crate::model::{AgentName, Keys, Moment, Question, RunId, Subject};

/// A dialog that is still being drawn has changed by then.
const REST: Duration = Duration::from_millis(400);

/// A person who has not pressed a key for this long leaves the dialog to the rules.
const TYPING_PAUSE: Duration = Duration::from_secs(4);

/// The dialog that is open in a pane.
#[derive(Debug)]
pub(super) struct OpenDialog {
    fingerprint: String,
    /// What it asks permission for, if that can be read.
    question: Option<Question>,
    since: Moment,
    /// The engine was told of it: whatever comes of that, it is told once.
    is_told: bool,
}

impl Panes {
    /// Returns the dialogs that have stood still for long enough, once each, with what they ask.
    pub(in crate::hub) fn still_dialogs(
        &mut self,
        now: Moment,
    ) -> Vec<(AgentName, RunId, Option<Question>)> {
        let is_due = |pane: &Pane| pane.dialog_deadline().is_some_and(|deadline| deadline <= now);
        let due = self.by_agent.iter_mut().filter(|(_, pane)| is_due(pane));
        let tell = |(agent, pane): (&AgentName, &mut Pane)| {
            let run = pane.run;
            let dialog = pane.dialog.as_mut()?;
            dialog.is_told = true;
            Some((agent.clone(), run, dialog.question.clone()))
        };
        due.filter_map(tell).collect()
    }

    /// Says whether a dialog that the engine was to be told of is still open.
    pub(in crate::hub) fn still_asks(
        &self,
        agent: &AgentName,
        run: RunId,
        asked: &Question,
    ) -> bool {
        let pane = self.by_agent.get(agent).filter(|pane| pane.run == run);
        let dialog = pane.and_then(|pane| pane.dialog.as_ref());
        dialog.is_some_and(|one| one.is_told && one.question.as_ref() == Some(asked))
    }

    /// Begins to answer the dialog that the engine approved; not where other keys are being pressed.
    pub(in crate::hub) fn begin_approval(
        &mut self,
        (agent, run): (&AgentName, RunId),
        (fingerprint, yes): (String, usize),
        keys: &Keys,
        now: Moment,
    ) -> Option<()> {
        let pane = self.by_agent.get_mut(agent).filter(|pane| pane.run == run)?;
        let scene = pane.scene().filter(|_| pane.keystrokes.is_none())?;
        let machine = DialogAnswer::begin(&fingerprint, Choice::Option(yes), keys, &scene, now);
        pane.keystrokes = Some(Keystrokes::Approval { fingerprint, machine });
        Some(())
    }

    /// Tells of every dialog that is open once more: other rules hold now.
    pub(in crate::hub) fn tell_dialogs_again(&mut self) {
        for dialog in self.by_agent.values_mut().filter_map(|pane| pane.dialog.as_mut()) {
            dialog.is_told = false;
        }
    }
}

impl Pane {
    /// Notes which dialog is open.
    pub(in crate::hub) fn note_dialog(&mut self, now: Moment) {
        let dialog = self.detector.as_ref().and_then(|detector| detector.dialog());
        let asked = dialog.map(|dialog| (dialog.fingerprint(), dialog.question()));
        let is_same = |dialog: &OpenDialog| {
            asked.as_ref().is_some_and(|(fingerprint, question)| {
                (&dialog.fingerprint, &dialog.question) == (fingerprint, question)
            })
        };
        if !self.dialog.as_ref().is_some_and(is_same) {
            let (since, is_told) = (now, false);
            self.dialog = asked.map(|(fingerprint, question)| OpenDialog {
                fingerprint,
                question,
                since,
                is_told,
            });
        }
    }

    /// Returns when the open dialog has stood still for long enough.
    pub(super) fn dialog_deadline(&self) -> Option<Moment> {
        let is_free = self.is_live() && self.keystrokes.is_none();
        let dialog = self.dialog.as_ref().filter(|dialog| is_free && !dialog.is_told)?;
        let typed = self.disturbed_at.map(|at| at + TYPING_PAUSE).unwrap_or_default();
        Some(typed.max(dialog.since + REST))
    }
}

/// Returns a question about a file with the one that is meant, as seen from where the agent works;
/// nothing, if it does not lie there.
pub(in crate::hub) fn resolved(cwd: &Path, question: Question) -> Option<Question> {
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
