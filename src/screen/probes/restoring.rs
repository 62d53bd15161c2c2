//! Probes of writing a screen down and restoring it.

use proptest::prelude::*;

use super::hardening::{Random, noise};
use super::support::*;
use crate::model::Moment;
use crate::screen::{HistoryLimit, Screen};

const PIECES: [&str; 46] = [
    "word",
    "some longer text",
    "\r\n",
    "\r\n",
    "\n",
    "\t",
    "中文",
    "e\u{301}",
    "❤\u{fe0f}",
    "👍🏽",
    "👨\u{200d}👩",
    "\u{fffd}",
    "\x1b[31m",
    "\x1b[1;4;44m",
    "\x1b[m",
    "\x1b[4:3;58:5:1m",
    "\x1b[9;8;5m",
    "\x1b[K",
    "\x1b[2;3H",
    "\x1b[H",
    "\x1b[A",
    "\x1b[5C",
    "\x1b[3X",
    "\x1b[2P",
    "\x1b[2@",
    "\x1b[L",
    "\x1b[M",
    "\x1b[S",
    "\x1b[2;4r",
    "\x1b[r",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b7",
    "\x1b8",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?2004h",
    "\x1b[?1003;1006h",
    "\x1b[>5u",
    "\x1b[5 q\x1b[?25l",
    "\x1b]2;title; x\x07",
    "\x1b(0",
    "\x1b(B",
    "\x1b[?7l",
    "\x1b[4h",
    "\x1b[3g\x1bH",
];

const LIMIT: HistoryLimit = HistoryLimit { lines: 50, bytes: 64 << 10 };

fn all(screen: &Screen) -> impl PartialEq + std::fmt::Debug {
    let history: Vec<_> = screen.history_range().map(|n| screen.history_row(n)).collect();
    let title = screen.title().to_owned();
    (screen.rows(), history, screen.cursor(), screen.modes(), title)
}

fn restored(screen: &Screen) -> Screen {
    let mut other = Screen::new(screen.size(), LIMIT);
    let fed = other.feed(&screen.restore_stream(), Moment(0));
    assert!(fed.answers.is_empty());
    other
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_restored_screen_is_the_same_and_goes_on_the_same(
        before in prop::collection::vec(0..PIECES.len(), 0..60),
        after in prop::collection::vec(0..PIECES.len(), 0..20),
    ) {
        let text = |parts: &[usize]| parts.iter().map(|part| PIECES[*part]).collect::<String>();
        let mut screen = show(&text(&before));
        let mut other = restored(&screen);
        prop_assert_eq!(all(&other), all(&screen));
        // A wrap that is pending on a row without text cannot be written down.
        feed(&mut screen, &format!("\r{}", text(&after)));
        feed(&mut other, &format!("\r{}", text(&after)));
        prop_assert_eq!(other.rows(), screen.rows());
    }
}

#[test]
fn links_tabs_and_a_pending_wrap_are_restored() {
    let screen = show("\x1b[3g\x1b[5G\x1bH\r\x1b]8;;http://x\x07a\x1b]8;;\x07bcdefghijklmnopqrst");
    let mut other = restored(&screen);
    assert_eq!(all(&other), all(&screen));
    feed(&mut other, "\x1b[31mu\tv");
    assert_eq!(line(&other, 1), "u   v");
    assert!(other.row(0).wrapped);
}

#[test]
fn the_count_of_rows_can_go_on_after_a_restore() {
    let screen = show("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
    let mut other = restored(&screen);
    other.set_committed(100);
    assert_eq!(other.history_range(), 98..100);
    assert_eq!(other.history_row(99).unwrap().text(), "2");
    feed(&mut other, "\r\n8");
    assert_eq!(other.history_row(100).unwrap().text(), "3");
}

/// Returns a screen of any size after some random output, and what is left of the random numbers.
fn random_screen(seed: u64) -> (Screen, Random) {
    let mut random = Random(seed);
    random.next(2);
    let any_size = |random: &mut Random| size(2 + random.small(9), 2 + random.small(30));
    let mut screen = Screen::new(any_size(&mut random), LIMIT);
    for _ in 0..=random.next(3) {
        screen.feed(&noise(&mut random), Moment(0));
        if random.next(5) == 0 {
            screen.resize(any_size(&mut random));
        }
    }
    // Nothing is left unfinished.
    screen.feed(b"\x18", Moment(0));
    (screen, random)
}

fn restore_random_screens(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let (mut screen, mut random) = random_screen(seed);
        let mut other = restored(&screen);
        other.set_committed(screen.committed());
        assert!(all(&other) == all(&screen), "seed {seed}: {:?} {:?}", other, all(&other));
        let after = [b"\r", &noise(&mut random)[..]].concat();
        screen.feed(&after, Moment(0));
        other.feed(&after, Moment(0));
        assert_eq!(other.rows(), screen.rows(), "seed {seed}, after {after:?}");
    }
}

#[test]
fn a_screen_after_any_output_is_restored_as_it_was() {
    restore_random_screens(0..1500);
}

#[test]
#[ignore = "takes a minute; run it after changes of what is written down"]
fn fifty_thousand_screens_after_any_output_are_restored_as_they_were() {
    restore_random_screens(0..50_000);
}
