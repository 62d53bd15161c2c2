//! Begins, resumes and cancels runs of playbooks.

use crate::api::{Fault, RequestKind, Response, RunRequest, RunStatus};
use crate::config::Loaded;
use crate::engine::Seat;
use crate::hub::Hub;
use crate::hub::agents::plan::Launches;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::{Asker, Reply};
use crate::model::{
    Cast, Command, Environment, Letter, Member, Play, PlayCommand, PlayId, PlayOrder, Player,
    Refusal, TAG_PLACE,
};

/// The word of a call becomes the name of a directory.
const CALL_CHARS_MAX: usize = 64;

impl Hub {
    /// Returns the answer, unless it comes later.
    pub(in crate::hub) fn obey_about_plays(
        &mut self,
        asker: Asker,
        request: RunRequest,
    ) -> Option<Reply> {
        let command = match request {
            RunRequest::List => {
                let mut runs = self.run_list();
                if let Some((agent, _)) =
                    self.clients.say_of(&self.engine, asker.client, RequestKind::ListRuns)
                {
                    runs.retain(|run| run.agents.iter().any(|name| name == agent.as_str()));
                }
                return Some(Ok(Response::Runs { runs }));
            }
            RunRequest::Begin { order, environment } => {
                if let Err(fault) = refuse_call(&order.call) {
                    return Some(Err(fault));
                }
                self.plan_play(asker, order, environment);
                return None;
            }
            RunRequest::Resume { run, environment } => {
                self.plan_encore(asker, run, environment);
                return None;
            }
            RunRequest::Cancel { run } => {
                self.known_play(&run).map(|play| PlayCommand::Cancel { play: play.id })
            }
        };
        self.command(asker, command.map(Command::Play))
    }

    /// Has a run planned, and begins it then.
    fn plan_play(&mut self, asker: Asker, mut order: Box<PlayOrder>, caller: Environment) {
        for spec in &mut order.tasks {
            spec.prompt.retain(|c| !c.is_control() || c == '\n' || c == '\t');
        }
        self.plan(
            Some(asker),
            move |hub, _| {
                // The answer was lost: whoever asks again is told of the same run.
                let is_known = hub.engine.play_called(&order.call).is_some();
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    if is_known {
                        return Ok((order, Launches::new()));
                    }
                    planner.write_scripts(&mut order)?;
                    let start = |player| planner.plan_player(loaded, &order.cast, player, &caller);
                    let crew = order.cast.agents.iter().map(start).collect::<Result<_, _>>()?;
                    Ok((order, crew))
                })
            },
            move |hub, turn, planned| {
                let command = planned.and_then(|(loaded, (order, crew))| {
                    let crew = hub.plans.refuse_stopped(turn, crew)?;
                    let mut members = hub.begin_afresh(&loaded, crew)?;
                    for (member, _) in &mut members {
                        hub.add_first_prompt(&order.cast, member);
                    }
                    Ok(PlayCommand::Begin { order, members })
                });
                hub.command(asker, command.map(Command::Play))
            },
        );
    }

    /// Has it planned how to go on with a run: those of its agents that are gone, or that nothing reaches
    /// any more, take their conversation up again, where their cli can do that and one is known.
    fn plan_encore(&mut self, asker: Asker, run: String, caller: Environment) {
        self.plan(
            Some(asker),
            move |hub, _| {
                let play = hub.known_play(&run)?.clone();
                let seat = |player: &Player| hub.engine.seat(&player.name);
                let is_live = |player: &Player| seat(player).is_some_and(Seat::is_live);
                let is_lost =
                    |player: &&Player| !is_live(player) || hub.engine.is_hung(&player.name);
                let gone: Vec<Player> = play.cast.agents.iter().filter(is_lost).cloned().collect();
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    let start = |player| planner.plan_player(loaded, &play.cast, player, &caller);
                    let crew = gone.iter().map(start).collect::<Result<Launches, _>>()?;
                    Ok((play, crew))
                })
            },
            move |hub, turn, planned| {
                let command = planned.and_then(|(loaded, (play, crew))| {
                    let crew = hub.plans.refuse_stopped(turn, crew)?;
                    let members = hub.resume_or_begin(&loaded, &play.cast, crew)?;
                    Ok(PlayCommand::Resume { play: play.id, members, grace_ms: hub.grace_ms() })
                });
                hub.command(asker, command.map(Command::Play))
            },
        );
    }

    /// Has an agent told what its playbook tells it before its first task.
    pub(super) fn add_first_prompt(&mut self, cast: &Cast, member: &mut Member) {
        let player = cast.agents.iter().find(|player| player.name == member.name);
        let Some(prompt) = player.and_then(|player| player.prompt.as_ref()) else { return };
        let tag = self.draw_tag();
        let text = prompt.replace(TAG_PLACE, &tag);
        member.opening.letter = Some(Letter { agent: member.name.clone(), text, tag: Some(tag) });
    }

    fn known_play(&self, run: &str) -> Result<&Play, Fault> {
        let id = run.parse::<PlayId>().ok();
        id.and_then(|id| self.engine.play(id)).ok_or_else(|| {
            let run = run.chars().filter(|c| !c.is_control()).take(64).collect();
            Refusal::UnknownPlay { run }.into()
        })
    }

    pub(in crate::hub) fn run_list(&self) -> Vec<RunStatus> {
        let run = |play: &Play| RunStatus::new(play, self.engine.play_tasks(play.id));
        self.engine.plays().map(run).collect()
    }
}

fn refuse_call(call: &str) -> Result<(), Fault> {
    let is_word = call.chars().all(|c| c.is_ascii_alphanumeric());
    if call.is_empty() || call.len() > CALL_CHARS_MAX || !is_word {
        return Err(Fault::new("The call of a run is a word of letters and digits"));
    }
    Ok(())
}
