//! Says what the settings say of workspaces: where they lie, how they are made, and how work comes back.

use std::path::PathBuf;

use crate::config::{BringBack, Paths, WorkspaceSettings};
use crate::model::{MergeTerms, Plot, WorkspaceKind};

/// Returns the directory in which workspaces are made, with the links that lead there.
pub fn workspace_folder(paths: &Paths, settings: &WorkspaceSettings) -> PathBuf {
    match &settings.directory {
        Some(folder) => folder.join(paths.session.to_string()),
        None => paths.state_dir.join("workspaces"),
    }
}

/// Returns the plan of a worktree of which no more is known than what the settings say of all of them.
pub(in crate::hub) fn plain_plot(paths: &Paths, settings: &WorkspaceSettings) -> Plot {
    Plot {
        kind: WorkspaceKind::Worktree,
        project: paths.project.clone(),
        root: PathBuf::new(),
        place: PathBuf::new(),
        cwd: PathBuf::new(),
        branch: String::new(),
        base: String::new(),
        copy: Vec::new(),
        setup: settings.setup.clone(),
        teardown: settings.teardown.clone(),
        disposable: settings.disposable.clone(),
        port_base: settings.port_base,
        port_count: settings.ports,
        runner: None,
        restores: None,
    }
}

/// Returns the terms on which the work of tasks is merged by itself, if it is.
pub(in crate::hub) fn merging(settings: &WorkspaceSettings) -> Option<MergeTerms> {
    (settings.merge == BringBack::Done).then(|| merge_terms(settings))
}

/// Returns the terms on which work is merged where nobody says otherwise.
pub(in crate::hub) fn merge_terms(settings: &WorkspaceSettings) -> MergeTerms {
    MergeTerms {
        form: settings.form,
        into: settings.into.clone(),
        gates: settings.gates.clone(),
        message: None,
        committed_only: false,
        is_trial: false,
        sends_back: false,
    }
}
