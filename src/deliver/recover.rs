//! Reads from the screen what became of a prompt whose hub ended on the way.

use super::act::Stage;
use super::letter::Letter;
use super::scene::Scene;
use super::sign::Sign;

/// Returns how a delivery ended that was on record at this stage when its hub ended. Nothing is
/// typed: a text that stands in the composer is told of, and what nobody can see is `unknown`.
pub fn recover(record: &Stage, letter: &Letter, scene: &Scene) -> Stage {
    let is_submitted = match record {
        Stage::Typed { .. } | Stage::Seen => false,
        Stage::Submitted => true,
        Stage::Accepted { .. }
        | Stage::Refused { .. }
        | Stage::Stalled { .. }
        | Stage::Unknown { .. } => return record.clone(),
    };
    let sight = scene.sight();
    let sign = Sign::new(letter.text.trim_end(), letter.tag.as_deref());
    if sight.input.as_ref().is_some_and(|input| sign.stands_in(input)) {
        // A program that is slow to read may yet take the key that was pressed.
        return if is_submitted {
            let reason = "the hub ended after Enter: the prompt still stood there".into();
            Stage::Unknown { reason }
        } else {
            let reason = "the hub ended on the way: the prompt is typed and not submitted".into();
            Stage::Stalled { reason }
        };
    }
    let is_readable = sight.input.is_some() || sight.dialog.is_some();
    if is_submitted && is_readable && sign.is_named_in(&sight.conversation) {
        return Stage::Accepted { evidence: "the conversation names its tag".into() };
    }
    let what = if is_submitted { "submitted" } else { "typed" };
    let shows = if sign.echoes(&sight.conversation) > 0 {
        "the conversation shows the same words, perhaps from before"
    } else {
        "the screen does not show it"
    };
    Stage::Unknown { reason: format!("the hub ended while the prompt was being {what}: {shows}") }
}
