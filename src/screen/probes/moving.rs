//! Probes of moving, scrolling and the two screens.

use super::support::*;
use crate::model::{Color, Style};

const LINES: &str = "1\r\n2\r\n3\r\n4\r\n5";

#[test]
fn decstbm_and_lf_scroll() {
    let screen = show(&format!("{LINES}\x1b[2;4r\x1b[4;1H\n"));
    assert_eq!(screen.text(), "1\n3\n4\n\n5");
    assert_eq!(history(&screen), "");
}

#[test]
fn top_anchored_region_feeds_scrollback() {
    let screen = show(&format!("{LINES}\x1b[1;3r\x1b[3;1H\nx"));
    assert_eq!(screen.text(), "2\n3\nx\n4\n5");
    assert_eq!(history(&screen), "1");
}

#[test]
fn il_inside_region() {
    let screen = show(&format!("{LINES}\x1b[2;4r\x1b[2;1H\x1b[L"));
    assert_eq!(screen.text(), "1\n\n2\n3\n5");
}

#[test]
fn dl() {
    assert_eq!(show(&format!("{LINES}\x1b[2;1H\x1b[2M")).text(), "1\n4\n5");
}

#[test]
fn su_and_sd_in_a_region() {
    let start = format!("{LINES}\x1b[2;4r");
    assert_eq!(show(&format!("{start}\x1b[S")).text(), "1\n3\n4\n\n5");
    assert_eq!(show(&format!("{start}\x1b[T")).text(), "1\n\n2\n3\n5");
}

#[test]
fn tab_stops_hts_tbc() {
    let screen = show("\x1b[3g\x1b[5G\x1bH\x1b[9G\x1bH\r\ta\tb\tc");
    assert_eq!(line(&screen, 0), "    a   b          c");
    assert_eq!(line(&show("\x1b[9G\x1b[g\r\ta"), 0), format!("{}a", " ".repeat(16)));
    assert_eq!(line(&show("\ta"), 0), "        a");
}

#[test]
fn cbt() {
    assert_eq!(at(&show("\x1b[18G\x1b[Z")), (0, 16));
    assert_eq!(at(&show("\x1b[18G\x1b[2Z")), (0, 8));
}

#[test]
fn cht() {
    assert_eq!(at(&show("a\x1b[2I")), (0, 16));
    assert_eq!(at(&show("a\x1b[9I")), (0, 19));
}

#[test]
fn origin_mode_decom() {
    let screen = show("\x1b[2;4r\x1b[?6h\x1b[1;1Ha\x1b[9;1Hb\x1b[2dc");
    assert_eq!(screen.text(), "\na\n c\nb");
    assert_eq!(answers("\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[6n"), "\x1b[2;3R");
}

#[test]
fn nel_and_ind() {
    assert_eq!(show("ab\x1bEcd\x1bDe").text(), "ab\ncd\n  e");
}

#[test]
fn ri_scrolls_down_at_the_top() {
    assert_eq!(show("a\r\nb\x1b[H\x1bMx").text(), "x\na\nb");
}

#[test]
fn hpr_vpr_hpa_vpa() {
    assert_eq!(at(&show("\x1b[3a\x1b[2e")), (2, 3));
    assert_eq!(at(&show("\x1b[7`\x1b[4d")), (3, 6));
}

#[test]
fn scosc_scorc() {
    assert_eq!(line(&show("ab\x1b[scd\x1b[ux"), 0), "abxd");
}

#[test]
fn decsc_decrc_restores_attrs() {
    let screen = show("\x1b[1;31;9m\x1b(0\x1b7\x1b[m\x1b(B\x1b[3;3H\x1b8q");
    assert_eq!(line(&screen, 0), "─");
    let style = style(&screen.row(0), 0);
    assert_eq!(style.foreground, Color::Indexed(1));
    assert_eq!(style.attributes, Style::BOLD | Style::STRIKETHROUGH);
}

#[test]
fn decstr_soft_reset() {
    let screen =
        show("ab\x1b[2;4r\x1b[?6h\x1b[4h\x1b[?7l\x1b[?25l\x1b[1m\x1b[?1h\x1b(0\x1b[3;2H\x1b[!pq");
    assert_eq!(screen.text(), "ab\n\n\n q");
    assert!(screen.cursor().visible);
    assert!(!screen.modes().application_cursor);
    assert_eq!(style(&screen.row(3), 1), Style::default());
    let screen = show("\x1b[2;4r\x1b[!p\x1b[5;1Ha\nb");
    assert_eq!(history(&screen), "");
    assert_eq!(screen.text(), "\n\n\na\n b");
}

#[test]
fn ris_resets_but_keeps_the_past() {
    let screen = show("old\x1b[2;4r\x1b[1m\x1b[?2004h\x1b[?1049h\x1bcnew");
    assert_eq!(screen.text(), "new");
    assert!(!screen.modes().bracketed_paste && !screen.modes().alternate_screen);
    assert_eq!(history(&show("old\x1bcnew")), "old");
}

#[test]
fn alt_screen_1049_saves_and_restores() {
    let mut screen = show("main\x1b[31m\x1b[?1049h");
    assert_eq!(screen.text(), "");
    assert!(screen.modes().alternate_screen);
    feed(&mut screen, "\x1b[Halt\x1b[32m\x1b7\x1b[?1049lx");
    assert_eq!(screen.text(), "mainx");
    assert_eq!(style(&screen.row(0), 4).foreground, Color::Indexed(1));
    feed(&mut screen, "\x1b[?1049h");
    assert_eq!(screen.text(), "");
}

#[test]
fn alt_screen_1047_and_47() {
    let mut screen = show("main\x1b[?1047halt");
    assert_eq!(screen.text(), "    alt");
    feed(&mut screen, "\x1b[?1047l!\x1b[?1047h");
    assert_eq!(screen.text(), "");
    feed(&mut screen, "\x1b[?1047l");
    assert_eq!(screen.text(), "main   !");
    let mut screen = show("main\x1b[?47halt\x1b[?47l");
    assert_eq!(screen.text(), "main");
    feed(&mut screen, "\x1b[?47h");
    assert_eq!(screen.text(), "    alt");
}

#[test]
fn alt_screen_adds_no_scrollback() {
    let screen = show(&format!("\x1b[?1049h{LINES}\r\n6\r\n7\x1b[2J\x1b[?1049l"));
    assert_eq!(history(&screen), "");
    assert_eq!(screen.committed(), 0);
}

#[test]
fn ed2_on_primary_pushes_to_scrollback() {
    let screen = show("one\r\n\r\ntwo\x1b[2J");
    assert_eq!(screen.text(), "");
    assert_eq!(history(&screen), "one\n\ntwo");
    assert_eq!(at(&screen), (2, 3));
}

#[test]
fn ed3_clears_scrollback() {
    let screen = show(&format!("{LINES}\r\n6\x1b[3J"));
    assert_eq!(history(&screen), "");
    assert_eq!(screen.text(), "2\n3\n4\n5\n6");
    assert_eq!(screen.history_range(), 1..1);
}

#[test]
fn su_pushes_scrollback() {
    assert_eq!(history(&show(&format!("{LINES}\x1b[2S"))), "1\n2");
}
