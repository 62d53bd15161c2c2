//! What a person and a script see of templates and playbooks.

use std::fs;

use super::support::world::World;

#[test]
fn templates_are_listed_shown_and_filled() {
    let world = World::new();
    let listed = world.json(&["template", "list"]);
    assert!(listed.as_array().unwrap().len() >= 29);
    let shown = world.json(&["template", "show", "tester"]);
    assert_eq!(shown["variables"]["task"]["required"], true);
    let given = ["--var", "task=Try the login", "--var", "tag=k7f3"];
    let prompt = world.ok(&[&["template", "render", "tester"], &given[..]].concat());
    assert!(prompt.contains("Try the login") && prompt.contains("the tag is k7f3"), "{prompt}");
    let said = world.run(&["template", "render", "testr"]).text();
    assert!(said.contains("hint: Did you mean `tester`?"), "{said}");
}

#[test]
fn a_project_brings_templates_that_count_once_they_are_trusted() {
    let world = World::new();
    let directory = world.paths().project_templates();
    fs::create_dir_all(&directory).unwrap();
    let text = "+++\npurpose = \"own \u{202e}\\u001b\"\n+++\nDo it our way.\n";
    fs::write(directory.join("ours.md"), text).unwrap();
    assert!(world.run(&["template", "show", "ours"]).text().contains("Unknown template `ours`"));
    let shown = world.ok(&["config", "trust", "--yes"]);
    assert!(shown.contains("agents can get the prompt") && shown.contains("ours.md"), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\u{1b}']), "{shown:?}");
    assert_eq!(world.ok(&["template", "render", "ours"]).trim_end(), "Do it our way.");
}

#[test]
fn a_dry_run_prints_the_plan_and_starts_nothing() {
    let world = World::new();
    let words = ["run", "bug-triage-swarm", "--dry-run", "--var", "list=faults.md"];
    let plan = world.json(&words);
    assert_eq!(plan["waves"][1].as_array().unwrap().len(), 3);
    assert_eq!(plan["agents"][0]["cli"], "agent");
    assert_eq!(plan["tasks"][1]["agents"].as_array().unwrap().len(), 4);
    let with_sim = world.json(&[&words[..], &["--with", "sim"]].concat());
    assert_eq!(with_sim["agents"][0]["cli"], "sim");
    assert!(with_sim["scripts"]["one"].as_str().unwrap().contains("on prompt containing"));
    assert!(world.running_status().is_none());
}

#[test]
fn a_playbook_is_wrong_with_its_line_and_cannot_write_to_the_terminal() {
    let world = World::new();
    let text = "[playbook]\nname = \"\\u001b[2J\"\npurpose = \"x\"\npattern = \"hub\"\n\
        [[agents]]\nname = \"a\"\ncli = \"shell\"\n\
        [[tasks]]\nid = \"x\"\ntitle = \"\\u001b]0;t\\u0007\"\nLINE\n";
    let path = world.path("own.toml");
    fs::write(&path, text.replace("LINE", "needs = [\"x\"]")).unwrap();
    let asked = path.to_str().unwrap();
    let wrong = world.run(&["run", asked, "--dry-run"]).text();
    let expected = "own.toml:11:9: These tasks wait for each other: x → x";
    assert!(wrong.contains(expected), "{wrong}");
    fs::write(&path, text.replace("LINE", "")).unwrap();
    let shown = world.ok(&["run", asked, "--dry-run"]);
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    let without = world.run(&["run", asked]).text();
    assert!(without.contains("--headless"), "{without}");
}
