//! Types prompts, answers dialogs and interrupts agents, as the engine or a client wants it.

use crate::api::{Fault, Response};
use crate::deliver::{
    self, Choice, DialogAnswer, Interrupt, OutgoingPrompt, PaneAction, PaneSnapshot,
};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::hub::clients::askers::Asker;
use crate::hub::panes::keystrokes::{
    KeystrokeAim, KeystrokeStep, Keystrokes, OTHER_KEYS, PromptOrder,
};
use crate::hub::record::commit_queue::PendingEffect;
use crate::keeper::ToKeeper;
use crate::model::{AgentName, Keys, Moment, ReceiptId, RunId, Stage, Submit};

impl Hub {
    pub(in crate::hub) fn begin_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        prompt: PromptOrder,
    ) {
        let (now, receipt) = (self.clock.now(), prompt.receipt);
        let (how, keys) = (self.submit_of(agent), self.keys_of(agent));
        match self.panes.begin_prompt((agent, run), prompt, (&how, &keys), now) {
            Ok(()) => self.press_next(agent, now),
            Err((stage, reason)) => self.note_delivery(agent, run, (receipt, stage), reason),
        }
    }

    /// Looks what became of a prompt that an earlier hub was typing.
    pub(in crate::hub) fn begin_inspection(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (receipt, stage, text): (ReceiptId, Stage, String),
    ) {
        let dispatch = self.engine.dispatches().find(|dispatch| dispatch.id == receipt);
        let letter = OutgoingPrompt {
            text,
            tag: dispatch.and_then(|dispatch| dispatch.tag.clone()),
            is_command: dispatch.is_some_and(|dispatch| dispatch.manner.is_command),
        };
        let now = self.clock.now();
        let begun = self.panes.begin_inspection((agent, run), (receipt, stage), letter, now);
        if begun.is_none() {
            self.note_delivery(agent, run, (receipt, Stage::Unknown), "its pane is gone");
        }
    }

    fn note_delivery(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (receipt, stage): (ReceiptId, Stage),
        reason: &str,
    ) {
        let reason = Some(reason.to_owned());
        self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
    }

    /// Answers the dialog that the engine approved.
    pub(in crate::hub) fn answer_by_rule(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (fingerprint, yes): (String, usize),
    ) {
        let (now, keys) = (self.clock.now(), self.keys_of(agent));
        let answer = (fingerprint.clone(), yes);
        if self.panes.begin_approval((agent, run), answer, &keys, now).is_some() {
            return self.press_next(agent, now);
        }
        let (stage, reason) = (Stage::Refused, Some(OTHER_KEYS.to_owned()));
        self.note_run(agent, run, RunEvent::Approved { fingerprint, stage, reason });
    }

    /// Begins to answer the dialog that whoever asks has seen.
    pub(in crate::hub) fn begin_answer(
        &mut self,
        asker: Asker,
        name: &str,
        dialog: &str,
        choice: Choice,
    ) -> Result<(), Fault> {
        let keys = self.keys_of(&self.known(name)?);
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
        let keys = self.keys_of(&self.known(name)?);
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
        let (agent, now) = (self.known(name)?, self.clock.now());
        self.live_pane(&agent)?.begin_asked(&agent, now, begin)?;
        self.press_next(&agent, now);
        Ok(())
    }

    /// Goes on with what is to be pressed in a pane.
    pub(in crate::hub) fn press_next(&mut self, agent: &AgentName, now: Moment) {
        let Some(step) = self.panes.next_step(agent, now) else { return };
        let KeystrokeStep { run, acts, aim, can_wait } = step;
        for act in acts {
            match act {
                PaneAction::Write(bytes) => {
                    self.order(agent, &ToKeeper::Input { answers_to: None, bytes });
                }
                PaneAction::Stage(stage) => {
                    let awaits_record = stage.awaits_record();
                    self.note_stage(agent, run, &aim, stage, can_wait);
                    if let (KeystrokeAim::Prompt { receipt, .. }, true) = (&aim, awaits_record) {
                        let (agent, receipt) = (agent.clone(), *receipt);
                        self.carry_out_later(PendingEffect::GoOn { agent, run, receipt });
                    }
                }
            }
        }
    }

    /// Goes on wherever the time has come.
    pub(in crate::hub) fn press_due(&mut self, now: Moment) {
        for agent in self.panes.keystrokes_due(now) {
            self.press_next(&agent, now);
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
        if self.panes.note_recorded((agent, run), receipt, now).is_some() {
            self.press_next(agent, now);
        }
    }

    fn note_stage(
        &mut self,
        agent: &AgentName,
        run: RunId,
        aim: &KeystrokeAim,
        stage: deliver::DeliveryStage,
        can_wait: bool,
    ) {
        let is_submitted = stage == deliver::DeliveryStage::Submitted;
        let (stage, reason) = stage.into_receipt();
        match aim {
            KeystrokeAim::Prompt { receipt, letter } => {
                if is_submitted {
                    self.panes.note_submitted(agent, letter, self.clock.now());
                }
                let is_held = can_wait && stage == Stage::Refused;
                let stage = if is_held { Stage::Queued } else { stage };
                let receipt = *receipt;
                self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
            }
            KeystrokeAim::Asker(Some(asker), deed) if stage.is_final() => {
                self.note_run(agent, run, RunEvent::PersonActed(*deed, stage, reason.clone()));
                self.answer(*asker, Ok(Response::Deed { state: stage, reason }));
            }
            KeystrokeAim::Approval(fingerprint) if stage.is_final() => {
                let fingerprint = fingerprint.clone();
                self.note_run(agent, run, RunEvent::Approved { fingerprint, stage, reason });
            }
            KeystrokeAim::Asker(..) | KeystrokeAim::Approval(_) => {}
        }
        self.clients.note_status_change();
    }

    /// Gives up a prompt of which no more can be put on record, and so no more is typed.
    pub(in crate::hub) fn abandon_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        receipt: ReceiptId,
        reason: &str,
    ) {
        self.panes.drop_prompt(agent, receipt);
        let reason = format!("given up, because the record cannot be written: {reason}");
        self.note_delivery(agent, run, (receipt, Stage::Stalled), &reason);
    }

    /// Refuses a prompt whose first key could not be put on record.
    pub(in crate::hub) fn refuse_prompt(
        &mut self,
        agent: &AgentName,
        run: RunId,
        receipt: ReceiptId,
        reason: &str,
    ) {
        let reason = format!("it could not be put on record: {reason}");
        self.note_delivery(agent, run, (receipt, Stage::Refused), &reason);
    }

    fn submit_of(&self, agent: &AgentName) -> Submit {
        self.manifest_of(agent).map(|manifest| manifest.submit.clone()).unwrap_or_default()
    }

    fn keys_of(&self, agent: &AgentName) -> Keys {
        self.manifest_of(agent).map(|manifest| manifest.keys.clone()).unwrap_or_default()
    }
}
