//! The table of actions: what settings call each, its keys unless the user chooses others, and what
//! help says of it.

use super::action::{
    Action, CursorMotion, DiffAction, EditAction, KeyScope, ListAction, ReadAction, TaskAction,
};

/// One row of the table of actions.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyBinding {
    pub action: Action,
    pub scope: KeyScope,
    /// What settings call it.
    pub name: &'static str,
    /// Key names, separated by blanks.
    pub keys: &'static str,
    pub help: &'static str,
}

type Word = &'static str;

const fn overview(action: Action, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action, scope: KeyScope::Overview, name, keys, help }
}

const fn typing(action: Action, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action, scope: KeyScope::Typing, name, keys, help }
}

const fn read(reading: ReadAction, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action: Action::Reading(reading), scope: KeyScope::Reading, name, keys, help }
}

const fn go(motion: CursorMotion, name: Word, keys: Word, help: Word) -> KeyBinding {
    read(ReadAction::Move(motion), name, keys, help)
}

const fn write(writing: EditAction, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action: Action::Write(writing), scope: KeyScope::Prompt, name, keys, help }
}

const fn choose(choice: ListAction, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action: Action::Choose(choice), scope: KeyScope::Dialog, name, keys, help }
}

const fn task(tasking: TaskAction, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action: Action::Task(tasking), scope: KeyScope::Tasks, name, keys, help }
}

const fn review(reviewing: DiffAction, name: Word, keys: Word, help: Word) -> KeyBinding {
    KeyBinding { action: Action::Review(reviewing), scope: KeyScope::Diff, name, keys, help }
}

/// Every action there is, in the order in which help lists them.
pub(super) const BINDINGS: &[KeyBinding] = &[
    overview(Action::Select(1), "select_1", "1", "select pane 1"),
    overview(Action::Select(2), "select_2", "2", "select pane 2"),
    overview(Action::Select(3), "select_3", "3", "select pane 3"),
    overview(Action::Select(4), "select_4", "4", "select pane 4"),
    overview(Action::Select(5), "select_5", "5", "select pane 5"),
    overview(Action::Select(6), "select_6", "6", "select pane 6"),
    overview(Action::Select(7), "select_7", "7", "select pane 7"),
    overview(Action::Select(8), "select_8", "8", "select pane 8"),
    overview(Action::Select(9), "select_9", "9", "select pane 9"),
    overview(Action::SelectLeft, "select_left", "left h", "select the pane to the left"),
    overview(Action::SelectDown, "select_down", "down j", "select the pane below"),
    overview(Action::SelectUp, "select_up", "up k", "select the pane above"),
    overview(Action::SelectRight, "select_right", "right l", "select the pane to the right"),
    overview(Action::SelectNext, "select_next", "tab", "select the next pane"),
    overview(Action::SelectPrevious, "select_previous", "shift-tab", "select the previous pane"),
    overview(Action::Type, "type", "enter", "type into the selected pane"),
    overview(Action::Zoom, "zoom", "z", "zoom the selected pane / unzoom"),
    overview(Action::NextLayout, "next_layout", "space", "switch to the next layout"),
    overview(Action::Read, "read", "[", "read and copy in the pane"),
    overview(Action::Scroll, "scroll", "pageup", "read a page above"),
    overview(Action::History, "history", "e", "its history in $VISUAL or $EDITOR"),
    overview(Action::Search, "search", "ctrl-f /", "search in all panes"),
    overview(Action::Links, "links", "o", "the links of the pane"),
    overview(Action::Dispatch, "dispatch", "d", "send a prompt to the agent"),
    overview(Action::Broadcast, "broadcast", "b", "send a prompt to several agents"),
    overview(Action::Attend, "attend", "a", "go to the next that needs you"),
    overview(Action::Attention, "attention", "A", "list all that needs you"),
    overview(Action::Interrupt, "interrupt", "i", "interrupt the agent"),
    overview(Action::Withdraw, "withdraw", "w", "take back a queued prompt"),
    overview(Action::Dismiss, "dismiss", "esc", "dismiss the failed prompt"),
    overview(Action::Start, "start", "s", "start the agent if it has ended"),
    overview(Action::Stop, "stop", "x", "stop the agent"),
    overview(Action::Restart, "restart", "r", "restart the agent"),
    overview(Action::Resume, "resume", "R", "resume lost agents, or this one"),
    overview(Action::Remove, "remove", "delete X", "remove an ended agent"),
    overview(Action::Merge, "merge", "m", "merge its work"),
    overview(Action::Clean, "clean", "c", "remove its workspace"),
    overview(Action::Add, "add", "n", "add an agent to the team"),
    overview(Action::Teams, "teams", "t", "start a team"),
    overview(Action::Playbooks, "playbooks", "p", "run a playbook"),
    overview(Action::Tasks, "tasks", "T", "list tasks, add one"),
    overview(Action::Diff, "diff", "D", "show what the agent changed"),
    overview(Action::Help, "help", "? f1", "show this help"),
    overview(Action::Redraw, "redraw", "ctrl-l", "redraw the screen"),
    overview(Action::Detach, "detach", "q", "quit; agents keep running"),
    typing(Action::LeaveTyping, "leave_typing", "ctrl-b", "leave; twice: send it to the agent"),
    go(CursorMotion::Left, "read_left", "h left", "to the left"),
    go(CursorMotion::Down, "line_down", "j down", "one line down"),
    go(CursorMotion::Up, "line_up", "k up", "one line up"),
    go(CursorMotion::Right, "read_right", "l right", "to the right"),
    go(CursorMotion::WordNext, "read_word", "w", "the next word"),
    go(CursorMotion::WordBack, "read_word_back", "b", "the word before"),
    go(CursorMotion::WordEnd, "read_word_end", "e", "the end of the word"),
    go(CursorMotion::BigWordNext, "read_big_word", "W", "the next word between blanks"),
    go(CursorMotion::BigWordBack, "read_big_word_back", "B", "the one before"),
    go(CursorMotion::BigWordEnd, "read_big_word_end", "E", "its end"),
    go(CursorMotion::LineStart, "read_line_start", "0 home", "the start of the line"),
    go(CursorMotion::TextStart, "read_text_start", "^", "its first character"),
    go(CursorMotion::LineEnd, "read_line_end", "$ end", "its end"),
    go(CursorMotion::Oldest, "oldest", "g", "the oldest line"),
    go(CursorMotion::Newest, "newest", "G", "the newest line"),
    go(CursorMotion::WindowTop, "read_top", "H", "the top line that is seen"),
    go(CursorMotion::WindowMiddle, "read_middle", "M", "the middle one"),
    go(CursorMotion::WindowBottom, "read_bottom", "L", "the bottom one"),
    go(CursorMotion::ParagraphBack, "read_paragraph_back", "{", "the blank line before"),
    go(CursorMotion::ParagraphNext, "read_paragraph", "}", "the next blank line"),
    read(ReadAction::HalfPageUp, "half_page_up", "ctrl-u", "half a page up"),
    read(ReadAction::HalfPageDown, "half_page_down", "ctrl-d", "half a page down"),
    read(ReadAction::PageUp, "page_up", "pageup ctrl-b", "one page up"),
    read(ReadAction::PageDown, "page_down", "pagedown ctrl-f", "one page down"),
    read(ReadAction::SearchForward, "read_search", "/", "search down: a regular expression"),
    read(ReadAction::SearchBackward, "read_search_back", "?", "search up"),
    read(ReadAction::NextHit, "read_next", "n", "the next hit"),
    read(ReadAction::PreviousHit, "read_previous", "N", "the hit before"),
    read(ReadAction::SelectChars, "select_text", "v", "select text"),
    read(ReadAction::SelectLines, "select_lines", "V", "select lines"),
    read(ReadAction::SelectBlock, "select_block", "ctrl-v", "select a block"),
    read(ReadAction::LastError, "select_error", "!", "the last error; then earlier ones"),
    read(ReadAction::Copy, "copy", "y", "copy the selection, and leave"),
    read(ReadAction::CopyOrType, "copy_or_type", "enter", "the same; without one: type"),
    read(ReadAction::CopyLine, "copy_line", "Y", "copy the line, and leave"),
    read(ReadAction::Editor, "open_history", "ctrl-e", "all of it in $VISUAL or $EDITOR"),
    read(ReadAction::Type, "read_type", "i", "type into the pane"),
    read(ReadAction::Cancel, "read_cancel", "esc", "end selection, search or reading"),
    read(ReadAction::Leave, "leave_scrolling", "q", "return to live output"),
    write(EditAction::Send, "send", "enter", "send it"),
    write(EditAction::SendAnyway, "send_anyway", "ctrl-g", "send even if unknown or limited"),
    write(EditAction::NewLine, "new_line", "alt-enter ctrl-j shift-enter", "insert a new line"),
    write(EditAction::OpenEditor, "open_editor", "ctrl-e", "edit in $VISUAL or $EDITOR"),
    write(EditAction::Complete, "complete", "tab", "complete @name, or choose agents"),
    write(EditAction::Older, "older", "up ctrl-p", "previous prompt, or line up"),
    write(EditAction::Newer, "newer", "down ctrl-n", "next prompt, or line down"),
    write(EditAction::WordLeft, "word_left", "ctrl-left alt-b", "one word left"),
    write(EditAction::WordRight, "word_right", "ctrl-right alt-f", "one word right"),
    write(EditAction::LineStart, "line_start", "home ctrl-a", "start of the line"),
    write(EditAction::LineEnd, "line_end", "end", "end of the line"),
    write(EditAction::KillWord, "kill_word", "ctrl-w", "delete the word before"),
    write(EditAction::KillStart, "kill_start", "ctrl-u", "delete to the start of the line"),
    write(EditAction::KillEnd, "kill_end", "ctrl-k", "delete to the end of the line"),
    write(EditAction::Leave, "leave_prompt", "esc ctrl-b", "close; keep what is written"),
    choose(ListAction::Up, "item_up", "up k shift-tab", "one up"),
    choose(ListAction::Down, "item_down", "down j tab", "one down"),
    choose(ListAction::Toggle, "toggle", "space", "select / deselect"),
    choose(ListAction::Accept, "accept", "enter y", "confirm"),
    choose(ListAction::Cancel, "cancel", "esc n q ctrl-b", "close"),
    KeyBinding {
        action: Action::CopyLink,
        scope: KeyScope::Links,
        name: "copy_link",
        keys: "c",
        help: "copy where it leads",
    },
    task(TaskAction::Add, "task_add", "n", "add a task"),
    task(TaskAction::Retry, "task_retry", "r", "retry the task"),
    task(TaskAction::GiveUp, "task_cancel", "x", "cancel the task"),
    task(TaskAction::Give, "task_give", "c", "assign it to the selected agent"),
    task(TaskAction::Write, "task_dispatch", "d", "send a prompt to its agent"),
    review(DiffAction::Against, "diff_against", "tab", "compare: base, HEAD, integration"),
    review(DiffAction::NextHunk, "diff_next_hunk", "] n", "the next hunk"),
    review(DiffAction::PreviousHunk, "diff_previous_hunk", "[ N", "the previous hunk"),
    review(DiffAction::NextFile, "diff_next_file", "J }", "the next file"),
    review(DiffAction::PreviousFile, "diff_previous_file", "K {", "the previous file"),
    review(DiffAction::PageDown, "diff_page_down", "pagedown ctrl-d", "one page down"),
    review(DiffAction::PageUp, "diff_page_up", "pageup ctrl-u", "one page up"),
    review(DiffAction::First, "diff_first", "g home", "the first line"),
    review(DiffAction::Last, "diff_last", "G end", "the last line"),
    review(DiffAction::Right, "diff_right", "right l", "scroll right"),
    review(DiffAction::Left, "diff_left", "left h", "scroll left"),
    review(DiffAction::Fold, "diff_fold", "f", "fold / unfold the hunk"),
    review(DiffAction::FoldAll, "diff_fold_all", "F", "fold / unfold all hunks"),
    review(DiffAction::Wrap, "diff_wrap", "w", "wrap long lines on / off"),
    review(DiffAction::Comment, "diff_comment", "c", "add or edit a comment"),
    review(DiffAction::Uncomment, "diff_uncomment", "x delete", "delete the comment"),
    review(DiffAction::Send, "diff_send", "s", "send all comments as one prompt"),
    review(DiffAction::SendAnyway, "diff_send_anyway", "ctrl-g", "send even if unknown"),
    review(DiffAction::Refresh, "diff_refresh", "r", "compare again"),
];

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use super::*;

    const PAGE: &str = "docs/dashboard.md";
    const BEGIN: &str = "<!-- keys: written by WHEELHOUSE_WRITE=1 cargo test --lib tui::keys -->\n";
    const END: &str = "<!-- end of keys -->\n";

    #[test]
    fn the_page_of_the_dashboard_lists_every_key() {
        let page = fs::read_to_string(PAGE).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let wanted = format!("{before}{BEGIN}{}{END}{after}", tables());
        if std::env::var_os("WHEELHOUSE_WRITE").is_some() {
            fs::write(PAGE, &wanted).unwrap();
        }
        let page = fs::read_to_string(PAGE).unwrap();
        assert!(
            page == wanted,
            "run `WHEELHOUSE_WRITE=1 cargo test --lib tui::keys` after a change"
        );
    }

    fn tables() -> String {
        let mut text = String::new();
        for scope in KeyScope::ALL {
            write!(
                text,
                "\n### {}\n\n| action | keys | what it does |\n| --- | --- | --- |\n",
                scope.heading()
            )
            .unwrap();
            for binding in BINDINGS.iter().filter(|binding| binding.scope == scope) {
                let keys: Vec<String> =
                    binding.keys.split(' ').map(|key| format!("`{key}`")).collect();
                writeln!(text, "| `{}` | {} | {} |", binding.name, keys.join(" "), binding.help)
                    .unwrap();
            }
        }
        text + "\n"
    }
}
