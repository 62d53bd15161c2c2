//! Presses keys for the hub itself: prompts, answers to dialogs, interrupts.
//!
//! One at a time per pane. What to press and when is for the machines in `deliver` to say; what came
//! of a prompt goes to the engine, what came of the rest to whoever asked for it.

use std::time::Duration;

use super::link::Link;
use super::pane::Pane;
use super::state::Panes;
use crate::api::Fault;
use crate::deliver::{
    self, BlindDelivery, Delivery, DialogAnswer, Interrupt, OutgoingPrompt, PaneAction,
    PaneSnapshot,
};
use crate::engine::PersonAction;
use crate::hub::clients::askers::Asker;
use crate::model::{AgentName, AgentState, Keys, Manner, Moment, ReceiptId, RunId, Stage, Submit};

/// A screen that was just rebuilt shows what it showed before by then.
const REBUILT: Duration = Duration::from_millis(1500);

/// Why no keys are pressed in a pane now.
pub(in crate::hub) const OTHER_KEYS: &str = "other keys are being pressed in its pane";

/// What the hub is about to press in a pane.
#[derive(Debug)]
pub(in crate::hub) enum Keystrokes {
    Prompt {
        receipt: ReceiptId,
        letter: OutgoingPrompt,
        machine: Box<Delivery>,
    },
    /// A prompt for a program that no rule can read, because a person said so.
    Blind {
        receipt: ReceiptId,
        letter: OutgoingPrompt,
        machine: BlindDelivery,
    },
    /// Looks what became of a prompt that an earlier hub was typing.
    Inspection {
        receipt: ReceiptId,
        stage: Stage,
        letter: OutgoingPrompt,
        due: Moment,
    },
    Answer {
        asker: Asker,
        machine: DialogAnswer,
    },
    /// The yes that rules gave to a dialog.
    Approval {
        fingerprint: String,
        machine: DialogAnswer,
    },
    Interrupt {
        /// Nobody, if the engine wanted it.
        asker: Option<Asker>,
        machine: Interrupt,
    },
}

/// A prompt that the engine ordered to be typed.
pub(in crate::hub) struct PromptOrder {
    pub(in crate::hub) receipt: ReceiptId,
    pub(in crate::hub) text: String,
    pub(in crate::hub) tag: Option<String>,
    pub(in crate::hub) manner: Manner,
}

/// The next step of what is being pressed in a pane.
pub(in crate::hub) struct KeystrokeStep {
    pub(in crate::hub) run: RunId,
    pub(in crate::hub) acts: Vec<PaneAction>,
    pub(in crate::hub) aim: KeystrokeAim,
    /// A prompt that is refused now may be typed later.
    pub(in crate::hub) can_wait: bool,
}

impl Panes {
    /// Begins to type a prompt; where that cannot be, says how far the prompt has come and why.
    pub(in crate::hub) fn begin_prompt(
        &mut self,
        (agent, run): (&AgentName, RunId),
        prompt: PromptOrder,
        (how, keys): (&Submit, &Keys),
        now: Moment,
    ) -> Result<(), (Stage, &'static str)> {
        let PromptOrder { receipt, text, tag, manner } = prompt;
        let letter = OutgoingPrompt { text, tag, is_command: manner.is_command };
        let free = self.by_agent.get_mut(agent).filter(|pane| pane.run == run);
        let Some(pane) = free.filter(|pane| pane.keystrokes.is_none()) else {
            return Err((Stage::Queued, OTHER_KEYS));
        };
        let Some(scene) = pane.scene() else {
            return Err((Stage::Refused, "its screen is not read"));
        };
        let is_blind = manner.is_confirmed && scene.shown.state == AgentState::Unknown;
        pane.keystrokes = Some(if is_blind {
            let machine = BlindDelivery::begin(&letter, how, &scene, now);
            Keystrokes::Blind { receipt, letter, machine }
        } else {
            let machine = Delivery::begin(&letter, how, &scene, now).with_keys(keys);
            Keystrokes::Prompt { receipt, letter, machine: Box::new(machine) }
        });
        Ok(())
    }

    /// Begins to look what became of a prompt that an earlier hub was typing.
    pub(in crate::hub) fn begin_inspection(
        &mut self,
        (agent, run): (&AgentName, RunId),
        (receipt, stage): (ReceiptId, Stage),
        letter: OutgoingPrompt,
        now: Moment,
    ) -> Option<()> {
        let pane = self.by_agent.get_mut(agent).filter(|pane| pane.run == run)?;
        let due = now + REBUILT;
        pane.keystrokes = Some(Keystrokes::Inspection { receipt, stage, letter, due });
        Some(())
    }

    /// Notes that the last stage of a prompt is on record, if the prompt is still on its way.
    pub(in crate::hub) fn note_recorded(
        &mut self,
        (agent, run): (&AgentName, RunId),
        receipt: ReceiptId,
        now: Moment,
    ) -> Option<()> {
        let pane = self.by_agent.get_mut(agent).filter(|pane| pane.run == run)?;
        let keystrokes = pane.keystrokes.as_mut().filter(|keys| keys.is_of(receipt))?;
        match keystrokes {
            Keystrokes::Prompt { machine, .. } => machine.note_recorded(now),
            Keystrokes::Blind { machine, .. } => machine.note_recorded(),
            Keystrokes::Inspection { .. }
            | Keystrokes::Answer { .. }
            | Keystrokes::Approval { .. }
            | Keystrokes::Interrupt { .. } => {}
        }
        Some(())
    }

    /// Returns the next step of what is being pressed in a pane, if anything is.
    pub(in crate::hub) fn next_step(
        &mut self,
        agent: &AgentName,
        now: Moment,
    ) -> Option<KeystrokeStep> {
        let pane = self.by_agent.get_mut(agent)?;
        let mut keystrokes = pane.keystrokes.take()?;
        let acts = pane.scene().map(|scene| keystrokes.observe(&scene, now)).unwrap_or_default();
        let is_over =
            acts.iter().any(|act| matches!(act, PaneAction::Stage(stage) if stage.is_final()));
        let (can_wait, aim) = (keystrokes.can_wait(pane), keystrokes.aim());
        if !is_over {
            pane.keystrokes = Some(keystrokes);
        }
        Some(KeystrokeStep { run: pane.run, acts, aim, can_wait })
    }

    /// Tells the detector that a prompt is being submitted. That is on the disk before Enter is pressed:
    /// whoever comes after this hub must know the tag that counts.
    pub(in crate::hub) fn note_submitted(
        &mut self,
        agent: &AgentName,
        prompt: &OutgoingPrompt,
        now: Moment,
    ) {
        if let Some(detector) = self.by_agent.get_mut(agent).and_then(|pane| pane.detector.as_mut())
        {
            detector.prompt_submitted(&prompt.text, prompt.tag.as_deref(), now);
        }
        self.save_reports_if_changed(agent);
    }

    /// Gives up a prompt that is on its way.
    pub(in crate::hub) fn drop_prompt(&mut self, agent: &AgentName, receipt: ReceiptId) {
        if let Some(pane) = self.by_agent.get_mut(agent) {
            pane.keystrokes.take_if(|keystrokes| keystrokes.is_of(receipt));
        }
    }

    /// Cuts the lines to a run that is over, and returns who waits for keys that were to be pressed in it.
    pub(in crate::hub) fn close(&mut self, agent: &AgentName) -> Option<Asker> {
        let pane = self.by_agent.get_mut(agent)?;
        pane.close();
        match pane.keystrokes.take()?.aim() {
            KeystrokeAim::Asker(asker, _) => asker,
            KeystrokeAim::Prompt { .. } | KeystrokeAim::Approval(_) => None,
        }
    }
}

/// Whom the outcome of keystrokes is for.
pub(in crate::hub) enum KeystrokeAim {
    Prompt {
        receipt: ReceiptId,
        letter: OutgoingPrompt,
    },
    Asker(Option<Asker>, PersonAction),
    /// The engine, with the dialog that it answered.
    Approval(String),
}

impl Keystrokes {
    fn observe(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        match self {
            Self::Prompt { machine, .. } => machine.observe(scene, now),
            Self::Blind { machine, .. } => machine.observe(scene, now),
            Self::Inspection { due, .. } if now < *due => Vec::new(),
            Self::Inspection { stage, letter, .. } => {
                let on_record = match stage {
                    Stage::Submitted => deliver::DeliveryStage::Submitted,
                    Stage::Seen => deliver::DeliveryStage::Seen,
                    Stage::Queued
                    | Stage::Typed
                    | Stage::Accepted
                    | Stage::Refused
                    | Stage::Stalled
                    | Stage::Unknown
                    | Stage::Withdrawn => deliver::DeliveryStage::Typed { left_out: 0 },
                };
                vec![PaneAction::Stage(deliver::recover(&on_record, letter, scene))]
            }
            Self::Answer { machine, .. } | Self::Approval { machine, .. } => {
                machine.observe(scene, now)
            }
            Self::Interrupt { machine, .. } => machine.observe(scene, now),
        }
    }

    fn next_deadline(&self) -> Option<Moment> {
        match self {
            Self::Prompt { machine, .. } => machine.next_deadline(),
            Self::Blind { machine, .. } => machine.next_deadline(),
            Self::Inspection { due, .. } => Some(*due),
            Self::Answer { machine, .. } | Self::Approval { machine, .. } => {
                machine.next_deadline()
            }
            Self::Interrupt { machine, .. } => machine.next_deadline(),
        }
    }

    /// Says whether it is about this prompt.
    fn is_of(&self, prompt: ReceiptId) -> bool {
        matches!(self.aim(), KeystrokeAim::Prompt { receipt, .. } if receipt == prompt)
    }

    fn aim(&self) -> KeystrokeAim {
        match self {
            Self::Prompt { receipt, letter, .. }
            | Self::Blind { receipt, letter, .. }
            | Self::Inspection { receipt, letter, .. } => {
                KeystrokeAim::Prompt { receipt: *receipt, letter: letter.clone() }
            }
            Self::Answer { asker, .. } => KeystrokeAim::Asker(Some(*asker), PersonAction::Answer),
            Self::Approval { fingerprint, .. } => KeystrokeAim::Approval(fingerprint.clone()),
            Self::Interrupt { asker, .. } => KeystrokeAim::Asker(*asker, PersonAction::Interrupt),
        }
    }

    /// Says whether a prompt that was refused before anything was typed may be taken later: someone
    /// types, a dialog came up, or the agent began something else.
    fn can_wait(&self, pane: &Pane) -> bool {
        let Self::Prompt { machine, .. } = self else { return false };
        let state = pane.detector.as_ref().map(|detector| detector.shown().state);
        let is_barred = matches!(state, Some(AgentState::Exited) | None);
        machine.can_be_typed() && !is_barred
    }
}

impl Pane {
    /// Returns the pane as it stands, if its screen is read.
    pub(super) fn scene(&self) -> Option<PaneSnapshot<'_>> {
        let detector = self.detector.as_ref()?;
        Some(PaneSnapshot {
            screen: &self.screen,
            rules: detector.rules(),
            shown: detector.shown(),
            prompt_heard_at: detector.prompt_heard_at(),
            prompt_heard: detector.prompt_heard(),
            awaits_turn: detector.awaits_turn(),
            typed_at: self.disturbed_at,
            has_room: self.link.as_ref().is_some_and(Link::has_room),
        })
    }

    /// Begins to press keys that somebody asked for.
    pub(in crate::hub) fn begin_asked(
        &mut self,
        agent: &AgentName,
        now: Moment,
        begin: impl FnOnce(&PaneSnapshot, Moment) -> Keystrokes,
    ) -> Result<(), Fault> {
        if self.keystrokes.is_some() {
            let message = format!("Other keys are being pressed in the pane of `{agent}`");
            return Err(Fault::new(message).with_hint("Try again in a moment"));
        }
        let unread = || Fault::new(format!("The screen of agent `{agent}` is not read"));
        let keystrokes = begin(&self.scene().ok_or_else(unread)?, now);
        self.keystrokes = Some(keystrokes);
        Ok(())
    }

    /// Returns when there is something to press though nothing was written.
    pub(super) fn keystroke_deadline(&self) -> Option<Moment> {
        self.keystrokes.as_ref().and_then(Keystrokes::next_deadline)
    }
}
