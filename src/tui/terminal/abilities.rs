//! Says what the user's terminal can show beside letters and colours.

use ratatui::style::Modifier;

use crate::model::{Environment, Row, Underline};

/// What can be shown; by default nothing that an old terminal would garble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Underlines of any shape and colour.
    pub underlines: bool,
    pub links: bool,
    pub cursor_shapes: bool,
}

/// Names of terminals, as they stand in `TERM` or `TERM_PROGRAM`, that know the shapes of underlines.
const KNOWING: [&str; 13] = [
    "kitty",
    "alacritty",
    "foot",
    "ghostty",
    "wezterm",
    "contour",
    "tmux",
    "iterm",
    "vscode",
    "rio",
    "warp",
    "mintty",
    "wayst",
];

/// From this version on, terminals of GNOME know them.
const VTE_MIN: u32 = 5200;

impl Abilities {
    /// Reads from the environment what the terminal can show.
    pub(crate) fn detect(environment: &Environment) -> Self {
        let value = |name: &str| environment.0.get(name).map_or("", String::as_str);
        let term = value("TERM").to_lowercase();
        if matches!(term.as_str(), "" | "linux" | "dumb") {
            return Self::default();
        }
        let program = value("TERM_PROGRAM").to_lowercase();
        let is_known = KNOWING.iter().any(|name| term.contains(name) || program.contains(name));
        let is_vte = value("VTE_VERSION").parse().is_ok_and(|version: u32| version >= VTE_MIN);
        // GNU screen prints what it does not know.
        let is_screen = term.starts_with("screen") && value("TMUX").is_empty();
        Self {
            underlines: is_known || is_vte || !value("KONSOLE_VERSION").is_empty(),
            links: !is_screen,
            cursor_shapes: !is_screen,
        }
    }
}

/// A cell's modifier has room for what the library has no name for: the shape of the underline, and
/// a mark of where the cell leads. Cells that differ in these are then not taken for the same.
const SHAPE_SHIFT: u32 = 9;
const SHAPE_BITS: u16 = 0b111 << SHAPE_SHIFT;
const LINK_SHIFT: u32 = 12;
const LINK_BITS: u16 = 0b1111 << LINK_SHIFT;

/// Each shape and the number that terminals know it by.
const SHAPES: [(Underline, u8); 5] = [
    (Underline::Single, 1),
    (Underline::Double, 2),
    (Underline::Curly, 3),
    (Underline::Dotted, 4),
    (Underline::Dashed, 5),
];

/// Returns the part of a modifier that holds the shape of an underline.
pub(crate) fn shape_modifier(underline: Underline) -> Modifier {
    let number = SHAPES.iter().find(|(shape, _)| *shape == underline).map_or(1, |(_, n)| *n);
    Modifier::from_bits_retain(u16::from(number - 1) << SHAPE_SHIFT)
}

/// Returns the number of the shape that a modifier holds.
pub(super) fn shape_number(modifier: Modifier) -> u8 {
    ((modifier.bits() & SHAPE_BITS) >> SHAPE_SHIFT).to_le_bytes()[0] + 1
}

/// Returns the part of a modifier that marks a cell as one that leads there.
pub(crate) fn link_modifier(target: &str) -> Modifier {
    let sum = target.bytes().fold(7_u16, |sum, byte| sum.wrapping_mul(31) ^ u16::from(byte));
    Modifier::from_bits_retain((sum % 15 + 1) << LINK_SHIFT)
}

pub(super) fn is_linked(modifier: Modifier) -> bool {
    modifier.bits() & LINK_BITS != 0
}

/// Returns a modifier without what the library has no name for.
pub(super) fn named(modifier: Modifier) -> Modifier {
    Modifier::from_bits_truncate(modifier.bits())
}

/// Says whether a target may be handed to the user's terminal: an address of a common kind, in plain
/// letters.
pub(crate) fn is_fit(target: &str) -> bool {
    let has_scheme = ["http://", "https://", "mailto:", "file://"]
        .iter()
        .any(|scheme| target.starts_with(scheme));
    has_scheme && target.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
}

/// Where the cells of the window lead.
#[derive(Debug, Default)]
pub(crate) struct WindowLinks {
    rows: Vec<Vec<(std::ops::Range<u16>, Box<str>)>>,
}

impl WindowLinks {
    /// Notes where the part of a row leads that begins at column `skip` and is drawn in `columns` of
    /// line `y`.
    pub(crate) fn set(
        &mut self,
        y: u16,
        columns: std::ops::Range<u16>,
        row: Option<&Row>,
        skip: u16,
    ) {
        let known = self.rows.get_mut(usize::from(y));
        if let Some(spans) = known {
            spans.retain(|(span, _)| span.end <= columns.start || span.start >= columns.end);
        }
        let (mut at, mut found) = (0_u16, Vec::new());
        for run in row.map_or(&[][..], |row| &row.runs) {
            let begin = at.max(skip);
            at = at.saturating_add(run.columns);
            let place = |col: u16| (columns.start + (col - skip)).min(columns.end);
            if let Some(target) = run.link.as_deref().filter(|target| at > skip && is_fit(target)) {
                found.push((place(begin)..place(at), Box::from(target)));
            }
        }
        if found.is_empty() {
            return;
        }
        let length = usize::from(y) + 1;
        if self.rows.len() < length {
            self.rows.resize(length, Vec::new());
        }
        self.rows[usize::from(y)].append(&mut found);
    }

    /// Returns where a cell leads.
    pub(super) fn at(&self, x: u16, y: u16) -> Option<&str> {
        let spans = self.rows.get(usize::from(y))?;
        spans.iter().find(|(span, _)| span.contains(&x)).map(|(_, target)| &**target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Run, Style};

    fn detected(variables: &[(&str, &str)]) -> (bool, bool, bool) {
        let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let abilities = Abilities::detect(&Environment(pairs.collect()));
        (abilities.underlines, abilities.links, abilities.cursor_shapes)
    }

    #[test]
    fn only_terminals_that_know_them_are_given_shapes() {
        assert_eq!(detected(&[("TERM", "xterm-kitty")]), (true, true, true));
        assert_eq!(detected(&[("TERM", "tmux-256color")]), (true, true, true));
        assert_eq!(detected(&[("TERM", "xterm-256color")]), (false, true, true));
        assert_eq!(detected(&[("TERM", "xterm"), ("VTE_VERSION", "6800")]), (true, true, true));
        assert_eq!(detected(&[("TERM", "screen-256color")]), (false, false, false));
        assert_eq!(detected(&[("TERM", "linux")]), (false, false, false));
    }

    #[test]
    fn a_target_that_could_do_harm_is_none() {
        for target in ["https://example.org/a?b=c#d", "mailto:a@b", "file:///tmp/x"] {
            assert!(is_fit(target), "{target}");
        }
        for target in ["javascript:x", "http://a\x1b\\", "http://a b", "http://é", "x", ""] {
            assert!(!is_fit(target), "{target}");
        }
    }

    #[test]
    fn each_cell_knows_where_it_leads() {
        let run = |text: &str, link: Option<&str>| Run {
            text: text.to_owned(),
            columns: u16::try_from(text.len()).unwrap(),
            style: Style::default(),
            link: link.map(Box::from),
        };
        let row =
            Row { runs: vec![run("see ", None), run("here", Some("http://x"))], wrapped: false };
        let mut links = WindowLinks::default();
        links.set(3, 10..17, Some(&row), 2);
        let leads = (10..20).map(|x| links.at(x, 3).is_some()).collect::<Vec<_>>();
        let wanted = [false, false, true, true, true, true, false, false, false, false];
        assert_eq!(leads, wanted);
        links.set(3, 10..17, None, 0);
        assert_eq!(links.at(13, 3), None);
    }

    #[test]
    fn shapes_come_back_out_of_a_modifier() {
        for (shape, number) in SHAPES {
            let modifier = Modifier::BOLD | shape_modifier(shape) | link_modifier("http://x");
            assert_eq!(shape_number(modifier), number);
            assert!(is_linked(modifier) && named(modifier) == Modifier::BOLD);
        }
        assert!(!is_linked(Modifier::all()));
    }
}
