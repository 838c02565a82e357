//! The arguments of commands that change a fabric.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::script::argument_values::window;
use fabdeck_change::SilentHostAction;

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan that `route` wrote
    pub plan: PathBuf,
    /// How the writes get to the fabric
    #[arg(long, value_name = "DRIVER", value_enum, default_value_t = DriverChoice::Direct)]
    pub via: DriverChoice,
    /// How long it waits to be confirmed before it is rolled back: 30s to 24h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = window)]
    pub confirm_within: Duration,
    /// Do not ask before it is written; it still has to be confirmed afterwards
    #[arg(long)]
    pub yes: bool,
    /// Stay until it is confirmed (0) or rolled back (5)
    #[arg(long)]
    pub wait: bool,
    /// Findings that are taken in, by name with commas between: unreachable, loop, cycle, lanes, transition
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// For plans in five phases: what is done when hosts do not say that they left the base LIDs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = SilentHostChoice::Stop)]
    pub unanswered: SilentHostChoice,
    /// With --via opensm: its configuration (usually /etc/opensm/opensm.conf)
    #[arg(long, value_name = "FILE")]
    pub opensm_conf: Option<PathBuf>,
    /// With --via opensm: where its console listens, as 127.0.0.1:10000; without one it gets SIGHUP
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub opensm_console: Option<SocketAddr>,
    /// With --via opensm: its process, by number or by its pid file; usually the only live one of this user called opensm
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process)]
    pub opensm_process: Option<String>,
    /// With --via direct: write although a subnet manager is in charge, which does not read tables back and may write over
    /// them any time
    #[arg(long)]
    pub beside_manager: bool,
}

/// What to do when hosts do not confirm that they left the base LIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SilentHostChoice {
    /// Nothing is written, and whoever left is called back
    Stop,
    /// They are asked again for as long as --confirm-within says; `rollback` stops it before, `confirm --go-on` goes on
    Wait,
    /// It goes on where the plan would be safe without phases
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
    /// Datagrams of fabdeck itself
    Direct,
    /// The OpenSM in charge, on this machine: it is given a file of tables
    Opensm,
}

#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// The cable: link:NAME[PORT], port:NAME[PORT] or NAME/PORT
    pub element: String,
    /// Where to write the plan, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ChangesArgs {
    /// Rows; or the numbers of pending and overdue changes as node_exporter's textfile collector reads them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ChangesFormat::Rows)]
    pub format: ChangesFormat,
    /// Compare each confirmed change of the source's fabric with the tables there: whether it still stands
    #[arg(long)]
    pub verify: bool,
    /// Compare the audit trail with what this system log says of its length (journalctl -t fabdeck _UID=OWNER -o cat > FILE; `-` is stdin)
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
    /// Its id or number, as `apply` and `changes` say them, or the first four signs of its id and more
    pub id: String,
    /// Of a change in five phases that waits for hosts (`apply --unanswered wait`): go on without them, where that is shown to
    /// be safe; it is confirmed once it is applied, by `confirm` alone
    #[arg(long)]
    pub go_on: bool,
}

#[derive(Debug, Args)]
pub struct ExtendArgs {
    /// Its id or number, as `apply` and `changes` say them, or the first four signs of its id and more
    pub id: String,
    /// How much longer it waits: 10m, 2h
    #[arg(value_name = "DURATION", value_parser = window)]
    pub by: Duration,
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Its id or number, as `apply` and `changes` say them, or the first four signs of its id and more
    pub id: String,
    /// Even where the fabric has changed so that going back loses paths
    #[arg(long)]
    pub force: bool,
    /// Of a change that went through OpenSM: its process from now on, by number or by its pid file, where it is another one than
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
    /// Take over every change that is pending and whose guard is gone, and keep it to its end
    #[arg(long, required_unless_present_any = ["begin", "keep", "second"])]
    pub resume: bool,
    /// With --resume: this machine will not come back, so that what it keeps in a shared state folder is taken over too, once the
    /// subnet manager shows that its guard is gone
    #[arg(long, value_name = "MACHINE", requires = "resume")]
    pub gone: Option<String>,
    /// With --resume: of changes that went through OpenSM, its process from now on, by number or by its pid file
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process, requires = "resume")]
    pub opensm_process: Option<String>,
    /// Take over the change of this id alone
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin"])]
    pub keep: Option<String>,
    /// Wait beside the guard of the change of this id, and take the change back where the guard hangs
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin", "keep"])]
    pub second: Option<String>,
    /// Apply the change of this id, which was begun just now
    #[arg(long, value_name = "ID", hide = true, conflicts_with = "resume")]
    pub begin: Option<String>,
}
