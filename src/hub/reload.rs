//! Takes over settings that were changed while the hub runs. Those that cannot be used change nothing.

use super::planner::Planner;
use super::requests::Asker;
use super::state::Hub;
use crate::config::{Loaded, Problem};
use crate::wire::Response;

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
                    hub.views.note_status_change();
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
        self.heed(loaded.settings.clone());
    }

    /// Remembers why the settings cannot be used, for whoever asks.
    pub(super) fn note_settings_fault(&mut self, fault: String) {
        if self.settings_fault.as_ref() != Some(&fault) {
            tracing::warn!(fault, "the settings cannot be used; what held before still holds");
            self.settings_fault = Some(fault);
            self.views.note_status_change();
        }
    }
}
