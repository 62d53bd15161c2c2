//! Where agents work, and how what they did there comes back: `[workspace]`.

use std::fmt;
use std::path::PathBuf;

use crate::model::{Gate, MergeForm, WorkspaceChoice};

use super::problem::Problems;
use super::reader::Reader;
use super::team::inside;

/// Below this, ports belong to the system.
const PORT_MIN: u16 = 1024;

/// One agent needs no more, and sixteen of them must find room.
const PORTS_MAX: u32 = 1000;

pub(super) const CHOICES: &[WorkspaceChoice] = &[
    WorkspaceChoice::Shared,
    WorkspaceChoice::Worktree,
    WorkspaceChoice::Copy,
    WorkspaceChoice::Auto,
];

/// When work is brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BringBack {
    /// When someone asks for it.
    #[default]
    Asked,
    /// When the task is done.
    Done,
}

impl fmt::Display for BringBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Asked => "asked",
            Self::Done => "done",
        })
    }
}

/// The table `[workspace]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceSettings {
    pub default: WorkspaceChoice,
    /// Where workspaces are made; nothing: beside the record.
    pub directory: Option<PathBuf>,
    /// Local files that each gets.
    pub copy: Vec<String>,
    pub setup: Option<String>,
    pub teardown: Option<String>,
    /// Ignored files that nobody will miss.
    pub disposable: Vec<String>,
    pub port_base: u16,
    pub ports: u16,
    /// The branch that work is brought onto.
    pub into: String,
    pub form: MergeForm,
    pub merge: BringBack,
    /// What must pass on the merged tree.
    pub gates: Vec<String>,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            default: WorkspaceChoice::Auto,
            directory: None,
            copy: Vec::new(),
            setup: None,
            teardown: None,
            disposable: ["target", "node_modules", "__pycache__", ".venv"]
                .map(str::to_owned)
                .into(),
            port_base: 42_000,
            ports: 10,
            into: "wheelhouse/integration".to_owned(),
            form: MergeForm::Merge,
            merge: BringBack::Asked,
            gates: Vec::new(),
        }
    }
}

/// Reads the table over what was set before, and returns the keys that it has.
pub(super) fn read(
    mut table: Reader,
    settings: &mut WorkspaceSettings,
    problems: &mut Problems,
) -> Vec<&'static str> {
    let mut keys = Vec::new();
    let mut set = |key: &'static str, is_set: bool| keys.extend(is_set.then_some(key));
    let default = table.choice("default", CHOICES, problems);
    set("default", default.map(|value| settings.default = value).is_some());
    let directory = table.text("directory", problems).filter(|path| {
        let is_absolute = path.value.starts_with('/');
        if !is_absolute {
            let message = format!("`{}` is no absolute path", path.value);
            problems.error(&path.span, &message, Some("Write it from `/` on"));
        }
        is_absolute
    });
    set("directory", directory.map(|path| settings.directory = Some(path.value.into())).is_some());
    for (key, list) in [("copy", &mut settings.copy), ("disposable", &mut settings.disposable)] {
        if table.has(key) {
            *list = inside(&mut table, key, problems);
            set(key, true);
        }
    }
    for (key, place) in [("setup", &mut settings.setup), ("teardown", &mut settings.teardown)] {
        let text = table.text(key, problems).map(|text| text.value);
        set(key, text.is_some());
        if let Some(text) = text {
            *place = Some(text).filter(|text| !text.trim().is_empty());
        }
    }
    let range = u32::from(PORT_MIN)..=u32::from(u16::MAX);
    let base = table.number("port_base", range, problems).and_then(|port| port.try_into().ok());
    set("port_base", base.map(|port| settings.port_base = port).is_some());
    let ports = table.number("ports", 0..=PORTS_MAX, problems).and_then(|n| n.try_into().ok());
    set("ports", ports.map(|count| settings.ports = count).is_some());
    let into = table.text("into", problems).map(|into| into.value);
    set("into", into.map(|into| settings.into = into).is_some());
    let forms = [MergeForm::Merge, MergeForm::Squash, MergeForm::Rebase];
    let form = table.choice("form", &forms, problems);
    set("form", form.map(|form| settings.form = form).is_some());
    let merge = table.choice("merge", &[BringBack::Asked, BringBack::Done], problems);
    set("merge", merge.map(|merge| settings.merge = merge).is_some());
    if let Some(gates) = table.texts("gates", problems) {
        for gate in &gates.value {
            if let Err(error) = Gate::parse(&gate.value) {
                problems.error(&gate.span, &error.to_string(), None);
            }
        }
        settings.gates = gates.value.into_iter().map(|gate| gate.value).collect();
        set("gates", true);
    }
    table.finish(problems);
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, WorkspaceKind};

    #[test]
    fn whoever_writes_in_a_repository_with_a_commit_gets_a_tree_of_its_own() {
        let auto = |role, has_commit| WorkspaceChoice::Auto.kind(role, || has_commit);
        for role in [Role::Worker, Role::Lead] {
            assert_eq!(auto(role, true), WorkspaceKind::Worktree);
            assert_eq!(auto(role, false), WorkspaceKind::Shared);
        }
        assert_eq!(auto(Role::Verifier, true), WorkspaceKind::Shared);
        assert_eq!(auto(Role::Orchestrator, true), WorkspaceKind::Shared);
        let named = WorkspaceChoice::Worktree.kind(Role::Verifier, || false);
        assert_eq!(named, WorkspaceKind::Worktree, "what is written is meant");
    }
}
