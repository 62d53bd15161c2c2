//! What clients ask, and what they are answered.

use crate::api::{Ask, Fault, KeyInput, PROTOCOL, Request, Response};
use crate::config::{Hash, Loaded};
use crate::engine::Event;
use crate::hub::Hub;
use crate::hub::agents::added_agents::cli_offers;
use crate::hub::agents::plan::offers;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::{Asker, Reply, unknown_agent};
use crate::hub::clients::response_size::{fitting, row_bytes, text_bytes};
use crate::hub::inbox::ClientId;
use crate::hub::panes::pane::Pane;
use crate::hub::record::commit_queue::unwritable;
use crate::keeper::ToKeeper;
use crate::model::{AgentName, Command, Done, InvalidKey, Keyed, Refusal, RequestId, Size};
use crate::screen::{focus_bytes, key_bytes, mouse_bytes, paste_bytes};

/// What may be typed with one request.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// Rows of history in one answer.
const HISTORY_ROWS_MAX: u16 = 1000;

/// A hyperlink around its target: three numbers and their names.
const LINK_BYTES: usize = 64;

fn foreign(protocol: u32) -> Fault {
    let version = env!("CARGO_PKG_VERSION");
    let side = if protocol > PROTOCOL { "older" } else { "newer" };
    Fault::new(format!(
        "The hub is {side} than this program: it speaks protocol version {PROTOCOL}, not {protocol}"
    ))
    .with_hint(format!("Use the program of version {version}, which runs the hub"))
}

/// Returns the key under which something is asked, if it is under one.
fn keyed(ask: &Ask) -> Result<Option<Keyed>, Fault> {
    let own = || ask.request.own_key().map(|key| format!("prompt:{}", hash(key)));
    let Some(key) = ask.key.clone().or_else(own) else { return Ok(None) };
    let key = key.parse().map_err(|error: InvalidKey| Fault::new(error.to_string()))?;
    Ok(Some(Keyed { key, print: hash(&ask.request.essence()) }))
}

fn hash(text: &str) -> String {
    Hash::of(text.as_bytes()).to_string()
}

impl Hub {
    pub(in crate::hub) fn on_ask(&mut self, client: ClientId, ask: Ask) {
        let ask = Ask { key: ask.key.filter(|_| ask.request.takes_key()), ..ask };
        let asker = Asker::of(client, &ask);
        let is_greeting = matches!(ask.request, Request::Hello { .. });
        if !is_greeting && !self.clients.is_greeted(client) {
            return self.answer(asker, Err(self.ungreeted(client)));
        }
        let answer = match self.clients.refuse(&self.engine, client, &ask.request) {
            Some(fault) => Some(Err(fault)),
            None => match keyed(&ask) {
                Ok(key) => self.obey_once(asker, ask.request, key),
                Err(fault) => Some(Err(fault)),
            },
        };
        if let Some(answer) = answer {
            self.answer(asker, answer);
        }
    }

    /// Says why nothing is done for a client that was not greeted.
    fn ungreeted(&self, client: ClientId) -> Fault {
        if let Some(refusal) = self.clients.refusal_of(client) {
            let message = format!("The greeting was refused: {}", refusal.message);
            return Fault { message, ..refusal.clone() };
        }
        match self.clients.protocol_of(client) {
            Some(protocol) => foreign(protocol),
            None => Fault::new("The first request of a connection is `hello`")
                .with_hint("`wheelhouse api schema` prints what requests look like"),
        }
    }

    /// Returns the answer, unless it comes later; what was granted before is not done again.
    fn obey_once(&mut self, asker: Asker, request: Request, key: Option<Keyed>) -> Option<Reply> {
        let by = self.clients.agent_of(asker.client).cloned();
        match key {
            Some(key) if self.engine.knows_request(by.as_ref(), &key.key) => {
                let request = self.clients.expect_answer(asker);
                self.decide(Event::AskedAgain { request, by, key });
                return None;
            }
            Some(key) => self.clients.keep_key(asker, key),
            None => {}
        }
        let answer = match self.unrecordable(asker) {
            Some(fault) => Some(Err(fault)),
            None => self.obey(asker, request),
        };
        if answer.is_some() {
            self.clients.take_key(asker);
        }
        answer
    }

    /// Returns the answer, unless it comes later.
    fn obey(&mut self, asker: Asker, request: Request) -> Option<Reply> {
        let client = asker.client;
        match request {
            Request::Up { .. }
            | Request::Start { .. }
            | Request::Restart { .. }
            | Request::Resume { .. }
            | Request::Stop { .. }
            | Request::Forget { .. }
            | Request::Down { .. }
            | Request::Add { .. } => self.obey_about_runs(asker, request),
            Request::Dispatch { .. }
            | Request::DispatchTemplate { .. }
            | Request::Withdraw { .. }
            | Request::AwaitReceipts { .. }
            | Request::AwaitAgent { .. }
            | Request::Answer { .. }
            | Request::Interrupt { .. } => self.obey_about_prompts(asker, request),
            Request::Tree { agent } => self.ask_for_tree(asker, &agent),
            Request::Diff { agent, against, paths } => {
                self.ask_for_diff(asker, &agent, against, paths)
            }
            Request::Hello { protocol, token, .. } => {
                let known = (&self.engine, &self.paths.session);
                let answer = self.clients.greet(client, (protocol, token.as_ref()), known);
                self.clients.note_refusal(client, answer.as_ref().err().cloned());
                Some(answer)
            }
            Request::Me | Request::Status | Request::Contracts { .. } | Request::Events { .. } => {
                self.tell_what_is(asker, request)
            }
            Request::Report { .. } | Request::Hook { .. } => self.hear(asker, request),
            Request::Read { agent, lines, scrollback } => {
                Some(self.read(&agent, lines, scrollback))
            }
            Request::Keys { agent, keys } => Some(self.press(&agent, &keys)),
            Request::Resize { agent, size } => Some(self.resize(&agent, size)),
            Request::Explain { agent } => Some(self.explain(&agent)),
            Request::Reload => {
                self.reload(Some(asker));
                None
            }
            Request::FlushCast { agent } => self.flush_cast(asker, &agent),
            Request::Watch { agents, focused, is_attended } => {
                self.clients.watch(client, agents, focused, is_attended);
                self.alert();
                Some(Ok(Response::Ok))
            }
            Request::Subscribe => {
                self.clients.subscribe(client);
                Some(Ok(Response::Ok))
            }
            Request::History { agent, before, count } => Some(self.history(&agent, before, count)),
            Request::Screen { agent } => Some(self.screen(&agent)),
            Request::Task { ask } => self.obey_about_tasks(asker, ask),
            Request::Run { ask } => self.obey_about_plays(asker, ask),
            Request::Lock { ask } => self.obey_about_locks(asker, ask),
            Request::Workspace { ask } => self.obey_about_workspaces(asker, ask),
            Request::Teams { environment } => {
                self.tell_planned(asker, move |loaded| Response::Teams {
                    teams: offers(loaded, &environment),
                });
                None
            }
            Request::Clis { environment } => {
                self.tell_planned(asker, move |loaded| cli_offers(loaded, &environment));
                None
            }
        }
    }

    /// Answers with what the settings say, as they are now.
    fn tell_planned(
        &mut self,
        asker: Asker,
        tell: impl FnOnce(&Loaded) -> Response + Send + 'static,
    ) {
        self.plan(
            Some(asker),
            |_, _| Ok(move |_: &Planner, loaded: &Loaded| Ok(tell(loaded))),
            |_, _, told| Some(told.map(|(_, told)| told)),
        );
    }

    pub(in crate::hub) fn command(
        &mut self,
        asker: Asker,
        command: Result<Command, Fault>,
    ) -> Option<Reply> {
        // It may have taken a while to come here.
        let key = self.clients.take_key(asker);
        match self.unrecordable(asker).map_or(command, Err) {
            Ok(command) => {
                let request = self.clients.expect_answer(asker);
                let by = self.clients.agent_of(asker.client).cloned();
                self.decide(Event::Asked { request, command, by, key });
                None
            }
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Returns why something cannot be put on record that counts only there.
    fn unrecordable(&self, asker: Asker) -> Option<Fault> {
        let obstacle = self.record.obstacle().filter(|_| asker.wants_record);
        obstacle.map(|reason| unwritable(&reason))
    }

    pub(in crate::hub) fn answer_command(
        &mut self,
        request: RequestId,
        outcome: Result<Done, Refusal>,
    ) {
        let answer = outcome.map(Response::Done).map_err(Fault::from);
        self.clients.answer_request(request, answer);
    }

    fn ask_for_tree(&mut self, asker: Asker, name: &str) -> Option<Reply> {
        let agent = match self.known(name) {
            Ok(agent) => agent,
            Err(fault) => return Some(Err(fault)),
        };
        if !self.panes.order(&agent, &ToKeeper::Tree) {
            return Some(Ok(Response::Tree { processes: Vec::new() }));
        }
        self.clients.await_tree(agent, asker);
        None
    }

    fn read(&self, name: &str, lines: Option<usize>, scrollback: bool) -> Reply {
        let pane = self.pane(name)?;
        let wanted = lines.unwrap_or(usize::MAX);
        let lines = fitting(pane.last_lines(scrollback).take(wanted), |line| text_bytes(line));
        let mut lines: Vec<String> = lines.collect();
        lines.reverse();
        Ok(Response::Text { lines })
    }

    fn history(&self, name: &str, before: Option<u64>, count: u16) -> Reply {
        let screen = self.pane(name)?.screen();
        let kept = screen.history_range();
        let end = before.unwrap_or(kept.end).clamp(kept.start, kept.end);
        let count = u64::from(count.min(HISTORY_ROWS_MAX));
        let first = end.saturating_sub(count).max(kept.start);
        let latest = (first..end).rev().filter_map(|number| screen.history_row(number));
        let mut rows: Vec<_> = fitting(latest, row_bytes).collect();
        rows.reverse();
        let first = end - u64::try_from(rows.len()).unwrap_or_default();
        Ok(Response::History { first, kept_from: kept.start, committed: kept.end, rows })
    }

    fn screen(&self, name: &str) -> Reply {
        let screen = self.pane(name)?.screen();
        let rows = fitting(screen.rows().into_iter(), row_bytes).collect();
        let links = screen.links().into_iter();
        let links = fitting(links, |link| LINK_BYTES + text_bytes(&link.target)).collect();
        Ok(Response::Screen { first: screen.committed(), rows, links })
    }

    fn press(&mut self, name: &str, keys: &[KeyInput]) -> Reply {
        let agent = self.known(name)?;
        let now = self.clock.now();
        let is_typing = keys.iter().any(KeyInput::is_typing);
        self.refuse_unreachable(&agent)?;
        let pane = self.live_pane(&agent)?;
        if is_typing {
            pane.note_person(matches!(keys, [one] if one.is_enter()), now);
        }
        let run = pane.run();
        let modes = pane.screen().modes();
        let bytes: Vec<u8> = keys
            .iter()
            .flat_map(|key| match key {
                KeyInput::Key(key) => key_bytes(*key, &modes),
                KeyInput::Text(text) => text.replace('\n', "\r").into_bytes(),
                KeyInput::Paste(text) => paste_bytes(text, &modes),
                KeyInput::Mouse(mouse) => mouse_bytes(*mouse, &modes).unwrap_or_default(),
                KeyInput::Focus(gained) => {
                    focus_bytes(*gained, &modes).map(<[u8]>::to_vec).unwrap_or_default()
                }
            })
            .collect();
        if bytes.len() > INPUT_BYTES_MAX {
            let message = format!("That is more than {INPUT_BYTES_MAX} bytes");
            return Err(Fault::new(message).with_hint("Send it in parts"));
        }
        let is_taken = pane.type_bytes(bytes, now);
        if is_typing {
            let key = self.record.note_key(&mut self.engine, (agent.clone(), run), now);
            if let Some(event) = key {
                self.decide(event);
            }
        }
        if is_taken {
            Ok(Response::Ok)
        } else {
            Err(Fault::new(format!("Agent `{agent}` does not read what is typed into it")))
        }
    }

    /// Refuses what would reach an agent too late to mean what it means now.
    fn refuse_unreachable(&self, agent: &AgentName) -> Result<(), Fault> {
        let seat = self.engine.seat(agent);
        let Some(unreachable) = seat.and_then(|seat| seat.unreachable.as_ref()) else {
            return Ok(());
        };
        let since = unreachable.since.to_rfc3339();
        let fault = Fault::new(format!("Agent `{agent}` has been unreachable since {since}"));
        Err(fault.with_hint("`wheelhouse attention` says why; it keeps running there"))
    }

    /// Returns the pane of an agent that runs.
    pub(in crate::hub) fn live_pane(&mut self, agent: &AgentName) -> Result<&mut Pane, Fault> {
        self.panes.live_mut(agent).ok_or_else(|| {
            Fault::new(format!("Agent `{agent}` does not run"))
                .with_hint(format!("Start it with `wheelhouse agent start {agent}`"))
        })
    }

    fn resize(&mut self, name: &str, size: Size) -> Reply {
        let agent = self.known(name)?;
        let size = size.clamped();
        if self.panes.want_size(&agent, size) {
            self.clients.note_change(&agent);
        }
        Ok(Response::Ok)
    }

    /// Answers once all that was recorded of an agent is in its file.
    fn flush_cast(&mut self, asker: Asker, name: &str) -> Option<Reply> {
        if let Err(fault) = self.known(name) {
            return Some(Err(fault));
        }
        let files = self.record.files().clone();
        let finish = move || files.finish();
        // A recording may be about to be opened: only then can it be written to.
        self.in_background(finish.clone(), move |hub, _| {
            let screen = |agent: &AgentName| hub.panes.get(agent).map(Pane::screen);
            hub.record.recordings.flush_all(screen, hub.clock.now());
            hub.in_background(finish, move |hub, done| {
                hub.answer(asker, done.map(|()| Response::Ok));
            });
        });
        None
    }

    /// Returns the name of an agent that is on record.
    pub(in crate::hub) fn known(&self, name: &str) -> Result<AgentName, Fault> {
        let found = name.parse::<AgentName>().ok();
        let found = found.filter(|agent| self.engine.seat(agent).is_some());
        found.ok_or_else(|| unknown_agent(&self.engine, name))
    }

    pub(in crate::hub) fn all_known(&self, names: &[String]) -> Result<Vec<AgentName>, Fault> {
        names.iter().map(|name| self.known(name)).collect()
    }

    fn pane(&self, name: &str) -> Result<&Pane, Fault> {
        let agent = self.known(name)?;
        let empty = || {
            Fault::new(format!("Agent `{agent}` has no screen"))
                .with_hint(format!("It has one once it runs: `wheelhouse agent start {agent}`"))
        };
        self.panes.get(&agent).ok_or_else(empty)
    }
}
