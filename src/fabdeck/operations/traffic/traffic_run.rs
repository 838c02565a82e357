//! Throughput of a routing under a traffic pattern, in the simulator.

use std::sync::Arc;

use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::{LevelsInForce, levels_by_policy};
use crate::operations::preview::whatif::routes_in_force;
use crate::operations::trace::path_trace::{TraceError, parse_endpoint};
use fabdeck_fabric::{Faults, PathLanes, PortId, PortNum, Routes, ServiceLevel, ServiceLevels, Tables};
use fabdeck_routing::{Engine, EngineRefusal, Problem, Request, RouteProgress};
use fabdeck_simulator::traffic::{
    Deadlock, EndCount, Flow, FlowCount, Latency, LevelSelection, NetworkSetup, PortCount, TrafficError,
    TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

/// Interval between samples of the rates and checks for a deadlock.
const WINDOW_NS: u64 = 10_000;
/// The network fills for one part in `WARM_UP` of the time before measuring begins.
const WARM_UP: u64 = 10;

/// The routes of packets, and the source of their lanes.
#[derive(Clone, Debug)]
pub struct TrafficRoutes {
    pub routes: Arc<Routes>,
    pub service: LevelSelection,
    /// SL2VL tables and arbitration tables.
    pub tables: Tables,
    /// Origin of the routes: an engine, or the tables in force.
    pub by: &'static str,
}

impl TrafficRoutes {
    /// The tables in force with the known service levels, or level 0 where none are known.
    pub fn from_tables(look: &Snapshot, faults: &Faults, sent: LevelsInForce<'_>) -> Self {
        let mut routes = routes_in_force(look, &look.observation.tables, faults);
        let zero = LevelSelection::Levels(ServiceLevels::One(ServiceLevel::default()));
        let service = match (sent, &look.routes) {
            (LevelsInForce::Records { levels, .. }, _) => LevelSelection::Levels(levels.clone()),
            (LevelsInForce::Unsaid, None) => match &look.observation.policy {
                Some(policy) => levels_by_policy(look, policy, false)
                    .map_or(zero, |known| LevelSelection::Levels(known.levels.into_owned())),
                None => zero,
            },
            (LevelsInForce::Unsaid, Some(held)) => {
                routes.lanes = crate::operations::lanes::levels::rearrange_lanes(held, &routes);
                LevelSelection::Routes
            }
            _ => zero,
        };
        let by = match look.observation.adaptive {
            // Packets of the simulator do not choose among ports.
            Some(_) => look.assumed.unwrap_or("the static ports of the tables in force"),
            None => look.assumed.unwrap_or("tables in force"),
        };
        Self { routes: Arc::new(routes), service, tables: look.observation.tables.clone(), by }
    }

    /// The routes of an engine for the fabric without failed elements; each lane has the service level of its
    /// number.
    pub fn from_engine(
        look: &Snapshot,
        faults: &Faults,
        engine: &'static Engine,
        request: &Request,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let problem = Problem::new(look.fabric(), faults);
        let request = crate::operations::lanes::levels::cap_request(look, &problem, request).request;
        Ok(Self::of_engine_routes((engine.route)(&problem, &request, pulse)?.routes, engine))
    }

    /// Routes that an engine computed.
    pub fn of_engine_routes(routes: Routes, engine: &'static Engine) -> Self {
        let tables = match &routes.lanes {
            PathLanes::ByHop { tables, .. } => Tables::clone(tables),
            _ => Tables::default(),
        };
        Self { routes: Arc::new(routes), service: LevelSelection::Routes, tables, by: engine.id }
    }

    /// The same paths with levels 0 to `count` - 1 in turns, level i on lane i: the study's own lanes replace those of
    /// the routes, with equal weights.
    #[must_use]
    pub fn in_turns(mut self, count: u8) -> Self {
        self.service = LevelSelection::InTurns { count };
        for held in self.tables.nodes.values_mut() {
            held.sl2vl.clear();
            held.arbitration.clear();
        }
        self
    }
}

/// The options of a traffic run.
#[derive(Clone, Debug)]
pub struct TrafficOptions {
    pub pattern: TrafficPattern,
    pub settings: TrafficSettings,
    pub for_ns: u64,
    /// Interval of the rates over time, in windows of 10 us; `None`: they are not sampled.
    pub every_ns: Option<u64>,
    /// The run ends after this many packet-hops.
    pub max_packet_hops: Option<u64>,
    /// Whether the run ends as soon as the rates are steady.
    pub until_steady: bool,
    /// Number of hosts and flows to name, from the top and from the bottom.
    pub rows: usize,
}

json_type! {
    /// The reason why a traffic run ended.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum TrafficRunEnd {
        /// The time is over.
        Time,
        Steady,
        /// Every packet of the exchange has arrived or is lost.
        Finished,
        Deadlock,
        /// The run had its most packet-hops.
        PacketHops,
    }

    /// A host and its rates, in Gb/s of payload.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HostRate {
        pub host: String,
        pub received_gbps: f64,
        pub sent_gbps: f64,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct FlowRate {
        pub from: String,
        pub to: String,
        pub service_level: u8,
        pub gbps: f64,
    }

    /// The rates of an interval that ends at this time.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RateSample {
        pub at_ns: u64,
        /// Payload that hosts received, and that switches received.
        pub hosts_gbps: f64,
        pub switches_gbps: f64,
        /// Payload of listed flows, in their order, at most as many as rows were asked for.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub flows: Vec<FlowRate>,
    }

    /// A port that had packets to send and could not send them.
    #[derive(Clone, PartialEq, Debug)]
    pub struct WaitingPort {
        pub port: String,
        /// Share of the simulated time.
        pub share: f64,
        pub ticks: u64,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct LaneShare {
        pub lane: usize,
        /// Share of the packets on all links.
        pub share: f64,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct HeldBuffer {
        /// The channel into the buffer: `leaf0[3] -> spine1[1]`.
        pub channel: String,
        pub lane: u8,
        /// Source of the packet at the head of the buffer; the next field is its destination.
        pub from: String,
        pub to: String,
    }

    #[derive(Clone, PartialEq, Debug)]
    pub struct DeadlockReport {
        /// The credit loop: each buffer waits for the next, the last one for the first.
        pub circle: Vec<HeldBuffer>,
        pub stuck_buffers: u64,
    }

    /// The result of a traffic run.
    #[derive(Clone, PartialEq, Debug)]
    pub struct TrafficReport {
        pub routes: &'static str,
        /// Hosts of the pattern.
        pub hosts: u64,
        pub lanes: u64,
        pub ended: TrafficRunEnd,
        pub simulated_ns: u64,
        /// Part of this time before measuring began.
        pub warm_up_ns: u64,
        pub steady: bool,
        pub packets_sent: u64,
        pub packets_arrived: u64,
        /// Number of packets without a path, a lane, or a working port.
        pub packets_lost: u64,
        pub packet_hops: u64,
        /// Rate of arrived payload: in total, and for hosts the mean, minimum and maximum.
        pub total_gbps: f64,
        pub mean_gbps: f64,
        pub min_gbps: f64,
        pub max_gbps: f64,
        /// For an exchange that ended: its payload divided by its time (dissertation, equation 4.2).
        pub exchange_gbps: Option<f64>,
        pub latency_ns: LatencySummary,
        pub lane_shares: Vec<LaneShare>,
        pub top_hosts: Vec<HostRate>,
        pub bottom_hosts: Vec<HostRate>,
        pub flows: u64,
        pub top_flows: Vec<FlowRate>,
        pub bottom_flows: Vec<FlowRate>,
        pub waiting_ports: Vec<WaitingPort>,
        pub discards: u64,
        pub relay_errors: u64,
        /// Payload that switches received of each other's packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub switches_gbps: Option<f64>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub over_time: Vec<RateSample>,
        pub deadlock: Option<DeadlockReport>,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct LatencySummary {
        pub mean: u64,
        pub median: u64,
        pub p99: u64,
        pub max: u64,
    }
}

/// A flow between two ends, which the texts name.
pub fn flow_between(look: &Snapshot, from: &str, to: &str) -> Result<Flow, TraceError> {
    let port = |text: &str| {
        let end = parse_endpoint(look, text)?;
        let own = || look.fabric().port_of(end.node, PortNum::MANAGEMENT);
        end.port.or_else(own).ok_or_else(|| TraceError::NoPort(text.to_owned()))
    };
    Ok(Flow::new(port(from)?, port(to)?))
}

/// A run without a report.
#[derive(Debug, thiserror::Error)]
pub enum TrafficRunError {
    /// The traffic is impossible on this fabric.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The operator ended the run.
    #[error(transparent)]
    Cancelled(EngineRefusal),
}

/// Simulates traffic and reports the result.
pub fn simulate(
    look: &Snapshot,
    faults: &Faults,
    course: &TrafficRoutes,
    asked: &TrafficOptions,
    progress: &dyn RouteProgress,
) -> Result<TrafficReport, TrafficRunError> {
    let TrafficRoutes { routes, service, tables, .. } = course;
    let given = NetworkSetup { fabric: look.fabric(), faults, routes, service, tables };
    let load = TrafficLoad { pattern: asked.pattern.clone(), settings: asked.settings };
    let mut run = TrafficRun::new(given, &load)?;
    // An exchange begins and ends, so all of it is measured.
    let exchange = run.exchange_progress().is_some();
    let warm_up = if exchange { 0 } else { asked.for_ns / WARM_UP };
    while run.now_ns() + 1 < warm_up {
        advance_window(&mut run, warm_up, asked.for_ns, progress)?;
    }
    run.advance(warm_up);
    run.begin_measuring();
    let (mut ended, mut found) = (TrafficRunEnd::Time, None);
    let mut samples = RateSampler::new(&run, asked, look);
    while run.now_ns() + 1 < asked.for_ns {
        advance_window(&mut run, asked.for_ns, asked.for_ns, progress)?;
        run.sample_rates();
        samples.sample(&run);
        let [made, arrived, lost] = run.packet_totals();
        found = run.find_deadlock();
        if found.is_some() {
            ended = TrafficRunEnd::Deadlock;
        } else if exchange && (run.has_finished_exchange() || run.is_finished() && made == arrived + lost) {
            ended = TrafficRunEnd::Finished;
        } else if asked.until_steady && run.is_steady() {
            ended = TrafficRunEnd::Steady;
        } else if asked.max_packet_hops.is_some_and(|most| run.packet_hops() >= most) {
            ended = TrafficRunEnd::PacketHops;
        } else {
            continue;
        }
        break;
    }
    let report = Reporter { look, run: &run, asked, course }.report(ended, found, warm_up);
    Ok(TrafficReport { over_time: samples.samples, ..report })
}

/// Samples the rates over time.
struct RateSampler<'a> {
    look: &'a Snapshot,
    every_ns: Option<u64>,
    payload: u32,
    since_ns: u64,
    /// Packets that hosts and switches had received at that time.
    taken: [u64; 2],
    /// The listed flows that are sampled, by their ends, and their packets at that time.
    flows: Vec<(PortId, PortId)>,
    delivered: Vec<u64>,
    samples: Vec<RateSample>,
}

impl<'a> RateSampler<'a> {
    fn new(run: &TrafficRun, asked: &TrafficOptions, look: &'a Snapshot) -> Self {
        let listed: &[Flow] = match &asked.pattern {
            TrafficPattern::Flows(flows) => flows,
            TrafficPattern::Mixed(mixed) => &mixed.beside,
            _ => &[],
        };
        Self {
            look,
            every_ns: asked.every_ns,
            payload: asked.settings.payload,
            since_ns: run.now_ns(),
            taken: [0; 2],
            flows: listed.iter().take(asked.rows).map(|flow| (flow.from, flow.to)).collect(),
            delivered: Vec::new(),
            samples: Vec::new(),
        }
    }

    fn sample(&mut self, run: &TrafficRun) {
        let passed = run.now_ns().saturating_sub(self.since_ns);
        if self.every_ns.is_none_or(|every| passed + 1 < every) {
            return;
        }
        let rate =
            |packets: u64| rounded(packets as f64 * f64::from(self.payload) * 8.0 / passed.max(1) as f64);
        let ends = run.end_counts();
        let taken = |hosts: bool| ends.iter().filter(|end| end.is_host == hosts).map(|end| end.taken).sum();
        let now: [u64; 2] = [taken(true), taken(false)];
        let [hosts_gbps, switches_gbps] = [0, 1].map(|at| rate(now[at] - self.taken[at]));
        let counts = if self.flows.is_empty() { Vec::new() } else { run.flow_counts() };
        let is_listed = |flow: &&FlowCount| self.flows.contains(&(flow.from, flow.to));
        let counts: Vec<&FlowCount> = counts.iter().filter(is_listed).collect();
        let before = self.delivered.iter().copied().chain(std::iter::repeat(0));
        let flows = counts.iter().zip(before).map(|(flow, before)| FlowRate {
            from: end_name(self.look, flow.from),
            to: end_name(self.look, flow.to),
            service_level: flow.level.value(),
            gbps: rate(flow.packets.saturating_sub(before)),
        });
        let flows = flows.collect();
        self.samples.push(RateSample { at_ns: run.now_ns(), hosts_gbps, switches_gbps, flows });
        (self.since_ns, self.taken) = (run.now_ns(), now);
        self.delivered = counts.iter().map(|flow| flow.packets).collect();
    }
}

/// Advances a run by one window, at most until `until_ns`, and reports its progress.
fn advance_window(
    run: &mut TrafficRun,
    until_ns: u64,
    for_ns: u64,
    progress: &dyn RouteProgress,
) -> Result<(), TrafficRunError> {
    if progress.is_cancelled() {
        return Err(TrafficRunError::Cancelled(EngineRefusal::Cancelled));
    }
    let begun = run.now_ns();
    progress.report(begun as usize, for_ns as usize);
    run.advance((begun + WINDOW_NS).min(until_ns));
    Ok(())
}

struct Reporter<'a> {
    look: &'a Snapshot,
    run: &'a TrafficRun,
    asked: &'a TrafficOptions,
    course: &'a TrafficRoutes,
}

impl Reporter<'_> {
    fn report(&self, ended: TrafficRunEnd, found: Option<Deadlock>, warm_up_ns: u64) -> TrafficReport {
        let run = self.run;
        let mut ends = run.end_counts();
        let switches_gbps = match &self.asked.pattern {
            TrafficPattern::Mixed(mixed) if !mixed.switch_load.is_zero() => {
                let own = ends.iter().filter(|end| !end.is_host);
                Some(gbps(own.map(|end| end.taken_mbps).sum()))
            }
            _ => None,
        };
        let among = match &self.asked.pattern {
            TrafficPattern::Mixed(mixed) => mixed.among.as_slice(),
            _ => &[],
        };
        let takes_part = |end: &EndCount| end.is_host && (among.is_empty() || among.contains(&end.port));
        ends.retain(|end| {
            let counts = end.is_host || switches_gbps.is_none();
            takes_part(end) || counts && end.sent + end.taken > 0
        });
        let hosts = ends.iter().filter(|end| takes_part(end)).count() as u64;
        let all_mbps: u64 = ends.iter().map(|end| end.taken_mbps).sum();
        let total_mbps = if switches_gbps.is_some() { all_mbps } else { run.total_mbps() };
        ends.sort_by_key(|end| (std::cmp::Reverse(end.taken), end.port));
        let taken = |at: Option<&EndCount>| gbps(at.map_or(0, |end| end.taken_mbps));
        let [packets_sent, packets_arrived, packets_lost] = run.packet_totals();
        let counts = run.port_counts(self.look.fabric());
        let sum = |of: fn(&PortCount) -> u64| counts.iter().map(of).sum();
        let Latency { mean, median, p99, max, .. } = run.latency();
        let (top_flows, bottom_flows) = self.flows();
        let (top_hosts, bottom_hosts) = self.top_and_bottom(&ends, |end| self.host(end));
        TrafficReport {
            routes: self.course.by,
            hosts,
            lanes: run.lane_hops().len() as u64,
            ended,
            simulated_ns: run.now_ns(),
            warm_up_ns,
            steady: run.is_steady(),
            packets_sent,
            packets_arrived,
            packets_lost,
            packet_hops: run.packet_hops(),
            total_gbps: gbps(total_mbps),
            mean_gbps: gbps(total_mbps / (ends.len() as u64).max(1)),
            min_gbps: taken(ends.last()),
            max_gbps: taken(ends.first()),
            exchange_gbps: self.exchange(ended),
            latency_ns: LatencySummary { mean, median, p99, max },
            lane_shares: self.lane_shares(),
            top_hosts,
            bottom_hosts,
            flows: run.flow_counts().len() as u64,
            top_flows,
            bottom_flows,
            waiting_ports: self.waiting(&counts),
            discards: sum(|count| count.discards),
            relay_errors: sum(|count| count.relay_errors),
            switches_gbps,
            over_time: Vec::new(),
            deadlock: found.map(|found| self.deadlock(&found)),
        }
    }

    /// The first and the last rows of a sorted list; rows of a short list appear once.
    fn top_and_bottom<T, R>(&self, all: &[T], row: impl Fn(&T) -> R) -> (Vec<R>, Vec<R>) {
        let rows = self.asked.rows;
        let rest = all.len().saturating_sub(rows).min(rows);
        let top = all.iter().take(rows).map(&row).collect();
        (top, all[all.len() - rest..].iter().map(&row).collect())
    }

    fn host(&self, end: &EndCount) -> HostRate {
        let (received_gbps, sent_gbps) = (gbps(end.taken_mbps), gbps(end.sent_mbps));
        HostRate { host: self.end(end.port), received_gbps, sent_gbps }
    }

    fn flows(&self) -> (Vec<FlowRate>, Vec<FlowRate>) {
        let mut flows = self.run.flow_counts();
        flows.sort_by_key(|flow| (std::cmp::Reverse(flow.packets), flow.from, flow.to));
        self.top_and_bottom(&flows, |flow| FlowRate {
            from: self.end(flow.from),
            to: self.end(flow.to),
            service_level: flow.level.value(),
            gbps: gbps(flow.mbps),
        })
    }

    fn exchange(&self, ended: TrafficRunEnd) -> Option<f64> {
        let (packets, last_ns) = self.run.exchange_progress().filter(|_| ended == TrafficRunEnd::Finished)?;
        let bits = packets as f64 * f64::from(self.asked.settings.payload) * 8.0;
        Some(rounded(bits / last_ns.max(1) as f64))
    }

    fn lane_shares(&self) -> Vec<LaneShare> {
        let hops = self.run.lane_hops();
        let all: u64 = hops.iter().sum();
        let share = |hops: &u64| rounded(*hops as f64 / all.max(1) as f64);
        hops.iter().enumerate().map(|(lane, hops)| LaneShare { lane, share: share(hops) }).collect()
    }

    fn waiting(&self, counts: &[PortCount]) -> Vec<WaitingPort> {
        let mut waiting: Vec<&PortCount> = counts.iter().filter(|count| count.waited_ns > 0).collect();
        waiting.sort_by_key(|count| (std::cmp::Reverse(count.waited_ns), count.port));
        let all = self.run.now_ns().max(1) as f64;
        let row = |count: &&PortCount| WaitingPort {
            port: self.look.port_name(count.port),
            share: rounded(count.waited_ns as f64 / all),
            ticks: count.xmit_wait,
        };
        waiting.iter().take(self.asked.rows).map(row).collect()
    }

    fn deadlock(&self, found: &Deadlock) -> DeadlockReport {
        let fabric = self.look.fabric();
        let held = |held: &fabdeck_simulator::traffic::BlockedBuffer| HeldBuffer {
            channel: format!("{} -> {}", self.look.port_name(held.from), self.look.port_name(held.to)),
            lane: held.lane.value(),
            from: self.end(held.source),
            to: match held.lid.and_then(|lid| fabric.port_by_lid(lid)) {
                Some(port) => self.end(port),
                None => held.lid.map_or_else(String::new, |lid| format!("LID {lid}")),
            },
        };
        DeadlockReport { circle: found.blocked.iter().map(held).collect(), stuck_buffers: found.stuck }
    }

    /// The name of an end: port name of an adapter, or switch name.
    fn end(&self, port: PortId) -> String {
        end_name(self.look, port)
    }
}

/// The name of a switch, or of the port of a host.
fn end_name(look: &Snapshot, port: PortId) -> String {
    let node = look.fabric().port(port).node;
    match look.fabric().node(node).is_switch() {
        true => look.name(node).to_owned(),
        false => look.port_name(port),
    }
}

fn gbps(mbps: u64) -> f64 {
    mbps as f64 / 1000.0
}

/// Rounds to four decimal places.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

impl TrafficReport {
    /// Whether the run has a finding, which is a deadlock.
    pub fn has_findings(&self) -> bool {
        self.deadlock.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::Observation;
    use fabdeck_routing::{NoProgress, find_engine};

    /// Cancels at once.
    struct Cancelled;

    impl RouteProgress for Cancelled {
        fn report(&self, _: usize, _: usize) {}

        fn is_cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_run_ends_when_it_is_cancelled() {
        let fabric = generate(&"kary,k=4,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let look =
            Snapshot::new("here", Observation { fabric, ..Observation::default() }, &Default::default());
        let faults = Faults::new();
        let engine = find_engine("minhop").unwrap();
        let routes =
            TrafficRoutes::from_engine(&look, &faults, engine, &Request::default(), &NoProgress).unwrap();
        let options = TrafficOptions {
            pattern: TrafficPattern::Uniform,
            settings: TrafficSettings::default(),
            for_ns: 100_000,
            every_ns: None,
            max_packet_hops: None,
            until_steady: false,
            rows: 1,
        };
        assert!(simulate(&look, &faults, &routes, &options, &NoProgress).unwrap().packets_arrived > 0);
        let cancelled = simulate(&look, &faults, &routes, &options, &Cancelled);
        assert!(matches!(cancelled, Err(TrafficRunError::Cancelled(EngineRefusal::Cancelled))));
    }
}
