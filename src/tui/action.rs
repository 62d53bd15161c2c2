//! What a key can mean in the dashboard: every action, its name, its keys and what it does.

use super::reviewing::{REVIEW_MEANINGS, Reviewing};

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// The pane of that number, counted from one.
    Select(u8),
    SelectLeft,
    SelectRight,
    SelectUp,
    SelectDown,
    SelectNext,
    SelectPrevious,
    Type,
    Zoom,
    NextLayout,
    Scroll,
    Dispatch,
    Broadcast,
    /// To the next thing that waits for a person.
    Attend,
    Attention,
    Interrupt,
    Withdraw,
    /// The receipt on the selected tile has been seen.
    Dismiss,
    Start,
    Stop,
    Restart,
    /// Takes up again what was lost, or the conversation of the selected agent.
    Resume,
    Remove,
    /// Brings the work of the selected agent back.
    Merge,
    /// Removes its workspace.
    Clean,
    Add,
    Teams,
    Playbooks,
    Tasks,
    /// What the selected agent changed.
    Diff,
    Help,
    Redraw,
    Detach,
    LeaveTyping,
    Read(Reading),
    Choose(Choice),
    Task(Tasking),
    Write(Writing),
    Review(Reviewing),
}

/// What a key means while reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    LineUp,
    LineDown,
    PageUp,
    PageDown,
    Oldest,
    Newest,
    Leave,
}

/// What a key means in a list or a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Choice {
    Up,
    Down,
    Toggle,
    Accept,
    Cancel,
}

/// What a key means beside a task, on top of what it means in any list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tasking {
    Add,
    Retry,
    GiveUp,
    /// To the selected agent.
    Give,
    /// Writes to the agent that has it.
    Write,
}

/// What a key means while a prompt is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Writing {
    Send,
    /// Even where no rule says that the agent waits for a prompt.
    SendAnyway,
    NewLine,
    OpenEditor,
    /// Completes a name, or goes to the list of who gets the prompt.
    Complete,
    Older,
    Newer,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    KillWord,
    KillStart,
    KillEnd,
    Leave,
}

/// Where a key is pressed; the same key may mean something else elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    Overview,
    Typing,
    Scrolling,
    Prompt,
    Dialog,
    Tasks,
    Diff,
}

impl Scope {
    pub(super) const ALL: [Self; 7] = [
        Self::Overview,
        Self::Typing,
        Self::Scrolling,
        Self::Prompt,
        Self::Dialog,
        Self::Tasks,
        Self::Diff,
    ];

    /// Returns the heading over the scope's keys.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Overview => "In the overview",
            Self::Typing => "While typing into a pane",
            Self::Scrolling => "While reading back",
            Self::Prompt => "While writing a prompt",
            Self::Dialog => "In lists and questions",
            Self::Tasks => "Among tasks",
            Self::Diff => "In a diff",
        }
    }
}

/// One row of the table of actions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub action: Action,
    pub scope: Scope,
    /// What settings call it.
    pub name: &'static str,
    /// Key names, separated by blanks.
    pub keys: &'static str,
    pub help: &'static str,
}

pub(super) const fn meaning(
    action: Action,
    scope: Scope,
    name: &'static str,
    keys: &'static str,
    help: &'static str,
) -> Meaning {
    Meaning { action, scope, name, keys, help }
}

/// Returns every action there is, in the order in which help lists them.
pub(super) fn meanings() -> impl Iterator<Item = &'static Meaning> {
    MEANINGS.iter().chain(REVIEW_MEANINGS)
}

const MEANINGS: &[Meaning] = &[
    meaning(Action::Select(1), Scope::Overview, "select_1", "1", "select pane 1"),
    meaning(Action::Select(2), Scope::Overview, "select_2", "2", "select pane 2"),
    meaning(Action::Select(3), Scope::Overview, "select_3", "3", "select pane 3"),
    meaning(Action::Select(4), Scope::Overview, "select_4", "4", "select pane 4"),
    meaning(Action::Select(5), Scope::Overview, "select_5", "5", "select pane 5"),
    meaning(Action::Select(6), Scope::Overview, "select_6", "6", "select pane 6"),
    meaning(Action::Select(7), Scope::Overview, "select_7", "7", "select pane 7"),
    meaning(Action::Select(8), Scope::Overview, "select_8", "8", "select pane 8"),
    meaning(Action::Select(9), Scope::Overview, "select_9", "9", "select pane 9"),
    meaning(Action::SelectLeft, Scope::Overview, "select_left", "left h", "select to the left"),
    meaning(Action::SelectDown, Scope::Overview, "select_down", "down j", "select below"),
    meaning(Action::SelectUp, Scope::Overview, "select_up", "up k", "select above"),
    meaning(Action::SelectRight, Scope::Overview, "select_right", "right l", "select to the right"),
    meaning(Action::SelectNext, Scope::Overview, "select_next", "tab", "select the next pane"),
    meaning(
        Action::SelectPrevious,
        Scope::Overview,
        "select_previous",
        "shift-tab",
        "select the previous pane",
    ),
    meaning(Action::Type, Scope::Overview, "type", "enter", "type into the selected pane"),
    meaning(Action::Zoom, Scope::Overview, "zoom", "z", "zoom the selected pane, and back"),
    meaning(Action::NextLayout, Scope::Overview, "next_layout", "space", "next layout"),
    meaning(Action::Scroll, Scope::Overview, "scroll", "pageup [", "read back in the pane"),
    meaning(Action::Dispatch, Scope::Overview, "dispatch", "d", "send the pane a prompt"),
    meaning(Action::Broadcast, Scope::Overview, "broadcast", "b", "send several a prompt"),
    meaning(Action::Attend, Scope::Overview, "attend", "a", "to the next that waits for you"),
    meaning(Action::Attention, Scope::Overview, "attention", "A", "everything that waits for you"),
    meaning(Action::Interrupt, Scope::Overview, "interrupt", "i", "interrupt the agent"),
    meaning(Action::Withdraw, Scope::Overview, "withdraw", "w", "take back a queued prompt"),
    meaning(Action::Dismiss, Scope::Overview, "dismiss", "esc", "a failed prompt has been seen"),
    meaning(Action::Start, Scope::Overview, "start", "s", "start the agent, if it has ended"),
    meaning(Action::Stop, Scope::Overview, "stop", "x", "stop the agent"),
    meaning(Action::Restart, Scope::Overview, "restart", "r", "restart the agent"),
    meaning(Action::Resume, Scope::Overview, "resume", "R", "resume: all lost, or this one"),
    meaning(Action::Remove, Scope::Overview, "remove", "delete X", "take an ended agent away"),
    meaning(Action::Merge, Scope::Overview, "merge", "m", "bring its work back"),
    meaning(Action::Clean, Scope::Overview, "clean", "c", "remove its workspace"),
    meaning(Action::Add, Scope::Overview, "add", "n", "add an agent to the team"),
    meaning(Action::Teams, Scope::Overview, "teams", "t", "start a team"),
    meaning(Action::Playbooks, Scope::Overview, "playbooks", "p", "run a playbook"),
    meaning(Action::Tasks, Scope::Overview, "tasks", "T", "the tasks, and new ones"),
    meaning(Action::Diff, Scope::Overview, "diff", "D", "what the agent has changed"),
    meaning(Action::Help, Scope::Overview, "help", "? f1", "this help"),
    meaning(Action::Redraw, Scope::Overview, "redraw", "ctrl-l", "draw everything anew"),
    meaning(Action::Detach, Scope::Overview, "detach", "q", "leave; nothing stops"),
    meaning(
        Action::LeaveTyping,
        Scope::Typing,
        "leave_typing",
        "ctrl-b",
        "leave; twice: send it to the pane",
    ),
    meaning(Action::Read(Reading::LineUp), Scope::Scrolling, "line_up", "up k", "one line up"),
    meaning(
        Action::Read(Reading::LineDown),
        Scope::Scrolling,
        "line_down",
        "down j",
        "one line down",
    ),
    meaning(
        Action::Read(Reading::PageUp),
        Scope::Scrolling,
        "page_up",
        "pageup ctrl-u",
        "one page up",
    ),
    meaning(
        Action::Read(Reading::PageDown),
        Scope::Scrolling,
        "page_down",
        "pagedown ctrl-d",
        "one page down",
    ),
    meaning(Action::Read(Reading::Oldest), Scope::Scrolling, "oldest", "g home", "the oldest line"),
    meaning(Action::Read(Reading::Newest), Scope::Scrolling, "newest", "G", "the newest line"),
    meaning(
        Action::Read(Reading::Leave),
        Scope::Scrolling,
        "leave_scrolling",
        "esc end q ctrl-b",
        "back to what happens now",
    ),
    meaning(Action::Write(Writing::Send), Scope::Prompt, "send", "enter", "send it"),
    meaning(
        Action::Write(Writing::SendAnyway),
        Scope::Prompt,
        "send_anyway",
        "ctrl-g",
        "send it though unknown or limited",
    ),
    meaning(
        Action::Write(Writing::NewLine),
        Scope::Prompt,
        "new_line",
        "alt-enter ctrl-j shift-enter",
        "a new line",
    ),
    meaning(
        Action::Write(Writing::OpenEditor),
        Scope::Prompt,
        "open_editor",
        "ctrl-e",
        "go on in $VISUAL or $EDITOR",
    ),
    meaning(
        Action::Write(Writing::Complete),
        Scope::Prompt,
        "complete",
        "tab",
        "complete @name; or: who gets it",
    ),
    meaning(Action::Write(Writing::Older), Scope::Prompt, "older", "up ctrl-p", "what was before"),
    meaning(Action::Write(Writing::Newer), Scope::Prompt, "newer", "down ctrl-n", "and back"),
    meaning(
        Action::Write(Writing::WordLeft),
        Scope::Prompt,
        "word_left",
        "ctrl-left alt-b",
        "a word back",
    ),
    meaning(
        Action::Write(Writing::WordRight),
        Scope::Prompt,
        "word_right",
        "ctrl-right alt-f",
        "a word on",
    ),
    meaning(
        Action::Write(Writing::LineStart),
        Scope::Prompt,
        "line_start",
        "home ctrl-a",
        "start of the line",
    ),
    meaning(Action::Write(Writing::LineEnd), Scope::Prompt, "line_end", "end", "end of the line"),
    meaning(
        Action::Write(Writing::KillWord),
        Scope::Prompt,
        "kill_word",
        "ctrl-w",
        "remove the word before",
    ),
    meaning(
        Action::Write(Writing::KillStart),
        Scope::Prompt,
        "kill_start",
        "ctrl-u",
        "remove the line up to here",
    ),
    meaning(
        Action::Write(Writing::KillEnd),
        Scope::Prompt,
        "kill_end",
        "ctrl-k",
        "remove the rest of the line",
    ),
    meaning(
        Action::Write(Writing::Leave),
        Scope::Prompt,
        "leave_prompt",
        "esc ctrl-b",
        "leave; what is written stays",
    ),
    meaning(Action::Choose(Choice::Up), Scope::Dialog, "item_up", "up k shift-tab", "one up"),
    meaning(Action::Choose(Choice::Down), Scope::Dialog, "item_down", "down j tab", "one down"),
    meaning(Action::Choose(Choice::Toggle), Scope::Dialog, "toggle", "space", "this one, or not"),
    meaning(Action::Choose(Choice::Accept), Scope::Dialog, "accept", "enter y", "do it"),
    meaning(Action::Choose(Choice::Cancel), Scope::Dialog, "cancel", "esc n q ctrl-b", "close it"),
    meaning(Action::Task(Tasking::Add), Scope::Tasks, "task_add", "n", "add a task"),
    meaning(Action::Task(Tasking::Retry), Scope::Tasks, "task_retry", "r", "have it tried again"),
    meaning(Action::Task(Tasking::GiveUp), Scope::Tasks, "task_cancel", "x", "give it up"),
    meaning(
        Action::Task(Tasking::Give),
        Scope::Tasks,
        "task_give",
        "c",
        "give it to the selected agent",
    ),
    meaning(
        Action::Task(Tasking::Write),
        Scope::Tasks,
        "task_dispatch",
        "d",
        "send its agent a prompt",
    ),
];
