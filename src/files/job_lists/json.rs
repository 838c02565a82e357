//! Output of `squeue --json`. The data parsers of Slurm's versions differ:
//!
//! | | 21.08, 22.05 (v0.0.37, v0.0.38) | 23.02 and later (v0.0.39 and up) |
//! |---|---|---|
//! | a number | `17`, 0 or null where there is none | `{"set": true, "infinite": false, "number": 17}` too |
//! | a state | `"RUNNING"` | `["RUNNING"]`, with flags such as `"COMPLETING"` beside it |
//! | allocated nodes | `job_resources.nodes`: a list | the same, later an object with its `list` |
//! | all | `nodes`: a host list | the same |
//!
//! An unreachable controller is reported in `errors`, with an empty list and exit code 0.

use serde::Deserialize;

use super::{FileError, Input, JobList, ListForm, bad_host_list};
use fabdeck_fabric::observe::NotePlace;

#[derive(Deserialize)]
struct SqueueOutput {
    jobs: Vec<Job>,
    #[serde(default)]
    errors: Vec<SqueueMessage>,
}

#[derive(Deserialize)]
struct SqueueMessage {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Job {
    job_id: Number,
    job_state: State,
    #[serde(default)]
    nodes: Option<String>,
    #[serde(default)]
    job_resources: Option<Resources>,
    #[serde(default)]
    array_job_id: Number,
    #[serde(default)]
    array_task_id: Number,
    #[serde(default)]
    het_job_id: Number,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Object {
        set: bool,
        number: u64,
    },
    #[default]
    None,
}

impl Number {
    fn get(self) -> Option<u64> {
        match self {
            Self::Plain(number) | Self::Object { set: true, number } => Some(number),
            Self::Object { .. } | Self::None => None,
        }
    }

    /// An id, which is never 0.
    fn id(self) -> Option<u64> {
        self.get().filter(|id| *id > 0)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum State {
    One(String),
    Several(Vec<String>),
}

impl State {
    fn is_running(&self) -> bool {
        match self {
            Self::One(state) => state == "RUNNING",
            Self::Several(states) => states.iter().any(|state| state == "RUNNING"),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Resources {
    Known { nodes: Nodes },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Nodes {
    List(String),
    Object { list: String },
    Other(serde::de::IgnoredAny),
}

impl Job {
    /// The name that squeue's `%i` prints, with the components of a heterogeneous job as one.
    fn name(&self) -> Option<String> {
        let id = self.job_id.id()?;
        Some(match (self.het_job_id.id(), self.array_job_id.id(), self.array_task_id.get()) {
            (Some(whole), ..) => whole.to_string(),
            (None, Some(array), Some(task)) => format!("{array}_{task}"),
            _ => id.to_string(),
        })
    }

    fn host_list(&self) -> &str {
        let resources = match &self.job_resources {
            Some(Resources::Known { nodes: Nodes::List(list) | Nodes::Object { list } }) => {
                Some(list.as_str())
            }
            _ => None,
        };
        let own = self.nodes.as_deref().filter(|list| !list.is_empty());
        own.or(resources).unwrap_or_default()
    }
}

pub(super) fn read(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    let bytes = input.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input.bytes);
    let output: SqueueOutput = serde_json::from_slice(bytes).map_err(|error| {
        let place =
            NotePlace { offset: error_offset(bytes, &error), ..input.line_place(error.line() as u64) };
        FileError::new(
            "FD-2310",
            place,
            format!("no list of jobs: {error}"),
            "give the output of squeue --json",
        )
    })?;
    if !output.errors.is_empty() {
        let errors: Vec<String> = output.errors.iter().map(SqueueMessage::text).collect();
        let what = format!("squeue reports: {}", errors.join("; "));
        let hint = "the list is incomplete: run squeue again when the controller answers";
        return Err(FileError::new("FD-2311", NotePlace::file(input.name), what, hint));
    }
    let mut list = JobList { form: ListForm::SqueueJson, lines: Vec::new() };
    for (number, job) in (1..).zip(output.jobs.iter().filter(|job| job.job_state.is_running())) {
        let Some(name) = job.name() else { continue };
        let added = list.add_hosts(number, &name, job.host_list());
        added.map_err(|error| bad_host_list(NotePlace::file(input.name), &name, &error))?;
    }
    Ok(list)
}

impl SqueueMessage {
    fn text(&self) -> String {
        let words = [&self.description, &self.error].into_iter().flatten().map(String::as_str);
        let words: Vec<&str> = words.filter(|text| !text.is_empty()).collect();
        if words.is_empty() { "an error without a description".to_owned() } else { words.join(": ") }
    }
}

/// The offset where the parser stopped; serde_json states line and column, from 1.
fn error_offset(bytes: &[u8], error: &serde_json::Error) -> Option<u64> {
    let before = bytes.split_inclusive(|b| *b == b'\n').take(error.line().checked_sub(1)?);
    Some((before.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_json(text: &str) -> Result<Vec<(String, String)>, Box<FileError>> {
        let list = read(Input::new("squeue.json", text.as_bytes()))?;
        Ok(list.lines.into_iter().map(|line| (line.job, line.host)).collect())
    }

    fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        rows.iter().map(|(job, host)| ((*job).to_owned(), (*host).to_owned())).collect()
    }

    /// Output of Slurm 22.05, shortened.
    #[test]
    fn numbers_and_states_of_old_versions() {
        let text = r#"{"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": [
            {"job_id": 1, "job_state": "RUNNING", "nodes": "n[1-2]", "array_job_id": 0, "array_task_id": null,
             "het_job_id": 0, "job_resources": {"nodes": "n[1-2]", "allocated_nodes": []}},
            {"job_id": 4, "job_state": "RUNNING", "nodes": "n5", "array_job_id": 2, "array_task_id": 0},
            {"job_id": 5, "job_state": "PENDING", "nodes": "", "array_job_id": 0, "array_task_id": null},
            {"job_id": 6, "job_state": "COMPLETED", "nodes": "n7"}]}"#;
        assert_eq!(read_json(text).unwrap(), rows(&[("1", "n1"), ("1", "n2"), ("2_0", "n5")]));
    }

    /// Output of 23.11 and 24.05, shortened.
    #[test]
    fn numbers_and_states_of_new_versions() {
        let number = |set, number| format!(r#"{{"set": {set}, "infinite": false, "number": {number}}}"#);
        let job = |id: u64, rest: &str| format!(r#"{{"job_id": {id}, {rest}}}"#);
        let jobs = [
            job(
                7,
                r#""job_state": ["RUNNING"], "nodes": "", "job_resources": {"count": 1, "nodes": {"count": 1, "list": "n8", "allocation": []}}"#,
            ),
            job(
                9,
                &format!(
                    r#""job_state": ["RUNNING", "CONFIGURING"], "nodes": "n9", "het_job_id": {}"#,
                    number(true, 8)
                ),
            ),
            job(
                10,
                &format!(
                    r#""job_state": ["RUNNING"], "nodes": "n10", "array_job_id": {}, "array_task_id": {}, "het_job_id": {}"#,
                    number(true, 3),
                    number(true, 4),
                    number(true, 0)
                ),
            ),
            job(
                11,
                &format!(
                    r#""job_state": ["RUNNING"], "nodes": "n11", "array_job_id": {}, "array_task_id": {}"#,
                    number(true, 0),
                    number(false, 0)
                ),
            ),
            job(12, r#""job_state": ["COMPLETED", "COMPLETING"], "nodes": "n12""#),
            job(13, r#""job_state": ["RUNNING"], "nodes": null, "job_resources": null"#),
        ];
        let text = format!(r#"{{"jobs": [{}], "warnings": [], "errors": []}}"#, jobs.join(","));
        assert_eq!(
            read_json(&text).unwrap(),
            rows(&[("7", "n8"), ("8", "n9"), ("3_4", "n10"), ("11", "n11")])
        );
    }

    #[test]
    fn errors_name_their_place() {
        let error = read_json("{\"jobs\": [\n{\"job_id\": 1,\n oops").unwrap_err();
        assert_eq!(
            (error.code, error.place.line, error.place.offset),
            ("FD-2310", Some(3), Some(26)),
            "{error}"
        );
        assert_eq!(read_json("{\"nodes\": []}").unwrap_err().code, "FD-2310");
        // Output with an unreachable controller: exit code 0 and no job.
        let dead = r#"{"errors": [{"description": "Failed while looking for jobs", "error_number": -1,
            "error": "Unspecified error", "source": "slurm_load_jobs"}], "jobs": []}"#;
        let error = read_json(dead).unwrap_err();
        assert_eq!(error.code, "FD-2311");
        assert!(error.what.contains("Failed while looking for jobs: Unspecified error"), "{error}");
        let bomb = r#"{"jobs": [{"job_id": 1, "job_state": "RUNNING", "nodes": "n[0-9999999]"}]}"#;
        assert_eq!(read_json(bomb).unwrap_err().code, "FD-2309");
    }
}
