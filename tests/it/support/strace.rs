//! Looks at the system calls of a process that runs, or slows them down, where `strace` is there and may.

use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::clock::wait_for;
use super::process;

/// A process that is being traced; it goes on as before when this is dropped.
pub(crate) struct Traced(Child);

impl Traced {
    /// Traces a process and all that it starts. Says so where that cannot be done.
    pub(crate) fn attach(pid: u32, arguments: &[&str]) -> Option<Self> {
        if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
            println!("SKIPPED: there is no strace (install the package strace)");
            return None;
        }
        let mut strace = Command::new("strace");
        strace.args(["-f", "-p", &pid.to_string()]).args(arguments);
        let mut strace = strace.stderr(Stdio::null()).spawn().unwrap();
        let status = format!("/proc/{pid}/status");
        let is_traced = || !fs::read_to_string(&status).unwrap().contains("TracerPid:\t0\n");
        wait_for("a trace", || is_traced() || strace.try_wait().unwrap().is_some());
        if is_traced() {
            return Some(Self(strace));
        }
        println!("SKIPPED: strace may not look at another process here");
        None
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        process::kill(self.0.id(), Signal::TERM);
        self.0.wait().unwrap();
    }
}
