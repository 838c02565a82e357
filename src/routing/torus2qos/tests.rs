use super::*;
use crate::certificate::{Certificate, LaneKnowledge, RouteScope, certify};
use crate::engine::{EngineAnswer, EngineRefusal, NoProgress, Request};
use crate::problem::Problem;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{
    ElementId, Fabric, FabricBuilder, Faults, Guid, Lid, NodeId, PathLanes, SeedLink, TorusDescription,
    TorusSeed,
};
use std::collections::BTreeMap;
use std::sync::Arc;

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

fn run(fabric: &Fabric, faults: &Faults, lanes: u8) -> Result<EngineAnswer, EngineRefusal> {
    route(&Problem::new(fabric, faults), &Request { lanes, ..Request::default() }, &NoProgress)
}

fn judge(fabric: &Fabric, faults: &Faults, answer: &EngineAnswer) -> Certificate {
    let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
    certify(&Problem::new(fabric, faults), &answer.routes, &scope, &NoProgress).unwrap()
}

fn levels(answer: &EngineAnswer) -> &[u8] {
    match &answer.routes.lanes {
        PathLanes::ByHop { level, .. } => level,
        other => panic!("{other:?}"),
    }
}

fn switch(fabric: &Fabric, name: &str) -> NodeId {
    let found = fabric.switches().find(|(_, node)| node.facts.description.trim() == name);
    found.unwrap_or_else(|| panic!("no {name}")).0
}

fn link(fabric: &Fabric, a: &str, b: &str) -> ElementId {
    let wanted = [switch(fabric, a), switch(fabric, b)];
    let joins = |id| {
        let ends = fabric.ends(id).map(|(node, _)| node);
        ends == wanted || [ends[1], ends[0]] == wanted
    };
    ElementId::Link(fabric.links().map(|(id, _)| id).find(|id| joins(*id)).unwrap())
}

fn marked(elements: &[ElementId]) -> Faults {
    let mut faults = Faults::new();
    elements.iter().for_each(|element| _ = faults.mark(*element));
    faults
}

fn refusal(fabric: &Fabric, faults: &Faults) -> String {
    run(fabric, faults, 8).unwrap_err().to_string()
}

#[test]
fn whole_tori_are_clean_on_two_lanes_and_meshes_on_one() {
    let cases = [
        ("torus,dims=5", 2, 6),
        ("torus,dims=4x4", 2, 0),
        ("torus,dims=5x4,redundancy=2", 2, 0),
        ("torus,dims=2x5", 2, 0),
        ("torus,dims=3x3x3", 2, 0),
        ("torus,dims=4x3x2", 2, 0),
        ("mesh,dims=3x4", 1, 0),
        ("mesh,dims=3x2x3", 1, 0),
    ];
    for (name, lanes, _) in cases {
        let (fabric, faults) = (fabric(name), Faults::new());
        let answer = run(&fabric, &faults, 2).unwrap_or_else(|refused| panic!("{name}: {refused}"));
        let judged = judge(&fabric, &faults, &answer);
        assert!(judged.is_clean() && judged.deadlock_free == Some(true), "{name}: {judged:?}");
        assert_eq!((answer.routes.lane_count(), judged.lanes.len()), (lanes, usize::from(lanes)), "{name}");
        assert_eq!(judged.lengths.worst_stretch, 1.0, "{name}");
    }
}

#[test]
fn without_its_lanes_a_torus_has_a_credit_loop() {
    let (fabric, faults) = (fabric("torus,dims=5x4"), Faults::new());
    let mut answer = run(&fabric, &faults, 4).unwrap();
    assert!(judge(&fabric, &faults, &answer).is_clean());
    if let PathLanes::ByHop { level, .. } = &mut answer.routes.lanes {
        level.fill(0);
    }
    let judged = judge(&fabric, &faults, &answer);
    assert_eq!(judged.deadlock_free, Some(false));
    let cycle = &judged.cycles[0];
    assert_eq!((cycle.hop_lanes.len(), cycle.paths.len()), (cycle.channels.len(), cycle.channels.len()));
}

/// Any one link and any one switch: clean on four lanes, and the level of no pair changes.
#[test]
fn one_failure_of_a_torus_is_served_with_the_levels_of_the_whole_torus() {
    for name in ["torus,dims=4x5", "torus,dims=3x4x3"] {
        let fabric = fabric(name);
        let whole = run(&fabric, &Faults::new(), 4).unwrap();
        let links = fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id));
        let switches = fabric.switches().map(|(id, _)| ElementId::Node(id));
        let mut detours = 0;
        for element in links.map(ElementId::Link).chain(switches) {
            let faults = marked(&[element]);
            let answer =
                run(&fabric, &faults, 4).unwrap_or_else(|refused| panic!("{name} {element:?}: {refused}"));
            let judged = judge(&fabric, &faults, &answer);
            let lost = judged.lost.total() - judged.lost.by_cause(crate::Cause::CutOff);
            assert_eq!(
                (judged.deadlock_free, lost, judged.loops.count),
                (Some(true), 0, 0),
                "{name} {element:?}"
            );
            // What has no path has no level.
            let stride = answer.routes.stride();
            let has_path = |at: usize| {
                let lid = Lid::new((at % stride) as u32);
                lid.is_some_and(|lid| answer.routes.get((at / stride) as u32, lid).is_some())
            };
            let mut pairs = levels(&whole).iter().zip(levels(&answer)).enumerate();
            let same = pairs.all(|(at, (a, b))| a == b || !has_path(at));
            assert!(same && levels(&answer).len() == levels(&whole).len(), "{name} {element:?}");
            detours += usize::from(answer.routes.lane_count() == 4);
            let two = run(&fabric, &faults, 2);
            match answer.routes.lane_count() {
                4 => assert!(
                    matches!(two, Err(EngineRefusal::Lanes { needed: 4, given: 2, .. })),
                    "{element:?}"
                ),
                _ => assert!(judge(&fabric, &faults, &two.unwrap()).deadlock_free == Some(true)),
            }
        }
        assert_eq!(detours, fabric.switch_count(), "{name}: switches need illegal turns, links do not");
    }
}

#[test]
fn a_cut_line_of_a_mesh_is_refused_by_name_and_a_parallel_cable_is_not() {
    let single = fabric("mesh,dims=3x4");
    let refused = refusal(&single, &marked(&[link(&single, "sw_1_2", "sw_1_3")]));
    assert!(refused.contains("the line in y through sw_1_0 (0x"), "{refused}");
    assert!(
        refused.contains("has a break: no link from sw_1_2 (0x") && refused.contains("to sw_1_3"),
        "{refused}"
    );
    let double = fabric("mesh,dims=3x4,redundancy=2");
    let faults = marked(&[link(&double, "sw_1_2", "sw_1_3")]);
    assert!(judge(&double, &faults, &run(&double, &faults, 4).unwrap()).is_clean());
}

#[test]
fn two_breaks_of_a_ring_are_refused_by_name_and_one_in_each_of_two_rings_is_not() {
    let torus = fabric("torus,dims=5x4");
    let (first, same) = (link(&torus, "sw_0_1", "sw_1_1"), link(&torus, "sw_3_1", "sw_4_1"));
    let other = link(&torus, "sw_3_2", "sw_4_2");
    let refused = refusal(&torus, &marked(&[first, same]));
    assert!(
        refused.contains("the ring in x through sw_0_1 (0x") && refused.contains("has 2 breaks"),
        "{refused}"
    );
    assert!(refused.contains("no link from sw_3_1"), "{refused}");
    let faults = marked(&[first, other]);
    assert!(judge(&torus, &faults, &run(&torus, &faults, 4).unwrap()).is_clean());
    let refused = refusal(&torus, &marked(&[first, ElementId::Node(switch(&torus, "sw_3_1"))]));
    assert!(refused.contains("sw_3_1") && refused.contains("has failed"), "{refused}");
}

#[test]
fn failed_switches_side_by_side_are_served_in_the_last_dimension_alone() {
    let torus = fabric("torus,dims=5x5");
    let node = |name: &str| ElementId::Node(switch(&torus, name));
    let faults = marked(&[node("sw_2_1"), node("sw_2_2")]);
    let answer = run(&torus, &faults, 4).unwrap();
    assert_eq!(judge(&torus, &faults, &answer).deadlock_free, Some(true));
    let refused = refusal(&torus, &marked(&[node("sw_2_1"), node("sw_3_1")]));
    assert!(
        refused.contains("sw_2_1") && refused.contains("sw_3_1") && refused.contains("in x"),
        "{refused}"
    );
}

#[test]
fn a_fabric_that_is_no_torus_is_refused_with_a_hint() {
    for name in [
        "kary,k=3,n=2",
        "dragonfly,a=4,p=2,h=2,g=9",
        "torus,dims=2x2x2x3",
        "random,switches=20,links=60,seed=1",
    ] {
        let refused = refusal(&fabric(name), &Faults::new());
        assert!(refused.contains("--torus FILE"), "{name}: {refused}");
    }
    let refused = run(&fabric("torus,dims=4x4"), &Faults::new(), 1).unwrap_err();
    assert_eq!(refused, EngineRefusal::Lanes { engine: ID, needed: 2, given: 1 });
}

fn seeded(fabric: &Fabric, description: TorusDescription) -> Result<TorusCoordinates, String> {
    TorusCoordinates::find(fabric, Some(&description))
}

/// A description whose seed is the switch at some place, with links in all directions where `both`.
fn description(fabric: &Fabric, radix: [u32; 3], at: [u32; 3], both: bool) -> TorusDescription {
    let guid = |place: [u32; 3]| {
        let used = (0..3).filter(|dimension| radix[*dimension] > 1);
        let name: Vec<String> = used.map(|dimension| place[dimension].to_string()).collect();
        fabric.node(switch(fabric, &format!("sw_{}", name.join("_")))).guid()
    };
    let mut links = Vec::new();
    for dimension in (0..3).filter(|dimension| radix[*dimension] > 1) {
        for is_positive in [true, false].into_iter().take(if both { 2 } else { 1 }) {
            let by = if is_positive { 1 } else { radix[dimension] - 1 };
            let mut next = at;
            next[dimension] = (next[dimension] + by) % radix[dimension];
            links.push(SeedLink { dimension, is_positive, to: guid(next) });
        }
    }
    let dateline = at.map(|coordinate| -(coordinate as i32));
    let seeds = vec![
        TorusSeed { from: Guid(1), links: links.clone(), dateline: [0; 3] },
        TorusSeed { from: guid(at), links, dateline },
    ];
    TorusDescription { radix, is_closed: [true; 3], seeds, port_order: Vec::new() }
}

#[test]
fn coordinates_by_a_seed_are_those_of_the_cabling() {
    for (name, radix) in [
        ("torus,dims=4x5", [4, 5, 1]),
        ("torus,dims=3x4x5", [3, 4, 5]),
        ("torus,dims=5x5x5", [5, 5, 5]),
        ("torus,dims=4x4x4", [4, 4, 4]),
        ("torus,dims=2x3x5", [2, 3, 5]),
    ] {
        let fabric = fabric(name);
        let plain = TorusCoordinates::find(&fabric, None).unwrap();
        let seeds = [([0, 0, 0], true), ([1, 2, 0], true), ([2, 1, 0], radix.contains(&4))];
        let exists = |at: [u32; 3]| at.iter().zip(&radix).all(|(place, radix)| place < radix);
        for (at, both) in seeds.into_iter().filter(|(at, _)| exists(*at)) {
            let found = seeded(&fabric, description(&fabric, radix, at, both)).unwrap();
            assert!(found == plain, "{name} from {at:?}");
        }
    }
}

#[test]
fn a_description_that_does_not_fit_is_refused() {
    let torus = fabric("torus,dims=4x5");
    let good = description(&torus, [4, 5, 1], [0, 0, 0], true);
    let cases = [
        (TorusDescription { radix: [4, 4, 1], ..good.clone() }, "16 places, and the fabric has 20"),
        (TorusDescription { radix: [5, 4, 1], ..good.clone() }, "do not fit the torus"),
        (TorusDescription { seeds: good.seeds[..1].to_vec(), ..good.clone() }, "no seed of --torus has all"),
        (TorusDescription { is_closed: [false; 3], ..good.clone() }, "leads out of the mesh in x"),
    ];
    for (description, words) in cases {
        let refused = seeded(&torus, description).unwrap_err();
        assert!(refused.contains(words), "{refused}");
    }
    let request = Request { torus: Some(Arc::new(good)), ..Request::default() };
    let faults = Faults::new();
    let answer = route(&Problem::new(&torus, &faults), &request, &NoProgress).unwrap();
    assert!(judge(&torus, &faults, &answer).is_clean());
    assert_eq!(answer.remarks[0], "coordinates: torus 4 x 5");
}

/// Hosts take turns on parallel cables, in the order of their ports or as the description has them.
#[test]
fn parallel_cables_carry_as_many_hosts_each() {
    let torus = fabric("torus,dims=5x4,redundancy=2,terminals=4");
    let faults = Faults::new();
    let problem = Problem::new(&torus, &faults);
    let answer = run(&torus, &faults, 4).unwrap();
    let (from, to) = (switch(&torus, "sw_0_0").0, switch(&torus, "sw_1_0").0);
    let mut counts = [0; 2];
    for end in problem.destinations_behind(to).iter().filter(|end| !end.is_switch()) {
        counts[usize::from(answer.routes.get(from, end.lid).unwrap().value() - 1)] += 1;
    }
    assert_eq!(counts, [2, 2]);
}

/// The fabric without a switch and its hosts, node by node.
fn without_switch(whole: &Fabric, gone: NodeId) -> Fabric {
    let mut builder = FabricBuilder::new();
    let behind = |node: NodeId| {
        whole.ports_of(node).any(|(id, _)| whole.peer(id).is_some_and(|peer| whole.port(peer).node == gone))
    };
    let stays = |node: NodeId| node != gone && (whole.node(node).is_switch() || !behind(node));
    let mut keys = BTreeMap::new();
    for (id, node) in whole.nodes().filter(|(id, _)| stays(*id)) {
        let key = builder.add_node(node.facts.clone()).unwrap();
        keys.insert(id, key);
        for (_, port) in whole.ports_of(id) {
            *builder.port(key, port.number) = port.facts.clone();
        }
    }
    for (id, _) in whole.links() {
        let [(a, from), (b, to)] = whole.ends(id);
        if let (Some(a), Some(b)) = (keys.get(&a), keys.get(&b)) {
            builder.connect((*a, from), (*b, to)).unwrap();
        }
    }
    builder.finish()
}

/// The level of each pair of a switch and a host, by their names.
fn named_levels(fabric: &Fabric, answer: &EngineAnswer) -> BTreeMap<(String, String), u8> {
    let faults = Faults::new();
    let (problem, level) = (Problem::new(fabric, &faults), levels(answer));
    let (stride, mut named) = (answer.routes.stride(), BTreeMap::new());
    let name = |node: NodeId| fabric.node(node).facts.description.trim().to_owned();
    for (from, _) in fabric.switches() {
        for end in problem.graph.terminals() {
            let lid = end.lid.unwrap();
            let at = from.0 as usize * stride + lid.index();
            named.insert((name(from), name(fabric.port(end.port).node)), level[at]);
        }
    }
    named
}

/// A switch that is gone, as the next sweep finds the fabric, moves no level: the dateline stays where it is. Only with
/// the switch of the lowest GUID it moves, and a remark says so; a description keeps it.
#[test]
fn levels_stay_when_a_switch_is_gone_from_the_fabric() {
    let whole = fabric("torus,dims=5x4,terminals=1");
    let levels_of_whole = named_levels(&whole, &run(&whole, &Faults::new(), 4).unwrap());
    let described = description(&whole, [5, 4, 1], [1, 1, 0], true);
    let (mut kept, mut lowest) = (0, 0);
    for (id, node) in whole.switches() {
        let gone = without_switch(&whole, id);
        let same = |answer: &EngineAnswer| {
            let levels = named_levels(&gone, answer);
            assert_eq!(levels.len(), 19 * 19);
            levels.iter().all(|(pair, level)| levels_of_whole[pair] == *level)
        };
        let plain = run(&gone, &Faults::new(), 4).unwrap();
        assert_eq!(judge(&gone, &Faults::new(), &plain).deadlock_free, Some(true));
        assert!(plain.remarks.iter().any(|remark| remark.contains("a switch is not there")));
        let first = whole.switches().map(|(_, node)| node.guid()).min() == Some(node.guid());
        assert_eq!(same(&plain), !first, "{}", node.facts.description);
        kept += usize::from(!first);
        lowest += usize::from(first);
        // The seed and its neighbours have to be there.
        let seeds = &described.seeds[1];
        if node.guid() != seeds.from && seeds.links.iter().all(|link| link.to != node.guid()) {
            let request =
                Request { lanes: 4, torus: Some(Arc::new(described.clone())), ..Request::default() };
            let faults = Faults::new();
            let answer = route(&Problem::new(&gone, &faults), &request, &NoProgress).unwrap();
            assert!(same(&answer) && answer.remarks.len() < plain.remarks.len());
        }
    }
    assert_eq!((kept, lowest), (19, 1));
    let answer = run(&whole, &Faults::new(), 4).unwrap();
    assert!(!answer.remarks.iter().any(|remark| remark.contains("is not there")));
}
