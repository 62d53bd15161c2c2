//! How a command-line agent shows what it does, and how to talk to it. Patterns are regular
//! expressions, still as text.

use std::fmt;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use super::Key;
use super::agent::AgentState;

/// Nobody waits longer to be told that an agent is idle.
const MILLISECONDS_MAX: u32 = 60_000;

/// The name under which a regular expression asks whoever reads it to try it.
pub const REGULAR_EXPRESSION: &str = "RegularExpression";

#[derive(Deserialize)]
struct RegularExpression(String);

/// Reads a regular expression.
pub fn regular_expression<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(RegularExpression::deserialize(deserializer)?.0)
}

/// Reads a regular expression, or none.
pub fn optional_regular_expression<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(Option::<RegularExpression>::deserialize(deserializer)?.map(|pattern| pattern.0))
}

/// The states that a screen or a title can show.
#[derive(Deserialize)]
#[serde(remote = "AgentState", rename_all = "lowercase")]
enum ShownState {
    Idle,
    Working,
    Waiting,
    Done,
    Error,
    Limited,
    Starting,
    Unknown,
}

/// The name of a key, as it is written.
struct KeyName(String);

impl<'de> Deserialize<'de> for KeyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.parse::<Key>() {
            Ok(_) => Ok(Self(name)),
            Err(error) => Err(D::Error::custom(error)),
        }
    }
}

fn key_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(KeyName::deserialize(deserializer)?.0)
}

fn key_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<KeyName>::deserialize(deserializer)?;
    Ok(names.into_iter().map(|name| name.0).collect())
}

/// A time for which nobody waits in vain.
struct Milliseconds(u32);

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let fitting = u32::try_from(number).ok().filter(|number| *number <= MILLISECONDS_MAX);
        let wanted = format!("a number from 0 to {MILLISECONDS_MAX}");
        let told = || D::Error::invalid_value(Unexpected::Signed(number), &wanted.as_str());
        fitting.map(Self).ok_or_else(told)
    }
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(Milliseconds::deserialize(deserializer)?.0)
}

fn optional_milliseconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    Ok(Option::<Milliseconds>::deserialize(deserializer)?.map(|time| time.0))
}

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

impl Manifest {
    /// Returns what holds for a program of which nothing is known: its output alone is no work, and what
    /// begins a command in most programs is refused, unlike in a shell.
    #[must_use]
    pub fn general(mut self) -> Self {
        self.screen.output_means_working = false;
        self.screen.is_general = true;
        self.submit.literal = Literal::default();
        self
    }
}

/// Where the screen shows how many tokens are used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Usage {
    #[serde(default)]
    pub region: Region,
    /// With the group `tokens`, and `more` for a second figure that is added to it.
    #[serde(rename = "match", deserialize_with = "regular_expression")]
    pub pattern: String,
    #[serde(default)]
    pub per: Per,
}

/// What a figure is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// It begins anew with each turn.
    #[default]
    Turn,
    /// It goes on for as long as the conversation does.
    Conversation,
}

/// Where on the screen to look for what.
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of an interface by itself")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenShape {
    /// Versions of the cli with which the rules were recorded.
    pub recorded: Vec<String>,
    /// Tells that the cli has just come up: what stands above is not its own.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub banner: Option<String>,
    /// The box that takes the prompt; the lowest one counts.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub composer: Option<String>,
    /// A row of a message whose beginning is out of sight.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub message_row: Option<String>,
    /// The echo of a prompt has a background of its own, and a message has none.
    pub echo_is_shaded: bool,
    /// Code in a message has a colour of its own, and prose has none.
    pub code_is_colored: bool,
    /// What a row belongs to that follows a block of single rows.
    pub rest: Option<BlockKind>,
    /// Tells that the conversation was compacted: on the rows above the composer.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub compacted: Option<String>,
    /// An entry of a dialog, with the groups `mark` (present on the selected one) and `text`.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub option: Option<String>,
    /// The selected entry of a dialog has a background of its own, and no mark.
    pub selected_is_shaded: bool,
    /// How long an end of work must last before it is believed.
    #[serde(deserialize_with = "optional_milliseconds")]
    pub settle_ms: Option<u32>,
    /// Output without a match means that it works; silence after it means nothing.
    pub output_means_working: bool,
    /// Nothing is known of how its conversation looks: it is read by what all agents share.
    #[serde(skip)]
    pub is_general: bool,
}

/// One sign on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Rule {
    pub name: String,
    #[serde(deserialize_with = "ShownState::deserialize")]
    pub state: AgentState,
    /// What a dialog wants.
    pub kind: Option<DialogKind>,
    #[serde(default)]
    pub region: Region,
    /// The group `reset` tells when a limit ends.
    #[serde(rename = "match", deserialize_with = "regular_expression")]
    pub pattern: String,
    /// If this matches as well, the rule does not.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub unless: Option<String>,
}

/// Which part of the live screen a rule looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TitleRule {
    #[serde(deserialize_with = "ShownState::deserialize")]
    pub state: AgentState,
    #[serde(rename = "match", deserialize_with = "regular_expression")]
    pub pattern: String,
}

/// How a dialog says what it asks permission for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AskRule {
    pub name: String,
    /// Matched against all rows of a dialog above its options, with the group `command` or `path`, or with `rows` for
    /// a command of several rows, which counts only as the program told it.
    /// A row in a colour of its own begins with a tab.
    #[serde(rename = "match", deserialize_with = "regular_expression")]
    pub pattern: String,
    /// The option that says yes to this, once.
    #[serde(deserialize_with = "regular_expression")]
    pub yes: String,
    /// Finds in an option, as `words`, how the dialog repeats the beginning of the command.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub again: Option<String>,
    /// Rows without a word are among those that the pattern is matched against.
    #[serde(default, rename = "blank_rows")]
    pub has_blank_rows: bool,
    /// It counts only if the program told the same: it draws whatever a command says.
    #[serde(default, rename = "told")]
    pub needs_told: bool,
}

/// How a part of the conversation begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BlockRule {
    pub name: String,
    pub kind: BlockKind,
    /// Matched against one row.
    #[serde(rename = "match", deserialize_with = "regular_expression")]
    pub pattern: String,
    /// Only rows that match belong to it.
    #[serde(default)]
    pub single: bool,
}

/// Whose words a part of the conversation are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    #[serde(deserialize_with = "key_names")]
    pub approve: Vec<String>,
    #[serde(deserialize_with = "key_names")]
    pub deny: Vec<String>,
    #[serde(deserialize_with = "key_names")]
    pub interrupt: Vec<String>,
    /// Empty the composer: an interrupted prompt may be put back into it.
    #[serde(deserialize_with = "key_names")]
    pub clear: Vec<String>,
    #[serde(deserialize_with = "key_names")]
    pub exit: Vec<String>,
    /// In a dialog, the digit of an option takes it at once.
    pub digits: bool,
}

/// What programs write in place of a long paste: `[Pasted text #1 +20 lines]`, `[paste #1 +3 lines]` and the like.
const PLACEHOLDER: &str = r"\[[Pp]aste[^\]\n]*\]";

/// How a prompt is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submit {
    /// How long the echo of a paste must have been still before Enter is pressed.
    #[serde(deserialize_with = "milliseconds")]
    pub quiet_ms: u32,
    #[serde(deserialize_with = "key_name")]
    pub key: String,
    /// What stands in the composer in place of a long paste.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub placeholder: Option<String>,
    /// What becomes of a prompt of several lines where the program takes no paste.
    pub newlines: Newlines,
    /// It takes pastes once it has come up: until it has asked for them, nothing is typed.
    pub paste: bool,
    /// Keys of the same table.
    #[serde(skip)]
    pub literal: Literal,
}

/// What a program takes for something else than words, and how it is made to take it as words.
/// Each text lists signs with which a prompt begins, or its last word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literal {
    /// A blank before it makes it words.
    pub blank_before: String,
    /// An empty line before it does.
    pub line_before: String,
    /// A character of no width before it does.
    pub joiner_before: String,
    /// Nothing does: such a prompt is refused.
    pub refused: String,
    /// It takes tabs as they are; where it makes blanks of them, a prompt that has some is refused.
    pub keeps_tabs: bool,
    /// But a path that begins with `/` is words to it.
    pub paths_are_words: bool,
    /// Whole prompts that are refused for the same reason.
    pub refused_words: Vec<String>,
    /// Wherever a word begins so, a character of no width behind the sign makes it words.
    pub joiner_after: String,
    /// A last word that begins so opens a list, and Enter takes an entry of it: a blank behind the
    /// word closes that.
    pub blank_after: String,
}

impl Default for Literal {
    /// What is safe where nothing is known of a program.
    fn default() -> Self {
        Self {
            blank_before: "#@?".into(),
            line_before: String::new(),
            joiner_before: String::new(),
            refused: "/!".into(),
            keeps_tabs: true,
            paths_are_words: false,
            joiner_after: String::new(),
            refused_words: ["exit", "quit"].map(str::to_owned).to_vec(),
            blank_after: "@/#".into(),
        }
    }
}

impl Default for Submit {
    fn default() -> Self {
        let key = "enter".into();
        let newlines = Newlines::default();
        let literal = Literal::default();
        Self {
            quiet_ms: 200,
            key,
            placeholder: Some(PLACEHOLDER.to_owned()),
            newlines,
            paste: false,
            literal,
        }
    }
}

/// What the end of a line in a prompt becomes when it is typed and not pasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// Starts a conversation under an id of our choice.
    pub start: Vec<String>,
    pub resume: Vec<String>,
    pub resume_latest: Vec<String>,
}

impl fmt::Display for DialogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
