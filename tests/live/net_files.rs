//! ibsim loads every net file that `generate` writes, and ibnetdiscover sees the same fabric on it.

use fabdeck_fabric::{Fabric, FabricDiff, FabricDifference};

use crate::ibsim::{self, Stage};

/// Fabrics within ibsim's limits: LIDs up to 30,720, speeds up to HDR.
const SHORT: &[&str] = &[
    "demo",
    "kary,k=4,n=3",
    "xgft,m=12x22,w=1x11",
    "mport,m=4,n=3",
    "gft2,n=8,m=16,r=24",
    "torus,dims=4x4x3",
    "torus,dims=5",
    "mesh,dims=5x5",
    "dragonfly,a=12,p=6,h=6,g=15",
    "cascade,groups=2",
    "kautz,d=2,k=4",
    "random,switches=125,links=1000",
    "random,switches=40,links=120,faults=10%,switch-faults=2,aggregation=yes",
    "switch648",
    "racks648",
    "deimos",
    "tsubame2",
    "taurus",
];
const LONG: &[&str] =
    &["switch3456", "juropa", "ranger", "kautz,d=7,k=3", "torus,dims=10x10x10", "switch3456,aggregation=yes"];

#[test]
fn ibsim_loads_what_generate_writes_and_ibnetdiscover_sees_it() {
    for name in names() {
        let fabric = ibsim::fabric(name);
        let stage = Stage::play(&fabric);
        let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let seen = ibsim::topology("ibnetdiscover", seen.as_bytes());
        assert!(seen.notes.is_empty(), "{name}: {:?}", seen.notes);
        let differences = differences(&fabric, &seen.fabric);
        let first: Vec<String> = differences.iter().take(5).map(ToString::to_string).collect();
        assert!(differences.is_empty(), "{name}: {} differences: {first:#?}", differences.len());
        println!("{name}: {} nodes, {} cables as generated", fabric.nodes().len(), fabric.links().len());
    }
}

/// ibnetdiscover's other views of one fabric: `-p` names the same cables, `-f` also the lanes.
#[test]
fn the_port_report_names_the_same_cables() {
    let fabric = ibsim::fabric("switch648");
    let stage = Stage::play(&fabric);
    let plain = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
    let full = stage.run("ibnetdiscover", "infiniband-diags", &["-f"]);
    let report = stage.run("ibnetdiscover", "infiniband-diags", &["-p"]);
    let plain = ibsim::topology("plain", plain.as_bytes()).fabric;
    let full = ibsim::topology("full", full.as_bytes()).fabric;
    let report = ibsim::topology("report", report.as_bytes()).fabric;
    let cables = |fabric: &Fabric| (fabric.links().len(), fabric.switch_count(), fabric.nodes().len());
    assert_eq!(cables(&plain), cables(&report));
    let said = |change: &FabricDifference| {
        !matches!(change, FabricDifference::PortChanged { what: "lanes supported", .. })
    };
    let other: Vec<FabricDifference> =
        FabricDiff::between(&plain, &full).changes.into_iter().filter(said).collect();
    assert!(other.is_empty(), "{:?}", other.first());
}

fn names() -> impl Iterator<Item = &'static &'static str> {
    SHORT.iter().chain(LONG.iter().filter(|_| ibsim::long()))
}

/// Differences, without those that ibsim makes. Without a subnet manager ibsim shows LIDs of the file but no LMC on
/// adapters, and it has a system image GUID for every node.
fn differences(generated: &Fabric, seen: &Fabric) -> Vec<FabricDifference> {
    let ours = |change: &FabricDifference| match change {
        FabricDifference::NodeChanged { what: "system image", before, .. } => before != "unknown",
        _ => true,
    };
    FabricDiff::between(generated, seen).changes.into_iter().filter(ours).collect()
}
