//! Nothing that an agent prints or a file says reaches the terminal as a control character.

use std::fs;

use super::support::clock::wait_for;
use super::support::world::World;

/// Prints what would clear, retitle, recolour, ring, reverse or program a terminal.
const HOSTILE: &str = r"
import os, sys
esc = b'\x1b'
words = [
    esc + b']0;title' + esc + b'[2J\x07', esc + b']2;t\xc2\x9b31m\xe2\x80\xaebidi\x1b\\', b'\x9b2J', b'\xc2\x9b2J',
    esc + b'P+q544e' + esc + b'\\', esc + b'_apc' + esc + b'\\', esc + b']52;c;cGFzdGU=\x07', b'\x07\x08\x0b\x0c\x0e\x0f',
    b'\xe2\x80\xae reversed \xe2\x81\xa6', b'\xff\xfe broken', b'a\xcc\x81\xcc\x82\xcc\x83', esc + b'[8mhidden' + esc + b'[0m', b'\xc2\x85\xc2\x90',
    b'\xe2\x80\xa8line\xe2\x80\xa9', b'\xef\xbb\xbf\xe2\x80\x8b', esc + b'(0lqk' + esc + b'(B',
]
for word in words:
    os.write(1, word + b' shown\r\n')
os.write(1, b'end of it\r\n')
sys.stdin.readline()
";

#[test]
fn no_command_prints_a_control_character() {
    let world = World::with_crew(&[("one", &["python3", "-c", HOSTILE, "ROOT"])]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "end of it");
    let commands: [&[&str]; 10] = [
        &["status"],
        &["status", "--json"],
        &[],
        &["agent", "list"],
        &["agent", "read", "one"],
        &["agent", "read", "one", "--scrollback", "--json"],
        &["agent", "tree", "one"],
        &["agent", "tree", "one", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ];
    for words in commands {
        assert_plain(&world, words);
    }
}

#[test]
fn no_error_repeats_a_control_character() {
    let world = World::with_crew(&[("one", &["sh", "-c", "read x", "ROOT"])]);
    world.ok(&["up", "crew"]);
    let evil = "x\u{1b}[2J\u{9b}1m\u{7}\u{202e}";
    let commands: [&[&str]; 6] = [
        &["agent", "read", evil],
        &["agent", "start", evil],
        &["agent", "stop", evil],
        &["agent", "tree", evil],
        &["agent", "keys", "one", evil],
        &["up", evil],
    ];
    for words in commands {
        assert_plain(&world, words);
    }
    let config = world.crew(&[("one", &["\u{1b}]0;evil\u{7}\u{202e}", "\u{9b}2J"])]);
    fs::write(world.project.join("wheelhouse.toml"), config).unwrap();
    for words in [&["up"][..], &[], &["config", "check"], &["config", "show"], &["doctor"]] {
        assert_plain(&world, words);
    }
    world.trust();
    world.ok(&["agent", "stop", "one"]);
    for words in [&["agent", "start", "one"][..], &["status"], &["doctor"], &["status", "--json"]] {
        assert_plain(&world, words);
    }
    wait_for("an answer", || world.agent("one").note.is_some());
}

fn assert_plain(world: &World, words: &[&str]) {
    let said = world.run(words);
    let is_bad = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(*c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for text in [&said.out, &said.err] {
        let bad: Vec<char> = text.chars().filter(is_bad).collect();
        assert!(bad.is_empty(), "{words:?} printed {bad:?} in {text:?}");
    }
}
