//! What travels beside a keeper's frames on a line to a place elsewhere: signs of life, receipts, and
//! the words of the agent's own programs.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::hub::clients::connection::let_in;
use crate::hub::inbox::Senders;
use crate::keeper::Standing;
use crate::model::{AgentName, RunId};
use crate::runner::{DOORS_MAX, FromFar, ToFar, WINDOW_BYTES};

/// Frames that wait to be sent; whoever has another one waits.
const PARCELS_MAX: usize = 64;

/// How often a sign of life is asked for.
const PING_EVERY: Duration = Duration::from_secs(10);

/// Read at a time; well below what fits a frame.
const READ_BYTES: usize = 16 * 1024;

/// One line's parcels.
pub(in crate::hub) struct SideChannel {
    guest: (AgentName, RunId),
    senders: Senders,
    to_send: mpsc::Sender<Vec<u8>>,
    sent: Option<mpsc::Receiver<Vec<u8>>>,
    doors: BTreeMap<u32, (OwnedWriteHalf, JoinHandle<()>)>,
    taken: u64,
    told: u64,
    pinging: JoinHandle<()>,
}

impl SideChannel {
    pub(in crate::hub) fn new(guest: (AgentName, RunId), senders: Senders) -> Self {
        let (to_send, sent) = mpsc::channel(PARCELS_MAX);
        let pinging = tokio::task::spawn_local(ping(to_send.clone()));
        let (doors, sent) = (BTreeMap::new(), Some(sent));
        Self { guest, senders, to_send, sent, doors, taken: 0, told: 0, pinging }
    }

    /// Returns what is to be sent; can be had once.
    pub(in crate::hub) fn sent(&mut self) -> mpsc::Receiver<Vec<u8>> {
        self.sent.take().unwrap_or_else(|| mpsc::channel(1).1)
    }

    /// Tells the far end from time to time how much has arrived, so that it goes on.
    pub(in crate::hub) async fn note_taken(&mut self, count: usize) {
        self.taken += count as u64;
        if self.taken - self.told >= WINDOW_BYTES / 8 {
            self.told = self.taken;
            post(&self.to_send, &ToFar::Taken(self.taken)).await;
        }
    }

    /// Takes what is not the keeper's.
    pub(in crate::hub) async fn take(&mut self, frame: FromFar) {
        match frame {
            FromFar::Opened { door } => self.open(door),
            FromFar::Said { door, bytes } => {
                let Some((writer, _)) = self.doors.get_mut(&door) else { return };
                if writer.write_all(&bytes).await.is_err() {
                    self.shut(door);
                    post(&self.to_send, &ToFar::Shut { door }).await;
                }
            }
            FromFar::Shut { door } => self.shut(door),
            FromFar::Pong | FromFar::Keeper(_) | FromFar::Unknown => {}
        }
    }

    /// Lets a program of the agent in; it speaks for that agent and for nobody else.
    fn open(&mut self, door: u32) {
        self.doors.retain(|_, (_, reading)| !reading.is_finished());
        let Ok((near, far)) = UnixStream::pair() else { return };
        if self.doors.len() >= DOORS_MAX {
            return;
        }
        // The far end has looked where it stands.
        let_in(far, Some(self.guest.clone()), Standing::Outside, self.senders.clone());
        let (mut reader, writer) = near.into_split();
        let to_send = self.to_send.clone();
        let reading = tokio::task::spawn_local(async move {
            let mut buffer = vec![0; READ_BYTES];
            while let Ok(count @ 1..) = reader.read(&mut buffer).await {
                let bytes = buffer[..count].to_vec();
                post(&to_send, &ToFar::Said { door, bytes }).await;
            }
            post(&to_send, &ToFar::Shut { door }).await;
        });
        self.doors.insert(door, (writer, reading));
    }

    fn shut(&mut self, door: u32) {
        if let Some((_, reading)) = self.doors.remove(&door) {
            reading.abort();
        }
    }
}

impl Drop for SideChannel {
    fn drop(&mut self) {
        self.pinging.abort();
        self.doors.values().for_each(|(_, reading)| reading.abort());
    }
}

async fn ping(to_send: mpsc::Sender<Vec<u8>>) {
    let mut ticks = interval(PING_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        post(&to_send, &ToFar::Ping).await;
    }
}

/// Sends a parcel; one for a line that is gone goes nowhere.
async fn post(to_send: &mpsc::Sender<Vec<u8>>, frame: &ToFar) {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    let _ = to_send.send(bytes).await;
}
