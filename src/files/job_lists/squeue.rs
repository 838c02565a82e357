//! Output of `squeue -h -t R -o "%i %N"`: a job and its host list on each line.
//!
//! ```text
//! 17 n[1-4]
//! 18_2 n5          task 2 of the array 18: a job of its own
//! 19+0 n6          a component of the heterogeneous job 19: all of them are one job
//! 19+1 gpu1
//! 20               has no nodes: left out
//! 21 (Resources)   waits, and says for what: left out
//! ```

use super::{FileError, Input, JobList, ListForm, bad_host_list, without_comment};
use crate::opensm::printable_excerpt;

/// The heading that squeue prints without -h.
const HEADING: &str = "JOBID";
const NODES: [&str; 2] = ["NODELIST", "NODELIST(REASON)"];

/// Whether a file is squeue's. The first line decides in which only the first word, or only the second, can be a job's
/// id.
pub(super) fn is_squeue(input: Input<'_>) -> Result<bool, Box<FileError>> {
    for line in input.lines() {
        let line = line?;
        let mut words = without_comment(&line.text).split_whitespace();
        let (Some(first), second) = (words.next(), words.next()) else { continue };
        if first == HEADING {
            return Ok(true);
        }
        match (is_id(first), second.is_none_or(is_id)) {
            (true, false) => return Ok(true),
            (false, _) => return Ok(false),
            (true, true) => {}
        }
    }
    Ok(false)
}

/// Whether a word is `17`, `17_3`, `17+1`, or `17_[4-9]` (pending tasks).
fn is_id(word: &str) -> bool {
    match word.split_once(['_', '+']) {
        Some((job, part)) => digits(job) && (digits(part) || is_pending(part)),
        None => digits(word),
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_pending(tasks: &str) -> bool {
    tasks.starts_with('[')
}

/// The job of an id; the components of a heterogeneous job are one job.
fn job_of(id: &str) -> &str {
    id.split('+').next().unwrap_or(id)
}

pub(super) fn read(input: Input<'_>) -> Result<JobList, Box<FileError>> {
    let mut list = JobList { form: ListForm::SqueueText, lines: Vec::new() };
    for line in input.lines() {
        let line = line?;
        let text = without_comment(&line.text);
        let (id, nodes) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let nodes = nodes.trim_start();
        let heading = id == HEADING;
        if id.is_empty() || heading && NODES.contains(&nodes) || is_id(id) && nodes.starts_with('(') {
            continue;
        }
        // squeue's default columns, without -o, are no node lists.
        if heading || !is_id(id) || id.ends_with(']') || nodes.contains(char::is_whitespace) {
            let what = format!("'{}' is not a job's id and its nodes", printable_excerpt(text));
            let hint = "give the output of squeue -h -t R -o \"%i %N\", or correct this line";
            return Err(FileError::new("FD-2303", input.line_place(line.number), what, hint));
        }
        let job = job_of(id);
        let added = list.add_hosts(line.number, job, nodes);
        added.map_err(|error| bad_host_list(input.line_place(line.number), job, &error))?;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<(u64, String, String)>, Box<FileError>> {
        let list = read(Input::new("squeue", text.as_bytes()))?;
        Ok(list.lines.into_iter().map(|line| (line.number, line.job, line.host)).collect())
    }

    #[test]
    fn arrays_are_jobs_and_components_are_one() {
        let rows = read_text("17 n[1-2]\n18_2 n5\n19+0 n6\n19+1 gpu1\n20\n").unwrap();
        let row = |number, job: &str, host: &str| (number, job.to_owned(), host.to_owned());
        let expected = [
            row(1, "17", "n1"),
            row(1, "17", "n2"),
            row(2, "18_2", "n5"),
            row(3, "19", "n6"),
            row(4, "19", "gpu1"),
        ];
        assert_eq!(rows, expected);
        for heading in ["JOBID NODELIST", "JOBID  NODELIST(REASON)"] {
            let text =
                format!("{heading}\n7 n1\n8 (Resources)\n9_[1-3] (ReqNodeNotAvail, may be reserved)\n");
            assert_eq!(read_text(&text).unwrap(), [row(2, "7", "n1")]);
        }
        assert_eq!(read_text("").unwrap(), []);
    }

    #[test]
    fn a_damaged_line_is_named() {
        for (text, code, line) in [
            ("17 n[1-\n", "FD-2309", 1),
            ("17 n1\n\nslurm_load_jobs error: Socket timed out\n", "FD-2303", 3),
            ("17 n1\n18_[3-9] n2\n", "FD-2303", 2),
            ("17 n[0-70000]\n", "FD-2309", 1),
            (
                "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n4 debug a node2 PD 0:00 2 (Resources)\n",
                "FD-2303",
                1,
            ),
            ("4 debug a node2 PD 0:00 2 (Resources)\n", "FD-2303", 1),
            ("4 n1 n2\n", "FD-2303", 1),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!((error.code, error.place.line), (code, Some(line)), "{text}: {error}");
        }
    }

    #[test]
    fn lists_that_unpack_to_too_much_together_are_refused() {
        let text: String = (0..40).map(|job| format!("{job} n[0-65535]\n")).collect();
        let error = read_text(&text).unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2309", Some(16)), "{error}");
    }
}
