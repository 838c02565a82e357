//! The jobs that run, and what the tables in force make of them (dissertation, definitions 5.1 and 5.2).

use serde::Serialize;

use super::Look;
use super::loads::{JobFigures, JobReport, job_rows};
use crate::jobs::Placed;

/// A job on the fabric. What is of paths is not known without tables.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSeen {
    pub job: String,
    pub hosts: usize,
    /// Hosts of its that are not on the fabric for certain.
    pub missing: usize,
    pub switches: usize,
    pub links: Option<usize>,
    /// The effective edge forwarding index.
    pub max: Option<u64>,
    pub dark_fiber: Option<f64>,
}

/// All of them together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobTotals {
    /// Jobs of the list, and those that have a host in the fabric.
    pub listed: usize,
    pub placed: usize,
    /// Of these, those on several switches.
    pub multi_switch: usize,
    pub hosts: usize,
    /// Hosts of the list that the fabric does not have, and those that it has several of.
    pub not_found: usize,
    pub ambiguous: usize,
    /// What paths within jobs make of channels; null without tables.
    pub links: Option<usize>,
    pub max: Option<u64>,
    pub mean: Option<f64>,
    pub mean_max: Option<f64>,
    pub mean_links: Option<f64>,
    pub dark_fiber: Option<f64>,
}

/// Jobs under the tables of a look: those with the most paths over a channel first, equals by name.
pub fn jobs_seen(look: &Look, placed: &Placed) -> (Vec<JobSeen>, JobTotals) {
    let tables = &look.observation.tables;
    let known = tables.has_forwarding();
    let (report, rows) = job_rows(look, tables, &placed.jobs);
    let seen = rows.into_iter().map(|row| JobSeen {
        missing: placed.missing.get(&row.job).copied().unwrap_or(0),
        job: row.job,
        hosts: row.hosts,
        switches: row.switches,
        links: known.then_some(row.links),
        max: known.then_some(row.max),
        dark_fiber: known.then_some(row.dark_fiber),
    });
    let JobReport { count, hosts, links, mean, figures, .. } = report;
    let JobFigures { multi_switch, max, mean_max, dark_fiber, mean_links } = figures;
    let totals = JobTotals {
        listed: placed.listed,
        placed: count,
        multi_switch,
        hosts,
        not_found: placed.unknown.len(),
        ambiguous: placed.ambiguous.len(),
        links: known.then_some(links),
        max: known.then_some(max),
        mean: known.then_some(mean),
        mean_max: known.then_some(mean_max),
        mean_links: known.then_some(mean_links),
        dark_fiber: known.then_some(dark_fiber),
    };
    (seen.collect(), totals)
}

impl JobTotals {
    /// Lines for people.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let Self { listed, placed, multi_switch, hosts, not_found, ambiguous, .. } = self;
        let jobs = match listed == placed {
            true => format!("{placed} on {hosts} hosts, {multi_switch} of them on several switches"),
            false => {
                format!("{placed} of {listed} on {hosts} hosts, {multi_switch} of them on several switches")
            }
        };
        let mut lines = vec![("jobs", jobs)];
        if not_found + ambiguous > 0 {
            let words = format!("{not_found} are not in the fabric, {ambiguous} fit several there");
            lines.push(("other hosts", words));
        }
        let (Some(max), Some(mean_max), Some(links), Some(dark)) =
            (self.max, self.mean_max, self.links, self.dark_fiber)
        else {
            lines.push((
                "paths",
                "not known: the source has no forwarding tables (--assume ENGINE)".to_owned(),
            ));
            return lines;
        };
        let mean_links = self.mean_links.unwrap_or_default();
        lines.push((
            "effective EFI",
            format!("{max} at most, in the mean {mean_max:.1} of a job on several switches"),
        ));
        lines.push((
            "links used",
            format!("{links} by all jobs, in the mean {mean_links:.1} by one on several switches"),
        ));
        lines.push(("dark fiber", format!("{dark:.1} %")));
        lines
    }
}
