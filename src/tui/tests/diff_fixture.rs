//! Things that tests of diffs are made of.

use super::fixture::{NOW, Stage, stage};
use crate::api::{DiffStatus, HunkStatus, Request, Response};
use crate::model::{
    Against, DiffChange, DiffFile, DiffLine, Done, FileHunks, Hunk, Receipt, ReceiptId,
    Stage as Step,
};
use crate::tui::overlay::DiffView;
use crate::tui::review::CommentState;
use crate::tui::update::AppInput;

pub(super) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub(super) fn file(path: &str, change: DiffChange, added: u64, removed: u64) -> DiffFile {
    DiffFile {
        path: path.to_owned(),
        old_path: None,
        change,
        old_mode: Some("100644".to_owned()),
        new_mode: Some("100644".to_owned()),
        added: Some(added),
        removed: Some(removed),
        is_untracked: false,
        note: None,
        stamp: "1".to_owned(),
    }
}

pub(super) fn list(against: Against, files: Vec<DiffFile>) -> Response {
    Response::Diff(Box::new(DiffStatus {
        agent: "backend".to_owned(),
        directory: "/home/ada/shop".to_owned(),
        against,
        commit: Some(COMMIT.to_owned()),
        choices: vec![Against::Base, Against::Head, Against::Integration],
        files,
        left_out: 0,
    }))
}

/// Returns the files of a day's work.
pub(super) fn files() -> Vec<DiffFile> {
    let mut moved = file("src/session/keep.rs", DiffChange::Renamed, 0, 0);
    moved.old_path = Some("src/session/hold.rs".to_owned());
    moved.new_mode = Some("100755".to_owned());
    let mut new = file("tools/check \u{1b}[2J世界.py", DiffChange::Added, 2, 0);
    (new.old_mode, new.is_untracked) = (None, true);
    let mut logo = file("logo.png", DiffChange::Modified, 0, 0);
    (logo.added, logo.removed, logo.note) = (None, None, Some("binary".to_owned()));
    vec![logo, moved, file("src/session/store.rs", DiffChange::Modified, 3, 2), new]
}

/// Returns a hunk of lines, each with its sign, from a number on.
pub(super) fn hunk(start: u64, lines: &[&str]) -> Hunk {
    let (mut old, mut new) = (start, start);
    let mut read = Vec::new();
    for line in lines {
        let (sign, text) = line.split_at(1);
        let mut told = DiffLine { text: text.to_owned(), ..DiffLine::default() };
        if sign != "+" {
            told.old = Some(old);
            old += 1;
        }
        if sign != "-" {
            told.new = Some(new);
            new += 1;
        }
        read.push(told);
    }
    Hunk {
        old_start: start,
        old_count: old - start,
        new_start: start,
        new_count: new - start,
        heading: "impl Store {".to_owned(),
        lines: read,
    }
}

pub(super) const STORE: [&str; 7] = [
    "     /// Returns the session.",
    "-    pub fn get(&self, id: u32) -> Option<Session> {",
    "+    pub fn find(&self, id: SessionId) -> Option<&Session> {",
    "         self.all.get(&id)",
    "-        // none \"yet\"",
    "+        \t.filter(|session| session.age < 3600) // 世界",
    "     }",
];

pub(super) fn store() -> FileHunks {
    let hunks = vec![hunk(12, &STORE), hunk(80, &[" fn main() {", "+    run();", " }"])];
    FileHunks { path: "src/session/store.rs".to_owned(), hunks, ..FileHunks::default() }
}

pub(super) fn hunks(file: FileHunks) -> Response {
    let commit = Some(COMMIT.to_owned());
    Response::Hunks(Box::new(HunkStatus { commit, files: vec![file], rest: Vec::new() }))
}

pub(super) fn is_list(request: &Request) -> bool {
    matches!(request, Request::Diff { paths, .. } if paths.is_empty())
}

pub(super) fn is_hunks(request: &Request) -> bool {
    matches!(request, Request::Diff { paths, .. } if !paths.is_empty())
}

pub(super) fn is_dispatch(request: &Request) -> bool {
    matches!(request, Request::Dispatch { .. })
}

/// Returns a dashboard that shows the changes of the first agent, in a file of theirs.
pub(super) fn review(cols: u16, rows: u16) -> Stage {
    let mut stage = stage(cols, rows, 2);
    stage.press("D");
    stage.answer(is_list, list(Against::Base, files()));
    stage.press("J J");
    stage.answer(is_hunks, hunks(store()));
    stage
}

pub(super) fn comment(stage: &mut Stage, text: &str) {
    stage.press("c");
    stage.give(AppInput::Paste(text.to_owned()));
    stage.press("enter");
}

/// Returns the row that the cursor is on, without its frame.
pub(super) fn under_cursor(stage: &mut Stage) -> String {
    let text = stage.text();
    assert!(stage.app.overlays.last().unwrap().is::<DiffView>(), "no diff:\n{text}");
    let buffer = stage.picture.buffer();
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let mut pages = rows.filter_map(|cells| {
        let rule = cells.iter().position(|cell| cell.symbol() == "│")?;
        Some(&cells[rule + 1..])
    });
    let is_marked = |cells: &&[ratatui::buffer::Cell]| {
        cells[0].modifier.contains(ratatui::style::Modifier::REVERSED)
    };
    let page = pages.find(is_marked).expect("the cursor is in sight");
    let line: String = page.iter().map(ratatui::buffer::Cell::symbol).collect();
    line.trim_matches(|c: char| c == '┃' || c == ' ').to_owned()
}

pub(super) fn posts(stage: &Stage) -> Vec<CommentState> {
    let reviews = stage.app.reviews.values();
    reviews.flat_map(|review| review.comments.iter().map(|comment| comment.post)).collect()
}

pub(super) fn is_wait(request: &Request) -> bool {
    matches!(request, Request::AwaitReceipts { .. })
}

/// Returns what the hub says of the prompt in that state.
pub(super) fn arrived(state: Step, reason: Option<&str>) -> Response {
    let receipt = Receipt {
        receipt: ReceiptId(7),
        agent: "backend".parse().unwrap(),
        state,
        since: NOW,
        reason: reason.map(str::to_owned),
        prompt: "2 comments".to_owned(),
    };
    Response::Done(Done { receipts: vec![receipt], ..Done::default() })
}
