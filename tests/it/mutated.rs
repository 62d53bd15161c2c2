//! Swaps one sign or one word of an interface in the recordings of it, as its next version might, and holds what
//! is seen against what really happened.
//!
//! The signs and words are those that the manifest names, or that an interface shows of which it names hardly
//! any. Which are tried, on which recordings, and what stands
//! in their place is a matter of chance that can be repeated.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use super::recordings::{Judgement, judge, recordings};
use super::support::chance::Chance;

const SEED: u64 = 17;
/// The share of time that must be right, whatever was swapped.
const SHARE_MIN: f64 = 0.85;
/// A dialog that is drawn needs no longer to be seen.
const DIALOG_WRONG_MAX: f64 = 1.0;
/// In each recording so much may be wrong that is no fault.
const LATE_LABEL: f64 = 0.6;
/// In a run of all tests so much is tried of each cli.
const SWAPS: usize = 3;
const CASTS: usize = 4;
const WORKERS: usize = 4;
const CLIS: &[&str] =
    &["aider", "claude", "codex", "continue", "copilot", "gemini", "opencode", "pi", "qwen"];
/// What a next version could draw in place of a sign.
const SIGNS: &[char] = &['▹', '⟫', '◈', '⊙', '∷', '▚', '⋄', '⊳', '╏', '⁜'];
/// What it could write in place of a word.
const WORDS: &[&str] = &["halt", "leave", "pick", "carry", "grant", "view", "tell", "press"];

/// Words that many interfaces name their keys with.
const HINTS: &[&str] = &["interrupt", "cancel", "select", "navigate", "confirm", "Working"];

/// One thing that is drawn otherwise.
#[derive(Clone, Debug)]
enum Swap {
    Sign(char, char),
    Word(String, String),
}

impl Swap {
    /// Returns the output with the swap made in all that is drawn, and in nothing that steers the terminal.
    fn apply(&self, output: &str) -> String {
        let mut text = String::new();
        let mut rest = output;
        while let Some(at) = rest.find('\u{1b}') {
            text.push_str(&self.drawn(&rest[..at]));
            let length = sequence(&rest[at..]);
            text.push_str(&rest[at..at + length]);
            rest = &rest[at + length..];
        }
        text + &self.drawn(rest)
    }

    fn drawn(&self, text: &str) -> String {
        match self {
            Self::Sign(old, new) => text.replace(*old, &new.to_string()),
            Self::Word(old, new) => text.replace(old.as_str(), new),
        }
    }

    fn is_in(&self, output: &str) -> bool {
        self.apply(output) != output
    }
}

/// Returns how long the escape sequence is that the text begins with.
fn sequence(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    let Some((_, kind)) = letters.next() else { return text.len() };
    let is_end = |c: char| match kind {
        '[' => ('@'..='~').contains(&c),
        ']' | 'P' | '_' | '^' => c == '\u{7}' || c == '\u{1b}',
        _ => true,
    };
    match kind {
        '[' | ']' | 'P' | '_' | '^' => {
            let end = letters.find(|(_, c)| is_end(*c));
            end.map_or(text.len(), |(at, c)| if c == '\u{1b}' { at } else { at + c.len_utf8() })
        }
        '(' | ')' | '#' => letters.next().map_or(text.len(), |(at, c)| at + c.len_utf8()),
        other => 1 + other.len_utf8(),
    }
}

#[test]
fn an_interface_that_changed_one_sign_or_word_is_read_all_the_same() {
    try_all(SWAPS, CASTS);
}

#[test]
#[ignore = "takes minutes: .ci/long runs it"]
fn an_interface_that_changed_any_one_sign_or_word_is_read_all_the_same() {
    try_all(usize::MAX, usize::MAX);
}

#[test]
fn a_swap_changes_what_is_drawn_and_nothing_that_steers() {
    let swap = Swap::Sign('>', '▹');
    assert_eq!(
        swap.apply("\u{1b}[>4;1m> a\u{1b}]0;x>y\u{7}>"),
        "\u{1b}[>4;1m▹ a\u{1b}]0;x>y\u{7}▹"
    );
    let swap = Swap::Word("esc".into(), "halt".into());
    assert_eq!(swap.apply("\u{1b}[1mesc\u{1b}[0m to"), "\u{1b}[1mhalt\u{1b}[0m to");
}

fn try_all(swaps_max: usize, casts_max: usize) {
    let jobs: Vec<(&str, Swap, Vec<PathBuf>)> = CLIS
        .iter()
        .flat_map(|cli| {
            let casts = casts_of(cli);
            let mut chance = Chance::new(SEED);
            let found = swaps(cli, &casts, &mut chance);
            assert!(found.len() > 1, "{cli}: only {found:?}");
            let chosen = sample(found, swaps_max, &mut chance);
            let with_casts = |swap: Swap| {
                let is_changed = |cast: &&PathBuf| swap.is_in(&output_of(cast));
                let changed: Vec<PathBuf> = casts.iter().filter(is_changed).cloned().collect();
                (*cli, swap, sample(changed, casts_max, &mut chance))
            };
            chosen.into_iter().map(with_casts).collect::<Vec<_>>()
        })
        .collect();
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let try_next = || {
        let home = tempfile::tempdir().unwrap();
        while let Some((cli, swap, casts)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            faults.lock().unwrap().extend(fault_of(cli, swap, casts, home.path()));
        }
    };
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(try_next);
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort();
    assert!(faults.is_empty(), "of {} swaps {}:\n{}", jobs.len(), faults.len(), faults.join("\n"));
}

/// Returns what is wrong with the recordings of a cli in which something was swapped.
fn fault_of(cli: &str, swap: &Swap, casts: &[PathBuf], home: &Path) -> Option<String> {
    let folder = home.join(cli);
    fs::create_dir_all(&folder).unwrap();
    let (mut right, mut wrong, mut details) = (0.0, 0.0, Vec::new());
    for cast in casts {
        let copy = folder.join(cast.file_name().unwrap());
        fs::write(&copy, swapped(&fs::read_to_string(cast).unwrap(), swap)).unwrap();
        fs::copy(cast.with_extension("labels.json"), copy.with_extension("labels.json")).unwrap();
        let judgement: Judgement = judge(&copy, &[], home);
        // Labels that were set late cost a little, as they do where nothing was swapped.
        let late = judgement.wrong.min(LATE_LABEL);
        right += judgement.right + late;
        wrong += judgement.wrong - late;
        let name = cast.file_stem().unwrap().display();
        if judgement.dialogs_wrong > DIALOG_WRONG_MAX {
            details.push(format!("{name}: a dialog for {:.1} s", judgement.dialogs_wrong));
        }
        details.extend(
            judgement
                .faults
                .iter()
                .filter(|fault| fault.starts_with("reported"))
                .map(|fault| format!("{name}: {fault}")),
        );
    }
    let share = right / (right + wrong);
    if share < SHARE_MIN {
        details.push(format!("only {:.1} % is right", 100.0 * share));
    }
    (!details.is_empty()).then(|| format!("{cli} {swap:?}: {}", details.join("; ")))
}

fn swapped(cast: &str, swap: &Swap) -> String {
    let line = |line: &str| {
        let Ok(mut event) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
        if event[1] == "o"
            && let Some(output) = event[2].as_str()
        {
            event[2] = swap.apply(output).into();
        }
        event.to_string()
    };
    let mut lines = cast.lines();
    let head = lines.next().unwrap_or_default().to_owned();
    [head].into_iter().chain(lines.map(line)).collect::<Vec<_>>().join("\n")
}

fn casts_of(cli: &str) -> Vec<PathBuf> {
    let is_of = |cast: &PathBuf| cast.parent().unwrap().file_name().unwrap() == cli;
    recordings().into_iter().filter(is_of).collect()
}

fn output_of(cast: &Path) -> String {
    let text = fs::read_to_string(cast).unwrap();
    let events = text.lines().skip(1).filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event[1] == "o")
        .filter_map(|event| Some(event[2].as_str()?.to_owned()))
        .collect()
}

/// Returns a swap for each sign and word that the manifest's patterns name and that the recordings show.
fn swaps(cli: &str, casts: &[PathBuf], chance: &mut Chance) -> Vec<Swap> {
    let shown: String = casts.iter().map(|cast| output_of(cast)).collect();
    let manifest = fs::read_to_string(format!("assets/agents/{cli}.toml")).unwrap();
    let (mut signs, mut words) = (BTreeSet::new(), BTreeSet::new());
    for pattern in manifest.split("'''").skip(1).step_by(2).filter(|text| !text.contains('\n')) {
        signs.extend(pattern.chars().filter(|c| !c.is_ascii() && !c.is_alphanumeric()));
        let plain =
            pattern.replace("\\s", " ").replace("\\S", " ").replace("\\d", " ").replace("\\n", " ");
        let parts = plain.split(|c: char| !c.is_ascii_alphabetic());
        words.extend(parts.filter(|word| word.len() > 3).map(str::to_owned));
    }
    if manifest.contains("like = \"any\"") {
        // It names hardly any: then those count that are in sight.
        let is_sign = |c: &char| !c.is_ascii() && !c.is_alphanumeric() && !"—…".contains(*c);
        signs.extend(shown.chars().filter(is_sign));
        words.extend(HINTS.iter().map(ToString::to_string));
    }
    let mut pick = |count: usize| usize::try_from(chance.below(count as u64)).unwrap();
    let signs: Vec<Swap> =
        signs.into_iter().map(|old| Swap::Sign(old, SIGNS[pick(SIGNS.len())])).collect();
    let words: Vec<Swap> =
        words.into_iter().map(|old| Swap::Word(old, WORDS[pick(WORDS.len())].to_owned())).collect();
    signs.into_iter().chain(words).filter(|swap| swap.is_in(&shown)).collect()
}

/// Returns so many of them, by chance.
fn sample<T>(mut all: Vec<T>, count: usize, chance: &mut Chance) -> Vec<T> {
    while all.len() > count {
        let at = usize::try_from(chance.below(all.len() as u64)).unwrap();
        all.swap_remove(at);
    }
    all
}
