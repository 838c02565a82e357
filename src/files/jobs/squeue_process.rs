//! One query to Slurm: an squeue process in the background, which is never waited for and is killed at its timeout.
//!
//! The query first asks for JSON. If that fails (an old Slurm, or one without the plugin), it asks for text, within
//! the same timeout. A loaded controller may need minutes (dissertation 5.3.3.1).

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::job_lists::{JobList, read_json, read_text};
use crate::text::Input;
use fabdeck_fabric::observe::digits_in_groups;

/// Most bytes of a list of jobs.
const MOST_BYTES: usize = 512 << 20;
/// Most bytes of error output that are stored.
const MAX_STDERR_BYTES: usize = 4096;
/// Most bytes read in one turn, so that a turn is short.
const BYTES_PER_TURN: usize = 16 << 20;
/// Capacity of the pipe between two turns: the most that Linux allows unprivileged processes.
const PIPE_BYTES: usize = 1 << 20;
/// Children of squeue may hold its pipes open after its end; its own output is in the pipes by then.
const GRACE: Duration = Duration::from_secs(1);
/// Prefix of the environment variables that make squeue show less; queries remove them.
const FILTERS: &str = "SQUEUE_";

/// The program to run, and its timeout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Squeue {
    /// A bare name is looked up in PATH.
    pub program: PathBuf,
    pub timeout: Duration,
}

/// Why a query gave no list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SqueueError {
    #[error("FD-4601: {program} cannot be run: {why}; give its path with --squeue, or the jobs with --file")]
    NoProgram { program: String, why: String },
    #[error(
        "FD-4602: {program} did not answer within {} s and was killed; {}; give it more time with --slurm-timeout",
        .timeout.as_secs_f64(), partial_answer_text(*.bytes)
    )]
    Silent { program: String, timeout: Duration, bytes: usize },
    #[error("FD-4603: {program} failed: {message}; check Slurm's controller (scontrol ping)")]
    Failed { program: String, message: String },
    #[error("FD-4604: {program} printed more than {} MiB; give the jobs with --file", MOST_BYTES >> 20)]
    TooMuch { program: String },
    #[error("FD-4605: {program} printed no list of jobs: {message}; check that it is Slurm's squeue")]
    NoList { program: String, message: String },
}

fn partial_answer_text(bytes: usize) -> String {
    match bytes {
        0 => "check Slurm's controller (scontrol ping)".to_owned(),
        _ => format!("it had printed {} bytes so far", digits_in_groups(bytes)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutputForm {
    Json,
    Text,
}

impl OutputForm {
    fn args(self) -> &'static [&'static str] {
        match self {
            // Includes hidden partitions.
            Self::Json => &["--json", "--all"],
            Self::Text => &["-h", "-a", "-t", "R", "-o", "%i %N"],
        }
    }
}

/// A query under way. Dropping it ends the process.
#[derive(Debug)]
pub struct SqueuePoll {
    squeue: Squeue,
    form: OutputForm,
    /// Why there was no JSON.
    no_json: Option<AnswerFault>,
    began: Duration,
    running: SqueueProcess,
}

/// The error of an answer.
#[derive(Debug)]
enum AnswerFault {
    /// The process failed, with this message.
    Ended(String),
    /// The output cannot be read.
    Unread(String),
}

impl SqueuePoll {
    /// `now` may come from any clock, as long as the turns use the same one.
    pub fn start(squeue: &Squeue, now: Duration) -> Result<Self, SqueueError> {
        let running = SqueueProcess::start(squeue, OutputForm::Json)?;
        Ok(Self { squeue: squeue.clone(), form: OutputForm::Json, no_json: None, began: now, running })
    }

    /// Returns the result when there is one; never waits.
    pub fn poll(&mut self, now: Duration) -> Option<Result<JobList, SqueueError>> {
        let program = || self.squeue.program.display().to_string();
        let ended = self.running.read_output(now);
        let bytes = self.running.out.len();
        if bytes > MOST_BYTES {
            return Some(Err(SqueueError::TooMuch { program: program() }));
        }
        let Some(status) = ended else {
            let timeout = self.squeue.timeout;
            let late = now.saturating_sub(self.began) >= timeout;
            return late.then(|| Err(SqueueError::Silent { program: program(), timeout, bytes }));
        };
        match (self.running.parse_answer(self.form, status), self.form) {
            (Ok(list), _) => Some(Ok(list)),
            (Err(wrong), OutputForm::Json) => {
                (self.form, self.no_json) = (OutputForm::Text, Some(wrong));
                match SqueueProcess::start(&self.squeue, OutputForm::Text) {
                    Ok(running) => self.running = running,
                    Err(trouble) => return Some(Err(trouble)),
                }
                None
            }
            (Err(wrong), OutputForm::Text) => Some(Err(self.choose_error(wrong))),
        }
    }

    /// The error after both queries failed: damaged JSON says more than unreadable text.
    fn choose_error(&mut self, text: AnswerFault) -> SqueueError {
        let program = self.squeue.program.display().to_string();
        match (self.no_json.take(), text) {
            (_, AnswerFault::Ended(message)) => SqueueError::Failed { program, message },
            (Some(AnswerFault::Unread(message)), AnswerFault::Unread(_))
            | (_, AnswerFault::Unread(message)) => SqueueError::NoList { program, message },
        }
    }
}

#[derive(Debug)]
struct SqueueProcess {
    child: Option<Child>,
    /// When the process was seen to have ended. It is not reaped until its pipes are drained or the grace period is
    /// over, so its id stays valid.
    exited_at: Option<Duration>,
    out: Vec<u8>,
    stderr: Vec<u8>,
}

impl SqueueProcess {
    fn start(squeue: &Squeue, form: OutputForm) -> Result<Self, SqueueError> {
        let failed = |error: std::io::Error| SqueueError::NoProgram {
            program: squeue.program.display().to_string(),
            why: error.to_string(),
        };
        let mut command = Command::new(&squeue.program);
        command.args(form.args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let named = std::env::vars_os().map(|(name, _)| name);
        for name in named.filter(|name| name.to_string_lossy().starts_with(FILTERS)) {
            command.env_remove(name);
        }
        // A process group of its own: children end with squeue, and Ctrl-C reaches only this process.
        let child = command.process_group(0).spawn().map_err(failed)?;
        let running = Self { child: Some(child), exited_at: None, out: Vec::new(), stderr: Vec::new() };
        running.unblock().map_err(failed)?;
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
    fn read_output(&mut self, now: Duration) -> Option<ExitStatus> {
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

    /// The list, or its error.
    fn parse_answer(&self, form: OutputForm, status: ExitStatus) -> Result<JobList, AnswerFault> {
        if !status.success() {
            let stderr = String::from_utf8_lossy(&self.stderr);
            let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            return Err(AnswerFault::Ended(if lines.is_empty() {
                status.to_string()
            } else {
                lines.join("; ")
            }));
        }
        let input = Input::new("squeue", &self.out);
        let read = if form == OutputForm::Json { read_json(input) } else { read_text(input) };
        // An error that the controller reports counts as a failure of squeue, whatever its exit code.
        read.map_err(|error| {
            if error.code == "FD-2311" {
                AnswerFault::Ended(error.what)
            } else {
                AnswerFault::Unread(error.to_string())
            }
        })
    }
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

impl Drop for SqueueProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        kill_group(&child);
        // A process that hangs in a system call ends later; a thread reaps it.
        std::thread::spawn(move || drop(child.wait()));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use super::*;

    /// A shell script in place of squeue.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let file = folder.join("squeue");
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        file
    }

    fn ask(text: &str, timeout: Duration) -> Result<Vec<(String, String)>, SqueueError> {
        let folder = tempfile::tempdir().unwrap();
        let squeue = Squeue { program: script(folder.path(), text), timeout };
        let since = Instant::now();
        let mut poll = SqueuePoll::start(&squeue, since.elapsed())?;
        loop {
            let turn = Instant::now();
            let came = poll.poll(since.elapsed());
            assert!(turn.elapsed() < Duration::from_secs(2), "a turn waits");
            if let Some(came) = came {
                return came.map(|list| list.lines.into_iter().map(|line| (line.job, line.host)).collect());
            }
            assert!(since.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    const LONG: Duration = Duration::from_secs(50);

    fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter().map(|(job, host)| ((*job).to_owned(), (*host).to_owned())).collect()
    }

    #[test]
    fn json_comes_first_and_text_where_it_cannot_be_had() {
        let both =
            |json: &str| format!("case $1 in --json) {json};; *) echo \"$@\" >&2; echo 7 'n[1-2]';; esac");
        let json = r#"echo '{"jobs": [{"job_id": 8, "job_state": "RUNNING", "nodes": "n3"}]}'"#;
        assert_eq!(ask(&both(json), LONG).unwrap(), rows(&[("8", "n3")]));
        for json in [
            "echo 'squeue: unrecognized option --json' >&2; exit 1",
            "echo 'serializer_required: could not find plugin' >&2; kill -ABRT $$",
            "echo not json",
            r#"echo '{"errors": [{"error": "no answer"}], "jobs": []}'"#,
        ] {
            assert_eq!(ask(&both(json), LONG).unwrap(), rows(&[("7", "n1"), ("7", "n2")]), "{json}");
        }
    }

    /// A child that holds the pipes does not delay the answer, and is killed.
    #[test]
    fn a_process_left_behind_does_not_delay_the_answer() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        let text =
            format!("sleep 600 & echo $! > {}; case $1 in --json) exit 1;; esac; echo 7 n1", note.display());
        let since = Instant::now();
        assert_eq!(ask(&text, LONG).unwrap(), rows(&[("7", "n1")]));
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
        wait_for_exit(&note);
    }

    #[test]
    fn unreadable_answers_are_reported() {
        let error_of = |text: &str| ask(text, LONG).unwrap_err().to_string();
        let cut = error_of(r#"echo '{"jobs": [{"job_id": 8,'"#);
        assert!(cut.contains("FD-4605") && cut.contains("FD-2310") && !cut.contains("scontrol"), "{cut}");
        let other = error_of("case $1 in --json) exit 1;; esac; echo a b c");
        assert!(other.contains("FD-4605") && other.contains("'a b c'"), "{other}");
        let slow =
            ask("while :; do echo; sleep 0.01; done", Duration::from_millis(300)).unwrap_err().to_string();
        assert!(slow.contains("FD-4602") && slow.contains("bytes so far"), "{slow}");
    }

    /// A pipe is emptied at each turn, and is larger than Linux's default.
    #[test]
    fn much_of_one_line_takes_few_turns() {
        let folder = tempfile::tempdir().unwrap();
        let text = "case $1 in --json) exit 1;; esac; yes '7 n1' | head -n 400000";
        let squeue = Squeue { program: script(folder.path(), text), timeout: LONG };
        let mut running = SqueueProcess::start(&squeue, OutputForm::Text).unwrap();
        let (mut turns, mut most, mut before) = (0, 0, 0);
        while running.read_output(Duration::ZERO).is_none() {
            turns += 1;
            (most, before) = (most.max(running.out.len() - before), running.out.len());
            assert!(turns < 5_000, "{}", running.out.len());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(running.out.len(), 2_000_000);
        assert!(most > 65_536, "{most}");
    }

    #[test]
    fn failures_quote_squeue() {
        let fails = ask("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1", LONG);
        let message = fails.unwrap_err().to_string();
        assert!(
            message.contains("FD-4603") && message.contains("Unable to contact slurm controller"),
            "{message}"
        );
        let squeue = Squeue { program: "/nowhere/squeue".into(), timeout: LONG };
        let message = SqueuePoll::start(&squeue, Duration::ZERO).err().unwrap().to_string();
        assert!(
            message.contains("FD-4601: /nowhere/squeue") && message.contains("No such file"),
            "{message}"
        );
        // An empty list is no error.
        assert_eq!(ask("exit 0", LONG).unwrap(), []);
    }

    #[test]
    fn much_is_read_while_it_is_written() {
        let many = "case $1 in --json) exit 1;; *) seq 1 60000 | sed 's/$/ node123/';; esac";
        assert_eq!(ask(many, LONG).unwrap().len(), 60_000);
    }

    #[test]
    fn a_hanging_squeue_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        // The script ignores all signals that can be ignored.
        let text = format!("trap '' TERM HUP INT; sleep 600 & echo $! > {}; wait", note.display());
        let since = Instant::now();
        let trouble = ask(&text, Duration::from_millis(400)).unwrap_err();
        assert!(matches!(trouble, SqueueError::Silent { .. }), "{trouble}");
        assert!(since.elapsed() < Duration::from_secs(30));
        wait_for_exit(&note);
    }

    /// Waits until the process whose id is in the file has ended.
    fn wait_for_exit(note: &Path) {
        let id = std::fs::read_to_string(note).unwrap();
        let stat = Path::new("/proc").join(id.trim()).join("stat");
        for _ in 0..500 {
            if std::fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z ")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{stat:?} goes on");
    }
}
