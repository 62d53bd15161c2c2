//! Asks before something ends, and says what will happen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::dialog::{Dialog, Hit, buttons};
use super::stack::Fate;
use crate::model::{AgentName, AttentionId, Environment, Ruling, TaskId, TaskState};
use crate::tui::action::Choice;
use crate::tui::app::{Agent, App, Purpose};
use crate::tui::look::Tone;
use crate::tui::text::clean;
use crate::wire::{AttentionStatus, Request, TaskRequest, TaskStatus};

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
    /// A person may say something about a thing that waits for them.
    Item {
        item: AttentionId,
        ruling: Ruling,
        text: String,
    },
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
        let (request, words) = match self {
            Self::Agent { agent, deed } => {
                let words = format!("{} {agent}…", deed.gerund());
                (deed.request(agent, app.settings.environment.clone()), words)
            }
            Self::Task { task } => {
                let ask = TaskRequest::Cancel { task: task.to_string() };
                (Request::Task { ask }, format!("Giving {task} up…"))
            }
            Self::Item { ruling, .. } => {
                (Request::Task { ask: request(ruling) }, "Saying so…".to_owned())
            }
        };
        app.ask(Purpose::Order, request);
        app.say(Tone::Dim, words);
    }

    /// Says whether what it asks about is still there.
    pub(crate) fn still_stands(
        &self,
        agents: &[Agent],
        tasks: &[TaskStatus],
        queue: &[AttentionStatus],
    ) -> bool {
        match self {
            Self::Item { item, .. } => queue.iter().any(|known| known.id == item.to_string()),
            Self::Agent { agent, .. } => agents.iter().any(|known| known.name == *agent),
            Self::Task { task } => tasks.iter().any(|known| known.id == task.to_string()),
        }
    }

    /// Returns what would happen, for the button and for the title.
    fn verb(&self) -> (&'static str, String) {
        match self {
            Self::Agent { agent, deed } => (deed.verb(), format!("{} {agent}?", deed.verb())),
            Self::Task { task } => ("Give it up", format!("Give {task} up?")),
            Self::Item { ruling: Ruling::Consent { from, to }, .. } => {
                ("Allow it", format!("May {from} speak to {to}?"))
            }
            Self::Item { ruling: Ruling::Meet { need }, .. } => {
                ("It is there", format!("Is what {need} asks for there?"))
            }
            Self::Item { ruling: Ruling::Allow { agent }, .. } => {
                ("Let it stay", format!("May what {agent} changed stay?"))
            }
        }
    }

    fn consequence(&self) -> &'static str {
        match self {
            Self::Item { ruling: Ruling::Consent { .. }, .. } => {
                "What it says reaches the other from now on, quoted and with its name."
            }
            Self::Item { ruling: Ruling::Meet { .. }, .. } => {
                "Whoever asked is told so. To tell it more, leave this and send it a prompt."
            }
            Self::Item { ruling: Ruling::Allow { .. }, .. } => {
                "It holds for the task at hand; what is changed in another counts anew."
            }
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
            Self::Item { text, .. } => Some(text.clone()),
            Self::Agent { agent, deed: Deed::Stop | Deed::Restart } => {
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
        let choices = [(Choice::Accept, verb), (Choice::Cancel, "Leave it")];
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

/// Returns how the hub is told what a person says.
fn request(ruling: &Ruling) -> TaskRequest {
    match ruling {
        Ruling::Consent { from, to } => {
            TaskRequest::Consent { from: from.to_string(), to: to.to_string() }
        }
        Ruling::Meet { need } => TaskRequest::Meet { need: need.to_string() },
        Ruling::Allow { agent } => TaskRequest::Allow { agent: agent.to_string() },
    }
}

impl Deed {
    fn request(self, agent: &AgentName, environment: Environment) -> Request {
        let agents = vec![agent.to_string()];
        match self {
            Self::Stop => Request::Stop { agents, grace_ms: None },
            Self::Restart => Request::Restart { agents, environment, grace_ms: None },
            Self::Remove => Request::Forget { agents },
        }
    }

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
