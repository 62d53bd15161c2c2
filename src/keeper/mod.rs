//! The keeper: holds one agent's pseudo-terminal and its process tree, and outlives the hub.
//!
//! Three small processes of this binary stand behind each agent, each the parent of the next:
//!
//! - the *caller* takes the agent's lock and starts the hub again when the keeper asks for it. It
//!   is no subreaper: a hub that it starts, and whatever that hub starts, belongs to nobody's tree;
//! - the *guard* is a subreaper that only waits for the keeper, and then ends what it left behind;
//! - the *keeper* is a subreaper too, holds the terminal and serves one hub over a socket.
//!
//! Where agents run elsewhere, a *watchdog* runs here in place of their callers.
//!
//! All three share one lock, so it is free only when the agent's tree is known to be gone. There is
//! no thread, no async runtime, no configuration and no database here. A keeper without anything to
//! do sleeps without a timer.

mod bounds;
mod caller;
mod clock;
mod connection;
mod ending;
mod error;
mod fence;
mod frame;
mod guard;
mod hold;
mod keep;
mod launch;
mod lock;
mod order;
mod process;
mod reap;
mod revival;
mod ring;
mod signals;
mod sizes;
mod socket;
mod standing;
mod start;
mod stream;
mod sweep;
mod terminal;
mod turn;
mod watchdog;

pub use bounds::{Means, Method, confine};
pub use caller::call;
pub use error::{FrameError, KeeperError};
pub use fence::{Fence, GivenUp};
pub use frame::{Decoder, FRAME_BYTES_MAX, Frame, FromKeeper, PROTOCOL_VERSION, ToKeeper, Welcome};
pub use guard::guard;
pub use hold::hold;
pub use keep::keep;
pub use lock::is_held;
pub use order::{EXIT_BAD_ORDER, EXIT_BROKEN, EXIT_FENCED, EXIT_HELD, EXIT_OK, KeeperArgs, Order};
pub use process::{is_alive, process_id};
pub use ring::RING_BYTES;
pub use standing::{Standing, Tracer, Untraced};
pub use start::start;
pub use sweep::sweep;
pub use watchdog::{Watchdog, WatchdogOrder, is_gone, watchdog};
