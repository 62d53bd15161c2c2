//! The dashboard on a real terminal: a person's keys in, what the terminal shows out.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use wheelhouse::model::{Color, Environment, Key, KeyCode, Row, Run, Size, Style};
use wheelhouse::tui::{Cards, Ended, Options, run};
use wheelhouse::wire::{KeyInput, Notice, Request};

use crate::fake_hub::{FakeHub, PATIENCE, row, view};

const SOCKET: &str = "WHEELHOUSE_TEST_SOCKET";
const PANICS: &str = "WHEELHOUSE_TEST_PANICS";

/// The program that the tests below run on a terminal of its own.
#[test]
#[ignore = "the other tests run it on a terminal"]
fn dashboard() {
    let Some(socket) = std::env::var_os(SOCKET).map(PathBuf::from) else { return };
    let panics = std::env::var_os(PANICS).is_some();
    let mut connections = 0;
    let hub = move || {
        connections += 1;
        assert!(!panics || connections == 1, "this panic is part of the test");
        UnixStream::connect(&socket)
    };
    let options = Options {
        environment: Environment(std::env::vars().collect()),
        cards: Cards::Never,
        min_size: Size { rows: 5, cols: 20 },
        ..Options::default()
    };
    let ended = run(hub, options).unwrap();
    assert!(matches!(ended, Ended::Detached | Ended::HubEnded | Ended::Signalled));
    print!("ended: {ended:?}");
}

#[test]
fn a_person_types_into_a_pane_and_leaves() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 100, 30, &[]);
    terminal.wait_for("one is here");
    terminal.wait_for("two is here");
    terminal.press(b"2\r");
    terminal.wait_for("TYPING → two");
    terminal.press(b"l\x1b[200~s -a\nx\x1b[201~");
    let keys = hub.wait_for(|request| match request {
        Request::Keys { agent, keys }
            if keys.iter().any(|key| matches!(key, KeyInput::Paste(_))) =>
        {
            Some((agent.clone(), keys.clone()))
        }
        _ => None,
    });
    assert_eq!(keys.0, "two");
    let typed = KeyInput::Key(Key::plain(KeyCode::Char('l')));
    assert_eq!(keys.1, [typed, KeyInput::Paste("s -a\nx".to_owned())]);
    hub.tell(Notice::Pane(view("two", &["$ ls -a"])));
    terminal.wait_for("$ ls -a");
    assert!(!terminal.screen().hide_cursor(), "the cursor is where the person types");
    terminal.press(b"\x02");
    terminal.wait_for("enter type");
    terminal.press(b"q");
    terminal.wait_for("ended: Detached");
    terminal.assert_restored();
}

#[test]
fn a_tile_gives_its_size_to_its_pane_and_follows_the_window() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 200, 50, &[]);
    let size = |request: &Request| match request {
        Request::Resize { agent, size } if agent == "two" => Some(*size),
        _ => None,
    };
    assert_eq!(hub.wait_for(size), Size { rows: 46, cols: 98 });
    terminal.resize(120, 40);
    assert_eq!(hub.wait_for(size), Size { rows: 17, cols: 118 });
    terminal.press(b"2z");
    assert_eq!(hub.wait_for(size), Size { rows: 36, cols: 118 });
}

#[test]
fn a_hub_that_comes_back_is_found_again() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    terminal.press(b"\r");
    terminal.wait_for("TYPING → one");
    hub.vanish();
    terminal.wait_for("The hub is away");
    terminal.press(b"x");
    terminal.wait_for("Not sent to one: the hub is away");
    let again = FakeHub::come_back(&hub.socket, &["one", "two"]);
    terminal.wait_for("two is here");
    assert!(!terminal.text().contains("The hub is away"));
    again.tell(Notice::Ending);
    terminal.wait_for("ended: HubEnded");
    terminal.assert_restored();
}

#[test]
fn a_signal_and_a_panic_leave_the_terminal_as_it_was() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    let pid = i32::try_from(terminal.child.process_id().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    terminal.wait_for("ended: Signalled");
    terminal.assert_restored();

    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[(PANICS, "1")]);
    terminal.wait_for("one is here");
    hub.hang_up();
    terminal.wait_for("this panic is part of the test");
    terminal.assert_restored();
}

#[test]
fn nothing_that_an_agent_shows_can_act_on_the_terminal() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    let lies = ["\x1b]0;owned\x07", "\x1b[2J\x1b[H", "\u{9b}31mred", "safe and sound"];
    let mut hostile = view("one", &lies);
    hostile.rows[1].1.runs[0].columns = 1;
    hub.tell(Notice::Pane(hostile));
    terminal.wait_for("safe and sound");
    assert!(terminal.text().contains("1 ● one"), "{}", terminal.text());
    assert!(!terminal.seen.windows(4).any(|window| window == b"\x1b]0;"));
}

/// How much sixteen spinners cost; `cargo test --release -- --ignored --nocapture spinners`.
#[test]
#[ignore = "takes half a minute and needs a quiet machine"]
fn sixteen_spinners_and_an_echo_are_cheap() {
    let names: Vec<String> = (0..16).map(|at| format!("p{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hub = FakeHub::start(&names);
    let mut terminal = Terminal::open(&hub.socket, 200, 50, &[]);
    terminal.wait_for("p15 is here");
    terminal.listen_for(Duration::from_secs(2));
    let idle = terminal.cost(Duration::from_secs(10), |_| {});
    println!("idle: {:.4} CPU-s/min, {} bytes", idle.0 * 6.0, idle.1);

    let updates = 16 * 100;
    let spin = terminal.cost(Duration::from_secs(10), |start| {
        for at in 0..updates {
            let due = Duration::from_micros(10_000_000 / updates * at);
            thread::sleep(due.saturating_sub(start.elapsed()));
            let name = names[usize::try_from(at % 16).unwrap()];
            let mut view = view(name, &[""]);
            view.is_full = false;
            view.size = Size { rows: 10, cols: 48 };
            view.rows = vec![(1, spinner(at / 16))];
            hub.tell(Notice::Pane(view));
        }
    });
    let each = spin.1 as f64 / updates as f64;
    println!("spinners: {:.3} CPU-s/min, {each:.1} bytes each", spin.0 * 6.0);

    terminal.press(b"1\r");
    terminal.wait_for("TYPING");
    let mut times: Vec<Duration> = (0..200).map(|at| echo(&hub, &mut terminal, at)).collect();
    times.sort();
    println!("echo: p50 {:?}, p95 {:?}", times[100], times[190]);
}

fn spinner(tick: u64) -> Row {
    let sign =
        ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"][usize::try_from(tick % 10).unwrap()];
    let orange = Style { foreground: Color::Indexed(208), ..Style::default() };
    let dim = Style { attributes: Style::DIM, ..Style::default() };
    let count = format!("({}s · ↑ {} tokens · esc to interrupt)", tick / 10, tick / 10 * 37);
    let run = |text: &str, style| Run {
        text: text.to_owned(),
        columns: u16::try_from(text.chars().count()).unwrap(),
        style,
    };
    let runs = vec![run(sign, orange), run(" Thinking… ", Style::default()), run(&count, dim)];
    Row { runs, wrapped: false }
}

/// Presses a key and returns the time until the terminal shows what the hub made of it.
fn echo(hub: &FakeHub, terminal: &mut Terminal, at: u64) -> Duration {
    thread::sleep(Duration::from_millis(30));
    while terminal.output.try_recv().is_ok() {}
    while hub.asked.try_recv().is_ok() {}
    let sign = char::from_u32(0x1401 + u32::try_from(at % 23).unwrap()).unwrap().to_string();
    let start = Instant::now();
    terminal.press(b"a");
    hub.wait_for(|request| matches!(request, Request::Keys { .. }).then_some(()));
    let mut view = view("p0", &[""]);
    (view.is_full, view.size) = (false, Size { rows: 10, cols: 48 });
    view.rows = vec![(0, row(&sign))];
    hub.tell(Notice::Pane(view));
    loop {
        let bytes = terminal.output.recv_timeout(PATIENCE).unwrap();
        if bytes.windows(3).any(|window| window == sign.as_bytes()) {
            return start.elapsed();
        }
    }
}

/// A terminal with the dashboard on it, and someone who reads it.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    seen: Vec<u8>,
}

impl Terminal {
    fn open(socket: &Path, cols: u16, rows: u16, variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tui::dashboard", "--ignored", "--nocapture"]);
        command.env(SOCKET, socket);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        variables.iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let emulator = vt100::Parser::new(nonzero(rows), nonzero(cols), 0);
        Self { child, master: pair.master, keyboard, output, emulator, seen: Vec::new() }
    }

    fn press(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).unwrap();
    }

    fn resize(&mut self, cols: u16, rows: u16) {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
        self.emulator.screen_mut().set_size(nonzero(rows), nonzero(cols));
    }

    fn screen(&self) -> &vt100::Screen {
        self.emulator.screen()
    }

    fn text(&self) -> String {
        self.screen().contents()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.emulator.process(bytes);
        self.seen.extend_from_slice(bytes);
    }

    fn wait_for(&mut self, text: &str) {
        while !self.text().contains(text) {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("`{text}` is not on the screen ({error}):\n{}", self.text()),
            }
        }
    }

    fn listen_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("the dashboard has ended"),
            }
        }
    }

    /// Returns the CPU seconds that the dashboard used and the bytes that it wrote meanwhile.
    fn cost(&mut self, time: Duration, act: impl FnOnce(Instant)) -> (f64, usize) {
        let (cpu, bytes, start) = (self.cpu_seconds(), self.seen.len(), Instant::now());
        act(start);
        self.listen_for(time.saturating_sub(start.elapsed()));
        while let Ok(more) = self.output.try_recv() {
            self.take(&more);
        }
        (self.cpu_seconds() - cpu, self.seen.len() - bytes)
    }

    fn cpu_seconds(&self) -> f64 {
        let pid = self.child.process_id().unwrap();
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let nanoseconds = |task: std::fs::DirEntry| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap();
            text.split_whitespace().next().unwrap().parse::<f64>().unwrap()
        };
        tasks.map(Result::unwrap).map(nanoseconds).sum::<f64>() / 1e9
    }

    fn assert_restored(&mut self) {
        let screen = self.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left");
        assert!(!screen.hide_cursor(), "the cursor is seen again");
        assert!(!screen.bracketed_paste(), "pastes are plain again");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let termios = self.master.get_termios().unwrap();
        let raw = format!("{:?}", termios.local_flags);
        assert!(raw.contains("ICANON") && raw.contains("ECHO"), "no longer raw: {raw}");
    }
}

fn nonzero(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).unwrap()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
