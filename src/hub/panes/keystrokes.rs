//! Keys that the hub itself presses in a pane: prompts, answers to dialogs, interrupts.
//!
//! One at a time per pane. What to press and when is for the machines in `deliver` to say; what came
//! of a prompt goes to the engine, what came of the rest to whoever asked for it.

use std::time::Duration;

use super::pane::Pane;
use crate::api::{Fault, Response};
use crate::deliver::{
    self, BlindDelivery, Choice, Delivery, DialogAnswer, Interrupt, OutgoingPrompt, PaneAction,
    PaneSnapshot,
};
use crate::engine::{PersonDeed, RunEvent};
use crate::hub::Hub;
use crate::hub::record::commit_queue::PendingEffect;
use crate::hub::requests::route::Asker;
use crate::keeper::ToKeeper;
use crate::model::{AgentName, AgentState, Keys, Manner, Moment, ReceiptId, RunId, Stage, Submit};

/// A screen that was just rebuilt shows what it showed before by then.
const REBUILT: Duration = Duration::from_millis(1500);

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
    Leave {
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

impl Hub {
    pub(in crate::hub) fn begin_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        prompt: PromptOrder,
    ) {
        let (now, how) = (self.clock.now(), self.submit_of(agent));
        let keys = self.keys_of(agent.as_str()).unwrap_or_default();
        let PromptOrder { receipt, text, tag, manner } = prompt;
        let letter = OutgoingPrompt { text, tag, is_command: manner.is_command };
        let free = self.panes.get_mut(agent).filter(|pane| pane.run == run);
        let Some(pane) = free.filter(|pane| pane.errand.is_none()) else {
            let reason = Some("other keys are being pressed in its pane".to_owned());
            let stage = Stage::Queued;
            return self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
        };
        let Some(scene) = pane.scene() else {
            let reason = Some("its screen is not read".to_owned());
            let stage = Stage::Refused;
            return self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
        };
        let is_blind = manner.is_confirmed && scene.shown.state == AgentState::Unknown;
        pane.errand = Some(if is_blind {
            let machine = BlindDelivery::begin(&letter, &how, &scene, now);
            Keystrokes::Blind { receipt, letter, machine }
        } else {
            let machine = Delivery::begin(&letter, &how, &scene, now).with_keys(&keys);
            Keystrokes::Prompt { receipt, letter, machine: Box::new(machine) }
        });
        self.run_errand(agent, now);
    }

    pub(in crate::hub) fn begin_inspection(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (receipt, stage, text): (ReceiptId, Stage, String),
    ) {
        let due = self.clock.now() + REBUILT;
        let dispatch = self.engine.dispatches().find(|dispatch| dispatch.id == receipt);
        let letter = OutgoingPrompt {
            text,
            tag: dispatch.and_then(|dispatch| dispatch.tag.clone()),
            is_command: dispatch.is_some_and(|dispatch| dispatch.manner.is_command),
        };
        if let Some(pane) = self.panes.get_mut(agent).filter(|pane| pane.run == run) {
            pane.errand = Some(Keystrokes::Inspection { receipt, stage, letter, due });
        } else {
            let (stage, reason) = (Stage::Unknown, Some("its pane is gone".to_owned()));
            self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
        }
    }

    /// Begins to answer the dialog that whoever asks has seen.
    pub(in crate::hub) fn begin_answer(
        &mut self,
        asker: Asker,
        name: &str,
        dialog: &str,
        choice: Choice,
    ) -> Result<(), Fault> {
        let keys = self.keys_of(name)?;
        let begin = |scene: &PaneSnapshot, now| {
            let machine = DialogAnswer::begin(dialog, choice, &keys, scene, now);
            Keystrokes::Answer { asker, machine }
        };
        self.begin_asked(name, begin)
    }

    pub(in crate::hub) fn begin_interrupt(
        &mut self,
        asker: Option<Asker>,
        name: &str,
    ) -> Result<(), Fault> {
        let keys = self.keys_of(name)?;
        let begin = |scene: &PaneSnapshot, now| {
            let machine = Interrupt::begin(&keys, scene, now);
            Keystrokes::Interrupt { asker, machine }
        };
        self.begin_asked(name, begin)
    }

    fn begin_asked(
        &mut self,
        name: &str,
        begin: impl FnOnce(&PaneSnapshot, Moment) -> Keystrokes,
    ) -> Result<(), Fault> {
        let agent = self.known(name)?;
        let now = self.clock.now();
        let pane = self.live_pane(&agent)?;
        if pane.errand.is_some() {
            let message = format!("Other keys are being pressed in the pane of `{agent}`");
            return Err(Fault::new(message).with_hint("Try again in a moment"));
        }
        let unread = || Fault::new(format!("The screen of agent `{agent}` is not read"));
        let errand = begin(&pane.scene().ok_or_else(unread)?, now);
        pane.errand = Some(errand);
        self.run_errand(&agent, now);
        Ok(())
    }

    /// Goes on with what is to be pressed in a pane.
    pub(in crate::hub) fn run_errand(&mut self, agent: &AgentName, now: Moment) {
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let Some(mut errand) = pane.errand.take() else { return };
        let run = pane.run;
        let acts = pane.scene().map(|scene| errand.observe(&scene, now)).unwrap_or_default();
        let is_over =
            acts.iter().any(|act| matches!(act, PaneAction::Stage(stage) if stage.is_final()));
        let is_held = errand.can_wait(pane);
        let aim = errand.aim();
        if !is_over {
            pane.errand = Some(errand);
        }
        for act in acts {
            match act {
                PaneAction::Write(bytes) => self.press_own(agent, bytes),
                PaneAction::Stage(stage) => {
                    let awaits_record = stage.awaits_record();
                    self.note_errand(agent, run, &aim, stage, is_held);
                    if let (Aim::Prompt { receipt, .. }, true) = (&aim, awaits_record) {
                        let (agent, receipt) = (agent.clone(), *receipt);
                        self.carry_out_later(PendingEffect::GoOn { agent, run, receipt });
                    }
                }
            }
        }
    }

    /// Goes on with a prompt whose last stage is on record, if it is still on its way: it looks at the
    /// screen again before it presses anything.
    pub(in crate::hub) fn go_on_with_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        receipt: ReceiptId,
    ) {
        let now = self.clock.now();
        let pane = self.panes.get_mut(agent).filter(|pane| pane.run == run);
        let errand = pane.and_then(|pane| pane.errand.as_mut());
        let Some(errand) = errand.filter(|errand| errand.is_of(receipt)) else { return };
        match errand {
            Keystrokes::Prompt { machine, .. } => machine.note_recorded(now),
            Keystrokes::Blind { machine, .. } => machine.note_recorded(),
            Keystrokes::Inspection { .. }
            | Keystrokes::Answer { .. }
            | Keystrokes::Leave { .. }
            | Keystrokes::Interrupt { .. } => {}
        }
        self.run_errand(agent, now);
    }

    fn press_own(&mut self, agent: &AgentName, bytes: Vec<u8>) {
        let is_taken = self
            .panes
            .get(agent)
            .is_some_and(|pane| pane.order(&ToKeeper::Input { answers_to: None, bytes }));
        if !is_taken {
            tracing::warn!(%agent, "its keeper takes no input");
        }
    }

    fn note_errand(
        &mut self,
        agent: &AgentName,
        run: RunId,
        aim: &Aim,
        stage: deliver::DeliveryStage,
        is_held: bool,
    ) {
        let is_submitted = stage == deliver::DeliveryStage::Submitted;
        let (stage, reason) = stage.into_receipt();
        match aim {
            Aim::Prompt { receipt, letter } => {
                if is_submitted {
                    let now = self.clock.now();
                    let pane = self.panes.get_mut(agent);
                    if let Some(detector) = pane.and_then(|pane| pane.detector.as_mut()) {
                        detector.prompt_submitted(&letter.text, letter.tag.as_deref(), now);
                    }
                    // Before Enter is pressed: whoever comes after us must know the tag that counts.
                    self.save_reports_if_changed(agent);
                }
                let is_held = is_held && stage == Stage::Refused;
                let stage = if is_held { Stage::Queued } else { stage };
                let receipt = *receipt;
                self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
            }
            Aim::Asker(Some(asker), deed) if stage.is_final() => {
                self.note_run(agent, run, RunEvent::PersonActed(*deed, stage, reason.clone()));
                self.answer(*asker, Ok(Response::Deed { state: stage, reason }));
            }
            Aim::Leave(fingerprint) if stage.is_final() => {
                let fingerprint = fingerprint.clone();
                self.note_run(agent, run, RunEvent::LeaveGiven { fingerprint, stage, reason });
            }
            Aim::Asker(..) | Aim::Leave(_) => {}
        }
        self.views.note_status_change();
    }

    /// Gives up a prompt of which no more can be put on record, and so no more is typed.
    pub(in crate::hub) fn abandon_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        receipt: ReceiptId,
        reason: &str,
    ) {
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.errand.take_if(|errand| errand.is_of(receipt));
        }
        let reason = Some(format!("given up, because the record cannot be written: {reason}"));
        let stage = Stage::Stalled;
        self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
    }

    /// Goes on wherever the time has come.
    pub(in crate::hub) fn run_errands_due(&mut self, now: Moment) {
        let is_due = |pane: &Pane| pane.errand_deadline().is_some_and(|deadline| deadline <= now);
        let due = self.panes.iter().filter(|(_, pane)| is_due(pane));
        for agent in due.map(|(agent, _)| agent.clone()).collect::<Vec<_>>() {
            self.run_errand(&agent, now);
        }
    }

    /// Gives up what was to be pressed in a pane whose agent is gone.
    pub(in crate::hub) fn drop_errand(&mut self, agent: &AgentName) {
        let errand = self.panes.get_mut(agent).and_then(|pane| pane.errand.take());
        if let Some(Aim::Asker(Some(asker), _)) = errand.map(|errand| errand.aim()) {
            self.answer(asker, Err(Fault::new(format!("Agent `{agent}` has ended"))));
        }
    }

    fn submit_of(&self, agent: &AgentName) -> Submit {
        self.manifest_of(agent).map(|manifest| manifest.submit.clone()).unwrap_or_default()
    }

    fn keys_of(&self, name: &str) -> Result<Keys, Fault> {
        let agent = self.known(name)?;
        Ok(self.manifest_of(&agent).map(|manifest| manifest.keys.clone()).unwrap_or_default())
    }
}

/// Whom the outcome of an errand is for.
enum Aim {
    Prompt {
        receipt: ReceiptId,
        letter: OutgoingPrompt,
    },
    Asker(Option<Asker>, PersonDeed),
    /// The engine, with the dialog that it answered.
    Leave(String),
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
            Self::Answer { machine, .. } | Self::Leave { machine, .. } => {
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
            Self::Answer { machine, .. } | Self::Leave { machine, .. } => machine.next_deadline(),
            Self::Interrupt { machine, .. } => machine.next_deadline(),
        }
    }

    /// Says whether it is about this prompt.
    fn is_of(&self, prompt: ReceiptId) -> bool {
        matches!(self.aim(), Aim::Prompt { receipt, .. } if receipt == prompt)
    }

    fn aim(&self) -> Aim {
        match self {
            Self::Prompt { receipt, letter, .. }
            | Self::Blind { receipt, letter, .. }
            | Self::Inspection { receipt, letter, .. } => {
                Aim::Prompt { receipt: *receipt, letter: letter.clone() }
            }
            Self::Answer { asker, .. } => Aim::Asker(Some(*asker), PersonDeed::Answer),
            Self::Leave { fingerprint, .. } => Aim::Leave(fingerprint.clone()),
            Self::Interrupt { asker, .. } => Aim::Asker(*asker, PersonDeed::Interrupt),
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
    pub(in crate::hub) fn scene(&self) -> Option<PaneSnapshot<'_>> {
        let detector = self.detector.as_ref()?;
        Some(PaneSnapshot {
            screen: &self.screen,
            rules: detector.rules(),
            shown: detector.shown(),
            prompt_heard_at: detector.prompt_heard_at(),
            prompt_heard: detector.prompt_heard(),
            awaits_turn: detector.awaits_turn(),
            typed_at: self.disturbed_at,
            has_room: self.link.as_ref().is_some_and(super::link::Link::has_room),
        })
    }

    /// Returns when there is something to press though nothing was written.
    pub(in crate::hub) fn errand_deadline(&self) -> Option<Moment> {
        self.errand.as_ref().and_then(Keystrokes::next_deadline)
    }
}
