//! Which requests only read.

use super::{LockRequest, Request, RunRequest, TaskRequest, WorkspaceRequest};

impl Request {
    /// Says whether it only reads what there is: nobody starts a hub for it.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Status
            | Self::Me
            | Self::Read { .. }
            | Self::History { .. }
            | Self::Screen { .. }
            | Self::Explain { .. }
            | Self::Tree { .. }
            | Self::FlushCast { .. }
            | Self::Contracts { .. }
            | Self::Events { .. }
            | Self::Diff { .. } => true,
            Self::Task { ask } => matches!(
                ask,
                TaskRequest::List
                    | TaskRequest::Ended { .. }
                    | TaskRequest::Show { .. }
                    | TaskRequest::Attention
            ),
            Self::Run { ask } => matches!(ask, RunRequest::List),
            Self::Lock { ask } => matches!(ask, LockRequest::List),
            Self::Workspace { ask } => {
                matches!(ask, WorkspaceRequest::List | WorkspaceRequest::Rescues)
            }
            // It tells what teams and CLIs there are, and is there for what is chosen.
            Self::Teams { .. }
            | Self::Clis { .. }
            | Self::Hello { .. }
            | Self::Report { .. }
            | Self::Hook { .. }
            | Self::Up { .. }
            | Self::Start { .. }
            | Self::Stop { .. }
            | Self::Restart { .. }
            | Self::Resume { .. }
            | Self::Add { .. }
            | Self::Forget { .. }
            | Self::Down { .. }
            | Self::AwaitAgent { .. }
            | Self::Dispatch { .. }
            | Self::DispatchTemplate { .. }
            | Self::Withdraw { .. }
            | Self::AwaitReceipts { .. }
            | Self::Interrupt { .. }
            | Self::Answer { .. }
            | Self::Keys { .. }
            | Self::Resize { .. }
            | Self::Watch { .. }
            | Self::Subscribe
            | Self::Reload => false,
        }
    }
}
