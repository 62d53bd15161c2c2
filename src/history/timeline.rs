//! Lays time out on a line.

use super::details::AgentHistory;
use super::run_history::RunHistory;
use crate::model::{AgentState, Moment};

/// The time that a history covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) from: Moment,
    pub(super) to: Moment,
}

impl Axis {
    pub(super) fn of(story: &RunHistory) -> Self {
        let (from, to) = (story.run.began, story.run.until);
        Self { from, to: to.max(Moment(from.0 + 1)) }
    }

    /// Returns where a moment lies, in parts of `whole`.
    pub(super) fn place(self, at: Moment, whole: u64) -> u64 {
        let at = at.max(self.from).min(self.to);
        let (past, all) = (u128::from(at.0 - self.from.0), u128::from(self.to.0 - self.from.0));
        u64::try_from(past * u128::from(whole) / all).unwrap_or(whole)
    }

    /// Returns the moment where a column of so many begins.
    fn column(self, column: usize, columns: usize) -> Moment {
        let all = u128::from(self.to.0 - self.from.0);
        let past = all * column as u128 / columns.max(1) as u128;
        Moment(self.from.0 + u64::try_from(past).unwrap_or(0))
    }
}

/// What one column of a line of text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// It did not run.
    Absent,
    Unseen,
    Stuck,
    Did(AgentState),
}

impl Cell {
    pub(super) fn sign(self) -> char {
        match self {
            Self::Absent | Self::Did(AgentState::Exited) => ' ',
            Self::Unseen => '░',
            Self::Stuck => '~',
            Self::Did(AgentState::Starting) => '-',
            Self::Did(AgentState::Working) => '█',
            Self::Did(AgentState::Waiting) => '?',
            Self::Did(AgentState::Blocked) => '!',
            Self::Did(AgentState::Limited) => '%',
            Self::Did(AgentState::Error) => '×',
            Self::Did(AgentState::Idle | AgentState::Done) => '·',
            Self::Did(AgentState::Unknown) => ':',
        }
    }

    /// Returns the colour of the terminal's sixteen in which it is shown.
    pub(super) fn color(self) -> Option<u8> {
        match self {
            Self::Did(AgentState::Working) => Some(32),
            Self::Did(AgentState::Waiting | AgentState::Limited) | Self::Stuck => Some(33),
            Self::Did(AgentState::Blocked | AgentState::Error) => Some(31),
            Self::Absent | Self::Unseen | Self::Did(_) => None,
        }
    }
}

/// What the signs mean.
pub(super) const LEGEND: &str = "█=working  ·=idle  ?=waiting  !=blocked  ~=stuck  %=limited  \
                                 ×=error  -=starting  :=unknown  ░=unseen";

/// Returns what each column of an agent's line shows: what took most of it, but what called for
/// somebody however short it was.
pub(super) fn cells(agent: &AgentHistory, axis: Axis, columns: usize) -> Vec<Cell> {
    let cell = |column: usize| {
        let (from, to) = (axis.column(column, columns), axis.column(column + 1, columns));
        let overlap = |start: Moment, end: Moment| end.min(to).since(start.max(from));
        if agent.stuck.iter().any(|(start, end)| !overlap(*start, *end).is_zero()) {
            return Cell::Stuck;
        }
        let within = agent.stretches.iter().filter(|one| !overlap(one.from, one.to).is_zero());
        let most = within.max_by_key(|one| {
            let calls = matches!(
                one.state,
                Some(AgentState::Waiting | AgentState::Blocked | AgentState::Error)
            );
            (calls, overlap(one.from, one.to))
        });
        match most.map(|one| one.state) {
            None => Cell::Absent,
            Some(None) => Cell::Unseen,
            Some(Some(state)) => Cell::Did(state),
        }
    };
    (0..columns).map(cell).collect()
}

/// An attempt on an agent's line.
pub(super) struct Bar<'a> {
    pub(super) task: String,
    pub(super) title: &'a str,
    pub(super) outcome: String,
    pub(super) from: Moment,
    pub(super) to: Moment,
}

/// Returns what an agent worked on, in order.
pub(super) fn bars<'a>(story: &'a RunHistory, agent: &AgentHistory, axis: Axis) -> Vec<Bar<'a>> {
    let mut bars: Vec<Bar<'_>> = Vec::new();
    for task in &story.tasks {
        for attempt in task.attempts.iter().filter(|attempt| attempt.agent == agent.name) {
            let to = attempt.ended.unwrap_or(axis.to);
            if to < axis.from || attempt.started > axis.to {
                continue;
            }
            let outcome = attempt.outcome.map_or("open".to_owned(), |one| one.to_string());
            let (title, from) = (task.title.as_str(), attempt.started);
            bars.push(Bar { task: task.id.to_string(), title, outcome, from, to });
        }
    }
    bars.sort_by_key(|bar| bar.from);
    bars
}

/// Returns the tasks under an agent's line: each begins where its attempt began.
pub(super) fn labels(bars: &[Bar<'_>], axis: Axis, columns: usize) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    for bar in bars {
        let place = |at| usize::try_from(axis.place(at, columns as u64)).unwrap_or(columns);
        let (from, to) = (place(bar.from).min(columns.saturating_sub(1)), place(bar.to));
        let signs = bar.task.chars().chain(std::iter::repeat('─'));
        let needed = (to - from.min(to)).max(bar.task.len());
        for (cell, sign) in line[from..].iter_mut().zip(signs).take(needed) {
            *cell = sign;
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}
