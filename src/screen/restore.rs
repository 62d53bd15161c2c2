//! Writes a terminal as the output that would bring it about.

use super::canvas::Margins;
use super::cluster::Clusters;
use super::draw::{Drawing, EMPTY_ROW, Ink, write_csi};
use super::line::Line;
use super::links::Links;
use super::look::{Look, LookId, Looks, write_number};
use super::mode::WRITTEN;
use super::sgr;
use super::terminal::{Charsets, Saved, Terminal};

/// Writes for a whole terminal: every look and picture spelt out.
struct Full<'a> {
    looks: &'a Looks,
    clusters: &'a Clusters,
    links: &'a Links,
}

impl Ink for Full<'_> {
    fn pen(&self, look: LookId, out: &mut Vec<u8>) {
        self.look(&self.looks.get(look), out);
    }

    fn text(&self, text: &str, out: &mut Vec<u8>) {
        for c in text.chars() {
            let mut buffer = [0; 4];
            let text = self.clusters.meaning(c).unwrap_or_else(|| c.encode_utf8(&mut buffer));
            out.extend_from_slice(text.as_bytes());
        }
    }
}

impl Full<'_> {
    fn look(&self, look: &Look, out: &mut Vec<u8>) {
        sgr::write(look, out);
        out.extend_from_slice(b"\x1b]8;;");
        out.extend_from_slice(self.links.get(look.link).unwrap_or("").as_bytes());
        out.extend_from_slice(b"\x1b\\");
    }
}

/// Writes the terminal with at most so many rows of its history.
pub(super) fn stream(terminal: &Terminal, history_rows: usize) -> Vec<u8> {
    let canvas = &terminal.canvas;
    let ink = Full { looks: &canvas.looks, clusters: &canvas.clusters, links: &canvas.links };
    let mut out = Vec::new();
    write_history(terminal, history_rows, &ink, &mut out);
    write_tabs(terminal, &mut out);
    write_side(terminal, 0, canvas.primary(), canvas.primary_margins(), &ink, &mut out);
    if canvas.is_alternate() {
        out.extend_from_slice(b"\x1b[?47h");
        write_side(terminal, 1, canvas.screen(), canvas.margins(), &ink, &mut out);
    }
    write_cursor(terminal, &ink, &mut out);
    write_modes(terminal, &mut out);
    out
}

/// Writes what the primary or the alternate screen has for itself.
fn write_side(
    terminal: &Terminal,
    which: usize,
    screen: &vt100::Screen,
    margins: Margins,
    ink: &Full<'_>,
    out: &mut Vec<u8>,
) {
    let size = terminal.canvas.size();
    let lines: Vec<Line> = (0..size.rows).map(|row| Line::read(screen, row)).collect();
    Drawing { ink, cols: size.cols, pen: None, out }.lines(&lines);
    for flags in terminal.keyboards[which].flags() {
        out.extend_from_slice(b"\x1b[>");
        write_number(u32::from(*flags), out);
        out.push(b'u');
    }
    write_saved(&terminal.saved[which], ink, out);
    margins.write(out);
}

/// Prints the history so that it scrolls off the top.
fn write_history(terminal: &Terminal, rows_max: usize, ink: &Full<'_>, out: &mut Vec<u8>) {
    let size = terminal.canvas.size();
    let cols = usize::from(size.cols);
    let mut pen = None;
    let (mut printed, mut columns) = (0, 0_usize);
    let mut is_wrapped = false;
    let kept = terminal.canvas.history.range();
    let first = kept.end.saturating_sub(rows_max as u64).max(kept.start);
    for number in first..kept.end {
        let Some(row) = terminal.canvas.history.row(number) else { continue };
        if is_wrapped && row.runs.is_empty() && columns.is_multiple_of(cols) {
            write_empty_row(ink, out);
            pen = None;
            columns += 1;
        }
        for run in &row.runs {
            let look = Look::plain(run.style);
            if pen.replace(look) != Some(look) {
                ink.look(&look, out);
            }
            out.extend_from_slice(run.text.as_bytes());
            columns += usize::from(run.columns);
        }
        is_wrapped = row.wrapped;
        if !is_wrapped {
            out.extend_from_slice(b"\r\n");
            printed += columns.div_ceil(cols).max(1);
            columns = 0;
        }
    }
    if is_wrapped {
        // The line goes on in the first row of the screen.
        if columns.is_multiple_of(cols) {
            write_empty_row(ink, out);
        } else {
            out.extend_from_slice(b"\r\n");
        }
        printed += columns.div_ceil(cols);
    }
    ink.look(&Look::default(), out);
    let left = u16::try_from(printed).unwrap_or(u16::MAX).min(size.rows - 1);
    if left > 0 {
        write_csi(&[left], b'S', out);
    }
}

/// Lets a pending wrap happen and leaves nothing on the next row.
fn write_empty_row(ink: &Full<'_>, out: &mut Vec<u8>) {
    ink.look(&Look::default(), out);
    out.extend_from_slice(EMPTY_ROW);
}

fn write_tabs(terminal: &Terminal, out: &mut Vec<u8>) {
    let Some(columns) = terminal.tabs.columns() else { return };
    out.extend_from_slice(b"\x1b[3g");
    for col in columns {
        write_csi(&[col + 1], b'G', out);
        out.extend_from_slice(b"\x1bH");
    }
}

/// Brings about what DECSC saved, and saves it again.
fn write_saved(saved: &Saved, ink: &Full<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(if saved.is_origin { b"\x1b[?6h" } else { b"\x1b[?6l" });
    write_csi(&[saved.row + 1, saved.col + 1], b'H', out);
    ink.look(&saved.pen, out);
    write_charsets(saved.charsets, out);
    out.extend_from_slice(b"\x1b7");
    ink.look(&Look::default(), out);
    write_charsets(Charsets::default(), out);
}

fn write_charsets(charsets: Charsets, out: &mut Vec<u8>) {
    let set = |is_drawing: bool| if is_drawing { b'0' } else { b'B' };
    let [first, second] = charsets.is_drawing.map(set);
    let shift = if charsets.is_shifted { 0x0e } else { 0x0f };
    out.extend_from_slice(&[0x1b, b'(', first, 0x1b, b')', second, shift]);
}

fn write_cursor(terminal: &Terminal, ink: &Full<'_>, out: &mut Vec<u8>) {
    let canvas = &terminal.canvas;
    let (row, col) = canvas.position();
    let above = canvas.margins().above();
    let mut drawing = Drawing { ink, cols: canvas.size().cols, pen: None, out };
    drawing.place(Some(&canvas.line(row)), row, col, above);
    ink.look(&terminal.pen, out);
    write_charsets(terminal.charsets, out);
}

fn write_modes(terminal: &Terminal, out: &mut Vec<u8>) {
    for mode in WRITTEN.iter().filter(|mode| terminal.modes.get(**mode) == Some(true)) {
        out.extend_from_slice(b"\x1b[?");
        write_number(u32::from(*mode), out);
        out.push(b'h');
    }
    let flags: [(bool, &[u8]); 4] = [
        (!terminal.wraps, b"\x1b[?7l"),
        (terminal.inserts, b"\x1b[4h"),
        (terminal.line_feed_returns, b"\x1b[20h"),
        (!terminal.cursor_is_visible, b"\x1b[?25l"),
    ];
    for (_, bytes) in flags.iter().filter(|(is_set, _)| *is_set) {
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(b"\x1b[>4;");
    write_number(u32::from(terminal.modes.modify_other_keys), out);
    out.extend_from_slice(b"m\x1b[");
    write_number(terminal.cursor_shape.number(), out);
    out.extend_from_slice(b" q\x1b]2;");
    out.extend_from_slice(terminal.title.as_bytes());
    out.extend_from_slice(b"\x1b\\");
}
