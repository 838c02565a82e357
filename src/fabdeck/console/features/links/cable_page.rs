//! The page of a cable: which one it is, and what was found about it. The report is made in a background task, and the
//! rows of counters when a reading arrives, so a frame only draws.

use std::sync::Arc;

use super::counter_rows::{CounterRow, counter_rows};
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::health::cable_report::{CableReport, CableReportRequest};
use fabdeck_fabric::LinkId;
use fabdeck_routing::RouteProgress;

/// The addresses of the snapshot, its paths and the jobs that something was made of, and the cable.
type ReportKey = (LinkId, usize, usize, usize);

/// An open page.
#[derive(Clone, Debug)]
pub struct CablePage {
    pub link: LinkId,
    /// What was found; `None` until then.
    pub report: Option<Arc<CableReport>>,
    /// What the report was asked for.
    asked: Option<ReportKey>,
    task: Option<TaskId>,
    pub counters: Vec<CounterRow>,
    /// The cable, the snapshot and the sweep of the counters.
    counted: Option<(LinkId, usize, usize)>,
}

impl CablePage {
    pub fn new(link: LinkId) -> Self {
        Self { link, report: None, asked: None, task: None, counters: Vec::new(), counted: None }
    }

    /// Reads the counters again where a new reading has them.
    fn update_counters(&mut self, known: &Model) {
        let Some(look) = &known.look else { return };
        let sweep = known.watch.judged.as_ref().map_or(0, |judged| Arc::as_ptr(&judged.after) as usize);
        let counted = (self.link, Arc::as_ptr(look) as usize, sweep);
        if self.counted != Some(counted) {
            self.counters = counter_rows(look, known, self.link);
            self.counted = Some(counted);
        }
    }

    /// The request for a report, where the last one was for something else.
    fn request(&mut self, known: &Model) -> Option<CableReportRequest> {
        let look = known.look.clone()?;
        let jobs = known.problems.compared_jobs(&look);
        let address = |known: Option<usize>| known.unwrap_or(0);
        let asked = (
            self.link,
            Arc::as_ptr(&look) as usize,
            address(known.paths.as_ref().map(|paths| Arc::as_ptr(paths) as usize)),
            address(jobs.as_ref().map(|jobs| Arc::as_ptr(jobs) as usize)),
        );
        if self.asked == Some(asked) {
            return None;
        }
        if self.asked.is_some_and(|(link, ..)| link != self.link) {
            self.report = None;
        }
        self.asked = Some(asked);
        let (paths, preview) = (known.paths.clone(), known.preview.clone());
        Some(CableReportRequest { link: self.link, look, paths, preview, jobs })
    }
}

/// Keeps the open page up to date, after any event.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    let Some(page) = &mut state.screens.links.page else { return Vec::new() };
    page.update_counters(&state.known);
    let Some(request) = page.request(&state.known) else { return Vec::new() };
    let (task, effect) = state.begin_quiet("examining a cable", CableReportTask(request));
    if let Some(page) = &mut state.screens.links.page {
        page.task = Some(task);
    }
    vec![effect]
}

/// Finds out what lies behind a cable, who uses it, and what its failure costs.
#[derive(Debug)]
pub struct CableReportTask(CableReportRequest);

impl BackgroundTask for CableReportTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(CableReportOutcome(self.0.run())))
    }
}

#[derive(Debug)]
pub struct CableReportOutcome(CableReport);

impl TaskOutcome for CableReportOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let page = state.screens.links.page.as_mut();
        if let Some(page) = page.filter(|page| page.task == Some(task)) {
            (page.report, page.task) = (Some(Arc::new(self.0)), None);
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("examined {:?}", self.0)
    }
}
