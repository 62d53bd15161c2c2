//! Looks for proof that a prompt was taken, also after the hub ended on the way, and takes back one that was not.

use std::time::Duration;

use crate::detect::{Input, Sight};
use crate::model::Moment;
use crate::screen::key_bytes;

use super::action::{DeliveryStage, PaneAction};
use super::delivery::{Delivery, DeliveryFlow, DeliveryPhase};
use super::outgoing_prompt::OutgoingPrompt;
use super::pane_snapshot::{PaneSnapshot, proof_of_command, quote, replacement};
use super::text_signature::TextSignature;

/// A text that still stands there after this long was not submitted.
pub(super) const ENTER_PATIENCE: Duration = Duration::from_secs(3);
/// Whatever proves that the prompt was taken shows up by then. Programs that hand it to a server of
/// their own show nothing for many seconds on a busy machine.
pub(super) const PROOF_PATIENCE: Duration = Duration::from_secs(30);
/// How often the key that submits is pressed for one line.
const PRESSES_MAX: u8 = 2;

impl Delivery {
    /// Looks for proof that the line was taken.
    pub(super) fn verify(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        now: Moment,
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        let DeliveryPhase::Sent { first, last, presses } = self.phase else {
            return DeliveryFlow::Wait;
        };
        let stands = self.stands(sight);
        if let Some(evidence) = self.proof(scene, sight, stands, first) {
            let lines = self.parcel.as_ref().map_or(0, |parcel| parcel.lines.len());
            if self.line + 1 == lines {
                let left_out = self.parcel.as_ref().map_or(0, |parcel| parcel.left_out);
                let evidence = match left_out {
                    0 => evidence.to_owned(),
                    some => format!("{evidence}; {some} control characters were left out"),
                };
                return self.end(DeliveryStage::Accepted { evidence }, acts);
            }
            (self.line, self.typed) = (self.line + 1, 0);
            self.phase = DeliveryPhase::Ready { since: now };
            return DeliveryFlow::Next;
        }
        if let Some(why) = scene.stop_sign(sight, self.begun_at) {
            let reason = format!("right after the prompt was submitted, {why}");
            return self.end(DeliveryStage::Unknown { reason }, acts);
        }
        let is_late = now.since(last) >= ENTER_PATIENCE;
        if stands == Some(true) && is_late && presses < PRESSES_MAX && scene.is_free(sight) {
            acts.push(PaneAction::Write(key_bytes(self.key, &scene.screen.modes())));
            self.phase = DeliveryPhase::Sent { first, last: now, presses: presses + 1 };
            return DeliveryFlow::Wait;
        }
        if !is_late || now.since(first) < PROOF_PATIENCE {
            return DeliveryFlow::Wait;
        }
        self.give_up((scene, sight), stands, first, acts)
    }

    /// Ends without proof.
    fn give_up(
        &mut self,
        (scene, sight): (&PaneSnapshot, &Sight),
        stands: Option<bool>,
        pressed: Moment,
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        if stands == Some(true) {
            let shown = |input: &Input| quote(input.typed.as_ref().unwrap_or(&input.text));
            let shown = sight.input.as_ref().map(shown).unwrap_or_default();
            let reason = format!("the prompt still stands there after Enter: `{shown}`");
            return self.leave((scene, sight), reason, acts);
        }
        let heard = scene.prompt_heard.filter(|_| scene.prompt_heard_at >= Some(pressed));
        let reason = match (heard, replacement(sight)) {
            (Some(heard), _) => format!("the program told of another prompt: `{}`", quote(heard)),
            (None, Some(other)) => {
                let other = quote(other);
                let reason = format!("after Enter something else stands in its place: `{other}`");
                return self.end(DeliveryStage::Stalled { reason }, acts);
            }
            (None, None) => {
                "the prompt was submitted, and nothing shows that it was taken".to_owned()
            }
        };
        self.end(DeliveryStage::Unknown { reason }, acts)
    }

    fn proof(
        &self,
        scene: &PaneSnapshot,
        sight: &Sight,
        stands: Option<bool>,
        pressed: Moment,
    ) -> Option<&'static str> {
        let sign = &self.parcel.as_ref().ok()?.lines.get(self.line)?.sign;
        let echoes = sign.echoes(&sight.conversation);
        let is_echoed = sign.is_named_in(&sight.conversation) || echoes > self.echoes;
        let proof = scene.proof(sight, sign, stands, (pressed, is_echoed));
        let is_gone = stands != Some(true) && self.letter.is_command;
        proof.or_else(|| proof_of_command(sight).filter(|_| is_gone))
    }

    /// Says whether the line stands where it was typed; nothing if that is not in sight.
    pub(super) fn stands(&self, sight: &Sight) -> Option<bool> {
        let line = self.parcel.as_ref().ok()?.lines.get(self.line)?;
        match &sight.input {
            Some(input) => Some(line.sign.stands_in(input)),
            // A prompt that is taller than the screen hides the frame of its composer.
            None => line.sign.ends(&sight.before_cursor).then_some(true),
        }
    }

    /// Ends with the text typed and not submitted, and takes it away again if it is in sight and
    /// nothing but it.
    pub(super) fn leave(
        &mut self,
        (scene, sight): (&PaneSnapshot, &Sight),
        mut reason: String,
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        let is_alone = scene.stop_sign(sight, self.begun_at).is_none();
        let is_ours = self.stands(sight) == Some(true) && scene.is_free(sight);
        if is_alone && is_ours && !self.clear.is_empty() {
            let bytes = |key| PaneAction::Write(key_bytes(key, &scene.screen.modes()));
            acts.extend(self.clear.iter().copied().map(bytes));
            reason.push_str("; it was taken away again");
        }
        self.end(DeliveryStage::Stalled { reason }, acts)
    }

    pub(super) fn end(&mut self, stage: DeliveryStage, acts: &mut Vec<PaneAction>) -> DeliveryFlow {
        self.phase = DeliveryPhase::Over;
        acts.push(PaneAction::Stage(stage));
        DeliveryFlow::Wait
    }
}

/// Returns how a delivery ended that was on record at this stage when its hub ended. Nothing is
/// typed: a text that stands in the composer is told of, and what nobody can see is `unknown`.
pub fn recover(
    record: &DeliveryStage,
    letter: &OutgoingPrompt,
    scene: &PaneSnapshot,
) -> DeliveryStage {
    let is_submitted = match record {
        DeliveryStage::Typed { .. } | DeliveryStage::Seen => false,
        DeliveryStage::Submitted => true,
        DeliveryStage::Accepted { .. }
        | DeliveryStage::Refused { .. }
        | DeliveryStage::Stalled { .. }
        | DeliveryStage::Unknown { .. } => return record.clone(),
    };
    let sight = scene.sight();
    let sign = TextSignature::new(letter.text.trim_end(), letter.tag.as_deref());
    if sight.input.as_ref().is_some_and(|input| sign.stands_in(input)) {
        // A program that is slow to read may yet take the key that was pressed.
        return if is_submitted {
            let reason = "the hub ended after Enter: the prompt still stood there".into();
            DeliveryStage::Unknown { reason }
        } else {
            let reason = "the hub ended on the way: the prompt is typed and not submitted".into();
            DeliveryStage::Stalled { reason }
        };
    }
    let is_readable = sight.input.is_some() || sight.dialog.is_some();
    if is_submitted && is_readable && sign.is_named_in(&sight.conversation) {
        return DeliveryStage::Accepted { evidence: "the conversation names its tag".into() };
    }
    let what = if is_submitted { "submitted" } else { "typed" };
    let shows = if sign.echoes(&sight.conversation) > 0 {
        "the conversation shows the same words, perhaps from before"
    } else {
        "the screen does not show it"
    };
    DeliveryStage::Unknown {
        reason: format!("the hub ended while the prompt was being {what}: {shows}"),
    }
}
