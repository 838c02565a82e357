//! The certificate over sets against a naive judge that follows every choice of every packet, and against the
//! certificate of linear tables where there is nothing to choose.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fabdeck_fabric::{
    AdaptiveSettings, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState, FabricBuilder, Faults, Lane,
    NO_PATH, NodeId, PortNum, ServiceLevel, ServiceLevels, Sl2Vl, Tables,
};
use fabdeck_routing::certificate::{
    ChoiceCertificate, LaneMapping, adaptive_doubts, certify_choices, certify_service,
    choices_differ_by_level,
};
use fabdeck_routing::{Cause, Destination, NoProgress, Problem};

use super::adaptive_fabrics::{AdaptiveFabric, GroupKind};
use super::certificate::{Dice, any_fabric, certificate};
use super::common::fabric;
use super::route;

/// A switch and the port by which a packet came in.
type Place = (u32, u8);

/// A switch, the port by which a packet leaves it, and the lane.
type Leaving = (u32, u8, u8);

/// What waits for what.
type Dependencies = BTreeMap<Leaving, BTreeSet<Leaving>>;

/// What the naive judge finds.
#[derive(Default)]
struct Naive {
    paths: u64,
    lost: u64,
    always_lost: u64,
    loops: bool,
    /// The ports that lack the lane of a packet.
    lacking: BTreeSet<Leaving>,
    dependencies: Dependencies,
}

struct Judge<'a> {
    problem: &'a Problem<'a>,
    tables: &'a Tables,
    mapping: LaneMapping<'a>,
    levels: &'a ServiceLevels,
}

impl Judge<'_> {
    /// The level of packets to a destination.
    fn level(&self, end: &Destination) -> ServiceLevel {
        level(self.levels.level_bits(0, end.lid).trailing_zeros())
    }

    fn outputs(&self, (switch, ingress): Place, end: &Destination) -> Vec<PortNum> {
        let set =
            self.tables.nodes[&NodeId(switch)].outputs(PortNum(ingress), self.level(end), end.lid).unwrap();
        set.ports.iter().collect()
    }

    fn behind(&self, switch: u32, port: PortNum) -> Option<Place> {
        let leaving = &self.problem.graph.channels()[self.problem.graph.outgoing(switch)];
        let channel = leaving.iter().find(|channel| channel.from_port == port)?;
        Some((channel.to, channel.to_port.value()))
    }

    /// Whether every choice from a place arrives; `path` is the places before.
    fn arrives(
        &self,
        at: Place,
        (root, end): (u32, &Destination),
        path: &mut Vec<Place>,
        known: &mut BTreeMap<Place, bool>,
    ) -> bool {
        if path.contains(&at) {
            return false;
        }
        if let Some(known) = known.get(&at) {
            return *known;
        }
        path.push(at);
        let outputs = self.outputs(at, end);
        let mut all = !outputs.is_empty();
        for port in outputs {
            all &= match self.behind(at.0, port) {
                Some(next) => self.arrives(next, (root, end), path, known),
                None => at.0 == root && port == end.port,
            };
        }
        path.pop();
        // What is lost in a loop is lost from all of its places; what arrives does so from wherever one comes.
        known.insert(at, all);
        all
    }

    /// Whether some choice leads from a place to the destination.
    fn can_arrive(&self, from: Place, (root, end): (u32, &Destination)) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for port in self.outputs(at, end) {
                match self.behind(at.0, port) {
                    Some(next) => open.extend(Some(next).filter(|next| seen.insert(*next))),
                    None if at.0 == root && port == end.port => return true,
                    None => {}
                }
            }
        }
        false
    }

    fn judge(&self) -> Naive {
        let mut found = Naive::default();
        for root in self.problem.switches() {
            for end in self.problem.destinations_behind(root).iter().filter(|end| !end.is_switch()) {
                self.judge_destination((root, end), &mut found);
            }
        }
        found.loops = has_cycle(&found.dependencies);
        found
    }

    fn judge_destination(&self, (root, end): (u32, &Destination), found: &mut Naive) {
        let mut known = BTreeMap::new();
        let mut open: Vec<(Place, Option<Leaving>)> = Vec::new();
        for terminal in self.problem.graph.terminals() {
            let at = (terminal.switch, terminal.switch_port.value());
            if at == (root, end.port.value()) {
                continue;
            }
            found.paths += 1;
            found.lost += u64::from(!self.arrives(at, (root, end), &mut Vec::new(), &mut known));
            found.always_lost += u64::from(!self.can_arrive(at, (root, end)));
            open.push((at, None));
        }
        let mut seen = BTreeSet::new();
        while let Some((at, before)) = open.pop() {
            if !seen.insert((at, before)) {
                continue;
            }
            for port in self.outputs(at, end) {
                let next = self.behind(at.0, port);
                let hop = self.mapping.hop(at.0, PortNum(at.1), port, self.level(end).value());
                let now = (at.0, port.value(), hop.lane);
                if !hop.has_lane && (next.is_some() || (at.0, port) == (root, end.port)) {
                    found.lacking.insert(now);
                }
                let Some(next) = next.filter(|_| hop.has_lane) else { continue };
                if let Some(before) = before {
                    found.dependencies.entry(before).or_default().insert(now);
                }
                open.push((next, Some(now)));
            }
        }
    }
}

/// Takes away what waits for nothing until nothing changes.
fn has_cycle(dependencies: &Dependencies) -> bool {
    let mut left = dependencies.clone();
    loop {
        let before = left.len();
        let keys: BTreeSet<_> = left.keys().copied().collect();
        left.values_mut().for_each(|next| next.retain(|next| keys.contains(next)));
        left.retain(|_, next| !next.is_empty());
        if left.len() == before {
            return before > 0;
        }
    }
}

fn level(level: u32) -> ServiceLevel {
    ServiceLevel::new(level).unwrap()
}

fn judge_choices(case: &AdaptiveFabric, on: u32) -> ChoiceCertificate {
    let faults = Faults::default();
    let problem = Problem::new(&case.fabric, &faults);
    assert!(adaptive_doubts(&problem, &case.tables).is_empty());
    let levels = ServiceLevels::One(level(on));
    certify_choices(&problem, &case.tables, false, Some(&levels), &NoProgress).unwrap()
}

#[test]
fn certificates_of_random_groups_say_what_following_every_choice_says() {
    let (mut free, mut loops, mut lossy, mut whole, mut hopeless) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        let case = AdaptiveFabric::random(seed);
        let on = (seed % 3) as u32;
        let found = judge_choices(&case, on);
        let faults = Faults::default();
        let problem = Problem::new(&case.fabric, &faults);
        let mapping = LaneMapping::new(&problem, &case.tables);
        let levels = ServiceLevels::One(level(on));
        let naive = Judge { problem: &problem, tables: &case.tables, mapping, levels: &levels }.judge();
        assert_eq!((found.paths, found.credit_loop.is_some()), (naive.paths, naive.loops), "{}", case.name);
        assert_eq!(found.lost_count() == 0, naive.lost == 0, "{}", case.name);
        assert_eq!(found.loops.count > 0, found.lost[Cause::Loop as usize] > 0, "{}", case.name);
        let (lost, known_lost) = (found.lost_count(), naive.lost);
        assert!(lost >= known_lost, "{}: {lost} {known_lost}", case.name);
        if found.loops.count == 0 {
            assert_eq!(lost, known_lost, "{}", case.name);
        }
        assert_eq!(found.always_lost, naive.always_lost, "{}", case.name);
        hopeless += usize::from(naive.always_lost > 0);
        if case.kind != GroupKind::Any {
            assert_eq!(lost, 0, "{}: every choice comes nearer", case.name);
        }
        assert!(case.kind != GroupKind::UpDown || found.lanes.len() > 1 || !naive.loops, "{}", case.name);
        free += usize::from(!naive.loops);
        loops += usize::from(naive.loops);
        lossy += usize::from(lost > 0);
        whole += usize::from(lost == 0);
    }
    println!(
        "{free} free, {loops} with a credit loop; {lossy} lose packets, {hopeless} some of them always, {whole} do not"
    );
    assert!(free > 80 && loops > 80 && lossy > 20 && whole > 200 && hopeless > 20);
}

#[test]
fn levels_by_destination_and_ports_that_lack_lanes_are_judged_as_packets_meet_them() {
    let (mut loops, mut lossy, mut narrow) = (0, 0, 0);
    for seed in 0..400 {
        let case = AdaptiveFabric::with_narrow_cables(seed);
        let mut dice = Dice(seed ^ 77);
        let top = case.fabric.top_lid().map_or(0, |lid| lid.index());
        let levels = ServiceLevels::ByLid((0..=top).map(|_| 1 << dice.below(3)).collect());
        let faults = Faults::default();
        let problem = Problem::new(&case.fabric, &faults);
        let mapping = LaneMapping::new(&problem, &case.tables);
        let found = certify_choices(&problem, &case.tables, false, Some(&levels), &NoProgress).unwrap();
        let naive = Judge { problem: &problem, tables: &case.tables, mapping, levels: &levels }.judge();
        assert_eq!((found.paths, found.credit_loop.is_some()), (naive.paths, naive.loops), "{}", case.name);
        let (lost, known_lost) = (found.lost_count(), naive.lost);
        assert_eq!(lost == 0, known_lost == 0, "{}: {lost} {known_lost}", case.name);
        assert!(lost >= known_lost && (found.loops.count > 0 || lost == known_lost), "{}", case.name);
        let name = |(switch, port, lane): &Leaving| {
            (case.fabric.port_of(NodeId(*switch), PortNum(*port)).unwrap(), *lane)
        };
        let lacking: BTreeSet<_> = found.limits.iter().map(|limit| (limit.port, limit.lane)).collect();
        assert_eq!(lacking, naive.lacking.iter().map(name).collect(), "{}", case.name);
        loops += usize::from(naive.loops);
        lossy += usize::from(lost > 0);
        narrow += usize::from(!found.limits.is_empty());
    }
    println!("{loops} with a credit loop, {lossy} lose packets, {narrow} lack lanes");
    assert!(loops > 40 && lossy > 20 && narrow > 100, "{loops} {lossy} {narrow}");
}

/// Levels count where they change the ports: not masks of what is off, and not where fast recovery uses all groups.
#[test]
fn sets_of_ports_differ_by_level_where_settings_make_them() {
    let mut case = AdaptiveFabric::random(0);
    let switch = NodeId(0);
    let on = AdaptiveSettings { adaptive: true, levels: 1, private_tables: Some(0), ..Default::default() };
    case.tables.nodes.values_mut().for_each(|held| held.adaptive = None);
    for (settings, differ) in [
        (on, true),
        (AdaptiveSettings { levels: u16::MAX, ..on }, false),
        (AdaptiveSettings { fast_recovery: true, ..on }, false),
        (AdaptiveSettings { levels: u16::MAX, hash_levels: 2, ..on }, false),
        (AdaptiveSettings { levels: u16::MAX, hash_forwarding: true, hash_levels: 2, ..on }, true),
    ] {
        case.tables.node_mut(switch).adaptive = Some(AdaptiveSwitch {
            statement: AdaptiveStatement::Stated(settings),
            tables: AdaptiveTableState::Read(Arc::default()),
        });
        let faults = Faults::default();
        let problem = Problem::new(&case.fabric, &faults);
        assert_eq!(choices_differ_by_level(&problem, &case.tables), differ, "{settings:?}");
    }
}

/// Two hosts of one switch have equal paths from the others, but only one of them has the lane of the packets.
#[test]
fn each_destination_has_its_own_last_port() {
    let plain = fabric("torus,dims=3,terminals=2");
    let hosts: Vec<_> = plain.ports().filter(|(_, port)| !plain.node(port.node).is_switch()).collect();
    for (id, port) in &hosts {
        let mut builder = FabricBuilder::from_fabric(&plain);
        builder.port(port.node.into(), port.number).operational_lanes = Some(1);
        let fabric = builder.finish();
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = route("minhop", &problem).unwrap().routes;
        let mut tables = Tables::default();
        for at in problem.switches() {
            let node = tables.node_mut(NodeId(at));
            node.lft = Some(routes.lft(at));
            let ports: Vec<_> = fabric.ports_of(NodeId(at)).map(|(_, port)| port.number).collect();
            let mut row = Sl2Vl::default();
            row.set(level(1), Lane::new(1).unwrap());
            for (from, to) in ports.iter().flat_map(|from| ports.iter().map(move |to| (*from, *to))) {
                node.sl2vl.insert((from, to), row);
            }
        }
        let levels = ServiceLevels::One(level(1));
        let found = certify_choices(&problem, &tables, false, Some(&levels), &NoProgress).unwrap();
        let last = fabric.peer(*id);
        let limits: Vec<_> = found.limits.iter().map(|limit| (Some(limit.port), limit.lane)).collect();
        assert_eq!(limits, [(last, 1)], "{port:?}");
    }
}

/// Ports that lack the lane are searched, though no packet passes them. What became of one destination behind them says
/// nothing of the next one, whose entry the last switch lacks.
#[test]
fn what_lies_behind_a_port_without_the_lane_is_judged_for_each_destination() {
    let plain = fabric("torus,dims=3,terminals=2");
    let mut builder = FabricBuilder::from_fabric(&plain);
    for (_, port) in plain.ports() {
        if plain.node(port.node).is_switch() {
            builder.port(port.node.into(), port.number).operational_lanes = Some(1);
        }
    }
    let fabric = builder.finish();
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let levels = ServiceLevels::One(level(1));
    let mut lost = 0;
    for root in problem.switches() {
        for end in problem.destinations_behind(root).iter().filter(|end| !end.is_switch()) {
            let mut tables = Tables::default();
            for at in problem.switches() {
                let node = tables.node_mut(NodeId(at));
                let mut lft = routes.lft(at);
                if at == root {
                    lft.set_from(end.lid.index(), &[NO_PATH]);
                }
                node.lft = Some(lft);
                let ports: Vec<_> = fabric.ports_of(NodeId(at)).map(|(_, port)| port.number).collect();
                let mut row = Sl2Vl::default();
                row.set(level(1), Lane::new(1).unwrap());
                for (from, to) in ports.iter().flat_map(|from| ports.iter().map(move |to| (*from, *to))) {
                    node.sl2vl.insert((from, to), row);
                }
            }
            let found = certify_choices(&problem, &tables, false, Some(&levels), &NoProgress).unwrap();
            let mapping = LaneMapping::new(&problem, &tables);
            let naive = Judge { problem: &problem, tables: &tables, mapping, levels: &levels }.judge();
            assert_eq!(found.lost_count(), naive.lost, "{root} {end:?}");
            lost += naive.lost;
        }
    }
    assert!(lost > 0);
}

#[test]
fn a_credit_loop_comes_with_a_path_for_each_dependency() {
    let mut proved = 0;
    for seed in 0..120 {
        let case = AdaptiveFabric::random(seed);
        let found = judge_choices(&case, 0);
        let Some(credit_loop) = &found.credit_loop else { continue };
        assert_eq!(
            (credit_loop.hops.len(), found.loop_paths.len()),
            (credit_loop.paths.len(), credit_loop.hops.len())
        );
        let faults = Faults::default();
        let problem = Problem::new(&case.fabric, &faults);
        let next = credit_loop.hops.iter().cycle().skip(1);
        for ((hop, next), path) in credit_loop.hops.iter().zip(next).zip(&found.loop_paths) {
            let pair = [hop.0, next.0];
            assert!(path.channels.windows(2).any(|two| two == pair), "{}: {path:?} {pair:?}", case.name);
            let port = case.fabric.port(case.fabric.peer(path.from).unwrap());
            let (mut at, mut ingress) = (port.node.0, port.number);
            for channel in &path.channels {
                let held = problem.graph.channel(*channel);
                let outputs = case.tables.nodes[&NodeId(at)].outputs(ingress, path.level, path.to).unwrap();
                assert!(held.from == at && outputs.ports.has(held.from_port), "{}: {path:?}", case.name);
                (at, ingress) = (held.to, held.to_port);
            }
            proved += 1;
        }
    }
    assert!(proved > 60, "{proved}");
}

#[test]
fn without_a_choice_the_certificate_is_that_of_linear_tables() {
    let mut loops = 0;
    for seed in 0..40 {
        let fabric = any_fabric(seed);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let engine = ["minhop", "updn", "sssp"][seed as usize % 3];
        let Ok(answer) = route(engine, &problem) else { continue };
        let mut routes = answer.routes;
        routes.lanes = fabdeck_fabric::PathLanes::One;
        let mut dice = Dice(seed);
        // Some entries are lost, and some lead elsewhere.
        for _ in 0..dice.below(4) {
            let switch = dice.below(problem.graph.switch_count()) as u32;
            let end = problem.destinations()[dice.below(problem.destinations().len())];
            routes.set(switch, end.lid, Some(PortNum(dice.below(4) as u8)).filter(|port| port.value() > 0));
        }
        let mut tables = Tables::default();
        problem.switches().for_each(|at| tables.node_mut(NodeId(at)).lft = Some(routes.lft(at)));
        for switches in [false, true] {
            let levels = ServiceLevels::One(level(0));
            let linear = certificate(&problem, &routes, switches);
            let mapping = LaneMapping::new(&problem, &tables);
            let service =
                certify_service(&problem, &routes, switches, &mapping, &levels, &NoProgress).unwrap();
            let found = certify_choices(&problem, &tables, switches, Some(&levels), &NoProgress).unwrap();
            let every = certify_choices(&problem, &tables, switches, None, &NoProgress).unwrap();
            // Paths that do not arrive fill buffers all the same, which the certificate of linear tables leaves out.
            if linear.lost.lids == 0 {
                assert_eq!(found.credit_loop.is_some(), service.credit_loop.is_some(), "{engine} {seed}");
                assert_eq!(every.credit_loop.is_some(), !linear.cycles.is_empty(), "{engine} {seed}");
                assert_eq!(found.longest, linear.lengths.longest.max(found.longest), "{engine} {seed}");
            }
            assert_eq!(
                (found.lost_count(), every.lost_count()),
                (linear.lost.lids, linear.lost.lids),
                "{engine} {seed}"
            );
            assert_eq!(found.without_tables, service.without_tables, "{engine} {seed}");
            loops += usize::from(found.credit_loop.is_some());
        }
    }
    assert!(loops > 5, "{loops}");
}
