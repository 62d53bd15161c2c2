//! Has files scanned and gates run beside the hub; what came of it returns as an event.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Event;
use crate::hub::Hub;
use crate::hub::tasks::artifacts::hash_file;
use crate::hub::tasks::file_tree;
use crate::hub::tasks::gate_check::GateContext;
use crate::hub::tasks::gates::{check_fresh, with_promise};
use crate::hub::tasks::scan::scan;
use crate::model::{ClaimProgress, PlayId, Task, TaskId};

impl Hub {
    /// Takes the hash of a file that an attempt hands on.
    pub(in crate::hub) fn hash_artifact(
        &self,
        task: TaskId,
        attempt: usize,
        path: String,
        cwd: PathBuf,
    ) {
        let hashing = hash_file(self.shown_at(&cwd), cwd, path.clone());
        self.when_done(hashing, move |hub, hash| {
            hub.decide(Event::FileHashed { task, attempt, path, hash });
        });
    }

    /// Runs the gates of a claim, one after the other, where its agent works.
    pub(in crate::hub) fn run_gates(
        &self,
        task: TaskId,
        attempt: usize,
        gates: Vec<String>,
        cwd: PathBuf,
    ) {
        let mark = format!("WHEELHOUSE_GATE={}:{task}:{attempt}", self.paths.session);
        let known = self.engine.task(task).filter(|task| task.attempts.len() == attempt);
        let Some(open) = known.and_then(Task::open) else { return };
        // What was put off may not be wanted any more.
        if !open.claim.as_ref().is_some_and(|claim| claim.progress == ClaimProgress::Gates) {
            return;
        }
        let (began, remote) = (open.started, self.shown_at(&cwd));
        let promised = |title: &str, version| self.engine.promised(task, title, version);
        let gates = gates.into_iter().map(|gate| with_promise(gate, promised)).collect();
        let checking = check_fresh(remote, gates, GateContext { cwd, mark, began });
        self.when_done(checking, move |hub, checks| {
            hub.decide(Event::Gates { task, attempt, checks });
        });
    }

    /// Runs the gates that stand between a run's stage, in a round of it, and the next.
    pub(in crate::hub) fn run_stage_gates(
        &self,
        (play, stage, round): (PlayId, usize, u32),
        gates: Vec<String>,
        cwd: PathBuf,
    ) {
        let mark = format!("WHEELHOUSE_GATE={}:{play}:{stage}", self.paths.session);
        let Some(began) = self.engine.play(play).map(|play| play.started) else { return };
        let remote = self.shown_at(&cwd);
        let promised = |title: &str, version| self.engine.promised_in(play, title, version);
        let gates = gates.into_iter().map(|gate| with_promise(gate, promised)).collect();
        let checking = check_fresh(remote, gates, GateContext { cwd, mark, began });
        self.when_done(checking, move |hub, checks| {
            hub.decide(Event::StageGates { play, stage, round, checks });
        });
    }

    /// Looks which files were modified where an agent works.
    pub(in crate::hub) fn list_modified(&self, task: TaskId, attempt: usize, cwd: PathBuf) {
        let list = move || file_tree::modified(&cwd);
        self.in_background(list, move |hub, files| {
            let files = files.unwrap_or_default();
            hub.decide(Event::ModifiedListed { task, attempt, files });
        });
    }

    /// Scans a workspace for files that are others than at the last scan.
    pub(in crate::hub) fn scan_workspace(&self, root: PathBuf) {
        let (snapshots, now) = (Arc::clone(&self.snapshots), self.clock.now());
        let file = self.paths.sight(&root);
        let scanning = scan(self.shown_at(&root), root.clone(), (file, snapshots), now);
        self.when_done(scanning, move |hub, changes| {
            hub.decide(Event::Scanned { root, changes });
        });
    }
}
