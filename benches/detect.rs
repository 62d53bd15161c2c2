//! Measures what reading the screens, and recording them, adds to the drain of a flood.
//!
//! In CPU time, not wall time: for each kind of output and each cli what the detector adds at the
//! pace at which it looks. Of a flood so much is recorded that
//! its share follows from what a recorded second costs: 64 KiB of output and one keyframe.
#![expect(clippy::print_stdout, reason = "what was measured is the result")]
#![expect(clippy::unwrap_used, reason = "a measurement may stop at the first surprise")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use wheelhouse::config::Settings;
use wheelhouse::detect::{Detector, Options, Rules};
use wheelhouse::model::{Moment, Size};
use wheelhouse::recording::{CastEvent, Keyframes, event_line};
use wheelhouse::screen::{HistoryLimit, Screen};

const SIZE: Size = Size { rows: 50, cols: 200 };
/// What the hub takes from a pane in one turn.
const CHUNK: usize = 16 * 1024;
const BYTES: usize = 96_000_000;
const MEGABYTES: f64 = 96.0;
/// Of several rounds the best is told: the machine may be busy with other things.
const ROUNDS: usize = 3;

fn main() {
    let settings = Settings::built_in();
    for (kind, text) in [("coloured log", coloured_log()), ("prose", prose())] {
        println!("{kind}:");
        for (name, cli) in settings.clis().filter(|(name, _)| *name != "agent") {
            let rules = Arc::new(Rules::new(name, &cli.manifest).unwrap());
            let (screen, detector) = drain(&text, &rules);
            let share = 100.0 * detector.as_secs_f64() / screen.as_secs_f64();
            let speed = MEGABYTES / screen.as_secs_f64();
            println!("  {name:10} adds {share:4.1} % to the screen's {speed:.1} MB per CPU-second");
        }
    }
    recording(&coloured_log());
    quiet(&settings);
}

fn recording(text: &str) {
    let mut screen = Screen::new(SIZE, HistoryLimit::default());
    screen.feed(text.as_bytes(), Moment(1));
    let seconds = (0..ROUNDS).map(|_| {
        let start = cpu_time();
        let mut lines = String::new();
        for chunk in text.as_bytes()[..64 * 1024].chunks(CHUNK) {
            let output = String::from_utf8_lossy(chunk).into_owned();
            event_line(Duration::ZERO, &CastEvent::Output(output), &mut lines);
        }
        let keyframe = Keyframes::default().keyframe(&screen);
        event_line(Duration::ZERO, &CastEvent::Output(keyframe), &mut lines);
        cpu_time().saturating_sub(start)
    });
    let second = seconds.min().unwrap();
    println!("a recorded second of a flood takes {:.2} ms", 1000.0 * second.as_secs_f64());
}

/// Drains the flood in the time that it takes, and returns what the screen and the detector took of
/// it: both in the same run, so that a busy machine slows both alike.
fn drain(text: &str, rules: &Arc<Rules>) -> (Duration, Duration) {
    let mut screen = Screen::new(SIZE, HistoryLimit::default());
    let mut detector = Detector::new(Arc::clone(rules), Options::default(), Moment(0));
    let (mut by_screen, mut by_detector) = (Duration::ZERO, Duration::ZERO);
    let mut fed = 0;
    for chunk in text.as_bytes().chunks(CHUNK).cycle() {
        let now = Moment(1) + by_screen + by_detector;
        let start = cpu_time();
        let signals = screen.feed(chunk, now).signals;
        let between = cpu_time();
        let _ = detector.observe(&screen, &signals, now);
        by_screen += between.saturating_sub(start);
        by_detector += cpu_time().saturating_sub(between);
        fed += chunk.len();
        if fed >= BYTES {
            break;
        }
    }
    (by_screen, by_detector)
}

/// A pane that does not change costs nothing: nothing is due.
fn quiet(settings: &Settings) {
    for (name, cli) in settings.clis() {
        let rules = Arc::new(Rules::new(name, &cli.manifest).unwrap());
        let mut screen = Screen::new(SIZE, HistoryLimit::default());
        let mut detector = Detector::new(rules, Options::default(), Moment(0));
        screen.feed(b"Hello\r\n$ ", Moment(1));
        let _ = detector.observe(&screen, &[], Moment(1));
        let mut steps = 0;
        while let Some(due) = detector.next_deadline() {
            let _ = detector.observe(&screen, &[], due);
            steps += 1;
            assert!(steps < 100, "{name} never rests");
        }
    }
    println!("quiet panes: nothing is due");
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn repeated(mut line: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::new();
    for number in 0.. {
        line(number, &mut text);
        if text.len() >= 1 << 20 {
            break;
        }
    }
    text
}

fn coloured_log() -> String {
    repeated(|n, text| {
        let level = ["\x1b[32mINFO\x1b[0m", "\x1b[33mWARN\x1b[0m", "\x1b[1;31mERROR\x1b[0m"][n % 3];
        let _ = write!(
            text,
            "\x1b[2m2026-01-02T03:04:{:02}Z\x1b[0m {level} \x1b[1mserver::pool\x1b[0m: request \
             \x1b[36m{n}\x1b[0m took {} ms and was served from cache {}\r\n",
            n % 60,
            n % 97,
            n % 8
        );
    })
}

/// What an agent says, with a report now and then.
fn prose() -> String {
    repeated(|n, text| {
        let _ = match n % 40 {
            0 => {
                write!(text, "\r\n● PROGRESS: [{}/7] — part {n} is built and tested\r\n\r\n", n % 7)
            }
            20 => write!(text, "  BUILD: PASS\r\n"),
            _ => write!(
                text,
                "  The session store keeps one entry for each user, and entry {n} is dropped when it \
                 has not been asked for in a day.\r\n"
            ),
        };
    })
}
