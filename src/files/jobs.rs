//! Which job runs where: a host and a job on each line, `#` comments. It is given by name and never looked for among
//! other files, for nothing but two words tells it.

use super::FileError;
use super::opensm::{bad_line, nothing};
use super::text::Input;

/// A host and its job, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLine {
    pub number: u64,
    pub host: String,
    pub job: String,
}

pub fn read(input: Input<'_>) -> Result<Vec<JobLine>, Box<FileError>> {
    let mut jobs = Vec::new();
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let mut words = text.split_whitespace();
        let (Some(host), Some(job), None) = (words.next(), words.next(), words.next()) else {
            return Err(bad_line(input.place(line.number), text, "a host and its job"));
        };
        jobs.push(JobLine { number: line.number, host: host.to_owned(), job: job.to_owned() });
    }
    if jobs.is_empty() {
        return Err(nothing(input.name, "host with its job"));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_host_and_its_job() {
        let read = |text: &str| read(Input::new("t.jobs", text.as_bytes()));
        let jobs = read("# now\nn1 17 # a comment\n\n n2\t17\n").unwrap();
        let told: Vec<_> = jobs.iter().map(|line| (line.number, &*line.host, &*line.job)).collect();
        assert_eq!(told, [(2, "n1", "17"), (4, "n2", "17")]);
        for (text, line) in [("n1 17\nn2\n", 2), ("n1 17 5\n", 1)] {
            let error = read(text).unwrap_err();
            assert_eq!((error.code, error.place.line), ("FD-2303", Some(line)), "{text}");
        }
        assert_eq!(read("# nobody\n").unwrap_err().code, "FD-2307");
    }
}
