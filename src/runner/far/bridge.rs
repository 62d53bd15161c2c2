//! Carries frames between the standard streams and the keeper, and between the agent's socket and
//! the hub.
//!
//! Each direction has a thread of its own that waits for one thing only. Nothing is kept here: when
//! either side leaves, or the hub gives no sign of life, the process ends, and the keeper goes on.

use std::io::{self, BufReader, Read, Stdin, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::door::Doors;
use super::site::Site;
use crate::keeper::Decoder;
use crate::runner::side_frames::{FromFar, Passing, ToFar, WINDOW_BYTES};

const READ_BYTES: usize = 16 * 1024;

/// A hub gives a sign of life every ten seconds.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const SILENT_LOOKS_MAX: u32 = 12;

/// Input that the agent has not taken; who sends more than this is not worth listening to.
const INPUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The way to the hub, shared by all who have something to tell it.
pub(super) struct Mouth {
    /// How much was sent, and how much of it has arrived.
    counts: Mutex<(u64, u64)>,
    arrived: Condvar,
}

impl Mouth {
    /// Sends whole frames; what comes from the keeper waits until the hub keeps up.
    fn send(&self, bytes: &[u8], waits: bool) -> io::Result<()> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        while waits && counts.0 - counts.1 > WINDOW_BYTES {
            counts = self.arrived.wait(counts).unwrap_or_else(PoisonError::into_inner);
        }
        counts.0 += bytes.len() as u64;
        drop(counts);
        // Frames of several threads do not mix: each is written under this lock as a whole.
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Sends a frame of our own, and ends the process if nobody hears it.
    pub(super) fn tell(&self, frame: &FromFar) {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        if self.send(&bytes, false).is_err() {
            process::exit(0);
        }
    }

    fn note_arrived(&self, count: u64) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.1 = counts.1.max(count).min(counts.0);
        self.arrived.notify_all();
    }
}

/// Carries frames until either side leaves.
pub(super) fn bridge(
    keeper: UnixStream,
    door: UnixListener,
    input: BufReader<Stdin>,
    site: Site,
) -> io::Result<()> {
    let mouth = Arc::new(Mouth { counts: Mutex::new((0, 0)), arrived: Condvar::new() });
    let doors = Arc::new(Doors::default());
    let is_heard = Arc::new(AtomicBool::new(true));
    let from_keeper = keeper.try_clone()?;
    let teller = Arc::clone(&mouth);
    thread::spawn(move || {
        // Whichever way it ends, there is nothing more to carry.
        let _ = carry_out(from_keeper, &teller);
        process::exit(0);
    });
    let (teller, watched) = (Arc::clone(&mouth), Arc::clone(&doors));
    thread::spawn(move || watched.serve(&door, &site, &teller));
    let watched = Arc::clone(&is_heard);
    thread::spawn(move || watch(&watched));
    let waiting = Arc::new(AtomicUsize::new(0));
    let orders = write_orders(keeper, Arc::clone(&waiting));
    let ended = carry_in(input, &orders, &waiting, &doors, &mouth, &is_heard);
    // What was ordered last, a stop perhaps, is still to be written.
    drop(orders);
    while waiting.load(Ordering::SeqCst) > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    ended
}

/// Passes on what the keeper says, in whole frames.
fn carry_out(mut keeper: UnixStream, mouth: &Mouth) -> io::Result<()> {
    let mut decoder = Decoder::<Passing>::default();
    let mut buffer = vec![0; READ_BYTES];
    let mut frames = Vec::new();
    loop {
        let count = keeper.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        decoder.feed(&buffer[..count]);
        while let Some(frame) = decoder.next_frame().map_err(io::Error::other)? {
            frames.extend_from_slice(&frame.bytes);
        }
        if !frames.is_empty() {
            mouth.send(&frames, true)?;
            frames.clear();
        }
    }
}

/// Writes orders to the keeper, so that an agent that does not read holds up nothing else.
fn write_orders(mut keeper: UnixStream, waiting: Arc<AtomicUsize>) -> Sender<Vec<u8>> {
    let (sender, orders) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for order in orders {
            let is_written = keeper.write_all(&order).is_ok();
            waiting.fetch_sub(order.len(), Ordering::SeqCst);
            if !is_written {
                // The other thread hears of it and ends the process.
                let _ = keeper.shutdown(Shutdown::Both);
            }
        }
    });
    sender
}

/// Takes in what the hub says.
fn carry_in(
    mut input: BufReader<Stdin>,
    orders: &Sender<Vec<u8>>,
    waiting: &AtomicUsize,
    doors: &Doors,
    mouth: &Mouth,
    is_heard: &AtomicBool,
) -> io::Result<()> {
    let mut decoder = Decoder::<ToFar>::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        is_heard.store(true, Ordering::SeqCst);
        decoder.feed(&buffer[..count]);
        while let Some(frame) = decoder.next_frame().map_err(io::Error::other)? {
            match frame {
                ToFar::Ping => mouth.tell(&FromFar::Pong),
                ToFar::Taken(count) => mouth.note_arrived(count),
                ToFar::Said { door, bytes } => doors.say(door, &bytes),
                ToFar::Shut { door } => doors.shut(door),
                order @ ToFar::Keeper { .. } => {
                    let mut bytes = Vec::new();
                    order.encode(&mut bytes);
                    let before = waiting.fetch_add(bytes.len(), Ordering::SeqCst);
                    if before > INPUT_BYTES_MAX || orders.send(bytes).is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Ends the process once the hub has given no sign of life for a minute: its line is dead, though
/// nobody here was told.
fn watch(is_heard: &AtomicBool) {
    let mut silent = 0;
    while silent < SILENT_LOOKS_MAX {
        thread::sleep(LOOK_EVERY);
        silent = if is_heard.swap(false, Ordering::SeqCst) { 0 } else { silent + 1 };
    }
    process::exit(0);
}
