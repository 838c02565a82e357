//! A row of a study's table: a cell with its result. The description of the columns is the schema of all its forms: text,
//! JSON, JSON Lines, CSV and Parquet.

use serde::Deserialize;

use crate::catalogue::field::Field;
use crate::catalogue::json_type::json_type;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;

/// The schema of the columns, in the metadata of Parquet files. It rises when a column changes its meaning or goes.
pub const TABLE_SCHEMA: &str = "fabdeck.study-table/1";

json_type! {
    /// What came of a cell.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CellStatus {
        #[default]
        Done,
        /// The engine does not route the fabric, or the failures are impossible.
        Refused,
        /// The certificate has pairs without a path.
        Incomplete,
        /// The certificate has a credit loop. Packets may flow all the same, and then have rates.
        Cycle,
        /// Packets stood still.
        Deadlock,
        /// The simulated time or the packet-hops ended before the exchange.
        Time,
        /// The cell panicked.
        Failed,
        /// The real time ended; another run tries again.
        Wall,
    }

    #[derive(Clone, PartialEq, Debug, Default, Deserialize)]
    #[serde(default)]
    pub struct StudyRow {
        pub cell: String,
        pub topology: String,
        pub family: String,
        pub switches: Option<u64>,
        pub hosts: Option<u64>,
        pub links: Option<u64>,
        pub redundancy: Option<u64>,
        pub link_faults: u64,
        pub switch_faults: u64,
        pub fault_seed: Option<u64>,
        pub engine: String,
        pub lanes_asked: u64,
        pub lanes: Option<u64>,
        pub status: CellStatus,
        pub why: Option<String>,
        pub route_seconds: Option<f64>,
        pub efi_min: Option<u64>,
        pub efi_mean: Option<f64>,
        pub efi_max: Option<u64>,
        pub efi_sdv: Option<f64>,
        pub hops_max: Option<u64>,
        pub stretch_mean: Option<f64>,
        pub degraded: Option<bool>,
        pub fell_back: Option<u64>,
        pub lost_pairs: Option<u64>,
        pub pairs: Option<u64>,
        pub cycle: Option<bool>,
        pub worst_permutation: Option<u64>,
        pub abb: Option<f64>,
        pub afpb: Option<f64>,
        pub adb: Option<f64>,
        pub pattern: String,
        pub message: Option<u64>,
        pub shifts: Option<u64>,
        pub load: Option<f64>,
        pub spread: Option<u64>,
        pub traffic_seed: Option<u64>,
        pub steady: Option<bool>,
        pub simulated_ns: Option<u64>,
        pub packet_hops: Option<u64>,
        pub throughput_gbyte_s: Option<f64>,
        pub consumption_min: Option<f64>,
        pub consumption_q1: Option<f64>,
        pub consumption_median: Option<f64>,
        pub consumption_q3: Option<f64>,
        pub consumption_max: Option<f64>,
        pub latency_mean_ns: Option<u64>,
        pub latency_p99_ns: Option<u64>,
        pub version: String,
    }
}

impl CellStatus {
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Incomplete => "incomplete",
            Self::Cycle => "cycle",
            Self::Deadlock => "deadlock",
            Self::Time => "time",
            Self::Failed => "failed",
            Self::Wall => "wall",
        }
    }

    /// Which of two results of one cell counts: the one with the lower rank.
    pub fn rank(self) -> u8 {
        match self {
            Self::Wall => 2,
            Self::Failed => 1,
            _ => 0,
        }
    }
}

impl StudyRow {
    /// The failures that a fit counts (ambiguity F5 of docs/studies.md: links and switches together).
    pub fn failures(&self) -> u64 {
        self.link_faults + self.switch_faults
    }

    /// The throughput, where packets flowed to the end of the measure.
    pub fn throughput(&self) -> Option<f64> {
        self.throughput_gbyte_s.filter(|_| matches!(self.status, CellStatus::Done | CellStatus::Cycle))
    }
}

/// A number with six significant digits: enough for every figure, and short in tables.
pub fn six_digits(number: f64) -> Option<f64> {
    number.is_finite().then(|| format!("{number:.5e}").parse().ok()).flatten()
}

type RowField = Field<StudyRow, ()>;

/// The results of a study, a row for each cell.
pub const STUDY_CELLS: View<StudyRow, ()> = View::new(CELL_FIELDS, "no cell of the study has a result");

/// Fields of a row: id, heading, kind, value, and in braces what is done to them.
macro_rules! row_fields {
    ($($id:ident $title:literal $kind:ident $about:literal $value:expr $(; $how:ident)?,)+) => {
        &[$(RowField::new(stringify!($id), $title, FieldKind::$kind, $about, $value)$(.$how())?),+]
    };
}

fn text(text: &str) -> Value<'_> {
    Value::text(text)
}

static CELL_FIELDS: &[RowField] = row_fields! {
    cell "CELL" Text "name of the cell: the beginning of the hash of its canonical text" |(), row| text(&row.cell); on_request,
    topology "TOPOLOGY" Text "name of the fabric; of a file or source with a hash" |(), row| text(&row.topology),
    family "FAMILY" Text "family of the generator, or file" |(), row| text(&row.family); on_request,
    switches "SWITCHES" Number "switches without failures" |(), row| row.switches.into(); on_request,
    hosts "HOSTS" Number "host ports without failures" |(), row| row.hosts.into(); on_request,
    links "LINKS" Number "links between switches without failures" |(), row| row.links.into(); on_request,
    redundancy "REDUNDANCY" Number "parallel links between two switches" |(), row| row.redundancy.into(); on_request,
    link_faults "LINK FAULTS" Number "failed links between switches" |(), row| row.link_faults.into(),
    switch_faults "SWITCH FAULTS" Number "failed switches" |(), row| row.switch_faults.into(); when_yes,
    fault_seed "SEED" Number "seed of the failures; none without failures" |(), row| row.fault_seed.into(),
    engine "ENGINE" Text "routing engine" |(), row| text(&row.engine),
    lanes_asked "LANES ASKED" Number "lanes that the engine may use; 1 for an engine of one lane" |(), row| row.lanes_asked.into(); on_request,
    lanes "LANES" Number "lanes that the paths use" |(), row| row.lanes.into(),
    status "STATUS" Text "done, refused, incomplete (pairs without a path), cycle (a credit loop, and packets flowed), deadlock, time (the simulated time or the packet-hops ended), failed, or wall (the real time ended; another run tries again)" |(), row| text(row.status.word()),
    why "WHY" Text "reason of a status other than done" |(), row| row.why.as_deref().into(); on_request,
    route_seconds "ROUTED s" Real "seconds of the engine; only of a process that ran the whole study" |(), row| row.route_seconds.into(); on_request,
    efi_min "EFI MIN" Number "edge forwarding index: least paths over a channel" |(), row| row.efi_min.into(); on_request,
    efi_mean "EFI MEAN" Real "mean of the edge forwarding index" |(), row| row.efi_mean.into(); on_request,
    efi_max "EFI MAX" Number "most paths over a channel" |(), row| row.efi_max.into(),
    efi_sdv "EFI SDV" Real "standard deviation of the edge forwarding index" |(), row| row.efi_sdv.into(); on_request,
    hops_max "HOPS MAX" Number "switch-to-switch hops of the longest path" |(), row| row.hops_max.into(); on_request,
    stretch_mean "STRETCH" Real "mean of hops divided by the fewest possible" |(), row| row.stretch_mean.into(); on_request,
    degraded "DEGRADED" Flag "whether the engine fell back on other paths for want of lanes" |(), row| row.degraded.into(); on_request,
    fell_back "FELL BACK" Number "destinations that use the escape paths, as nue reports them; none for other engines" |(), row| row.fell_back.into(); on_request,
    lost_pairs "LOST" Number "ordered pairs of hosts without a path; for lost: until a reroute" |(), row| row.lost_pairs.into(); when_yes,
    pairs "PAIRS" Number "ordered pairs of working hosts" |(), row| row.pairs.into(); on_request,
    cycle "CYCLE" Flag "whether some lane has a credit loop" |(), row| row.cycle.into(); on_request,
    worst_permutation "WORST" Number "most flows of a permutation over one channel" |(), row| row.worst_permutation.into(); when_known,
    abb "ABB" Real "average bisect bandwidth" |(), row| row.abb.into(); when_known,
    afpb "AFPB" Real "average full permutation bandwidth" |(), row| row.afpb.into(); when_known,
    adb "ADB" Real "average dissemination bandwidth" |(), row| row.adb.into(); when_known,
    pattern "MEASURE" Text "what was measured: routes, loads, lost, exchange, or a traffic pattern" |(), row| text(&row.pattern),
    message "MESSAGE" Number "packets of a message of an exchange" |(), row| row.message.into(); on_request,
    shifts "SHIFTS" Number "sampled shifts of an exchange; none where every host sends to every other" |(), row| row.shifts.into(); when_known,
    load "LOAD" Real "offered load as a share of what hosts can send" |(), row| row.load.into(); on_request,
    spread "SPREAD" Number "lanes that packets take in turns, in place of those of the routes" |(), row| row.spread.into(); on_request,
    traffic_seed "TRAFFIC SEED" Number "seed of the traffic" |(), row| row.traffic_seed.into(); on_request,
    steady "STEADY" Flag "whether the rates of 99 % of the hosts settled" |(), row| row.steady.into(); on_request,
    simulated_ns "SIMULATED ns" Number "simulated time" |(), row| row.simulated_ns.into(); on_request,
    packet_hops "PACKET-HOPS" Number "cables that packets crossed" |(), row| row.packet_hops.into(); on_request,
    throughput_gbyte_s "THROUGHPUT Gbyte/s" Real "payload of the whole network, in 10^9 bytes a second; of an exchange by equation 4.2 of the dissertation" |(), row| row.throughput_gbyte_s.into(),
    consumption_min "MIN" Real "least payload that a host receives, in Gbyte/s" |(), row| row.consumption_min.into(); on_request,
    consumption_q1 "Q1" Real "first quartile of the hosts" |(), row| row.consumption_q1.into(); on_request,
    consumption_median "MEDIAN" Real "median of the hosts" |(), row| row.consumption_median.into(); on_request,
    consumption_q3 "Q3" Real "third quartile of the hosts" |(), row| row.consumption_q3.into(); on_request,
    consumption_max "MAX" Real "most payload that a host receives" |(), row| row.consumption_max.into(); on_request,
    latency_mean_ns "LATENCY ns" Number "mean latency of packets" |(), row| row.latency_mean_ns.into(); on_request,
    latency_p99_ns "P99 ns" Number "latency that 99 % of the packets keep within" |(), row| row.latency_p99_ns.into(); on_request,
    version "VERSION" Text "revisions of generator, engines and simulator" |(), row| text(&row.version); on_request,
};
