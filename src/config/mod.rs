//! What the user and the project ask for: files in, checked settings out.
//!
//! Built-in settings lie under the user's file, and the user's file under the project's. A
//! project's file counts for nothing until a person has trusted its exact content. Nothing here
//! prints, starts a process or waits: callers do.

mod approvals;
mod bounds;
mod builtin;
mod checks;
mod cli;
mod deserialize;
mod environment;
mod far_paths;
mod hash;
mod hooks;
mod kit;
mod layer;
mod manifest;
mod notify;
mod outfit;
mod paths;
mod pattern;
mod playbook;
mod problem;
mod project;
mod reader;
mod runner;
mod sections;
mod secure_dir;
mod settings;
mod source_file;
mod spawn;
mod team;
mod template;
mod trust;
mod workspace;

pub use bounds::set_limit;
pub use builtin::{STARTER, is_built_in_cli};
pub use cli::Cli;
pub use environment::{
    agent_environment, environment_of, far_environment, plain_environment, unfit_variable,
    with_own_program,
};
pub use far_paths::FarPaths;
pub use hash::Hash;
pub use kit::Server;
pub use notify::{Desktop, NotifySettings, TerminalChoice};
pub use outfit::{Fitting, Lack, Outfit, ServerEntry, dress};
pub use paths::{Paths, PathsError, hub_sockets};
pub use pattern::VariablePattern;
pub use playbook::{LoadedPlaybook, built_in_playbooks, load_playbook, preview_playbook};
pub use problem::{ConfigError, Problem, suggest};
pub use project::find_project;
pub use sections::{
    Cards, CastSettings, DashboardSettings, EnvSettings, GridSettings, HubSettings, LimitSettings,
    LogLevel, LogSettings, PaneSettings, RecordSettings, ReporterSettings, Scope, StopSettings,
    StuckSettings,
};
pub use secure_dir::{SecureDirError, secure_dir};
pub use settings::{CliError, Loaded, Origin, ProjectFile, Settings, TeamError};
pub use team::{Agent, Layout, Speaks, Team};
pub use template::ProjectTemplate;
pub use trust::{Trust, TrustError};

pub use crate::model::{plain, plain_json};
pub use workspace::{BringBack, WorkspaceSettings};
