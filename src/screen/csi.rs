//! The parameters of a control sequence.

/// More than any sequence in use needs; what follows is ignored.
const PARAMS_MAX: usize = 32;

/// A control sequence: `ESC [ prefix params intermediate last`.
#[derive(Clone, Debug, Default)]
pub(super) struct Csi {
    /// One of `<=>?`, or zero.
    pub(super) prefix: u8,
    /// The byte before the last, such as the blank in `CSI 2 SP q`, or zero.
    pub(super) intermediate: u8,
    pub(super) last: u8,
    params: [u16; PARAMS_MAX],
    /// The parameters that follow a colon and so belong to the one before, as bits.
    joined: u32,
    count: usize,
    has_digits: bool,
    is_malformed: bool,
}

impl Csi {
    pub(super) fn start(&mut self) {
        self.prefix = 0;
        self.intermediate = 0;
        self.params[0] = 0;
        self.joined = 0;
        self.count = 0;
        self.has_digits = false;
        self.is_malformed = false;
    }

    /// Takes a byte from `0x20` to `0x3f`.
    pub(super) fn push(&mut self, byte: u8) {
        if byte < 0x30 {
            self.is_malformed |= self.intermediate != 0;
            self.intermediate = byte;
            return;
        }
        self.is_malformed |= self.intermediate != 0;
        match byte {
            b'0'..=b'9' => {
                self.has_digits = true;
                if let Some(param) = self.params.get_mut(self.count) {
                    *param = param.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
            }
            b';' | b':' => {
                self.has_digits = true;
                self.count = (self.count + 1).min(PARAMS_MAX);
                if let Some(param) = self.params.get_mut(self.count) {
                    *param = 0;
                    self.joined |= u32::from(byte == b':') << self.count;
                }
            }
            _ => {
                self.is_malformed |= self.has_digits || self.prefix != 0;
                self.prefix = byte;
            }
        }
    }

    /// Takes the last byte and says whether the sequence is well formed.
    pub(super) fn finish(&mut self, last: u8) -> bool {
        self.last = last;
        if self.has_digits {
            self.count = (self.count + 1).min(PARAMS_MAX);
        }
        !self.is_malformed
    }

    /// Returns the parameters; those that were left out are zero.
    pub(super) fn params(&self) -> &[u16] {
        &self.params[..self.count]
    }

    /// Returns the parameter at an index, or zero.
    pub(super) fn get(&self, index: usize) -> u16 {
        self.params().get(index).copied().unwrap_or(0)
    }

    /// Returns the first parameter, or what it means to leave it out.
    pub(super) fn first(&self, default: u16) -> u16 {
        match self.get(0) {
            0 => default,
            param => param,
        }
    }

    /// Returns each parameter with those joined to it by colons.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at;
            if start >= self.count {
                return None;
            }
            at += 1;
            while at < self.count && self.joined >> at & 1 == 1 {
                at += 1;
            }
            Some(&self.params[start..at])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csi(text: &str) -> Option<Csi> {
        let mut csi = Csi::default();
        csi.start();
        let (last, body) = text.as_bytes().split_last().unwrap();
        for byte in body {
            csi.push(*byte);
        }
        csi.finish(*last).then_some(csi)
    }

    #[test]
    fn colons_join_and_semicolons_part() {
        let csi = csi("0;4:3;38:2::1:2:3;1m").unwrap();
        let groups: Vec<_> = csi.groups().collect();
        assert_eq!(groups, [&[0][..], &[4, 3], &[38, 2, 0, 1, 2, 3], &[1]]);
    }

    #[test]
    fn missing_huge_and_too_many_parameters_are_harmless() {
        assert_eq!(csi("m").unwrap().params(), [0_u16; 0]);
        assert_eq!(csi(";5H").unwrap().params(), [0, 5]);
        assert_eq!(csi("99999999b").unwrap().first(1), u16::MAX);
        assert_eq!(csi(&format!("{}m", "1;".repeat(99))).unwrap().params().len(), PARAMS_MAX);
        assert_eq!(csi("?2026$p").unwrap().intermediate, b'$');
        assert!(csi(">4;?m").is_none());
        assert!(csi(" 1q").is_none());
    }
}
