//! Workspaces in the dashboard: what a tile says of one, and what its keys ask for.

use super::fixture::{Stage, agent, status};
use crate::api::{AgentStatus, Request, Response, WorkspaceRequest};
use crate::model::{
    AgentState, Done, Merge, MergeFile, MergeForm, MergeId, MergeState, MergeTerms, Moment,
};
use crate::tui::update::AppInput;

fn with_tree(state: AgentState, changed: usize) -> AgentStatus {
    let branch = Some("wheelhouse/shop/backend".to_owned());
    AgentStatus { branch, changed: Some(changed), ..agent("backend", state, 5) }
}

fn stage(agents: Vec<AgentStatus>) -> Stage {
    let mut stage = Stage::new(120, 40, agents);
    stage.requests();
    stage
}

fn asked(stage: &mut Stage) -> Vec<WorkspaceRequest> {
    let requests = stage.requests().into_iter();
    let about = |request| {
        let Request::Workspace { ask } = request else { return None };
        Some(ask)
    };
    requests.filter_map(about).collect()
}

fn merge(state: MergeState, files: &[&str]) -> Merge {
    Merge {
        id: MergeId(1),
        agent: "backend".parse().unwrap(),
        task: None,
        terms: MergeTerms {
            form: MergeForm::Merge,
            into: "wheelhouse/integration".to_owned(),
            gates: Vec::new(),
            message: None,
            committed_only: false,
            is_trial: false,
            sends_back: false,
        },
        state,
        since: Moment(0),
        commit: None,
        files: files
            .iter()
            .map(|path| MergeFile { path: (*path).to_owned(), others: Vec::new() })
            .collect(),
        note: None,
    }
}

#[test]
fn a_tile_says_how_much_is_changed_in_a_tree_of_its_own() {
    let mut stage = stage(vec![with_tree(AgentState::Idle, 3)]);
    assert!(stage.text().contains("own branch, 3 files"), "{}", stage.text());
}

#[test]
fn work_is_brought_back_after_a_question_and_what_came_of_it_is_said() {
    let mut stage = stage(vec![with_tree(AgentState::Idle, 1)]);
    stage.press("m");
    assert!(stage.text().contains("Merge backend's work?"), "{}", stage.text());
    assert!(asked(&mut stage).is_empty());
    stage.press("space");
    assert!(stage.text().contains("as one commit"), "{}", stage.text());
    stage.press("enter");
    let requests = stage.requests();
    let is_squash = |request: &Request| {
        matches!(
            request,
            Request::Workspace {
                ask: WorkspaceRequest::Merge { form: Some(MergeForm::Squash), .. }
            }
        )
    };
    assert!(requests.iter().any(is_squash), "{requests:?}");
    let told = |stage: &mut Stage, merge| {
        let done = Done { merges: vec![merge], ..Done::default() };
        stage.press("m");
        stage.press("enter");
        stage.answer(|request| matches!(request, Request::Workspace { .. }), Response::Done(done));
        stage.text()
    };
    let text = told(&mut stage, merge(MergeState::Done, &["a.rs"]));
    assert!(text.contains("Merged backend into wheelhouse/integration: 1 files"), "{text}");
    let text = told(&mut stage, merge(MergeState::Conflict, &["a.rs", "b.rs"]));
    assert!(text.contains("conflicts with wheelhouse/integration: a.rs, b.rs"), "{text}");
}

#[test]
fn a_workspace_is_removed_only_of_an_agent_that_has_ended_and_has_one() {
    let mut stage = stage(vec![with_tree(AgentState::Idle, 1)]);
    stage.press("c");
    assert!(stage.text().contains("backend is running in its workspace"), "{}", stage.text());
    stage.give(AppInput::Hub(status(vec![with_tree(AgentState::Exited, 1)])));
    stage.press("c");
    stage.press("space");
    assert!(stage.text().contains("rescue ref"), "{}", stage.text());
    stage.press("enter");
    let asked = asked(&mut stage);
    assert!(matches!(&asked[..], [WorkspaceRequest::Clean { rescue: true, .. }]), "{asked:?}");
    stage.give(AppInput::Hub(status(vec![agent("backend", AgentState::Exited, 5)])));
    stage.press("c");
    assert!(stage.text().contains("has no workspace"), "{}", stage.text());
}
