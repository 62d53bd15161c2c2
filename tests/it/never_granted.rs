//! What no agent is granted, whatever its role and however it asks.

use wheelhouse::api::{NewAgent, PROTOCOL, Request, RequestKind, Response, TaskRequest};
use wheelhouse::model::Terms;

use super::rights::{example, ids, two_teams};
use super::support::visitor::Visitor;
use super::support::world::World;

/// Does nothing for as long as it is let.
const CAT: &[&str] = &["sh", "-c", "cat", "ROOT"];

/// What would run a command of an agent's choice, or lead outside, whoever asks for it.
fn excesses() -> Vec<(&'static str, Request)> {
    let ids = ids("mate", "t1", 1);
    let task = |change: fn(&mut Terms)| {
        let mut request = example(RequestKind::AddTasks, &ids);
        if let Request::Task { ask: TaskRequest::Add { specs } } = &mut request {
            change(&mut specs[0].terms);
        }
        request
    };
    let added = |change: fn(&mut NewAgent)| {
        let mut request = example(RequestKind::Add, &ids);
        if let Request::Add { agent, .. } = &mut request {
            change(agent);
        }
        request
    };
    let anyway = |kind| {
        let mut request = example(kind, &ids);
        if let Request::Dispatch { anyway, .. } | Request::DispatchTemplate { anyway, .. } =
            &mut request
        {
            *anyway = true;
        }
        request
    };
    let mut as_command = example(RequestKind::Dispatch, &ids);
    if let Request::Dispatch { command, .. } = &mut as_command {
        *command = true;
    }
    vec![
        ("commands to the programs", as_command),
        ("type where no rule", anyway(RequestKind::Dispatch)),
        ("type where no rule", anyway(RequestKind::DispatchTemplate)),
        ("gates that run a command", task(|terms| terms.gates = vec!["touch x".to_owned()])),
        ("files outside the project", task(|terms| terms.owns = vec!["../x".to_owned()])),
        ("the command of an agent", added(|agent| agent.command = vec!["sh".to_owned()])),
        (
            "set variables",
            added(|agent| drop(agent.env.0.insert("PATH".to_owned(), "x".to_owned()))),
        ),
        ("outside the project", added(|agent| agent.cwd = Some("/".into()))),
        ("outside the project", added(|agent| agent.cwd = Some("a/../..".into()))),
    ]
}

#[test]
fn what_no_agent_may_ask_for_is_refused_to_those_who_lead_too() {
    let world = two_teams();
    for (words, request) in excesses() {
        for agent in ["lead", "top"] {
            let fault = Visitor::speaking(&world, agent).answer(request.clone()).unwrap_err();
            assert!(fault.message.contains(words), "{agent} {request:?}: {fault}");
            assert!(fault.hint.is_some(), "{agent} {request:?}: {fault}");
        }
    }
}

#[test]
fn who_has_spoken_for_one_agent_speaks_for_no_other_on_that_connection() {
    let world = World::with_crew(&[("one", CAT), ("two", CAT)]);
    world.ok(&["up", "crew"]);
    let mut agent = Visitor::connect(&world);
    assert!(agent.greet(&world.token("one")).is_ok());
    // Neither by another token nor by none.
    let greetings = [Some(world.token("two")), None];
    for token in greetings {
        let version = "test".to_owned();
        let _ = agent.answer(Request::Hello { protocol: PROTOCOL, version, token });
        let Ok(Response::Me(who)) = agent.answer(Request::Me) else { panic!() };
        assert_eq!(who.agent.as_deref(), Some("one"));
        assert!(agent.answer(Request::Down { force: true }).is_err());
    }
}
