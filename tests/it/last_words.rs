//! The end of a turn is known before its last words are drawn, or without anything seen of it.

use wheelhouse::detect::{HookNews, StreamNews};
use wheelhouse::model::{AgentState, HookMeaning};

use super::acted::{CLAUDE, Pane, SIZE, echo, rules};

/// What `OpenCode` shows around an answer, while it works and after.
fn opencode(answer: &str, is_at_work: bool) -> String {
    opencode_turns(&[("Build it.", answer)], is_at_work)
}

/// What it shows of several turns, each a prompt and an answer.
fn opencode_turns(turns: &[(&str, &str)], is_at_work: bool) -> String {
    let (trailer, footer) = if is_at_work {
        ("▣  Build · Fake 1", "   ⬝⬝■■■■■■  esc interrupt")
    } else {
        ("▣  Build · Fake 1 · 1.2s", "   /project   ctrl+p commands")
    };
    let shown = |(prompt, answer): &(&str, &str)| {
        format!("  ┃\r\n  ┃  {prompt}\r\n  ┃\r\n\r\n     {answer}\r\n\r\n     {trailer}\r\n\r\n")
    };
    let turns: String = turns.iter().map(shown).collect();
    format!(
        "\x1b[?1049h\x1b[2J\x1b[H\r\n{turns}  ┃\r\n  ┃\r\n  ┃\r\n  ┃  Build · Fake 1\r\n  ╹{}\r\n{footer}",
        "▀".repeat(76)
    )
}

fn event(state: AgentState) -> StreamNews {
    StreamNews {
        state,
        kind: None,
        line: "session.status".into(),
        session: None,
        message: None,
        command: None,
    }
}

/// The end of the turn reaches us by an event while the last words are still being drawn.
#[test]
fn a_report_that_is_half_drawn_when_its_turn_ends_is_read_whole() {
    for pause in [10, 60, 160, 300, 1000, 2500] {
        let mut pane = Pane::new(&rules("opencode"));
        pane.write(&opencode("", false));
        pane.wait(3000);
        pane.detector.prompt_submitted("Build it.", None, pane.now);
        let found = pane.detector.stream(Some(&event(AgentState::Working)), pane.now);
        pane.take(found);
        pane.write(&opencode("", true));
        pane.wait(1000);
        let found = pane.detector.stream(Some(&event(AgentState::Idle)), pane.now);
        pane.take(found);
        pane.write(&opencode("STATUS: DONE", true));
        pane.wait(pause);
        assert_eq!(pane.raws(), Vec::<&str>::new(), "after {pause} ms");
        pane.write(&opencode("STATUS: DONE — one line", true));
        pane.wait(pause);
        pane.write(&opencode("STATUS: DONE — one line", false));
        pane.wait(1000);
        assert_eq!(pane.raws(), ["STATUS: DONE — one line"], "after {pause} ms");
        assert_eq!((pane.amended.len(), pane.detector.shown().state), (0, AgentState::Done));
    }
}

/// A screen that shows work for ever holds nothing back for ever, and a program that stops in the
/// middle of a line for longer than anybody waits is put right.
#[test]
fn a_report_that_was_told_too_early_is_amended_and_counts_once() {
    let mut pane = Pane::new(&rules("opencode"));
    pane.write(&opencode("", false));
    pane.wait(3000);
    pane.detector.prompt_submitted("Build it.", None, pane.now);
    let found = pane.detector.stream(Some(&event(AgentState::Working)), pane.now);
    pane.take(found);
    pane.write(&opencode("STATUS: DONE", true));
    pane.wait(300);
    let found = pane.detector.stream(Some(&event(AgentState::Idle)), pane.now);
    pane.take(found);
    pane.wait(7000);
    assert_eq!(pane.raws(), ["STATUS: DONE"]);
    pane.write(&opencode("STATUS: DONE — one line", false));
    pane.wait(1000);
    assert_eq!(pane.raws(), ["STATUS: DONE"], "it is one report");
    let amended: Vec<&str> = pane.amended.iter().map(|report| report.raw.as_str()).collect();
    assert_eq!(amended, ["STATUS: DONE — one line"]);
    assert_eq!(pane.detector.shown().line, "STATUS: DONE — one line");
    for _ in 0..10 {
        pane.write(&opencode("STATUS: DONE — one line", false));
        pane.wait(500);
    }
    assert_eq!((pane.reports.len(), pane.amended.len()), (1, 1));
}

/// Takes `OpenCode` through a turn whose end is known, and of whose last words this much is drawn.
fn ended(answer: &str) -> Pane {
    let mut pane = Pane::new(&rules("opencode"));
    pane.write(&opencode("", false));
    pane.wait(3000);
    pane.detector.prompt_submitted("Build it.", None, pane.now);
    let found = pane.detector.stream(Some(&event(AgentState::Working)), pane.now);
    pane.take(found);
    pane.write(&opencode("", true));
    pane.wait(1000);
    let found = pane.detector.stream(Some(&event(AgentState::Idle)), pane.now);
    pane.take(found);
    pane.write(&opencode(answer, false));
    pane.wait(5000);
    pane
}

/// The next prompt is submitted before the last words of the turn before are drawn.
#[test]
fn last_words_that_come_after_the_next_prompt_are_not_its_answer() {
    let first = "STATUS: DONE — one line";
    for (drawn, is_echoed) in [("", false), ("", true), ("STATUS: DONE", false)] {
        let mut pane = ended(drawn);
        pane.detector.prompt_submitted("Now test it.", None, pane.now);
        pane.wait(500);
        let second = is_echoed.then_some(("Now test it.", ""));
        let turns: Vec<_> = [("Build it.", first)].into_iter().chain(second).collect();
        pane.write(&opencode_turns(&turns, false));
        pane.wait(2000);
        let told: Vec<_> = pane.reports.iter().chain(&pane.amended).map(|one| &one.raw).collect();
        assert_eq!(told.last().map(|raw| raw.as_str()), Some(first), "after `{drawn}`");
        let shown = pane.detector.shown();
        assert_eq!((shown.state, pane.unseen), (AgentState::Idle, 0), "after `{drawn}`: {shown:?}");
        assert!(pane.detector.awaits_turn(), "nothing of it was seen after `{drawn}`");

        let second = "STATUS: DONE — 3 tests";
        let found = pane.detector.stream(Some(&event(AgentState::Working)), pane.now);
        pane.take(found);
        let turns = [("Build it.", first), ("Now test it.", second)];
        pane.write(&opencode_turns(&turns, true));
        pane.wait(500);
        let found = pane.detector.stream(Some(&event(AgentState::Idle)), pane.now);
        pane.take(found);
        pane.write(&opencode_turns(&turns, false));
        pane.wait(2000);
        let shown = pane.detector.shown();
        assert_eq!((shown.state, shown.line.as_str()), (AgentState::Done, second));
        assert_eq!((pane.raws().len(), pane.raws().last()), (2, Some(&second)));
    }
}

/// A turn that nobody saw at work has its own last words, and they are what the agent does.
#[test]
fn last_words_below_the_prompt_are_its_answer_though_no_work_was_seen() {
    let mut pane = ended("STATUS: DONE — one line");
    pane.detector.prompt_submitted("Now test it.", None, pane.now);
    pane.wait(500);
    let (first, second) = ("STATUS: DONE — one line", "STATUS: BLOCKED — the key");
    pane.write(&opencode_turns(&[("Build it.", first), ("Now test it.", second)], false));
    pane.wait(2000);
    assert_eq!(pane.raws(), [first, second]);
    assert_eq!(pane.detector.shown().state, AgentState::Blocked);
    assert!(!pane.detector.awaits_turn());
}

/// What Codex shows: turns, each a prompt and an answer.
fn codex(turns: &[(&str, &str)]) -> String {
    let shown = |(prompt, answer): &(&str, &str)| {
        let answer = if answer.is_empty() {
            String::new()
        } else {
            format!("\u{2022} {answer}\r\n\r\n  Worked for 1s\r\n\r\n")
        };
        format!("\x1b[48;5;237m\u{203a} {prompt}\x1b[K\x1b[m\r\n\r\n{answer}")
    };
    let turns: String = turns.iter().map(shown).collect();
    format!(
        "\x1b[?2026h\x1b[2J\x1b[H>_ OpenAI Codex\r\n\r\n{turns}\u{203a} Ask Codex to do anything\r\n\r\n  ? for shortcuts\x1b[?2026l"
    )
}

fn notified(prompt: Option<&str>) -> HookNews {
    HookNews {
        meaning: HookMeaning::Message,
        rule: "codex.agent-turn-complete".into(),
        session: None,
        prompt: prompt.map(str::to_owned),
        message: Some("Well.".into()),
    }
}

#[test]
fn a_turn_that_was_too_short_to_be_seen_is_known_to_be_over() {
    let submitted = || {
        let mut pane = Pane::new(&rules("codex"));
        pane.write(&codex(&[("First.", "Well.")]));
        pane.wait(3000);
        pane.detector.prompt_submitted("Second.", None, pane.now);
        pane.wait(100);
        pane
    };
    // The answer to the prompt before says nothing.
    let mut pane = submitted();
    pane.wait(9000);
    assert_eq!((pane.unseen, pane.detector.awaits_turn()), (0, true));
    // An answer that stands below it does.
    pane.write(&codex(&[("First.", "Well."), ("Second.", "Very well.")]));
    pane.wait(2000);
    let shown = pane.detector.shown();
    assert_eq!((pane.unseen, pane.detector.awaits_turn()), (1, false), "{shown:?}");

    // A message that names it does, and one that may belong to the turn before does not.
    let mut pane = submitted();
    let found = pane.detector.hook(&notified(None), pane.now);
    pane.take(found);
    let found = pane.detector.hook(&notified(Some("First.")), pane.now);
    pane.take(found);
    assert_eq!(pane.unseen, 0);
    let found = pane.detector.hook(&notified(Some("Second.")), pane.now);
    pane.take(found);
    assert_eq!(pane.unseen, 1);

    // The program's own word that it worked, and works no more.
    let mut pane = submitted();
    pane.write("\x1b]7501;state=working:app=codex\x1b\\\x1b]7501;state=idle:app=codex\x1b\\");
    pane.wait(2000);
    assert_eq!(pane.unseen, 1);

    // What was seen at work needs no such word.
    let mut pane = submitted();
    pane.write("\x1b]7501;state=working:app=codex\x1b\\");
    pane.wait(1000);
    assert!(!pane.detector.awaits_turn());
    pane.write("\x1b]7501;state=idle:app=codex\x1b\\");
    pane.wait(2000);
    assert_eq!(pane.unseen, 0);
}

/// The message of the turn before comes by a hook after the next prompt was submitted.
#[test]
fn a_message_that_comes_after_the_next_prompt_is_not_its_answer() {
    let said = |prompt: Option<&str>| HookNews {
        message: Some("STATUS: DONE — one line".into()),
        ..notified(prompt)
    };
    let submitted = || {
        let mut pane = Pane::new(&rules("codex"));
        pane.write(&codex(&[("First.", "Well.")]));
        pane.wait(3000);
        pane.detector.prompt_submitted("Second.", None, pane.now);
        pane.wait(100);
        pane
    };
    let states = [("First.", AgentState::Idle), ("Second.", AgentState::Done)];
    for (prompt, state) in states {
        let mut pane = submitted();
        let found = pane.detector.hook(&said(Some(prompt)), pane.now);
        pane.take(found);
        pane.wait(1000);
        assert_eq!(pane.raws(), ["STATUS: DONE — one line"], "{prompt}");
        assert_eq!(pane.detector.shown().state, state, "{prompt}");
        assert_eq!(pane.detector.awaits_turn(), state == AgentState::Idle, "{prompt}");
    }
    // One that names no prompt is believed where nothing else tells the turns apart.
    let mut pane = submitted();
    let found = pane.detector.hook(&said(None), pane.now);
    pane.take(found);
    assert_eq!(pane.detector.shown().state, AgentState::Done);
}

/// A prompt is longer than the screen, so that its echo is never seen, and a hook tells the answer before
/// anybody looks at it.
#[test]
fn what_a_hook_told_is_not_told_again_by_a_screen_that_is_looked_at_after_the_next_prompt() {
    let reports = ["STATUS: DONE — ready", "STATUS: DONE — was refused"];
    let said = |prompt: &str, report: &str| HookNews {
        message: Some(report.to_owned()),
        ..notified(Some(prompt))
    };
    let above = format!(
        "  the end of a brief\r\n\r\n\u{2022} {}\r\n\r\n  Worked for <1s\r\n\r\n",
        reports[0]
    );
    let mut pane = Pane::new(&rules("codex"));
    pane.write(&codex(&[]));
    pane.wait(3000);
    for (prompt, report) in ["Brief.", "One."].into_iter().zip(reports) {
        pane.detector.prompt_submitted(prompt, None, pane.now);
        let found = pane.detector.hook(&said(prompt, report), pane.now);
        pane.take(found);
    }
    let shown = codex(&[("One.", reports[1])]);
    pane.write(&shown.replace(">_ OpenAI Codex\r\n\r\n", &above));
    pane.wait(3000);
    assert_eq!(pane.raws(), reports);
    let shown = pane.detector.shown();
    assert_eq!((shown.state, shown.line.as_str()), (AgentState::Done, reports[1]));
}

/// A program that is run at the end of a turn may be faster than the terminal, whose signals and rows are
/// looked at when they rest.
#[test]
fn work_that_is_seen_after_a_hook_told_its_end_is_no_new_turn() {
    let report = "STATUS: DONE — ready";
    let state = |state: &str| format!("\x1b]7501;state={state}:app=it\x1b\\");
    let news = |meaning, rule: &str| HookNews {
        meaning,
        rule: rule.to_owned(),
        session: None,
        prompt: Some("Brief.".into()),
        message: (meaning != HookMeaning::Prompt).then(|| report.to_owned()),
    };
    let codex_tells = [news(HookMeaning::Message, "codex.agent-turn-complete")];
    let claude_tells = [news(HookMeaning::Prompt, "prompt"), news(HookMeaning::Ended, "stop")];
    for (cli, told) in [("codex", &codex_tells[..]), ("claude", &claude_tells)] {
        let mut pane = Pane::new(&rules(cli));
        let frame =
            |turns: &[(&str, &str)]| if cli == "codex" { codex(turns) } else { claude(turns) };
        pane.write(&format!("{}{}", state("idle"), frame(&[])));
        pane.wait(3000);
        pane.detector.prompt_submitted("Brief.", None, pane.now);
        for news in told {
            let found = pane.detector.hook(news, pane.now);
            pane.take(found);
            pane.wait(20);
        }
        assert_eq!((pane.raws(), pane.detector.shown().state), (vec![report], AgentState::Done));
        pane.write(&state("working"));
        pane.wait(300);
        assert_eq!(pane.detector.shown().state, AgentState::Working, "{cli}");
        pane.write(&format!("{}{}", frame(&[("Brief.", report)]), state("idle")));
        pane.wait(3000);
        let shown = pane.detector.shown();
        assert_eq!((shown.state, shown.line.as_str()), (AgentState::Done, report), "{cli}");
        // What is done after that is another turn, whoever asked for it.
        pane.write(&state("working"));
        pane.wait(300);
        let turns = [("Brief.", report), ("And?", "Well.")];
        pane.write(&format!("{}{}", frame(&turns), state("idle")));
        pane.wait(3000);
        assert_eq!(pane.detector.shown().state, AgentState::Idle, "{cli}");
        assert_eq!(pane.raws(), [report], "{cli}");
    }
}

/// What Claude Code shows: turns, each a prompt and an answer.
fn claude(turns: &[(&str, &str)]) -> String {
    let shown = |(prompt, answer): &(&str, &str)| {
        format!("\x1b[48;5;237m❯ {prompt}\x1b[K\x1b[m\r\n\r\n● {answer}\r\n\r\n")
    };
    let (turns, rule): (String, _) =
        (turns.iter().map(shown).collect(), "─".repeat(SIZE.cols.into()));
    format!("\x1b[2J\x1b[H{turns}{rule}\r\n❯ \r\n{rule}\r\n  ? for shortcuts")
}

/// The next attempt at a task begins with the same words, and on a busy machine nobody looks between its
/// prompt and its end.
#[test]
fn a_prompt_that_begins_like_an_earlier_one_has_reports_of_its_own() {
    let prompt = "Task t3: Build the third part";
    let lines = "\n  and a part".repeat(40);
    for is_sent_back in [false, true] {
        let mut pane = Pane::new(&CLAUDE);
        let mut told = vec!["STATUS(k7f3): DONE — 3 tests pass"];
        pane.detector.prompt_submitted(prompt, Some("k7f3"), pane.now);
        pane.turn(prompt, &format!("● Now:{lines}\n\n● {}", told[0]));
        if is_sent_back {
            told.push("STATUS(k7f3): DONE — 4 tests pass");
            pane.detector.prompt_submitted("It is not done.", Some("k7f3"), pane.now);
            pane.turn("It is not done.", &format!("● Again:{lines}\n\n● {}", told[1]));
        }
        assert_eq!(pane.raws(), told);
        told.push("STATUS(m4q8): DONE — 3 tests pass");
        pane.detector.prompt_submitted(prompt, Some("m4q8"), pane.now);
        pane.wait(300);
        let turn = format!("{}\n● {}", echo(prompt), told[told.len() - 1]);
        pane.show(&turn, "? for shortcuts");
        pane.wait(3000);
        assert_eq!(pane.raws(), told, "sent back: {is_sent_back}");
        assert_eq!(pane.detector.shown().state, AgentState::Done);
        assert!(!pane.detector.awaits_turn(), "its end was seen");
    }
}

#[test]
fn a_border_that_is_half_drawn_cuts_no_line_short() {
    let rule = |cols: usize| "─".repeat(cols);
    let all = usize::from(SIZE.cols);
    for (is_late, tag) in [(false, ""), (true, ""), (false, "(k7f3)"), (true, "(k7f3)")] {
        let line = |number| format!("PROGRESS{tag}: [{number}/40] — piece number {number}");
        let lines: Vec<String> = (1..=40).map(line).collect();
        let mut pane = Pane::new(&CLAUDE);
        let box_above = format!("\r\n{}\r\n❯ \r\n", rule(all));
        let end = format!("{}\r\n  esc to interrupt", rule(all));
        pane.write("\x1b[?1049l\r\n\x1b[48;5;237m❯ Build it.\x1b[m\r\n\r\n● Now:\r\n");
        pane.write(&format!("{box_above}{end}"));
        pane.wait(300);
        for (number, line) in lines.iter().enumerate() {
            pane.write(&format!("\x1b[4A\r\x1b[J  {line}\r\n{box_above}"));
            let half = rule(6 + number * 11 % 37);
            if is_late {
                // What a hub that comes back reads is not divided into frames.
                pane.screen.feed(half.as_bytes(), pane.now);
                pane.detector.catch_up(&pane.screen, &[], pane.now);
            } else {
                pane.write(&half);
                pane.wait(140);
            }
            pane.write(&format!("\r{end}"));
            pane.wait(300);
        }
        pane.write("\r\x1b[J  ? for shortcuts");
        pane.wait(3000);
        assert_eq!(pane.raws(), lines, "read late: {is_late}, tag: {tag}");
    }
}
