//! What agents work with: from what is asked for to what their clis are told.

use std::fs;
use std::path::Path;

use super::hooks::{LaunchExtras, write_private};
use super::plan::fault;
use super::planner::Planner;
use crate::api::Fault;
use crate::config::{Agent, Cli, Fitting, Loaded, Outfit, ServerEntry, dress, secure_dir};
use crate::model::{Environment, Kit, KitRules, OWN_SERVER};

/// What this program's own server needs to find the hub, and to be believed there.
const OWN_VARIABLES: &[&str] = &["WHEELHOUSE_TOKEN", "WHEELHOUSE_SOCKET", "WHEELHOUSE_BIN"];
/// Where it finds everything else, where someone has moved that.
const PLACES: &[&str] = &["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

impl Planner {
    /// Adds what makes a cli work with a kit to what its run is started with.
    pub(in crate::hub) fn fit(
        &self,
        loaded: &Loaded,
        (name, cli): (&str, &Cli),
        (agent, kit): (&Agent, &Kit),
        caller: &Environment,
        equipment: &mut LaunchExtras,
    ) -> Result<(), Fault> {
        if kit.is_empty() {
            return Ok(());
        }
        let mut servers = Vec::new();
        for server in kit.named_servers() {
            servers.push(self.server(loaded, server, (cli, agent), caller, equipment)?);
        }
        let directory = self.paths.agent_kit(&agent.name);
        let is_root = rustix::process::geteuid().is_root();
        let fitting = Fitting { directory: directory.clone(), is_root, servers };
        let outfit = dress(name, &cli.kit, kit, &fitting).map_err(|lack| {
            Fault::new(format!("{} (agent `{}`)", lack.message, agent.name)).with_hint(lack.hint)
        })?;
        refuse_doubles((&outfit, &cli.kit), cli, agent)?;
        if !outfit.files.is_empty() {
            let cannot = |error: &dyn std::fmt::Display| {
                Fault::new(format!("A file for agent `{}` cannot be written: {error}", agent.name))
            };
            for place in [self.paths.kits(), directory] {
                secure_dir(&place).map_err(|error| cannot(&error))?;
            }
            for (path, content) in &outfit.files {
                write_private(path, content).map_err(|error| cannot(&error))?;
            }
        }
        equipment.arguments.extend(outfit.arguments);
        equipment.environment.0.extend(outfit.environment);
        Ok(())
    }

    /// Returns what a cli is told of a server, and sees to it that its variables reach it: by the
    /// agent's own environment, so that no value stands in a file or a command.
    fn server(
        &self,
        loaded: &Loaded,
        name: &str,
        (cli, agent): (&Cli, &Agent),
        caller: &Environment,
        equipment: &mut LaunchExtras,
    ) -> Result<ServerEntry, Fault> {
        if name == OWN_SERVER {
            let program = self.program.to_string_lossy().into_owned();
            let moved = PLACES.iter().filter(|place| caller.0.contains_key(**place));
            let variables = OWN_VARIABLES.iter().chain(moved).map(ToString::to_string).collect();
            let command = vec![program, "mcp".to_owned()];
            return Ok(ServerEntry { name: name.to_owned(), command, variables });
        }
        let server = loaded.settings.server(name).ok_or_else(|| {
            Fault::new(format!(
                "No server is named `{name}`, which agent `{}` asks for",
                agent.name
            ))
            .with_hint(format!("Add `[mcp.{name}]` with its `command` to the settings"))
        })?;
        let is_passed = |name: &str| server.pass_env.iter().any(|pattern| pattern.matches(name));
        let passed = caller.0.iter().filter(|(name, _)| is_passed(name));
        let mut variables = Vec::new();
        for (variable, value) in passed.chain(&server.env.0) {
            let before = [&equipment.environment, &agent.env, &cli.env];
            let before = before.into_iter().find_map(|env| env.0.get(variable));
            if before.is_some_and(|before| before != value) {
                let agent = &agent.name;
                return Err(Fault::new(format!(
                    "`{variable}` of the server `{name}` has another value for agent `{agent}` already"
                ))
                .with_hint("MCP servers get their variables from the agent's environment: use one value, or two agents"));
            }
            equipment.environment.0.insert(variable.clone(), value.clone());
            variables.push(variable.clone());
        }
        variables.dedup();
        Ok(ServerEntry { name: name.to_owned(), command: server.command.clone(), variables })
    }
}

/// Removes the files of an agent's kit.
pub(in crate::hub) fn tidy_kit(directory: &Path) {
    if let Err(error) = fs::remove_dir_all(directory)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        let directory = directory.display();
        tracing::warn!(%directory, %error, "the files of a kit are still there");
    }
}

/// Refuses what a command says already in its own way: which of the two would hold is the cli's
/// secret.
fn refuse_doubles(
    (outfit, rules): (&Outfit, &KitRules),
    cli: &Cli,
    agent: &Agent,
) -> Result<(), Fault> {
    let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let is_flag = |word: &&String| word.starts_with('-') && !rules.repeats.contains(word);
    let said: Vec<String> =
        cli.command.iter().filter(|word| word.starts_with('-')).map(flag).collect();
    let twice = outfit.arguments.iter().filter(is_flag).map(flag).find(|word| said.contains(word));
    if let Some(word) = twice {
        let message = format!("The command of agent `{}` has a `{word}` of its own", agent.name);
        let hint =
            "Remove it from the command, or leave `tools`, `deny_tools`, `mode` and `mcp` unset";
        return Err(Fault::new(message).with_hint(hint));
    }
    let is_set =
        |name: &&String| [&cli.env, &agent.env].iter().any(|env| env.0.contains_key(*name));
    match outfit.environment.keys().find(is_set) {
        None => Ok(()),
        Some(name) => Err(fault(&format!(
            "`{name}` is set for agent `{}` already\nhint: Remove it from `env`, or leave its tools unset",
            agent.name
        ))),
    }
}
