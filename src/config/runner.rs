//! Places other than this machine where agents can run: `[runner.NAME]`.

use serde::Deserialize;

use crate::model::{ContainerEngine, Place, Runner};

use super::VariablePattern;
use super::checks::{Filled, NoZero, checks, text, texts};
use super::problem::Problems;
use super::reader::Reader;

/// A runner that every team may name: this machine.
pub(super) const LOCAL: &str = "local";

/// A host, an image or a pod is named in a line.
const TARGET_BYTES_MAX: usize = 512;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ssh,
    Docker,
    Podman,
    Kubectl,
}

/// What the table of any runner says.
#[derive(Deserialize)]
struct RunnerTable {
    kind: Kind,
    #[serde(default, deserialize_with = "texts::<_, NoZero>")]
    arguments: Vec<String>,
    #[serde(default, deserialize_with = "text::<_, Filled, _>")]
    program: Option<String>,
    #[serde(default, deserialize_with = "text::<_, Filled, _>")]
    directory: Option<String>,
    #[serde(default)]
    pass_env: Vec<VariablePattern>,
}

#[derive(Deserialize)]
struct SshTable {
    #[serde(deserialize_with = "text::<_, Target, _>")]
    host: String,
}

#[derive(Deserialize)]
struct ContainerTable {
    #[serde(default, deserialize_with = "text::<_, Target, _>")]
    container: Option<String>,
    #[serde(default, deserialize_with = "text::<_, Target, _>")]
    image: Option<String>,
}

#[derive(Deserialize)]
struct PodTable {
    #[serde(deserialize_with = "text::<_, Target, _>")]
    pod: String,
    #[serde(default, deserialize_with = "text::<_, Target, _>")]
    container: Option<String>,
    #[serde(default, deserialize_with = "text::<_, Target, _>")]
    namespace: Option<String>,
    #[serde(default, deserialize_with = "text::<_, Target, _>")]
    context: Option<String>,
}

checks! {
    /// A name that no program can take for an option, or for two words.
    Target => |name| {
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        let fits = (1..=TARGET_BYTES_MAX).contains(&name.len());
        let hint = "Write it in one word that does not begin with a dash";
        (!fits || name.starts_with('-') || name.contains(is_odd))
            .then(|| format!("`{name}` leads nowhere\nhint: {hint}"))
    };
}

/// Returns the runner that the table describes, if it describes one.
pub(super) fn read_runner(
    name: &str,
    mut table: Reader,
    problems: &mut Problems,
) -> Option<Runner> {
    // Which keys the table may have depends on its kind.
    let found = table.part::<RunnerTable>(problems)?;
    let place = read_place(found.kind, &mut table, problems);
    table.finish(problems);
    let RunnerTable { arguments, program, directory, pass_env, .. } = found;
    Some(Runner {
        name: name.to_owned(),
        place: place?,
        arguments,
        program: program.unwrap_or_else(|| "wheelhouse".to_owned()),
        directory,
        pass_env: pass_env.iter().map(ToString::to_string).collect(),
    })
}

fn read_place(kind: Kind, table: &mut Reader, problems: &mut Problems) -> Option<Place> {
    match kind {
        Kind::Ssh => {
            let SshTable { host } = table.part(problems)?;
            Some(Place::Ssh { host })
        }
        Kind::Docker => read_container(ContainerEngine::Docker, table, problems),
        Kind::Podman => read_container(ContainerEngine::Podman, table, problems),
        Kind::Kubectl => {
            let PodTable { pod, container, namespace, context } = table.part(problems)?;
            Some(Place::Pod { pod, container, namespace, context })
        }
    }
}

fn read_container(
    engine: ContainerEngine,
    table: &mut Reader,
    problems: &mut Problems,
) -> Option<Place> {
    let ContainerTable { container, image } = table.part(problems)?;
    match (container, image) {
        (Some(container), None) => Some(Place::Container { engine, container }),
        (None, Some(image)) => Some(Place::Image { engine, image }),
        // One that is there and wrong has been told.
        (None, None) if table.has("container") || table.has("image") => None,
        (both, _) => {
            let words = if both.is_some() { ("Both", "and") } else { ("Neither", "nor") };
            let (first, second) = words;
            let message = format!("{first} `container` {second} `image`{}", table.within());
            let hint = "Name a `container` that runs already, or an `image` from which each agent \
                        gets one of its own";
            problems.error(table.span(), &message, Some(hint));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin::built_in;
    use super::super::layer::apply;
    use super::super::settings::{Origin, Settings};

    fn applied(text: &str) -> (Settings, String) {
        let mut settings = built_in();
        let file = std::path::Path::new("w.toml");
        let problems = apply(&mut settings, file, text, Origin::User);
        let shown: Vec<String> = problems.errors.iter().map(ToString::to_string).collect();
        (settings, shown.join("\n"))
    }

    #[test]
    fn every_kind_is_read() {
        let (settings, errors) = applied(
            r#"
            [runner.box]
            kind = "ssh"
            host = "me@box"
            arguments = ["-p", "2222"]
            program = "~/bin/wheelhouse"
            directory = "work"
            pass_env = ["ANTHROPIC_*"]
            [runner.jail]
            kind = "docker"
            image = "node:22"
            [runner.pet]
            kind = "podman"
            container = "pet"
            [runner.cloud]
            kind = "kubectl"
            pod = "dev-0"
            namespace = "team"
            [[team.t.agents]]
            name = "a"
            cli = "shell"
            runner = "box"
            limits = { memory = "1.5G", cpu = 0.5, processes = 64 }
            [[team.t.agents]]
            name = "b"
            cli = "shell"
            runner = "local"
            sandbox = "bubblewrap"
            writable = ["~/.claude"]
            hidden = ["~/.ssh"]
            network = false
            "#,
        );
        assert_eq!(errors, "");
        let names: Vec<String> = settings.runners().map(ToString::to_string).collect();
        assert_eq!(
            names,
            [
                "box (ssh me@box)",
                "cloud (kubectl dev-0)",
                "jail (docker node:22)",
                "pet (podman pet)"
            ]
        );
        let agents = &settings.team("t").unwrap().agents;
        let runner = agents[0].posting.runner.as_ref().unwrap();
        assert_eq!((runner.arguments.len(), runner.program.as_str()), (2, "~/bin/wheelhouse"));
        assert_eq!(runner.pass_env, ["ANTHROPIC_*"]);
        let limits = agents[0].posting.confinement.limits;
        assert_eq!(limits.memory_bytes, Some(3 * 512 * 1024 * 1024));
        assert_eq!((limits.cpu_hundredths, limits.processes), (Some(50), Some(64)));
        assert_eq!(agents[1].posting.runner, None);
        let sandbox = agents[1].posting.confinement.sandbox.clone().unwrap();
        assert_eq!(sandbox.writable, ["~/.claude"]);
        assert_eq!(sandbox.hidden, ["~/.ssh"]);
        assert!(!sandbox.has_network);
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        insta::assert_snapshot!(applied(
            "[runner.local]\nkind = 'ssh'\nhost = 'x'\n[runner.a]\n[runner.b]\nkind = 'shh'\n\
             [runner.c]\nkind = 'ssh'\nhost = '-oProxyCommand=x'\n[runner.d]\nkind = 'docker'\n\
             [runner.e]\nkind = 'kubectl'\nhost = 'x'\npass_env = ['*']\n\
             [[team.t.agents]]\nname = 'x'\ncli = 'shell'\nrunner = 'bx'\nwritable = ['a']\n\
             limits = { memory = '4 elephants', cpu = 0, processes = 0, disk = 1 }\n"
        ).1, @r#"
        w.toml:1:9: The runner `local` is this machine
        hint: Give it another name
        w.toml:4:1: No `kind` in `[runner.a]`
        hint: Add `kind = "ssh"`, or `docker`, `podman` or `kubectl`
        w.toml:6:8: Unknown kind `shh` in `[runner.b]`
        hint: Did you mean `ssh`?
        w.toml:9:8: `-oProxyCommand=x` leads nowhere
        hint: Write it in one word that does not begin with a dash
        w.toml:10:1: Neither `container` nor `image` in `[runner.d]`
        hint: Name a `container` that runs already, or an `image` from which each agent gets one of its own
        w.toml:12:1: No `pod` in `[runner.e]`
        hint: Add `pod = "…"`
        w.toml:14:1: Unknown key `host` in `[runner.e]`
        hint: Use one of `arguments`, `container`, `context`, `directory`, `kind`, `namespace`, `pass_env`, `pod`, `program`
        w.toml:15:13: `*` is not the name of a variable, nor the beginning of one followed by `*`
        hint: Write names such as `OPENAI_API_KEY`, or their beginning: `OPENAI_*`
        w.toml:19:10: Unknown runner `bx`
        hint: Use one of `local`, or add `[runner.bx]`
        w.toml:20:12: `writable` in `[[team.t.agents]]` is about a sandbox, and there is none
        hint: Add `sandbox = "bubblewrap"`
        w.toml:20:13: `a` in `writable` does not say where it begins
        hint: Begin it with `/` or `~/`
        w.toml:21:21: `4 elephants` is no amount of memory
        hint: Write it as `512M` or `4G`, at least `16M`
        w.toml:21:42: `cpu` in `[team.t.agents.limits]` is out of range
        hint: Use a number from 0.01 to 1024
        w.toml:21:57: `processes` in `[team.t.agents.limits]` is out of range
        hint: Use a number from 1 to 1000000
        w.toml:21:60: Unknown key `disk` in `[team.t.agents.limits]`
        hint: Use one of `cpu`, `memory`, `processes`
        "#);
    }
}
