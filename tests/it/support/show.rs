//! The real dashboard on a scripted team: open from the first prompt to the end, whatever becomes of the hub.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;

use wheelhouse::api::AttentionStatus;
use wheelhouse::model::AttentionKind;

use super::world::World;
use crate::terminal::Terminal;

/// A world whose team is watched in the real dashboard from its first prompt to its end.
pub(crate) struct Show {
    dashboard: RefCell<Terminal>,
    world: World,
}

/// Leaves what lies over the panes; does nothing where nothing does.
const LEAVE: &[u8] = b"\x02";

const WAITS: &str = " Needs you ";

impl Deref for Show {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Show {
    /// Opens the dashboard on a world whose team has come.
    pub(crate) fn of(world: World) -> Self {
        let mut dashboard = Terminal::attach(&world, 140, 40);
        dashboard.wait_for("grid layout");
        Self { dashboard: RefCell::new(dashboard), world }
    }

    /// Kills the hub, and waits until the dashboard shows what the next one says. A task in full is
    /// asked for, since that is answered after all that a dashboard asks of a hub that has come back:
    /// nothing on the screen is then what the dead one said.
    pub(crate) fn kill_hub(&self) {
        let before = self.dashboard.borrow().seen.len();
        self.world.kill_hub();
        let dashboard = &mut *self.dashboard.borrow_mut();
        dashboard.wait_for_bytes(before, b"Hub disconnected");
        dashboard.wait_for("grid layout");
        dashboard.press(b"T\r");
        dashboard.wait_until("a task in full", |screen| {
            boxed(screen, |title| title.starts_with(" Task t"))
                .is_some_and(|rows| rows.iter().any(|row| row.contains("Prompt")))
        });
        dashboard.press(&[LEAVE, LEAVE].concat());
        dashboard.wait_until("the panes", |screen| overlaid(screen, " Task").is_none());
    }

    /// Presses keys, and waits until the dashboard shows a text.
    pub(crate) fn press(&self, keys: &str, text: &str) {
        self.dashboard.borrow_mut().press(keys.as_bytes());
        self.shows(text);
    }

    /// Leaves what lies over the panes.
    pub(crate) fn leave(&self) {
        let dashboard = &mut *self.dashboard.borrow_mut();
        dashboard.press(&LEAVE.repeat(3));
        dashboard.wait_for("? help");
    }

    /// Waits until the dashboard shows a text.
    pub(crate) fn shows(&self, text: &str) {
        self.dashboard.borrow_mut().wait_for(text);
    }

    /// Waits until the frame around an agent's pane tells all of this: its state stands on the upper
    /// edge, on the lower one what it is at, or how far its last prompt has come.
    pub(crate) fn frame(&self, agent: &str, parts: &[&str]) {
        let is_its = |title: &str| title.split_whitespace().nth(2) == Some(agent);
        self.dashboard.borrow_mut().wait_until(&format!("{agent} with {parts:?}"), |screen| {
            let rows = boxed(screen, is_its).unwrap_or_default();
            let edges = [rows.first(), rows.last()].map(|row| row.cloned().unwrap_or_default());
            parts.iter().all(|part| edges.iter().any(|edge| edge.contains(part)))
        });
    }

    /// Waits until the list of tasks has a line for each of these, with all of its parts.
    pub(crate) fn tasks(&self, lines: &[&[&str]]) {
        self.opened("T", " Tasks ", |rows| has_lines(rows, lines));
    }

    /// Waits until a task, shown in full, has a line for each of these.
    pub(crate) fn task_in_full(&self, id: &str, lines: &[&[&str]]) {
        let place = RefCell::new(0);
        self.opened("T", " Tasks ", |rows| {
            let is_it = |row: &String| row.contains(&format!(" {id} "));
            // The heading comes before the first task, which is the chosen one.
            let at = rows.iter().position(is_it).map(|at| at - 1);
            at.map(|at| place.replace(at)).is_some()
        });
        let down = "j".repeat(place.into_inner());
        self.opened(&format!("T{down}\r"), &format!(" Task {id} "), |rows| has_lines(rows, lines));
    }

    /// Waits until exactly this waits for a person.
    pub(crate) fn waits(&self, lines: &[&[&str]]) {
        let none = [&["Nothing needs you"][..]];
        let lines = if lines.is_empty() { &none } else { lines };
        self.opened("A", WAITS, |rows| has_lines(rows, lines) && rows.len() == lines.len());
    }

    /// Makes sure that one more hub has nothing to add, and that the dashboard, which was there all
    /// the time, shows what is so.
    pub(crate) fn assert_settled(&self) {
        self.world.assert_at_rest();
        self.assert_shown();
        self.world.ok(&["down", "--force"]);
    }

    /// Compares the states of the agents, the tasks and what waits for a person with the hub's own
    /// status.
    fn assert_shown(&self) {
        let status = self.world.status();
        let mut counts = BTreeMap::new();
        for agent in &status.agents {
            *counts.entry(agent.state.to_string()).or_insert(0) += 1;
        }
        for (state, count) in counts {
            self.shows(&format!(" {count} {state}"));
        }
        let tasks = status.tasks.iter().map(|task| {
            [task.id.clone(), task.state.to_string(), task.agent.clone().unwrap_or_default()]
        });
        self.opened("T", " Tasks ", |rows| tasks.clone().all(|parts| has_line(rows, &parts)));
        let is_seen = |item: &&AttentionStatus| item.read && item.kind == AttentionKind::Finished;
        let items = status
            .attention
            .iter()
            .filter(|item| !is_seen(item))
            .map(|item| [item.agent.clone().unwrap_or_default(), format!("{}: ", item.kind)]);
        self.opened("A", WAITS, |rows| items.clone().all(|parts| has_line(rows, &parts)));
        if status.attention.is_empty() {
            self.waits(&[]);
        }
    }

    /// Opens something over the panes, waits until its rows are as wanted, and closes it.
    fn opened(&self, keys: &str, title: &str, wanted: impl Fn(&[String]) -> bool) {
        let dashboard = &mut *self.dashboard.borrow_mut();
        dashboard.press(keys.as_bytes());
        dashboard.wait_until(&format!("what is wanted under `{title}`"), |screen| {
            overlaid(screen, title).is_some_and(|rows| wanted(&rows))
        });
        dashboard.press(&LEAVE.repeat(keys.len()));
        dashboard.wait_until("the panes", |screen| overlaid(screen, title).is_none());
    }
}

fn has_lines(rows: &[String], lines: &[&[&str]]) -> bool {
    lines.iter().all(|parts| has_line(rows, parts))
}

fn has_line(rows: &[String], parts: &[impl AsRef<str>]) -> bool {
    rows.iter().any(|row| parts.iter().all(|part| row.contains(part.as_ref())))
}

/// Returns what is written inside of the box with this title, without what is blank.
fn overlaid(screen: &str, title: &str) -> Option<Vec<String>> {
    let rows = boxed(screen, |own| own.starts_with(title))?;
    let inside = rows.get(1..rows.len() - 1)?.iter().map(|row| row.trim().to_owned());
    Some(inside.filter(|row| !row.is_empty()).collect())
}

/// Returns the rows of the first box whose upper edge tells what is looked for, its lower edge last.
fn boxed(screen: &str, is_it: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let rows: Vec<Vec<char>> = screen.lines().map(|line| line.chars().collect()).collect();
    for (at, row) in rows.iter().enumerate() {
        let corners = row.iter().enumerate().filter(|(_, c)| "╭┏╔".contains(**c));
        for (left, _) in corners {
            let Some(width) = row[left..].iter().position(|c| "╮┓╗".contains(*c)) else {
                continue;
            };
            let part =
                |row: &Vec<char>| -> String { row.iter().skip(left + 1).take(width - 1).collect() };
            let height = rows[at..]
                .iter()
                .position(|row| row.get(left).is_some_and(|corner| "╰┗╚".contains(*corner)));
            if let Some(height) = height.filter(|_| is_it(&part(row))) {
                return Some(rows[at..=at + height].iter().map(part).collect());
            }
        }
    }
    None
}
