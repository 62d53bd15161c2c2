//! What a key can mean in the dashboard, by where it is pressed.

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum Action {
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
    /// A page above what is seen.
    Scroll,
    /// Reads the screen as it is.
    Read,
    /// Opens all that the pane has shown in an editor.
    History,
    /// Looks for something in all panes.
    Search,
    /// Lists the links of the selected pane.
    Links,
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
    Reading(ReadAction),
    /// Of the link that is chosen.
    CopyLink,
    Choose(ListAction),
    Task(TaskAction),
    Write(EditAction),
    Review(DiffAction),
}

/// What a key means while reading in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum ReadAction {
    Move(CursorMotion),
    PageUp,
    PageDown,
    HalfPageUp,
    HalfPageDown,
    SearchForward,
    SearchBackward,
    NextHit,
    PreviousHit,
    SelectChars,
    SelectLines,
    SelectBlock,
    /// Selects the last error, then the one before.
    LastError,
    Copy,
    /// Copies what is selected; without a selection, keys go to the pane.
    CopyOrType,
    CopyLine,
    /// Opens all of it in an editor.
    Editor,
    Type,
    /// Ends the selection or the search; without either, reading.
    Cancel,
    Leave,
}

/// A way for the cursor to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum CursorMotion {
    Left,
    Right,
    Up,
    Down,
    WordNext,
    WordBack,
    WordEnd,
    BigWordNext,
    BigWordBack,
    BigWordEnd,
    LineStart,
    /// The first character of the line that is not blank.
    TextStart,
    LineEnd,
    Oldest,
    Newest,
    WindowTop,
    WindowMiddle,
    WindowBottom,
    ParagraphBack,
    ParagraphNext,
}

/// What a key means in a list or a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum ListAction {
    Up,
    Down,
    Toggle,
    Accept,
    Cancel,
}

/// What a key means beside a task, on top of what it means in any list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum TaskAction {
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
pub(in crate::tui) enum EditAction {
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

/// What a key means in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum DiffAction {
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

/// Where a key is pressed; the same key may mean something else elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tui) enum KeyScope {
    Overview,
    Typing,
    Reading,
    Prompt,
    Dialog,
    Links,
    Tasks,
    Diff,
}

impl KeyScope {
    pub(in crate::tui) const ALL: [Self; 8] = [
        Self::Overview,
        Self::Typing,
        Self::Reading,
        Self::Prompt,
        Self::Dialog,
        Self::Links,
        Self::Tasks,
        Self::Diff,
    ];

    /// Returns the heading over the scope's keys.
    pub(in crate::tui) fn heading(self) -> &'static str {
        match self {
            Self::Overview => "Panes",
            Self::Typing => "While typing into a pane",
            Self::Reading => "While reading a pane",
            Self::Prompt => "While writing a prompt",
            Self::Dialog => "In lists and questions",
            Self::Links => "In the list of links",
            Self::Tasks => "In the list of tasks",
            Self::Diff => "In a diff",
        }
    }
}
