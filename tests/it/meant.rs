//! Prompts that mean what they say: words reach the program as words, and only what was taken counts.

use std::fs;

use wheelhouse::deliver::{Delivery, OutgoingPrompt};
use wheelhouse::model::AgentState;

use super::delivery::{WHOLE, deliver, delivery, ends};
use super::played::{BOXES, Played, Shape};
use super::support::clock::wait_for;
use super::support::world::{PROGRAM, World};

const PROMPT: &str = "Build the login page, and say when it is done.";

fn pasted(played: &Played) -> String {
    let typed = String::from_utf8(played.typed()).unwrap();
    typed.replace("\x1b[200~", "").replace("\x1b[201~", "")
}

#[test]
fn what_begins_like_a_command_is_typed_as_words() {
    for (shape, text, typed) in [
        (Shape::Claude, "!important: fix it", " !important: fix it"),
        (Shape::Claude, "/etc/hosts is wrong", "/etc/hosts is wrong"),
        (Shape::Codex, "/etc/hosts is wrong", " /etc/hosts is wrong"),
        (Shape::Codex, "!important: fix it", "\u{2060}!important: fix it"),
        (Shape::Codex, "look at @READ", "look at @READ "),
        (Shape::Gemini, "/clear what is left", "\u{2060}/clear what is left"),
        (Shape::Gemini, "look at @READ", "look at @\u{2060}READ"),
        (Shape::OpenCode, "/help is broken", " /help is broken"),
        (Shape::OpenCode, "look at @READ", "look at @READ "),
    ] {
        let mut played = Played::new(shape);
        ends(&deliver(&mut played, text), &WHOLE, "");
        assert_eq!(pasted(&played), typed, "{shape:?}");
    }
}

#[test]
fn what_cannot_be_made_words_is_refused_and_sent_as_a_command_on_purpose() {
    for text in ["/clear", "exit"] {
        let mut played = Played::new(Shape::Claude);
        ends(&deliver(&mut played, text), &["refused"], "`--command`");
        assert!(played.writes.is_empty());
        let letter = OutgoingPrompt { text: text.to_owned(), tag: None, is_command: true };
        let how = played.manifest.submit.clone();
        // It clears the prompt, and no turn comes of it.
        played.manners.forgets = true;
        let mut command = Delivery::begin(&letter, &how, &played.scene(), played.now);
        ends(&played.run(&mut command), &WHOLE, "the line was taken");
        assert_eq!(pasted(&played), text);
    }
}

#[test]
fn a_hook_that_names_another_prompt_proves_nothing() {
    for (heard, name) in [("Something else entirely", "unknown"), (PROMPT, "accepted")] {
        let mut played = Played::new(Shape::Claude);
        played.manners.forgets = true;
        played.later(3000, move |played| {
            played.heard_at = Some(played.now);
            played.heard = Some(heard.to_owned());
        });
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "seen", "submitted", name], "told");
    }
}

#[test]
fn a_text_that_was_not_submitted_is_taken_away_again() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.manners.newlines = usize::MAX;
        let keys = played.manifest.keys.clone();
        let mut stuck = delivery(&played, PROMPT).with_keys(&keys);
        ends(&played.run(&mut stuck), &["typed", "seen", "submitted", "stalled"], "taken away");
        assert_eq!(played.composer, "", "{shape:?}");
        played.pass(1000);
        played.manners.newlines = 0;
        let stages = deliver(&mut played, "The next one goes through.");
        ends(&stages, &WHOLE, "");
    }
}

/// Starts the scripted agent, which asks at once for leave to run a command.
fn asking() -> World {
    let world = World::new();
    let script =
        "speed 0\nat start\n  approve \"touch one\" else stop\n  say \"It was approved.\"\n";
    fs::write(world.path("agent.sim"), script).unwrap();
    let script = world.path("agent.sim");
    let program = [PROGRAM, "sim", script.to_str().unwrap()];
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[cli.scripted]\nlike = \"sim\"\ncommand = {}\n\
         [[team.crew.agents]]\nname = \"one\"\ncli = \"scripted\"\n",
        serde_json::to_string(&program).unwrap()
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    wait_for("its dialog", || world.agent("one").dialog.is_some());
    world
}

#[test]
fn a_prompt_at_a_dialog_waits_for_its_end_unless_it_must_not_wait() {
    let world = asking();
    let refused = world.run(&["dispatch", "one", "Hello", "--no-queue"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.out.contains("a dialog is open"), "{refused:?}");
    let receipt = world.json(&["dispatch", "one", "Hello there"]);
    assert_eq!(receipt["state"], "queued");
    let id = receipt["receipt"].as_str().unwrap();
    world.ok(&["agent", "answer", "one", "--option", "1"]);
    let said = world.run(&["wait", "--receipt", id, "--timeout", "30"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    world.wait_for_text("one", "Hello there");
}

#[test]
fn a_command_is_refused_as_words_and_typed_on_purpose() {
    let world = asking();
    world.ok(&["agent", "answer", "one", "--option", "1"]);
    wait_for("its prompt", || {
        matches!(world.agent("one").state, AgentState::Idle | AgentState::Done)
    });
    let refused = world.run(&["dispatch", "one", "/compact", "--wait"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.out.contains("--command"), "{refused:?}");
    let taken = world.run(&["dispatch", "one", "/compact", "--command", "--wait"]);
    assert_eq!(taken.code, Some(0), "{taken:?}");
}
