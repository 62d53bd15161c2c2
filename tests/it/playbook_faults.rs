//! Runs in which something goes wrong, one for each pattern and each policy.

use std::fs;

use super::support::clock::wait_for;
use super::support::world::World;

/// Does every task at once, and whatever else is asked.
const REST: &str = "\non prompt\n  think 300ms\n  status done \"ready + 1 of 1 checks passed\"\n";

fn playbook(pattern: &str, rest: &str) -> String {
    format!("[playbook]\nname = 'own'\npurpose = 'x'\npattern = '{pattern}'\n{rest}")
}

fn agent(name: &str, more: &str) -> String {
    format!("[[agents]]\nname = '{name}'\ncli = 'agent'\n{more}\n")
}

fn task(id: &str, more: &str) -> String {
    format!("[[tasks]]\nid = '{id}'\ntitle = 'Do {id}'\n{more}\n")
}

/// Plays a block for one task, with a part that happens once.
fn once(task: &str, steps: &str) -> String {
    format!(
        "on prompt containing \"Task {task}:\"\n  think 300ms\n  run test -e {task}.once\n  \
         if failed\n    write {task}.once\n      x\n{steps}\n  \
         status done \"ready + 1 of 1 checks passed\"\n"
    )
}

#[test]
fn a_stage_whose_gate_fails_is_done_again_with_the_reason() {
    let world = World::new();
    let text = playbook(
        "pipeline",
        &(agent("a", "")
            + "[[stages]]\nname = 'one'\ngates = ['test -e mended']\n\
           [[stages.tasks]]\nid = 'x'\ntitle = 'Do x'\nagent = 'a'\n\
           [[stages]]\nname = 'two'\n[[stages.tasks]]\nid = 'y'\ntitle = 'Do y'\nagent = 'a'\n"),
    );
    let script = "on prompt containing \"did not pass\"\n  think 300ms\n  write mended\n    x\n  \
                  status done \"mended + 1 of 1 checks passed\"\n"
        .to_owned()
        + REST;
    let told = world.rehearse(&text, &script);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    let stages = told.texts("run.stage");
    assert_eq!(stages[0], "one did not pass `test -e mended`", "{stages:?}");
    assert_eq!(world.status().tasks.len(), 3, "the stage's task came twice");
    fs::remove_file(world.project.join("mended")).unwrap();
    let told = world.rehearse(&text, REST);
    assert_eq!((told.code, told.state()), (Some(11), "failed"), "{:?}", told.last());
}

#[test]
fn an_agent_that_dies_is_started_again_and_its_task_is_done() {
    let world = World::new();
    let text = playbook("hub", &(agent("a", "") + &task("x", "agent = 'a'")));
    let told = world.rehearse(&text, &(once("x", "    die") + REST));
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    assert_eq!(told.texts("run.resumed"), ["a"]);
}

#[test]
fn a_lead_that_is_lost_comes_back_and_hears_of_its_own_team_alone() {
    let world = World::new();
    let text = playbook(
        "chain",
        &(agent("top", "role = 'orchestrator'")
            + &agent("la", "role = 'lead'")
            + &agent("lb", "role = 'lead'")
            + &agent("wa", "")
            + &agent("wb", "")
            + "[[teams]]\nname = 'a'\nlead = 'la'\nmembers = ['wa']\n\
           [[teams]]\nname = 'b'\nlead = 'lb'\nmembers = ['wb']\n"
            + &task("plan", "agent = 'la'")
            + &task("x", "agent = 'wa'\nneeds = ['plan']")
            + &task("y", "agent = 'wb'")
            + &task("sum", "agent = 'la'\nneeds = ['x']")
            + &task("end", "agent = 'top'\nneeds = ['sum']")),
    );
    let told = world.rehearse(&text, &(once("plan", "    die") + REST));
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    let heard = |agent: &str| {
        let lines = told.lines.iter().filter(|line| line["event"] == "dispatch.queued");
        let own = lines.filter(|line| line["agent"] == agent);
        own.filter_map(|line| line["text"].as_str()).collect::<Vec<_>>().join("\n")
    };
    assert!(heard("la").contains("(Do x) by wa"), "{}", heard("la"));
    assert!(!heard("la").contains("by wb") && heard("lb").contains("(Do y) by wb"));
    assert!(heard("top").contains("(Do sum) by la") && !heard("top").contains("by wa"));
}

#[test]
fn a_lock_that_is_never_released_is_taken_away_and_the_run_goes_on() {
    let world = World::new();
    world.ok(&["lock", "take", "shared", "--for", "3"]);
    let listed = world.json(&["lock", "list"]);
    assert_eq!((&listed[0]["name"], &listed[0]["holder"]), (&"shared".into(), &().into()));
    let text = playbook(
        "mesh",
        &(agent("a", "")
            + &agent("b", "")
            + "[[locks]]\nname = 'shared'\n"
            + &task("x", "agent = 'a'\nlocks = ['shared']")
            + &task("y", "agent = 'b'\nlocks = ['shared']")),
    );
    let told = world.rehearse(&text, REST);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    let taken: Vec<_> = told.lines.iter().filter(|line| line["event"] == "lock.taken").collect();
    assert_eq!(taken.len(), 2, "one after the other: {taken:?}");
    assert_eq!(world.json(&["lock", "list"]).as_array().unwrap().len(), 0);
    wait_for("the board as a file", || {
        let board = fs::read(world.project.join(".wheelhouse/board.json")).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(&board)
            .is_ok_and(|board| board["runs"][0]["state"] == "done")
    });
}

#[test]
fn a_swarm_takes_no_task_that_nobody_in_it_can_do() {
    let world = World::new();
    let text = playbook(
        "swarm",
        &(agent("a", "capabilities = ['mend']") + &task("x", "requires = ['paint']")),
    );
    let path = world.write_playbook(&text, REST);
    let said = world.run(&["run", &path, "--with", "sim", "--headless"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.err.contains("No agent can do `paint`") && said.err.contains("hint: "),
        "{said:?}"
    );
    // Tasks may be added while it runs, by those who take part too; each is taken once.
    let text = text.replace("requires = ['paint']", "requires = ['mend']");
    let add = "\"$WHEELHOUSE_BIN\" task add --title more --prompt \"Do more\" --requires";
    let steps = format!(
        "    run {add} paint 2> refused; test $? -ne 0\n    if failed\n      die\n    \
         run {add} mend\n    if failed\n      die"
    );
    let path = world.write_playbook(&text, &(once("x", &steps) + REST));
    let told = world.performed(&[&path, "--with", "sim"]);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    let refused = fs::read_to_string(world.project.join("refused")).unwrap();
    assert!(refused.contains("No agent in run r1 is a worker that can do paint"), "{refused}");
    let board = world.json(&["task", "board", "--run", "r1"]);
    assert_eq!(board["over"].as_array().unwrap().len(), 2, "{board}");
    assert_eq!(board["over"][1]["title"], "more");
}

#[test]
fn what_fails_for_good_ends_the_run_is_skipped_or_is_reduced() {
    for (policy, code, state) in [
        ("", 11, "failed"),
        ("on_failure = 'skip'", 10, "partial"),
        ("on_failure = 'reduce'\nreduced = 'Do half of it.'", 10, "partial"),
        ("on_failure = 'skip'\ntime_limit = '2s'", 10, "partial"),
    ] {
        let world = World::new();
        let text = playbook(
            "hub",
            &(agent("a", "")
                + &task("x", &format!("agent = 'a'\nattempts = 1\n{policy}"))
                + &task("y", "agent = 'a'\nneeds = ['x']")),
        );
        let fails = if policy.contains("time") { "hang 6s" } else { "status error \"no\"" };
        let script = format!(
            "on prompt containing \"Do half of it.\"\n  think 300ms\n  status done \"half + 1 file written\"\n\
             on prompt containing \"Task x:\"\n  think 300ms\n  {fails}\n{REST}"
        );
        let told = world.rehearse(&text, &script);
        assert_eq!((told.code, told.state()), (Some(code), state), "{policy}: {:?}", told.last());
        assert!(told.last()["text"].as_str().unwrap().contains('x'), "{:?}", told.last());
    }
}

#[test]
fn a_run_that_needs_a_person_stands_until_one_has_helped() {
    let world = World::new();
    let text = playbook("hub", &(agent("a", "") + &task("x", "agent = 'a'")));
    let script =
        "on prompt containing \"Task x:\"\n  think 300ms\n  ask \"Which?\" \"this\" \"that\"\n  \
                  status done \"chosen + 1 of 1 checks passed\"\n"
            .to_owned()
            + REST;
    let told = world.rehearse(&text, &script);
    assert_eq!((told.code, told.state()), (Some(12), "needs_person"), "{:?}", told.last());
    assert!(told.last()["hint"].as_str().unwrap().contains("wheelhouse run --resume r1"));
    let second = world.run(&[
        "run",
        world.path("own.toml").to_str().unwrap(),
        "--with",
        "sim",
        "--headless",
    ]);
    assert!(second.err.contains("Run `r1` of `own` has not ended"), "{second:?}");
    world.ok(&["agent", "answer", "a", "--option", "1"]);
    let told = world.performed(&["--resume", "r1"]);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
}
