//! Asks before something ends, and says what will happen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::PromptBox;
use super::dialog_box::{Button, DialogBox, Hit, buttons};
use super::stack::{Next, Overlay, means};
use crate::api::{Request, TaskRequest, WorkspaceRequest};
use crate::model::{
    AgentName, AttentionId, Environment, Key, MergeForm, Ruling, TaskId, TaskState,
};
use crate::tui::app::{App, Purpose};
use crate::tui::keys::{Action, ListAction};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// A question, and what is done if the answer is yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confirm {
    Agent {
        agent: AgentName,
        action: AgentAction,
    },
    /// A task is about to be given up.
    Task {
        task: TaskId,
    },
    /// A person may say something about a thing that waits for them.
    Item {
        item: AttentionId,
        /// Whom it is about; another answer than yes goes there as a prompt.
        agent: Option<AgentName>,
        ruling: Ruling,
        text: String,
    },
}

/// What is about to happen to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentAction {
    Stop,
    Restart,
    /// With its conversation; where there is none, with a brief.
    Resume,
    Remove,
    /// Brings its work back: as it is, or as one commit.
    Merge,
    Squash,
    /// Removes its workspace: if there is no work in it, or after that was rescued.
    Clean,
    Rescue,
}

const WIDTH: u16 = 58;

const TOGGLE: Action = Action::Choose(ListAction::Toggle);

impl Confirm {
    /// Opens the line for a prompt to whom it is about, if it is about what an agent did or needs.
    fn write(&self, app: &mut App) -> Next {
        let agent = self.asker().filter(|agent| app.agent(agent).is_some()).cloned();
        agent.map_or(Next::Stay, |agent| Next::open(PromptBox::for_pane(app, agent)))
    }

    fn asker(&self) -> Option<&AgentName> {
        match self {
            Self::Item { agent, .. } => agent.as_ref(),
            Self::Agent { .. } | Self::Task { .. } => None,
        }
    }

    fn carry_out(&self, app: &mut App) {
        if !app.is_connected() {
            app.say(Tone::Danger, "Not done: no connection to the hub");
            return;
        }
        let (request, words) = match self {
            Self::Agent { agent, action } => {
                let words = format!("{} {agent}…", action.gerund());
                (action.request(agent, app.settings.environment.clone()), words)
            }
            Self::Task { task } => {
                let ask = TaskRequest::Cancel { task: task.to_string() };
                (Request::Task { ask }, format!("Cancelling {task}…"))
            }
            Self::Item { ruling, .. } => {
                (Request::Task { ask: request(ruling) }, "Saying so…".to_owned())
            }
        };
        app.ask(Purpose::Order, request);
        app.say(Tone::Dim, words);
    }

    /// Returns what would happen, for the button and for the title.
    fn verb(&self) -> (&'static str, String) {
        match self {
            Self::Agent { agent, action } => (action.verb(), action.question(agent)),
            Self::Task { task } => ("Cancel the task", format!("Cancel {task}?")),
            Self::Item { ruling: Ruling::Consent { from, to }, .. } => {
                ("Allow", format!("Let {from} message {to}?"))
            }
            Self::Item { ruling: Ruling::Meet { need }, agent, .. } => {
                let who = agent.as_ref().map_or_else(|| need.to_string(), ToString::to_string);
                ("It is ready", format!("Is what {who} is waiting for ready?"))
            }
            Self::Item { ruling: Ruling::Allow { agent }, .. } => {
                ("Keep the changes", format!("Keep what {agent} changed?"))
            }
        }
    }

    /// Returns what could happen instead, for its button.
    fn other(&self) -> Option<&'static str> {
        match self {
            Self::Agent { action, .. } => action.other().map(|other| match other {
                AgentAction::Resume => "Keep its conversation",
                AgentAction::Merge => "Merge commit",
                AgentAction::Squash => "Squash to one commit",
                AgentAction::Clean => "Only if it is empty",
                AgentAction::Rescue => "Rescue, then remove",
                AgentAction::Stop | AgentAction::Restart | AgentAction::Remove => {
                    "New conversation"
                }
            }),
            Self::Task { .. } | Self::Item { .. } => None,
        }
    }

    fn consequence(&self) -> &'static str {
        match self {
            Self::Item { ruling: Ruling::Consent { .. }, .. } => {
                "From now on its messages reach the other agent, quoted and signed."
            }
            Self::Item { ruling: Ruling::Meet { .. }, .. } => {
                "The agent that asked is told that it is ready. To say more, send it a prompt instead."
            }
            Self::Item { ruling: Ruling::Allow { .. }, .. } => {
                "This holds for the current task. A change in a later task is reported again."
            }
            Self::Agent { action, .. } => action.consequence(),
            Self::Task { .. } => {
                "No agent works on it any more. Tasks that need it wait for you. You can retry it later."
            }
        }
    }

    /// Returns what would be cut off.
    fn danger(&self, app: &App) -> Option<String> {
        match self {
            Self::Agent {
                action:
                    AgentAction::Remove
                    | AgentAction::Merge
                    | AgentAction::Squash
                    | AgentAction::Clean
                    | AgentAction::Rescue,
                ..
            } => None,
            Self::Item { text, .. } => Some(text.clone()),
            Self::Agent {
                agent,
                action: AgentAction::Stop | AgentAction::Restart | AgentAction::Resume,
            } => {
                let agent = app.agent(agent).filter(|agent| agent.state.may_be_working())?;
                Some(format!("It is {} now: its current work may be cut off.", agent.state))
            }
            Self::Task { task } => {
                let task = app.task(*task)?;
                let agent = task.agent.as_ref().filter(|_| task.state == TaskState::Running)?;
                Some(format!("{} works on it now and will be interrupted.", clean(agent)))
            }
        }
    }

    /// Returns the box and the lines for it.
    fn dialog(&self, app: &App, area: Rect) -> (DialogBox, Vec<String>) {
        let danger = self.danger(app);
        let tone = if danger.is_some() { Tone::Danger } else { Tone::Warning };
        let mut lines = vec![self.consequence().to_owned()];
        lines.extend(danger);
        let columns = usize::from(WIDTH.min(area.width.saturating_sub(6))).max(1);
        let rows: usize = lines.iter().map(|line| line.len().div_ceil(columns) + 1).sum();
        let (verb, title) = self.verb();
        let mut edge = buttons(app, &[(ListAction::Accept, verb)]);
        edge.extend(self.other().and_then(|other| Button::new(app, TOGGLE, other)));
        edge.extend(self.asker().and_then(|_| Button::new(app, Action::Dispatch, "Send a prompt")));
        edge.extend(buttons(app, &[(ListAction::Cancel, "Back")]));
        let dialog = DialogBox {
            title,
            tone,
            width: WIDTH,
            height: u16::try_from(rows.saturating_sub(1)).unwrap_or(4),
            buttons: edge,
        };
        (dialog, lines)
    }
}

impl Overlay for Confirm {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if means(app, key, Action::Dispatch) {
            return self.write(app);
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn toggle(&mut self, _app: &mut App) -> Next {
        if let Self::Agent { action, .. } = self {
            *action = action.other().unwrap_or(*action);
        }
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.carry_out(app);
        Next::Close
    }

    fn act(&mut self, app: &mut App, action: Action) -> Next {
        if action == Action::Dispatch { self.write(app) } else { Next::Stay }
    }

    fn still_stands(&self, app: &App) -> bool {
        match self {
            Self::Item { item, .. } => app.item(*item).is_some(),
            Self::Agent { agent, .. } => app.agent(agent).is_some(),
            Self::Task { task } => app.task(*task).is_some(),
        }
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        self.dialog(app, area).0.hit(area, at)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
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

impl AgentAction {
    fn request(self, agent: &AgentName, environment: Environment) -> Request {
        let agents = vec![agent.to_string()];
        match self {
            Self::Stop => Request::Stop { agents, grace_ms: None },
            Self::Restart => Request::Restart { agents, environment, grace_ms: None },
            Self::Resume => Request::Resume { agents, environment, grace_ms: None, brief: true },
            Self::Remove => Request::Forget { agents, abandon: false },
            Self::Merge | Self::Squash => {
                let form = (self == Self::Squash).then_some(MergeForm::Squash);
                let ask = WorkspaceRequest::Merge {
                    agent: agent.to_string(),
                    form,
                    into: None,
                    gates: Vec::new(),
                    message: None,
                    committed: false,
                    trial: false,
                    send_back: false,
                };
                Request::Workspace { ask }
            }
            Self::Clean | Self::Rescue => {
                let (rescue, drop_ignored, gone) = (self == Self::Rescue, false, false);
                let ask = WorkspaceRequest::Clean { agents, rescue, drop_ignored, gone };
                Request::Workspace { ask }
            }
        }
    }

    /// Returns what one may have meant instead.
    fn other(self) -> Option<Self> {
        match self {
            Self::Restart => Some(Self::Resume),
            Self::Resume => Some(Self::Restart),
            Self::Merge => Some(Self::Squash),
            Self::Squash => Some(Self::Merge),
            Self::Clean => Some(Self::Rescue),
            Self::Rescue => Some(Self::Clean),
            Self::Stop | Self::Remove => None,
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            Self::Restart => "Restart",
            Self::Resume => "Resume",
            Self::Remove => "Remove",
            Self::Merge | Self::Squash => "Merge",
            Self::Clean => "Remove workspace",
            Self::Rescue => "Rescue and remove",
        }
    }

    fn question(self, agent: &AgentName) -> String {
        match self {
            Self::Stop => format!("Stop {agent}?"),
            Self::Restart => format!("Restart {agent}?"),
            Self::Resume => format!("Resume {agent}?"),
            Self::Remove => format!("Remove {agent}?"),
            Self::Merge | Self::Squash => format!("Merge {agent}'s work?"),
            Self::Clean => format!("Remove {agent}'s workspace?"),
            Self::Rescue => format!("Rescue and remove {agent}'s workspace?"),
        }
    }

    fn gerund(self) -> &'static str {
        match self {
            Self::Stop => "Stopping",
            Self::Restart => "Restarting",
            Self::Resume => "Resuming",
            Self::Remove => "Removing",
            Self::Merge | Self::Squash => "Merging the work of",
            Self::Clean => "Removing the workspace of",
            Self::Rescue => "Rescuing the work of",
        }
    }

    fn consequence(self) -> &'static str {
        match self {
            Self::Stop => {
                "Ends its process and everything that it started. The pane stays, and you can start the agent again."
            }
            Self::Restart => {
                "Ends its process and everything that it started, then starts it again."
            }
            Self::Resume => {
                "Ends its process and everything that it started, then resumes its last conversation. An agent that cannot resume starts a new one, with a summary of its work."
            }
            Self::Remove => "It has ended. Its pane and its output go away; its files stay.",
            Self::Merge => {
                "Commits what it changed and merges it into the integration branch once the gates pass. Your checkout is not touched."
            }
            Self::Squash => {
                "Commits what it changed and adds it to the integration branch as one commit once the gates pass. Your checkout is not touched."
            }
            Self::Clean => {
                "Removes its workspace if there is no work in it. Otherwise keeps it and says why."
            }
            Self::Rescue => {
                "Saves all that is in its workspace, ignored files included, to a rescue ref, then removes the workspace."
            }
        }
    }
}
