//! The arguments of commands, as clap parses them. The command table in `catalogue` has the descriptions of the
//! commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::argument_values::{bytes, duration, long_duration, moment, retries, seconds, threads};
use super::route_args::{MissingHosts, PlanAction, RoutePlanArgs, WhatifArgs};
use super::row_args::RowArgs;
use super::terminal_info::Color;
use crate::catalogue::commands;
use crate::console::drawing::theme::theme_names;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::script::changes::args::{
    ApplyArgs, ChangesArgs, ConfirmArgs, ExtendArgs, GuardArgs, RollbackArgs, ServiceArgs,
};
use crate::script::jobs::job_args::{JobRowArgs, JobsArgs, RecordJobsArgs};
use crate::script::run_command::args::RunArgs;

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
    /// The fabric to read: umad[:CA[:PORT]] (live, over an adapter of this machine), sim:NAME[,key=value...]
    /// (simulated), sim:SOCKET[,at=NODE] (a simulator that another process serves), or a file or folder
    #[arg(long, global = true, value_name = "SRC")]
    pub source: Option<String>,
    /// Moment of a capture: 02:13:40 of its day, RFC 3339, or -5m before its end (default: the end). The last sweep up
    /// to that moment is shown; 02:13 means the end of that minute
    #[arg(long, global = true, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<String>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// Only rows that match: a text, FIELD OP VALUE (= != < <= > >=, ~ for "contains"), or ~LETTERS in this order; a
    /// comma means "and"
    #[arg(long, global = true, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// File with the names of nodes by GUID, in the format of infiniband-diags
    #[arg(long, global = true, value_name = "FILE")]
    pub node_name_map: Option<PathBuf>,
    /// Timeout of a request to a live fabric: 500ms, 2s, or seconds without a unit (default: 1s)
    #[arg(long, global = true, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Retries of a request that gets no answer: 0 to 100 (default: 2)
    #[arg(long, global = true, value_name = "N", value_parser = retries, allow_hyphen_values = true)]
    pub retries: Option<u32>,
    /// File with the M_Keys (management keys) of a protected fabric: one key, or lines 'GUID KEY'; `-` is stdin
    #[arg(long, global = true, value_name = "FILE")]
    pub mkey_file: Option<PathBuf>,
    /// Subscribe to the subnet manager's traps while counters are watched (console, hotspots, record). This sends two
    /// writes to the manager: one Set of InformInfo subscribes, another one unsubscribes
    #[arg(long, global = true)]
    pub traps: bool,
    /// Permit writes to a fabric that the configuration names ([[fabric]]); a simulator needs no permission
    #[arg(long, global = true)]
    pub allow_write: bool,
    /// State folder, with the journals and locks of changes and the audit trail (default: /var/lib/fabdeck; for
    /// simulators a folder of your own)
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Configuration file (default: fabdeck/config.toml in $XDG_CONFIG_HOME, else in ~/.config)
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,
    /// Number of threads that compute (default: one for each core); answers do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Assume the routes of this engine if the source has no forwarding tables; the answer marks them as assumed
    #[arg(long, global = true, value_name = "ENGINE")]
    pub assume: Option<String>,
    // Its help is built with the whole command line, from the table of themes.
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Draw the console with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Write the events of the console, keys included, to this new file, so that the session can be replayed
    #[arg(long, global = true, value_name = "FILE")]
    pub record_events: Option<PathBuf>,
    /// Leave times out of JSON, so that equal fabrics give equal bytes
    #[arg(long, global = true)]
    pub no_times: bool,
    /// End with exit code 2 if the answer is partial, because part of the source did not answer or could not be read
    #[arg(long, global = true)]
    pub strict: bool,
    /// Print more: every note, and the folder of the log
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    Sources {
        /// Print the configuration entry that permits writes to the fabric of --source
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
        /// The shell to print completions for
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
        /// Show the entries of this switch: switch:NAME, a name, a GUID or a LID (default: a row for each switch)
        switch: Option<String>,
        #[command(flatten)]
        rows: RowArgs,
    },
    Users {
        /// The cable whose destinations are listed: link:NAME[PORT], with either end of the cable
        link: String,
        #[command(flatten)]
        rows: RowArgs,
    },
    Counters {
        /// Rows, or metrics of Prometheus (all counters and states of links) for node_exporter's textfile collector
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CounterFormat::Rows)]
        format: CounterFormat,
        /// With --format prometheus: read twice with this interval between the readings, and add rates
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

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Where the path begins: switch:NAME, host:NAME, port:NAME[PORT], a name, a GUID or a LID
    #[arg(value_name = "SRC")]
    pub from: String,
    /// Where the path ends, written the same way
    #[arg(value_name = "DST")]
    pub to: String,
    /// Forwarding tables to follow instead of those of the source: a dump of them, or a plan
    #[arg(long, value_name = "FILE")]
    pub tables: Option<PathBuf>,
    /// Follow the path to this LID of the destination, which has 2^LMC LIDs, instead of to its base LID
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
    /// Partitions in the format of OpenSM's partitions.conf: pairs without a common partition do not count as lost
    #[arg(long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    /// Report too how traffic patterns (permutations and shifts, docs/engines.md) load the channels; on a full subnet
    /// that takes minutes
    #[arg(long)]
    pub loads: bool,
    /// List of running jobs (a host and its job on each line, or the output of squeue): count the paths within jobs too
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// What to do about hosts of --jobs that the fabric does not have
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, requires = "jobs")]
    pub missing: MissingHosts,
    /// How the lanes of packets are determined (default: sampled if a subnet manager answers, else service level 0)
    #[arg(long, value_name = "LANES", value_enum)]
    pub lanes: Option<LaneChoice>,
}

/// The two readings of counters that are compared.
#[derive(Debug, Args)]
pub struct HotspotArgs {
    /// Interval between two sweeps: 500ms, 2s, or seconds without a unit (default: 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Number of intervals to judge, each with a sweep at its end
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    /// File with the earlier counters, instead of sweeps
    #[arg(long, value_name = "FILE", requires_all = ["after", "seconds"], conflicts_with_all = ["interval", "count"])]
    pub before: Option<PathBuf>,
    /// File with the later counters
    #[arg(long, value_name = "FILE", requires = "before")]
    pub after: Option<PathBuf>,
    /// Seconds between the two files
    #[arg(long, value_name = "N", requires = "before", value_parser = seconds, allow_hyphen_values = true)]
    pub seconds: Option<f64>,
    /// Print only the worst N of each kind; JSON has all
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
    /// How the service levels of the paths in force are determined (default: from path records, unless that takes too
    /// many queries)
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
    /// Print only the first N of each kind; JSON has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
}

#[derive(Debug, Subcommand)]
pub enum LanesAction {
    Propose(ProposeArgs),
}

#[derive(Debug, Args)]
pub struct ProposeArgs {
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Move all flows on slow lanes back to the fast ones, without reading counters
    #[arg(long, conflicts_with_all = ["interval", "count"])]
    pub back: bool,
    /// Interval between two sweeps: 500ms, 2s, or seconds without a unit (default: 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Number of intervals to judge; the last one decides what is proposed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    #[command(flatten)]
    pub shown: LanesShowArgs,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Name of a generated fabric (`fabdeck sources` lists them), with keys after commas, as in kary,k=4,n=2
    pub name: String,
    /// Output file (default: stdout, as with `-`)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format to write: ibsim or ibnetdiscover
    #[arg(long, value_name = "FORMAT", default_value = "ibsim")]
    pub format: String,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Files of one fabric; `-` is stdin
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The format to write; an unknown name lists all formats
    #[arg(long, value_name = "FORMAT")]
    pub to: String,
    /// With --to slurm-topology: list each host at the leaf switch of its adapter N, counted from 1 (default: hosts
    /// with the same leaf switches stay together)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub rail: Option<u8>,
    /// With --to csv: write cells unescaped. By default a cell that begins like a formula (=, +, -, @) gets a quote in
    /// front, and control characters are escaped
    #[arg(long)]
    pub raw_cells: bool,
    /// Overwrite an existing file
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
    /// Run traffic: uniform, shift, hotspot, centric, permutation, ring, or flows=FILE with a flow 'SRC DST' on each
    /// line
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<String>,
    #[command(flatten)]
    pub traffic: TrafficArgs,
}

/// Arguments of `record`: what to record, and for how long.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// New file for the capture; `-` is stdout
    #[arg(short, long, value_name = "FILE.fdcap")]
    pub output: PathBuf,
    /// Interval between two sweeps: 500ms, 2s, 1h, or seconds without a unit (default: 1s)
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Duration: 90s, 10m, 8h (default: until Ctrl-C)
    #[arg(long = "for", value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
    /// Begin the next file when this one reaches this size (100MB, 1GiB): FILE-000001.fdcap, FILE-000002.fdcap, ...
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub rotate_size: Option<u64>,
    /// Begin the next file when this one covers this time: 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub rotate_every: Option<Duration>,
    /// Keep only the newest N of these files, those of earlier recordings with the same name included. Two recordings
    /// at the same time need different names
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// Record each line of stdin as a note, with the time of its arrival
    #[arg(long)]
    pub notes: bool,
    #[command(flatten)]
    pub running_jobs: RecordJobsArgs,
}

/// Arguments of `agent`: how a host handles notices.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The program that moves the flows of this host, run without a shell for each notice. Its environment has
    /// FABDECK_HOT_SPOT_LID, FABDECK_SERVICE_LEVEL, FABDECK_DIRECTION (slow or fast; in five phases high or base), FABDECK_NUMBER, FABDECK_LID,
    /// FABDECK_PORT and FABDECK_PORT_GUID. Its exit code 0 means that the flows have moved
    #[arg(long, value_name = "PROGRAM")]
    pub hook: Option<PathBuf>,
    /// Timeout after which the program of --hook is ended (default: 30s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub hook_timeout: Option<Duration>,
    /// Largest number of notices per second that the agent follows; more are dropped and reported (default: 20)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: Option<u32>,
    /// Print what the agent would do, and run no program
    #[arg(long)]
    pub dry_run: bool,
    /// Duration: 90s, 10m (default: until Ctrl-C)
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
        /// Rates since the previous sweep, instead of the counters
        #[arg(long)]
        rates: bool,
        #[command(flatten)]
        made: OutputFileArgs,
    },
    Anonymize {
        /// A capture that `record` wrote; `-` is stdin
        file: PathBuf,
        /// Keep the notes of operators, but replace GUIDs and names of nodes in them: the whole name, the host in it,
        /// and the first label of that. Other spellings are not found, so read the notes before you share the capture
        #[arg(long)]
        keep_notes: bool,
        #[command(flatten)]
        made: OutputFileArgs,
    },
    Note {
        /// A capture that is complete: its recording has ended
        file: PathBuf,
        /// Text of the note; --at sets its moment (default: the end of the capture)
        text: String,
    },
}

/// A stretch of a capture, by its times.
#[derive(Debug, Clone, Default, Args)]
pub struct StretchArgs {
    /// Begin with the first sweep at or after this time, written as for --at; 02:13 means the beginning of that minute
    /// (default: the first sweep)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// End with the last sweep at or before this time; 02:13 means the end of that minute (default: the last sweep)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
}

/// The output file of a capture made from another one.
#[derive(Debug, Clone, Args)]
pub struct OutputFileArgs {
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// The traffic to simulate.
#[derive(Debug, Args)]
pub struct TrafficArgs {
    /// Simulated time: 500us, 1ms; measuring begins after a tenth of it
    #[arg(long = "for", alias = "time", value_name = "TIME", default_value = "1ms", value_parser = moment)]
    pub time_ns: u64,
    /// End as soon as the rates of 99 % of the hosts have settled
    #[arg(long)]
    pub until_steady: bool,
    /// Routes of this engine instead of the tables in force
    #[arg(long, value_name = "E")]
    pub engine: Option<String>,
    /// Largest number of lanes that routes of an engine may use (default: 8, or fewer if ports have fewer; 4 if no
    /// adapter port reports its number)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=15))]
    pub lanes: Option<u8>,
    /// How the service levels of the paths in force are determined
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
    /// Mark this element as failed: switch:NAME, link:NAME[PORT], port:NAME[PORT], host:NAME
    #[arg(long, value_name = "ELEMENT", num_args = 1..)]
    pub fail: Vec<String>,
    /// Mark N links between switches as failed, chosen at random by --seed
    #[arg(long, value_name = "N")]
    pub fail_random: Option<usize>,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Offered load of the hosts, as a share of what they can send
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub load: f64,
    /// Payload in Gb/s that a host can send, and receive (default: what its link carries)
    #[arg(long, value_name = "GBPS")]
    pub host_limit: Option<f64>,
    /// Payload of a packet in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 2048)]
    pub payload: u32,
    /// For hotspot: number of hot-spots; the hosts form as many groups, with one hot-spot each
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub spots: u32,
    /// For hotspot: share of its packets that each host sends to the hot-spot of its group
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub share: String,
    /// For hotspot: service level of the packets to hot-spots, for a lane of their own (the slow lane)
    #[arg(long, value_name = "SL", value_parser = clap::value_parser!(u8).range(0..=15))]
    pub slow_level: Option<u8>,
    /// For shift: number of packets in each message
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub message: u32,
    /// Number of hosts, flows and ports to list, from the top and from the bottom
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
}

/// Builds the whole command line, with the descriptions of the command table.
pub fn command_line() -> clap::Command {
    let after = "Without a command the console opens, on the fabric of --source or on sim:demo. Without a terminal the fabric is printed in numbers.";
    let themes = format!("Theme of the console: {}, or the name of your own", theme_names());
    add_help(Cli::command(), "").mut_arg("theme", |arg| arg.help(themes)).after_help(after)
}

fn add_help(command: clap::Command, path: &str) -> clap::Command {
    let mut described = command;
    if let Some(entry) = commands::command(path) {
        described =
            described.about(entry.summary).long_about(format!("{}\n\n{}", entry.summary, entry.details));
        if !entry.examples.is_empty() {
            described = described.after_help(format!("Examples:\n  {}", entry.examples.join("\n  ")));
        }
    }
    let names: Vec<String> = described.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let below = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        described = described.mut_subcommand(name, |sub| add_help(sub, &below));
    }
    described
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::commands::COMMANDS;

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
            table.iter().filter(|name| !found.iter().any(|other| other == *name)).map(|n| (*n).to_owned());
        (missing, extra.collect())
    }

    #[test]
    fn the_command_table_and_the_command_line_have_the_same_commands() {
        assert_eq!(mismatched_commands(), (Vec::new(), Vec::new()));
        command_line().debug_assert();
    }
}
