//! Lists the orders that the shell carries out.

use std::path::PathBuf;

use crate::model::{
    AgentName, Changes, Clearing, Done, Launch, Manner, Merge, PlayId, ReceiptId, Refusal,
    RequestId, RunId, Stage, TaskId, Workspace,
};

/// An order to the shell. The shell carries orders out one after the other and reports each outcome
/// as an `Event`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Puts what has changed on record. It precedes every order that relies on it: write, then
    /// act. While it cannot be written, no `Start`, `Deliver` and `Approve` is carried out.
    Save(Changes),
    Start {
        agent: AgentName,
        run: RunId,
        launch: Launch,
    },
    /// Looks for the keeper of a run that the record says is alive.
    Adopt {
        agent: AgentName,
        run: RunId,
        /// Otherwise its start was on record and may still be under way.
        was_seen: bool,
    },
    Stop {
        agent: AgentName,
        run: RunId,
        grace_ms: u64,
    },
    /// Lets a keeper go whose agent has ended and is on record.
    Release {
        agent: AgentName,
        run: RunId,
    },
    /// Kills whatever carries the mark of a run whose keeper is gone.
    Sweep {
        agent: AgentName,
        run: RunId,
    },
    /// Asks how an agent would begin with a new conversation; `Planned` tells.
    Renew {
        agent: AgentName,
        run: RunId,
    },
    /// Types a prompt into an agent's terminal.
    Deliver {
        agent: AgentName,
        run: RunId,
        receipt: ReceiptId,
        text: String,
        tag: Option<String>,
        manner: Manner,
    },
    /// Finds out what became of a prompt that an earlier hub was typing when it died.
    Inspect {
        agent: AgentName,
        run: RunId,
        receipt: ReceiptId,
        stage: Stage,
        text: String,
    },
    /// Checks the claim of an attempt, counted from one; `Gates` says what came of it.
    RunGates {
        task: TaskId,
        attempt: usize,
        gates: Vec<String>,
        cwd: PathBuf,
    },
    /// Runs the gates of a run's stage; `StageGates` says what came of it.
    RunStageGates {
        play: PlayId,
        stage: usize,
        round: u32,
        gates: Vec<String>,
        cwd: PathBuf,
    },
    /// Finds out which files were modified where an attempt works; `ModifiedListed` tells.
    ListModified {
        task: TaskId,
        attempt: usize,
        cwd: PathBuf,
    },
    /// Answers one dialog, and no other, with the option that says yes to it, once.
    Approve {
        agent: AgentName,
        run: RunId,
        fingerprint: String,
        yes: usize,
    },
    /// Takes the hash of a file that an attempt hands on; `FileHashed` tells.
    HashFile {
        task: TaskId,
        attempt: usize,
        path: String,
        cwd: PathBuf,
    },
    /// Finds out which files of a workspace are others than at the last scan; `Scanned` tells.
    Scan {
        root: PathBuf,
    },
    /// Presses the keys that end the agent's turn.
    Interrupt {
        agent: AgentName,
        run: RunId,
    },
    /// About a workspace; `Workspace` and `Merged` tell what came of it.
    Workspace(WorkspaceOrder),
    Answer {
        request: RequestId,
        outcome: Result<Done, Refusal>,
    },
    EndHub,
}

/// What to do about a workspace, as it is on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceOrder {
    Make(Box<Workspace>),
    /// Removes it, unless there is a reason to keep it.
    Clear(Box<Workspace>, Clearing),
    /// Puts what is in it into a rescue ref.
    Rescue(Box<Workspace>),
    /// Finds out what differs from what it began with.
    Compare(Box<Workspace>),
    /// Brings its work back.
    Merge(Box<Merge>, Box<Workspace>),
}

impl WorkspaceOrder {
    /// Returns the workspace that it is about.
    pub fn workspace(&self) -> &Workspace {
        match self {
            Self::Make(workspace)
            | Self::Clear(workspace, _)
            | Self::Rescue(workspace)
            | Self::Compare(workspace)
            | Self::Merge(_, workspace) => workspace,
        }
    }
}
