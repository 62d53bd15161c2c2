//! What is asked about tasks: add, retry, cancel, take.

use crate::engine::journal::Place;
use crate::engine::tasks::graph;
use crate::engine::{Effect, Engine};
use crate::model::{
    AgentName, AgentState, Done, Entry, Gate, Moment, Outcome, Refusal, Task, TaskCommand, TaskId,
    TaskSpec, TaskState,
};

/// Tasks that have not ended; more is a runaway script.
const TASKS_MAX: usize = 1000;

/// A title is a line in a list.
const TITLE_CHARS_MAX: usize = 200;

/// The longest prompt that is typed into an agent.
const PROMPT_BYTES_MAX: usize = 200 * 1024;

/// Nobody tries a task more often than this without a person's say.
const ATTEMPTS_MAX: u32 = 20;

/// Agents that look at one result; more is a mistake.
const VERIFIERS_MAX: u32 = 8;

impl Engine {
    /// Returns the tasks in the order in which they were added.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    /// Returns how many tasks were ever added.
    pub fn task_count(&self) -> u64 {
        self.task_count
    }

    /// Says whether there ever was a task of this number.
    pub fn was_added(&self, id: TaskId) -> bool {
        (1..=self.task_count).contains(&id.0)
    }

    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(&id)
    }

    /// Returns the task that an agent has in hand.
    pub fn task_of(&self, agent: &AgentName) -> Option<&Task> {
        let open = self.open_tasks.iter().map(|id| &self.tasks[id]);
        open.into_iter().find(|task| task.open().is_some_and(|open| open.agent == *agent))
    }

    pub(in crate::engine) fn obey_about_tasks(
        &mut self,
        command: TaskCommand,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Done, Refusal> {
        let touched = match command {
            TaskCommand::Add { specs } => self.add_tasks(specs, now)?,
            TaskCommand::Retry { task, advice, agent } => {
                self.retry_task(task, advice, agent, now, effects)?
            }
            TaskCommand::Cancel { task } => self.cancel_task(task, now, effects)?,
            TaskCommand::Claim { task, agent } => self.claim_task(task, &agent, now)?,
            TaskCommand::MarkRead { items } => self.mark_read(&items)?,
            TaskCommand::Resolve { items } => self.resolve(&items)?,
            TaskCommand::Consent { from, to } => self.consent(from, to, now)?,
            TaskCommand::Allow { agent } => self.allow(&agent)?,
            TaskCommand::Meet { need } => self.meet_by_hand(need, now)?,
        };
        let tasks = touched.iter().filter_map(|id| self.tasks.get(id)).cloned().collect();
        Ok(Done { tasks, ..Done::default() })
    }

    fn add_tasks(&mut self, specs: Vec<TaskSpec>, now: Moment) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_if_going_down()?;
        self.refuse_too_many(specs.len())?;
        for spec in &specs {
            Self::refuse_spec(spec)?;
            self.refuse_unknown(spec.terms.agent.as_slice())?;
            self.refuse_for_play(spec)?;
        }
        let needs = graph::resolve(&specs, self.task_count, &self.tasks)?;
        let mut added = Vec::new();
        for (spec, needs) in specs.into_iter().zip(needs) {
            added.push(self.insert_task(spec, needs, None, now));
        }
        Ok(added)
    }

    pub(in crate::engine) fn insert_task(
        &mut self,
        spec: TaskSpec,
        needs: Vec<TaskId>,
        verifies: Option<TaskId>,
        now: Moment,
    ) -> TaskId {
        self.task_count += 1;
        self.touch(Place::Hub);
        let id = TaskId(self.task_count);
        let TaskSpec { title, prompt, terms, key, play, .. } = spec;
        // What its run's playbook calls it; a key is else only for those that are added with it.
        let key = key.filter(|_| play.is_some());
        let task = Task {
            id,
            title: line(&title),
            prompt,
            needs,
            terms,
            state: TaskState::Pending,
            since: now,
            note: None,
            advice: None,
            verifies,
            attempts: Vec::new(),
            play,
            key,
            is_reduced: false,
            forgiven: 0,
            failed: Vec::new(),
            is_from_record: false,
        };
        let entry = Entry::new("task.added", task.title.clone()).about(id);
        self.tasks.insert(id, task);
        self.tell(entry);
        self.touch(Place::Task(id));
        id
    }

    pub(in crate::engine) fn refuse_too_many(&self, more: usize) -> Result<(), Refusal> {
        let count = self.tasks.values().filter(|task| !task.state.is_final()).count();
        if count + more > TASKS_MAX { Err(Refusal::TooManyTasks { count }) } else { Ok(()) }
    }

    pub(in crate::engine) fn refuse_spec(spec: &TaskSpec) -> Result<(), Refusal> {
        let bad = |reason: &str| Err(Refusal::BadTask { reason: reason.to_owned() });
        let terms = &spec.terms;
        if line(&spec.title).is_empty() {
            return bad("A task has a title");
        }
        if spec.prompt.trim().is_empty() {
            return Err(Refusal::EmptyPrompt);
        }
        if spec.prompt.len() > PROMPT_BYTES_MAX {
            return bad("The prompt is longer than 200 KiB");
        }
        if spec.needs.len() > TASKS_MAX {
            return bad("A task needs at most 1000 others");
        }
        if !(1..=ATTEMPTS_MAX).contains(&terms.attempts_max) {
            return bad("A task is tried at least once and at most 20 times");
        }
        if terms.verifiers > VERIFIERS_MAX || terms.agree > terms.verifiers {
            return bad("At most 8 verifiers look at a task, and no more than those can agree");
        }
        if let Some(Err(error)) =
            terms.gates.iter().map(|gate| Gate::parse(gate)).find(Result::is_err)
        {
            return bad(&error.to_string());
        }
        Ok(())
    }

    fn retry_task(
        &mut self,
        id: TaskId,
        advice: Option<String>,
        agent: Option<AgentName>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_if_going_down()?;
        let task = self.known_task(id)?;
        let state = task.state;
        if state.is_final() {
            // What it needs counts again, and may have left the record meanwhile.
            task.needs.iter().try_for_each(|need| self.known_task(*need).map(drop))?;
            self.refuse_too_many(1)?;
        }
        match state {
            // What is done is never done again; what is checked will end by itself.
            TaskState::Done | TaskState::Claimed | TaskState::Interrupted => {
                return Err(Refusal::TaskIs { task: id, state });
            }
            TaskState::Pending
            | TaskState::Ready
            | TaskState::Running
            | TaskState::Blocked
            | TaskState::Failed
            | TaskState::Cancelled => {}
        }
        if let Some(agent) = &agent {
            self.refuse_unknown(std::slice::from_ref(agent))?;
        }
        self.interrupt_worker(id, effects);
        self.close_attempt(id, Outcome::Replaced, "a person asked for another attempt", now);
        let task = self.tasks.get_mut(&id).expect("it was just found");
        task.forgiven = task.attempts.len();
        task.advice = advice.filter(|advice| !advice.trim().is_empty());
        if agent.is_some() {
            task.terms.agent = agent;
        }
        self.forget_circles(id);
        self.set_task(id, TaskState::Pending, None, now);
        Ok(vec![id])
    }

    fn cancel_task(
        &mut self,
        id: TaskId,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Vec<TaskId>, Refusal> {
        let state = self.known_task(id)?.state;
        if state.is_final() {
            return Err(Refusal::TaskIs { task: id, state });
        }
        self.interrupt_worker(id, effects);
        self.close_attempt(id, Outcome::Cancelled, "cancelled", now);
        self.set_task(id, TaskState::Cancelled, None, now);
        Ok(vec![id])
    }

    fn claim_task(
        &mut self,
        id: TaskId,
        agent: &AgentName,
        now: Moment,
    ) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_if_going_down()?;
        self.refuse_unknown(std::slice::from_ref(agent))?;
        self.refresh_readiness(now);
        let task = self.known_task(id)?;
        if task.state != TaskState::Ready {
            return Err(Refusal::TaskIs { task: id, state: task.state });
        }
        let seat = &self.seats[agent];
        let may = self.may_try(task, seat) && !self.shares_paths(task, seat);
        if !may || !seat.may_be_handed_work() || self.task_of(agent).is_some() {
            return Err(Refusal::NotFree { agent: agent.clone(), task: id });
        }
        if seat.must_renew(task) {
            return Err(Refusal::NotFresh { agent: agent.clone(), task: id });
        }
        self.open_attempt(id, &agent.clone(), now);
        Ok(vec![id])
    }

    /// Presses the keys that end an agent's turn, if it is at work on this task.
    pub(in crate::engine) fn interrupt_worker(&mut self, id: TaskId, effects: &mut Vec<Effect>) {
        let Some(open) = self.tasks.get(&id).and_then(Task::open) else { return };
        let (agent, run) = (open.agent.clone(), open.run);
        let seat = self.seats.get_mut(&agent).filter(|seat| seat.run == run);
        if let Some(seat) = seat.filter(|seat| seat.state == AgentState::Working) {
            seat.is_to_stop = true;
            self.touch_seat(&agent);
            effects.push(Effect::Interrupt { agent, run });
        }
    }

    /// Interrupts an agent that is still at work though an earlier hub was about to stop it.
    pub(in crate::engine) fn interrupt_again(
        &mut self,
        agent: &AgentName,
        effects: &mut Vec<Effect>,
    ) {
        let seat = &self.seats[agent];
        if self.unstopped.remove(agent) && seat.is_to_stop {
            effects.push(Effect::Interrupt { agent: agent.clone(), run: seat.run });
        }
    }

    pub(in crate::engine) fn known_task(&self, id: TaskId) -> Result<&Task, Refusal> {
        self.tasks.get(&id).ok_or_else(|| Refusal::UnknownTask { task: id.to_string() })
    }

    /// Puts a task where it stands now.
    pub(in crate::engine) fn set_task(
        &mut self,
        id: TaskId,
        state: TaskState,
        note: Option<String>,
        now: Moment,
    ) {
        let task = self.tasks.get_mut(&id).expect("only known tasks change");
        if task.state == state && task.note == note {
            return;
        }
        if task.state != state {
            task.since = now;
        }
        task.is_from_record &= state.is_final();
        task.state = state;
        task.note = note;
        let words = task.note.clone().unwrap_or_else(|| task.title.clone());
        let mut entry = Entry::new(&format!("task.{state}"), words).about(id);
        entry.agent = task.attempts.last().map(|attempt| attempt.agent.clone());
        self.tell(entry);
        self.touch(Place::Task(id));
    }
}

/// Returns the text as one line without control characters.
pub(in crate::engine) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    words.chars().take(TITLE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, name};
    use crate::model::{Command, Terms};

    fn spec(key: &str, needs: &[&str]) -> TaskSpec {
        TaskSpec {
            key: Some(key.to_owned()),
            title: key.to_owned(),
            prompt: "do it".to_owned(),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            play: None,
            terms: Terms::default(),
        }
    }

    fn refusal(effects: &[Effect]) -> String {
        let refused = effects.iter().find_map(|effect| {
            let Effect::Answer { outcome: Err(refusal), .. } = effect else { return None };
            Some(refusal.to_string())
        });
        refused.unwrap_or_else(|| panic!("{effects:?}"))
    }

    fn add(bench: &mut Bench, specs: Vec<TaskSpec>) -> Vec<Effect> {
        bench.ask(Command::Task(TaskCommand::Add { specs }))
    }

    #[test]
    fn a_cycle_is_refused_with_its_path_and_nothing_of_it_is_added() {
        let mut bench = Bench::new();
        let specs = vec![spec("a", &["c"]), spec("b", &["a"]), spec("c", &["b"])];
        let effects = add(&mut bench, specs);
        assert_eq!(refusal(&effects), "These tasks need each other: a → c → b → a");
        assert_eq!(bench.engine.tasks().count(), 0);
    }

    #[test]
    fn what_needs_an_unknown_task_is_refused() {
        let mut bench = Bench::new();
        for need in ["t7", "nothing"] {
            let effects = add(&mut bench, vec![spec("a", &[need])]);
            assert_eq!(refusal(&effects), format!("There is no task `{need}`"));
        }
        let _ = add(&mut bench, vec![spec("a", &[])]);
        let _ = add(&mut bench, vec![spec("b", &["t1"]), spec("c", &["b", "t1"])]);
        let needs: Vec<_> = bench.engine.tasks().map(|task| task.needs.clone()).collect();
        assert_eq!(needs, [vec![], vec![TaskId(1)], vec![TaskId(2), TaskId(1)]]);
    }

    #[test]
    fn a_task_for_nobody_or_about_nothing_is_refused() {
        let mut bench = Bench::with_running(&["one"]);
        let mut stray = spec("a", &[]);
        stray.terms.agent = Some(name("two"));
        assert_eq!(refusal(&add(&mut bench, vec![stray])), "There is no agent `two`");
        let mut empty = spec("a", &[]);
        empty.prompt = " ".to_owned();
        assert_eq!(refusal(&add(&mut bench, vec![empty])), "The prompt is empty");
    }

    #[test]
    fn a_title_is_one_plain_line() {
        assert_eq!(line("a\n\u{1b}[31mb\t c "), "a [31mb c");
    }
}
