//! Programs of different versions say so to each other, and what to do about it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::thread;

use wheelhouse::api::{Ask, FrameReader, FromHub, PROTOCOL, Request, Response, encode_frame};
use wheelhouse::model::Token;

use super::support::visitor::Visitor;
use super::support::world::World;
use crate::terminal::Terminal;

/// Lets a hub of another version listen in a world: it welcomes everyone, or says nonsense.
fn strange_hub(world: &World, welcome: Option<(u32, &'static str)>) {
    let socket = world.paths().hub_socket();
    let directory = socket.parent().unwrap();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).unwrap();
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut frames, mut buffer) = (FrameReader::default(), [0; 4096]);
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                frames.push(&buffer[..count]);
                while let Ok(Some(ask)) = frames.next_frame::<Ask>() {
                    let frame = match welcome {
                        Some((protocol, version)) => {
                            let (version, session) = (version.to_owned(), "s".to_owned());
                            let welcome = Response::Welcome { protocol, version, session, pid: 77 };
                            encode_frame(&FromHub::Answer { id: ask.id, outcome: Ok(welcome) })
                        }
                        None => encode_frame(&"good day"),
                    };
                    let _ = stream.write_all(&frame.unwrap());
                }
            }
        }
    });
}

#[test]
fn a_hub_of_another_version_is_named_with_what_to_type() {
    let ours = env!("CARGO_PKG_VERSION");
    let world = World::new();
    strange_hub(&world, Some((PROTOCOL - 1, "0.0.1")));
    for words in [&["status"][..], &["up", "shell"], &["agent", "list"]] {
        let said = world.run(words);
        assert_eq!(said.code, Some(1), "{said:?}");
        let expected = format!(
            "error: The hub is older than this program: it runs version 0.0.1, and this is version {ours}\n\
             hint: Replace it with a hub of this version: `kill 77`. Agents keep running\n"
        );
        assert_eq!(said.err, expected);
    }
    let world = World::new();
    strange_hub(&world, Some((PROTOCOL + 1, "9.9.9")));
    let said = world.run(&["status"]);
    let expected = format!(
        "error: The hub is newer than this program: it runs version 9.9.9, and this is version {ours}\n\
         hint: Use the program of version 9.9.9, which runs the hub\n"
    );
    assert_eq!((said.code, said.err), (Some(1), expected));
    let world = World::new();
    strange_hub(&world, None);
    let said = world.run(&["status"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("is not a hub: unknown variant"), "{said:?}");
    assert!(said.err.contains("\nhint: It may be a hub"), "{said:?}");
}

#[test]
fn a_client_of_another_version_hears_it_from_the_hub() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    for (protocol, word) in [(PROTOCOL + 1, "older"), (PROTOCOL - 1, "newer")] {
        let mut visitor = Visitor::connect(&world);
        let hello = Request::Hello { protocol, version: "x".to_owned(), token: None };
        let Response::Welcome { protocol: theirs, version, .. } = visitor.ask(hello) else {
            panic!("no welcome");
        };
        assert_eq!((theirs, version.as_str()), (PROTOCOL, env!("CARGO_PKG_VERSION")));
        visitor.send(Request::Down { force: true });
        let Some(FromHub::Answer { outcome: Err(fault), .. }) = visitor.next() else {
            panic!("it was obeyed");
        };
        assert!(
            fault.message.contains(&format!("The hub is {word} than this program")),
            "{fault:?}"
        );
        assert!(fault.hint.unwrap().contains(env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(world.status().agents.len(), 2, "nothing was done for them");
}

#[test]
fn a_client_hears_what_was_wrong_with_its_greeting() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut visitor = Visitor::connect(&world);
    let early = visitor.answer(Request::Status).unwrap_err();
    assert_eq!(early.message, "The first request of a connection is `hello`");
    let (version, token) = ("x".to_owned(), Some(Token("0".repeat(64))));
    let hello = Request::Hello { protocol: PROTOCOL, version, token };
    let refused = visitor.answer(hello).unwrap_err();
    let later = visitor.answer(Request::Status).unwrap_err();
    assert_eq!(later.message, format!("The greeting was refused: {}", refused.message));
    assert_eq!(later.hint, refused.hint);
    for (text, reason) in [
        (r#"{"id":1,"request":"hello","version":"x"}"#, "missing field `protocol`"),
        (r#"{"id":1,"request":"hello","protocol":"1","version":"x"}"#, "expected u32"),
        (r#"{"id":1,"request":"good day"}"#, "unknown variant `good day`"),
    ] {
        let mut visitor = Visitor::connect(&world);
        let mut frame = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        frame.extend(text.bytes());
        visitor.stream.write_all(&frame).unwrap();
        let Some(FromHub::Answer { outcome: Err(fault), .. }) = visitor.next() else {
            panic!("{text} was taken");
        };
        assert!(fault.message.starts_with("That is not a request: "), "{fault:?}");
        assert!(fault.message.contains(reason), "{fault:?}");
    }
}

#[test]
fn what_a_newer_client_adds_does_no_harm() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut visitor = Visitor::connect(&world);
    let text = format!(
        r#"{{"id":5,"request":"hello","protocol":{PROTOCOL},"version":"9","colour":{{"a":[1]}}}}"#
    );
    let mut frame = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    frame.extend(text.bytes());
    visitor.stream.write_all(&frame).unwrap();
    let answer = visitor.next();
    assert!(
        matches!(answer, Some(FromHub::Answer { id: 5, outcome: Ok(Response::Welcome { .. }) })),
        "{answer:?}"
    );
}

#[test]
fn a_dashboard_says_it_too() {
    let world = World::new();
    strange_hub(&world, Some((PROTOCOL + 1, "9.9.9")));
    let mut terminal = Terminal::attach(&world, 120, 40);
    terminal.wait_for("error: The hub is newer than this program: it runs version 9.9.9");
    terminal.wait_for("hint: Use the program of version 9.9.9, which runs the hub");
    terminal.assert_restored();
}
