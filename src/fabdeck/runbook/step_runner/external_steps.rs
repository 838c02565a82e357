//! Steps that do not touch the fabric: waiting, recordings, other programs, messages.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::fabric_check::find_program;
use super::runner::{POLL_INTERVAL, Runner, StepResult};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::record::recording::{RecordRequest, Recording, record, refuse_conflicts};
use crate::runbook::execute::{StepFailure, StepOutput};
use crate::runbook::steps::ProgramTask;
use crate::runbook::values::StepValue;
use fabdeck_files::capture::RotationLimits;
use fabdeck_files::open_regular;
use fabdeck_live::agent::set_listed_environment;

/// Number of bytes of a program's output that the report keeps.
const MAX_OUTPUT_BYTES: usize = 400;

impl Runner<'_> {
    pub fn wait(&mut self, time: Duration) -> StepResult {
        if self.dry {
            let words = format!("not waited: the step would wait {} s", time.as_secs());
            return Ok(StepOutput { rehearsed: true, ..StepOutput::with_text(words) });
        }
        self.pause(time);
        self.check_stop()?;
        Ok(StepOutput::with_text(format!("{} s", time.as_secs_f64())))
    }

    pub fn wait_for_file(&mut self, file: &Path, timeout: Duration, every: Duration) -> StepResult {
        let since = Instant::now();
        while !file.exists() {
            let name = file.display();
            if self.dry {
                self.uncertain.get_or_insert_with(|| format!("{name} has to be created first"));
                let words = format!(
                    "{name} does not exist now; the step would wait for it up to {} s",
                    timeout.as_secs()
                );
                return Ok(StepOutput { rehearsed: true, ..StepOutput::with_text(words) });
            }
            if since.elapsed() >= timeout {
                let what = format!("FD-9233: timeout after {} s: {name} did not appear", timeout.as_secs());
                return Err(StepFailure::unexpected(what).into());
            }
            self.pause(every.min(timeout.saturating_sub(since.elapsed())));
            self.check_stop()?;
        }
        Ok(StepOutput::with_text(format!("{} exists", file.display())))
    }

    pub fn record(&mut self, file: &Path, time: Duration, interval: Duration) -> StepResult {
        let name = file.display();
        if self.dry {
            let values = vec![("sweeps".to_owned(), StepValue::Unrehearsed)];
            let words = format!("not recorded: the step would record {} s to {name}", time.as_secs());
            return Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) });
        }
        let request = RecordRequest {
            output: file,
            stdout: None,
            interval: Some(interval),
            time: Some(time),
            rotation: RotationLimits::default(),
            keep: None,
            notes: false,
            jobs: None,
            partitions: false,
            explains: false,
        };
        // The report of the run goes to stdout.
        refuse_conflicts(self.operation.env, &request, true)?;
        let Recording { snapshot, recorded, ended, .. } = record(&mut self.operation, request)?;
        ended.map_err(Failure::from)?;
        self.operation.count_reading(&snapshot);
        self.check_stop()?;
        let sweeps = recorded.sweeps;
        let words = format!("{} in {name}", count_words(sweeps as usize, "sweep", "sweeps"));
        Ok(StepOutput {
            values: vec![("sweeps".to_owned(), StepValue::count(sweeps))],
            ..StepOutput::with_text(words)
        })
    }

    pub fn run(&mut self, program: &ProgramTask) -> StepResult {
        let line = [std::slice::from_ref(&program.program), &program.args].concat().join(" ");
        if self.dry {
            self.uncertain.get_or_insert_with(|| format!("{} was not run", program.program));
            let values = vec![("exit_code".to_owned(), StepValue::Unrehearsed)];
            return Ok(StepOutput {
                values,
                rehearsed: true,
                ..StepOutput::with_text(format!("not run: {line}"))
            });
        }
        let failed = |what: String| Failure::new(Exit::Failed, format!("FD-9236: {line}: {what}"));
        let path =
            find_program(&program.program).ok_or_else(|| failed("the program does not exist".to_owned()))?;
        let mut command = Command::new(path);
        set_listed_environment(&mut command);
        command.args(&program.args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The program gets a process group, so that its children end with it. Ctrl-C then reaches this process alone,
        // which ends the program.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let output = collect_output(&mut child);
        let since = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| failed(error.to_string()))? {
                break status;
            }
            let late = since.elapsed() >= program.timeout;
            if late || self.stop.is_requested() {
                end_program(&mut child);
                self.check_stop()?;
                return Err(failed(format!(
                    "timeout: the program was ended after {} s",
                    program.timeout.as_secs()
                ))
                .into());
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        let output = output.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let code = status.code();
        let values = vec![(
            "exit_code".to_owned(),
            code.map_or(StepValue::Unknown, |code| StepValue::Number(f64::from(code))),
        )];
        let how = code.map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
        let result = if output.is_empty() { how } else { format!("{how}; output: {output}") };
        match code == Some(program.exit) {
            true => Ok(StepOutput { values, ..StepOutput::with_text(result) }),
            false => Err(failed(format!("{result}; expected exit code {}", program.exit)).into()),
        }
    }

    pub fn notify(&mut self, text: &str, file: Option<&Path>) -> StepResult {
        if self.dry {
            return Ok(StepOutput { rehearsed: true, ..StepOutput::with_text(format!("not sent: {text}")) });
        }
        let Some(file) = file else {
            self.operation.reporter.report_line(text);
            return Ok(StepOutput::with_text(text));
        };
        let failed = |error| Failure::writing(&file.display().to_string(), &error);
        // A pipe without a reader would block the run while a change is pending.
        let mut open = open_regular(file, OpenOptions::new().create(true).append(true)).map_err(failed)?;
        open.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
        Ok(StepOutput::with_text(format!("{text} (in {})", file.display())))
    }
}

/// Collects the beginning of a program's output in threads of their own, because a full pipe would block the program.
fn collect_output(child: &mut Child) -> std::sync::mpsc::Receiver<String> {
    let (sender, output) = std::sync::mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let err_reader = std::thread::spawn(move || err.map(read_beginning).unwrap_or_default());
        let words = out.map(read_beginning).unwrap_or_default();
        let more = err_reader.join().unwrap_or_default();
        let both: Vec<String> = [words, more].into_iter().filter(|words| !words.is_empty()).collect();
        // The run may have continued without the output.
        let _ = sender.send(both.join("; "));
    });
    output
}

/// Reads the output to its end and returns its beginning.
fn read_beginning(mut from: impl Read) -> String {
    let (mut beginning, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let room = MAX_OUTPUT_BYTES.saturating_sub(beginning.len());
        beginning.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&beginning).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Ends a program with all its children.
fn end_program(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
