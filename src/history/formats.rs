//! Tests each format against its snapshot.

use std::time::Duration;

use serde_json::json;

use super::fixture::{BEGAN, HOSTILE, hostile_run, run};
use super::{RunHistory, TextStyle, html, list, markdown, text};
use crate::model::{AgentState, Moment, is_deceptive};

const PIPE: TextStyle = TextStyle { width: 100, has_color: false };

fn agent<'a>(story: &'a RunHistory, name: &str) -> &'a super::AgentHistory {
    story.agents.iter().find(|agent| agent.name.as_str() == name).unwrap()
}

#[test]
fn every_form_tells_the_run() {
    let story = run().story();
    insta::assert_snapshot!("text", text(&story, PIPE));
    insta::assert_snapshot!("text_narrow", text(&story, TextStyle { width: 60, has_color: false }));
    insta::assert_snapshot!("markdown", markdown(&story));
    insta::assert_snapshot!("html", html(&story));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&story).unwrap());
    insta::assert_snapshot!("list", list(&run().chapters()));
}

#[test]
fn time_that_nobody_saw_counts_for_nothing_else() {
    let story = run().story();
    let (backend, tests) = (&agent(&story, "backend").time, &agent(&story, "tests").time);
    assert_eq!(backend.working, Duration::from_secs(510));
    assert_eq!(tests.waiting, Duration::from_secs(160));
    assert_eq!(tests.stuck, Duration::from_mins(1));
    assert_eq!(tests.working, Duration::from_secs(70), "until nobody saw it");
    assert_eq!(tests.unseen, Duration::from_secs(4200 - 530));
    let unseen = agent(&story, "tests").stretches.iter().find(|one| one.state.is_none()).unwrap();
    assert_eq!(unseen.from, Moment(BEGAN + 530_000));
}

#[test]
fn a_claim_that_was_sent_back_is_still_told() {
    let story = run().story();
    let claims = &story.tasks[0].attempts[0].claims;
    let told: Vec<(&str, bool)> =
        claims.iter().map(|claim| (claim.text.as_str(), claim.gates[0].passed)).collect();
    assert_eq!(told, [("it works", false), ("12 tests pass, see api.log", true)]);
}

#[test]
fn tokens_are_told_where_they_are_on_record() {
    let story = run().story();
    assert_eq!(
        (agent(&story, "backend").tokens, agent(&story, "tests").tokens),
        (Some(1200), Some(321))
    );
}

#[test]
fn a_playbooks_run_has_its_own_tasks_and_agents_alone() {
    let mut record = super::fixture::Record::default();
    record.at(0).tell("agent.starting", "one", "", "").seat("one", "working");
    record.tell("agent.starting", "two", "", "").seat("two", "idle");
    let (own, other) = (super::fixture::task("t1", "Own", "done", &json!({})), json!({}));
    let other = super::fixture::task("t2", "Other", "done", &other);
    let play = json!({"playbook": HOSTILE, "vars": {"topic": "shops"}});
    record.at(1).tell("run.running", "", "", "").of_run("r1").row("run", "r1", play);
    record.at(2).tell("task.done", "one", "t1", "").of_run("r1").row("task", "t1", own);
    record.at(3).tell("task.done", "two", "t2", "").row("task", "t2", other);
    record.at(4).tell("run.done", "", "", "").of_run("r1");
    let story = record.story_of("r1");
    let (tasks, agents) = (&story.tasks, &story.agents);
    assert_eq!((tasks.len(), tasks[0].title.as_str()), (1, "Own"));
    assert_eq!((agents.len(), agents[0].name.as_str()), (1, "one"));
    assert_eq!(story.asked[1], "topic = shops");
    let told = text(&story, PIPE);
    assert!(!told.chars().any(|c| c != '\n' && is_deceptive(c)), "{told}");
}

#[test]
fn nothing_that_an_agent_says_acts_on_a_terminal() {
    let story = hostile_run().story();
    let list = list(&hostile_run().chapters());
    for told in [text(&story, PIPE), markdown(&story), html(&story), list] {
        let bad: Vec<char> = told.chars().filter(|c| *c != '\n' && is_deceptive(*c)).collect();
        assert_eq!(bad, [], "{told}");
    }
}

#[test]
fn nothing_that_an_agent_says_acts_on_a_page() {
    let page = html(&hostile_run().story());
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "it is shown");
    assert!(!page.contains("<script"));
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title>").count(), page.matches("<title>").count());
    // Every attribute is one of ours: none came in with a quotation mark.
    assert!(!page.contains(" onload='"));
    for tag in page.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        assert!(!tag.contains("onload") && !tag.contains("javascript"), "<{tag}>");
    }
}

#[test]
fn nothing_that_an_agent_says_is_read_as_markdown() {
    let told = markdown(&hostile_run().story());
    let outside: Vec<&str> = told.lines().filter(|line| !line.starts_with("      ")).collect();
    let outside = outside.join("\n");
    assert!(!outside.contains("<script") && !outside.contains("[x](") && !outside.contains("**["));
    for row in told.lines().filter(|line| line.starts_with("| ") && line.contains("alert")) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert!(matches!(bars, 5..=7), "{row}");
    }
}

#[test]
fn lines_keep_within_the_terminal() {
    for width in [40, 60, 100, 200] {
        let told = text(&run().story(), TextStyle { width, has_color: false });
        let widest = told.lines().map(super::width).max().unwrap();
        assert!(widest <= width, "{widest} of {width}:\n{told}");
    }
    let colored = text(&run().story(), TextStyle { width: 100, has_color: true });
    assert!(colored.contains("\x1b[32m█"), "{colored}");
}

#[test]
fn a_run_without_tasks_or_agents_is_told_too() {
    let mut record = super::fixture::Record::default();
    record.at(0).tell("task.added", "", "t1", "x");
    let story = record.story();
    assert_eq!((story.run.id.as_str(), story.agents.len()), ("all", 0));
    for told in [text(&story, PIPE), markdown(&story), html(&story)] {
        assert!(told.contains("Run all") && told.contains("no tasks"), "{told}");
    }
}

#[test]
fn a_screen_that_flickers_makes_one_line() {
    let mut record = super::fixture::Record::default();
    record.at(0).tell("agent.starting", "one", "", "run 1").seat("one", "working");
    for second in 1..2000 {
        let state = if second % 2 == 0 { "working" } else { "idle" };
        record.at(second).seat("one", state);
    }
    record.at(2000).tell("agent.ended", "one", "", "run 1");
    let story = record.story();
    assert_eq!(agent(&story, "one").stretches.len(), 2000);
    assert_eq!(agent(&story, "one").stretches[0].state, Some(AgentState::Working));
    assert!(text(&story, PIPE).lines().count() < 30);
}
