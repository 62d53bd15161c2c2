//! Reads what agents work with: `tools`, `deny_tools`, `mode` and `mcp` of an agent or a role,
//! `[mcp.NAME]`, and how a cli is told, `[cli.NAME.kit]`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::model::{
    AS_IT_IS, Environment, Kit, KitRules, OWN_SERVER, Tool, ToolKind, optional_regular_expression,
};
use crate::template::names_in;

use super::builtin::built_in;
use super::checks::{NoZero, Variable, by_name, checks, command, environment, text};
use super::manifest::set;
use super::problem::{Problems, suggest};
use super::reader::Reader;
use super::team::well_named;
use super::{Agent, Cli, Settings, VariablePattern, outfit};

/// The words that every cli means the same by.
const TOOL_WORDS: &[&str] =
    &["read", "edit", "shell", "shell(COMMAND *)", "web", "agents", "mcp(SERVER)", "*"];
/// What a form may name.
const BLANKS: &[&str] = &[
    "allow",
    "allowed",
    "cannot",
    "denied",
    "deny",
    "files",
    "is_root",
    "may",
    "may_not",
    "mode",
    "names",
    "only",
    "restricted",
    "server_names",
    "servers",
];
/// A list that is longer was not written by hand.
const WORDS_MAX: usize = 256;

/// A program that offers tools to agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Server {
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    #[serde(default, deserialize_with = "environment")]
    pub env: Environment,
    /// Which of the caller's variables it gets beside the usual ones.
    #[serde(default)]
    pub pass_env: Vec<VariablePattern>,
}

impl Settings {
    /// Returns the servers that agents may be given, by name.
    pub fn servers(&self) -> impl Iterator<Item = (&String, &Server)> {
        self.servers.iter()
    }

    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(name)
    }

    /// Returns what the agents of each role work with, where they do not say so themselves.
    pub fn roles(&self) -> impl Iterator<Item = (&String, &Kit)> {
        self.roles.iter()
    }

    /// Returns what an agent works with, as it and its role ask for it.
    pub fn kit_of(&self, agent: &Agent) -> Kit {
        let role = self.roles.get(&agent.role.to_string());
        role.map_or_else(|| agent.kit.clone(), |role| agent.kit.clone().over(role))
    }

    /// Says whether a cli is told otherwise what to work with than is built in.
    pub fn has_own_kit(&self, cli: &str) -> bool {
        let built_in = built_in().clis.remove(cli).map(|cli| cli.kit).unwrap_or_default();
        self.clis.get(cli).is_some_and(|cli| cli.kit != built_in)
    }
}

/// Returns what the table asks for.
pub(super) fn read_kit(
    table: &mut Reader,
    servers: &BTreeMap<String, Server>,
    problems: &mut Problems,
) -> Kit {
    let mut kit: Kit = table.part(problems).unwrap_or_default();
    for key in ["tools", "deny_tools"] {
        check_tools(key, table, problems);
    }
    let denied = kit.deny.get_or_insert_default();
    if denied.contains(&Tool::AsItIs) {
        denied.retain(|tool| *tool != Tool::AsItIs);
        let message = format!("`deny_tools`{} cannot have `*`", table.within());
        let hint = "Name what is denied, or all that is allowed: `tools = [\"read\"]`";
        problems.error(&table.span_of("deny_tools"), &message, Some(hint));
    }
    kit.deny = kit.deny.filter(|_| table.has("deny_tools"));
    for (name, span) in table.items("mcp") {
        known_server(name, &span, servers, problems);
    }
    kit
}

fn check_tools(key: &str, table: &Reader, problems: &mut Problems) {
    let texts = table.items(key);
    if texts.len() > WORDS_MAX {
        let message = format!("`{key}`{} has {} words", table.within(), texts.len());
        problems.error(&table.span_of(key), &message, Some(&format!("Keep at most {WORDS_MAX}")));
    }
    for (text, span) in texts.into_iter().take(WORDS_MAX) {
        let tool = Tool::from(text.to_owned());
        let inner = text.split_once('(').map_or("", |(_, inner)| inner);
        let is_odd = inner.trim_end_matches(')').contains(['(', ')', ',', '"', '\\'])
            || text.contains(char::is_control)
            || matches!(&tool, Tool::Command(words) | Tool::Commands(words) if words.contains('*'))
            || matches!(&tool, Tool::Commands(_) if !inner.ends_with(" *)"));
        if is_odd && tool.kind().is_some() {
            let message = format!("`{text}` cannot name a tool");
            let hint = "Write plain words, with ` *` at the end alone, for any further words: `shell(cargo *)`";
            problems.error(&span, &message, Some(hint));
        }
    }
}

fn known_server(
    name: &str,
    span: &std::ops::Range<usize>,
    servers: &BTreeMap<String, Server>,
    problems: &mut Problems,
) {
    if name != AS_IT_IS && name != OWN_SERVER && !servers.contains_key(name) {
        let known = servers.keys().map(String::as_str).chain([OWN_SERVER]);
        let hint = format!("{}; one of your own needs `[mcp.{name}]`", suggest(name, known));
        problems.error(span, &format!("Unknown server `{name}`"), Some(&hint));
    }
}

/// Notes what a cli cannot be told of what is asked for, where that is known before it starts.
pub(super) fn check_kit(
    (name, cli): (&str, &Cli),
    kit: &Kit,
    table: &Reader,
    problems: &mut Problems,
) {
    if cli.is_any_agent() {
        return;
    }
    if let Err(lack) = outfit::try_on(name, &cli.kit, kit) {
        let keys = ["tools", "deny_tools", "mode", "mcp"];
        let key = keys.iter().find(|key| table.has(key)).unwrap_or(&"cli");
        let span = lack
            .key
            .filter(|key| table.has(key))
            .map_or_else(|| table.span_of(key), |key| table.span_of(key));
        problems.error(&span, &lack.message, Some(&lack.hint));
    }
}

/// Returns the server that the table describes.
pub(super) fn read_server(
    name: &Spanned<String>,
    mut table: Reader,
    problems: &mut Problems,
) -> Option<Server> {
    let is_good = well_named("server", name, problems);
    if name.as_ref() == OWN_SERVER {
        let message = format!("The server `{OWN_SERVER}` is built in");
        problems.error(&name.span(), &message, Some("Choose another name"));
    }
    // Whoever names it is not told that it is unknown, too.
    let server = table.part::<Server>(problems).unwrap_or_default();
    table.finish(problems);
    (is_good && name.as_ref() != OWN_SERVER).then_some(server)
}

/// How a cli is told what to work with, as far as one file says so.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KitTable {
    allow: BTreeMap<ToolKind, Vec<String>>,
    deny: BTreeMap<ToolKind, Vec<String>>,
    #[serde(deserialize_with = "optional_regular_expression")]
    own: Option<String>,
    modes: Option<Vec<String>>,
    repeats: Option<Vec<String>>,
    #[serde(deserialize_with = "text::<_, Form, _>")]
    args: Option<String>,
    #[serde(deserialize_with = "by_name::<_, Variable, Form, _>")]
    env: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "by_name::<_, FileName, Form, _>")]
    files: Option<BTreeMap<String, String>>,
}

checks! {
    /// The name of a file of the run.
    FileName => |name| (name.contains('/') || name.starts_with('.') || name.is_empty())
        .then(|| format!("`{name}` cannot name a file\nhint: Use a plain name, such as `mcp.json`"));

    /// A form that names nothing but what it can be filled with.
    Form => |text| NoZero::fault(text).or_else(|| match names_in(text) {
        Err(fault) => Some(format!("On line {} of the form: {fault}", fault.line)),
        Ok(names) => {
            let name = names.iter().find(|name| !BLANKS.contains(&name.as_str()))?;
            let hint = suggest(name, BLANKS.iter().copied());
            Some(format!("The form has no blank `{name}`\nhint: {hint}"))
        }
    });
}

/// Changes how a cli is told, as the table says.
pub(super) fn apply(rules: &mut KitRules, mut table: Reader, problems: &mut Problems) {
    let found: KitTable = table.part(problems).unwrap_or_default();
    table.finish(problems);
    rules.allow.extend(found.allow);
    rules.deny.extend(found.deny);
    rules.own = found.own.or(rules.own.take());
    set(&mut rules.modes, found.modes);
    set(&mut rules.repeats, found.repeats);
    set(&mut rules.arguments, found.args);
    set(&mut rules.environment, found.env);
    set(&mut rules.files, found.files);
}

/// Returns the hint for a word that is no tool.
pub(super) fn nearest_tool(word: &str) -> String {
    suggest(word, TOOL_WORDS.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layer::apply;
    use super::super::settings::Origin;
    use super::*;

    fn applied(text: &str) -> (Settings, String) {
        let mut settings = built_in();
        let found = apply(&mut settings, Path::new("f"), text, Origin::User).errors;
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        (settings, told.join("\n"))
    }

    #[test]
    fn an_agent_and_its_role_say_what_it_works_with() {
        let (settings, told) = applied(
            "[mcp.github]\ncommand = ['serve']\nenv = { A = 'b' }\npass_env = ['GITHUB_*']\n\
             [role.worker]\ntools = ['read', 'shell(cargo *)']\nmcp = ['wheelhouse']\n\
             [[team.t.agents]]\nname = 'a'\ncli = 'claude'\ndeny_tools = ['web']\n\
             [[team.t.agents]]\nname = 'b'\ncli = 'claude'\ntools = ['*']\nmcp = ['*', 'github']\nmode = 'edits'\n\
             [[team.t.agents]]\nname = 'c'\ncli = 'shell'\nrole = 'lead'\n",
        );
        assert_eq!(told, "");
        let kit = |at: usize| settings.kit_of(&settings.team("t").unwrap().agents[at]);
        assert!(kit(0).is_restricted() && kit(0).has_only_named_servers());
        assert_eq!(kit(0).denied(), [Tool::Web]);
        assert!(!kit(1).is_restricted() && !kit(1).has_only_named_servers());
        assert_eq!(kit(1).named_servers().collect::<Vec<_>>(), ["github"]);
        assert!(kit(2).is_empty());
        assert_eq!(settings.server("github").unwrap().command, ["serve"]);
    }

    #[test]
    fn what_cannot_be_had_is_told_with_its_place() {
        insta::assert_snapshot!(applied(
            "[mcp.wheelhouse]\ncommand = ['x']\n[mcp.y]\ncomand = 1\n[role.boss]\ntools = ['read']\n\
             [[team.t.agents]]\nname = 'a'\ncli = 'codex'\ntools = ['read', 'shell(cargo *)']\n\
             [[team.t.agents]]\nname = 'b'\ncli = 'claude'\ntools = ['raed']\nmcp = ['gihtub']\n\
             [[team.t.agents]]\nname = 'c'\ncli = 'claude'\nmode = 'refsue'\ndeny_tools = ['*', 'shell(a*b)']\n\
             [[team.t.agents]]\nname = 'd'\ncli = 'shell'\nmcp = ['wheelhouse']\n\
             [cli.claude.kit]\nargs = '{% if x %}'\nenv = { A = '{{ severs }}' }\nfiles = { '../x' = '' }\n\
             [cli.claude.kit.allow]\nraed = []\n"
        ).1, @r#"
        f:1:6: The server `wheelhouse` is built in
        hint: Choose another name
        f:3:1: No `command` in `[mcp.y]`
        hint: Add the program and its arguments: `command = ["program", "argument"]`
        f:4:1: Unknown key `comand` in `[mcp.y]`
        hint: Did you mean `command`?
        f:5:7: Unknown role `boss`
        hint: Use one of `lead`, `orchestrator`, `verifier`, `worker`
        f:10:9: The cli `codex` cannot be allowed `shell(cargo *)`
        hint: It knows `shell` as a whole; a cli that tells commands apart is `claude`
        f:14:9: The cli `claude` has no tool `raed`
        hint: Did you mean `read`?
        f:15:8: Unknown server `gihtub`
        hint: Use one of `wheelhouse`, `y`; one of your own needs `[mcp.gihtub]`
        f:19:8: The cli `claude` has no mode `refsue`
        hint: Did you mean `refuse`?
        f:20:14: `deny_tools` in `[[team.t.agents]]` cannot have `*`
        hint: Name what is denied, or all that is allowed: `tools = ["read"]`
        f:20:20: `shell(a*b)` cannot name a tool
        hint: Write plain words, with ` *` at the end alone, for any further words: `shell(cargo *)`
        f:24:7: The cli `shell` cannot be told which tools it may use
        hint: Take `tools`, `deny_tools`, `mode` and `mcp` out; where a role has them, `"*"` leaves the cli as it is; or say how with a `[cli.NAME.kit]` of your own
        f:26:8: On line 1 of the form: Not a template: unexpected end of input, expected end of block
        f:27:13: The form has no blank `severs`
        hint: Did you mean `servers`?
        f:28:11: `../x` cannot name a file
        hint: Use a plain name, such as `mcp.json`
        f:30:1: Unknown key `raed` in `[cli.claude.kit.allow]`
        hint: Did you mean `read`?
        "#);
    }
}
