//! Decides for whom a connection speaks, and whether it may ask what it asks.

use super::askers::Reply;
use super::state::Clients;
use super::tokens;
use crate::api::{Fault, Identity, PROTOCOL, Request, RequestKind, Response, Speaker, Status};
use crate::config::Settings;
use crate::engine::{Engine, Seat};
use crate::hub::inbox::ClientId;
use crate::keeper::{KeeperArgs, Standing, Untraced};
use crate::model::{AgentName, Member, Named, Reach, Role, RunId, SessionName, Task, Token};

pub(in crate::hub) fn dead_token() -> Fault {
    Fault::new("The token belongs to no running agent")
        .with_hint("A token is good for one run; `wheelhouse status` shows who runs")
}

/// Returns why a process that cannot be traced is nobody.
fn untraced(why: Untraced) -> Fault {
    let (reason, hint) = match why {
        Untraced::Ended => {
            let hint = "Let the process that connects wait for its answer";
            ("the process that connected has ended", hint)
        }
        Untraced::Restless => {
            let hint = "Type it in a terminal of your own";
            ("it has too many parent processes", hint)
        }
        Untraced::Hidden => {
            let hint = "Mount /proc without `hidepid`, and connect from where the hub runs";
            ("the system hides its process or one of its parents", hint)
        }
    };
    Fault::new(format!("Cannot tell who asks: {reason}")).with_hint(hint)
}

impl Clients {
    pub(in crate::hub) fn greet(
        &mut self,
        client: ClientId,
        (protocol, token): (u32, Option<&Token>),
        (engine, session): (&Engine, &SessionName),
    ) -> Reply {
        // Another version gets its answer, so that it can say what is wrong, and nothing more.
        if let Some(one) = self.by_id.get_mut(&client) {
            one.protocol = Some(protocol);
        }
        if protocol == PROTOCOL {
            let holder = |token| tokens::holder(engine, token).ok_or_else(dead_token);
            let holder = token.map(holder).transpose()?;
            // Who has spoken for an agent once never speaks for anyone else.
            let speaker = self.speaker(client).cloned().or(holder);
            if let Some(fault) = self.refuse_to_speak(client, speaker.as_ref(), session) {
                tracing::warn!(client = client.0, reason = fault.message, "a greeting is refused");
                return Err(fault);
            }
            if let Some(one) = self.by_id.get_mut(&client) {
                (one.speaker, one.is_greeted) = (speaker, true);
            }
        }
        Ok(Response::Welcome {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            session: session.to_string(),
            pid: std::process::id(),
        })
    }

    /// Returns why a client may not speak for an agent, or for a person if none is named.
    ///
    /// What an agent starts stays below its keeper. So it speaks for that agent and for no other,
    /// whatever tokens it throws away or finds, here or in another project.
    pub(in crate::hub) fn refuse_to_speak(
        &self,
        client: ClientId,
        speaker: Option<&(AgentName, RunId)>,
        own: &SessionName,
    ) -> Option<Fault> {
        let kept = match self.by_id.get(&client).map(|one| &one.standing) {
            Some(Standing::Outside) => return None,
            Some(Standing::Inside(kept)) => kept,
            Some(Standing::Unknown(why)) => return Some(untraced(*why)),
            None => return Some(untraced(Untraced::Ended)),
        };
        let KeeperArgs { session, agent, run } = kept;
        if session != own {
            let message = format!("This runs inside agent `{agent}` of session `{session}`");
            let fault = Fault::new(format!("{message}, which has no permissions in this project"));
            return Some(fault.with_hint("Type it in a terminal of your own"));
        }
        let does = match speaker {
            Some((named, of)) if (named, of) == (agent, run) => return None,
            Some((named, _)) if named == agent => "speaks for another run of it".to_owned(),
            Some((named, _)) => format!("speaks for agent `{named}`"),
            None => "does not say so".to_owned(),
        };
        Some(Fault::new(format!("This runs inside agent `{agent}`, and {does}")).with_hint(
            "Leave WHEELHOUSE_TOKEN and WHEELHOUSE_SOCKET as they are in its environment, or type it in \
             a terminal of your own",
        ))
    }

    /// Returns why a client may not make a request.
    pub(in crate::hub) fn refuse(
        &self,
        engine: &Engine,
        client: ClientId,
        request: &Request,
    ) -> Option<Fault> {
        let right = request.kind().right();
        let Some((agent, run)) = self.speaker(client) else {
            let is_allowed = right.of(Speaker::Person) != Reach::Never;
            return (!is_allowed).then(|| Fault::new(format!("Nobody may {}", right.action)));
        };
        let seat = engine.seat(agent).filter(|seat| seat.run == *run && !seat.is_gone());
        let Some(seat) = seat else { return Some(dead_token()) };
        let role = seat.member.role;
        let who = article(role);
        let reach = right.of(Speaker::Agent(role));
        if reach == Reach::Never {
            return Some(Fault::new(format!("{who} may not {}", right.action)).with_hint(
                "`wheelhouse whoami` shows its permissions; report what you need instead",
            ));
        }
        if let Some(excess) = request.excess() {
            return Some(
                Fault::new(format!("{who} may not {excess}"))
                    .with_hint("Leave that out, or ask a person to do it"),
            );
        }
        let mut named = request.named().into_iter();
        let beyond = named.find(|named| !engine.reaches(agent, reach, named))?;
        Some(foreign(engine, agent, reach, &beyond, &format!("{who} may not {}", right.action)))
    }

    /// Returns for whom a client speaks and how far that reaches; nothing for a person.
    pub(in crate::hub) fn say_of(
        &self,
        engine: &Engine,
        client: ClientId,
        kind: RequestKind,
    ) -> Option<(AgentName, Reach)> {
        let agent = self.agent_of(client)?;
        let role = engine.seat(agent).map_or(Role::Worker, |seat| seat.member.role);
        Some((agent.clone(), kind.right().of(Speaker::Agent(role))))
    }

    /// Returns who a client is.
    pub(in crate::hub) fn who_is(
        &self,
        engine: &Engine,
        settings: &Settings,
        client: ClientId,
    ) -> Identity {
        let agent = self.agent_of(client);
        let member = agent.and_then(|agent| engine.seat(agent)).map(|seat| &seat.member);
        let speaker = member.map_or(Speaker::Person, |member| Speaker::Agent(member.role));
        let rights = RequestKind::ALL.iter().map(|kind| kind.right());
        let may = rights.filter(|right| right.of(speaker) != Reach::Never);
        let task = agent.and_then(|agent| engine.task_of(agent));
        let spawnable = member.and_then(|member| spawnable(settings, member));
        Identity {
            agent: agent.map(ToString::to_string),
            role: member.map(|member| member.role),
            team: member.map(|member| member.team.clone()),
            started_by: member.and_then(|member| member.started_by()).map(ToString::to_string),
            task: task.map(|task| task.id.to_string()),
            tag: task.and_then(Task::open).map(|open| open.tag.clone()),
            may: may.map(|right| right.request.to_owned()).collect(),
            clis: spawnable.unwrap_or_default(),
        }
    }
}

/// Returns why what an agent reports counts no longer: its run is over, or the attempt it names.
pub(in crate::hub) fn refuse_late(
    engine: &Engine,
    (agent, run): (&AgentName, RunId),
    tag: Option<&str>,
) -> Option<Fault> {
    let is_it = |seat: &Seat| seat.run == run && !seat.is_gone();
    if !engine.seat(agent).is_some_and(is_it) {
        return Some(dead_token());
    }
    engine.refuse_stale(agent, tag).err().map(Fault::from)
}

fn foreign(
    engine: &Engine,
    agent: &AgentName,
    reach: Reach,
    named: &Named,
    may_not: &str,
) -> Fault {
    let fault = Fault::new(format!("{may_not}: it has no permission for {named}"));
    if matches!(named, Named::Task(_) | Named::Offer(_)) {
        return fault.with_hint("`wheelhouse task list` shows the tasks that are");
    }
    let within = engine.reached(agent, reach);
    let within: Vec<&str> = within.iter().map(AgentName::as_str).collect();
    if within.is_empty() {
        return fault.with_hint("It may act on no agent; report what you need instead");
    }
    fault.with_hint(format!("It may act on: {}", within.join(", ")))
}

/// Returns the clis with which an agent may start others.
fn spawnable(settings: &Settings, member: &Member) -> Option<Vec<String>> {
    let starts = member.role.reach() > Reach::Own;
    let team = settings.team(&member.team).filter(|_| starts)?;
    team.spawn.as_ref().map(|terms| terms.clis.clone())
}

/// Leaves of a status what an agent's permissions reach.
pub(in crate::hub) fn narrow_status(
    engine: &Engine,
    agent: &AgentName,
    reach: Reach,
    mut status: Status,
) -> Status {
    let reached: Vec<String> =
        engine.reached(agent, reach).iter().map(ToString::to_string).collect();
    status.agents.retain(|one| reached.contains(&one.name));
    status.tasks.retain(|task| shows_task(engine, agent, reach, &task.id));
    status.attention.retain(|item| {
        reach > Reach::Own && item.agent.as_ref().is_some_and(|name| reached.contains(name))
    });
    status.interrupted = Box::default();
    status.runs.retain(|run| run.agents.iter().any(|name| name == agent.as_str()));
    status
}

/// Says whether a task is one that an agent may know of: its own, or one that it could take.
pub(in crate::hub) fn shows_task(
    engine: &Engine,
    agent: &AgentName,
    reach: Reach,
    id: &str,
) -> bool {
    engine.reaches(agent, reach, &Named::Offer(id.to_owned()))
}

fn article(role: Role) -> String {
    match role {
        Role::Orchestrator => "An orchestrator".to_owned(),
        Role::Worker | Role::Lead | Role::Verifier => format!("A {role}"),
    }
}
