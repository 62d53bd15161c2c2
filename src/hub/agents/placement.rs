//! How an agent is started where it is to run: here, or in a place elsewhere.

use std::path::PathBuf;

use crate::config::{Agent, Cli, Paths, VariablePattern, agent_environment, far_environment};
use crate::model::{Confinement, Environment, Plot, Runner};
use crate::workspace::inside::resolved;

/// What depends on where an agent runs.
pub(in crate::hub) struct Placement {
    pub(in crate::hub) argv: Vec<String>,
    pub(in crate::hub) cwd: PathBuf,
    pub(in crate::hub) environment: Environment,
    pub(in crate::hub) confinement: Confinement,
}

/// Returns it for an agent with this equipment, started by someone with these variables.
pub(in crate::hub) fn stead(
    paths: &Paths,
    (agent, plot): (&Agent, Option<&Plot>),
    cli: &Cli,
    own: &Environment,
    (caller, pass): (&Environment, &[VariablePattern]),
) -> Placement {
    let mut confinement = agent.posting.confinement.clone();
    let Some(runner) = &agent.posting.runner else {
        if let Some(sandbox) = &mut confinement.sandbox {
            let text = |path: PathBuf| path.display().to_string();
            // One of its own is opened to it once it is made.
            if plot.is_none() {
                sandbox.writable.insert(0, text(paths.project.clone()));
            }
            let all_sessions = |path: &PathBuf| path.parent().unwrap_or(path).to_path_buf();
            let private = [all_sessions(&paths.state_dir), all_sessions(&paths.runtime_dir)];
            sandbox.hidden.extend(private.map(text));
            let door = paths.agent_door(&agent.name);
            sandbox.seen.extend(door.parent().map(|directory| text(directory.to_path_buf())));
        }
        return Placement {
            argv: cli.argv(caller),
            cwd: plot.map_or_else(|| resolved(&agent.directory(&paths.project)), Plot::agent_cwd),
            environment: agent_environment(caller, pass, cli, agent, own),
            confinement,
        };
    };
    Placement {
        // The shell of whoever is there.
        argv: cli.command.clone(),
        cwd: directory(runner, (agent, plot), paths),
        environment: far_environment(caller, &runner.pass_env, cli, agent, own),
        confinement,
    }
}

/// Returns where the agent works. A container that was made for it sees the project, or its own
/// workspace, under the path that it has here; every other place has a directory of its own.
fn directory(runner: &Runner, (agent, plot): (&Agent, Option<&Plot>), paths: &Paths) -> PathBuf {
    if runner.mounts_files() {
        return plot.map_or_else(|| agent.directory(&paths.project), Plot::agent_cwd);
    }
    let base = PathBuf::from(runner.directory.as_deref().unwrap_or("~"));
    base.join(&agent.cwd).components().collect()
}
