//! Where each pane goes: tiles that fill the window, and cards where tiles would be too narrow.

use std::cmp::Reverse;

use ratatui::layout::Rect;

/// How the panes share the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    #[default]
    Grid,
    /// One large pane with a strip of cards.
    Focus,
    Columns,
    /// Only the selected pane.
    Single,
}

impl Layout {
    /// Returns the layout of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Grid, Self::Focus, Self::Columns, Self::Single]
            .into_iter()
            .find(|layout| layout.name() == name)
    }

    /// Returns the name that settings use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Focus => "focus",
            Self::Columns => "columns",
            Self::Single => "single",
        }
    }

    /// Returns the layout that follows in the cycle.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Grid => Self::Focus,
            Self::Focus => Self::Columns,
            Self::Columns => Self::Single,
            Self::Single => Self::Grid,
        }
    }
}

/// When unselected panes are shown as cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cards {
    #[default]
    Auto,
    Never,
}

/// Where one pane is shown, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileSlot {
    /// The agent's place in the list.
    pub index: usize,
    pub area: Rect,
    pub is_card: bool,
    /// A zoomed pane has the whole area.
    pub has_frame: bool,
}

impl TileSlot {
    /// Returns the part of a tile that shows the pane.
    pub(super) fn inner(&self) -> Rect {
        if !self.has_frame {
            return self.area;
        }
        Rect {
            x: self.area.x + 1,
            y: self.area.y + 1,
            width: self.area.width.saturating_sub(2),
            height: self.area.height.saturating_sub(2),
        }
    }
}

/// Below this width text on a tile is cut so often that a card says more.
const TILE_COLS_MIN: u16 = 60;

/// Below these a tile has no room for a pane at all.
const TILE_ROWS_LEAST: u16 = 3;
const TILE_COLS_LEAST: u16 = 12;

/// What most programs are made for; a pane gains little beyond it. Fewer rows than usual are
/// enough, because a tile that is cut shows the end, where things happen.
const GOOD_COLS: u32 = 80;
const GOOD_ROWS: u32 = 18;

/// A strip of cards is beside the large pane if that leaves the pane this wide.
const FOCUS_COLS_MIN: u16 = 82;
const STRIP_COLS: u16 = 34;
const STRIP_ROWS_MAX: u16 = 6;

/// A card of this height has room for the state, the task and a line of the pane.
const CARD_ROWS_MIN: u16 = 5;

/// Columns narrower than this are no columns.
const COLUMN_COLS_MIN: u16 = 20;

/// Returns where `count` panes go; the selected one is always among them.
pub(super) fn arrange(
    layout: Layout,
    area: Rect,
    count: usize,
    selected: usize,
    cards: Cards,
) -> Vec<TileSlot> {
    if count == 0 || area.is_empty() {
        return Vec::new();
    }
    let fits_columns = usize::from(area.width / COLUMN_COLS_MIN) >= count;
    match layout {
        Layout::Single => {
            vec![TileSlot { index: selected, area, is_card: false, has_frame: false }]
        }
        Layout::Focus if count > 1 => focus(area, count, selected),
        Layout::Columns if fits_columns => dense(tiles(area, count, count), selected, cards),
        Layout::Grid | Layout::Focus | Layout::Columns => {
            dense(tiles(area, count, best_columns(area, count)), selected, cards)
        }
    }
}

/// Returns the slot that lies next in a direction, by where things are on the window.
pub(super) fn neighbour(slots: &[TileSlot], from: usize, dx: i32, dy: i32) -> Option<usize> {
    let start = slots.iter().find(|slot| slot.index == from)?.area;
    let centre = |area: Rect| {
        (
            i32::from(area.x) * 2 + i32::from(area.width),
            i32::from(area.y) * 2 + i32::from(area.height),
        )
    };
    let (sx, sy) = centre(start);
    let ahead = slots.iter().filter(|slot| {
        let area = slot.area;
        match (dx, dy) {
            (1.., _) => area.left() >= start.right(),
            (..=-1, _) => area.right() <= start.left(),
            (0, 1..) => area.top() >= start.bottom(),
            (0, _) => area.bottom() <= start.top(),
        }
    });
    let cost = |slot: &&TileSlot| {
        let (x, y) = centre(slot.area);
        let (along, across) = if dx == 0 { (y - sy, x - sx) } else { (x - sx, y - sy) };
        (along.abs() + 2 * across.abs(), slot.index)
    };
    ahead.min_by_key(cost).map(|slot| slot.index)
}

fn dense(areas: Vec<Rect>, selected: usize, cards: Cards) -> Vec<TileSlot> {
    let slot = |(index, area): (usize, Rect)| {
        let is_narrow = area.width < TILE_COLS_MIN && cards == Cards::Auto && index != selected;
        let is_tiny = area.width < TILE_COLS_LEAST || area.height < TILE_ROWS_LEAST;
        TileSlot { index, area, is_card: is_narrow || is_tiny, has_frame: true }
    };
    areas.into_iter().enumerate().map(slot).collect()
}

/// Returns the number of columns that makes the tiles most useful.
fn best_columns(area: Rect, count: usize) -> usize {
    let usefulness = |columns: &usize| {
        let rows = count.div_ceil(*columns);
        let width = u32::from(area.width) / u32::try_from(*columns).unwrap_or(u32::MAX);
        let height = u32::from(area.height) / u32::try_from(rows).unwrap_or(u32::MAX);
        let cols = width.saturating_sub(2).min(GOOD_COLS);
        // Text needs width first: rows of a tile that is higher than wide do not count.
        let rows_shown = height.min(width * 2 / 5).saturating_sub(2).min(GOOD_ROWS);
        let room = cols * rows_shown;
        let reaches = |cols: u16, rows: u16| width >= u32::from(cols) && height >= u32::from(rows);
        let is_card = reaches(COLUMN_COLS_MIN, CARD_ROWS_MIN);
        let is_shown = reaches(TILE_COLS_LEAST, TILE_ROWS_LEAST);
        let empty = rows * columns - count;
        // A cell is about twice as high as wide, so this prefers tiles that look square.
        let skew = width.abs_diff(2 * height);
        (is_card, is_shown, room, Reverse(empty), Reverse(skew))
    };
    (1..=count).max_by_key(usefulness).unwrap_or(1)
}

/// Splits an area into rows of tiles; rows differ by at most one tile, and all are filled.
fn tiles(area: Rect, count: usize, columns: usize) -> Vec<Rect> {
    let rows = count.div_ceil(columns);
    let mut found = Vec::with_capacity(count);
    for (row, (y, height)) in shares(area.y, area.height, rows).enumerate() {
        let in_row = count / rows + usize::from(row < count % rows);
        for (x, width) in shares(area.x, area.width, in_row) {
            found.push(Rect { x, y, width, height });
        }
    }
    found
}

/// Splits a length into parts that differ by at most one.
fn shares(start: u16, length: u16, parts: usize) -> impl Iterator<Item = (u16, u16)> {
    let at = move |part: usize| {
        let offset = usize::from(length) * part / parts.max(1);
        start + u16::try_from(offset).unwrap_or(length)
    };
    (0..parts).map(move |part| (at(part), at(part + 1) - at(part)))
}

fn focus(area: Rect, count: usize, selected: usize) -> Vec<TileSlot> {
    let others = count - 1;
    let is_beside = area.width >= FOCUS_COLS_MIN + STRIP_COLS && usize::from(area.height) >= others;
    let (large, strip, columns) = if is_beside {
        let large = Rect { width: area.width - STRIP_COLS, ..area };
        (large, Rect { x: large.right(), width: STRIP_COLS, ..area }, 1)
    } else {
        let columns = (usize::from(area.width / COLUMN_COLS_MIN)).clamp(1, others);
        let rows = u16::try_from(others.div_ceil(columns)).unwrap_or(u16::MAX);
        let each = (area.height / 2 / rows.max(1)).clamp(1, STRIP_ROWS_MAX);
        let height = rows.saturating_mul(each).min(area.height / 2);
        let large = Rect { height: area.height - height, ..area };
        (large, Rect { y: large.bottom(), height, ..area }, columns)
    };
    let rest = (0..count).filter(|index| *index != selected);
    let cards = rest.zip(tiles(strip, others, columns));
    let mut slots: Vec<_> = cards
        .map(|(index, area)| TileSlot { index, area, is_card: true, has_frame: true })
        .collect();
    slots.push(TileSlot { index: selected, area: large, is_card: false, has_frame: true });
    slots.sort_by_key(|slot| slot.index);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: [Rect; 4] = [
        Rect::new(0, 1, 80, 22),
        Rect::new(0, 1, 120, 38),
        Rect::new(0, 1, 200, 48),
        Rect::new(0, 1, 250, 68),
    ];

    #[test]
    fn every_agent_is_always_seen_and_the_window_is_filled() {
        for layout in [Layout::Grid, Layout::Focus, Layout::Columns] {
            for window in WINDOWS {
                for count in 1..=24 {
                    let slots = arrange(layout, window, count, count / 2, Cards::Auto);
                    check(&slots, window, count, layout);
                }
            }
        }
    }

    #[test]
    fn the_grid_leaves_each_of_sixteen_agents_room_for_a_card() {
        for window in WINDOWS {
            for slot in arrange(Layout::Grid, window, 16, 0, Cards::Auto) {
                assert!(slot.area.width >= 20 && slot.area.height >= 5, "{slot:?} in {window:?}");
            }
        }
    }

    #[test]
    fn four_agents_on_a_wide_window_get_a_quarter_each() {
        let slots = arrange(Layout::Grid, WINDOWS[2], 4, 0, Cards::Auto);
        let areas: Vec<_> = slots.iter().map(|slot| slot.area).collect();
        assert_eq!(areas[0], Rect::new(0, 1, 100, 24));
        assert_eq!(areas[3], Rect::new(100, 25, 100, 24));
    }

    #[test]
    fn narrow_tiles_become_cards_except_the_selected_one() {
        let slots = arrange(Layout::Grid, WINDOWS[2], 16, 5, Cards::Auto);
        assert_eq!(slots.iter().filter(|slot| !slot.is_card).count(), 1);
        assert!(!slots[5].is_card);
        let slots = arrange(Layout::Grid, WINDOWS[2], 16, 5, Cards::Never);
        assert!(slots.iter().all(|slot| !slot.is_card));
    }

    #[test]
    fn a_tiny_window_is_no_reason_to_fail() {
        for (width, height) in [(0, 0), (1, 1), (5, 2), (80, 1), (3, 40)] {
            for layout in [Layout::Grid, Layout::Focus, Layout::Columns, Layout::Single] {
                arrange(layout, Rect::new(0, 0, width, height), 16, 3, Cards::Auto);
            }
        }
    }

    #[test]
    fn the_selection_moves_by_what_is_seen() {
        let slots = arrange(Layout::Grid, WINDOWS[2], 16, 0, Cards::Auto);
        assert_eq!(neighbour(&slots, 0, 1, 0), Some(1));
        assert_eq!(neighbour(&slots, 0, 0, 1), Some(4));
        assert_eq!(neighbour(&slots, 0, -1, 0), None);
        assert_eq!(neighbour(&slots, 5, 0, -1), Some(1));
        let slots = arrange(Layout::Focus, WINDOWS[2], 4, 0, Cards::Auto);
        assert_eq!(neighbour(&slots, 2, -1, 0), Some(0));
        assert_eq!(neighbour(&slots, 2, 0, 1), Some(3));
    }

    fn check(slots: &[TileSlot], window: Rect, count: usize, layout: Layout) {
        let context = format!("{count} agents, {layout:?} in {window:?}");
        assert_eq!(slots.len(), count, "{context}");
        let covered: u32 = slots.iter().map(|slot| slot.area.area()).sum();
        assert_eq!(covered, window.area(), "{context}: the window is not filled");
        for (at, slot) in slots.iter().enumerate() {
            assert_eq!(slot.index, at);
            assert!(!slot.area.is_empty(), "{context}: {slot:?}");
            for other in &slots[at + 1..] {
                assert!(!slot.area.intersects(other.area), "{context}: {slot:?} {other:?}");
            }
        }
    }
}
