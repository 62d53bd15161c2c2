//! Whether the rules of a cli were recorded with the version of it that is installed here.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::finding::Finding;
use crate::cli::context::caller_environment;
use crate::config::Settings;

const PAUSE: Duration = Duration::from_millis(20);
/// So many pauses are made for all programs together: five seconds.
const PAUSES_MAX: u32 = 250;
/// A version is in the first words of what is said.
const SAID_BYTES_MAX: u64 = 4096;

/// Asks every program whose rules say with what they were recorded, all at once.
pub(super) fn examine(settings: &Settings) -> Vec<Finding> {
    let caller = caller_environment();
    let asked = settings.clis().filter_map(|(name, cli)| {
        let recorded = &cli.manifest.screen.recorded;
        let argv = cli.argv(&caller);
        // Another program may need other words to say its version, or do something else.
        let is_own = |program: &&String| Path::new(program).file_name() == Some(name.as_ref());
        let program = argv.first().filter(is_own)?;
        if recorded.is_empty() || !cli.is_installed(&caller) {
            return None;
        }
        let child = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        Some((name, recorded, child))
    });
    let asked: Vec<_> = asked.collect();
    let mut pauses = PAUSES_MAX;
    let told = asked.into_iter().filter_map(|(name, recorded, child)| {
        let version = version_in(&answer(child, &mut pauses)?)?.to_owned();
        Some(judge(name, recorded, &version))
    });
    told.flatten().collect()
}

/// Returns what a program says, unless it takes too long.
fn answer(mut child: Child, pauses: &mut u32) -> Option<String> {
    while child.try_wait().ok()?.is_none() {
        let Some(left) = pauses.checked_sub(1) else {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        *pauses = left;
        thread::sleep(PAUSE);
    }
    let mut said = String::new();
    child.stdout.take()?.take(SAID_BYTES_MAX).read_to_string(&mut said).ok()?;
    Some(said)
}

/// Returns the first word of several numbers with dots between them.
fn version_in(said: &str) -> Option<&str> {
    let words = said.split(|c: char| !c.is_ascii_digit() && c != '.');
    let numbers =
        |word: &&str| word.split('.').count() > 1 && word.split('.').all(|part| !part.is_empty());
    words.map(|word| word.trim_matches('.')).find(numbers)
}

fn judge(name: &str, recorded: &[String], version: &str) -> Option<Finding> {
    if recorded.iter().any(|known| known == version) {
        return None;
    }
    let known = recorded.join(", ");
    let message = format!("The rules for {name} were recorded with {known}; this is {version}");
    let hint = "If a state is wrong, save a recording with `wheelhouse agent record NAME`";
    Some(Finding::warning("rules", message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_program_says() {
        for (said, version) in [
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("aider 0.86.2.", Some("0.86.2")),
            ("v1.18.33", Some("1.18.33")),
            ("no version, 7 words", None),
            ("", None),
        ] {
            assert_eq!(version_in(said), version, "{said}");
        }
    }

    #[test]
    fn a_version_that_was_never_recorded_is_told_with_what_to_do() {
        let recorded = ["0.166.0".to_owned(), "0.165.0".to_owned()];
        assert!(judge("codex", &recorded, "0.166.0").is_none());
        let found = judge("codex", &recorded, "0.169.0").unwrap();
        assert_eq!(
            found.message,
            "The rules for codex were recorded with 0.166.0, 0.165.0; this is 0.169.0"
        );
        assert!(found.hint.unwrap().contains("wheelhouse agent record"));
    }

    #[test]
    fn a_program_that_never_answers_is_not_waited_for() {
        let child = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(answer(child, &mut 2), None);
    }
}
