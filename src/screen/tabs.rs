//! The columns at which a tab stops.

const EVERY: u16 = 8;

/// The tab stops of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tabs {
    /// Nothing while the stops are every eight columns, as the emulator has them.
    stops: Option<Vec<bool>>,
}

impl Tabs {
    pub(super) fn is_default(&self) -> bool {
        self.stops.is_none()
    }

    pub(super) fn next(&self, col: u16, cols: u16) -> u16 {
        (col + 1..cols).find(|col| self.is_stop(*col)).unwrap_or(cols - 1)
    }

    pub(super) fn previous(&self, col: u16) -> u16 {
        (0..col).rev().find(|col| self.is_stop(*col)).unwrap_or(0)
    }

    pub(super) fn set(&mut self, col: u16, cols: u16, on: bool) {
        let width = usize::from(cols.max(col + 1));
        let stops = self
            .stops
            .get_or_insert_with(|| (0..cols).map(|col| col.is_multiple_of(EVERY)).collect());
        stops.resize(width.max(stops.len()), false);
        stops[usize::from(col)] = on;
    }

    pub(super) fn clear(&mut self) {
        self.stops = Some(Vec::new());
    }

    /// Returns the stops that were set, if they are not the usual ones.
    pub(super) fn columns(&self) -> Option<impl Iterator<Item = u16> + '_> {
        let stops = self.stops.as_ref()?;
        Some((0_u16..).zip(stops).filter(|(_, stop)| **stop).map(|(col, _)| col))
    }

    fn is_stop(&self, col: u16) -> bool {
        match &self.stops {
            None => col.is_multiple_of(EVERY),
            Some(stops) => stops.get(usize::from(col)).copied().unwrap_or(false),
        }
    }
}
