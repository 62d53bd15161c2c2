//! The course of a run: its stages, what a failure means for it, when it needs a person, its end.

use std::time::Duration;

use crate::engine::journal::Place;
use crate::engine::tasks::limits::time_is_up_at;
use crate::engine::{Effect, Engine, Seat};
use crate::model::{
    AgentName, AgentState, Checks, Moment, OnFailure, Play, PlayId, PlayStage, PlayState, Stage,
    Task, TaskId, TaskSpec, TaskState,
};

/// A stage whose gates fail this often will not pass them.
const STAGE_REFUSALS_MAX: u32 = 3;

/// Nothing of a run may move for this long before a person is wanted: an agent that has just come
/// up, or has just ended its turn, is not taken for one that waits.
const STALL_PATIENCE: Duration = Duration::from_secs(3);

impl Engine {
    /// Brings every run in line with its tasks, and says whether there is something new to hand out.
    pub(in crate::engine) fn follow_plays(
        &mut self,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let open: Vec<PlayId> =
            self.plays.values().filter(|play| !play.state.is_over()).map(|play| play.id).collect();
        let mut has_news = false;
        for id in open {
            has_news |= self.follow(id, now, effects);
        }
        has_news
    }

    fn follow(&mut self, id: PlayId, now: Moment, effects: &mut Vec<Effect>) -> bool {
        let tasks = self.play_tasks(id);
        let stops = |task: &&&Task| {
            task.state == TaskState::Failed && task.terms.on_failure != OnFailure::Skip
        };
        if let Some(failed) = tasks.iter().find(stops) {
            let why = failed.note.as_deref().unwrap_or("it failed");
            let note = format!("{}: {why}", failed.key.as_deref().unwrap_or(&failed.title));
            self.end_play(id, PlayState::Failed, Some(note), now, effects);
            return true;
        }
        let all_final = tasks.iter().all(|task| task.state.is_final());
        if let Some(stage) = self.plays[&id].cast.stages.iter().position(|one| !one.has_passed) {
            if self.follow_stage(id, stage, effects) {
                return true;
            }
        } else if all_final {
            let (state, note) = self.summed_up(id);
            self.end_play(id, state, note, now, effects);
            return true;
        }
        self.note_stall(id, now);
        false
    }

    /// Returns how a run has ended whose tasks have all ended.
    fn summed_up(&self, id: PlayId) -> (PlayState, Option<String>) {
        let tasks = self.play_tasks(id);
        let name = |task: &&Task| task.key.clone().unwrap_or_else(|| task.id.to_string());
        let listed = |wanted: &dyn Fn(&&Task) -> bool| {
            tasks
                .iter()
                .copied()
                .filter(wanted)
                .map(|task| name(&task))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let skipped = listed(&|task| task.state != TaskState::Done);
        let reduced = listed(&|task| task.state == TaskState::Done && task.is_reduced);
        let parts = [("without", skipped), ("reduced:", reduced)];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what} {names}"))
            .collect();
        if parts.is_empty() {
            (PlayState::Done, None)
        } else {
            (PlayState::Partial, Some(parts.join("; ")))
        }
    }

    /// Says whether a task waits for the stage before its own.
    pub(in crate::engine) fn awaited_stage(&self, task: &Task) -> Option<&PlayStage> {
        let play = task.play.and_then(|id| self.plays.get(&id))?;
        let key = task.key.as_ref()?;
        let stages = &play.cast.stages;
        let own = stages.iter().position(|stage| stage.tasks.contains(key))?;
        stages.iter().take(own).find(|stage| !stage.has_passed)
    }

    /// Lets a stage pass whose tasks have all ended, or has its gates run. Returns whether it passed.
    fn follow_stage(&mut self, id: PlayId, at: usize, effects: &mut Vec<Effect>) -> bool {
        let stage = &self.plays[&id].cast.stages[at];
        let is_its = |task: &&Task| task.key.as_ref().is_some_and(|key| stage.tasks.contains(key));
        let tasks = self.play_tasks(id);
        let has_ended = tasks.into_iter().filter(is_its).all(|task| task.state.is_final());
        if !has_ended || stage.is_checking {
            return false;
        }
        let (name, has_gates) = (stage.name.clone(), !stage.gates.is_empty());
        if has_gates {
            self.check_stage(id, at, effects);
            return false;
        }
        self.stage_mut(id, at).has_passed = true;
        self.tell_play(id, "stage", format!("{name} has passed"));
        true
    }

    /// Has the hub run the gates of a stage.
    fn check_stage(&mut self, id: PlayId, at: usize, effects: &mut Vec<Effect>) {
        let cwd = self.plays[&id].cast.agents.first();
        let cwd = cwd.and_then(|player| self.seats.get(&player.name));
        let cwd = cwd.map(|seat| seat.member.cwd.clone()).unwrap_or_default();
        let stage = self.stage_mut(id, at);
        stage.is_checking = true;
        let (round, gates) = (stage.refusals, stage.gates.clone());
        effects.push(Effect::RunStageGates { play: id, stage: at, round, gates, cwd });
    }

    /// Asks once more for the gates of stages that ran when the hub died.
    pub(in crate::engine) fn recheck_stages(&mut self, effects: &mut Vec<Effect>) {
        let stages = |play: &Play| {
            let checking = play.cast.stages.iter().enumerate().filter(|(_, one)| one.is_checking);
            checking.map(|(at, _)| (play.id, at)).collect::<Vec<_>>()
        };
        let open = self.plays.values().filter(|play| !play.state.is_over());
        for (id, at) in open.flat_map(stages).collect::<Vec<_>>() {
            self.check_stage(id, at, effects);
        }
    }

    /// Notes what the gates of a stage said. Where one failed, the stage is done again.
    pub(in crate::engine) fn note_stage_gates(
        &mut self,
        id: PlayId,
        at: usize,
        round: u32,
        checks: &Checks,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(play) = self.plays.get(&id).filter(|play| !play.state.is_over()) else { return };
        let stage = play.cast.stages.get(at);
        let Some(stage) = stage.filter(|one| one.is_checking && one.refusals == round) else {
            return;
        };
        let name = stage.name.clone();
        let failed = checks.results.iter().find(|result| !result.passed);
        let failed = failed.map(|gate| (gate.gate.clone(), gate.output.clone()));
        let stage = self.stage_mut(id, at);
        stage.is_checking = false;
        stage.has_passed = failed.is_none();
        stage.refusals += u32::from(failed.is_some());
        let is_hopeless = stage.refusals >= STAGE_REFUSALS_MAX;
        let Some((gate, output)) = failed else {
            return self.tell_play(id, "stage", format!("{name} has passed"));
        };
        self.tell_play(id, "stage", format!("{name} did not pass `{gate}`"));
        if is_hopeless {
            let note = format!("stage {name}: `{gate}` did not pass {STAGE_REFUSALS_MAX} times");
            return self.end_play(id, PlayState::Failed, Some(note), now, effects);
        }
        let advice = format!(
            "the stage `{name}` is done again, because its check `{gate}` did not pass:\n{}",
            crate::protocol::quote(output.trim())
        );
        self.repeat_stage(id, at, &advice, now);
    }

    /// Adds the tasks of a stage once more; what comes later builds on the new ones.
    fn repeat_stage(&mut self, id: PlayId, at: usize, advice: &str, now: Moment) {
        let stage = &self.plays[&id].cast.stages[at];
        let is_its = |task: &&Task| task.key.as_ref().is_some_and(|key| stage.tasks.contains(key));
        let old: Vec<Task> = self.play_tasks(id).into_iter().filter(is_its).cloned().collect();
        let first = self.task_count + 1;
        let renewed = |need: TaskId| match old.iter().position(|task| task.id == need) {
            Some(place) => TaskId(first + place as u64),
            None => need,
        };
        for task in &old {
            let needs = task.needs.iter().copied().map(renewed).collect();
            let spec = TaskSpec {
                key: task.key.clone(),
                title: task.title.clone(),
                prompt: task.prompt.clone(),
                play: Some(id),
                terms: task.terms.clone(),
                needs: Vec::new(),
            };
            let new = self.insert_task(spec, needs, None, now);
            let new = self.tasks.get_mut(&new).expect("it was just added");
            new.advice = Some(advice.to_owned());
        }
        let later = self
            .tasks
            .values_mut()
            .filter(|task| task.play == Some(id) && task.id.0 < first && task.attempts.is_empty());
        let mut changed = Vec::new();
        for task in later {
            let needs: Vec<TaskId> = task.needs.iter().copied().map(renewed).collect();
            if needs != task.needs {
                task.needs = needs;
                changed.push(task.id);
            }
        }
        for task in changed {
            self.touch(Place::Task(task));
        }
    }

    fn stage_mut(&mut self, id: PlayId, at: usize) -> &mut PlayStage {
        self.touch(Place::Play(id));
        let play = self.plays.get_mut(&id).expect("only known runs have stages");
        &mut play.cast.stages[at]
    }

    /// Notes whether a run still moves; one that has stood still for a while needs a person.
    fn note_stall(&mut self, id: PlayId, now: Moment) {
        let is_moving = self.is_moving(id);
        let play = self.plays.get_mut(&id).expect("only known runs are followed");
        if is_moving {
            play.stalled = None;
            return self.set_play(id, PlayState::Running, None, now);
        }
        let since = *play.stalled.get_or_insert(now);
        if since + STALL_PATIENCE <= now {
            let note = self.standstill(id);
            self.set_play(id, PlayState::NeedsPerson, Some(note), now);
        }
    }

    /// Returns when a run that stands still has done so for long enough.
    pub(in crate::engine) fn stall_deadline(&self) -> Option<Moment> {
        let stalled = self.plays.values().filter(|play| play.state == PlayState::Running);
        stalled.filter_map(|play| Some(play.stalled? + STALL_PATIENCE)).min()
    }

    /// Says whether something of a run goes on without a person.
    fn is_moving(&self, id: PlayId) -> bool {
        let play = &self.plays[&id];
        let is_busy = |seat: &Seat| {
            let is_at_work = match seat.state {
                AgentState::Starting | AgentState::Working | AgentState::Limited => true,
                AgentState::Unknown => seat.pace.stuck.is_none(),
                AgentState::Idle
                | AgentState::Waiting
                | AgentState::Blocked
                | AgentState::Done
                | AgentState::Error
                | AgentState::Exited => false,
            };
            let is_called = seat.state != AgentState::Waiting
                && seat.is_live()
                && !self.is_hung(&seat.member.name)
                && self.has_open_dispatch(&seat.member.name);
            is_at_work || is_called || seat.next.is_some()
        };
        let seats = play.cast.agents.iter().filter_map(|player| self.seats.get(&player.name));
        seats.into_iter().any(|seat| is_busy(seat) && !self.is_silent(seat))
            || play.cast.stages.iter().any(|stage| stage.is_checking)
            || self.tasks.values().filter(|task| task.play == Some(id)).any(|t| self.goes_on(t))
    }

    /// Says whether nobody can tell what became of the last prompt that was typed into an agent, and
    /// the agent does not work: nothing reaches it any more before it is started anew.
    pub fn is_hung(&self, agent: &AgentName) -> bool {
        let typed = self.dispatches.values().rev().find(|one| {
            one.agent == *agent && !matches!(one.stage, Stage::Queued | Stage::Withdrawn)
        });
        let is_open = typed.is_some_and(|one| matches!(one.stage, Stage::Stalled | Stage::Unknown));
        let seat = self.seats.get(agent).filter(|seat| seat.is_live());
        let is_of_run = |seat: &Seat| typed.and_then(|one| one.run) == Some(seat.run);
        is_open && seat.is_some_and(|seat| is_of_run(seat) && seat.state != AgentState::Working)
    }

    /// Says whether an agent was asked after and has not answered.
    fn is_silent(&self, seat: &Seat) -> bool {
        let open = self.task_of(&seat.member.name).and_then(Task::open);
        open.is_some_and(|open| open.told.is_silent)
    }

    fn goes_on(&self, task: &Task) -> bool {
        match task.state {
            TaskState::Claimed => {
                let claim = task.open().and_then(|open| open.claim.as_ref());
                claim.is_some_and(|claim| claim.is_checking)
            }
            TaskState::Interrupted => true,
            // A lock that someone holds is given back in time.
            TaskState::Ready => self
                .seats
                .values()
                .any(|seat| self.may_try(task, seat) && seat.may_be_handed_work()),
            // A turn that has just ended, and whose report is still being read.
            TaskState::Running => {
                let open = task.open().filter(|open| !open.told.is_silent);
                let seat = open.and_then(|open| self.seats.get(&open.agent));
                seat.is_some_and(|seat| {
                    seat.state != AgentState::Waiting && !self.is_hung(&seat.member.name)
                })
            }
            TaskState::Pending
            | TaskState::Blocked
            | TaskState::Done
            | TaskState::Failed
            | TaskState::Cancelled => false,
        }
    }

    /// Puts into words what a run waits for.
    fn standstill(&self, id: PlayId) -> String {
        let tasks = self.play_tasks(id);
        let waits = |task: &&Task| !task.state.is_final() && task.state != TaskState::Pending;
        let Some(task) = tasks.into_iter().find(waits) else {
            return "what is left waits for what was given up".to_owned();
        };
        let name = task.key.as_deref().unwrap_or(&task.title);
        let item = self.attention().into_iter().find(|item| item.task == Some(task.id));
        match (item, task.state) {
            (Some(item), _) => item.text.clone(),
            (None, TaskState::Ready) => format!("{name}: no agent that runs fits it"),
            (None, state) => format!("{name} is {state}"),
        }
    }

    /// Ends attempts of runs that took longer than they may: a run has nobody who looks on.
    pub(in crate::engine) fn watch_play_limits(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let is_late = |task: &&Task| {
            let is_at_work = matches!(task.state, TaskState::Running | TaskState::Blocked);
            let limit = time_is_up_at(task).filter(|_| is_at_work && task.play.is_some());
            limit.is_some_and(|at| at <= now)
        };
        let late: Vec<TaskId> = self.tasks.values().filter(is_late).map(|task| task.id).collect();
        for id in late {
            self.interrupt_worker(id, effects);
            self.fail_attempt(id, "it took longer than it may", now);
        }
    }

    /// Reduces a task that has failed as often as it may, if its terms say to what.
    pub(in crate::engine) fn reduce(&mut self, id: TaskId, reason: &str, now: Moment) -> bool {
        let task = self.tasks.get_mut(&id).expect("only known tasks are reduced");
        let Some(reduced) = task.terms.reduced.clone().filter(|_| !task.is_reduced) else {
            return false;
        };
        task.is_reduced = true;
        task.forgiven = task.attempts.len();
        task.advice = Some(format!("do less. {reduced}"));
        self.touch(Place::Task(id));
        let note = format!("reduced, because {reason}");
        self.set_task(id, TaskState::Pending, Some(note), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, crew, name};
    use crate::model::{
        Cast, Command, GateResult, Pattern, PlayCommand, PlayOrder, Player, Refusal, Role, Terms,
    };

    fn spec(key: &str, needs: &[&str], terms: Terms) -> TaskSpec {
        TaskSpec {
            key: Some(key.to_owned()),
            title: key.to_owned(),
            prompt: format!("do {key}"),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            play: None,
            terms,
        }
    }

    fn stage(name: &str, task: &str, gates: &[&str]) -> PlayStage {
        PlayStage {
            name: name.to_owned(),
            tasks: vec![task.to_owned()],
            gates: gates.iter().map(|gate| (*gate).to_owned()).collect(),
            has_passed: false,
            is_checking: false,
            refusals: 0,
        }
    }

    fn order(call: &str, stages: Vec<PlayStage>, tasks: Vec<TaskSpec>) -> PlayOrder {
        let player = |agent: &str| Player {
            name: name(agent),
            cli: "sim".to_owned(),
            role: Role::Worker,
            owns: Vec::new(),
            capabilities: Vec::new(),
            prompt: None,
            command: Vec::new(),
            kit: crate::model::Kit::default(),
            posting: crate::model::Posting::default(),
        };
        let cast = Cast {
            playbook: "p".to_owned(),
            hash: "h".to_owned(),
            vars: BTreeMap::new(),
            pattern: Pattern::Pipeline,
            team: "team".to_owned(),
            agents: vec![player("one")],
            stages,
            teams: Vec::new(),
            locks: Vec::new(),
        };
        PlayOrder { call: call.to_owned(), cast, tasks, scripts: BTreeMap::new() }
    }

    fn begin(bench: &mut Bench, order: PlayOrder) -> Result<PlayId, Refusal> {
        let members = crew(&["one"], "team");
        let command = PlayCommand::Begin { order: Box::new(order), members };
        let effects = bench.ask(Command::Play(command));
        let answer = effects.into_iter().find_map(|effect| {
            let Effect::Answer { outcome, .. } = effect else { return None };
            Some(outcome)
        });
        answer.unwrap().map(|done| done.play.unwrap())
    }

    fn state(bench: &Bench) -> PlayState {
        bench.engine.plays().last().unwrap().state
    }

    /// Lets the agent finish the task that it has in hand.
    fn finish(bench: &mut Bench, task: u64) {
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        bench.report("one", task, "STATUS: DONE — 3 tests pass");
        bench.did("one", AgentState::Idle);
    }

    /// Answers the gates of the stage that are being run.
    fn answer(bench: &mut Bench, passed: bool) {
        let asked = bench.seen.iter().rev().find_map(|effect| {
            let Effect::RunStageGates { play, stage, round, gates, .. } = effect else {
                return None;
            };
            Some((*play, *stage, *round, gates.clone()))
        });
        let (play, stage, round, gates) = asked.unwrap();
        let result = |gate| GateResult { gate, passed, output: "boom".to_owned() };
        let results = gates.into_iter().map(result).collect();
        let checks = Checks { results, ..Checks::default() };
        bench.handle(Event::StageGates { play, stage, round, checks });
    }

    #[test]
    fn a_run_that_is_over_still_names_its_tasks_once_they_have_left_memory() {
        let mut bench = Bench::with_idle(&["one"]);
        let tasks = vec![spec("a", &[], Terms::default()), spec("b", &["a"], Terms::default())];
        let id = begin(&mut bench, order("c", Vec::new(), tasks)).unwrap();
        finish(&mut bench, 1);
        let pass = |bench: &mut Bench| {
            for _ in 0..300 {
                let _ = bench.add(vec![crate::engine::fixture::Work::plain("x")]);
                let task = bench.engine.tasks().last().unwrap().id;
                let _ = bench.ask(Command::Task(crate::model::TaskCommand::Cancel { task }));
            }
        };
        pass(&mut bench);
        assert!(bench.engine.task(TaskId(1)).is_some(), "it stays while the run is not over");
        finish(&mut bench, 2);
        assert_eq!(state(&bench), PlayState::Done);
        pass(&mut bench);
        assert!(bench.engine.task(TaskId(1)).is_none());
        let named = [("a".to_owned(), TaskId(1)), ("b".to_owned(), TaskId(2))];
        assert_eq!(bench.engine.play(id).unwrap().tasks, named);
    }

    #[test]
    fn a_stage_waits_for_the_gates_of_the_one_before_and_is_done_again_if_they_fail() {
        let mut bench = Bench::with_idle(&["one"]);
        let stages = vec![stage("first", "a", &["make"]), stage("second", "b", &[])];
        let tasks = vec![spec("a", &[], Terms::default()), spec("b", &["a"], Terms::default())];
        begin(&mut bench, order("c", stages, tasks)).unwrap();
        finish(&mut bench, 1);
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Pending]);
        // A hub that dies meanwhile asks once more.
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        answer(&mut bench, false);
        bench.did("one", AgentState::Idle);
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Pending, TaskState::Running]);
        assert!(bench.prompts("one").last().unwrap().contains("| boom"));
        finish(&mut bench, 3);
        answer(&mut bench, true);
        finish(&mut bench, 2);
        assert_eq!(state(&bench), PlayState::Done);
        assert_eq!(bench.engine.task(TaskId(1)).unwrap().attempts.len(), 1);
    }

    #[test]
    fn a_stage_may_ask_for_a_contract_that_somebody_of_its_run_published() {
        let mut bench = Bench::with_idle(&["one"]);
        let stages = vec![stage("first", "a", &["contract:users"])];
        let tasks = vec![spec("a", &[], Terms::default())];
        let play = begin(&mut bench, order("c", stages, tasks)).unwrap();
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        assert!(bench.engine.promised_in(play, "users", None).is_err());
        bench.report("one", 1, "CONTRACT: users\nfile: api.rs");
        assert_eq!(bench.engine.promised_in(play, "users", None).unwrap(), ["api.rs"]);
        assert!(bench.engine.promised_in(PlayId(9), "users", None).is_err(), "another run");
        assert!(bench.engine.promised_in(play, "users", Some(2)).is_err(), "an older version");
    }

    #[test]
    fn a_failure_ends_the_run_or_leaves_it_in_part() {
        for (on_failure, reduced, expected) in [
            (OnFailure::Stop, None, PlayState::Failed),
            (OnFailure::Skip, None, PlayState::Partial),
            (OnFailure::Stop, Some("half".to_owned()), PlayState::Partial),
        ] {
            let mut bench = Bench::with_idle(&["one"]);
            let is_reduced = reduced.is_some();
            let terms = Terms { on_failure, reduced, attempts_max: 1, ..Terms::default() };
            let tasks = vec![spec("a", &[], terms), spec("b", &["a"], Terms::default())];
            begin(&mut bench, order("c", Vec::new(), tasks)).unwrap();
            bench.begin("one");
            bench.report("one", 1, "STATUS: ERROR — no");
            if is_reduced {
                finish(&mut bench, 1);
                assert!(bench.prompts("one").iter().any(|prompt| prompt.contains("do less. half")));
            }
            if expected == PlayState::Partial {
                finish(&mut bench, 2);
            }
            assert_eq!(state(&bench), expected);
            assert!(bench.states().iter().all(|state| state.is_final()));
        }
    }

    #[test]
    fn a_run_that_stands_still_needs_a_person_and_goes_on_with_one() {
        let mut bench = Bench::with_idle(&["one"]);
        let tasks = vec![spec("a", &[], Terms::default())];
        begin(&mut bench, order("c", Vec::new(), tasks)).unwrap();
        bench.begin("one");
        bench.did("one", AgentState::Waiting);
        assert_eq!(state(&bench), PlayState::Running, "a dialog may be gone at once");
        bench.pass_time();
        assert_eq!(state(&bench), PlayState::NeedsPerson);
        bench.did("one", AgentState::Working);
        assert_eq!(state(&bench), PlayState::Running);
    }

    #[test]
    fn the_same_call_is_the_same_run_and_another_waits_for_its_end() {
        let mut bench = Bench::with_idle(&["one"]);
        let tasks = || vec![spec("a", &[], Terms::default())];
        let first = begin(&mut bench, order("c", Vec::new(), tasks())).unwrap();
        assert_eq!(begin(&mut bench, order("c", Vec::new(), tasks())), Ok(first));
        assert_eq!(bench.engine.tasks().count(), 1);
        let refused = begin(&mut bench, order("d", Vec::new(), tasks()));
        assert!(matches!(refused, Err(Refusal::PlayStands { run, .. }) if run == first));
        let _ = bench.ask(Command::Play(PlayCommand::Cancel { play: first }));
        assert_eq!(
            (state(&bench), bench.states()[0]),
            (PlayState::Cancelled, TaskState::Cancelled)
        );
        assert!(begin(&mut bench, order("d", Vec::new(), tasks())).is_ok());
    }
}
