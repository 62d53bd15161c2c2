//! Keys into a pane, and what truly became of them: prompts, answers to dialogs, interrupts.
//!
//! Each is a machine of its own: `observe(scene, now) -> acts` after output, at its deadline and
//! when the agent's state changed. A stage is told before the bytes that it announces: whoever
//! records it first, and then types, knows after a crash what may have been typed, and what
//! cannot have been. Nothing is ever typed into a screen that no rule recognises, no text is
//! typed twice, and where the screen does not tell what happened, the answer is `unknown`.

mod act;
mod answer;
mod blind;
mod delivery;
mod interrupt;
mod letter;
mod pace;
mod recover;
mod scene;
mod sign;
mod steady;

pub use act::{Act, Stage};
pub use answer::{Answer, Choice};
pub use blind::Blind;
pub use delivery::Delivery;
pub use interrupt::Interrupt;
pub use letter::Letter;
pub use recover::recover;
pub use scene::Scene;
