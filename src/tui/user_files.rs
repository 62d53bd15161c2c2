//! Files of the person who runs the dashboard: prompts and comments that are kept, and a text for
//! their own editor.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::options::Options;
use super::prompt::{PromptHistory, keep, load};
use super::reading::is_safe;
use super::review::{Reviews, keep_reviews, load_reviews};
use super::text::clean;
use crate::model::Environment;

/// The file that keeps prompts, in the directory of the project's state.
const KEPT: &str = "prompts";
/// The file that keeps comments on changes, beside it.
const REVIEWS: &str = "reviews";

/// What is run if the person has not said which editor to use.
const EDITOR: &str = "vi";

/// What opens links, as the person has set it.
#[derive(Clone, Debug, Default)]
struct Openers {
    url: String,
    path: String,
}

/// The world outside of the dashboard's own data.
#[derive(Debug)]
pub(super) struct UserFiles {
    keep_in: Option<PathBuf>,
    editor: String,
    openers: Openers,
    environment: Environment,
    /// The comments on changes as they were last kept.
    reviews: Reviews,
}

impl UserFiles {
    pub(super) fn new(options: &Options) -> Self {
        let set =
            |name: &str| options.environment.0.get(name).filter(|word| !word.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR"));
        let editor = editor.map_or(EDITOR, String::as_str).to_owned();
        Self {
            keep_in: options.keep_in.clone(),
            editor,
            openers: Openers { url: options.open_url.clone(), path: options.open_path.clone() },
            environment: options.environment.clone(),
            reviews: Reviews::new(),
        }
    }

    /// Returns what was written in earlier dashboards.
    pub(super) fn history(&self) -> PromptHistory {
        let kept = self.keep_in.as_ref().map(|directory| load(&directory.join(KEPT)));
        PromptHistory::new(kept.unwrap_or_default())
    }

    /// Keeps a prompt for later dashboards; not being able to is no reason to bother anyone.
    pub(super) fn keep(&self, prompt: &str) {
        let kept = self.keep_in.as_ref().map(|directory| keep(&directory.join(KEPT), prompt));
        if let Some(Err(error)) = kept {
            tracing::debug!(%error, "the prompt could not be kept");
        }
    }

    /// Returns the comments that were written in earlier dashboards.
    pub(super) fn reviews(&mut self) -> Reviews {
        let kept = self.keep_in.as_ref().map(|directory| load_reviews(&directory.join(REVIEWS)));
        self.reviews = kept.unwrap_or_default();
        self.reviews.clone()
    }

    /// Keeps comments for later dashboards, where they have changed.
    pub(super) fn keep_reviews(&mut self, now: &Reviews) {
        let Some(directory) = self.keep_in.as_ref().filter(|_| self.reviews != *now) else {
            return;
        };
        if let Err(error) = keep_reviews(&directory.join(REVIEWS), &self.reviews, now) {
            tracing::debug!(%error, "comments could not be kept");
        }
        self.reviews.clone_from(now);
    }

    /// Lets the person change a text in their editor, on the terminal that is theirs meanwhile.
    pub(super) fn edit(&self, text: &str) -> Result<String, String> {
        self.in_editor(&format!("prompt-{}.md", std::process::id()), text, read)
    }

    /// Shows a text in the person's editor; what they change in it is not kept.
    pub(super) fn view(&self, name: &str, text: &str) -> Result<String, String> {
        let file = format!("history-{name}-{}.txt", std::process::id());
        self.in_editor(&file, text, |_| Ok(Ok(String::new())))
    }

    fn in_editor(
        &self,
        file: &str,
        text: &str,
        take: impl FnOnce(&Path) -> Result<Result<String, String>, String>,
    ) -> Result<String, String> {
        let directory = self.keep_in.clone().unwrap_or_else(std::env::temp_dir);
        let path = directory.join(file);
        write_own(&path, text)
            .map_err(|error| clean(&format!("`{}` cannot be written: {error}", path.display())))?;
        let edited = match self.run(&path, None) {
            Ok(status) if status.success() => take(&path)?,
            Ok(status) => {
                Err(format!("`{}` ended with {status}; nothing was changed", self.editor))
            }
            Err(error) => Err(format!(
                "`{}` cannot be run: {error}; set VISUAL or EDITOR to another one",
                self.editor
            )),
        };
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(%error, "the edited file stays");
        }
        edited.map_err(|fault| clean(&fault))
    }

    /// Runs the editor as a shell would: it may be named with arguments.
    fn run(&self, path: &Path, line: Option<u32>) -> std::io::Result<std::process::ExitStatus> {
        let place = line.map(|line| format!("+{line} ")).unwrap_or_default();
        let script = format!("{} {place}\"$1\"", self.editor);
        Command::new("/bin/sh").arg("-c").arg(script).arg("editor").arg(path).status()
    }

    /// Returns the file that a path names, in an agent's directory or the user's own.
    pub(super) fn find(&self, path: &str, directory: Option<&Path>) -> Result<PathBuf, String> {
        let Some(directory) = directory else {
            return Err(clean(&format!("{path} is on another machine")));
        };
        let home = self.environment.0.get("HOME").map(PathBuf::from);
        let path = match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => directory.join(path),
        };
        let is_there = path.is_file();
        let found = path.clone();
        is_there
            .then_some(found)
            .ok_or_else(|| clean(&format!("There is no file {}", path.display())))
    }

    /// Opens a file at a line, on the terminal that is the person's meanwhile.
    pub(super) fn open_path(&self, path: &Path, line: Option<u32>) -> Result<String, String> {
        let opened = if self.openers.path.is_empty() {
            self.run(path, line)
        } else {
            let line = line.unwrap_or(1).to_string();
            let script = self.openers.path.replace("{path}", "\"$1\"").replace("{line}", "\"$2\"");
            Command::new("/bin/sh").args(["-c", &script, "open"]).arg(path).arg(line).status()
        };
        match opened {
            Ok(status) if status.success() => Ok(String::new()),
            Ok(status) => Err(format!("What opens files ended with {status}")),
            Err(error) => Err(clean(&format!("Nothing opens files here: {error}"))),
        }
    }

    /// Hands an address to the program that opens addresses, and does not wait for it.
    pub(super) fn open_address(&self, address: &str) -> Result<String, String> {
        if !is_safe(address) {
            return Err("Not opened: only http, https, mailto and files are".to_owned());
        }
        if !self.openers.url.is_empty() {
            return self.hand_over(&self.openers.url, address);
        }
        let has = |name: &str| self.environment.0.get(name).is_some_and(|value| !value.is_empty());
        if cfg!(target_os = "macos") {
            self.hand_over("open {}", address)
        } else if has("WAYLAND_DISPLAY") || has("DISPLAY") {
            self.hand_over("xdg-open {}", address)
        } else {
            Err("No desktop is here to open it: set `open_url` in `[dashboard]`, or copy it".into())
        }
    }

    fn hand_over(&self, opener: &str, address: &str) -> Result<String, String> {
        let script = if opener.contains("{}") {
            opener.replace("{}", "\"$1\"")
        } else {
            format!("{opener} \"$1\"")
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, "open", address]).envs(&self.environment.0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|error| format!("Nothing opens addresses here: {error}"))?;
        // Whoever starts a process also has to wait for its end.
        std::thread::spawn(move || drop(child.wait()));
        Ok(clean(&format!("Opening {address}")))
    }
}

fn write_own(path: &Path, text: &str) -> std::io::Result<()> {
    // A file that an earlier dashboard of this number left behind is no obstacle; a link would be.
    drop(fs::remove_file(path));
    let mut file = OpenOptions::new().mode(0o600).write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Returns the text that an editor left, without the line end that editors add. What is no text
/// stays where it is, since nobody else has it.
fn read(path: &Path) -> Result<Result<String, String>, String> {
    let fault = |why: &str| clean(&format!("{why}: what you wrote is in `{}`", path.display()));
    let bytes = fs::read(path).map_err(|error| fault(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| fault("It is not text in UTF-8"))?;
    Ok(Ok(text.trim_end_matches('\n').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(directory: &Path, editor: &str) -> UserFiles {
        let options = Options { keep_in: Some(directory.to_owned()), ..Options::default() };
        UserFiles { editor: editor.to_owned(), ..UserFiles::new(&options) }
    }

    #[test]
    fn an_editor_gets_the_text_and_what_it_leaves_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let edit = |editor: &str| outside(directory.path(), editor).edit("one\ntwo");
        assert_eq!(edit("sed -i s/two/three/").unwrap(), "one\nthree");
        assert_eq!(edit("true").unwrap(), "one\ntwo");
        assert_eq!(edit(": > ").unwrap(), "");
        assert!(edit("false").unwrap_err().contains("nothing was changed"));
        assert!(edit("no-such-editor").is_err());
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing is left behind");
        assert!(edit("printf '\\377' >").unwrap_err().contains("what you wrote is in"));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "it is not lost");
    }
}
