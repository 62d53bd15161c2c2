//! `wheelhouse replay RUN`: any moment of the past, printed or played.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;

use super::args::Format;
use super::attach::is_terminal;
use super::context::{Context, caller_environment};
use super::history::look;
use super::past::Past;
use super::recorded;
use super::when::{Spot, spot};
use crate::config::Settings;
use crate::history::{
    HistoryEvent, JournalItem, PastMoment, PastScreen, RunSummary, clock, moment_text,
};
use crate::model::{AgentName, Moment};
use crate::recording::Playback;
use crate::tui::{self, PlayerOptions, ThemeChoice};

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The run, such as `s1`; `all` is the whole record
    run: String,
    /// Print one moment: an entry number, a time in UTC, `+5m` from the start, `-5m` from
    /// the end [default: play; without a terminal, the end]
    #[arg(long, value_name = "MOMENT", value_parser = spot, allow_hyphen_values = true)]
    at: Option<Spot>,
    #[command(flatten)]
    format: Format,
}

pub(super) fn replay(context: &mut Context, args: &ReplayArgs) -> anyhow::Result<()> {
    let past = Past::open(context)?;
    let chapter = past.chapter(&args.run)?.clone();
    let entries = past.entries(&chapter)?;
    let mut film = Film { past, chapter, entries, context, reels: BTreeMap::new() };
    if args.at.is_none() && !args.format.json && is_terminal() {
        return play(&mut film);
    }
    let at = film.moment(args.at.unwrap_or(Spot::Entry(u64::MAX)));
    let mut scene = film.scene(at)?;
    for agent in &mut scene.agents {
        agent.footage = film.footage(&agent.name, at.1);
    }
    if args.format.json {
        return film.context.print_json(&scene);
    }
    write!(film.context.out, "{}", moment_text(&scene, look()))?;
    Ok(())
}

fn play(film: &mut Film<'_>) -> anyhow::Result<()> {
    let settings = Settings::load(&film.context.paths)?.settings;
    let options = PlayerOptions {
        theme: ThemeChoice::Named(settings.dashboard.theme),
        environment: caller_environment(),
        run: film.chapter.id.clone(),
        entries: film.entries.clone(),
    };
    Ok(tui::play(film, options)?)
}

/// A run with its recordings.
struct Film<'a> {
    past: Past,
    chapter: RunSummary,
    entries: Vec<JournalItem>,
    context: &'a mut Context,
    /// What was recorded of each agent, or why nothing can be shown of it.
    reels: BTreeMap<AgentName, Result<Playback, String>>,
}

impl Film<'_> {
    /// Returns the last entry by a place in the run, and the moment of that place.
    fn moment(&self, spot: Spot) -> (usize, Moment) {
        let RunSummary { began, until, .. } = self.chapter;
        let at = match spot {
            Spot::Entry(seq) => {
                let index = self.entries.partition_point(|told| told.seq <= seq).saturating_sub(1);
                return (index, self.entries[index].at);
            }
            Spot::At(at) => at,
            Spot::In(time) => began + time,
            Spot::BeforeEnd(time) => Moment(0) + until.since(Moment(0) + time),
        };
        let at = at.clamp(began, until);
        (self.entries.partition_point(|told| told.at <= at).saturating_sub(1), at)
    }

    fn scene(&self, (index, at): (usize, Moment)) -> anyhow::Result<PastMoment> {
        let told = &self.entries[index];
        let record = self.past.record(told.batch)?;
        Ok(PastMoment::of(
            &self.chapter.id,
            &record,
            (told.seq, at),
            Some(HistoryEvent::from(told)),
        ))
    }

    fn footage(&mut self, agent: &AgentName, at: Moment) -> PastScreen {
        let context = &*self.context;
        let reel = self.reels.entry(agent.clone()).or_insert_with(|| reel(context, agent));
        match reel {
            Ok(playback) => match playback.rows_at(at) {
                Some(rows) => PastScreen::of(rows),
                None => PastScreen::missing(format!(
                    "its recording begins at {}; older output is not kept",
                    clock(playback.began())
                )),
            },
            Err(reason) => PastScreen::missing(reason.as_str()),
        }
    }
}

fn reel(context: &Context, agent: &AgentName) -> Result<Playback, String> {
    // An agent that the hub no longer knows has nothing that it could still write.
    let _ = recorded::flush(context, agent.as_str());
    match recorded::recording(context, agent) {
        Ok(Some(cast)) => Ok(Playback::new(cast)),
        Ok(None) => Err("it has no recording".to_owned()),
        Err(error) => Err(format!("its recording cannot be read: {error:#}")),
    }
}

impl tui::Film for Film<'_> {
    fn scene(&mut self, index: usize) -> Result<PastMoment, String> {
        let at = self.entries[index].at;
        Film::scene(self, (index, at)).map_err(|error| format!("{error:#}"))
    }

    fn footage(&mut self, agent: &AgentName, at: Moment) -> PastScreen {
        Film::footage(self, agent, at)
    }
}
