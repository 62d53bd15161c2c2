//! A terminal that a test plays: a pseudo-terminal, the dashboard on it, and someone who reads it.
#![expect(
    clippy::disallowed_methods,
    reason = "what a real program costs is measured in real time"
)]

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::fake_hub::PATIENCE;
use crate::support::process;
use crate::support::world::World;

/// Tell the program on the terminal where the hub is, and whether to fail when it went away.
pub(crate) const SOCKET: &str = "WHEELHOUSE_TEST_SOCKET";
pub(crate) const PANICS: &str = "WHEELHOUSE_TEST_PANICS";

/// A terminal with the dashboard on it, and someone who reads it.
pub(crate) struct Terminal {
    pub(crate) child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    pub(crate) output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    pub(crate) seen: Vec<u8>,
    gate: Arc<Gate>,
}

/// Lets the reader through, or not.
#[derive(Default)]
struct Gate {
    is_shut: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn set(&self, is_shut: bool) {
        *self.is_shut.lock().unwrap() = is_shut;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let is_shut = self.is_shut.lock().unwrap();
        drop(self.changed.wait_while(is_shut, |is_shut| *is_shut).unwrap());
    }
}

impl Terminal {
    pub(crate) fn open(socket: &Path, cols: u16, rows: u16, variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tui::dashboard", "--ignored", "--nocapture"]);
        command.env(SOCKET, socket);
        for (name, value) in variables {
            command.env(name, value);
        }
        Self::run(command, cols, rows)
    }

    /// Opens a dashboard of the real program on a world's project.
    pub(crate) fn attach(world: &World, cols: u16, rows: u16) -> Self {
        let attach = world.command(&["attach"]);
        let mut command = CommandBuilder::new(attach.get_program());
        command.args(attach.get_args());
        command.env_clear();
        for (name, value) in attach.get_envs() {
            command.env(name, value.unwrap());
        }
        command.cwd(&world.root);
        Self::run(command, cols, rows)
    }

    pub(crate) fn run(mut command: CommandBuilder, cols: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        let gate = Arc::new(Gate::default());
        let own_gate = Arc::clone(&gate);
        thread::spawn(move || {
            let mut bytes = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                own_gate.pass();
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        let emulator = vt100::Parser::new(nonzero(rows), nonzero(cols), 0);
        Self { child, master: pair.master, keyboard, output, emulator, seen: Vec::new(), gate }
    }

    /// Reads nothing more of what the program writes, like a terminal that hangs; but for what is
    /// being read right now.
    pub(crate) fn stop_reading(&self) {
        self.gate.set(true);
    }

    pub(crate) fn read_on(&self) {
        self.gate.set(false);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Takes in what has arrived, without waiting for more.
    pub(crate) fn catch_up(&mut self) {
        while let Ok(bytes) = self.output.try_recv() {
            self.take(&bytes);
        }
    }

    pub(crate) fn press(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).unwrap();
    }

    pub(crate) fn resize(&mut self, cols: u16, rows: u16) {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
        self.emulator.screen_mut().set_size(nonzero(rows), nonzero(cols));
    }

    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.emulator.screen()
    }

    pub(crate) fn text(&self) -> String {
        self.screen().contents()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.emulator.process(bytes);
        self.seen.extend_from_slice(bytes);
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("`{text}`"), |screen| screen.contains(text));
    }

    /// Waits until the program has written these bytes, though they may be overwritten by now.
    pub(crate) fn wait_for_bytes(&mut self, from: usize, bytes: &[u8]) {
        let what = format!("`{}`", String::from_utf8_lossy(bytes));
        let is_there =
            |own: &Self| own.seen[from..].windows(bytes.len()).any(|window| window == bytes);
        self.read_until(&what, is_there);
    }

    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) {
        self.read_until(what, |own| is_so(&own.text()));
    }

    /// Reads on until something holds; not for ever, though the dashboard may always have news.
    fn read_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self) {
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("{what} is not on the screen ({error}):\n{}", self.text()),
            }
        }
    }

    pub(crate) fn listen_for(&mut self, time: Duration) {
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
    pub(crate) fn cost(&mut self, time: Duration, act: impl FnOnce(Instant)) -> (f64, usize) {
        let (cpu, bytes, start) = (self.cpu_seconds(), self.seen.len(), Instant::now());
        act(start);
        self.listen_for(time.saturating_sub(start.elapsed()));
        while let Ok(more) = self.output.try_recv() {
            self.take(&more);
        }
        (self.cpu_seconds() - cpu, self.seen.len() - bytes)
    }

    fn cpu_seconds(&self) -> f64 {
        process::cpu_seconds(self.pid())
    }

    pub(crate) fn assert_restored(&mut self) {
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
        self.read_on();
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
