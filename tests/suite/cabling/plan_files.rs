//! How the names of plans are matched with a fabric.

use super::mistakes::snapshot;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::cabling::cabling_check::check_cabling;
use fabdeck::operations::cabling::finding::CablingFault;
use fabdeck_fabric::{Fabric, FabricBuilder, Guid, LinkSpeed, LinkWidth, NodeFacts, NodeKind, PortNum};
use fabdeck_files::cabling;
use fabdeck_files::text::Input;

/// `(name, kind, ports)` of nodes, and cables between `(node, port)`.
fn fabric(nodes: &[(&str, NodeKind, u8)], cables: &[[(usize, u8); 2]]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let keys: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(at, (name, kind, ports))| {
            builder.add_node(NodeFacts::new(*kind, Guid(0xa0 + at as u64), *ports, *name)).unwrap()
        })
        .collect();
    for ends in cables {
        let [a, b] = ends.map(|(node, port)| (keys[node], PortNum(port)));
        for (node, port) in [a, b] {
            let facts = builder.port(node, port);
            (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Hdr));
        }
        builder.connect(a, b).unwrap();
    }
    builder.finish()
}

const SW: NodeKind = NodeKind::Switch;
const CA: NodeKind = NodeKind::ChannelAdapter;

/// Quantum-2 leaf, two chips of a board of a director, and two hosts with two adapters each.
fn site() -> Snapshot {
    let nodes = [
        ("MF0;Leaf3:MQM9700/U1", SW, 65),
        ("MF0;dir1:CS8500/L16/U1", SW, 40),
        ("MF0;dir1:CS8500/L16/U2", SW, 40),
        ("node1 mlx5_0", CA, 1),
        ("node1 mlx5_1", CA, 1),
        ("node2 mlx5_0", CA, 1),
        ("node2 mlx5_1", CA, 1),
        ("Mellanox Technologies Aggregation Node", CA, 1),
    ];
    let cables = [
        [(0, 3), (1, 20)],
        [(0, 4), (2, 20)],
        [(0, 1), (3, 1)],
        [(0, 2), (4, 1)],
        [(0, 5), (5, 1)],
        [(0, 6), (6, 1)],
        [(0, 65), (7, 1)],
    ];
    snapshot(fabric(&nodes, &cables))
}

/// The findings about a plan, and the lines that are not compared.
fn judged(look: &Snapshot, plan: &str) -> (Vec<String>, Vec<String>) {
    let plan = cabling::read(Input::new("plan", plan.as_bytes())).unwrap();
    let report = check_cabling(look, &plan);
    let findings = report.findings.iter().map(|finding| finding.title.clone()).collect();
    let faults = report.faults().iter().map(|fault| format!("{}: {}", fault.line.unwrap(), fault.text));
    (findings, faults.collect())
}

#[test]
fn every_way_to_name_a_port_finds_it() {
    let plans = [
        "StartDevice,StartPort,EndDevice,EndPort,Speed\n\
         leaf3,1/2/1,dir1,Blade 16_Port 1/20,200000\nLEAF3,Port 4,dir1,Blade 16_Port 2/20,200000\n\
         leaf3,1/1/1,node1,mlx5_0,200000\nleaf3,2,node1,2,\nleaf3,5,node2 mlx5_0,1,\nleaf3,P6,node2,mlx5_1/P1,\n",
        "MQM9700 leaf3\n P1 -4x-50G-> HCA_2 node1 mlx5_0/P1\n P2 -> HCA_2 node1 mlx5_1/P1\n P5 -> HCA_2 node2 P1\n \
         P6 -> HCA_2 node2 P2\n P3 -> CS8500 dir1 L16/U1/P20\n P4 -> CS8500 dir1 L16/U2/P20\n",
        "guid1,port1,guid2,port2\n0xa0,3,0xa1,20\n0xa0,4,0xa2,20\n0xa0,1,0xa3,1\n0xa0,2,0xa4,1\n0xa0,5,0xa5,1\n0xa0,6,0xa6,1\n",
    ];
    for plan in plans {
        assert_eq!(judged(&site(), plan), (vec![], vec![]), "{plan}");
    }
}

#[test]
fn what_fits_no_single_port_is_said_and_not_compared() {
    let plan = "StartDevice,StartPort,EndDevice,EndPort\n\
        leaf3,1/2/1,dir1,Blade 16_Port 1/20\nleaf3,Port 4,dir1,Blade 16_Port 2/20\nleaf3,1,node1,mlx5_0\n\
        leaf3,2,node1,mlx5_7\nleaf3,9/9,node2,1\nleaf3,200,node2,1\nleaf3,1,node2,2\nleaf3,7,leaf3,7\n";
    let (findings, faults) = judged(&site(), plan);
    assert_eq!(
        faults,
        [
            "5: node1[mlx5_7/P1]: 0 of its nodes have the part 'mlx5_7'",
            "6: leaf3[9/9]: no port of it has this label",
            "7: leaf3[200]: it has 65 ports",
            "8: leaf3[1] has another cable in line 4, which counts",
            "9: leaf3[7] is at both ends of the cable",
        ]
    );
    // The cables of these lines are there, and the plan does not name them.
    assert_eq!(findings.len(), 3, "{findings:?}");
}

#[test]
fn a_node_that_was_replaced_is_known_by_its_name_and_another_name_by_its_guid() {
    let plan = "guid1,device1,port1,guid2,device2,port2\n\
        0xa0,leaf3,1,0xdead,node1 mlx5_0,1\n0xa0,renamed,2,0xa4,old-name,1\n";
    let (findings, faults) = judged(&site(), plan);
    assert_eq!(faults, [""; 0]);
    // Hosts and trunks that the plan leaves out are extra: it names the switch, and cables of hosts alone.
    assert!(findings.iter().all(|title| title.contains("is not in the plan")), "{findings:?}");
}

#[test]
fn devices_that_only_one_side_has_are_one_finding_each() {
    let plan = "device1,port1,device2,port2\nleaf3,1,node1,1\nleaf3,2,node1,2\nleaf3,5,node2,1\nleaf3,6,node2,2\n\
        leaf3,3,dir1,Blade 16_Port 1/20\nleaf3,4,dir1,Blade 16_Port 2/20\nleaf3,11,ghost,1\nleaf3,12,ghost,2\nleaf3,13,ghost,x\n";
    let look = site();
    assert_eq!(
        judged(&look, plan),
        (
            vec!["ghost is not in the fabric: 3 planned cables, at MF0;Leaf3:MQM9700/U1[11], MF0;Leaf3:MQM9700/U1[12], \
                  MF0;Leaf3:MQM9700/U1[13]"
                .to_owned()],
            vec![]
        )
    );
    let trunks =
        "device1,port1,device2,port2\nleaf3,3,dir1,Blade 16_Port 1/20\nleaf3,4,dir1,Blade 16_Port 2/20\n";
    assert_eq!(judged(&look, trunks), (vec![], vec![]), "a plan of trunks says nothing of hosts");
    let part = "device1,port1,device2,port2\nleaf3,3,dir1,Blade 16_Port 1/20\nleaf3,4,dir1,Blade 16_Port 2/20\nleaf3,1,node1,1\n";
    let plan = cabling::read(Input::new("plan", part.as_bytes())).unwrap();
    let faults: Vec<_> = check_cabling(&look, &plan).findings.iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [CablingFault::ExtraDevice; 3]);
}

#[test]
fn a_rate_below_the_plan_is_a_finding_and_many_alike_are_one() {
    let line = |port: u8, host: &str, adapter: u8| format!("leaf3,{port},{host},{adapter},400G\n");
    let rows = [line(1, "node1", 1), line(2, "node1", 2), line(5, "node2", 1), line(6, "node2", 2)];
    let plan = |rows: &[String]| format!("device1,port1,device2,port2,speed\n{}", rows.concat());
    let (findings, _) = judged(&site(), &plan(&rows));
    assert_eq!(findings, ["4 cables run at 4x HDR; planned is 400 Gb/s"]);
}

#[test]
fn hosts_that_were_exchanged_with_all_their_adapters_are_one_finding() {
    let plan = "guid1,port1,guid2,port2\n0xa0,3,0xa1,20\n0xa0,4,0xa2,20\n0xa0,1,0xa5,1\n0xa0,2,0xa6,1\n0xa0,5,0xa3,1\n0xa0,6,0xa4,1\n";
    assert_eq!(judged(&site(), plan), (vec!["node1 and node2 are exchanged: 4 cables".to_owned()], vec![]));
    // One adapter of each alone is a swap.
    let plan = "guid1,port1,guid2,port2\n0xa0,3,0xa1,20\n0xa0,4,0xa2,20\n0xa0,1,0xa5,1\n0xa0,2,0xa4,1\n0xa0,5,0xa3,1\n0xa0,6,0xa6,1\n";
    let (findings, _) = judged(&site(), plan);
    assert!(findings.len() == 1 && findings[0].ends_with("are swapped"), "{findings:?}");
}
