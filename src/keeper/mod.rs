//! Holds one agent's pseudo-terminal and its process tree, and outlives the hub.
//!
//! Three small processes of this binary stand behind each agent, each the parent of the next:
//!
//! - the *reviver* takes the agent's lock and starts the hub again when the keeper asks for it. It
//!   is no subreaper, so a hub that it starts, and all that this hub starts, belongs to nobody's tree;
//! - the *reaper* is a subreaper that only waits for the keeper, then ends what it left behind;
//! - the *keeper* is a subreaper too, holds the terminal and serves one hub over a socket.
//!
//! Where agents run remotely, a *watchdog* on this machine takes the place of their revivers.
//!
//! All three share one lock, so it is free only when the agent's tree is known to be gone. There is
//! no thread, no async runtime, no configuration and no database here. A keeper without anything to
//! do sleeps without a timer.

mod bounds;
mod caller_trace;
mod clock;
mod connection;
mod container_init;
mod ending;
mod error;
mod event_loop;
mod frame;
mod keep;
mod launch;
mod lock;
mod order;
mod process;
mod reap;
mod reaper;
mod revive_schedule;
mod reviver;
mod ring;
mod signals;
mod sizes;
mod socket;
mod start;
mod start_ticket;
mod stream;
mod sweep;
mod terminal;
mod watchdog;

pub use bounds::{Means, Method, confine};
pub use caller_trace::{Standing, Tracer, Untraced};
pub use container_init::hold_container;
pub use error::{FrameError, KeeperError};
pub use frame::{Decoder, FRAME_BYTES_MAX, Frame, FromKeeper, PROTOCOL_VERSION, ToKeeper, Welcome};
pub use keep::keep;
pub use lock::is_held;
pub use order::{
    EXIT_BAD_ORDER, EXIT_BROKEN, EXIT_HELD, EXIT_OK, EXIT_TICKET_USED, KeeperArgs, Order,
};
pub use process::{is_alive, process_id};
pub use reaper::reap_leftovers;
pub use reviver::revive;
pub use ring::RING_BYTES;
pub use start::start;
pub use start_ticket::{StartTickets, TicketFate};
pub use sweep::sweep;
pub use watchdog::{Watchdog, WatchdogOrder, is_gone, watchdog};
