//! Records one agent's output in two files, the newer of which grows until it takes the place of
//! the older.
//!
//! What is recorded is bounded per second: a flood is passed over with a remark, and a keyframe
//! tells where the screen stands after it. Writes are gathered and handed over about once a second.

use std::path::PathBuf;
use std::time::Duration;

use super::file_writer::Files;
use super::recording_file::{FileOpening, RecordingFile, Resumed};
use crate::model::{Moment, Size};
use crate::recording::{CastEvent, Keyframes, event_line, header_line};
use crate::screen::{Screen, Signal};

/// What is recorded waits at most this long in memory.
const FLUSH_PAUSE: Duration = Duration::from_secs(1);
/// And is at most this much, but for one event.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// An interface that draws itself anew all the time writes less than this a second.
const BYTES_PER_SECOND: u64 = 64 * 1024;
/// So much may come at once.
const BURST_BYTES: u64 = 1024 * 1024;
/// A flood is recorded again once so much of it may be.
const RESUME_BYTES: u64 = 256 * 1024;
/// After an error nothing is tried for this long.
const ERROR_PAUSE: Duration = Duration::from_mins(1);
/// A file that ends within a sequence may grow by this share before a new one begins all the same.
const OVERFLOW_SHARE: u64 = 4;
/// Records one agent.
#[derive(Debug)]
pub(in crate::hub) struct Recorder {
    file: RecordingFile,
    title: String,
    file_bytes_max: u64,
    state: State,
    /// What became known of the agent before there was a file to note it in.
    unwritten_mark: Option<String>,
    buffer: String,
    flush_at: Option<Moment>,
    /// The beginning of a character that the last chunk cut.
    partial: Vec<u8>,
    keyframes: Keyframes,
    budget: Budget,
    /// Bytes of a flood that were passed over, now and when last looked at.
    skipped: u64,
    skipped_before: u64,
    paused_until: Option<Moment>,
}

/// Where events go.
#[derive(Debug)]
enum State {
    /// Before the first event, and after an error.
    Closed,
    Opening(FileOpening),
    Open(Resumed),
}

impl Recorder {
    pub(in crate::hub) fn new(
        files: Files,
        paths: [PathBuf; 2],
        title: String,
        bytes_max: u64,
    ) -> Self {
        let file_bytes_max = bytes_max / 2;
        Self {
            file: RecordingFile::new(files, paths, file_bytes_max),
            title,
            file_bytes_max,
            state: State::Closed,
            unwritten_mark: None,
            buffer: String::new(),
            flush_at: None,
            partial: Vec::new(),
            keyframes: Keyframes::default(),
            budget: Budget { left: BURST_BYTES, at: Moment::default() },
            skipped: 0,
            skipped_before: 0,
            paused_until: None,
        }
    }

    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        self.flush_at
    }

    /// Takes output that the screen shows already.
    pub(in crate::hub) fn output(
        &mut self,
        bytes: &[u8],
        signals: &[Signal],
        screen: &Screen,
        now: Moment,
    ) {
        self.keyframes.note(signals);
        self.heed_failure(now);
        if self.paused_until.is_some_and(|until| now < until) {
            return;
        }
        self.flush_at.get_or_insert(now + FLUSH_PAUSE);
        if !matches!(self.state, State::Open(_)) {
            self.begin(screen, now);
        } else if self.is_too_much(bytes.len() as u64, now) {
            self.skipped += bytes.len() as u64;
            self.partial.clear();
        } else {
            let text = whole_characters(&mut self.partial, bytes);
            self.push(&CastEvent::Output(text), now);
            self.rotate_if_full(screen, now);
        }
        if self.buffer.len() >= BUFFER_BYTES_MAX {
            self.flush();
        }
        // Under a flood nobody gets to look at deadlines.
        if self.flush_at.is_some_and(|at| at <= now) {
            self.tick(screen, now);
        }
    }

    pub(in crate::hub) fn resize(&mut self, size: Size, now: Moment) {
        self.remark(&CastEvent::Resize(size), now);
    }

    /// Notes what became known of the agent at this moment.
    pub(in crate::hub) fn mark(&mut self, label: String, now: Moment) {
        if let State::Open(_) = self.state {
            self.remark(&CastEvent::Marker(label), now);
        } else {
            self.unwritten_mark = Some(label);
        }
    }

    /// Says whether output is passed over: a flood has used up what may be recorded, or the disk does
    /// not keep up.
    fn is_too_much(&mut self, bytes: u64, now: Moment) -> bool {
        self.skipped > 0 || self.file.is_crowded() || !self.budget.take(bytes, now)
    }

    /// Hands over what is due, and ends a gap once the flood is over or may be recorded again.
    pub(in crate::hub) fn tick(&mut self, screen: &Screen, now: Moment) {
        self.heed_failure(now);
        if let State::Opening(_) = self.state {
            self.begin(screen, now);
        }
        let is_over = self.skipped == self.skipped_before;
        self.skipped_before = self.skipped;
        let may_go_on = is_over || self.budget.left(now) >= RESUME_BYTES;
        let may_go_on = may_go_on && !self.file.is_crowded();
        if self.skipped > 0 && may_go_on && screen.is_between_sequences() {
            self.mark(format!("… skipped {} bytes", self.skipped), now);
            (self.skipped, self.skipped_before) = (0, 0);
            self.push_keyframe(screen, now);
            self.rotate_if_full(screen, now);
        }
        self.flush();
        let is_opening = matches!(self.state, State::Opening(_));
        self.flush_at = (self.skipped > 0 || is_opening).then(|| now + FLUSH_PAUSE);
    }

    /// Lets the next output begin with a keyframe: another run or another hub goes on.
    pub(in crate::hub) fn interrupt(&mut self) {
        self.flush();
        (self.state, self.flush_at) = (State::Closed, None);
        (self.skipped, self.skipped_before) = (0, 0);
        self.partial.clear();
        self.keyframes = Keyframes::default();
    }

    /// Looks for the file to go on with, before there is anything to record.
    pub(in crate::hub) fn prepare(&mut self) {
        if let State::Closed = self.state {
            self.state = State::Opening(self.file.resume());
        }
    }

    /// Hands over what has been gathered.
    pub(in crate::hub) fn flush(&mut self) {
        if let State::Open(open) = &mut self.state
            && !self.buffer.is_empty()
        {
            open.bytes += self.buffer.len() as u64;
            self.file.append(std::mem::take(&mut self.buffer));
        }
    }

    fn remark(&mut self, event: &CastEvent, now: Moment) {
        if let State::Open(_) = self.state {
            self.push(event, now);
            self.flush_at.get_or_insert(now + FLUSH_PAUSE);
        }
    }

    fn push(&mut self, event: &CastEvent, now: Moment) {
        if let State::Open(open) = &self.state {
            event_line(now.since(open.started), event, &mut self.buffer);
        }
    }

    fn push_keyframe(&mut self, screen: &Screen, now: Moment) {
        self.partial.clear();
        self.push(&CastEvent::Resize(screen.size()), now);
        let keyframe = self.keyframes.keyframe(screen);
        self.budget.take(keyframe.len() as u64, now);
        self.push(&CastEvent::Output(keyframe), now);
    }

    /// Goes on with the newest file where it has room, and tells where the screen stands. Until it is
    /// known whether it has, nothing is recorded: what is printed meanwhile is on that screen.
    fn begin(&mut self, screen: &Screen, now: Moment) {
        self.prepare();
        let State::Opening(opening) = &self.state else { return };
        let Some(resumed) = opening.get().copied() else { return };
        if !screen.is_between_sequences() {
            return;
        }
        match resumed {
            Some(resumed) => {
                self.state = State::Open(resumed);
                self.push_keyframe(screen, now);
            }
            None => self.begin_file(screen, now),
        }
        if let Some(label) = self.unwritten_mark.take() {
            self.mark(label, now);
        }
    }

    fn rotate_if_full(&mut self, screen: &Screen, now: Moment) {
        let State::Open(open) = &self.state else { return };
        let bytes = open.bytes + self.buffer.len() as u64;
        let max = self.file_bytes_max;
        let is_full = bytes >= max && screen.is_between_sequences();
        if is_full || bytes >= max + max / OVERFLOW_SHARE {
            self.flush();
            self.begin_file(screen, now);
        }
    }

    fn begin_file(&mut self, screen: &Screen, now: Moment) {
        // Times are told from a whole second on.
        let started = Moment(now.0 / 1000 * 1000);
        self.file.begin();
        self.state = State::Open(Resumed { started, bytes: 0 });
        self.buffer = header_line(screen.size(), started, &self.title);
        self.push_keyframe(screen, now);
    }

    /// Records nothing for a while after an error; agents go on.
    fn heed_failure(&mut self, now: Moment) {
        if self.file.take_failure() {
            self.paused_until = Some(now + ERROR_PAUSE);
            self.state = State::Closed;
            self.buffer = String::new();
            (self.flush_at, self.skipped, self.skipped_before) = (None, 0, 0);
        }
    }
}

/// Returns what the partial character and the bytes make; a character cut at the end is kept for
/// the next time. A byte that is no text becomes what a screen shows for it.
fn whole_characters(partial: &mut Vec<u8>, bytes: &[u8]) -> String {
    partial.extend_from_slice(bytes);
    let tail = partial.utf8_chunks().last().map_or(0, |chunk| {
        let invalid = chunk.invalid();
        let is_cut = str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if is_cut { invalid.len() } else { 0 }
    });
    let rest = partial.split_off(partial.len() - tail);
    let whole = std::mem::replace(partial, rest);
    String::from_utf8(whole)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How much may be recorded.
#[derive(Debug)]
struct Budget {
    left: u64,
    at: Moment,
}

impl Budget {
    fn left(&mut self, now: Moment) -> u64 {
        let millis = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        let earned = millis.saturating_mul(BYTES_PER_SECOND) / 1000;
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(BURST_BYTES);
            self.at = now;
        }
        self.left
    }

    /// Says whether so much may be recorded now, and takes it in any case.
    fn take(&mut self, bytes: u64, now: Moment) -> bool {
        let is_enough = self.left(now) >= bytes;
        self.left = self.left.saturating_sub(bytes);
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::sync::mpsc;

    use super::*;
    use crate::hub::record::file_writer::FileWriter;
    use crate::recording::Cast;
    use crate::screen::HistoryLimit;

    const SIZE: Size = Size { rows: 6, cols: 40 };

    /// A recorder with the screen that it records.
    struct Studio {
        directory: tempfile::TempDir,
        writer: FileWriter,
        recorder: Recorder,
        screen: Screen,
        now: Moment,
    }

    impl Studio {
        fn new(bytes_max: u64) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let writer = FileWriter::start().unwrap();
            let recorder = Self::recorder(&directory, &writer, bytes_max);
            let screen = Screen::new(SIZE, HistoryLimit::default());
            Self { directory, writer, recorder, screen, now: Moment(1_700_000_000_123) }
        }

        fn recorder(
            directory: &tempfile::TempDir,
            writer: &FileWriter,
            bytes_max: u64,
        ) -> Recorder {
            let paths = ["a.cast", "a.1.cast"].map(|name| directory.path().join(name));
            Recorder::new(writer.files().clone(), paths, "a".into(), bytes_max)
        }

        fn print(&mut self, bytes: &[u8]) {
            let fed = self.screen.feed(bytes, self.now);
            self.recorder.output(bytes, &fed.signals, &self.screen, self.now);
        }

        fn wait(&mut self, millis: u64) {
            let until = self.now + Duration::from_millis(millis);
            while let Some(at) = self.recorder.next_deadline().filter(|at| *at <= until) {
                self.now = at;
                self.writer.files().finish();
                self.recorder.tick(&self.screen, at);
            }
            self.writer.files().finish();
            self.now = until;
        }

        fn text(&self, name: &str) -> String {
            fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
        }

        fn cast(&self) -> Cast {
            Cast::read(&self.text("a.cast")).unwrap()
        }
    }

    /// Returns the screen that a recording ends with.
    fn replayed(cast: &Cast) -> Screen {
        let mut screen = Screen::new(cast.size, HistoryLimit::default());
        for (at, event) in &cast.events {
            match event {
                CastEvent::Output(output) => drop(screen.feed(output.as_bytes(), *at)),
                CastEvent::Resize(size) => screen.resize(*size),
                CastEvent::Marker(_) => {}
            }
        }
        screen
    }

    fn markers(cast: &Cast) -> Vec<&str> {
        let mut found = Vec::new();
        for (_, event) in &cast.events {
            if let CastEvent::Marker(label) = event {
                found.push(label.as_str());
            }
        }
        found
    }

    #[test]
    fn what_is_recorded_replays_to_the_same_screen() {
        let mut studio = Studio::new(8 << 20);
        let text = "\x1b[31mgrün 日本 \u{1f44d}\x1b[0m\r\n".as_bytes();
        let mut bytes = text.repeat(5);
        bytes.extend_from_slice(b"bad \xff\xc3( \xe2\x82 \xf0\x9f\x92\r\n\x80end");
        for chunk in bytes.chunks(3) {
            studio.print(chunk);
            studio.wait(7);
        }
        studio.recorder.resize(Size { rows: 9, cols: 30 }, studio.now);
        studio.screen.resize(Size { rows: 9, cols: 30 });
        studio.recorder.mark("state idle".into(), studio.now);
        assert_eq!(studio.text("a.cast"), "", "nothing is written at once");
        studio.wait(1000);
        let cast = studio.cast();
        assert_eq!(replayed(&cast).rows(), studio.screen.rows());
        assert_eq!((cast.started, markers(&cast)), (Moment(1_700_000_000_000), vec!["state idle"]));
        assert_eq!(studio.recorder.next_deadline(), None, "a quiet pane costs nothing");
    }

    #[test]
    fn a_full_file_makes_room_for_one_that_stands_alone() {
        let mut studio = Studio::new(64 * 1024);
        for number in 0..4000 {
            studio.print(format!("line \x1b[3{}m{number}\r\n", number % 8).as_bytes());
            studio.wait(20);
        }
        studio.wait(1000);
        for name in ["a.cast", "a.1.cast"] {
            assert!(studio.text(name).len() < 48 * 1024, "{name}");
            assert!(Cast::read(&studio.text(name)).unwrap().started > Moment(1_700_000_001_000));
        }
        assert_eq!(fs::read_dir(studio.directory.path()).unwrap().count(), 2);
        assert_eq!(replayed(&studio.cast()).rows(), studio.screen.rows());
        let older = Cast::read(&studio.text("a.1.cast")).unwrap();
        assert_eq!(replayed(&older.followed_by(studio.cast())).rows(), studio.screen.rows());
    }

    #[test]
    fn a_flood_is_passed_over_and_the_screen_is_right_after_it() {
        let mut studio = Studio::new(8 << 20);
        studio.print(b"before\r\n");
        let flood = "\x1b[32mline\x1b[0m of a log\r\n".repeat(800);
        let mut bytes = 0;
        for _ in 0..250 {
            studio.print(flood.as_bytes());
            bytes += flood.len();
            studio.wait(10);
        }
        studio.print(b"after");
        studio.wait(3000);
        let cast = studio.cast();
        let written = studio.text("a.cast").len();
        assert!(bytes > 4 << 20 && written < 2 << 20, "{written} of {bytes}");
        assert!(markers(&cast).iter().any(|label| label.starts_with("… skipped ")));
        assert_eq!(replayed(&cast).rows(), studio.screen.rows());
        assert_eq!(studio.recorder.next_deadline(), None);
    }

    #[test]
    fn what_became_known_before_there_was_a_file_is_noted_in_it() {
        let mut studio = Studio::new(8 << 20);
        studio.recorder.mark("state waiting".into(), studio.now);
        studio.print(b"Overwrite it?");
        studio.wait(3000);
        assert_eq!(markers(&studio.cast()), ["state waiting"]);
    }

    #[test]
    fn another_hub_goes_on_in_the_same_file_though_its_last_line_is_torn() {
        let mut studio = Studio::new(8 << 20);
        studio.print(b"first\r\n");
        studio.wait(1000);
        let path = studio.directory.path().join("a.cast");
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"[3.5,\"o\",\"torn").unwrap();
        studio.recorder = Studio::recorder(&studio.directory, &studio.writer, 8 << 20);
        studio.recorder.prepare();
        studio.wait(60_000);
        studio.print(b"second");
        studio.wait(1000);
        let cast = studio.cast();
        assert_eq!(replayed(&cast).rows(), studio.screen.rows());
        assert_eq!(cast.end().0 / 1000, 60);
    }

    #[test]
    fn an_error_pauses_and_a_later_try_goes_on() {
        let mut studio = Studio::new(8 << 20);
        let path = studio.directory.path().join("a.cast");
        fs::create_dir(&path).unwrap();
        studio.print(b"lost");
        studio.wait(2000);
        fs::remove_dir(&path).unwrap();
        studio.print(b" still");
        studio.wait(2000);
        assert!(!path.exists(), "nothing is tried for a while");
        studio.wait(60_000);
        studio.print(b" found");
        studio.wait(2000);
        assert_eq!(replayed(&studio.cast()).text().trim_end(), "lost still found");
    }

    #[test]
    fn a_disk_that_hangs_costs_little_and_the_screen_is_right_after_it() {
        let mut studio = Studio::new(8 << 20);
        studio.print(b"before\r\n");
        studio.wait(1000);
        let (free, hung) = mpsc::channel::<()>();
        // As much as may wait before nothing more is taken.
        studio.writer.files().append(4 << 20, move || {
            let _ = hung.recv();
        });
        studio.print(b"passed over\r\n");
        assert!(studio.recorder.buffer.is_empty() && studio.recorder.skipped > 0);
        drop(free);
        studio.wait(3000);
        studio.print(b"after");
        studio.wait(1000);
        assert_eq!(replayed(&studio.cast()).rows(), studio.screen.rows());
        assert!(markers(&studio.cast()).iter().any(|label| label.starts_with("… skipped ")));
    }

    #[test]
    fn a_recording_is_ours_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mut studio = Studio::new(8 << 20);
        studio.print(b"x");
        studio.wait(1000);
        let mode = fs::metadata(studio.directory.path().join("a.cast")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}
