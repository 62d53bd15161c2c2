//! Turns what an agent is to work with into what its cli is told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use regex::Regex;

use super::kit::nearest_tool;
use crate::model::{Kit, KitRules, Tool, ToolKind};
use crate::template::{FormError, Slot, fill_form};

/// What becomes of everything else where only some tools are allowed and nothing else is said.
const REFUSE: &str = "refuse";

/// What a cli is given so that it works with nothing but its kit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outfit {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub files: Vec<(PathBuf, String)>,
}

/// A server as a cli is told of it: its variables by name alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEntry {
    pub name: String,
    pub command: Vec<String>,
    pub variables: Vec<String>,
}

/// Where and for whom an outfit is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitting {
    /// Where its files go.
    pub directory: PathBuf,
    pub is_root: bool,
    pub servers: Vec<ServerEntry>,
}

/// What a cli cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}\nhint: {hint}")]
pub struct Lack {
    /// The key that asks for it, where it is a single one.
    pub key: Option<&'static str>,
    pub message: String,
    pub hint: String,
}

/// Finds out whether a cli can be told of a kit, before there is anyone to be told.
pub(super) fn try_on(cli: &str, rules: &KitRules, kit: &Kit) -> Result<(), Lack> {
    let entry = |name: &str| ServerEntry {
        name: name.to_owned(),
        command: vec![name.to_owned()],
        variables: Vec::new(),
    };
    let fitting = Fitting {
        directory: PathBuf::new(),
        is_root: rustix::process::geteuid().is_root(),
        servers: kit.named_servers().map(entry).collect(),
    };
    dress(cli, rules, kit, &fitting).map(drop)
}

/// Returns what a cli is given for a kit; all that is asked for, or nothing.
pub fn dress(cli: &str, rules: &KitRules, kit: &Kit, fitting: &Fitting) -> Result<Outfit, Lack> {
    if kit.is_empty() {
        return Ok(Outfit::default());
    }
    if rules.is_empty() {
        return Err(Lack {
            key: None,
            message: format!("The cli `{cli}` cannot be told which tools it may use"),
            hint: "Take `tools`, `deny_tools`, `mode` and `mcp` out; where a role has them, \
                   `\"*\"` leaves the cli as it is; or say how with a `[cli.NAME.kit]` of your own"
                .to_owned(),
        });
    }
    let granted = kit.granted();
    let allow = own_words(cli, (rules, &rules.allow), &granted, "tools")?;
    let deny = own_words(cli, (rules, &rules.deny), kit.denied(), "deny_tools")?;
    let mode = mode(cli, rules, kit)?;
    let files: BTreeMap<&String, PathBuf> =
        rules.files.keys().map(|name| (name, fitting.directory.join(name))).collect();
    let slots = slots(kit, fitting, [(&granted, &allow), (kit.denied(), &deny)], mode, &files);
    let fill = |form: &String| {
        fill_form(form, &slots).map_err(|error| match error {
            FormError::Refused(reason) => Lack {
                key: None,
                message: format!("The cli `{cli}` cannot be held to this: {reason}"),
                hint: "Ask for less, or give this agent another cli".to_owned(),
            },
            FormError::Broken { .. } => Lack {
                key: None,
                message: format!("How the cli `{cli}` is told cannot be made out: {error}"),
                hint: format!("Mend `[cli.{cli}.kit]`"),
            },
        })
    };
    let arguments = fill(&rules.arguments)?;
    let words = arguments.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut outfit = Outfit { arguments: words.map(str::to_owned).collect(), ..Outfit::default() };
    for (name, form) in &rules.environment {
        let value = fill(form)?.trim().to_owned();
        if !value.is_empty() {
            outfit.environment.insert(name.clone(), value);
        }
    }
    for (name, form) in &rules.files {
        let content = fill(form)?;
        if !content.trim().is_empty() {
            outfit.files.push((files[name].clone(), content));
        }
    }
    Ok(outfit)
}

/// Returns what becomes of what is neither allowed nor denied; empty leaves it to the cli.
fn mode<'k>(cli: &str, rules: &KitRules, kit: &'k Kit) -> Result<&'k str, Lack> {
    match kit.mode() {
        Some(mode) if rules.modes.iter().any(|known| known == mode) => Ok(mode),
        Some(mode) => Err(Lack {
            key: Some("mode"),
            message: format!("The cli `{cli}` has no mode `{mode}`"),
            hint: super::suggest(mode, rules.modes.iter().map(String::as_str)),
        }),
        None if kit.is_restricted() => Ok(REFUSE),
        None => Ok(""),
    }
}

/// Returns the cli's own words for each of the tools.
fn own_words(
    cli: &str,
    (rules, table): (&KitRules, &BTreeMap<ToolKind, Vec<String>>),
    tools: &[Tool],
    key: &'static str,
) -> Result<Vec<Vec<String>>, Lack> {
    let own = rules.own.as_ref().and_then(|own| Regex::new(own).ok());
    let words = |tool: &Tool| {
        let Some(kind) = tool.kind() else {
            let word = tool.to_string();
            if own.as_ref().is_some_and(|own| own.is_match(&word)) {
                return Ok(vec![word]);
            }
            let message = format!("The cli `{cli}` has no tool `{word}`");
            return Err(Lack { key: Some(key), message, hint: nearest_tool(&word) });
        };
        let found = table.get(&kind).ok_or_else(|| {
            let does = if key == "tools" { "be allowed" } else { "be denied" };
            Lack {
                key: Some(key),
                message: format!("The cli `{cli}` cannot {does} `{tool}`"),
                hint: hint(kind, table),
            }
        })?;
        let inner = tool.name_in_server().unwrap_or(tool.text());
        let fill = |word: &String| word.replace("{server}", tool.text()).replace("{}", inner);
        Ok(found.iter().map(fill).collect())
    };
    tools.iter().map(words).collect()
}

fn hint(kind: ToolKind, table: &BTreeMap<ToolKind, Vec<String>>) -> String {
    let of_shell = matches!(kind, ToolKind::Command | ToolKind::Commands);
    if of_shell && table.contains_key(&ToolKind::Commands) {
        return "It knows commands with any further words: `shell(cargo *)`".to_owned();
    }
    if of_shell && table.contains_key(&ToolKind::Shell) {
        return "It knows `shell` as a whole; a cli that tells commands apart is `claude`"
            .to_owned();
    }
    let known: Vec<String> = table.keys().map(|kind| format!("`{kind}`")).collect();
    format!("It knows {}", known.join(", "))
}

fn slots(
    kit: &Kit,
    fitting: &Fitting,
    [allow, deny]: [(&[Tool], &Vec<Vec<String>>); 2],
    mode: &str,
    files: &BTreeMap<&String, PathBuf>,
) -> Slot {
    let entry = |(tool, words): (&Tool, &Vec<String>)| {
        let kind = tool.kind().map_or("own".to_owned(), |kind| kind.to_string());
        Slot::table([
            ("kind", Slot::Text(kind)),
            ("text", Slot::Text(tool.text().to_owned())),
            ("tool", Slot::Text(tool.name_in_server().unwrap_or_default().to_owned())),
            ("words", Slot::texts(words.iter().map(String::as_str))),
        ])
    };
    let entries = |(tools, words): (&[Tool], &Vec<Vec<String>>)| {
        Slot::List(tools.iter().zip(words).map(entry).collect())
    };
    let flat = |words: &Vec<Vec<String>>| Slot::texts(words.iter().flatten().map(String::as_str));
    let path = |(name, path): (&&String, &PathBuf)| {
        ((*name).clone(), Slot::Text(path.display().to_string()))
    };
    Slot::table([
        ("restricted", Slot::Flag(kit.is_restricted())),
        ("only", Slot::Flag(kit.has_only_named_servers())),
        ("is_root", Slot::Flag(fitting.is_root)),
        ("mode", Slot::Text(mode.to_owned())),
        ("allow", entries(allow)),
        ("deny", entries(deny)),
        ("may", kinds(allow.0)),
        ("may_not", kinds(deny.0)),
        ("allowed", flat(allow.1)),
        ("denied", flat(deny.1)),
        ("names", Slot::texts(names(allow).iter().map(String::as_str))),
        (
            "servers",
            Slot::List(fitting.servers.iter().map(|server| of_server(server, allow.0)).collect()),
        ),
        ("server_names", Slot::texts(fitting.servers.iter().map(|server| server.name.as_str()))),
        ("files", Slot::Table(files.iter().map(path).collect())),
    ])
}

fn kinds(tools: &[Tool]) -> Slot {
    let kinds = tools.iter().filter_map(Tool::kind);
    Slot::List(kinds.map(|kind| Slot::Text(kind.to_string())).collect())
}

/// Returns the names of the cli's own tools that are allowed, whatever they are allowed for.
fn names((tools, words): (&[Tool], &Vec<Vec<String>>)) -> Vec<String> {
    let own = tools.iter().zip(words).filter(|(tool, _)| tool.server().is_none());
    let name = |word: &String| word.split('(').next().unwrap_or_default().to_owned();
    let mut seen = BTreeSet::new();
    own.flat_map(|(_, words)| words).map(name).filter(|name| seen.insert(name.clone())).collect()
}

fn of_server(server: &ServerEntry, allow: &[Tool]) -> Slot {
    let mut tools = Vec::new();
    let mut is_approved = false;
    for tool in allow.iter().filter(|tool| tool.server() == Some(&server.name)) {
        is_approved = true;
        tools.extend(tool.name_in_server());
    }
    let (program, arguments) = server
        .command
        .split_first()
        .map_or(("", &[][..]), |(program, rest)| (program.as_str(), rest));
    Slot::table([
        ("name", Slot::Text(server.name.clone())),
        ("program", Slot::Text(program.to_owned())),
        ("arguments", Slot::texts(arguments.iter().map(String::as_str))),
        ("command", Slot::texts(server.command.iter().map(String::as_str))),
        ("variables", Slot::texts(server.variables.iter().map(String::as_str))),
        ("tools", Slot::texts(tools)),
        ("approved", Slot::Flag(is_approved)),
    ])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::builtin::built_in;
    use super::*;

    /// Returns what a cli is told, word by word, and then its variables and files.
    fn told(
        cli: &str,
        tools: &[&str],
        deny: &[&str],
        mode: &str,
        servers: Option<&[&str]>,
    ) -> String {
        let tool = |text: &&str| Tool::from((*text).to_owned());
        let kit = Kit {
            tools: (!tools.is_empty()).then(|| tools.iter().map(tool).collect()),
            deny: Some(deny.iter().map(tool).collect()),
            mode: (!mode.is_empty()).then(|| mode.to_owned()),
            servers: servers.map(|names| names.iter().map(ToString::to_string).collect()),
        };
        let entry = |name: &str| ServerEntry {
            name: name.to_owned(),
            command: vec!["/bin/serve".to_owned(), "a \"b\"".to_owned()],
            variables: vec!["TOKEN".to_owned(), "PLACE".to_owned()],
        };
        let fitting = Fitting {
            directory: "/k".into(),
            is_root: true,
            servers: kit.named_servers().map(entry).collect(),
        };
        match dress(cli, &built_in().cli(cli).unwrap().kit, &kit, &fitting) {
            Err(lack) => lack.to_string(),
            Ok(outfit) => {
                let mut text = outfit.arguments.join("\n");
                for (name, value) in &outfit.environment {
                    let value = json_or_text(value);
                    write!(text, "\n{name}={value}").unwrap();
                }
                for (path, content) in &outfit.files {
                    let content = json_or_text(content);
                    write!(text, "\n{}:\n{content}", path.display()).unwrap();
                }
                text
            }
        }
    }

    /// What begins as JSON must be JSON.
    fn json_or_text(text: &str) -> String {
        if text.trim_start().starts_with('{') {
            let value: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
            return value.to_string();
        }
        if text.contains("[[rule]]") {
            toml::from_str::<toml::Table>(text).expect("it is TOML");
        }
        text.trim().to_owned()
    }

    const WORKER: &[&str] = &["read", "shell(cargo *)", "mcp(github.search)"];

    #[test]
    fn claude_is_told_by_flags_and_a_file_of_servers() {
        insta::assert_snapshot!(told("claude", WORKER, &["shell(git push *)"], "", Some(&["github", "wheelhouse"])), @r#"
        --tools=Read,Glob,Grep,Bash
        --allowedTools=Read,Glob,Grep,Bash(cargo),Bash(cargo *),mcp__github__search,mcp__wheelhouse
        --disallowedTools=Bash(git push),Bash(git push *)
        --permission-mode=dontAsk
        --mcp-config=/k/mcp.json
        --strict-mcp-config
        /k/mcp.json:
        {"mcpServers":{"github":{"args":["a \"b\""],"command":"/bin/serve","env":{"PLACE":"${PLACE}","TOKEN":"${TOKEN}"}},"wheelhouse":{"args":["a \"b\""],"command":"/bin/serve","env":{"PLACE":"${PLACE}","TOKEN":"${TOKEN}"}}}}
        "#);
        insta::assert_snapshot!(told("claude", &["*", "Bash(git:*)"], &["web"], "ask", Some(&["*", "wheelhouse"])), @r#"
        --allowedTools=Bash(git:*),mcp__wheelhouse
        --disallowedTools=WebFetch,WebSearch
        --permission-mode=default
        --mcp-config=/k/mcp.json
        /k/mcp.json:
        {"mcpServers":{"wheelhouse":{"args":["a \"b\""],"command":"/bin/serve","env":{"PLACE":"${PLACE}","TOKEN":"${TOKEN}"}}}}
        "#);
        insta::assert_snapshot!(told("claude", &[], &[], "", Some(&[])), @r#"
        --mcp-config=/k/mcp.json
        --strict-mcp-config
        /k/mcp.json:
        {"mcpServers":{}}
        "#);
    }

    #[test]
    fn codex_is_told_by_its_sandbox() {
        insta::assert_snapshot!(told("codex", &["read"], &[], "", Some(&["*", "wheelhouse"])), @r#"
        -s
        read-only
        -a
        never
        -c
        web_search="disabled"
        --disable
        multi_agent
        -c
        mcp_servers.wheelhouse={command="/bin/serve",args=["a \"b\""],env_vars=["TOKEN","PLACE"],default_tools_approval_mode="approve"}
        "#);
        insta::assert_snapshot!(told("codex", &["read", "edit", "shell", "mcp(github.search)"], &["agents"], "ask", Some(&["*", "github"])), @r#"
        -s
        workspace-write
        -a
        on-request
        -c
        web_search="disabled"
        --disable
        multi_agent
        -c
        mcp_servers.github={command="/bin/serve",args=["a \"b\""],env_vars=["TOKEN","PLACE"],enabled_tools=["search"],default_tools_approval_mode="approve"}
        "#);
        insta::assert_snapshot!(told("codex", &[], &["edit"], "", None), @r#"
        -s
        read-only
        -a
        never
        "#);
    }

    #[test]
    fn gemini_is_told_by_a_policy() {
        insta::assert_snapshot!(told("gemini", WORKER, &["edit", "shell(cargo publish *)"], "", Some(&["github"])), @r#"
        --policy=/k/policy.toml
        --allowed-mcp-server-names=github
        GEMINI_CLI_SYSTEM_SETTINGS_PATH=/k/settings.json
        /k/policy.toml:
        [[rule]]
        toolName = "*"
        decision = "deny"
        priority = 100
        [[rule]]
        toolName = "run_shell_command"
        argsPattern = ".*"
        decision = "deny"
        priority = 200
        [[rule]]
        toolName = ["read_file","read_many_files","list_directory","glob","grep_search","search_file_content"]
        decision = "allow"
        priority = 500
        [[rule]]
        toolName = "run_shell_command"
        commandPrefix = "cargo"
        decision = "allow"
        priority = 500
        [[rule]]
        mcpName = "github"
        toolName = "search"
        decision = "allow"
        priority = 500
        [[rule]]
        toolName = ["write_file","replace"]
        decision = "deny"
        priority = 900
        [[rule]]
        toolName = "run_shell_command"
        commandPrefix = "cargo publish"
        decision = "deny"
        priority = 900
        /k/settings.json:
        {"mcpServers":{"github":{"args":["a \"b\""],"command":"/bin/serve","env":{"PLACE":"$PLACE","TOKEN":"$TOKEN"}}}}
        "#);
        insta::assert_snapshot!(told("gemini", &["*", "edit"], &[], "edits", Some(&[])), @r#"
        --approval-mode=auto_edit
        --policy=/k/policy.toml
        --allowed-mcp-server-names=-
        /k/policy.toml:
        [[rule]]
        toolName = ["write_file","replace"]
        decision = "allow"
        priority = 500
        "#);
    }

    #[test]
    fn opencode_is_told_by_a_variable() {
        insta::assert_snapshot!(told("opencode", WORKER, &["shell(cargo publish *)"], "", Some(&["github"])), @r#"
        OPENCODE_CONFIG_CONTENT={"mcp":{"github":{"command":["/bin/serve","a \"b\""],"enabled":true,"environment":{"PLACE":"{env:PLACE}","TOKEN":"{env:TOKEN}"},"type":"local"}},"permission":{"*":"deny","bash":{"*":"deny","cargo *":"allow","cargo publish *":"deny","wheelhouse-none":"deny"},"codesearch":"deny","edit":"deny","github_search":"allow","glob":"allow","grep":"allow","list":"allow","lsp":"allow","question":"allow","read":"allow","skill":"deny","task":"deny","todowrite":"allow","webfetch":"deny","websearch":"deny"}}
        "#);
        insta::assert_snapshot!(told("opencode", &[], &["edit", "shell"], "", Some(&["*", "wheelhouse"])), @r#"
        OPENCODE_CONFIG_CONTENT={"mcp":{"wheelhouse":{"command":["/bin/serve","a \"b\""],"enabled":true,"environment":{"PLACE":"{env:PLACE}","TOKEN":"{env:TOKEN}"},"type":"local"}},"permission":{"bash":{"*":"deny","wheelhouse-none":"deny"},"edit":"deny","wheelhouse_*":"allow"}}
        "#);
        insta::assert_snapshot!(told("opencode", &["*", "shell"], &[], "ask", None), @r#"
        OPENCODE_CONFIG_CONTENT={"permission":{"*":"ask","bash":{"*":"allow","wheelhouse-none":"deny"},"glob":"allow","grep":"allow","list":"allow","question":"allow","read":"allow","todowrite":"allow"}}
        "#);
    }

    #[test]
    fn what_a_cli_cannot_be_told_is_never_left_out_in_silence() {
        let none: Option<&[&str]> = None;
        let cases = [
            told("codex", &["shell(cargo *)"], &[], "", none),
            told("codex", &["read"], &[], "", Some(&["wheelhouse"])),
            told("codex", &[], &["read"], "", none),
            told("codex", &["read"], &[], "all", none),
            told("codex", &[], &["edit"], "ask", none),
            told("gemini", &["shell(make check)"], &[], "", none),
            told("opencode", &[], &[], "", Some(&["wheelhouse"])),
            told("claude", &["raed"], &[], "", none),
            told("claude", &[], &[], "asks", none),
            told("aider", &["read"], &[], "", none),
            told("shell", &[], &[], "", Some(&["wheelhouse"])),
        ];
        insta::assert_snapshot!(cases.join("\n"), @r#"
        The cli `codex` cannot be allowed `shell(cargo *)`
        hint: It knows `shell` as a whole; a cli that tells commands apart is `claude`
        The cli `codex` cannot be held to this: it keeps the servers of its own settings beside others. Say so: `mcp = ["*", …]`
        hint: Ask for less, or give this agent another cli
        The cli `codex` cannot be denied `read`
        hint: It knows `edit`, `shell`, `web`, `agents`
        The cli `codex` cannot be held to this: nothing is kept from it with `mode = "all"`
        hint: Ask for less, or give this agent another cli
        The cli `codex` cannot be held to this: whoever it asks could let it edit files. Leave `mode` out
        hint: Ask for less, or give this agent another cli
        The cli `gemini` cannot be allowed `shell(make check)`
        hint: It knows commands with any further words: `shell(cargo *)`
        The cli `opencode` cannot be held to this: it keeps the servers of its own settings. Say so: `mcp = ["*", …]`, or list all that it may use in `tools`
        hint: Ask for less, or give this agent another cli
        The cli `claude` has no tool `raed`
        hint: Did you mean `read`?
        The cli `claude` has no mode `asks`
        hint: Did you mean `ask`?
        The cli `aider` cannot be told which tools it may use
        hint: Take `tools`, `deny_tools`, `mode` and `mcp` out; where a role has them, `"*"` leaves the cli as it is; or say how with a `[cli.NAME.kit]` of your own
        The cli `shell` cannot be told which tools it may use
        hint: Take `tools`, `deny_tools`, `mode` and `mcp` out; where a role has them, `"*"` leaves the cli as it is; or say how with a `[cli.NAME.kit]` of your own
        "#);
    }

    #[test]
    fn whoever_asks_for_nothing_is_told_nothing() {
        for cli in ["claude", "codex", "gemini", "opencode", "aider", "shell"] {
            assert_eq!(told(cli, &[], &[], "", None), "", "{cli}");
            assert_eq!(told(cli, &["*"], &[], "*", Some(&["*"])), "", "{cli}");
        }
    }
}
