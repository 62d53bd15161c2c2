//! Serves one connection from a hub on another machine to the keeper of one agent here.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::begin::{Begun, Starting, begin};
use super::bridge::bridge;
use super::site::Site;
use crate::keeper::{self, TicketFate};
use crate::runner::Address;
use crate::runner::handshake::{Answer, CALL_BYTES_MAX, Call, FAR_PROTOCOL, Greeting, line};

/// A keeper that holds its lock answers within milliseconds, unless the machine is busy.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// One that does not answer for so long is tried on another line.
const LOOKS_MAX: u32 = 2_000;

/// Greets, hears what is wanted, and then carries the keeper's stream until either side leaves.
pub(super) fn link(address: &Address) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    say(&line(&Greeting { protocol: FAR_PROTOCOL, version }))?;
    let mut input = BufReader::new(io::stdin());
    let mut text = Vec::new();
    let limit = u64::try_from(CALL_BYTES_MAX).unwrap_or(u64::MAX);
    (&mut input).take(limit).read_until(b'\n', &mut text)?;
    // What is cut short was not meant: whoever said it is gone.
    let Some(text) = text.strip_suffix(b"\n") else { return Ok(()) };
    let call: Call = serde_json::from_slice(text)?;
    let site = match Site::make(address, &call) {
        Ok(site) => site,
        Err(error) => return say(&line(&Answer::Unable { reason: error.to_string() })),
    };
    let (answer, stream) = answer(&site, call)?;
    // The door stands before anyone is told, so that nobody knocks in vain.
    let door = stream.as_ref().map(|_| site.open_door()).transpose()?;
    say(&line(&answer))?;
    match (stream, door) {
        (Some(stream), Some(door)) => bridge(stream, door, input, site),
        (Some(_) | None, _) => Ok(()),
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Finds the keeper, or begins the run, or makes sure that there is nothing.
fn answer(site: &Site, call: Call) -> io::Result<(Answer, Option<UnixStream>)> {
    if let Some(stream) = site.reach() {
        return Ok((Answer::Attached, Some(stream)));
    }
    let mut starting = match call.order {
        Some(order) => Some(begin(site, call.run, order)?),
        None => None,
    };
    for _ in 0..LOOKS_MAX {
        if let Some(stream) = site.reach() {
            return Ok((Answer::Attached, Some(stream)));
        }
        let state = starting.as_mut().map(Starting::state);
        if state != Some(Begun::Coming) && site.give_up()? == TicketFate::Yes {
            if state == Some(Begun::Failed) {
                let reason = site.last_words();
                return Ok((Answer::Failed { reason }, None));
            }
            let survivors = keeper::sweep(&site.marks);
            return Ok((Answer::Absent { survivors }, None));
        }
        thread::sleep(LOOK_EVERY);
    }
    Err(io::Error::other("the agent's keeper does not answer"))
}
