//! Judges the tables of OpenSM's engines by `fabdeck check` and by `tests/peers/efi.py`, which share no code.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fabdeck_fabric::{Fabric, Node};
use serde_json::{Value, json};

use crate::ibsim::{self, Stage};

/// Every engine of OpenSM with a complete routing of its own except dnup; fabrics with and without cycles, with
/// failed links, with pairs left out.
/// The second list of engines is that of the long run: each of them is judged on another fabric too.
const FABRICS: &[(&str, &[&str], &[&str])] = &[
    ("kary,k=3,n=3", &["minhop", "updn", "ftree", "lash", "nue"], &["sssp", "dfsssp"]),
    // On this fabric updn leaves pairs of aggregation nodes out, and ftree refuses it.
    ("kary,k=3,n=2,aggregation=yes", &["minhop", "updn"], &["nue"]),
    ("racks648,hosts=54", &["ftree", "dfsssp"], &["minhop", "updn", "sssp"]),
    ("kary,k=4,n=2,faults=3", &["dfsssp", "nue"], &["minhop", "updn"]),
    ("torus,dims=4x4x4,terminals=1", &["dor", "torus-2QoS"], &["minhop", "lash", "nue"]),
    ("torus,dims=4x4,faults=2", &["updn", "sssp"], &["dfsssp"]),
    ("kautz,d=2,k=3", &["sssp", "nue"], &["minhop", "updn", "dfsssp"]),
    ("dragonfly,a=4,p=1,h=2,g=9", &["minhop", "lash"], &["updn"]),
];

/// From this number on, paths of switches are judged where there is time.
const MANY_SWITCHES: usize = 45;

/// Numbers of verdicts, of those with lost pairs, and of those with credit loops.
#[derive(Default)]
struct Count {
    judged: usize,
    lost: usize,
    cyclic: usize,
}

#[test]
fn tables_of_opensm_are_judged_as_the_script_judges_them() {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Count::default()));
    // OpenSM and ibsim mostly wait for each other, so four stages run at once.
    let work = || {
        while let Some((name, engines, more)) = FABRICS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let more: &[&str] = if ibsim::long() { more } else { &[] };
            judged(name, &[*engines, more].concat(), &all);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let Count { judged, lost, cyclic } = all.into_inner().unwrap();
    // Both verdicts occur in both outcomes.
    assert!(
        lost > 0 && cyclic > 0 && cyclic < judged,
        "{lost} with lost pairs, {cyclic} with cycles of {judged}"
    );
}

fn judged(name: &str, engines: &[&str], all: &Mutex<Count>) {
    let fabric = ibsim::fabric(name);
    let stage = Stage::play(&fabric);
    let folder = stage.folder.path();
    fs::write(folder.join("torus-2QoS.conf"), AXES).unwrap();
    fs::write(folder.join("roots"), roots(&fabric)).unwrap();
    for engine in engines {
        routed(&stage, name, engine);
        // The script takes seconds for the paths of many switches.
        let both = ibsim::long() || fabric.switches().len() < MANY_SWITCHES;
        for switches in [false, true].into_iter().take(1 + usize::from(both)) {
            let (ours, theirs) = (fabdeck(folder, switches), script(folder, switches));
            assert_eq!(ours, theirs, "{name}, {engine}, switches {switches}: fabdeck and efi.py");
            println!("{name}, {engine}, switches {switches}: {ours}");
            let mut count = all.lock().unwrap();
            count.judged += 1;
            count.lost += usize::from(ours["unreachable"] != 0);
            count.cyclic += usize::from(ours["cyclic"] == true);
        }
    }
}

/// The three dimensions of the 4x4x4 torus, given by the switches around its first.
const AXES: &str = "\
torus 4 4 4
xp_link 0x2c90100000000 0x2c90100000010
xm_link 0x2c90100000000 0x2c90100000030
yp_link 0x2c90100000000 0x2c90100000004
ym_link 0x2c90100000000 0x2c9010000000c
zp_link 0x2c90100000000 0x2c90100000001
zm_link 0x2c90100000000 0x2c90100000003
";

/// Root switches for OpenSM's updn, which finds none by itself if every switch has adapters.
pub fn roots(fabric: &Fabric) -> String {
    let spine = |node: &Node| node.facts.description.starts_with("spine");
    let spines: Vec<_> = fabric.switches().filter(|(_, node)| spine(node)).collect();
    let tops = if spines.is_empty() { fabric.switches().take(1).collect() } else { spines };
    tops.iter().map(|(_, node)| format!("{}\n", node.guid())).collect()
}

/// Routes with one engine of OpenSM, and checks by its log that no other engine took its place.
pub fn routed(stage: &Stage, name: &str, engine: &str) {
    let log = stage.folder.path().join("opensm.log");
    let _ = fs::remove_file(&log);
    let path = |file: &str| stage.folder.path().join(file).display().to_string();
    let (axes, roots) = (path("torus-2QoS.conf"), path("roots"));
    let mut words = vec!["-R", engine];
    match engine {
        "torus-2QoS" => words.extend(["-Q", "--torus_config", &axes]),
        "updn" => words.extend(["-a", &roots]),
        _ => {}
    }
    stage.opensm(&words);
    let said = fs::read_to_string(&log).unwrap();
    let done = said.lines().filter(|line| line.contains("tables configured on all switches"));
    let by = |line: &str| line.contains(&format!("process: {engine} tables"));
    assert!(
        done.clone().count() > 0 && done.clone().all(by),
        "{name}: {engine}: {:?}",
        done.collect::<Vec<_>>()
    );
}

pub fn fabdeck(folder: &Path, switches: bool) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.current_dir(folder).args(["--source", "opensm-subnet.lst", "--json", "check"]);
    command.args(["--tables", "opensm-lfts.dump", "--lanes", "one"]).args(switches.then_some("--switches"));
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, folder.join("home"));
    }
    let output = ibsim::finish(command);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    json!({
        "pairs": said["pairs"],
        "unreachable": said["unreachable"],
        "efi_max": said["edge_forwarding_index"]["max"],
        "longest": said["longest_path"],
        "cyclic": said["deadlock_free"] == false,
    })
}

fn script(folder: &Path, switches: bool) -> Value {
    let script = concat!(env!("FABDECK_ROOT"), "/tests/peers/efi.py");
    let mut command = Command::new(ibsim::program("python3", "python3"));
    command.current_dir(folder).args([script, "opensm-subnet.lst", "opensm-lfts.dump"]);
    command.args(switches.then_some("--switches")).stdin(Stdio::null());
    let output = ibsim::finish(command);
    let talk = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {talk}"))
}
