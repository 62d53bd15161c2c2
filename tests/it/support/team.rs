//! A team on paper.

use wheelhouse::engine::{Engine, Event, RunEvent};
use wheelhouse::model::{
    AgentName, Contact, Environment, Launch, Member, Plot, ReceiptId, Role, RunId, Size, Stage,
    WorkspaceKind,
};

pub(crate) const AGENTS: [(&str, Role); 5] = [
    ("ann", Role::Worker),
    ("bob", Role::Worker),
    ("cat", Role::Worker),
    ("dan", Role::Verifier),
    ("eve", Role::Lead),
];

/// Ann and Bob have files of their own, and may speak to whom they like.
pub(crate) const OWNERS: [&str; 2] = ["ann", "bob"];

pub(crate) fn member(agent: &str, role: Role, place: usize) -> Member {
    Member {
        name: agent.parse().unwrap(),
        team: "team".to_owned(),
        place,
        cli: "sim".to_owned(),
        role,
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        workspace: std::path::PathBuf::new(),
        owns: OWNERS.contains(&agent).then(|| format!("{agent}/**")).into_iter().collect(),
        capabilities: Vec::new(),
        speaks_freely: OWNERS.contains(&agent),
        speaks_to: Vec::new(),
        conversation: None,
        opening: wheelhouse::model::Opening::default(),
        contact: Contact::default(),
        kit: wheelhouse::model::Kit::default(),
        runner: None,
        added: None,
        plot: (role == Role::Worker && !OWNERS.contains(&agent)).then(|| Box::new(plot(agent))),
    }
}

fn plot(agent: &str) -> Plot {
    Plot {
        kind: WorkspaceKind::Worktree,
        project: "/".into(),
        root: format!("/w/{agent}").into(),
        place: std::path::PathBuf::new(),
        cwd: std::path::PathBuf::new(),
        branch: format!("wheelhouse/s/{agent}"),
        base: "b0".to_owned(),
        copy: Vec::new(),
        setup: None,
        teardown: None,
        disposable: Vec::new(),
        port_base: 0,
        port_count: 0,
        runner: None,
        restores: None,
    }
}

pub(crate) fn launch() -> Launch {
    Launch {
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        environment: Environment::default(),
        size: Size::default(),
        confinement: wheelhouse::model::Confinement::default(),
    }
}

/// Returns the prompt of which an event says that its keys are about to be pressed, and where.
pub(crate) fn begun(event: &Event) -> Option<(AgentName, RunId, ReceiptId)> {
    let Event::Run { agent, run, event } = event else { return None };
    let RunEvent::Delivery { receipt, stage: Stage::Typed, .. } = event else { return None };
    Some((agent.clone(), *run, *receipt))
}

/// Says whether keys of a prompt may have been pressed.
pub(crate) fn is_touched(engine: &Engine, receipt: ReceiptId) -> bool {
    engine.dispatches().any(|one| one.id == receipt && !one.is_untouched)
}
