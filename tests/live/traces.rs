//! A folder with the output of the tools is one source. The program counts what ibnetdiscover counts, and traces the
//! paths that ibtracert finds in the switches.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::ibsim::{self, Stage};

const SHORT: &[(&str, &[&str])] = &[("demo", &["-R", "updn", "-Q"]), ("kautz,d=3,k=2", &["-R", "minhop"])];
const LONG: &[(&str, &[&str])] = &[("taurus", &["-R", "minhop"]), ("switch648", &["-R", "ftree"])];
/// Dumps of OpenSM that describe the fabric; the last exists only with QoS.
const DUMPS: &[&str] =
    &["opensm-lfts.dump", "opensm.fdbs", "opensm-subnet.lst", "guid2lid", "opensm-sl2vl.dump"];

#[test]
fn a_folder_of_dumps_is_the_fabric_that_the_tools_see() {
    for (name, engine) in SHORT.iter().chain(LONG.iter().filter(|_| ibsim::long())) {
        let stage = Stage::play(&ibsim::fabric(name));
        stage.opensm(engine);
        let topology = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let folder = collected(&stage, &topology);
        let shown = fabdeck(&folder, &["show", "fabric"], 0);
        let records = |kind: &str| topology.lines().filter(|line| line.starts_with(kind)).count() as u64;
        let ends = topology.lines().filter(|line| line.starts_with('[')).count() as u64;
        assert_eq!(shown["switches"], records("Switch\t"), "{name}");
        assert_eq!(shown["hosts"], records("Ca\t"), "{name}");
        assert_eq!((&shown["links"], &shown["ports"]), (&(ends / 2).into(), &ends.into()), "{name}");
        assert_eq!(shown["partial"], false, "{name}: {}", shown["notes"]);
        let traced = traces(&stage, &folder, &topology);
        println!(
            "{name} {}: {} nodes, {traced} paths",
            engine.join(" "),
            records("Switch\t") + records("Ca\t")
        );
    }
}

/// Copies the dumps into a folder of their own.
fn collected(stage: &Stage, topology: &str) -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("topology.txt"), topology).unwrap();
    let mut copied = 0;
    for dump in DUMPS {
        let from = stage.folder.path().join(dump);
        if from.is_file() {
            fs::copy(from, folder.path().join(dump)).unwrap();
            copied += 1;
        }
    }
    assert!(copied >= DUMPS.len() - 1, "OpenSM left {copied} dumps");
    folder
}

/// Runs the program on a folder and returns its JSON.
fn fabdeck(folder: &TempDir, args: &[&str], exit: i32) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.arg("--source").arg(folder.path()).args(args).arg("--json").stdin(Stdio::null());
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, folder.path().join("home"));
    }
    let output = ibsim::finish(command);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {talk}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Traces pairs of hosts, near and far, and compares switches and egress ports hop by hop.
fn traces(stage: &Stage, folder: &TempDir, topology: &str) -> usize {
    let hosts = host_lids(topology);
    let count = hosts.len();
    let pairs = [(0, count - 1), (0, 1), (count - 1, 0), (count / 2, count / 3), (count / 4, count / 2)];
    let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
    for (a, b) in &pairs {
        let (source, target) = (hosts[*a].to_string(), hosts[*b].to_string());
        let report = stage.run("ibtracert", "infiniband-diags", &[&source, &target]);
        let traced = fabdeck(folder, &["trace", &source, &target], 0);
        let rows = traced["rows"].as_array().unwrap();
        let port = |row: &Value| row["port"].as_u64().unwrap();
        let ours: Vec<u64> = rows.iter().map(port).collect();
        assert_eq!(traced["found"], true, "{source} -> {target}: {}", traced["verdict"]);
        assert!(ours.len() >= 2, "{source} -> {target}: a path of {} hops", ours.len());
        assert_eq!(ours, egress_ports(&report), "{source} -> {target}: {report}\n{traced:#}");
    }
    pairs.len()
}

/// The LID in each line of an adapter: `[1](100007) "S-..."[1] # lid 9 lmc 0 ...`.
fn host_lids(topology: &str) -> Vec<u32> {
    let lines = topology.lines().filter(|line| line.starts_with('[') && line.contains(" lmc "));
    let lid = |line: &str| line.split("# lid ").nth(1)?.split(' ').next()?.parse().ok();
    lines.filter_map(lid).collect()
}

/// The egress port of each hop: `[1] -> switch port {0x...}[3] lid 4-4 "leaf"`.
fn egress_ports(report: &str) -> Vec<u64> {
    let hops = report.lines().filter(|line| line.starts_with('['));
    hops.map(|line| line[1..].split(']').next().unwrap().parse().unwrap()).collect()
}
