//! The arguments of commands that change a fabric.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::script::argument_values::window;
use fabdeck_change::SilentHostAction;

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan, as `route` and other commands write it with -o
    pub plan: PathBuf,
    /// Driver that writes to the fabric
    #[arg(long, value_name = "DRIVER", value_enum, default_value_t = DriverChoice::Direct)]
    pub via: DriverChoice,
    /// Window of the change: without confirmation it is rolled back afterwards; 30s to 24h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = window)]
    pub confirm_within: Duration,
    /// Do not ask before writing; the change still has to be confirmed
    #[arg(long)]
    pub yes: bool,
    /// Wait until the change is confirmed (exit code 0) or rolled back (5)
    #[arg(long)]
    pub wait: bool,
    /// Findings that are accepted, by name, separated by commas: unreachable, loop, cycle, lanes, transition
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// For plans in five phases: what to do when hosts do not confirm that they left the base LIDs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = SilentHostChoice::Stop)]
    pub unanswered: SilentHostChoice,
    /// With --via opensm: OpenSM's configuration file (default: /etc/opensm/opensm.conf)
    #[arg(long, value_name = "FILE")]
    pub opensm_conf: Option<PathBuf>,
    /// With --via opensm: address of OpenSM's console, as 127.0.0.1:10000; without one OpenSM gets SIGHUP
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub opensm_console: Option<SocketAddr>,
    /// With --via opensm: OpenSM's process, by number or pid file (default: the only live process of this user called
    /// opensm)
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process)]
    pub opensm_process: Option<String>,
    /// With --via direct: write although a subnet manager is in charge. The manager does not read tables back and may
    /// overwrite them at any time
    #[arg(long)]
    pub beside_manager: bool,
}

/// What to do when hosts do not confirm that they left the base LIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SilentHostChoice {
    /// Write nothing, and call back the hosts that left
    Stop,
    /// Ask them again for as long as --confirm-within; `rollback` ends the wait, `confirm --go-on` continues without
    /// them
    Wait,
    /// Continue without them if the plan is safe without phases
    GoOn,
}

impl SilentHostChoice {
    pub fn unanswered(self) -> SilentHostAction {
        match self {
            Self::Stop => SilentHostAction::Stop,
            Self::Wait => SilentHostAction::Wait,
            Self::GoOn => SilentHostAction::GoOn,
        }
    }
}

/// The driver that writes a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DriverChoice {
    /// Management datagrams (MADs) that fabdeck sends itself
    Direct,
    /// The OpenSM in charge, on this machine: it loads a file of tables
    Opensm,
}

#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// The cable: link:NAME[PORT], port:NAME[PORT] or NAME/PORT
    pub element: String,
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ChangesArgs {
    /// Rows, or metrics of Prometheus (such as pending and overdue changes) for node_exporter's textfile collector
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ChangesFormat::Rows)]
    pub format: ChangesFormat,
    /// Compare the confirmed changes of the fabric of --source with its tables, to see whether they still stand
    #[arg(long)]
    pub verify: bool,
    /// Compare the length of the audit trail with the system log (journalctl -t fabdeck _UID=OWNER -o cat > FILE; `-`
    /// is stdin)
    #[arg(long, value_name = "FILE")]
    pub system_log: Option<PathBuf>,
}

/// The output format of `changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChangesFormat {
    Rows,
    Prometheus,
}

#[derive(Debug, Args)]
pub struct ConfirmArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// For a change in five phases that waits for hosts (`apply --unanswered wait`): continue without them, if that is
    /// shown to be safe. The change still has to be confirmed once it is applied
    #[arg(long)]
    pub go_on: bool,
}

#[derive(Debug, Args)]
pub struct ExtendArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// Time to add to the window: 10m, 2h
    #[arg(value_name = "DURATION", value_parser = window)]
    pub by: Duration,
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// Roll back even if that loses paths because the fabric has changed
    #[arg(long)]
    pub force: bool,
    /// For a change through OpenSM: OpenSM's process from now on, by number or pid file, if it is not the one that
    /// `apply` knew
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process)]
    pub opensm_process: Option<String>,
}

/// Makes the path of a pid file absolute, because the guard that reads it has another working directory.
fn opensm_process(text: &str) -> Result<String, String> {
    if text.parse::<u32>().is_ok() {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    path.into_os_string().into_string().map_err(|_| "a pid file's path is UTF-8 here".to_owned())
}

#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Start a guard for every pending change that has none, and end when the guards work
    #[arg(long, required_unless_present_any = ["begin", "keep", "second"])]
    pub resume: bool,
    /// With --resume: this machine will not come back. Take over its changes in a shared state folder too, once the
    /// subnet manager shows that their guards are gone
    #[arg(long, value_name = "MACHINE", requires = "resume")]
    pub gone: Option<String>,
    /// With --resume, for changes through OpenSM: OpenSM's process from now on, by number or pid file
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process, requires = "resume")]
    pub opensm_process: Option<String>,
    /// Take over only the change with this id
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin"])]
    pub keep: Option<String>,
    /// Wait beside the guard of the change with this id, and take the change over if the guard hangs or dies
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin", "keep"])]
    pub second: Option<String>,
    /// Apply the change with this id, which was begun just now
    #[arg(long, value_name = "ID", hide = true, conflicts_with = "resume")]
    pub begin: Option<String>,
}
