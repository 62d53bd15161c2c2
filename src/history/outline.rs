//! Decides what a history says and in which order, whatever the format.

use super::details::{
    AgentHistory, AttemptHistory, ClaimHistory, ContractHistory, HistoryEvent, TaskHistory,
};
use super::fit::{clock, span, time};
use super::run_history::RunHistory;
use super::run_summary::{RunEnd, counts};
use crate::model::{AgentName, Need, NeedState};

/// A part of the page with a heading.
pub(super) struct OutlineSection {
    pub(super) heading: &'static str,
    pub(super) block: OutlineBlock,
}

/// What stands under a heading.
pub(super) enum OutlineBlock {
    Graph,
    Timeline,
    Table {
        head: Vec<&'static str>,
        rows: Vec<Vec<String>>,
    },
    Cards(Vec<OutlineCard>),
    /// Too long for a glance.
    Log {
        head: Vec<&'static str>,
        rows: Vec<Vec<String>>,
        remark: Option<String>,
    },
}

/// A thing with a state, and what there is to say of it.
pub(super) struct OutlineCard {
    pub(super) title: String,
    pub(super) state: String,
    pub(super) lines: Vec<OutlineLine>,
}

/// A line of a card.
pub(super) enum OutlineLine {
    /// Begins a part of it.
    Head {
        text: String,
        state: String,
    },
    Words(String),
    /// Someone else's words, as they were; with whose they are.
    Quote {
        about: &'static str,
        text: String,
    },
}

/// Returns what stands at the top: what it was, when, and what came of it.
pub(super) fn summary(story: &RunHistory) -> Vec<String> {
    let run = &story.run;
    let lasted = span(run.until.since(run.began));
    let end = match (&run.outcome, run.end) {
        (Some(outcome), _) => outcome,
        (None, RunEnd::Open) => "goes on",
        (None, RunEnd::Ended) => "ended",
        (None, RunEnd::Interrupted) => "was interrupted",
    };
    let mut lines =
        vec![format!("{} to {} UTC ({lasted}), {end}", clock(run.began), clock(run.until))];
    let mut sizes = vec![counted(story.agents.len(), "agent")];
    sizes.push(if story.tasks.is_empty() {
        "no tasks".to_owned()
    } else {
        let states = counts(&story.tasks.iter().map(|task| task.state));
        format!("{}: {states}", counted(story.tasks.len(), "task"))
    });
    if !story.by_hand.is_empty() {
        sizes.push(format!("{} by hand", counted(story.by_hand.len(), "intervention")));
    }
    if let Some((playbook, vars)) = story.asked.split_first() {
        lines.push(format!("Asked: {playbook}"));
        lines.extend(vars.iter().cloned());
    }
    lines.push(sizes.join(" · "));
    if !run.lost.is_empty() {
        let lost: Vec<&str> = run.lost.iter().map(AgentName::as_str).collect();
        lines.push(format!("Lost and not seen since: {}", lost.join(", ")));
    }
    lines
}

/// Returns the sections in their order; what there is nothing to say about is left out.
pub(super) fn sections(story: &RunHistory) -> Vec<OutlineSection> {
    let mut sections = Vec::new();
    let mut add = |heading, is_there: bool, block: &dyn Fn() -> OutlineBlock| {
        if is_there {
            sections.push(OutlineSection { heading, block: block() });
        }
    };
    add("Tasks", !story.tasks.is_empty(), &|| OutlineBlock::Graph);
    add("Timeline", !story.agents.is_empty(), &|| OutlineBlock::Timeline);
    add("Agents", !story.agents.is_empty(), &|| agents(story));
    add("What was asked, and what came of it", !story.tasks.is_empty(), &|| {
        OutlineBlock::Cards(story.tasks.iter().map(task_card).collect())
    });
    add("Needs", !story.needs.is_empty(), &|| needs(story));
    add("Contracts", !story.contracts.is_empty(), &|| contracts(story));
    add("By hand", !story.by_hand.is_empty(), &|| OutlineBlock::Table {
        head: vec!["When", "Agent", "Task", "What"],
        rows: story.by_hand.iter().map(by_hand_row).collect(),
    });
    add("Everything that happened", !story.events.is_empty(), &|| events(story));
    sections
}

fn agents(story: &RunHistory) -> OutlineBlock {
    let has_tokens = story.agents.iter().any(|agent| agent.tokens.is_some());
    let has_unseen = story.agents.iter().any(|agent| !agent.time.unseen.is_zero());
    let mut head =
        vec!["Agent", "Cli", "Role", "Starts", "Working", "Waiting", "Stuck", "Idle", "End"];
    head.extend(has_unseen.then_some("Unseen"));
    head.extend(has_tokens.then_some("Tokens"));
    let row = |agent: &AgentHistory| {
        let time = &agent.time;
        let mut row = vec![
            agent.name.to_string(),
            agent.cli.clone(),
            agent.role.to_string(),
            agent.starts.to_string(),
            span(time.working),
            span(time.waiting),
            span(time.stuck),
            span(time.idle),
            agent.ending.clone().unwrap_or_else(|| "runs".to_owned()),
        ];
        row.extend(has_unseen.then(|| span(time.unseen)));
        row.extend(has_tokens.then(|| agent.tokens.map(|one| one.to_string()).unwrap_or_default()));
        row
    };
    OutlineBlock::Table { head, rows: story.agents.iter().map(row).collect() }
}

fn needs(story: &RunHistory) -> OutlineBlock {
    let row = |need: &Need| {
        let state = match need.state {
            NeedState::Held => "waits for a person",
            NeedState::Dropped => "dropped: too many at once",
            NeedState::Sent => "sent on",
            NeedState::Met => "met",
        };
        vec![
            need.id.to_string(),
            need.from.to_string(),
            need.to.as_ref().map(ToString::to_string).unwrap_or_default(),
            need.text.clone(),
            state.to_owned(),
        ]
    };
    let head = vec!["Need", "Of", "From", "What", "State"];
    OutlineBlock::Table { head, rows: story.needs.iter().map(row).collect() }
}

fn contracts(story: &RunHistory) -> OutlineBlock {
    let row = |one: &ContractHistory| {
        let version = format!("v{}", one.version);
        vec![clock(one.at), one.publisher.to_string(), one.title.clone(), version]
    };
    let head = vec!["When", "By", "What", "Version"];
    OutlineBlock::Table { head, rows: story.contracts.iter().map(row).collect() }
}

fn by_hand_row(deed: &HistoryEvent) -> Vec<String> {
    let verb = deed.kind.trim_start_matches("person.");
    let what =
        if deed.text.is_empty() { verb.to_owned() } else { format!("{verb}: {}", deed.text) };
    let (agent, task) = about(deed);
    vec![clock(deed.at), agent, task, what]
}

fn events(story: &RunHistory) -> OutlineBlock {
    let row = |deed: &HistoryEvent| {
        let (agent, task) = about(deed);
        vec![
            deed.seq.to_string(),
            clock(deed.at),
            agent,
            task,
            deed.kind.clone(),
            deed.text.clone(),
        ]
    };
    let remark = (story.events_left_out > 0).then(|| {
        let count = story.events_left_out;
        format!("{count} earlier ones are left out: `wheelhouse events --run {}`", story.run.id)
    });
    let head = vec!["No", "When", "Agent", "Task", "Kind", "What"];
    OutlineBlock::Log { head, rows: story.events.iter().map(row).collect(), remark }
}

fn about(deed: &HistoryEvent) -> (String, String) {
    let agent = deed.agent.as_ref().map(ToString::to_string);
    (agent.unwrap_or_default(), deed.task.clone().unwrap_or_default())
}

fn task_card(task: &TaskHistory) -> OutlineCard {
    let mut lines = Vec::new();
    let needs: Vec<String> = task.needs.iter().map(ToString::to_string).collect();
    if !needs.is_empty() {
        lines.push(OutlineLine::Words(format!("needs {}", needs.join(", "))));
    }
    if let Some(other) = task.verifies {
        lines.push(OutlineLine::Words(format!("looks at the result of {other}")));
    }
    lines.extend(task.note.as_ref().map(|note| OutlineLine::Words(note.clone())));
    lines.push(OutlineLine::Quote { about: "asked", text: task.prompt.clone() });
    lines.extend(task.gates.iter().map(|gate| OutlineLine::Words(format!("gate: {gate}"))));
    for (number, attempt) in task.attempts.iter().enumerate() {
        attempt_lines(number + 1, attempt, &mut lines);
    }
    let title = format!("{} {}", task.id, task.title);
    OutlineCard { title, state: task.state.to_string(), lines }
}

fn attempt_lines(number: usize, attempt: &AttemptHistory, lines: &mut Vec<OutlineLine>) {
    let AttemptHistory { agent, started, ended, .. } = attempt;
    let text = match ended {
        Some(ended) => {
            let lasted = span(ended.since(*started));
            format!("attempt {number} by {agent}, {} to {}, {lasted}", time(*started), time(*ended))
        }
        None => format!("attempt {number} by {agent}, since {}", time(*started)),
    };
    let state = attempt.outcome.map_or("open".to_owned(), |outcome| outcome.to_string());
    lines.push(OutlineLine::Head { text, state });
    let steps = attempt.steps.iter().map(|step| format!("step: {step}"));
    lines.extend(steps.map(OutlineLine::Words));
    if let Some(passed) = attempt.build {
        let word = if passed { "passed" } else { "failed" };
        lines.push(OutlineLine::Words(format!("its last build {word}")));
    }
    attempt.claims.iter().for_each(|claim| claim_lines(claim, lines));
    let is_told = attempt.claims.last().is_some_and(|claim| claim.text == attempt.summary);
    if !attempt.summary.is_empty() && !is_told {
        lines.push(OutlineLine::Words(attempt.summary.clone()));
    }
    let artifacts = attempt.artifacts.iter().map(|file| format!("artifact: {file}"));
    lines.extend(artifacts.map(OutlineLine::Words));
    if attempt.turns > 1 {
        lines.push(OutlineLine::Words(format!("{} prompts", attempt.turns)));
    }
}

fn claim_lines(claim: &ClaimHistory, lines: &mut Vec<OutlineLine>) {
    let evidence = if claim.is_concrete { "" } else { ", without evidence" };
    lines.push(OutlineLine::Words(format!(
        "claimed at {}{evidence}: {}",
        time(claim.at),
        claim.text
    )));
    for gate in &claim.gates {
        let verdict = if gate.passed { "passed" } else { "failed" };
        lines.push(OutlineLine::Words(format!("gate {verdict}: {}", gate.gate)));
        if !gate.passed && !gate.output.trim().is_empty() {
            lines.push(OutlineLine::Quote { about: "printed", text: gate.output.clone() });
        }
    }
    let looked: Vec<String> = claim.verifications.iter().map(ToString::to_string).collect();
    if !looked.is_empty() {
        lines.push(OutlineLine::Words(format!("looked at by {}", looked.join(", "))));
    }
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
