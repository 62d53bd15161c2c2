//! What simulated people ask for, and what simulated agents say about it.

use wheelhouse::model::{Context, OnFailure, TaskSpec, Terms};

use super::chance::Chance;

/// Returns a task on any terms, which may need one of those that are known.
pub(crate) fn spec(random: &mut Chance, known: u64) -> TaskSpec {
    let mut needs = Vec::new();
    if known > 0 && random.percent(40) {
        needs.push(format!("t{}", 1 + random.below(known)));
    }
    let policies = [OnFailure::Reassign, OnFailure::Retry, OnFailure::Skip, OnFailure::Stop];
    let verifiers = u32::from(random.percent(20));
    let terms = Terms {
        gates: if random.percent(70) { vec!["make".to_owned()] } else { Vec::new() },
        owns: if random.percent(30) { vec!["src/**".to_owned()] } else { Vec::new() },
        attempts_max: 1 + u32::try_from(random.below(3)).unwrap(),
        on_failure: policies[usize::try_from(random.below(4)).unwrap()],
        time_limit_ms: random.percent(20).then_some(600_000),
        turns_max: random.percent(20).then_some(3),
        tokens_max: random.percent(20).then_some(2_000),
        context: if random.percent(20) { Context::Fresh } else { Context::Continue },
        verifiers,
        agree: verifiers,
        locks: if random.percent(15) { vec!["l".to_owned()] } else { Vec::new() },
        reduced: random.percent(10).then(|| "half".to_owned()),
        ..Terms::default()
    };
    let (title, prompt) = ("work".to_owned(), "do it".to_owned());
    TaskSpec { key: None, title, prompt, needs, play: None, terms }
}

/// What an agent of this manner says about its task.
pub(crate) fn lines(manner: u64) -> Vec<String> {
    let lines: &[&str] = match manner {
        0..=4 => &["PROGRESS: [1/2] — half", "BUILD: PASS", "STATUS: DONE — 3 tests pass"],
        5 => &["STATUS: DONE — I think it looks good"],
        6 => &["STATUS: ERROR — no disk, suggest another"],
        7 => &["STATUS: BLOCKED — the password"],
        8 => &["NEED: a token from bob — to log in", "STATUS: BLOCKED — a token from bob"],
        9 => &["BUILD: FAIL — E0308", "BUILD: FAIL — E0308"],
        10 => &["BUILD: FAIL — E0308", "STATUS: DONE — 3 tests pass"],
        11 => &["STATUS: DONE — 3 tests pass", "STATUS: ERROR — no, wait"],
        13 => &["STATUS: BLOCKED — bob/list.rs, for its fields"],
        14 => &["STATUS: BLOCKED — ann/page.rs from ann", "PROGRESS: [1/3] — other things"],
        15 => &["ARTIFACT: bob/list.rs — code", "ARTIFACT: ann/page.rs — code"],
        16 => &["NEED: a page from ann — for its links", "STATUS: BLOCKED — a page from ann"],
        12 => &["CONTRACT: users", "STATUS: BLOCKED — context compacted"],
        _ => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}
