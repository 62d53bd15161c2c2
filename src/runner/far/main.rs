//! Dispatches `wheelhouse far hold|link|look|receive|send|space`, hidden commands for a hub on
//! another machine.

use std::io::{self, Write};
use std::process::ExitCode;

use super::link::link;
use super::look::Sight;
use super::space::space;
use super::transfer::{receive, send};
use crate::keeper;
use crate::model::{AgentName, SessionName};
use crate::runner::Address;

/// The words were not those that a hub uses.
const EXIT_USAGE: u8 = 64;
/// Something without which nothing works was refused.
const EXIT_BROKEN: u8 = 74;

/// Does what the words ask for.
pub fn main(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["link", "--session", session, "--home", home, "--agent", agent] => {
            let Some(address) = address(session, home, agent) else {
                return ExitCode::from(EXIT_USAGE);
            };
            link(&address)
        }
        ["space", "--session", session, "--home", home, "--agent", agent] => {
            let Some(address) = address(session, home, agent) else {
                return ExitCode::from(EXIT_USAGE);
            };
            space(&address)
        }
        ["hold"] => keeper::hold_container(),
        ["look", "--directory", directory] => look(directory),
        ["receive", "--directory", directory] => receive(directory),
        ["send", "--directory", directory] => send(directory),
        _ => return ExitCode::from(EXIT_USAGE),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this fails too.
            drop(writeln!(io::stderr(), "wheelhouse: {error}"));
            ExitCode::from(EXIT_BROKEN)
        }
    }
}

fn look(directory: &str) -> io::Result<()> {
    let sight = Sight::take(directory);
    io::stdout().write_all(crate::runner::handshake::line(&sight).as_bytes())
}

/// Names become parts of paths, so each must be a plain word.
fn address(session: &str, home: &str, agent: &str) -> Option<Address> {
    let is_word = |text: &str| {
        let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        !text.is_empty() && text.len() <= 128 && !text.starts_with('.') && text.chars().all(inside)
    };
    let agent: AgentName = agent.parse().ok()?;
    let (session, home) = (is_word(session).then_some(session)?, is_word(home).then_some(home)?);
    Some(Address { session: SessionName(session.to_owned()), home: home.to_owned(), agent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_our_directories() {
        assert!(address("shop-1", "00ff", "api").is_some());
        for (session, home, agent) in [
            ("../x", "a", "api"),
            ("x", "a/b", "api"),
            ("x", "..", "api"),
            ("", "a", "api"),
            ("x", "a", "../api"),
            ("x\0y", "a", "api"),
        ] {
            assert_eq!(address(session, home, agent), None, "{session} {home} {agent}");
        }
    }
}
