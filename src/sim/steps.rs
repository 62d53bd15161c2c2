//! Reads one step of a script: its name and the words after it.

use super::script::{Act, Approval, ApprovalKind, Condition, Flood, Report, Rude, Signal, Step};
use super::words::{Fault, ScriptError, Words, unknown};

/// A flood is for trying out bounds, not for filling a disk with its recording.
pub(super) const FLOOD_BYTES_MAX: u64 = 256 << 20;
/// Enough to be noticed by whoever watches, too little to hurt the machine.
pub(super) const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// What a dialog can show, and a digit can choose.
const OPTIONS_MAX: usize = 9;

/// The names of all steps.
pub(super) const NAMES: &[&str] = &[
    "append", "approve", "artifact", "ask", "await", "build", "commit", "contract", "detach",
    "die", "error", "exit", "flood", "hang", "idle", "if", "ignore", "limit", "loop", "memory",
    "need", "pick", "progress", "raw", "repaint", "repeat", "replace", "run", "say", "status",
    "stop", "think", "tick", "todo", "tool", "wait", "write",
];

/// A step as far as its own line tells it.
pub(super) enum Shape {
    Whole(Step),
    /// The lines below are a text.
    Texted(Box<dyn FnOnce(String) -> Step>),
    /// The lines below are steps to repeat; without a number, for ever.
    Repeated(Option<u32>),
    /// The lines below are steps for when it holds.
    Conditional(Condition),
}

pub(super) fn run(command: &str) -> Step {
    Step::Act(Act::Run(command.trim().to_owned()))
}

/// Reads a step from its line.
pub(super) fn shape(words: &mut Words) -> Result<Shape, ScriptError> {
    let step = match words.step() {
        "write" => {
            let path = words.text("a path")?;
            return Ok(texted(move |text| Step::Act(Act::Write { path, text })));
        }
        "append" => {
            let path = words.text("a path")?;
            return Ok(texted(move |text| Step::Act(Act::Append { path, text })));
        }
        "contract" => {
            let title = words.text("a title")?;
            return Ok(texted(move |body| Step::Report(Report::Contract { title, body })));
        }
        "repeat" => return Ok(Shape::Repeated(Some(words.number("a number of times", "3")?))),
        "loop" => return Ok(Shape::Repeated(None)),
        "if" => return Ok(Shape::Conditional(condition(words)?)),
        "else" => {
            let (word, place) = ("else".to_owned(), "without an `if`");
            let instead = "Write it right after the block of an `if`, at the same indentation";
            return Err(words.error(Fault::Place { word, place, instead }));
        }
        "status" | "progress" | "build" | "need" | "artifact" => Step::Report(report(words)?),
        "ignore" | "detach" | "repaint" | "flood" | "die" | "hang" | "memory" | "raw" => {
            Step::Rude(rude(words)?)
        }
        _ => plain(words)?,
    };
    Ok(Shape::Whole(step))
}

fn texted(finish: impl FnOnce(String) -> Step + 'static) -> Shape {
    Shape::Texted(Box::new(finish))
}

fn plain(words: &mut Words) -> Result<Step, ScriptError> {
    Ok(match words.step() {
        "think" => Step::Think { time: words.time()?, verb: words.optional() },
        "say" => Step::Say(words.text("a text")?),
        "tool" => {
            let title = words.text("a title")?;
            let time = words.time()?;
            Step::Tool { title, time, output: words.texts("a line of output")? }
        }
        "run" => Step::Act(Act::Run(words.text("a command")?)),
        "await" => Step::Act(Act::Await { path: words.text("a path")?, time: words.time()? }),
        "replace" => Step::Act(Act::Replace {
            path: words.text("a path")?,
            old: words.text("the old text")?,
            new: words.text("the new text")?,
        }),
        "commit" => Step::Act(Act::Commit {
            message: words.text("a message")?,
            paths: words.texts("the paths to commit")?,
        }),
        "approve" => Step::Approve(approval(words)?),
        "ask" => {
            let question = words.text("a question")?;
            let options = words.texts("an option")?;
            if options.len() > OPTIONS_MAX {
                let word = options[OPTIONS_MAX].clone();
                return Err(words.error(Fault::Extra { step: "ask".into(), word }));
            }
            Step::Ask { question, options }
        }
        "todo" => Step::Todo(words.texts("an item")?),
        "tick" => Step::Tick(words.number("the number of an item", "1")?),
        "limit" => Step::Limit(words.text("the time of the reset")?),
        "error" => Step::Error(words.text("a text")?),
        "wait" => Step::Wait(words.time()?),
        "idle" => Step::Idle(words.time()?),
        "pick" => {
            let name = words.text("a name")?;
            Step::Pick { name, choices: words.texts("a choice")? }
        }
        "stop" => Step::Stop,
        "exit" => Step::Exit(words.number("an exit code", "1")?),
        word => return Err(words.error(unknown(word.to_owned(), "a step", NAMES))),
    })
}

fn report(words: &mut Words) -> Result<Report, ScriptError> {
    Ok(match words.step() {
        "status" => {
            let states = [("done", "DONE"), ("blocked", "BLOCKED"), ("error", "ERROR")];
            Report::Status { word: words.choice("a status", &states)?, text: words.text("a text")? }
        }
        "progress" => {
            let step = words.text("a step such as 1/3")?;
            let is_step = step
                .split_once('/')
                .is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok());
            if !is_step {
                let (what, example) = ("a step of a whole", "1/3");
                return Err(words.error(Fault::Invalid { word: step, what, example }));
            }
            Report::Progress { step, text: words.text("a text")? }
        }
        "build" => {
            let has_failed = words.choice("a result", &[("pass", false), ("fail", true)])?;
            Report::Build { failure: has_failed.then(|| words.text("an error")).transpose()? }
        }
        "need" => Report::Need {
            thing: words.text("a thing")?,
            from: words.takes("from").then(|| words.text("an agent")).transpose()?,
            why: words.text("a reason")?,
        },
        _ => Report::Artifact { path: words.text("a path")?, kind: words.text("a kind")? },
    })
}

fn approval(words: &mut Words) -> Result<Approval, ScriptError> {
    let kind = if words.takes("edit") {
        ApprovalKind::Edit
    } else if words.takes("create") {
        ApprovalKind::Create
    } else {
        ApprovalKind::Command
    };
    let subject = words.text("a command or a path")?;
    let reason = words.takes("because").then(|| words.text("a reason")).transpose()?;
    let stops = words.takes("else");
    if stops {
        words.choice("what follows a No", &[("stop", ())])?;
    }
    Ok(Approval { kind, subject, reason, stops })
}

fn condition(words: &mut Words) -> Result<Condition, ScriptError> {
    type Rest = fn(&mut Words) -> Result<Condition, ScriptError>;
    let kinds: [(&'static str, Rest); 5] = [
        ("answer", |words| Ok(Condition::Answer(words.text("a number or an option")?))),
        ("prompt", |words| {
            words.choice("a test of the prompt", &[("contains", ())])?;
            Ok(Condition::PromptContains(words.text("a text")?))
        }),
        ("passed", |_| Ok(Condition::Passed(true))),
        ("failed", |_| Ok(Condition::Passed(false))),
        ("chance", |words| Ok(Condition::Chance(words.number("a share of a hundred", "30")?))),
    ];
    let rest = words.choice("a condition", &kinds)?;
    rest(words)
}

fn rude(words: &mut Words) -> Result<Rude, ScriptError> {
    Ok(match words.step() {
        "ignore" => {
            let known =
                [("hup", Signal::Hangup), ("int", Signal::Interrupt), ("term", Signal::Terminate)];
            let mut signals = vec![words.choice("a signal", &known)?];
            while !words.is_empty() {
                signals.push(words.choice("a signal", &known)?);
            }
            Rude::Ignore(signals)
        }
        "detach" => {
            Rude::Detach { time: words.time()?, keeps_terminal: words.takes("keep-terminal") }
        }
        "repaint" => Rude::Repaint(words.time()?),
        "flood" => {
            let kinds = [
                ("lines", Flood::Lines),
                ("line", Flood::Line),
                ("osc", Flood::Osc),
                ("marks", Flood::Marks),
                ("bytes", Flood::Bytes),
            ];
            let kind = words.choice("a kind of flood", &kinds)?;
            Rude::Flood { kind, bytes: words.bytes(FLOOD_BYTES_MAX, "an amount up to 256M")? }
        }
        "die" => Rude::Die,
        "hang" => Rude::Hang(words.optional_time()),
        "memory" => Rude::Memory(words.bytes(MEMORY_BYTES_MAX, "an amount up to 1G")?),
        _ => Rude::Raw(words.text("a text")?),
    })
}
