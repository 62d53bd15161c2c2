//! Who speaks on a connection, and whether they may ask what they ask.

use super::inbox::ClientId;
use super::requests::Answer;
use super::state::Hub;
use crate::engine::Seat;
use crate::keeper::{self, KeeperArgs};
use crate::model::{AgentName, Member, Named, Reach, Role, RunId, Task, Token};
use crate::wire::{Fault, Identity, PROTOCOL, Request, RequestKind, Response, Speaker, Status};

/// Processes between a client and whoever started it; more is not a command that somebody typed.
const ANCESTORS_MAX: usize = 64;

fn dead_token() -> Fault {
    Fault::new("The token is not that of a running agent")
        .with_hint("A token is good for one run; `wheelhouse status` shows who runs")
}

/// Returns a process and those that it descends from.
fn line_of(pid: u32) -> Vec<u32> {
    let line = std::iter::successors(Some(pid), |pid| keeper::parent(*pid));
    line.take_while(|pid| *pid > 1).take(ANCESTORS_MAX).collect()
}

impl Hub {
    pub(super) fn greet(
        &mut self,
        client: ClientId,
        protocol: u32,
        token: Option<&Token>,
    ) -> Answer {
        // Another version gets its answer, so that it can say what is wrong, and nothing more.
        self.views.note_protocol(client, protocol);
        if protocol == PROTOCOL {
            let peer = self.peers.remove(&client);
            // Who has spoken for an agent once never speaks for anyone else.
            if let Some(token) = token {
                let holder = self.holder(token).ok_or_else(dead_token)?;
                self.speakers.entry(client).or_insert(holder);
            } else if !self.speakers.contains_key(&client)
                && let Some(fault) = peer.and_then(|peer| self.refuse_below_keepers(peer))
            {
                return Err(fault);
            }
            self.views.greet(client);
        }
        Ok(Response::Welcome {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            session: self.paths.session.to_string(),
            pid: std::process::id(),
        })
    }

    /// Returns why a process that shows no token is not let in: what an agent starts stays below its
    /// keeper, so that throwing its token away makes nobody a person, here or in another project.
    fn refuse_below_keepers(&self, pid: u32) -> Option<Fault> {
        let line = line_of(pid);
        let keeps = |seat: &&Seat| {
            let keeper = seat.keeper.filter(|_| !seat.is_gone());
            keeper.is_some_and(|keeper| line.contains(&keeper.pid))
        };
        if let Some(seat) = self.engine.seats().find(keeps) {
            let name = &seat.member.name;
            let message = format!("This runs inside agent `{name}`, and does not say so");
            return Some(Fault::new(message).with_hint(
                "Leave WHEELHOUSE_TOKEN in its environment, or type it in a terminal of your own",
            ));
        }
        // A hub that an agent started for itself is the agent's own, as it is below the same keeper.
        let ours = line_of(std::process::id());
        let mut above = line.iter().filter(|pid| !ours.contains(pid));
        let kept = above.find_map(|pid| KeeperArgs::of_process(*pid))?;
        let message =
            format!("This runs inside agent `{}` of session `{}`", kept.agent, kept.session);
        let fault = Fault::new(format!("{message}, which has no say in this project"));
        Some(fault.with_hint("Type it in a terminal of your own"))
    }

    /// Returns why a client may not make a request.
    pub(super) fn refuse(&self, client: ClientId, request: &Request) -> Option<Fault> {
        let right = request.kind().right();
        let Some((agent, run)) = self.speakers.get(&client) else {
            let is_allowed = right.of(Speaker::Person) != Reach::Never;
            return (!is_allowed).then(|| Fault::new(format!("Nobody may {}", right.deed)));
        };
        let seat = self.engine.seat(agent).filter(|seat| seat.run == *run && !seat.is_gone());
        let Some(seat) = seat else { return Some(dead_token()) };
        let role = seat.member.role;
        let who = article(role);
        let reach = right.of(Speaker::Agent(role));
        if reach == Reach::Never {
            return Some(
                Fault::new(format!("{who} may not {}", right.deed))
                    .with_hint("`wheelhouse whoami` says what it may; else report what is needed"),
            );
        }
        if let Some(excess) = request.excess() {
            return Some(
                Fault::new(format!("{who} may not {excess}"))
                    .with_hint("Leave that out, or ask a person for it"),
            );
        }
        let mut named = request.named().into_iter();
        let foreign = named.find(|named| !self.engine.reaches(agent, reach, named))?;
        Some(self.foreign(agent, reach, &foreign, &format!("{who} may not {}", right.deed)))
    }

    /// Returns why what an agent reports counts no longer: its run is over, or the attempt it names.
    pub(super) fn refuse_late(
        &self,
        agent: &AgentName,
        run: RunId,
        tag: Option<&str>,
    ) -> Option<Fault> {
        let is_it = |seat: &Seat| seat.run == run && !seat.is_gone();
        if !self.engine.seat(agent).is_some_and(is_it) {
            return Some(dead_token());
        }
        self.engine.refuse_stale(agent, tag).err().map(Fault::from)
    }

    fn foreign(&self, agent: &AgentName, reach: Reach, named: &Named, may_not: &str) -> Fault {
        let fault = Fault::new(format!("{may_not}: {named} is not within its reach"));
        if matches!(named, Named::Task(_) | Named::Offer(_)) {
            return fault.with_hint("`wheelhouse task list` shows the tasks that are");
        }
        let within = self.engine.reached(agent, reach);
        let within: Vec<&str> = within.iter().map(AgentName::as_str).collect();
        if within.is_empty() {
            return fault.with_hint("No agent is; report what is needed");
        }
        fault.with_hint(format!("Within its reach: {}", within.join(", ")))
    }

    /// Returns for whom a client speaks and how far that reaches; nothing for a person.
    pub(super) fn say_of(&self, client: ClientId, kind: RequestKind) -> Option<(AgentName, Reach)> {
        let (agent, _) = self.speakers.get(&client)?;
        let role = self.engine.seat(agent).map_or(Role::Worker, |seat| seat.member.role);
        Some((agent.clone(), kind.right().of(Speaker::Agent(role))))
    }

    /// Returns who a client is.
    pub(super) fn who_is(&self, client: ClientId) -> Identity {
        let agent = self.speakers.get(&client).map(|(agent, _)| agent);
        let member = agent.and_then(|agent| self.engine.seat(agent)).map(|seat| &seat.member);
        let speaker = member.map_or(Speaker::Person, |member| Speaker::Agent(member.role));
        let rights = RequestKind::ALL.iter().map(|kind| kind.right());
        let may = rights.filter(|right| right.of(speaker) != Reach::Never);
        let task = agent.and_then(|agent| self.engine.task_of(agent));
        Identity {
            agent: agent.map(ToString::to_string),
            role: member.map(|member| member.role),
            team: member.map(|member| member.team.clone()),
            started_by: member.and_then(|member| member.started_by()).map(ToString::to_string),
            task: task.map(|task| task.id.to_string()),
            tag: task.and_then(Task::open).map(|open| open.tag.clone()),
            may: may.map(|right| right.request.to_owned()).collect(),
            clis: member.and_then(|member| self.spawnable(member)).unwrap_or_default(),
        }
    }

    /// Returns the clis with which an agent may start others.
    fn spawnable(&self, member: &Member) -> Option<Vec<String>> {
        let starts = member.role.reach() > Reach::Own;
        let team = self.settings.team(&member.team).filter(|_| starts)?;
        team.spawn.as_ref().map(|terms| terms.clis.clone())
    }

    /// Returns the status as far as an agent's say reaches.
    pub(super) fn status_for(&self, agent: &AgentName, reach: Reach) -> Status {
        let mut status = self.status();
        let reached: Vec<String> =
            self.engine.reached(agent, reach).iter().map(ToString::to_string).collect();
        status.agents.retain(|one| reached.contains(&one.name));
        status.tasks.retain(|task| self.shows_task(agent, reach, &task.id));
        status.attention.retain(|item| {
            reach > Reach::Own && item.agent.as_ref().is_some_and(|name| reached.contains(name))
        });
        status.interrupted = Box::default();
        status.runs.retain(|run| run.agents.iter().any(|name| name == agent.as_str()));
        status
    }

    /// Says whether a task is one that an agent may know of: its own, or one that it could take.
    pub(super) fn shows_task(&self, agent: &AgentName, reach: Reach, id: &str) -> bool {
        self.engine.reaches(agent, reach, &Named::Offer(id.to_owned()))
    }
}

fn article(role: Role) -> String {
    match role {
        Role::Orchestrator => "An orchestrator".to_owned(),
        Role::Worker | Role::Lead | Role::Verifier => format!("A {role}"),
    }
}
