//! Compares an agent's workspace with a commit, by git and beside the hub.

use std::path::{Path, PathBuf};

use crate::api::{DiffStatus, Fault, HunkStatus, Response};
use crate::config::Paths;
use crate::engine::Engine;
use crate::git::{GitError, Repository};
use crate::hub::clients::askers::{Reply, unknown_agent};
use crate::hub::clients::response_size::{ANSWER_BYTES_MAX, fitting};
use crate::model::{Against, AgentName, DiffFile, DiffLine, FileHunks, Moment};
use crate::store::{Journal, Query};
use crate::workspace::inside::Root;

/// Files whose hunks are asked for at once; more are told to be asked for again.
const PATHS_MAX: usize = 64;

/// What stands around the text of a line, and around that of a file.
const LINE_BYTES: usize = 96;
const FILE_BYTES: usize = 384;

/// Branches that work is brought back to, where the project itself has none other checked out.
const USUAL: &[&str] = &["main", "master", "origin/HEAD"];

/// What is compared with what.
#[derive(Debug)]
pub struct Comparison {
    agent: AgentName,
    directory: PathBuf,
    project: PathBuf,
    record: PathBuf,
    against: Against,
    /// The commit that its workspace was made at, and the branch that work is brought onto from there.
    began: Option<String>,
    into: Option<String>,
}

impl Comparison {
    /// Compares what an agent works on, or its workspace that has outlived it.
    pub fn new(
        engine: &Engine,
        paths: &Paths,
        into: &str,
        name: &str,
        against: Against,
    ) -> Result<Self, Fault> {
        let parsed = name.parse::<AgentName>().ok();
        let workspace = parsed.as_ref().and_then(|agent| engine.workspace(agent));
        let seat = parsed.as_ref().and_then(|agent| engine.seat(agent));
        let root = workspace.map(|one| one.plot.project_root());
        let root = root.or_else(|| seat.map(|seat| seat.member.root().to_owned()));
        let (Some(agent), Some(directory)) = (parsed, root) else {
            return Err(unknown_agent(engine, name));
        };
        let plot = workspace.map(|one| &one.plot).filter(|plot| !plot.base.is_empty());
        let began = plot.map(|plot| plot.base.clone());
        let into = plot.map(|_| into.to_owned());
        let (project, record) = (paths.project.clone(), paths.record());
        Ok(Self { agent, directory, project, record, against, began, into })
    }

    pub(in crate::hub) fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// Returns the files that differ, or what differs in these.
    pub fn run(self, paths: Vec<String>) -> Result<Response, Fault> {
        if paths.is_empty() { self.files() } else { self.hunks(paths) }
    }

    fn files(self) -> Reply {
        let repository = self.repository()?;
        let commit = self.commit(&repository)?;
        let difference =
            repository.difference(commit.as_deref()).map_err(|error| self.fault(&error))?;
        let count = difference.files.len();
        let files: Vec<_> = fitting(difference.files.into_iter(), file_bytes).collect();
        let has_integration = self.integration(&repository).is_some();
        let integration = has_integration.then_some(Against::Integration);
        let mut choices = vec![Against::Base, Against::Head];
        choices.extend(integration);
        Ok(Response::Diff(Box::new(DiffStatus {
            agent: self.agent.to_string(),
            directory: repository.top().to_string_lossy().into_owned(),
            against: self.against,
            commit,
            choices,
            left_out: difference.left_out + count - files.len(),
            files,
        })))
    }

    fn hunks(self, mut paths: Vec<String>) -> Reply {
        let repository = self.repository()?;
        let commit = self.commit(&repository)?;
        let mut rest = paths.split_off(paths.len().min(PATHS_MAX));
        let read =
            repository.hunks(commit.as_deref(), &paths).map_err(|error| self.fault(&error))?;
        let mut files = Vec::new();
        let mut room = ANSWER_BYTES_MAX;
        let mut left: Vec<String> = read.rest;
        for file in read.files {
            let bytes = hunk_bytes(&file);
            if bytes <= room || files.is_empty() {
                files.push(shortened(file, room));
                room = room.saturating_sub(bytes);
            } else {
                left.push(file.path);
            }
        }
        left.append(&mut rest);
        Ok(Response::Hunks(Box::new(HunkStatus { commit, files, rest: left })))
    }

    fn repository(&self) -> Result<Repository, Fault> {
        let swapped = |reason| Fault::new(format!("The files of agent `{}`: {reason}", self.agent));
        Root::hold(&self.directory).map_err(swapped)?;
        Repository::find(&self.directory).map_err(|error| self.fault(&error))
    }

    fn fault(&self, error: &GitError) -> Fault {
        let (agent, directory) = (&self.agent, self.directory.display());
        let fault = Fault::new(format!("The files of agent `{agent}` in {directory}: {error}"));
        match error {
            GitError::NoRepository => fault
                .with_hint(format!("Git compares files: `git init {directory}` begins with it")),
            GitError::Unavailable(_)
            | GitError::Late { .. }
            | GitError::TooMuch { .. }
            | GitError::Failed { .. }
            | GitError::Moved { .. } => fault,
        }
    }

    /// Returns the commit that is meant; nothing, if there is none yet.
    fn commit(&self, repository: &Repository) -> Result<Option<String>, Fault> {
        let head = || repository.head().map_err(|error| self.fault(&error));
        match &self.against {
            Against::Head => head(),
            Against::Base => match self.base(repository) {
                Some(base) => Ok(Some(base)),
                None => head(),
            },
            Against::Integration => self.integration(repository).map(Some).ok_or_else(|| {
                let fault =
                    Fault::new(format!("Agent `{}` is on the integration branch", self.agent));
                fault.with_hint(self.by_name())
            }),
            Against::Rev(name) => match repository.commit(name) {
                Ok(Some(commit)) => Ok(Some(commit)),
                Ok(None) | Err(GitError::Failed { .. }) => {
                    let name: String = name.chars().take(100).collect();
                    let directory = self.directory.display();
                    let fault = Fault::new(format!("`{name}` is no commit in {directory}"));
                    Err(fault.with_hint(self.by_name()))
                }
                Err(error) => Err(self.fault(&error)),
            },
        }
    }

    fn by_name(&self) -> String {
        let agent = &self.agent;
        format!("Name a commit or a branch: `wheelhouse agent diff {agent} --against main`")
    }

    /// Returns what was checked out when the agent's run began, as far as is known.
    fn base(&self, repository: &Repository) -> Option<String> {
        if self.began.is_some() {
            return self.began.clone();
        }
        let began = last_start(&self.record, &self.agent)?;
        repository.head_at(began.0 / 1000).ok().flatten()
    }

    /// Returns where the agent's branch left the one that work is brought back to.
    fn integration(&self, repository: &Repository) -> Option<String> {
        let own = repository.branch().ok().flatten();
        let project = Repository::find(&self.project).ok();
        let projects = project.and_then(|project| project.branch().ok().flatten());
        let usual = USUAL.iter().map(|name| (*name).to_owned());
        let mut candidates = self.into.iter().cloned().chain(projects).chain(usual);
        candidates.find_map(|name| {
            let is_other = own.as_ref() != Some(&name);
            let commit = repository.commit(&name).ok().flatten().filter(|_| is_other)?;
            repository.parting(&commit).ok().flatten()
        })
    }
}

/// Returns when the agent's last run began. A record that cannot be read tells nothing.
fn last_start(record: &Path, agent: &AgentName) -> Option<Moment> {
    let query = Query {
        limit: 1,
        newest: true,
        agent: Some(agent.to_string()),
        kind: Some("agent.starting".to_owned()),
        ..Query::default()
    };
    let found = Journal::open(record).and_then(|journal| journal.entries(&query)).ok()?;
    found.last().map(|entry| entry.at)
}

fn file_bytes(file: &DiffFile) -> usize {
    let old = file.old_path.as_deref().map_or(0, text_bytes);
    FILE_BYTES + text_bytes(&file.path) + old
}

fn hunk_bytes(file: &FileHunks) -> usize {
    let hunks = file.hunks.iter().map(|hunk| {
        let lines: usize = hunk.lines.iter().map(line_bytes).sum();
        lines + LINE_BYTES + text_bytes(&hunk.heading)
    });
    FILE_BYTES + text_bytes(&file.path) + hunks.sum::<usize>()
}

fn line_bytes(line: &DiffLine) -> usize {
    LINE_BYTES + text_bytes(&line.text)
}

/// Returns what a text takes in JSON at most, whatever is in it.
fn text_bytes(text: &str) -> usize {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        0x20.. => 1,
    };
    text.bytes().map(byte).sum()
}

/// Returns as much of a file as there is room for.
fn shortened(mut file: FileHunks, mut room: usize) -> FileHunks {
    for hunk in &mut file.hunks {
        let fits = |line: &&DiffLine| {
            let bytes = line_bytes(line);
            let is_fit = bytes <= room;
            room = if is_fit { room - bytes } else { 0 };
            is_fit
        };
        let kept = hunk.lines.iter().take_while(fits).count();
        file.is_cut |= kept < hunk.lines.len();
        hunk.lines.truncate(kept);
    }
    file.hunks.retain(|hunk| !hunk.lines.is_empty());
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Hunk;

    #[test]
    fn a_file_that_fits_into_no_answer_is_cut_and_says_so() {
        let line = DiffLine { new: Some(1), text: "\u{1}".repeat(4096), ..DiffLine::default() };
        let hunk = Hunk { lines: vec![line; 100], ..Hunk::default() };
        let whole = FileHunks { hunks: vec![hunk; 3], ..FileHunks::default() };
        let file = shortened(whole.clone(), ANSWER_BYTES_MAX);
        assert!(file.is_cut);
        let length = serde_json::to_string(&file).unwrap().len();
        assert!(length < ANSWER_BYTES_MAX && length > ANSWER_BYTES_MAX / 2, "{length}");
        assert!(serde_json::to_string(&whole).unwrap().len() < hunk_bytes(&whole));
        let small = FileHunks { hunks: vec![Hunk::default()], ..FileHunks::default() };
        assert!(!shortened(small, ANSWER_BYTES_MAX).is_cut);
    }
}
