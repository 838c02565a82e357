//! `simulate --pattern`.

use std::path::Path;

use clap::Args;

use super::check;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::LaneReading;
use crate::operations::preview::engine_names;
use crate::operations::preview::engine_request::{MarkRequest, read_faults};
use crate::operations::traffic::{
    DeadlockReport, FlowRate, HostRate, TrafficOptions, TrafficReport, TrafficRoutes, TrafficRunEnd,
    flow_between, simulate,
};
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::argument_values::moment;
use crate::script::context::Context;
use crate::script::table::write_pairs;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Faults, ServiceLevel};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::Request;
use fabdeck_simulator::Share;
use fabdeck_simulator::traffic::{
    Flow, PATTERN_NAMES, PatternName, PatternOptions, TrafficPattern, TrafficSettings,
};

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

pub fn run(
    context: &mut Context<'_, '_>,
    pattern: Option<&str>,
    args: &TrafficArgs,
) -> Result<Exit, Failure> {
    let Some(pattern) = pattern else {
        return Err(Failure::usage(format!(
            "FD-7801: give --pattern ({PATTERN_NAMES}), which runs traffic, or --serve SOCKET, which runs the fabric for other \
             processes"
        )));
    };
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let (snapshot, in_force) = match args.engine {
        // The engine's routes have their own lanes, so those in force do not count.
        Some(_) => lanes_in_force::read_snapshot_without_lanes(&mut context.operation(), wanted)?,
        None => lanes_in_force::read_snapshot(
            &mut context.operation(),
            wanted,
            LaneReading { choice: args.lanes_in_force, switches: false },
        )?,
    };
    let marks = MarkRequest { elements: args.fail.clone(), random: args.fail_random, seed: args.seed };
    let faults = read_faults(&mut context.operation(), &snapshot, &marks)?;
    let asked = read_traffic_args(context, &snapshot, pattern, args)?;
    let routes = match &args.engine {
        Some(id) => {
            let (engine, manager) = (engine_names::engine_named(id)?, snapshot.manager());
            let request = Request { manager, ..Request::default() }
                .with_lanes(args.lanes, context.options.supposed_lanes);
            context.operation().run_with_progress(engine.id, |progress| {
                TrafficRoutes::from_engine(&snapshot, &faults, engine, &request, progress)
            })?
        }
        None if snapshot.observation.tables.has_forwarding() => {
            TrafficRoutes::from_tables(&snapshot, &faults, in_force.sent())
        }
        None => {
            return Err(Failure::usage(
                "FD-7803: the source has no forwarding tables for packets to follow; name an engine with --engine, or put \
                 a dump of tables beside the topology (dump_lfts, opensm-lfts.dump)",
            ));
        }
    };
    let report =
        simulate(&snapshot, &faults, &routes, &asked).map_err(|error| Failure::usage(error.to_string()))?;
    write(context, &snapshot, &faults, pattern, &report)?;
    let concluded = context.conclude(&snapshot);
    Ok(if report.has_findings() { Exit::Findings } else { concluded })
}

fn read_traffic_args(
    context: &Context<'_, '_>,
    snapshot: &Snapshot,
    pattern: &str,
    args: &TrafficArgs,
) -> Result<TrafficOptions, Failure> {
    let share = Share::parse(&args.share).ok_or_else(|| {
        Failure::usage(format!("FD-7804: '{}' is not a share; write a percentage, as in 5%", args.share))
    })?;
    let level = args.slow_level.and_then(|level| ServiceLevel::new(level.into()));
    let details = PatternOptions { spots: args.spots, share, level, message: args.message };
    let pattern = match PatternName::parse(pattern, details) {
        Some(PatternName::Pattern(pattern)) => pattern,
        Some(PatternName::Flows(file)) => {
            TrafficPattern::Flows(read_flows(context, snapshot, Path::new(&file))?)
        }
        None => {
            return Err(Failure::usage(format!(
                "FD-7802: '{pattern}' is not a pattern; the patterns are {PATTERN_NAMES}"
            )));
        }
    };
    let settings = TrafficSettings {
        payload: args.payload,
        host_limit_mbps: args.host_limit.map(|gbps| (gbps * 1000.0) as u32),
        load: args.load,
        seed: args.seed,
        ..TrafficSettings::default()
    };
    let (for_ns, until_steady, rows) = (args.time_ns, args.until_steady, args.top);
    Ok(TrafficOptions { pattern, settings, for_ns, until_steady, rows })
}

/// Reads the flows of a file. An unknown end is a mistake in the file.
fn read_flows(context: &Context<'_, '_>, snapshot: &Snapshot, file: &Path) -> Result<Vec<Flow>, Failure> {
    let mut flows = Vec::new();
    for line in context.outside.flows(file).map_err(Failure::from_list_error)? {
        let flow = flow_between(snapshot, &line.from, &line.to).map_err(|error| {
            let place = format!("{}:{}", file.display(), line.number);
            Failure::new(Exit::BadInput, format!("{place}: FD-7805: {error}; correct the line"))
        })?;
        flows.push(Flow { level: line.level, mbps: line.mbps, ..flow });
    }
    Ok(flows)
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    faults: &Faults,
    pattern: &str,
    report: &TrafficReport,
) -> Result<(), Failure> {
    let failed: Vec<String> =
        faults.elements(snapshot.fabric(), &snapshot.names).iter().map(ToString::to_string).collect();
    if context.output.json {
        let answer = ThroughputAnswer { pattern, failed, report: SortedKeys(report) };
        return context.write_answer("throughput", snapshot, answer);
    }
    let mut lines = check::premises(snapshot);
    lines.push(("pattern", format!("{pattern} among {} hosts", digits_in_groups(report.hosts))));
    lines.push(("routes", format!("{}, {}", report.routes, lanes(report.lanes))));
    lines.extend((!failed.is_empty()).then(|| ("failed", failed.join(", "))));
    lines.push(("simulated", simulated(report)));
    lines.extend(results(report));
    write_pairs(context.output.out, (context.output.paint, context.output.page), &lines)?;
    Ok(())
}

fn lanes(count: u64) -> String {
    if count == 1 { "1 lane".to_owned() } else { format!("{count} lanes") }
}

fn simulated(report: &TrafficReport) -> String {
    let micros = report.simulated_ns as f64 / 1000.0;
    let ended = match report.ended {
        TrafficRunEnd::Time if report.steady => "the rates have settled",
        TrafficRunEnd::Time => "the rates have not settled",
        TrafficRunEnd::Steady => "ended when the rates had settled",
        TrafficRunEnd::Finished => "ended when all packets had arrived",
        TrafficRunEnd::Deadlock => "ended in a deadlock",
    };
    let time = |micros: f64| digits_in_groups(format_args!("{micros:.1}"));
    let warm_up = time(report.warm_up_ns as f64 / 1000.0);
    format!("{} us, of which {warm_up} before measuring; {ended}", time(micros))
}

fn results(report: &TrafficReport) -> Vec<(&'static str, String)> {
    let TrafficReport { total_gbps, mean_gbps, min_gbps, max_gbps, latency_ns, .. } = report;
    let mut lines = vec![(
        "throughput",
        format!(
            "{} Gb/s in total; per host {mean_gbps:.3}, {min_gbps:.3} to {max_gbps:.3}",
            digits_in_groups(format_args!("{total_gbps:.3}"))
        ),
    )];
    lines
        .extend(report.exchange_gbps.map(|gbps| ("exchange", format!("{gbps:.3} Gb/s over its whole time"))));
    lines.push((
        "latency",
        format!(
            "{} ns mean, {} median, {} for 99 %, {} maximum",
            digits_in_groups(latency_ns.mean),
            digits_in_groups(latency_ns.median),
            digits_in_groups(latency_ns.p99),
            digits_in_groups(latency_ns.max)
        ),
    ));
    let shares = report.lane_shares.iter().map(|used| format!("{}: {:.1} %", used.lane, used.share * 100.0));
    lines.push(("lanes", shares.collect::<Vec<_>>().join(", ")));
    let lost = format!(
        "{} lost ({} at ports that are down, {} without a route)",
        digits_in_groups(report.packets_lost),
        digits_in_groups(report.discards),
        digits_in_groups(report.relay_errors)
    );
    lines.push((
        "packets",
        format!(
            "{} sent, {} arrived, {lost}",
            digits_in_groups(report.packets_sent),
            digits_in_groups(report.packets_arrived)
        ),
    ));
    lines.extend(rows_under_title("hosts", "", report.top_hosts.iter().map(host)));
    lines.extend(rows_under_title("  least", "", report.bottom_hosts.iter().map(host)));
    lines.extend(rows_under_title("flows", "", report.top_flows.iter().map(flow)));
    lines.extend(rows_under_title("  least", "", report.bottom_flows.iter().map(flow)));
    let waiting = report.waiting_ports.iter();
    let waiting = waiting.map(|port| {
        format!("{} {:.1} %, {} ticks", port.port, port.share * 100.0, digits_in_groups(port.ticks))
    });
    lines.extend(rows_under_title("waiting", "no port waits", waiting));
    lines.extend(deadlock(report.deadlock.as_ref()));
    lines
}

/// Rows under one title.
fn rows_under_title(
    title: &'static str,
    none: &str,
    rows: impl Iterator<Item = String>,
) -> Vec<(&'static str, String)> {
    let mut rows: Vec<String> = rows.collect();
    if rows.is_empty() && !none.is_empty() {
        rows.push(none.to_owned());
    }
    let titles = std::iter::once(title).chain(std::iter::repeat(""));
    titles.zip(rows).collect()
}

fn host(rate: &HostRate) -> String {
    format!("{} receives {:.3} Gb/s, sends {:.3}", rate.host, rate.received_gbps, rate.sent_gbps)
}

fn flow(rate: &FlowRate) -> String {
    format!("{} to {}: {:.3} Gb/s on level {}", rate.from, rate.to, rate.gbps, rate.service_level)
}

fn deadlock(found: Option<&DeadlockReport>) -> Vec<(&'static str, String)> {
    let Some(found) = found else { return vec![("deadlock", "none".to_owned())] };
    let count = found.circle.len();
    let mut lines = vec![(
        "deadlock",
        format!("{count} buffers wait for each other; {} blocked by them", found.stuck_buffers),
    )];
    let held = found.circle.iter();
    let held =
        held.map(|held| format!("{} on lane {}: {} to {}", held.channel, held.lane, held.from, held.to));
    lines.extend(rows_under_title("  cycle", "", held));
    lines
}

json_answer! {
    pub struct ThroughputAnswer<'a> {
        pattern: &'a str,
        failed: Vec<String>,
        report: SortedKeys<&'a TrafficReport>,
    }
}
