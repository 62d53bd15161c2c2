//! Copies text to where the person can paste it: the terminal's clipboard, tmux' buffer, and the
//! desktop's own tool. Says by which of them, or why by none.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::model::Environment;
use crate::notify::through_tmux;

/// How long a tool may take before nobody waits for it.
const TOOL_TIME: Duration = Duration::from_millis(700);

/// Longer sequences are dropped by many terminals.
const SEQUENCE_BYTES_MAX: usize = 100_000;

/// The ways to the person's clipboard.
#[derive(Clone, Debug)]
pub(super) struct Clipboard {
    environment: Environment,
    is_in_tmux: bool,
    /// The console prints what it does not know.
    has_sequence: bool,
}

/// What came of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyReport {
    /// Who took it.
    pub by: Vec<String>,
    /// Who did not, and why.
    pub faults: Vec<String>,
}

impl Clipboard {
    pub(super) fn new(environment: &Environment) -> Self {
        let term = environment.0.get("TERM").map_or("", String::as_str);
        Self {
            is_in_tmux: environment.0.contains_key("TMUX"),
            has_sequence: !matches!(term, "linux" | "dumb"),
            environment: environment.clone(),
        }
    }

    /// Copies a text; `send` writes to the terminal.
    pub(super) fn copy(
        &self,
        text: &str,
        send: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> CopyReport {
        let mut report = CopyReport::default();
        let tools = self.tools();
        if tools.is_empty() && !self.is_in_tmux {
            report.faults.push("no wl-copy, xclip, xsel or pbcopy is there to use".to_owned());
        }
        for (name, words) in tools {
            match self.run(&words, text) {
                Ok(()) => report.by.push(name),
                Err(fault) => report.faults.push(format!("{name}: {fault}")),
            }
        }
        let sequence = format!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
        if !self.has_sequence {
            report.faults.push("this console has no clipboard".to_owned());
        } else if sequence.len() > SEQUENCE_BYTES_MAX && !report.by.is_empty() {
            report.faults.push("too long for OSC 52".to_owned());
        } else {
            let shown = if self.is_in_tmux { through_tmux(&sequence) } else { sequence };
            match send(shown.as_bytes()) {
                // Nobody hears whether the terminal takes it; whatever else there is comes first.
                Ok(()) => report.by.push("OSC 52".to_owned()),
                Err(error) => report.faults.push(format!("OSC 52: {error}")),
            }
        }
        report
    }

    /// Returns the tools to use: the name of each, and what is run.
    fn tools(&self) -> Vec<(String, Vec<&'static str>)> {
        let has = |name: &str| self.environment.0.get(name).is_some_and(|value| !value.is_empty());
        let mut tools: Vec<Vec<&'static str>> = Vec::new();
        if self.is_in_tmux {
            // It also hands the text to the terminal that tmux runs on.
            tools.push(vec!["tmux", "load-buffer", "-w", "-"]);
        }
        let on_wayland = has("WAYLAND_DISPLAY").then_some(vec!["wl-copy"]);
        let x11 =
            [vec!["xclip", "-selection", "clipboard"], vec!["xsel", "--clipboard", "--input"]];
        let on_x11 = x11.into_iter().filter(|_| has("DISPLAY"));
        let on_mac = cfg!(target_os = "macos").then_some(vec!["pbcopy"]);
        let desktop = on_wayland.into_iter().chain(on_x11).chain(on_mac);
        let found = desktop.into_iter().find(|words| self.is_installed(words[0]));
        tools.extend(found);
        tools.into_iter().map(|words| (words[0].to_owned(), words)).collect()
    }

    fn is_installed(&self, program: &str) -> bool {
        let path = self.environment.0.get("PATH").map_or("", String::as_str);
        path.split(':').any(|directory| Path::new(directory).join(program).is_file())
    }

    /// Runs a tool with the text as its input. One that hangs is left to itself.
    fn run(&self, words: &[&str], text: &str) -> Result<(), String> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).envs(&self.environment.0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let text = text.to_owned();
        let (done, outcome) = channel();
        thread::spawn(move || drop(done.send(feed(&mut command, &text))));
        match outcome.recv_timeout(TOOL_TIME) {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(RecvTimeoutError::Timeout) => Err("it has not answered yet".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("it failed".to_owned()),
        }
    }
}

fn feed(command: &mut Command, text: &str) -> io::Result<()> {
    let mut child = command.spawn()?;
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let status = child.wait()?;
    match written {
        _ if !status.success() => Err(io::Error::other(format!("it ended with {status}"))),
        // It has said that all is well, and need not read on.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

impl CopyReport {
    /// Returns what the person is told, and whether anything was copied.
    pub(super) fn words(&self, text: &str) -> (bool, String) {
        let faults = self.faults.join("; ");
        if self.by.is_empty() {
            return (false, format!("Not copied: {faults}"));
        }
        let (lines, characters) = (text.lines().count(), text.chars().count());
        let lines = if lines == 1 { String::new() } else { format!("{lines} lines, ") };
        let noun = if characters == 1 { "character" } else { "characters" };
        let but = if faults.is_empty() { faults } else { format!(" ({faults})") };
        let by = self.by.join(" and ");
        (true, format!("Copied {lines}{characters} {noun} by {by}{but}"))
    }
}

/// Returns bytes in the alphabet that a terminal takes.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or(0);
            let is_padding = usize::try_from(at).unwrap_or(0) > group.len();
            text.push(if is_padding { '=' } else { char::from(ALPHABET[digit]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn clipboard(variables: &[(&str, &str)]) -> Clipboard {
        let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Clipboard::new(&Environment(pairs.collect::<BTreeMap<_, _>>()))
    }

    fn copied(clipboard: &Clipboard, text: &str) -> (CopyReport, String) {
        let mut sent = Vec::new();
        let report = clipboard.copy(text, |bytes| {
            sent.extend_from_slice(bytes);
            Ok(())
        });
        (report, String::from_utf8(sent).unwrap())
    }

    #[test]
    fn bytes_are_written_as_terminals_read_them() {
        for (bytes, text) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("é!", "w6kh")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn without_a_tool_the_terminal_is_asked_and_the_person_told_so() {
        let (report, sent) = copied(&clipboard(&[("PATH", "/nowhere"), ("DISPLAY", ":0")]), "a\nb");
        assert_eq!(sent, "\x1b]52;c;YQpi\x07");
        let (is_copied, words) = report.words("a\nb");
        assert!(is_copied);
        assert_eq!(
            words,
            "Copied 2 lines, 3 characters by OSC 52 (no wl-copy, xclip, xsel or pbcopy is there to use)"
        );
        let console = clipboard(&[("TERM", "linux"), ("PATH", "/nowhere")]);
        let (report, sent) = copied(&console, "a");
        assert_eq!(sent, "");
        let (is_copied, words) = report.words("a");
        assert!(!is_copied && words.contains("this console has no clipboard"), "{words}");
    }

    #[test]
    fn the_desktops_tool_gets_the_text_and_its_failure_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, script: &str| {
            let path = directory.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let path = format!("{}:/bin:/usr/bin", directory.path().display());
        let taken = directory.path().join("taken");
        write("xclip", &format!("cat > '{}'", taken.display()));
        let x11 = clipboard(&[("PATH", &path), ("DISPLAY", ":0")]);
        let (report, _) = copied(&x11, "hello");
        assert_eq!(report.by, ["xclip", "OSC 52"]);
        assert_eq!(fs::read_to_string(&taken).unwrap(), "hello");
        write("xclip", "exit 3");
        let (report, _) = copied(&x11, "hello");
        assert_eq!(report.by, ["OSC 52"]);
        assert!(report.faults[0].contains("xclip: it ended with"), "{:?}", report.faults);
        write("wl-copy", "exit 0");
        let wayland = clipboard(&[("PATH", &path), ("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "x")]);
        assert_eq!(copied(&wayland, "x").0.by[0], "wl-copy");
        let long = "x".repeat(90_000);
        let (report, sent) = copied(&wayland, &long);
        assert_eq!((report.by, sent.as_str()), (vec!["wl-copy".to_owned()], ""));
    }

    #[test]
    fn inside_tmux_the_sequence_is_passed_through() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tmux");
        fs::write(&path, "#!/bin/sh\ncat > /dev/null\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let variables = format!("{}:/bin:/usr/bin", directory.path().display());
        let (report, sent) = copied(&clipboard(&[("PATH", &variables), ("TMUX", "x,1,0")]), "a");
        assert_eq!(report.by, ["tmux", "OSC 52"]);
        assert_eq!(sent, "\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\");
    }
}
