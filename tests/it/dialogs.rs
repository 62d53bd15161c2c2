//! What wants a person, read from recordings; and which source is believed.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use serde_json::Value;
use wheelhouse::detect::{Detector, Dialog, Finding, Options};
use wheelhouse::model::{AgentState, DialogKind, Moment, Size, Source, Subject};
use wheelhouse::screen::{HistoryLimit, Screen, Signal};

use super::acted::{CLAUDE, Pane, echo, rules};

/// Plays a recording up to a moment, and returns the dialog that is open then.
fn dialog(recording: &str, seconds: f64) -> Dialog {
    dialog_told(recording, seconds, None)
}

/// The same, where the program has told beside the screen what it asks for.
fn dialog_told(recording: &str, seconds: f64, told: Option<&str>) -> Dialog {
    let cli = recording.split(['-', '/']).next().unwrap();
    let text = fs::read_to_string(format!("tests/recordings/{recording}.cast")).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let length = |key: &str| u16::try_from(head[key].as_u64().unwrap()).unwrap();
    let size = Size { rows: length("height"), cols: length("width") };
    let mut screen = Screen::new(size, HistoryLimit::default());
    let mut detector = Detector::new(rules(cli), Options { uses_signals: false }, Moment(0));
    let output = lines.filter(|event| event[1] == "o" && event[0].as_f64().unwrap() < seconds);
    for event in output {
        let now = Moment(0) + Duration::from_secs_f64(event[0].as_f64().unwrap());
        let signals = screen.feed(event[2].as_str().unwrap().as_bytes(), now).signals;
        detector.observe(&screen, &signals, now);
    }
    let end = Moment(0) + Duration::from_secs_f64(seconds + 1.0);
    if let Some(told) = told {
        detector.tell_command(told.to_owned(), end);
    }
    detector.observe(&screen, &[], end);
    // What a look saw is shown once another saw the same.
    detector.observe(&screen, &[], end + Duration::from_secs(1));
    assert_eq!(detector.shown().state, AgentState::Waiting, "{recording}");
    detector.dialog().unwrap().clone()
}

#[test]
fn an_approval_tells_what_it_is_about_and_what_can_be_chosen() {
    let dialog = dialog("claude-2.1.197/approval_shell", 6.0);
    assert_eq!(dialog.kind, DialogKind::Approval);
    assert!(dialog.text.contains("Bash command\nmkdir -p out"), "{}", dialog.text);
    assert!(dialog.text.ends_with("Do you want to proceed?"), "{}", dialog.text);
    assert_eq!(dialog.options.len(), 3);
    assert_eq!((dialog.options[0].as_str(), dialog.selected), ("Yes", Some(0)));
}

#[test]
fn a_dialog_that_preselects_no_says_so() {
    let trust = dialog("claude/startup", 3.0);
    assert_eq!(trust.kind, DialogKind::Trust);
    assert_eq!(trust.options, ["No, exit", "Yes, I trust this folder"]);
    assert_eq!(trust.selected, Some(0));
    let key = dialog("claude/startup", 6.0);
    assert_eq!((key.kind, key.selected), (DialogKind::Login, Some(1)));
}

#[test]
fn every_cli_has_its_dialogs() {
    let kinds = [
        ("codex/approval_shell", 4.0, DialogKind::Approval, Some(0)),
        ("codex/question", 3.0, DialogKind::Question, Some(0)),
        ("gemini/approval_shell", 7.0, DialogKind::Approval, Some(0)),
        ("gemini/question", 7.0, DialogKind::Question, Some(0)),
        ("gemini/startup", 4.5, DialogKind::Trust, Some(0)),
        ("opencode/approval_shell", 16.0, DialogKind::Approval, Some(0)),
        ("opencode/question", 18.5, DialogKind::Question, Some(0)),
        ("claude/question", 7.0, DialogKind::Question, Some(0)),
    ];
    for (recording, at, kind, selected) in kinds {
        let dialog = dialog(recording, at);
        assert_eq!((dialog.kind, dialog.selected), (kind, selected), "{recording} {dialog:?}");
        assert!(dialog.options.len() >= 3, "{recording} {dialog:?}");
        assert!(!dialog.text.is_empty(), "{recording}");
    }
}

#[test]
fn what_an_approval_is_about_is_read_from_every_cli() {
    let long = "mkdir -p out && echo built > out/result.txt && sleep 2 && cat out/result.txt";
    let (command, path) =
        (|text: &str| Subject::Command(text.into()), |text: &str| Subject::Path(text.into()));
    for (recording, at, subject) in [
        ("claude/approval_shell", 7.9, command(long)),
        ("claude/approval_denied", 9.8, command("rm -rf build")),
        ("claude/multitool", 8.0, command("mkdir -p src")),
        ("claude/approval_edit", 7.5, path("server.py")),
        ("claude/approval_edit", 13.5, path("server.py")),
        ("claude-2.1.197/approval_shell", 6.0, command(long)),
        ("claude-2.1.197/approval_denied", 5.2, command("rm -rf build")),
        ("claude-2.1.197/approval_edit", 5.2, path("server.py")),
        ("claude-nopsp/approval_shell", 7.9, command(long)),
        ("codex/approval_shell", 4.0, command(long)),
        ("codex/approval_denied", 3.0, command("rm -rf build")),
        ("codex/approval_edit", 3.0, path("/tmp/demo/codex-approval-edit/server.py")),
        ("gemini/approval_shell", 7.0, command(long)),
        ("gemini/approval_denied", 6.4, command("rm -rf build")),
        ("gemini/approval_edit", 7.2, path("server.py")),
        ("opencode/approval_shell", 15.0, command(long)),
        ("opencode/approval_denied", 13.6, command("rm -rf build")),
        ("opencode/approval_edit", 14.0, path("server.py")),
    ] {
        let (Subject::Command(said) | Subject::Path(said)) = &subject;
        // OpenCode draws whatever a command says of the terminal: there its events must tell the same.
        let told = recording.starts_with("opencode").then_some(said.as_str());
        let dialog = dialog_told(recording, at, told);
        let Some(question) = dialog.question() else { panic!("{recording} {dialog:?}") };
        assert_eq!(question.subject, subject, "{recording}");
        let yes = dialog.options[question.yes].to_lowercase();
        let words = ["always", "again", "session", "auto", "all edits", "no,"];
        assert!(!words.iter().any(|word| yes.contains(word)), "{recording}: {yes}");
    }
    assert_eq!(dialog("opencode/approval_shell", 15.0).question(), None);
    assert_eq!(dialog_told("opencode/approval_shell", 15.0, Some("rm x")).question(), None);
    // Of this one it cannot be told what is the path, and what the file's content.
    assert_eq!(dialog("aider/approval_edit", 7.0).question(), None);
    assert_eq!(dialog("claude/question", 7.0).question(), None);
}

/// Returns what a dialog of Claude Code with these rows between its head and its question asks.
pub(super) fn asked(rows: &str) -> Option<Subject> {
    let mut screen = Screen::new(Size { rows: 24, cols: 60 }, HistoryLimit::default());
    let (blue, grey, end) = ("\x1b[38;5;111m", "\x1b[38;5;246m", "\x1b[m");
    let rows = rows.replace("<grey>", grey).replace("</>", end).replace('\n', "\r\n");
    let page = format!(
        "{blue}{}{end}\r\n{blue} Bash command{end}\r\n\r\n{rows}\r\n\r\n Do you want to proceed?\r\n \
         {blue}❯ 1. Yes{end}\r\n   2. Yes, and don't ask again\r\n   3. No\r\n\r\n{grey} Esc to cancel{end}",
        "─".repeat(60)
    );
    screen.feed(page.as_bytes(), Moment(0));
    let mut detector = Detector::new(rules("claude"), Options::default(), Moment(0));
    detector.observe(&screen, &[], Moment(1000));
    for look in 2..5 {
        detector.observe(&screen, &[], Moment(look * 1000));
    }
    assert_eq!(detector.shown().state, AgentState::Waiting, "{page}");
    detector.dialog().unwrap().question().map(|question| question.subject)
}

#[test]
fn a_command_that_cannot_be_read_whole_is_not_read() {
    let status = Some(Subject::Command("git status".into()));
    let line = format!("<grey>{}</>", "╌".repeat(60));
    assert_eq!(asked("   git status\n<grey>   Shows the state</>"), status);
    assert_eq!(asked("   git status"), status);
    assert_eq!(asked(&format!("<grey> Shows it</>\n{line}\n git status\n{line}")), status);
    for rows in [
        // Another row of the command, which only its colour tells from a description.
        "   git status\n   rm -rf /\n<grey>   Shows the state</>".to_owned(),
        "   git status\n\n   rm -rf /".to_owned(),
        "   git status\n   rm <grey>-rf /</>".to_owned(),
        format!("{line}\n git status\n rm -rf /\n{line}"),
        format!("{line}\n git status\n ╌╌╌╌╌╌╌╌\n rm -rf /\n{line}"),
        format!("{line}\n git status\n{line}\n rm -rf /\n{line}"),
        // Cut off, or likely so.
        "   git status …".to_owned(),
        format!("   git status {}", "x".repeat(40)),
        format!("   git status {}", "x".repeat(80)),
        // No command at all.
        "<grey>   git status</>".to_owned(),
    ] {
        assert_eq!(asked(&rows), None, "{rows}");
    }
}

#[test]
fn an_entry_that_only_its_background_marks_is_the_selected_one() {
    let mut screen = Screen::new(Size { rows: 12, cols: 80 }, HistoryLimit::default());
    let mut detector = Detector::new(rules("opencode"), Options::default(), Moment(0));
    let entries = ["Allow once", "Allow always", "Reject"];
    for (round, selected) in [1, 2, 0, 1].into_iter().enumerate() {
        let mut row = "  ┃\x1b[48;2;30;30;30m  ".to_owned();
        for (at, entry) in entries.iter().enumerate() {
            let shade = if at == selected { "\x1b[48;2;245;167;66m" } else { "" };
            let _ = write!(row, "{shade} {entry} \x1b[48;2;30;30;30m  ");
        }
        let page =
            format!("\x1b[2J\x1b[H  ┃\r\n  ┃  △ Permission required\r\n  ┃\r\n{row}\x1b[K\x1b[m");
        let now = Moment(round as u64 * 2000);
        screen.feed(page.as_bytes(), now);
        detector.observe(&screen, &[], now);
        detector.observe(&screen, &[], now + Duration::from_millis(300));
        detector.observe(&screen, &[], now + Duration::from_millis(1200));
        let dialog = detector.dialog().unwrap();
        assert_eq!(
            (&*dialog.options, dialog.selected),
            (&entries.map(String::from)[..], Some(selected))
        );
    }
}

#[test]
fn a_program_that_tells_its_own_state_is_believed_before_the_screen() {
    let mut pane = Pane::new(&CLAUDE);
    let says = |pane: &mut Pane, status: &str| {
        let signal = Signal::ProgramStatus(status.into());
        let found = pane.detector.observe(&pane.screen, &[signal], pane.now);
        pane.take(found);
        pane.wait(1000);
        let shown = pane.detector.shown();
        (shown.state, shown.source)
    };
    assert_eq!(says(&mut pane, "state=working:app=x"), (AgentState::Working, Source::Signal));
    assert_eq!(
        says(&mut pane, "state=blocked:kind=question"),
        (AgentState::Waiting, Source::Signal)
    );
    assert_eq!(says(&mut pane, "state=done"), (AgentState::Idle, Source::Signal));
    assert_eq!(says(&mut pane, "state=clear"), (AgentState::Idle, Source::Screen));
    let explanation = pane.detector.explain(pane.now);
    assert_eq!(explanation.shown.rule, "claude.hint");
    assert!(explanation.age >= Duration::from_secs(1));
}

#[test]
fn last_words_that_are_drawn_after_the_end_was_told_count() {
    let mut pane = Pane::new(&CLAUDE);
    let says = |pane: &mut Pane, status: &str| {
        let signal = Signal::ProgramStatus(status.into());
        let found = pane.detector.observe(&pane.screen, &[signal], pane.now);
        pane.take(found);
    };
    says(&mut pane, "state=working:app=x");
    pane.show(&echo("Go."), "esc to interrupt");
    says(&mut pane, "state=done");
    pane.wait(5000);
    assert_eq!(pane.detector.shown().state, AgentState::Idle);
    pane.show("● STATUS: DONE — late", "? for shortcuts");
    pane.wait(1000);
    assert_eq!(pane.raws(), ["STATUS: DONE — late"]);
    assert_eq!(pane.detector.shown().state, AgentState::Done);
}

#[test]
fn the_end_of_work_must_last_and_what_nobody_knows_is_unknown() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.paint("? for shortcuts");
    pane.wait(200);
    assert_eq!(pane.detector.shown().state, AgentState::Working);
    pane.wait(1000);
    assert_eq!(pane.detector.shown().state, AgentState::Idle);
    pane.write("\x1b[2J\x1b[HSegmentation fault");
    pane.wait(5000);
    assert_eq!(pane.detector.shown().state, AgentState::Unknown);
}

#[test]
fn a_panel_beside_the_conversation_is_no_part_of_it() {
    let mut screen = Screen::new(Size { rows: 14, cols: 160 }, HistoryLimit::default());
    let mut detector = Detector::new(rules("opencode"), Options::default(), Moment(0));
    let mut reports = Vec::new();
    let mut now = Moment(100);
    let line = "STATUS: DONE — built 6 endpoints in src/api, tests pass (23/23)";
    for (text, footer) in [("", "ctrl+p"), ("", "⬝⬝⬝⬝■■■■  esc interrupt"), (line, "ctrl+p")]
    {
        let border = "▀".repeat(110);
        let page = format!(
            "\x1b[?1049h\x1b[2J\x1b[H\r\n  ┃\r\n  ┃  Build it.\r\n  ┃\r\n\r\n     {text}\r\n\r\n  ┃\r\n  ╹{border}\r\n  {footer}"
        );
        let panel = (1..9).map(|row| format!("\x1b[{row};125HLSPs are disabled"));
        screen.feed((page + &panel.collect::<String>()).as_bytes(), now);
        for step in [0, 300, 2000] {
            reports.extend(detector.observe(&screen, &[], now + Duration::from_millis(step)));
        }
        now = now + Duration::from_secs(5);
    }
    let reports: Vec<&str> = reports
        .iter()
        .filter_map(|finding| match finding {
            Finding::Report(report) => Some(report.raw.as_str()),
            Finding::State(_)
            | Finding::TurnEnded
            | Finding::Amended(_)
            | Finding::Compacted
            | Finding::Foreign(_) => None,
        })
        .collect();
    assert_eq!(reports, [line]);
    assert_eq!(detector.shown().state, AgentState::Done);
}

#[test]
fn a_prompt_that_flashes_up_is_not_one_that_waits() {
    let hint = "? for shortcuts";
    let line = |c: &str| c.repeat(80);
    let bar = format!("{}\r\n Shift+Tab to accept edits", line("─"));
    let below = [&*line("▄"), " >   Type your message", &*line("▀"), " workspace"].join("\r\n");
    let prompt = format!("{hint:>79}\r\n{bar}\r\n{below}");
    let page = |above: &str| format!("\x1b[2J\x1b[H{above}\r\n\r\n{prompt}");
    let restarting = " Gemini CLI is restarting to apply the trust changes...";
    for above in ["", restarting] {
        let mut screen = Screen::new(Size { rows: 24, cols: 80 }, HistoryLimit::default());
        let mut detector = Detector::new(rules("gemini"), Options::default(), Moment(0));
        let mut now = Moment(0);
        let mut show = |text: &str, seconds: u64| {
            let signals = screen.feed(text.as_bytes(), now).signals;
            detector.observe(&screen, &signals, now);
            for _ in 0..seconds * 10 {
                now = now + Duration::from_millis(100);
                detector.observe(&screen, &[], now);
            }
            detector.shown().state
        };
        // Its title is ahead of what it draws, and what it draws is ahead of its dialogs.
        let title = "\x1b]0;◇  Ready (project)\x07";
        assert_eq!(show(title, 3), AgentState::Starting);
        assert_eq!(show(&page(above), 3), AgentState::Starting, "{above}");
        let banner = "Gemini CLI v0.61.0\r\n\r\nTips for getting started:\r\n1. Create files";
        assert_eq!(show(&page(banner), 1), AgentState::Idle);
        // Where the banner is hidden, nothing more will come.
        let mut bare = Detector::new(rules("gemini"), Options::default(), now);
        let mut screen = Screen::new(Size { rows: 24, cols: 80 }, HistoryLimit::default());
        let signals = screen.feed(format!("{title}{}", page(above)).as_bytes(), now).signals;
        bare.observe(&screen, &signals, now);
        bare.observe(&screen, &[], now + Duration::from_secs(1));
        bare.observe(&screen, &[], now + Duration::from_secs(12));
        assert_eq!(bare.shown().state, AgentState::Idle);
    }
}

#[test]
fn a_program_that_starts_itself_anew_is_not_ready_in_between() {
    let trust = "\x1b[2J\x1b[H╭────╮\r\n│ Do you trust the files in this folder?\r\n│ \
                 ● 1. Trust folder (x)\r\n│   2. Don't trust\r\n╰────╯";
    let frame = format!(
        "{:>79}\r\n{}\r\n Shift+Tab to accept edits\r\n{}\r\n >   Type your message\r\n{}\r\n \
         workspace (/directory)\r\n /tmp/project",
        "? for shortcuts",
        "─".repeat(80),
        "▄".repeat(80),
        "▀".repeat(80)
    );
    let banner = "Gemini CLI v0.61.0\r\n\r\nTips for getting started:\r\n1. Create files";
    let ready = "\x1b]0;◇  Ready (project)\x07";
    let mut screen = Screen::new(Size { rows: 30, cols: 80 }, HistoryLimit::default());
    let mut detector = Detector::new(rules("gemini"), Options::default(), Moment(0));
    let mut now = Moment(0);
    let mut show = |text: &str, tenths: u64| {
        let signals = screen.feed(text.as_bytes(), now).signals;
        detector.observe(&screen, &signals, now);
        for _ in 0..tenths {
            now = now + Duration::from_millis(100);
            detector.observe(&screen, &[], now);
        }
        detector.shown().state
    };
    assert_eq!(show(&format!("{ready}{trust}"), 20), AgentState::Waiting);
    // Trusted: it shows its prompt for a moment, and ends.
    assert_eq!(show(&format!("\x1b[2J\x1b[H{banner}\r\n\r\n{frame}"), 15), AgentState::Waiting);
    assert_eq!(show("\x1b]0;\x07", 100), AgentState::Starting);
    // The next one tells of itself, draws its prompt below the old one, and only then its banner.
    assert_eq!(show(ready, 10), AgentState::Starting);
    assert_eq!(show(&format!("\r\n\r\n{frame}"), 50), AgentState::Starting);
    let come_up = format!("\x1b[2J\x1b[H{banner}\r\n\r\n{frame}");
    assert_eq!(show(&come_up, 40), AgentState::Idle);
}

#[test]
fn a_program_that_says_that_it_restarts_is_not_ready_for_a_flash_of_its_prompt() {
    let mut screen = Screen::new(Size { rows: 30, cols: 80 }, HistoryLimit::default());
    let mut detector = Detector::new(rules("gemini"), Options::default(), Moment(0));
    let mut now = Moment(0);
    let mut show = |text: &str, tenths: u64| {
        let signals = screen.feed(text.as_bytes(), now).signals;
        detector.observe(&screen, &signals, now);
        for _ in 0..tenths {
            now = now + Duration::from_millis(100);
            detector.observe(&screen, &[], now);
        }
        detector.shown().state
    };
    let restarting = "\x1b[2J\x1b[H Gemini CLI is restarting to apply the trust changes...\r\n";
    assert_eq!(show(restarting, 30), AgentState::Starting);
    // A warning of its own stands between that and the prompt, which is not the last one.
    let prompt = format!(
        "Error: ENOENT: no such file or directory\r\n\r\n{:>79}\r\n{}\r\n Shift+Tab to accept \
         edits\r\n{}\r\n >   Type your message\r\n{}\r\n workspace (/directory)\r\n /tmp/project",
        "? for shortcuts",
        "─".repeat(80),
        "▄".repeat(80),
        "▀".repeat(80)
    );
    assert_eq!(show("\x1b]0;◇  Ready (project)\x07", 4), AgentState::Starting);
    assert_eq!(show(&prompt, 20), AgentState::Starting);
    assert_eq!(show("", 30), AgentState::Idle, "it is there to stay");
}

#[test]
fn a_limit_tells_when_it_ends() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Go.", "● You've hit your session limit · resets 3am (UTC)\n\n✻ Baked for 0s");
    let shown = pane.detector.shown();
    assert_eq!((shown.state, shown.reset.as_deref()), (AgentState::Limited, Some("3am (UTC)")));
}
