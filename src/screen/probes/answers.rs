//! Probes of modes, signals and answers.

use super::support::*;
use crate::model::Moment;
use crate::screen::{CursorShape, Modes, MouseEncoding, MouseMode, Progress, Signal};

fn modes(text: &str) -> Modes {
    show(text).modes()
}

fn signals(text: &str) -> Vec<Signal> {
    feed(&mut empty(), text).signals
}

#[test]
fn bracketed_paste_flag_2004() {
    assert!(modes("\x1b[?2004h").bracketed_paste);
    assert!(!modes("\x1b[?2004h\x1b[?2004l").bracketed_paste);
}

#[test]
fn app_cursor_keys_and_keypad() {
    assert!(modes("\x1b[?1h").application_cursor);
    assert!(modes("\x1b=").application_keypad);
    assert!(!modes("\x1b=\x1b>").application_keypad);
}

#[test]
fn mouse_1002_and_1006() {
    assert_eq!(modes("\x1b[?1002h").mouse, MouseMode::Button);
    assert_eq!(modes("\x1b[?1000;1006h").mouse, MouseMode::Normal);
    assert_eq!(modes("\x1b[?1003;1006h").mouse_encoding, MouseEncoding::Sgr);
    assert_eq!(modes("\x1b[?1003h\x1b[?1003l").mouse, MouseMode::None);
}

#[test]
fn focus_events_1004_and_alternate_scroll_1007() {
    assert!(modes("\x1b[?1004h").focus_events);
    assert!(modes("\x1b[?1007h").alternate_scroll);
}

#[test]
fn sync_output_2026_holds_frame() {
    let mut screen = show("\x1b[?2026hpart");
    assert!(screen.is_held(Moment(149)));
    assert!(!screen.is_held(Moment(150)));
    assert_eq!(screen.held_until(), Some(Moment(150)));
    screen.feed(b"\x1b[?2026l", Moment(20));
    assert!(!screen.is_held(Moment(20)));
}

#[test]
fn frames_that_follow_each_other_are_not_held_for_ever() {
    let mut screen = show("\x1b[?2026h");
    for now in (16..160).step_by(16) {
        screen.feed(b"\x1b[?2026lx\x1b[?2026h", Moment(now));
    }
    assert_eq!(screen.held_until(), Some(Moment(150)));
    screen.feed(b"\x1b[?2026l\x1b[?2026h", Moment(160));
    assert_eq!(screen.held_until(), Some(Moment(310)));
}

#[test]
fn kitty_kbd_push_pop_query() {
    assert_eq!(modes("\x1b[>1u").kitty_flags, 1);
    assert_eq!(modes("\x1b[>1u\x1b[>7u\x1b[<u").kitty_flags, 1);
    assert_eq!(modes("\x1b[>1u\x1b[=2;2u").kitty_flags, 3);
    assert_eq!(modes("\x1b[>1u\x1b[?1049h").kitty_flags, 0);
    assert_eq!(modes("\x1b[>1u\x1b[?1049h\x1b[?1049l").kitty_flags, 1);
    assert_eq!(answers("\x1b[>5u\x1b[?u"), "\x1b[?5u");
}

#[test]
fn modify_other_keys() {
    assert_eq!(modes("\x1b[>4;2m").modify_other_keys, 2);
    assert_eq!(modes("\x1b[>4;2m\x1b[>4m").modify_other_keys, 0);
    assert_eq!(answers("\x1b[>4;1m\x1b[?4m"), "\x1b[>4;1m");
}

#[test]
fn osc_titles_also_with_semicolons() {
    let title = |text: &str| vec![Signal::Title(text.to_owned())];
    let both = vec![Signal::IconName("t".to_owned()), Signal::Title("t".to_owned())];
    assert_eq!(signals("\x1b]0;t\x07"), both);
    assert_eq!(signals("\x1b]2;a;b;c\x1b\\"), title("a;b;c"));
    assert_eq!(signals("\x1b]2;a\x08\u{9b}b\u{202e}\x07"), title("ab"));
    assert_eq!(show("\x1b]2;a;b\x07").title(), "a;b");
}

#[test]
fn osc_8_hyperlink_in_cell() {
    let screen = show("a\x1b]8;id=1;https://example.com/x\x07bc\x1b]8;;\x07d");
    assert_eq!(screen.link_at(0, 0), None);
    assert_eq!(screen.link_at(0, 2), Some("https://example.com/x"));
    assert_eq!(screen.link_at(0, 3), None);
    let links = screen.links();
    assert_eq!(links.len(), 1);
    assert_eq!((links[0].row, links[0].col, links[0].columns), (0, 1, 2));
    assert_eq!(links[0].target, "https://example.com/x");
}

#[test]
fn osc_52_copy_surfaced_and_query_unanswered() {
    assert_eq!(signals("\x1b]52;c;aGk=\x07"), [Signal::Clipboard("aGk=".to_owned())]);
    assert_eq!(signals("\x1b]52;c;?\x07"), []);
    assert_eq!(answers("\x1b]52;c;?\x07"), "");
}

#[test]
fn bel_surfaced() {
    assert_eq!(signals("\x07"), [Signal::Bell]);
}

#[test]
fn osc_9_99_777_notify_surfaced() {
    let note = |title: Option<&str>, body: &str| {
        let title = title.map(str::to_owned);
        vec![Signal::Notification { title, body: body.to_owned() }]
    };
    assert_eq!(signals("\x1b]9;done; really\x07"), note(None, "done; really"));
    assert_eq!(signals("\x1b]777;notify;T;body\x07"), note(Some("T"), "body"));
    assert_eq!(signals("\x1b]99;i=1:d=0;hello\x1b\\"), note(None, "hello"));
    assert_eq!(signals("\x1b]99;i=1:p=?;\x1b\\"), []);
}

#[test]
fn osc_9_4_progress_surfaced() {
    assert_eq!(signals("\x1b]9;4;1;42\x07"), [Signal::Progress(Progress::Percent(42))]);
    assert_eq!(signals("\x1b]9;4;0\x07"), [Signal::Progress(Progress::None)]);
}

#[test]
fn osc_7_cwd_and_133_surfaced() {
    assert_eq!(signals("\x1b]7;file://h/d\x07"), [Signal::Directory("file://h/d".to_owned())]);
    assert_eq!(signals("\x1b]133;A\x07"), [Signal::ShellMark("A".to_owned())]);
}

#[test]
fn program_status_surfaced_and_query_answered_before_da1() {
    let status = "state=blocked:app=codex:kind=permission";
    let expected = [Signal::ProgramStatus(status.to_owned())];
    assert_eq!(signals(&format!("\x1b]7501;{status}\x1b\\")), expected);
    assert_eq!(signals("\x1b]7501;?\x1b\\"), []);
    let answer = answers("\x1b]7501;?\x1b\\\x1b[c");
    let expected = "\x1b]7501;?:states=idle,working,done,blocked,error:\
                    kinds=permission,question,auth\x1b\\\x1b[?62;22c";
    assert_eq!(answer, expected);
}

#[test]
fn da1_da2_da3_reply() {
    assert_eq!(answers("\x1b[c\x1b[0c"), "\x1b[?62;22c\x1b[?62;22c");
    assert_eq!(answers("\x1b[>c"), "\x1b[>1;10;0c");
    assert_eq!(answers("\x1b[=c"), "\x1bP!|00000000\x1b\\");
}

#[test]
fn dsr_5_and_6_reply() {
    assert_eq!(answers("\x1b[5n"), "\x1b[0n");
    assert_eq!(answers("ab\r\ncd\x1b[6n"), "\x1b[2;3R");
    assert_eq!(answers(&format!("{}\x1b[6n", "a".repeat(20))), "\x1b[1;20R");
    assert_eq!(answers("\x1b[?6n"), "\x1b[?1;1R");
}

#[test]
fn xtversion_reply() {
    let expected = format!("\x1bP>|wheelhouse {}\x1b\\", env!("CARGO_PKG_VERSION"));
    assert_eq!(answers("\x1b[>0q"), expected);
    assert_eq!(answers("\x1b[>q"), expected);
}

#[test]
fn osc_10_11_12_4_query_reply() {
    assert_eq!(answers("\x1b]10;?\x07"), "\x1b]10;rgb:d0d0/d0d0/d0d0\x07");
    assert_eq!(answers("\x1b]11;?\x1b\\"), "\x1b]11;rgb:1010/1010/1010\x1b\\");
    assert_eq!(answers("\x1b]12;?\x1b\\"), "\x1b]12;rgb:d0d0/d0d0/d0d0\x1b\\");
    let both = "\x1b]4;1;rgb:cdcd/3131/3131\x07\x1b]4;231;rgb:ffff/ffff/ffff\x07";
    assert_eq!(answers("\x1b]4;1;?;231;?\x07"), both);
    assert_eq!(answers("\x1b]10;#fff\x07\x1b]4;999;?\x07"), "");
}

#[test]
fn decrqm_replies() {
    assert_eq!(answers("\x1b[?2026$p"), "\x1b[?2026;2$y");
    assert_eq!(answers("\x1b[?2026h\x1b[?2026$p"), "\x1b[?2026;1$y");
    assert_eq!(answers("\x1b[?2004h\x1b[?2004$p"), "\x1b[?2004;1$y");
    assert_eq!(answers("\x1b[?1016$p\x1b[4$p"), "\x1b[?1016;0$y\x1b[4;2$y");
}

#[test]
fn xtgettcap_and_decrqss_reply_not_known() {
    assert_eq!(answers("\x1bP+q4d73\x1b\\"), "\x1bP0+r\x1b\\");
    assert_eq!(answers("\x1bP$qm\x1b\\"), "\x1bP0$r\x1b\\");
}

#[test]
fn size_reports() {
    assert_eq!(answers("\x1b[14t\x1b[16t\x1b[18t"), "\x1b[4;100;200t\x1b[6;20;10t\x1b[8;5;20t");
    assert_eq!(answers("\x1b]2;secret\x07\x1b[21t\x1b[20t"), "");
}

#[test]
fn decscusr_cursor_style_and_visibility() {
    assert_eq!(show("\x1b[5 q").cursor().shape, CursorShape::BlinkingBar);
    assert_eq!(show("\x1b[5 q\x1b[ q").cursor().shape, CursorShape::Default);
    assert!(!show("\x1b[?25l").cursor().visible);
}

#[test]
fn pictures_of_several_characters_are_one_for_good() {
    assert_eq!(answers("\x1b[?2027$p"), "\x1b[?2027;3$y");
}

#[test]
fn a_backspace_goes_back_over_the_edge_in_the_mode_for_it() {
    assert_eq!(answers("\x1b[?45$p\x1b[?45h\x1b[?45$p"), "\x1b[?45;2$y\x1b[?45;1$y");
    assert_eq!(at(&show("\x1b[?45h\x1b[3;2H\x08\x08")), (1, 19));
    assert_eq!(at(&show("\x1b[?45h\x1b[3;2H\x1b[3D")), (1, 18));
    assert_eq!(at(&show("\x1b[?45h\x1b[3;2H\x1b[23D")), (0, 18));
    assert_eq!(at(&show("\x1b[?45h\x1b[1;2H\x08\x08")), (0, 0));
    assert_eq!(at(&show("\x1b[?45h\x1b[?7l\x1b[3;1H\x08")), (2, 0));
    assert_eq!(at(&show("\x1b[3;1H\x08")), (2, 0));
}
