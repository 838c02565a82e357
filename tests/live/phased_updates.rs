//! Updates in five phases over ibsim. OpenSM gives each port two LIDs (LMC 1) and forwards notices to an agent at
//! every host. Base LIDs change and change back, and the paths of high LIDs stay.
//!
//! Every host has an agent. ibsim delivers no message from OpenSM to its own port, so OpenSM runs at a switch.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_change::Plan;
use fabdeck_fabric::{Fabric, Guid, Lid, NodeKind, PortNum, Tables};
use serde_json::Value;

use crate::agents::{agent, hook};
use crate::changes::{opt_in, run};
use crate::ibsim::{self, Manager, Stage};
use crate::opensm_routes::bound;

/// Level 1 has a lane of its own, which high LIDs then use.
const OWN_LANE: &str = "qos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1";
/// All levels are on lane 0.
const ONE_LANE: &str = "qos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";

/// An agent that ends with the test.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Six hosts with an agent each. ibsim accepts ten clients, which include OpenSM, the apply command and the guard.
struct Site {
    agents: Vec<Agent>,
    manager: Manager,
    stage: Stage,
    fabric: Fabric,
    port: u16,
}

impl Site {
    fn new(lanes: &str) -> Self {
        let played = ibsim::fabric("kary,k=3,n=2,hosts=6");
        let stage = Stage::play(&played);
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let path = |name: &str| stage.folder.path().join(name).display().to_string();
        let text = format!(
            "max_smps_timeout 600000\nignore_other_sm TRUE\nforce_log_flush TRUE\nrouting_engine file,updn\nlfts_file {}\nqos \
             TRUE\nqos_max_vls 2\n{lanes}\nqos_vlarb_high 0:4,1:4\nqos_vlarb_low 0:4,1:4\nqos_policy_file {}\nconsole \
             loopback\nconsole_port {port}\n",
            path("active.lft"),
            path("qos-policy.conf"),
        );
        fs::write(path("road.conf"), text).unwrap();
        let spine = played.switches().last().unwrap().1.guid();
        let (node, guid) = (format!("S-{:016x}", spine.0), format!("0x{:x}", spine.0));
        let manager = stage.opensm_stays_at(&node, &["-F", &path("road.conf"), "-l", "1", "-r", "-g", &guid]);
        let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let fabric = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
        let turns = hook(&stage, "turns", "env | grep ^FABDECK_ | sort >> turned; echo >> turned");
        let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
        let agents =
            hosts.map(|(_, node)| Agent(agent(&stage, node.guid(), &["--hook", &turns]).0)).collect();
        let site = Self { agents, manager, stage, fabric, port };
        opt_in(&site.stage);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.stage.folder.path().join(name)
    }

    fn run(&self, args: &[&str], exit: i32) -> String {
        run(&self.stage, &[&["--config", "site.toml"], args].concat(), exit)
    }

    /// The plan of SAR for jobs on every other host.
    fn planned(&self) -> Plan {
        let jobs: String = (0..6).map(|host| format!("node{host} {}\n", host % 2)).collect();
        fs::write(self.path("jobs.txt"), jobs).unwrap();
        let words = ["route", "--engine", "sar", "--jobs", "jobs.txt", "--phases", "-o", "new.plan"];
        self.run(&words, 0);
        Plan::read(&fs::read_to_string(self.path("new.plan")).unwrap()).unwrap()
    }

    /// The tables of the switches, read by dump_lfts.
    fn read_tables(&self) -> Tables {
        let said = self.stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
        bound("held", &self.fabric, &ibsim::tables("dump_lfts", said.as_bytes()))
    }

    /// Egress ports toward the LIDs of hosts, for each switch: base LIDs, then high LIDs.
    fn paths_per_lid(&self, tables: &Tables) -> [Vec<Option<PortNum>>; 2] {
        let ends = self.fabric.ports().filter(|(_, port)| !self.fabric.node(port.node).is_switch());
        let bases: Vec<Lid> = ends.filter_map(|(_, port)| port.facts.lid).collect();
        assert_eq!(bases.len(), 6);
        assert!(bases.iter().all(|base| base.value() % 2 == 0), "{bases:?}");
        [0, 1].map(|more| {
            let lids = bases.iter().map(move |base| Lid::new(u32::from(base.value()) + more).unwrap());
            let switches = self
                .fabric
                .switches()
                .flat_map(|(id, _)| lids.clone().map(move |lid| tables.lft(id).and_then(|lft| lft.get(lid))));
            switches.collect()
        })
    }

    /// Calls of each host's hook in order: direction and level.
    fn change_tables(&self) -> Vec<Vec<(String, String)>> {
        let hosts = self.fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
        let told = |guid: Guid| {
            let text =
                fs::read_to_string(self.path(&format!("host-{:x}/turned", guid.0))).unwrap_or_default();
            let value = |lines: &str, key: &str| {
                lines.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned()
            };
            let each = text.split("\n\n").filter(|lines| !lines.trim().is_empty());
            each.map(|lines| (value(lines, "FABDECK_DIRECTION="), value(lines, "FABDECK_SERVICE_LEVEL=")))
                .collect()
        };
        hosts.map(|(_, node)| told(node.guid())).collect()
    }

    /// Makes OpenSM sweep the whole subnet, in which it corrects what it considers wrong.
    fn sweeps(&self) {
        let log = || fs::read_to_string(self.path("opensm.log")).unwrap_or_default();
        let ups = || log().matches("SUBNET UP").count();
        let before = ups();
        let mut kill = std::process::Command::new("kill");
        kill.args(["-HUP", &self.manager.id().to_string()]);
        assert!(ibsim::finish(kill).status.success());
        let begun = Instant::now();
        while ups() == before {
            assert!(begun.elapsed() < Duration::from_secs(30), "a sweep after SIGHUP: {}", log());
            sleep(Duration::from_millis(20));
        }
    }

    /// Applies the plan with a driver, checks the fabric, and rolls back.
    fn there_and_back(&self, plan: &Plan, road: &[&str], levels: [&str; 2]) {
        let before = self.read_tables();
        let planned = plan.tables_after(&self.fabric, &before);
        let begun = Instant::now();
        let said = self.run(&[&["apply", "new.plan", "--yes", "--allow-write"], road].concat(), 0);
        let took = begun.elapsed();
        assert!(said.contains("6 ports of hosts to leave base LIDs"), "{said}");
        let turn = |direction: &str, level: &str| (direction.to_owned(), level.to_owned());
        let once = [turn("high", levels[1]), turn("base", levels[0])];
        assert_eq!(self.change_tables(), vec![once.to_vec(); 6]);
        let [old, new, after] =
            [&before, &planned, &self.read_tables()].map(|tables| self.paths_per_lid(tables));
        assert_ne!(after[0], old[0], "base LIDs lead elsewhere");
        assert_eq!(after, [new[0].clone(), old[1].clone()], "as planned, and high LIDs as they did");
        self.sweeps();
        assert_eq!(self.paths_per_lid(&self.read_tables()), after, "a sweep of OpenSM changes nothing of it");
        let trail = self.run(&["changes", "--json"], 0);
        let changes: Value = serde_json::from_str(&trail).unwrap();
        assert_eq!(changes["rows"][0]["silent"], Value::Array(Vec::new()), "{changes}");
        self.run(&["rollback", changes["rows"][0]["id"].as_str().unwrap()], 0);
        assert_eq!(self.change_tables(), vec![[once.clone(), once].concat(); 6]);
        assert_eq!(self.paths_per_lid(&self.read_tables()), old);
        self.sweeps();
        assert_eq!(self.paths_per_lid(&self.read_tables()), old);
        println!("said: {} blocks by {road:?}, {} agents, {took:.2?}", plan.writes.len(), self.agents.len());
    }
}

#[test]
fn base_lids_change_beside_opensm_while_hosts_are_on_high_ones() {
    let site = Site::new(OWN_LANE);
    let plan = site.planned();
    let phases = plan.phases.as_ref().unwrap();
    assert_eq!((phases.hosts.len(), phases.base_level, phases.high_level), (6, 0, 1));
    // A policy cannot express these lanes.
    let before = site.read_tables();
    let console = format!("127.0.0.1:{}", site.port);
    let through = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
    let said = site.run(&[&["apply", "new.plan", "--yes", "--allow-write"], &through[..]].concat(), 4);
    assert!(said.contains("FD-5682") && said.contains("--via direct --beside-manager"), "{said}");
    assert_eq!(site.paths_per_lid(&site.read_tables()), site.paths_per_lid(&before));
    assert_eq!(site.change_tables(), vec![vec![]; 6], "nobody was told");
    site.there_and_back(&plan, &["--beside-manager"], ["0", "1"]);
}

#[test]
fn base_lids_change_through_opensm_where_both_halves_are_on_one_lane() {
    let site = Site::new(ONE_LANE);
    let plan = site.planned();
    assert_eq!((plan.phases.as_ref().unwrap().high_level, plan.lanes.count), (0, 1));
    let console = format!("127.0.0.1:{}", site.port);
    let road = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
    site.there_and_back(&plan, &road, ["0", "0"]);
    assert!(!site.path("active.lft").exists(), "the next engine is at work again");
}
