//! Probes of changing the size, and of counting each row once.

use super::support::*;
use crate::screen::{HistoryLimit, Screen};

const LONG: &str = "abcdefghijklmnop";

#[test]
fn reflow_on_widen_20_10_20() {
    let mut screen = show(&format!("{LONG}\r\n1\r\n2\r\n3\r\n4"));
    let (text, cursor) = (screen.text(), at(&screen));
    screen.resize(size(5, 10));
    assert_eq!(screen.text(), "klmnop\n1\n2\n3\n4");
    assert_eq!(history(&screen), "abcdefghij");
    screen.resize(size(5, 20));
    assert_eq!((screen.text(), at(&screen)), (text, cursor));
    assert_eq!(history(&screen), "");
}

#[test]
fn no_text_loss_on_shrink_20_10() {
    let mut screen = show(&format!("{LONG}\r\nx"));
    screen.resize(size(5, 10));
    assert_eq!(screen.text(), "abcdefghij\nklmnop\nx");
    assert_eq!(at(&screen), (2, 1));
    assert!(screen.row(0).wrapped);
}

#[test]
fn height_shrink_5_3_keeps_bottom_and_pushes_top() {
    let mut screen = show("1\r\n2\r\n3\r\n4\r\n5");
    screen.resize(size(3, 20));
    assert_eq!((screen.text(), history(&screen)), ("3\n4\n5".to_owned(), "1\n2".to_owned()));
    assert_eq!(at(&screen), (2, 1));
}

#[test]
fn height_grow_pulls_from_scrollback() {
    let mut screen = show("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
    screen.resize(size(6, 20));
    assert_eq!((screen.text(), history(&screen)), ("2\n3\n4\n5\n6\n7".to_owned(), "1".to_owned()));
    assert_eq!(at(&screen), (5, 1));
}

#[test]
fn height_grow_adds_blank_rows_below_a_screen_that_is_not_full() {
    let mut screen = show("1\r\n2\x1b[2J\x1b[Hprompt");
    screen.resize(size(8, 20));
    assert_eq!(screen.text(), "prompt");
    assert_eq!(history(&screen), "1\n2");
}

#[test]
fn scrollback_is_kept_on_width_change() {
    let mut screen = show("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
    screen.resize(size(5, 12));
    assert_eq!(history(&screen), "1\n2");
}

#[test]
fn every_row_is_committed_once_across_resizes() {
    let mut screen = empty();
    let mut seen: Vec<String> = Vec::new();
    let mut next = 0;
    let mut read = |screen: &Screen| {
        let rows = (next..screen.committed()).map(|n| screen.history_row(n).unwrap().text());
        seen.extend(rows);
        next = screen.committed();
    };
    for n in 0..300_u16 {
        feed(&mut screen, &format!("line {n}\r\n"));
        read(&screen);
        if n % 7 == 0 {
            screen.resize(size(3 + n % 11, 12 + n % 23));
            read(&screen);
        }
    }
    let expected: Vec<String> = (0..seen.len()).map(|n| format!("line {n}")).collect();
    assert_eq!(seen, expected);
    assert!(seen.len() > 280);
}

#[test]
fn rows_taken_back_and_changed_are_committed_as_new() {
    let mut screen = show("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
    assert_eq!(screen.committed(), 2);
    screen.resize(size(7, 20));
    assert_eq!((screen.committed(), screen.history_range()), (2, 0..0));
    feed(&mut screen, "\x1b[Hnew\x1b[K\x1b[7;1H\n\n");
    assert_eq!(screen.committed(), 4);
    let rows: Vec<String> = (2..4).map(|n| screen.history_row(n).unwrap().text()).collect();
    assert_eq!(rows, ["new", "2"]);
}

#[test]
fn a_tiny_screen_and_a_storm_of_sizes_lose_no_text() {
    let mut screen = show("hello world, 中文 and ❤\u{fe0f}\r\nsecond");
    for n in 0..60_u16 {
        screen.resize(size(2 + n * 7 % 9, 2 + n * 11 % 31));
    }
    screen.resize(size(2, 2));
    screen.resize(size(0, 0));
    assert_eq!(screen.size(), size(2, 2));
    screen.resize(size(10, 40));
    let all = format!("{}{}", history(&screen), screen.text()).replace(['\n', ' '], "");
    assert_eq!(all, "helloworld,中文and❤\u{fe0f}second");
    assert_eq!(screen.rebuilds(), 0);
}

#[test]
fn a_resize_in_the_alternate_screen_wraps_the_primary_one() {
    let mut screen = show(&format!("{LONG}\r\nend\x1b[?1049h\x1b[Hfull screen"));
    screen.resize(size(4, 10));
    assert_eq!(screen.text(), "full scree");
    assert!(screen.modes().alternate_screen);
    feed(&mut screen, "\x1b[?1049l!");
    assert_eq!(screen.text(), "abcdefghij\nklmnop\nend!");
}

#[test]
fn a_flood_commits_every_row_once() {
    let mut screen = empty();
    let text = (0..5000).map(|n| n.to_string()).collect::<Vec<_>>().join("\r\n") + "\r\n";
    for part in text.as_bytes().chunks(777) {
        screen.feed(part, crate::model::Moment(0));
    }
    assert_eq!(screen.committed(), 4996);
    for n in screen.history_range() {
        assert_eq!(screen.history_row(n).unwrap().text(), n.to_string());
    }
}

#[test]
fn the_alternate_screen_shrinks_from_the_top_until_the_cursor_fits() {
    let mut screen = Screen::new(size(30, 20), HistoryLimit::default());
    feed(&mut screen, "\x1b[?1049h");
    for row in 1..=30 {
        feed(&mut screen, &format!("\x1b[{row}Hrow {row}"));
    }
    screen.resize(size(20, 20));
    assert_eq!((line(&screen, 0), line(&screen, 19)), ("row 11".into(), "row 30".into()));
    assert_eq!(at(&screen), (19, 6));
    // Rows below the cursor go first.
    feed(&mut screen, "\x1b[12H");
    screen.resize(size(10, 20));
    assert_eq!((line(&screen, 0), line(&screen, 9)), ("row 13".into(), "row 22".into()));
    assert_eq!(at(&screen), (9, 0));
}

#[test]
fn a_row_with_the_cursor_stays_where_less_fits() {
    let mut screen = show("1\r\n2\r\n3\r\n4\r\n5\x1b[2H");
    screen.resize(size(3, 20));
    assert_eq!((at(&screen), screen.text()), ((0, 0), "2\n3\n4".to_owned()));
    assert_eq!(history(&screen), "1");
    screen.resize(size(2, 20));
    assert_eq!((at(&screen), screen.text()), ((0, 0), "2\n3".to_owned()));
}

#[test]
fn the_history_is_wrapped_anew_for_another_width() {
    let mut screen = Screen::new(size(5, 40), HistoryLimit::default());
    let lines: Vec<String> =
        (0..20).map(|n| format!("{n:02} {} 中e\u{301}⚠\u{fe0f} end", "word ".repeat(14))).collect();
    feed(&mut screen, &format!("\x1b[31m{}\x1b[m\r\nlast", lines.join("\r\n")));
    let all = |screen: &Screen| {
        let rows = screen.history_range().filter_map(|number| screen.history_row(number));
        let mut text: Vec<String> = rows.map(|row| row.text()).collect();
        text.extend(screen.text().lines().map(str::to_owned));
        text
    };
    screen.resize(size(5, 120));
    assert_eq!(all(&screen), [&lines[..], &["last".to_owned()]].concat());
    let red = screen.history_row(screen.history_range().start).unwrap();
    assert_eq!(style(&red, 0).foreground, crate::model::Color::Indexed(1));
    screen.resize(size(5, 40));
    assert_eq!(all(&screen).len(), 3 * 20 + 1);
    screen.resize(size(5, 17));
    assert!(all(&screen).iter().all(|row| row.chars().count() <= 17), "{:?}", all(&screen));
    screen.resize(size(5, 120));
    assert_eq!(all(&screen), [&lines[..], &["last".to_owned()]].concat());
}

#[test]
fn a_history_that_takes_more_rows_stays_within_its_bound() {
    let limit = HistoryLimit { lines: 30, bytes: 1 << 20 };
    let mut screen = Screen::new(size(5, 100), limit);
    for n in 0..60 {
        feed(&mut screen, &format!("{n:02}{}\r\n", "x".repeat(70)));
    }
    screen.resize(size(5, 20));
    let range = screen.history_range();
    assert_eq!((range.end - range.start, range.end), (30, screen.committed()));
    assert!(screen.history_row(range.end - 1).is_some());
}
