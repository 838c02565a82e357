//! One query to Slurm: an squeue process in the background, which is never waited for and is killed at its timeout.
//!
//! The query first asks for JSON. If that fails (an old Slurm, or one without the plugin), it asks for text, within
//! the same timeout. A loaded controller may need minutes (dissertation 5.3.3.1).

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::slurm_process::{MOST_BYTES, SlurmProcess, failure_words};
use crate::job_lists::{JobList, read_json, read_text};
use crate::text::Input;
use fabdeck_fabric::observe::digits_in_groups;

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
    running: SlurmProcess,
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
        let running = start_query(squeue, OutputForm::Json)?;
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
        match (parse_answer(&self.running, self.form, status), self.form) {
            (Ok(list), _) => Some(Ok(list)),
            (Err(wrong), OutputForm::Json) => {
                (self.form, self.no_json) = (OutputForm::Text, Some(wrong));
                match start_query(&self.squeue, OutputForm::Text) {
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

/// The list of a query that has ended, or its error.
fn parse_answer(
    running: &SlurmProcess,
    form: OutputForm,
    status: ExitStatus,
) -> Result<JobList, AnswerFault> {
    if !status.success() {
        return Err(AnswerFault::Ended(failure_words(running, status)));
    }
    let input = Input::new("squeue", &running.out);
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

fn start_query(squeue: &Squeue, form: OutputForm) -> Result<SlurmProcess, SqueueError> {
    SlurmProcess::start(&squeue.program, form.args(), FILTERS).map_err(|error| SqueueError::NoProgram {
        program: squeue.program.display().to_string(),
        why: error.to_string(),
    })
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
        let mut running = start_query(&squeue, OutputForm::Text).unwrap();
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
