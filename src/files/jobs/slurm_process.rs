//! A program of Slurm in the background, which is never waited for and is killed when it is dropped.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Most bytes of an answer.
pub(super) const MOST_BYTES: usize = 512 << 20;
/// Most bytes of error output that are stored.
const MAX_STDERR_BYTES: usize = 4096;
/// Most bytes read in one turn, so that a turn is short.
const BYTES_PER_TURN: usize = 16 << 20;
/// Capacity of the pipe between two turns: the most that Linux allows unprivileged processes.
const PIPE_BYTES: usize = 1 << 20;
/// Children of the program may hold its pipes open after its end; its own output is in the pipes by then.
const GRACE: Duration = Duration::from_secs(1);

/// A process of a Slurm program under way. Dropping it ends the process with its children.
#[derive(Debug)]
pub(super) struct SlurmProcess {
    child: Option<Child>,
    /// When the process was seen to have ended. It is not reaped until its pipes are drained or the grace period is
    /// over, so its id stays valid.
    exited_at: Option<Duration>,
    pub out: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl SlurmProcess {
    /// Starts a program. Environment variables that begin with `filters` would make it show less, and are removed.
    pub fn start(program: &Path, args: &[&str], filters: &str) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let named = std::env::vars_os().map(|(name, _)| name);
        for name in named.filter(|name| name.to_string_lossy().starts_with(filters)) {
            command.env_remove(name);
        }
        // A process group of its own: children end with the program, and Ctrl-C reaches only this process.
        let child = command.process_group(0).spawn()?;
        let running = Self { child: Some(child), exited_at: None, out: Vec::new(), stderr: Vec::new() };
        running.unblock()?;
        Ok(running)
    }

    fn unblock(&self) -> std::io::Result<()> {
        fn set_nonblocking(pipe: Option<&impl AsFd>) -> std::io::Result<()> {
            let Some(pipe) = pipe else { return Ok(()) };
            // A smaller pipe is only slower.
            let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
            Ok(fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?)
        }
        let Some(child) = &self.child else { return Ok(()) };
        set_nonblocking(child.stdout.as_ref())?;
        set_nonblocking(child.stderr.as_ref())
    }

    /// Reads the available output; returns the exit status when the process has ended and all is read.
    pub fn read_output(&mut self, now: Duration) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        // Checked before reading, so that all output from before the end is in the pipes.
        if self.exited_at.is_none() && has_exited(child) {
            self.exited_at = Some(now);
        }
        let out = child.stdout.as_mut().is_none_or(|pipe| drain_pipe(pipe, &mut self.out, MOST_BYTES + 1));
        let stderr =
            child.stderr.as_mut().is_none_or(|pipe| drain_pipe(pipe, &mut self.stderr, MAX_STDERR_BYTES));
        let exited_at = self.exited_at?;
        if out && stderr {
            return self.child.take()?.wait().ok();
        }
        if now.saturating_sub(exited_at) < GRACE {
            return None;
        }
        kill_group(child);
        self.child.take()?.wait().ok()
    }
}

/// The messages of a program that failed, in one line.
pub(super) fn failure_words(process: &SlurmProcess, status: ExitStatus) -> String {
    let stderr = String::from_utf8_lossy(&process.stderr);
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { status.to_string() } else { lines.join("; ") }
}

/// Whether the process has ended; it is not reaped, so its id stays valid.
fn has_exited(child: &Child) -> bool {
    let Some(id) = process_id(child) else { return true };
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // A process that cannot be waited for has ended.
    waitid(WaitId::Pid(id), peek).map_or(true, |status| status.is_some())
}

fn process_id(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Kills the process and all its children.
fn kill_group(child: &Child) {
    if let Some(id) = process_id(child) {
        // The process may have ended already.
        let _ = kill_process_group(id, Signal::KILL);
    }
}

/// Reads the content of a pipe, and keeps at most `most` bytes; returns whether the pipe has ended.
fn drain_pipe(pipe: &mut impl Read, buffer: &mut Vec<u8>, most: usize) -> bool {
    let mut piece = [0; 64 * 1024];
    let mut read = 0;
    while read < BYTES_PER_TURN && buffer.len() <= most {
        match pipe.read(&mut piece) {
            Ok(0) => return true,
            Ok(count) => {
                let room = most.saturating_sub(buffer.len());
                buffer.extend_from_slice(&piece[..count.min(room)]);
                read += count;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
    false
}

impl Drop for SlurmProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        kill_group(&child);
        // A process that hangs in a system call ends later; a thread reaps it.
        std::thread::spawn(move || drop(child.wait()));
    }
}
