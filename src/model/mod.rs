//! The nouns: plain data that every other room may name.
//!
//! Nothing here acts, and nothing here reads the outside world. A word has one meaning in the
//! whole program; `docs/architecture.md` lists them.

mod agent;
mod attempt;
mod attention;
mod command;
mod deceptive;
mod diff;
mod environment;
mod exit;
mod findings;
mod gate;
mod glob;
mod hooks;
mod ids;
mod journal;
mod key;
mod kit;
mod launch;
mod lock;
mod manifest;
mod member;
mod merge;
mod moment;
mod mouse;
mod need;
mod plain;
mod play;
mod posting;
mod process;
mod reach;
mod receipt;
mod request_key;
mod row;
mod rules_fit;
mod runner;
mod size;
mod spawn;
mod subject;
mod task;
mod token;
mod trespass;
mod workspace;

pub use agent::{AgentState, Reset, Role, Source};
pub use attempt::{Artifact, Attempt, Checks, Claim, FailedGate, GateResult, Hold, Outcome, Told};
pub use attention::{Attention, AttentionId, AttentionKind, InvalidAttention, Ruling};
pub use command::{Command, Done, Failure, PlayCommand, Refusal, TaskCommand};
pub use deceptive::{is_deceptive, is_picture_mark, is_unseen};
pub use diff::{Against, DiffChange, DiffFile, DiffLine, FileHunks, Hunk};
pub use environment::Environment;
pub use exit::{Ending, Exit};
pub use findings::{DIRECTORY_MISSING, Findings};
pub use gate::{BadGate, Check, Format, Gate, lies_inside};
pub use glob::overlap;
pub use hooks::{HookEvent, HookFields, HookMeaning, Hooks, Stream};
pub use ids::{AgentName, InvalidName, RequestId, RunId, SessionName};
pub use journal::{Changes, Entry, RowChange};
pub use key::{Key, KeyCode, Modifiers, UnknownKey};
pub use kit::{AS_IT_IS, Kit, KitRules, OWN_SERVER, Tool, ToolKind};
pub use launch::Launch;
pub use lock::{Holder, Lock, LockCommand, Waiter};
pub use manifest::{
    AskRule, BlockKind, BlockRule, DialogKind, Keys, Literal, Manifest, Newlines, Per,
    REGULAR_EXPRESSION, Region, Rule, ScreenShape, Sessions, Submit, TitleRule, Usage,
    optional_regular_expression, regular_expression,
};
pub use member::{Added, Contact, Member, Opening};
pub use merge::{Merge, MergeFile, MergeForm, MergeId, MergeOutcome, MergeState, MergeTerms};
pub use moment::Moment;
pub use mouse::{Mouse, MouseButton, MouseKind};
pub use need::{Contract, Edge, InvalidNeed, Need, NeedId, NeedState};
pub use plain::{bare, plain, plain_json};
pub use play::{
    Cast, InvalidPlay, LockTerms, Pattern, Play, PlayId, PlayOrder, PlayStage, PlayState, Player,
    Troop,
};
pub use posting::{Posting, WorkspaceChoice};
pub use process::{ProcessId, ProcessInfo};
pub use reach::{Named, Reach};
pub use receipt::{Condition, InvalidReceipt, Letter, Manner, Receipt, ReceiptId, Stage};
pub use request_key::{InvalidKey, Keyed, RequestKey};
pub use row::{Color, Row, Run, Style};
pub use rules_fit::RulesFit;
pub use runner::{Confinement, ContainerEngine, Limits, Place, Runner, Sandbox};
pub use size::Size;
pub use spawn::SpawnTerms;
pub use subject::{Question, Subject};
pub use task::{
    Context, InvalidTask, OnFailure, TAG_PLACE, Task, TaskId, TaskSpec, TaskState, Terms,
};
pub use token::Token;
pub use trespass::{FileChange, Touched, Trespass};
pub use workspace::{
    Clearing, Made, Outpost, Plot, Workspace, WorkspaceCommand, WorkspaceKind, WorkspaceState,
};
