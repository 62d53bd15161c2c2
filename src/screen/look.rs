//! Keeps what a cell of the emulator looks like beside it, under a number.
//!
//! The emulator's cells hold two colours and five attributes, and no more. So it is only ever
//! told one foreground colour: the number of an entry here, which holds everything that the
//! application asked for.

use std::collections::BTreeMap;

use crate::model::Style;

/// The number of an entry; zero is text without any style.
pub(super) type LookId = u32;

/// All that can be said about how a cell looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    pub(super) style: Style,
    /// The number of a link, or zero.
    pub(super) link: u16,
    /// The cell was erased with a background, not printed.
    pub(super) is_erased: bool,
}

/// Twice the cells of a large screen that shows a picture in true colour.
const LOOKS_MAX: usize = 65_536;
/// Programs switch between a handful of styles.
const RECENT: usize = 8;

/// The table of looks.
#[derive(Debug)]
pub(super) struct Looks {
    entries: Vec<Look>,
    ids: BTreeMap<Look, LookId>,
    free: Vec<LookId>,
    recent: [(Look, LookId); RECENT],
    recent_next: usize,
    /// How often a look was looked for that was not there.
    missed: u64,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            entries: vec![Look::default()],
            ids: BTreeMap::new(),
            free: Vec::new(),
            recent: [(Look::default(), 0); RECENT],
            recent_next: 0,
            missed: 0,
        }
    }
}

impl Looks {
    /// Returns the look with this number.
    pub(super) fn get(&self, id: LookId) -> Look {
        usize::try_from(id).ok().and_then(|at| self.entries.get(at)).copied().unwrap_or_default()
    }

    /// Returns the number of a look, or nothing if the table is full.
    pub(super) fn intern(&mut self, look: Look) -> Option<LookId> {
        if look == Look::default() {
            return Some(0);
        }
        if let Some((_, id)) = self.recent.iter().find(|(known, _)| *known == look) {
            return Some(*id);
        }
        let id = match self.ids.get(&look) {
            Some(id) => *id,
            None => self.insert(look)?,
        };
        self.recent[self.recent_next] = (look, id);
        self.recent_next = (self.recent_next + 1) % RECENT;
        Some(id)
    }

    fn insert(&mut self, look: Look) -> Option<LookId> {
        self.missed += 1;
        let id = if let Some(id) = self.free.pop() {
            self.entries[usize::try_from(id).ok()?] = look;
            id
        } else if self.entries.len() < LOOKS_MAX {
            self.entries.push(look);
            LookId::try_from(self.entries.len() - 1).ok()?
        } else {
            return None;
        };
        self.ids.insert(look, id);
        Some(id)
    }

    /// Frees the numbers that are not in use; `used` is asked for each.
    pub(super) fn sweep(&mut self, used: impl Fn(LookId) -> bool) {
        let mut freed = Vec::new();
        self.ids.retain(|_, id| {
            let keep = used(*id);
            if !keep {
                freed.push(*id);
            }
            keep
        });
        self.free.append(&mut freed);
        self.recent = [(Look::default(), 0); RECENT];
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    pub(super) fn links(&self) -> impl Iterator<Item = u16> + '_ {
        self.ids.keys().map(|look| look.link).filter(|link| *link != 0)
    }

    /// A tree's node holds its keys and some spare room.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.entries.capacity() + 2 * self.ids.len()) * size_of::<Look>()
            + self.free.capacity() * size_of::<LookId>()
    }
}

/// Writes the sequence that makes the emulator print with this look: the shortest that sets
/// nothing but the foreground.
pub(super) fn write_pen(id: LookId, out: &mut Vec<u8>) {
    match id {
        0 => out.extend_from_slice(b"\x1b[m"),
        1..=8 => out.extend_from_slice(&[0x1b, b'[', b'3', b'0' + low_byte(id - 1), b'm']),
        9..=16 => out.extend_from_slice(&[0x1b, b'[', b'9', b'0' + low_byte(id - 9), b'm']),
        17..=256 => {
            out.extend_from_slice(b"\x1b[38;5;");
            write_number(id - 1, out);
            out.push(b'm');
        }
        _ => {
            out.extend_from_slice(b"\x1b[38;2");
            for part in [id >> 16, id >> 8, id] {
                out.push(b';');
                write_number(u32::from(low_byte(part)), out);
            }
            out.push(b'm');
        }
    }
}

/// Returns the number that a cell of the emulator carries.
pub(super) fn look_id(color: vt100::Color) -> LookId {
    match color {
        vt100::Color::Default => 0,
        vt100::Color::Idx(index) => LookId::from(index) + 1,
        vt100::Color::Rgb(high, middle, low) => {
            LookId::from(high) << 16 | LookId::from(middle) << 8 | LookId::from(low)
        }
    }
}

/// Writes a number in decimal digits.
pub(super) fn write_number(number: u32, out: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + low_byte(rest % 10);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn low_byte(number: u32) -> u8 {
    number.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Color;

    #[test]
    fn a_number_survives_the_emulator() {
        let mut parser = vt100::Parser::default();
        for id in (0..600).chain([65_535]) {
            let mut bytes = Vec::new();
            write_pen(id, &mut bytes);
            bytes.extend_from_slice(b"\x1b[Hx");
            parser.process(&bytes);
            assert_eq!(look_id(parser.screen().cell(0, 0).unwrap().fgcolor()), id);
        }
    }

    #[test]
    fn the_table_is_bounded_and_a_sweep_makes_room() {
        let mut looks = Looks::default();
        let look = |n: u32| {
            let [a, b, c, _] = n.to_le_bytes();
            let style = Style { background: Color::Rgb(a, b, c), ..Style::default() };
            Look { style, ..Look::default() }
        };
        for n in 0..70_000 {
            looks.intern(look(n));
        }
        assert_eq!(looks.len(), LOOKS_MAX);
        assert_eq!(looks.intern(look(70_001)), None);
        looks.sweep(|id| id == 5);
        let id = looks.intern(look(70_001)).unwrap();
        assert_eq!(looks.get(id), look(70_001));
        assert_eq!(looks.get(5), look(4));
    }
}
