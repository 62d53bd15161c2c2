//! What a key can mean in a diff, on top of what it means in any list.

use super::action::{Action, Meaning, Scope, meaning};

/// What a key means in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reviewing {
    /// Compares with the next of base, HEAD and the integration branch.
    Against,
    NextHunk,
    PreviousHunk,
    NextFile,
    PreviousFile,
    PageDown,
    PageUp,
    First,
    Last,
    Right,
    Left,
    Fold,
    FoldAll,
    Wrap,
    Comment,
    Uncomment,
    Send,
    /// Even where no rule says that the agent waits for a prompt.
    SendAnyway,
    Refresh,
}

const fn row(
    reviewing: Reviewing,
    name: &'static str,
    keys: &'static str,
    help: &'static str,
) -> Meaning {
    meaning(Action::Review(reviewing), Scope::Diff, name, keys, help)
}

/// The keys of a diff.
pub(super) const REVIEW_MEANINGS: &[Meaning] = &[
    row(Reviewing::Against, "diff_against", "tab", "against base, HEAD, integration"),
    row(Reviewing::NextHunk, "diff_next_hunk", "] n", "the next hunk"),
    row(Reviewing::PreviousHunk, "diff_previous_hunk", "[ N", "the hunk before"),
    row(Reviewing::NextFile, "diff_next_file", "J }", "the next file"),
    row(Reviewing::PreviousFile, "diff_previous_file", "K {", "the file before"),
    row(Reviewing::PageDown, "diff_page_down", "pagedown ctrl-d", "one page down"),
    row(Reviewing::PageUp, "diff_page_up", "pageup ctrl-u", "one page up"),
    row(Reviewing::First, "diff_first", "g home", "the first line"),
    row(Reviewing::Last, "diff_last", "G end", "the last line"),
    row(Reviewing::Right, "diff_right", "right l", "further into long lines"),
    row(Reviewing::Left, "diff_left", "left h", "and back"),
    row(Reviewing::Fold, "diff_fold", "f", "fold the hunk, and unfold it"),
    row(Reviewing::FoldAll, "diff_fold_all", "F", "fold all hunks of the file"),
    row(Reviewing::Wrap, "diff_wrap", "w", "break long lines, or not"),
    row(Reviewing::Comment, "diff_comment", "c", "comment on the line, or edit that"),
    row(Reviewing::Uncomment, "diff_uncomment", "x delete", "remove the comment"),
    row(Reviewing::Send, "diff_send", "s", "send all comments as one prompt"),
    row(Reviewing::SendAnyway, "diff_send_anyway", "ctrl-g", "send to an unknown state, too"),
    row(Reviewing::Refresh, "diff_refresh", "r", "compare anew"),
];
