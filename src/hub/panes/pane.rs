//! Keeps an agent's terminal: its screen, what it means, and how far the output has been read.

use std::time::Duration;

use super::dialogs::OpenDialog;
use super::event_stream::EventStream;
use super::keystrokes::Keystrokes;
use super::link::Link;
use super::reports::SentReports;
use crate::detect::Detector;
use crate::hub::clients::socket::AgentSocket;
use crate::hub::clients::views::PaneContent;
use crate::keeper::{ToKeeper, Welcome};
use crate::model::{Moment, Row, RunId, Size};
use crate::screen::{HistoryLimit, Screen, Signal};

/// A pane that nobody has typed into for this long waits its turn like the others.
const URGENCY: Duration = Duration::from_secs(2);

/// A pane: it outlives the run that fills it, so that the last words of an agent can be read.
#[derive(Debug)]
pub(in crate::hub) struct Pane {
    pub(super) run: RunId,
    pub(super) screen: Screen,
    /// The line to the run's keeper, while there is one.
    pub(super) link: Option<Link>,
    /// Where the agent's own programs speak to the hub, if they see no other socket.
    pub(super) socket: Option<AgentSocket>,
    /// All output before this offset is on the screen.
    pub(super) offset: u64,
    /// Queries in output before this offset have been answered.
    answered: u64,
    pub(super) checkpoint: LastCheckpoint,
    /// Someone typed into this pane at this time.
    typed_at: Option<Moment>,
    /// A person pressed a key in it at this time.
    pub(super) disturbed_at: Option<Moment>,
    /// What the hub itself is about to press in it.
    pub(super) keystrokes: Option<Keystrokes>,
    /// The dialog on the screen.
    pub(super) dialog: Option<OpenDialog>,
    /// Says what the screen means.
    pub(super) detector: Option<Detector>,
    /// What was told of this run, by this hub and those before it.
    pub(super) reports: SentReports,
    /// Output before this offset was printed while no hub read it.
    pub(super) caught_up_at: u64,
    /// The events that the agent serves.
    pub(super) events: Option<EventStream>,
    /// A number for the words on the screen, and when it was last taken.
    pub(super) words: Option<u64>,
    pub(super) words_seen_at: Moment,
    /// How many tokens the engine was told of, and when.
    pub(super) tokens_told: u64,
    pub(super) tokens_told_at: Moment,
}

/// Up to where, and when, the screen was last written to disk, and how long that took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastCheckpoint {
    pub(super) offset: u64,
    pub(super) at: Moment,
    pub(super) cost: Duration,
}

/// Output that a pane has taken.
#[derive(Debug)]
pub(in crate::hub) struct TakenOutput<'a> {
    /// What of it is new.
    pub(in crate::hub) bytes: &'a [u8],
    pub(in crate::hub) signals: Vec<Signal>,
    /// The emulator failed and was rebuilt.
    pub(in crate::hub) is_rebuilt: bool,
}

impl Pane {
    pub(in crate::hub) fn new(run: RunId, size: Size, limit: HistoryLimit) -> Self {
        Self {
            run,
            screen: Screen::new(size, limit),
            link: None,
            socket: None,
            offset: 0,
            answered: 0,
            checkpoint: LastCheckpoint::default(),
            typed_at: None,
            disturbed_at: None,
            keystrokes: None,
            dialog: None,
            detector: None,
            reports: SentReports::default(),
            caught_up_at: 0,
            events: None,
            words: None,
            words_seen_at: Moment::default(),
            tokens_told: 0,
            tokens_told_at: Moment::default(),
        }
    }

    pub(in crate::hub) fn run(&self) -> RunId {
        self.run
    }

    pub(in crate::hub) fn screen(&self) -> &Screen {
        &self.screen
    }

    pub(in crate::hub) fn detector(&self) -> Option<&Detector> {
        self.detector.as_ref()
    }

    /// Says whether there is a line to the keeper of its run.
    pub(in crate::hub) fn is_live(&self) -> bool {
        self.link.is_some()
    }

    /// Returns how many reports its run has made.
    pub(in crate::hub) fn report_count(&self) -> u64 {
        self.reports.count
    }

    /// Returns what clients are shown of it.
    pub(in crate::hub) fn content(&self) -> PaneContent<'_> {
        PaneContent { screen: &self.screen, typed_at: self.typed_at, is_live: self.is_live() }
    }

    pub(in crate::hub) fn set_socket(&mut self, socket: Option<AgentSocket>) {
        self.socket = socket;
    }

    /// Returns the text of the screen, and of the history above it if it is wanted, from the last
    /// line up. Empty rows at the end of the screen are no lines.
    pub(in crate::hub) fn last_lines(&self, with_history: bool) -> impl Iterator<Item = String> {
        let screen = &self.screen;
        let text = |row: Row| row.text().trim_end().to_owned();
        let present = (0..screen.size().rows).rev().map(move |index| text(screen.row(index)));
        let present = present.skip_while(String::is_empty);
        let past = if with_history { screen.history_range() } else { 0..0 };
        present.chain(past.rev().filter_map(|number| screen.history_row(number)).map(text))
    }

    /// Sends an order to the keeper, and says whether it was taken.
    pub(in crate::hub) fn order(&self, order: &ToKeeper) -> bool {
        self.link.as_ref().is_some_and(|link| link.send(order))
    }

    /// Notes that a person types into it, and whether that is Enter alone.
    pub(in crate::hub) fn note_person(&mut self, is_enter: bool, now: Moment) {
        self.disturbed_at = Some(now);
        if let Some(detector) = &mut self.detector {
            detector.note_typing(is_enter, now);
        }
    }

    /// Types bytes into the terminal.
    pub(in crate::hub) fn type_bytes(&mut self, bytes: Vec<u8>, now: Moment) -> bool {
        self.typed_at = Some(now);
        if let Some(link) = &self.link {
            link.set_urgent(true);
        }
        bytes.is_empty() || self.order(&ToKeeper::Input { answers_to: None, bytes })
    }

    /// Gives the terminal another size. The screen follows once the keeper says so, or at once where no
    /// keeper will; then this returns true.
    pub(in crate::hub) fn want_size(&mut self, size: Size) -> bool {
        if self.screen.size() == size || self.order(&ToKeeper::Resize(size)) {
            return false;
        }
        self.screen.resize(size);
        true
    }

    /// Gives the screen the size that the terminal has at this point of the output.
    pub(in crate::hub) fn resize(&mut self, size: Size) {
        self.screen.resize(size);
    }

    /// Takes note of what its keeper says first; the time of a hub that follows another is needed.
    pub(in crate::hub) fn attach(&mut self, welcome: &Welcome, is_far: bool, now: Moment) {
        // A keeper that is not on record knows best which run it keeps.
        self.run = welcome.run;
        self.answered = welcome.answered;
        if self.offset < welcome.kept.start {
            let lost = welcome.kept.start - self.offset;
            tracing::info!(run = %self.run, lost, "output was overwritten before it could be read");
            self.offset = welcome.kept.start;
        }
        // What was printed while no hub was there may have gone with words of a hook or a reporter that
        // nobody heard. A line from elsewhere may have taken it in when its hub was gone already.
        let was_still = !is_far && welcome.told == Some(welcome.kept.end);
        let is_adopted = self.caught_up_at == u64::MAX;
        if let Some(detector) = self.detector.as_mut().filter(|_| is_adopted) {
            if !was_still {
                detector.forget_claim();
            } else if self.offset == welcome.kept.end {
                // No output will come to be looked at.
                detector.look_soon(now);
            }
        }
        self.caught_up_at = self.caught_up_at.min(welcome.kept.end);
    }

    /// Feeds output to the screen, and answers what the application asked its terminal for. Returns what of
    /// it is new: after a reconnect the first piece may begin before what is already on the screen.
    pub(in crate::hub) fn take_output<'a>(
        &mut self,
        offset: u64,
        bytes: &'a [u8],
        now: Moment,
    ) -> Option<TakenOutput<'a>> {
        let end = offset + bytes.len() as u64;
        let known = usize::try_from(self.offset.saturating_sub(offset)).unwrap_or(usize::MAX);
        let fresh = bytes.get(known..).filter(|fresh| !fresh.is_empty())?;
        let replayed = self.answered.saturating_sub(self.offset.max(offset));
        let replayed = usize::try_from(replayed).unwrap_or(usize::MAX).min(fresh.len());
        let (old, new) = fresh.split_at(replayed);
        let was_rebuilt = self.screen.feed(old, now).rebuilt;
        let fed = self.screen.feed(new, now);
        self.offset = end;
        if !fed.answers.is_empty() {
            self.order(&ToKeeper::Input { answers_to: Some(end), bytes: fed.answers });
        }
        if self.typed_at.is_some_and(|typed| now.since(typed) > URGENCY) {
            self.typed_at = None;
            if let Some(link) = &self.link {
                link.set_urgent(false);
            }
        }
        let is_rebuilt = was_rebuilt || fed.rebuilt;
        Some(TakenOutput { bytes: fresh, signals: fed.signals, is_rebuilt })
    }

    /// Cuts all lines to a run that is over.
    pub(super) fn close(&mut self) {
        (self.link, self.events, self.socket) = (None, None, None);
    }
}
