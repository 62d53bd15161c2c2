//! Reads what a dashboard wrote to its terminal, and knows nothing but what its painter uses.

use wheelhouse::model::is_deceptive;

/// Modes that the dashboard sets and takes back.
const MODES: [&str; 10] =
    ["7", "25", "1000", "1002", "1003", "1004", "1006", "1049", "2004", "2026"];

/// What the dashboard says of itself, once it is told to leave.
const LEFT: &[u8] = b"\x1b[?1049l";

/// Stops the test at the first thing that is neither a cell, nor a style, nor the painter's own.
pub(crate) fn assert_painted(bytes: &[u8], cols: u16, rows: u16) {
    let end = bytes.windows(LEFT.len()).position(|window| window == LEFT);
    let mut rest = &bytes[..end.unwrap_or(bytes.len())];
    while let Some(first) = rest.first() {
        let taken = if *first == 0x1b { sequence(rest, cols, rows) } else { character(rest) };
        let Some(taken) = taken else {
            let at = bytes.len() - rest.len();
            let around = &bytes[at.saturating_sub(60)..(at + 60).min(bytes.len())];
            panic!("at byte {at}: {:?}", String::from_utf8_lossy(around));
        };
        rest = &rest[taken..];
    }
}

/// Returns the length of a character that fills a cell or belongs to one.
fn character(bytes: &[u8]) -> Option<usize> {
    const PARTS: [char; 3] = ['\u{200d}', '\u{fe0e}', '\u{fe0f}'];
    let length = (1..=4)
        .find(|length| bytes.get(..*length).is_some_and(|part| str::from_utf8(part).is_ok()))?;
    let c = str::from_utf8(&bytes[..length]).ok()?.chars().next()?;
    (PARTS.contains(&c) || !is_deceptive(c)).then_some(length)
}

/// Returns the length of a sequence that the painter uses.
fn sequence(bytes: &[u8], cols: u16, rows: u16) -> Option<usize> {
    const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
    if bytes.starts_with(ASK_BACKGROUND) {
        return Some(ASK_BACKGROUND.len());
    }
    if let Some(title) = bytes.strip_prefix(b"\x1b]2;") {
        return Some(title_length(title)? + 4);
    }
    if let Some(link) = bytes.strip_prefix(b"\x1b]8;;") {
        return Some(link_length(link)? + 5);
    }
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = body.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
    let parameters = str::from_utf8(&body[..end]).ok()?;
    let numbers = || parameters.split(';').map(|number| number.parse::<u16>().ok());
    let is_within = |most: [u16; 2]| {
        parameters.is_empty()
            || (numbers().count() <= 2
                && numbers().zip(most).all(|(number, most)| {
                    number.is_some_and(|number| (1..=most).contains(&number))
                }))
    };
    let is_known = match body[end] {
        b'H' => is_within([rows, cols]),
        b'C' | b'X' => is_within([cols, 0]) && !parameters.contains(';'),
        b'D' | b'J' => parameters == "2",
        b'q' => matches!(parameters.as_bytes(), [b'0'..=b'6', b' ']),
        b'm' => parameters.is_empty() || numbers().all(|number| number.is_some_and(|n| n <= 255)),
        b'h' | b'l' => parameters.strip_prefix('?').is_some_and(|mode| MODES.contains(&mode)),
        b'u' => matches!(parameters, ">1" | "<1"),
        // The terminal keeps its title, and takes it up again.
        b't' => matches!(parameters, "22;2" | "23;2"),
        _ => false,
    };
    is_known.then_some(end + 3)
}

/// Returns the length of a title and of its end: plain letters alone.
fn title_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().position(|byte| *byte == 0x07)?;
    let title = str::from_utf8(&bytes[..length]).ok()?;
    (!title.chars().any(|c| c.is_control() || is_deceptive(c))).then_some(length + 1)
}

/// Returns the length of the target of a link and of its end: nothing, or an address of a common kind in
/// plain letters.
fn link_length(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\x1b\\";
    let length = bytes.windows(END.len()).position(|window| window == END)?;
    let target = str::from_utf8(&bytes[..length]).ok()?;
    let kinds = ["http://", "https://", "mailto:", "file://"];
    let is_common = target.is_empty() || kinds.iter().any(|kind| target.starts_with(kind));
    let is_plain = target.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    (is_common && is_plain).then_some(length + END.len())
}
