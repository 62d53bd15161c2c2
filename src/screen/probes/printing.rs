//! Probes of printing, character sets and erasing.

use super::support::*;
use crate::model::Color;

#[test]
fn wide_char_at_right_margin_wraps_whole() {
    let screen = show(&format!("{}中", "a".repeat(19)));
    assert_eq!((line(&screen, 0), line(&screen, 1)), ("a".repeat(19), "中".to_owned()));
}

#[test]
fn wide_overwrite_half_clears_other_half() {
    assert_eq!(line(&show("中文\x1b[1;2Hx"), 0), " x文");
    assert_eq!(line(&show("中文\x1b[1;1Hx"), 0), "x 文");
}

#[test]
fn combining_mark_joins_cell() {
    let screen = show("e\u{301}x");
    assert_eq!(line(&screen, 0), "e\u{301}x");
    assert_eq!(at(&screen), (0, 2));
    assert_eq!(screen.row(0).runs[0].columns, 1);
}

#[test]
fn four_combining_marks_are_kept_in_one_cell() {
    let screen = show("e\u{301}\u{302}\u{303}\u{304}x");
    assert_eq!(line(&screen, 0), "e\u{301}\u{302}\u{303}\u{304}x");
    assert_eq!(at(&screen), (0, 2));
}

#[test]
fn zwj_family_is_one_cluster_of_width_2() {
    let family = "👨\u{200d}👩\u{200d}👧";
    let screen = show(&format!("{family}x"));
    assert_eq!(at(&screen), (0, 3));
    assert_eq!(screen.row(0).runs[0].text, family);
    assert_eq!(screen.row(0).runs[0].columns, 2);
}

#[test]
fn vs16_heart_has_width_2() {
    let screen = show("❤\u{fe0f}x");
    assert_eq!(at(&screen), (0, 3));
    assert_eq!(line(&screen, 0), "❤\u{fe0f}x");
}

#[test]
fn vs16_at_the_margin_moves_to_the_next_row() {
    let screen = show(&format!("{}⚠\u{fe0f}", "a".repeat(19)));
    assert_eq!(line(&screen, 1), "⚠\u{fe0f}");
    assert_eq!(at(&screen), (1, 2));
}

#[test]
fn skin_tone_has_width_2() {
    let screen = show("👍🏽x");
    assert_eq!(at(&screen), (0, 3));
    assert_eq!(line(&screen, 0), "👍🏽x");
}

#[test]
fn flag_has_width_2() {
    let screen = show("🇩🇪🇫🇷x");
    assert_eq!(at(&screen), (0, 5));
    assert_eq!(screen.row(0).runs[1].text, "🇫🇷");
}

#[test]
fn clusters_are_joined_across_chunks() {
    let mut screen = empty();
    for byte in "👍🏽👨\u{200d}👩\u{200d}👧❤\u{fe0f}".as_bytes() {
        screen.feed(&[*byte], crate::model::Moment(0));
    }
    assert_eq!(at(&screen), (0, 6));
    assert_eq!(line(&screen, 0), "👍🏽👨\u{200d}👩\u{200d}👧❤\u{fe0f}");
}

#[test]
fn deferred_wrap_at_last_column() {
    let mut screen = show(&"a".repeat(20));
    assert_eq!(at(&screen), (0, 19));
    feed(&mut screen, "b");
    assert_eq!(at(&screen), (1, 1));
    assert!(screen.row(0).wrapped);
}

#[test]
fn moving_ends_a_deferred_wrap() {
    let full = "a".repeat(20);
    assert_eq!(line(&show(&format!("{full}\x08b")), 0), format!("{}ba", "a".repeat(18)));
    assert_eq!(line(&show(&format!("{full}\x1b[Db")), 0), format!("{}ba", "a".repeat(18)));
    assert_eq!(line(&show(&format!("\n{full}\x1b[Ab")), 0), format!("{}b", " ".repeat(19)));
}

#[test]
fn decawm_off_does_not_wrap() {
    let screen = show(&format!("\x1b[?7l{}xyz", "a".repeat(20)));
    assert_eq!(line(&screen, 0), format!("{}z", "a".repeat(19)));
    assert_eq!(at(&screen), (0, 19));
    let screen = show(&format!("\x1b[?7l{}\x1b[?7hbc", "a".repeat(30)));
    assert_eq!(line(&screen, 1), "bc");
}

#[test]
fn rep_repeats() {
    assert_eq!(line(&show("a\x1b[4b"), 0), "aaaaa");
    assert_eq!(show("a\x1b[65535b").rebuilds(), 0);
}

#[test]
fn irm_inserts() {
    assert_eq!(line(&show("abc\x1b[1G\x1b[4hXY\x1b[4lZ"), 0), "XYZbc");
    assert_eq!(line(&show("abc\x1b[1G\x1b[4h中\x1b[4l"), 0), "中abc");
}

#[test]
fn dec_line_drawing() {
    assert_eq!(line(&show("\x1b(0lqk\x1b(Bq"), 0), "┌─┐q");
}

#[test]
fn so_si_charset_g1() {
    assert_eq!(line(&show("\x1b)0q\x0eqx\x0fq"), 0), "q─│q");
}

#[test]
fn decaln_fills_the_screen() {
    let screen = show("\x1b[31mab\x1b#8");
    assert!((0..5).all(|row| line(&screen, row) == "E".repeat(20)));
    assert_eq!(at(&screen), (0, 0));
    assert_eq!(style(&screen.row(0), 0).foreground, Color::Default);
}

#[test]
fn split_utf8_across_feeds() {
    let mut screen = empty();
    for byte in "é中🙂".as_bytes() {
        screen.feed(&[*byte], crate::model::Moment(0));
    }
    assert_eq!(line(&screen, 0), "é中🙂");
}

#[test]
fn invalid_utf8_is_shown_as_replacement() {
    let mut screen = empty();
    screen.feed(b"a\xffb\xe4\xb8c\xc3", crate::model::Moment(0));
    screen.feed(b"d", crate::model::Moment(0));
    assert_eq!(line(&screen, 0), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    assert_eq!(line(&show("\u{34000}\u{fffd}\u{10fffd}"), 0), "\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn c1_8_bit_is_neither_interpreted_nor_printed() {
    assert_eq!(line(&show("a\u{9b}31mb\u{90}c\u{85}d"), 0), "a31mbcd");
}

#[test]
fn reordering_characters_are_dropped() {
    assert_eq!(line(&show("a\u{202e}b\u{2066}c"), 0), "abc");
}

#[test]
fn dcs_apc_are_swallowed_not_printed() {
    let screen = show("a\x1bPq#0~~\x1b\\b\x1b_Gi=1;AAAA\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e");
    assert_eq!(line(&screen, 0), "abcde");
    let screen = show("a\x1b]66;s=2;x\x07b\x1b]1337;File=:AA\x07c\x1b[>4;?md\x1b[>1;2qe\x1b[>7uf");
    assert_eq!(line(&screen, 0), "abcdef");
}

#[test]
fn ich_and_dch() {
    assert_eq!(line(&show("abcd\x1b[2G\x1b[2@"), 0), "a  bcd");
    assert_eq!(line(&show("abcd\x1b[2G\x1b[2P"), 0), "ad");
}

#[test]
fn ich_and_dch_keep_the_background_colour() {
    let screen = show("abcd\x1b[2G\x1b[41m\x1b[2@");
    assert_eq!(style(&screen.row(0), 2).background, Color::Indexed(1));
    assert_eq!(style(&screen.row(0), 3).background, Color::Default);
    let screen = show("abcd\x1b[2G\x1b[41m\x1b[2P");
    assert_eq!(line(&screen, 0).trim_end(), "ad");
    assert_eq!(style(&screen.row(0), 19).background, Color::Indexed(1));
    assert_eq!(style(&screen.row(0), 17).background, Color::Default);
    assert_eq!(at(&screen), (0, 1));
}

#[test]
fn ech_keeps_bg_colour() {
    let screen = show("abcdef\x1b[2G\x1b[1;4;31;44m\x1b[3X");
    assert_eq!(line(&screen, 0), "a   ef");
    let erased = style(&screen.row(0), 1);
    assert_eq!(erased.background, Color::Indexed(4));
    assert_eq!((erased.foreground, erased.attributes), (Color::Default, 0));
}

#[test]
fn el_and_ed_keep_bg_colour() {
    let screen = show("\x1b[44mab\x1b[K\x1b[0J\x1b[m");
    assert_eq!(style(&screen.row(0), 19).background, Color::Indexed(4));
    assert_eq!(style(&screen.row(4), 19).background, Color::Indexed(4));
    assert_eq!(line(&show("abcdef\x1b[3G\x1b[1K"), 0), "   def");
    assert_eq!(show("ab\r\ncd\r\nef\x1b[2;1H\x1b[1J").text(), "\n d\nef");
}
