//! Measures how fast output goes through the door of the emulator.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::BytesCount;
use wheelhouse::model::{Moment, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

const SIZE: Size = Size { rows: 30, cols: 120 };
const BYTES: usize = 1 << 20;
/// What one read of a pseudo-terminal brings at most.
const CHUNK: usize = 4095;

fn main() {
    divan::main();
}

/// Repeats what `line` writes until there is enough.
fn stream(mut line: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::new();
    for number in 0.. {
        line(number, &mut text);
        if text.len() >= BYTES {
            break;
        }
    }
    text
}

fn coloured_log() -> String {
    stream(|n, text| {
        let level = ["\x1b[32mINFO\x1b[0m", "\x1b[33mWARN\x1b[0m", "\x1b[1;31mERROR\x1b[0m"][n % 3];
        let id = n * 7919 % 100_000;
        let _ = write!(
            text,
            "\x1b[2m2026-01-02T03:04:{:02}.{:03}Z\x1b[0m {level} \x1b[1mserver::pool\x1b[0m: \
             request \x1b[36m{id}\x1b[0m took {} ms and was served from cache {}\r\n",
            n % 60,
            n % 1000,
            n % 97,
            n % 8
        );
    })
}

fn plain_log() -> String {
    stream(|n, text| {
        let _ = write!(
            text,
            "2026-01-02 03:04:{:02} server pool request {n} took {} ms and was served from the \
             cache of node {}\r\n",
            n % 60,
            n % 97,
            n % 8
        );
    })
}

fn unicode() -> String {
    stream(|n, text| {
        let _ = write!(text, "│ {n} 中文字符 über naïve ─────── ✓ déjà vu 日本語 → ok ⚠️ 👍🏽 │\r\n");
    })
}

/// Redraws a frame of ten rows in place, as the agents' interfaces do.
fn redraw() -> String {
    stream(|n, text| {
        text.push_str("\x1b[?2026h");
        for row in 0..10 {
            let _ = write!(
                text,
                "\x1b[2K\x1b[38;2;{};120;200m● Working\x1b[39m \x1b[2m({n}s · esc to interrupt, \
                 row {row})\x1b[22m\r\n",
                n % 256
            );
        }
        text.push_str("\x1b[10A\x1b[?2026l");
    })
}

fn flood() -> String {
    stream(|_, text| text.push_str("y\r\n"))
}

type Workload = (&'static str, fn() -> String);

const WORKLOADS: [Workload; 5] = [
    ("coloured log", coloured_log),
    ("plain log", plain_log),
    ("unicode", unicode),
    ("redraw", redraw),
    ("y flood", flood),
];

fn text_of(name: &str) -> String {
    let workload = WORKLOADS.iter().find(|(known, _)| *known == name).map(|(_, make)| make());
    workload.unwrap_or_default()
}

#[divan::bench(args = WORKLOADS.map(|(name, _)| name), sample_count = 12)]
fn through_the_door(bencher: Bencher, name: &str) {
    let text = text_of(name);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut screen = Screen::new(SIZE, HistoryLimit::default());
        for chunk in text.as_bytes().chunks(CHUNK) {
            divan::black_box(screen.feed(chunk, Moment(0)));
        }
        screen.committed()
    });
}

#[divan::bench]
fn read_all_rows(bencher: Bencher) {
    let mut screen = Screen::new(SIZE, HistoryLimit::default());
    screen.feed(coloured_log().as_bytes(), Moment(0));
    bencher.bench_local(|| screen.rows());
}

#[divan::bench]
fn read_a_row_of_the_history(bencher: Bencher) {
    let mut screen = Screen::new(SIZE, HistoryLimit::default());
    screen.feed(coloured_log().as_bytes(), Moment(0));
    bencher.bench_local(|| screen.history_row(screen.history_range().start + 99));
}

#[divan::bench]
fn resize_there_and_back(bencher: Bencher) {
    let mut screen = Screen::new(SIZE, HistoryLimit::default());
    screen.feed(coloured_log().as_bytes(), Moment(0));
    bencher.bench_local(|| {
        screen.resize(Size { rows: 24, cols: 80 });
        screen.resize(SIZE);
    });
}

#[divan::bench]
fn an_empty_screen(bencher: Bencher) {
    bencher.bench_local(|| Screen::new(SIZE, HistoryLimit::default()));
}
