//! Where an agent runs, and what it may use there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place other than this machine where agents can run, as a `[runner.NAME]` table describes it.
///
/// It is on record with each run that was begun there: whoever looks for that run later looks in
/// the same place, whatever the settings say by then. There is no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Runner {
    pub name: String,
    pub place: Place,
    /// Further arguments of the program that leads there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The `wheelhouse` binary there.
    pub program: String,
    /// Where agents work there; relative to the home directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Which variables of whoever starts an agent go there: names, or their beginnings with a `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

impl Runner {
    /// Says whether agents there find files that lie here, under the path that they have here.
    pub fn mounts_files(&self) -> bool {
        matches!(self.place, Place::Image { .. }) && self.directory.is_none()
    }
}

/// What kind of place it is, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Place {
    /// Another machine: a host as `ssh` knows it.
    Ssh { host: String },
    /// A container that runs already.
    Container { engine: ContainerEngine, container: String },
    /// A container for each agent, made from an image and gone with its agent.
    Image { engine: ContainerEngine, image: String },
    /// A pod that runs already.
    Pod {
        pod: String,
        container: Option<String>,
        namespace: Option<String>,
        context: Option<String>,
    },
}

/// The program that runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContainerEngine {
    Docker,
    Podman,
}

impl Place {
    /// Returns the word that stands for this kind in the settings.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ssh { .. } => "ssh",
            Self::Container { engine, .. } | Self::Image { engine, .. } => engine.name(),
            Self::Pod { .. } => "kubectl",
        }
    }

    /// Returns what it leads to: a host, a container, an image or a pod.
    pub fn target(&self) -> &str {
        match self {
            Self::Ssh { host } => host,
            Self::Container { container, .. } => container,
            Self::Image { image, .. } => image,
            Self::Pod { pod, .. } => pod,
        }
    }
}

impl ContainerEngine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.name, self.place.kind(), self.place.target())
    }
}

/// How an agent is kept within bounds, wherever it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Confinement {
    #[serde(default)]
    pub limits: Limits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

impl Confinement {
    /// Says whether nothing is asked for.
    pub fn is_none(&self) -> bool {
        self.sandbox.is_none() && self.limits.is_none()
    }
}

/// What an agent and all that it starts may use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processors, in hundredths: 150 is one and a half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_hundredths: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
}

impl Limits {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What a sandboxed agent sees and may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sandbox {
    /// The workspace, and what else the user lets it change. A leading `~` is the home directory
    /// of the machine on which it runs.
    pub writable: Vec<String>,
    /// What it does not see, beside what no sandboxed agent sees.
    pub hidden: Vec<String>,
    /// What it sees, whatever hides it, and may not change but for what is writable of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// What it sees although what is around it is hidden.
    pub seen: Vec<String>,
    pub has_network: bool,
}
