//! A line of text in the middle of an area.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::text::{clip, width};

/// Draws lines in the middle of an area, as far as there is room.
pub(super) fn draw_centred(lines: &[String], style: Style, area: Rect, buffer: &mut Buffer) {
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let top = area.y + area.height.saturating_sub(height) / 2;
    for (line, y) in lines.iter().zip(top..area.bottom()) {
        let text = clip(line, usize::from(area.width));
        let length = u16::try_from(width(&text)).unwrap_or(area.width);
        let x = area.x + area.width.saturating_sub(length) / 2;
        buffer.set_stringn(x, y, &text, usize::from(area.width), style);
    }
}
