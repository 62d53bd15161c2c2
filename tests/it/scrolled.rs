//! Lines that scroll past count as often as they were said, whatever they say.

use wheelhouse::model::Size;

use super::acted::{CLAUDE, Pane};

/// Prints a long answer on the primary screen as the scripted agent does, some lines at a time: rows
/// scroll off the top, and the spinner and the box below them are drawn again each time.
fn stream_lines(pane: &mut Pane, lines: &[String], step: usize) {
    let rule = "─".repeat(100);
    let foot = |hint: &str| format!("\r\n{rule}\r\n❯ \r\n{rule}\r\n  {hint}");
    pane.write("\x1b[?1049l\x1b[2J\x1b[H");
    pane.write(&format!(
        "\r\n\x1b[48;5;237m❯ Build it.\x1b[m\r\n\r\n●{}",
        foot("esc to interrupt")
    ));
    pane.wait(300);
    for lines in lines.chunks(step) {
        let rows: Vec<String> = lines.iter().map(|line| format!("  {line}\r\n")).collect();
        let rows = rows.concat();
        pane.write(&format!("\x1b[4A\r\x1b[J{rows}{}", foot("esc to interrupt")));
        pane.wait(300);
    }
    pane.write(&format!("\x1b[4A\r\x1b[J{}", foot("? for shortcuts")));
    pane.wait(5000);
}

#[test]
fn equal_lines_that_scroll_by_count_as_often_as_they_were_said() {
    for (tag, step) in [("(k7f3)", 2), ("(k7f3)", 7), ("(k7f3)", 150), ("", 40)] {
        let mut pane = Pane::new(&CLAUDE);
        pane.write("\x1b[?1049l\x1b[2J\x1b[H");
        pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
        let line = format!("PROGRESS{tag}: [1/2] — a part of it is built");
        stream_lines(&mut pane, &vec![line; 640], step);
        assert_eq!(pane.reports.len(), 640, "{tag} {step} lines at a time");
    }
}

#[test]
fn numbered_lines_that_scroll_by_are_told_in_order_and_each_once() {
    for (tag, step) in [("(k7f3)", 3), ("(k7f3)", 150), ("", 40)] {
        let mut pane = Pane::new(&CLAUDE);
        pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
        let line = |number: u32| format!("PROGRESS{tag}: [{number}/640] — a part of it is built");
        let lines: Vec<String> = (1..=640).map(line).collect();
        stream_lines(&mut pane, &lines, step);
        assert_eq!(pane.raws(), lines, "{tag} {step} lines at a time");
    }
}

#[test]
fn a_long_answer_that_is_printed_again_counts_once() {
    let mut pane = Pane::new(&CLAUDE);
    pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
    let line = "PROGRESS(k7f3): [1/2] — a part of it is built".to_owned();
    stream_lines(&mut pane, &vec![line.clone(); 350], 9);
    assert_eq!(pane.reports.len(), 350);
    for cols in [100, 90, 100] {
        pane.screen.resize(Size { rows: 30, cols });
        let rows = format!("  {line}\r\n").repeat(350);
        let rule = "─".repeat(usize::from(cols));
        let echo = "\x1b[48;5;237m❯ Build it.\x1b[m";
        pane.write(&format!(
            "\x1b[2J\x1b[3J\x1b[H\r\n{echo}\r\n\r\n●\r\n{rows}\r\n{rule}\r\n❯ \r\n{rule}\r\n  ? for shortcuts"
        ));
        pane.wait(5000);
    }
    assert_eq!(pane.reports.len(), 350);
}
