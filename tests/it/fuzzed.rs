//! Inputs that fuzzing began with, or that once broke something, and must never again.

use std::fs;

use super::support::fuzz;

#[test]
fn the_seeds_of_the_screen_break_nothing() {
    run("fuzz/seeds/screen", fuzz::screen);
}

#[test]
fn the_seeds_of_the_frames_break_nothing() {
    run("fuzz/seeds/frames", fuzz::frames);
}

#[test]
fn the_seeds_of_the_requests_break_nothing() {
    run("fuzz/seeds/requests", fuzz::requests);
}

fn run(directory: &str, check: impl Fn(&[u8])) {
    let seeds: Vec<_> = fs::read_dir(directory).unwrap().flatten().collect();
    assert!(!seeds.is_empty(), "no seeds in {directory}");
    for seed in seeds {
        println!("{}", seed.path().display());
        check(&fs::read(seed.path()).unwrap());
    }
}
