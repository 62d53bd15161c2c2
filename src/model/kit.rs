//! What an agent works with: its tools, and the servers that offer it more of them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The word that stands for whatever a cli has of its own.
pub const AS_IT_IS: &str = "*";

/// The server that is this program itself.
pub const OWN_SERVER: &str = "wheelhouse";

/// What someone asks for; what is absent was not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kit {
    /// All that it may use, without being asked; with `*`, these beside whatever its cli has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// What it may not use, whatever else allows it.
    #[serde(default, rename = "deny_tools", skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<Tool>>,
    /// What becomes of everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The servers that it is given; with `*`, these beside those of its cli's own settings.
    #[serde(default, rename = "mcp", skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
}

impl Kit {
    /// Returns the wish to leave a cli as it is, which no role overrides.
    pub fn as_it_is() -> Self {
        Self {
            tools: Some(vec![Tool::AsItIs]),
            deny: Some(Vec::new()),
            mode: Some(AS_IT_IS.to_owned()),
            servers: Some(vec![AS_IT_IS.to_owned()]),
        }
    }

    /// Returns this wish, and where it says nothing what the other one says.
    #[must_use]
    pub fn over(self, below: &Self) -> Self {
        Self {
            tools: self.tools.or_else(|| below.tools.clone()),
            deny: self.deny.or_else(|| below.deny.clone()),
            mode: self.mode.or_else(|| below.mode.clone()),
            servers: self.servers.or_else(|| below.servers.clone()),
        }
    }

    /// Says whether nothing was asked for, not even to leave the cli as it is.
    pub fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }

    /// Says whether the cli need not be told anything.
    pub fn is_empty(&self) -> bool {
        !self.is_restricted()
            && self.allowed().next().is_none()
            && self.denied().is_empty()
            && self.mode().is_none()
            && !self.has_only_named_servers()
            && self.named_servers().next().is_none()
    }

    /// Returns what it says, in words.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let tools = |tools: &[Tool]| {
            let words: Vec<String> = tools.iter().map(Tool::to_string).collect();
            if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
        };
        let servers = |names: &Vec<String>| {
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let said = [
            ("may use", self.tools.as_deref().map(tools)),
            ("may not use", Some(self.denied()).filter(|denied| !denied.is_empty()).map(tools)),
            ("in mode", self.mode.clone()),
            ("gets the servers", self.servers.as_ref().map(servers)),
        ];
        said.into_iter().filter_map(|(what, words)| Some((what, words?))).collect()
    }

    /// Says whether it may use nothing but what it is allowed.
    pub fn is_restricted(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| !tools.contains(&Tool::AsItIs))
    }

    /// Says whether it gets no servers but those that are named.
    pub fn has_only_named_servers(&self) -> bool {
        self.servers.as_ref().is_some_and(|names| !names.iter().any(|name| name == AS_IT_IS))
    }

    pub fn mode(&self) -> Option<&str> {
        self.mode.as_deref().filter(|mode| *mode != AS_IT_IS)
    }

    pub fn denied(&self) -> &[Tool] {
        self.deny.as_deref().unwrap_or_default()
    }

    /// Returns the names of the servers that it is given.
    pub fn named_servers(&self) -> impl Iterator<Item = &str> {
        let names = self.servers.iter().flatten().map(String::as_str);
        names.filter(|name| *name != AS_IT_IS)
    }

    /// Returns what it may use without being asked, as it was asked for.
    pub fn allowed(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().flatten().filter(|tool| **tool != Tool::AsItIs)
    }

    /// Returns what it may use without being asked: what is named, all of this program's own server,
    /// and of the others, where it is restricted, all that it gets, unless some of it is named.
    pub fn granted(&self) -> Vec<Tool> {
        let is_named = |server: &str| self.allowed().any(|tool| tool.server() == Some(server));
        let implied =
            |server: &&str| (self.is_restricted() || *server == OWN_SERVER) && !is_named(server);
        let servers = self.named_servers().filter(implied);
        let servers = servers.map(|server| Tool::Server(server.to_owned()));
        self.allowed().cloned().chain(servers).collect()
    }
}

/// One tool, or several of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
pub enum Tool {
    /// Whatever the cli has.
    AsItIs,
    /// Looking at files.
    Read,
    /// Changing files.
    Edit,
    /// Any command.
    Shell,
    /// One command, word by word.
    Command(String),
    /// A command with any further words.
    Commands(String),
    /// Reading the web.
    Web,
    /// Agents of the cli's own.
    Agents,
    /// All that a server offers.
    Server(String),
    ServerTool {
        server: String,
        tool: String,
    },
    /// A word of the cli's own.
    Own(String),
}

/// What tools are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Shell,
    Command,
    Commands,
    Web,
    Agents,
    Server,
    ServerTool,
}

impl ToolKind {
    pub const ALL: &[Self] = &[
        Self::Read,
        Self::Edit,
        Self::Shell,
        Self::Command,
        Self::Commands,
        Self::Web,
        Self::Agents,
        Self::Server,
        Self::ServerTool,
    ];
}

impl Tool {
    /// Returns nothing for a word of the cli's own.
    pub fn kind(&self) -> Option<ToolKind> {
        match self {
            Self::AsItIs | Self::Own(_) => None,
            Self::Read => Some(ToolKind::Read),
            Self::Edit => Some(ToolKind::Edit),
            Self::Shell => Some(ToolKind::Shell),
            Self::Command(_) => Some(ToolKind::Command),
            Self::Commands(_) => Some(ToolKind::Commands),
            Self::Web => Some(ToolKind::Web),
            Self::Agents => Some(ToolKind::Agents),
            Self::Server(_) => Some(ToolKind::Server),
            Self::ServerTool { .. } => Some(ToolKind::ServerTool),
        }
    }

    /// Returns the server that offers it.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Server(server) | Self::ServerTool { server, .. } => Some(server),
            Self::AsItIs
            | Self::Read
            | Self::Edit
            | Self::Shell
            | Self::Command(_)
            | Self::Commands(_)
            | Self::Web
            | Self::Agents
            | Self::Own(_) => None,
        }
    }

    /// Returns its name among those of its server, where it is a single one.
    pub fn name_in_server(&self) -> Option<&str> {
        if let Self::ServerTool { tool, .. } = self { Some(tool) } else { None }
    }

    /// Returns what the kind alone does not say: of a server's tool, the server.
    pub fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Commands(text) | Self::Server(text) | Self::Own(text) => {
                text
            }
            Self::ServerTool { server, .. } => server,
            Self::AsItIs | Self::Read | Self::Edit | Self::Shell | Self::Web | Self::Agents => "",
        }
    }
}

impl FromStr for Tool {
    type Err = Infallible;

    /// Reads the common words; any other one is the cli's own.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let inner = |name: &str| {
            let rest = text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
            Some(rest.trim()).filter(|rest| !rest.is_empty())
        };
        Ok(match text {
            AS_IT_IS => Self::AsItIs,
            "read" => Self::Read,
            "edit" => Self::Edit,
            "shell" => Self::Shell,
            "web" => Self::Web,
            "agents" => Self::Agents,
            other => match (inner("shell"), inner("mcp")) {
                (Some(AS_IT_IS), _) => Self::Shell,
                (Some(command), _) => match command.strip_suffix('*') {
                    Some(beginning) => Self::Commands(beginning.trim_end().to_owned()),
                    None => Self::Command(command.to_owned()),
                },
                (None, Some(server)) => match server.split_once('.') {
                    Some((server, tool)) => {
                        Self::ServerTool { server: server.to_owned(), tool: tool.to_owned() }
                    }
                    None => Self::Server(server.to_owned()),
                },
                (None, None) => Self::Own(other.to_owned()),
            },
        })
    }
}

impl From<String> for Tool {
    fn from(text: String) -> Self {
        match text.parse() {
            Ok(tool) => tool,
        }
    }
}

impl From<Tool> for String {
    fn from(tool: Tool) -> Self {
        tool.to_string()
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsItIs => f.write_str(AS_IT_IS),
            Self::Read => f.write_str("read"),
            Self::Edit => f.write_str("edit"),
            Self::Shell => f.write_str("shell"),
            Self::Command(command) => write!(f, "shell({command})"),
            Self::Commands(beginning) => write!(f, "shell({beginning} *)"),
            Self::Web => f.write_str("web"),
            Self::Agents => f.write_str("agents"),
            Self::Server(server) => write!(f, "mcp({server})"),
            Self::ServerTool { server, tool } => write!(f, "mcp({server}.{tool})"),
            Self::Own(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for ToolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// How a cli is told what it works with, without touching anyone's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KitRules {
    /// The cli's own words for what it may be allowed; what is missing cannot be asked of it.
    pub allow: BTreeMap<ToolKind, Vec<String>>,
    pub deny: BTreeMap<ToolKind, Vec<String>>,
    /// Which words of its own it takes, as a pattern.
    pub own: Option<String>,
    pub modes: Vec<String>,
    /// What follows the command: a form, of which each line is a word.
    pub arguments: String,
    /// Variables, as forms.
    pub environment: BTreeMap<String, String>,
    /// Files of the run, as forms.
    pub files: BTreeMap<String, String>,
    /// Arguments that the command may have besides.
    pub repeats: Vec<String>,
}

impl KitRules {
    /// Says whether the cli can be told anything.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.environment.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Tool {
        text.to_owned().into()
    }

    #[test]
    fn tools_are_read_as_they_are_written() {
        for text in ["*", "read", "shell", "shell(cargo *)", "shell(make check)", "mcp(github)"] {
            assert_eq!(tool(text).to_string(), text);
        }
        assert_eq!(tool("shell(*)"), Tool::Shell);
        assert_eq!(tool("shell(cargo*)"), tool("shell(cargo *)"));
        assert_eq!(tool("Bash(git:*)"), Tool::Own("Bash(git:*)".to_owned()));
        assert_eq!(tool("mcp(github.search)").kind(), Some(ToolKind::ServerTool));
        for odd in ["shell()", "mcp( )", "raed"] {
            assert_eq!(tool(odd).kind(), None, "{odd}");
        }
    }

    #[test]
    fn an_agents_own_wish_comes_before_its_roles_key_by_key() {
        let role =
            Kit { tools: Some(vec![Tool::Read]), mode: Some("ask".to_owned()), ..Kit::default() };
        let own = Kit { tools: Some(vec![Tool::Edit]), ..Kit::default() };
        let both = own.over(&role);
        assert_eq!((both.tools, both.mode), (Some(vec![Tool::Edit]), Some("ask".to_owned())));
        let free = Kit::as_it_is().over(&role);
        assert!(free.is_empty() && !free.is_restricted());
        assert!(!role.is_empty() && Kit::default().is_empty());
    }

    #[test]
    fn servers_that_are_given_may_be_used_and_others_are_asked_about() {
        let kit = |tools: &[&str], servers: &[&str]| Kit {
            tools: (!tools.is_empty()).then(|| tools.iter().map(|text| tool(text)).collect()),
            servers: Some(servers.iter().map(ToString::to_string).collect()),
            ..Kit::default()
        };
        let granted =
            |kit: Kit| kit.granted().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(granted(kit(&["read"], &["github"])), "read mcp(github)");
        assert_eq!(granted(kit(&["mcp(github.search)"], &["github"])), "mcp(github.search)");
        assert_eq!(granted(kit(&[], &["github", "wheelhouse"])), "mcp(wheelhouse)");
        assert_eq!(granted(kit(&["*", "edit"], &["*", "github"])), "edit");
    }
}
