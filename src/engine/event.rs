//! What happened, in the past tense.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::engine::{Dispatch, Plan};
use crate::model::{
    AgentName, AgentState, Checks, Command, Exit, FileChange, Keyed, Made, MergeId, MergeOutcome,
    PlayId, ProcessId, ProcessInfo, Question, ReceiptId, RequestId, Reset, RunId, Source, Stage,
    Task, TaskId, Workspace,
};
use crate::protocol::Report;

/// A fact that the shell reports to the engine.
#[derive(Clone, Debug)]
pub enum Event {
    /// The hub has come up; the number is a random one.
    Began {
        seed: u64,
    },
    Asked {
        request: RequestId,
        command: Command,
        /// The agent that asked; nobody for a person.
        by: Option<AgentName>,
        /// By which it is known if it is asked again.
        key: Option<Keyed>,
    },
    /// A request came that was granted before: its answer was lost.
    AskedAgain {
        request: RequestId,
        by: Option<AgentName>,
        key: Keyed,
    },
    /// The record was asked for what has ended and left memory, for the request that comes next; nothing
    /// is in it once that one has been dealt with.
    LookedUp {
        tasks: Vec<Task>,
        dispatches: Vec<Dispatch>,
    },
    /// The one who asked is gone; what was begun goes on.
    AskerLeft {
        request: RequestId,
    },
    Run {
        agent: AgentName,
        run: RunId,
        event: RunEvent,
    },
    /// The gates of an attempt, counted from one, have run.
    Gates {
        task: TaskId,
        attempt: usize,
        checks: Checks,
    },
    /// The gates of a run's stage have run.
    StageGates {
        play: PlayId,
        stage: usize,
        round: u32,
        checks: Checks,
    },
    /// It is known which files were modified where an attempt works.
    Surveyed {
        task: TaskId,
        attempt: usize,
        files: Vec<String>,
    },
    /// It is known what is in a file that an attempt handed on, if it is there.
    Weighed {
        task: TaskId,
        attempt: usize,
        path: String,
        hash: Option<String>,
    },
    /// It is known which files of a workspace have changed since the last look. Nothing: they could
    /// not be read.
    Looked {
        root: PathBuf,
        changes: Option<Vec<FileChange>>,
    },
    /// What came of an order about a workspace.
    Workspace {
        agent: AgentName,
        event: WorkspaceEvent,
    },
    /// What came of an attempt to bring work back.
    Merged {
        merge: MergeId,
        outcome: MergeOutcome,
    },
    ClientCame,
    ClientLeft,
    /// The deadline that the engine asked for has passed.
    DeadlineReached,
}

/// What a person has the hub do in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonDeed {
    Answer,
    Interrupt,
}

/// What came of an order about a workspace.
#[derive(Clone, Debug)]
pub enum WorkspaceEvent {
    /// It is on the disk, and the record does not know of it.
    Found(Box<Workspace>),
    Made(Made),
    /// Nothing of it is left.
    NotMade {
        reason: String,
    },
    /// It is gone; what was in it is held by this reference, or lies in this directory.
    Cleared {
        rescue: Option<String>,
    },
    Kept {
        reason: String,
    },
    /// The reference that holds what is in it; nothing, if there was no work in it.
    Rescued {
        outcome: Result<Option<String>, String>,
    },
    /// The files that differ, and what is set for the repository; nothing, if it could not be read.
    Compared {
        files: Option<Vec<String>>,
        settings: Option<BTreeMap<String, String>>,
    },
}

/// What happened to one run of one agent.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// Its keeper answered, and the agent's process is alive.
    Seen { keeper: ProcessId, process: ProcessId },
    /// The place where it runs cannot be reached. It may be alive.
    OutOfReach { reason: String },
    /// Nobody is there: its keeper did not come up.
    NeverCame { reason: String },
    /// Its keeper could not start it, and waits to be released.
    StartFailed { reason: String },
    /// What it does, as far as it can be told.
    Did { state: AgentState, source: Source },
    /// The turn that its last prompt asked for is over, though it was never seen at work on it.
    TurnEnded,
    /// When the limit ends that it has just reached; told before its state.
    Resets(Reset),
    /// It was seen to use so many more tokens.
    Used { tokens: u64 },
    /// Its cli has compacted the conversation.
    Compacted,
    /// How it would begin anew, which was asked for.
    Planned { plan: Plan, grace_ms: u64 },
    /// It said something in the protocol.
    Reported(Report),
    /// What it said had more words than were read at first.
    Amended(Report),
    /// Its cli told the id of the conversation.
    Conversed { id: String },
    /// What it shows has changed by more than a spinner.
    Moved,
    /// Files changed where it works; the number stands for all of them.
    Wrote { tree: String },
    /// A person pressed a key in its pane.
    PersonTyped,
    /// It asks permission for something, and that could be read whole.
    AskedLeave(Question),
    /// A dialog stands still that asks nothing which rules could judge.
    AskedPerson,
    /// What became of a yes that rules gave.
    LeaveGiven { fingerprint: String, stage: Stage, reason: Option<String> },
    /// A person had its dialog answered or interrupted it, and this came of it.
    PersonActed(PersonDeed, Stage, Option<String>),
    /// What the delivery of a prompt has come to; `Queued`: it was not a safe moment after all.
    Delivery { receipt: ReceiptId, stage: Stage, reason: Option<String> },
    /// Its process ended by itself, and its tree is proven empty.
    Exited { exit: Exit },
    /// It was stopped as ordered; without survivors its tree is proven empty.
    Stopped { survivors: Vec<ProcessInfo> },
    /// Its keeper is gone: the agent's lock is free.
    KeeperLost,
    /// What a lost keeper may have left behind has been looked for and killed.
    Swept { survivors: Vec<ProcessInfo> },
}
