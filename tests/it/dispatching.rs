//! Prompts on their way to real programs, through the real hub: at most once, whole or not at all.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::process::Signal;
use wheelhouse::api::{KeyInput, Request};
use wheelhouse::model::{AgentState, Receipt, Source, Stage};

use super::support::clock::wait_for;
use super::support::composer::Composers;
use super::support::process;
use super::support::world::{PROGRAM, Said, World, run};

const PROMPT: &str = "Build the users endpoint.\nThen say so.";

/// Kills the hub, and waits for the one that comes in its place.
fn kill_hub(world: &World) {
    let hub = world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
}

/// Waits until a prompt goes no further, and returns what the status says of it.
fn outcome(composers: &Composers, receipt: &Receipt) -> (Option<i32>, Option<Receipt>) {
    let code = composers.wait(receipt).code;
    (code, composers.latest())
}

#[track_caller]
fn assert_unsure(composers: &Composers, receipt: &Receipt) {
    let (code, latest) = outcome(composers, receipt);
    let latest = latest.unwrap();
    assert_eq!((code, latest.receipt), (Some(4), receipt.receipt), "{latest:?}");
    assert!(matches!(latest.state, Stage::Unknown | Stage::Stalled), "{latest:?}");
    assert!(latest.reason.unwrap().contains("the hub ended"));
}

/// Lets everything go that held the agent back, and gives a prompt that was typed twice or
/// submitted late every chance to show: another one goes its way after it.
#[track_caller]
fn assert_never_again(composers: &Composers, times: usize) {
    for hold in ["works", "mute", "restless", "deaf", "stunned"] {
        let _ = fs::remove_file(composers.world.path("one").join(hold));
    }
    let stands = composers.submitted().is_empty();
    if stands {
        // What stands there is a person's to deal with.
        composers.world.wait_for_text("one", "Then say so.");
        composers.world.ok(&["agent", "keys", "one", "enter"]);
        wait_for("the person's Enter", || composers.submitted().len() == 1);
    }
    let second = composers.dispatch("Another.");
    assert_eq!(composers.wait(&second).code, Some(0), "{:?}", composers.latest());
    let times = times.max(usize::from(stands));
    let all = composers.submitted();
    let prompts = all.iter().filter(|text| *text == PROMPT).count();
    assert_eq!((prompts, all.len()), (times, times + 1), "{all:?}");
}

#[test]
fn a_hub_that_dies_while_a_prompt_waits_types_it_once() {
    let composers = Composers::start(&["one"], &["works"]);
    let receipt = composers.dispatch(PROMPT);
    composers.wait_for_stage(Stage::Queued);
    kill_hub(&composers.world);
    composers.wait_for_stage(Stage::Queued);
    assert!(composers.submitted().is_empty());
    composers.let_go("works");
    assert_eq!(outcome(&composers, &receipt).0, Some(0), "{:?}", composers.latest());
    assert_never_again(&composers, 1);
}

#[test]
fn a_hub_that_dies_while_a_prompt_is_typed_does_not_type_it_again() {
    let composers = Composers::start(&["one"], &["mute"]);
    let receipt = composers.dispatch(PROMPT);
    composers.wait_for_stage(Stage::Typed);
    wait_for("its first key is on record", || !is_untouched(&composers, &receipt));
    kill_hub(&composers.world);
    assert_unsure(&composers, &receipt);
    assert!(composers.submitted().is_empty());
    assert_never_again(&composers, 0);
}

/// Says whether the record has it that no key of a prompt was pressed yet.
fn is_untouched(composers: &Composers, receipt: &Receipt) -> bool {
    let key = ("dispatch".to_owned(), receipt.receipt.to_string());
    composers.world.rows()[&key]["is_untouched"] == true
}

#[test]
fn a_hub_that_dies_while_a_prompt_waits_for_the_program_to_take_pastes_types_it_once() {
    let composers = Composers::prepare(&["one"], &["shy"], "[cli.one.submit]\npaste = true\n");
    composers.up(&["one"]);
    let receipt = composers.dispatch(PROMPT);
    composers.wait_for_stage(Stage::Typed);
    assert!(is_untouched(&composers, &receipt));
    kill_hub(&composers.world);
    composers.let_go("shy");
    assert_eq!(outcome(&composers, &receipt).0, Some(0), "{:?}", composers.latest());
    assert_never_again(&composers, 1);
}

#[test]
fn a_hub_that_dies_while_a_prompt_is_seen_does_not_submit_it() {
    let composers = Composers::start(&["one"], &["restless"]);
    let receipt = composers.dispatch(PROMPT);
    composers.wait_for_stage(Stage::Seen);
    kill_hub(&composers.world);
    assert_unsure(&composers, &receipt);
    assert!(composers.submitted().is_empty());
    assert_never_again(&composers, 0);
}

#[test]
fn a_hub_that_dies_before_the_program_reads_enter_does_not_press_it_again() {
    let composers = Composers::start(&["one"], &["deaf"]);
    let receipt = composers.dispatch(PROMPT);
    composers.wait_for_stage(Stage::Submitted);
    // The stage is told before it is on record, and the key is pressed after that.
    let agent = composers.world.agent("one").pid.unwrap();
    wait_for("Enter in the terminal", || unread_input(agent) > 0);
    kill_hub(&composers.world);
    assert_unsure(&composers, &receipt);
    composers.let_go("deaf");
    wait_for("the Enter that was pressed", || composers.submitted().len() == 1);
    assert_never_again(&composers, 1);
}

/// Returns how many bytes wait in the terminal of a process.
fn unread_input(pid: u32) -> u64 {
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let path = format!("/proc/{pid}/fd/0");
    let terminal = OpenOptions::new().read(true).custom_flags(flags).open(path).unwrap();
    rustix::io::ioctl_fionread(terminal).unwrap()
}

#[test]
fn a_hub_that_dies_right_after_enter_does_not_submit_again() {
    let composers = Composers::start(&["one"], &["stunned"]);
    let receipt = composers.dispatch(PROMPT);
    wait_for("Enter", || composers.submitted().len() == 1);
    kill_hub(&composers.world);
    assert_unsure(&composers, &receipt);
    assert_never_again(&composers, 1);
}

#[test]
fn a_hub_that_dies_after_a_prompt_was_accepted_knows_that() {
    let composers = Composers::start(&["one"], &[]);
    let receipt = composers.dispatch(PROMPT);
    assert_eq!(outcome(&composers, &receipt), (Some(0), None));
    kill_hub(&composers.world);
    assert_eq!(outcome(&composers, &receipt), (Some(0), None));
    assert_never_again(&composers, 1);
}

/// Hands over a prompt from standard input and waits for what becomes of it.
fn dispatch_file(world: &World, agent: &str, prompt: &str) -> Said {
    let file = world.path("prompt");
    fs::write(&file, prompt).unwrap();
    let mut command = world.command(&["dispatch", agent, "-", "--wait", "--timeout", "35"]);
    command.stdin(fs::File::open(file).unwrap());
    run(command).unwrap()
}

fn long_prompt(bytes: usize) -> String {
    let line = |number: usize| format!("{number:06} äöü „quoted“ {}\n", "x".repeat(number % 7_000));
    let mut text = (0..).step_by(311).map(line).scan(0, |length, line| {
        *length += line.len();
        (*length <= bytes).then_some(line)
    });
    let mut text = text.by_ref().collect::<String>();
    text += &"y".repeat(bytes - text.len());
    text
}

#[test]
fn two_hundred_kilobytes_arrive_byte_by_byte() {
    let composers = Composers::start(&["one"], &[]);
    let prompt = long_prompt(200 * 1024);
    assert_eq!(prompt.len(), 200 * 1024);
    let said = dispatch_file(&composers.world, "one", &prompt);
    assert_eq!(said.code, Some(0), "{said:?}");
    let got = composers.submitted();
    assert_eq!(got.len(), 1);
    assert!(got[0] == prompt, "{} of {} bytes", got[0].len(), prompt.len());
}

#[test]
fn a_terminal_that_would_drop_bytes_is_told_of_and_gets_none() {
    let reader = "printf '$ '; while read line; do printf '%s\\n' \"$line\" >> ROOT/got; \
                  printf '$ '; done";
    let world = World::with_crew(&[("cat", &["sh", "-c", reader])]);
    world.ok(&["up", "crew"]);
    world.ok(&["wait", "--agent", "cat", "--for", "idle", "--timeout", "30"]);
    let said = dispatch_file(&world, "cat", &long_prompt(200 * 1024));
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.contains("would drop all but 4095"), "{said:?}");
    let said = dispatch_file(&world, "cat", "one line");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(fs::read_to_string(world.path("got")).unwrap(), "one line\n");
}

#[test]
fn nothing_is_typed_where_no_rule_knows_the_screen() {
    let reader = "stty raw -echo; echo 'nothing known here'; cat > ROOT/got";
    let world = World::with_crew(&[("raw", &["sh", "-c", reader])]);
    world.ok(&["up", "crew"]);
    world.wait_for_status("a screen that nobody knows", |status| {
        status.agents[0].state == AgentState::Unknown && status.agents[0].source == Source::Silence
    });
    let said = world.run(&["dispatch", "raw", "hello", "--wait"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(fs::read_to_string(world.path("got")).unwrap(), "");
}

#[test]
fn no_prompt_leaves_its_frame_or_presses_a_key_in_a_real_shell() {
    let world = World::with_crew(&[("bash", &["bash", "--norc", "-i"])]);
    world.ok(&["up", "crew"]);
    let idle = || world.ok(&["wait", "--agent", "bash", "--for", "idle", "--timeout", "30"]);
    idle();
    let touch = |name: &str| format!("touch {}", world.path(name).display());
    let marker = touch("marker");
    // As it stands in a paste each of these is a comment or a quoted text, and does nothing.
    let prompts = [
        format!("# a \u{1b}[201~\u{15}{marker}\u{f}# z"),
        format!("# b \u{9b}201~\u{15}{marker}\u{f}# z"),
        format!("# c \u{3}{marker}\u{f}# z"),
        format!("# d \u{1b}\u{1b}[201~[201~\u{15}{marker}\u{f}# z"),
        format!("# e \u{18}\u{5}\u{16}\u{1a}{marker}\u{f}# z"),
        format!(": 'f \u{1b}[201~\u{15}\n{marker}\nz'"),
        format!(": 'g \u{1b}[201~\u{15}\r\n{marker}\r\nz'"),
    ];
    for prompt in &prompts {
        let said = dispatch_file(&world, "bash", prompt);
        assert_eq!(said.code, Some(0), "{prompt:?}: {said:?}\n{}", world.read("bash"));
        idle();
    }
    assert!(!world.path("marker").exists(), "{}", world.read("bash"));

    // The same bytes as they are do press keys: the test could have failed.
    let control = format!("\u{1b}[200~# a \u{1b}[201~\u{15}{}\u{f}", touch("control"));
    let keys = vec![KeyInput::Text(control)];
    world.connect().unwrap().ask(Request::Keys { agent: "bash".into(), keys }).unwrap();
    wait_for("what the bytes do by themselves", || world.path("control").exists());
}

#[test]
fn a_prompt_right_after_the_start_waits_until_the_agent_is_up() {
    let composers = Composers::prepare(&["one"], &["slow"], "");
    let world = &composers.world;
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "Loading");
    let receipt = composers.dispatch(PROMPT);
    assert_eq!(receipt.state, Stage::Queued, "{receipt:?}");
    assert_eq!(world.agent("one").state, AgentState::Starting);
    composers.let_go("slow");
    assert_eq!(composers.wait(&receipt).code, Some(0));
    assert_eq!(composers.submitted(), [PROMPT]);
}

#[test]
fn a_shell_takes_a_prompt_right_after_its_start() {
    let world = World::new();
    world.write_config("[[team.crew.agents]]\nname = \"one\"\ncli = \"shell\"\n");
    world.trust();
    world.ok(&["up", "crew"]);
    let said = world.run(&["dispatch", "one", "touch made", "--wait", "--timeout", "35", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let told: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let since = told["since"].as_str().unwrap();
    assert!(since.starts_with("20") && since.ends_with('Z'), "{since}");
    wait_for("what it was told", || world.project.join("made").exists());
}

#[test]
fn only_the_dialog_that_was_seen_is_answered() {
    let world = World::new();
    let script = "speed 0\nat start\n  approve \"touch one\" else stop\n  \
                  approve \"touch two\" else stop\n  say \"Both were approved.\"\n";
    fs::write(world.path("agent.sim"), script).unwrap();
    let program =
        serde_json::to_string(&[PROGRAM, "sim", world.path("agent.sim").to_str().unwrap()]);
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[cli.scripted]\nlike = \"sim\"\ncommand = {}\n\
         [[team.crew.agents]]\nname = \"one\"\ncli = \"scripted\"\n",
        program.unwrap()
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    let dialog = |command: &str| {
        let mut found = None;
        wait_for(&format!("the dialog about `{command}`"), || {
            found = world.agent("one").dialog.filter(|dialog| dialog.text.contains(command));
            found.is_some()
        });
        found.unwrap()
    };
    let first = dialog("touch one");
    // Someone else answers it, and the next one takes its place.
    world.ok(&["agent", "keys", "one", "enter"]);
    let second = dialog("touch two");
    assert_ne!(first.id, second.id);
    let answer = ["agent", "answer", "one", "--option", "1", "--dialog"];
    let late = world.run(&[&answer[..], &[&first.id]].concat());
    assert_eq!(late.code, Some(3), "{late:?}");
    assert_eq!(dialog("touch two").id, second.id, "no key was pressed");
    let said = world.run(&[&answer[..], &[&second.id]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    world.wait_for_text("one", "Both were approved.");
}

#[test]
fn a_repeated_key_sends_nothing_more_even_after_the_hub_died() {
    let composers = Composers::start(&["one"], &[]);
    let send = || {
        let arguments = ["dispatch", "one", PROMPT, "--wait", "--idempotency-key", "k1"];
        let receipt = composers.world.json(&arguments);
        serde_json::from_value::<Receipt>(receipt).unwrap()
    };
    let first = send();
    assert_eq!(first.state, Stage::Accepted);
    assert_eq!(send().receipt, first.receipt);
    kill_hub(&composers.world);
    assert_eq!(send().receipt, first.receipt);
    assert_eq!(composers.submitted(), [PROMPT]);
}

#[test]
fn prompts_wait_in_turn_while_the_agent_works_and_can_be_taken_back() {
    let composers = Composers::start(&["one"], &["works"]);
    let world = &composers.world;
    let all = ["first", "second", "third"].map(|prompt| composers.dispatch(prompt));
    assert!(all.iter().all(|receipt| receipt.state == Stage::Queued), "{all:?}");
    assert_eq!(world.agent("one").queued, 3);
    let late = world.run(&["wait", "--receipt", &all[0].receipt.to_string(), "--timeout", "1"]);
    assert_eq!(late.code, Some(5), "{late:?}");
    let second = all[1].receipt.to_string();
    world.ok(&["withdraw", &second]);
    assert_eq!(composers.wait(&all[1]).code, Some(3));
    composers.let_go("works");
    for receipt in [&all[0], &all[2]] {
        assert_eq!(composers.wait(receipt).code, Some(0), "{:?}", composers.latest());
    }
    assert_eq!(composers.submitted(), ["first", "third"]);
    let late = world.run(&["withdraw", &all[0].receipt.to_string()]);
    assert_eq!(late.code, Some(1), "{late:?}");
    assert!(late.err.contains("hint: "), "{late:?}");
}

#[test]
fn a_prompt_that_is_never_shown_is_told_as_such() {
    let composers = Composers::start(&["one"], &["mute"]);
    let said = composers.world.run(&["dispatch", "one", PROMPT, "--wait", "--timeout", "35"]);
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.out.contains("typed and not submitted"), "{said:?}");
    assert!(composers.submitted().is_empty());
}

#[test]
fn a_broadcast_reaches_everyone_or_those_who_are_named() {
    let composers = Composers::start(&["one", "two"], &[]);
    let world = &composers.world;
    let receipts = world.json(&["broadcast", "to all", "--wait"]);
    assert_eq!(receipts.as_array().unwrap().len(), 2, "{receipts}");
    world.ok(&["broadcast", "to two", "--to", "two", "--wait"]);
    assert_eq!(composers.submitted(), ["to all"]);
    assert_eq!(composers.submitted_to("two"), ["to all", "to two"]);
}

#[test]
fn a_person_who_types_is_not_typed_over() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    wait_for("an idle agent", || world.agent("one").state == AgentState::Idle);
    let keys = vec![KeyInput::Text("my own words".into())];
    world.connect().unwrap().ask(Request::Keys { agent: "one".into(), keys }).unwrap();
    let receipt = composers.dispatch(PROMPT);
    assert_eq!(receipt.state, Stage::Queued);
    world.wait_for_text("one", "my own words");
    // Longer than anyone pauses: what stands there is still the person's.
    let held = |receipt: Receipt| receipt.reason.is_some_and(|why| why.contains("my own words"));
    wait_for("the prompt is held", || composers.latest().is_some_and(held));
    assert!(composers.submitted().is_empty());
    world.ok(&["agent", "keys", "one", "enter"]);
    assert_eq!(composers.wait(&receipt).code, Some(0), "{:?}", composers.latest());
    assert_eq!(composers.submitted(), ["my own words", PROMPT]);
}
