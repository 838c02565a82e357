//! Lists of jobs and their hosts, in three forms that the reader detects by content:
//!
//! - written by hand or by another batch system: a host or host list and a job on each line, `#` comments; or only
//!   hosts (`$PBS_NODEFILE`, a Slurm host list), which are one job;
//! - `squeue -h -t R -o "%i %N"`: a job and its host list on each line;
//! - `squeue --json`.
//!
//! Users name such a file; no folder is searched for one, because two words on a line are all that identifies the
//! first form.

mod json;
mod squeue;

use serde::{Deserialize, Serialize};

use super::FileError;
use super::opensm::{bad_line, is_printable, printable_excerpt};
use super::slurm::{HostListError, expand};
use super::text::Input;
use fabdeck_fabric::observe::{JobHosts, NotePlace, digits_in_groups};

/// Most hosts of jobs: all hosts of the largest subnet with twenty jobs each.
const MOST_LINES: usize = 1_000_000;

/// A host and its job, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLine {
    /// The line of a file; in JSON, the number of the job in the list.
    pub number: u64,
    pub host: String,
    pub job: String,
}

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ListForm {
    /// Written by a person, or by a program of the site.
    #[default]
    Lines,
    SqueueText,
    SqueueJson,
}

/// A list of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobList {
    pub form: ListForm,
    pub lines: Vec<JobLine>,
}

impl JobList {
    /// Whether the list comes from Slurm. Slurm may list hosts that a fabric lacks; in a list by hand these are
    /// mistakes.
    pub fn is_from_slurm(&self) -> bool {
        self.form != ListForm::Lines
    }

    /// The jobs with their hosts, as recordings store them.
    pub fn hosts_of_jobs(&self) -> JobHosts {
        let mut all = JobHosts::new();
        for line in &self.lines {
            all.entry(line.job.clone()).or_default().insert(line.host.clone());
        }
        all
    }

    /// A list from a recording. It may name hosts that the fabric lacks, as Slurm's does.
    pub fn from_recording(jobs: &JobHosts) -> Self {
        let each = jobs.iter().zip(1..);
        let lines = each.flat_map(|((job, hosts), number)| {
            hosts.iter().map(move |host| JobLine { number, host: host.clone(), job: job.clone() })
        });
        Self { form: ListForm::SqueueJson, lines: lines.collect() }
    }

    /// Adds the hosts of a job.
    fn add_hosts(&mut self, number: u64, job: &str, list: &str) -> Result<(), HostListError> {
        let hosts = expand(list)?;
        if self.lines.len() + hosts.len() > MOST_LINES {
            return Err(HostListError {
                at: 1,
                what: format!("more than {} hosts of jobs up to here", digits_in_groups(MOST_LINES)),
            });
        }
        let line = |host| JobLine { number, host, job: job.to_owned() };
        self.lines.extend(hosts.into_iter().map(line));
        Ok(())
    }
}

/// Reads a list in any form. A list from Slurm may be empty, and so may one with a comment; an empty file is an error.
pub fn read(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    if let Some(at) = input.bytes.iter().position(|byte| *byte == 0) {
        let place = NotePlace { offset: Some(at as u64), ..NotePlace::file(input.name) };
        let hint = "save the list as UTF-8 if it is UTF-16";
        return Err(FileError::new("FD-2312", place, "a byte of zero, which no list of jobs has", hint));
    }
    let bytes = input.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input.bytes);
    if bytes.trim_ascii_start().starts_with(b"{") {
        return read_json(input);
    }
    match squeue::is_squeue(input)? {
        true => read_text(input),
        false => read_lines(input),
    }
}

/// Reads the output of `squeue --json`.
pub fn read_json(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    json::read(input)
}

/// Reads the output of `squeue -h -t R -o "%i %N"`.
pub fn read_text(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    squeue::read(input)
}

/// The job of a list that names only hosts.
const JOB_OF_HOSTS: &str = "list";

/// Whether no line has more than one printable word, and some line has one.
fn has_hosts_alone(input: Input<'_>) -> Result<bool, Box<FileError>> {
    let mut any = false;
    for line in input.lines() {
        let line = line?;
        let text = without_comment(&line.text);
        if text.split_whitespace().nth(1).is_some() || !text.chars().all(is_printable) {
            return Ok(false);
        }
        any |= !text.is_empty();
    }
    Ok(any)
}

fn read_lines(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    let mut list = JobList::default();
    let mut silent = true;
    let hosts_alone = has_hosts_alone(input)?;
    for line in input.lines() {
        let line = line?;
        let text = without_comment(&line.text);
        silent &= line.text.trim().is_empty();
        if text.is_empty() {
            continue;
        }
        let mut words = text.split_whitespace();
        if hosts_alone {
            let added = list.add_hosts(line.number, JOB_OF_HOSTS, text);
            added.map_err(|error| bad_host_list(input.line_place(line.number), JOB_OF_HOSTS, &error))?;
            continue;
        }
        // A job with brackets or commas is a host list: columns are exchanged, or forms mixed.
        let (Some(hosts), Some(job), None) = (words.next(), words.next(), words.next()) else {
            return Err(bad_line(input.line_place(line.number), text, "a host and its job"));
        };
        if !text.chars().all(|sign| is_printable(sign) || sign.is_whitespace()) {
            return Err(bad_line(input.line_place(line.number), text, "text"));
        }
        if job.contains(['[', ']', ',']) {
            return Err(bad_line(input.line_place(line.number), text, "a host and its job, in this order"));
        }
        let added = list.add_hosts(line.number, job, hosts);
        added.map_err(|error| bad_host_list(input.line_place(line.number), job, &error))?;
    }
    if silent {
        let what = "no host with its job in the file";
        let hint = "check that the file is complete; if no job runs, write a comment (# nothing runs)";
        return Err(FileError::new("FD-2307", NotePlace::file(input.name), what, hint));
    }
    Ok(list)
}

/// A line without its comment.
fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

fn bad_host_list(place: NotePlace, job: &str, error: &HostListError) -> Box<FileError> {
    let what = format!("the node list of job {} cannot be read: {error}", printable_excerpt(job));
    FileError::new("FD-2309", place, what, "run squeue again, or correct the list")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::slurm::compress;

    fn parse(text: &str) -> (ListForm, Vec<(u64, String, String)>) {
        let list = read(Input::new("t.jobs", text.as_bytes())).unwrap();
        (list.form, list.lines.into_iter().map(|line| (line.number, line.host, line.job)).collect())
    }

    fn row(number: u64, host: &str, job: &str) -> (u64, String, String) {
        (number, host.to_owned(), job.to_owned())
    }

    #[test]
    fn a_line_is_a_host_and_its_job() {
        let lines = parse("# now\nn1 17 # a comment\n\n n2\t17\n");
        assert_eq!(lines, (ListForm::Lines, vec![row(2, "n1", "17"), row(4, "n2", "17")]));
        let fails = |text: &str| read(Input::new("t.jobs", text.as_bytes())).unwrap_err();
        for (text, line) in [("n1 17\nn2\n", 2), ("n1 17 5\n", 1)] {
            let error = fails(text);
            assert_eq!((error.code, error.place.line), ("FD-2303", Some(line)), "{text}");
        }
        for text in ["", "\n \n"] {
            assert_eq!(fails(text).code, "FD-2307");
        }
        // A comment alone is a valid empty list.
        assert_eq!(parse("# nothing runs\n"), (ListForm::Lines, vec![]));
        let error = fails("\u{feff}n1\x0017\n");
        assert_eq!((error.code, error.place.offset), ("FD-2312", Some(5)));
    }

    /// Bytes that are no text are refused, and no message contains an unprintable character.
    #[test]
    fn nothing_that_cannot_be_printed_is_echoed() {
        for bytes in
            [&b"r\xff\xfe\x01\xe2\x80\xae\x9b31m zz q\n"[..], b"n1 17\n\xff\xfe\x80 18\n", b"n[\xff 1\x1b7\n"]
        {
            let error = read(Input::new("t.jobs", bytes)).unwrap_err();
            assert_eq!(error.code, "FD-2303", "{error}");
            assert!(error.to_string().chars().all(is_printable), "{error}");
        }
        assert_eq!(parse("hôte-é1 17 # pr\u{fffd}t\n").1, [row(1, "hôte-é1", "17")]);
    }

    /// A list of hosts means each of them, and exchanged columns are refused.
    #[test]
    fn lines_may_have_lists_of_hosts() {
        assert_eq!(parse("n[1-2],m 17\n").1, [row(1, "n1", "17"), row(1, "n2", "17"), row(1, "m", "17")]);
        for (text, code, line) in [
            ("n1 17\n18 n[3-9]\n", "FD-2303", 2),
            ("n1 17\nn[3- 18\n", "FD-2309", 2),
            ("17_[1-5] n1\n18 n[2-3]\n", "FD-2303", 1),
        ] {
            let error = read(Input::new("t.jobs", text.as_bytes())).unwrap_err();
            assert_eq!((error.code, error.place.line), (code, Some(line)), "{text}: {error}");
        }
        let much: String = (0..40).map(|job| format!("n[0-65535] {job}\n")).collect();
        assert_eq!(read(Input::new("t", much.as_bytes())).unwrap_err().code, "FD-2309");
    }

    #[test]
    fn the_first_unambiguous_line_decides_the_form() {
        // Both words may be either; only the third line decides.
        assert_eq!(parse("7 12\n8 12\nn9 12\n").0, ListForm::Lines);
        assert_eq!(parse("7 12\n8 12\n9 n[1-2]\n").0, ListForm::SqueueText);
        assert_eq!(parse("7 12\n").0, ListForm::Lines);
        assert_eq!(parse("17 n1\n").1, [row(1, "n1", "17")]);
        assert_eq!(parse("\u{feff} {\"jobs\": []}").0, ListForm::SqueueJson);
    }

    /// Jobs and their hosts, each once.
    fn jobs_of(text: &str, form: ListForm) -> BTreeMap<String, BTreeSet<String>> {
        let list = read(Input::new("t.jobs", text.as_bytes())).unwrap();
        assert_eq!(list.form, form, "{text}");
        let mut jobs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in list.lines {
            jobs.entry(line.job).or_default().insert(line.host);
        }
        jobs
    }

    proptest! {
        /// The same jobs in all three forms, and in both forms of JSON, are read as the same jobs.
        #[test]
        fn all_forms_say_the_same(jobs in proptest::collection::btree_map(
            "[1-9][0-9]{0,5}(_[1-9][0-9]?)?",
            proptest::collection::btree_set("(n|rack[1-3]-|é)[0-9]{1,4}|login|[a-c]x", 1..20),
            1..8,
        )) {
            let jobs: BTreeMap<String, BTreeSet<String>> = jobs;
            let hosts = |hosts: &BTreeSet<String>| compress(&hosts.iter().collect::<Vec<_>>());
            let (mut lines, mut text) = (String::new(), String::new());
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for (job, on) in &jobs {
                on.iter().for_each(|host| lines += &format!("{host}\t{job}\n"));
                text += &format!("{job} {}\n", hosts(on));
                let (id, task) = job.split_once('_').map_or((job.as_str(), None), |(id, task)| (id, Some(task)));
                let number = |text: &str| text.parse::<u64>().unwrap();
                let array = if task.is_some() { number(id) } else { 0 };
                old.push(json!({ "job_id": 1_000_000 + number(id), "job_state": "RUNNING", "nodes": hosts(on),
                    "array_job_id": array, "array_task_id": task.map(number), "het_job_id": 0 }));
                let object = |value: Option<u64>| json!({ "set": value.is_some(), "infinite": false, "number": value.unwrap_or(0) });
                new.push(json!({ "job_id": 1_000_000 + number(id), "job_state": ["RUNNING"], "nodes": hosts(on),
                    "array_job_id": object(Some(array)), "array_task_id": object(task.map(number)), "het_job_id": object(Some(0)) }));
                if task.is_none() {
                    old.last_mut().unwrap()["job_id"] = json!(number(id));
                    new.last_mut().unwrap()["job_id"] = json!(number(id));
                }
            }
            prop_assert_eq!(&jobs_of(&lines, ListForm::Lines), &jobs);
            prop_assert_eq!(&jobs_of(&text, ListForm::SqueueText), &jobs);
            for list in [old, new] {
                let text = json!({ "jobs": list, "errors": [] }).to_string();
                prop_assert_eq!(&jobs_of(&text, ListForm::SqueueJson), &jobs);
            }
        }
    }
}
