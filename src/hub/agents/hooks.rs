//! What agents say beside their terminals: how they are enabled to, and what becomes of it.

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

use super::planner::Planner;
use super::toolsets::tidy_kit;
use crate::api::{Fault, Reception, Request, Response};
use crate::config::{Agent, Cli};
use crate::detect::{Finding, StreamNews};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::hub::clients::tokens;
use crate::hub::record::commit_queue::PendingEffect;
use crate::hub::requests::route::{Asker, Reply};
use crate::hub::tasks::artifacts::ArtifactReport;
use crate::model::{AgentName, Contact, Environment, Hooks, RunId, Source};
use crate::protocol::{Report, ReportKind};
use crate::runner::HOOKS_PLACE;

/// The id of a call is a random number; a longer one is none.
const CALL_CHARS_MAX: usize = 64;

/// A report that an agent made by a call.
#[derive(Debug)]
pub(in crate::hub) struct ReportCall {
    /// The same call again is the same report.
    pub(in crate::hub) call: String,
    pub(in crate::hub) kind: ReportKind,
    pub(in crate::hub) text: String,
}

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
            let equipped = self.equip_reporters(agent, contact, environment);
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
        let path = self.paths.agent_hooks(&agent.name);
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

impl Hub {
    /// Hears what an agent says beside its terminal; the answer to a report comes once it is on
    /// record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are no agent's words")]
    pub(in crate::hub) fn hear(&mut self, asker: Asker, request: Request) -> Option<Reply> {
        let (agent, run) = self.speakers.get(&asker.client).cloned()?;
        match request {
            Request::Report { call, kind, text, schema, tag } => {
                if let Some(fault) = self.refuse_late(&agent, run, tag.as_deref()) {
                    return Some(Err(fault));
                }
                let said = ReportCall { call, kind, text };
                if said.is_artifact() {
                    self.check_artifact(ArtifactReport { asker, agent, run, said, tag }, schema);
                } else {
                    let answer = self.on_report(&agent, run, said);
                    self.carry_out_later(PendingEffect::Answer { asker, answer });
                }
                None
            }
            Request::Hook { call, said } => {
                self.on_hook(&agent, run, &call, &said);
                Some(Ok(Response::Ok))
            }
            _ => None,
        }
    }

    /// Takes what a hook of an agent's cli said.
    pub(in crate::hub) fn on_hook(
        &mut self,
        agent: &AgentName,
        run: RunId,
        id: &str,
        said: &Value,
    ) {
        let cli = self.engine.seat(agent).map(|seat| seat.member.cli.as_str());
        let rules = cli.and_then(|cli| self.hook_rules.get(cli));
        let Some(news) = rules.and_then(|rules| rules.read(said)) else { return };
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let id: String = id.chars().take(CALL_CHARS_MAX).collect();
        if pane.reports.call(&id).is_some() {
            return;
        }
        pane.reports.note_call(id, true);
        let command = rules.and_then(|rules| rules.read_command(said));
        if let Some((detector, command)) = pane.detector.as_mut().zip(command) {
            detector.tell_command(command, now);
        }
        let found = pane.detector.as_mut().map(|detector| detector.hook(&news, now));
        tracing::debug!(%agent, rule = news.rule, "a hook");
        self.deliver(agent, run, Source::Hook, found.unwrap_or_default());
        self.run_errand(agent, now);
        self.note_conversation(agent, run, news.session);
    }

    /// Takes a report that an agent made by a call.
    pub(in crate::hub) fn on_report(
        &mut self,
        agent: &AgentName,
        run: RunId,
        said: ReportCall,
    ) -> Result<Response, Fault> {
        let ReportCall { call, kind, text } = said;
        let mut report = Report::declare(kind, &text).map_err(|error| {
            Fault::new(error.to_string()).with_hint("See `wheelhouse report --help`")
        })?;
        let line = report.raw.clone();
        report.tag = self.engine.tag_of_call(agent, &report);
        let before = self.engine.before_report(agent, &report);
        let asked = report.clone();
        let now = self.clock.now();
        let unread = || Fault::new(format!("Nobody listens to agent `{agent}`"));
        let pane = self.panes.get_mut(agent).ok_or_else(unread)?;
        let id: String = call.chars().take(CALL_CHARS_MAX).collect();
        let is_new = if let Some(is_new) = pane.reports.call(&id) {
            is_new
        } else {
            let detector = pane.detector.as_mut().ok_or_else(unread)?;
            let found = detector.declare(report, now);
            let is_new = found.iter().any(|finding| matches!(finding, Finding::Report(_)));
            pane.reports.note_call(id, is_new);
            self.deliver(agent, run, Source::Report, found);
            is_new
        };
        let reports = self.panes.get(agent).map_or(0, |pane| pane.reports.count);
        // What had come another way was answered there.
        let heard = is_new.then(|| self.engine.heard(agent, &asked, &before));
        let is_refused = heard.as_ref().is_some_and(|heard| heard.is_refused);
        let (agent, note) = (agent.to_string(), heard.map(|heard| heard.words));
        let report = line;
        Ok(Response::Report(Reception { agent, report, is_new, reports, is_refused, note }))
    }

    /// Takes what the events of an agent's own server say.
    pub(in crate::hub) fn on_stream(
        &mut self,
        agent: &AgentName,
        run: RunId,
        news: Option<StreamNews>,
    ) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent).filter(|pane| pane.run == run) else { return };
        let Some(detector) = &mut pane.detector else { return };
        if let Some(command) = news.as_ref().and_then(|news| news.command.clone()) {
            detector.tell_command(command, now);
        }
        let found = detector.stream(news.as_ref(), now);
        self.deliver(agent, run, Source::Signal, found);
        self.note_conversation(agent, run, news.and_then(|news| news.session));
    }

    pub(in crate::hub) fn note_conversation(
        &mut self,
        agent: &AgentName,
        run: RunId,
        id: Option<String>,
    ) {
        let known = self.engine.seat(agent).and_then(|seat| seat.member.conversation.as_ref());
        if let Some(id) = id.filter(|id| known != Some(id)) {
            self.note_run(agent, run, RunEvent::Conversed { id });
        }
    }

    /// Removes what only these agents needed, as far as they are off the record.
    pub(in crate::hub) fn tidy_up(&mut self, agents: &[AgentName]) {
        self.let_go(agents);
        let gone = agents.iter().filter(|agent| self.engine.seat(agent).is_none());
        let gone: Vec<AgentName> = gone.cloned().collect();
        for agent in &gone {
            // After what may still wait to be written there.
            let reports = self.paths.agent_reports(agent);
            self.writer.files().append(0, move || drop(std::fs::remove_file(reports)));
        }
        if !gone.is_empty() {
            let paths = self.paths.clone();
            self.in_turn(move || {
                for agent in &gone {
                    tidy_kit(&paths.agent_kit(agent));
                    // Most agents have none.
                    let _ = std::fs::remove_file(paths.agent_hooks(agent));
                }
            });
        }
        self.forget_casts(agents);
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
