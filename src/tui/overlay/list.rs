//! A list to choose from that may be longer than its room.

use ratatui::layout::{Position, Rect};

/// Returns the first entry that is shown, so that the chosen one always is.
pub(super) fn first_shown(chosen: usize, room: Rect) -> usize {
    (chosen + 1).saturating_sub(usize::from(room.height))
}

/// Returns the entry under the mouse.
pub(super) fn item_at(chosen: usize, count: usize, room: Rect, at: Position) -> Option<usize> {
    let line = room.contains(at).then(|| usize::from(at.y - room.y))?;
    Some(first_shown(chosen, room) + line).filter(|index| *index < count)
}

/// Returns the entry above or below the chosen one; beyond an end comes the other one.
pub(super) fn stepped(chosen: usize, count: usize, is_down: bool) -> usize {
    let last = count.saturating_sub(1);
    match (is_down, chosen) {
        (true, _) if chosen >= last => 0,
        (true, _) => chosen + 1,
        (false, 0) => last,
        (false, _) => chosen.min(count) - 1,
    }
}

/// Returns the entry above or below the chosen one, and stays at the ends.
pub(super) fn turned(chosen: usize, count: usize, is_down: bool) -> usize {
    if is_down { (chosen + 1).min(count.saturating_sub(1)) } else { chosen.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_around_and_the_wheel_stops_at_the_ends() {
        assert_eq!([stepped(0, 3, false), stepped(2, 3, true), stepped(1, 3, true)], [2, 0, 2]);
        assert_eq!([turned(0, 3, false), turned(2, 3, true), turned(1, 3, true)], [0, 2, 2]);
        assert_eq!([stepped(0, 0, true), stepped(0, 0, false), turned(0, 0, true)], [0, 0, 0]);
        assert_eq!(stepped(9, 3, false), 2, "the list has become shorter");
    }

    #[test]
    fn a_click_finds_the_entry_that_is_drawn_there() {
        let room = Rect::new(10, 5, 20, 3);
        let at = |x, y| Position { x, y };
        assert_eq!(item_at(0, 9, room, at(12, 6)), Some(1));
        assert_eq!(item_at(7, 9, room, at(12, 5)), Some(5), "scrolled");
        assert_eq!(item_at(0, 1, room, at(12, 6)), None, "below the last");
        assert_eq!(item_at(0, 9, room, at(9, 6)), None);
    }
}
