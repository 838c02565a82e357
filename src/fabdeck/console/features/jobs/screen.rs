//! The screen Jobs: jobs on several switches, their channel loads, and the proposal of sar.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::current_job_source::{CurrentJobSource, current_job_source, current_jobs, trouble_words};
use super::detail::job_detail;
use super::job_lines::{dropped_answer_line, jobs_command, lost_line};
use super::job_strips::JobStrips;
use super::jobs_panes::{JOBS, JobsPanes, jobs_panes};
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::screen::{EnterResult, Screen};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, PanePlan};
use crate::console::model::table::Table;
use crate::operations::health::job_hits::JobHit;
use crate::operations::health::problem::FabricProblem;
use crate::operations::health::ranked_problems::RankedProblems;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::rows::{JOB_GAINS, is_printed_by_jobs};
use crate::operations::jobs::summary::{JobSummary, JobWaits, ProposedJob};
use fabdeck_fabric::ChannelId;
use fabdeck_routing::analysis::EffectiveIndex;

/// Maximum number of channels of a job that are named.
pub(super) const MAX_NAMED_CHANNELS: usize = 10;

/// Number of channels by the number of paths on them, where that is known.
type Histogram = Option<BTreeMap<u64, usize>>;

/// The views of the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JobView {
    #[default]
    Jobs,
    /// The channels of the job at the cursor by their number of paths (dissertation, figure 5.11).
    Histogram,
}

#[derive(Clone, Debug, Default)]
pub struct JobsScreen {
    pub view: JobView,
    table: Table,
    pub(super) comparison: Option<(Arc<JobComparison>, Arc<Snapshot>)>,
    /// What hits the jobs, by the last ranking.
    ranked: Option<Arc<RankedProblems>>,
    /// The indexes of the jobs with rows.
    jobs: Vec<usize>,
    seen: Vec<JobSummary>,
    /// The job to move to once the jobs are compared.
    wanted: Option<String>,
    /// The waits of the job at the cursor.
    pub(super) strips: JobStrips,
    /// Whether all views have a pane of their own.
    has_panes: bool,
}

impl JobsScreen {
    /// Takes the size of the screen into account.
    pub(super) fn set_areas(&mut self, areas: &Areas) {
        self.has_panes = JobsPanes::new(areas).is_some();
        if self.has_panes {
            self.view = JobView::Jobs;
        }
    }

    /// The jobs of this many rows, so that the one at the cursor is among them.
    pub(super) fn jobs_from_cursor(&self, count: usize) -> Vec<usize> {
        let rows = &self.table.selection.rows;
        let first = (self.table.cursor + 1).saturating_sub(count);
        rows.iter().skip(first).take(count).filter_map(|row| self.jobs.get(*row)).copied().collect()
    }

    /// What hits the job at the cursor.
    pub(super) fn hit(&self) -> Option<&JobHit> {
        let name = &self.seen.get(self.table.row()?)?.job;
        self.ranked.as_ref()?.jobs.as_ref()?.rows.iter().find(|hit| hit.job == *name)
    }

    /// The problems that hit the job at the cursor.
    pub(super) fn problems(&self) -> Vec<&FabricProblem> {
        let (Some(ranked), Some(hit)) = (&self.ranked, self.hit()) else { return Vec::new() };
        hit.problems.iter().filter_map(|at| ranked.problems.get(*at)).collect()
    }

    /// The job at the cursor, as an index in the map.
    pub(super) fn job(&self) -> Option<usize> {
        self.jobs.get(self.table.row()?).copied()
    }

    /// The name of the job at the cursor, and its histograms: in force and proposed.
    pub fn histograms(&self) -> Option<(&str, [Histogram; 2])> {
        let (comparison, _) = self.comparison.as_ref()?;
        let job = self.job()?;
        let histogram = |of: Option<&EffectiveIndex>| of.map(EffectiveIndex::histogram);
        Some((
            comparison.name(job)?,
            [histogram(comparison.effective_in_force(job)), histogram(comparison.effective_proposed(job))],
        ))
    }

    /// Moves the cursor to a job, or does so once the jobs are compared. Returns false where it has no row.
    pub(in crate::console) fn move_to_job(&mut self, job: &str) -> bool {
        let row = self.seen.iter().position(|seen| seen.job == job);
        self.wanted = (row.is_none() && self.comparison.is_none()).then(|| job.to_owned());
        row.inspect(|row| self.table.move_to_row(*row)).is_some() || self.wanted.is_some()
    }

    /// Makes the rows again: the jobs that wait most come first, and of equal ones those with the most paths over a channel.
    fn rows(&mut self, comparison: &JobComparison, look: &Snapshot) {
        let size = |job: usize| comparison.effective_in_force(job).or(comparison.effective_proposed(job));
        let several = |job: &usize| size(*job).is_some_and(EffectiveIndex::is_multi_switch);
        let hits = self.ranked.as_ref().and_then(|ranked| ranked.jobs.as_ref());
        let hits: BTreeMap<&str, &JobHit> =
            hits.iter().flat_map(|hits| &hits.rows).map(|hit| (hit.job.as_str(), hit)).collect();
        let names = comparison.jobs.iter().map(|(name, _)| name);
        let jobs = names.enumerate().filter(|(job, _)| several(job));
        let mut rows: Vec<(usize, JobSummary)> = jobs
            .map(|(job, name)| {
                (job, job_summary(comparison, look, job, name, hits.get(name.as_str()).copied()))
            })
            .collect();
        let worst = |seen: &JobSummary| seen.waits.as_ref().map(|waits| (waits.waiting, waits.worst));
        // The sort is stable, so equal jobs stay ordered by name.
        rows.sort_by_key(|(job, seen)| {
            std::cmp::Reverse((worst(seen), size(*job).map_or(0, |size| size.max)))
        });
        (self.jobs, self.seen) = rows.into_iter().unzip();
    }
}

fn job_summary(
    comparison: &JobComparison,
    look: &Snapshot,
    job: usize,
    name: &str,
    hit: Option<&JobHit>,
) -> JobSummary {
    let now = comparison.effective_in_force(job);
    // Of equal channels the first one.
    let busiest = now.and_then(|now| now.loads.iter().rev().max_by_key(|(_, paths)| *paths));
    let busiest = busiest.and_then(|(channel, _)| comparison.channels.get(channel.index()));
    let size = now.or(comparison.effective_proposed(job));
    JobSummary {
        job: name.to_owned(),
        hosts: size.map_or(0, |size| size.hosts),
        ports: size.map_or(0, |size| size.ports),
        missing: comparison.placed.missing.get(name).copied().unwrap_or(0),
        switches: size.map_or(0, |size| size.switches),
        links: now.map(EffectiveIndex::used_channels),
        max: now.map(|now| now.max),
        dark_fiber: now.map(|now| now.dark_fiber),
        lost: now.map(|now| now.lost),
        proposed: comparison.effective_proposed(job).map(ProposedJob::from),
        busiest: busiest.map(|port| look.unique_port_name(*port)),
        waits: hit.filter(|hit| hit.shares.iter().any(Option::is_some)).map(JobWaits::from),
    }
}

/// Groups all channels between switches into cells; each has the level of its busiest channel. Level 0 has no
/// job path, and level 7 is the maximum of both sets of routes.
pub fn channel_steps(comparison: &JobComparison, cells: usize) -> [Option<Vec<u8>>; 2] {
    let over = [&comparison.in_force, &comparison.proposed];
    let top = over.into_iter().flatten().map(|over| over.metrics.max).max().unwrap_or(0).max(1);
    let channels = comparison.channels.len();
    let cells = cells.min(channels);
    over.map(|over| {
        let over = over.as_ref()?;
        let mut steps = vec![0; cells];
        for (ChannelId(channel), paths) in &over.loads.all.loads {
            // A narrow screen may have no room for a cell.
            let Some(cell) = steps.get_mut(*channel as usize * cells / channels) else { continue };
            *cell = (*cell).max(1 + (paths * 6 / top) as u8);
        }
        Some(steps)
    })
}

/// Whether a strip of channels is drawn, which a line below explains.
pub fn has_strips(comparison: &JobComparison) -> bool {
    comparison.in_force.is_some() || comparison.proposed.is_some()
}

impl Screen for JobsScreen {
    fn crumbs(&self, _: &Model) -> Vec<String> {
        vec![if self.view == JobView::Jobs { "jobs" } else { "histogram" }.to_owned()]
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, _: &'s Model) -> Option<Box<dyn Listing + 's>> {
        self.comparison.as_ref().map(|_| Box::new(JOB_GAINS.of(&self.seen)) as Box<dyn Listing + 's>)
    }

    /// Rows for trouble, the source of the jobs, the figures, and a strip of channels for each set of routes.
    fn rows_above(&self, known: &Model) -> u16 {
        let trouble = u16::from(trouble_words(known).is_some());
        let Some(comparison) = &known.jobs.comparison else { return trouble };
        let outdated = u16::from(known.jobs.is_outdated());
        let lost = u16::from(lost_line(comparison).is_some());
        let gone = u16::from(dropped_answer_line(known).is_some());
        trouble
            + outdated
            + 2
            + lost
            + gone
            + u16::from(comparison.in_force.is_some())
            + u16::from(comparison.proposed.is_some())
            + u16::from(has_strips(comparison))
    }

    fn row_page(&self, row: usize, _: &Model) -> Option<DetailPage> {
        job_detail(self, *self.jobs.get(row)?)
    }

    fn row_key(&self, row: usize, _: &Model) -> Option<String> {
        Some(self.seen.get(row)?.job.clone())
    }

    fn enter(&mut self, _: &Model) -> EnterResult {
        match self.job() {
            Some(_) => EnterResult::Show,
            None => EnterResult::Nothing("no job on several switches is known; :jobs FILE names some"),
        }
    }

    fn can_enter(&self, _: &Model) -> bool {
        self.job().is_some()
    }

    fn step_out(&mut self, _: &Model) -> bool {
        std::mem::take(&mut self.view) != JobView::Jobs
    }

    fn panes(&self, areas: &Areas) -> PanePlan {
        let split = self.comparison.as_ref().and_then(|_| jobs_panes(areas, self.seen.len()));
        split.unwrap_or_else(|| areas.list_and_details().into())
    }

    fn focused_pane(&self) -> &'static str {
        if self.has_panes { JOBS } else { BODY }
    }

    fn page_rows(&self, areas: &Areas) -> Option<usize> {
        Some(usize::from(JobsPanes::new(areas)?.table.height.saturating_sub(1)).max(1))
    }

    fn has_views(&self, _: &Model) -> bool {
        !self.has_panes
    }

    fn view_names(&self) -> Vec<&'static str> {
        vec!["jobs", "histogram"]
    }

    fn view_name(&self) -> Option<&'static str> {
        Some(if self.view == JobView::Jobs { "jobs" } else { "histogram" })
    }

    fn next_view(&mut self, _: &Model, _: bool) -> Result<(), &'static str> {
        if self.has_panes {
            return Err("all of the job at the cursor is in sight on this screen");
        }
        self.view = if self.view == JobView::Jobs { JobView::Histogram } else { JobView::Jobs };
        Ok(())
    }

    fn refresh(&mut self, known: &Model) {
        let now = known.jobs.comparison.clone().zip(known.jobs.snapshot().cloned());
        let same =
            |(held, _): &(Arc<JobComparison>, _), (now, _): &(Arc<JobComparison>, _)| Arc::ptr_eq(held, now);
        let same_ranking = match (&self.ranked, &known.problems.ranked) {
            (Some(held), Some(now)) => Arc::ptr_eq(held, now),
            (held, now) => held.is_none() && now.is_none(),
        };
        let unchanged = match (&self.comparison, &now) {
            (Some(held), Some(now)) => same(held, now),
            (held, now) => held.is_none() && now.is_none(),
        };
        if unchanged && same_ranking {
            return;
        }
        let here = self.table.row().and_then(|row| self.seen.get(row)).map(|seen| seen.job.clone());
        let here = self.wanted.take_if(|_| now.is_some()).or(here);
        self.ranked = known.problems.ranked.clone();
        match &now {
            Some((comparison, look)) => self.rows(comparison, look),
            None => (self.jobs, self.seen) = Default::default(),
        }
        self.comparison = now;
        self.table.refresh(&JOB_GAINS.of(&self.seen));
        if let Some(row) = self.seen.iter().position(|seen| Some(&seen.job) == here.as_ref()) {
            self.table.move_to_row(row);
        }
    }

    fn command(&self, known: &Model) -> Option<String> {
        jobs_command(known)
    }

    fn no_command_reason(&self) -> &'static str {
        ": no source of jobs is named (:jobs FILE)"
    }

    fn is_printed(&self) -> bool {
        let sort = self.table.sort.as_ref().map_or("", |(column, _)| column);
        is_printed_by_jobs(sort) && is_printed_by_jobs(&self.table.filter)
    }

    fn empty_text(&self, known: &Model) -> String {
        let recorded = known.playback.as_ref().is_some_and(|playback| playback.live.is_none());
        match (current_job_source(known), current_jobs(known), trouble_words(known)) {
            (CurrentJobSource::Named(_),
            None, Some(_)) => "no list of jobs was received yet; it is requested again",
        (_, Some(_), _) => "the channel loads of the jobs are being computed",
        (CurrentJobSource::Named(_),
            None,
            None) => "the list of jobs is being read",
        (CurrentJobSource::Recorded(_),
            None, _) => "no list of jobs was recorded by then; go to a later moment",
        (CurrentJobSource::Unknown,
            None, _) if recorded => {
                "This capture holds no jobs at this moment: it was recorded without --slurm and --jobs, or no list was received by \
                 then. :jobs FILE reads a list (a host and its job on each line, or what squeue prints)."
            }
            (CurrentJobSource::Unknown,
            None, _) => {
                "No source of jobs is named. :jobs FILE reads a list (a host and its job on each line, or what \
                 squeue prints), :jobs slurm asks Slurm; [jobs] in the configuration sets the source permanently."
            }
    }.to_owned()
    }
}
