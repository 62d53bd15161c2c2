//! Hostile strings by the hundred, through everything that shows what somebody else wrote: on a real
//! dashboard's terminal nothing but cells and styles comes out, and of the commands nothing but text.

use std::fmt::Write as _;
use std::fs;

use wheelhouse::api::{KeyInput, Notice, Request};
use wheelhouse::model::{AgentState, is_deceptive};

use super::fake_hub::{FakeHub, status, view};
use super::support::clock::wait_for;
use super::support::hostile::{inline, strings, texts};
use super::support::painted::assert_painted;
use super::support::visitor::Visitor;
use super::support::world::World;
use super::terminal::Terminal;

/// Shows the strings in a file page by page, each page with one of them as its title; the last page
/// stays until a line comes in that ends it.
const PAGER: &str = r"
import os, sys
os.system('stty -echo')
strings = [bytes.fromhex(line) for line in open(sys.argv[1])]
size = int(sys.argv[2])
for page in range(0, len(strings), size):
    os.write(1, b'\x18\x1bc')
    for text in strings[page:page + size]:
        os.write(1, text + b'\x18\x1b\\\x1b[?1049l\x1b[m\x1b(B\x0f\r\n')
    os.write(1, b'\x1b]2;' + strings[page] + b'\x1b\\\x18\x1b[m\x1b[r\x1b[?1049l\x1b[23;1H')
    os.write(1, b'page %d is shown' % (page // size))
    sys.stdin.readline()
";
const PAGE: usize = 20;

/// Reports, asks and fails with hostile words; each step waits for a line.
const REPORTER: &str = r"
import os, sys
os.system('stty -echo')
evil = bytes.fromhex(sys.argv[1])
def step(text):
    os.write(1, b'\x1bcat work\r\n')
    sys.stdin.readline()
    os.write(1, text)
    sys.stdin.readline()
step(b'PROGRESS: [2/3] \xe2\x80\x94 ' + evil + b' came so far\r\n$ ')
step(b'STATUS: BLOCKED \xe2\x80\x94 I need ' + evil + b' from you\r\n$ ')
step(evil + b' Overwrite? [y/N] ')
";

const WAITER: &[&str] = &["sh", "-c", "read x", "ROOT"];

/// Says what a command printed that is more than text.
fn assert_text(words: &[&str], text: &str) {
    const JOINER: char = '\u{200d}';
    const PICTURE: char = '\u{fe0f}';
    let is_bad = |c: &char| is_deceptive(*c) && !matches!(*c, '\n' | JOINER | PICTURE);
    let bad: Vec<char> = text.chars().filter(is_bad).collect();
    assert!(bad.is_empty(), "{words:?} printed {bad:?}");
}

/// Runs a command that may fail, and looks at all that it prints.
fn assert_says_text(world: &World, words: &[&str]) {
    let said = world.run(words);
    assert_text(words, &said.out);
    assert_text(words, &said.err);
    if words.contains(&"--json") && said.code == Some(0) {
        serde_json::from_str::<serde_json::Value>(&said.out).unwrap();
    }
}

fn assert_log_is_text(world: &World) {
    let log = fs::read_to_string(world.paths().hub_log()).unwrap();
    assert_text(&["the hub's log"], &log);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"))
}

fn write_strings(world: &World) -> String {
    let mut file = String::new();
    for text in strings() {
        writeln!(file, "{}", hex(&text)).unwrap();
    }
    let path = world.path("strings");
    fs::write(&path, file).unwrap();
    path.to_str().unwrap().to_owned()
}

fn next_page(visitor: &mut Visitor, agent: &str) {
    let keys = vec![KeyInput::Key("enter".parse().unwrap())];
    visitor.ask(Request::Keys { agent: agent.to_owned(), keys });
}

#[test]
fn a_pane_and_its_title_reach_the_terminal_as_cells_alone() {
    assert!(strings().len() >= 300, "{}", strings().len());
    let world = World::new();
    let path = write_strings(&world);
    let (cols, rows, size) = (100, 34, PAGE.to_string());
    let pager = ["python3", "-c", PAGER, &path, &size, "ROOT"];
    world.write_config(&world.crew(&[("pager", &pager)]));
    world.trust();
    world.ok(&["up", "crew"]);
    let mut terminal = Terminal::attach(&world, cols, rows);
    let mut visitor = Visitor::greeted(&world);
    for page in 0..strings().len().div_ceil(PAGE) {
        terminal.wait_for(&format!("page {page} is shown"));
        if page % 5 == 0 {
            for words in
                [&["agent", "read", "pager"][..], &["status", "--json"], &["agent", "list"]]
            {
                assert_says_text(&world, words);
            }
        }
        next_page(&mut visitor, "pager");
    }
    terminal.wait_for("exited");
    // What has scrolled off, by key and by command.
    terminal.press(b"\x1b[5~\x1b[5~");
    terminal.press(b"q");
    for words in [
        &["agent", "read", "pager", "--scrollback"][..],
        &["agent", "read", "pager", "--scrollback", "--json"],
        &["agent", "explain", "pager"],
        &["agent", "explain", "pager", "--json"],
        &["agent", "tree", "pager"],
        &["status"],
        &["doctor"],
        &["doctor", "--json"],
        &[],
        &["down"],
    ] {
        assert_says_text(&world, words);
    }
    terminal.catch_up();
    assert_painted(&terminal.seen, cols, rows);
    assert_log_is_text(&world);
}

#[test]
fn reports_dialogs_and_last_words_are_told_as_text() {
    let world = World::new();
    let digits = hex(&inline());
    let reporter = ["python3", "-c", REPORTER, &digits, "ROOT"];
    // Its output alone is work only if a setting says so.
    let crew = world.crew(&[("reporter", &reporter)]);
    world.write_config(&crew.replace("command =", "like = \"shell\"\ncommand ="));
    world.trust();
    world.ok(&["up", "crew"]);
    let (cols, rows) = (140, 34);
    let mut terminal = Terminal::attach(&world, cols, rows);
    let go_on = || next_page(&mut Visitor::greeted(&world), "reporter");
    let step = || {
        wait_for("work", || world.agent("reporter").state == AgentState::Working);
        go_on();
    };
    let look = |what: &str, is_it: &dyn Fn(&wheelhouse::api::AgentStatus) -> bool| {
        wait_for(what, || is_it(&world.agent("reporter")));
        for words in [
            &["status"][..],
            &["status", "--json"],
            &["agent", "list", "--json"],
            &["agent", "explain", "reporter"],
            &["agent", "explain", "reporter", "--json"],
        ] {
            assert_says_text(&world, words);
        }
    };
    step();
    look("progress", &|agent| agent.progress.is_some());
    go_on();
    step();
    look("blocked", &|agent| agent.state == AgentState::Blocked && agent.note.is_some());
    go_on();
    step();
    look("waiting", &|agent| agent.state == AgentState::Waiting && agent.note.is_some());
    terminal.wait_for("Overwrite?");
    let evil = texts().join(" ").replace('\0', "");
    let evil: String = evil.chars().take(900).collect();
    assert_says_text(&world, &["agent", "add", "failing", "--", &evil]);
    wait_for("what could not start", || world.agent("failing").note.is_some());
    look("both", &|_| true);
    for words in [&["agent", "remove", &evil][..], &["agent", "add", &evil, "--cli", &evil]] {
        assert_says_text(&world, words);
    }
    terminal.press(b"2");
    terminal.wait_for("failing");
    terminal.press(b"q");
    terminal.wait_for("Detached");
    assert_painted(&terminal.seen, cols, rows);
    assert_log_is_text(&world);
}

#[test]
fn a_file_that_nobody_has_trusted_is_shown_as_text() {
    let world = World::with_crew(&[("one", WAITER)]);
    let words: Vec<String> = texts().into_iter().filter(|text| !text.contains('\0')).collect();
    let argv: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut config = world.crew(&[("one", &argv)]);
    let evil = serde_json::to_string(&words[..40].join(" ")).unwrap().replace('\u{7f}', "\\u007f");
    writeln!(config, "cwd = {evil}\nprompt = {evil}\ncapabilities = []").unwrap();
    // A delete is no text in a file of settings.
    world.write_config(&config.replace('\u{7f}', "\\u007f"));
    let (cols, rows) = (120, 34);
    let mut terminal = Terminal::attach(&world, cols, rows);
    // What could be started comes first, and then this.
    terminal.wait_for("crew");
    terminal.press(b"j");
    terminal.wait_for("not trusted");
    terminal.press(b"\x1b");
    let commands: [&[&str]; 12] = [
        &["config", "check"],
        &["config", "check", "--json"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "trust"],
        &["up", "crew"],
        &["up"],
        &["doctor"],
        &["doctor", "--json"],
        &["config", "trust", "--yes"],
        &["config", "trust", "--yes", "--json"],
        &["up", "crew"],
    ];
    for words in commands {
        assert_says_text(&world, words);
    }
    let broken = format!("{config}\n{evil} = 1\n[cli.{evil}]\ncommand = [{evil}]\nlike = {evil}\n");
    world.write_config(&broken.replace('\u{7f}', "\\u007f"));
    for words in [&["config", "check"][..], &["config", "check", "--json"], &["up"], &["doctor"]] {
        assert_says_text(&world, words);
    }
    terminal.press(b"qq");
    terminal.wait_for("Detached");
    assert_painted(&terminal.seen, cols, rows);
    assert_log_is_text(&world);
}

#[test]
fn rules_and_recordings_are_told_as_text() {
    let world = World::new();
    let evil = String::from_utf8_lossy(&inline()).into_owned();
    let line = |text: &str, at: f64| format!("{}\n", serde_json::json!([at, "o", text]));
    let mut cast = "{\"version\": 2, \"width\": 80, \"height\": 24}\n".to_owned();
    cast += &line("$ ", 0.1);
    cast += &line("make\r\nat work\r\n", 1.0);
    cast += &line(&format!("STATUS: BLOCKED — I need {evil} now\r\n$ "), 2.0);
    cast += &line(&format!("\u{1b}]2;{evil}"), 5.0);
    fs::write(world.path("evil.cast"), cast).unwrap();
    let path = world.path("evil.cast");
    let path = path.to_str().unwrap();
    for words in [
        &["rules", "test", path, "--agent", "shell"][..],
        &["rules", "test", path, "--agent", &evil.replace('\0', "")],
        &["rules", "show", "shell"],
        &["rules", "show", "shell", "--json"],
        &["rules", "show", &evil.replace('\0', "")],
    ] {
        assert_says_text(&world, words);
    }
    let said = world.ok(&["rules", "test", path, "--agent", "shell", "--json"]);
    assert_text(&["rules", "test", "--json"], &said);
    assert!(said.contains("blocked"), "{said}");
}

/// A hub that itself was deceived, or is none.
#[test]
fn whatever_the_hub_says_the_dashboard_paints_cells_alone() {
    let hub = FakeHub::start(&["one", "two"]);
    let (cols, rows) = (110, 30);
    let mut terminal = Terminal::open(&hub.socket, cols, rows, &[]);
    terminal.wait_for("two is here");
    let begins = terminal.seen.windows(8).position(|window| window == b"\x1b[?1049h").unwrap();
    let states = [AgentState::Working, AgentState::Waiting, AgentState::Exited];
    for (at, text) in texts().into_iter().enumerate() {
        let mut news = status(&["one", "two"]);
        let agent = &mut news.agents[0];
        agent.state = states[at % states.len()];
        for field in [&mut agent.cli, &mut agent.team, &mut agent.title, &mut agent.rule] {
            field.clone_from(&text);
        }
        for field in [&mut agent.note, &mut agent.ending, &mut agent.task, &mut agent.progress] {
            *field = Some(text.clone());
        }
        (news.hub.project, news.hub.session) = (format!("/home/{text}"), text.clone());
        news.agents[1].title = format!("number {at}.");
        hub.tell(Notice::Status(news));
        let mut hostile = view("one", &[&text, "below", &text]);
        hostile.rows[2].1.runs[0].columns = u16::try_from(at % 4).unwrap();
        hub.tell(Notice::Pane(hostile));
        terminal.wait_for(&format!("number {at}."));
    }
    assert_painted(&terminal.seen[begins..], cols, rows);
}
