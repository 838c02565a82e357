//! Arguments about running jobs, and the list that they lead to.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::operations::jobs::list_source::JobSource;
use crate::operations::record::job_thread::RecordedJobList;
use crate::script::argument_values::duration;
use crate::script::row_args::RowArgs;

/// Source of the running jobs.
#[derive(Debug, Clone, Default, Args)]
pub struct JobSourceArgs {
    /// Read the running jobs from Slurm, with squeue
    #[arg(long, conflicts_with = "file")]
    pub slurm: bool,
    /// Read a list: a host and its job on each line, or output of squeue (--json, or -h -t R -o "%i %N"); `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The squeue program (default: the one in PATH)
    #[arg(long, value_name = "PROGRAM", requires = "slurm")]
    pub squeue: Option<PathBuf>,
    /// Timeout after which squeue is ended (default: 2m)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, requires = "slurm")]
    pub slurm_timeout: Option<Duration>,
}

impl From<&JobSourceArgs> for JobSource {
    fn from(args: &JobSourceArgs) -> Self {
        let JobSourceArgs { slurm, file, squeue, slurm_timeout } = args.clone();
        Self { slurm, file, squeue, slurm_timeout }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct JobRowArgs {
    #[command(flatten)]
    pub from: JobSourceArgs,
    #[command(flatten)]
    pub rows: RowArgs,
}

/// Source of the running jobs during a recording.
#[derive(Debug, Clone, Default, Args)]
pub struct RecordJobsArgs {
    /// Record the running jobs too, read from Slurm with squeue
    #[arg(long, conflicts_with = "jobs")]
    pub slurm: bool,
    /// Record the running jobs too, read from a list as for `jobs --file` whenever the list changes
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// The squeue program (default: the one in PATH)
    #[arg(long, value_name = "PROGRAM", requires = "slurm")]
    pub squeue: Option<PathBuf>,
    /// Timeout after which squeue is ended (default: 2m)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, requires = "slurm")]
    pub slurm_timeout: Option<Duration>,
    /// Interval between two queries of Slurm (default: 30s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, requires = "slurm")]
    pub jobs_interval: Option<Duration>,
}

impl RecordJobsArgs {
    /// The list that a recording follows, if one is named.
    pub fn list(&self) -> Option<RecordedJobList> {
        let Self { slurm, jobs, squeue, slurm_timeout, jobs_interval } = self.clone();
        let source = JobSource { slurm, file: jobs, squeue, slurm_timeout };
        source.is_named().then_some(RecordedJobList { source, interval: jobs_interval })
    }
}
