//! The certificate of forwarding tables as a report: counts, and the first defects with names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::choices::{ChoiceReport, serve_by_groups};
use super::loads::{JobReport, LoadReport};
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::AdaptiveRouting;
use fabdeck_fabric::{
    BLOCK_LIDS, ChannelId, Fabric, Faults, Lane, Lid, NodeId, Partitions, PortId, PortNum, PortState, Routes,
    Tables, UnreadEntries,
};
use fabdeck_routing::certificate::{
    Certificate, DependencyCycle, DependencyProof, ForwardingIndex, LaneKnowledge, LostPair, LostPairs,
    PairKind, RouteScope, certify_partitioned, pairs_in_scope,
};
use fabdeck_routing::{Cause, EngineRefusal, Problem, RouteProgress};

/// Maximum number of unused links that are named.
const MAX_UNUSED_LINKS: usize = 10;

/// The cause of a pair that no cable joins.
pub const CUT_OFF: &str = "cut-off";

json_type! {
    /// Load of the channels: minimum, mean, maximum and standard deviation.
    #[derive(Clone, PartialEq, Debug)]
    pub struct LoadBalance {
        pub min: u64,
        pub mean: f64,
        pub max: u64,
        pub stddev: f64,
    }

    /// Number of pairs without a path, by the kind of their ends.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct PairsByKind {
        pub hosts: u64,
        pub aggregation: u64,
        pub switches: u64,
    }

    /// Number of pairs without a path, by cause.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct PairsByCause {
        pub cut_off: u64,
        pub no_route: u64,
        pub dead_end: u64,
        pub in_loop: u64,
    }

    /// A pair without a path.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct UnreachablePair {
        pub from: String,
        pub to: String,
        pub lid: u16,
        pub cause: &'static str,
    }

    /// A certificate with names instead of ids.
    #[derive(Clone, PartialEq, Debug)]
    pub struct CertificateReport {
        /// What the certificate covers: unicast by forwarding tables; of a fabric with planes, the plane.
        pub covers: &'static str,
        /// Number of ordered pairs of terminal ports; with switches in scope, of switches too.
        pub pairs: u64,
        /// Number of partitions with members; a pair then shares a partition. `None`: every pair counts.
        pub partitions: Option<usize>,
        /// Where the partitions come from: "partitions.conf" or "P_Key tables" of ports. `None`: they are not known.
        pub partitions_from: Option<&'static str>,
        /// Number of ordered pairs that partitions keep apart. `pairs` does not count them: they are neither lost nor fine.
        /// `None`: partitions are not known.
        pub kept_apart: Option<u64>,
        /// Number of ports whose P_Key table is not known. Their pairs count as if they shared a partition.
        pub unknown_partitions: u64,
        /// Number of memberships of ports whose packets the switch port on their cable drops. They join no pair.
        pub dropped_partitions: u64,
        pub unreachable: u64,
        /// Pairs whose path reaches a table that was not read, in a fabric that answered in part. They count
        /// neither as reachable nor as unreachable.
        pub unread_pairs: u64,
        pub by_kind: PairsByKind,
        pub by_cause: PairsByCause,
        /// The first unreachable pairs.
        pub lost: Vec<UnreachablePair>,
        /// Number of (source, LID) without a path between ends that cables connect.
        pub lost_lids: u64,
        /// Pairs that reach only some LIDs of the destination.
        pub partly_reached: u64,
        /// The first of these pairs, each with its first unreachable LID.
        pub partly: Vec<UnreachablePair>,
        /// Pairs with an end that is marked as failed, by itself or by its cable. The counts above leave them
        /// out.
        pub failed_pairs: u64,
        pub loops: u64,
        /// The first loops, each as its switches.
        pub loop_examples: Vec<Vec<String>>,
        pub lanes: usize,
        /// Source of the lanes of paths, one of:
        /// - "one": all paths share one lane;
        /// - "level 0 assumed": no source states service levels;
        /// - "QoS policy": a policy file of OpenSM sets the levels;
        /// - "levels of paths": a list (psl) sets them;
        /// - "path records, sampled" or "path records, every pair";
        /// - "SL2VL tables": they map all levels to one lane;
        /// - "engine": a proposal; "assumed": assumed tables; "plan": a plan;
        /// - "unknown".
        pub lanes_from: &'static str,
        /// The first ports that drop packets because they do not have the packets' lane.
        pub lane_limits: Vec<String>,
        /// Number of (source port, LID) whose packets are dropped there.
        pub limited_paths: u64,
        /// Number of (source switch, LID) with an unknown level: neither path records nor a list of levels has it
        /// for every source.
        pub unsaid_paths: u64,
        /// Switches on paths that did not report their mapping from service level to lane.
        pub untold_switches: u64,
        /// Working switches whose forwarding table is unknown or incomplete.
        pub unread_tables: u64,
        /// Number of switches with adaptive routing on. It is 0 where a source has adaptive tables without the
        /// state, or switches did not answer. `None`: no sign of adaptive routing.
        pub adaptive_routing: Option<u64>,
        /// Switches that did not report the state, where adaptive routing is not known to be on at any other
        /// switch.
        pub adaptive_unknown: u64,
        /// What all choices of switches with adaptive routing do to packets, where switches stated that it is on or did
        /// not answer. The verdict on deadlock is then that over all choices; lengths and loads are those of the static
        /// ports.
        pub choices: Option<ChoiceReport>,
        /// `None` when the verdict depends on unknown lanes, or adaptive routing is or may be on.
        pub deadlock_free: Option<bool>,
        /// Whether no cycle exists even with all paths on one lane; then no assignment of lanes has one.
        #[serde(skip)]
        pub whatever_lanes: bool,
        /// Whether the topology was read only in part, so that paths and loops may be missing.
        #[serde(skip)]
        pub cut: bool,
        /// A credit loop: each channel waits for the next, the last one for the first.
        pub cycle: Option<Vec<String>>,
        /// For each channel of the credit loop, a path that uses this channel and then the next.
        pub cycle_paths: Option<Vec<String>>,
        pub cycle_lane: Option<u8>,
        /// Length of the longest path, in hops between switches.
        pub longest_path: u32,
        /// Number of pairs by the number of hops.
        pub path_lengths: Vec<u64>,
        /// Mean ratio of hops to the minimum number of hops.
        pub mean_stretch: f64,
        pub worst_stretch: f64,
        pub edge_forwarding_index: LoadBalance,
        /// The same over the paths that hosts pick, one LID a pair. Left out where each port has one LID.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub edge_forwarding_index_picked: Option<LoadBalance>,
        /// The busiest channels with their numbers of paths.
        pub busiest: Vec<(String, u64)>,
        /// Number of channels between switches; the next field counts those that carry a path.
        pub channels: u64,
        pub channels_in_use: u64,
        /// Percentage of channels without a path, with all terminals as one job.
        pub dark_fiber: f64,
        /// Number of links without a path in either direction; the next field names the first.
        pub unused_links: usize,
        pub unused_link_examples: Vec<String>,
        /// Loads of permutations, where they were requested.
        pub loads: Option<LoadReport>,
        /// Loads of running jobs, where jobs were given.
        pub jobs: Option<JobReport>,
        /// Terminals without a LID; `pairs` does not count them.
        pub unaddressed: u64,
    }
}

impl CertificateReport {
    /// Returns the report with the number of unread tables. Unread tables, cut topologies and pairs with
    /// unread paths may hide a credit loop. A verdict of "deadlock-free" then becomes unknown.
    pub(crate) fn with_unread_tables(self, unread_tables: u64) -> Self {
        let whole = unread_tables == 0 && !self.cut && self.unread_pairs == 0;
        let deadlock_free = self.deadlock_free.filter(|free| !free || whole);
        Self { unread_tables, deadlock_free, ..self }
    }

    /// Whether the tables have a defect. Pairs that no cable connects are no defect of the tables.
    pub fn has_findings(&self) -> bool {
        !self.defect_words().is_empty()
    }

    /// Whether no pair has a path, or there is no pair. This is a finding even where missing cables are the cause. It is
    /// none where partitions leave no pair to judge.
    pub fn is_disconnected(&self) -> bool {
        self.unreachable == self.pairs && (self.pairs > 0 || self.kept_apart.unwrap_or(0) == 0)
    }

    /// Pairs that tables leave without a path. Without a certificate over choices they are those of static ports.
    pub fn lost_words(&self, pairs: u64) -> String {
        let by = match (self.adaptive_routing, &self.choices) {
            (Some(_), None) => " by static ports",
            _ => "",
        };
        format!("{pairs} pairs have no path{by}, though cables connect them")
    }

    /// The defects, each in a few words.
    pub fn defect_words(&self) -> Vec<String> {
        let left = self.unreachable - self.by_cause.cut_off.min(self.unreachable);
        let faults = [
            (self.is_disconnected() && self.pairs == 0, "there is no pair of hosts to certify".to_owned()),
            (self.is_disconnected() && self.pairs > 0, format!("not one of {} pairs has a path", self.pairs)),
            (left > 0, self.lost_words(left)),
            (
                self.partly_reached > 0,
                format!("{} pairs reach a port by some of its LIDs only", self.partly_reached),
            ),
            (self.loops > 0, "paths run in a loop".to_owned()),
            (
                self.deadlock_free == Some(false),
                "there is a credit loop: packets can wait for each other forever".to_owned(),
            ),
            (
                self.choices.as_ref().is_some_and(|choices| choices.lost_paths > 0),
                format!(
                    "{} paths can be lost by a choice of adaptive routing",
                    self.choices.as_ref().map_or(0, |choices| choices.lost_paths)
                ),
            ),
            (
                !self.lane_limits.is_empty(),
                match self.limited_paths {
                    0 => "paths are on lanes that a port on them does not have".to_owned(),
                    some => format!("{some} paths are dropped at ports that do not have their lane"),
                },
            ),
        ];
        faults.into_iter().filter(|(found, _)| *found).map(|(_, words)| words).collect()
    }
}

/// Certifies tables, with all paths on one lane. Where the lanes are unknown, an acyclic result still proves
/// deadlock freedom. A cycle on separate lanes would also be a cycle on one lane. The converse does not hold.
pub fn check(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    scope: &RouteScope,
    pulse: &dyn RouteProgress,
) -> Result<CertificateReport, EngineRefusal> {
    let fabric = look.fabric();
    let problem = Problem::new(fabric, faults);
    let routes = routes_of_tables(look, tables);
    let certificate = certify_partitioned(&problem, &routes, scope, look.partitions.as_ref(), pulse)?;
    Ok(certificate_report(look, &problem, &certificate)
        .with_unread_tables(count_unread_tables(&problem, tables)))
}

/// Converts tables to routes. Where part of the fabric did not answer, unread entries may lead anywhere. In a
/// complete source, a missing table has no entries.
pub(crate) fn routes_of_tables(look: &Snapshot, tables: &Tables) -> Routes {
    let mut routes = Routes::from_tables(look.fabric().switches().map(|(id, _)| tables.lft(id)));
    routes.path_bits = look.known_path_bits().cloned();
    serve_by_groups(look.fabric(), tables, &mut routes);
    if !look.observation.is_partial() {
        return routes;
    }
    let mut unread: BTreeMap<u32, UnreadEntries> = look
        .fabric()
        .switches()
        .filter_map(|(id, _)| match tables.nodes.get(&id) {
            Some(held) if held.lft.is_some() => {
                let blocks = held.unread.clone();
                (!blocks.is_empty()).then_some((id.0, UnreadEntries::Blocks(blocks)))
            }
            _ => Some((id.0, UnreadEntries::All)),
        })
        .collect();
    mark_unread_entries(look, &mut routes, &mut unread);
    routes.with_unread(unread)
}

/// Marks entries as unread that lead into the unread part of the fabric, through a port without a known
/// cable. In a topology that was cut off, any such port may have a cable. Otherwise a port that is up has
/// one, and its peer did not answer.
fn mark_unread_entries(look: &Snapshot, routes: &mut Routes, unread: &mut BTreeMap<u32, UnreadEntries>) {
    let (fabric, cut) = (look.fabric(), look.observation.cut);
    for (id, _) in fabric.switches() {
        let beyond = |lid: Lid, port: PortNum| match fabric.port_of(id, port) {
            Some(port) if cut => {
                fabric.peer(port).is_none() && fabric.port(port).facts.state != Some(PortState::Down)
            }
            // Hosts that did not answer have no known LID; the certificate judges only paths to known LIDs.
            Some(port) => has_silent_peer(fabric, port) && fabric.port_by_lid(lid).is_some(),
            None => cut,
        };
        for lid in (1..routes.stride() as u32).filter_map(Lid::new) {
            let found = routes.get(id.0, lid).filter(|port| *port != PortNum::MANAGEMENT);
            if found.is_some_and(|port| beyond(lid, port)) {
                routes.set(id.0, lid, None);
                match unread.entry(id.0).or_insert_with(|| UnreadEntries::Lids(BTreeSet::new())) {
                    UnreadEntries::All => {}
                    UnreadEntries::Blocks(blocks) => _ = blocks.insert(lid.value() / BLOCK_LIDS),
                    UnreadEntries::Lids(lids) => _ = lids.insert(lid),
                }
            }
        }
    }
}

/// Whether a port is up and its peer did not answer. Port states of a node that no longer answers are
/// outdated and do not count.
pub(crate) fn has_silent_peer(fabric: &Fabric, port: PortId) -> bool {
    let held = fabric.port(port);
    let up = held.facts.state.is_some_and(|state| state != PortState::Down);
    up && fabric.peer(port).is_none() && fabric.node(held.node).facts.answered
}

/// Number of working switches whose forwarding table is unknown or incomplete.
pub(crate) fn count_unread_tables(problem: &Problem<'_>, tables: &Tables) -> u64 {
    let read = |switch: &u32| {
        let held = tables.nodes.get(&NodeId(*switch));
        held.is_some_and(|held| held.lft.is_some() && held.unread.is_empty())
    };
    problem.switches().filter(|switch| problem.graph.is_alive(*switch) && !read(switch)).count() as u64
}

/// The pairs without a path. In a topology that was cut off, an unread cable may join pairs that count as cut
/// off.
fn lost_pairs<'c>(look: &Snapshot, certificate: &'c Certificate) -> Cow<'c, LostPairs> {
    match look.observation.cut {
        true => Cow::Owned(certificate.lost.with_unknown_cables()),
        false => Cow::Borrowed(&certificate.lost),
    }
}

/// What a certificate covers, by the plane that its tables are of; 0 where the fabric has no planes.
const COVERS: [&str; 9] = [
    "unicast",
    "unicast of plane 1",
    "unicast of plane 2",
    "unicast of plane 3",
    "unicast of plane 4",
    "unicast of plane 5",
    "unicast of plane 6",
    "unicast of plane 7",
    "unicast of plane 8",
];

fn covers_word(look: &Snapshot) -> &'static str {
    COVERS.get(usize::from(look.observation.planes.main)).copied().unwrap_or("unicast of one plane")
}

/// Converts a certificate to a report.
pub fn certificate_report(
    look: &Snapshot,
    problem: &Problem<'_>,
    certificate: &Certificate,
) -> CertificateReport {
    let (names, lost) = (CertificateNames { look, problem }, lost_pairs(look, certificate));
    let pair_report = |pair: &LostPair| names.unreachable_pair(pair.from, pair.to, pair.cause);
    let index = &certificate.edge_forwarding_index;
    let cycle = certificate.cycles.first();
    let unknown = certificate.scope.lanes == LaneKnowledge::Unknown;
    let verdict = if unknown { cycle.is_none().then_some(true) } else { certificate.deadlock_free };
    let adaptive = look.observation.adaptive;
    CertificateReport {
        covers: covers_word(look),
        pairs: certificate.pairs,
        partitions: look.partitions.as_ref().map(Partitions::partition_count),
        partitions_from: None,
        kept_apart: look.partitions.is_some().then(|| kept_apart_pairs(problem, certificate)),
        unknown_partitions: 0,
        dropped_partitions: 0,
        unreachable: lost.total(),
        unread_pairs: lost.unread(),
        by_kind: pairs_by_kind(&lost),
        by_cause: pairs_by_cause(&lost),
        lost: lost.first.iter().map(pair_report).collect(),
        lost_lids: lost.lids,
        partly_reached: lost.partial,
        partly: lost.first_partial.iter().map(pair_report).collect(),
        failed_pairs: failed_pairs(look, problem, certificate),
        loops: certificate.loops.count,
        loop_examples: certificate.loops.first.iter().map(|round| names.switches(&round.switches)).collect(),
        lanes: certificate.lanes.len(),
        lanes_from: if unknown { "unknown" } else { "one" },
        lane_limits: Vec::new(),
        limited_paths: 0,
        unsaid_paths: 0,
        untold_switches: 0,
        unread_tables: 0,
        adaptive_routing: adaptive.map(AdaptiveRouting::switch_count),
        adaptive_unknown: adaptive.map_or(0, AdaptiveRouting::unknown_count),
        choices: None,
        // With adaptive routing, switches choose among ports: tables alone do not determine the paths.
        deadlock_free: verdict.filter(|_| adaptive.is_none()),
        cut: look.observation.cut,
        whatever_lanes: cycle.is_none() && certificate.lanes.len() <= 1,
        cycle: cycle.map(|cycle| names.cycle(cycle)),
        cycle_paths: cycle.map(|cycle| cycle.paths.iter().map(|path| names.path(path)).collect()),
        cycle_lane: cycle.map(|cycle| cycle.lane.value()),
        longest_path: certificate.lengths.longest,
        path_lengths: certificate.lengths.histogram.clone(),
        mean_stretch: certificate.lengths.mean_stretch,
        worst_stretch: certificate.lengths.worst_stretch,
        edge_forwarding_index: load_balance(index),
        edge_forwarding_index_picked: certificate.picked_forwarding_index.as_ref().map(load_balance),
        busiest: index.worst.iter().map(|(channel, paths)| (names.channel(*channel), *paths)).collect(),
        channels: index.channels,
        channels_in_use: index.channels - index.unused,
        dark_fiber: 100.0 * index.unused as f64 / index.channels.max(1) as f64,
        unused_links: index.unused_links.len(),
        unused_link_examples: index
            .unused_links
            .iter()
            .take(MAX_UNUSED_LINKS)
            .map(|link| look.labelled_link_name(*link))
            .collect(),
        loads: None,
        jobs: None,
        unaddressed: certificate.unaddressed,
    }
}

fn load_balance(index: &ForwardingIndex) -> LoadBalance {
    let ForwardingIndex { min, mean, max, stddev, .. } = *index;
    LoadBalance { min, mean, max, stddev }
}

fn pairs_by_kind(lost: &LostPairs) -> PairsByKind {
    PairsByKind {
        hosts: lost.by_kind(PairKind::Hosts),
        aggregation: lost.by_kind(PairKind::Aggregation),
        switches: lost.by_kind(PairKind::Switches),
    }
}

fn pairs_by_cause(lost: &LostPairs) -> PairsByCause {
    PairsByCause {
        cut_off: lost.by_cause(Cause::CutOff),
        no_route: lost.by_cause(Cause::NoRoute),
        dead_end: lost.by_cause(Cause::DeadEnd),
        in_loop: lost.by_cause(Cause::Loop),
    }
}

/// Number of pairs that partitions keep apart.
fn kept_apart_pairs(problem: &Problem<'_>, certificate: &Certificate) -> u64 {
    pairs_in_scope(problem, &certificate.scope, None).saturating_sub(certificate.pairs)
}

/// Number of pairs that the marks remove.
fn failed_pairs(look: &Snapshot, problem: &Problem<'_>, certificate: &Certificate) -> u64 {
    if problem.faults.is_empty() {
        return 0;
    }
    let none = Faults::new();
    let whole = Problem::new(problem.fabric, &none);
    pairs_in_scope(&whole, &certificate.scope, look.partitions.as_ref()).saturating_sub(certificate.pairs)
}

/// Names for the ids in a certificate.
pub(crate) struct CertificateNames<'l, 'p> {
    pub(crate) look: &'l Snapshot,
    pub(crate) problem: &'p Problem<'p>,
}

impl CertificateNames<'_, '_> {
    fn fabric(&self) -> &Fabric {
        self.look.fabric()
    }

    pub(crate) fn switches(&self, switches: &[u32]) -> Vec<String> {
        switches.iter().map(|switch| self.look.unique_name(NodeId(*switch)).into_owned()).collect()
    }

    /// The name of a channel with the labels of its ports: `leaf0[3] (1/2/1) -> spine1[1] (1/1/1)`.
    pub(crate) fn channel(&self, id: ChannelId) -> String {
        let channel = self.problem.graph.channel(id);
        let end = |switch: u32, number: PortNum| match self.fabric().port_of(NodeId(switch), number) {
            Some(port) => self.look.labelled_port_name(port),
            None => format!("{}[{number}]", self.look.unique_name(NodeId(switch))),
        };
        format!("{} -> {}", end(channel.from, channel.from_port), end(channel.to, channel.to_port))
    }

    /// The channels of a credit loop, with their lanes where these differ.
    pub(crate) fn cycle(&self, cycle: &DependencyCycle) -> Vec<String> {
        let lanes = cycle.hop_lanes.iter().map(Some).chain(std::iter::repeat(None));
        let named = cycle.channels.iter().zip(lanes);
        let differ = cycle.hop_lanes.iter().any(|lane| *lane != cycle.lane);
        let name = |(channel, lane): (&ChannelId, Option<&Lane>)| match lane.filter(|_| differ) {
            Some(lane) => format!("{} on lane {}", self.channel(*channel), lane.value()),
            None => self.channel(*channel),
        };
        named.map(name).collect()
    }

    pub(crate) fn owner(&self, lid: Lid) -> String {
        let owner = self.fabric().port_by_lid(lid);
        owner.map_or_else(|| format!("LID {lid}"), |port| self.port(port))
    }

    /// The name of a terminal: port name of an adapter, or switch name.
    pub(crate) fn port(&self, id: PortId) -> String {
        let port = self.fabric().port(id);
        match self.fabric().node(port.node).is_switch() {
            true => self.look.unique_name(port.node).into_owned(),
            false => self.look.labelled_port_name(id),
        }
    }

    fn unreachable_pair(&self, from: PortId, to: Lid, cause: Cause) -> UnreachablePair {
        let cause = match cause {
            Cause::CutOff => CUT_OFF,
            Cause::NoRoute => "no-route",
            Cause::DeadEnd => "dead-end",
            Cause::Loop => "loop",
            Cause::Unread => "not-read",
        };
        UnreachablePair { from: self.port(from), to: self.owner(to), lid: to.value(), cause }
    }

    pub(crate) fn path(&self, path: &DependencyProof) -> String {
        let from = self.look.unique_name(NodeId(path.source));
        format!("from {from} to {} (LID {})", self.owner(path.destination), path.destination)
    }
}
