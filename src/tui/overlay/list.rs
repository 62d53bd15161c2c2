//! A list to choose from that may be longer than its room.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use crate::tui::app::App;
use crate::tui::style::Tone;
use crate::tui::text::{clip, padded};

/// Entries of which one is chosen; those are shown that it is among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub chosen: usize,
    pub count: usize,
}

impl List {
    /// Returns the first entry that is shown, so that the chosen one always is.
    fn first_shown(self, room: Rect) -> usize {
        (self.chosen + 1).saturating_sub(usize::from(room.height))
    }

    /// Returns the entry under the mouse.
    pub(super) fn entry_at(self, room: Rect, at: Position) -> Option<usize> {
        let line = room.contains(at).then(|| usize::from(at.y - room.y))?;
        Some(self.first_shown(room) + line).filter(|index| *index < self.count)
    }

    /// Returns the entry above or below the chosen one; beyond an end comes the other one.
    pub(super) fn stepped(self, is_down: bool) -> usize {
        let last = self.count.saturating_sub(1);
        match (is_down, self.chosen) {
            (true, chosen) if chosen >= last => 0,
            (true, chosen) => chosen + 1,
            (false, 0) => last,
            (false, chosen) => chosen.min(self.count) - 1,
        }
    }

    /// Returns the entry above or below the chosen one, and stays at the ends.
    pub(super) fn scrolled(self, is_down: bool) -> usize {
        let below = (self.chosen + 1).min(self.count.saturating_sub(1));
        if is_down { below } else { self.chosen.saturating_sub(1) }
    }

    /// Draws the entries that fit; each is asked for by its index, whether it is the chosen one, and
    /// the columns that it has.
    pub(super) fn draw(
        self,
        room: Rect,
        buffer: &mut Buffer,
        entry: impl Fn(usize, bool, usize) -> Line<'static>,
    ) {
        let shown = self.first_shown(room)..self.count;
        for (row, index) in room.rows().zip(shown) {
            let line = entry(index, index == self.chosen, usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
    }
}

/// Returns an entry as it stands in a list, over all its columns; the chosen one stands out.
pub(super) fn entry(
    app: &App,
    text: &str,
    is_chosen: bool,
    plain: Style,
    room: usize,
) -> Line<'static> {
    let style = if is_chosen { app.theme.block(Tone::Accent) } else { plain };
    Line::styled(padded(&clip(text, room), room), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(chosen: usize, count: usize) -> List {
        List { chosen, count }
    }

    #[test]
    fn keys_go_around_and_the_wheel_stops_at_the_ends() {
        let stepped = |chosen, count, is_down| list(chosen, count).stepped(is_down);
        let scrolled = |chosen, count, is_down| list(chosen, count).scrolled(is_down);
        assert_eq!([stepped(0, 3, false), stepped(2, 3, true), stepped(1, 3, true)], [2, 0, 2]);
        assert_eq!([scrolled(0, 3, false), scrolled(2, 3, true), scrolled(1, 3, true)], [0, 2, 2]);
        assert_eq!([stepped(0, 0, true), stepped(0, 0, false), scrolled(0, 0, true)], [0, 0, 0]);
        assert_eq!(stepped(9, 3, false), 2, "the list has become shorter");
    }

    #[test]
    fn a_click_finds_the_entry_that_is_drawn_there() {
        let room = Rect::new(10, 5, 20, 3);
        let at = |x, y| Position { x, y };
        assert_eq!(list(0, 9).entry_at(room, at(12, 6)), Some(1));
        assert_eq!(list(7, 9).entry_at(room, at(12, 5)), Some(5), "scrolled");
        assert_eq!(list(0, 1).entry_at(room, at(12, 6)), None, "below the last");
        assert_eq!(list(0, 9).entry_at(room, at(9, 6)), None);
    }
}
