//! Takes the marks that a program sets around its prompts and commands (OSC 133), and its bell.
//!
//! Some programs set the same marks around messages. Only who says that a command is over is believed when it says
//! that one runs.

use std::time::Duration;

use crate::model::{AgentState, Moment};
use crate::screen::Signal;

/// What is drawn this soon after a bell belongs to what it tells of.
const BELL_GRACE: Duration = Duration::from_secs(2);

/// What was last marked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    last: Option<AgentState>,
    ends_commands: bool,
    bell_at: Option<Moment>,
}

impl Marks {
    /// Takes a signal, and says whether it was a mark or a bell.
    pub(super) fn take(&mut self, signal: &Signal, now: Moment) -> bool {
        match signal {
            Signal::Bell => self.bell_at = Some(now),
            Signal::ShellMark(mark) => {
                self.last = match mark.bytes().next() {
                    Some(b'A' | b'B' | b'N' | b'P') => Some(AgentState::Idle),
                    Some(b'C') => Some(AgentState::Working),
                    Some(b'D') => {
                        self.ends_commands = true;
                        Some(AgentState::Idle)
                    }
                    _ => return false,
                };
                self.bell_at = None;
            }
            Signal::Title(_)
            | Signal::IconName(_)
            | Signal::Progress(_)
            | Signal::ProgramStatus(_)
            | Signal::Notification { .. }
            | Signal::Directory(_)
            | Signal::Clipboard(_) => return false,
        }
        true
    }

    /// Returns what the last mark means, if the program marks whole commands.
    pub(super) fn state(&self) -> Option<AgentState> {
        self.last.filter(|_| self.ends_commands)
    }

    /// Says whether a bell has rung, and nothing was drawn since that does not belong to it.
    pub(super) fn rings(&self, drawn_at: Moment) -> bool {
        self.bell_at.is_some_and(|at| drawn_at.since(at) < BELL_GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(marks: &[&str]) -> Option<AgentState> {
        let mut taken = Marks::default();
        for mark in marks {
            taken.take(&Signal::ShellMark((*mark).to_owned()), Moment(0));
        }
        taken.state()
    }

    #[test]
    fn marks_count_where_commands_are_ended() {
        assert_eq!(after(&["A", "B", "C"]), None, "it may mark messages");
        assert_eq!(after(&["C", "D;0", "A", "B"]), Some(AgentState::Idle));
        assert_eq!(after(&["D;0", "A", "B", "C"]), Some(AgentState::Working));
        assert_eq!(after(&["D", "A;aid=7", "X"]), Some(AgentState::Idle));
    }

    #[test]
    fn a_bell_rings_until_something_else_is_drawn() {
        let mut marks = Marks::default();
        assert!(!marks.rings(Moment(0)));
        marks.take(&Signal::Bell, Moment(5000));
        assert!(marks.rings(Moment(4000)) && marks.rings(Moment(6000)));
        assert!(!marks.rings(Moment(9000)));
    }
}
