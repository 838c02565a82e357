//! Fabrics by name: the counts of the papers, ports, LIDs, seeds, faults, and names that are refused.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use fabdeck_fabric::generate::{
    FabricSpec, GenerateError, GeneratedFabric, catalogue, common_keys, generate,
};
use fabdeck_fabric::{
    Element, ElementId, Fabric, Faults, Lid, LinkSpeed, LinkWidth, Lmc, NodeKind, PortNum, SwitchGraph,
};
use fabdeck_files::{ibnetdiscover, ibsim, text::Input};
use proptest::prelude::*;

fn made(text: &str) -> GeneratedFabric {
    let spec: FabricSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    generate(&spec).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> GenerateError {
    text.parse::<FabricSpec>()
        .and_then(|spec| generate(&spec))
        .err()
        .unwrap_or_else(|| panic!("{text} was made"))
}

fn between_switches(fabric: &Fabric) -> usize {
    fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).count()
}

fn parts(fabric: &Fabric) -> u32 {
    SwitchGraph::new(fabric, &Faults::new()).components().1
}

/// Switches, hosts, links between switches.
fn counts(fabric: &Fabric) -> (usize, usize, usize) {
    (fabric.switch_count(), fabric.count(NodeKind::ChannelAdapter), between_switches(fabric))
}

/// What must hold of every fabric, whatever its name.
fn assert_sound(text: &str, fabric: &Fabric) {
    let mut lids = HashSet::new();
    let mut names = HashSet::new();
    for (id, node) in fabric.nodes() {
        assert!(
            names.insert(&node.facts.description) || node.facts.description.contains("Aggregation"),
            "{text}"
        );
        for (_, port) in fabric.ports_of(id) {
            assert!(port.number.value() <= node.facts.port_count, "{text}: {} {}", id.0, port.number);
            let management = node.is_switch() && port.number == PortNum::MANAGEMENT;
            assert_eq!(port.link.is_none(), management, "{text}: {} {}", id.0, port.number);
            let addressed = management || !node.is_switch();
            assert_eq!(port.facts.lid.is_some(), addressed, "{text}");
            assert_eq!(port.facts.guid.is_some(), addressed, "{text}");
            if let Some(lid) = port.facts.lid {
                for offset in 0..port.facts.lmc.lid_count() {
                    assert!(lids.insert(lid.value() + offset), "{text}: LID {lid} + {offset} twice");
                }
            }
            if let Some(peer) = port.peer {
                assert_eq!(fabric.port(peer).facts.width, port.facts.width, "{text}");
                assert_eq!(fabric.port(peer).facts.speed, port.facts.speed, "{text}");
                assert!(port.facts.speed.is_some() && port.facts.width.is_some(), "{text}");
            }
        }
    }
}

/// A row of a paper: where it stands, the name here, switches, hosts, links between switches, ports of a switch.
type PaperRow = (&'static str, &'static str, usize, usize, usize, u8);

const PAPERS: &[PaperRow] = &[
    // Dissertation, table 4.2, balanced; the unbalanced number of hosts follows each.
    ("4.2 2D mesh(5,5)", "mesh,dims=5x5,terminals=11,redundancy=6", 25, 275, 240, 36),
    ("4.2 2D mesh(5,5)", "mesh,dims=5x5,hosts=256,redundancy=6", 25, 256, 240, 36),
    ("4.2 3D mesh(3,3,3)", "mesh,dims=3x3x3,terminals=10,redundancy=4", 27, 270, 216, 36),
    ("4.2 3D mesh(3,3,3)", "mesh,dims=3x3x3,hosts=256,redundancy=4", 27, 256, 216, 36),
    ("4.2 2D torus(5,5)", "torus,dims=5x5,terminals=11,redundancy=6", 25, 275, 300, 36),
    ("4.2 2D torus(5,5)", "torus,dims=5x5,hosts=256,redundancy=6", 25, 256, 300, 36),
    ("4.2 3D torus(3,3,3)", "torus,dims=3x3x3,terminals=10,redundancy=4", 27, 270, 324, 36),
    ("4.2 3D torus(3,3,3)", "torus,dims=3x3x3,hosts=256,redundancy=4", 27, 256, 324, 36),
    ("4.2 Kautz(2,4)", "kautz,d=2,k=4,terminals=11,redundancy=6", 24, 264, 288, 36),
    ("4.2 Kautz(2,4)", "kautz,d=2,k=4,hosts=256,redundancy=6", 24, 256, 288, 36),
    ("4.2 16-ary 2-tree", "kary,k=16,n=2,hosts=256", 32, 256, 256, 36),
    ("4.2 16-ary 2-tree", "kary,k=16,n=2,hosts=270", 32, 270, 256, 36),
    ("4.2 XGFT(1,22,11)", "xgft,m=12x22,w=1x11", 33, 264, 242, 36),
    ("4.2 XGFT(1,22,11)", "xgft,m=12x22,w=1x11,hosts=256", 33, 256, 242, 36),
    ("4.2 Dragonfly(10,5,5,4)", "dragonfly,a=10,p=5,h=5,g=4,terminals=7", 40, 280, 276, 36),
    ("4.2 Dragonfly(10,5,5,4)", "dragonfly,a=10,p=5,h=5,g=4,hosts=256", 40, 256, 276, 36),
    ("4.2 Random", "random,switches=32,links=256,hosts=256", 32, 256, 256, 36),
    ("4.2 Random", "random,switches=32,links=256,hosts=270", 32, 270, 256, 36),
    // Dissertation, table 6.1; its 'inter-switch channels' are cables.
    ("6.1 Random", "random,switches=125,links=1000,hosts=1000", 125, 1_000, 1_000, 36),
    ("6.1 3D torus(6,5,5)", "torus,dims=6x5x5,terminals=7,redundancy=4", 150, 1_050, 1_800, 36),
    ("6.1 10-ary 3-tree", "kary,k=10,n=3,terminals=11", 300, 1_100, 2_000, 36),
    // The table says Kautz(7,3), whose definition 3.2.3 gives 8 * 7^2 = 392 switches; its counts are those of (5,3).
    ("6.1 'Kautz(7,3)'", "kautz,d=5,k=3,terminals=7,redundancy=2", 150, 1_050, 1_500, 36),
    ("3.2.3 Kautz(7,3)", "kautz,d=7,k=3,redundancy=1", 392, 2_744, 2_744, 36),
    ("6.1 Dragonfly(12,6,6,15)", "dragonfly,a=12,p=6,h=6,g=15,terminals=6", 180, 1_080, 1_515, 36),
    // Eight hosts per switch as the table has it (the text says four), and three links for each pair of a column:
    // 2 * (6 * 120 + 16 * 15 * 3) + 192.
    ("6.1 Cascade(2 groups)", "cascade,groups=2", 192, 1_536, 3_072, 48),
    ("6.1 TSUBAME2", "tsubame2", 243, 1_408, 3_384, 36),
    ("6.1 Taurus", "taurus", 211, 2_090, 2_490, 36),
    // Dissertation, the text of sections 3.2.6, 4.1 and 4.4.
    ("4.4.4 TSUBAME2, first rail", "tsubame2,hosts=1555", 258, 1_555, 3_621, 36),
    ("3.2.6 and 4.1 Deimos", "deimos", 108, 728, 924, 24),
    ("4.6c 14-ary 3-tree", "kary,k=14,n=3,terminals=11", 588, 2_156, 5_488, 36),
    ("4.6c 3D torus(7,7,7)", "torus,dims=7x7x7,terminals=6,redundancy=1", 343, 2_058, 1_029, 36),
    ("4.6c Dragonfly(14,7,7,23)", "dragonfly,a=14,p=7,h=7,g=23", 322, 2_254, 3_105, 36),
    ("4.6c Kautz(7,3)", "kautz,d=7,k=3,terminals=6", 392, 2_352, 5_488, 36),
    // sFtree, table IV and section 7.
    ("IV 648-port fat-tree switch", "switch648", 54, 648, 648, 36),
    ("IV 648-port with rack switches", "racks648", 108, 648, 1_539, 36),
    ("IV 3456-port fat-tree switch", "switch3456", 720, 3_456, 6_912, 24),
    ("IV JuRoPA-like", "juropa", 864, 5_184, 12_312, 36),
    ("IV Ranger-like", "ranger", 1_440, 3_936, 13_824, 24),
    // MLID, section 3: 2 (m/2)^n nodes and (2n-1) (m/2)^(n-1) switches.
    ("MLID FT(4,3)", "mport,m=4,n=3", 20, 16, 32, 4),
    ("MLID FT(8,3)", "mport,m=8,n=3", 80, 128, 256, 8),
    ("MLID FT(16,2)", "mport,m=16,n=2", 24, 128, 128, 16),
    ("MLID FT(32,2)", "mport,m=32,n=2", 48, 512, 512, 32),
    // OPT, table II: T(n+m, r).
    ("II T(8+16,24)", "gft2,n=8,m=16,r=24", 40, 192, 384, 36),
    ("II T(24+24,48)", "gft2,n=24,m=24,r=48", 72, 1_152, 1_152, 48),
    ("II T(10+25,35)", "gft2,n=10,m=25,r=35", 60, 350, 875, 36),
    // The largest full fat-tree of a subnet: with the cables of its hosts 131,712.
    ("full subnet", "full-subnet", 3_920, 43_904, 87_808, 56),
];

#[test]
fn the_counts_are_those_of_the_papers() {
    for (place, text, switches, hosts, links, radix) in PAPERS {
        let fabric = made(text).fabric;
        assert_eq!(counts(&fabric), (*switches, *hosts, *links), "{place}: {text}");
        assert!(fabric.switches().all(|(_, node)| node.facts.port_count == *radix), "{place}: {text}");
        assert_eq!(parts(&fabric), 1, "{place}: {text}");
    }
}

#[test]
fn links_in_all_are_those_of_the_texts() {
    for (text, all) in [("deimos", 1_653), ("taurus", 4_580), ("full-subnet", 131_712)] {
        assert_eq!(made(text).fabric.links().len(), all, "{text}");
    }
}

#[test]
fn left_to_themselves_the_tables_topologies_have_the_tables_hosts_and_redundancy() {
    for (text, expected) in [
        ("torus", (150, 1_050, 1_800)),
        ("torus,dims=6x5x5", (150, 1_050, 1_800)),
        ("torus,dims=3x3x3", (27, 270, 324)),
        ("mesh", (25, 275, 240)),
        ("kary", (300, 1_100, 2_000)),
        ("kary,k=16,n=2", (32, 256, 256)),
        ("kautz", (150, 1_050, 1_500)),
        ("kautz,d=7,k=3", (392, 2_744, 5_488)),
        ("kautz,d=2,k=4", (24, 264, 288)),
        ("dragonfly", (180, 1_080, 1_515)),
        ("dragonfly,a=10,p=5,h=5,g=4", (40, 280, 276)),
        ("random", (125, 1_000, 1_000)),
        ("random,switches=32", (32, 256, 256)),
        // No row has these: seven hosts as the table's torus, every link once as definition 3.3 says.
        ("torus,dims=4x4x3", (48, 336, 144)),
        ("torus,dims=5", (5, 35, 5)),
        ("mesh,dims=2", (2, 22, 1)),
    ] {
        assert_eq!(counts(&made(text).fabric), expected, "{text}");
    }
}

#[test]
fn every_example_is_made_soundly_and_reads_back_as_its_canonical_text() {
    for entry in catalogue() {
        let spec: FabricSpec = entry.example.parse().unwrap();
        assert_eq!(spec.entry().name, entry.name);
        assert_eq!(spec.to_string().parse::<FabricSpec>().unwrap(), spec, "{}", entry.example);
        let made = generate(&spec).unwrap();
        assert_eq!(made.entry.name, entry.name);
        assert_eq!(parts(&made.fabric), 1, "{}", entry.example);
        assert!(made.failed.is_empty());
        assert_sound(entry.example, &made.fabric);
        for key in entry.keys {
            assert!(!key.default.is_empty() && !key.meaning.is_empty(), "{} {}", entry.name, key.name);
        }
    }
    assert_eq!(common_keys().len(), 11);
}

#[test]
fn redundancy_aggregation_and_speed_are_understood_by_every_name() {
    for entry in catalogue().iter().filter(|entry| entry.name != "full-subnet") {
        let once = made(&format!("{},redundancy=1,aggregation=no", entry.example)).fabric;
        let all = format!("{},redundancy=2,aggregation=yes,speed=NDR", entry.example);
        let twice = made(&all).fabric;
        let (switches, hosts, links) = counts(&once);
        assert_eq!(counts(&twice), (switches, hosts + switches, 2 * links), "{all}");
        assert_sound(&all, &twice);
        assert!(twice.ports().filter_map(|(_, port)| port.facts.speed).all(|speed| speed == LinkSpeed::Ndr));
        for (id, node) in twice.switches() {
            let last = twice.port_of(id, PortNum(node.facts.port_count)).unwrap();
            let peer = twice.node(twice.port(twice.peer(last).unwrap()).node);
            assert_eq!(peer.facts.description, "Mellanox Technologies Aggregation Node", "{all}");
        }
        let guids = || twice.ports().filter_map(|(_, port)| port.facts.guid);
        assert_eq!(guids().collect::<BTreeSet<_>>().len(), guids().count(), "{all}: port GUIDs are unique");
    }
    assert_eq!(refused("full-subnet,aggregation=yes").code(), "FD-3007");
}

#[test]
fn hosts_are_spread_as_the_dissertation_says() {
    for (text, leaves) in
        [("torus,dims=4x3,hosts=50", 12), ("kary,k=4,n=3,hosts=50", 16), ("juropa,hosts=5000", 432)]
    {
        let fabric = made(text).fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::new());
        let on: Vec<usize> = (0..leaves).map(|switch| graph.terminals_of(switch).len()).collect();
        let all: usize = on.iter().sum();
        assert_eq!(all, fabric.count(NodeKind::ChannelAdapter), "{text}");
        let each = all / leaves as usize;
        assert!(on.iter().all(|hosts| (each..=each + 1).contains(hosts)), "{text}: {on:?}");
    }
    assert_eq!(counts(&made("torus,dims=4x3,terminals=0,redundancy=1").fabric), (12, 0, 24));
}

#[test]
fn irregular_trees_are_sound_and_no_two_are_alike() {
    let families = ["pods", "half", "director", "racks", "merged", "spines", "tier", "rails", "mixed"];
    let mut seen = HashSet::new();
    for family in families {
        for seed in 1..=8 {
            let text = format!("irregular,family={family},seed={seed}");
            let tree = made(&text);
            assert_sound(&text, &tree.fabric);
            assert_eq!(parts(&tree.fabric), 1, "{text}");
            assert!((10..=60).contains(&tree.fabric.switch_count()), "{text}: {:?}", counts(&tree.fabric));
            assert!(!tree.roots.is_empty(), "{text}");
            assert!(tree.notes[0].starts_with(&format!("family {family}")), "{text}: {:?}", tree.notes);
            assert!(seen.insert(counts(&tree.fabric)), "{text} has the counts of another one");
            assert!(made(&text).fabric == tree.fabric, "{text}: the same seed gives another tree");
        }
        let text = format!("irregular,family={family},size=large");
        let large = made(&text).fabric;
        assert!((180..=480).contains(&large.switch_count()), "{text}: {:?}", counts(&large));
        assert_eq!(parts(&large), 1, "{text}");
    }
    assert_eq!(made("irregular,seed=5").fabric, made("irregular,family=any,size=small,seed=5").fabric);
    let drawn = (1..100).map(|seed| made(&format!("irregular,seed={seed}")).notes[0].clone());
    let drawn: HashSet<String> =
        drawn.map(|note| note.split([' ', ';']).nth(1).unwrap_or_default().to_owned()).collect();
    assert_eq!(drawn.len(), families.len(), "{drawn:?}");
    assert!(refused("irregular,family=tall").to_string().contains("one of pods half"));
    assert_eq!(refused("irregular,size=huge").code(), "FD-3005");
}

fn peer_of(fabric: &Fabric, name: &str, port: u8) -> String {
    let (id, _) = fabric.nodes().find(|(_, node)| node.facts.description == name).unwrap();
    let peer = fabric.port(fabric.peer(fabric.port_of(id, PortNum(port)).unwrap()).unwrap());
    format!("{}[{}]", fabric.node(peer.node).facts.description, peer.number)
}

#[test]
fn ports_are_numbered_as_documented() {
    let torus = made("torus,dims=4x4x3,redundancy=2,terminals=2").fabric;
    let around: Vec<String> = (1..=14).map(|port| peer_of(&torus, "sw_0_1_2", port)).collect();
    let expected = [
        "sw_1_1_2[3]",
        "sw_1_1_2[4]",
        "sw_3_1_2[1]",
        "sw_3_1_2[2]",
        "sw_0_2_2[7]",
        "sw_0_2_2[8]",
        "sw_0_0_2[5]",
        "sw_0_0_2[6]",
        "sw_0_1_0[11]",
        "sw_0_1_0[12]",
        "sw_0_1_1[9]",
        "sw_0_1_1[10]",
        "node10 HCA-1[1]",
        "node11 HCA-1[1]",
    ];
    assert_eq!(around, expected);
    let mesh = made("mesh,dims=3x3,redundancy=1,terminals=1").fabric;
    assert_eq!(
        peer_of(&mesh, "sw_0_0", 5),
        "node0 HCA-1[1]",
        "hosts keep their place where a direction has no link"
    );
    let tree = made("kary,k=2,n=3").fabric;
    let around: Vec<String> = (1..=4).map(|port| peer_of(&tree, "mid1", port)).collect();
    assert_eq!(around, ["leaf0[4]", "leaf1[4]", "spine1[1]", "spine3[1]"]);
}

#[test]
fn an_m_port_n_tree_has_the_ports_and_lids_of_its_paper() {
    // Section 3: <01,0> port 1 is cabled to <10,1> port 3; ports here are one higher. <01,0> is the second spine, and
    // <10,1> the third switch of the middle.
    let fabric = made("mport,m=4,n=3").fabric;
    assert_eq!(peer_of(&fabric, "spine1", 2), "mid2[4]");
    // <20,2> port 1 is cabled to P(211)'s neighbour P(201): the fifth leaf, PID 9; P(300) has PID 12, LIDs 49 to 52.
    assert_eq!(peer_of(&fabric, "leaf4", 2), "node9 HCA-1[1]");
    let (id, _) = fabric.nodes().find(|(_, node)| node.facts.description == "node12 HCA-1").unwrap();
    let port = &fabric.port(fabric.port_of(id, PortNum(1)).unwrap()).facts;
    assert_eq!((port.lid, port.lmc), (Lid::new(49), Lmc::new(2).unwrap()));
    let (leaf0, _) = fabric.switches().next().unwrap();
    let port = &fabric.port(fabric.port_of(leaf0, PortNum::MANAGEMENT).unwrap()).facts;
    assert_eq!(port.lid, Lid::new(65), "switches come after the hosts");
}

#[test]
fn lids_are_dense_and_faults_change_none() {
    let whole = made("juropa").fabric;
    assert_eq!(whole.top_lid(), Lid::new(864 + 5_184));
    let broken = made("juropa,switch-faults=3,faults=20").fabric;
    let lids = |fabric: &Fabric| -> BTreeMap<_, _> {
        let ports = fabric.ports().filter_map(|(_, port)| Some((port.facts.guid?, port.facts.lid?)));
        ports.collect()
    };
    let whole = lids(&whole);
    assert!(lids(&broken).iter().all(|(guid, lid)| whole.get(guid) == Some(lid)));
}

#[test]
fn a_seed_decides() {
    for text in
        ["random,switches=40,links=90", "kary,k=4,n=3,faults=5", "dragonfly,faults=2%,switch-faults=2"]
    {
        assert_eq!(made(text), made(text), "{text}");
        assert_eq!(made(text), made(&format!("{text},seed=1")), "{text}: the default seed is 1");
        assert_ne!(made(text).fabric, made(&format!("{text},seed=2")).fabric, "{text}");
    }
    assert_eq!(made("kary,k=4,n=3").fabric, made("kary,k=4,n=3,seed=9").fabric, "nothing is random in it");
    // Asking for faults leaves a random graph as it was.
    let whole = made("random,switches=40,links=90,seed=4").fabric;
    let broken = made("random,switches=40,links=90,seed=4,faults=7").fabric;
    let ends = |fabric: &Fabric| -> HashSet<_> { fabric.links().map(|(id, _)| fabric.ends(id)).collect() };
    assert!(ends(&broken).is_subset(&ends(&whole)));
}

#[test]
fn faults_take_what_they_say_and_disconnect_nothing() {
    for (text, switches, links) in [
        ("kary,k=4,n=3,faults=10", 0, 10),
        ("switch648,faults=1%", 0, 6),
        ("tsubame2,faults=13,switch-faults=1", 1, 13),
        ("torus,dims=4x4x3,terminals=4,switch-faults=1", 1, 0),
        ("full-subnet,faults=1%,switch-faults=2", 2, 878),
        ("cascade,faults=40%,switch-faults=10%", 19, 1_229),
        ("mesh,dims=9x9,redundancy=1,faults=50,seed=8", 0, 50),
    ] {
        let broken = made(text);
        assert_eq!(parts(&broken.fabric), 1, "{text}");
        let count = |is: fn(&Element) -> bool| broken.failed.iter().filter(|element| is(element)).count();
        assert_eq!(count(|element| matches!(element, Element::Switch(_))), switches, "{text}");
        assert_eq!(count(|element| matches!(element, Element::Link(..))), links, "{text}");
        assert_sound(text, &broken.fabric);
    }
    let torus = made("torus,dims=4x4x3,terminals=4,switch-faults=1");
    assert_eq!(counts(&torus.fabric), (47, 188, 138), "a switch takes its hosts along");
    assert_eq!(torus.failed.len(), 5);
    assert_eq!(
        counts(&made("ranger,switch-faults=9").fabric).1,
        3_936,
        "hosts stay where other switches can fail"
    );
}

#[test]
fn what_has_failed_is_named_as_an_element_of_the_whole_fabric() {
    let whole = made("racks648").fabric;
    let names = fabdeck_fabric::Names::new(&whole, &Default::default());
    let broken = made("racks648,switch-faults=2,faults=30");
    let mut faults = Faults::new();
    for element in &broken.failed {
        let resolved = element.resolve(&whole, &names).unwrap();
        assert!(element.to_string().parse::<Element>().unwrap() == *element);
        if let ElementId::Link(link) = resolved {
            assert!(whole.is_between_switches(link), "{element}");
        }
        assert!(faults.mark(resolved), "{element}");
    }
    let lost = whole.links().filter(|(id, _)| faults.is_link_failed(&whole, *id)).count();
    assert_eq!(whole.links().len() - lost, broken.fabric.links().len());
}

#[test]
fn disconnecting_is_done_when_asked_for() {
    let broken = made("kary,k=4,n=2,faults=16,disconnect=yes");
    assert_eq!(counts(&broken.fabric), (8, 16, 0));
    assert_eq!(parts(&broken.fabric), 8);
    let broken = made("switch648,switch-faults=54,disconnect=yes");
    assert!(broken.fabric.is_empty() && broken.roots.is_empty());
    assert_eq!(broken.failed.len(), 54 + 648);
    assert_eq!(refused("kary,k=4,n=2,faults=10").code(), "FD-3010");
    assert_eq!(refused("kary,k=4,n=2,faults=17").code(), "FD-3011");
    assert_eq!(refused("kary,k=4,n=2,switch-faults=9,disconnect=yes").code(), "FD-3011");
}

#[test]
fn roots_are_the_top_of_a_tree() {
    for (text, roots) in [
        ("demo", 3),
        ("kary,k=4,n=3", 16),
        ("kary,k=4,n=1", 1),
        ("mport,m=8,n=3", 16),
        ("racks648", 18),
        ("juropa", 144),
        ("ranger", 288),
        ("deimos", 36),
        ("tsubame2", 54),
        ("taurus", 6),
        ("full-subnet", 784),
        ("torus", 0),
        ("random", 0),
        ("switch648,switch-faults=4", 14),
    ] {
        let made = made(text);
        assert_eq!(made.roots.len(), roots, "{text}");
        assert!(made.roots.iter().all(|guid| made.fabric.node_by_guid(*guid).is_some()), "{text}");
    }
}

#[test]
fn sizes_beyond_a_subnet_are_refused_before_anything_is_made() {
    for (text, code) in [
        ("kary,k=254,n=15", "FD-3008"),
        ("kary,k=100,n=3", "FD-3007"),
        ("kary,k=1,n=1,hosts=49151", "FD-3007"),
        ("xgft,m=49151x49151x49151,w=1x49151x49151", "FD-3008"),
        ("xgft,m=254x254x100,w=1x100x100", "FD-3008"),
        ("torus,dims=49151x49151x49151", "FD-3007"),
        ("torus,dims=2x2x2x2,redundancy=32", "FD-3008"),
        ("torus,dims=3x3,terminals=254", "FD-3008"),
        ("dragonfly,a=254,h=254,g=49151", "FD-3008"),
        ("dragonfly,a=100,h=100,g=10001", "FD-3007"),
        ("cascade,groups=241", "FD-3007"),
        ("kautz,d=127,k=15", "FD-3007"),
        ("kautz,d=128,k=1", "FD-3005"),
        ("random,switches=2,links=6000000", "FD-3008"),
        ("random,switches=49151", "FD-3007"),
        ("mport,m=16,n=4", "FD-3009"),
        ("mport,m=128,n=15", "FD-3007"),
        ("mport,m=16,n=3", "FD-3007"),
        ("mport,m=8,n=3,terminals=5", "FD-3005"),
        ("gft2,n=254,m=254,r=254", "FD-3007"),
        ("kary,k=127,n=2,aggregation=yes,terminals=127", "FD-3008"),
    ] {
        let error = refused(text);
        assert_eq!(error.code(), code, "{text}: {error}");
    }
}

#[test]
fn the_demo_has_something_to_find() {
    let demo = made("demo");
    assert_eq!(counts(&demo.fabric), (9, 36 + 9, 36));
    let weak: Vec<_> = demo
        .fabric
        .links()
        .filter(|(_, link)| demo.fabric.port(link.a).facts.width == Some(LinkWidth::X1))
        .map(|(id, _)| demo.fabric.ends(id).map(|(node, _)| demo.fabric.node(node).facts.description.clone()))
        .collect();
    assert_eq!(weak, [["rack3-leaf".to_owned(), "spine-2".to_owned()]]);
    let mut names: Vec<&str> = demo.fabric.nodes().map(|(_, node)| node.facts.description.as_str()).collect();
    names.dedup();
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn taurus_has_one_slower_island() {
    let fabric = made("taurus").fabric;
    let speeds = fabric.links().map(|(_, link)| fabric.port(link.a).facts.speed);
    let slow = speeds.filter(|speed| *speed == Some(LinkSpeed::Qdr)).count();
    assert_eq!(slow, 180 + 180 + 24);
    assert!(
        made("deimos").fabric.ports().all(|(_, port)| port.facts.speed.is_none_or(|s| s == LinkSpeed::Sdr))
    );
}

#[test]
fn a_dump_says_all_that_a_generated_fabric_holds() {
    let broken = "racks648,switch-faults=2,faults=30,aggregation=yes";
    for text in catalogue().iter().map(|entry| entry.example).chain([broken]) {
        let fabric = made(text).fabric;
        let dump = ibnetdiscover::write(&fabric, None).unwrap();
        assert!(dump.notes.is_empty(), "{text}: {:?}", dump.notes);
        let read = ibnetdiscover::read(Input::new(text, dump.text.as_bytes())).unwrap();
        assert!(read.fabric == fabric, "{text}: not read back as written");
        assert!(read.notes.is_empty(), "{text}: {:?}", read.notes);
    }
}

#[test]
fn a_net_file_keeps_every_cable() {
    for text in ["demo", "taurus", "torus,dims=4x4x3,faults=5", "deimos"] {
        let fabric = made(text).fabric;
        let file = ibsim::write(&fabric).unwrap();
        let read = ibsim::read(Input::new(text, file.text.as_bytes())).unwrap();
        assert!(read.fabric.links().eq(fabric.links()), "{text}");
        let guids = |fabric: &Fabric| fabric.ports().map(|(_, port)| port.facts.guid).collect::<Vec<_>>();
        assert!(guids(&read.fabric) == guids(&fabric), "{text}");
    }
}

fn any_spec() -> impl Strategy<Value = String> {
    let own = prop_oneof![
        (1u32..5, 1u32..4).prop_map(|(k, n)| format!("kary,k={k},n={n}")),
        proptest::collection::vec((1u32..5, 1u32..4), 1..4).prop_map(|levels| {
            let m: Vec<String> = levels.iter().map(|(m, _)| m.to_string()).collect();
            let w: Vec<String> = levels
                .iter()
                .enumerate()
                .map(|(i, (_, w))| if i == 0 { 1 } else { *w }.to_string())
                .collect();
            format!("xgft,m={},w={}", m.join("x"), w.join("x"))
        }),
        (1u32..4, 2u32..4).prop_map(|(m, n)| format!("mport,m={},n={n}", 1 << m)),
        proptest::collection::vec(2u32..5, 1..4).prop_map(|dims| {
            let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
            format!("torus,dims={}", dims.join("x"))
        }),
        proptest::collection::vec(1u32..5, 1..4).prop_map(|dims| {
            let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
            format!("mesh,dims={}", dims.join("x"))
        }),
        (1u32..6, 1u32..4, 1u32..4).prop_flat_map(|(a, p, h)| {
            (1..=(a * h + 1).min(8)).prop_map(move |g| format!("dragonfly,a={a},p={p},h={h},g={g}"))
        }),
        (1u32..5, 1u32..4).prop_map(|(d, k)| format!("kautz,d={d},k={k}")),
        (3u32..20, 0u32..40).prop_map(|(s, more)| format!("random,switches={s},links={}", s + more)),
    ];
    let hosts = prop_oneof![Just(String::new()), (0u32..2).prop_map(|t| format!(",terminals={t}"))];
    (own, hosts, 1u32..3, any::<bool>(), any::<u64>()).prop_map(
        |(own, hosts, redundancy, aggregation, seed)| {
            let aggregation = if aggregation { "yes" } else { "no" };
            format!("{own}{hosts},redundancy={redundancy},aggregation={aggregation},seed={seed}")
        },
    )
}

proptest! {
    #[test]
    fn every_fabric_is_sound_connected_and_named_by_its_text(text in any_spec(), share in 0u32..60) {
        let spec: FabricSpec = text.parse().unwrap();
        prop_assert_eq!(&spec.to_string().parse::<FabricSpec>().unwrap(), &spec);
        let whole = generate(&spec).unwrap();
        assert_sound(&text, &whole.fabric);
        prop_assert_eq!(parts(&whole.fabric), 1);
        let text = format!("{text},faults={share}%");
        match generate(&text.parse().unwrap()) {
            Ok(broken) => {
                prop_assert_eq!(parts(&broken.fabric), 1);
                let lost = between_switches(&whole.fabric) - between_switches(&broken.fabric);
                prop_assert_eq!(lost, broken.failed.len());
            }
            Err(error) => prop_assert_eq!(error.code(), "FD-3010"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z0-9]{0,9}(,[a-z-]{1,14}=[0-9x%.]{0,9}){0,3}") {
        if let Ok(spec) = text.parse::<FabricSpec>() {
            prop_assert_eq!(spec.to_string().parse::<FabricSpec>().unwrap(), spec);
        }
    }

    #[test]
    fn no_numbers_make_it_panic(
        entry in 0..catalogue().len(),
        values in proptest::collection::vec((0usize..20, 0u32..400), 0..4),
    ) {
        let entry = &catalogue()[entry];
        let keys: Vec<&str> = entry.keys.iter().chain(common_keys()).map(|key| key.name).collect();
        let mut text = entry.name.to_owned();
        for (key, value) in values {
            text += &format!(",{}={value}", keys[key % keys.len()]);
        }
        if let Ok(made) = text.parse::<FabricSpec>().and_then(|spec| generate(&spec)) {
            prop_assert!(made.fabric.top_lid().is_none_or(|lid| lid.value() <= Lid::MAX));
        }
    }
}

/// The ports of a fabric that was asked for at 1x can do no more, so none of its links is degraded.
#[test]
fn a_width_that_was_asked_for_is_what_ports_can_do() {
    for width in ["1x", "4x", "12x"] {
        let fabric = made(&format!("kary,k=4,n=2,width={width}")).fabric;
        assert!(fabric.links().all(|(link, _)| fabric.is_degraded(link) != Some(true)), "{width}");
        let ports = fabric.ports().filter(|(_, port)| port.link.is_some());
        assert!(ports.clone().all(|(_, port)| port.facts.width == port.facts.width_supported), "{width}");
        assert!(ports.count() > 0);
    }
}
