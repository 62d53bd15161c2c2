//! Keys into a pane, and what truly became of them: prompts, answers to dialogs, interrupts.
//!
//! Each is a machine of its own: `observe(scene, now) -> acts` after output, at its deadline and
//! when the agent's state changed. A prompt tells a stage before the bytes that it announces, and
//! waits until it is on record (`note_recorded`): after a crash it is known what may have been typed,
//! and what cannot have been. Then it looks at the screen once more, and only then types: a dialog may have
//! come while the disk was waited for. Nothing is ever typed into a screen that no rule recognises, no text is
//! typed twice, and where the screen does not tell what happened, the answer is `unknown`.

mod act;
mod answer;
mod blind;
mod delivery;
mod hint;
mod interrupt;
mod letter;
mod literal;
mod pace;
mod progress;
mod recover;
mod scene;
mod sign;
mod steady;
mod verify;

pub use act::{Act, Stage};
pub use answer::{Answer, Choice};
pub use blind::Blind;
pub use delivery::Delivery;
pub use interrupt::Interrupt;
pub use letter::Letter;
pub use recover::recover;
pub use scene::Scene;
