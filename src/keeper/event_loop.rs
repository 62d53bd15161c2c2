//! Runs one turn of the keeper's loop: wait, read requests, write input, read output, send.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::clock;
use super::connection::{Connection, Lost};
use super::keep::Keeper;
use super::ring::RING_BYTES;
use super::terminal::Reading;
use super::{KeeperError, ToKeeper};

/// Output read in one turn, before the hub is listened to again.
const READ_BYTES_MAX: usize = 64 * 1024;

/// How far output may run ahead of the hub before the agent has to wait. The rest of the ring is
/// what the hub may have been sent but not yet read when it dies: several socket buffers.
const LAG_BYTES_MAX: u64 = RING_BYTES as u64 / 2;

/// Input that the agent has not taken yet; beyond this the hub is not listened to.
const INPUT_BYTES_MAX: usize = 256 * 1024;
/// What is kept of the room for input once it is not needed.
const INPUT_BYTES_IDLE: usize = 4 * 1024;

/// A hub that takes nothing for so long is as good as gone, and must not hold up the agent.
const STALL_MAX: Duration = Duration::from_secs(30);
/// The last words are not worth as much patience.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// What can be done without waiting.
#[derive(Default)]
struct Ready {
    signals: bool,
    socket: bool,
    hub: Readiness,
    candidate: Readiness,
    terminal: Readiness,
}

/// What one descriptor is ready for.
#[derive(Clone, Copy, Default)]
struct Readiness {
    input: bool,
    hangup: bool,
}

impl Keeper {
    /// Takes turns until the tree is gone and everyone who should know does.
    pub(super) fn run(mut self) -> Result<(), KeeperError> {
        while !self.is_done() {
            let ready = self.wait()?;
            let now = clock::now();
            self.mind_signals(&ready, now);
            self.listen(&ready, now);
            self.type_input();
            self.read_output(&ready);
            self.look_after_ending(now);
            self.mind_time(now);
            self.tell(now);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let Some((connection, _)) = &self.hub else { return self.is_leaving };
        self.is_leaving && !connection.has_unsent()
    }

    fn wait(&self) -> Result<Ready, KeeperError> {
        let timeout = self.deadline().map(|deadline| {
            let left = deadline.saturating_duration_since(clock::now());
            Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
        });
        let has_room = self.input.len() < INPUT_BYTES_MAX;
        let room = self.room();
        let wanted = |flags: PollFlags, is_wanted: bool| {
            if is_wanted { flags } else { PollFlags::empty() }
        };
        let mut polled = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let mut places = vec![Place::Signals];
        let mut add = |fd, place| {
            polled.push(fd);
            places.push(place);
        };
        if let Some(socket) = &self.socket {
            add(PollFd::new(socket, PollFlags::IN), Place::Socket);
        }
        if let Some((hub, _)) = &self.hub {
            let flags = wanted(PollFlags::IN, has_room) | wanted(PollFlags::OUT, hub.has_unsent());
            add(PollFd::new(hub, flags), Place::Hub);
        }
        if let Some(candidate) = &self.candidate {
            add(PollFd::new(candidate, PollFlags::IN), Place::Candidate);
        }
        if let Some(terminal) = &self.terminal {
            let is_read = !self.is_terminal_over && room > 0;
            let is_typed = !self.input.is_empty();
            let flags = wanted(PollFlags::IN, is_read) | wanted(PollFlags::OUT, is_typed);
            // A terminal without a reader is always ready: it is left out unless something is to do.
            if !flags.is_empty() {
                add(PollFd::new(terminal, flags), Place::Terminal);
            }
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(KeeperError::Watch(error.into())),
        }
        Ok(Ready::collect(&places, &polled))
    }

    fn deadline(&self) -> Option<Instant> {
        let patience = if self.is_leaving { FAREWELL_MAX } else { STALL_MAX };
        let blocked = self.hub.as_ref().and_then(|(connection, _)| connection.blocked_since());
        let is_ending = !self.is_childless;
        let ending =
            self.ending.as_ref().filter(|_| is_ending).map(super::ending::Ending::deadline);
        let reunion = self.reunion.map(|(_, until)| until);
        let stall = blocked.map(|since| since + patience);
        // What is left in the terminal of a dead tree may be nothing at all, which wakes nobody.
        let is_last_look_due = self.is_childless && self.terminal.is_some() && self.room() > 0;
        let last_look = is_last_look_due.then(clock::now);
        let revival = self.revival.deadline();
        [ending, reunion, stall, last_look, revival].into_iter().flatten().min()
    }

    /// Returns how much output may be read now.
    fn room(&self) -> usize {
        let hub = self.hub.as_ref().map(|(_, stream)| stream.cursor);
        let Some(floor) = hub.or(self.reunion.map(|(cursor, _)| cursor)) else {
            return READ_BYTES_MAX;
        };
        let room = (floor + LAG_BYTES_MAX).saturating_sub(self.record.ring.end());
        usize::try_from(room).unwrap_or(READ_BYTES_MAX).min(READ_BYTES_MAX)
    }

    fn mind_signals(&mut self, ready: &Ready, now: Instant) {
        if ready.signals {
            self.signals.clear();
        }
        if ready.signals || self.ending.is_some() {
            self.look_after_children(now);
        }
        let is_stopping = self.ending.as_ref().is_some_and(|ending| ending.is_stop);
        if self.signals.is_asked_to_end() && !is_stopping {
            self.stop(Duration::from_millis(self.order.grace_ms), now);
        }
    }

    /// Hears what connections have to say, the newest first.
    fn listen(&mut self, ready: &Ready, now: Instant) {
        if ready.socket
            && let Some(socket) = &self.socket
        {
            while let Some(stream) = socket.accept() {
                self.candidate = Some(Connection::new(stream));
            }
        }
        if ready.candidate.input || ready.candidate.hangup {
            self.hear_candidate(now);
        }
        if self.hub.is_some() && (ready.hub.input || ready.hub.hangup) {
            let heard = self.hear_hub(ready.hub.input, now);
            if heard.is_err() {
                self.lose_hub(now);
            }
        }
    }

    /// A connection is the hub once it has said so: a mere look does not push the hub out.
    fn hear_candidate(&mut self, now: Instant) {
        let Some(mut candidate) = self.candidate.take() else { return };
        if candidate.receive().is_err() {
            return;
        }
        match candidate.next_frame() {
            Ok(Some(ToKeeper::Attach { from, .. })) => {
                self.attach(candidate, from);
                if self.obey_all(now).is_err() {
                    self.lose_hub(now);
                }
            }
            Ok(None) => self.candidate = Some(candidate),
            Ok(Some(_)) | Err(Lost) => {}
        }
    }

    fn hear_hub(&mut self, has_input: bool, now: Instant) -> Result<(), Lost> {
        let Some((connection, _)) = &mut self.hub else { return Ok(()) };
        // Without input this is the end of a hub that is not listened to for lack of room.
        if !has_input {
            return Err(Lost);
        }
        connection.receive()?;
        self.obey_all(now)
    }

    fn obey_all(&mut self, now: Instant) -> Result<(), Lost> {
        while let Some((connection, _)) = &mut self.hub {
            let Some(frame) = connection.next_frame()? else { break };
            self.obey(frame, now);
        }
        Ok(())
    }

    fn obey(&mut self, frame: ToKeeper, now: Instant) {
        match frame {
            ToKeeper::Attach { from, .. } => {
                if let Some((connection, _)) = self.hub.take() {
                    self.attach(connection, from);
                }
            }
            ToKeeper::Input { answers_to, bytes } => {
                let answered = answers_to.unwrap_or_default();
                self.record.answered = self.record.answered.max(answered);
                if self.terminal.is_some() {
                    self.input.extend(bytes);
                }
            }
            ToKeeper::Resize(size) => {
                let size = size.clamped();
                if let Some(terminal) = self.terminal.as_ref()
                    && size != self.record.sizes.current()
                {
                    terminal.resize(size);
                    let kept = self.record.ring.kept();
                    self.record.sizes.change(kept.end, size, kept.start);
                }
            }
            ToKeeper::Signal(signal) => {
                if let Some(terminal) = &self.terminal {
                    terminal.signal_foreground(signal);
                }
            }
            ToKeeper::Stop { grace_ms } => {
                let grace = grace_ms.unwrap_or(self.order.grace_ms);
                self.stop(Duration::from_millis(grace), now);
            }
            ToKeeper::Tree => {
                if let Some((_, stream)) = &mut self.hub {
                    stream.is_tree_due = true;
                }
            }
            ToKeeper::Release => {
                if self.record.is_over && !self.is_leaving {
                    self.leave();
                }
            }
        }
    }

    fn type_input(&mut self) {
        let Some(terminal) = &self.terminal else { return };
        while !self.input.is_empty() {
            let count = terminal.write(self.input.as_slices().0);
            if count == 0 {
                return;
            }
            self.input.drain(..count);
        }
        if self.input.capacity() > INPUT_BYTES_IDLE {
            self.input.shrink_to(INPUT_BYTES_IDLE);
        }
    }

    fn read_output(&mut self, ready: &Ready) {
        let is_worth_it = ready.terminal.input || ready.terminal.hangup || self.is_childless;
        let mut room = self.room();
        let Some(terminal) = self.terminal.as_ref().filter(|_| is_worth_it) else { return };
        while room > 0 && !self.is_terminal_over {
            match terminal.read(self.record.ring.room(room)) {
                Reading::Bytes(count) => {
                    self.record.ring.advance(count);
                    room -= count;
                }
                // Nobody is left who could write more.
                Reading::Empty => {
                    self.is_terminal_over = self.is_childless;
                    return;
                }
                Reading::Over => self.is_terminal_over = true,
            }
        }
    }

    fn mind_time(&mut self, now: Instant) {
        let patience = if self.is_leaving { FAREWELL_MAX } else { STALL_MAX };
        let blocked = self.hub.as_ref().and_then(|(connection, _)| connection.blocked_since());
        if blocked.is_some_and(|since| now >= since + patience) {
            self.lose_hub(now);
        }
        if self.reunion.is_some_and(|(_, until)| now >= until) {
            self.reunion = None;
        }
        if self.revival.is_due(now) {
            self.call_hub();
        }
    }

    /// Tells the hub what is new, as far as it takes it.
    fn tell(&mut self, now: Instant) {
        let Some((connection, stream)) = &mut self.hub else { return };
        let mut is_lost = false;
        // One turn tells about as much as it reads, so that neither side starves.
        for _ in 0..4 {
            if !connection.has_unsent() {
                stream.next_frame(&self.record, &mut connection.outgoing);
            }
            is_lost = is_lost || connection.send(now).is_err();
        }
        // What is left is on the table, so that the next wait knows of it.
        if !connection.has_unsent() {
            stream.next_frame(&self.record, &mut connection.outgoing);
        }
        if is_lost {
            self.hear_last_words(now);
            self.lose_hub(now);
        }
    }

    /// A hub that cannot be told anything may have said something before it went: a stop, say.
    fn hear_last_words(&mut self, now: Instant) {
        while self.input.len() < INPUT_BYTES_MAX
            && let Some((connection, _)) = &mut self.hub
            && matches!(connection.receive(), Ok(true))
            && self.obey_all(now).is_ok()
        {}
    }
}

/// Which descriptor stands where in the list of those waited for.
#[derive(Clone, Copy)]
enum Place {
    Signals,
    Socket,
    Hub,
    Candidate,
    Terminal,
}

impl Ready {
    fn collect(places: &[Place], polled: &[PollFd<'_>]) -> Self {
        let mut ready = Self::default();
        for (place, polled) in places.iter().zip(polled) {
            let events = polled.revents();
            let flags = Readiness {
                input: events.contains(PollFlags::IN),
                hangup: events.intersects(PollFlags::HUP | PollFlags::ERR),
            };
            match place {
                Place::Signals => ready.signals = flags.input,
                Place::Socket => ready.socket = flags.input,
                Place::Hub => ready.hub = flags,
                Place::Candidate => ready.candidate = flags,
                Place::Terminal => ready.terminal = flags,
            }
        }
        ready
    }
}
