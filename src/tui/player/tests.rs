//! What keys do in the player, and what is seen.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draw::draw;
use super::state::{Film, FilmPlayer};
use crate::api::TaskStatus;
use crate::history::{JournalItem, PastAgent, PastMoment, PastScreen};
use crate::model::{AgentName, AgentState, Entry, Key, Moment, Role, Row, Size, TaskState};
use crate::tui::tests::fixture::{run, theme};

const BEGAN: Moment = Moment(1_700_000_000_000);

/// A past in which two agents show their names and the second.
struct Reel;

impl Film for Reel {
    fn scene(&mut self, index: usize) -> Result<PastMoment, String> {
        if index == 3 {
            return Err("the record is damaged\x1b[2J".to_owned());
        }
        let agent = |name: &str, state| PastAgent {
            name: name.parse().unwrap(),
            cli: "sim".to_owned(),
            role: Role::Worker,
            state,
            since: BEGAN,
            ending: None,
            task: Some("t1".to_owned()),
            footage: PastScreen::default(),
        };
        let task = TaskStatus {
            id: "t1".to_owned(),
            title: "Build \x1b[31mit".to_owned(),
            state: TaskState::Running,
            agent: Some("backend".to_owned()),
            attempt: 1,
            needs: Vec::new(),
            note: None,
            since: BEGAN.to_rfc3339(),
            run: None,
            key: None,
        };
        let agents =
            vec![agent("backend", AgentState::Working), agent("tests", AgentState::Waiting)];
        let (at, run, attention) = (BEGAN, "s1".to_owned(), Vec::new());
        Ok(PastMoment { run, seq: 1, at, event: None, agents, tasks: vec![task], attention })
    }

    fn footage(&mut self, agent: &AgentName, at: Moment) -> PastScreen {
        let seconds = at.since(BEGAN).as_secs();
        if seconds == 0 {
            return PastScreen::missing("its recording begins later");
        }
        let text = format!("{agent} after {seconds} s\x1b]0;x\x07");
        let columns = u16::try_from(text.chars().count()).unwrap();
        PastScreen::of(vec![Row { runs: vec![run(&text, columns)], wrapped: false }])
    }
}

fn player(cols: u16, rows: u16) -> FilmPlayer {
    let told = |(seq, second): (u64, u64)| {
        let agent: AgentName = "backend".parse().unwrap();
        let entry = Entry::new("report.status", "STATUS: DONE\u{202e}").of(&agent);
        JournalItem { seq, batch: seq, at: Moment(BEGAN.0 + second * 1000), entry }
    };
    let entries = [(10, 0), (11, 5), (12, 70), (13, 71), (14, 90)].map(told).to_vec();
    FilmPlayer::new("s1".to_owned(), entries, theme(), Size { rows, cols }, &mut Reel)
}

fn press(player: &mut FilmPlayer, keys: &str) {
    for key in keys.split(' ') {
        player.press(key.parse::<Key>().unwrap(), &mut Reel);
    }
}

fn shown(player: &FilmPlayer) -> String {
    let area = Rect::new(0, 0, player.window.cols, player.window.rows);
    let mut buffer = Buffer::empty(area);
    draw(player, area, &mut buffer);
    let line = |y: u16| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..area.height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

fn place(player: &FilmPlayer) -> (usize, u64) {
    (player.index, player.at.since(BEGAN).as_secs())
}

#[test]
fn keys_go_by_event_by_minute_and_to_the_ends() {
    let mut player = player(100, 12);
    for (keys, expected) in [
        ("right", (1, 5)),
        ("pagedown", (1, 65)),
        ("left", (1, 5)),
        ("left", (0, 0)),
        ("left", (0, 0)),
        ("end", (4, 90)),
        ("right", (4, 90)),
        ("pageup", (1, 30)),
        ("home", (0, 0)),
        ("pageup", (0, 0)),
    ] {
        press(&mut player, keys);
        assert_eq!(place(&player), expected, "{keys}");
    }
    assert!(!player.is_over);
    press(&mut player, "q");
    assert!(player.is_over);
}

#[test]
fn it_plays_at_its_speed_until_the_end_and_then_from_the_beginning() {
    let mut player = player(100, 12);
    player.tick(Duration::from_secs(1), &mut Reel);
    assert_eq!(place(&player), (0, 0), "nobody pressed play");
    press(&mut player, "space");
    player.tick(Duration::from_secs(2), &mut Reel);
    assert_eq!(place(&player), (1, 8));
    press(&mut player, "- -");
    player.tick(Duration::from_secs(2), &mut Reel);
    assert_eq!(place(&player), (1, 10));
    player.tick(Duration::from_mins(5), &mut Reel);
    assert_eq!((place(&player), player.is_playing), ((4, 90), false));
    press(&mut player, "space");
    assert_eq!((place(&player), player.is_playing), ((0, 0), true));
    press(&mut player, "right");
    assert!(!player.is_playing, "whoever steps wants to look");
}

#[test]
fn any_agents_screen_is_chosen() {
    let mut player = player(100, 12);
    press(&mut player, "right 2");
    assert!(shown(&player).contains("tests after 5 s"));
    press(&mut player, "tab");
    assert!(shown(&player).contains("backend after 5 s"));
    press(&mut player, "tab 9");
    assert!(shown(&player).contains("tests after 5 s"), "there is no ninth");
}

#[test]
fn a_moment_is_seen_with_its_agents_tasks_and_a_screen() {
    let mut player = player(100, 14);
    insta::assert_snapshot!("player_begins", shown(&player));
    press(&mut player, "right right");
    insta::assert_snapshot!("player", shown(&player));
    press(&mut player, "right");
    assert!(shown(&player).contains("This moment cannot be shown: the record is damaged"));
    assert!(!shown(&player).chars().any(|c| c != '\n' && crate::model::is_deceptive(c)));
}

#[test]
fn no_window_is_too_small() {
    for (cols, rows) in [(1, 1), (2, 3), (10, 4), (89, 5), (90, 2), (300, 100)] {
        let mut player = player(cols, rows);
        press(&mut player, "right");
        assert_eq!(shown(&player).lines().count(), usize::from(rows));
    }
}
