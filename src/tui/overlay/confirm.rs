//! Asks before something ends, and says what will happen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::dialog::{Dialog, Hit, buttons};
use super::stack::Fate;
use crate::model::AgentName;
use crate::tui::action::Choice;
use crate::tui::app::{App, Purpose};
use crate::tui::look::Tone;
use crate::wire::Request;

/// A question with a deed behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirm {
    pub agent: AgentName,
    pub deed: Deed,
}

/// What is about to happen to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Stop,
    Restart,
    Remove,
}

const WIDTH: u16 = 58;

impl Confirm {
    pub(super) fn choose(&self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Accept => {
                self.carry_out(app);
                Fate::Close
            }
            Choice::Cancel => Fate::Close,
            Choice::Up | Choice::Down | Choice::Toggle => Fate::Stay,
        }
    }

    fn carry_out(&self, app: &mut App) {
        if !app.is_connected() {
            app.say(Tone::Danger, "Not done: the hub is away");
            return;
        }
        let agents = vec![self.agent.to_string()];
        let environment = app.settings.environment.clone();
        let request = match self.deed {
            Deed::Stop => Request::Stop { agents, grace_ms: None },
            Deed::Restart => Request::Restart { agents, environment, grace_ms: None },
            Deed::Remove => Request::Forget { agents },
        };
        app.ask(Purpose::Order, request);
        app.say(Tone::Dim, format!("{} {}…", self.deed.gerund(), self.agent));
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        self.dialog(app, area).0.hit(area, at)
    }

    /// Returns the box and the lines for it.
    fn dialog(&self, app: &App, area: Rect) -> (Dialog, Vec<String>) {
        let agent = app.agents.iter().find(|agent| agent.name == self.agent);
        let may_be_working = agent.is_some_and(|agent| agent.state.may_be_working());
        let mut lines = vec![self.deed.consequence().to_owned()];
        if let Some(agent) = agent.filter(|_| may_be_working && self.deed != Deed::Remove) {
            lines.push(format!("It is {} now: what it is at may be cut off.", agent.state));
        }
        let columns = usize::from(WIDTH.min(area.width.saturating_sub(6))).max(1);
        let rows: usize = lines.iter().map(|line| line.len().div_ceil(columns) + 1).sum();
        let choices = [(Choice::Accept, self.deed.verb()), (Choice::Cancel, "Leave it")];
        let dialog = Dialog {
            title: format!("{} {}?", self.deed.verb(), self.agent),
            tone: if may_be_working { Tone::Danger } else { Tone::Warning },
            width: WIDTH,
            height: u16::try_from(rows.saturating_sub(1)).unwrap_or(4),
            buttons: buttons(app, &choices),
        };
        (dialog, lines)
    }

    /// Draws the question.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let (dialog, lines) = self.dialog(app, area);
        let inner = dialog.draw(app, area, buffer);
        let mut text = Text::from(vec![Line::styled(lines[0].clone(), app.theme.tone(Tone::Text))]);
        for line in &lines[1..] {
            let style = app.theme.tone(Tone::Danger).add_modifier(Modifier::BOLD);
            text.extend([Line::default(), Line::styled(line.clone(), style)]);
        }
        Paragraph::new(text).wrap(Wrap { trim: true }).render(inner, buffer);
    }
}

impl Deed {
    fn verb(self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            Self::Restart => "Restart",
            Self::Remove => "Remove",
        }
    }

    fn gerund(self) -> &'static str {
        match self {
            Self::Stop => "Stopping",
            Self::Restart => "Restarting",
            Self::Remove => "Removing",
        }
    }

    fn consequence(self) -> &'static str {
        match self {
            Self::Stop => {
                "Its process and everything it started are ended. The pane stays, and the agent can be started again."
            }
            Self::Restart => {
                "Its process and everything it started are ended, then its command is started anew."
            }
            Self::Remove => {
                "It has ended already. Its pane and what it showed go away; files are not touched."
            }
        }
    }
}
