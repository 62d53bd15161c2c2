//! Builds the command that runs something remotely, as a list of words without a shell.

use std::path::{Path, PathBuf};

use super::quote::{quoted, quoted_program};
use crate::model::{AgentName, ContainerEngine, Limits, Place, Runner, SessionName};

/// Nobody is asked for a password in the background; a host that does not answer is given up, and a
/// connection that died without a word is noticed.
const SSH_OPTIONS: &[&str] = &[
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=10",
    "-o",
    "ServerAliveCountMax=3",
];

/// Where our own binary is found in a container that was made for an agent.
const PROGRAM_INSIDE: &str = "/usr/local/bin/wheelhouse";
/// What a runner's `program` is unless the settings say otherwise.
const PROGRAM_DEFAULT: &str = "wheelhouse";

/// Whose agent it is, so that the hubs of several projects and machines can share a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub session: SessionName,
    /// Tells two hubs with the same session name apart.
    pub home: String,
    pub agent: AgentName,
}

/// The way to one agent's keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub runner: Runner,
    pub address: Address,
}

/// What of this machine is found in an agent's own container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    pub is_readonly: bool,
}

impl Way {
    /// Returns what opens a line to the agent's keeper on its standard input and output.
    pub fn line(&self) -> Vec<String> {
        let Address { session, home, agent } = &self.address;
        let words = ["link", "--session", &session.0, "--home", home, "--agent", agent.as_str()];
        self.there(&words)
    }

    /// Returns what does something about the agent's workspace there.
    pub fn space(&self) -> Vec<String> {
        let Address { session, home, agent } = &self.address;
        let words = ["space", "--session", &session.0, "--home", home, "--agent", agent.as_str()];
        self.there(&words)
    }

    /// Returns below which directory there the workspaces are.
    pub fn workspaces(&self) -> String {
        match &self.runner.directory {
            Some(directory) => format!("{}.workspaces", directory.trim_end_matches('/')),
            None => "~/wheelhouse-workspaces".to_owned(),
        }
    }

    /// Returns what tells how things stand there, in JSON. An image is tried in a container of its own,
    /// which has the project mounted like that of an agent.
    pub fn look(&self, program: &Path, project: &Path) -> Vec<String> {
        let Place::Image { engine, image } = &self.runner.place else {
            return self.there(&["look", "--directory", self.directory(None)]);
        };
        let mounted = project.display().to_string();
        let directory = self.runner.directory.as_deref().unwrap_or(&mounted);
        let words = ["look", "--directory", directory];
        let mut argv = owned([engine.name(), "run", "--rm"]);
        argv.extend(["--mount".to_owned(), mount(project, project, false)]);
        argv.extend(self.mounted_program(program));
        argv.extend(self.runner.arguments.iter().cloned());
        argv.extend(owned(["--entrypoint", self.program(), image, "far"]));
        argv.extend(owned(words));
        argv
    }

    /// Returns what takes a bundle of commits on its standard input.
    pub fn receive(&self, directory: Option<&str>) -> Vec<String> {
        self.there(&["receive", "--directory", self.directory(directory)])
    }

    /// Returns what prints a bundle of all branches.
    pub fn send(&self, directory: Option<&str>) -> Vec<String> {
        self.there(&["send", "--directory", self.directory(directory)])
    }

    fn directory<'d>(&'d self, other: Option<&'d str>) -> &'d str {
        other.or(self.runner.directory.as_deref()).unwrap_or("~")
    }

    /// Returns what makes our own binary known in a container, unless its image has one.
    fn mounted_program(&self, program: &Path) -> Vec<String> {
        if self.runner.program != PROGRAM_DEFAULT {
            return Vec::new();
        }
        vec!["--mount".to_owned(), mount(program, Path::new(PROGRAM_INSIDE), true)]
    }

    /// Returns what runs our binary there with these words.
    fn there(&self, words: &[&str]) -> Vec<String> {
        let Runner { place, arguments, .. } = &self.runner;
        let program = self.program();
        let command = || [&[program, "far"], words].concat();
        let argv: Vec<&str> = match place {
            Place::Ssh { host } => {
                let far = [&["far"], words].concat();
                let text = format!("exec {} {}", quoted_program(program), quoted(far));
                let options = SSH_OPTIONS.iter().copied().chain(texts(arguments));
                let argv = ["ssh"].into_iter().chain(options).chain(["--", host]);
                return argv.map(str::to_owned).chain([text]).collect();
            }
            Place::Container { engine, container } => {
                let begin = [engine.name(), "exec", "-i"];
                begin.into_iter().chain(texts(arguments)).chain([container.as_str()]).collect()
            }
            Place::Image { engine, .. } => {
                let own = self.container();
                let argv = [engine.name(), "exec", "-i", own.as_str()];
                return owned(argv.into_iter().chain(command()));
            }
            Place::Pod { pod, container, namespace, context } => {
                let option = |flag: &'static str, value: &'_ Option<String>| {
                    value.clone().map(|value| [flag.to_owned(), value]).into_iter().flatten()
                };
                let mut argv = vec!["kubectl".to_owned()];
                argv.extend(option("--context", context));
                argv.extend(option("--namespace", namespace));
                argv.extend(["exec".to_owned(), "-i".to_owned()]);
                argv.extend(option("--container", container));
                argv.extend(arguments.iter().cloned());
                argv.extend([pod.clone(), "--".to_owned()]);
                argv.extend(owned(command()));
                return argv;
            }
        };
        owned(argv.into_iter().chain(command()))
    }

    /// Returns what makes the agent's own container, if it has one, and starts nothing in it yet.
    ///
    /// What is mounted is found inside under the path that it has here, so that whoever checks the
    /// work sees the same files.
    pub fn make(&self, program: &Path, mounts: &[Mount], limits: Limits) -> Option<Vec<String>> {
        let Place::Image { engine, image } = &self.runner.place else { return None };
        let mut argv = owned([engine.name(), "run", "--detach", "--name"]);
        argv.extend([self.container(), "--label".to_owned()]);
        argv.push(format!("wheelhouse={}", self.address.session));
        // An image may want another, which what we start in it does not know.
        argv.extend(owned(["--stop-signal", "SIGTERM"]));
        for Mount { path, is_readonly } in mounts {
            argv.extend(["--mount".to_owned(), mount(path, path, *is_readonly)]);
        }
        argv.extend(self.mounted_program(program));
        argv.extend(limits_of_engine(limits));
        argv.extend(self.runner.arguments.iter().cloned());
        // Whatever the image would start is not started: only its files are wanted. What stands there
        // instead is our own, since neither an init nor `sleep` is in every engine and image.
        argv.extend(owned(["--entrypoint", self.program(), image, "far", "hold"]));
        Some(argv)
    }

    /// Returns what prints in one word how the container stands in which the agent runs.
    pub fn standing(&self) -> Option<Vec<String>> {
        let (engine, name) = match &self.runner.place {
            Place::Image { engine, .. } => (engine, self.container()),
            Place::Container { engine, container } => (engine, container.clone()),
            Place::Ssh { .. } | Place::Pod { .. } => return None,
        };
        let form = ["container", "inspect", "--format", "{{.State.Status}}", &name];
        Some(owned([engine.name()].into_iter().chain(form)))
    }

    /// Returns what prints the last words of the agent's own container.
    pub fn last_words(&self) -> Option<Vec<String>> {
        self.about_container(&["logs", "--tail", "5"])
    }

    /// Returns what ends the agent's own container with all that runs in it.
    pub fn remove(&self) -> Option<Vec<String>> {
        self.about_container(&["rm", "--force", "--volumes"])
    }

    /// Returns what prints every container of this name, running or not.
    pub fn list(&self) -> Option<Vec<String>> {
        let engine = self.own_engine()?;
        let filter = format!("name=^{}$", self.container());
        Some(owned([engine.name(), "ps", "--all", "--quiet", "--filter", &filter]))
    }

    fn about_container(&self, words: &[&str]) -> Option<Vec<String>> {
        let (engine, own) = (self.own_engine()?, self.container());
        Some(owned([&[engine.name()], words, &[&own]].concat()))
    }

    fn own_engine(&self) -> Option<ContainerEngine> {
        match &self.runner.place {
            Place::Image { engine, .. } => Some(*engine),
            Place::Ssh { .. } | Place::Container { .. } | Place::Pod { .. } => None,
        }
    }

    fn program(&self) -> &str {
        match &self.runner.place {
            Place::Image { .. } if self.runner.program == PROGRAM_DEFAULT => PROGRAM_INSIDE,
            Place::Image { .. }
            | Place::Ssh { .. }
            | Place::Container { .. }
            | Place::Pod { .. } => &self.runner.program,
        }
    }

    /// Returns the name of the agent's own container.
    fn container(&self) -> String {
        let Address { session, home, agent } = &self.address;
        let inside = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let name = format!("wheelhouse-{session}-{home}-{agent}");
        name.chars().map(|c| if inside(c) { c } else { '-' }).collect()
    }
}

fn limits_of_engine(limits: Limits) -> Vec<String> {
    let memory = limits.memory_bytes.map(|bytes| ["--memory".to_owned(), bytes.to_string()]);
    let cpu = limits.cpu_hundredths.map(|hundredths| {
        ["--cpus".to_owned(), format!("{}.{:02}", hundredths / 100, hundredths % 100)]
    });
    let processes = limits.processes.map(|count| ["--pids-limit".to_owned(), count.to_string()]);
    [memory, cpu, processes].into_iter().flatten().flatten().collect()
}

/// Returns a mount as the engines read it: fields between commas, quoted where they hold one.
fn mount(source: &Path, target: &Path, is_readonly: bool) -> String {
    let field = |name: &str, path: &Path| {
        let text = format!("{name}={}", path.display());
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    let end = if is_readonly { ",readonly" } else { "" };
    format!("type=bind,{},{}{end}", field("source", source), field("target", target))
}

fn texts(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().map(String::as_str)
}

fn owned<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(place: Place, arguments: &[&str], program: &str) -> Way {
        let runner = Runner {
            name: "r".to_owned(),
            place,
            arguments: owned(arguments.iter().copied()),
            program: program.to_owned(),
            directory: None,
            pass_env: Vec::new(),
        };
        let session = SessionName("shop-1a2b".to_owned());
        let agent = "api".parse().unwrap();
        Way { runner, address: Address { session, home: "00ff".to_owned(), agent } }
    }

    const FAR: &str = "far link --session shop-1a2b --home 00ff --agent api";

    #[test]
    fn a_host_gets_one_text_that_its_shell_reads_as_these_words() {
        let place = || Place::Ssh { host: "me@box".to_owned() };
        let argv = way(place(), &["-p", "2222"], "~/my bin/wheelhouse").line();
        let (text, rest) = argv.split_last().unwrap();
        assert_eq!(*text, format!("exec ~/'my bin/wheelhouse' {FAR}"));
        assert_eq!(rest[rest.len() - 4..], ["-p", "2222", "--", "me@box"]);
        assert_eq!(rest[..4], ["ssh", "-T", "-o", "BatchMode=yes"]);
    }

    #[test]
    fn a_pod_and_a_container_get_the_words_as_they_are() {
        let pod = Place::Pod {
            pod: "dev-0".to_owned(),
            container: Some("main".to_owned()),
            namespace: Some("team".to_owned()),
            context: None,
        };
        assert_eq!(
            way(pod, &["--request-timeout=0"], "/opt/wheelhouse").line().join(" "),
            format!(
                "kubectl --namespace team exec -i --container main --request-timeout=0 dev-0 -- \
                 /opt/wheelhouse {FAR}"
            )
        );
        let engine = ContainerEngine::Podman;
        let pet = way(Place::Container { engine, container: "pet".to_owned() }, &[], "wheelhouse");
        assert_eq!(pet.line().join(" "), format!("podman exec -i pet wheelhouse {FAR}"));
        assert_eq!(pet.make(Path::new("/w"), &[], Limits::default()), None);
        assert_eq!((pet.remove(), pet.list(), pet.last_words()), (None, None, None));
        assert_eq!(
            pet.standing().unwrap().join(" "),
            "podman container inspect --format {{.State.Status}} pet"
        );
    }

    #[test]
    fn an_image_becomes_a_container_of_the_agents_own_with_its_limits() {
        let place = Place::Image { engine: ContainerEngine::Docker, image: "node:22".to_owned() };
        let jail = way(place, &["--network", "none"], PROGRAM_DEFAULT);
        let limits =
            Limits { memory_bytes: Some(1 << 30), cpu_hundredths: Some(150), processes: Some(64) };
        let mounts = [Mount { path: "/a,b".into(), is_readonly: false }];
        let made = jail.make(Path::new("/bin/wheelhouse"), &mounts, limits).unwrap();
        assert_eq!(
            made.join(" "),
            "docker run --detach --name wheelhouse-shop-1a2b-00ff-api --label \
             wheelhouse=shop-1a2b --stop-signal SIGTERM --mount \
             type=bind,\"source=/a,b\",\"target=/a,b\" --mount \
             type=bind,source=/bin/wheelhouse,target=/usr/local/bin/wheelhouse,readonly --memory \
             1073741824 --cpus 1.50 --pids-limit 64 --network none --entrypoint \
             /usr/local/bin/wheelhouse node:22 far hold"
        );
        assert_eq!(
            jail.line().join(" "),
            format!("docker exec -i wheelhouse-shop-1a2b-00ff-api /usr/local/bin/wheelhouse {FAR}")
        );
        let looked = jail.look(Path::new("/bin/wheelhouse"), Path::new("/p")).join(" ");
        assert!(looked.contains("--mount type=bind,source=/p,target=/p "), "{looked}");
        assert!(looked.ends_with("node:22 far look --directory /p"), "{looked}");
        assert_eq!(
            jail.remove().unwrap().join(" "),
            "docker rm --force --volumes wheelhouse-shop-1a2b-00ff-api"
        );
    }
}
