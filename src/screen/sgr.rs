//! Reads what `CSI … m` asks for, and writes it down again.

use crate::model::{Color, Style, Underline};

use super::csi::Csi;
use super::draw::write_csi;
use super::look::Look;

/// Changes the pen as a sequence asks; an attribute that nobody knows changes nothing.
pub(super) fn apply(csi: &Csi, pen: &mut Look) {
    if csi.params().is_empty() {
        reset(pen);
    }
    let mut groups = csi.groups();
    while let Some(group) = groups.next() {
        match group {
            [38 | 48 | 58] => {
                let mut next = || groups.next().and_then(|group| group.first().copied());
                let color = match next() {
                    Some(5) => next().and_then(indexed),
                    Some(2) => rgb(next(), next(), next()),
                    _ => None,
                };
                set_color(group[0], color, pen);
            }
            [target @ (38 | 48 | 58), 5, index, ..] => set_color(*target, indexed(*index), pen),
            [target @ (38 | 48 | 58), 2, r, g, b]
            | [target @ (38 | 48 | 58), 2, _, r, g, b, ..] => {
                set_color(*target, rgb(Some(*r), Some(*g), Some(*b)), pen);
            }
            [4, shape, ..] => set_underline(underline(*shape), &mut pen.style),
            [code] => simple(*code, pen),
            _ => {}
        }
    }
}

fn reset(pen: &mut Look) {
    *pen = Look { link: pen.link, ..Look::default() };
}

fn simple(code: u16, pen: &mut Look) {
    let style = &mut pen.style;
    match code {
        0 => reset(pen),
        1 => style.attributes |= Style::BOLD,
        2 => style.attributes |= Style::DIM,
        3 => style.attributes |= Style::ITALIC,
        4 => set_underline(Some(Underline::Single), style),
        5 | 6 => style.attributes |= Style::BLINK,
        7 => style.attributes |= Style::INVERSE,
        8 => style.attributes |= Style::HIDDEN,
        9 => style.attributes |= Style::STRIKETHROUGH,
        21 => set_underline(Some(Underline::Double), style),
        22 => style.attributes &= !(Style::BOLD | Style::DIM),
        23 => style.attributes &= !Style::ITALIC,
        24 => set_underline(None, style),
        25 => style.attributes &= !Style::BLINK,
        27 => style.attributes &= !Style::INVERSE,
        28 => style.attributes &= !Style::HIDDEN,
        29 => style.attributes &= !Style::STRIKETHROUGH,
        30..=37 => style.foreground = bounded(code - 30),
        39 => style.foreground = Color::Default,
        40..=47 => style.background = bounded(code - 40),
        49 => style.background = Color::Default,
        59 => style.underline_color = Color::Default,
        90..=97 => style.foreground = bounded(code - 82),
        100..=107 => style.background = bounded(code - 92),
        _ => {}
    }
}

fn set_underline(shape: Option<Underline>, style: &mut Style) {
    style.underline = shape.unwrap_or_default();
    if shape.is_none() {
        style.attributes &= !Style::UNDERLINE;
    } else {
        style.attributes |= Style::UNDERLINE;
    }
}

fn underline(shape: u16) -> Option<Underline> {
    match shape {
        0 => None,
        2 => Some(Underline::Double),
        3 => Some(Underline::Curly),
        4 => Some(Underline::Dotted),
        5 => Some(Underline::Dashed),
        _ => Some(Underline::Single),
    }
}

fn set_color(target: u16, color: Option<Color>, pen: &mut Look) {
    let Some(color) = color else { return };
    match target {
        38 => pen.style.foreground = color,
        48 => pen.style.background = color,
        _ => pen.style.underline_color = color,
    }
}

fn bounded(index: u16) -> Color {
    indexed(index).unwrap_or_default()
}

fn indexed(index: u16) -> Option<Color> {
    u8::try_from(index).ok().map(Color::Indexed)
}

fn rgb(r: Option<u16>, g: Option<u16>, b: Option<u16>) -> Option<Color> {
    let part = |part: Option<u16>| part.and_then(|part| u8::try_from(part).ok());
    Some(Color::Rgb(part(r)?, part(g)?, part(b)?))
}

/// Writes the sequence that sets exactly this style.
pub(super) fn write(style: Style, out: &mut Vec<u8>) {
    const CODES: [(u8, u16); 7] = [
        (Style::BOLD, 1),
        (Style::DIM, 2),
        (Style::ITALIC, 3),
        (Style::INVERSE, 7),
        (Style::STRIKETHROUGH, 9),
        (Style::HIDDEN, 8),
        (Style::BLINK, 5),
    ];
    let mut params = vec![0];
    params.extend(CODES.iter().filter(|(bit, _)| style.has(*bit)).map(|(_, code)| *code));
    push_color(38, style.foreground, &mut params);
    push_color(48, style.background, &mut params);
    push_color(58, style.underline_color, &mut params);
    write_csi(&params, b'm', out);
    if !style.has(Style::UNDERLINE) {
        return;
    }
    let shape: &[u8] = match style.underline {
        Underline::Single => b"\x1b[4m",
        Underline::Double => b"\x1b[4:2m",
        Underline::Curly => b"\x1b[4:3m",
        Underline::Dotted => b"\x1b[4:4m",
        Underline::Dashed => b"\x1b[4:5m",
    };
    out.extend_from_slice(shape);
}

fn push_color(target: u16, color: Color, params: &mut Vec<u16>) {
    match color {
        Color::Default => {}
        Color::Indexed(index) => params.extend([target, 5, u16::from(index)]),
        Color::Rgb(r, g, b) => params.extend([target, 2, u16::from(r), u16::from(g), u16::from(b)]),
    }
}
