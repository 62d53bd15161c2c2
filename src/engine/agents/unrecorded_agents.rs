//! An agent that lives, and of whom the record knows nothing.

use crate::engine::agents::readiness::Readiness;
use crate::engine::{Pace, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Contact, Kit, Member, Moment, Opening, Role, RunId, Source,
};

/// An agent whose keeper lives but of whom the record knows nothing.
pub(in crate::engine) fn stranger(agent: &AgentName, run: RunId, now: Moment) -> Seat {
    let member = Member {
        name: agent.clone(),
        team: String::new(),
        place: 0,
        cli: "unknown".to_owned(),
        role: Role::default(),
        argv: Vec::new(),
        cwd: std::path::PathBuf::new(),
        workspace: std::path::PathBuf::new(),
        owns: Vec::new(),
        capabilities: Vec::new(),
        speaks_freely: false,
        speaks_to: Vec::new(),
        conversation: None,
        opening: Opening::default(),
        contact: Contact::default(),
        kit: Kit::default(),
        runner: None,
        added: None,
        plot: None,
    };
    Seat {
        member,
        run,
        phase: Phase::Starting,
        state: AgentState::Unknown,
        source: Source::Process,
        since: now,
        pace: Pace::default(),
        is_to_stop: false,
        rules_until: None,
        readiness: Readiness::default(),
        reports: 0,
        is_used: true,
        tokens: None,
        reset: None,
        renews_for: None,
        no_renewal: None,
        unreachable: None,
        keeper: None,
        process: None,
        note: Some("found alive, but not on record".to_owned()),
        next: None,
        held: None,
    }
}
