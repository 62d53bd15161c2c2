//! Notifies a person who is not watching: by the desktop, and by a command of theirs.

use std::cell::Cell;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::state::Clients;
use crate::config::{Desktop, NotifySettings, plain};
use crate::engine::Engine;
use crate::model::{AgentName, Moment};
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
    has_no_desktop: Rc<Cell<bool>>,
    has_no_command: Rc<Cell<bool>>,
}

impl Alerts {
    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        self.notifier.next_deadline()
    }

    /// Returns the agents that a person is to be told of now, and of what.
    pub(in crate::hub) fn observe(
        &mut self,
        engine: &Engine,
        clients: &Clients,
        wanted: &[Occasion],
        now: Moment,
    ) -> Vec<(AgentName, Occasion)> {
        let mut due = Vec::new();
        for seat in engine.seats() {
            let agent = &seat.member.name;
            let occasion = occasion_of(seat.state, seat.pace.stuck.is_some(), wanted);
            let is_seen = clients.is_attended(agent);
            if self.notifier.observe(agent, occasion, is_seen, now)
                && let Some(occasion) = occasion
            {
                due.push((agent.clone(), occasion));
            }
        }
        self.notifier.keep(|agent| engine.seat(agent).is_some());
        due
    }

    /// Tells a person of an agent outside of the dashboards: by the desktop, if it is asked for, and by a
    /// command of theirs. Returns the title and the body of what is told.
    pub(in crate::hub) fn tell(
        &self,
        project: &Path,
        settings: &NotifySettings,
        has_dashboard: bool,
        (agent, occasion, reason): (&AgentName, Occasion, &str),
    ) -> (String, String) {
        let title = title(agent.as_str(), &project.display().to_string());
        let body = body(&occasion.to_string(), reason);
        tracing::info!(%agent, %occasion, "a person is told");
        let by_system = match settings.desktop {
            Desktop::Auto => !has_dashboard,
            Desktop::System => true,
            Desktop::Terminal | Desktop::Never => false,
        };
        if by_system && !self.has_no_desktop.get() {
            self.show(project, &title, &body);
        }
        if let Some((program, words)) = settings.command.split_first() {
            let mut command = Command::new(program);
            command.args(words);
            self.run_command(project, command, (agent, occasion, reason));
        }
        (title, body)
    }

    /// Shows a notification in the desktop's own way, where there is one.
    fn show(&self, project: &Path, title: &str, body: &str) {
        let mut command = Command::new("notify-send");
        command.args(["--app-name=wheelhouse", "--", title, &desktop_body(body)]);
        let has_no_desktop = Rc::clone(&self.has_no_desktop);
        self.launch(project, command, move |started| {
            if let Err(error) = started {
                tracing::info!(%error, "the desktop has no `notify-send`: it is told nothing");
                has_no_desktop.set(true);
            }
        });
    }

    fn run_command(
        &self,
        project: &Path,
        mut command: Command,
        (agent, occasion, reason): (&AgentName, Occasion, &str),
    ) {
        // One environment is no place for a zero.
        let reason = plain(reason).replace('\0', "");
        command
            .env("WHEELHOUSE_AGENT", agent.as_str())
            .env("WHEELHOUSE_STATE", occasion.to_string())
            .env("WHEELHOUSE_REASON", reason);
        let has_no_command = Rc::clone(&self.has_no_command);
        self.launch(project, command, move |started| {
            if let Err(error) = started
                && !has_no_command.get()
            {
                tracing::warn!(%error, "the command of `[notify]` cannot be run");
            }
            has_no_command.set(started.is_err());
        });
    }

    /// Starts a program that ends by itself or is ended.
    fn launch(
        &self,
        project: &Path,
        mut command: Command,
        note: impl FnOnce(Result<&Child, &io::Error>) + 'static,
    ) {
        let running = Rc::clone(&self.running);
        if running.get() >= RUNNING_MAX {
            tracing::warn!("too many programs tell of agents already");
            return;
        }
        running.set(running.get() + 1);
        for secret in ["WHEELHOUSE_TOKEN", "WHEELHOUSE_SOCKET", "WHEELHOUSE_RUN"] {
            command.env_remove(secret);
        }
        command.env("WHEELHOUSE_PROJECT", project);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let program = command.get_program().to_owned();
        let project = project.to_owned();
        let spawn = move || {
            command.current_dir(if project.is_dir() { &project } else { Path::new("/") });
            command.spawn()
        };
        tokio::task::spawn_local(async move {
            let spawned = tokio::task::spawn_blocking(spawn).await;
            let spawned = spawned.unwrap_or_else(|error| Err(error.into()));
            note(spawned.as_ref());
            if let Ok(child) = spawned {
                let ended = end_in_time(child).await;
                if !ended.as_ref().is_some_and(ExitStatus::success) {
                    let status = ended.map(|status| status.to_string());
                    tracing::info!(?program, status, "a program that tells of agents failed");
                }
            }
            running.set(running.get() - 1);
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
