//! `simulate --pattern`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::check;
use super::route_args::EngineInputArgs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::preview::engine_request::{EngineOptions, MarkRequest};
use crate::operations::traffic::traffic_run::{
    DeadlockReport, FlowRate, HostRate, RateSample, TrafficReport, TrafficRunEnd,
};
use crate::operations::traffic::traffic_study::{
    MixedRequest, TrafficRequest, TrafficRouteChoice, TrafficStudy, study_traffic,
};
use crate::script::answer::{SortedKeys, json_answer};
use crate::script::argument_values::moment;
use crate::script::context::Context;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_simulator::traffic::{PATTERN_NAMES, TrafficSettings};

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
    #[arg(long, value_name = "K", requires = "engine", value_parser = clap::value_parser!(u8).range(1..=15))]
    pub lanes: Option<u8>,
    #[command(flatten)]
    pub input: EngineInputArgs,
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
    /// Bytes that the input buffer of each lane holds; one packet at least
    #[arg(long, value_name = "BYTES", default_value_t = 16384)]
    pub buffer: u32,
    /// Number of packets that the output buffer of each lane holds at the ports of switches
    #[arg(long, value_name = "PACKETS", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub output_buffer: u8,
    /// Time over a cable in nanoseconds
    #[arg(long, value_name = "NS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub flight: u64,
    /// Time through a switch in nanoseconds, from the first byte in to the first byte out
    #[arg(long, value_name = "NS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub forwarding: u64,
    /// Send on levels 0 to K-1 in turns, level i on lane i, in place of the levels of paths and of SL2VL and arbitration
    /// tables; a flow of a list keeps one level
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=15), conflicts_with_all = ["lanes_in_force", "slow_level"])]
    pub lanes_spread: Option<u8>,
    /// For hotspot: number of hot-spots; the hosts form as many groups, with one hot-spot each (default: 1)
    #[arg(long, value_name = "N")]
    pub spots: Option<u32>,
    /// For hotspot: share of its packets that each host sends to the hot-spot of its group (default: 5%)
    #[arg(long, value_name = "SHARE")]
    pub share: Option<String>,
    /// For hotspot: service level of the packets to hot-spots, for a lane of their own (the slow lane)
    #[arg(long, value_name = "SL", value_parser = clap::value_parser!(u8).range(0..=15))]
    pub slow_level: Option<u8>,
    /// For shift and pingpong: number of packets in each message (default: 1)
    #[arg(long, value_name = "N")]
    pub message: Option<u32>,
    /// Only the hosts of this list of jobs take part in the pattern (docs/jobs.md has the forms of lists)
    #[arg(long, value_name = "FILE")]
    pub among: Option<PathBuf>,
    /// Run flows of other hosts and of switches beside the pattern: a flow 'SRC DST' on each line
    #[arg(long, value_name = "FILE")]
    pub beside: Option<PathBuf>,
    /// Let each switch send this share of 2 Gb/s to other switches, each packet to one drawn from all
    #[arg(long, value_name = "SHARE")]
    pub switch_load: Option<String>,
    /// Service level of the packets of switches, for a lane of their own
    #[arg(long, value_name = "SL", value_parser = clap::value_parser!(u8).range(0..=15), requires = "switch_load")]
    pub switch_level: Option<u8>,
    /// Print the rates of hosts, switches and listed flows over time, for each interval of this length: 10us and multiples of it
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub every: Option<u64>,
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
    if args.engine.is_none() && args.input != EngineInputArgs::default() {
        return Err(Failure::usage(
            "FD-7807: --tables, --levels, --torus, --dimension-ports, --spread-lanes and --plain-search are for an engine: name it \
             with --engine",
        ));
    }
    refuse_useless_options(pattern, args)?;
    let study = study_traffic(&mut context.operation(), &traffic_request(pattern, args))?;
    write(context, pattern, &study)?;
    let concluded = context.conclude(&study.snapshot);
    Ok(if study.report.has_findings() { Exit::Findings } else { concluded })
}

/// Options that this pattern has no use for, and an interval that does not end, were meant to have an effect.
fn refuse_useless_options(pattern: &str, args: &TrafficArgs) -> Result<(), Failure> {
    let options: [(&str, bool, &[&str]); 4] = [
        ("--spots", args.spots.is_some(), &["hotspot"]),
        ("--share", args.share.is_some(), &["hotspot"]),
        ("--slow-level", args.slow_level.is_some(), &["hotspot"]),
        ("--message", args.message.is_some(), &["shift", "pingpong"]),
    ];
    let useless = options.iter().find(|(_, given, patterns)| *given && !patterns.contains(&pattern));
    if let Some((option, _, patterns)) = useless {
        let patterns = patterns.join(" and ");
        return Err(Failure::usage(format!(
            "FD-7808: {option} is for the pattern {patterns}, not for {pattern}; leave it out"
        )));
    }
    if args.every.is_some_and(|every| every > args.time_ns) {
        return Err(Failure::usage(
            "FD-7809: --every is longer than the simulated time; give a longer one with --for",
        ));
    }
    Ok(())
}

fn traffic_request<'a>(pattern: &'a str, args: &'a TrafficArgs) -> TrafficRequest<'a> {
    TrafficRequest {
        pattern,
        spots: args.spots.unwrap_or(1),
        share: args.share.as_deref().unwrap_or("5%"),
        slow_level: args.slow_level,
        message: args.message.unwrap_or(1),
        settings: TrafficSettings {
            payload: args.payload,
            buffer: args.buffer,
            output_buffer: args.output_buffer,
            flight: Duration::from_nanos(args.flight),
            forwarding: Duration::from_nanos(args.forwarding),
            host_limit_mbps: args.host_limit.map(|gbps| (gbps * 1000.0) as u32),
            load: args.load,
            seed: args.seed,
            ..TrafficSettings::default()
        },
        mixed: MixedRequest {
            among: args.among.as_deref(),
            beside: args.beside.as_deref(),
            switch_load: args.switch_load.as_deref(),
            switch_level: args.switch_level,
        },
        for_ns: args.time_ns,
        every_ns: args.every,
        until_steady: args.until_steady,
        rows: args.top,
        spread: args.lanes_spread,
        routes: match &args.engine {
            Some(id) => {
                let options = EngineOptions { lanes: args.lanes, ..args.input.options() };
                TrafficRouteChoice::Engine { id, options: Box::new(options) }
            }
            None => TrafficRouteChoice::InForce(args.lanes_in_force),
        },
        marks: MarkRequest { elements: args.fail.clone(), random: args.fail_random, seed: args.seed },
    }
}

fn write(context: &mut Context<'_, '_>, pattern: &str, study: &TrafficStudy) -> Result<(), Failure> {
    let TrafficStudy { snapshot, faults, report } = study;
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
    context.output.write_pairs(&lines)?;
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
        TrafficRunEnd::PacketHops => "ended at its most packet-hops",
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
    lines.extend(
        report.switches_gbps.map(|gbps| ("switches", format!("{gbps:.3} Gb/s received of each other"))),
    );
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
    lines.extend(rows_under_title("over time", "", report.over_time.iter().flat_map(rate_sample)));
    lines.extend(deadlock(report.deadlock.as_ref()));
    lines
}

/// A line for all, and one for each listed flow.
fn rate_sample(sample: &RateSample) -> impl Iterator<Item = String> {
    let RateSample { at_ns, hosts_gbps, switches_gbps, flows } = sample;
    let at = digits_in_groups(format_args!("{:.1}", *at_ns as f64 / 1000.0)).to_string();
    let switches =
        if *switches_gbps > 0.0 { format!(", switches {switches_gbps:.3}") } else { String::new() };
    let all = format!("until {at} us hosts receive {hosts_gbps:.3} Gb/s{switches}");
    std::iter::once(all).chain(flows.iter().map(|rate| format!("  {}", flow(rate))))
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
