//! Checks a runner from here.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::far::Sight;
use super::handshake::read;

/// A place that has not answered by then does not answer.
const LOOK_MAX: Duration = Duration::from_secs(30);
/// What a place says of itself is short.
const SAID_BYTES_MAX: u64 = 64 * 1024;

/// Why nothing could be seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookFailed {
    #[error("`{program}` is not installed here")]
    NoTool { program: String },
    #[error("nothing answers within {} seconds", LOOK_MAX.as_secs())]
    Silent,
    /// The tool's own words, and its exit code.
    #[error("{said}")]
    Refused { code: Option<i32>, said: String },
}

/// Asks a place how things stand there, by the command that `Way::look` gives.
pub fn look(argv: &[String]) -> Result<Sight, LookFailed> {
    let (program, arguments) = argv.split_first().expect("a command has a program");
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|_| LookFailed::NoTool { program: program.clone() })?;
    let (code, out, err) = wait(child).ok_or(LookFailed::Silent)?;
    let sight = out.split(|byte| *byte == b'\n').find_map(read);
    sight.ok_or_else(|| {
        let text = [err, out].concat();
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        let said = if text.is_empty() { "it said nothing".to_owned() } else { text };
        LookFailed::Refused { code, said }
    })
}

/// Waits for a process, and ends it if it takes too long.
fn wait(mut child: Child) -> Option<(Option<i32>, Vec<u8>, Vec<u8>)> {
    let (sender, said) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for (index, pipe) in pipes.into_iter().enumerate() {
        let (sender, pipe) = (sender.clone(), pipe.expect("both were asked for"));
        thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before it failed is worth as much.
            let _ = pipe.take(SAID_BYTES_MAX).read_to_end(&mut text);
            let _ = sender.send((index, text));
        });
    }
    let mut texts = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        let Ok((index, text)) = said.recv_timeout(LOOK_MAX) else {
            // One that has ended cannot be killed any more.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        texts[index] = text;
    }
    let code = child.wait().ok().and_then(|status| status.code());
    let [out, err] = texts;
    Some((code, out, err))
}
