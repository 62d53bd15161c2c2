//! What crosses the hub's socket: requests, responses, notices, and how they are framed.
//!
//! One frame is a length (four bytes, big-endian) and that many bytes of JSON. The first frame of
//! each side says which version of the protocol it speaks. Pure: the bytes are carried by others.

mod diff;
mod feed;
mod frame;
mod hub_process;
mod identity;
mod interrupted;
mod named;
mod notice;
mod published;
mod reading;
mod repeat;
mod request;
mod response;
mod rights;
mod run;
mod schema;
mod task;
mod workspace;

pub use diff::{DiffStatus, HunkStatus};
pub use feed::FeedLine;
pub use frame::{FRAME_BYTES_MAX, FrameError, FrameReader, encode_frame};
pub use hub_process::{BUSY, READY, hub_argv};
pub use identity::Identity;
pub use interrupted::Interrupted;
pub use notice::{Alert, MouseWish, Notice, PaneView, ViewCursor};
pub use published::{ContractStatus, EventStatus};
pub use request::{Ask, DialogChoice, KeyInput, NewAgent, Request, WantedPosting};
pub use response::{
    AgentOffer, AgentStatus, CliOffer, DialogStatus, Explanation, Fault, FromHub, HubStatus,
    Reception, Response, Status, TeamOffer, Testimony,
};
pub use rights::{RequestKind, Right, Speaker, rights_table};
pub use run::{LockRequest, LockStatus, RunRequest, RunStatus};
pub use schema::SCHEMA;
pub use task::{AttentionStatus, TaskRequest, TaskStatus};
pub use workspace::{MergeStatus, OverlapStatus, RescueStatus, WorkspaceRequest, WorkspaceStatus};

/// Changes whenever a frame of an older version can no longer be understood.
pub const PROTOCOL: u32 = 1;
