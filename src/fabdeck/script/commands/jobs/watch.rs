//! `jobs watch`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::job_args::JobSourceArgs;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_control::driver_options;
use crate::operations::changes::changer::Acceptance;
use crate::operations::jobs::job_watch::{JobWatchRequest, watch_jobs};
use crate::operations::jobs::list_source::JobSource;
use crate::script::argument_values::{duration, long_duration, percent, window};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::commands::changes::args::{DriverChoice, SilentHostChoice};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_routing::LaneDependence;

pub const JOBS_WATCH: CommandEntry = CommandEntry::new(
    "jobs watch",
    "Propose routes whenever the running jobs change",
    "The list of jobs is read every --interval. Where jobs on several switches run on other hosts than \
     before, whatever their ids, sar routes for them. A proposal is reported if it gains --gain percent over \
     the tables in force, and at most once in --at-most-every. With -o each proposal is written as a plan. \
     Nothing is applied without --apply, which applies the plan as `apply` does. The command prints a line \
     for each list until it is interrupted. When Slurm does not answer, that is reported and the last list \
     stays.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&["fabdeck --source umad jobs watch --slurm -o plans/"])
.runs(&CommandFunction(run))
.json(&[JsonSchema::events("jobs-watch")]);

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

fn run(context: &mut Context<'_, '_>, args: &WatchArgs) -> Result<Exit, Failure> {
    let source = JobSource::from(&args.from).or_configured(context.config.jobs.settings.from.as_ref());
    source.refuse_unnamed()?;
    let choice = &args.applying;
    let through_opensm = choice.via == DriverChoice::Opensm;
    let apply = choice.apply.then(|| {
        let (conf, console) = (choice.opensm_conf.clone(), choice.opensm_console);
        let driver = driver_options(through_opensm, conf, console, choice.beside_manager);
        let (accepted, window) = (Vec::new(), choice.confirm_within);
        (driver, Acceptance { accepted, window, unanswered: choice.unanswered.unanswered() })
    });
    let request = JobWatchRequest {
        source,
        interval: args.interval,
        at_most_every: args.at_most_every,
        gain: args.gain,
        output: args.output.clone(),
        count: args.count,
        lanes_by: if through_opensm { LaneDependence::Destination } else { LaneDependence::Pair },
        phases: choice.phases,
        apply,
    };
    watch_jobs(context, &request)?;
    Ok(Exit::Done)
}
