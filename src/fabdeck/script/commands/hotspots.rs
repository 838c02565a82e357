//! `hotspots`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::check::premises;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::counter_watch::{
    CONTRIBUTOR_ROLES, HotspotInterval, VICTIM_ROLES, WatchReport, WatchRequest, watch_counters,
};
use crate::operations::watch::fabric_events::fabric_event_lines;
use crate::operations::watch::interval_verdict::verdict_lines;
use crate::script::argument_values::{duration, seconds};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::fabric_events::{fabric_event_object, fabric_event_schema};
use crate::script::json_schema::{JsonSchema, SchemaProperties};
use crate::script::schema_parts::{closed, closed_with_numbers, flag, guid, list, nullable, number, text};
use crate::script::table::write_pairs;
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, Evidence, LinkProblem, LinkProblemKind,
    OversubscribedUplink, Thresholds,
};

pub const HOTSPOTS: CommandEntry = CommandEntry::new(
    "hotspots",
    "Hot-spots, the hosts that wait for them, and links with errors",
    "All counters are read twice, and nothing is cleared. A switch port that waits and leads to an adapter \
     makes that adapter a hot-spot. Adapters that wait are its contributors or its victims, as far as the \
     forwarding tables and the data on channels prove it. Where links between switches wait and no adapter is \
     a hot-spot, these links are too narrow. Links that count errors, go down, or run below what both ends \
     can do are named too. Each line has the rate and the threshold that it exceeds; [hotspots] in the \
     configuration sets the thresholds. On a simulator in this process, the time between the readings is \
     simulated and takes no time. --before, --after and --seconds compare two files, of any format with \
     counters. Findings end with exit code 2.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:demo hotspots --interval 2s",
    "fabdeck --source sim:kary,k=4,n=2 hotspots --interval 1s --count 3 --json",
    "fabdeck --source capture/ hotspots --before capture/first.txt --after capture/second.txt --seconds 60",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.traps(OptionUse::Used)
.json(&[JsonSchema::listed("hotspots", schema)]);

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

fn run(context: &mut Context<'_, '_>, args: &HotspotArgs) -> Result<Exit, Failure> {
    let request = match (&args.before, &args.after, args.seconds) {
        (Some(before), Some(after), Some(seconds)) => WatchRequest::Files { before, after, seconds },
        _ => WatchRequest::Sweeps { interval: args.interval, count: args.count },
    };
    let report = watch_counters(&mut context.operation(), request)?;
    let WatchReport { snapshot, intervals } = &report;
    if let Err(uncounted) = report.refuse_uncounted() {
        context.conclude(snapshot);
        return Err(uncounted);
    }
    write(context, snapshot, intervals, args.top)?;
    let concluded = context.conclude(snapshot);
    Ok(if intervals.iter().any(HotspotInterval::has_findings) { Exit::Findings } else { concluded })
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    intervals: &[HotspotInterval],
    most: usize,
) -> Result<(), Failure> {
    let thresholds = context.config.hotspots.clone();
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("hotspots", snapshot)?;
        object.field("thresholds", &thresholds_object(&thresholds))?;
        object.list("sweeps", intervals.iter().map(|interval| IntervalRow::new(interval, times)))?;
        return Ok(object.end()?);
    }
    let page = (context.output.paint, context.output.page);
    write_pairs(context.output.out, page, &premises(snapshot))?;
    for (at, HotspotInterval { snapshot, watched, basis, news }) in intervals.iter().enumerate() {
        if at > 0 {
            writeln!(context.output.out)?;
        }
        let mut lines = vec![basis.line(watched.seconds)];
        lines.extend(verdict_lines(snapshot, watched, &thresholds, most));
        lines.extend(fabric_event_lines(snapshot, news, most));
        write_pairs(context.output.out, page, &lines)?;
    }
    Ok(())
}

fn thresholds_object(thresholds: &Thresholds) -> Value {
    json!({
        "congestion": thresholds.congestion,
        "fair_share": thresholds.fair_share,
        "errors_per_hour": thresholds.errors_per_hour,
        "flaps_per_hour": thresholds.flaps_per_hour,
    })
}

/// JSON of an interval. `--no-times` leaves its seconds out too.
#[derive(Serialize)]
struct IntervalRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Times of the interval's start and end, if a clock is known; `time` is that of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// Start of the time over which links are judged, if that time is longer than the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    links_since: Option<String>,
    ports: usize,
    hotspots: Vec<Value>,
    /// Adapters that wait, each with its role.
    held_up: Vec<Value>,
    /// Adapters of `held_up` that contribute to a hot-spot, certainly or possibly.
    contributors: Vec<Value>,
    /// Adapters of `held_up` that certainly are victims.
    victims: Vec<Value>,
    on_the_way: Vec<Value>,
    /// Ports between switches whose hosts can send more than the port carries.
    oversubscribed: Vec<Value>,
    links_too_narrow: bool,
    /// Whether ports wait and send nothing.
    stands_still: bool,
    links: Vec<Value>,
    untold: Vec<String>,
    cleared: Vec<String>,
    news: Vec<Value>,
}

impl IntervalRow {
    fn new(interval: &HotspotInterval, times: bool) -> Self {
        let HotspotInterval { snapshot, watched, basis, news } = interval;
        let verdict = &watched.verdict;
        let object = |held: &CongestedAdapter| contributor_object(snapshot, held, interval.role_of(held));
        let with_roles = |roles| interval.adapters_with_role(roles).map(object).collect();
        let [from, to, links_since] = if times { basis.clocks() } else { [None, None, None] };
        let names = |ports: &[_]| ports.iter().map(|port| snapshot.port_name(*port)).collect();
        Self {
            seconds: times.then_some(watched.seconds),
            time: to.clone(),
            from,
            to,
            links_since,
            ports: watched.ports,
            hotspots: verdict
                .hot_spots
                .iter()
                .map(|hot| {
                    let object = with_key(
                        waiting_object(snapshot, &hot.at),
                        "adapter",
                        snapshot.port_name(hot.adapter).into(),
                    );
                    with_key(object, "adapter_guid", guid_at(snapshot, hot.adapter).into())
                })
                .collect(),
            contributors: with_roles(CONTRIBUTOR_ROLES),
            victims: with_roles(VICTIM_ROLES),
            held_up: verdict.congested_adapters.iter().map(object).collect(),
            on_the_way: verdict.congested_ports.iter().map(|at| waiting_object(snapshot, at)).collect(),
            oversubscribed: verdict.oversubscribed.iter().map(|leaf| leaf_object(snapshot, leaf)).collect(),
            links_too_narrow: verdict.has_narrow_links() && !verdict.is_stalled(),
            stands_still: verdict.is_stalled(),
            links: watched.troubles.iter().map(|trouble| link_object(snapshot, trouble)).collect(),
            untold: names(&verdict.unknown_ports),
            cleared: names(&watched.cleared),
            news: news.iter().map(|news| fabric_event_object(snapshot, news)).collect(),
        }
    }
}

fn with_key(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}

fn waiting_object(snapshot: &Snapshot, at: &CongestedPort) -> Value {
    json!({
        "port": snapshot.port_name(at.port),
        "guid": guid_at(snapshot, at.port),
        "counter": "PortXmitWait",
        "ticks_per_second": at.congestion,
        "at_least": at.at_least,
        "time_waited": at.time_waited,
        "utilisation": at.utilisation,
    })
}

/// GUID of the node of a port.
fn guid_at(snapshot: &Snapshot, port: PortId) -> String {
    snapshot.fabric().node(snapshot.fabric().port(port).node).guid().to_string()
}

fn leaf_object(snapshot: &Snapshot, leaf: &OversubscribedUplink) -> Value {
    let object = with_key(waiting_object(snapshot, &leaf.at), "leaf", snapshot.name(leaf.leaf).into());
    let object = with_key(object, "hosts", leaf.hosts.into());
    with_key(with_key(object, "uplinks", leaf.uplinks.into()), "ratio", leaf.ratio.into())
}

fn contributor_object(snapshot: &Snapshot, held: &CongestedAdapter, role: &str) -> Value {
    let object = with_key(waiting_object(snapshot, &held.at), "role", role.into());
    let why = match held.role {
        CongestionRole::Contributor(Evidence::OthersFallShort { others, arrived, .. }) => {
            json!({ "others_at_most": others, "arrived": arrived })
        }
        CongestionRole::Contributor(Evidence::NowhereElse { elsewhere, sent }) => {
            json!({ "elsewhere_at_most": elsewhere, "sent": sent })
        }
        CongestionRole::Victim { most, sent } => json!({ "to_hot_spots_at_most": most, "sent": sent }),
        CongestionRole::ContributorOrVictim | CongestionRole::FairShare | CongestionRole::Unknown => {
            Value::Null
        }
    };
    with_key(object, "bytes_per_second", why)
}

fn link_object(snapshot: &Snapshot, trouble: &LinkProblem) -> Value {
    let ends = snapshot.fabric().link(trouble.link);
    let (why, rate) = match trouble.why {
        LinkProblemKind::Errored { at, per_hour, at_least } => ("errored", Some((at, per_hour, at_least))),
        LinkProblemKind::Flaps { at, per_hour, at_least } => ("flaps", Some((at, per_hour, at_least))),
        LinkProblemKind::Degraded => ("degraded", None),
    };
    json!({
        "a": snapshot.port_name(ends.a),
        "b": snapshot.port_name(ends.b),
        "a_guid": guid_at(snapshot, ends.a),
        "b_guid": guid_at(snapshot, ends.b),
        "why": why,
        "counted_at": rate.map(|(at, ..)| snapshot.port_name(at)),
        "per_hour": rate.map(|(_, per_hour, _)| per_hour),
        "at_least": rate.is_some_and(|(.., at_least)| at_least),
    })
}

/// Schema of sweeps, each judged against the one before.
fn schema() -> SchemaProperties {
    let any = || json!({ "type": "number" });
    let names = || list(text());
    let numbers = ["others_at_most", "arrived", "elsewhere_at_most", "to_hot_spots_at_most", "sent"];
    let evidence = closed_with_numbers(vec![], &numbers);
    let waiting = |more: &'static str| {
        let mut keys = vec![
            ("port", text()),
            ("guid", guid()),
            ("counter", text()),
            ("ticks_per_second", any()),
            ("at_least", flag()),
            ("time_waited", nullable(any())),
            ("utilisation", nullable(any())),
        ];
        let roles = ["contributor", "contributor-or-victim", "victim", "fair-share", "unknown"];
        keys.extend((more == "role").then(|| (more, json!({ "enum": roles }))));
        keys.extend((more == "adapter").then(|| (more, text())));
        keys.extend((more == "adapter").then(|| ("adapter_guid", guid())));
        keys.extend((more == "leaf").then(|| (more, text())));
        keys.extend((more == "leaf").then(|| ("hosts", number())));
        keys.extend((more == "leaf").then(|| ("uplinks", number())));
        keys.extend((more == "leaf").then(|| ("ratio", any())));
        keys.extend((more == "role").then(|| ("bytes_per_second", nullable(evidence.clone()))));
        list(closed(keys))
    };
    let link = closed(vec![
        ("a", text()),
        ("b", text()),
        ("a_guid", guid()),
        ("b_guid", guid()),
        ("why", json!({ "enum": ["errored", "flaps", "degraded"] })),
        ("counted_at", nullable(text())),
        ("per_hour", nullable(any())),
        ("at_least", flag()),
    ]);
    let row = vec![
        ("ports", number()),
        ("hotspots", waiting("adapter")),
        ("held_up", waiting("role")),
        ("contributors", waiting("role")),
        ("victims", waiting("role")),
        ("on_the_way", waiting("")),
        ("oversubscribed", waiting("leaf")),
        ("links_too_narrow", flag()),
        ("stands_still", flag()),
        ("links", list(link)),
        ("untold", names()),
        ("cleared", names()),
        ("news", list(fabric_event_schema())),
    ];
    let thresholds = ["congestion", "fair_share", "errors_per_hour", "flaps_per_hour"];
    let thresholds = closed(thresholds.into_iter().map(|key| (key, any())).collect());
    let mut sweep = closed_with_numbers(row, &["seconds"]);
    if let Some(map) = sweep.get_mut("properties").and_then(Value::as_object_mut) {
        map.extend(["time", "from", "to", "links_since"].map(|key| (key.to_owned(), text())));
    }
    vec![("thresholds", thresholds), ("sweeps", list(sweep))]
}
