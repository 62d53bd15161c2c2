//! Where one frame ends and the next begins.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{FromHub, Notice};

/// No frame is larger; a peer that announces more is broken or hostile.
pub const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;

const HEADER_BYTES: usize = 4;

/// Says why a frame cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("A frame of {0} bytes is larger than {FRAME_BYTES_MAX}")]
    TooLarge(usize),
    #[error("A frame is not what was expected")]
    Malformed(#[from] serde_json::Error),
}

/// Returns a value as one frame.
pub fn encode_frame(value: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut bytes, value)?;
    let length = bytes.len() - HEADER_BYTES;
    let header = u32::try_from(length).ok().filter(|_| length <= FRAME_BYTES_MAX);
    let header = header.ok_or(FrameError::TooLarge(length))?;
    bytes[..HEADER_BYTES].copy_from_slice(&header.to_be_bytes());
    Ok(bytes)
}

/// Cuts a byte stream into frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
    /// How much of `bytes` has been handed out.
    read: usize,
}

impl FrameReader {
    /// Takes what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns how many bytes have come of what has not been handed out.
    pub fn unread(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// Says whether all that came has been handed out.
    pub fn is_empty(&self) -> bool {
        self.unread() == 0
    }

    /// Returns the next whole frame, if it has arrived.
    pub fn next_frame<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some(body) = self.body()? else { return Ok(None) };
        let length = body.len();
        let value = serde_json::from_slice(body)?;
        self.pass(length);
        Ok(Some(value))
    }

    /// Returns the next frame from a hub. A notice of a kind that is not known here is passed over: a
    /// hub of the same protocol may have learnt to tell more.
    pub fn next_from_hub(&mut self) -> Result<Option<FromHub>, FrameError> {
        loop {
            match self.next_frame() {
                Err(FrameError::Malformed(error)) => {
                    let body = self.body()?.unwrap_or_default();
                    if !is_strange_notice(body) {
                        return Err(FrameError::Malformed(error));
                    }
                    let length = body.len();
                    self.pass(length);
                }
                read => return read,
            }
        }
    }

    /// Returns what is in the next frame, if all of it has arrived.
    fn body(&self) -> Result<Option<&[u8]>, FrameError> {
        let rest = &self.bytes[self.read..];
        let Some((header, body)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*header) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::TooLarge(length));
        }
        Ok(body.get(..length))
    }

    /// Goes on behind a frame with so much in it.
    fn pass(&mut self, length: usize) {
        self.read += HEADER_BYTES + length;
        if self.read == self.bytes.len() {
            // A large frame must not pin its memory for the life of the connection.
            (self.bytes, self.read) = (Vec::new(), 0);
        }
    }
}

/// Says whether a frame is a notice of a kind that is not known here.
fn is_strange_notice(body: &[u8]) -> bool {
    let Ok(Value::Object(frame)) = serde_json::from_slice(body) else { return false };
    let kind = match frame.get("notice") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Object(notice)) => notice.keys().next().map(String::as_str),
        _ => None,
    };
    frame.len() == 1 && kind.is_some_and(|kind| !Notice::KINDS.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_wherever_the_stream_is_cut() {
        let words = ["one", "two", "three"];
        let stream: Vec<u8> = words.iter().flat_map(|word| encode_frame(word).unwrap()).collect();
        for step in 1..stream.len() {
            let mut reader = FrameReader::default();
            let mut found = Vec::new();
            for chunk in stream.chunks(step) {
                reader.push(chunk);
                while let Some(word) = reader.next_frame::<String>().unwrap() {
                    found.push(word);
                }
            }
            assert_eq!(found, words, "cut every {step} bytes");
        }
    }

    #[test]
    fn a_frame_beyond_the_limit_is_refused_before_it_arrives() {
        let mut reader = FrameReader::default();
        reader.push(&u32::MAX.to_be_bytes());
        assert!(matches!(reader.next_frame::<String>(), Err(FrameError::TooLarge(_))));
    }

    #[test]
    fn a_notice_of_an_unknown_kind_is_passed_over_and_nothing_else_is() {
        let push = |reader: &mut FrameReader, value: &Value| {
            reader.push(&encode_frame(value).unwrap());
        };
        let mut reader = FrameReader::default();
        let news = serde_json::json!({ "notice": { "weather": { "sun": [1, 2] } } });
        for frame in [&news, &serde_json::json!({ "notice": "rain" }), &news] {
            push(&mut reader, frame);
        }
        push(&mut reader, &serde_json::json!({ "notice": "ending" }));
        let read = reader.next_from_hub().unwrap();
        assert!(matches!(read, Some(FromHub::Notice(Notice::Ending))), "{read:?}");
        assert!(reader.next_from_hub().unwrap().is_none() && reader.is_empty());
        for broken in [
            serde_json::json!({ "notice": { "pane": 1 } }),
            serde_json::json!({ "notice": 1 }),
            serde_json::json!({ "notice": "rain", "answer": 1 }),
            serde_json::json!({ "answer": { "id": 1 } }),
            serde_json::json!("good day"),
        ] {
            let mut reader = FrameReader::default();
            push(&mut reader, &broken);
            assert!(matches!(reader.next_from_hub(), Err(FrameError::Malformed(_))), "{broken}");
        }
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_panic() {
        let mut reader = FrameReader::default();
        reader.push(&[0, 0, 0, 2, b'{', b'x']);
        assert!(matches!(reader.next_frame::<String>(), Err(FrameError::Malformed(_))));
    }
}
