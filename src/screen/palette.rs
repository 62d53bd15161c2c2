//! The colours that an application is told when it asks.

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// The colours of the user's theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub foreground: Rgb,
    pub background: Rgb,
    pub cursor: Rgb,
    pub ansi: [Rgb; 16],
}

impl Default for Palette {
    /// Returns a dark theme: what most terminals have.
    fn default() -> Self {
        Self {
            foreground: (0xd0, 0xd0, 0xd0),
            background: (0x10, 0x10, 0x10),
            cursor: (0xd0, 0xd0, 0xd0),
            ansi: [
                (0x00, 0x00, 0x00),
                (0xcd, 0x31, 0x31),
                (0x0d, 0xbc, 0x79),
                (0xe5, 0xe5, 0x10),
                (0x24, 0x72, 0xc8),
                (0xbc, 0x3f, 0xbc),
                (0x11, 0xa8, 0xcd),
                (0xe5, 0xe5, 0xe5),
                (0x66, 0x66, 0x66),
                (0xf1, 0x4c, 0x4c),
                (0x23, 0xd1, 0x8b),
                (0xf5, 0xf5, 0x43),
                (0x3b, 0x8e, 0xea),
                (0xd6, 0x70, 0xd6),
                (0x29, 0xb8, 0xdb),
                (0xff, 0xff, 0xff),
            ],
        }
    }
}

impl Palette {
    /// Returns one of the 256 colours: the theme's sixteen, the cube and the greys.
    pub(super) fn indexed(&self, index: u8) -> Rgb {
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        match index {
            0..=15 => self.ansi[usize::from(index)],
            16..=231 => {
                let cube = index - 16;
                (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
            }
            232.. => {
                let grey = 8 + 10 * (index - 232);
                (grey, grey, grey)
            }
        }
    }

    /// Says whether the background is dark.
    pub(super) fn is_dark(&self) -> bool {
        let (r, g, b) = self.background;
        u16::from(r) + u16::from(g) + u16::from(b) < 384
    }
}
