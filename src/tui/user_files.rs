//! Files of the person who runs the dashboard: prompts and comments that are kept, and a text for
//! their own editor.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::options::Options;
use super::prompt::{PromptHistory, keep, load};
use super::review::{Reviews, keep_reviews, load_reviews};
use super::text::clean;

/// The file that keeps prompts, in the directory of the project's state.
const KEPT: &str = "prompts";
/// The file that keeps comments on changes, beside it.
const REVIEWS: &str = "reviews";

/// What is run if the person has not said which editor to use.
const EDITOR: &str = "vi";

/// The world outside of the dashboard's own data.
#[derive(Debug)]
pub(super) struct UserFiles {
    keep_in: Option<PathBuf>,
    editor: String,
    /// The comments on changes as they were last kept.
    reviews: Reviews,
}

impl UserFiles {
    pub(super) fn new(options: &Options) -> Self {
        let set =
            |name: &str| options.environment.0.get(name).filter(|word| !word.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR"));
        let editor = editor.map_or(EDITOR, String::as_str).to_owned();
        Self { keep_in: options.keep_in.clone(), editor, reviews: Reviews::new() }
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
        let directory = self.keep_in.clone().unwrap_or_else(std::env::temp_dir);
        let path = directory.join(format!("prompt-{}.md", std::process::id()));
        write_own(&path, text)
            .map_err(|error| clean(&format!("`{}` cannot be written: {error}", path.display())))?;
        let status = self.run(&path);
        let edited = match status {
            Ok(status) if status.success() => read(&path)?,
            Ok(status) => {
                Err(format!("`{}` ended with {status}; nothing was changed", self.editor))
            }
            Err(error) => Err(format!(
                "`{}` cannot be run: {error}; set VISUAL or EDITOR to another one",
                self.editor
            )),
        };
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(%error, "the edited prompt stays");
        }
        edited.map_err(|fault| clean(&fault))
    }

    /// Runs the editor as a shell would: it may be named with arguments.
    fn run(&self, path: &Path) -> std::io::Result<std::process::ExitStatus> {
        let script = format!("{} \"$1\"", self.editor);
        Command::new("/bin/sh").arg("-c").arg(script).arg("editor").arg(path).status()
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
        let reviews = Reviews::new();
        UserFiles { keep_in: Some(directory.to_owned()), editor: editor.to_owned(), reviews }
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
