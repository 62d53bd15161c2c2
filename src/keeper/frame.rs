//! Encodes and decodes the frames between a hub and a keeper.
//!
//! A frame is one byte of kind, four bytes of length (little-endian) and a payload: bytes as they
//! are for input and output, JSON for the rest. A kind that the reader does not know is skipped, so
//! that a keeper can outlive the version of the hub that started it.

use std::marker::PhantomData;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::FrameError;
use crate::model::{AgentName, Exit, ProcessId, ProcessInfo, RunId, SessionName, Size};

/// Counts the changes of meaning; both sides then speak the lower version.
pub const PROTOCOL_VERSION: u32 = 1;

/// The largest payload: longer input is cut into several frames.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;

/// Input per frame, well below the limit of a frame.
const INPUT_BYTES_MAX: usize = 32 * 1024;

const HEADER_BYTES: usize = 5;

/// What a hub asks of a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToKeeper {
    /// Always the first frame: sends output from this offset on, or from the oldest byte kept.
    Attach {
        version: u32,
        from: u64,
    },
    /// Types into the terminal. A reply to a query says which output, by offset, it answers.
    Input {
        answers_to: Option<u64>,
        bytes: Vec<u8>,
    },
    Resize(Size),
    /// Sends a signal to the terminal's foreground process group.
    Signal(i32),
    /// Ends the whole tree; `None` gives it the grace of the order.
    Stop {
        grace_ms: Option<u64>,
    },
    /// Asks for the process tree.
    Tree,
    /// The exit is on record, and the keeper may go.
    Release,
}

/// What a keeper tells its hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromKeeper {
    /// The answer to `Attach`.
    Welcome(Box<Welcome>),
    Output {
        offset: u64,
        bytes: Vec<u8>,
    },
    /// From this offset on the terminal has this size. It always precedes the first output.
    Resized {
        offset: u64,
        size: Size,
    },
    /// The tree is gone, after the agent's own process ended; all output came before this.
    Exited {
        exit: Exit,
        offset: u64,
    },
    Tree(Vec<ProcessInfo>),
    /// The answer to `Stop`. With survivors it comes again once they are gone.
    Stopped {
        exit: Option<Exit>,
        survivors: Vec<ProcessInfo>,
    },
    /// The agent never came to life.
    Failed {
        reason: String,
    },
}

/// Who a keeper is and what it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub version: u32,
    pub session: SessionName,
    pub agent: AgentName,
    pub run: RunId,
    pub keeper: ProcessId,
    pub guard: ProcessId,
    /// The agent's own process, unless it never came to life.
    pub process: Option<ProcessId>,
    /// The terminal's size now.
    pub size: Size,
    /// The output that can still be had; the stream starts within it.
    pub kept: Range<u64>,
    /// The largest `answers_to` so far.
    pub answered: u64,
    /// All output before this offset was handed to the hubs before this one; older keepers do not
    /// say.
    #[serde(default)]
    pub told: Option<u64>,
    pub exit: Option<Exit>,
    pub failed: Option<String>,
}

impl ToKeeper {
    /// Appends the frame's bytes; long input becomes several frames.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Attach { version, from } => json(1, &(version, from), out),
            Self::Input { answers_to, bytes } => {
                for piece in bytes.chunks(INPUT_BYTES_MAX) {
                    header(2, 9 + piece.len(), out);
                    out.push(u8::from(answers_to.is_some()));
                    out.extend_from_slice(&answers_to.unwrap_or_default().to_le_bytes());
                    out.extend_from_slice(piece);
                }
            }
            Self::Resize(size) => json(3, size, out),
            Self::Signal(signal) => json(4, signal, out),
            Self::Stop { grace_ms } => json(5, grace_ms, out),
            Self::Tree => header(6, 0, out),
            Self::Release => header(7, 0, out),
        }
    }
}

impl FromKeeper {
    /// Appends the frame's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => json(129, welcome, out),
            Self::Output { offset, bytes } => encode_output(*offset, bytes, out),
            Self::Resized { offset, size } => json(131, &(offset, size), out),
            Self::Exited { exit, offset } => json(132, &(exit, offset), out),
            Self::Tree(tree) => json(133, tree, out),
            Self::Stopped { exit, survivors } => json(134, &(exit, survivors), out),
            Self::Failed { reason } => json(135, reason, out),
        }
    }
}

/// Appends a frame of output without a copy of its bytes in between.
pub(super) fn encode_output(offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
    header(130, 8 + bytes.len(), out);
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(bytes);
}

/// A kind of frame that can be read from a stream.
pub trait Frame: Sized {
    /// Reads a payload; `None` means a kind that this version does not know.
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError>;
}

impl Frame for ToKeeper {
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError> {
        Ok(Some(match kind {
            1 => {
                let (version, from) = from_json(kind, payload)?;
                Self::Attach { version, from }
            }
            2 => {
                let (&is_answer, rest) = payload.split_first().ok_or(FrameError::Short(kind))?;
                let (offset, bytes) = split_offset(kind, rest)?;
                Self::Input { answers_to: (is_answer != 0).then_some(offset), bytes }
            }
            3 => Self::Resize(from_json(kind, payload)?),
            4 => Self::Signal(from_json(kind, payload)?),
            5 => Self::Stop { grace_ms: from_json(kind, payload)? },
            6 => Self::Tree,
            7 => Self::Release,
            _ => return Ok(None),
        }))
    }
}

impl Frame for FromKeeper {
    fn parse(kind: u8, payload: &[u8]) -> Result<Option<Self>, FrameError> {
        Ok(Some(match kind {
            129 => Self::Welcome(from_json(kind, payload)?),
            130 => {
                let (offset, bytes) = split_offset(kind, payload)?;
                Self::Output { offset, bytes }
            }
            131 => {
                let (offset, size) = from_json(kind, payload)?;
                Self::Resized { offset, size }
            }
            132 => {
                let (exit, offset) = from_json(kind, payload)?;
                Self::Exited { exit, offset }
            }
            133 => Self::Tree(from_json(kind, payload)?),
            134 => {
                let (exit, survivors) = from_json(kind, payload)?;
                Self::Stopped { exit, survivors }
            }
            135 => Self::Failed { reason: from_json(kind, payload)? },
            _ => return Ok(None),
        }))
    }
}

/// Cuts a stream of bytes into frames, whatever the pieces in which it arrives.
pub struct Decoder<F> {
    buffer: Vec<u8>,
    read: usize,
    frames: PhantomData<F>,
}

impl<F: Frame> Decoder<F> {
    /// Takes in bytes as they came.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.read);
        self.read = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next whole frame. After an error the stream is of no more use.
    pub fn next_frame(&mut self) -> Result<Option<F>, FrameError> {
        loop {
            let rest = &self.buffer[self.read..];
            let Some((&[kind, a, b, c, d], payload)) = rest.split_first_chunk::<HEADER_BYTES>()
            else {
                return Ok(None);
            };
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            if length > FRAME_BYTES_MAX {
                return Err(FrameError::TooLarge(length));
            }
            let Some(payload) = payload.get(..length) else {
                return Ok(None);
            };
            let frame = F::parse(kind, payload)?;
            self.read += HEADER_BYTES + length;
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }
}

impl<F> Default for Decoder<F> {
    fn default() -> Self {
        Self { buffer: Vec::new(), read: 0, frames: PhantomData }
    }
}

fn header(kind: u8, length: usize, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&u32::try_from(length).expect("frames are small").to_le_bytes());
}

fn json(kind: u8, value: &impl Serialize, out: &mut Vec<u8>) {
    let text = serde_json::to_vec(value).expect("plain data always has a JSON form");
    header(kind, text.len(), out);
    out.extend_from_slice(&text);
}

fn from_json<T: DeserializeOwned>(kind: u8, payload: &[u8]) -> Result<T, FrameError> {
    serde_json::from_slice(payload).map_err(|source| FrameError::Malformed { kind, source })
}

fn split_offset(kind: u8, payload: &[u8]) -> Result<(u64, Vec<u8>), FrameError> {
    let (offset, bytes) = payload.split_first_chunk::<8>().ok_or(FrameError::Short(kind))?;
    Ok((u64::from_le_bytes(*offset), bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_request_arrives_as_it_was_sent_whatever_the_pieces() {
        let frames = [
            ToKeeper::Attach { version: 1, from: u64::MAX },
            ToKeeper::Input { answers_to: None, bytes: b"ls\r".to_vec() },
            ToKeeper::Input { answers_to: Some(77), bytes: vec![0, 255, 27] },
            ToKeeper::Resize(Size { rows: 3, cols: 9 }),
            ToKeeper::Signal(2),
            ToKeeper::Stop { grace_ms: Some(5) },
            ToKeeper::Stop { grace_ms: None },
            ToKeeper::Tree,
            ToKeeper::Release,
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            frame.encode(&mut bytes);
        }
        for size in [1, 2, 3, 7, 64, bytes.len()] {
            assert_eq!(decode::<ToKeeper>(&bytes, size), frames);
        }
    }

    #[test]
    fn every_answer_arrives_as_it_was_sent() {
        let id = ProcessId { pid: 7, started: 9 };
        let info = ProcessInfo { id, parent: 1, name: "a b".into(), cpu_ms: 3, memory_bytes: 4 };
        let frames = [
            FromKeeper::Welcome(Box::new(Welcome {
                version: 1,
                session: SessionName("shop-1".into()),
                agent: "backend".parse().unwrap(),
                run: RunId(3),
                keeper: id,
                guard: id,
                process: Some(id),
                size: Size::default(),
                kept: 5..9,
                answered: 2,
                told: Some(7),
                exit: Some(Exit::Signal(9)),
                failed: Some("no".into()),
            })),
            FromKeeper::Output { offset: 8, bytes: vec![1, 2, 3] },
            FromKeeper::Resized { offset: 9, size: Size::default() },
            FromKeeper::Exited { exit: Exit::Code(3), offset: 4 },
            FromKeeper::Tree(vec![info.clone()]),
            FromKeeper::Stopped { exit: None, survivors: vec![info] },
            FromKeeper::Failed { reason: "no such program".into() },
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            frame.encode(&mut bytes);
        }
        assert_eq!(decode::<FromKeeper>(&bytes, 11), frames);
    }

    #[test]
    fn long_input_is_cut_and_arrives_whole() {
        let sent: Vec<u8> = (0..200_000_u32).map(|i| u8::try_from(i % 251).unwrap()).collect();
        let mut bytes = Vec::new();
        ToKeeper::Input { answers_to: None, bytes: sent.clone() }.encode(&mut bytes);
        let mut received = Vec::new();
        for frame in decode::<ToKeeper>(&bytes, 4096) {
            let ToKeeper::Input { bytes, .. } = frame else { panic!("{frame:?}") };
            received.extend(bytes);
        }
        assert!(received == sent);
    }

    #[test]
    fn an_unknown_kind_is_skipped_and_a_huge_frame_refused() {
        let mut decoder = Decoder::<ToKeeper>::default();
        decoder.feed(&[99, 2, 0, 0, 0, 1, 1, 6, 0, 0, 0, 0]);
        assert_eq!(decoder.next_frame().unwrap(), Some(ToKeeper::Tree));
        decoder.feed(&[1, 255, 255, 255, 255]);
        assert!(matches!(decoder.next_frame(), Err(FrameError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn noise_is_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut decoder = Decoder::<ToKeeper>::default();
            decoder.feed(&bytes);
            while let Ok(Some(_)) = decoder.next_frame() {}
        }
    }

    fn decode<F: Frame>(bytes: &[u8], size: usize) -> Vec<F> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        for piece in bytes.chunks(size) {
            decoder.feed(piece);
            while let Some(frame) = decoder.next_frame().unwrap() {
                frames.push(frame);
            }
        }
        frames
    }
}
