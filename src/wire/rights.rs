//! Who may ask what: the one table of it.

use super::{Request, TaskRequest};

/// Who speaks on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Someone with no token: a person, or what a person started.
    Person,
    /// An agent, for itself alone.
    Agent,
}

/// What a request is called, and who may make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// Completes "… may not".
    pub deed: &'static str,
    speakers: &'static [Speaker],
}

const ANYONE: &[Speaker] = &[Speaker::Person, Speaker::Agent];
const PERSON: &[Speaker] = &[Speaker::Person];
const AGENT: &[Speaker] = &[Speaker::Agent];

impl Right {
    pub fn is_of(self, speaker: Speaker) -> bool {
        self.speakers.contains(&speaker)
    }
}

impl Request {
    /// Returns who may make this request. What an agent is answered is about itself alone.
    pub fn right(&self) -> Right {
        let (deed, speakers) = match self {
            Self::Hello { .. } => ("greet", ANYONE),
            Self::Status => ("see the status", ANYONE),
            Self::Report { .. } => ("report without a token", AGENT),
            Self::Hook { .. } => ("speak for a hook without a token", AGENT),
            Self::Up { .. } => ("start a team", PERSON),
            Self::Start { .. } => ("start agents", PERSON),
            Self::Stop { .. } => ("stop agents", PERSON),
            Self::Restart { .. } => ("restart agents", PERSON),
            Self::Resume { .. } => ("resume agents", PERSON),
            Self::Forget { .. } => ("remove agents", PERSON),
            Self::Down { .. } => ("stop everything", PERSON),
            Self::Dispatch { .. } | Self::DispatchTemplate { .. } => {
                ("hand prompts to agents", PERSON)
            }
            Self::Withdraw { .. } => ("take prompts back", PERSON),
            Self::AwaitReceipts { .. } => ("wait for prompts", PERSON),
            Self::AwaitAgent { .. } => ("wait for agents", PERSON),
            Self::Answer { .. } => ("answer dialogs", PERSON),
            Self::Interrupt { .. } => ("interrupt agents", PERSON),
            Self::Read { .. } => ("read a pane", PERSON),
            Self::Keys { .. } => ("press keys", PERSON),
            Self::Resize { .. } => ("resize a pane", PERSON),
            Self::Explain { .. } => ("ask why an agent is shown as it is", PERSON),
            Self::Diff { .. } => ("see what agents changed", PERSON),
            Self::Tree { .. } => ("list processes", PERSON),
            Self::Watch { .. } => ("watch panes", PERSON),
            Self::Subscribe => ("subscribe to news", PERSON),
            Self::History { .. } => ("read what has scrolled away", PERSON),
            // An agent may add to the board of its own run, and to nothing else.
            Self::Task { ask: TaskRequest::Add { .. } } => ("add tasks", ANYONE),
            Self::Task { .. } => ("hand out tasks", PERSON),
            Self::Run { .. } => ("run playbooks", PERSON),
            Self::Lock { .. } => ("take locks", ANYONE),
            Self::Workspace { .. } => ("handle workspaces", PERSON),
            Self::Reload => ("reload the settings", PERSON),
            Self::FlushCast { .. } => ("ask for recordings", PERSON),
            Self::Clis { .. } => ("list the clis", PERSON),
            Self::Add { .. } => ("add agents", PERSON),
            Self::Teams { .. } => ("list the teams", PERSON),
        };
        Right { deed, speakers }
    }
}
