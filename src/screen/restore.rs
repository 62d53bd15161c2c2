//! Writes a terminal as the output that would bring it about.

use crate::model::{Row, Style};

use super::canvas::Margins;
use super::cluster::Clusters;
use super::draw::{Drawing, EMPTY_ROW, Ink, write_csi};
use super::line::{Line, width};
use super::links::Links;
use super::look::{Look, LookId, Looks, write_number};
use super::mode::WRITTEN;
use super::print::{JOINER, is_modifier};
use super::sgr;
use super::terminal::{APART, Charsets, Saved, Terminal};

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
        if text.is_ascii() {
            return out.extend_from_slice(text.as_bytes());
        }
        let mut cell = String::new();
        for c in text.chars() {
            let mut buffer = [0; 4];
            cell.push_str(self.clusters.meaning(c).unwrap_or_else(|| c.encode_utf8(&mut buffer)));
        }
        write_cell(&cell, out);
    }
}

impl Full<'_> {
    fn look(&self, look: &Look, out: &mut Vec<u8>) {
        write_look(look.style, self.links.get(look.link), out);
    }
}

/// Writes the text of a cell so that it is joined to none beside it.
fn write_cell(cell: &str, out: &mut Vec<u8>) {
    if cell.starts_with(|c| is_modifier(c) || width(c) == 0) {
        out.push(APART);
    }
    out.extend_from_slice(cell.as_bytes());
    if cell.ends_with(JOINER) {
        out.push(APART);
    }
}

fn write_look(style: Style, link: Option<&str>, out: &mut Vec<u8>) {
    sgr::write(style, out);
    out.extend_from_slice(b"\x1b]8;;");
    out.extend_from_slice(link.unwrap_or("").as_bytes());
    out.extend_from_slice(b"\x1b\\");
}

/// Writes the terminal with at most so many rows of its history.
pub(super) fn stream(terminal: &Terminal, history_rows: usize) -> Vec<u8> {
    let canvas = &terminal.canvas;
    let ink = Full { looks: &canvas.looks, clusters: &canvas.clusters, links: &canvas.links };
    let mut out = Vec::new();
    write_history(terminal, history_rows, &ink, &mut out);
    write_tabs(terminal, &mut out);
    if !canvas.is_alternate() && has_other_side(terminal) {
        out.extend_from_slice(b"\x1b[?47h");
        write_side(terminal, 1, canvas.hidden(), &ink, &mut out);
        out.extend_from_slice(b"\x1b[?47l");
    }
    write_side(terminal, 0, Some(canvas.primary()), &ink, &mut out);
    if canvas.is_alternate() {
        out.extend_from_slice(b"\x1b[?47h");
        write_side(terminal, 1, Some(canvas.screen()), &ink, &mut out);
    }
    write_cursor(terminal, &ink, &mut out);
    write_modes(terminal, &mut out);
    out
}

/// Says whether the alternate screen, which is not shown, has anything for itself.
fn has_other_side(terminal: &Terminal) -> bool {
    let canvas = &terminal.canvas;
    canvas.hidden().is_some()
        || !terminal.keyboards[1].flags().is_empty()
        || terminal.saved[1] != Saved::default()
        || canvas.margins_of(1) != Margins::whole(canvas.size())
}

/// Writes what the primary or the alternate screen has for itself.
fn write_side(
    terminal: &Terminal,
    which: usize,
    screen: Option<&vt100::Screen>,
    ink: &Full<'_>,
    out: &mut Vec<u8>,
) {
    let size = terminal.canvas.size();
    let read = |screen| (0..size.rows).map(move |row| Line::read(screen, row));
    let lines: Vec<Line> = screen.into_iter().flat_map(read).collect();
    Drawing { ink, cols: size.cols, pen: None, out }.lines(&lines);
    for flags in terminal.keyboards[which].flags() {
        out.extend_from_slice(b"\x1b[>");
        write_number(u32::from(*flags), out);
        out.push(b'u');
    }
    write_saved(&terminal.saved[which], ink, out);
    terminal.canvas.margins_of(which).write(out);
}

/// Prints the history so that it scrolls off the top. Each row of it takes one row of the screen.
fn write_history(terminal: &Terminal, rows_max: usize, ink: &Full<'_>, out: &mut Vec<u8>) {
    let size = terminal.canvas.size();
    let cols = size.cols;
    let kept = terminal.canvas.history.range();
    let first = kept.end.saturating_sub(rows_max as u64).max(kept.start);
    let mut printed = 0;
    for row in (first..kept.end).filter_map(|number| terminal.canvas.history.row(number)) {
        write_runs(&row, ink, out);
        // Where the line goes on after the last row, it does so in the first row of the screen.
        end_row(&row, cols, out);
        printed += 1;
    }
    let left = u16::try_from(printed).unwrap_or(u16::MAX).min(size.rows - 1);
    if left > 0 {
        write_csi(&[left], b'S', out);
    }
}

/// Goes to the next row, as the row did: by wrapping, or by the end of its line.
fn end_row(row: &Row, cols: u16, out: &mut Vec<u8>) {
    let wraps = row.wrapped && row.columns() >= usize::from(cols);
    out.extend_from_slice(if wraps { EMPTY_ROW } else { b"\r\n" });
}

/// Prints a row, and leaves the pen plain: a row that scrolls in would have its background.
fn write_runs(row: &Row, ink: &Full<'_>, out: &mut Vec<u8>) {
    let mut pen = (Style::default(), None);
    for run in &row.runs {
        let look = (run.style, run.link.as_deref());
        if pen != look {
            write_look(run.style, run.link.as_deref(), out);
            pen = look;
        }
        if run.text.is_ascii() {
            out.extend_from_slice(run.text.as_bytes());
        } else {
            run.cells().for_each(|(cell, _)| write_cell(cell, out));
        }
    }
    if pen != (Style::default(), None) {
        ink.look(&Look::default(), out);
    }
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
    let flags: [(bool, &[u8]); 5] = [
        (!terminal.wraps, b"\x1b[?7l"),
        (terminal.wraps_back, b"\x1b[?45h"),
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
    write_number(u32::from(terminal.cursor_shape.number()), out);
    out.extend_from_slice(b" q\x1b]2;");
    out.extend_from_slice(terminal.title.as_bytes());
    out.extend_from_slice(b"\x1b\\");
}
