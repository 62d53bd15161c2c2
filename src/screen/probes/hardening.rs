//! Probes of what hostile or broken output may cost.

use super::support::*;
use crate::model::{Moment, Size};
use crate::screen::{HistoryLimit, Screen};

/// A small generator, so that a failing case can be found again by its seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    pub(super) fn small(&mut self, below: usize) -> u16 {
        u16::try_from(self.next(below)).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next(from.len())]
    }
}

const PIECES: [&str; 66] = [
    "text ",
    "\r\n",
    "\n",
    "\r",
    "\t",
    "\x08",
    "中",
    "é",
    "e\u{301}",
    "⚠\u{fe0f}",
    "❤\u{fe0f}",
    "👍🏽",
    "👨\u{200d}👩\u{200d}👧",
    "🇩🇪",
    "\u{200d}",
    "\u{fe0f}",
    "\u{301}",
    "\u{fffd}",
    "\x1b7",
    "\x1b8",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1bc",
    "\x1b#8",
    "\x1b(0lqk\x1b(B",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?47h",
    "\x1b[?47l",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b[!p",
    "\x1b[31;44m",
    "\x1b[m",
    "\x1b]8;;http://x\x07",
    "\x1b]8;;\x07",
    "\x1b]2;t\x07",
    "\x1b[3J",
    "x",
    "some longer text that wraps",
    "中文",
    "か\u{3099}",
    "\x0e",
    "\x0f",
    "\x1b)0",
    "\x1b(0",
    "\x1b(B",
    "\x1b[2J",
    "\x1b[H",
    "\x1b[K",
    "\x1b[2;4r",
    "\x1b[r",
    "\x1b[3g\x1bH",
    "\x1b[?45h",
    "\x1b[?45l",
    "\x1b[4:3;58:5:1m",
    "\x1b[20h",
    "\x1b[20l",
    "\x1b[>5u",
    "\x1b[5 q",
    "\r\n",
];

pub(super) fn noise(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.next(60) {
        match random.next(10) {
            0..=5 => bytes.extend_from_slice(random.pick(&PIECES).as_bytes()),
            6..=8 => {
                let last = b"@ABCDEFGHIJKLMPSTXZ`abdefghlmnqrsu"[random.next(34)];
                let number = [0, 1, 2, 3, 5, 19, 20, 21, 999, 65_535][random.next(10)];
                let other = random.next(25);
                bytes.extend_from_slice(format!("\x1b[{number};{other}").as_bytes());
                bytes.push(last);
            }
            _ => bytes.extend((0..random.next(6)).map(|_| random.next(256).to_le_bytes()[0])),
        }
    }
    bytes
}

#[test]
fn twenty_thousand_random_streams_neither_fail_nor_grow() {
    let limit = HistoryLimit { lines: 50, bytes: 16 << 10 };
    let mut screen = empty();
    for seed in 0..20_000 {
        let mut random = Random(seed);
        if seed % 50 == 0 {
            screen = Screen::new(size(2 + random.small(13), 2 + random.small(37)), limit);
        }
        let bytes = noise(&mut random);
        let cut = random.next(bytes.len() + 1);
        screen.feed(&bytes[..cut], Moment(seed));
        if random.next(8) == 0 {
            screen.resize(size(2 + random.small(9), 2 + random.small(30)));
        }
        screen.feed(&bytes[cut..], Moment(seed));
        if seed % 16 == 0 {
            check(&screen, seed);
        }
    }
}

fn check(screen: &Screen, seed: u64) {
    let size = screen.size();
    for row in screen.rows() {
        let columns: u16 = row.runs.iter().map(|run| run.columns).sum();
        assert!(columns <= size.cols, "seed {seed}: {row:?}");
        assert!(!row.text().chars().any(char::is_control), "seed {seed}: {row:?}");
    }
    let cursor = screen.cursor();
    assert!(cursor.row < size.rows && cursor.col < size.cols, "seed {seed}");
    let range = screen.history_range();
    assert!(range.end - range.start <= 50 && range.end <= screen.committed(), "seed {seed}");
    assert!(range.clone().all(|number| screen.history_row(number).is_some()), "seed {seed}");
    assert!(screen.memory_bytes() < 512 << 10, "seed {seed}: {}", screen.memory_bytes());
    assert_eq!(screen.rebuilds(), 0, "seed {seed}");
}

#[test]
fn the_panic_of_a_widened_letter_at_the_margin_costs_nothing() {
    let mut screen = Screen::new(Size { rows: 24, cols: 80 }, HistoryLimit::default());
    let text = format!("\x1b[24;1H{}⚠\u{fe0f}more text\r\x1b[Aover", "a".repeat(79));
    assert!(!feed(&mut screen, &text).rebuilt);
    assert!(screen.text().contains("over"));
    assert!(screen.text().ends_with("⚠\u{fe0f}more text"));
}

#[test]
fn each_flood_stays_within_its_bounds() {
    let floods = [
        "y\r\n",
        "\n",
        "x",
        "\x1b]0;",
        "\x1bP",
        "\x1b_",
        "e\u{301}",
        "\u{301}",
        "\u{200d}",
        "👩\u{200d}",
        "\x1b]8;;http://a\x07l",
        "a\x1b[65535b",
        "\x1b[65535L",
        "\x1b[65535M",
        "\x1b[65535@",
        "\x1b[65535P",
        "\x1b[65535S",
        "\x1b[65535T",
        "\x1b[2J",
        "\x1b[J",
        "\x1bc",
        "\x1b#8",
        "\x1b[?1049h\x1b[?1049l",
        "\x1b[c",
        "\x07",
        "\x1b[99999999999;9H",
        "\x1b7\x1b8",
        "\t",
        "\x1bM",
        "\x1b[>1u",
        "\x1b]2;t\x07",
        "\x1b[6n",
        "\x1b]4;1;?\x07",
        "🇩",
        "\x1b[Zx",
    ];
    for flood in floods {
        let mut screen = Screen::new(Size { rows: 30, cols: 120 }, HistoryLimit::default());
        for _ in 0..2 {
            let fed = feed(&mut screen, &flood.repeat(65_536 / flood.len()));
            assert!(fed.answers.len() <= 64 << 10 && fed.signals.len() <= 512, "{flood:?}");
            assert!(!fed.rebuilt, "{flood:?}");
        }
        assert!(screen.memory_bytes() < 9 << 20, "{flood:?}");
    }
}

/// Returns 64 KiB of what `piece` writes for one number after the other.
fn flood(piece: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    (0..).flat_map(piece).take(65_536).collect()
}

/// Returns a family that differs for each number.
fn family(number: u32) -> String {
    let person = |shift: u32| char::from_u32(0x1_f466 + (number >> shift) % 16).unwrap_or('x');
    format!("{}\u{200d}{}\u{200d}{}", person(0), person(4), person(8))
}

/// The promise is 50 ms for 64 KiB of anything, on a screen of 60 rows and 200 columns.
#[test]
fn no_flood_causes_more_work_than_fifty_milliseconds_have_room_for() {
    let repeated = |text: &'static str| flood(move |_| text.into());
    let letter = |number: u32| char::from_u32(0x4e00 + number % 20_000).unwrap_or('x');
    let floods = [
        ("families", flood(|number| family(number).into())),
        ("links", flood(|number| format!("\x1b]8;;{}\x07x", letter(number)).into())),
        ("long links", flood(|number| format!("\x1b]8;;{number}{}\x07x", "y".repeat(2000)).into())),
        ("no text", flood(|_| vec![0xff])),
        ("half characters", flood(|_| vec![0xe4, 0xb8])),
        ("erasing", repeated("\x1b[2J")),
        ("erasing a letter", repeated("x\x1b[2J")),
        ("repeating", repeated("x\x1b[65535b")),
        (
            "colours",
            flood(|number| format!("\x1b[38;2;{};{};9mx", number % 256, number / 256 % 256).into()),
        ),
        ("coloured feeds", repeated("\x1b[44m\n")),
        (
            "feeds on a colour",
            flood(|number| if number == 0 { b"\x1b[44m".into() } else { b"\n".into() }),
        ),
        ("scrolls on a colour", repeated("\x1b[44m\x1b[S")),
        ("inserted lines on a colour", repeated("\x1b[44m\x1b[L")),
        ("screens", repeated("\x1b[?1049h\x1b[?1049l")),
        ("margins", repeated("\x1b[2;9r\x1b[9H\n")),
        ("letters with marks", repeated("e\u{301}")),
        ("tones", repeated("👍🏽")),
    ];
    for (name, bytes) in floods {
        let mut screen = Screen::new(size(60, 200), HistoryLimit::default());
        // What is in the tables already must not make it dearer.
        for _ in 0..3 {
            let before = screen.work();
            for chunk in bytes.chunks(8192) {
                screen.feed(chunk, Moment(0));
            }
            let work = screen.work() - before;
            assert!(work <= 50_000_000, "{name}: {work}");
        }
    }
}

#[test]
fn a_history_of_ten_thousand_coloured_lines_is_small() {
    let mut screen = Screen::new(Size { rows: 30, cols: 120 }, HistoryLimit::default());
    for number in 0..12_000 {
        let line = format!(
            "\x1b[2m2026-01-02T03:04:05Z\x1b[0m \x1b[32mINFO\x1b[0m \x1b[1mserver\x1b[0m: request \
             \x1b[36m{number:6}\x1b[0m took 12 ms and was served from the cache of node 7\r\n"
        );
        feed(&mut screen, &line);
    }
    let range = screen.history_range();
    assert_eq!(range.end - range.start, 10_000);
    assert!(screen.memory_bytes() < 1_500_000, "{}", screen.memory_bytes());
}

#[test]
fn the_history_never_exceeds_its_bytes() {
    let limit = HistoryLimit { lines: 1_000_000, bytes: 64 << 10 };
    let mut screen = Screen::new(Size { rows: 10, cols: 200 }, limit);
    for number in 0..5000_u32 {
        let [r, g, b, _] = number.wrapping_mul(7919).to_le_bytes();
        feed(&mut screen, &format!("\x1b[38;2;{r};{g};{b}m{}\r\n", "z".repeat(190)));
        assert!(screen.memory_bytes() <= (64 << 10) + looks_bytes(number));
    }
    assert!(screen.history_row(screen.committed() - 1).is_some());
}

#[test]
fn a_program_that_clears_the_screen_all_day_is_never_refused() {
    let mut screen = Screen::new(size(60, 200), HistoryLimit::default());
    for second in 0..200 {
        feed(&mut screen, &format!("\x1b[H\x1b[2J\x1b[3J{second}"));
        assert_eq!(screen.text(), second.to_string());
    }
}

#[test]
fn an_empty_screen_is_cheap() {
    assert!(empty().memory_bytes() < 1024);
}

/// Returns what the table of looks may take after so many colours.
fn looks_bytes(colors: u32) -> usize {
    16_384 + 128 * usize::try_from(colors).unwrap()
}
