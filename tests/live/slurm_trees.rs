//! The tree of switches that `convert --to slurm-topology` writes, read by a real slurmctld: its switches, their levels, and the
//! nodes below each are those of the file. The controller reads the file before it looks for anything else, so none of its
//! other daemons run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fabdeck_files::slurm::expand;

use crate::ibsim::program;

const PATIENCE: Duration = Duration::from_secs(60);

/// Level, nodes at or below it, and the switches just below it.
type TreeSwitch = (usize, BTreeSet<String>, BTreeSet<String>);
type Tree = BTreeMap<String, TreeSwitch>;

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn names(list: &str) -> BTreeSet<String> {
    if list == "(null)" { BTreeSet::new() } else { expand(list).unwrap().into_iter().collect() }
}

/// The tree of the file. A switch is named after those below it.
fn written_tree(text: &str) -> Tree {
    let mut tree = Tree::new();
    for line in text.lines().filter(|line| line.starts_with("SwitchName=")) {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, list] = words[..] else { panic!("{line}") };
        let name = name.strip_prefix("SwitchName=").unwrap().to_owned();
        let switch = match list.split_once('=').unwrap() {
            ("Nodes", list) => (0, names(list), BTreeSet::new()),
            ("Switches", list) => {
                let below = names(list);
                let level = below.iter().map(|name| tree[name].0).max().unwrap() + 1;
                (level, below.iter().flat_map(|name| tree[name].1.clone()).collect(), below)
            }
            other => panic!("{other:?}"),
        };
        assert!(tree.insert(name, switch).is_none(), "{line}");
    }
    tree
}

/// The tree that the controller logs: `... Switch level:1 name:mid0 nodes:node[0-3] switches:leaf[0-1]`.
fn logged_tree(log: &str) -> Tree {
    let switch = |line: &str| -> Option<(String, TreeSwitch)> {
        let (_, rest) = line.split_once("Switch level:")?;
        let values: Vec<&str> =
            rest.split(' ').map(|word| word.split_once(':').map_or(word, |(_, value)| value)).collect();
        let [level, name, nodes, switches] = values[..] else { return None };
        Some((name.to_owned(), (level.parse().ok()?, names(nodes), names(switches))))
    };
    log.lines().filter_map(switch).collect()
}

/// Writes the tree of a fabric, and lets a controller read it; returns both trees and the log.
fn read_by_slurmctld(fabric: &str) -> (Tree, Tree, String) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = folder.path();
    let fabdeck = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        command.args(args).current_dir(at).env("HOME", at).env_remove("XDG_CONFIG_HOME");
        let ended = command.stdin(Stdio::null()).output().unwrap();
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    fabdeck(&["generate", fabric, "-o", "fabric.net"]);
    fabdeck(&["convert", "fabric.net", "-o", "topology.conf", "--to", "slurm-topology"]);
    let text = fs::read_to_string(at.join("topology.conf")).unwrap();
    let lists: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(" Nodes=")?.1)).collect();
    fs::create_dir(at.join("state")).unwrap();
    let conf = format!(
        "ClusterName=fabdeck\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=0\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nStateSaveLocation={at}/state\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmctldLogFile={at}/slurmctld.log\nProctrackType=proctrack/pgid\n\
         TaskPlugin=task/none\nMpiDefault=none\nTopologyPlugin=topology/tree\n\
         NodeName={} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES State=UP\n",
        lists.join(","),
        at = at.display()
    );
    let conf = conf.replace("SlurmctldPort=0\n", &format!("SlurmctldPort={}\n", free_port()));
    fs::write(at.join("slurm.conf"), conf).unwrap();
    let mut controller = Command::new(program("slurmctld", "slurmctld"));
    controller.args(["-D", "-i", "-vv", "-f"]).arg(at.join("slurm.conf"));
    controller
        .env("SLURM_CONF", at.join("slurm.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut controller = Running(controller.spawn().unwrap());
    let (tree, since) = (written_tree(&text), Instant::now());
    let read = || fs::read_to_string(at.join("slurmctld.log")).unwrap_or_default();
    while logged_tree(&read()).len() < tree.len() {
        let is_running = controller.0.try_wait().unwrap().is_none();
        assert!(is_running && since.elapsed() < PATIENCE, "{fabric}: {}", read());
        std::thread::sleep(Duration::from_millis(50));
    }
    (tree, logged_tree(&read()), read())
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_real_slurmctld_reads_the_tree_as_it_is_written() {
    for (fabric, levels, joins) in [
        ("kary,k=2,n=3", 3, true),
        ("xgft,m=4x3,w=1x2", 2, true),
        // Hosts at several ranks, one leaf for each rail, and no switch above all of them.
        ("irregular,family=rails,seed=3", 2, false),
        ("irregular,family=pods,seed=1", 2, false),
    ] {
        let (written, read, log) = read_by_slurmctld(fabric);
        assert_eq!(read, written, "{fabric}");
        assert!(written.values().any(|switch| switch.0 + 1 >= levels), "{fabric}: {written:?}");
        let is_joined = !log.contains("no switch can reach all nodes");
        assert!(is_joined == joins, "{fabric}: {log}");
        assert!(!log.contains("invalid child"), "{fabric}: {log}");
    }
}
