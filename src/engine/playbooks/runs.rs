//! Runs of playbooks: how each begins, is taken up again, and is ended by a person.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::commands::Begun;
use crate::engine::journal::Place;
use crate::engine::tasks::graph;
use crate::engine::waits::Goal;
use crate::engine::{Effect, Engine, Seat};
use crate::model::{
    AgentName, Entry, Launch, Member, Moment, Outcome, Play, PlayCommand, PlayId, PlayOrder,
    PlayState, Refusal, Task, TaskId, TaskSpec, TaskState,
};

/// Tasks of one run, those included that are added while it lasts and those that have ended: its own
/// agents add to it, and a board that grows for ever is what keeps a run from its end. The next run
/// begins with none.
pub(in crate::engine) const PLAY_TASKS_MAX: usize = 256;

impl Engine {
    /// Returns the runs in the order in which they were begun.
    pub fn plays(&self) -> impl Iterator<Item = &Play> {
        self.plays.values()
    }

    pub fn play(&self, id: PlayId) -> Option<&Play> {
        self.plays.get(&id)
    }

    /// Returns the run that was asked for by this call.
    pub fn play_called(&self, call: &str) -> Option<&Play> {
        self.plays.values().find(|play| play.call == call)
    }

    /// Returns the run in which an agent takes part and that is not over.
    pub fn play_of(&self, agent: &AgentName) -> Option<&Play> {
        let is_its = |play: &&Play| !play.state.is_over() && play.casts(agent);
        let team = self.seats.get(agent).map(|seat| &seat.member.team);
        self.plays.values().filter(is_its).find(|play| Some(&play.cast.team) == team)
    }

    /// Returns the tasks that count for a run: of each key the newest, without verifications.
    pub fn play_tasks(&self, id: PlayId) -> Vec<&Task> {
        let own = self.tasks.values().filter(|task| task.play == Some(id));
        let own: Vec<&Task> = own.filter(|task| task.verifies.is_none()).collect();
        let newest: BTreeMap<&str, TaskId> =
            own.iter().filter_map(|task| Some((task.key.as_deref()?, task.id))).collect();
        let counts =
            |task: &&Task| task.key.as_deref().is_none_or(|key| newest.get(key) == Some(&task.id));
        own.into_iter().filter(counts).collect()
    }

    pub(in crate::engine) fn obey_about_plays(
        &mut self,
        command: PlayCommand,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        match command {
            PlayCommand::Begin { order, members } => self.begin_play(*order, members, now, effects),
            PlayCommand::Resume { play, members, grace_ms } => {
                self.resume_play(play, members, grace_ms, now, effects)
            }
            PlayCommand::Cancel { play } => {
                self.open_play(play)?;
                let note = "a person ended it".to_owned();
                self.end_play(play, PlayState::Cancelled, Some(note), now, effects);
                Ok(Begun::about(play, Goal::Ended))
            }
        }
    }

    fn begin_play(
        &mut self,
        order: PlayOrder,
        members: Vec<(Member, Launch)>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        if let Some(play) = self.play_called(&order.call) {
            return Ok(Begun::about(play.id, Goal::Running));
        }
        self.refuse_play(&order)?;
        self.refuse_too_many(order.tasks.len())?;
        order.tasks.iter().try_for_each(Self::refuse_spec)?;
        let needs = graph::resolve(&order.tasks, self.task_count, &BTreeMap::new())?;
        let mut begun = self.start(members, now, effects)?;
        self.play_count += 1;
        self.touch(Place::Hub);
        let id = PlayId(self.play_count);
        let PlayOrder { call, cast, tasks, .. } = order;
        let own: BTreeSet<AgentName> = begun.pending().cloned().collect();
        let words = format!("{} ({}), {} tasks", cast.playbook, cast.pattern, tasks.len());
        let play = Play {
            id,
            call,
            cast,
            state: PlayState::Running,
            note: None,
            started: now,
            ended: None,
            own,
            stalled: None,
            tasks: Vec::new(),
        };
        self.plays.insert(id, play);
        self.tell_play(id, "started", words);
        for (spec, needs) in tasks.into_iter().zip(needs) {
            self.insert_task(TaskSpec { play: Some(id), ..spec }, needs, None, now);
        }
        begun.set_play(id);
        Ok(begun)
    }

    /// Refuses a run that contradicts itself, or that shares its agents with one that stands.
    fn refuse_play(&self, order: &PlayOrder) -> Result<(), Refusal> {
        let bad = |reason: String| Err(Refusal::BadTask { reason });
        let cast = &order.cast;
        let stands = self.plays.values().filter(|play| !play.state.is_over());
        let shares = |play: &&Play| cast.agents.iter().any(|player| play.casts(&player.name));
        if let Some(play) = stands.filter(shares).min_by_key(|play| play.id) {
            let playbook = play.cast.playbook.clone();
            return Err(Refusal::PlayStands { run: play.id, playbook });
        }
        if order.tasks.is_empty() || order.tasks.len() > PLAY_TASKS_MAX {
            return bad(format!("A run has at least one task and at most {PLAY_TASKS_MAX}"));
        }
        let is_cast = |name: &AgentName| cast.agents.iter().any(|player| player.name == *name);
        let named = order.tasks.iter().filter_map(|spec| spec.terms.agent.as_ref());
        let led = cast.teams.iter().flat_map(|team| team.members.iter().chain([&team.lead]));
        if let Some(name) = named.chain(led).find(|name| !is_cast(name)) {
            return bad(format!("`{name}` takes no part in the run"));
        }
        let has = |key: &String| order.tasks.iter().any(|spec| spec.key.as_ref() == Some(key));
        match cast.stages.iter().flat_map(|stage| &stage.tasks).find(|key| !has(key)) {
            Some(key) => bad(format!("No task of the run is `{key}`")),
            None => Ok(()),
        }
    }

    fn resume_play(
        &mut self,
        id: PlayId,
        members: Vec<(Member, Launch)>,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.open_play(id)?;
        let (hung, gone) = members.into_iter().partition(|(member, _)| self.is_hung(&member.name));
        let mut begun = self.start(gone, now, effects)?;
        begun.join(self.restart(hung, grace_ms, now, effects)?);
        let started: Vec<AgentName> = begun.pending().cloned().collect();
        let names: Vec<&str> = started.iter().map(AgentName::as_str).collect();
        let words = if names.is_empty() { "all run".to_owned() } else { names.join(", ") };
        self.tell_play(id, "resumed", words);
        let play = self.plays.get_mut(&id).expect("it was just found");
        play.own.extend(started);
        play.stalled = None;
        self.touch(Place::Play(id));
        self.set_play(id, PlayState::Running, None, now);
        begun.set_play(id);
        Ok(begun)
    }

    /// Returns a run that is not over.
    pub(in crate::engine) fn open_play(&self, id: PlayId) -> Result<&Play, Refusal> {
        let play = self.plays.get(&id);
        let play = play.ok_or_else(|| Refusal::UnknownPlay { run: id.to_string() })?;
        if play.state.is_over() {
            return Err(Refusal::PlayIs { run: id, state: play.state });
        }
        Ok(play)
    }

    /// Puts a run where it stands now.
    pub(in crate::engine) fn set_play(
        &mut self,
        id: PlayId,
        state: PlayState,
        note: Option<String>,
        now: Moment,
    ) {
        let play = self.plays.get_mut(&id).expect("only known runs change");
        if play.state == state && play.note == note {
            return;
        }
        (play.state, play.note) = (state, note);
        play.ended = state.is_over().then_some(now);
        let words = play.note.clone().unwrap_or_else(|| play.cast.playbook.clone());
        self.touch(Place::Play(id));
        self.tell_play(id, &state.to_string(), words);
    }

    /// Ends a run, and gives up what of it is not done.
    pub(in crate::engine) fn end_play(
        &mut self,
        id: PlayId,
        state: PlayState,
        note: Option<String>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let open = self.tasks.values().filter(|task| task.play == Some(id));
        let open = open.filter(|task| !task.state.is_final()).map(|task| task.id);
        for task in open.collect::<Vec<TaskId>>() {
            // A verification goes with the task that it looks at.
            if self.tasks[&task].state.is_final() {
                continue;
            }
            self.interrupt_worker(task, effects);
            self.close_attempt(task, Outcome::Cancelled, "its run is over", now);
            let note = Some("its run is over".to_owned());
            self.set_task(task, TaskState::Cancelled, note, now);
        }
        self.set_play(id, state, note, now);
    }

    /// Adds a sentence about a run to the story.
    pub(in crate::engine) fn tell_play(&mut self, id: PlayId, what: &str, words: String) {
        let mut entry = Entry::new(&format!("run.{what}"), words);
        entry.data = serde_json::json!({ "run": id });
        self.tell(entry);
        self.touch(Place::Play(id));
    }

    /// Says whether an agent may work for the run that a task belongs to.
    pub(in crate::engine) fn is_cast_for(&self, task: &Task, seat: &Seat) -> bool {
        let play = task.play.and_then(|id| self.plays.get(&id));
        play.is_none_or(|play| play.cast.team == seat.member.team && play.casts(&seat.member.name))
    }

    /// Refuses a task that is added to a run and that nobody in it could do.
    pub(in crate::engine) fn refuse_for_play(&self, spec: &TaskSpec) -> Result<(), Refusal> {
        let Some(id) = spec.play else { return Ok(()) };
        let play = self.open_play(id)?;
        let count = self.tasks.values().filter(|task| task.play == Some(id)).count();
        if count >= PLAY_TASKS_MAX {
            return Err(Refusal::TooManyTasks { count });
        }
        let terms = &spec.terms;
        let fits = |player: &crate::model::Player| {
            let can = |word: &String| player.capabilities.contains(word);
            let is_fit = player.role == terms.role.unwrap_or_default();
            let may = is_fit && terms.requires.iter().all(can);
            terms.agent.as_ref().map_or(may, |agent| player.name == *agent)
        };
        if play.cast.agents.iter().any(fits) {
            return Ok(());
        }
        let wanted = match &terms.agent {
            Some(agent) => format!("`{agent}`"),
            None => format!(
                "a {} that can do {}",
                terms.role.unwrap_or_default(),
                if terms.requires.is_empty() { "it".to_owned() } else { terms.requires.join(", ") }
            ),
        };
        Err(Refusal::BadTask { reason: format!("Nobody in run {id} is {wanted}") })
    }
}
