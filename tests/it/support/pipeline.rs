//! A run on paper: a pipeline of two stages, with everyone of the team.

use std::collections::BTreeMap;

use wheelhouse::model::{Cast, OnFailure, Pattern, PlayOrder, PlayStage, Player, TaskSpec, Terms};

use super::team::AGENTS;

pub(crate) fn pipeline(call: String) -> PlayOrder {
    let team = AGENTS.iter().map(|(name, role)| Player {
        name: name.parse().unwrap(),
        cli: "sim".to_owned(),
        role: *role,
        owns: Vec::new(),
        capabilities: Vec::new(),
        prompt: None,
        command: Vec::new(),
        kit: wheelhouse::model::Kit::default(),
        posting: wheelhouse::model::Posting::default(),
    });
    let stage = |name: &str, tasks: &[&str]| PlayStage {
        name: name.to_owned(),
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
        gates: vec!["make".to_owned()],
        has_passed: false,
        is_checking: false,
        refusals: 0,
    };
    let spec = |key: &str, needs: &[&str], on_failure| TaskSpec {
        key: Some(key.to_owned()),
        title: key.to_owned(),
        prompt: "do it".to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        play: None,
        terms: Terms { on_failure, locks: vec!["l".to_owned()], ..Terms::default() },
    };
    let cast = Cast {
        playbook: "p".to_owned(),
        hash: String::new(),
        vars: BTreeMap::new(),
        pattern: Pattern::Pipeline,
        team: "team".to_owned(),
        agents: team.collect(),
        stages: vec![stage("one", &["a", "b"]), stage("two", &["c"])],
        teams: Vec::new(),
        locks: Vec::new(),
    };
    let tasks = vec![
        spec("a", &[], OnFailure::Stop),
        spec("b", &[], OnFailure::Skip),
        spec("c", &["a", "b"], OnFailure::Stop),
    ];
    PlayOrder { call, cast, tasks, scripts: BTreeMap::new() }
}
