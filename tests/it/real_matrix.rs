//! One version of one real agent CLI at one width of the terminal, part by part, with a score.
//!
//! `.ci/real-agents --matrix` runs these tests and makes a table of what they print. The prompts are made anew from a seed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::SystemTime;

use rustix::process::Signal;
use wheelhouse::model::AgentState;

use super::support::chance::Chance;
use super::support::process;
use super::support::real_agent::{RealAgent, search_path};
use super::support::real_cli::{ALL, Cli};

/// What a prompt may begin with that a program could take for something else, and what it may end in.
const BEGINNINGS: [&str; 10] =
    ["", "/etc/hosts ", "!ls ", "#12 ", "@home ", "? ", "/help ", "- ", "> ", "'\"`$HOME "];
const ENDS: [&str; 6] = ["", " @mention", " #7", " ok?", " \\", " /usr/bin"];
const WORDS: [&str; 14] = [
    "Build",
    "the",
    "parser",
    "für",
    "日本語",
    "„äöü“",
    "🙂",
    "a\tb",
    "[link](x)",
    "`code`",
    "--flag",
    "x=1;",
    "C:\\dir",
    "<b>",
];
const PROMPTS: usize = 6;

type Part = fn(&RealAgent, &mut Chance);

/// Named by `WHEELHOUSE_CLI`, at `WHEELHOUSE_WIDTH` columns, from `WHEELHOUSE_SEED`, with the settings in the file
/// `WHEELHOUSE_SETTINGS` on top.
#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents --matrix`"]
fn matrix_of_one() {
    let name = std::env::var("WHEELHOUSE_CLI").unwrap();
    let cli = ALL.iter().find(|cli| cli.name == name).unwrap();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let width = number("WHEELHOUSE_WIDTH").unwrap_or(120);
    let clock = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() % 1_000_000;
    let seed = number("WHEELHOUSE_SEED").unwrap_or_else(clock);
    println!("{name}: {width} columns, seed {seed}");
    let only = std::env::var("WHEELHOUSE_PART").ok();
    let is_wanted = |(part, _): &(&str, Part)| only.as_ref().is_none_or(|only| only == part);
    let parts: Vec<_> = parts(cli).into_iter().filter(is_wanted).collect();
    let mut chance = Chance::new(seed);
    let (mut agent, mut failed) = (None, Vec::new());
    for (part, run) in &parts {
        // Whoever failed may be in any state: the next part begins with another.
        let held = agent.take();
        let went = catch_unwind(AssertUnwindSafe(|| {
            let held = held.unwrap_or_else(|| start(cli, width));
            run(&held, &mut chance);
            held
        }));
        println!("{name}: {part} {}", if went.is_ok() { "ok" } else { "FAILED" });
        match went {
            Ok(held) => agent = Some(held),
            // One that does not come up will not do so for the next part.
            Err(_) if *part == "brief" => {
                failed.extend(parts.iter().map(|(part, _)| *part));
                break;
            }
            Err(_) => failed.push(*part),
        }
    }
    let score = format!("{}/{}", parts.len() - failed.len(), parts.len());
    println!("score {name} {width} {seed} {score} {}", failed.join(","));
    assert!(failed.is_empty(), "{failed:?}");
}

fn start(cli: &'static Cli, width: u64) -> RealAgent {
    let more = std::env::var("WHEELHOUSE_SETTINGS").map(|file| fs::read_to_string(file).unwrap());
    let more = more.unwrap_or_default();
    let settings = format!("[pane]\nmin_cols = {width}\nmin_rows = 30\n{more}");
    let prompt = "Brief: be ready. [[sleep:1]][[status:DONE — ready]]";
    // An older version refuses to start with a word that it does not know.
    let help = Command::new(cli.program).arg("--help").env("PATH", search_path(cli)).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let is_known = |word: &&&str| **word != "--no-daemon" || help.contains(**word);
    let arguments: Vec<&str> = cli.arguments.iter().filter(is_known).copied().collect();
    let agent = RealAgent::start_with(cli, &arguments, None, prompt, &settings).at_a_trot();
    agent.wait_for_report(AgentState::Done, "— ready");
    agent.assert_once("Brief");
    agent
}

fn parts(cli: &Cli) -> Vec<(&'static str, Part)> {
    let mut parts: Vec<(&str, Part)> = vec![("brief", |_, _| ()), ("lines", tell_lines)];
    parts.extend([("words", tell_words as Part); PROMPTS]);
    parts.push(("long", tell_much));
    if cli.grants.is_some() {
        parts.extend([("approve", approve as Part), ("deny", deny), ("queue", queue)]);
    }
    if cli.chooses {
        parts.push(("choose", choose));
    }
    parts.extend([("fail", fail as Part), ("interrupt", interrupt), ("resume", resume)]);
    parts
}

/// Returns a word that no other prompt has.
fn mark(chance: &mut Chance) -> String {
    format!("m{:06x}", chance.below(1 << 24))
}

fn tell_lines(agent: &RealAgent, chance: &mut Chance) {
    let mark = mark(chance);
    let prompt = format!(
        "Lines {mark}:\n\n  - one „äöü“\n    - two\n\nand [[sleep:1]][[status:DONE — {mark}]]"
    );
    tell(agent, &prompt, &mark);
}

/// Tells it words with a beginning and an end that a program could take for something else.
fn tell_words(agent: &RealAgent, chance: &mut Chance) {
    let pick = |from: &[&'static str], chance: &mut Chance| {
        from[usize::try_from(chance.below(from.len() as u64)).unwrap()]
    };
    let (begin, end) = (pick(&BEGINNINGS, chance), pick(&ENDS, chance));
    let count = 1 + chance.below(12);
    let words: Vec<_> = (0..count).map(|_| pick(&WORDS, chance)).collect();
    let mark = mark(chance);
    let prompt =
        format!("{begin}{mark} {} [[sleep:1]][[status:DONE — {mark}]]{end}", words.join(" "));
    tell(agent, &prompt, &mark);
}

fn tell_much(agent: &RealAgent, chance: &mut Chance) {
    let mark = mark(chance);
    let line = |number| format!("{number:03} „quoted“ {}\n", "x".repeat(50));
    let lines: String = (0..80 + chance.below(60)).map(line).collect();
    tell(agent, &format!("Much {mark}:\n{lines}[[sleep:1]][[status:DONE — {mark}]]"), &mark);
}

/// Hands over a prompt: it reaches the model as it was written and once, or is refused with the reason.
fn tell(agent: &RealAgent, prompt: &str, mark: &str) {
    println!("prompt: {:?}", prompt.chars().take(200).collect::<String>());
    let receipt = agent.dispatch(prompt);
    if let Some(reason) = agent.wait_until_taken_or_refused(&receipt) {
        println!("refused: {reason}");
        assert!(reason.contains("the program"), "{reason}");
        assert_eq!(agent.model.turns(mark), 0, "nothing of it was sent");
        return;
    }
    agent.wait_for_report(AgentState::Done, mark);
    agent.assert_once(mark);
    assert!(agent.model.got_words(prompt), "as it was written");
}

fn approve(agent: &RealAgent, chance: &mut Chance) {
    let mark = mark(chance);
    agent.say(&format!("Run {mark}. [[bash:touch {mark}]][[sleep:1]][[status:DONE — {mark}]]"));
    agent.wait_for_state(AgentState::Waiting);
    assert!(!agent.file(&mark).exists());
    agent.decide(true);
    agent.wait_for("the approved command ran", || agent.file(&mark).exists());
    agent.wait_for_report(AgentState::Done, &mark);
}

fn deny(agent: &RealAgent, chance: &mut Chance) {
    let mark = mark(chance);
    agent.say(&format!("Deny {mark}. [[bash:touch {mark}]][[sleep:1]][[say:Well.]]"));
    agent.decide(false);
    agent.wait_for("its turn is over", || is_free(agent.status().state));
    assert!(!agent.file(&mark).exists());
}

/// A prompt that comes while a dialog is open is typed once that is gone.
fn queue(agent: &RealAgent, chance: &mut Chance) {
    let (first, second) = (mark(chance), mark(chance));
    agent.say(&format!("Run {first}. [[bash:touch {first}]][[sleep:1]][[say:Ran.]]"));
    agent.wait_for_state(AgentState::Waiting);
    let receipt = agent.dispatch(&format!("Then {second}. [[sleep:1]][[status:DONE — {second}]]"));
    assert_eq!(agent.status().state, AgentState::Waiting, "the dialog is still there");
    assert!(!agent.file(&first).exists() && agent.model.turns(&second) == 0);
    agent.decide(true);
    agent.wait_until_taken(&receipt);
    agent.wait_for_report(AgentState::Done, &second);
    assert!(agent.file(&first).exists());
    agent.assert_once(&second);
}

fn choose(agent: &RealAgent, chance: &mut Chance) {
    let mark = mark(chance);
    agent.say(&format!(
        "Ask {mark}. [[ask:Which colour?|Blue|Red{mark}]][[sleep:1]][[status:DONE — {mark}]]"
    ));
    agent.answer(&format!("Red{mark}"));
    agent.wait_for_report(AgentState::Done, &mark);
    assert!(agent.model.got(&format!("Red{mark}")), "it was chosen");
}

fn fail(agent: &RealAgent, chance: &mut Chance) {
    let (first, second) = (mark(chance), mark(chance));
    agent.say(&format!("Fail {first}. [[error:400]]"));
    agent.wait_for_state(AgentState::Error);
    tell(agent, &format!("Go on {second}. [[sleep:1]][[status:DONE — {second}]]"), &second);
}

fn interrupt(agent: &RealAgent, chance: &mut Chance) {
    let (first, second) = (mark(chance), mark(chance));
    agent.say(&format!("Think {first}. [[sleep:120]][[status:DONE — {first}]]"));
    agent.wait_for_state(AgentState::Working);
    agent.interrupt();
    agent.wait_for("it rests", || is_free(agent.status().state));
    tell(agent, &format!("Go on {second}. [[sleep:1]][[status:DONE — {second}]]"), &second);
}

fn resume(agent: &RealAgent, chance: &mut Chance) {
    let (first, second) = (mark(chance), mark(chance));
    tell(agent, &format!("Know {first}. [[sleep:1]][[status:DONE — {first}]]"), &first);
    process::kill(agent.status().pid.unwrap(), Signal::KILL);
    agent.wait_for_state(AgentState::Exited);
    agent.world.ok(&["agent", "resume", "real"]);
    agent.answer_first_dialogs_again();
    agent.wait_for("it has come up again", || is_free(agent.status().state));
    tell(agent, &format!("Go on {second}. [[sleep:1]][[status:DONE — {second}]]"), &second);
    assert!(agent.model.got_together(&[&first, &second]), "one conversation");
}

fn is_free(state: AgentState) -> bool {
    matches!(state, AgentState::Idle | AgentState::Blocked | AgentState::Done | AgentState::Error)
}
