//! What was written before, newest last, and the file that keeps it: one prompt a line, as JSON, for
//! its owner alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More than anyone looks through key by key.
const PROMPTS_MAX: usize = 200;

/// A longer prompt was made by a program, or is in a file already.
const PROMPT_BYTES_MAX: usize = 64 * 1024;

/// No more is read, whatever somebody has put there.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The prompts of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptHistory {
    prompts: Vec<String>,
}

impl PromptHistory {
    /// Returns a history of these prompts, oldest first.
    pub(crate) fn new(prompts: Vec<String>) -> Self {
        let mut history = Self::default();
        for prompt in prompts {
            history.add(&prompt);
        }
        history
    }

    /// Adds a prompt; nothing, and the same once more, are no news.
    pub(crate) fn add(&mut self, prompt: &str) -> bool {
        let is_news =
            !prompt.trim().is_empty() && self.prompts.last().is_none_or(|last| last != prompt);
        if is_news {
            self.prompts.push(prompt.to_owned());
            let excess = self.prompts.len().saturating_sub(PROMPTS_MAX);
            self.prompts.drain(..excess);
        }
        is_news
    }

    /// Returns the prompt that is so many steps back, counted from one.
    pub(crate) fn back(&self, steps: usize) -> Option<&str> {
        let at = self.prompts.len().checked_sub(steps).filter(|_| steps > 0)?;
        self.prompts.get(at).map(String::as_str)
    }
}

/// Returns what is kept, oldest first; what cannot be read is as good as nothing.
pub(crate) fn load(path: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    if let Err(error) = read {
        tracing::debug!(%error, "no prompts of the past");
        return Vec::new();
    }
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Adds a prompt. Dashboards side by side add to the same file, so it is rewritten only when it has
/// grown to twice what is kept.
pub(crate) fn keep(path: &Path, prompt: &str) -> io::Result<()> {
    if prompt.trim().is_empty() || prompt.len() > PROMPT_BYTES_MAX {
        return Ok(());
    }
    let mut own = OpenOptions::new();
    own.mode(0o600).create(true);
    own.clone().append(true).open(path)?.write_all(line(prompt)?.as_bytes())?;
    let prompts = load(path);
    if prompts.len() < 2 * PROMPTS_MAX {
        return Ok(());
    }
    let newest = prompts[prompts.len() - PROMPTS_MAX..].iter().map(|prompt| line(prompt));
    let text = newest.collect::<Result<String, _>>()?;
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    own.write(true).truncate(true).open(&fresh)?.write_all(text.as_bytes())?;
    fs::rename(fresh, path)
}

fn line(prompt: &str) -> io::Result<String> {
    Ok(format!("{}\n", serde_json::to_string(prompt)?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_newest_comes_first_and_old_ones_are_forgotten() {
        let mut history = PromptHistory::new((0..300).map(|n| n.to_string()).collect());
        assert_eq!((history.back(1), history.back(200)), (Some("299"), Some("100")));
        assert_eq!((history.back(0), history.back(201)), (None, None));
        assert!(!history.add("299") && !history.add("  \n"));
        assert!(history.add("298"));
    }

    #[test]
    fn prompts_are_kept_for_their_owner_alone_and_the_file_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("prompts");
        assert!(load(&path).is_empty());
        for number in 0..2 * PROMPTS_MAX {
            keep(&path, &format!("line {number}\nand another")).unwrap();
        }
        keep(&path, " ").unwrap();
        keep(&path, &"x".repeat(PROMPT_BYTES_MAX + 1)).unwrap();
        let kept = load(&path);
        assert_eq!(kept.len(), PROMPTS_MAX);
        assert_eq!(kept.last().unwrap(), "line 399\nand another");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn a_torn_line_costs_itself_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("prompts");
        fs::write(&path, "\"one\"\n\"tw\n\"three\"\n").unwrap();
        assert_eq!(load(&path), ["one", "three"]);
    }
}
