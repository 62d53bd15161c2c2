//! Lets agents come back: with their conversation, or with a brief of what the record knows.

use crate::api::Fault;
use crate::config::Loaded;
use crate::engine::Seat;
use crate::hub::Hub;
use crate::hub::agents::launch::{begin_afresh, resume};
use crate::hub::agents::plan::Launches;
use crate::hub::agents::planner::Planner;
use crate::hub::agents::resume::{Memories, brief_of};
use crate::hub::clients::askers::Asker;
use crate::model::{Cast, Command, Environment, Launch, Member};

/// Who is to come back, and for whom.
#[derive(Debug)]
pub(in crate::hub) struct ResumeRequest {
    pub(in crate::hub) asker: Asker,
    pub(in crate::hub) agents: Vec<String>,
    pub(in crate::hub) environment: Environment,
    pub(in crate::hub) grace_ms: u64,
    /// Who cannot take a conversation up gets a brief.
    pub(in crate::hub) brief: bool,
}

impl Hub {
    /// Lets agents take their conversations up; where that is wanted, those who cannot begin afresh
    /// with a brief of what they left behind.
    pub(in crate::hub) fn resume_all(&mut self, plan: ResumeRequest) {
        let ResumeRequest { asker, agents, environment, grace_ms, brief } = plan;
        let caller = environment.clone();
        self.plan(
            Some(asker),
            move |_, _| {
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    let plan = |name: &String| planner.plan_where_it_was(loaded, name, &caller);
                    let crew = agents.iter().map(plan).collect::<Result<Launches, Fault>>()?;
                    Ok((crew, brief.then(|| planner.memories(&agents))))
                })
            },
            move |hub, turn, planned| {
                let crew = planned.and_then(|(loaded, (crew, memories))| {
                    hub.let_resume(&loaded, crew, memories.as_ref())
                });
                let crew = hub.take_on(turn, crew, environment);
                hub.command(asker, crew.map(|members| Command::Restart { members, grace_ms }))
            },
        );
    }

    fn let_resume(
        &mut self,
        loaded: &Loaded,
        planned: Launches,
        memories: Option<&Memories>,
    ) -> Result<Launches, Fault> {
        let mut crew = Launches::new();
        for (member, launch) in planned {
            let seat = self.engine.seat(&member.name);
            let was_in_vain = seat.is_some_and(Seat::did_not_resume);
            let resumed = resume(&self.engine, loaded, member.clone(), launch.clone());
            match (resumed, memories) {
                (Ok(resumed), None) => crew.push(resumed),
                (Ok(resumed), Some(_)) if !was_in_vain => crew.push(resumed),
                (Ok(_) | Err(_), Some(memories)) => {
                    crew.push(self.begin_briefed(loaded, member, launch, memories)?);
                }
                (Err(fault), None) => return Err(fault),
            }
        }
        Ok(crew)
    }

    /// Lets an agent begin a new conversation with what the record knows, or, if that is nothing,
    /// with what its team tells it.
    fn begin_briefed(
        &mut self,
        loaded: &Loaded,
        member: Member,
        launch: Launch,
        memories: &Memories,
    ) -> Result<(Member, Launch), Fault> {
        let name = member.name.clone();
        let mut crew = self.begin_afresh(loaded, vec![(member, launch)])?;
        let prompt = brief_of(&self.engine, &name, memories.get(name.as_str()));
        if let (Some(prompt), Some((member, _))) = (prompt, crew.first_mut()) {
            member.opening.letter = Some(self.filled_letter(loaded, name.clone(), &prompt)?);
        }
        crew.pop().ok_or_else(|| Fault::new(format!("Agent `{name}` cannot be started")))
    }

    /// Takes the conversations up that can be, and begins the others anew with what their playbook tells
    /// them first.
    pub(super) fn resume_or_begin(
        &mut self,
        loaded: &Loaded,
        cast: &Cast,
        crew: Launches,
    ) -> Result<Launches, Fault> {
        let mut members = Launches::new();
        for (member, launch) in crew {
            if let Ok(resumed) = resume(&self.engine, loaded, member.clone(), launch.clone()) {
                members.push(resumed);
                continue;
            }
            let mut fresh = self.begin_afresh(loaded, vec![(member, launch)])?;
            for (member, _) in &mut fresh {
                self.add_first_prompt(cast, member);
            }
            members.extend(fresh);
        }
        Ok(members)
    }

    /// Lets each begin a conversation of its own, with what its team tells it first.
    pub(super) fn begin_afresh(
        &mut self,
        loaded: &Loaded,
        crew: Launches,
    ) -> Result<Launches, Fault> {
        begin_afresh(loaded, crew, |agent, prompt| self.filled_letter(loaded, agent, prompt))
    }
}
