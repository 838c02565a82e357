//! A part of a built-in study, whose cells run in this process, without a folder.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::headline_run::{HeadlineRun, HeadlineStop};
use crate::operations::study::built_in_studies::find_built_in;
use crate::operations::study::cell_plan::StudyPlan;
use crate::operations::study::cell_runner::CellRunner;
use crate::operations::study::study_engine::StudyEngine;
use crate::operations::study::study_file::{Study, TopologyEntry, read_study};
use crate::operations::study::study_row::StudyRow;
use crate::operations::study::topology::StudyTopology;

/// A built-in study, of which some topologies, failures, engines, seeds and measures remain.
pub struct StudyPart {
    study: Study,
}

impl StudyPart {
    pub fn built_in(name: &str) -> Result<Self, HeadlineStop> {
        let failed = || HeadlineStop::Failed(format!("there is no built-in study '{name}'"));
        let study = read_study(find_built_in(name).ok_or_else(failed)?.text)
            .map_err(|_| HeadlineStop::Failed(format!("the study '{name}' cannot be read")))?;
        Ok(Self { study })
    }

    #[must_use]
    pub fn topologies(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.study.topologies.retain(|topology| match topology {
            TopologyEntry::Named(spec) => keep(&spec.to_string()),
            TopologyEntry::File(_) | TopologyEntry::Source { .. } => false,
        });
        self
    }

    /// The first topologies, at most this many.
    #[must_use]
    pub fn first_topologies(mut self, count: u64) -> Self {
        self.study.topologies.truncate(count as usize);
        self
    }

    #[must_use]
    pub fn engines(mut self, keep: &[&str]) -> Self {
        self.study.engines.retain(|engine| keep.contains(&engine.id));
        self
    }

    /// The lanes of one engine.
    #[must_use]
    pub fn lanes(mut self, id: &str, lanes: &[u8]) -> Self {
        for engine in self.study.engines.iter_mut().filter(|engine| engine.id == id) {
            engine.lanes = lanes.to_vec();
        }
        self
    }

    /// Failures at these places of the study's list.
    #[must_use]
    pub fn failures(mut self, places: &[usize]) -> Self {
        let failures = &self.study.failures;
        self.study.failures = places.iter().filter_map(|at| failures.get(*at).copied()).collect();
        self
    }

    /// Seeds of failures from 1 to this one.
    #[must_use]
    pub fn seeds(mut self, last: u64) -> Self {
        self.study.failures.iter_mut().for_each(|point| point.seeds.last = last.max(1));
        self
    }

    #[must_use]
    pub fn measures(mut self, keep: &[&str]) -> Self {
        self.study.measures.retain(|measure| keep.contains(&measure.kind.word()));
        self
    }

    /// Runs all cells, on every core. The rows are in the order of the study. `times`: whether seconds count, for which
    /// the cells run one after the other.
    pub fn run(self, run: &HeadlineRun<'_>, times: bool) -> Result<Vec<StudyRow>, HeadlineStop> {
        let named = |entry: &TopologyEntry| match entry {
            TopologyEntry::Named(spec) => Some(StudyTopology::named(spec.clone())),
            TopologyEntry::File(_) | TopologyEntry::Source { .. } => None,
        };
        let topologies = self.study.topologies.iter().filter_map(named).collect();
        let engines = self.study.engines.iter().filter_map(StudyEngine::new).collect();
        let plan = StudyPlan::new(self.study, topologies, engines)?;
        let threads = match times {
            true => 1,
            false => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let rows = Mutex::new(vec![Vec::new(); plan.groups.len()]);
        let shown = run.under_way.lock().map_or_else(|_| String::new(), |shown| shown.clone());
        let work = || {
            let mut runner = CellRunner::new(&plan, run.stop, times);
            while let Some((at, group)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                plan.groups.get(at).map(|group| (at, group)).filter(|_| !run.stop.is_requested())
            } {
                let mut found = Vec::new();
                runner.run_group(group, &group.cells, &mut |_, row, _| found.push(row));
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                run.show(format!("{shown}: {done} of {} routings", plan.groups.len()));
                if let Ok(mut rows) = rows.lock() {
                    rows[at] = found;
                }
            }
        };
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        run.check_stop()?;
        let rows = rows.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(rows.into_iter().flatten().collect())
    }
}

/// The mean of values; `None` of none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u64);
    for value in values {
        (sum, count) = (sum + value, count + 1);
    }
    (count > 0).then(|| sum / count as f64)
}
