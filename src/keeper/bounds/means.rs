//! Finds out how this machine can enforce limits.

use std::env;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::groups::{Controller, parent_of};

/// What holds each limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Means {
    pub memory: Method,
    pub cpu: Method,
    pub processes: Method,
}

/// How a limit is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A kernel control group of the agent's own: for the whole tree, and nothing escapes it.
    Group,
    /// A systemd scope: the same, made by the service manager.
    Scope,
    /// A limit that each process has for itself, and hands on to those that it starts.
    EachProcess,
}

impl Means {
    /// Finds out what there is here.
    pub fn here() -> Self {
        let scope = can_scope();
        let method = |controller| match (parent_of(controller).is_some(), scope) {
            (true, _) => Method::Group,
            (false, true) => Method::Scope,
            (false, false) => Method::EachProcess,
        };
        Self {
            memory: method(Controller::Memory),
            cpu: method(Controller::Cpu),
            processes: method(Controller::Processes),
        }
    }

    /// Says in words what a limit of each kind means here.
    pub fn in_words(&self) -> String {
        let memory = match self.memory {
            Method::EachProcess => "for each process alone, by prlimit".to_owned(),
            method @ (Method::Group | Method::Scope) => method.to_string(),
        };
        let cpu = match self.cpu {
            Method::EachProcess => "by whole processors, by affinity".to_owned(),
            method @ (Method::Group | Method::Scope) => method.to_string(),
        };
        let processes = match self.processes {
            Method::EachProcess => {
                "against all processes of the user, by prlimit, and not for root".to_owned()
            }
            method @ (Method::Group | Method::Scope) => method.to_string(),
        };
        format!("memory {memory}; cpu {cpu}; processes {processes}")
    }

    /// Says whether every limit is one for the whole tree.
    pub fn is_exact(&self) -> bool {
        [self.memory, self.cpu, self.processes].iter().all(|one| *one != Method::EachProcess)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Group => "for the whole tree, by a control group",
            Self::Scope => "for the whole tree, by a systemd scope",
            Self::EachProcess => "for each process",
        })
    }
}

/// Says whether the user's service manager makes scopes for us.
pub(super) fn can_scope() -> bool {
    let runtime = env::var_os("XDG_RUNTIME_DIR");
    let manager = runtime.map(|runtime| Path::new(&runtime).join("systemd/private"));
    let path = env::var_os("PATH").unwrap_or_default();
    let has_tool = || env::split_paths(&path).any(|entry| entry.join("systemd-run").is_file());
    manager.is_some_and(|manager| manager.exists()) && has_tool()
}
