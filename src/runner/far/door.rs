//! Listens for an agent's programs, and passes on what they say to the hub on the other machine.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::bridge::Mouth;
use super::site::Site;
use crate::runner::side_frames::{DOORS_MAX, FromFar};

/// Read at a time; well below what fits a frame.
const READ_BYTES: usize = 16 * 1024;

/// Out of descriptors: trying again at once would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A program that does not read its answer is not waited for.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The programs that have come in, by number.
#[derive(Default)]
pub(super) struct Doors {
    open: Mutex<BTreeMap<u32, UnixStream>>,
}

impl Doors {
    /// Lets programs in for as long as the line stands.
    pub(super) fn serve(
        self: &Arc<Self>,
        listener: &UnixListener,
        site: &Site,
        mouth: &Arc<Mouth>,
    ) {
        let mut next = 0;
        loop {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(ACCEPT_PAUSE);
                continue;
            };
            if !site.may_speak(&stream) {
                continue;
            }
            next += 1;
            let door = next;
            if let Some(reader) = self.let_in(door, stream) {
                let (doors, mouth) = (Arc::clone(self), Arc::clone(mouth));
                mouth.tell(&FromFar::Opened { door });
                thread::spawn(move || doors.listen(door, reader, &mouth));
            }
        }
    }

    fn let_in(&self, door: u32, stream: UnixStream) -> Option<UnixStream> {
        let mut open = self.open();
        if open.len() >= DOORS_MAX || stream.set_write_timeout(Some(ANSWER_MAX)).is_err() {
            return None;
        }
        let reader = stream.try_clone().ok()?;
        open.insert(door, stream);
        Some(reader)
    }

    fn listen(&self, door: u32, mut reader: UnixStream, mouth: &Mouth) {
        let mut buffer = vec![0; READ_BYTES];
        while let Ok(count) = reader.read(&mut buffer) {
            if count == 0 {
                break;
            }
            mouth.tell(&FromFar::Said { door, bytes: buffer[..count].to_vec() });
        }
        if self.open().remove(&door).is_some() {
            mouth.tell(&FromFar::Shut { door });
        }
    }

    /// Passes on what the hub answers.
    pub(super) fn say(&self, door: u32, bytes: &[u8]) {
        let stream = self.open().get(&door).and_then(|stream| stream.try_clone().ok());
        if let Some(mut stream) = stream
            && stream.write_all(bytes).is_err()
        {
            self.shut(door);
        }
    }

    /// Closes a door; its listener hears of it.
    pub(super) fn shut(&self, door: u32) {
        if let Some(stream) = self.open().remove(&door) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u32, UnixStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
