//! Each report has a consequence.

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::tasks::orientation::split_next;
use crate::engine::{Effect, Engine};
use crate::model::{
    AgentName, Artifact, Attempt, Entry, Hold, Moment, Outcome, Stage, Task, TaskId, TaskState,
    lies_inside,
};
use crate::protocol::{Report, ReportKind, Status};

/// Steps and files that are remembered of one attempt.
const REMEMBERED_MAX: usize = 100;

impl Engine {
    /// Acts on what an agent said in the protocol.
    pub(in crate::engine) fn react(
        &mut self,
        agent: &AgentName,
        report: &Report,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let task = match self.addressed(agent, report) {
            Ok(task) => task,
            Err(reason) => {
                return self.tell(
                    Entry::new("report.ignored", format!("{reason}: {}", report.raw)).of(agent),
                );
            }
        };
        let mut entry = Entry::new(&format!("report.{}", report.kind.name()), report.raw.clone());
        entry = entry.of(agent);
        entry.task = task.map(|id| id.to_string());
        self.tell(entry);
        match report.kind {
            ReportKind::Need => self.want(agent, task, &report.text, now, effects),
            ReportKind::Contract => self.publish(agent, &report.text, now),
            ReportKind::Artifact => {
                let (path, _) = artifact(&report.text);
                // Whatever lies elsewhere is nothing that this agent could hand on.
                if !lies_inside(&path) {
                    let words = format!("it lies outside of the workspace: {}", report.raw);
                    return self.tell(Entry::new("report.ignored", words).of(agent));
                }
                self.meet_needs(agent, Some(&path), now);
            }
            ReportKind::Status(_) | ReportKind::Progress { .. } | ReportKind::Build { .. } => {}
        }
        if let Some(id) = task {
            self.react_for(id, report, now, effects);
        }
    }

    /// Returns the task that a report is about, if it is about one; or why it counts for nothing.
    pub(in crate::engine) fn addressed(
        &self,
        agent: &AgentName,
        report: &Report,
    ) -> Result<Option<TaskId>, &'static str> {
        let task = self.task_of(agent);
        let open = task.and_then(Task::open);
        match (open, &report.tag) {
            (Some(open), Some(tag)) if open.tag == *tag => Ok(task.map(|task| task.id)),
            (_, Some(_)) => Err("it names another attempt"),
            (None, None) => Ok(None),
            (Some(open), None) => {
                let stage = self.dispatches.get(&open.receipt).map(|dispatch| dispatch.stage);
                let is_taken = matches!(stage, Some(Stage::Submitted | Stage::Accepted));
                // A prompt that is no longer on record was taken long ago.
                if is_taken || open.turns > 0 || stage.is_none() {
                    Ok(task.map(|task| task.id))
                } else {
                    Err("the task was not handed over yet")
                }
            }
        }
    }

    fn react_for(&mut self, id: TaskId, report: &Report, now: Moment, effects: &mut Vec<Effect>) {
        self.touch(Place::Task(id));
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        open.told.is_silent = false;
        if matches!(report.kind, ReportKind::Status(_)) {
            (open.is_lost, open.is_compacted) = (false, false);
        }
        let agent = open.agent.clone();
        match report.kind {
            ReportKind::Status(status)
                if report.tag.is_none() && !is_plain_block(open, status, &report.text) =>
            {
                self.ask_for_tag(id, status, now);
            }
            ReportKind::Status(Status::Done) => self.claim(id, &report.text, now, effects),
            ReportKind::Status(Status::Blocked) => {
                self.note_blocked(id, &report.text, now, effects);
            }
            ReportKind::Status(Status::Error) => self.note_error(id, &report.text, now),
            ReportKind::Progress { .. } => {
                let step = report.kind.value().unwrap_or_default();
                let (text, next) = split_next(&report.text);
                remember(&mut open.steps, format!("{step} {text}"));
                open.next = next.map(str::to_owned);
                self.unhold(id, Hold::Need, now);
            }
            ReportKind::Build { passed } => {
                open.build = Some(passed);
                if passed {
                    self.unhold(id, Hold::Loop, now);
                } else {
                    self.note_failed_build(id, &agent, &report.text, now, effects);
                }
            }
            ReportKind::Artifact => self.hand_on(id, &report.text, effects),
            ReportKind::Need | ReportKind::Contract => {}
        }
    }

    /// Asks once for the line with the tag: what ends an attempt must be meant for it.
    fn ask_for_tag(&mut self, id: TaskId, status: Status, now: Moment) {
        let Some(task) = self.tasks.get_mut(&id).filter(|task| task.state != TaskState::Claimed)
        else {
            return;
        };
        let Some(open) = task.open_mut().filter(|open| !open.told.tag) else { return };
        open.told.tag = true;
        self.send_back(
            id,
            &prompt_texts::untagged(status),
            "it does not name the tag of its task",
            now,
        );
    }

    /// Remembers a file that an attempt hands on, and asks what is in it.
    fn hand_on(&mut self, id: TaskId, text: &str, effects: &mut Vec<Effect>) {
        let (path, kind) = artifact(text);
        let task = self.tasks.get_mut(&id).expect("only known tasks hand something on");
        let attempt = task.attempts.len();
        let Some(open) = task.open_mut() else { return };
        let agent = open.agent.clone();
        let new = Artifact { path: path.clone(), kind, hash: None };
        match open.artifacts.iter().position(|one| one.path == path) {
            Some(known) => open.artifacts[known] = new,
            None if open.artifacts.len() < REMEMBERED_MAX => open.artifacts.push(new),
            None => return,
        }
        let cwd = self.seats.get(&agent).map(|seat| seat.member.cwd.clone()).unwrap_or_default();
        effects.push(Effect::Weigh { task: id, attempt, path, cwd });
    }

    /// Notes what was in a file when it was handed on.
    pub(in crate::engine) fn note_weight(
        &mut self,
        id: TaskId,
        attempt: usize,
        path: &str,
        hash: Option<String>,
    ) {
        let attempt =
            self.tasks.get_mut(&id).and_then(|task| task.attempts.get_mut(attempt.checked_sub(1)?));
        let artifacts = attempt.into_iter().flat_map(|attempt| &mut attempt.artifacts);
        if let Some(artifact) = artifacts.into_iter().find(|one| one.path == path) {
            artifact.hash = hash;
            self.touch(Place::Task(id));
        }
    }

    fn note_error(&mut self, id: TaskId, text: &str, now: Moment) {
        let reason = if text.is_empty() { "it reported an error" } else { text };
        if self.tasks[&id].verifies.is_some() {
            // From one who verifies this is a verdict, and one is enough.
            self.close_attempt(id, Outcome::Failed, reason, now);
            return self.give_up(id, reason, now);
        }
        self.fail_attempt(id, reason, now);
    }

    fn note_blocked(&mut self, id: TaskId, text: &str, now: Moment, effects: &mut Vec<Effect>) {
        let task = self.tasks.get_mut(&id).expect("only known tasks are blocked");
        let number = task.attempts.len();
        let Some(open) = task.open_mut() else { return };
        let agent = open.agent.clone();
        if is_about_lost_context(text) {
            (open.is_lost, open.claim, open.hold) = (true, None, None);
            self.survey(id, number, effects);
            return self.set_task(id, TaskState::Running, None, now);
        }
        let note = if text.is_empty() { "it does not say what it needs" } else { text };
        self.hold_task(id, Hold::Need, note.to_owned(), now);
        self.want(&agent, Some(id), note, now, effects);
    }

    /// Asks which files were modified where an attempt works.
    pub(in crate::engine) fn survey(&self, id: TaskId, attempt: usize, effects: &mut Vec<Effect>) {
        let open = self.tasks[&id].open();
        let seat = open.and_then(|open| self.seats.get(&open.agent));
        let cwd = seat.map(|seat| seat.member.cwd.clone()).unwrap_or_default();
        effects.push(Effect::Survey { task: id, attempt, cwd });
    }

    pub(in crate::engine) fn note_survey(
        &mut self,
        id: TaskId,
        attempt: usize,
        files: &[String],
        now: Moment,
    ) {
        let Some(task) = self.tasks.get_mut(&id).filter(|task| task.attempts.len() == attempt)
        else {
            return;
        };
        let Some(open) = task.open_mut().filter(|open| open.is_lost) else { return };
        (open.is_lost, open.is_compacted) = (false, false);
        let text = prompt_texts::orientation(&self.tasks[&id], files);
        self.send_on(id, &text, now);
    }

    fn note_failed_build(
        &mut self,
        id: TaskId,
        agent: &AgentName,
        text: &str,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = &self.seats[agent];
        if seat.pace.is_looping() {
            let is_held = |open: &Attempt| open.hold == Some(Hold::Loop);
            if !self.tasks[&id].open().is_some_and(is_held) {
                self.interrupt_worker(id, effects);
                self.hold_task(
                    id,
                    Hold::Loop,
                    format!("the same build failure again: {text}"),
                    now,
                );
            }
        } else if self.tasks[&id].state == TaskState::Claimed {
            self.send_back(id, prompt_texts::BUILD_FAILS, "its build fails", now);
        }
    }
}

fn remember(list: &mut Vec<String>, item: String) {
    if list.len() < REMEMBERED_MAX && !list.contains(&item) {
        list.push(item);
    }
}

/// Splits `path — kind`.
fn artifact(text: &str) -> (String, String) {
    let (path, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let kind = rest.trim().trim_start_matches(['—', '–', '-']).trim();
    (path.trim_matches('`').to_owned(), kind.to_owned())
}

/// Says whether an agent is blocked though it does not name the tag: it was asked for that, or has lost its
/// thread, and may have lost the tag with it. Nothing ends by this, and somebody looks.
fn is_plain_block(open: &Attempt, status: Status, text: &str) -> bool {
    status == Status::Blocked && (open.told.tag || is_about_lost_context(text))
}

fn is_about_lost_context(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("context")
        && ["compacted", "compaction", "lost"].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, Work};
    use crate::model::{AgentState, Role};

    #[test]
    fn the_same_build_failure_twice_interrupts_holds_and_calls_a_person() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "BUILD: FAIL — E0308 in line 7");
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.report("one", 1, "BUILD: FAIL — E0308 in line 9");
        assert_eq!(bench.states(), [TaskState::Blocked]);
        let interrupts = |effect: &&Effect| matches!(effect, Effect::Interrupt { .. });
        assert_eq!(bench.seen.iter().filter(interrupts).count(), 1);
        assert!(bench.waits_for("loop", 1));
        bench.report("one", 1, "BUILD: PASS");
        assert_eq!(bench.states(), [TaskState::Running]);
        assert!(!bench.waits_for("loop", 1));
    }

    #[test]
    fn a_loop_is_noticed_and_stopped_though_the_hub_dies_in_the_middle_of_it() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.did("one", AgentState::Working);
        bench.report("one", 1, "BUILD: FAIL — E0308 in line 7");
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        bench.report("one", 1, "BUILD: FAIL — E0308 in line 9");
        assert_eq!(bench.states(), [TaskState::Blocked]);
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        for state in [AgentState::Working, AgentState::Working, AgentState::Idle] {
            let source = crate::model::Source::Screen;
            bench.handle(Event::Run {
                agent: "one".parse().unwrap(),
                run: bench.engine.seat(&"one".parse().unwrap()).unwrap().run,
                event: crate::engine::RunEvent::Did { state, source },
            });
        }
        let interrupts = |effect: &&Effect| matches!(effect, Effect::Interrupt { .. });
        assert_eq!(bench.seen.iter().filter(interrupts).count(), 2, "once by each hub");
        assert!(!bench.engine.seat(&"one".parse().unwrap()).unwrap().is_to_stop);
    }

    #[test]
    fn a_block_goes_to_whoever_leads_and_else_to_a_person() {
        for (has_lead, is_for_a_person) in [(true, false), (false, true)] {
            let mut bench = Bench::with_idle(&["one"]);
            if has_lead {
                bench.join_as("boss", Role::Lead);
            }
            let _ = bench.add(vec![Work::new("a")]);
            bench.begin("one");
            bench.report("one", 1, "STATUS: BLOCKED — the password of the staging machine");
            assert_eq!(bench.states(), [TaskState::Blocked]);
            assert_eq!(bench.waits_for("blocked", 1), is_for_a_person);
            if has_lead {
                let prompt = &bench.prompts("boss")[0];
                assert!(prompt.contains("agent one") && prompt.contains("| the password"));
            }
        }
    }

    #[test]
    fn a_prompt_that_a_blocked_agent_takes_lets_its_task_go_on() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: BLOCKED — a password");
        bench.did("one", AgentState::Blocked);
        bench.send("one", "it is 1234");
        bench.accept("one");
        assert_eq!(bench.states(), [TaskState::Running]);
        assert!(!bench.waits_for("blocked", 1));
    }

    #[test]
    fn an_agent_that_lost_its_thread_is_told_where_it_stands() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "PROGRESS: [1/3] — schema written");
        bench.report("one", 1, "BUILD: PASS");
        bench.report("one", 1, "STATUS: BLOCKED — context compacted");
        assert!(bench.seen.iter().any(|effect| matches!(effect, Effect::Survey { .. })));
        bench.crash();
        let surveys = |effect: &&Effect| matches!(effect, Effect::Survey { .. });
        assert_eq!(bench.seen.iter().filter(surveys).count(), 2, "asked again after a crash");
        let _ = bench.tell("one", crate::engine::fixture::seen());
        bench.did("one", AgentState::Idle);
        let files = vec!["src/schema.rs".to_owned()];
        bench.handle(Event::Surveyed { task: TaskId(1), attempt: 1, files });
        let prompt = bench.prompts("one")[1].clone();
        for part in ["| do a", "| 1/3 schema written", "| src/schema.rs", "last build passed"] {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
    }

    #[test]
    fn a_file_that_is_handed_on_is_on_record_with_its_kind_and_hash() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "ARTIFACT: out/a.json — plan");
        for path in ["../x", "/etc/passwd", "a/../../b"] {
            bench.report("one", 1, &format!("ARTIFACT: {path} — plan"));
        }
        let asked = bench.seen.iter().filter(|effect| matches!(effect, Effect::Weigh { .. }));
        assert_eq!(asked.count(), 1, "what lies elsewhere is not looked at");
        let (path, hash) = ("out/a.json".to_owned(), Some("ab12".to_owned()));
        bench.handle(Event::Weighed { task: TaskId(1), attempt: 1, path: path.clone(), hash });
        bench.crash();
        let task = bench.engine.task(TaskId(1)).unwrap();
        let (kind, hash) = ("plan".to_owned(), Some("ab12".to_owned()));
        assert_eq!(task.attempts[0].artifacts, [Artifact { path, kind, hash }]);
    }

    #[test]
    fn a_lead_hears_once_that_a_task_has_ended() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.join_as("boss", Role::Lead);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "ARTIFACT: src/a.rs — code");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        let prompts = bench.prompts("boss");
        assert_eq!(prompts.len(), 1);
        for part in ["Task t1", "is done", "| 3 tests pass", "| src/a.rs"] {
            assert!(prompts[0].contains(part), "{part}: {}", prompts[0]);
        }
    }
}
