//! What is asked of jobs: who knows which run, and the list that comes of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use crate::files::jobs::JobList;
use crate::jobs::{Poll, Squeue};
use crate::observe::Place;
use crate::script::args::RowArgs;
use crate::script::context::Context;
use crate::script::values::{duration, long_duration, percent};
use crate::script::{Exit, Failure};

/// Where nobody says: a loaded controller answers within two minutes in 99 of 100 cases (dissertation 5.3.3.1).
const SLURM_TIMEOUT: Duration = Duration::from_secs(120);
/// Between two looks at a squeue under way.
pub(super) const TURN: Duration = Duration::from_millis(20);

/// Who says which jobs run.
#[derive(Debug, Clone, Default, Args)]
pub struct JobSource {
    /// Ask Slurm, by squeue
    #[arg(long, conflicts_with = "file")]
    pub slurm: bool,
    /// A list: a host and its job on each line, or what squeue prints (--json, or -h -t R -o "%i %N"); `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The squeue to run (usually the one that PATH has)
    #[arg(long, value_name = "PROGRAM", requires = "slurm")]
    pub squeue: Option<PathBuf>,
    /// How long squeue may take before it is ended (usually 2m)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, requires = "slurm")]
    pub slurm_timeout: Option<Duration>,
}

impl JobSource {
    /// Where the list comes from, in notes.
    pub fn place(&self) -> Place {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        Place::file(file.unwrap_or_else(|| "squeue".to_owned()))
    }

    pub fn squeue(&self) -> Squeue {
        Squeue {
            program: self.squeue.clone().unwrap_or_else(|| "squeue".into()),
            timeout: self.slurm_timeout.unwrap_or(SLURM_TIMEOUT),
        }
    }

    /// Whether somebody is named who knows the jobs.
    pub fn is_named(&self) -> bool {
        self.slurm || self.file.is_some()
    }

    /// One of both has to be named.
    pub fn check(&self) -> Result<(), Failure> {
        match self.is_named() {
            true => Ok(()),
            false => Err(Failure::usage(
                "FD-7811: nobody is named who knows the jobs; ask Slurm with --slurm, or give a list with --file \
                 (a host and its job on each line; docs/jobs.md)",
            )),
        }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct JobRowArgs {
    #[command(flatten)]
    pub from: JobSource,
    #[command(flatten)]
    pub rows: RowArgs,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct JobsArgs {
    #[command(flatten)]
    pub shown: JobRowArgs,
    #[command(subcommand)]
    pub action: Option<JobsAction>,
}

#[derive(Debug, Subcommand)]
pub enum JobsAction {
    Watch(WatchArgs),
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub from: JobSource,
    /// From one list to the next
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Duration,
    /// After a proposal no other one for so long
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = long_duration, allow_hyphen_values = true)]
    pub at_most_every: Duration,
    /// By how many percent the mean over jobs of their largest effective edge forwarding index has to fall
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent, allow_hyphen_values = true)]
    pub gain: f64,
    /// Write each proposal into this folder, as a plan
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// End after so many lists (usually when it is asked to)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
}

/// The list, of whoever is named. A Slurm that hangs is left after its time.
pub(super) fn listed(context: &mut Context<'_, '_>, from: &JobSource) -> Result<JobList, Failure> {
    from.check()?;
    if let Some(file) = &from.file {
        return context.outside.jobs(file).map_err(Failure::of_list);
    }
    // Whoever is asked to end takes his squeue with him, and what follows ends as well.
    let stop = context.outside.stop();
    stop.heed();
    context.stop = Some(stop.clone());
    let failed = |trouble: crate::jobs::Trouble| Failure::new(Exit::Unreachable, trouble.to_string());
    let since = Instant::now();
    let mut poll = Poll::start(&from.squeue(), since.elapsed()).map_err(failed)?;
    loop {
        if let Some(came) = poll.turn(since.elapsed()) {
            return came.map_err(failed);
        }
        if stop.is_asked() {
            return Err(Failure { exit: Exit::Interrupted, message: None });
        }
        std::thread::sleep(TURN);
    }
}
