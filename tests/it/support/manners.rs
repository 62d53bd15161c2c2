//! What agents say about their tasks: the truth, lies, and nothing.

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
        12 => &["CONTRACT: users", "STATUS: BLOCKED — context compacted"],
        _ => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}
