//! Themes: which colour means what; and a sign for each state, so that colour is never the only one
//! to tell.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::Depth;
use crate::model::{AgentState, Color as CellColor, Style as CellStyle, TaskState};
use crate::tui::terminal::shape_modifier;

/// The themes that are part of the program.
const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    ("contrast", include_str!("../../../assets/themes/contrast.toml")),
];

/// Which theme to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// Dark or light, as the terminal's background is.
    #[default]
    Auto,
    Named(String),
    /// The text of a theme's file.
    Custom(String),
}

impl ThemeChoice {
    /// Says whether the terminal's background decides.
    pub(crate) fn is_auto(&self) -> bool {
        match self {
            Self::Auto => true,
            Self::Named(name) => name == "auto",
            Self::Custom(_) => false,
        }
    }
}

/// Says why a theme cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    #[error("There is no theme `{name}`; the nearest is `{nearest}`")]
    Unknown { name: String, nearest: &'static str },
    #[error("The theme is not valid")]
    Invalid(#[from] Box<toml::de::Error>),
    #[error("`{0}` is not a colour: write `#rrggbb` or a number from 0 to 255")]
    NotAColor(String),
}

/// What a piece of the dashboard's own text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Text,
    Dim,
    Faint,
    Accent,
    Typing,
    Warning,
    Danger,
}

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Keyword,
    Quoted,
    Comment,
    Number,
    Added,
    Removed,
}

/// What lies under a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wash {
    Added,
    Removed,
    AddedWord,
    RemovedWord,
}

/// Colours, already brought down to what the terminal can show.
#[derive(Clone, Debug)]
pub(crate) struct Theme {
    depth: Depth,
    tones: [Color; 7],
    states: [Color; 10],
    inks: [Color; 7],
    /// All of them are `Reset` where they would be no more than a block of one of sixteen colours.
    washes: [Color; 4],
}

impl Theme {
    /// Returns the theme of that choice; an automatic one begins dark.
    pub(crate) fn load(choice: &ThemeChoice, depth: Depth) -> Result<Self, ThemeError> {
        match choice {
            ThemeChoice::Auto => Self::parse(BUILT_IN[0].1, depth),
            ThemeChoice::Named(name) if name == "auto" => Self::parse(BUILT_IN[0].1, depth),
            ThemeChoice::Named(name) => {
                let found = BUILT_IN.iter().find(|(known, _)| known == name);
                let (_, text) = found.ok_or_else(|| unknown(name))?;
                Self::parse(text, depth)
            }
            ThemeChoice::Custom(text) => Self::parse(text, depth),
        }
    }

    fn parse(text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let file: File = toml::from_str(text).map_err(Box::new)?;
        let (chrome, state) = (&file.chrome, &file.state);
        let fit = |text: &String| Ok::<_, ThemeError>(depth.fit(color(text)?));
        let tones = [
            fit(&chrome.text)?,
            fit(&chrome.dim)?,
            fit(&chrome.faint)?,
            fit(&chrome.accent)?,
            fit(&chrome.typing)?,
            fit(&chrome.warning)?,
            fit(&chrome.danger)?,
        ];
        let states = [
            fit(&state.starting)?,
            fit(&state.idle)?,
            fit(&state.working)?,
            fit(&state.waiting)?,
            fit(&state.blocked)?,
            fit(&state.done)?,
            fit(&state.error)?,
            fit(&state.limited)?,
            fit(&state.unknown)?,
            fit(&state.exited)?,
        ];
        let own = |of: fn(&Code) -> &String| file.code.as_ref().map(of);
        let ink = |own: Option<&String>, usual| own.map_or(Ok(usual), fit);
        let inks = [
            tones[Tone::Text as usize],
            ink(own(|code| &code.keyword), tones[Tone::Accent as usize])?,
            ink(own(|code| &code.quoted), states[AgentState::Done as usize])?,
            ink(own(|code| &code.comment), tones[Tone::Dim as usize])?,
            ink(own(|code| &code.number), states[AgentState::Limited as usize])?,
            ink(own(|code| &code.added), states[AgentState::Done as usize])?,
            ink(own(|code| &code.removed), tones[Tone::Danger as usize])?,
        ];
        let wash = |own: Option<&String>| match own.filter(|_| depth >= Depth::Indexed) {
            Some(own) => fit(own),
            None => Ok(Color::Reset),
        };
        let washes = [
            wash(own(|code| &code.added_line))?,
            wash(own(|code| &code.removed_line))?,
            wash(own(|code| &code.added_word))?,
            wash(own(|code| &code.removed_word))?,
        ];
        Ok(Self { depth, tones, states, inks, washes })
    }

    /// Returns the style of a piece of code.
    pub(crate) fn ink(&self, ink: Ink) -> Style {
        let style = Style::new().fg(self.inks[ink as usize]);
        match ink {
            Ink::Comment if self.depth == Depth::None => style.add_modifier(Modifier::DIM),
            Ink::Plain
            | Ink::Keyword
            | Ink::Quoted
            | Ink::Comment
            | Ink::Number
            | Ink::Added
            | Ink::Removed => style,
        }
    }

    /// Returns what lies under a piece of code, where the theme and the terminal have that.
    pub(crate) fn wash(&self, wash: Wash) -> Option<Color> {
        Some(self.washes[wash as usize]).filter(|color| *color != Color::Reset)
    }

    /// Returns the style of the dashboard's own text.
    pub(crate) fn tone(&self, tone: Tone) -> Style {
        let style = Style::new().fg(self.tones[tone as usize]);
        match tone {
            // Without colours the difference has to come from somewhere else.
            Tone::Dim | Tone::Faint if self.depth == Depth::None => {
                style.add_modifier(Modifier::DIM)
            }
            Tone::Text
            | Tone::Dim
            | Tone::Faint
            | Tone::Accent
            | Tone::Typing
            | Tone::Warning
            | Tone::Danger => style,
        }
    }

    /// Returns the style of a label that stands out as a block of colour.
    pub(crate) fn block(&self, tone: Tone) -> Style {
        self.tone(tone).add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    /// Returns the style of whatever tells an agent's state.
    pub(crate) fn state(&self, state: AgentState) -> Style {
        Style::new().fg(self.states[state as usize])
    }

    /// Returns the style of a cell of an agent's own screen.
    pub(crate) fn cell(&self, style: CellStyle) -> CellLook {
        let mut modifier = Modifier::empty();
        for (bit, its) in ATTRIBUTES {
            modifier.set(its, style.has(bit));
        }
        if style.has(CellStyle::UNDERLINE) {
            modifier |= shape_modifier(style.underline);
        }
        CellLook {
            text: self.depth.fit(style.foreground),
            back: self.depth.fit(style.background),
            line: self.depth.fit(style.underline_color),
            modifier,
        }
    }
}

/// How a cell of an agent's screen is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellLook {
    pub text: Color,
    pub back: Color,
    /// Of the underline.
    pub line: Color,
    pub modifier: Modifier,
}

const ATTRIBUTES: [(u8, Modifier); 8] = [
    (CellStyle::BOLD, Modifier::BOLD),
    (CellStyle::DIM, Modifier::DIM),
    (CellStyle::ITALIC, Modifier::ITALIC),
    (CellStyle::UNDERLINE, Modifier::UNDERLINED),
    (CellStyle::INVERSE, Modifier::REVERSED),
    (CellStyle::STRIKETHROUGH, Modifier::CROSSED_OUT),
    (CellStyle::HIDDEN, Modifier::HIDDEN),
    (CellStyle::BLINK, Modifier::SLOW_BLINK),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    chrome: Chrome,
    state: States,
    /// A theme without it takes the nearest of its other colours.
    code: Option<Code>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    keyword: String,
    quoted: String,
    comment: String,
    number: String,
    added: String,
    removed: String,
    added_line: String,
    removed_line: String,
    added_word: String,
    removed_word: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chrome {
    text: String,
    dim: String,
    faint: String,
    accent: String,
    typing: String,
    warning: String,
    danger: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct States {
    starting: String,
    idle: String,
    working: String,
    waiting: String,
    blocked: String,
    done: String,
    error: String,
    limited: String,
    unknown: String,
    exited: String,
}

fn color(text: &str) -> Result<CellColor, ThemeError> {
    let hex = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
    let channel = |digits: &str, at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    let rgb = hex.and_then(|digits| {
        Some(CellColor::Rgb(channel(digits, 0)?, channel(digits, 2)?, channel(digits, 4)?))
    });
    let named = (text == "default").then_some(CellColor::Default);
    rgb.or(named)
        .or_else(|| text.parse().ok().map(CellColor::Indexed))
        .ok_or_else(|| ThemeError::NotAColor(text.to_owned()))
}

fn unknown(name: &str) -> ThemeError {
    let near = BUILT_IN.iter().map(|(known, _)| *known);
    let nearest = near.min_by_key(|known| strsim::levenshtein(known, name)).unwrap_or("dark");
    ThemeError::Unknown { name: name.to_owned(), nearest }
}

/// Returns the sign of a state, one column wide.
pub(crate) fn sign(state: AgentState) -> &'static str {
    match state {
        AgentState::Starting => "◌",
        AgentState::Idle => "○",
        AgentState::Working => "●",
        AgentState::Waiting => "◆",
        AgentState::Blocked => "■",
        AgentState::Done => "✓",
        AgentState::Error => "✗",
        AgentState::Limited => "◷",
        AgentState::Unknown => "?",
        AgentState::Exited => "∅",
    }
}

/// Returns the state of an agent whose sign and colour a task has.
pub(crate) fn as_of_agent(state: TaskState) -> AgentState {
    match state {
        TaskState::Pending => AgentState::Starting,
        TaskState::Ready => AgentState::Idle,
        TaskState::Running => AgentState::Working,
        TaskState::Claimed => AgentState::Limited,
        TaskState::Done => AgentState::Done,
        TaskState::Blocked => AgentState::Blocked,
        TaskState::Failed => AgentState::Error,
        TaskState::Interrupted => AgentState::Unknown,
        TaskState::Cancelled => AgentState::Exited,
    }
}

/// Returns a state's place in a list that has what needs a person first.
pub(crate) fn urgency(state: AgentState) -> u8 {
    match state {
        AgentState::Waiting => 0,
        AgentState::Blocked => 1,
        AgentState::Error => 2,
        AgentState::Limited => 3,
        AgentState::Working => 4,
        AgentState::Starting => 5,
        AgentState::Unknown => 6,
        AgentState::Idle => 7,
        AgentState::Done => 8,
        AgentState::Exited => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_theme_can_be_read() {
        for (name, _) in BUILT_IN {
            Theme::load(&ThemeChoice::Named((*name).to_owned()), Depth::True).unwrap();
        }
    }

    #[test]
    fn an_unknown_theme_is_refused_with_the_nearest_one() {
        let error = Theme::load(&ThemeChoice::Named("drak".into()), Depth::True).unwrap_err();
        assert_eq!(error.to_string(), "There is no theme `drak`; the nearest is `dark`");
    }

    #[test]
    fn a_colour_that_is_none_is_named() {
        assert!(matches!(color("#12345"), Err(ThemeError::NotAColor(text)) if text == "#12345"));
        assert!(matches!(color("#€€"), Err(ThemeError::NotAColor(_))));
        assert_eq!(color("208").unwrap(), CellColor::Indexed(208));
    }

    #[test]
    fn without_colours_dim_text_is_still_dim() {
        let theme = Theme::load(&ThemeChoice::Auto, Depth::None).unwrap();
        assert_eq!(theme.tone(Tone::Dim).fg, Some(Color::Reset));
        assert!(theme.tone(Tone::Dim).add_modifier.contains(Modifier::DIM));
    }

    #[test]
    fn attributes_of_cells_pass_through() {
        let theme = Theme::load(&ThemeChoice::Auto, Depth::Indexed).unwrap();
        let style = CellStyle {
            foreground: CellColor::Indexed(5),
            background: CellColor::Default,
            attributes: CellStyle::BOLD | CellStyle::INVERSE,
            ..CellStyle::default()
        };
        let look = theme.cell(style);
        assert_eq!((look.text, look.back), (Color::Indexed(5), Color::Reset));
        assert_eq!(look.modifier, Modifier::BOLD | Modifier::REVERSED);
    }
}
