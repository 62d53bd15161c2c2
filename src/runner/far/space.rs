//! Makes and removes workspaces here for a hub on another machine.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::config::FarPaths;
use crate::model::{Clearing, Outpost};
use crate::runner::Address;
use crate::runner::handshake::{CALL_BYTES_MAX, line};
use crate::runner::workspace_call::{SpaceAnswer, SpaceCall, SpaceDeed, SpaceSaid};
use crate::workspace::{Cleared, Given, Site, Station, WorkspaceError};

/// What became of a call, and the pack that goes with it.
type Said = (SpaceSaid, Option<File>);

/// Reads a call from the standard input, and answers it.
pub(super) fn space(address: &Address) -> io::Result<()> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut text = Vec::new();
    input.by_ref().take(CALL_BYTES_MAX as u64).read_until(b'\n', &mut text)?;
    let call: SpaceCall = serde_json::from_slice(&text)?;
    let (said, pack) = answer(address, call, &mut input)?.unwrap_or_else(|error| {
        let hint = error.hint().map(str::to_owned);
        (SpaceSaid::Refused { reason: error.to_string(), hint }, None)
    });
    let pack_bytes = pack.as_ref().map(|pack| pack.metadata().map(|told| told.len()));
    let answer = SpaceAnswer { said, pack_bytes: pack_bytes.transpose()? };
    let mut out = io::stdout().lock();
    out.write_all(line(&answer).as_bytes())?;
    if let Some(mut pack) = pack {
        io::copy(&mut pack, &mut out)?;
    }
    out.flush()
}

fn answer(
    address: &Address,
    call: SpaceCall,
    input: &mut impl Read,
) -> io::Result<Result<Said, WorkspaceError>> {
    let Address { session, home, agent } = address;
    let hub = format!("{session}-{home}");
    let paths = FarPaths::find(&hub).map_err(io::Error::other)?;
    paths.make_directories().map_err(io::Error::other)?;
    let folder = paths.expand(Path::new(&call.directory)).join(&hub);
    fs::create_dir_all(&folder)?;
    if call.workspace.agent != *agent {
        return Err(io::Error::other("the workspace is another agent's"));
    }
    let (shared, own) = paths.site();
    let SpaceCall { workspace, deed, pack_bytes, .. } = call;
    let content = match &deed {
        SpaceDeed::Make { given } => read_given(given, input)?,
        SpaceDeed::Take { .. }
        | SpaceDeed::Send { .. }
        | SpaceDeed::Rescue
        | SpaceDeed::Clear { .. } => Vec::new(),
    };
    let pack =
        pack_bytes.map(|bytes| read_pack(&folder.join(format!("{agent}.pack")), input, bytes));
    let pack = pack.transpose()?;
    let done = Station::open(Site::new(&shared, &own), &folder, workspace)
        .and_then(|station| act(&station, deed, &content, pack));
    Ok(done)
}

fn act(
    station: &Station,
    deed: SpaceDeed,
    content: &[u8],
    pack: Option<File>,
) -> Result<Said, WorkspaceError> {
    match deed {
        SpaceDeed::Make { given } => make(station, &given, content, pack),
        SpaceDeed::Take { name, commit } => {
            if let (None, Some(had)) = (&pack, station.lacks(&commit)?) {
                return Ok((SpaceSaid::Lacks { had }, None));
            }
            station.take(pack, &name, &commit)?;
            Ok((SpaceSaid::Taken, None))
        }
        SpaceDeed::Send { message, known } => {
            let sent = station.send(message.as_deref(), known.as_ref())?;
            Ok(sent.map_or((SpaceSaid::Gone, None), |(tips, pack)| (SpaceSaid::Sent(tips), pack)))
        }
        SpaceDeed::Rescue => {
            station.rescue()?;
            let (rescues, pack) = station.rescues()?;
            Ok((SpaceSaid::Rescued { rescues }, pack))
        }
        SpaceDeed::Clear { clearing, held, variables } => {
            clear(station, clearing, held.as_deref(), &variables)
        }
    }
}

fn make(
    station: &Station,
    given: &[Given],
    mut content: &[u8],
    pack: Option<File>,
) -> Result<Said, WorkspaceError> {
    let base = station.workspace().plot.base.clone();
    if let (None, Some(had)) = (&pack, station.lacks(&base)?) {
        return Ok((SpaceSaid::Lacks { had }, None));
    }
    let name = format!("refs/wheelhouse/base/{}", station.workspace().agent);
    station.take(pack, &name, &base)?;
    let made = station.make(given, &mut content)?;
    let outpost = Outpost { root: station.root().to_owned(), setup_mark: station.setup_mark() };
    Ok((SpaceSaid::Made { outpost, port: made.port, copied: made.copied }, None))
}

fn clear(
    station: &Station,
    clearing: Clearing,
    held: Option<&str>,
    variables: &BTreeMap<String, String>,
) -> Result<Said, WorkspaceError> {
    station.hold(held)?;
    let cleared = tear_down(station, clearing, variables).and_then(|refused| match refused {
        Some(reason) => Ok(Cleared::Kept { reason }),
        None => station.clear(clearing),
    });
    station.hold(None)?;
    let (rescues, pack) = station.rescues()?;
    match cleared? {
        Cleared::Kept { reason } => Ok((SpaceSaid::Kept { reason }, None)),
        Cleared::Removed { .. } => Ok((SpaceSaid::Cleared { rescues }, pack)),
    }
}

/// Runs the tear-down command, if it may be removed at all. Returns why it may not.
fn tear_down(
    station: &Station,
    clearing: Clearing,
    variables: &BTreeMap<String, String>,
) -> Result<Option<String>, WorkspaceError> {
    let Some(command) = &station.workspace().plot.teardown else { return Ok(None) };
    if !station.root().is_dir() {
        return Ok(None);
    }
    if let Some(reason) = station.refuse_to_clear(clearing)? {
        return Ok(Some(reason));
    }
    if clearing.rescues {
        // What the command takes away with it is held by then.
        station.rescue()?;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(station.project()).envs(variables);
    let ended = shell.stdin(Stdio::null()).output();
    let told = |last: &str| format!("its tear-down command failed: {last}");
    Ok(match ended {
        Ok(ended) if ended.status.success() => None,
        Ok(ended) => {
            let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
            Some(told(said.trim().lines().last().unwrap_or_default()))
        }
        Err(error) => Some(told(&error.to_string())),
    })
}

/// Reads what is in the files that come along.
fn read_given(given: &[Given], input: &mut impl Read) -> io::Result<Vec<u8>> {
    let bytes: u64 = given.iter().map(|file| file.bytes).sum();
    let mut content = Vec::new();
    input.take(bytes).read_to_end(&mut content)?;
    whole(content.len() as u64, bytes)?;
    Ok(content)
}

fn read_pack(draft: &Path, input: &mut impl Read, bytes: u64) -> io::Result<File> {
    let mut file =
        File::options().create(true).truncate(true).read(true).write(true).open(draft)?;
    fs::remove_file(draft)?;
    whole(io::copy(&mut input.take(bytes), &mut file)?, bytes)?;
    file.rewind()?;
    Ok(file)
}

fn whole(came: u64, bytes: u64) -> io::Result<()> {
    let words = || format!("the connection broke after {came} of {bytes} bytes");
    if came == bytes { Ok(()) } else { Err(io::Error::other(words())) }
}
