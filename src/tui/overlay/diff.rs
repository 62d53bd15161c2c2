//! What an agent has changed: files, hunks, and comments on lines that are sent to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::diff_comments::Draft;
use super::stack::Fate;
use crate::model::{Against, AgentName, AgentState, DiffFile, FileHunks, Key, Moment};
use crate::tui::action::Choice;
use crate::tui::app::{App, Purpose};
use crate::tui::review::{Comment, Matter, Page};
use crate::tui::reviewing::Reviewing;
use crate::wire::{DiffStatus, HunkStatus, Request};

/// How often the files are compared while nothing else says that they changed; a comparison that
/// takes long is made less often, so that it never takes more than a fifth of the time.
const REFRESH: Duration = Duration::from_secs(2);
const REST: u32 = 4;

/// Files whose hunks are kept, so that going back and forth asks nobody.
const KEPT_MAX: usize = 32;

/// Columns that one key goes sideways.
const SIDE_COLS: usize = 8;

/// A diff that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffView {
    pub agent: AgentName,
    pub(super) against: Against,
    /// Unknown until the hub has answered.
    pub(super) list: Option<Box<DiffStatus>>,
    /// The hunks that are known, each with the stamp of its file.
    hunks: BTreeMap<String, (String, FileHunks)>,
    /// The file that is shown.
    pub(super) path: Option<String>,
    /// The row that the cursor is on, and the first one that is seen.
    pub(super) at: usize,
    pub(super) top: usize,
    /// Columns that lie to the left of what is seen.
    pub(super) left: usize,
    pub(super) wraps: bool,
    folded: BTreeSet<(String, u64)>,
    pub(super) writing: Option<Draft>,
    pub(super) fault: Option<String>,
    asked_at: Option<Moment>,
    due: Option<Moment>,
    state: Option<AgentState>,
}

/// A file of the list: one that differs, or one that has comments.
pub(super) struct Entry<'a> {
    pub path: &'a str,
    pub file: Option<&'a DiffFile>,
    pub comments: usize,
}

impl DiffView {
    pub(crate) fn new(agent: AgentName) -> Self {
        Self {
            agent,
            against: Against::Base,
            list: None,
            hunks: BTreeMap::new(),
            path: None,
            at: 0,
            top: 0,
            left: 0,
            wraps: false,
            folded: BTreeSet::new(),
            writing: None,
            fault: None,
            asked_at: None,
            due: None,
            state: None,
        }
    }

    pub(crate) fn is_against(&self, against: &Against) -> bool {
        self.against == *against
    }

    /// Says whether anything is known that could be shown.
    pub(crate) fn is_known(&self) -> bool {
        self.list.is_some()
    }

    /// Returns what to ask the hub to know which files differ.
    pub(crate) fn wish(&self) -> (Purpose, Request) {
        self.request(None)
    }

    fn request(&self, path: Option<&String>) -> (Purpose, Request) {
        let (agent, against) = (self.agent.clone(), self.against.clone());
        let stamp = path.and_then(|path| self.file(path)).map(|file| file.stamp.clone());
        let purpose = Purpose::Diff { agent, against, path: path.cloned().zip(stamp) };
        let paths = path.cloned().into_iter().collect();
        let (agent, against) = (self.agent.to_string(), self.against.clone());
        (purpose, Request::Diff { agent, against, paths })
    }

    /// Asks the hub which files differ.
    pub(crate) fn refresh(&mut self, app: &mut App) {
        if !app.is_connected() {
            return;
        }
        self.asked_at = Some(app.now);
        let (purpose, request) = self.wish();
        app.ask(purpose, request);
    }

    /// Returns when the files are to be compared again; never, while that is under way.
    pub(crate) fn due(&self) -> Option<Moment> {
        self.due.filter(|_| self.asked_at.is_none())
    }

    /// Takes note that the hub went away.
    pub(super) fn lose_hub(&mut self) {
        (self.asked_at, self.due) = (None, None);
    }

    /// Compares anew once the agent has ended a turn.
    pub(crate) fn follow(&mut self, app: &mut App) {
        let state = app.agent(&self.agent).map(|agent| agent.state);
        let was_working = self.state == Some(AgentState::Working);
        if was_working && state != self.state && self.asked_at.is_none() {
            self.refresh(app);
        }
        self.state = state;
    }

    /// Takes the files as they are now, and asks for the lines of the one that is shown.
    pub(crate) fn take_list(&mut self, app: &mut App, list: Box<DiffStatus>) {
        let took = self.asked_at.take().map(|then| app.now.since(then)).unwrap_or_default();
        self.due = Some(app.now + REFRESH.max(took * REST));
        if list.against != self.against {
            return;
        }
        let place = self.list.as_ref().and_then(|_| self.entry_index(app));
        if self.list.as_ref().is_some_and(|known| known.commit != list.commit) {
            self.hunks.clear();
        }
        self.fault = None;
        self.list = Some(list);
        let entries = self.entries(app);
        let is_there = entries.iter().any(|entry| Some(entry.path) == self.path.as_deref());
        if !is_there {
            let near = place.unwrap_or(0).min(entries.len().saturating_sub(1));
            let path = entries.get(near).map(|entry| entry.path.to_owned());
            (self.path, self.at, self.top) = (path, 0, 0);
        }
        self.fetch(app);
    }

    /// Takes the lines of a file; the cursor stays on its line, wherever that is now.
    pub(crate) fn take_hunks(&mut self, app: &App, path: String, stamp: String, told: HunkStatus) {
        let is_other = self.list.as_ref().is_some_and(|list| list.commit != told.commit);
        if is_other || told.rest.contains(&path) {
            return;
        }
        let is_shown = self.path.as_ref() == Some(&path);
        let anchor = self
            .hunks
            .get(&path)
            .filter(|_| is_shown)
            .and_then(|(_, hunks)| self.page(app).anchor(self.at, hunks));
        let unknown = FileHunks { path: path.clone(), ..FileHunks::default() };
        let hunks = told.files.into_iter().find(|file| file.path == path).unwrap_or(unknown);
        let found = anchor.and_then(|anchor| anchor.find(&hunks));
        if self.hunks.len() >= KEPT_MAX {
            self.hunks.clear();
        }
        self.hunks.insert(path, (stamp, hunks));
        if is_shown {
            let page = self.page(app);
            let before = self.at.saturating_sub(self.top);
            self.at = found.and_then(|place| page.row_of(place)).unwrap_or(self.at);
            self.top = self.at.saturating_sub(before);
            self.keep_in_sight(app, &page);
        }
    }

    pub(crate) fn fail(&mut self, app: &App, fault: String) {
        if let Some(then) = self.asked_at.take() {
            self.due = Some(app.now + REFRESH.max(app.now.since(then) * REST));
        }
        self.fault = Some(fault).filter(|_| self.list.is_none());
    }

    /// Asks for the lines of the file that is shown, unless they are known as they are now.
    fn fetch(&self, app: &mut App) {
        let Some((path, file)) = self.path.as_ref().and_then(|path| Some((path, self.file(path)?)))
        else {
            return;
        };
        let is_known = self.hunks.get(path).is_some_and(|(stamp, _)| *stamp == file.stamp);
        if !is_known && app.is_connected() {
            let (purpose, request) = self.request(Some(path));
            app.ask(purpose, request);
        }
    }

    fn file(&self, path: &str) -> Option<&DiffFile> {
        self.list.as_ref()?.files.iter().find(|file| file.path == path)
    }

    /// Returns the lines of the file that is shown, if they are known.
    pub(super) fn shown(&self) -> Option<&FileHunks> {
        self.hunks.get(self.path.as_ref()?).map(|(_, hunks)| hunks)
    }

    /// Returns the files to choose from.
    pub(super) fn entries<'a>(&'a self, app: &'a App) -> Vec<Entry<'a>> {
        let comments: &[Comment] = app.reviews.get(&self.agent).map_or(&[], |own| &own.comments);
        let count = |path: &str| comments.iter().filter(|one| one.anchor.path == path).count();
        let files = self.list.iter().flat_map(|list| &list.files);
        let mut entries: Vec<Entry<'a>> = files
            .map(|file| Entry { path: &file.path, file: Some(file), comments: count(&file.path) })
            .collect();
        for Comment { anchor, .. } in comments {
            if self.list.is_some() && entries.iter().all(|entry| entry.path != anchor.path) {
                let comments = count(&anchor.path);
                entries.push(Entry { path: &anchor.path, file: None, comments });
            }
        }
        entries
    }

    pub(super) fn entry_index(&self, app: &App) -> Option<usize> {
        let path = self.path.as_deref()?;
        self.entries(app).iter().position(|entry| entry.path == path)
    }

    /// Returns the rows of the file that is shown.
    pub(super) fn page(&self, app: &App) -> Page {
        let Some(path) = &self.path else { return Page::default() };
        let review = app.reviews.get(&self.agent);
        Page::new(&Matter {
            file: self.file(path),
            hunks: self.shown(),
            comments: review.map_or(Vec::new(), |review| review.on(path).collect()),
            is_folded: &|start| self.folded.contains(&(path.clone(), start)),
            width: self.text_cols(app),
            wraps: self.wraps,
        })
    }

    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        if self.writing.is_some() {
            return self.press_in_text(app, key);
        }
        if let Some(reviewing) = app.keymap.reviewing(key) {
            return self.act(app, reviewing);
        }
        app.keymap.choice(key).map_or(Fate::Stay, |choice| self.choose(app, choice))
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        if self.writing.is_some() {
            match choice {
                Choice::Accept => self.keep(app),
                Choice::Cancel => self.leave(app),
                Choice::Up | Choice::Down | Choice::Toggle => {}
            }
            return Fate::Stay;
        }
        match choice {
            Choice::Up => self.go(app, self.at.saturating_sub(1)),
            Choice::Down => self.go(app, self.at.saturating_add(1)),
            Choice::Toggle => return self.act(app, Reviewing::Fold),
            Choice::Accept => return self.act(app, Reviewing::Comment),
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    /// Does what a key means here.
    pub(super) fn act(&mut self, app: &mut App, reviewing: Reviewing) -> Fate {
        let page = usize::from(self.text_rows(app).saturating_sub(2).max(1));
        match reviewing {
            Reviewing::Against => self.turn_against(app),
            Reviewing::NextHunk => self.step_hunk(app, true),
            Reviewing::PreviousHunk => self.step_hunk(app, false),
            Reviewing::NextFile => self.step_file(app, true),
            Reviewing::PreviousFile => self.step_file(app, false),
            Reviewing::PageDown => self.go(app, self.at.saturating_add(page)),
            Reviewing::PageUp => self.go(app, self.at.saturating_sub(page)),
            Reviewing::First => self.go(app, 0),
            Reviewing::Last => self.go(app, usize::MAX),
            Reviewing::Right if !self.wraps => self.left = self.left.saturating_add(SIDE_COLS),
            Reviewing::Left => self.left = self.left.saturating_sub(SIDE_COLS),
            Reviewing::Right => {}
            Reviewing::Fold => self.fold(app, false),
            Reviewing::FoldAll => self.fold(app, true),
            Reviewing::Wrap => {
                (self.wraps, self.left) = (!self.wraps, 0);
                self.go(app, self.at);
            }
            Reviewing::Comment => self.comment(app),
            Reviewing::Uncomment => self.uncomment(app),
            Reviewing::Send => self.send(app, false),
            Reviewing::SendAnyway => self.send(app, true),
            Reviewing::Refresh => {
                self.hunks.clear();
                self.refresh(app);
            }
        }
        Fate::Stay
    }

    fn turn_against(&mut self, app: &mut App) {
        let Some(list) = &self.list else { return };
        let place = list.choices.iter().position(|choice| *choice == self.against);
        let next = place.map_or(0, |place| (place + 1) % list.choices.len().max(1));
        let Some(next) = list.choices.get(next).cloned() else { return };
        (self.against, self.list, self.at, self.top) = (next, None, 0, 0);
        self.hunks.clear();
        self.refresh(app);
    }

    fn step_hunk(&mut self, app: &mut App, is_down: bool) {
        let page = self.page(app);
        match page.next_head(self.at, is_down) {
            Some(head) => self.go(app, head),
            None => self.step_file(app, is_down),
        }
    }

    fn step_file(&mut self, app: &mut App, is_down: bool) {
        let count = self.entries(app).len();
        let place = self.entry_index(app).unwrap_or(0);
        let next = if is_down { place + 1 } else { place.wrapping_sub(1) };
        if next < count {
            self.show_file(app, next);
        }
    }

    /// Shows the file in that place of the list.
    pub(super) fn show_file(&mut self, app: &mut App, index: usize) {
        let path = self.entries(app).get(index).map(|entry| entry.path.to_owned());
        if path.is_some() && path != self.path {
            (self.path, self.at, self.top, self.left) = (path, 0, 0, 0);
            self.fetch(app);
        }
    }

    /// Goes to a row, or to the last one.
    pub(super) fn go(&mut self, app: &App, at: usize) {
        let page = self.page(app);
        self.at = at;
        self.keep_in_sight(app, &page);
    }

    pub(super) fn keep_in_sight(&mut self, app: &App, page: &Page) {
        let rows = usize::from(self.text_rows(app)).max(1);
        self.at = self.at.min(page.rows.len().saturating_sub(1));
        self.top = self.top.clamp((self.at + 1).saturating_sub(rows), self.at);
        self.top = self.top.min(page.rows.len().saturating_sub(rows));
        self.top = self.top.max((self.at + 1).saturating_sub(rows));
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        const WHEEL_ROWS: usize = 3;
        let page = self.page(app);
        let rows = usize::from(self.text_rows(app)).max(1);
        let last = page.rows.len().saturating_sub(rows);
        let top = if is_down { self.top + WHEEL_ROWS } else { self.top.saturating_sub(WHEEL_ROWS) };
        self.top = top.min(last);
        self.at = self.at.clamp(self.top, (self.top + rows).saturating_sub(1));
    }

    fn fold(&mut self, app: &App, is_all: bool) {
        let Some(path) = self.path.clone() else { return };
        let page = self.page(app);
        let Some(hunk) = page.hunk_at(self.at) else { return };
        let starts: Vec<u64> = self
            .shown()
            .map_or(Vec::new(), |all| all.hunks.iter().map(|one| one.old_start).collect());
        let Some(own) = starts.get(hunk).copied() else { return };
        let was_folded = self.folded.contains(&(path.clone(), own));
        for start in starts.into_iter().filter(|start| is_all || *start == own) {
            let key = (path.clone(), start);
            if was_folded {
                self.folded.remove(&key);
            } else {
                self.folded.insert(key);
            }
        }
        let page = self.page(app);
        let head = (0..page.rows.len()).find(|row| page.hunk_at(*row) == Some(hunk));
        self.at = head.unwrap_or(self.at);
        self.keep_in_sight(app, &page);
    }
}
