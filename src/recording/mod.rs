//! Recordings of terminals: asciicast, version 2, read, written, cut to their end, played and freed
//! of secrets.
//!
//! Each begins with a keyframe, output that rebuilds the screen as it was, so that it can be
//! replayed on its own. Pure: the bytes are kept by others.

mod asciicast;
mod cut;
mod keyframe;
mod known;
mod plain_text;
mod playback;
mod redact;
mod secrets;

pub use asciicast::{BadLine, Cast, CastEvent, event_line, header_line, started_at};
pub use keyframe::Keyframes;
pub use playback::{Playback, recorded_lines};
pub use redact::redact;
