//! The seven switches on which lemma 5.9 of the sFtree paper (Bogdanski et al.) does not hold; docs/engines.md has the
//! network too.
//!
//! ```text
//!      S1    S2        each chip on both spines
//!      |  \/  |
//!      |  /\  |
//!      M1    M2
//!     /  \  /  \
//!    C    L     B      L hangs on both chips and is the root of algorithm 1
//! ```

use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, Lid, NodeFacts, NodeId, NodeKind, PortNum};
use fabdeck_routing::Problem;

use super::certificate::certificate;
use super::route;

const CABLES: [(&str, &str); 8] = [
    ("L", "M1"),
    ("L", "M2"),
    ("B", "M2"),
    ("C", "M1"),
    ("M1", "S1"),
    ("M1", "S2"),
    ("M2", "S1"),
    ("M2", "S2"),
];

/// A host on each leaf; ports of switches in the order of the cables.
fn seven_switches() -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut used = std::collections::BTreeMap::new();
    for (number, name) in (1..).zip(["L", "B", "C", "M1", "M2", "S1", "S2"]) {
        let facts = NodeFacts::new(NodeKind::Switch, Guid(number), 8, name);
        used.insert(name, (builder.add_node(facts).unwrap(), 0u8));
    }
    for (number, name) in (16..).zip(["L", "B", "C"]) {
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(number), 1, format!("host of {name}"));
        let host = builder.add_node(facts).unwrap();
        builder.connect((used[name].0, PortNum(8)), (host, PortNum(1))).unwrap();
    }
    for (a, b) in CABLES {
        let mut end = |name: &str| {
            let (switch, ports) = used.get_mut(name).unwrap();
            *ports += 1;
            (*switch, PortNum(*ports))
        };
        let (a, b) = (end(a), end(b));
        builder.connect(a, b).unwrap();
    }
    builder.finish().with_fresh_lids(None)
}

fn node(fabric: &Fabric, name: &str) -> NodeId {
    fabric.nodes().find(|(_, node)| node.facts.description == name).unwrap().0
}

fn lid(fabric: &Fabric, name: &str) -> Lid {
    fabric.ports_of(node(fabric, name)).find_map(|(_, port)| port.facts.lid).unwrap()
}

/// Algorithm 2 lets S1's entry for L lead to M2, and S2's to M1, and paths between spines follow these entries.
#[test]
fn four_paths_of_algorithm_2_close_a_credit_loop_and_sftree_has_none() {
    let (fabric, faults) = (seven_switches(), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut routes = problem.empty_routes();
    let paths = [
        ("S2", vec!["S1", "M2", "S2"]),
        ("S1", vec!["S2", "M1", "S1"]),
        ("host of B", vec!["C", "M1", "S1", "M2", "B"]),
        ("host of C", vec!["B", "M2", "S2", "M1", "C"]),
    ];
    for (to, path) in &paths {
        for hop in path.windows(2) {
            let [from, next] = [hop[0], hop[1]].map(|name| node(&fabric, name).0);
            let channels = &problem.graph.channels()[problem.graph.outgoing(from)];
            let channel = channels.iter().find(|channel| channel.to == next).unwrap();
            routes.set(from, lid(&fabric, to), Some(channel.from_port));
        }
        let last = if to.starts_with("host") { PortNum(8) } else { PortNum::MANAGEMENT };
        routes.set(node(&fabric, path[path.len() - 1]).0, lid(&fabric, to), Some(last));
    }
    let judged = certificate(&problem, &routes, true);
    assert_eq!(judged.deadlock_free, Some(false));
    let name = |switch: u32| fabric.node(NodeId(switch)).facts.description.clone();
    let mut cycle: Vec<String> = judged.cycles[0]
        .channels
        .iter()
        .map(|id| problem.graph.channel(*id))
        .map(|channel| format!("{}>{}", name(channel.from), name(channel.to)))
        .collect();
    cycle.sort();
    assert_eq!(cycle, ["M1>S1", "M2>S2", "S1>M2", "S2>M1"]);
    // Every leaf has a full table, and so has the order by classes every pair.
    let ours = certificate(&problem, &route("sftree", &problem).unwrap().routes, true);
    assert_eq!((ours.deadlock_free, ours.lost.total(), ours.loops.count), (Some(true), 0, 0));
}
