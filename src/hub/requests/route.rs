//! What clients ask, and what they are answered.

use crate::api::{Ask, Fault, FromHub, KeyInput, PROTOCOL, Request, Response};
use crate::config::{Hash, Loaded};
use crate::engine::{Engine, Event};
use crate::hub::Hub;
use crate::hub::agents::added_agents::cli_offers;
use crate::hub::agents::plan::offers;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::response_size::{fitting, row_bytes, text_bytes};
use crate::hub::inbox::ClientId;
use crate::hub::panes::pane::Pane;
use crate::hub::record::commit_queue::unwritable;
use crate::keeper::ToKeeper;
use crate::model::{
    AgentName, Command, Done, InvalidKey, Keyed, ProcessInfo, Refusal, RequestId, Size,
};
use crate::screen::{focus_bytes, key_bytes, mouse_bytes, paste_bytes};

/// What may be typed with one request.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// Rows of history in one answer.
const HISTORY_ROWS_MAX: u16 = 1000;

/// Who waits for an answer, and under which number.
#[derive(Clone, Copy, Debug)]
pub(in crate::hub) struct Asker {
    pub(in crate::hub) client: ClientId,
    id: u64,
    /// It asked for something that counts only if it is on record.
    pub(in crate::hub) wants_record: bool,
}

pub(in crate::hub) type Reply = Result<Response, Fault>;

fn foreign(protocol: u32) -> Fault {
    let version = env!("CARGO_PKG_VERSION");
    let side = if protocol > PROTOCOL { "older" } else { "newer" };
    Fault::new(format!(
        "The hub is {side} than you are: it speaks version {PROTOCOL} of the protocol, and not {protocol}"
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

impl Asker {
    pub(in crate::hub) fn of(client: ClientId, ask: &Ask) -> Self {
        Self { client, id: ask.id, wants_record: ask.request.wants_record() }
    }
}

impl Hub {
    pub(in crate::hub) fn on_ask(&mut self, client: ClientId, ask: Ask) {
        let ask = Ask { key: ask.key.filter(|_| ask.request.takes_key()), ..ask };
        let asker = Asker::of(client, &ask);
        let is_greeting = matches!(ask.request, Request::Hello { .. });
        if !is_greeting && !self.views.is_greeted(client) {
            return self.answer(asker, Err(self.ungreeted(client)));
        }
        let answer = match self.refuse(client, &ask.request) {
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
        if let Some(refusal) = self.views.refusal_of(client) {
            let message = format!("The greeting was refused: {}", refusal.message);
            return Fault { message, ..refusal.clone() };
        }
        match self.views.protocol_of(client) {
            Some(protocol) => foreign(protocol),
            None => Fault::new("The first request of a connection is `hello`")
                .with_hint("`wheelhouse api schema` prints what requests look like"),
        }
    }

    /// Returns the answer, unless it comes later; what was granted before is not done again.
    fn obey_once(&mut self, asker: Asker, request: Request, key: Option<Keyed>) -> Option<Reply> {
        let by = self.speakers.get(&asker.client).map(|(agent, _)| agent.clone());
        match key {
            Some(key) if self.engine.knows_request(by.as_ref(), &key.key) => {
                let request = self.expect_answer(asker);
                self.decide(Event::AskedAgain { request, by, key });
                return None;
            }
            Some(key) => drop(self.keys.insert((asker.client, asker.id), key)),
            None => {}
        }
        let answer = match self.unrecordable(asker) {
            Some(fault) => Some(Err(fault)),
            None => self.obey(asker, request),
        };
        if answer.is_some() {
            self.keys.remove(&(asker.client, asker.id));
        }
        answer
    }

    fn expect_answer(&mut self, asker: Asker) -> RequestId {
        self.next_request += 1;
        let request = RequestId(self.next_request);
        self.askers.insert(request, asker);
        request
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
                let answer = self.greet(client, protocol, token.as_ref());
                self.views.note_refusal(client, answer.as_ref().err().cloned());
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
                self.views.watch(client, agents, focused, is_attended);
                self.alert();
                Some(Ok(Response::Ok))
            }
            Request::Subscribe => {
                self.views.subscribe(client);
                Some(Ok(Response::Ok))
            }
            Request::History { agent, before, count } => Some(self.history(&agent, before, count)),
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
        let key = self.keys.remove(&(asker.client, asker.id));
        match self.unrecordable(asker).map_or(command, Err) {
            Ok(command) => {
                let request = self.expect_answer(asker);
                let by = self.speakers.get(&asker.client).map(|(agent, _)| agent.clone());
                self.decide(Event::Asked { request, command, by, key });
                None
            }
            Err(fault) => Some(Err(fault)),
        }
    }

    /// Returns why something cannot be put on record that counts only there.
    fn unrecordable(&self, asker: Asker) -> Option<Fault> {
        let obstacle = self.ledger.obstacle().filter(|_| asker.wants_record);
        obstacle.map(|reason| unwritable(&reason))
    }

    pub(in crate::hub) fn answer_command(
        &mut self,
        request: RequestId,
        outcome: Result<Done, Refusal>,
    ) {
        if let Some(asker) = self.askers.remove(&request) {
            self.answer(asker, outcome.map(Response::Done).map_err(Fault::from));
        }
    }

    pub(in crate::hub) fn answer(&self, asker: Asker, outcome: Reply) {
        self.views.send(asker.client, &FromHub::Answer { id: asker.id, outcome });
    }

    fn ask_for_tree(&mut self, asker: Asker, name: &str) -> Option<Reply> {
        let agent = match self.known(name) {
            Ok(agent) => agent,
            Err(fault) => return Some(Err(fault)),
        };
        if !self.panes.get(&agent).is_some_and(|pane| pane.order(&ToKeeper::Tree)) {
            return Some(Ok(Response::Tree { processes: Vec::new() }));
        }
        self.tree_askers.entry(agent).or_default().push(asker);
        None
    }

    pub(in crate::hub) fn answer_tree(&mut self, agent: &AgentName, processes: Vec<ProcessInfo>) {
        let askers = self.tree_askers.get_mut(agent);
        if let Some(asker) = askers.filter(|askers| !askers.is_empty()).map(|all| all.remove(0)) {
            self.answer(asker, Ok(Response::Tree { processes }));
        }
    }

    /// Gives up on those who wait for the process tree of an agent whose keeper is gone.
    pub(in crate::hub) fn forsake_tree_askers(&mut self, agent: &AgentName) {
        for asker in self.tree_askers.remove(agent).unwrap_or_default() {
            self.answer(asker, Ok(Response::Tree { processes: Vec::new() }));
        }
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
        let screen = &self.pane(name)?.screen;
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

    fn press(&mut self, name: &str, keys: &[KeyInput]) -> Reply {
        let agent = self.known(name)?;
        let now = self.clock.now();
        let is_typing = keys.iter().any(KeyInput::is_typing);
        self.refuse_unreachable(&agent)?;
        let pane = self.live_pane(&agent)?;
        if is_typing {
            pane.disturbed_at = Some(now);
            if let Some(detector) = &mut pane.detector {
                detector.note_typing(matches!(keys, [one] if one.is_enter()), now);
            }
        }
        let run = pane.run;
        let modes = pane.screen.modes();
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
            let key = self.undo.note_key(&mut self.engine, (agent.clone(), run), now);
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

    /// Returns the pane of an agent that runs.
    pub(in crate::hub) fn live_pane(&mut self, agent: &AgentName) -> Result<&mut Pane, Fault> {
        let pane = self.panes.get_mut(agent).filter(|pane| pane.link.is_some());
        pane.ok_or_else(|| {
            Fault::new(format!("Agent `{agent}` does not run"))
                .with_hint(format!("Start it with `wheelhouse agent start {agent}`"))
        })
    }

    fn resize(&mut self, name: &str, size: Size) -> Reply {
        let agent = self.known(name)?;
        let size = size.clamped();
        if let Some(pane) = self.panes.get_mut(&agent)
            && pane.screen.size() != size
            && !pane.order(&ToKeeper::Resize(size))
        {
            // Nobody will report the new size of a pane whose agent is gone.
            pane.screen.resize(size);
            self.views.note_change(&agent);
        }
        Ok(Response::Ok)
    }

    /// Answers once all that was recorded of an agent is in its file.
    fn flush_cast(&mut self, asker: Asker, name: &str) -> Option<Reply> {
        if let Err(fault) = self.known(name) {
            return Some(Err(fault));
        }
        let files = self.writer.files().clone();
        let finish = move || files.finish();
        // A recording may be about to be opened: only then can it be written to.
        self.in_background(finish.clone(), move |hub, _| {
            hub.casts.flush_all(&hub.panes, hub.clock.now());
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

/// Says that there is no such agent, and which there are.
pub(in crate::hub) fn unknown_agent(engine: &Engine, name: &str) -> Fault {
    let known = engine.seats().map(|seat| seat.member.name.clone()).collect();
    let agent = name.chars().filter(|c| !c.is_control()).take(64).collect();
    Fault::from(Refusal::UnknownAgent { agent, known })
}
