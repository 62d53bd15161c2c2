//! Where agents work, and how what they did there comes back: `[workspace]`.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{MergeForm, WorkspaceChoice};

use super::checks::{Absolute, Checked, Gated, Inside, between, texts, unless_blank};

/// Below this, ports belong to the system.
const PORT_MIN: u32 = 1024;
const PORT_MAX: u32 = 65_535;

/// One agent needs no more, and sixteen of them must find room.
const PORTS_MAX: u32 = 1000;

/// When work is brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BringBack {
    /// When someone asks for it.
    #[default]
    Asked,
    /// When the task is done.
    Done,
}

/// The table `[workspace]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceSettings {
    pub default: WorkspaceChoice,
    /// Where workspaces are made; nothing: beside the record.
    #[serde(deserialize_with = "absolute")]
    pub directory: Option<PathBuf>,
    /// Local files that each gets.
    #[serde(deserialize_with = "texts::<_, Inside>")]
    pub copy: Vec<String>,
    #[serde(deserialize_with = "unless_blank")]
    pub setup: Option<String>,
    #[serde(deserialize_with = "unless_blank")]
    pub teardown: Option<String>,
    /// Ignored files that nobody will miss.
    #[serde(deserialize_with = "texts::<_, Inside>")]
    pub disposable: Vec<String>,
    #[serde(deserialize_with = "between::<_, _, PORT_MIN, PORT_MAX>")]
    pub port_base: u16,
    #[serde(deserialize_with = "between::<_, _, 0, PORTS_MAX>")]
    pub ports: u16,
    /// The branch that work is brought onto.
    pub into: String,
    pub form: MergeForm,
    pub merge: BringBack,
    /// What must pass on the merged tree.
    #[serde(deserialize_with = "texts::<_, Gated>")]
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

fn absolute<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = Option::<Checked<Absolute>>::deserialize(deserializer)?;
    Ok(path.map(|path| path.0.into()))
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
