//! The certificate of forwarding tables in an operator's words: counts, and the first of what is wrong by name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use fabdeck_fabric::observe::Adaptive;
use fabdeck_fabric::{
    BLOCK_LIDS, ChannelId, Fabric, Faults, Lid, LinkId, NodeId, Partitions, PortId, PortNum, PortState,
    Routes, Tables, Unread,
};
use fabdeck_routing::certificate::{
    Certificate, Kind, LaneKnowledge, LostPairs, Proof, Scope, certify_among, pairs_in_scope,
};
use fabdeck_routing::{Cause, Problem, Pulse, Refusal};

use super::Look;
use super::loads::{JobReport, LoadReport};

/// How many links that carry nothing are named.
const UNUSED: usize = 10;

/// What is said of the busiest channels and the spread over all.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Balance {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
    pub stddev: f64,
}

/// Pairs without a path, by what their ends are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ByKind {
    pub hosts: u64,
    pub aggregation: u64,
    pub switches: u64,
}

/// The same pairs, by why they have none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ByCause {
    pub cut_off: u64,
    pub no_route: u64,
    pub dead_end: u64,
    pub in_loop: u64,
}

/// A pair without a path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lost {
    pub from: String,
    pub to: String,
    pub lid: u16,
    pub cause: &'static str,
}

/// A certificate by name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// What it holds for: unicast by forwarding tables.
    pub covers: &'static str,
    /// Ordered pairs of terminal ports; with switches, of switches too.
    pub pairs: u64,
    /// Partitions with members; pairs are then those that share one. `None`: all talk to all.
    pub partitions: Option<usize>,
    pub unreachable: u64,
    /// Pairs whose path comes to a table that was not read, where part of the fabric did not answer; neither among those
    /// without a path nor among those with one.
    pub unread_pairs: u64,
    pub by_kind: ByKind,
    pub by_cause: ByCause,
    /// The first of them.
    pub lost: Vec<Lost>,
    /// (Source, LID) without a path, where cables lead there.
    pub lost_lids: u64,
    /// Pairs that reach the destination by some of its LIDs only.
    pub partly_reached: u64,
    /// The first of them, each with the first LID that is not reached.
    pub partly: Vec<Lost>,
    /// Pairs that marks take away, as one end is marked itself or with its cable; no pair above counts them.
    pub failed_pairs: u64,
    pub loops: u64,
    /// The first of them, switch by switch.
    pub loop_examples: Vec<Vec<String>>,
    pub lanes: usize,
    /// How the lanes of paths are known: "one", "level 0 assumed" where nothing tells a level, "QoS policy" where a file of OpenSM sets them, "levels of paths" where a list (psl) does, "path records, sampled", "path records, every pair", "SL2VL tables" that
    /// put all levels on one lane, "engine" for those of a proposal, "assumed" with the tables, "plan" for what a plan
    /// says, or "unknown".
    pub lanes_from: &'static str,
    /// Ports that drop packets because they do not have the lane that these come on; the first of them.
    pub lane_limits: Vec<String>,
    /// (Source port, LID) whose packets end there.
    pub limited_paths: u64,
    /// (Source switch, LID) whose level from some source no path record and no list of paths has.
    pub unsaid_paths: u64,
    /// Switches on the way that did not tell what lane they put a service level on.
    pub untold_switches: u64,
    /// Working switches whose forwarding table is not known, or not whole.
    pub unread_tables: u64,
    /// Switches on which adaptive routing is on, 0 where only its traces are seen or switches left it open; `None`: nothing
    /// says that it is.
    pub adaptive_routing: Option<u64>,
    /// Switches that did not answer whether it is on, where it is not known to be on at another.
    pub adaptive_unknown: u64,
    /// `None` when it depends on lanes that are not known, and where adaptive routing is on or may be.
    pub deadlock_free: Option<bool>,
    /// There is no cycle even where all paths share one lane, so there is none on any lanes.
    #[serde(skip)]
    pub whatever_lanes: bool,
    /// The topology ends early, so there may be paths and loops that nothing tells of.
    #[serde(skip)]
    pub cut: bool,
    /// Channels of which each waits for the next, the last for the first.
    pub cycle: Option<Vec<String>>,
    /// For each of them a path that uses it and then the next.
    pub cycle_paths: Option<Vec<String>>,
    pub cycle_lane: Option<u8>,
    /// Switch-to-switch hops.
    pub longest_path: u32,
    /// Pairs by the hops of their path.
    pub path_lengths: Vec<u64>,
    /// Hops over the fewest possible.
    pub mean_stretch: f64,
    pub worst_stretch: f64,
    pub edge_forwarding_index: Balance,
    /// The busiest channels with the paths over them.
    pub busiest: Vec<(String, u64)>,
    /// Channels between switches, and how many of them carry a path.
    pub channels: u64,
    pub channels_in_use: u64,
    /// Percent of the channels that carry none, all terminals taken as one job.
    pub dark_fiber: f64,
    /// Links that carry none either way, and the first of them.
    pub unused_links: usize,
    pub unused_link_examples: Vec<String>,
    /// Permutation loads, where they were asked for.
    pub loads: Option<LoadReport>,
    /// What running jobs make of channels, where some were given.
    pub jobs: Option<JobReport>,
    /// Terminals without a LID, which no pair counts.
    pub unaddressed: u64,
}

impl Report {
    /// The same where so many tables were not read: what they hold may close a circle. So may what did not answer behind
    /// a port that paths lead to.
    pub(super) fn without(self, unread_tables: u64) -> Self {
        let whole = unread_tables == 0 && !self.cut && self.unread_pairs == 0;
        let deadlock_free = self.deadlock_free.filter(|free| !free || whole);
        Self { unread_tables, deadlock_free, ..self }
    }

    /// Whether something is wrong that tables could do better: pairs that no cable connects are no fault of theirs.
    pub fn findings(&self) -> bool {
        !self.faults().is_empty()
    }

    /// Nothing reaches anything: not even missing cables make that a fabric in order.
    pub fn nothing_reached(&self) -> bool {
        self.unreachable == self.pairs && self.partitions.is_none()
    }

    /// What is wrong, each in a few words.
    pub fn faults(&self) -> Vec<String> {
        let left = self.unreachable - self.by_cause.cut_off.min(self.unreachable);
        let faults = [
            (
                self.nothing_reached() && self.pairs == 0,
                "there is no pair of hosts that a path could join".to_owned(),
            ),
            (self.nothing_reached() && self.pairs > 0, format!("not one of {} pairs has a path", self.pairs)),
            (left > 0, format!("{left} pairs have no path, though cables connect them")),
            (
                self.partly_reached > 0,
                format!("{} pairs reach a port by some of its LIDs only", self.partly_reached),
            ),
            (self.loops > 0, "packets run in a loop".to_owned()),
            (
                self.deadlock_free == Some(false),
                "there is a credit loop: packets can wait for each other forever".to_owned(),
            ),
            (
                !self.lane_limits.is_empty(),
                match self.limited_paths {
                    0 => "paths are on lanes that a port on their way does not have".to_owned(),
                    some => format!("{some} paths are dropped for want of a lane"),
                },
            ),
        ];
        faults.into_iter().filter(|(found, _)| *found).map(|(_, words)| words).collect()
    }
}

/// Judges tables. Without lanes a fabric whose dependencies are acyclic as if all paths shared one lane is free of
/// deadlock on any lanes: a cycle on lanes would be one without them. The other way round nothing follows.
pub fn check(
    look: &Look,
    tables: &Tables,
    faults: &Faults,
    scope: &Scope,
    pulse: &dyn Pulse,
) -> Result<Report, Refusal> {
    let fabric = look.fabric();
    let problem = Problem::new(fabric, faults);
    let routes = held(look, tables);
    let certificate = certify_among(&problem, &routes, scope, look.partitions.as_ref(), pulse)?;
    Ok(report(look, &problem, &certificate).without(unread_tables(&problem, tables)))
}

/// Tables as routes. Where part of the fabric did not answer, what was not read may lead anywhere; of a source that is
/// whole, a table that it does not have is one that leads nowhere.
pub(super) fn held(look: &Look, tables: &Tables) -> Routes {
    let mut routes = Routes::of_tables(look.fabric().switches().map(|(id, _)| tables.lft(id)));
    if !look.observation.partial() {
        return routes;
    }
    let mut unread: BTreeMap<u32, Unread> = look
        .fabric()
        .switches()
        .filter_map(|(id, _)| match tables.nodes.get(&id) {
            Some(held) if held.lft.is_some() => {
                let blocks = held.unread.clone();
                (!blocks.is_empty()).then_some((id.0, Unread::Blocks(blocks)))
            }
            _ => Some((id.0, Unread::All)),
        })
        .collect();
    forget_beyond(look, &mut routes, &mut unread);
    routes.with_unread(unread)
}

/// Entries to a port whose cable is not known lead into the part of the fabric that was not read: in a topology that was
/// cut off any port may have a cable, else a port that is up has one, and who is behind it did not answer.
fn forget_beyond(look: &Look, routes: &mut Routes, unread: &mut BTreeMap<u32, Unread>) {
    let (fabric, cut) = (look.fabric(), look.observation.cut);
    for (id, _) in fabric.switches() {
        let beyond = |lid: Lid, port: PortNum| match fabric.port_of(id, port) {
            Some(port) if cut => {
                fabric.peer(port).is_none() && fabric.port(port).facts.state != Some(PortState::Down)
            }
            // A host that did not answer is known to nobody: only paths to what is known are judged.
            Some(port) => leads_to_silence(fabric, port) && fabric.port_by_lid(lid).is_some(),
            None => cut,
        };
        for lid in (1..routes.stride() as u32).filter_map(Lid::new) {
            let found = routes.get(id.0, lid).filter(|port| *port != PortNum::MANAGEMENT);
            if found.is_some_and(|port| beyond(lid, port)) {
                routes.set(id.0, lid, None);
                match unread.entry(id.0).or_insert_with(|| Unread::Lids(BTreeSet::new())) {
                    Unread::All => {}
                    Unread::Blocks(blocks) => _ = blocks.insert(lid.value() / BLOCK_LIDS),
                    Unread::Lids(lids) => _ = lids.insert(lid),
                }
            }
        }
    }
}

/// Whether a port is up although nobody answered behind it. What a node that fell silent said of its ports is old.
pub(super) fn leads_to_silence(fabric: &Fabric, port: PortId) -> bool {
    let held = fabric.port(port);
    let up = held.facts.state.is_some_and(|state| state != PortState::Down);
    up && fabric.peer(port).is_none() && fabric.node(held.node).facts.answered
}

/// Working switches whose forwarding table is not known, or not whole.
pub(super) fn unread_tables(problem: &Problem<'_>, tables: &Tables) -> u64 {
    let read = |switch: &u32| {
        let held = tables.nodes.get(&NodeId(*switch));
        held.is_some_and(|held| held.lft.is_some() && held.unread.is_empty())
    };
    problem.switches().filter(|switch| problem.graph.alive(*switch) && !read(switch)).count() as u64
}

/// The pairs without a path. What no known cable joins is not known to have none where a topology ends early.
fn lost_pairs<'c>(look: &Look, certificate: &'c Certificate) -> Cow<'c, LostPairs> {
    match look.observation.cut {
        true => Cow::Owned(certificate.lost.beyond_known_cables()),
        false => Cow::Borrowed(&certificate.lost),
    }
}

/// A certificate in words.
pub fn report(look: &Look, problem: &Problem<'_>, certificate: &Certificate) -> Report {
    let names = Names { look, problem };
    let lost = lost_pairs(look, certificate);
    let index = &certificate.edge_forwarding_index;
    let cycle = certificate.cycles.first();
    let acyclic = cycle.is_none();
    let unknown = certificate.scope.lanes == LaneKnowledge::Unknown;
    let verdict = if unknown { acyclic.then_some(true) } else { certificate.deadlock_free };
    let adaptive = look.observation.adaptive;
    Report {
        covers: "unicast",
        pairs: certificate.pairs,
        partitions: look.partitions.as_ref().map(Partitions::count),
        unreachable: lost.total(),
        unread_pairs: lost.unread(),
        by_kind: ByKind {
            hosts: lost.by_kind(Kind::Hosts),
            aggregation: lost.by_kind(Kind::Aggregation),
            switches: lost.by_kind(Kind::Switches),
        },
        by_cause: ByCause {
            cut_off: lost.by_cause(Cause::CutOff),
            no_route: lost.by_cause(Cause::NoRoute),
            dead_end: lost.by_cause(Cause::DeadEnd),
            in_loop: lost.by_cause(Cause::Loop),
        },
        lost: lost.first.iter().map(|pair| names.lost(pair.from, pair.to, pair.cause)).collect(),
        lost_lids: lost.lids,
        partly_reached: lost.partial,
        partly: lost.first_partial.iter().map(|pair| names.lost(pair.from, pair.to, pair.cause)).collect(),
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
        adaptive_routing: adaptive.map(Adaptive::switches),
        adaptive_unknown: adaptive.map_or(0, Adaptive::unknown),
        // Where switches choose among ports by themselves, tables do not tell the paths.
        deadlock_free: verdict.filter(|_| adaptive.is_none()),
        cut: look.observation.cut,
        whatever_lanes: acyclic && certificate.lanes.len() <= 1,
        cycle: cycle.map(|cycle| cycle.channels.iter().map(|channel| names.channel(*channel)).collect()),
        cycle_paths: cycle.map(|cycle| cycle.paths.iter().map(|path| names.path(path)).collect()),
        cycle_lane: cycle.map(|cycle| cycle.lane.value()),
        longest_path: certificate.lengths.longest,
        path_lengths: certificate.lengths.histogram.clone(),
        mean_stretch: certificate.lengths.mean_stretch,
        worst_stretch: certificate.lengths.worst_stretch,
        edge_forwarding_index: Balance {
            min: index.min,
            mean: index.mean,
            max: index.max,
            stddev: index.stddev,
        },
        busiest: index.worst.iter().map(|(channel, paths)| (names.channel(*channel), *paths)).collect(),
        channels: index.channels,
        channels_in_use: index.channels - index.unused,
        dark_fiber: 100.0 * index.unused as f64 / index.channels.max(1) as f64,
        unused_links: index.unused_links.len(),
        unused_link_examples: index.unused_links.iter().take(UNUSED).map(|link| names.link(*link)).collect(),
        loads: None,
        jobs: None,
        unaddressed: certificate.unaddressed,
    }
}

/// Pairs that there would be without marks.
fn failed_pairs(look: &Look, problem: &Problem<'_>, certificate: &Certificate) -> u64 {
    if problem.faults.is_empty() {
        return 0;
    }
    let none = Faults::new();
    let whole = Problem::new(problem.fabric, &none);
    pairs_in_scope(&whole, &certificate.scope, look.partitions.as_ref()).saturating_sub(certificate.pairs)
}

/// Names for what a certificate knows by number.
pub(super) struct Names<'l, 'p> {
    pub(super) look: &'l Look,
    pub(super) problem: &'p Problem<'p>,
}

impl Names<'_, '_> {
    fn fabric(&self) -> &Fabric {
        self.look.fabric()
    }

    fn switches(&self, switches: &[u32]) -> Vec<String> {
        switches.iter().map(|switch| self.look.told_apart(NodeId(*switch)).into_owned()).collect()
    }

    /// `leaf0[3] -> spine1[1]`.
    pub(super) fn channel(&self, id: ChannelId) -> String {
        let channel = self.problem.graph.channel(id);
        let (from, to) =
            (self.look.told_apart(NodeId(channel.from)), self.look.told_apart(NodeId(channel.to)));
        format!("{from}[{}] -> {to}[{}]", channel.from_port, channel.to_port)
    }

    /// `leaf0[3] - spine1[1]`.
    fn link(&self, id: LinkId) -> String {
        let link = self.fabric().link(id);
        format!("{} - {}", self.look.port_told_apart(link.a), self.look.port_told_apart(link.b))
    }

    fn owner(&self, lid: Lid) -> String {
        let owner = self.fabric().port_by_lid(lid);
        owner.map_or_else(|| format!("LID {lid}"), |port| self.port(port))
    }

    /// A port of an adapter by name and number, a switch by name.
    fn port(&self, id: PortId) -> String {
        let port = self.fabric().port(id);
        match self.fabric().node(port.node).is_switch() {
            true => self.look.told_apart(port.node).into_owned(),
            false => self.look.port_told_apart(id),
        }
    }

    fn lost(&self, from: PortId, to: Lid, cause: Cause) -> Lost {
        let cause = match cause {
            Cause::CutOff => "cut-off",
            Cause::NoRoute => "no-route",
            Cause::DeadEnd => "dead-end",
            Cause::Loop => "loop",
            Cause::Unread => "not-read",
        };
        Lost { from: self.port(from), to: self.owner(to), lid: to.value(), cause }
    }

    pub(super) fn path(&self, path: &Proof) -> String {
        let from = self.look.told_apart(NodeId(path.source));
        format!("from {from} to {} (LID {})", self.owner(path.destination), path.destination)
    }
}
