//! `hotspots`.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use jiff::Zoned;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::HotspotArgs;
use super::check::premises;
use super::context::Context;
use super::fabric_events::fabric_event_object;
use super::progress::ProgressMeter;
use super::table::write_pairs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::fabric_events::fabric_event_lines;
use crate::operations::watch::interval_verdict::{IntervalVerdict, role_word, verdict_lines};
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, Evidence, LinkProblem, LinkProblemKind,
    OversubscribedUplink, Thresholds, rates_of_growth, rates_of_samples, rates_of_sweeps,
};
use fabdeck_fabric::observe::{CounterGrowth, CounterSample, FabricEvent, Sweep};
use fabdeck_files::capture::TOO_SHORT;
use fabdeck_mad::access::{PastSweep, ReadOptions, Source, SourceError};

/// Default interval between two sweeps.
pub(super) const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);

pub fn run(context: &mut Context<'_, '_>, args: &HotspotArgs) -> Result<Exit, Failure> {
    context.refuse_filter("hotspots")?;
    let (snapshot, intervals) = match (&args.before, &args.after, args.seconds) {
        (Some(before), Some(after), Some(seconds)) => read_files(context, before, after, seconds)?,
        _ => read_sweeps(context, args)?,
    };
    if intervals.iter().any(|interval| interval.watched.ports == 0) {
        context.conclude(&snapshot);
        return Err(Failure::new(
            Exit::Failed,
            "FD-7941: no port of this fabric has counters in both readings; check the notes, and that both readings \
             are of this fabric",
        ));
    }
    write(context, &snapshot, &intervals, args.top)?;
    let concluded = context.conclude(&snapshot);
    Ok(if intervals.iter().any(HotspotInterval::has_findings) { Exit::Findings } else { concluded })
}

/// Reads sweeps from a live fabric, one more than intervals.
fn read_sweeps(
    context: &mut Context<'_, '_>,
    args: &HotspotArgs,
) -> Result<(Snapshot, Vec<HotspotInterval>), Failure> {
    let interval = args.interval.unwrap_or(DEFAULT_INTERVAL);
    let mut source = context.open_source(context.named_source()?)?;
    // Forwarding tables distinguish contributors from victims.
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let mut snapshot = context.read_snapshot_through(source.as_mut(), wanted)?;
    if let Some(growth) =
        snapshot.observation.growth.take().filter(|_| args.interval.is_none() && args.count == 1)
    {
        let interval = interval_of_growth(context, &snapshot, &growth);
        return Ok((snapshot, vec![interval]));
    }
    let back = source.rewind(&mut snapshot.observation, interval * args.count);
    back.map_err(|error| if args.interval.is_none() { explain_default_interval(error) } else { error })?;
    let first = sweep(context, source.as_mut(), &mut snapshot, Duration::ZERO)?;
    let (mut before, mut all) = (first.clone(), Vec::new());
    let mut seen = Rc::new(snapshot.clone());
    let first_began = SweepMoment::of(&snapshot, &first);
    let mut from = first_began.clone();
    // Changes between the snapshot and the first sweep are reported with the first interval.
    let mut news = first.news.clone();
    for _ in 0..args.count {
        let after = sweep(context, source.as_mut(), &mut snapshot, before.began + interval)?;
        if after.fabric.is_some() {
            seen = Rc::new(snapshot.clone());
        }
        news.extend_from_slice(&after.news);
        let fabric = snapshot.fabric();
        let rates = rates_of_sweeps(fabric, &before, &after).with_ticks(fabric, &snapshot.observation.ticks);
        // A recording has errors from before the first of these sweeps.
        let past = source.past_sweep()?.filter(|past| past.sweep.began < first.began);
        let since = rates_of_sweeps(fabric, past.as_ref().map_or(&first, |past| &*past.sweep), &after);
        let seconds = (after.began - before.began).as_secs_f64();
        let watched = IntervalVerdict::new(&snapshot, (&rates, seconds), since, &context.config.hotspots);
        let to = SweepMoment::of(&snapshot, &after);
        let since = match past {
            Some(PastSweep { time, .. }) => Some(LinksSince::Recorded(time)),
            None => (!all.is_empty()).then(|| LinksSince::First(first_began.clone())),
        };
        let basis = VerdictBasis::Sweeps { from, to: to.clone(), since };
        all.push(HotspotInterval { snapshot: seen.clone(), watched, basis, news: std::mem::take(&mut news) });
        (before, from) = (after, to);
    }
    source.end_watch(&mut snapshot.observation);
    Ok((snapshot, all))
}

/// Builds the interval from growth that the source itself states.
fn interval_of_growth(
    context: &Context<'_, '_>,
    snapshot: &Snapshot,
    growth: &CounterGrowth,
) -> HotspotInterval {
    let rates = rates_of_growth(snapshot.fabric(), growth);
    let seconds = growth.over.as_secs_f64();
    let watched = IntervalVerdict::new(snapshot, (&rates, seconds), rates.clone(), &context.config.hotspots);
    let basis = VerdictBasis::Growth { stated: growth.stated };
    HotspotInterval { snapshot: Rc::new(snapshot.clone()), watched, basis, news: Vec::new() }
}

/// Adds to the error of a short capture that the interval is the default, because the operator gave none.
pub(super) fn explain_default_interval(error: SourceError) -> SourceError {
    match error {
        SourceError::Name { code: TOO_SHORT, what, hint } => {
            let usual = DEFAULT_INTERVAL.as_secs();
            let what = format!("{what} (the default of {usual} s, because no --interval is given)");
            SourceError::Name { code: TOO_SHORT, what, hint }
        }
        other => other,
    }
}

pub(super) fn sweep(
    context: &mut Context<'_, '_>,
    source: &mut dyn Source,
    snapshot: &mut Snapshot,
    not_before: Duration,
) -> Result<Sweep, Failure> {
    let mut meter = ProgressMeter::new(context.output.err, context.progress).with_stop(context.stop.as_ref());
    let swept = source.sweep(&mut snapshot.observation, not_before, &mut meter);
    meter.clear();
    let swept = swept?;
    if swept.fabric.is_some() {
        snapshot.update_names();
    }
    Ok(swept)
}

/// Compares two files with counters, on the fabric of `--source`.
fn read_files(
    context: &mut Context<'_, '_>,
    before: &Path,
    after: &Path,
    seconds: f64,
) -> Result<(Snapshot, Vec<HotspotInterval>), Failure> {
    let mut snapshot = context.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
    let basis = VerdictBasis::Files(before.display().to_string(), after.display().to_string());
    let before = read_samples(context, &mut snapshot, before)?;
    let after = read_samples(context, &mut snapshot, after)?;
    let rates = rates_of_samples(snapshot.fabric(), &before, &after, seconds);
    let watched = IntervalVerdict::new(&snapshot, (&rates, seconds), rates.clone(), &context.config.hotspots);
    let interval = HotspotInterval { snapshot: Rc::new(snapshot.clone()), watched, basis, news: Vec::new() };
    Ok((snapshot, vec![interval]))
}

fn read_samples(
    context: &Context<'_, '_>,
    snapshot: &mut Snapshot,
    file: &Path,
) -> Result<Vec<CounterSample>, Failure> {
    let seen = context
        .outside
        .open_files(&[file.to_owned()])?
        .observe(ReadOptions::default(), &mut fabdeck_mad::access::NoObserver)?;
    snapshot.observation.notes.extend(seen.notes);
    Ok(seen.counters)
}

/// Verdict of one interval, with the fabric at its end, because a change of the fabric can change ids.
struct HotspotInterval {
    snapshot: Rc<Snapshot>,
    watched: IntervalVerdict,
    basis: VerdictBasis,
    news: Vec<FabricEvent>,
}

/// Time of a sweep.
#[derive(Clone)]
enum SweepMoment {
    /// Time of the recording's clock, or of this machine's.
    Clock(String),
    /// Seconds of a simulator's own time.
    Simulated(f64),
    Unknown,
}

impl SweepMoment {
    /// Time of the sweep that was just read.
    fn of(snapshot: &Snapshot, sweep: &Sweep) -> Self {
        match (&snapshot.observation.time, &snapshot.observation.reading) {
            (Some(time), _) => Self::Clock(time.clone()),
            (None, Some(reading)) if reading.virtual_time => Self::Simulated(sweep.began.as_secs_f64()),
            (None, Some(_)) => {
                let began = Zoned::now().checked_sub(sweep.took);
                began.map_or(Self::Unknown, |time| {
                    Self::Clock(time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string())
                })
            }
            (None, None) => Self::Unknown,
        }
    }

    fn words(&self) -> Option<String> {
        match self {
            Self::Clock(time) => Some(time.clone()),
            Self::Simulated(seconds) => Some(format!("{seconds:.1} s")),
            Self::Unknown => None,
        }
    }

    fn clock(&self) -> Option<String> {
        self.words().filter(|_| matches!(self, Self::Clock(_)))
    }
}

/// The two observations behind a verdict.
enum VerdictBasis {
    /// Two sweeps, and the start of the time over which links are judged, if that time is longer.
    Sweeps { from: SweepMoment, to: SweepMoment, since: Option<LinksSince> },
    /// Two files.
    Files(String, String),
    /// Growth that the source states, and whether it states the duration too.
    Growth { stated: bool },
}

/// Start of the time over which links are judged.
enum LinksSince {
    /// The first of the requested sweeps.
    First(SweepMoment),
    /// An earlier sweep of a recording, with its time.
    Recorded(String),
}

impl LinksSince {
    fn words(&self) -> String {
        match self {
            Self::First(first) => {
                first.words().map_or("the first sweep".to_owned(), |at| format!("{at}, the first sweep"))
            }
            Self::Recorded(time) => format!("{time}, an earlier sweep of the capture"),
        }
    }

    fn clock(&self) -> Option<String> {
        match self {
            Self::First(first) => first.clock(),
            Self::Recorded(time) => Some(time.clone()),
        }
    }
}

impl VerdictBasis {
    fn line(&self, seconds: f64) -> (&'static str, String) {
        let words = match self {
            Self::Files(before, after) => {
                format!("the counters in {before} to those in {after}, {seconds:.1} s later (--seconds)")
            }
            Self::Growth { stated } => {
                let time = if *stated { "from --pm_pause_time" } else { "ibdiagnet's default pause" };
                format!("the growth in PM_DELTA, over {seconds:.0} s, {time}")
            }
            Self::Sweeps { from, to, since } => {
                let own = if matches!(from, SweepMoment::Simulated(_)) { " of simulated time" } else { "" };
                let between = match from.words().zip(to.words()) {
                    Some((from, to)) => format!("{from} to {to}{own}, the starts of two sweeps"),
                    None => format!("one sweep to another, {seconds:.1} s later"),
                };
                match since {
                    Some(since) => format!("{between}; links since {}", since.words()),
                    None => between,
                }
            }
        };
        ("from", words)
    }

    /// Times of both sweeps and of the start for links, as far as a clock is known.
    fn clocks(&self) -> [Option<String>; 3] {
        match self {
            Self::Sweeps { from, to, since } => {
                [from.clock(), to.clock(), since.as_ref().and_then(LinksSince::clock)]
            }
            Self::Files(..) | Self::Growth { .. } => [None, None, None],
        }
    }
}

impl HotspotInterval {
    fn has_findings(&self) -> bool {
        self.watched.has_findings() || self.news.iter().any(FabricEvent::is_trouble)
    }
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
    fn new(HotspotInterval { snapshot, watched, basis, news }: &HotspotInterval, times: bool) -> Self {
        let verdict = &watched.verdict;
        let no_hot_spot = verdict.hot_spots.is_empty();
        let held_up: Vec<Value> = verdict
            .congested_adapters
            .iter()
            .map(|held| contributor_object(snapshot, held, no_hot_spot))
            .collect();
        let with_role = |roles: &[&str]| {
            let wanted = |held: &&Value| held["role"].as_str().is_some_and(|role| roles.contains(&role));
            held_up.iter().filter(wanted).cloned().collect()
        };
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
            contributors: with_role(&["contributor", "contributor-or-victim"]),
            victims: with_role(&["victim"]),
            held_up,
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

/// `no_hot_spot`: no adapter is a hot-spot, so there is no contributor.
fn contributor_object(snapshot: &Snapshot, held: &CongestedAdapter, no_hot_spot: bool) -> Value {
    let role = match held.role {
        CongestionRole::ContributorOrVictim if no_hot_spot => "victim",
        role => role_word(role),
    };
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
