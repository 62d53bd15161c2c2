//! What the dashboard costs while it shows sixteen agents.
#![expect(
    clippy::disallowed_methods,
    reason = "what a real program costs is measured in real time"
)]

use std::thread;
use std::time::{Duration, Instant};

use wheelhouse::api::{Notice, Request};
use wheelhouse::model::{Color, Row, Run, Size, Style};

use crate::fake_hub::{FakeHub, PATIENCE, row, view};
use crate::terminal::Terminal;

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
    let each = spin.1 / usize::try_from(updates).unwrap();
    println!("spinners: {:.3} CPU-s/min, {each} bytes each", spin.0 * 6.0);

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
        link: None,
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
