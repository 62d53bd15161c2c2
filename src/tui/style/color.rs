//! Brings colours down to those that the terminal can show.

use ratatui::style::Color;

use crate::model::{Color as CellColor, Environment};

/// How many colours the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None at all: attributes and signs have to do.
    None,
    Sixteen,
    Indexed,
    True,
}

impl Depth {
    /// Reads from `NO_COLOR`, `COLORTERM` and `TERM` what the terminal can show.
    pub fn detect(environment: &Environment) -> Self {
        let value = |name: &str| environment.0.get(name).map_or("", String::as_str);
        let term = value("TERM");
        if !value("NO_COLOR").is_empty() || term == "dumb" {
            Self::None
        } else if matches!(value("COLORTERM"), "truecolor" | "24bit") || term.contains("direct") {
            Self::True
        } else if term.contains("256color") || term.contains("kitty") {
            Self::Indexed
        } else {
            Self::Sixteen
        }
    }

    /// Returns the nearest colour that can be shown.
    pub(super) fn fit(self, color: CellColor) -> Color {
        match (self, color) {
            (Self::None, _) | (_, CellColor::Default) => Color::Reset,
            (Self::True, CellColor::Rgb(r, g, b)) => Color::Rgb(r, g, b),
            (Self::Indexed, CellColor::Rgb(r, g, b)) => Color::Indexed(nearest_indexed([r, g, b])),
            (Self::Sixteen, CellColor::Rgb(r, g, b)) => Color::Indexed(nearest_basic([r, g, b])),
            (Self::Sixteen, CellColor::Indexed(index)) if index >= BASIC_COUNT => {
                Color::Indexed(nearest_basic(indexed_rgb(index)))
            }
            (_, CellColor::Indexed(index)) => Color::Indexed(index),
        }
    }
}

const BASIC_COUNT: u8 = 16;

/// What xterm shows for the first sixteen; users change them, but not beyond recognition.
const BASIC: [[u8; 3]; BASIC_COUNT as usize] = [
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
];

const CUBE_FIRST: u8 = 16;
const GREY_FIRST: u8 = 232;
const CUBE_LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn nearest_basic(rgb: [u8; 3]) -> u8 {
    (0..BASIC_COUNT).min_by_key(|index| distance(BASIC[usize::from(*index)], rgb)).unwrap_or(7)
}

fn nearest_indexed(rgb: [u8; 3]) -> u8 {
    let level = |value: u8| (0..6).min_by_key(|i| CUBE_LEVELS[usize::from(*i)].abs_diff(value));
    let [r, g, b] = rgb.map(|value| level(value).unwrap_or(0));
    let cube = CUBE_FIRST + 36 * r + 6 * g + b;
    let average = rgb.iter().map(|value| u16::from(*value)).sum::<u16>() / 3;
    let step = average.saturating_sub(3) / 10;
    let grey = GREY_FIRST + u8::try_from(step.min(23)).unwrap_or(23);
    if distance(indexed_rgb(grey), rgb) < distance(indexed_rgb(cube), rgb) { grey } else { cube }
}

fn indexed_rgb(index: u8) -> [u8; 3] {
    if index < BASIC_COUNT {
        BASIC[usize::from(index)]
    } else if index >= GREY_FIRST {
        [8 + 10 * (index - GREY_FIRST); 3]
    } else {
        let cube = index - CUBE_FIRST;
        [cube / 36, cube / 6 % 6, cube % 6].map(|level| CUBE_LEVELS[usize::from(level)])
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    // The eye tells greens apart best and blues worst.
    let weights = [3, 6, 1];
    (0..3).map(|i| weights[i] * u32::from(a[i].abs_diff(b[i])).pow(2)).sum()
}

/// Says whether a background is nearer to white than to black.
pub(crate) fn is_light(rgb: [u8; 3]) -> bool {
    let brightness: u32 = rgb.iter().zip([3, 6, 1]).map(|(c, weight)| u32::from(*c) * weight).sum();
    brightness > 10 * 255 / 2
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let depth = |pairs: &[(&str, &str)]| {
            let own = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            Depth::detect(&Environment(own.collect::<BTreeMap<_, _>>()))
        };
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "foot"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("COLORTERM", "24bit"), ("NO_COLOR", "")]), Depth::True);
    }

    #[test]
    fn colours_come_down_to_near_ones() {
        let orange = CellColor::Rgb(255, 135, 0);
        assert_eq!(Depth::True.fit(orange), Color::Rgb(255, 135, 0));
        assert_eq!(Depth::Indexed.fit(orange), Color::Indexed(208));
        assert_eq!(Depth::Indexed.fit(CellColor::Rgb(8, 8, 8)), Color::Indexed(232));
        assert_eq!(Depth::Sixteen.fit(CellColor::Indexed(196)), Color::Indexed(9));
        assert_eq!(Depth::Sixteen.fit(CellColor::Indexed(3)), Color::Indexed(3));
        assert_eq!(Depth::None.fit(orange), Color::Reset);
    }
}
