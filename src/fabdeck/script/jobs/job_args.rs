//! Arguments about running jobs, and the list that they lead to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::operations::jobs::list_source::JobSource;
use crate::operations::record::job_thread::RecordedJobList;
use crate::script::argument_values::{duration, long_duration, percent, window};
use crate::script::changes::args::{DriverChoice, SilentHostChoice};
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
    Channels(JobRowArgs),
    Watch(WatchArgs),
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub from: JobSourceArgs,
    /// Interval between two readings of the list of jobs
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Duration,
    /// Shortest time between two proposals
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = long_duration, allow_hyphen_values = true)]
    pub at_most_every: Duration,
    /// Gain that makes a proposal worthwhile: by how many percent the most paths of a job over one channel (its
    /// effective edge forwarding index) fall, as a mean over jobs
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent, allow_hyphen_values = true)]
    pub gain: f64,
    /// Write each proposal to this folder, as a plan
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// End after N readings of the list (default: until Ctrl-C)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub count: Option<u32>,
    #[command(flatten)]
    pub applying: WatchApplyArgs,
}

/// What to do with a proposal that gains enough.
#[derive(Debug, Clone, Args)]
pub struct WatchApplyArgs {
    /// Apply each proposal without findings, read the fabric again, and confirm the change; writing has to be permitted
    /// as for `apply` (--allow-write)
    #[arg(long)]
    pub apply: bool,
    /// Driver that writes to the fabric; with opensm the lane of a path depends on its destination alone
    #[arg(long, value_name = "DRIVER", value_enum, default_value_t = DriverChoice::Direct, requires = "apply")]
    pub via: DriverChoice,
    /// Window of a change: without confirmation it is rolled back afterwards; 30s to 24h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = window, requires = "apply")]
    pub confirm_within: Duration,
    /// Propose changes to the tables of base LIDs alone, in five phases (docs/phases.md)
    #[arg(long)]
    pub phases: bool,
    /// With --phases: what to do when hosts do not confirm that they left the base LIDs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = SilentHostChoice::Stop, requires = "phases")]
    pub unanswered: SilentHostChoice,
    /// With --via opensm: OpenSM's configuration file (default: /etc/opensm/opensm.conf)
    #[arg(long, value_name = "FILE", requires = "apply")]
    pub opensm_conf: Option<PathBuf>,
    /// With --via opensm: address of OpenSM's console, as 127.0.0.1:10000; without one OpenSM gets SIGHUP
    #[arg(long, value_name = "ADDRESS:PORT", requires = "apply")]
    pub opensm_console: Option<SocketAddr>,
    /// With --via direct: write although a subnet manager is in charge. The manager does not read tables back and may
    /// overwrite them at any time
    #[arg(long, requires = "apply")]
    pub beside_manager: bool,
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
