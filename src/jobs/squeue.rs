//! One question to Slurm: a squeue that runs beside, is never waited for, and is ended when it takes too long.
//!
//! First it is asked for JSON; where that cannot be had (an old Slurm, or one without its plugin) for text, within the
//! same time. It happens that a loaded controller needs minutes (dissertation 5.3.3.1).

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::files::jobs::{JobList, read_json, read_text};
use crate::files::text::Input;

/// No list of jobs is larger.
const MOST_BYTES: usize = 512 << 20;
/// Of what it complains so much is kept.
const COMPLAINT_BYTES: usize = 4096;
/// At a turn so much is read at the most: a turn is short.
const TURN_BYTES: usize = 16 << 20;

/// Whom to ask, and for how long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Squeue {
    /// A name is looked for as a shell does.
    pub program: PathBuf,
    pub timeout: Duration,
}

/// Why there is no list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trouble {
    #[error(
        "FD-4601: {program} cannot be run: {why}; say where it is with --squeue, or give the jobs with --file"
    )]
    NoProgram { program: String, why: String },
    #[error(
        "FD-4602: {program} has not answered within {} s and was ended; does its controller live (scontrol ping)? \
         --slurm-timeout lets it take longer", .timeout.as_secs_f64()
    )]
    Silent { program: String, timeout: Duration },
    #[error("FD-4603: {program} failed: {said}; does its controller live (scontrol ping)?")]
    Failed { program: String, said: String },
    #[error("FD-4604: {program} prints more than {MOST_BYTES} bytes; give the jobs with --file")]
    TooMuch { program: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Json,
    Text,
}

impl Form {
    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["--json"],
            Self::Text => &["-h", "-t", "R", "-o", "%i %N"],
        }
    }
}

/// A question under way. Whoever drops it ends it.
#[derive(Debug)]
pub struct Poll {
    squeue: Squeue,
    form: Form,
    began: Duration,
    running: Running,
}

impl Poll {
    /// `now`: on whatever clock the turns are told of.
    pub fn start(squeue: &Squeue, now: Duration) -> Result<Self, Trouble> {
        let running = Running::start(squeue, Form::Json)?;
        Ok(Self { squeue: squeue.clone(), form: Form::Json, began: now, running })
    }

    /// What came of it, once something did. Never waits.
    pub fn turn(&mut self, now: Duration) -> Option<Result<JobList, Trouble>> {
        let program = || self.squeue.program.display().to_string();
        let ended = self.running.turn();
        if self.running.out.len() > MOST_BYTES {
            return Some(Err(Trouble::TooMuch { program: program() }));
        }
        let Some(status) = ended else {
            let timeout = self.squeue.timeout;
            let late = now.saturating_sub(self.began) >= timeout;
            return late.then(|| Err(Trouble::Silent { program: program(), timeout }));
        };
        match (self.running.answer(self.form, status), self.form) {
            (Ok(list), _) => Some(Ok(list)),
            (Err(_), Form::Json) => {
                self.form = Form::Text;
                match Running::start(&self.squeue, Form::Text) {
                    Ok(running) => self.running = running,
                    Err(trouble) => return Some(Err(trouble)),
                }
                None
            }
            (Err(said), Form::Text) => Some(Err(Trouble::Failed { program: program(), said })),
        }
    }
}

#[derive(Debug)]
struct Running {
    /// `None` once it was given to whoever waits for its end.
    child: Option<Child>,
    status: Option<ExitStatus>,
    out: Vec<u8>,
    said: Vec<u8>,
}

impl Running {
    fn start(squeue: &Squeue, form: Form) -> Result<Self, Trouble> {
        let failed = |error: std::io::Error| Trouble::NoProgram {
            program: squeue.program.display().to_string(),
            why: error.to_string(),
        };
        let mut command = Command::new(&squeue.program);
        command.args(form.args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: what it starts ends with it, and Ctrl-C is for this process.
        let child = command.process_group(0).spawn().map_err(failed)?;
        let running = Self { child: Some(child), status: None, out: Vec::new(), said: Vec::new() };
        running.unblock().map_err(failed)?;
        Ok(running)
    }

    fn unblock(&self) -> std::io::Result<()> {
        fn of(pipe: Option<&impl AsFd>) -> std::io::Result<()> {
            let Some(pipe) = pipe else { return Ok(()) };
            Ok(fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?)
        }
        let Some(child) = &self.child else { return Ok(()) };
        of(child.stdout.as_ref())?;
        of(child.stderr.as_ref())
    }

    /// Reads what there is; how it ended, once it did and everything is read.
    fn turn(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        // Its end before its words: what it said before it ended is in the pipes then.
        self.status = self.status.or_else(|| child.try_wait().ok().flatten());
        let out = child.stdout.as_mut().is_none_or(|pipe| drain(pipe, &mut self.out, MOST_BYTES + 1));
        let said = child.stderr.as_mut().is_none_or(|pipe| drain(pipe, &mut self.said, COMPLAINT_BYTES));
        self.status.filter(|_| out && said)
    }

    /// The list, or what is wrong with it in words.
    fn answer(&self, form: Form, status: ExitStatus) -> Result<JobList, String> {
        if !status.success() {
            let said = String::from_utf8_lossy(&self.said);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            return Err(if lines.is_empty() { status.to_string() } else { lines.join("; ") });
        }
        let input = Input::new("squeue", &self.out);
        let read = if form == Form::Json { read_json(input) } else { read_text(input) };
        read.map_err(|error| error.to_string())
    }
}

/// Reads what is in a pipe and keeps so much of it; whether it is at its end.
fn drain(pipe: &mut impl Read, kept: &mut Vec<u8>, most: usize) -> bool {
    let mut piece = [0; 64 * 1024];
    let mut read = 0;
    while read < TURN_BYTES && kept.len() <= most {
        match pipe.read(&mut piece) {
            Ok(0) => return true,
            Ok(count) => {
                let room = most.saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..count.min(room)]);
                read += count;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
    false
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        if self.status.is_some() {
            return;
        }
        let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            // Whoever is gone already needs no end.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        // One that hangs in a system call ends when that does; nobody waits here.
        std::thread::spawn(move || drop(child.wait()));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use super::*;

    /// A squeue that is this script.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let file = folder.join("squeue");
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        file
    }

    fn ask(text: &str, timeout: Duration) -> Result<Vec<(String, String)>, Trouble> {
        let folder = tempfile::tempdir().unwrap();
        let squeue = Squeue { program: script(folder.path(), text), timeout };
        let since = Instant::now();
        let mut poll = Poll::start(&squeue, since.elapsed())?;
        loop {
            let turn = Instant::now();
            let came = poll.turn(since.elapsed());
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
            r#"echo '{"errors": [{"error": "nothing heard"}], "jobs": []}'"#,
        ] {
            assert_eq!(ask(&both(json), LONG).unwrap(), rows(&[("7", "n1"), ("7", "n2")]), "{json}");
        }
    }

    #[test]
    fn what_fails_is_told_in_its_own_words() {
        let fails = ask("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1", LONG);
        let said = fails.unwrap_err().to_string();
        assert!(said.contains("FD-4603") && said.contains("Unable to contact slurm controller"), "{said}");
        let squeue = Squeue { program: "/nowhere/squeue".into(), timeout: LONG };
        let said = Poll::start(&squeue, Duration::ZERO).err().unwrap().to_string();
        assert!(said.contains("FD-4601: /nowhere/squeue") && said.contains("No such file"), "{said}");
        // No job is no trouble.
        assert_eq!(ask("exit 0", LONG).unwrap(), []);
    }

    #[test]
    fn much_is_read_while_it_is_written() {
        let many = "case $1 in --json) exit 1;; *) seq 1 60000 | sed 's/$/ node123/';; esac";
        assert_eq!(ask(many, LONG).unwrap().len(), 60_000);
    }

    #[test]
    fn one_that_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        // Deaf to everything but what cannot be refused.
        let text = format!("trap '' TERM HUP INT; sleep 600 & echo $! > {}; wait", note.display());
        let since = Instant::now();
        let trouble = ask(&text, Duration::from_millis(400)).unwrap_err();
        assert!(matches!(trouble, Trouble::Silent { .. }), "{trouble}");
        assert!(since.elapsed() < Duration::from_secs(30));
        let id = std::fs::read_to_string(&note).unwrap();
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
