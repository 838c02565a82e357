//! Ports with a cable: their rates between the last two sweeps, and their role in the verdict.

use super::interval_verdict::{error_span_words, trouble_rate, waiting_words};
use super::role_words::proof_words;
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::{View, ViewOrder};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use crate::operations::health::short_port_name::is_only_port;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, LikelyRole, LinkProblemKind,
};
use fabdeck_fabric::{Port, PortId};

/// Number of sweeps in the small history of a row.
pub const SPARK: usize = 8;

/// The levels of a history, the oldest first: 0 to 7, or the value for an unknown level.
pub type Spark = [u8; SPARK];

/// An unknown level of a history.
pub const UNKNOWN_LEVEL: u8 = 15;

/// The role of a port in the verdict, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HotRole {
    /// A port to an adapter that receives more slowly than packets come.
    HotSpot,
    /// An adapter that gets less than a fair share and sends to a hot-spot.
    Contributor,
    /// An adapter with less than a fair share that sends to a hot-spot by what the intervals before show, which is no
    /// proof.
    LikelyContributor,
    /// An adapter with less than a fair share during a hot-spot: it sends there, or waits behind a host that
    /// does. Neither counters nor tables tell which.
    Undecided,
    /// An adapter with less than a fair share that sends elsewhere by what the intervals before show, which is no proof.
    LikelyVictim,
    /// An adapter with less than a fair share that does not send to a hot-spot, or waits without any
    /// hot-spot.
    Victim,
    /// An adapter that waits, and whose sending rate is unknown.
    Waits,
    /// An adapter that waits, but has its fair share.
    FairShare,
    /// A port between switches that waits on the paths to a hot-spot.
    OnPath,
    /// A port between switches that waits without any hot-spot: the link carries less than is sent.
    TooNarrow,
    /// Ports between switches that wait without any hot-spot, while none of them sends: nothing moves.
    Stalled,
    /// Waiting is unknown: the port does not count it, its counter is at the maximum, or it did not answer.
    Untold,
    /// A port that waits no more than others, and whose link goes down repeatedly.
    Flaps,
    /// A port that waits no more than others, and whose link stays up but counts errors.
    Errored,
}

impl HotRole {
    pub const WORDS: &'static [&'static str] = &[
        "hot-spot",
        "contributor",
        "likely contributor",
        "undecided",
        "likely victim",
        "victim",
        "waits",
        "fair share",
        "on the path",
        "link too narrow",
        "stalled",
        "unknown",
        "flaps",
        "link errors",
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The role of an adapter that waits; `alone` where no adapter is a hot-spot. Every screen takes the role from here.
    pub fn of_adapter(held: &CongestedAdapter, alone: bool) -> Self {
        match (held.role, alone) {
            (CongestionRole::Contributor(_), _) => Self::Contributor,
            (CongestionRole::Victim { .. }, _) | (CongestionRole::Undecided, true) => Self::Victim,
            (CongestionRole::Undecided, false) => match held.likely {
                Some(LikelyRole::Contributor(_)) => Self::LikelyContributor,
                Some(LikelyRole::Victim { .. }) => Self::LikelyVictim,
                None => Self::Undecided,
            },
            (CongestionRole::FairShare, _) => Self::FairShare,
            (CongestionRole::Unknown, _) => Self::Waits,
        }
    }
}

/// The rates of a port that are above a threshold.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PortFindings {
    /// The waiting above the threshold, where there is any.
    pub waits: Option<CongestedPort>,
    /// The role of an adapter that waits, with its evidence.
    pub adapter_role: Option<CongestedAdapter>,
    /// The threshold of waiting.
    pub limit: f64,
    /// Troubles of the link that this end counted, each with its threshold: link-downs, and in the next field
    /// errors, or else discards.
    pub flaps: Option<(LinkProblemKind, f64)>,
    pub errored: Option<(LinkProblemKind, f64)>,
    /// The seconds in which these were counted.
    pub watched_seconds: f64,
}

/// A port with a cable.
#[derive(Clone, PartialEq, Debug)]
pub struct HotPort {
    pub port: PortId,
    pub role: Option<HotRole>,
    /// What is above a threshold, which most ports have nothing of: a large fabric has 200,000 of them.
    pub findings: Option<Box<PortFindings>>,
    /// Waiting, in ticks per second.
    pub waiting: Option<u64>,
    /// Load of the link, and in the next field the share of all waiting in the fabric, in percent.
    pub used: Option<u16>,
    pub share_of_all: Option<u16>,
    /// Share of the time that the port waited.
    pub time_waited: Option<f64>,
    pub sent_mbps: Option<u64>,
    pub received_mbps: Option<u64>,
    pub errors_per_hour: Option<u64>,
    pub waited_levels: Spark,
    pub used_levels: Spark,
}

type RowField = Field<HotPort>;

/// The ports with a cable.
pub const HOT_PORTS: View<HotPort> = View::new(HOT_FIELDS, "no port has a cable").orders(&[
    ViewOrder { title: "most waiting", field: "waiting" },
    ViewOrder { title: "most data", field: "xmit_mbps" },
    ViewOrder { title: "most errors", field: "errors_per_hour" },
]);

static HOT_FIELDS: &[RowField] = &[
    RowField::new("port", "PORT", FieldKind::Text, "the port that counts", |l, r| port_words(l, r.port).into()),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, r| label_value(l, r.port)).when_known().shed(1),
    RowField::new(
        "role",
        "ROLE",
        FieldKind::Text,
        "its role in the verdict: - where nothing is above a threshold, unknown where its waiting is not known, undecided for a contributor or victim, \
         where counters and tables prove neither; likely is what earlier intervals suggest, without a proof",
        |_, r| r.role.map(HotRole::word).into(),
    ).toned(&[
        ("hot-spot", Tone::Danger),
        ("contributor", Tone::Warning),
        ("likely contributor", Tone::Warning),
        ("undecided", Tone::Warning),
        ("likely victim", Tone::Warning),
        ("victim", Tone::Warning),
        ("link too narrow", Tone::Warning),
        ("stalled", Tone::Warning),
        ("link errors", Tone::Warning),
        ("flaps", Tone::Warning),
    ]).keyword()
    .words(HotRole::WORDS),
    RowField::new(
        "proof",
        "PROOF",
        FieldKind::Text,
        "what shows its role: what an adapter sends to a hot-spot at least and at most, what a hot-spot accepts, or the counter that is above its threshold",
        |l, r| proof_words(l, r).or_else(|| trouble_words(l, r)).into(),
    ).sentence()
    .when_known(),
    RowField::new(
        "share_of_time",
        "WAIT %",
        FieldKind::Number,
        "share of the time in which packets waited here and nothing was sent, where the device reports the length of a tick",
        |_, r| r.time_waited.map(|part| (part * 100.0).round() as u64).into(),
    ).when_known()
    .unit("%")
    .largest_first()
    .outranks_names(),
    RowField::new("waiting", "TICKS/S", FieldKind::Number, "ticks of PortXmitWait a second", |_, r| r.waiting.into())
        .shed(6)
        .unit("ticks/s")
        .scaled()
        .largest_first(),
    RowField::new("used", "LOAD %", FieldKind::Number, "share of the rate of its link that it sends", |_, r| r.used.into())
        .shed(8)
        .unit("%")
        .largest_first(),
    RowField::new(
        "wait_history",
        "8 SWEEPS",
        FieldKind::Text,
        "waiting in the last sweeps, the latest at the right: a digit from 0 to 7 a sweep, in sevenths of the time, 0 below 1 %; where the device does not report the length of a tick, 4 and more are above the threshold",
        |_, r| level_digits(&r.waited_levels).into(),
    ).level_history(),
    RowField::new("peer", "PEER", FieldKind::Text, "the port at the other end", |l, r| {
        port(l, r).peer.map(|peer| l.port_name(peer)).into()
    }).shed(4)
    .node_name(),
    RowField::new("xmit_mbps", "XMIT Mb/s", FieldKind::Number, "data sent", |_, r| r.sent_mbps.into()).shed(3)
        .unit("Mbit/s")
        .largest_first(),
    RowField::new("rcv_mbps", "RCV Mb/s", FieldKind::Number, "data received", |_, r| r.received_mbps.into()).shed(2)
        .unit("Mbit/s")
        .largest_first(),
    RowField::new(
        "errors_per_hour",
        "ERR 1H",
        FieldKind::Number,
        "errors counted in the last half hour to hour; in the first hour of a watch, since the first sweep",
        |_, r| r.errors_per_hour.into(),
    ).toned_over_threshold()
    .shed(7)
    .largest_first(),
    RowField::new(
        "share_of_all",
        "OF ALL %",
        FieldKind::Number,
        "share of all waiting in the fabric that is here",
        |_, r| r.share_of_all.into(),
    ).shed(1)
    .unit("%")
    .largest_first(),
    RowField::new(
        "used_history",
        "LOAD, 8 SWEEPS",
        FieldKind::Text,
        "load of its link in the last sweeps, the latest at the right: a digit from 0 to 7 a sweep, in eighths of what the link carries",
        |_, r| level_digits(&r.used_levels).into(),
    ).level_history()
    .on_request(),
    RowField::new("why", "WHY", FieldKind::Text, "counter, rate and threshold", |l, r| reason_words(l, r).into()).on_request(),
];

/// The host, where it has one adapter with one cable; of others the port. The proof beside it needs the room.
fn port_words(look: &Snapshot, port: PortId) -> String {
    if is_only_port(look, port) {
        look.host_name(look.fabric().port(port).node).into_owned()
    } else {
        look.unique_port_name(port)
    }
}

fn port<'s>(look: &'s Snapshot, row: &HotPort) -> &'s Port {
    look.fabric().port(row.port)
}

/// The levels as text that a filter can match: a digit for each sweep, and a point for an unknown level.
pub fn level_digits(levels: &[u8]) -> String {
    levels.iter().map(|level| if *level < 8 { char::from(b'0' + *level) } else { '.' }).collect()
}

fn reason_words(look: &Snapshot, row: &HotPort) -> Option<String> {
    match row.waits() {
        Some((at, limit)) => Some(waiting_words(at, limit)),
        None => trouble_reason(look, row),
    }
}

/// The worst trouble of the link of a port, with counter and threshold.
fn trouble_reason(look: &Snapshot, row: &HotPort) -> Option<String> {
    let span = error_span_words(row.findings.as_ref().map_or(0.0, |found| found.watched_seconds));
    row.troubles().find_map(|(why, limit)| trouble_rate(look, why, limit, &span))
}

/// The same in a few words, where that is the role of the port: `580 errors in 30 s`.
fn trouble_words(look: &Snapshot, row: &HotPort) -> Option<String> {
    let all = trouble_reason(look, row).filter(|_| row.waits().is_none())?;
    Some(all.split(", counted").next().unwrap_or(&all).to_owned())
}

impl HotPort {
    /// Whether a rate of the port is above a threshold.
    pub fn is_judged(&self) -> bool {
        self.role.is_some_and(|role| role != HotRole::Untold)
    }

    /// The findings, to fill in.
    pub fn findings_mut(&mut self) -> &mut PortFindings {
        self.findings.get_or_insert_default()
    }

    /// The waiting above the threshold, and the threshold.
    pub fn waits(&self) -> Option<(&CongestedPort, f64)> {
        let found = self.findings.as_deref()?;
        Some((found.waits.as_ref()?, found.limit))
    }

    /// The role of an adapter that waits, with its evidence.
    pub fn adapter_role(&self) -> Option<CongestedAdapter> {
        self.findings.as_ref()?.adapter_role
    }

    /// The troubles of the link, the worst first.
    pub fn troubles(&self) -> impl Iterator<Item = (LinkProblemKind, f64)> {
        self.findings.iter().flat_map(|found| found.flaps.into_iter().chain(found.errored))
    }
}
