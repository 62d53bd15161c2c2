//! Asks before something ends, and says what will happen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::dialog::{Dialog, Hit, buttons};
use super::stack::Fate;
use crate::model::{AgentName, Environment, TaskId, TaskState};
use crate::tui::action::Choice;
use crate::tui::app::{Agent, App, Purpose};
use crate::tui::look::Tone;
use crate::tui::text::clean;
use crate::wire::{Request, TaskRequest, TaskStatus};

/// A question with a deed behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confirm {
    Agent {
        agent: AgentName,
        deed: Deed,
    },
    /// A task is about to be given up.
    Task {
        task: TaskId,
    },
}

/// What is about to happen to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Stop,
    Restart,
    /// With its conversation; where there is none, with a brief.
    Resume,
    Remove,
}

const WIDTH: u16 = 58;

impl Confirm {
    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match (choice, self) {
            (Choice::Accept, confirm) => {
                confirm.carry_out(app);
                return Fate::Close;
            }
            (Choice::Cancel, _) => return Fate::Close,
            (Choice::Toggle, Self::Agent { deed, .. }) => *deed = deed.other().unwrap_or(*deed),
            (Choice::Toggle, Self::Task { .. }) | (Choice::Up | Choice::Down, _) => {}
        }
        Fate::Stay
    }

    fn carry_out(&self, app: &mut App) {
        if !app.is_connected() {
            app.say(Tone::Danger, "Not done: the hub is away");
            return;
        }
        let (request, words) = match self {
            Self::Agent { agent, deed } => {
                let words = format!("{} {agent}…", deed.gerund());
                (deed.request(agent, app.settings.environment.clone()), words)
            }
            Self::Task { task } => {
                let ask = TaskRequest::Cancel { task: task.to_string() };
                (Request::Task { ask }, format!("Giving {task} up…"))
            }
        };
        app.ask(Purpose::Order, request);
        app.say(Tone::Dim, words);
    }

    /// Says whether what it asks about is still there.
    pub(crate) fn still_stands(&self, agents: &[Agent], tasks: &[TaskStatus]) -> bool {
        match self {
            Self::Agent { agent, .. } => agents.iter().any(|known| known.name == *agent),
            Self::Task { task } => tasks.iter().any(|known| known.id == task.to_string()),
        }
    }

    /// Returns what would happen, for the button and for the title.
    fn verb(&self) -> (&'static str, String) {
        match self {
            Self::Agent { agent, deed } => (deed.verb(), format!("{} {agent}?", deed.verb())),
            Self::Task { task } => ("Give it up", format!("Give {task} up?")),
        }
    }

    /// Returns what could happen instead, for its button.
    fn other(&self) -> Option<&'static str> {
        match self {
            Self::Agent { deed, .. } => deed.other().map(|other| match other {
                Deed::Resume => "With its conversation",
                Deed::Stop | Deed::Restart | Deed::Remove => "Anew",
            }),
            Self::Task { .. } => None,
        }
    }

    fn consequence(&self) -> &'static str {
        match self {
            Self::Agent { deed, .. } => deed.consequence(),
            Self::Task { .. } => {
                "Nobody works on it any more; what needs it waits for you. It stays on record, and can be tried again."
            }
        }
    }

    /// Returns what would be cut off.
    fn danger(&self, app: &App) -> Option<String> {
        match self {
            Self::Agent { deed: Deed::Remove, .. } => None,
            Self::Agent { agent, deed: Deed::Stop | Deed::Restart | Deed::Resume } => {
                let agent = app.agent(agent).filter(|agent| agent.state.may_be_working())?;
                Some(format!("It is {} now: what it is at may be cut off.", agent.state))
            }
            Self::Task { task } => {
                let task = app.tasks.iter().find(|known| known.id == task.to_string())?;
                let agent = task.agent.as_ref().filter(|_| task.state == TaskState::Running)?;
                Some(format!("{} works on it now and will be interrupted.", clean(agent)))
            }
        }
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        self.dialog(app, area).0.hit(area, at)
    }

    /// Returns the box and the lines for it.
    fn dialog(&self, app: &App, area: Rect) -> (Dialog, Vec<String>) {
        let danger = self.danger(app);
        let tone = if danger.is_some() { Tone::Danger } else { Tone::Warning };
        let mut lines = vec![self.consequence().to_owned()];
        lines.extend(danger);
        let columns = usize::from(WIDTH.min(area.width.saturating_sub(6))).max(1);
        let rows: usize = lines.iter().map(|line| line.len().div_ceil(columns) + 1).sum();
        let (verb, title) = self.verb();
        let mut choices = vec![(Choice::Accept, verb)];
        choices.extend(self.other().map(|other| (Choice::Toggle, other)));
        choices.push((Choice::Cancel, "Leave it"));
        let dialog = Dialog {
            title,
            tone,
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
    fn request(self, agent: &AgentName, environment: Environment) -> Request {
        let agents = vec![agent.to_string()];
        match self {
            Self::Stop => Request::Stop { agents, grace_ms: None },
            Self::Restart => Request::Restart { agents, environment, grace_ms: None },
            Self::Resume => Request::Resume { agents, environment, grace_ms: None, brief: true },
            Self::Remove => Request::Forget { agents },
        }
    }

    /// Returns what one may have meant instead.
    fn other(self) -> Option<Self> {
        match self {
            Self::Restart => Some(Self::Resume),
            Self::Resume => Some(Self::Restart),
            Self::Stop | Self::Remove => None,
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            Self::Restart => "Restart",
            Self::Resume => "Resume",
            Self::Remove => "Remove",
        }
    }

    fn gerund(self) -> &'static str {
        match self {
            Self::Stop => "Stopping",
            Self::Restart => "Restarting",
            Self::Resume => "Resuming",
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
            Self::Resume => {
                "Its process and everything it started are ended, then it takes up its last conversation. Where that cannot be, it begins anew and is told what the record knows."
            }
            Self::Remove => {
                "It has ended already. Its pane and what it showed go away; files are not touched."
            }
        }
    }
}
