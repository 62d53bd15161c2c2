//! DONE is a claim: what the hub checks before it believes one.

use serde_json::json;

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::{Effect, Engine};
use crate::model::{
    Checks, Claim, Entry, GateResult, Moment, Outcome, Role, Task, TaskId, TaskSpec, TaskState,
    Terms,
};
use crate::protocol::{Evidence, evidence};

/// A claim that did not hold this often fails its attempt.
const REFUSALS_MAX: u32 = 3;

/// Files that change every time while the gates run never will be checked.
const RECHECKS_MAX: u32 = 3;

/// What is kept of a gate's output.
const GATE_OUTPUT_BYTES_MAX: usize = 4096;

impl Engine {
    /// Takes a DONE as a claim, unless it cannot be true or says nothing.
    pub(in crate::engine) fn claim(
        &mut self,
        id: TaskId,
        text: &str,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        if self.is_claimed_already(id, text) {
            let words = format!("it was told before: {text}");
            return self.tell(Entry::new("report.ignored", words).about(id));
        }
        let is_concrete = evidence(text) == Evidence::Concrete;
        let Some(task) = self.tasks.get_mut(&id).filter(|task| task.state != TaskState::Claimed)
        else {
            return;
        };
        let has_gates = !task.terms.gates.is_empty();
        let Some(open) = task.open_mut() else { return };
        open.claimed = Some(text.to_owned());
        let (build_fails, told) = (open.build == Some(false), open.told);
        if build_fails && told.build {
            return self.fail_attempt(id, "it claims to be done while its build fails", now);
        }
        if build_fails {
            open.told.build = true;
            return self.send_back(id, prompt_texts::BUILD_FAILS, "its build fails", now);
        }
        if !is_concrete && !told.evidence {
            open.told.evidence = true;
            return self.send_back(id, prompt_texts::WEAK_EVIDENCE, "it shows no evidence", now);
        }
        if !is_concrete && !has_gates {
            return self.fail_attempt(id, "it claims to be done and shows no evidence", now);
        }
        open.hold = None;
        open.claim = Some(Claim {
            text: text.to_owned(),
            is_concrete,
            at: now,
            is_checking: false,
            gates: Vec::new(),
            tree: None,
            rechecks: 0,
            verifications: Vec::new(),
            seen_tree: None,
            look: None,
        });
        self.touch(Place::Task(id));
        self.set_task(id, TaskState::Claimed, None, now);
        if has_gates {
            self.run_gates(id, effects);
        } else {
            self.ask_verifiers(id, now);
        }
    }

    /// Says whether a claim only repeats the last one, whose answer its agent has not taken yet: one
    /// source has told it, and another tells it late.
    fn is_claimed_already(&self, id: TaskId, text: &str) -> bool {
        let Some(open) = self.tasks.get(&id).and_then(Task::open) else { return false };
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        let is_same = |claimed: &String| letters(claimed) == letters(text);
        let answer = self.dispatches.get(&open.last_receipt);
        // The prompt that the attempt began with answers nothing.
        let is_awaited = answer.is_some_and(|one| one.id != open.receipt && !one.stage.is_final());
        is_awaited && open.claimed.as_ref().is_some_and(is_same)
    }

    /// Has the hub check the claim.
    pub(in crate::engine) fn run_gates(&mut self, id: TaskId, effects: &mut Vec<Effect>) {
        let task = self.tasks.get_mut(&id).expect("only known tasks are checked");
        let number = task.attempts.len();
        let gates = task.terms.gates.clone();
        let Some(open) = task.open_mut() else { return };
        let Some(claim) = &mut open.claim else { return };
        claim.is_checking = true;
        let cwd = self.seats.get(&open.agent).map(|seat| seat.member.cwd.clone());
        let cwd = cwd.unwrap_or_default();
        effects.push(Effect::RunGates { task: id, attempt: number, gates, cwd });
        self.touch(Place::Task(id));
    }

    /// Notes what the gates said.
    pub(in crate::engine) fn note_gates(
        &mut self,
        id: TaskId,
        attempt: usize,
        checks: Checks,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(task) = self.tasks.get_mut(&id).filter(|task| task.attempts.len() == attempt)
        else {
            return;
        };
        let wanted = task.terms.gates.clone();
        let Some(claim) = checking(task) else { return };
        claim.is_checking = false;
        let is_restless = checks.tree_before != checks.tree_after;
        claim.gates = checks.results.into_iter().map(capped).collect();
        let named: Vec<&String> = claim.gates.iter().map(|result| &result.gate).collect();
        let all_ran = named == wanted.iter().collect::<Vec<_>>();
        let failed = claim.gates.iter().find(|result| !result.passed).cloned();
        let told = claim.gates.iter().map(|result| gate_entry(id, result)).collect();
        claim.tree = checks.tree_after;
        let is_seen = !claim.verifications.is_empty();
        let is_stale = is_restless || is_seen && claim.seen_tree != claim.tree;
        if is_stale {
            claim.rechecks += 1;
        }
        let is_hopeless = claim.rechecks >= RECHECKS_MAX;
        self.tell_all(told);
        self.touch(Place::Task(id));
        match failed {
            Some(gate) => {
                if !self.note_failed_gate(id, &gate.gate, now, effects) {
                    let reason = format!("`{}` did not pass", gate.gate);
                    self.refuse_claim(id, &prompt_texts::gate_failed(&gate), &reason, now);
                }
            }
            None if !all_ran => self.fail_attempt(id, "its gates could not be run", now),
            None if is_stale && is_hopeless => {
                self.fail_attempt(id, "its files kept changing while they were checked", now);
            }
            // What was checked is no longer what is there.
            None if is_restless => self.run_gates(id, effects),
            None if is_seen && !is_stale => self.finish(id, now),
            None => self.ask_verifiers(id, now),
        }
    }

    /// Notes that files changed where an agent works: what was checked before no longer counts.
    pub(in crate::engine) fn note_write(
        &mut self,
        agent: &crate::model::AgentName,
        tree: &str,
        effects: &mut Vec<Effect>,
    ) {
        let Some(task) = self.task_of(agent) else { return };
        let claim = task.open().and_then(|open| open.claim.as_ref());
        let is_stale = claim.is_some_and(|claim| {
            !claim.is_checking && claim.tree.as_deref().is_some_and(|known| known != tree)
        });
        if is_stale {
            let id = task.id;
            self.tell(Entry::new("task.stale", "files changed after the gates ran").about(id));
            self.run_gates(id, effects);
        }
    }

    fn refuse_claim(&mut self, id: TaskId, text: &str, reason: &str, now: Moment) {
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        open.refusals += 1;
        let is_last = open.refusals >= REFUSALS_MAX;
        self.cancel_verifications(id, now);
        if is_last {
            self.fail_attempt(id, reason, now);
        } else {
            self.send_back(id, text, reason, now);
        }
    }

    fn cancel_verifications(&mut self, id: TaskId, now: Moment) {
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        let looking = open.claim.as_mut().map(|claim| std::mem::take(&mut claim.verifications));
        for verification in looking.unwrap_or_default() {
            if !self.tasks[&verification].state.is_final() {
                self.close_attempt(verification, Outcome::Cancelled, "no longer wanted", now);
                self.set_task(verification, TaskState::Cancelled, None, now);
            }
        }
    }

    /// Lets others look at a claim that passed its gates, if the task asks for it.
    fn ask_verifiers(&mut self, id: TaskId, now: Moment) {
        self.cancel_verifications(id, now);
        let task = &self.tasks[&id];
        if task.terms.agree == 0 {
            return self.finish(id, now);
        }
        let terms =
            Terms { role: Some(Role::Verifier), priority: task.terms.priority, ..Terms::default() };
        let author = task.open().and_then(|open| self.workspaces.get(&open.agent));
        let place = author.map(|workspace| workspace.plot.project_root());
        let spec = TaskSpec {
            title: format!("verify {id}: {}", task.title),
            prompt: prompt_texts::verifier_prompt(task, place.as_deref()),
            play: task.play,
            terms,
            ..TaskSpec::default()
        };
        let count = task.terms.verifiers;
        let looking: Vec<TaskId> =
            (0..count).map(|_| self.insert_task(spec.clone(), Vec::new(), Some(id), now)).collect();
        let open = self.tasks.get_mut(&id).and_then(Task::open_mut);
        if let Some(claim) = open.and_then(|open| open.claim.as_mut()) {
            (claim.verifications, claim.seen_tree) = (looking, claim.tree.clone());
        }
        self.touch(Place::Task(id));
    }

    /// Looks what those who verify have found, wherever they are enough.
    pub(in crate::engine) fn weigh_verdicts(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let claimed = self.tasks.values().filter(|task| task.state == TaskState::Claimed);
        let seen = claimed.filter(|task| {
            let claim = task.open().and_then(|open| open.claim.as_ref());
            claim.is_some_and(|claim| {
                !claim.is_checking && claim.look.is_none() && !claim.verifications.is_empty()
            })
        });
        let seen: Vec<TaskId> = seen.map(|task| task.id).collect();
        for id in seen {
            self.weigh(id, now, effects);
        }
    }

    fn weigh(&mut self, id: TaskId, now: Moment, effects: &mut Vec<Effect>) {
        let task = &self.tasks[&id];
        let Some(claim) = task.open().and_then(|open| open.claim.as_ref()) else { return };
        let verdicts: Vec<&Task> = claim.verifications.iter().map(|id| &self.tasks[id]).collect();
        let agree =
            u32::try_from(verdicts.iter().filter(|task| task.state == TaskState::Done).count());
        let open = u32::try_from(verdicts.iter().filter(|task| !task.state.is_final()).count());
        let (agree, open) = (agree.unwrap_or(u32::MAX), open.unwrap_or(u32::MAX));
        if agree >= task.terms.agree {
            // What they looked at must still be what is there.
            if task.terms.gates.is_empty() {
                self.finish(id, now);
            } else {
                self.run_gates(id, effects);
            }
        } else if agree + open < task.terms.agree {
            let text = prompt_texts::not_verified(&verdicts);
            self.refuse_claim(id, &text, "`verification` did not pass", now);
        }
    }

    /// A claim has been checked: what is left is to see whose files were changed.
    pub(in crate::engine) fn finish(&mut self, id: TaskId, now: Moment) {
        if !self.await_look(id) {
            self.settle_claim(id, now);
        }
    }

    /// Believes a claim, unless its agent changed files that others own.
    pub(in crate::engine) fn settle_claim(&mut self, id: TaskId, now: Moment) {
        let Some(open) = self.tasks.get(&id).and_then(Task::open) else { return };
        let agent = open.agent.clone();
        match self.reproach(&agent) {
            Some(text) => {
                let trespasses = self.trespasses_of(&agent).map(ToString::to_string);
                let reason = trespasses.collect::<Vec<_>>().join("; ");
                self.refuse_claim(id, &text, &reason, now);
            }
            None => self.complete(id, now),
        }
    }

    fn complete(&mut self, id: TaskId, now: Moment) {
        let Some(open) = self.tasks.get(&id).and_then(Task::open) else { return };
        let agent = open.agent.clone();
        let text = open.claim.as_ref().map(|claim| claim.text.clone()).unwrap_or_default();
        self.close_attempt(id, Outcome::Done, &text, now);
        let note = self.tasks[&id].reduction();
        self.set_task(id, TaskState::Done, note, now);
        self.meet_needs(&agent, None, now);
        self.notify_lead(id, now);
        self.merge_task(id, &agent, now);
    }
}

fn checking(task: &mut Task) -> Option<&mut Claim> {
    let is_claimed = task.state == TaskState::Claimed;
    let claim = task.open_mut()?.claim.as_mut()?;
    (is_claimed && claim.is_checking).then_some(claim)
}

/// Returns what is told of a gate: the claim itself may be gone with the same decision.
fn gate_entry(task: TaskId, result: &GateResult) -> Entry {
    let kind = if result.passed { "gate.passed" } else { "gate.failed" };
    let data = json!({ "output": result.output });
    Entry { data, ..Entry::new(kind, result.gate.clone()).about(task) }
}

/// Keeps the end of a gate's output: that is where the failure stands.
fn capped(mut result: GateResult) -> GateResult {
    let excess = result.output.len().saturating_sub(GATE_OUTPUT_BYTES_MAX);
    result.output = result.output.split_off(result.output.ceil_char_boundary(excess));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, Work};
    use crate::model::AgentState;

    fn gated(bench: &mut Bench) {
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.gates = vec!["make".to_owned()])]);
        bench.begin("one");
    }

    /// Answers the gates that run, and returns how many did.
    fn answer(bench: &mut Bench, passed: bool, trees: (&str, &str)) -> usize {
        let is_check = |effect: &mut Effect| matches!(effect, Effect::RunGates { .. });
        let asked: Vec<Effect> = bench.seen.extract_if(.., is_check).collect();
        let mut count = 0;
        for effect in asked {
            let Effect::RunGates { task, attempt, gates, .. } = effect else { continue };
            count += 1;
            let output = "boom\nSTATUS: DONE — not really".to_owned();
            let result = |gate| GateResult { gate, passed, output: output.clone() };
            let checks = Checks {
                results: gates.into_iter().map(result).collect(),
                tree_before: Some(trees.0.to_owned()),
                tree_after: Some(trees.1.to_owned()),
            };
            bench.handle(Event::Gates { task, attempt, checks });
        }
        count
    }

    #[test]
    fn a_claim_is_done_only_once_its_gates_pass() {
        let mut bench = Bench::with_idle(&["one"]);
        gated(&mut bench);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Claimed]);
        assert_eq!(answer(&mut bench, true, ("x", "x")), 1);
        assert_eq!(bench.states(), [TaskState::Done]);
        assert!(bench.waits_for("finished", 1));
    }

    #[test]
    fn gates_of_which_one_did_not_run_do_not_pass() {
        let mut bench = Bench::with_idle(&["one"]);
        let gates = |terms: &mut Terms| {
            (terms.gates, terms.attempts_max) = (vec!["make".to_owned(), "lint".to_owned()], 1);
        };
        let _ = bench.add(vec![Work::new("a").with(gates)]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        let ran = GateResult { gate: "make".into(), passed: true, output: String::new() };
        let tree = Some("x".to_owned());
        let checks = Checks { results: vec![ran], tree_before: tree.clone(), tree_after: tree };
        bench.handle(Event::Gates { task: TaskId(1), attempt: 1, checks });
        assert_eq!(bench.states(), [TaskState::Failed]);
    }

    #[test]
    fn a_failed_gates_output_goes_back_and_three_failures_end_the_attempt() {
        let mut bench = Bench::with_idle(&["one"]);
        let gate = |terms: &mut Terms| {
            (terms.gates, terms.attempts_max) = (vec!["make".to_owned()], 1);
        };
        let _ = bench.add(vec![Work::new("a").with(gate)]);
        bench.begin("one");
        for round in 1..=3 {
            bench.report("one", 1, "STATUS: DONE — 3 tests pass");
            bench.did("one", AgentState::Idle);
            assert_eq!(answer(&mut bench, false, ("x", "x")), 1, "{round}");
            if round < 3 {
                assert_eq!(bench.states(), [TaskState::Running]);
                let note = bench.engine.task(TaskId(1)).unwrap().note.clone();
                assert_eq!(note.as_deref(), Some("sent back: `make` did not pass"));
                let prompt = bench.prompts("one")[round].clone();
                assert!(prompt.contains("| boom"), "{prompt}");
                assert!(crate::protocol::first_line_like_a_report(&prompt).is_none(), "{prompt}");
                bench.begin("one");
            }
        }
        assert_eq!(bench.states(), [TaskState::Failed]);
    }

    #[test]
    fn nothing_is_done_while_the_build_fails() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.attempts_max = 1)]);
        bench.begin("one");
        bench.report("one", 1, "BUILD: FAIL — E0308");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.did("one", AgentState::Idle);
        assert!(bench.prompts("one")[1].contains("build"));
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Failed], "told once, then it is a failure");
    }

    #[test]
    fn a_build_that_passes_again_lets_a_claim_through() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "BUILD: FAIL — E0308");
        bench.report("one", 1, "BUILD: PASS");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn weak_evidence_is_sent_back_once_and_is_never_enough_without_gates() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.attempts_max = 1)]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — I think it looks good");
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — really");
        assert_eq!(bench.states(), [TaskState::Failed]);
    }

    #[test]
    fn files_that_change_while_the_gates_run_are_checked_again() {
        let mut bench = Bench::with_idle(&["one"]);
        gated(&mut bench);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(answer(&mut bench, true, ("x", "y")), 1);
        assert_eq!(bench.states(), [TaskState::Claimed]);
        assert_eq!(answer(&mut bench, true, ("y", "y")), 1);
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn a_lost_check_is_made_again_after_a_crash() {
        let mut bench = Bench::with_idle(&["one"]);
        gated(&mut bench);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.seen.clear();
        bench.crash();
        assert_eq!(answer(&mut bench, true, ("x", "x")), 1);
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn reports_with_a_foreign_tag_or_without_a_task_change_nothing() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.say("one", "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Running], "its prompt was not taken yet");
        bench.begin("one");
        bench.say("one", "STATUS(zz99): DONE — 3 tests pass");
        bench.say("two", "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn an_end_without_the_tag_is_asked_for_once_and_ends_nothing() {
        for line in ["STATUS: DONE — 3 tests pass", "STATUS: ERROR — no disk"] {
            let mut bench = Bench::with_idle(&["one"]);
            let _ = bench.add(vec![Work::new("a")]);
            bench.begin("one");
            bench.say("one", line);
            assert_eq!(bench.states(), [TaskState::Running], "{line}");
            bench.did("one", AgentState::Idle);
            let prompt = bench.prompts("one")[1].clone();
            let tag = bench.engine.task(TaskId(1)).unwrap().attempts[0].tag.clone();
            let asked = format!("STATUS(…): {}", &line[8..12]);
            assert!(prompt.contains(&asked) && prompt.contains(&tag), "{prompt}");
            assert!(crate::protocol::first_line_like_a_report(&prompt).is_none(), "{prompt}");
            bench.begin("one");
            bench.crash();
            let _ = bench.tell("one", crate::engine::fixture::seen());
            bench.say("one", line);
            bench.did("one", AgentState::Idle);
            assert_eq!(bench.states(), [TaskState::Running], "{line}");
            assert_eq!(bench.prompts("one").len(), 2, "it is asked once, whichever hub asks");
            bench.report("one", 1, "STATUS: DONE — 3 tests pass");
            assert_eq!(bench.states(), [TaskState::Done]);
        }
    }

    #[test]
    fn a_block_without_the_tag_is_asked_for_once_and_then_holds_the_task() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        let line = "STATUS: BLOCKED — the password of the staging machine";
        bench.say("one", line);
        assert_eq!(bench.states(), [TaskState::Running], "it may be a quotation");
        bench.did("one", AgentState::Idle);
        assert!(bench.prompts("one")[1].contains("STATUS(…): BLOCKED"));
        bench.begin("one");
        bench.say("one", line);
        assert_eq!(bench.states(), [TaskState::Blocked]);
    }

    #[test]
    fn a_claim_that_another_source_tells_late_runs_no_gate_again() {
        let mut bench = Bench::with_idle(&["one"]);
        gated(&mut bench);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(answer(&mut bench, false, ("x", "x")), 1);
        // The answer to it is on its way, and the screen draws the line only now.
        bench.report("one", 1, "STATUS: DONE — 3 tests  pass");
        assert_eq!(answer(&mut bench, true, ("x", "x")), 0, "the gates run again");
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(answer(&mut bench, true, ("x", "x")), 1, "it is said anew");
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn a_result_counts_once_enough_verifiers_agree_and_nothing_changed_meanwhile() {
        let mut bench = Bench::with_idle(&["one"]);
        for verifier in ["va", "vb", "vc"] {
            bench.join_as(verifier, Role::Verifier);
        }
        let _ = bench.add(vec![Work::new("a").with(|terms| {
            (terms.gates, terms.verifiers, terms.agree) = (vec!["make".to_owned()], 3, 2);
        })]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(answer(&mut bench, true, ("x", "x")), 1);
        assert_eq!(bench.states()[0], TaskState::Claimed);
        for (verifier, id) in [("va", 2), ("vb", 3)] {
            bench.begin(verifier);
            bench.report(verifier, id, "STATUS: DONE — ran 3 tests");
        }
        assert_eq!(answer(&mut bench, true, ("y", "y")), 1, "it is checked once more");
        assert_eq!(bench.states()[0], TaskState::Claimed, "they saw other files");
        for verifier in ["va", "vb", "vc"] {
            bench.did(verifier, AgentState::Idle);
            bench.renew(verifier);
        }
        for id in 5..=6 {
            let verifier = bench.worker(id).unwrap();
            bench.begin(&verifier);
            bench.report(&verifier, id, "STATUS: DONE — ran 3 tests");
        }
        assert_eq!(answer(&mut bench, true, ("y", "y")), 1);
        assert_eq!(bench.states()[0], TaskState::Done);
        assert_eq!(bench.states()[6], TaskState::Cancelled, "the third is no longer wanted");
    }

    #[test]
    fn verifiers_who_disagree_send_the_work_back() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.join_as("va", Role::Verifier);
        let _ = bench.add(vec![Work::new("a").with(|terms| {
            (terms.verifiers, terms.agree) = (1, 1);
        })]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.did("one", AgentState::Idle);
        bench.begin("va");
        bench.report("va", 2, "STATUS: ERROR — the third test is empty");
        assert_eq!(bench.states(), [TaskState::Running, TaskState::Failed]);
        assert!(bench.prompts("one")[1].contains("| the third test is empty"));
    }

    #[test]
    fn a_later_write_has_a_passed_claim_checked_again() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| {
            (terms.gates, terms.verifiers, terms.agree) = (vec!["make".to_owned()], 1, 1);
        })]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(answer(&mut bench, true, ("x", "x")), 1);
        let _ = bench.tell("one", crate::engine::RunEvent::Wrote { tree: "z".to_owned() });
        assert_eq!(answer(&mut bench, false, ("z", "z")), 1);
        assert_eq!(bench.states(), [TaskState::Running, TaskState::Cancelled]);
    }
}
