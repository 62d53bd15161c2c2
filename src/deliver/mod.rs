//! Presses keys in a pane and tells what became of them: prompts, answers to dialogs, interrupts.
//!
//! Each is a machine of its own: `observe(scene, now) -> acts` after output, at its deadline and
//! when the agent's state changed. A prompt tells a stage before the bytes that it announces, and
//! waits until it is on record (`note_recorded`): after a crash it is known what may have been typed,
//! and what cannot have been. Then it looks at the screen once more, and only then types: a dialog may have
//! come while the disk was waited for. Nothing is ever typed into a screen that no rule recognises, no text is
//! typed twice, and where the screen does not tell what happened, the answer is `unknown`.

mod action;
mod blind_delivery;
mod delivery;
mod dialog_answer;
mod interrupt;
mod key_hints;
mod literal;
mod outgoing_prompt;
mod output_clock;
mod pane_snapshot;
mod text_signature;
mod verify;

pub use action::{DeliveryStage, PaneAction};
pub use blind_delivery::BlindDelivery;
pub use delivery::Delivery;
pub use dialog_answer::{Choice, DialogAnswer};
pub use interrupt::Interrupt;
pub use outgoing_prompt::OutgoingPrompt;
pub use pane_snapshot::PaneSnapshot;
pub use verify::recover;
