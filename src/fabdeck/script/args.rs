//! The options that every command line takes, as clap parses them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::argument_values::{duration, retries, threads};
use super::terminal_info::Color;

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "the texts are help of the command line, whose brackets are no links"
)]
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
    /// Sheet (CSV) with the labels of ports and the places of devices: columns device or guid, port, label (or slot,
    /// cage, breakout), site, room, row, rack, u, in any order
    #[arg(long, global = true, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Plan of the cabling: .topo of ibutils, an NDT or P2P sheet (CSV), a table with device and port at both ends, or a
    /// dump or capture from when it was right. Cables that differ are problems of health, report and the console
    #[arg(long, global = true, value_name = "PLAN")]
    pub cabling: Option<PathBuf>,
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
    /// Draw the console, and plots in the terminal, with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Open the console at this view: a screen and what it shows, such as 'links sort=errors:desc'. The key c of the
    /// console, pressed twice, copies it
    #[arg(long, global = true, value_name = "VIEW")]
    pub open: Option<String>,
    /// Read P_Key tables and multicast groups too, when the console reads a live fabric: the lists partitions and groups
    /// of the Map
    #[arg(long, global = true)]
    pub with_partitions: bool,
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
