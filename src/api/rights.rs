//! Who may ask what: the one table of it.
//!
//! A row is a request, a column a speaker, a cell how far the speaker's say goes. What a request
//! names is in `named`; whom an agent reaches is the engine's to say. `docs/security.md` shows the
//! same table, and a test holds the two together.

use std::fmt;

use super::{LockRequest, Request, RunRequest, TaskRequest, WorkspaceRequest};
use crate::model::Reach::{self, All, Led, Never, Own, Started, Team};
use crate::model::Role;

/// Who speaks on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Someone with no token: a person, or what a person started.
    Person,
    /// An agent, by its token.
    Agent(Role),
}

impl Speaker {
    pub const ALL: [Self; 5] = [
        Self::Person,
        Self::Agent(Role::Worker),
        Self::Agent(Role::Lead),
        Self::Agent(Role::Orchestrator),
        Self::Agent(Role::Verifier),
    ];
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.pad("person"),
            Self::Agent(role) => role.fmt(f),
        }
    }
}

/// What a request is called, and who may make it about whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    pub request: &'static str,
    /// Completes "… may not".
    pub deed: &'static str,
    /// In the order of `Speaker::ALL`.
    reach: [Reach; 5],
}

impl Right {
    /// Returns how far a speaker's say goes with this request.
    pub fn of(&self, speaker: Speaker) -> Reach {
        let column = Speaker::ALL.iter().position(|one| *one == speaker);
        column.map_or(Never, |column| self.reach[column])
    }
}

macro_rules! rights {
    ($($kind:ident $request:literal $deed:literal
       $person:ident $worker:ident $lead:ident $orchestrator:ident $verifier:ident)*) => {
        /// What kind of request one is. A new kind is a new row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RequestKind { $($kind),* }

        impl RequestKind {
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns who may make such a request.
            pub fn right(self) -> Right {
                match self {
                    $(Self::$kind => Right {
                        request: $request,
                        deed: $deed,
                        reach: [$person, $worker, $lead, $orchestrator, $verifier],
                    }),*
                }
            }
        }
    };
}

rights! {
    // kind          request             may not …                            person worker lead orchestrator verifier
    Hello            "hello"             "greet"                              All   Own   Own     Own     Own
    Me               "me"                "ask who it is"                      All   Own   Own     Own     Own
    Status           "status"            "see the status"                     All   Own   Led     Team    Team
    Report           "report"            "report without a token"             Never Own   Own     Own     Own
    Hook             "hook"              "speak for a hook without a token"   Never Own   Own     Own     Own
    Up               "up"                "start a team"                       All   Never Never   Never   Never
    Start            "start"             "start agents"                       All   Never Led     Team    Never
    Stop             "stop"              "stop agents"                        All   Never Led     Team    Never
    Restart          "restart"           "restart agents"                     All   Never Led     Team    Never
    Resume           "resume"            "resume agents"                      All   Never Led     Team    Never
    Add              "add"               "add agents"                         All   Never Started Started Never
    Forget           "forget"            "remove agents"                      All   Never Started Started Never
    Down             "down"              "stop everything"                    All   Never Never   Never   Never
    Read             "read"              "read a pane"                        All   Own   Led     Team    Team
    History          "history"           "read what has scrolled away"        All   Own   Led     Team    Team
    Screen           "screen"            "read a pane"                        All   Own   Led     Team    Team
    Explain          "explain"           "ask why an agent is shown as it is" All   Own   Led     Team    Team
    AwaitAgent       "await_agent"       "wait for agents"                    All   Own   Led     Team    Team
    Dispatch         "dispatch"          "hand prompts to agents"             All   Never Led     Team    Never
    DispatchTemplate "dispatch_template" "hand prompts to agents"             All   Never Led     Team    Never
    Withdraw         "withdraw"          "take prompts back"                  All   Never Led     Team    Never
    AwaitReceipts    "await_receipts"    "wait for prompts"                   All   Never Led     Team    Never
    Interrupt        "interrupt"         "interrupt agents"                   All   Never Led     Team    Never
    Answer           "answer"            "answer dialogs"                     All   Never Never   Never   Never
    Keys             "keys"              "press keys"                         All   Never Never   Never   Never
    Resize           "resize"            "resize a pane"                      All   Never Never   Never   Never
    Tree             "tree"              "list processes"                     All   Never Never   Never   Never
    FlushCast        "flush_cast"        "ask for recordings"                 All   Never Never   Never   Never
    Watch            "watch"             "watch panes"                        All   Never Never   Never   Never
    Subscribe        "subscribe"         "subscribe to news"                  All   Never Never   Never   Never
    Reload           "reload"            "reload the settings"                All   Never Never   Never   Never
    Teams            "teams"             "list the teams"                     All   Never Never   Never   Never
    Clis             "clis"              "list the clis"                      All   Never Never   Never   Never
    AddTasks         "task.add"          "add tasks"                          All   Own   Led     Team    Never
    ListTasks        "task.list"         "list tasks"                         All   Own   Led     Team    Team
    ShowTask         "task.show"         "look at tasks"                      All   Own   Led     Team    Team
    WaitTask         "task.wait"         "wait for tasks"                     All   Own   Led     Team    Team
    ClaimTask        "task.claim"        "take tasks"                         All   Own   Led     Team    Never
    RetryTask        "task.retry"        "have tasks tried again"             All   Never Led     Team    Never
    CancelTask       "task.cancel"       "cancel tasks"                       All   Never Led     Team    Never
    Attention        "task.attention"    "see what waits for a person"        All   Never Led     Team    Never
    MarkRead         "task.mark_read"    "mark what a person has not read"    All   Never Never   Never   Never
    Resolve          "task.resolve"      "deal with what waits for a person"  All   Never Never   Never   Never
    Consent          "task.consent"      "let agents speak to each other"     All   Never Never   Never   Never
    Allow            "task.allow"        "let files stay that others own"     All   Never Never   Never   Never
    Meet             "task.meet"         "say that a need is met"             All   Never Led     Team    Never
    BeginRun         "run.begin"         "run playbooks"                      All   Never Never   Never   Never
    ResumeRun        "run.resume"        "resume runs"                        All   Never Never   Never   Never
    CancelRun        "run.cancel"        "cancel runs"                        All   Never Never   Never   Never
    ListRuns         "run.list"          "list the runs"                      All   Own   Led     Team    Team
    TakeLock         "lock.take"         "take locks"                         All   Own   Own     Own     Never
    ReleaseLock      "lock.release"      "release locks"                      All   Own   Own     Own     Never
    AwaitLock        "lock.await"        "wait for locks"                     All   Own   Own     Own     Never
    ListLocks        "lock.list"         "list locks"                         All   Own   Own     Own     Own
    Diff             "diff"              "see what agents changed"            All   Own   Led     Team    Team
    ListWorkspaces   "workspace.list"    "list workspaces"                    All   Never Never   Never   Never
    CleanWorkspaces  "workspace.clean"   "remove workspaces"                  All   Never Never   Never   Never
    Rescue           "workspace.rescue"  "rescue workspaces"                  All   Never Never   Never   Never
    ListRescues      "workspace.rescues" "list what was rescued"              All   Never Never   Never   Never
    Restore          "workspace.restore" "bring a rescue back"                All   Never Never   Never   Never
    Merge            "workspace.merge"   "bring work back"                    All   Never Never   Never   Never
    Contracts        "contracts"         "read contracts"                     All   Team  Team    Team    Team
    Events           "events"            "read what happened"                 All   Own   Led     Team    Team
}

impl Request {
    /// Returns which row of the table it is.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Hello { .. } => RequestKind::Hello,
            Self::Me => RequestKind::Me,
            Self::Status => RequestKind::Status,
            Self::Report { .. } => RequestKind::Report,
            Self::Hook { .. } => RequestKind::Hook,
            Self::Up { .. } => RequestKind::Up,
            Self::Start { .. } => RequestKind::Start,
            Self::Stop { .. } => RequestKind::Stop,
            Self::Restart { .. } => RequestKind::Restart,
            Self::Resume { .. } => RequestKind::Resume,
            Self::Forget { .. } => RequestKind::Forget,
            Self::Down { .. } => RequestKind::Down,
            Self::Read { .. } => RequestKind::Read,
            Self::Dispatch { .. } => RequestKind::Dispatch,
            Self::DispatchTemplate { .. } => RequestKind::DispatchTemplate,
            Self::Withdraw { .. } => RequestKind::Withdraw,
            Self::AwaitReceipts { .. } => RequestKind::AwaitReceipts,
            Self::AwaitAgent { .. } => RequestKind::AwaitAgent,
            Self::Answer { .. } => RequestKind::Answer,
            Self::Interrupt { .. } => RequestKind::Interrupt,
            Self::Keys { .. } => RequestKind::Keys,
            Self::Resize { .. } => RequestKind::Resize,
            Self::Explain { .. } => RequestKind::Explain,
            Self::Reload => RequestKind::Reload,
            Self::FlushCast { .. } => RequestKind::FlushCast,
            Self::Tree { .. } => RequestKind::Tree,
            Self::Watch { .. } => RequestKind::Watch,
            Self::Subscribe => RequestKind::Subscribe,
            Self::History { .. } => RequestKind::History,
            Self::Screen { .. } => RequestKind::Screen,
            Self::Teams { .. } => RequestKind::Teams,
            Self::Clis { .. } => RequestKind::Clis,
            Self::Add { .. } => RequestKind::Add,
            Self::Task { ask } => ask.kind(),
            Self::Run { ask } => ask.kind(),
            Self::Lock { ask } => ask.kind(),
            Self::Workspace { ask } => ask.kind(),
            Self::Diff { .. } => RequestKind::Diff,
            Self::Contracts { .. } => RequestKind::Contracts,
            Self::Events { .. } => RequestKind::Events,
        }
    }
}

impl TaskRequest {
    fn kind(&self) -> RequestKind {
        match self {
            Self::Add { .. } => RequestKind::AddTasks,
            Self::List | Self::Ended { .. } => RequestKind::ListTasks,
            Self::Show { .. } => RequestKind::ShowTask,
            Self::Retry { .. } => RequestKind::RetryTask,
            Self::Cancel { .. } => RequestKind::CancelTask,
            Self::Claim { .. } => RequestKind::ClaimTask,
            Self::Wait { .. } => RequestKind::WaitTask,
            Self::Attention => RequestKind::Attention,
            Self::MarkRead { .. } => RequestKind::MarkRead,
            Self::Resolve { .. } => RequestKind::Resolve,
            Self::Consent { .. } => RequestKind::Consent,
            Self::Meet { .. } => RequestKind::Meet,
            Self::Allow { .. } => RequestKind::Allow,
        }
    }
}

impl RunRequest {
    fn kind(&self) -> RequestKind {
        match self {
            Self::Begin { .. } => RequestKind::BeginRun,
            Self::Resume { .. } => RequestKind::ResumeRun,
            Self::Cancel { .. } => RequestKind::CancelRun,
            Self::List => RequestKind::ListRuns,
        }
    }
}

impl WorkspaceRequest {
    fn kind(&self) -> RequestKind {
        match self {
            Self::List => RequestKind::ListWorkspaces,
            Self::Clean { .. } => RequestKind::CleanWorkspaces,
            Self::Rescue { .. } => RequestKind::Rescue,
            Self::Rescues => RequestKind::ListRescues,
            Self::Restore { .. } => RequestKind::Restore,
            Self::Merge { .. } => RequestKind::Merge,
        }
    }
}

impl LockRequest {
    fn kind(&self) -> RequestKind {
        match self {
            Self::Take { .. } => RequestKind::TakeLock,
            Self::Release { .. } => RequestKind::ReleaseLock,
            Self::Await { .. } => RequestKind::AwaitLock,
            Self::List => RequestKind::ListLocks,
        }
    }
}

/// Returns the table as it stands in the documentation.
pub fn rights_table() -> String {
    let head: Vec<String> = Speaker::ALL.iter().map(ToString::to_string).collect();
    let mut text = format!("| request | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(5));
    for kind in RequestKind::ALL {
        let right = kind.right();
        let cells: Vec<String> =
            Speaker::ALL.iter().map(|speaker| right.of(*speaker).to_string()).collect();
        text += &["| `", right.request, "` | ", &cells.join(" | "), " |\n"].concat();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_shows_this_table() {
        let text = include_str!("../../docs/security.md");
        assert!(
            text.contains(&rights_table()),
            "put this into docs/security.md:\n{}",
            rights_table()
        );
    }

    #[test]
    fn every_row_has_a_name_of_its_own_and_a_person_may_all_that_is_not_an_agents_word() {
        let mut names: Vec<&str> =
            RequestKind::ALL.iter().map(|kind| kind.right().request).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RequestKind::ALL.len());
        for kind in RequestKind::ALL {
            let is_agents = matches!(kind, RequestKind::Report | RequestKind::Hook);
            let expected = if is_agents { Never } else { All };
            assert_eq!(kind.right().of(Speaker::Person), expected, "{kind:?}");
        }
    }

    #[test]
    fn no_agent_types_into_a_pane_or_says_yes_for_a_person() {
        use RequestKind::{Allow, Answer, Consent, Down, Keys, Resize, Resolve, Up};
        for kind in [Keys, Answer, Resize, Consent, Allow, Resolve, Up, Down] {
            for role in Role::ALL {
                assert_eq!(kind.right().of(Speaker::Agent(role)), Never, "{kind:?} {role}");
            }
        }
    }
}
