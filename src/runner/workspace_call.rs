//! Defines what both ends say about a remote workspace: a line of JSON each, then packs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::handshake::read;
use crate::model::{Clearing, Outpost, Workspace};
use crate::workspace::{Given, Tips};

/// A large history on a slow line; whatever takes longer hangs.
const LIMIT: Duration = Duration::from_mins(15);
/// What a login may print before our own words.
const JUNK_BYTES_MAX: usize = 1024 * 1024;
/// What is told of a failure.
const WORDS_BYTES_MAX: u64 = 64 * 1024;

/// What a hub wants of a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpaceCall {
    /// As the hub has it on record; where it lies there, only the far end knows.
    pub workspace: Workspace,
    /// Below which directory workspaces are made.
    pub directory: String,
    pub deed: SpaceDeed,
    /// How long the pack is that follows, if there is one.
    pub pack_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpaceDeed {
    /// Makes it at its base, with these files, whose content follows.
    Make { given: Vec<Given> },
    /// Takes a commit in under a name.
    Take { name: String, commit: String },
    /// Sends what is in it; with a message, all of it is committed first.
    Send { message: Option<String>, known: Option<Tips> },
    /// Puts all that is in it into a rescue ref, and sends that.
    Rescue,
    /// Removes it, if nothing would be lost. The hub holds this commit.
    Clear { clearing: Clearing, held: Option<String>, variables: BTreeMap<String, String> },
}

/// What the far end has to say to that, and how long the pack is that follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SpaceAnswer {
    pub said: SpaceSaid,
    pub pack_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpaceSaid {
    Made {
        outpost: Outpost,
        port: Option<u16>,
        copied: BTreeMap<String, String>,
    },
    /// A commit is wanted first; these are there.
    Lacks {
        had: Vec<String>,
    },
    Taken,
    Sent(Tips),
    /// There is no such workspace any more.
    Gone,
    /// These hold what was in it.
    Rescued {
        rescues: Vec<(String, String)>,
    },
    /// It is gone, and these hold what was in it.
    Cleared {
        rescues: Vec<(String, String)>,
    },
    Kept {
        reason: String,
    },
    Refused {
        reason: String,
        hint: Option<String>,
    },
}

/// Asks the far end, and puts the pack that it sends into a file. An error says why nothing is known.
pub fn ask(
    argv: &[String],
    call: &SpaceCall,
    content: Vec<u8>,
    pack: Option<File>,
    draft: &Path,
) -> io::Result<(SpaceSaid, Option<File>)> {
    let (program, arguments) = argv.split_first().expect("a command has a program");
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let told = |error| io::Error::other(format!("`{program}` cannot be run: {error}"));
    let mut child = command.spawn().map_err(told)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let troubles = child.stderr.take();
    let troubles = thread::spawn(move || words(troubles));
    let mut line = serde_json::to_vec(call)?;
    line.push(b'\n');
    let writer = thread::spawn(move || {
        let mut input = input.expect("it was asked for");
        input.write_all(&line)?;
        input.write_all(&content)?;
        pack.map_or(Ok(0), |mut pack| io::copy(&mut pack, &mut input))
    });
    let child = Arc::new(Mutex::new(child));
    let (done, is_done) = mpsc::channel::<()>();
    let hung = Arc::clone(&child);
    thread::spawn(move || {
        if is_done.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            // One that has ended cannot be killed any more.
            let _ = lock(&hung).kill();
        }
    });
    let answer = receive(BufReader::new(output.expect("it was asked for")), draft);
    drop(done);
    // It may hang on what it has still to say.
    let _ = lock(&child).kill();
    lock(&child).wait()?;
    // Who does not read to the end has said why.
    let _ = writer.join();
    match answer? {
        Some(answer) => Ok(answer),
        None => Err(io::Error::other(troubles.join().unwrap_or_default())),
    }
}

fn lock(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the last of what a program says of its troubles.
fn words(troubles: Option<impl Read>) -> String {
    let mut text = Vec::new();
    if let Some(mut pipe) = troubles {
        // What was read before it failed is worth as much.
        let _ = pipe.by_ref().take(WORDS_BYTES_MAX).read_to_end(&mut text);
        let _ = io::copy(&mut pipe, &mut io::sink());
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.unwrap_or("it does not answer");
    last.chars().filter(|c| !c.is_control()).collect()
}

fn receive(
    mut output: impl BufRead,
    draft: &Path,
) -> io::Result<Option<(SpaceSaid, Option<File>)>> {
    let mut passed = 0;
    while passed < JUNK_BYTES_MAX {
        let mut line = Vec::new();
        if output
            .by_ref()
            .take(super::handshake::CALL_BYTES_MAX as u64)
            .read_until(b'\n', &mut line)?
            == 0
        {
            break;
        }
        passed += line.len();
        let Some(SpaceAnswer { said, pack_bytes }) = read(&line) else { continue };
        let Some(bytes) = pack_bytes else { return Ok(Some((said, None))) };
        let copied = io::copy(&mut output.take(bytes), &mut File::create(draft)?);
        let pack = File::open(draft);
        fs::remove_file(draft)?;
        let copied = copied?;
        if copied != bytes {
            let words = format!("the connection broke after {copied} of {bytes} bytes");
            return Err(io::Error::other(words));
        }
        return Ok(Some((said, Some(pack?))));
    }
    Ok(None)
}
