//! Defines frames beside the keeper's own: signs of life, receipts, and what agents say.
//!
//! These are frames of the same form, of kinds that no keeper knows. The far end takes out those
//! that are for itself and passes the others on.

use crate::keeper::{Frame, FrameError, FromKeeper};

/// What the far end sends before it waits for a receipt. Together with what sockets hold it stays
/// well below what a keeper keeps for a hub that was cut off: a line that breaks loses nothing.
pub const WINDOW_BYTES: u64 = 256 * 1024;

/// Calls of one agent's programs that the far end holds at once; one more is turned away.
pub const DOORS_MAX: usize = 16;

const HEADER_BYTES: usize = 5;

/// A frame for the far end itself, or one for the keeper behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToFar {
    /// Asks for a sign of life.
    Ping,
    /// So many bytes of the keeper's frames have arrived in all.
    Taken(u64),
    /// Bytes for the program that came through a door.
    Said { door: u32, bytes: Vec<u8> },
    /// The door is closed.
    Shut { door: u32 },
    /// A frame for the keeper, as it came.
    Keeper { kind: u8, payload: Vec<u8> },
}

/// A frame of the far end itself, or one of the keeper behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromFar {
    Pong,
    /// A program of the agent wants to speak to the hub.
    Opened {
        door: u32,
    },
    Said {
        door: u32,
        bytes: Vec<u8>,
    },
    Shut {
        door: u32,
    },
    Keeper(FromKeeper),
    /// A frame of a kind that only a newer keeper knows.
    Unknown,
}

impl ToFar {
    /// Appends the frame's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ping => put(64, &[], out),
            Self::Taken(count) => put(65, &[&count.to_le_bytes()], out),
            Self::Said { door, bytes } => put(66, &[&door.to_le_bytes(), bytes], out),
            Self::Shut { door } => put(67, &[&door.to_le_bytes()], out),
            Self::Keeper { kind, payload } => put(*kind, &[payload], out),
        }
    }
}

impl FromFar {
    /// Appends the bytes of a frame of the far end itself.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Pong => put(192, &[], out),
            Self::Opened { door } => put(193, &[&door.to_le_bytes()], out),
            Self::Said { door, bytes } => put(194, &[&door.to_le_bytes(), bytes], out),
            Self::Shut { door } => put(195, &[&door.to_le_bytes()], out),
            Self::Keeper(frame) => frame.encode(out),
            Self::Unknown => {}
        }
    }
}

impl Frame for ToFar {
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError> {
        Ok(Some(match kind {
            64 => Self::Ping,
            65 => {
                let (count, _) = payload.split_first_chunk::<8>().ok_or(FrameError::Short(kind))?;
                Self::Taken(u64::from_le_bytes(*count))
            }
            66 => {
                let (door, bytes) = split_door(kind, payload)?;
                Self::Said { door, bytes: bytes.to_vec() }
            }
            67 => Self::Shut { door: split_door(kind, payload)?.0 },
            kind => Self::Keeper { kind, payload: payload.to_vec() },
        }))
    }
}

impl Frame for FromFar {
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError> {
        Ok(Some(match kind {
            192 => Self::Pong,
            193 => Self::Opened { door: split_door(kind, payload)?.0 },
            194 => {
                let (door, bytes) = split_door(kind, payload)?;
                Self::Said { door, bytes: bytes.to_vec() }
            }
            195 => Self::Shut { door: split_door(kind, payload)?.0 },
            kind => FromKeeper::parse(kind, payload)?.map_or(Self::Unknown, Self::Keeper),
        }))
    }
}

/// A frame of a keeper on its way through the far end, which does not look inside.
pub(super) struct Passing {
    pub(super) bytes: Vec<u8>,
}

impl Frame for Passing {
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        put(kind, &[payload], &mut bytes);
        Ok(Some(Self { bytes }))
    }
}

fn split_door(kind: u8, payload: &[u8]) -> Result<(u32, &[u8]), FrameError> {
    let (door, bytes) = payload.split_first_chunk::<4>().ok_or(FrameError::Short(kind))?;
    Ok((u32::from_le_bytes(*door), bytes))
}

fn put(kind: u8, parts: &[&[u8]], out: &mut Vec<u8>) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.push(kind);
    out.extend_from_slice(&u32::try_from(length).expect("frames are small").to_le_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::{Decoder, ToKeeper};

    #[test]
    fn the_far_end_takes_out_what_is_its_own_and_passes_on_the_rest() {
        let mut bytes = Vec::new();
        let own = [
            ToFar::Ping,
            ToFar::Taken(u64::MAX),
            ToFar::Said { door: 7, bytes: vec![0, 255] },
            ToFar::Shut { door: 7 },
        ];
        for frame in &own {
            frame.encode(&mut bytes);
        }
        let mut order = Vec::new();
        ToKeeper::Stop { grace_ms: Some(5) }.encode(&mut order);
        bytes.extend_from_slice(&order);
        let mut decoder = Decoder::<ToFar>::default();
        decoder.feed(&bytes);
        for frame in own {
            assert_eq!(decoder.next_frame().unwrap(), Some(frame));
        }
        let passed = decoder.next_frame().unwrap().unwrap();
        let mut again = Vec::new();
        passed.encode(&mut again);
        assert_eq!(again, order);
    }

    #[test]
    fn what_the_far_end_says_stands_between_the_frames_of_the_keeper() {
        let frames = [
            FromFar::Keeper(FromKeeper::Output { offset: 3, bytes: vec![1] }),
            FromFar::Opened { door: 1 },
            FromFar::Said { door: 1, bytes: vec![2, 3] },
            FromFar::Shut { door: 1 },
            FromFar::Pong,
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            frame.encode(&mut bytes);
        }
        bytes.extend_from_slice(&[180, 0, 0, 0, 0]);
        let mut decoder = Decoder::<FromFar>::default();
        for piece in bytes.chunks(3) {
            decoder.feed(piece);
        }
        for frame in frames {
            assert_eq!(decoder.next_frame().unwrap(), Some(frame));
        }
        assert_eq!(decoder.next_frame().unwrap(), Some(FromFar::Unknown));
        assert_eq!(decoder.next_frame().unwrap(), None);
    }
}
