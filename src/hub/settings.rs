//! Takes over settings that were changed while the hub runs. Those that cannot be used change nothing.

use std::time::Duration;

use super::Hub;
use crate::api::{Fault, Response};
use crate::config::{Loaded, Problem, RecordSettings, Settings};
use crate::hub::agents::planner::Planner;
use crate::hub::record::undo::EngineChange;
use crate::hub::requests::route::Asker;
use crate::model::Size;
use crate::screen::HistoryLimit;
use crate::store::Keep;

const DAY: Duration = Duration::from_hours(24);

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

    pub(super) fn heed(&mut self, settings: Settings) {
        self.grace_ms = u64::from(settings.stop.grace_seconds) * 1000;
        let lines = settings.pane.scrollback.try_into().unwrap_or(usize::MAX);
        self.history_limit = HistoryLimit { lines, ..HistoryLimit::default() };
        self.default_size = Size { rows: settings.pane.min_rows, cols: settings.pane.min_cols };
        self.casts.heed(settings.casts);
        // Where the files cannot be used, nobody knows how much they want kept.
        let record = Some(settings.record).filter(|_| self.settings_fault.is_none());
        self.ledger.set_keep(record.map(keep).unwrap_or_default());
        self.change_engine(EngineChange::Settings(Box::new(settings.clone())));
        let before = std::mem::replace(&mut self.settings, settings);
        if before.approvals != self.settings.approvals {
            self.heed_approvals();
        }
        self.heed_rules(&before);
    }
}

fn keep(settings: RecordSettings) -> Keep {
    let RecordSettings { days, megabytes } = settings;
    let age = (days > 0).then(|| DAY * days);
    let bytes = (megabytes > 0).then(|| u64::from(megabytes) << 20);
    Keep { age, bytes }
}
