//! The step `jobs`: reads the list of running jobs for later steps.

use std::sync::Arc;

use super::crew::{Done, Hands};
use super::looking::Given;
use crate::runbook::{Did, Found, JobsOf, given};
use crate::script::jobs::{JobSource, listed, placed};
use crate::session::{JUDGED_LIDS, JobFigures, JobTotals, Look, counted, jobs_seen};
use fabdeck_fabric::JobMap;
use fabdeck_files::jobs::Hosts;
use fabdeck_mad::access::Wanted;

impl JobSource {
    fn of(jobs: &JobsOf) -> Self {
        Self {
            slurm: jobs.slurm,
            file: jobs.file.clone(),
            squeue: jobs.squeue.clone(),
            slurm_timeout: jobs.timeout,
        }
    }
}

impl Hands<'_, '_, '_> {
    /// Reads the list of jobs. A rehearsal reads it too, because nothing is written.
    pub fn jobs(&mut self, jobs: &JobsOf) -> Done {
        let from = JobSource::of(jobs);
        let list = listed(self.context, &from);
        self.heed()?;
        let list = list?;
        let (mut look, _) = self.look(Wanted { tables: true, ..Wanted::default() })?;
        let found = placed(&mut look, &list, &from.place());
        let (_, totals) = jobs_seen(&look, &found);
        let judged = look.observation.notes.iter().find(|note| note.code == JUDGED_LIDS);
        judged.into_iter().for_each(|note| self.context.output.say(&note.to_string()));
        found.notes(&from.place()).iter().for_each(|note| self.context.output.say(&note.to_string()));
        self.jobs = Some(Arc::new(list));
        let which = judged.map_or_else(String::new, |note| format!("; {}", note.text));
        let words = format!(
            "{} on {} hosts, {} of them on several switches; {} of the list not in the fabric{which}",
            counted(totals.placed, "job", "jobs"),
            totals.hosts,
            totals.multi_switch,
            counted(totals.not_found + totals.ambiguous, "host", "hosts"),
        );
        let values = of_totals(&totals);
        Ok(Did { values, rehearsed: self.dry && !self.led.is_empty(), ..Did::said(words) })
    }

    /// Places the jobs of an earlier step on the current fabric.
    pub fn running(&self, look: &Look) -> Arc<JobMap> {
        let list = self.jobs.as_ref();
        let jobs = list.map(|list| Hosts::new(look.fabric(), &look.names).place(list).jobs);
        Arc::new(jobs.unwrap_or_default())
    }
}

fn of_totals(totals: &JobTotals) -> Given {
    let count = |count: usize| Found::count(count as u64);
    let number = |number: Option<f64>| number.map_or(Found::Unknown, Found::Number);
    let each = [
        ("jobs.listed", count(totals.listed)),
        ("jobs.placed", count(totals.placed)),
        ("jobs.multi_switch", count(totals.multi_switch)),
        ("jobs.hosts", count(totals.hosts)),
        ("jobs.missing", count(totals.not_found + totals.ambiguous)),
        ("jobs.links", totals.links.map_or(Found::Unknown, count)),
        ("jobs.max", totals.max.map_or(Found::Unknown, Found::count)),
        ("jobs.mean_max", number(totals.mean_max)),
        ("jobs.mean_links", number(totals.mean_links)),
        ("jobs.dark_fiber", number(totals.dark_fiber)),
        ("jobs.lost", totals.lost.map_or(Found::Unknown, Found::count)),
    ];
    each.into_iter().map(|(name, found)| (name.to_owned(), found)).collect()
}

/// Values of jobs under routes, named by `names`; unknown without jobs or without routes.
pub fn of_routes(
    prefix: &str,
    names: &[&str; 4],
    now: Option<&JobFigures>,
    then: Option<&JobFigures>,
) -> Given {
    let figures = then.map(|then| {
        let gain = now.map_or(Found::Unknown, |now| Found::Number(now.gain(then)));
        [Found::count(then.max), Found::Number(then.mean_max), Found::Number(then.dark_fiber), gain]
    });
    let found = figures.unwrap_or([Found::Unknown; 4]);
    names.iter().zip(found).map(|(name, found)| (format!("{prefix}{name}"), found)).collect()
}

/// Values of jobs under a plan.
pub fn of_plan(now: Option<&JobFigures>, then: Option<&JobFigures>) -> Given {
    of_routes("", given::JOBS_THEN, now, then)
}
