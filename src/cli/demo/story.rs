//! The demo as lines, for where there is no terminal.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::stage::Stage;
use crate::api::{AgentStatus, FromHub, KeyInput, Notice, Request, Status};
use crate::client::{self, ClientError, Connection};
use crate::config::plain;
use crate::model::{AgentState, Key, KeyCode};

/// The story is told by then, whatever happens.
const STORY_MAX: Duration = Duration::from_secs(34);

/// How long to wait for the next thing to happen before looking at the clock.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Tells the story as it happens, and answers for the person who is not there.
pub(super) fn tell(stage: &Stage, is_over: &AtomicBool, out: &mut dyn Write) -> anyhow::Result<()> {
    stage.run(&["up", "demo"])?;
    let mut connection = client::connect_running(&stage.paths()?)?;
    connection.set_patience(LOOK_EVERY)?;
    connection.send(Request::Subscribe)?;
    let mut story = Story { began: now(), seen: BTreeMap::new(), answered: None, out };
    story.say("", "Four scripted agents work on a throw-away repository")?;
    while !story.is_over() && !is_over.load(Ordering::Relaxed) {
        match connection.receive() {
            Ok(frame) => story.take(&frame, &mut connection)?,
            Err(error) if error.is_timeout() => {}
            Err(error) => return Err(error.into()),
        }
    }
    story.end()
}

struct Story<'a> {
    began: Instant,
    /// What each agent was last seen doing, and whether it was stuck.
    seen: BTreeMap<String, (AgentState, bool)>,
    /// Who was answered last, so that each dialog is answered once.
    answered: Option<String>,
    out: &'a mut dyn Write,
}

impl Story<'_> {
    fn take(&mut self, frame: &FromHub, connection: &mut Connection) -> anyhow::Result<()> {
        match frame {
            FromHub::Notice(Notice::Status(status)) => self.compare(status, connection),
            FromHub::Notice(Notice::Report { agent, report, .. }) => {
                self.say(agent.as_str(), &format!("reports   {}", plain(&report.raw)))
            }
            FromHub::Notice(Notice::Ending) => Err(ClientError::Closed.into()),
            FromHub::Notice(Notice::Pane(_) | Notice::Alert(_)) | FromHub::Answer { .. } => Ok(()),
        }
    }

    /// Says what has changed since the last status.
    fn compare(&mut self, status: &Status, connection: &mut Connection) -> anyhow::Result<()> {
        for agent in &status.agents {
            let now = (agent.state, agent.stuck);
            if self.seen.insert(agent.name.clone(), now) == Some(now) {
                continue;
            }
            let sign = if agent.stuck { "  STUCK" } else { "" };
            let note = agent.note.as_deref().map(plain).unwrap_or_default();
            self.say(&agent.name, &format!("{:<9} {note}{sign}", agent.state))?;
            if agent.state == AgentState::Waiting {
                self.answer(agent, connection)?;
            } else if self.answered.as_ref() == Some(&agent.name) {
                self.answered = None;
            }
        }
        Ok(())
    }

    /// Takes the first option of a dialog, as a person would with one key.
    fn answer(&mut self, agent: &AgentStatus, connection: &mut Connection) -> anyhow::Result<()> {
        if self.answered.as_ref() == Some(&agent.name) {
            return Ok(());
        }
        self.answered = Some(agent.name.clone());
        let keys = vec![KeyInput::Key(Key::plain(KeyCode::Enter))];
        connection.send(Request::Keys { agent: agent.name.clone(), keys })?;
        self.say(&agent.name, "answered  yes")
    }

    fn say(&mut self, who: &str, what: &str) -> anyhow::Result<()> {
        let at = now().duration_since(self.began).as_secs_f64();
        writeln!(self.out, "{at:5.1} s  {who:<9} {}", what.trim_end())?;
        self.out.flush()?;
        Ok(())
    }

    fn is_over(&self) -> bool {
        let has_ended = |(state, stuck): &(AgentState, bool)| {
            *stuck || matches!(state, AgentState::Done | AgentState::Error | AgentState::Exited)
        };
        let all = !self.seen.is_empty() && self.seen.values().all(has_ended);
        all || now().duration_since(self.began) >= STORY_MAX
    }

    fn end(&mut self) -> anyhow::Result<()> {
        let count = |wanted: fn(&(AgentState, bool)) -> bool| {
            self.seen.values().filter(|seen| wanted(seen)).count()
        };
        let done = count(|(state, _)| *state == AgentState::Done);
        let stuck = count(|(_, stuck)| *stuck);
        let text =
            format!("The end: {done} done, {stuck} stuck. See it live with `wheelhouse demo`");
        self.say("", &text)
    }
}

#[expect(clippy::disallowed_methods, reason = "a story tells when things happen")]
fn now() -> Instant {
    Instant::now()
}
