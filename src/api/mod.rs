//! What crosses the hub's socket: requests, responses, notices, and how they are framed.
//!
//! One frame is a length (four bytes, big-endian) and that many bytes of JSON. The first frame of
//! each side says which version of the protocol it speaks. Pure: the bytes are carried by others.

mod declare;
mod diff;
mod feed;
mod frame;
mod hub_process;
mod identity;
mod input;
mod interrupted;
mod named;
mod new_agent;
mod notice;
mod published;
mod request;
mod response;
mod rights;
mod run;
mod schema;
mod task;
mod workspace;

pub use declare::{Change, Right, Speaker};
pub use diff::{DiffStatus, HunkStatus};
pub use feed::FeedLine;
pub use frame::{FRAME_BYTES_MAX, FrameError, FrameReader, encode_frame};
pub use hub_process::{BUSY, READY, hub_argv};
pub use identity::Identity;
pub use input::{DialogChoice, KeyInput};
pub use interrupted::Interrupted;
pub use new_agent::{NewAgent, WantedPosting};
pub use notice::{Alert, MouseWish, Notice, PaneView, ViewCursor};
pub use published::{ContractStatus, EventStatus};
pub use request::{
    Ask, LockRequest, Request, RequestKind, RunRequest, TaskRequest, WorkspaceRequest,
};
pub use response::{
    AgentOffer, AgentStatus, CliOffer, DialogStatus, Explanation, Fault, FromHub, HubStatus,
    Reception, Response, Status, TeamOffer, Testimony,
};
pub use rights::rights_table;
pub use run::{LockStatus, RunStatus};
pub use schema::SCHEMA;
pub use task::{AttentionStatus, TaskStatus};
pub use workspace::{MergeStatus, OverlapStatus, RescueStatus, WorkspaceStatus};

/// Changes whenever a frame of an older version can no longer be understood.
pub const PROTOCOL: u32 = 1;
