//! Builds the bubblewrap command of a sandbox: the workspace writable, and little else.

use std::env;
use std::path::{Path, PathBuf};

use crate::model::{Launch, Sandbox};

/// What no sandboxed agent sees. Sockets lie here whose owners do whatever they are asked: the service
/// manager, the container engines, the key rings, and our own keepers and hubs.
const HIDDEN: &[&str] = &["/run", "/var/run", "/tmp", "/var/tmp"];

/// Names are looked up by way of these files, which are links into `/run` on many machines.
const NEEDED: &[&str] = &["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/// The variable with which an agent is told where our program is: by that it reports, and so do its hooks.
const OWN_PROGRAM: &str = "WHEELHOUSE_BIN";

/// Returns the command that runs the agent in its sandbox.
pub(super) fn bubblewrap(sandbox: &Sandbox, launch: &Launch) -> Result<Vec<String>, String> {
    let path = launch.environment.0.get("PATH").map(String::as_str).unwrap_or_default();
    let own = env::var("PATH").unwrap_or_default();
    let mut places = env::split_paths(path).chain(env::split_paths(&own));
    let program = places.find_map(|entry| Some(entry.join("bwrap")).filter(|one| one.is_file()));
    let Some(program) = program else {
        return Err("Its sandbox needs the program `bwrap` (bubblewrap), which is not there".into());
    };
    let mut words = vec![program.display().to_string()];
    words.extend(arguments(sandbox, launch, &|path| path.exists()));
    words.extend(launch.argv.iter().cloned());
    Ok(words)
}

/// Later words lie over earlier ones: first everything, then what is hidden, then what is seen again.
fn arguments(sandbox: &Sandbox, launch: &Launch, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let home = launch.environment.0.get("HOME").map(Path::new);
    let mut words = Vec::new();
    let mut add = |parts: &[&str]| words.extend(parts.iter().map(ToString::to_string));
    // A new PID namespace: what is inside sees and signals nothing outside, and dies as a whole.
    add(&["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
    if !sandbox.has_network {
        add(&["--unshare-net"]);
    }
    add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    let expanded = |text: &String| expand(text, home);
    let listed: Vec<PathBuf> = sandbox.hidden.iter().filter_map(expanded).collect();
    // What is a link is hidden where it leads.
    let usual = HIDDEN.iter().map(PathBuf::from).filter(|path| !path.is_symlink());
    for path in usual.chain(listed).filter(|path| exists(path)) {
        let text = path.display().to_string();
        if path.is_dir() {
            add(&["--tmpfs", &text]);
        } else {
            add(&["--ro-bind", "/dev/null", &text]);
        }
    }
    for path in NEEDED.iter().filter(|path| exists(Path::new(path))) {
        add(&["--ro-bind", path, path]);
    }
    // That one file, whatever hides it. What is writable comes later: who works on our own sources may
    // build them anew.
    if let Some(own) = launch.environment.0.get(OWN_PROGRAM).filter(|own| exists(Path::new(own))) {
        add(&["--ro-bind", own, own]);
    }
    for path in sandbox.shown.iter().filter_map(expanded) {
        let text = path.display().to_string();
        add(&["--ro-bind-try", &text, &text]);
    }
    for path in sandbox.writable.iter().filter_map(expanded).filter(|path| exists(path)) {
        let text = path.display().to_string();
        add(&["--bind", &text, &text]);
    }
    for path in sandbox.seen.iter().filter_map(expanded) {
        let text = path.display().to_string();
        add(&["--ro-bind-try", &text, &text]);
    }
    add(&["--chdir", &launch.cwd.display().to_string(), "--"]);
    words
}

fn expand(text: &String, home: Option<&Path>) -> Option<PathBuf> {
    match text.strip_prefix("~/") {
        Some(below) => home.map(|home| home.join(below)),
        None => Some(PathBuf::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Confinement, Environment, Size};

    fn launch(variables: &[(&str, &str)]) -> Launch {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = Environment(variables.iter().map(own).collect());
        let (argv, cwd) = (vec!["agent".to_owned()], PathBuf::from("/work/sub"));
        let confinement = Confinement::default();
        Launch { argv, cwd, environment, size: Size::default(), confinement }
    }

    #[test]
    fn our_own_program_is_seen_whatever_hides_it_and_is_no_obstacle_to_who_may_write_there() {
        let sandbox = Sandbox {
            writable: vec!["/tmp/clone".to_owned()],
            hidden: vec!["/opt/our own".to_owned()],
            ..Sandbox::default()
        };
        let place = |words: &[String], wanted: [&str; 3]| {
            let found = words.windows(3).position(|three| three == wanted);
            found.unwrap_or_else(|| panic!("{wanted:?} in {words:?}"))
        };
        for own in ["/tmp/clone/target/debug/wheelhouse", "/opt/our own/wheelhouse", "/run/größer"]
        {
            let words = arguments(&sandbox, &launch(&[("WHEELHOUSE_BIN", own)]), &|_| true);
            let shown = place(&words, ["--ro-bind", own, own]);
            for hides in ["/tmp", "/run"] {
                assert!(
                    words[..shown].windows(2).any(|two| two == ["--tmpfs", hides]),
                    "{words:?}"
                );
            }
            assert!(words[..shown].contains(&"/opt/our own".to_owned()), "{words:?}");
            assert!(shown < place(&words, ["--bind", "/tmp/clone", "/tmp/clone"]));
        }
        let gone = arguments(&sandbox, &launch(&[("WHEELHOUSE_BIN", "/gone")]), &|_| false);
        assert!(!gone.contains(&"/gone".to_owned()), "bubblewrap would refuse to start: {gone:?}");
    }

    #[test]
    fn only_what_is_listed_is_writable_and_sockets_are_out_of_sight() {
        let sandbox = Sandbox {
            writable: vec!["/work".to_owned(), "~/.claude".to_owned(), "/gone".to_owned()],
            hidden: vec!["/secret".to_owned()],
            shown: vec!["/p/.git".to_owned()],
            seen: vec!["/run/w/api.d".to_owned()],
            has_network: false,
        };
        let exists = |path: &Path| {
            let is_inside = path.starts_with("/run") && path != Path::new("/run");
            path != Path::new("/gone") && !is_inside
        };
        let words = arguments(&sandbox, &launch(&[("HOME", "/h")]), &exists);
        let text = words.join(" ");
        assert!(text.starts_with("--die-with-parent --unshare-pid"), "{text}");
        assert!(text.contains("--unshare-net --ro-bind / / --dev /dev"), "{text}");
        assert!(text.contains("--tmpfs /run"), "{text}");
        assert!(text.contains("/dev/null /secret"), "{text}");
        assert!(
            text.ends_with(
                "--ro-bind-try /p/.git /p/.git --bind /work /work --bind /h/.claude /h/.claude --ro-bind-try /run/w/api.d \
             /run/w/api.d --chdir /work/sub --"
            ),
            "{text}"
        );
        assert!(!text.contains("/gone"), "{text}");
    }
}
