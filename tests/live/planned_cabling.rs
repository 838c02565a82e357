//! `cabling` beside ibtopodiff, on the same plans and the same fabrics. ibtopodiff names wrong ends one by one and knows neither
//! swaps nor rows; which ends are wrong, both must agree on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ibsim;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::cabling::cable_end::CableEnd;
use fabdeck::operations::cabling::cabling_check::check_cabling;
use fabdeck::operations::cabling::export::{ExportForm, export_cabling};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{
    Fabric, FabricBuilder, LinkSpeed, LinkWidth, NameMap, NodeId, NodeKey, PortNum, PortState,
};
use fabdeck_files::subnet_lst;
use fabdeck_files::text::Input;

/// Free ports of each switch that ibtopodiff knows of.
const FREE_PORTS: u8 = 4;

/// A fat tree whose adapters are named as ibutils names them: `host3 HCA-1`.
fn planned() -> Fabric {
    let plain = ibsim::fabric("kary,k=4,n=2");
    let mut builder = FabricBuilder::from_fabric(&plain);
    for (id, node) in plain.nodes() {
        let facts = builder.node_mut(NodeKey::from(id));
        // ibtopodiff takes all nodes with one system image for one system.
        facts.system_image_guid = Some(facts.guid);
        match node.is_switch() {
            true => {}
            // Generated adapters have the name that ibutils expects.
            false => assert!(facts.description.ends_with(" HCA-1"), "{}", facts.description),
        }
        for (_, port) in plain.ports_of(id).filter(|(_, port)| port.peer.is_some()) {
            set_rate(&mut builder, (NodeKey::from(id), port.number));
        }
    }
    builder.finish()
}

fn set_rate(builder: &mut FabricBuilder, (node, port): (NodeKey, PortNum)) {
    let facts = builder.port(node, port);
    (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Qdr));
    facts.state = Some(PortState::Active);
}

/// The fabric with mistakes: two cables of trunks swapped, one unplugged, and a host at the next free port.
fn mistaken(planned: &Fabric, seed: usize) -> Fabric {
    let mut builder = FabricBuilder::from_fabric(planned);
    let ends = |link: &fabdeck_fabric::Link| {
        [link.a, link.b].map(|port| (NodeKey::from(planned.port(port).node), planned.port(port).number))
    };
    let trunks: Vec<_> = planned
        .links()
        .filter(|(id, _)| planned.is_between_switches(*id))
        .map(|(_, link)| ends(link))
        .collect();
    let hosts: Vec<_> = planned
        .links()
        .filter(|(id, _)| !planned.is_between_switches(*id))
        .map(|(_, link)| ends(link))
        .collect();
    let trunk = |at: usize| trunks[(seed + at) % trunks.len()];
    let ([a, b], [c, d]) = (trunk(0), trunk(5));
    let swapped = !seed.is_multiple_of(3);
    if swapped {
        for (node, port) in [a, c] {
            builder.disconnect(node, port);
        }
        builder.connect(a, d).unwrap();
        builder.connect(c, b).unwrap();
    }
    if seed.is_multiple_of(2) {
        let (node, port) = trunk(10)[0];
        builder.disconnect(node, port);
    }
    if seed % 4 != 1 {
        let [switch, host] = hosts[seed % hosts.len()];
        builder.disconnect(host.0, host.1);
        let used = (1..=builder.node(switch.0).port_count)
            .rev()
            .find(|port| builder.peer(switch.0, PortNum(*port)).is_some());
        let free = (switch.0, PortNum(used.unwrap() + 1));
        set_rate(&mut builder, free);
        builder.connect(free, host).unwrap();
    }
    builder.finish()
}

/// System definitions for the types of a plan: `HCA1` has one port, `SW8` eight and the free ones. ibtopodiff crashes where a
/// cable is in a port that the definition does not have.
fn write_definitions(folder: &Path, topo: &str) {
    let types: BTreeSet<&str> = topo
        .split_whitespace()
        .filter(|word| {
            word.strip_prefix("SW")
                .or_else(|| word.strip_prefix("HCA"))
                .is_some_and(|rest| rest.parse::<u8>().is_ok())
        })
        .collect();
    for name in types {
        let (kind, count) = match name.strip_prefix("SW") {
            Some(count) => ("SW", count),
            None => ("CA", &name[3..]),
        };
        let port = |number: u8| match kind {
            "SW" => format!("{number} -4x-10G-> P{number}\n"),
            _ => format!("{number} -4x-10G-> HCA-1/P{number}\n"),
        };
        let free = if kind == "SW" { FREE_PORTS } else { 0 };
        let count = count.parse::<u8>().unwrap() + free;
        let ports: String = (1..=count).map(port).collect();
        let text = format!("TOPSYSTEM {name}\n\nNODE {kind} {count} MT{count} U1\n{ports}");
        fs::write(folder.join(format!("{name}.ibnl")), text).unwrap();
    }
}

fn build_library(folder: &Path) -> PathBuf {
    let library = folder.join("unchecked_print.so");
    let source = Path::new(env!("FABDECK_ROOT")).join("tests/live/unchecked_print.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    let built = ibsim::finish(cc);
    assert!(built.status.success(), "{built:?}");
    library
}

/// The ends that ibtopodiff calls wrong, and the number of those that it calls right.
fn ibtopodiff(folder: &Path, library: &Path) -> (BTreeSet<String>, usize, String) {
    let mut command = Command::new(ibsim::program("ibtopodiff", "ibutils"));
    command.args(["-t", "plan.topo", "-d", "fabric.lst", "-e"]).current_dir(folder);
    command.env("IBDM_IBNL_PATH", folder).env("LD_PRELOAD", library);
    let output = ibsim::finish(command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut wrong = BTreeSet::new();
    let mut right = 0;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Mismatch: port") {
            let end = rest.trim_start_matches([':', ' ']).split(' ').next().unwrap();
            wrong.insert(end.to_owned());
        } else if let Some((_, rest)) = line.split_once("Missing cable between ") {
            wrong.extend(rest.split(" and ").map(|end| end.trim().to_owned()));
        } else if let Some((_, rest)) = line.split_once("Total of ")
            && rest.contains("ports match the provided topology")
        {
            right = rest.split(' ').next().unwrap().parse().unwrap();
        }
    }
    (wrong, right, text)
}

#[test]
fn wrong_ends_are_those_that_ibtopodiff_names() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let library = build_library(folder.path());
    let planned = planned();
    let look = |fabric: Fabric| {
        Snapshot::new("here", Observation { fabric, ..Observation::default() }, &NameMap::default())
    };
    let written = export_cabling(&look(planned.clone()), ExportForm::Topo);
    assert_eq!(written.left_out, [""; 0]);
    write_definitions(folder.path(), &written.text);
    fs::write(folder.path().join("plan.topo"), &written.text).unwrap();
    let plan = fabdeck_files::cabling::read(Input::new("plan.topo", written.text.as_bytes())).unwrap();
    let mut compared = 0;
    for seed in 0..12 {
        let present = mistaken(&planned, seed);
        let mut list = Vec::new();
        subnet_lst::write(&present, None, &mut list).unwrap();
        fs::write(folder.path().join("fabric.lst"), list).unwrap();
        let (theirs, right, text) = ibtopodiff(folder.path(), &library);

        let look = look(present);
        let report = check_cabling(&look, &plan);
        let end_name = |end: CableEnd| {
            let node = planned.node(NodeId(end.device.0));
            match node.is_switch() {
                true => format!("{}/P{}", node.facts.description, end.port),
                false => format!("{}/P{}", node.facts.description.replace(' ', "/"), end.port),
            }
        };
        let cables: Vec<[String; 2]> = report
            .findings
            .iter()
            .flat_map(|finding| &finding.cables)
            .filter_map(|cable| Some(cable.planned?.map(end_name)))
            .collect();
        let ours: BTreeSet<&String> = cables.iter().flatten().collect();
        println!("seed {seed}: {theirs:?} {ours:?}\n{text}");
        assert!(theirs.iter().all(|end| ours.contains(end)), "seed {seed}");
        compared += theirs.len();
        assert!(cables.iter().all(|ends| ends.iter().any(|end| theirs.contains(end))), "seed {seed}");
        assert_eq!(right, 2 * report.right, "seed {seed}");
    }
    assert!(compared > 20, "ibtopodiff named {compared} ends");
}
