//! `hotspots`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::check::{adaptive_line, premises};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::{JsonType, Sorted, json_type, json_type_of, words_schema};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::counter_watch::{
    CONTRIBUTOR_ROLES, HotspotInterval, VICTIM_ROLES, WatchReport, WatchRequest, watch_counters,
};
use crate::operations::watch::fabric_events::fabric_event_lines;
use crate::operations::watch::interval_verdict::verdict_lines;
use crate::script::answer::{Lines, json_answer};
use crate::script::argument_values::{duration, seconds};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::fabric_events::FabricEventObject;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, Evidence, LikelyRole, LinkProblem, LinkProblemKind,
    OversubscribedUplink, Thresholds,
};
use fabdeck_fabric::{Guid, PortId};

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
.json(&[JsonSchema::answer::<HotspotsAnswer<'_>>("hotspots")]);

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
        _ => WatchRequest::Sweeps { interval: args.interval, count: args.count, whole: false },
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
    let thresholds = context.options.thresholds.clone();
    if context.output.json {
        let times = !context.options.no_times;
        let sweeps = Lines::of(intervals.iter().map(|interval| IntervalRow::new(interval, times)));
        let answer = HotspotsAnswer { thresholds: Sorted(&thresholds), sweeps };
        return context.write_answer("hotspots", snapshot, answer);
    }
    let mut head = premises(snapshot);
    head.extend(adaptive_line(snapshot, "they prove the role of no host"));
    context.output.write_pairs(&head)?;
    for (at, HotspotInterval { snapshot, watched, basis, news }) in intervals.iter().enumerate() {
        if at > 0 {
            writeln!(context.output.out)?;
        }
        let mut lines = vec![basis.line(watched.seconds)];
        lines.extend(verdict_lines(snapshot, watched, &thresholds, most));
        lines.extend(fabric_event_lines(snapshot, news, most));
        context.output.write_pairs(&lines)?;
    }
    Ok(())
}

json_answer! {
    struct HotspotsAnswer<'a> {
        thresholds: Sorted<&'a Thresholds>,
        sweeps: Lines<'a, IntervalRow>,
    }
}

json_type_of! {
    struct Thresholds { congestion, fair_share, errors_per_hour, flaps_per_hour, brief_wait }
}

json_type! {
    /// JSON of an interval. `--no-times` leaves its seconds out too.
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
        hotspots: Sorted<Vec<HotspotObject>>,
        /// Adapters that wait, each with its role.
        waiting_adapters: Sorted<Vec<ContributorObject>>,
        /// Adapters of `waiting_adapters` that contribute to a hot-spot, certainly or possibly.
        contributors: Sorted<Vec<ContributorObject>>,
        /// Adapters of `waiting_adapters` that certainly are victims.
        victims: Sorted<Vec<ContributorObject>>,
        on_the_path: Sorted<Vec<WaitingPort>>,
        /// Ports between switches whose hosts can send more than the port carries.
        oversubscribed: Sorted<Vec<UplinkObject>>,
        links_too_narrow: bool,
        /// Whether ports wait and send nothing.
        stalled: bool,
        links: Sorted<Vec<LinkObject>>,
        untold: Vec<String>,
        cleared: Vec<String>,
        news: Sorted<Vec<FabricEventObject>>,
    }
}

impl IntervalRow {
    fn new(interval: &HotspotInterval, times: bool) -> Self {
        let HotspotInterval { snapshot, watched, basis, news } = interval;
        let verdict = &watched.verdict;
        let object = |held: &CongestedAdapter| ContributorObject::new(snapshot, held, interval.role_of(held));
        let with_roles = |roles| Sorted(interval.adapters_with_role(roles).map(object).collect());
        let [from, to, links_since] = if times { basis.clocks() } else { [None, None, None] };
        let names = |ports: &[_]| ports.iter().map(|port| snapshot.port_name(*port)).collect();
        Self {
            seconds: times.then_some(watched.seconds),
            time: to.clone(),
            from,
            to,
            links_since,
            ports: watched.ports,
            hotspots: Sorted(
                verdict
                    .hot_spots
                    .iter()
                    .map(|hot| HotspotObject {
                        at: WaitingPort::new(snapshot, &hot.at),
                        adapter: snapshot.port_name(hot.adapter),
                        adapter_guid: guid_at(snapshot, hot.adapter),
                    })
                    .collect(),
            ),
            contributors: with_roles(CONTRIBUTOR_ROLES),
            victims: with_roles(VICTIM_ROLES),
            waiting_adapters: Sorted(verdict.congested_adapters.iter().map(object).collect()),
            on_the_path: Sorted(
                verdict.congested_ports.iter().map(|at| WaitingPort::new(snapshot, at)).collect(),
            ),
            oversubscribed: Sorted(
                verdict.oversubscribed.iter().map(|leaf| UplinkObject::new(snapshot, leaf)).collect(),
            ),
            links_too_narrow: verdict.has_narrow_links() && !verdict.is_stalled(),
            stalled: verdict.is_stalled(),
            links: Sorted(
                watched.troubles.iter().map(|trouble| LinkObject::new(snapshot, trouble)).collect(),
            ),
            untold: names(&verdict.unknown_ports),
            cleared: names(&watched.cleared),
            news: Sorted(news.iter().map(|news| FabricEventObject::new(snapshot, news)).collect()),
        }
    }
}

json_type! {
    struct WaitingPort {
        port: String,
        guid: Guid,
        counter: &'static str,
        ticks_per_second: f64,
        at_least: bool,
        time_waited: Option<f64>,
        utilisation: Option<f64>,
    }

    struct HotspotObject {
        #[serde(flatten)]
        at: WaitingPort,
        adapter: String,
        adapter_guid: Guid,
    }

    struct UplinkObject {
        #[serde(flatten)]
        at: WaitingPort,
        leaf: String,
        hosts: usize,
        uplinks: usize,
        ratio: f64,
    }

    struct ContributorObject {
        #[serde(flatten)]
        at: WaitingPort,
        role: AdapterRole,
        bytes_per_second: Option<RoleEvidence>,
        /// The role that earlier intervals suggest, where this one proves none.
        likely: Option<LikelyWord>,
        /// Bytes per second that it sends to the hot-spot that it can send most to; null if not computed.
        to_hot_spot: Option<HotSpotRange>,
    }

    struct HotSpotRange {
        hot_spot: String,
        at_least: f64,
        at_most: f64,
    }

    #[serde(rename_all = "kebab-case")]
    enum LikelyWord {
        Contributor,
        Victim,
    }

    /// What proves a role: the numbers that were compared.
    #[derive(Default)]
    struct RoleEvidence {
        #[serde(skip_serializing_if = "Option::is_none")]
        others_at_most: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arrived: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        elsewhere_at_most: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        to_hot_spots_at_most: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        to_hot_spot_at_least: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sent: Option<f64>,
    }

    struct LinkObject {
        a: String,
        b: String,
        a_guid: Guid,
        b_guid: Guid,
        why: LinkTrouble,
        counted_at: Option<String>,
        per_hour: Option<f64>,
        at_least: bool,
    }

    #[serde(rename_all = "kebab-case")]
    enum LinkTrouble {
        Errored,
        Discards,
        Flaps,
        Degraded,
    }
}

/// The word for the role of an adapter that waits.
#[derive(Serialize)]
struct AdapterRole(&'static str);

impl JsonType for AdapterRole {
    fn schema() -> serde_json::Value {
        words_schema(["contributor", "undecided", "victim", "fair-share", "unknown"])
    }
}

impl WaitingPort {
    fn new(snapshot: &Snapshot, at: &CongestedPort) -> Self {
        Self {
            port: snapshot.port_name(at.port),
            guid: guid_at(snapshot, at.port),
            counter: "PortXmitWait",
            ticks_per_second: at.congestion,
            at_least: at.at_least,
            time_waited: at.time_waited,
            utilisation: at.utilisation,
        }
    }
}

/// GUID of the node of a port.
fn guid_at(snapshot: &Snapshot, port: PortId) -> Guid {
    snapshot.fabric().node(snapshot.fabric().port(port).node).guid()
}

impl UplinkObject {
    fn new(snapshot: &Snapshot, leaf: &OversubscribedUplink) -> Self {
        Self {
            at: WaitingPort::new(snapshot, &leaf.at),
            leaf: snapshot.name(leaf.leaf).to_owned(),
            hosts: leaf.hosts,
            uplinks: leaf.uplinks,
            ratio: leaf.ratio,
        }
    }
}

impl ContributorObject {
    fn new(snapshot: &Snapshot, held: &CongestedAdapter, role: &'static str) -> Self {
        let none = RoleEvidence::default();
        let why = match held.role {
            CongestionRole::Contributor(Evidence::OthersFallShort { others, arrived, .. }) => {
                Some(RoleEvidence { others_at_most: Some(others), arrived: Some(arrived), ..none })
            }
            CongestionRole::Contributor(Evidence::NowhereElse { elsewhere, sent }) => {
                Some(RoleEvidence { elsewhere_at_most: Some(elsewhere), sent: Some(sent), ..none })
            }
            CongestionRole::Contributor(Evidence::AllChannels { least, sent, .. }) => {
                Some(RoleEvidence { to_hot_spot_at_least: Some(least), sent: Some(sent), ..none })
            }
            CongestionRole::Victim { most, sent } => {
                Some(RoleEvidence { to_hot_spots_at_most: Some(most), sent: Some(sent), ..none })
            }
            CongestionRole::Undecided | CongestionRole::FairShare | CongestionRole::Unknown => None,
        };
        let likely = held.likely.map(|likely| match likely {
            LikelyRole::Contributor(_) => LikelyWord::Contributor,
            LikelyRole::Victim { .. } => LikelyWord::Victim,
        });
        let to_hot_spot = held.flow.map(|flow| HotSpotRange {
            hot_spot: snapshot.port_name(flow.hot_spot),
            at_least: flow.least,
            at_most: flow.most,
        });
        Self {
            at: WaitingPort::new(snapshot, &held.at),
            role: AdapterRole(role),
            bytes_per_second: why,
            likely,
            to_hot_spot,
        }
    }
}

impl LinkObject {
    fn new(snapshot: &Snapshot, trouble: &LinkProblem) -> Self {
        let ends = snapshot.fabric().link(trouble.link);
        let (why, rate) = match trouble.why {
            LinkProblemKind::Errored { at, per_hour, at_least } => {
                (LinkTrouble::Errored, Some((at, per_hour, at_least)))
            }
            LinkProblemKind::Discards { at, per_hour, at_least } => {
                (LinkTrouble::Discards, Some((at, per_hour, at_least)))
            }
            LinkProblemKind::Flaps { at, per_hour, at_least } => {
                (LinkTrouble::Flaps, Some((at, per_hour, at_least)))
            }
            LinkProblemKind::Degraded => (LinkTrouble::Degraded, None),
        };
        Self {
            a: snapshot.port_name(ends.a),
            b: snapshot.port_name(ends.b),
            a_guid: guid_at(snapshot, ends.a),
            b_guid: guid_at(snapshot, ends.b),
            why,
            counted_at: rate.map(|(at, ..)| snapshot.port_name(at)),
            per_hour: rate.map(|(_, per_hour, _)| per_hour),
            at_least: rate.is_some_and(|(.., at_least)| at_least),
        }
    }
}
