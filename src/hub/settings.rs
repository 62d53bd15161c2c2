//! Takes over settings that were changed while the hub runs. Those that cannot be used change nothing.

use super::Hub;
use crate::api::{Fault, Response};
use crate::config::{Loaded, Problem, Settings};
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::Asker;
use crate::hub::record::undo::EngineChange;

impl Hub {
    /// Takes the settings over as they are now, and tells whoever asked for it what that changed.
    pub(super) fn reload(&mut self, asker: Option<Asker>) {
        let before = self.settings.clone();
        self.plan(
            asker,
            |_, _| Ok(|_: &Planner, _: &Loaded| Ok(())),
            move |hub, _, loaded| {
                let changed = before.differences(&hub.settings);
                if !changed.is_empty() {
                    tracing::info!(changed = changed.join(", "), "the settings have changed");
                    hub.clients.note_status_change();
                }
                let warned =
                    |loaded: &Loaded| loaded.warnings.iter().map(Problem::to_string).collect();
                Some(loaded.map(|(loaded, ())| {
                    let warnings = warned(&loaded);
                    Response::Reloaded { changed, warnings }
                }))
            },
        );
    }

    /// Goes by what was loaded from now on. A project's file that was trusted and has been edited
    /// since takes nothing away from who runs by it: what held before holds until it is trusted.
    pub(super) fn take_over(&mut self, loaded: &Loaded) {
        let untrusted = loaded.project.as_ref().filter(|project| !project.is_trusted);
        if let Some(project) = untrusted.filter(|_| self.settings.has_project()) {
            let file = project.path.display();
            return self.note_settings_fault(format!(
                "{file} is not trusted as it is now\nhint: Read what it would run and trust it with `wheelhouse config trust`"
            ));
        }
        self.settings_fault = None;
        self.change_settings(loaded.settings.clone());
    }

    /// Remembers why the settings cannot be used, for whoever asks.
    pub(super) fn note_settings_fault(&mut self, fault: String) {
        if self.settings_fault.as_ref() != Some(&fault) {
            tracing::warn!(fault, "the settings cannot be used; what held before still holds");
            self.settings_fault = Some(fault);
            self.clients.note_status_change();
        }
    }

    /// Takes over what the hub itself goes by of settings that were read anew.
    pub(super) fn take_over_loaded(
        &mut self,
        loaded: Result<Loaded, String>,
    ) -> Result<Loaded, Fault> {
        match loaded {
            Ok(loaded) => {
                self.take_over(&loaded);
                Ok(loaded)
            }
            Err(error) => {
                let fault =
                    Fault::new(format!("The settings cannot be used\n{}", error.trim_end()));
                self.note_settings_fault(error);
                Err(fault
                    .with_hint("Fix them, then try again; `wheelhouse config check` checks them"))
            }
        }
    }

    /// Goes by these settings from now on.
    pub(super) fn change_settings(&mut self, settings: Settings) {
        self.record.change_settings(&settings, self.settings_fault.is_none());
        self.change_engine(EngineChange::Settings(Box::new(settings.clone())));
        let before = std::mem::replace(&mut self.settings, settings);
        if before.approvals != self.settings.approvals {
            // The rules that hold now see every dialog that is open.
            self.panes.tell_dialogs_again();
        }
        self.panes.change_settings(&before, &self.settings);
        let now = self.clock.now();
        for agent in self.panes.names() {
            let reading = self.reading_of(&agent);
            self.panes.read_by(&agent, reading, now);
        }
    }

    /// Returns how long an agent that is stopped may take to end by itself.
    pub(super) fn grace_ms(&self) -> u64 {
        u64::from(self.settings.stop.grace_seconds) * 1000
    }
}
