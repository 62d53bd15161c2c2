//! What waits to be written, between the hub and the record's thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::batch::{Refused, Sealed, Ticket};

/// Hours of work while a disk is full; beyond it batches are refused.
const WAITING_MAX: usize = 16 * 1024;
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What goes into one transaction: enough to share a sync, little enough to be done soon.
const GROUP_MAX: usize = 1024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a batch that nobody waits for may wait for others.
const LAZY: Duration = Duration::from_secs(1);

/// A queue in the order of tickets.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// How many of those that wait are not lazy.
    urgent: usize,
    last: Ticket,
    is_closed: bool,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    batch: Sealed,
    is_lazy: bool,
}

impl Queue {
    pub(super) fn after(last: Ticket) -> Self {
        let waiting = VecDeque::new();
        let state = State { waiting, bytes: 0, urgent: 0, last, is_closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn push(&self, batch: Sealed, is_lazy: bool) -> Result<Ticket, Refused> {
        let mut state = self.lock();
        if !state.has_room() {
            return Err(Refused::Full { waiting: state.waiting.len() });
        }
        state.last = state.last.next();
        state.bytes += batch.bytes;
        state.urgent += usize::from(!is_lazy);
        let ticket = state.last;
        state.waiting.push_back(Waiting { ticket, batch, is_lazy });
        drop(state);
        self.changed.notify_all();
        Ok(ticket)
    }

    pub(super) fn has_room(&self) -> bool {
        self.lock().has_room()
    }

    /// Waits for batches and takes those that go into one transaction; nothing when all is over.
    pub(super) fn take(&self) -> Option<Vec<(Ticket, Sealed)>> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let lazy = |state: &mut State| state.may_wait();
        let waited = self.changed.wait_timeout_while(state, LAZY, lazy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let group = state.take_group();
        (!group.is_empty()).then_some(group)
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

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.waiting.len() < WAITING_MAX && self.bytes < WAITING_BYTES_MAX
    }

    fn may_wait(&self) -> bool {
        self.urgent == 0 && !self.is_closed && self.waiting.len() < GROUP_MAX
    }

    fn take_group(&mut self) -> Vec<(Ticket, Sealed)> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < GROUP_MAX && bytes < GROUP_BYTES_MAX {
            let Some(next) = self.waiting.pop_front() else { break };
            bytes += next.batch.bytes;
            self.urgent -= usize::from(!next.is_lazy);
            group.push((next.ticket, next.batch));
        }
        self.bytes -= bytes;
        group
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
}
