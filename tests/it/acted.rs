//! A pane with an acted agent in it, whose user interface is like that of Claude Code.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use wheelhouse::config::{Paths, Settings};
use wheelhouse::detect::{Detector, Finding, Options, Rules};
use wheelhouse::model::{Manifest, Moment, Size};
use wheelhouse::protocol::Report;
use wheelhouse::screen::{HistoryLimit, Screen};

pub(crate) static CLAUDE: LazyLock<Arc<Rules>> = LazyLock::new(|| rules("claude"));
pub(crate) static SHELL: LazyLock<Arc<Rules>> = LazyLock::new(|| rules("shell"));

/// Returns the built-in rules of a cli.
pub(crate) fn rules(cli: &str) -> Arc<Rules> {
    Arc::new(Rules::new(cli, &manifest(cli)).unwrap())
}

/// Returns the built-in manifest of a cli; `any` is a program of which nothing is known.
pub(crate) fn manifest(cli: &str) -> Manifest {
    if cli == "any" {
        return manifest("shell").general();
    }
    let world = tempfile::tempdir().unwrap();
    let mut paths = Paths::find(world.path()).unwrap();
    paths.user_config = world.path().join("none.toml");
    Settings::load(&paths).unwrap().settings.cli(cli).unwrap().manifest.clone()
}

pub(crate) const SIZE: Size = Size { rows: 30, cols: 100 };

/// A pane, and what was found in it.
pub(crate) struct Pane {
    pub(crate) screen: Screen,
    pub(crate) detector: Detector,
    pub(crate) now: Moment,
    pub(crate) reports: Vec<Report>,
    pub(crate) amended: Vec<Report>,
    pub(crate) foreign: usize,
    /// Turns that were told to be over though they were never seen.
    pub(crate) unseen: usize,
    /// The conversation, in lines without a width.
    pub(crate) log: Vec<String>,
}

impl Pane {
    pub(crate) fn new(rules: &Arc<Rules>) -> Self {
        let mut pane = Self {
            screen: Screen::new(SIZE, HistoryLimit::default()),
            detector: Detector::new(Arc::clone(rules), Options::default(), Moment(0)),
            now: Moment(1000),
            reports: Vec::new(),
            amended: Vec::new(),
            foreign: 0,
            unseen: 0,
            log: Vec::new(),
        };
        pane.paint("? for shortcuts");
        pane.wait(2000);
        pane
    }

    pub(crate) fn write(&mut self, text: &str) {
        let signals = self.screen.feed(text.as_bytes(), self.now).signals;
        let found = self.detector.observe(&self.screen, &signals, self.now);
        self.take(found);
    }

    pub(crate) fn take(&mut self, found: Vec<Finding>) {
        for finding in found {
            match finding {
                Finding::Report(report) => self.reports.push(report),
                Finding::Amended(report) => self.amended.push(report),
                Finding::Foreign(_) => self.foreign += 1,
                Finding::TurnEnded => self.unseen += 1,
                Finding::State(_) | Finding::Compacted => {}
            }
        }
    }

    /// Lets time pass, with the detector's deadlines in it.
    pub(crate) fn wait(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        while let Some(at) = self.detector.next_deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let found = self.detector.observe(&self.screen, &[], self.now);
            self.take(found);
        }
        self.now = until;
    }

    /// Clears the screen and draws the end of the conversation, wrapped to the width, and the box
    /// with the prompt.
    pub(crate) fn paint(&mut self, hint: &str) {
        let size = self.screen.size();
        let cols = usize::from(size.cols);
        let rule = "─".repeat(cols);
        let mut rows: Vec<String> = self.log.iter().flat_map(|line| draw(line, cols)).collect();
        rows.extend([String::new(), rule.clone(), "❯ ".into(), rule, format!("  {hint}")]);
        let first = rows.len().saturating_sub(usize::from(size.rows));
        self.write(&format!("\x1b[?1049h\x1b[2J\x1b[H{}", rows[first..].join("\r\n")));
    }

    pub(crate) fn show(&mut self, text: &str, hint: &str) {
        self.log.extend(text.lines().map(str::to_owned));
        self.paint(hint);
        self.wait(300);
    }

    /// Shows a turn: the prompt, then the answer while it works, then the prompt again.
    pub(crate) fn turn(&mut self, prompt: &str, answer: &str) {
        self.show(&echo(prompt), "esc to interrupt");
        self.show(answer, "esc to interrupt");
        self.paint("? for shortcuts");
        self.wait(3000);
    }

    pub(crate) fn raws(&self) -> Vec<&str> {
        self.reports.iter().map(|report| report.raw.as_str()).collect()
    }
}

/// Marks the lines that are drawn on a background.
const SHADE: char = '\u{e000}';

/// Returns the lines of a prompt's echo.
pub(crate) fn echo(prompt: &str) -> String {
    let lines: Vec<&str> = prompt.lines().collect();
    format!("\n{SHADE}❯ {}\n", lines.join(&format!("\n{SHADE}  ")))
}

/// Wraps a line, and shades it if it is to be.
fn draw(line: &str, cols: usize) -> Vec<String> {
    match line.strip_prefix(SHADE) {
        Some(line) => {
            let shaded = |row: String| format!("\x1b[48;5;237m{row}\x1b[m");
            wrap(line, cols).into_iter().map(shaded).collect()
        }
        None => wrap(line, cols),
    }
}

/// Wraps at blanks and indents what follows, as the interfaces do.
fn wrap(line: &str, cols: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let mut rows = vec![" ".repeat(indent)];
    for word in line.split_whitespace() {
        let row = rows.last_mut().unwrap();
        let is_first = row.trim().is_empty();
        if !is_first && row.chars().count() + 1 + word.chars().count() > cols {
            rows.push(format!("  {word}"));
        } else {
            row.push_str(if is_first { "" } else { " " });
            row.push_str(word);
        }
    }
    rows
}
