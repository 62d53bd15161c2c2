//! A script as data: what the agent does, and in what order.

use std::rc::Rc;
use std::time::Duration;

/// Everything that a script says.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub settings: Settings,
    /// What happens without any prompt.
    pub start: Steps,
    /// What happens after a prompt; the first that fits.
    pub reactions: Vec<Reaction>,
}

impl Script {
    /// Makes the first prompt set off what would otherwise happen by itself.
    #[must_use]
    pub(super) fn started_by_prompt(mut self) -> Self {
        let steps = std::mem::replace(&mut self.start, Steps::from([]));
        if !steps.is_empty() {
            self.reactions.insert(0, Reaction { is_once: true, containing: None, steps });
        }
        self
    }
}

/// What holds for the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How much faster than the script's times; 0 never waits.
    pub speed: f64,
    pub seed: u64,
    pub title: Option<String>,
    /// Reports the state of the turn by OSC 7501.
    pub reports_state: bool,
    /// Takes an Enter that follows a paste too soon for a new line.
    pub fears_pastes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { speed: 1.0, seed: 7, title: None, reports_state: false, fears_pastes: false }
    }
}

/// What follows a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// For one prompt only, and then never again.
    pub is_once: bool,
    /// Only for prompts with this text in them, in any case.
    pub containing: Option<String>,
    pub steps: Steps,
}

/// Steps that run one after the other; shared, because a loop runs them again.
pub(super) type Steps = Rc<[Step]>;

/// One line of a script, with the block below it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Think { time: Duration, verb: Option<String> },
    Say(String),
    Report(Report),
    Tool { title: String, time: Duration, output: Vec<String> },
    Act(Act),
    Approve(Approval),
    Ask { question: String, options: Vec<String> },
    Todo(Vec<String>),
    Tick(usize),
    Limit(String),
    Error(String),
    Wait(Duration),
    Idle(Duration),
    Repeat { times: Option<u32>, steps: Steps },
    If { condition: Condition, then: Steps, otherwise: Steps },
    Pick { name: String, choices: Vec<String> },
    Stop,
    Exit(u8),
    Rude(Rude),
}

/// A line of the protocol that workers report in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Status { word: &'static str, text: String },
    Progress { step: String, text: String },
    Build { failure: Option<String> },
    Need { thing: String, from: Option<String>, why: String },
    Contract { title: String, body: String },
    Artifact { path: String, kind: String },
}

/// Something real that is done in the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Run(String),
    /// Reads a file as soon as it is there; gives up after the time.
    Await {
        path: String,
        time: Duration,
    },
    Write {
        path: String,
        text: String,
    },
    Append {
        path: String,
        text: String,
    },
    Replace {
        path: String,
        old: String,
        new: String,
    },
    Commit {
        message: String,
        paths: Vec<String>,
    },
}

/// A dialog that asks for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub kind: ApprovalKind,
    pub subject: String,
    pub reason: Option<String>,
    /// Whether a No ends the turn.
    pub stops: bool,
}

/// What permission is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalKind {
    Command,
    Create,
    Edit,
}

/// What an `if` looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The number of the option that was chosen last, or the option's text.
    Answer(String),
    PromptContains(String),
    /// Whether the last real act succeeded.
    Passed(bool),
    /// In so many cases of a hundred.
    Chance(u8),
}

/// Bad manners, on order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rude {
    Ignore(Vec<Signal>),
    Detach {
        time: Duration,
        keeps_terminal: bool,
    },
    Repaint(Duration),
    Flood {
        kind: Flood,
        bytes: u64,
    },
    Die,
    /// Without a time: for good.
    Hang(Option<Duration>),
    Memory(u64),
    Raw(String),
}

/// A signal that asks a program to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Hangup,
    Interrupt,
    Terminate,
}

/// What a flood is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flood {
    /// Numbered lines.
    Lines,
    /// One line that never ends.
    Line,
    /// A control string that is opened and closed only at the very end.
    Osc,
    /// One letter with combining marks on it.
    Marks,
    /// Bytes without any sense.
    Bytes,
}
