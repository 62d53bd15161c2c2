//! What an agent has changed, as the hub told it, and which file of it is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::comments::Draft;
use crate::api::{DiffStatus, HunkStatus, Request};
use crate::model::{Against, AgentName, AgentState, DiffFile, FileHunks, Moment};
use crate::tui::app::{App, Purpose};
use crate::tui::review::{Comment, DiffPage, PageContents};

/// How often the files are compared while nothing else says that they changed; a comparison that
/// takes long is made less often, so that it never takes more than a fifth of the time.
const REFRESH: Duration = Duration::from_secs(2);
const REST: u32 = 4;

/// Files whose hunks are kept, so that going back and forth asks nobody.
const KEPT_MAX: usize = 32;

/// A diff that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffView {
    pub agent: AgentName,
    pub(super) against: Against,
    /// Unknown until the hub has answered.
    pub(super) list: Option<Box<DiffStatus>>,
    /// The hunks that are known, each with the stamp of its file.
    pub(super) hunks: BTreeMap<String, (String, FileHunks)>,
    /// The file that is shown.
    pub(super) path: Option<String>,
    /// The row that the cursor is on, and the first one that is seen.
    pub(super) at: usize,
    pub(super) top: usize,
    /// Columns that lie to the left of what is seen.
    pub(super) left: usize,
    pub(super) wraps: bool,
    pub(super) folded: BTreeSet<(String, u64)>,
    pub(super) writing: Option<Draft>,
    pub(super) fault: Option<String>,
    pub(super) asked_at: Option<Moment>,
    pub(super) due: Option<Moment>,
    pub(super) state: Option<AgentState>,
}

/// A file of the list: one that differs, or one that has comments.
pub(super) struct DiffEntry<'a> {
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
    pub(super) fn wish(&self) -> (Purpose, Request) {
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
    pub(crate) fn compare(&mut self, app: &mut App) {
        if !app.is_connected() {
            return;
        }
        self.asked_at = Some(app.now);
        let (purpose, request) = self.wish();
        app.ask(purpose, request);
    }

    /// Compares anew once the agent has ended a turn.
    pub(crate) fn follow_agent(&mut self, app: &mut App) {
        let state = app.agent(&self.agent).map(|agent| agent.state);
        let was_working = self.state == Some(AgentState::Working);
        if was_working && state != self.state && self.asked_at.is_none() {
            self.compare(app);
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
    pub(super) fn fetch(&self, app: &mut App) {
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
    pub(super) fn entries<'a>(&'a self, app: &'a App) -> Vec<DiffEntry<'a>> {
        let comments: &[Comment] = app.reviews.get(&self.agent).map_or(&[], |own| &own.comments);
        let count = |path: &str| comments.iter().filter(|one| one.anchor.path == path).count();
        let files = self.list.iter().flat_map(|list| &list.files);
        let mut entries: Vec<DiffEntry<'a>> = files
            .map(|file| DiffEntry {
                path: &file.path,
                file: Some(file),
                comments: count(&file.path),
            })
            .collect();
        for Comment { anchor, .. } in comments {
            if self.list.is_some() && entries.iter().all(|entry| entry.path != anchor.path) {
                let comments = count(&anchor.path);
                entries.push(DiffEntry { path: &anchor.path, file: None, comments });
            }
        }
        entries
    }

    pub(super) fn entry_index(&self, app: &App) -> Option<usize> {
        let path = self.path.as_deref()?;
        self.entries(app).iter().position(|entry| entry.path == path)
    }

    /// Returns the rows of the file that is shown.
    pub(super) fn page(&self, app: &App) -> DiffPage {
        let Some(path) = &self.path else { return DiffPage::default() };
        let review = app.reviews.get(&self.agent);
        DiffPage::new(&PageContents {
            file: self.file(path),
            hunks: self.shown(),
            comments: review.map_or(Vec::new(), |review| review.on(path).collect()),
            is_folded: &|start| self.folded.contains(&(path.clone(), start)),
            width: self.text_cols(app),
            wraps: self.wraps,
        })
    }
}
