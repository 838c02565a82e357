//! The life of slow lanes over ibsim, with OpenSM as the manager. Counters that are set become a hot-spot, and the
//! plan is applied beside OpenSM. OpenSM forwards the notices to agents at other nodes, and a rollback restores all
//! tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use fabdeck_change::{FollowMode, MigrationDirection, Plan};
use fabdeck_fabric::{Fabric, Guid, Lid, NodeKind, PortId};
use serde_json::Value;

use crate::agents::{agent, hook, wait_for_event};
use crate::changes::opt_in;
use crate::ibsim::{self, Stage};
use crate::opensm_driver::{CONF as CONF_OF_SITE, Site, level};
use crate::sweeps;

/// All levels are on lane 0 and no other lane has a weight, so slow lanes have to be written.
const CONF: &str = "max_smps_timeout 600000
ignore_other_sm TRUE
qos TRUE
qos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
qos_vlarb_low 0:64,1:0,2:0,3:0
qos_vlarb_high 0:0,1:0
";

/// An agent that ends with this value, and the file of its output.
struct Agent(Child, PathBuf);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs at a host other than OpenSM's, because ibsim would deliver messages for OpenSM to this process.
fn command(stage: &Stage, at: Guid, args: &[&str]) -> std::process::Command {
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.env("SIM_HOST", format!("H-{:016x}", at.0));
    command.args(["--source", "umad", "--state-dir", "state", "--config", "site.toml"]).args(args);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    command
}

fn run(stage: &Stage, at: Guid, args: &[&str], exit: i32) -> String {
    let output = ibsim::finish(command(stage, at, args));
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {said}{}", logs(stage.folder.path()));
    said
}

fn logs(folder: &Path) -> String {
    let folders = fs::read_dir(folder.join("state/changes")).into_iter().flatten().flatten();
    folders.map(|entry| fs::read_to_string(entry.path().join("guard.log")).unwrap_or_default()).collect()
}

/// SL2VL and arbitration of every cabled port, as `smpquery` prints them.
fn dump(stage: &Stage, fabric: &Fabric) -> Vec<String> {
    let ask = |what: &str, port: PortId| {
        let at = fabric.port(port);
        let node = fabric.node(at.node);
        // An adapter is addressed by the GUID of its port.
        let guid =
            if node.is_switch() { node.guid().0 } else { node.guid().0 + u64::from(at.number.value()) };
        let (guid, number) = (format!("0x{guid:x}"), at.number.to_string());
        let said = stage.run("smpquery", "infiniband-diags", &["-G", what, &guid, &number]);
        format!("{guid} {number}: {said}")
    };
    let cabled = fabric.ports().filter(|(_, port)| port.peer.is_some());
    cabled.flat_map(|(port, _)| [ask("SL2VL", port), ask("VLArb", port)]).collect()
}

/// Runs `lanes propose` while these counters are set; returns its JSON and its messages.
fn proposed(stage: &mut Stage, at: Guid, counted: &[(String, &str, u32)]) -> (Value, String) {
    let args = ["lanes", "propose", "--interval", "6s", "-o", "life.plan", "--force", "--json"];
    let mut command = command(stage, at, &args);
    let proposing =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By then the first sweep is done and the second is not.
    sleep(Duration::from_secs(3));
    for (port, counter, value) in counted {
        // Wide counters are read from the extended attribute, so they are set there.
        let of = if *counter == "PortXmitData" { "PortCountersExtended" } else { "PortCounters" };
        stage.console(&format!("PerformanceSet {port} {of}.{counter}={value}"), "has been set to");
    }
    let output = proposing.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = serde_json::from_slice(&output.stdout);
    (told.unwrap_or_else(|error| panic!("{error}: {talk}")), talk)
}

/// Counters by port, as if the hosts `from` sent to the host `hot`, which receives too slowly.
fn traffic(fabric: &Fabric, hot: usize, from: &[usize]) -> Vec<(String, &'static str, u32)> {
    let cables = sweeps::hosts(fabric);
    let name = |port: PortId| sweeps::names(fabric, port).0;
    // All traffic between switches goes to the hot-spot; no other host receives any.
    let between =
        fabric.ports().filter(|(_, port)| port.link.is_some_and(|link| fabric.is_between_switches(link)));
    let mut counted: Vec<_> = between.map(|(port, _)| (name(port), "PortXmitData", 3_000_000)).collect();
    let hot = name(cables[hot].1);
    counted.extend([(hot.clone(), "PortXmitWait", 9_000_000), (hot, "PortXmitData", 6_000_000)]);
    for host in from {
        let own = name(cables[*host].0);
        counted.extend([(own.clone(), "PortXmitWait", 4_000_000), (own, "PortXmitData", 2_000_000)]);
    }
    counted
}

#[test]
fn flows_move_by_notices_through_opensm_and_a_rollback_leaves_the_tables_as_they_were() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    let conf = stage.folder.path().join("alone.conf");
    fs::write(&conf, CONF).unwrap();
    let _manager = stage.opensm_stays(&["-R", "minhop", "-F", &conf.display().to_string()]);
    opt_in(&stage);
    let adapters = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let nodes: Vec<Guid> = adapters.map(|(_, node)| node.guid()).collect();
    let at = nodes[7];
    let cables = sweeps::hosts(&fabric);
    let (mut seen, mut agents) = (Vec::new(), Vec::new());
    for host in [2, 9] {
        let file = stage.folder.path().join(format!("seen{host}"));
        let good =
            hook(&stage, &format!("good{host}"), &format!("env | grep ^FABDECK_ >> {}", file.display()));
        let (child, out) = agent(&stage, nodes[host], &["--hook", &good]);
        agents.push(Agent(child, out));
        seen.push(file);
    }
    let before = dump(&stage, &fabric);
    let names = [2, 9, 12].map(|host| sweeps::names(&fabric, cables[host].0).1.0);
    let counted = traffic(&fabric, 5, &[2, 9, 12]);
    let (told, talk) = proposed(&mut stage, at, &counted);
    let flows = told["hot_spots"][0]["flows"].as_array().unwrap_or_else(|| panic!("{told} {talk}"));
    let follows = |name: &str| {
        let is = |flow: &&Value| {
            let guid =
                u64::from_str_radix(flow["guid"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
            format!("0x{:016x}", guid - 1) == name
        };
        flows.iter().find(is).map(|flow| flow["follows"].as_str().unwrap().to_owned())
    };
    let found: Vec<_> = names.iter().map(|name| follows(name).unwrap_or_default()).collect();
    assert_eq!(found, ["agent", "agent", "queries"], "{told}");
    let text = fs::read_to_string(stage.folder.path().join("life.plan")).unwrap();
    let plan = Plan::read(&text).unwrap();
    assert!(
        plan.migrations[0].towards == MigrationDirection::Slow && plan.writes.len() > 16,
        "{}",
        plan.writes.len()
    );
    let (switches, written) = plan.count_targets();

    let opted = ["--yes", "--allow-write", "--beside-manager"];
    let said = run(&stage, at, &[&["apply", "life.plan"], &opted[..]].concat(), 0);
    assert!(said.contains("2 by their agents, 1 without an agent"), "{said}");
    for (agent, file) in agents.iter().zip(&seen) {
        wait_for_event(&agent.1, "moved");
        assert!(fs::read_to_string(file).unwrap().contains("FABDECK_DIRECTION=slow"));
    }
    assert!(run(&stage, at, &["lanes"], 0).contains("as slow lanes need them"));
    assert_ne!(dump(&stage, &fabric), before);
    let changes: Value = serde_json::from_str(&run(&stage, at, &["changes", "--json"], 0)).unwrap();
    assert_eq!(changes["rows"][0]["silent"], Value::Array(Vec::new()), "{changes}");
    run(&stage, at, &["rollback", changes["rows"][0]["id"].as_str().unwrap()], 0);
    for file in &seen {
        assert!(fs::read_to_string(file).unwrap().contains("FABDECK_DIRECTION=fast"));
    }
    assert_eq!(dump(&stage, &fabric), before);
    println!(
        "said: {} writes on {switches} switches and {written} adapters, there and back",
        plan.writes.len()
    );
}

/// Odd levels have a lane of their own with the same weights, so a slow lane needs only the policy.
const TWO_LANES: &str = "routing_engine minhop
ignore_other_sm TRUE
qos TRUE
qos_max_vls 2
qos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1
qos_vlarb_high 0:4,1:4
qos_vlarb_low 0:4,1:4";

/// Without agents only new path queries return the slow lane's level.
#[test]
fn new_path_queries_follow_as_the_preview_says_and_come_back() {
    let mut site = Site::new("kary,k=4,n=2", TWO_LANES);
    opt_in(&site.stage);
    let adapters = site.fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let at = adapters.map(|(_, node)| node.guid()).nth(7).unwrap();
    let counted = traffic(&site.fabric, 5, &[2, 9, 12]);
    let (told, talk) = proposed(&mut site.stage, at, &counted);
    assert_eq!(told["writes"], 0, "{told} {talk}");
    let plan = Plan::read(&fs::read_to_string(site.path("life.plan")).unwrap()).unwrap();
    let [moved] = &plan.migrations[..] else { panic!("{:?}", plan.migrations) };
    assert!(moved.flows.len() == 3 && moved.flows.iter().all(|flow| flow.follows == FollowMode::Queries));
    let lid = |lid: u16| Lid::new(lid.into()).unwrap();
    let to = lid(moved.hot_spot.lid);
    let levels = |site: &Site| -> Vec<u8> {
        moved.flows.iter().map(|flow| level(site, lid(flow.host.lid), to)).collect()
    };
    assert_eq!(levels(&site), [moved.fast; 3]);

    let console = format!("127.0.0.1:{}", site.port());
    let road = [
        "--yes",
        "--allow-write",
        "--via",
        "opensm",
        "--opensm-conf",
        CONF_OF_SITE,
        "--opensm-console",
        &console,
    ];
    let said = run(&site.stage, at, &[&["apply", "life.plan"], &road[..]].concat(), 0);
    assert!(said.contains("3 without an agent"), "{said}");
    assert_eq!(levels(&site), [moved.slow; 3]);
    let changes: Value = serde_json::from_str(&run(&site.stage, at, &["changes", "--json"], 0)).unwrap();
    run(&site.stage, at, &["rollback", changes["rows"][0]["id"].as_str().unwrap()], 0);
    site.wait_until("levels are as they were", |site| levels(site) == [moved.fast; 3]);
    assert!(!site.policy().exists());
    println!("said: path records of {} flows there and back", moved.flows.len());
}
