//! Queues batches between the hub and the record's thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::batch::{Refused, Sealed, Ticket};
use super::prune::Keep;

/// Hours of work while a disk is full; beyond it batches are refused.
const WAITING_MAX: usize = 16 * 1024;
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What goes into one transaction: enough to share a sync, little enough to be done soon.
const GROUP_MAX: usize = 1024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a batch that nobody waits for may wait for others.
const LAZY: Duration = Duration::from_secs(1);

/// What goes into one transaction.
pub(super) type Group = Vec<(Ticket, Arc<Sealed>)>;

/// A queue in the order of tickets.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Waiting>,
    /// How many of them, the oldest, are in the transaction that is tried.
    taken: usize,
    /// It is tried at this moment: what is in it may be on the disk.
    is_writing: bool,
    /// What the others weigh, and how many of those are not lazy.
    bytes: usize,
    urgent: usize,
    last: Ticket,
    keep: Keep,
    /// All up to this one are on the disk.
    written: Ticket,
    is_closed: bool,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    batch: Arc<Sealed>,
    is_lazy: bool,
}

impl Queue {
    pub(super) fn after(last: Ticket) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            taken: 0,
            is_writing: false,
            bytes: 0,
            urgent: 0,
            last,
            keep: Keep::default(),
            written: last,
            is_closed: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn push(&self, batch: Sealed, is_lazy: bool) -> Result<Ticket, Refused> {
        let mut state = self.lock();
        if !state.has_room() {
            return Err(Refused::Full { waiting: state.untaken() });
        }
        state.last = state.last.next();
        state.bytes += batch.bytes;
        state.urgent += usize::from(!is_lazy);
        let ticket = state.last;
        state.waiting.push_back(Waiting { ticket, batch: Arc::new(batch), is_lazy });
        drop(state);
        self.changed.notify_all();
        Ok(ticket)
    }

    /// How much of what was written is kept.
    pub(super) fn keep(&self) -> Keep {
        self.lock().keep
    }

    pub(super) fn set_keep(&self, keep: Keep) {
        self.lock().keep = keep;
    }

    pub(super) fn has_room(&self) -> bool {
        self.lock().has_room()
    }

    /// Waits for batches and returns those that go into one transaction; those of the last one again,
    /// if it failed. Nothing when all is over.
    pub(super) fn take(&self) -> Option<Group> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let lazy = |state: &mut State| state.may_wait();
        let waited = self.changed.wait_timeout_while(state, LAZY, lazy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let group = state.take_group();
        state.is_writing = !group.is_empty();
        state.is_writing.then_some(group)
    }

    /// Notes what became of the transaction that was tried.
    pub(super) fn note_tried(&self, is_written: bool) {
        let mut state = self.lock();
        state.is_writing = false;
        if is_written {
            let taken = std::mem::take(&mut state.taken);
            let written = state.waiting.drain(..taken).next_back().map(|last| last.ticket);
            state.written = written.unwrap_or(state.written);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Takes back every batch after this one, and says so; does nothing if one of them is written. An
    /// attempt to write them that is under way is waited for.
    pub(super) fn withdraw(&self, after: Ticket) -> bool {
        let writing = self.changed.wait_while(self.lock(), |state| state.is_writing);
        let mut state = writing.unwrap_or_else(PoisonError::into_inner);
        if state.written > after {
            return false;
        }
        while let Some(last) = state.waiting.pop_back_if(|last| last.ticket > after) {
            if state.waiting.len() < state.taken {
                state.taken -= 1;
            } else {
                state.bytes -= last.batch.bytes;
                state.urgent -= usize::from(!last.is_lazy);
            }
        }
        state.last = after;
        true
    }

    /// Waits for a time, or until the queue is closed; says whether it is.
    pub(super) fn wait_unless_closed(&self, time: Duration) -> bool {
        let open = |state: &mut State| !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.lock(), time, open);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    /// Takes nothing more; what waits is still written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    pub(super) fn last(&self) -> Ticket {
        self.lock().last
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns how many batches are in no transaction yet.
    fn untaken(&self) -> usize {
        self.waiting.len() - self.taken
    }

    fn has_room(&self) -> bool {
        self.untaken() < WAITING_MAX && self.bytes < WAITING_BYTES_MAX
    }

    fn may_wait(&self) -> bool {
        let is_new = self.taken == 0 && self.urgent == 0;
        is_new && !self.is_closed && self.waiting.len() < GROUP_MAX
    }

    fn take_group(&mut self) -> Group {
        if self.taken == 0 {
            let mut bytes = 0;
            for next in self.waiting.iter().take(GROUP_MAX) {
                if bytes >= GROUP_BYTES_MAX {
                    break;
                }
                bytes += next.batch.bytes;
                self.urgent -= usize::from(!next.is_lazy);
                self.taken += 1;
            }
            self.bytes -= bytes;
        }
        let taken = self.waiting.iter().take(self.taken);
        taken.map(|one| (one.ticket, Arc::clone(&one.batch))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Batch;

    fn sealed() -> Sealed {
        Batch::default().seal().unwrap()
    }

    #[test]
    fn batches_leave_in_the_order_of_their_tickets() {
        let queue = Queue::after(Ticket(7));
        for number in 8..12 {
            assert_eq!(queue.push(sealed(), number % 2 == 0).unwrap(), Ticket(number));
        }
        let taken = queue.take().unwrap();
        let tickets: Vec<u64> = taken.iter().map(|(ticket, _)| ticket.0).collect();
        assert_eq!(tickets, [8, 9, 10, 11]);
        queue.note_tried(true);
        queue.close();
        assert!(queue.take().is_none());
    }

    #[test]
    fn lazy_batches_wait_until_one_is_urgent() {
        let queue = Queue::after(Ticket(0));
        queue.push(sealed(), true).unwrap();
        assert!(queue.lock().may_wait());
        queue.push(sealed(), false).unwrap();
        assert!(!queue.lock().may_wait());
        assert_eq!(queue.take().unwrap().len(), 2);
    }

    #[test]
    fn a_lazy_batch_does_not_wait_for_ever() {
        let queue = Queue::after(Ticket(0));
        queue.push(sealed(), true).unwrap();
        assert_eq!(queue.take().unwrap().len(), 1);
    }

    #[test]
    fn a_full_queue_refuses_and_has_room_again() {
        let queue = Queue::after(Ticket(0));
        while queue.has_room() {
            queue.push(sealed(), true).unwrap();
        }
        let refused = queue.push(sealed(), false).unwrap_err();
        assert!(matches!(refused, Refused::Full { waiting: WAITING_MAX }), "{refused}");
        assert_eq!(queue.take().unwrap().len(), GROUP_MAX);
        let next = u64::try_from(WAITING_MAX).unwrap() + 1;
        assert_eq!(queue.push(sealed(), false).unwrap(), Ticket(next), "no number is skipped");
    }

    #[test]
    fn a_transaction_that_failed_is_tried_again_as_it_was() {
        let queue = Queue::after(Ticket(0));
        queue.push(sealed(), false).unwrap();
        assert_eq!(queue.take().unwrap().len(), 1);
        queue.note_tried(false);
        queue.push(sealed(), false).unwrap();
        assert_eq!(queue.take().unwrap().len(), 1);
        queue.note_tried(true);
        assert_eq!(queue.take().unwrap()[0].0, Ticket(2));
    }

    #[test]
    fn what_is_not_written_can_be_taken_back_and_its_numbers_are_given_anew() {
        let queue = Queue::after(Ticket(7));
        for is_lazy in [false, true, false] {
            queue.push(sealed(), is_lazy).unwrap();
        }
        assert_eq!(queue.take().unwrap().len(), 3);
        queue.note_tried(false);
        queue.push(sealed(), false).unwrap();
        assert!(queue.withdraw(Ticket(8)));
        assert_eq!(queue.push(sealed(), false).unwrap(), Ticket(9));
        let tickets = |group: Group| group.iter().map(|(ticket, _)| ticket.0).collect::<Vec<_>>();
        assert_eq!(tickets(queue.take().unwrap()), [8], "what was tried before comes first");
        queue.note_tried(true);
        assert!(!queue.withdraw(Ticket(7)), "it is on the disk");
        assert_eq!(tickets(queue.take().unwrap()), [9], "and nothing was taken back");
        queue.note_tried(true);
        queue.close();
        assert!(queue.take().is_none());
    }
}
