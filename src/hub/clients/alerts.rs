//! Tells a person who does not look: by the desktop, by a command of theirs, and by the dashboards.

use std::cell::Cell;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::api::{Alert, FromHub, Notice};
use crate::config::{Desktop, plain};
use crate::engine::Seat;
use crate::hub::Hub;
use crate::model::{AgentName, AgentState, Moment};
use crate::notify::{Notifier, Occasion, body, desktop_body, occasion_of, title};

/// A program that shows a word to a person is done by then; else it is killed.
const LIMIT: Duration = Duration::from_secs(10);

/// Programs at once; a word that comes while so many run is not handed to another one.
const RUNNING_MAX: usize = 8;

/// What a person was told of, and the programs that tell them.
#[derive(Debug, Default)]
pub(in crate::hub) struct Alerts {
    notifier: Notifier,
    running: Rc<Cell<usize>>,
    /// No way to the desktop was found: that was said once.
    has_no_desktop: bool,
    has_no_command: bool,
}

impl Alerts {
    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        self.notifier.next_deadline()
    }
}

impl Hub {
    /// Tells what there is to tell of the agents as they are now.
    pub(in crate::hub) fn alert(&mut self) {
        let (now, wanted) = (self.clock.now(), &self.settings.notify.states);
        let mut due = Vec::new();
        for seat in self.engine.seats() {
            let agent = &seat.member.name;
            let occasion = occasion_of(seat.state, seat.pace.stuck.is_some(), wanted);
            let is_seen = self.views.is_attended(agent);
            if self.alerts.notifier.observe(agent, occasion, is_seen, now)
                && let Some(occasion) = occasion
            {
                due.push((agent.clone(), seat.state, occasion, self.reason(seat)));
            }
        }
        let engine = &self.engine;
        self.alerts.notifier.keep(|agent| engine.seat(agent).is_some());
        for (agent, state, occasion, reason) in due {
            self.raise(agent, state, occasion, &reason.unwrap_or_default());
        }
    }

    /// Returns why an agent is in its state: what a person should know, else what told it.
    fn reason(&self, seat: &Seat) -> Option<String> {
        let detector = || self.panes.get(&seat.member.name)?.detector.as_ref();
        let line = || detector().map(|detector| detector.shown().line.clone());
        self.remark(seat).or_else(line)
    }

    fn raise(&mut self, agent: AgentName, state: AgentState, occasion: Occasion, reason: &str) {
        let project = self.paths.project.display().to_string();
        let (title, body) = (title(agent.as_str(), &project), body(&occasion.to_string(), reason));
        tracing::info!(%agent, %occasion, "a person is told");
        let by_system = match self.settings.notify.desktop {
            Desktop::Auto => !self.views.has_dashboard(),
            Desktop::System => true,
            Desktop::Terminal | Desktop::Never => false,
        };
        if by_system {
            self.show(&title, &body);
        }
        self.run_command(&agent, occasion, reason);
        let is_stuck = occasion == Occasion::Stuck;
        let alert = Alert { agent, state, is_stuck, title, body };
        self.views.tell_subscribers(&FromHub::Notice(Notice::Alert(alert)));
    }

    /// Shows a notification in the desktop's own way, where there is one.
    fn show(&mut self, title: &str, body: &str) {
        if self.alerts.has_no_desktop {
            return;
        }
        let mut command = Command::new("notify-send");
        command.args(["--app-name=wheelhouse", "--", title, &desktop_body(body)]);
        self.launch_teller(command, |hub, started| {
            if let Err(error) = started {
                tracing::info!(%error, "the desktop has no `notify-send`: it is told nothing");
                hub.alerts.has_no_desktop = true;
            }
        });
    }

    fn run_command(&mut self, agent: &AgentName, occasion: Occasion, reason: &str) {
        let Some((program, words)) = self.settings.notify.command.split_first() else { return };
        let mut command = Command::new(program);
        command.args(words);
        // One environment is no place for a zero.
        let reason = plain(reason).replace('\0', "");
        command
            .env("WHEELHOUSE_AGENT", agent.as_str())
            .env("WHEELHOUSE_STATE", occasion.to_string())
            .env("WHEELHOUSE_REASON", reason);
        self.launch_teller(command, |hub, started| {
            if let Err(error) = &started
                && !hub.alerts.has_no_command
            {
                tracing::warn!(%error, "the command of `[notify]` cannot be run");
            }
            hub.alerts.has_no_command = started.is_err();
        });
    }

    /// Starts a program that ends by itself or is ended.
    fn launch_teller(
        &self,
        mut command: Command,
        then: impl FnOnce(&mut Self, io::Result<()>) + 'static,
    ) {
        let running = Rc::clone(&self.alerts.running);
        if running.get() >= RUNNING_MAX {
            tracing::warn!("too many programs tell of agents already");
            return;
        }
        running.set(running.get() + 1);
        for secret in ["WHEELHOUSE_TOKEN", "WHEELHOUSE_SOCKET", "WHEELHOUSE_RUN"] {
            command.env_remove(secret);
        }
        let project = self.paths.project.clone();
        command.env("WHEELHOUSE_PROJECT", &project);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let program = command.get_program().to_owned();
        let spawn = move || {
            command.current_dir(if project.is_dir() { &project } else { Path::new("/") });
            command.spawn()
        };
        self.in_background(spawn, move |hub, spawned| {
            let spawned = spawned.unwrap_or_else(|fault| Err(io::Error::other(fault)));
            then(
                hub,
                spawned.as_ref().map(drop).map_err(|error| io::Error::other(error.to_string())),
            );
            tokio::task::spawn_local(async move {
                if let Ok(child) = spawned {
                    let ended = end_in_time(child).await;
                    if !ended.as_ref().is_some_and(ExitStatus::success) {
                        let status = ended.map(|status| status.to_string());
                        tracing::info!(?program, status, "a program that tells of agents failed");
                    }
                }
                running.set(running.get() - 1);
            });
        });
    }
}

/// Returns how it ended; nothing, if it had to be.
async fn end_in_time(mut child: Child) -> Option<ExitStatus> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut ending = tokio::task::spawn_blocking(move || child.wait());
    if let Ok(ended) = tokio::time::timeout(LIMIT, &mut ending).await {
        return ended.ok()?.ok();
    }
    if let Some(group) = group
        && let Err(error) = kill_process_group(group, Signal::KILL)
    {
        tracing::warn!(%error, "a program that tells of agents could not be killed");
    }
    let _ = ending.await;
    None
}
