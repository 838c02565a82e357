//! The step `jobs`: reads the list of running jobs for later steps.

use std::sync::Arc;

use super::runner::{Runner, StepResult};
use super::snapshot_steps::StepValues;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::loads::JobFigures;
use crate::operations::jobs::list_source::{JobSource, read_list};
use crate::operations::jobs::summary::{JUDGED_LIDS, JobTotals, place_jobs, summarize_jobs};
use crate::runbook::execute::StepOutput;
use crate::runbook::steps::JobsTask;
use crate::runbook::value_names;
use crate::runbook::values::StepValue;
use fabdeck_fabric::JobMap;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::jobs::HostIndex;
use fabdeck_mad::access::ReadOptions;

impl Runner<'_> {
    /// Reads the list of jobs. A rehearsal reads it too, because nothing is written.
    pub fn jobs(&mut self, jobs: &JobsTask) -> StepResult {
        let from = JobSource {
            slurm: jobs.slurm,
            file: jobs.file.clone(),
            squeue: jobs.squeue.clone(),
            slurm_timeout: jobs.timeout,
        };
        let list = read_list(&mut self.operation, &from);
        self.check_stop()?;
        let list = list?;
        let (mut snapshot, _) = self.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
        let found = place_jobs(&mut snapshot, &list, &from.place());
        let (_, totals) = summarize_jobs(&snapshot, &found);
        let judged = snapshot.observation.notes.iter().find(|note| note.code == JUDGED_LIDS);
        judged.into_iter().for_each(|note| self.operation.reporter.report_line(&note.to_string()));
        found
            .notes(&from.place())
            .iter()
            .for_each(|note| self.operation.reporter.report_line(&note.to_string()));
        self.jobs = Some(Arc::new(list));
        let which = judged.map_or_else(String::new, |note| format!("; {}", note.text));
        let words = format!(
            "{} on {}, {} of them on several switches; {} of the list not in the fabric{which}",
            count_words(totals.placed, "job", "jobs"),
            count_words(totals.hosts, "host", "hosts"),
            digits_in_groups(totals.multi_switch),
            count_words(totals.not_found + totals.ambiguous, "host", "hosts"),
        );
        let values = values_of_totals(&totals);
        Ok(StepOutput {
            values,
            rehearsed: self.dry && !self.rehearsed_plans.is_empty(),
            ..StepOutput::with_text(words)
        })
    }

    /// Places the jobs of an earlier step on the current fabric.
    pub fn running_jobs(&self, snapshot: &Snapshot) -> Arc<JobMap> {
        let list = self.jobs.as_ref();
        let jobs = list.map(|list| HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(list).jobs);
        Arc::new(jobs.unwrap_or_default())
    }
}

fn values_of_totals(totals: &JobTotals) -> StepValues {
    let count = |count: usize| StepValue::count(count as u64);
    let number = |number: Option<f64>| number.map_or(StepValue::Unknown, StepValue::Number);
    let each = [
        ("jobs.listed", count(totals.listed)),
        ("jobs.placed", count(totals.placed)),
        ("jobs.multi_switch", count(totals.multi_switch)),
        ("jobs.hosts", count(totals.hosts)),
        ("jobs.missing", count(totals.not_found + totals.ambiguous)),
        ("jobs.links", totals.links.map_or(StepValue::Unknown, count)),
        ("jobs.max", totals.max.map_or(StepValue::Unknown, StepValue::count)),
        ("jobs.mean_max", number(totals.mean_max)),
        ("jobs.mean_links", number(totals.mean_links)),
        ("jobs.dark_fiber", number(totals.dark_fiber)),
        ("jobs.lost", totals.lost.map_or(StepValue::Unknown, StepValue::count)),
    ];
    each.into_iter().map(|(name, found)| (name.to_owned(), found)).collect()
}

/// Values of jobs under routes, named by `names`; unknown without jobs or without routes.
pub fn values_of_routes(
    prefix: &str,
    names: &[&str; 4],
    now: Option<&JobFigures>,
    then: Option<&JobFigures>,
) -> StepValues {
    let figures = then.map(|then| {
        let gain = now.map_or(StepValue::Unknown, |now| StepValue::Number(now.gain(then)));
        [
            StepValue::count(then.max),
            StepValue::Number(then.mean_max),
            StepValue::Number(then.dark_fiber),
            gain,
        ]
    });
    let found = figures.unwrap_or([StepValue::Unknown; 4]);
    names.iter().zip(found).map(|(name, found)| (format!("{prefix}{name}"), found)).collect()
}

/// Values of jobs under a plan.
pub fn values_of_plan(now: Option<&JobFigures>, then: Option<&JobFigures>) -> StepValues {
    values_of_routes("", value_names::JOBS_THEN, now, then)
}
