//! What a new agent is given beside its name and its cli: its role, its files, its place, its bounds.

use super::list::stepped;
use crate::config::set_limit;
use crate::model::{Limits, Role, WorkspaceChoice};
use crate::wire::WantedPosting;

/// One thing that may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Role,
    Workspace,
    Runner,
    Sandbox,
    Limits,
}

pub(super) const SETTINGS: [Setting; 5] =
    [Setting::Role, Setting::Workspace, Setting::Runner, Setting::Sandbox, Setting::Limits];

const ROLES: [Role; 4] = [Role::Worker, Role::Lead, Role::Orchestrator, Role::Verifier];

const WORKSPACES: [Option<WorkspaceChoice>; 5] = [
    None,
    Some(WorkspaceChoice::Auto),
    Some(WorkspaceChoice::Worktree),
    Some(WorkspaceChoice::Copy),
    Some(WorkspaceChoice::Shared),
];

const LIMITS_CHARS_MAX: usize = 64;

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub role: Role,
    workspace: Option<WorkspaceChoice>,
    runner: Option<String>,
    sandbox: bool,
    /// As it is typed.
    limits: String,
}

impl Wanted {
    /// Takes the next choice of a setting, or the one before; there is none where one types.
    pub(super) fn turn(&mut self, setting: Setting, runners: &[String], is_forward: bool) {
        match setting {
            Setting::Role => self.role = beside(&ROLES, &self.role, is_forward),
            Setting::Workspace => {
                self.workspace = beside(&WORKSPACES, &self.workspace, is_forward);
            }
            Setting::Runner => {
                let named = runners.iter().cloned().map(Some);
                let all: Vec<Option<String>> = std::iter::once(None).chain(named).collect();
                self.runner = beside(&all, &self.runner, is_forward);
            }
            Setting::Sandbox => self.sandbox = !self.sandbox,
            Setting::Limits => {}
        }
    }

    /// Adds to what is typed.
    pub(super) fn write(&mut self, text: &str) {
        let room = LIMITS_CHARS_MAX.saturating_sub(self.limits.chars().count());
        let is_fit = |c: &char| c.is_ascii_graphic() || *c == ' ';
        self.limits.extend(text.chars().filter(is_fit).take(room));
    }

    /// Takes the last sign of what is typed away, or all of it.
    pub(super) fn erase(&mut self, is_all: bool) {
        if is_all {
            self.limits.clear();
        } else {
            self.limits.pop();
        }
    }

    /// Returns what holds now, as it is shown.
    pub(super) fn value(&self, setting: Setting) -> String {
        match setting {
            Setting::Role => self.role.to_string(),
            Setting::Workspace => {
                let said = self.workspace.map(|choice| choice.to_string());
                said.unwrap_or_else(|| "as [workspace] says".to_owned())
            }
            Setting::Runner => self.runner.clone().unwrap_or_else(|| "this machine".to_owned()),
            Setting::Sandbox => if self.sandbox { "yes" } else { "no" }.to_owned(),
            Setting::Limits => self.limits.clone(),
        }
    }

    /// Returns where the agent is to work, or what is wrong with that.
    pub(super) fn posting(&self) -> Result<WantedPosting, String> {
        let mut limits = Limits::default();
        let words = self.limits.split([' ', ',']).filter(|word| !word.is_empty());
        for word in words {
            set_limit(word, &mut limits)
                .map_err(|(message, hint)| format!("{message} · {hint}"))?;
        }
        let (workspace, runner) = (self.workspace, self.runner.clone());
        Ok(WantedPosting { workspace, runner, sandbox: self.sandbox, limits })
    }
}

impl Setting {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Role => "Role",
            Self::Workspace => "Workspace",
            Self::Runner => "Runner",
            Self::Sandbox => "Sandbox",
            Self::Limits => "Limits",
        }
    }

    /// Says what it is about.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Role => "What it is for. Workers and leads write; the others read.",
            Self::Workspace => {
                "Which files it works on: a git worktree or a copy of its own, or the project itself \
                 (shared)."
            }
            Self::Runner => "Where it runs: here, or on a `[runner.NAME]` of the settings.",
            Self::Sandbox => "Whether it may change its workspace and nothing else.",
            Self::Limits => {
                "What it and all that it starts may use, such as memory=4G cpu=1.5 processes=512."
            }
        }
    }
}

/// Returns the one after or before another; beyond an end comes the other one.
fn beside<T: Clone + PartialEq>(all: &[T], now: &T, is_forward: bool) -> T {
    let at = all.iter().position(|one| one == now).unwrap_or_default();
    all.get(stepped(at, all.len(), is_forward)).unwrap_or(now).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_go_around_and_limits_are_those_of_the_command() {
        let runners = ["box".to_owned()];
        let mut wanted = Wanted::default();
        assert_eq!(wanted.posting().unwrap(), WantedPosting::default());
        for setting in SETTINGS {
            wanted.turn(setting, &runners, true);
        }
        wanted.write("memory=1G, cpu=1.5");
        let posting = wanted.posting().unwrap();
        assert_eq!(wanted.role, Role::Lead);
        assert_eq!(posting.workspace, Some(WorkspaceChoice::Auto));
        assert_eq!((posting.runner.as_deref(), posting.sandbox), (Some("box"), true));
        assert_eq!(posting.limits.memory_bytes, Some(1 << 30));
        assert_eq!(posting.limits.cpu_hundredths, Some(150));
        wanted.turn(Setting::Runner, &runners, true);
        assert_eq!(wanted.value(Setting::Runner), "this machine");
        wanted.turn(Setting::Runner, &[], false);
        assert_eq!(wanted.value(Setting::Runner), "this machine");
        wanted.erase(true);
        wanted.write("memory=4");
        let said = wanted.posting().unwrap_err();
        assert_eq!(said, "`memory=4` is no limit · Write it as `512M` or `4G`, at least `16M`");
    }
}
