//! What the function of a headline works with: fabrics by name, routes, studies, progress and cancellation.

use std::sync::Mutex;

use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Routes};
use fabdeck_routing::certificate::{Certificate, RouteScope, certify};
use fabdeck_routing::{EngineAnswer, EngineRefusal, Problem, Request, RouteProgress, find_engine};

/// Why a headline has no rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeadlineStop {
    /// The process is to end.
    Cancelled,
    /// An input cannot be made: a bug, and a finding.
    Failed(String),
}

impl From<String> for HeadlineStop {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

/// A run of headlines.
pub struct HeadlineRun<'r> {
    /// Whether fewer seeds and samples are taken.
    pub quick: bool,
    pub stop: &'r StopFlag,
    /// What is under way, for the line of progress.
    pub under_way: &'r Mutex<String>,
}

/// Cancels engines and traffic when the process is to end.
impl RouteProgress for HeadlineRun<'_> {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.stop.is_requested()
    }
}

impl HeadlineRun<'_> {
    /// Shows what is under way.
    pub fn show(&self, what: impl Into<String>) {
        if let Ok(mut shown) = self.under_way.lock() {
            *shown = what.into();
        }
    }

    pub fn check_stop(&self) -> Result<(), HeadlineStop> {
        if self.stop.is_requested() { Err(HeadlineStop::Cancelled) } else { Ok(()) }
    }

    /// The number of samples: few with `--quick`.
    pub fn samples(&self, quick: u64, all: u64) -> u64 {
        if self.quick { quick } else { all }
    }

    /// The words for a number of samples of all that the paper took.
    pub fn sample_words(&self, quick: u64, all: u64, what: &str) -> String {
        match self.samples(quick, all) {
            taken if taken == all => format!("{all} {what}"),
            taken => format!("{taken} of {all} {what}"),
        }
    }

    pub fn fabric(&self, name: &str) -> Result<Fabric, HeadlineStop> {
        self.check_stop()?;
        let failed = |error: &dyn std::fmt::Display| HeadlineStop::Failed(format!("{name}: {error}"));
        let spec: FabricSpec = name.parse().map_err(|error| failed(&error))?;
        Ok(generate(&spec).map_err(|error| failed(&error))?.fabric)
    }

    /// The answer of an engine, or its refusal in words.
    pub fn try_route(
        &self,
        engine: &str,
        problem: &Problem<'_>,
        request: &Request,
    ) -> Result<Result<EngineAnswer, String>, HeadlineStop> {
        let Some(engine) = find_engine(engine) else {
            return Err(HeadlineStop::Failed(format!("there is no engine '{engine}'")));
        };
        match (engine.route)(problem, request, self) {
            Ok(answer) => Ok(Ok(answer)),
            Err(EngineRefusal::Cancelled) => Err(HeadlineStop::Cancelled),
            Err(refusal) => Ok(Err(refusal.to_string())),
        }
    }

    pub fn route_as(
        &self,
        engine: &str,
        problem: &Problem<'_>,
        request: &Request,
    ) -> Result<EngineAnswer, HeadlineStop> {
        self.try_route(engine, problem, request)?
            .map_err(|why| HeadlineStop::Failed(format!("{engine}: {why}")))
    }

    pub fn route(&self, engine: &str, problem: &Problem<'_>) -> Result<EngineAnswer, HeadlineStop> {
        self.route_as(engine, problem, &Request::default())
    }

    pub fn certify(&self, problem: &Problem<'_>, routes: &Routes) -> Result<Certificate, HeadlineStop> {
        certify(problem, routes, &RouteScope::default(), self).map_err(|_| HeadlineStop::Cancelled)
    }
}
