//! Enables agents to speak to the hub beside their terminals: by a token, by hooks, and by reporters.

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::planner::Planner;
use crate::api::Fault;
use crate::config::{Agent, Cli};
use crate::hub::clients::tokens;
use crate::model::{Contact, Environment, HOOKS_FILE_KIND, Hooks};
use crate::runner::HOOKS_PLACE;

/// What reporters made for herdr look for. An agent that is given one of them otherwise is left alone.
const REPORTER_VARIABLES: [&str; 3] = ["HERDR_ENV", "HERDR_SOCKET_PATH", "HERDR_PANE_ID"];

/// What a run is started with so that it can speak to us.
#[derive(Debug, Default)]
pub(in crate::hub) struct LaunchExtras {
    pub(in crate::hub) contact: Contact,
    pub(in crate::hub) environment: Environment,
    pub(in crate::hub) arguments: Vec<String>,
}

impl Planner {
    /// Makes what a run needs to speak to us: a token, and what its cli's hooks ask for.
    pub(in crate::hub) fn equip(&self, agent: &Agent, cli: &Cli) -> Result<LaunchExtras, Fault> {
        let unable = |what: &str, error: &io::Error| {
            Fault::new(format!("{what} for agent `{}` cannot be made: {error}", agent.name))
        };
        let token = tokens::new_token().map_err(|error| unable("A token", &error))?;
        let mut equipment = LaunchExtras::default();
        equipment.contact.token_hash = Some(tokens::hash(&token));
        equipment.environment.0.extend([
            ("WHEELHOUSE_TOKEN".to_owned(), token.0),
            ("WHEELHOUSE_ROLE".to_owned(), agent.role.to_string()),
        ]);
        let is_far = agent.posting.runner.is_some();
        equipment.contact.has_door = agent.posting.confinement.sandbox.is_some() && !is_far;
        // Where it runs elsewhere, only its place knows these.
        if !is_far {
            let socket = if equipment.contact.has_door {
                self.paths.agent_door(&agent.name)
            } else {
                self.paths.hub_socket()
            };
            equipment.environment.0.extend([
                ("WHEELHOUSE_SOCKET".to_owned(), socket.display().to_string()),
                ("WHEELHOUSE_BIN".to_owned(), self.program.display().to_string()),
                ("WHEELHOUSE_PROJECT".to_owned(), self.paths.project.display().to_string()),
            ]);
            let LaunchExtras { contact, environment, .. } = &mut equipment;
            let equipped = self.equip_reporters(agent, (contact, environment), &socket);
            equipped.map_err(|error| unable("A name", &error))?;
        }
        let hooks = &cli.hooks;
        if hooks.is_empty() {
            return Ok(equipment);
        }
        equipment.contact.no_hooks = obstacle(hooks, cli, agent);
        if let Some(reason) = &equipment.contact.no_hooks {
            tracing::info!(agent = %agent.name, reason, "goes without hooks");
            return Ok(equipment);
        }
        let path = self.paths.agent_hooks(&agent.name, &hooks.file_kind);
        if let Some(content) = hooks.file.as_ref().filter(|_| !is_far) {
            write_private(&path, content).map_err(|error| unable("A file", &error))?;
        }
        if needs_port(hooks) {
            let port = free_port().map_err(|error| unable("A port", &error))?;
            equipment.contact.port = Some(port);
        }
        let port = equipment.contact.port.map(|port| port.to_string()).unwrap_or_default();
        let path = if is_far { HOOKS_PLACE.to_owned() } else { path.display().to_string() };
        let fill = |word: &String| word.replace("{port}", &port).replace("{file}", &path);
        equipment.arguments = hooks.arguments.iter().map(fill).collect();
        let variables = hooks.environment.iter().map(|(name, value)| (name.clone(), fill(value)));
        equipment.environment.0.extend(variables);
        Ok(equipment)
    }
}

impl Planner {
    /// Adds what reporters made for herdr look for: the same socket, and the name of a pane, which is a secret
    /// of the run. All that it is good for is to say what that run's agent does.
    fn equip_reporters(
        &self,
        agent: &Agent,
        (contact, environment): (&mut Contact, &mut Environment),
        socket: &Path,
    ) -> io::Result<()> {
        let is_taken = REPORTER_VARIABLES.iter().any(|name| agent.env.0.contains_key(*name));
        if !self.has_reporters || is_taken {
            return Ok(());
        }
        let pane = tokens::new_token()?;
        contact.pane_hash = Some(tokens::hash(&pane));
        let values = ["1".to_owned(), socket.display().to_string(), pane.0];
        environment.0.extend(REPORTER_VARIABLES.into_iter().map(str::to_owned).zip(values));
        Ok(())
    }
}

fn needs_port(hooks: &Hooks) -> bool {
    let mut words = hooks.arguments.iter().chain(hooks.environment.values());
    hooks.stream.is_some() || words.any(|word| word.contains("{port}"))
}

/// Returns why a cli is not given its hooks.
fn obstacle(hooks: &Hooks, cli: &Cli, agent: &Agent) -> Option<String> {
    if !hooks.enabled {
        return Some("they are turned off in the settings".to_owned());
    }
    if hooks.root_only && !rustix::process::geteuid().is_root() {
        return Some("its cli takes them from root alone".to_owned());
    }
    if agent.posting.runner.is_some() && needs_port(hooks) {
        return Some("its cli tells of itself at a port, which is on another machine".to_owned());
    }
    if agent.posting.runner.is_some() && hooks.file_kind != HOOKS_FILE_KIND {
        return Some(format!(
            "its cli takes them from a `.{}` file of this machine",
            hooks.file_kind
        ));
    }
    let is_taken = |word: &&String| hooks.yields_to.iter().any(|taken| word.starts_with(taken));
    if let Some(word) = cli.command.iter().find(is_taken) {
        let word = word.split('=').next().unwrap_or_default();
        return Some(format!("the command has a `{word}` of its own"));
    }
    let is_set =
        |name: &&String| [&cli.env, &agent.env].iter().any(|env| env.0.contains_key(*name));
    let name = hooks.environment.keys().find(is_set)?;
    Some(format!("`{name}` is set already"))
}

/// Returns a port that nobody listened at a moment ago.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Writes a file that its user alone may read, whole or not at all.
pub(in crate::hub) fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(content.as_bytes())?;
    std::fs::rename(&draft, path)
}
