//! Reading in a pane: keys, the wheel, and lines as they come.

use super::{actions, keys};
use crate::api::{KeyInput, Request};
use crate::model::{AgentName, Key, KeyCode, Row, Size};
use crate::tui::app::{App, LocalEffect, Mode, Purpose};
use crate::tui::keys::{Action, CursorMotion, KeyScope, ReadAction, is_text};
use crate::tui::reading::{
    AfterLoading, PaneReading, SearchInput, SearchPattern, SelectionShape, TextPlace,
};
use crate::tui::style::Tone;

/// Begins to read in a pane. Keys that went to it go there again once something is typed.
pub(super) fn begin(app: &mut App, agent: &AgentName) -> bool {
    let Some(slot) = app.slot_of(agent).filter(|slot| !slot.is_card) else {
        let hint = app.keymap.hint(Action::Zoom).unwrap_or_default();
        app.say(Tone::Dim, format!("{agent} is shown as a card: {hint} makes it a terminal"));
        return false;
    };
    let inner = slot.inner();
    let Some(pane) = app.panes.get(agent) else { return false };
    let mut reading = PaneReading::new(agent.clone(), pane, pane.view(inner.width, inner.height));
    reading.was_typing = app.is_typing();
    app.mode = Mode::Reading(Box::new(reading));
    app.damage.is_all = true;
    true
}

/// Begins to read a page above what is seen.
pub(super) fn begin_above(app: &mut App, agent: &AgentName) {
    if has_past(app, agent) {
        if begin(app, agent) {
            act(app, ReadAction::PageUp, None);
        }
        return;
    }
    let is_alternate = app.panes.get(agent).is_some_and(|pane| pane.is_alternate);
    let hint = app.keymap.hint(Action::Read).unwrap_or_default();
    let why = if is_alternate {
        format!("{agent} draws full-screen: there is no history to read: {hint} reads the screen")
    } else {
        format!("{agent} has no history yet: {hint} reads the screen")
    };
    app.say(Tone::Dim, why);
}

/// Says whether there is anything of a pane above what is seen.
pub(super) fn has_past(app: &App, agent: &AgentName) -> bool {
    let (Some(pane), Some(slot)) = (app.panes.get(agent), app.slot_of(agent)) else {
        return false;
    };
    let inner = slot.inner();
    PaneReading::new(agent.clone(), pane, pane.view(inner.width, inner.height)).has_past()
}

/// Shows a line of a pane, with a pattern marked.
pub(super) fn go_to(app: &mut App, agent: &AgentName, line: u64, pattern: SearchPattern) {
    actions::select(app, agent.clone());
    if !begin(app, agent) {
        return;
    }
    with(app, |reading, view| {
        reading.want(line);
        reading.centre(TextPlace { line, col: 0 }, view);
        reading.search_for(Some(pattern), false, view);
        // The search goes on from the line; it does not lead away from it.
        reading.after_loading = None;
        reading.centre(TextPlace { line, col: 0 }, view);
    });
}

/// Takes a key.
pub(super) fn press(app: &mut App, key: Key, named: Key) {
    let Mode::Reading(reading) = &app.mode else { return };
    app.damage.is_all = true;
    if let Some(input) = reading.input.clone() {
        return press_in_search(app, named, input);
    }
    let action = match app.keymap.action(KeyScope::Reading, named) {
        Some(Action::Reading(action)) => Some(action),
        _ => None,
    };
    if reading.was_typing {
        return press_over_typing(app, key, named, action);
    }
    let count = reading.count;
    if let Some(count) = counted(count, named, action) {
        return with(app, |reading, _| reading.count = Some(count));
    }
    with(app, |reading, _| reading.count = None);
    match (action, app.keymap.action(KeyScope::Overview, named)) {
        (Some(action), _) => act(app, action, count),
        // These show something over the panes, or beside them, and reading goes on.
        (None, Some(action @ (Action::Help | Action::Redraw | Action::Zoom | Action::Links))) => {
            actions::act(app, action);
        }
        (None, Some(action)) => {
            leave(app);
            actions::act(app, action);
        }
        (None, None) => {}
    }
}

/// Takes a key while what is typed goes back to the pane: only what turns pages stays here.
fn press_over_typing(app: &mut App, key: Key, named: Key, action: Option<ReadAction>) {
    let turns = matches!(
        named.code,
        KeyCode::PageUp | KeyCode::PageDown | KeyCode::Home | KeyCode::End | KeyCode::Escape
    );
    if app.keymap.action(KeyScope::Typing, named) == Some(Action::LeaveTyping) {
        keys::send(app, vec![KeyInput::Focus(false)]);
        with(app, |reading, _| reading.was_typing = false);
    } else if let Some(action) = action.filter(|_| turns && !is_text(named)) {
        act(app, action, None);
    } else {
        leave(app);
        keys::send(app, vec![KeyInput::Key(key)]);
    }
}

/// Returns the count with one more digit, if the key is one and means nothing else.
fn counted(count: Option<u32>, key: Key, action: Option<ReadAction>) -> Option<u32> {
    let KeyCode::Char(c) = key.code else { return None };
    let digit = c.to_digit(10).filter(|_| is_text(key))?;
    let is_digit = action.is_none() || (count.is_some() && digit == 0);
    let before = count.unwrap_or(0);
    is_digit.then(|| before.saturating_mul(10).saturating_add(digit).min(999_999))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other key means nothing in a line")]
fn press_in_search(app: &mut App, key: Key, input: SearchInput) {
    let mut text = input.text;
    match key.code {
        KeyCode::Enter => {
            with(app, |reading, view| reading.end_search(true, view));
            return say_search(app);
        }
        KeyCode::Escape => return with(app, |reading, view| reading.end_search(false, view)),
        KeyCode::Backspace if text.is_empty() => {
            return with(app, |reading, view| reading.end_search(false, view));
        }
        KeyCode::Backspace => drop(text.pop()),
        KeyCode::Char('u') if key.modifiers.control => text.clear(),
        KeyCode::Char('w') if key.modifiers.control => {
            let kept = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
            text.truncate(kept);
        }
        KeyCode::Char(c) | KeyCode::Keypad(c) if is_text(key) || key.code == KeyCode::Keypad(c) => {
            text.push(c);
        }
        _ => return,
    }
    with(app, |reading, view| reading.search_typed(text, view));
}

/// Takes a pasted text; says whether it was for the line of a search.
pub(super) fn paste(app: &mut App, text: &str) -> bool {
    let Mode::Reading(reading) = &app.mode else { return false };
    let Some(input) = &reading.input else { return false };
    let text = format!("{}{}", input.text, text.lines().next().unwrap_or_default());
    with(app, |reading, view| reading.search_typed(text, view));
    true
}

fn say_search(app: &mut App) {
    let Mode::Reading(reading) = &app.mode else { return };
    let Some(search) = &reading.search else { return };
    if search.hits.is_empty() && reading.is_loaded() {
        let text = format!("Not found: {}", search.pattern.source());
        app.say(Tone::Warning, text);
    }
}

/// Does what a key means.
pub(super) fn act(app: &mut App, action: ReadAction, count: Option<u32>) {
    let times = i64::from(count.unwrap_or(1).max(1));
    match action {
        ReadAction::Move(motion) => move_cursor(app, motion, count),
        ReadAction::HalfPageUp => page(app, -times, 2),
        ReadAction::HalfPageDown => page(app, times, 2),
        ReadAction::PageUp => page(app, -times, 1),
        ReadAction::PageDown => page(app, times, 1),
        ReadAction::SearchForward => with(app, |reading, _| reading.begin_search(false)),
        ReadAction::SearchBackward => with(app, |reading, _| reading.begin_search(true)),
        ReadAction::NextHit => next_hit(app, false, times),
        ReadAction::PreviousHit => next_hit(app, true, times),
        ReadAction::SelectChars => select(app, SelectionShape::Chars),
        ReadAction::SelectLines => select(app, SelectionShape::Lines),
        ReadAction::SelectBlock => select(app, SelectionShape::Block),
        ReadAction::LastError => last_error(app),
        ReadAction::Copy => copy(app, true),
        ReadAction::CopyOrType => {
            let Mode::Reading(reading) = &app.mode else { return };
            if reading.selection.is_some() {
                copy(app, true);
            } else {
                type_on(app);
            }
        }
        ReadAction::CopyLine => {
            with(app, |reading, _| reading.select_span(reading.line_at(reading.cursor)));
            copy(app, true);
        }
        ReadAction::Editor => open_editor(app, false),
        ReadAction::Type => type_on(app),
        ReadAction::Leave => leave(app),
        ReadAction::Cancel => {
            let Mode::Reading(reading) = &mut app.mode else { return };
            let has_more = !reading.was_typing
                && (reading.selection.take().is_some() || reading.search.take().is_some());
            if !has_more {
                leave(app);
            }
        }
    }
}

/// Opens all that a pane has shown in the person's own editor, once it is here.
pub(super) fn open_editor(app: &mut App, leaves: bool) {
    with(app, |reading, _| {
        reading.want_all();
        reading.after_loading = Some(AfterLoading::Editor { leaves });
    });
}

fn type_on(app: &mut App) {
    leave(app);
    if !app.is_typing() {
        actions::begin_typing(app);
    }
}

fn move_cursor(app: &mut App, motion: CursorMotion, count: Option<u32>) {
    with(app, |reading, view| {
        if motion == CursorMotion::Oldest {
            reading.want_all();
        }
        reading.step(motion, count, view);
    });
}

fn page(app: &mut App, pages: i64, part: i64) {
    with(app, |reading, view| {
        // Two lines of the last page stay, to find the place again.
        let whole = i64::from(view.rows.saturating_sub(2).max(1));
        let lines = if part == 1 { whole } else { i64::from(view.rows / 2).max(1) };
        reading.page_by(pages.saturating_mul(lines), view);
    });
}

fn next_hit(app: &mut App, is_reverse: bool, times: i64) {
    let Mode::Reading(reading) = &app.mode else { return };
    if reading.search.is_none() {
        let hint = app.keymap.hint(Action::Reading(ReadAction::SearchForward)).unwrap_or_default();
        return app.say(Tone::Dim, format!("Nothing is looked for yet: {hint} does"));
    }
    let mut is_found = false;
    with(app, |reading, view| {
        for _ in 0..times.min(10_000) {
            is_found = reading.next_hit(is_reverse, view);
        }
    });
    if !is_found {
        say_search(app);
    }
}

fn select(app: &mut App, shape: SelectionShape) {
    with(app, |reading, _| reading.select(shape));
}

fn last_error(app: &mut App) {
    let Mode::Reading(reading) = &app.mode else { return };
    let is_loaded = reading.is_loaded();
    let mut is_found = false;
    with(app, |reading, view| {
        is_found = reading.select_last_error(view);
        if !is_found && !is_loaded {
            reading.want_all();
            reading.after_loading = Some(AfterLoading::LastError);
        }
    });
    if !is_found && is_loaded {
        app.say(Tone::Dim, "No error was printed before that");
    }
}

/// Copies what is selected, and says so; or why nothing is copied.
pub(super) fn copy(app: &mut App, leaves: bool) {
    let Mode::Reading(reading) = &app.mode else { return };
    let Some(text) = reading.selected_text() else {
        let hint = app.keymap.hint(Action::Reading(ReadAction::SelectChars)).unwrap_or_default();
        return app.say(Tone::Dim, format!("Nothing is selected: {hint} or the mouse selects"));
    };
    if text.trim().is_empty() {
        return app.say(Tone::Warning, "Not copied: only blanks are selected");
    }
    app.wishes.push(LocalEffect::Copy(text));
    if leaves {
        leave(app);
    }
}

/// Turns by lines, up if negative; the wheel leaves at the newest line, as terminals do.
pub(super) fn wheel(app: &mut App, lines: i64) {
    let mut is_newest = false;
    with(app, |reading, view| is_newest = reading.scroll_by(lines, view));
    let Mode::Reading(reading) = &app.mode else { return };
    if is_newest && lines > 0 && reading.selection.is_none() && reading.input.is_none() {
        leave(app);
    }
}

/// Goes back to what happens now, and to where keys went before.
pub(super) fn leave(app: &mut App) {
    let Mode::Reading(reading) = &app.mode else { return };
    let runs = app.agent(&reading.agent).is_some_and(|agent| !agent.has_ended());
    app.mode = if reading.was_typing && runs {
        Mode::Typing
    } else {
        Mode::Overview { has_just_left: false }
    };
    app.damage.is_all = true;
}

/// Does what waits for every line, once they are here.
pub(super) fn resume(app: &mut App) {
    let Mode::Reading(reading) = &mut app.mode else { return };
    if !reading.is_loaded() {
        return;
    }
    match reading.after_loading.take() {
        None => {}
        Some(AfterLoading::Search) => {
            with(app, PaneReading::resume_search);
            say_search(app);
        }
        Some(AfterLoading::LastError) => last_error(app),
        Some(AfterLoading::Editor { leaves }) => {
            let (agent, text) = (reading.agent.to_string(), reading.whole_text());
            app.wishes.push(LocalEffect::View { agent, text });
            if leaves {
                leave(app);
            }
        }
    }
}

/// Goes on with a selection whose end is held beyond the edge.
pub(super) fn tick(app: &mut App) {
    let now = app.now;
    with(app, |reading, view| {
        let Some(drag) = reading.drag.as_mut().filter(|drag| drag.due <= now) else { return };
        drag.due = now + super::mouse::DRAG_PAUSE;
        let lines = drag.lines;
        reading.scroll_by(lines, view);
        let edge = if lines < 0 { reading.top } else { reading.top + u64::from(view.rows) - 1 };
        reading.move_to(TextPlace { line: edge, ..reading.cursor }, view);
    });
}

/// Changes what is read, and asks for the lines that it then wants.
pub(super) fn with(app: &mut App, change: impl FnOnce(&mut PaneReading, Size)) {
    let Mode::Reading(reading) = &app.mode else { return };
    let view = view(app, &reading.agent);
    let Mode::Reading(reading) = &mut app.mode else { return };
    change(reading, view);
    app.damage.is_all = true;
    fetch(app);
}

/// Returns the size of the tile that shows an agent.
pub(super) fn view(app: &App, agent: &AgentName) -> Size {
    let inner = app.slot_of(agent).map(|slot| slot.inner()).unwrap_or_default();
    Size { rows: inner.height, cols: inner.width }
}

/// Takes lines that were asked for, if they are still read, and asks for what is wanted next.
pub(super) fn take_history(
    app: &mut App,
    agent: &AgentName,
    first: u64,
    kept_from: u64,
    rows: Vec<Row>,
) {
    if let Mode::Reading(reading) = &mut app.mode
        && reading.agent == *agent
    {
        reading.add(first, kept_from, rows);
        app.damage.is_all = true;
        fetch(app);
    }
}

/// Asks for lines that are wanted and not here.
pub(super) fn fetch(app: &mut App) {
    let is_connected = app.is_connected();
    let Mode::Reading(reading) = &mut app.mode else { return };
    let Some((before, count)) = reading.wanted().filter(|_| is_connected) else {
        return resume(app);
    };
    reading.is_asking = true;
    let agent = reading.agent.clone();
    let request = Request::History { agent: agent.to_string(), before: Some(before), count };
    app.ask(Purpose::History { agent }, request);
}
