//! Running jobs as an input: the source of their list, and what their loads are computed from.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::job_comparison::{JobComparison, simulated_jobs};
use crate::catalogue::shell_words::quote_for_shell;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::preview::whatif::Proposal;
use fabdeck_fabric::Faults;
use fabdeck_fabric::observe::JobSnapshot;
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::{HostIndex, JobPlacement};

/// Minimum number of columns for the path of a list.
pub(crate) const MIN_PATH_WIDTH: usize = 8;

/// The source of job lists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobListSource {
    /// The squeue program, where it is not the one in PATH.
    Slurm(Option<PathBuf>),
    File(PathBuf),
}

impl JobListSource {
    pub(crate) fn words(&self) -> String {
        self.words_in(usize::MAX)
    }

    /// The text within a width; a long path is shortened at its beginning.
    pub(crate) fn words_in(&self, room: usize) -> String {
        let whole = match self {
            Self::Slurm(_) => return "jobs of Slurm".to_owned(),
            Self::File(file) => file.display().to_string(),
        };
        let words = format!("jobs of {whole}");
        if words.chars().count() <= room { words } else { path_end(&whole, room.max(MIN_PATH_WIDTH)) }
    }

    /// The source as arguments of `jobs`.
    pub(crate) fn arguments(&self) -> String {
        match self {
            Self::Slurm(None) => " --slurm".to_owned(),
            Self::Slurm(Some(squeue)) => {
                format!(" --slurm --squeue {}", quote_for_shell(&squeue.display().to_string()))
            }
            Self::File(file) => format!(" --file {}", quote_for_shell(&file.display().to_string())),
        }
    }
}

/// A path, or as much of its end as fits, because the end distinguishes lists.
pub(crate) fn path_end(whole: &str, room: usize) -> String {
    const ELLIPSIS: &str = "...";
    let signs = whole.chars().count();
    if signs <= room {
        return whole.to_owned();
    }
    let end: String = whole.chars().skip(signs + ELLIPSIS.len() - room).collect();
    // Whole names are shown rather than part of one.
    let names = end.find('/').map(|at| &end[at..]).filter(|names| names.len() > 1);
    format!("{ELLIPSIS}{}", names.unwrap_or(&end))
}

/// The input of jobs, before their hosts are matched with the fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobInput {
    List(JobList),
    /// The list of a recording, at the moment that is shown.
    Recorded(Arc<JobSnapshot>),
    /// Simulated jobs, for a simulated fabric.
    Simulated,
}

/// The input for the channel loads of jobs.
#[derive(Clone, Debug)]
pub struct JobComparisonRequest {
    pub look: Arc<Snapshot>,
    pub input: Arc<JobInput>,
    pub marks: Faults,
    /// The proposal of sar for these marks.
    pub proposal: Option<Arc<Proposal>>,
}

impl JobInput {
    /// Matches the hosts of the jobs with a fabric.
    pub fn place(&self, look: &Snapshot) -> JobPlacement {
        let index = || HostIndex::new(look.fabric(), &look.names);
        match self {
            Self::List(list) => index().place_jobs(list),
            Self::Recorded(list) => index().place_jobs(&JobList::from_recording(&list.jobs)),
            Self::Simulated => simulated_jobs(look.fabric()),
        }
    }
}

impl JobComparisonRequest {
    pub fn run(&self) -> JobComparison {
        let placed = self.input.place(&self.look);
        let proposed = self.proposal.as_ref().map(|proposal| proposal.routes.as_ref());
        JobComparison::new(&self.look, placed, &self.marks, proposed)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let proposal = match (&self.proposal, &other.proposal) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let same = Arc::ptr_eq(&self.look, &other.look) && Arc::ptr_eq(&self.input, &other.input);
        same && proposal && self.marks == other.marks
    }
}
