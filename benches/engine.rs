//! Measures the engine: simulated teams that lie, loop and die, around hubs that crash.
//!
//! Prints a table and asserts nothing but what the simulation itself does.
//! `cargo bench --bench engine`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::time::Instant;

use support::crew::{Fault, World};

#[expect(dead_code, clippy::unwrap_used, reason = "it is a part of the tests, which use the rest")]
#[path = "../tests/it/support"]
mod support {
    pub(crate) mod chance;
    pub(crate) mod crew;
    mod deeds;
    pub(crate) mod manners;
    pub(crate) mod pipeline;
    pub(crate) mod shared_files;
    pub(crate) mod team;
}

const EVENTS: u64 = 100_000;

fn main() {
    let began = Instant::now();
    let (mut events, mut seeds) = (0, 0);
    while events < EVENTS {
        events += World::live(seeds, Fault::None).events;
        seeds += 1;
    }
    println!("| what | figure |\n| --- | --- |");
    println!(
        "| {events} events of {seeds} simulated teams, all checks on | {:.2?} |",
        began.elapsed()
    );
}
