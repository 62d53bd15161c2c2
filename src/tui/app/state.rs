//! Everything the dashboard knows, and nothing that it does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ratatui::layout::Rect;

use super::requests::{Purpose, RequestKeys, SentPrompt};
use super::{AgentView, AttentionGoal, AttentionItem, Damage, Pane, PlaybookRunLine, has_failed};
use crate::api::{Ask, AttentionStatus, CliOffer, Interrupted, MouseWish, TaskStatus, TeamOffer};
use crate::model::{AgentName, Environment, Moment, Receipt, ReceiptId, Size, TaskId};
use crate::tui::grid::{Cards, Layout, TileSlot, arrange};
use crate::tui::keys::Keymap;
use crate::tui::options::{Ended, PlaybookOffer, StartView, TuiError};
use crate::tui::overlay::{OverlayStack, TaskForm};
use crate::tui::prompt::{PromptHistory, TextEditor};
use crate::tui::reading::{LinkTarget, PaneReading, SearchPattern, TextPlace};
use crate::tui::review::Review;
use crate::tui::style::{Theme, Tone};
use crate::tui::terminal::Abilities;

/// The dashboard.
#[derive(Debug)]
pub(crate) struct App {
    pub keymap: Keymap,
    pub theme: Theme,
    /// Used instead once the terminal says that its background is light.
    pub theme_if_light: Option<Theme>,
    pub settings: AppSettings,
    pub now: Moment,
    pub window: Size,
    pub connection: HubState,
    /// Known once the hub has told its first status.
    pub project: Option<String>,
    pub session: String,
    pub agents: Vec<AgentView>,
    /// Those that are not over first, what happened last before what happened earlier.
    pub tasks: Vec<TaskStatus>,
    /// What waits for a person by the hub's record.
    pub queue: Vec<AttentionStatus>,
    /// How the run of a playbook stands, where there is one.
    pub run: Option<PlaybookRunLine>,
    /// What was cut off and waits to be taken up again.
    pub interrupted: Box<Interrupted>,
    pub panes: BTreeMap<AgentName, Pane>,
    pub selected: Option<AgentName>,
    pub mode: Mode,
    pub layout: Layout,
    /// What zooming out returns to.
    pub unzoomed: Layout,
    pub overlays: OverlayStack,
    /// What could be started; unknown until the hub has answered.
    pub teams: Option<Vec<TeamOffer>>,
    /// What an agent could be added with; unknown until the hub has answered.
    pub clis: Option<Vec<CliOffer>>,
    /// Where an agent could run beside this machine.
    pub runners: Vec<String>,
    /// An agent that was added from here, to be selected once it is there.
    pub awaited: Option<AgentName>,
    /// What was written and not sent, for each kind of prompt.
    pub drafts: [TextEditor; 2],
    /// A task that was described and not added.
    pub task_draft: Option<TaskForm>,
    pub history: PromptHistory,
    /// What the person says of each agent's changes.
    pub reviews: BTreeMap<AgentName, Review>,
    /// The last receipt of an agent that the person has seen fail.
    pub dismissed: BTreeMap<AgentName, ReceiptId>,
    /// What the person was last led to.
    pub attended: Option<AttentionItem>,
    /// Set by an overlay that leads on, until that is done.
    pub lead: Option<AttentionGoal>,
    /// Set by an overlay that leads to a line of a pane, until that is shown.
    pub goal: Option<PaneGoal>,
    /// What the loop has to do outside of this data.
    pub wishes: Vec<LocalEffect>,
    /// Stays until the next key.
    pub message: Option<Message>,
    pub damage: Damage,
    /// The terminal may show something else than we think.
    pub needs_whole_frame: bool,
    /// This dashboard was used last, so that its tiles decide how large the panes are.
    pub is_leading: bool,
    pub sizes: BTreeMap<AgentName, SentSize>,
    pub watched: Option<(Vec<AgentName>, Option<AgentName>, bool)>,
    /// The terminal has the person's attention, as far as it tells.
    pub has_focus: bool,
    pub last_click: Option<(Moment, Target, u8)>,
    /// Where the left button was pressed that is held down.
    pub pressed: Option<MousePress>,
    pub end: Option<Result<Ended, TuiError>>,
    pub pending: BTreeMap<u64, Purpose>,
    /// What the hub had not answered when it went away.
    pub unanswered: Vec<SentPrompt>,
    /// The keys of what else was asked.
    pub repeats: RequestKeys,
    pub asks: Vec<Ask>,
    pub next_id: u64,
}

/// What the user has set.
#[derive(Clone, Debug)]
pub(crate) struct AppSettings {
    pub cards: Cards,
    /// No pane's terminal is smaller.
    pub min_size: Size,
    pub abilities: Abilities,
    /// Of whoever runs this dashboard; what an agent gets of it is for the hub to say.
    pub environment: Environment,
    pub start: StartView,
    /// Stands among the teams; whoever chooses it leaves this dashboard for it.
    pub demo: Option<TeamOffer>,
    /// Whoever chooses one of them leaves this dashboard until it runs.
    pub playbooks: Vec<PlaybookOffer>,
}

/// Something that only the loop can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LocalEffect {
    /// Keeps a prompt for later dashboards.
    Keep(String),
    /// Lets the person go on with a text in an editor of their own.
    Edit(String),
    /// Lets the terminal tell the person something.
    Alert { title: String, body: String },
    /// Copies a text to where the person can paste it.
    Copy(String),
    /// Shows all that a pane has shown in the person's own editor.
    View { agent: String, text: String },
    /// Opens what a link leads to; a path may be one of this directory.
    Open { target: LinkTarget, directory: Option<PathBuf> },
}

/// A line of a pane to be shown, with a pattern marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneGoal {
    pub agent: AgentName,
    pub line: u64,
    pub pattern: SearchPattern,
}

/// Where the left button was pressed in a pane, and for the how many-th time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MousePress {
    pub agent: AgentName,
    pub place: TextPlace,
    pub clicks: u8,
}

/// Whether the hub is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HubState {
    Up,
    Away { reason: String },
}

/// What keys mean right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With `has_just_left`, the key that leaves typing goes to the pane instead.
    Overview {
        has_just_left: bool,
    },
    Typing,
    /// Keys move through a copy of what a pane showed.
    Reading(Box<PaneReading>),
}

/// A line for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub tone: Tone,
    pub text: String,
}

/// What a click was on; the same twice is a double click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Pane(AgentName),
    /// An entry of the list on top, counted from zero.
    Item(usize),
}

/// Two clicks within this time are a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

/// A size that the hub was asked to give to a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentSize {
    pub size: Size,
    /// The pane has had it; another size now means that another dashboard is used.
    pub is_confirmed: bool,
}

const HEADER_ROWS: u16 = 1;
const FOOTER_ROWS: u16 = 1;

impl App {
    /// Returns a dashboard that knows nothing yet.
    pub(crate) fn new(keymap: Keymap, theme: Theme, settings: AppSettings, window: Size) -> Self {
        Self {
            keymap,
            theme,
            theme_if_light: None,
            settings,
            now: Moment::default(),
            window,
            connection: HubState::Away { reason: String::new() },
            project: None,
            session: String::new(),
            agents: Vec::new(),
            tasks: Vec::new(),
            queue: Vec::new(),
            run: None,
            interrupted: Box::default(),
            panes: BTreeMap::new(),
            selected: None,
            mode: Mode::Overview { has_just_left: false },
            layout: Layout::Grid,
            unzoomed: Layout::Grid,
            overlays: OverlayStack::default(),
            teams: None,
            clis: None,
            runners: Vec::new(),
            awaited: None,
            drafts: Default::default(),
            task_draft: None,
            history: PromptHistory::default(),
            reviews: BTreeMap::new(),
            dismissed: BTreeMap::new(),
            attended: None,
            lead: None,
            goal: None,
            wishes: Vec::new(),
            message: None,
            damage: Damage { is_all: true, ..Damage::default() },
            needs_whole_frame: false,
            is_leading: true,
            sizes: BTreeMap::new(),
            watched: None,
            has_focus: true,
            last_click: None,
            pressed: None,
            end: None,
            pending: BTreeMap::new(),
            unanswered: Vec::new(),
            repeats: RequestKeys::default(),
            asks: Vec::new(),
            next_id: 1,
        }
    }

    /// Returns the part of the window that the panes share.
    pub(crate) fn body(&self) -> Rect {
        let height = self.window.rows.saturating_sub(HEADER_ROWS + FOOTER_ROWS);
        Rect { x: 0, y: HEADER_ROWS, width: self.window.cols, height }
    }

    /// Returns where the panes are.
    pub(crate) fn slots(&self) -> Vec<TileSlot> {
        let selected = self.selected_index().unwrap_or(0);
        arrange(self.layout, self.body(), self.agents.len(), selected, self.settings.cards)
    }

    /// Returns the slot of an agent, if it is shown.
    pub(crate) fn slot_of(&self, agent: &AgentName) -> Option<TileSlot> {
        self.slots().into_iter().find(|slot| self.agents[slot.index].name == *agent)
    }

    /// Returns the place of the selected agent in the list.
    pub(crate) fn selected_index(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.agents.iter().position(|agent| agent.name == *selected)
    }

    /// Returns the selected agent.
    pub(crate) fn selected_agent(&self) -> Option<&AgentView> {
        self.selected_index().map(|index| &self.agents[index])
    }

    /// Returns an agent by its name.
    pub(crate) fn agent(&self, name: &AgentName) -> Option<&AgentView> {
        self.agents.iter().find(|agent| agent.name == *name)
    }

    /// Returns a task by its id.
    pub(crate) fn task(&self, id: TaskId) -> Option<&TaskStatus> {
        self.tasks.iter().find(|task| task.id == id.to_string())
    }

    /// Returns the names of all agents, in their order.
    pub(crate) fn names(&self) -> Vec<AgentName> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// Returns a name that no agent has: that of the cli, with a number if need be.
    pub(crate) fn free_name(&self, cli: &str) -> String {
        let is_part =
            |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-' || *c == '_';
        let stem: String = cli.to_ascii_lowercase().chars().filter(is_part).take(24).collect();
        let stem = if stem.parse::<AgentName>().is_ok() { stem } else { "agent".to_owned() };
        let is_free = |name: &String| self.agents.iter().all(|agent| agent.name.as_str() != name);
        let numbered = (2..).map(|number: usize| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }

    /// Returns the receipt that stands on an agent's tile: until it is accepted, or has failed and
    /// was seen.
    pub(crate) fn receipt<'a>(&self, agent: &'a AgentView) -> Option<&'a Receipt> {
        let seen = self.dismissed.get(&agent.name);
        let is_news = |receipt: &&Receipt| !has_failed(receipt) || Some(&receipt.receipt) > seen;
        agent.receipt.as_ref().filter(is_news)
    }

    /// Takes note that the person has seen how an agent's last prompt failed.
    pub(crate) fn dismiss(&mut self, name: &AgentName) {
        let failed = self.agent(name).and_then(|agent| agent.receipt.as_ref());
        if let Some(receipt) = failed.filter(|receipt| has_failed(receipt)).map(|one| one.receipt) {
            self.dismissed.insert(name.clone(), receipt);
            self.damage.is_all = true;
        }
    }

    /// Notes a click, and says whether it is the second one on the same thing.
    pub(crate) fn is_double_click(&mut self, target: Target) -> bool {
        self.count_clicks(target).is_multiple_of(2)
    }

    /// Notes a click, and says the how many-th in a row it is on the same thing, up to three.
    pub(crate) fn count_clicks(&mut self, target: Target) -> u8 {
        let before = self.last_click.take();
        let row =
            before.filter(|(then, on, _)| *on == target && self.now.since(*then) <= DOUBLE_CLICK);
        let count = row.map_or(1, |(.., count)| count % 3 + 1);
        self.last_click = Some((self.now, target, count));
        count
    }

    /// Says whether the pane that is typed into wants to know of every motion of the mouse.
    pub(crate) fn wants_motion(&self) -> bool {
        let pane = self.selected.as_ref().and_then(|agent| self.panes.get(agent));
        let wish = pane.map(|pane| pane.mouse);
        self.is_typing() && self.overlays.is_empty() && wish == Some(MouseWish::Motion)
    }

    /// Returns what the terminal's window is called: a tmux or a taskbar shows how many wait.
    pub(crate) fn title(&self) -> String {
        let project = self.project.as_deref().unwrap_or("…");
        match self.attention().len() {
            0 => format!("{project} · wheelhouse"),
            count => format!("▲ {count} · {project} · wheelhouse"),
        }
    }

    /// Says whether keys go to the selected pane.
    pub(crate) fn is_typing(&self) -> bool {
        self.mode == Mode::Typing
    }

    /// Says whether the hub can be asked for anything.
    pub(crate) fn is_connected(&self) -> bool {
        self.connection == HubState::Up
    }

    /// Changes the layout and remembers what zooming out returns to.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
        if layout != Layout::Single {
            self.unzoomed = layout;
        }
        self.damage.is_all = true;
    }

    /// Shows a line to the person.
    pub(crate) fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.message = Some(Message { tone, text: text.into() });
        self.damage.is_all = true;
    }
}
