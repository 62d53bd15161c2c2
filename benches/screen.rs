//! Measures how fast output goes through the door of the emulator.
//!
//! Prints first what it costs in time of the processor, which a busy machine changes little, then
//! what divan makes of the clock on the wall.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fmt::Write as _;
use std::time::Duration;

use divan::Bencher;
use divan::counter::BytesCount;
use rustix::time::{ClockId, clock_gettime};
use wheelhouse::model::{Moment, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

const SIZE: Size = Size { rows: 30, cols: 120 };
const BYTES: usize = 1 << 20;
/// What a keeper sends in one piece at most.
const CHUNK: usize = 8192;

/// The promise for 64 KiB of anything is given for a screen of this size.
const LARGE: Size = Size { rows: 60, cols: 200 };
/// What comes once, and what then comes without end.
const FLOODS: [(&str, &str); 34] = [
    ("", "\x1b[2J"),
    ("", "x\x1b[2J"),
    ("", "x\x1b[65535b"),
    ("\x1b[44m", "\n"),
    ("\x1b[44m", "\x1b[S"),
    ("", "👍🏽"),
    ("", "y\r\n"),
    ("", "x\n"),
    ("", "\n"),
    ("", "\n\r"),
    ("", "\x08\n"),
    ("", "x\x08\n"),
    ("", "\x0b"),
    ("", "\x1bD"),
    ("", "\x1bE"),
    ("", "\x1b[31mx\n"),
    ("", "\rxx\n"),
    ("", "\tx\n"),
    ("", "中\n"),
    ("", "é\u{301}\n"),
    ("", "\x1b[S"),
    ("", "\x1b[L"),
    ("", "\x1bM"),
    ("\x1b[1;59r\x1b[59H", "\n"),
    ("\x1b[1;59r\x1b[59H", "y\r\n"),
    ("\x1b[2;59r\x1b[59H", "\n"),
    ("\x1b[?1049h\x1b[60H", "\n"),
    ("\x1b[?1049h\x1b[60H", "x\n"),
    ("\x1b[20h", "\n"),
    ("\x1b[20h", "x\n"),
    ("\x1b[4h", "\n"),
    ("\x1b[4h", "x\n"),
    ("\x1b[?7l", "x\n"),
    ("\x1b(0", "x\n"),
];

fn main() {
    println!("| through the door | of the processor |\n| --- | --- |");
    for (name, make) in WORKLOADS {
        let text = make();
        let least = (0..15).map(|_| cost(SIZE, text.as_bytes())).min().unwrap_or_default();
        let megabytes = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX)) / 1e6;
        println!("| {name} | {:.1} MB a second |", megabytes / least.as_secs_f64());
    }
    for (opening, flood) in FLOODS {
        let text = format!("{opening}{}", flood.repeat(65_536 / flood.len()));
        print_flood(&format!("{opening:?}, then 64 KiB of {flood:?}"), text.as_bytes());
    }
    for (name, piece) in CHANGING {
        let bytes: Vec<u8> = (0..).flat_map(piece).take(65_536).collect();
        print_flood(&format!("64 KiB of {name}"), &bytes);
    }
    divan::main();
}

fn print_flood(name: &str, bytes: &[u8]) {
    let least = (0..15).map(|_| cost(LARGE, bytes)).min().unwrap_or_default();
    println!("| 200 columns, {name} | {:.1} ms |", least.as_secs_f64() * 1000.0);
}

type Piece = fn(u32) -> Vec<u8>;

/// Floods in which each piece differs from those before it, or is no text.
const CHANGING: [(&str, Piece); 5] = [
    ("families that all differ", |number| {
        let person = |shift: u32| char::from_u32(0x1_f466 + (number >> shift) % 16).unwrap_or('x');
        format!("{}\u{200d}{}\u{200d}{}", person(0), person(4), person(8)).into()
    }),
    ("links of one letter that all differ", |number| {
        let letter = char::from_u32(0x4e00 + number % 20_000).unwrap_or('x');
        format!("\x1b]8;;{letter}\x07x").into()
    }),
    ("colours that all differ", |number| {
        format!("\x1b[38;2;{};{};9mx", number % 256, number / 256 % 256).into()
    }),
    ("bytes that are no text", |_| vec![0xff]),
    ("halves of characters", |_| vec![0xe4, 0xb8]),
];

/// Returns the time of the processor that a text takes.
fn cost(size: Size, bytes: &[u8]) -> Duration {
    let mut screen = Screen::new(size, HistoryLimit::default());
    let begun = processor_time();
    for chunk in bytes.chunks(CHUNK) {
        divan::black_box(screen.feed(chunk, Moment(0)));
    }
    processor_time().saturating_sub(begun)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
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
