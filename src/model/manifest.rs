//! How a command-line agent shows what it does, and how to talk to it. Patterns are regular
//! expressions, still as text.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::agent::AgentState;

/// What a cli's screen, title and keys mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub screen: ScreenShape,
    /// The first that matches holds.
    pub rules: Vec<Rule>,
    /// The first that matches holds.
    pub titles: Vec<TitleRule>,
    /// How the parts of the conversation begin; the first that matches holds.
    pub blocks: Vec<BlockRule>,
    /// How dialogs say what they ask permission for; the first that matches holds.
    pub asks: Vec<AskRule>,
    pub keys: Keys,
    pub submit: Submit,
    pub sessions: Sessions,
    pub usage: Option<Usage>,
}

/// Where the screen shows how many tokens are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub region: Region,
    /// With the group `tokens`, and `more` for a second figure that is added to it.
    pub pattern: String,
    pub per: Per,
}

/// What a figure is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// It begins anew with each turn.
    #[default]
    Turn,
    /// It goes on for as long as the conversation does.
    Conversation,
}

/// Where on the screen to look for what.
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of an interface by itself")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenShape {
    /// Tells that the cli has just come up: what stands above is not its own.
    pub banner: Option<String>,
    /// The box that takes the prompt; the lowest one counts.
    pub composer: Option<String>,
    /// A row of a message whose beginning is out of sight.
    pub message_row: Option<String>,
    /// The echo of a prompt has a background of its own, and a message has none.
    pub echo_is_shaded: bool,
    /// Code in a message has a colour of its own, and prose has none.
    pub code_is_colored: bool,
    /// What a row belongs to that follows a block of single rows.
    pub rest: Option<BlockKind>,
    /// Tells that the conversation was compacted: on the rows above the composer.
    pub compacted: Option<String>,
    /// An entry of a dialog, with the groups `mark` (present on the selected one) and `text`.
    pub option: Option<String>,
    /// The selected entry of a dialog has a background of its own, and no mark.
    pub selected_is_shaded: bool,
    /// How long an end of work must last before it is believed.
    pub settle_ms: Option<u32>,
    /// Output without a match means that it works; silence after it means nothing.
    pub output_means_working: bool,
}

/// One sign on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: String,
    pub state: AgentState,
    /// What a dialog wants.
    pub kind: Option<DialogKind>,
    pub region: Region,
    /// The group `reset` tells when a limit ends.
    pub pattern: String,
    /// If this matches as well, the rule does not.
    pub unless: Option<String>,
}

/// Which part of the live screen a rule looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// The last rows.
    #[default]
    Bottom,
    /// From the composer on; without one, the last rows.
    Footer,
    /// What stands below the composer.
    Under,
    /// The last rows above the composer.
    Tail,
    /// The line up to the cursor, which stands right behind it, with nothing after or below.
    Cursor,
}

/// What a dialog wants from a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DialogKind {
    Approval,
    Question,
    Trust,
    Login,
}

/// One sign in the terminal's title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleRule {
    pub state: AgentState,
    pub pattern: String,
}

/// How a dialog says what it asks permission for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRule {
    pub name: String,
    /// Matched against all rows of a dialog above its options, with the group `command` or `path`.
    /// A row in a colour of its own begins with a tab.
    pub pattern: String,
    /// The option that says yes to this, once.
    pub yes: String,
}

/// How a part of the conversation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRule {
    pub name: String,
    pub kind: BlockKind,
    /// Matched against one row.
    pub pattern: String,
    /// Only rows that match belong to it.
    pub single: bool,
}

/// Whose words a part of the conversation are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// The agent's own message.
    Own,
    /// The echo of a prompt.
    Echo,
    /// A tool's call or output.
    Tool,
    /// The user interface itself.
    Chrome,
}

/// Names of keys, each pressed on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub approve: Vec<String>,
    pub deny: Vec<String>,
    pub interrupt: Vec<String>,
    /// Empty the composer: an interrupted prompt may be put back into it.
    pub clear: Vec<String>,
    pub exit: Vec<String>,
    /// In a dialog, the digit of an option takes it at once.
    pub digits: bool,
}

/// How a prompt is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submit {
    /// How long the echo of a paste must have been still before Enter is pressed.
    pub quiet_ms: u32,
    pub key: String,
    /// What stands in the composer in place of a long paste.
    pub placeholder: Option<String>,
    /// What becomes of a prompt of several lines where the program takes no paste.
    pub newlines: Newlines,
    /// It takes pastes once it has come up: until it has asked for them, nothing is typed.
    pub paste: bool,
}

impl Default for Submit {
    fn default() -> Self {
        let key = "enter".into();
        let newlines = Newlines::default();
        Self { quiet_ms: 200, key, placeholder: None, newlines, paste: false }
    }
}

/// What the end of a line in a prompt becomes when it is typed and not pasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newlines {
    /// Such a prompt is refused.
    #[default]
    Refuse,
    /// It is typed as it is, as Ctrl-J.
    Keep,
    /// Each line is submitted by itself, once the program is back at its prompt.
    Lines,
}

/// Arguments that name a conversation; `{id}` stands for its id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sessions {
    /// Starts a conversation under an id of our choice.
    pub start: Vec<String>,
    pub resume: Vec<String>,
    pub resume_latest: Vec<String>,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bottom => "bottom",
            Self::Footer => "footer",
            Self::Under => "under",
            Self::Tail => "tail",
            Self::Cursor => "cursor",
        })
    }
}

impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Turn => "turn",
            Self::Conversation => "conversation",
        })
    }
}

impl fmt::Display for DialogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Trust => "trust",
            Self::Login => "login",
        })
    }
}

impl fmt::Display for Newlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Refuse => "refuse",
            Self::Keep => "keep",
            Self::Lines => "lines",
        })
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Own => "own",
            Self::Echo => "echo",
            Self::Tool => "tool",
            Self::Chrome => "chrome",
        })
    }
}
