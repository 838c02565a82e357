//! The arguments of commands, as clap parses them. The command table in `session` has the descriptions of the
//! commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::argument_values::{bytes, duration, long_duration, moment, retries, seconds, threads};
use super::changes::{ApplyArgs, ChangesArgs, ConfirmArgs, ExtendArgs, GuardArgs, RollbackArgs, ServiceArgs};
use super::job_thread::RecordJobsArgs;
use super::jobs::{JobRowArgs, JobsArgs};
use super::route_args::{LaneChoice, MissingHosts, PlanAction, RoutePlanArgs, WhatifArgs};
use super::run_command::RunArgs;
use crate::console::theme_names;
use crate::session;

#[derive(Debug, Parser)]
#[command(name = "fabdeck", version, about = "A terminal console for InfiniBand fabric operations")]
pub struct Cli {
    #[command(flatten)]
    pub globals: GlobalArgs,
    #[command(subcommand)]
    pub action: Option<CliCommand>,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// What to look at: umad[:CA[:PORT]], sim:NAME[,key=value...], sim:SOCKET[,at=NODE], or a file or folder
    #[arg(long, global = true, value_name = "SRC")]
    pub source: Option<String>,
    /// Of a capture: when; 02:13:40 of its day, RFC 3339, or -5m before its end (usually the end). Shown is the last sweep
    /// up to then, and a time as coarse as it is written lasts as long: 02:13 until the end of that minute
    #[arg(long, global = true, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<String>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// Only rows that hold this: a text, FIELD OP VALUE (= != < <= > >=, ~ for "contains"), or ~LETTERS in this order;
    /// commas mean "and"
    #[arg(long, global = true, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// Names of nodes by GUID, as the tools of infiniband-diags read them
    #[arg(long, global = true, value_name = "FILE")]
    pub node_name_map: Option<PathBuf>,
    /// How long an answer of a live fabric may take: 500ms, 2s, or seconds without a unit (usually 1s)
    #[arg(long, global = true, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// How often a question is sent again when no answer came: 0 to 100 (usually 2)
    #[arg(long, global = true, value_name = "N", value_parser = retries, allow_hyphen_values = true)]
    pub retries: Option<u32>,
    /// M_Keys of a guarded fabric: one key, or lines 'GUID KEY'; `-` is stdin
    #[arg(long, global = true, value_name = "FILE")]
    pub mkey_file: Option<PathBuf>,
    /// While counters are watched (console, hotspots, record) let the subnet manager report traps. It is asked to with a
    /// Set of InformInfo, and to stop with another
    #[arg(long, global = true)]
    pub traps: bool,
    /// Let commands that write do so, on a fabric that the configuration names ([[fabric]]); a simulator needs no leave
    #[arg(long, global = true)]
    pub allow_write: bool,
    /// Where changes are kept: their journals, locks and the audit trail (usually /var/lib/fabdeck; of simulators a folder of
    /// your own)
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// The configuration to use instead of the one in the configuration folder
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Colour in text
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,
    /// How many threads compute (usually as many as there are cores); the answer is the same with any
    #[arg(long, global = true, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Routes of this engine where the source has no forwarding tables; the answer says that they are assumed
    #[arg(long, global = true, value_name = "ENGINE")]
    pub assume: Option<String>,
    // Its help is built with the whole command line, from the table of themes.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Draw the console with ASCII signs only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Write what happens in the console into this new file, keys included, so that the session can be had again
    #[arg(long, global = true, value_name = "FILE")]
    pub record_events: Option<PathBuf>,
    /// Leave times out of JSON, so that equal fabrics give equal bytes
    #[arg(long, global = true)]
    pub no_times: bool,
    /// A partial answer ends with exit code 2
    #[arg(long, global = true)]
    pub strict: bool,
    /// Say more: every note, and where the log is
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    Sources {
        /// Print the entry that opts the fabric of --source in to being written to
        #[arg(long)]
        identity: bool,
    },
    #[command(subcommand)]
    Show(ShowAction),
    Trace(TraceArgs),
    Check(CheckArgs),
    Hotspots(HotspotArgs),
    Lanes(LanesArgs),
    Jobs(JobsArgs),
    Whatif(WhatifArgs),
    Route(RoutePlanArgs),
    #[command(subcommand)]
    Plan(PlanAction),
    Disable(ServiceArgs),
    Enable(ServiceArgs),
    Apply(ApplyArgs),
    Run(RunArgs),
    Confirm(ConfirmArgs),
    Extend(ExtendArgs),
    Rollback(RollbackArgs),
    Changes(ChangesArgs),
    Guard(GuardArgs),
    Generate(GenerateArgs),
    Convert(ConvertArgs),
    Simulate(SimulateArgs),
    Record(RecordArgs),
    Agent(AgentArgs),
    #[command(subcommand)]
    Capture(CaptureAction),
    Completions {
        shell: Shell,
    },
    Man {
        /// Write a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ShowAction {
    Fabric,
    Switches(RowArgs),
    Hosts(RowArgs),
    Links(RowArgs),
    Ports(RowArgs),
    Tables {
        /// Show the entries of this switch: switch:NAME, a name, a GUID or a LID
        switch: Option<String>,
        #[command(flatten)]
        rows: RowArgs,
    },
    Users {
        /// Whose users: link:NAME[PORT], either end of the cable
        link: String,
        #[command(flatten)]
        rows: RowArgs,
    },
    Counters {
        /// Rows; or all counters and states of links as node_exporter's textfile collector reads them
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CounterFormat::Rows)]
        format: CounterFormat,
        /// With --format prometheus: read twice, so far apart, and give rates besides
        #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
        interval: Option<Duration>,
        #[command(flatten)]
        rows: RowArgs,
    },
    Lanes(RowArgs),
    Jobs(JobRowArgs),
}

/// How counters are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CounterFormat {
    Rows,
    Prometheus,
}

/// Columns, number and order of rows.
#[derive(Debug, Clone, Default, Args)]
pub struct RowArgs {
    /// Only these fields, in this order: ids with commas between; `help` lists them
    #[arg(long, value_name = "A,B,...")]
    pub fields: Option<String>,
    /// Order of the rows: FIELD, FIELD:asc, FIELD:desc or -FIELD, several with commas between; of errors, loads and the
    /// like the largest come first
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    pub sort: Option<String>,
    /// Only the first N rows
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Where the path begins: switch:NAME, host:NAME, port:NAME[PORT], a name, a GUID or a LID
    #[arg(value_name = "SRC")]
    pub from: String,
    /// Where it should end, written the same way
    #[arg(value_name = "DST")]
    pub to: String,
    /// Forwarding tables to follow instead of those of the source: a dump of them, or a plan
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// Which of the destination's 2^LMC LIDs to follow, instead of its base LID
    #[arg(long, value_name = "LID")]
    pub lid: Option<u32>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Forwarding tables to check instead of those in force
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// Count switches as sources and destinations too
    #[arg(long)]
    pub switches: bool,
    /// Who may talk to whom, as OpenSM's partitions.conf says it: pairs that share no partition are no lost pairs
    #[arg(long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    /// Count permutation loads and shifts too; on a full subnet that takes minutes
    #[arg(long)]
    pub loads: bool,
    /// Which hosts run which job, a host and a job a line, or what squeue prints: count the paths within jobs too
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// What to do about hosts of --jobs that the fabric does not have
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, requires = "jobs")]
    pub missing: MissingHosts,
    /// Which lanes packets take (usually sampled where a subnet manager answers, else level 0)
    #[arg(long, value_name = "LANES", value_enum)]
    pub lanes: Option<LaneChoice>,
}

/// The two readings of counters that are compared.
#[derive(Debug, Args)]
pub struct HotspotArgs {
    /// Between two sweeps: 500ms, 2s, or seconds without a unit (usually 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// How many intervals are judged, each with a sweep at its end
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    /// Counters as they were first, in a file, instead of sweeps
    #[arg(long, value_name = "FILE", requires_all = ["after", "seconds"], conflicts_with_all = ["interval", "count"])]
    pub before: Option<PathBuf>,
    /// Counters as they were later
    #[arg(long, value_name = "FILE", requires = "before")]
    pub after: Option<PathBuf>,
    /// How many seconds lie between the two files
    #[arg(long, value_name = "N", requires = "before", value_parser = seconds, allow_hyphen_values = true)]
    pub seconds: Option<f64>,
    /// Of each kind only the worst N in text; JSON has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
}

/// Arguments of `lanes`, the state of dFtree.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LanesArgs {
    #[command(flatten)]
    pub shown: LanesShowArgs,
    #[command(subcommand)]
    pub action: Option<LanesAction>,
}

#[derive(Debug, Args)]
pub struct LanesShowArgs {
    /// What is known of the service levels of the paths in force (usually what path records say, where they are not too many)
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
    /// Of each kind only the first N in text; JSON has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
}

#[derive(Debug, Subcommand)]
pub enum LanesAction {
    Propose(ProposeArgs),
}

#[derive(Debug, Args)]
pub struct ProposeArgs {
    /// Where to write the plan, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Take all flows on slow lanes back to the fast ones, whatever is hot: no counters are read
    #[arg(long, conflicts_with_all = ["interval", "count"])]
    pub back: bool,
    /// Between two sweeps: 500ms, 2s, or seconds without a unit (usually 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// How many intervals are judged; what the last one shows is proposed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    #[command(flatten)]
    pub shown: LanesShowArgs,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A name of `fabdeck sources`, with keys after commas
    pub name: String,
    /// Where to write it; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format to write: ibsim or ibnetdiscover
    #[arg(long, value_name = "FORMAT", default_value = "ibsim")]
    pub format: String,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Files that are one fabric together; `-` is stdin
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Where to write, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The format to write; a word that is none lists them
    #[arg(long, value_name = "FORMAT")]
    pub to: String,
    /// With --to slurm-topology: list each host at the leaf of its adapter N, from 1 on; left out, hosts that are on the
    /// same leaves stay together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub rail: Option<u8>,
    /// With --to csv: write cells as they are. Usually one that begins as a formula does (=, +, -, @) gets a quote in front, so
    /// that no spreadsheet computes it, and control characters are written out
    #[arg(long)]
    pub raw_cells: bool,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Run the fabric for other processes, behind a Unix socket at this path
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["pattern", "time_ns", "until_steady", "engine", "lanes",
        "lanes_in_force", "fail", "fail_random", "seed", "load", "host_limit", "payload", "spots", "share", "slow_level",
        "message", "top"])]
    pub serve: Option<PathBuf>,
    /// Run traffic: uniform, shift, hotspot, centric, permutation, ring, or flows=FILE with a flow 'SRC DST' a line
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<String>,
    #[command(flatten)]
    pub traffic: TrafficArgs,
}

/// What to record, and for how long.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The capture to write, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "FILE.fdcap")]
    pub output: PathBuf,
    /// Between two sweeps: 500ms, 2s, 1h, or seconds without a unit (usually 1s)
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// How long: 90s, 10m, 8h (usually until Ctrl-C)
    #[arg(long = "for", value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
    /// Begin another file once this one has so many bytes (100MB, 1GiB): FILE-000001.fdcap, FILE-000002.fdcap, ...
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub rotate_size: Option<u64>,
    /// Begin another file once this one has so much time: 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub rotate_every: Option<Duration>,
    /// Of these files keep the last N, those of earlier recordings with the same name counted; the oldest are removed. Two
    /// recordings at a time need two names
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// Each line of stdin is a note, at the time it comes
    #[arg(long)]
    pub notes: bool,
    #[command(flatten)]
    pub hear: RecordJobsArgs,
}

/// How a host handles notices.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The program that moves the flows of this host, run without a shell for each notice; it finds what to do in
    /// FABDECK_HOT_SPOT_LID, FABDECK_SERVICE_LEVEL, FABDECK_DIRECTION (slow or fast), FABDECK_NUMBER, FABDECK_LID,
    /// FABDECK_PORT and FABDECK_PORT_GUID, and ends with 0 once it is done
    #[arg(long, value_name = "PROGRAM")]
    pub hook: Option<PathBuf>,
    /// How long it may take before it is ended (usually 30s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub hook_timeout: Option<Duration>,
    /// Notices in a second that are followed; more are dropped, and that is said (usually 20)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: Option<u32>,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// How long: 90s, 10m (usually until Ctrl-C)
    #[arg(long = "for", value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub enum CaptureAction {
    Info {
        /// A capture that `record` wrote; `-` is stdin
        file: PathBuf,
    },
    Cut {
        /// A capture that `record` wrote; `-` is stdin
        file: PathBuf,
        #[command(flatten)]
        stretch: StretchArgs,
        #[command(flatten)]
        made: OutputFileArgs,
    },
    Export {
        /// A capture that `record` wrote; `-` is stdin
        file: PathBuf,
        #[command(flatten)]
        stretch: StretchArgs,
        /// Rates since the sweep before, instead of the counters themselves
        #[arg(long)]
        rates: bool,
        #[command(flatten)]
        made: OutputFileArgs,
    },
    Anonymize {
        /// A capture that `record` wrote; `-` is stdin
        file: PathBuf,
        /// Keep what operators noted, but for names (whole, their host, its first label) and GUIDs in it; other
        /// spellings are not found, so read them before you give it away
        #[arg(long)]
        keep_notes: bool,
        #[command(flatten)]
        made: OutputFileArgs,
    },
    Note {
        /// A capture that was ended
        file: PathBuf,
        /// What is to be remembered; --at says of when (usually of its end)
        text: String,
    },
}

/// A stretch of a capture, by its times.
#[derive(Debug, Clone, Default, Args)]
pub struct StretchArgs {
    /// The first sweep no sooner than this, written as for --at; 02:13 is from the beginning of that minute (usually the
    /// first of all)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// The last sweep no later than this; 02:13 is until the end of that minute (usually the last of all)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
}

/// The output file of a capture made from another one.
#[derive(Debug, Clone, Args)]
pub struct OutputFileArgs {
    /// Where to write it, a name that is free; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

/// The traffic to simulate.
#[derive(Debug, Args)]
pub struct TrafficArgs {
    /// How much time is simulated: 500us, 1ms; a tenth of it passes before anything is measured
    #[arg(long = "for", alias = "time", value_name = "TIME", default_value = "1ms", value_parser = moment)]
    pub time_ns: u64,
    /// End as soon as the rates of 99 % of the hosts have settled
    #[arg(long)]
    pub until_steady: bool,
    /// Routes of this engine instead of the tables in force
    #[arg(long, value_name = "E")]
    pub engine: Option<String>,
    /// The most lanes that routes of an engine may use; left out, 8, or fewer where ports have fewer, and 4 where no
    /// adapter port says how many it has
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=15))]
    pub lanes: Option<u8>,
    /// What is known of the service levels of the paths in force
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
    /// Mark this as failed: switch:NAME, link:NAME[PORT], port:NAME[PORT], host:NAME
    #[arg(long, value_name = "ELEMENT", num_args = 1..)]
    pub fail: Vec<String>,
    /// Mark so many links between switches as failed, drawn by --seed
    #[arg(long, value_name = "N")]
    pub fail_random: Option<usize>,
    /// Of everything that is drawn
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// What hosts offer, as a share of what they can send
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub load: f64,
    /// Payload in Gb/s that a host can send, and as much take in (usually what its link carries)
    #[arg(long, value_name = "GBPS")]
    pub host_limit: Option<f64>,
    /// Bytes of payload of a packet
    #[arg(long, value_name = "BYTES", default_value_t = 2048)]
    pub payload: u32,
    /// How many hot-spots there are, each of a group of hosts: for hotspot
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub spots: u32,
    /// The share of its packets that each host sends to a hot-spot: for hotspot
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub share: String,
    /// The service level of what is for a hot-spot, a slow lane: for hotspot
    #[arg(long, value_name = "SL", value_parser = clap::value_parser!(u8).range(0..=15))]
    pub slow_level: Option<u8>,
    /// Packets of each message: for shift
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub message: u32,
    /// How many hosts, flows and ports are named, from the top and from the bottom
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
}

/// Builds the whole command line, with the descriptions of the command table.
pub fn command_line() -> clap::Command {
    let after = "Without a command the console opens, on the fabric of --source or on sim:demo; where nobody sits before a terminal, that fabric is shown in numbers.";
    let themes = format!("Colours of the console: {}, or one of your own", theme_names());
    add_help(Cli::command(), "").mut_arg("theme", |arg| arg.help(themes)).after_help(after)
}

fn add_help(command: clap::Command, path: &str) -> clap::Command {
    let mut dressed = command;
    if let Some(known) = session::command(path) {
        dressed = dressed.about(known.summary).long_about(format!("{}\n\n{}", known.summary, known.details));
        if !known.examples.is_empty() {
            dressed = dressed.after_help(format!("Examples:\n  {}", known.examples.join("\n  ")));
        }
    }
    let names: Vec<String> = dressed.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let below = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        dressed = dressed.mut_subcommand(name, |sub| add_help(sub, &below));
    }
    dressed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::COMMANDS;

    /// Commands that only the command line or only the table has; both lists have to be empty.
    fn mismatched_commands() -> (Vec<String>, Vec<String>) {
        let mut found = Vec::new();
        let mut open: Vec<(String, clap::Command)> = vec![(String::new(), Cli::command())];
        while let Some((path, command)) = open.pop() {
            for sub in command.get_subcommands() {
                let below = format!("{path} {}", sub.get_name()).trim().to_owned();
                found.push(below.clone());
                open.push((below, sub.clone()));
            }
        }
        let table: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        let missing = found.iter().filter(|name| !table.contains(&name.as_str())).cloned().collect();
        let extra =
            table.iter().filter(|name| !found.iter().any(|known| known == *name)).map(|n| (*n).to_owned());
        (missing, extra.collect())
    }

    #[test]
    fn the_command_table_and_the_command_line_have_the_same_commands() {
        assert_eq!(mismatched_commands(), (Vec::new(), Vec::new()));
        command_line().debug_assert();
    }
}
