//! Whole lives of slow lanes, through the program itself: a served simulator with a hot-spot, agents as processes of their own at
//! its hosts, and the command line.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Lid, PortNum};
use fabdeck_live::socket::connect;
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator};
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DeviceId, NoObserver, ReadOptions, Surveyor, WritePort,
    WriteToken,
};
use serde_json::Value;

use super::processes::ServedLab;
use crate::agents::{Agent, hook, level_of, spawn_host_that_never_moves};

/// Hosts of other leaves than that of the hot-spot, which is node0.
const SENDERS: [usize; 6] = [3, 4, 5, 6, 7, 8];

struct LaneScenario {
    lab: ServedLab,
    fabric: Fabric,
}

impl LaneScenario {
    /// Six hosts send to one as much as they can, and after some seconds next to nothing.
    fn of(cool_s: Option<u32>) -> Self {
        Self::on("sim:kary,k=3,n=2,story=heat.story", cool_s)
    }

    fn on(source: &str, cool_s: Option<u32>) -> Self {
        let story = |after: Option<u32>| {
            let paced = |host: &usize| match after {
                None => format!("0s flow node{host} node0\n"),
                Some(after) => format!("{after}s flow node{host} node0 gbps=0.1\n"),
            };
            SENDERS.iter().map(paced).collect::<String>()
        };
        // A host that takes in less than its link carries holds up what is sent to it.
        let text = "host-limit 12.9\n".to_owned()
            + &story(None)
            + &cool_s.map(|after| story(Some(after))).unwrap_or_default();
        let lab = ServedLab::with(source, &[], |home| std::fs::write(home.join("heat.story"), text).unwrap());
        let fabric = hands(&lab).read_fabric(ReadOptions::default(), &mut NoObserver).unwrap().fabric;
        Self { lab, fabric }
    }

    fn lid(&self, host: usize) -> Lid {
        let name = format!("node{host}");
        let called = |text: &str| text.split(' ').next() == Some(&name);
        let (id, _) = self.fabric.nodes().find(|(_, node)| called(&node.facts.description)).unwrap();
        self.fabric.address_of(self.fabric.port_of(id, PortNum(1)).unwrap()).unwrap().0
    }

    fn client(&self, host: usize) -> WritePort {
        client(&self.lab, Some(&format!("node{host}")))
    }

    fn agent(&self, host: usize, args: &[&str]) -> Agent {
        Agent::start(self.lab.home.path(), &self.lab.home.path().join("lab.sock"), host, args)
    }

    fn hook(&self, name: &str, script: &str) -> String {
        hook(self.lab.home.path(), name, script)
    }

    /// The levels on which these hosts send to the hot-spot, as the fabric itself says.
    fn levels(&self, hosts: &[usize]) -> Vec<u8> {
        hosts.iter().map(|host| level_of(&mut self.client(*host), self.lid(0)).unwrap()).collect()
    }

    fn observe(&self) -> Observation {
        let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
        hands(&self.lab).read_fabric(wanted, &mut NoObserver).unwrap()
    }

    /// SL2VL and arbitration of switches and adapters, datagram by datagram.
    fn dump(&self) -> Vec<(DeviceAttribute, Vec<u8>)> {
        let seen = self.observe();
        let mut slots = Vec::new();
        for (id, held) in &seen.tables.nodes {
            let node = seen.fabric.node(*id);
            let at = DeviceId::from_node(node.facts.kind, node.guid());
            let rows = held.sl2vl.keys().map(|(from, to)| AttributePart::Lanes([from.value(), to.value()]));
            let turns = held.arbitration.keys();
            let turns =
                turns.flat_map(|port| (1..=4).map(|part| AttributePart::Arbitration([port.value(), part])));
            slots.extend(rows.chain(turns).map(|part| DeviceAttribute { at, part }));
        }
        let adapters = slots.iter().filter(|slot| matches!(slot.at, DeviceId::Adapter(_))).count();
        assert!(adapters >= 9 && slots.len() > 2 * adapters, "{adapters} of {}", slots.len());
        let mut hands = hands(&self.lab);
        let held = hands.read(&slots).into_iter();
        slots.iter().copied().zip(held.map(|held| held.unwrap_or_default())).collect()
    }

    /// All levels on lane 0, and no lane but that has a turn: no slow lane is prepared.
    fn flatten(&self) -> Vec<(DeviceAttribute, Vec<u8>)> {
        let mut hands = hands(&self.lab);
        for (slot, held) in self.dump().iter().filter(|(_, held)| !held.is_empty()) {
            let mut bytes = vec![0; held.len()];
            if matches!(slot.part, AttributePart::Arbitration([_, 1])) {
                bytes[1] = 64;
            }
            hands.write(slot, &bytes).unwrap_or_else(|error| panic!("{slot}: {error}"));
        }
        self.dump()
    }

    /// What `lanes propose` says and writes down.
    fn propose(&self, plan: &str, code: i32) -> Value {
        self.json(&["lanes", "propose", "--interval", "1s", "-o", plan, "--force", "--json"], code)
    }

    fn json(&self, args: &[&str], code: i32) -> Value {
        let ended = self.lab.run(args);
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {out}{err}{}", self.lab.logs());
        serde_json::from_slice(&ended.stdout).unwrap()
    }

    /// The variables that the hook of a host got.
    fn assert_hook_values(&self, values: &std::path::Path, host: usize) {
        let found = std::fs::read_to_string(values).unwrap();
        let (own, spot) = (self.lid(host).value(), self.lid(0).value());
        for line in [
            format!("FABDECK_HOT_SPOT_LID={spot}"),
            format!("FABDECK_LID={own}"),
            "FABDECK_SERVICE_LEVEL=1".to_owned(),
            "FABDECK_DIRECTION=slow".to_owned(),
        ] {
            assert!(found.lines().any(|found| found == line), "{line}: {found}");
        }
    }

    /// The plan of the way back, once the hot-spot has cooled down.
    fn has_cooled(&self, plan: &str) -> Value {
        let since = Instant::now();
        let args = ["lanes", "propose", "--interval", "1s", "-o", plan, "--force", "--json"];
        loop {
            let told: Value = serde_json::from_slice(&self.lab.run(&args).stdout).unwrap();
            if told["hot_spots"][0]["state"] == "cooling" {
                return told;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{told}");
        }
    }

    fn id(&self) -> String {
        self.lab.row()["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the trail has a number of entries of a kind.
    fn trail_has(&self, what: &str, count: usize) {
        let since = Instant::now();
        let word = format!("\"what\":\"{what}\"");
        let found = || {
            let trail = std::fs::read_to_string(self.lab.home.path().join("state/audit"));
            trail.unwrap_or_default().matches(&word).count()
        };
        while found() < count {
            assert!(since.elapsed() < Duration::from_secs(40), "no {what}: {}", self.lab.logs());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// An agent whose hook ends never, so that the guard waits for its answer.
    fn slow(&self, host: usize) -> Agent {
        let sleeps = self.hook("sleeps", "exec sleep 120");
        self.agent(host, &["--hook", &sleeps, "--hook-timeout", "10m"])
    }
}

fn client(lab: &ServedLab, at: Option<&str>) -> WritePort {
    let port = connect(&lab.home.path().join("lab.sock"), at).unwrap();
    port.unlock(&WriteToken::for_simulation()).unwrap()
}

fn hands(lab: &ServedLab) -> LiveActuator {
    let mut hands = LiveActuator::new("lab", client(lab, None), ExchangePolicy::default(), Keys::default());
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    hands
}

/// State and who follows, by host.
fn flows(told: &Value) -> Vec<(String, String, String)> {
    let spots = told["hot_spots"].as_array().unwrap();
    let flows = spots.iter().flat_map(|spot| spot["flows"].as_array().unwrap());
    let word = |value: &Value| value.as_str().unwrap().split(' ').next().unwrap().to_owned();
    let mut flows: Vec<_> =
        flows.map(|flow| (word(&flow["name"]), word(&flow["state"]), word(&flow["follows"]))).collect();
    flows.sort();
    flows
}

fn differing(told: &Value) -> usize {
    told["tables"].as_array().unwrap().iter().filter(|table| table["state"] != "as-should").count()
}

/// The hosts whose agents have not said that they followed.
fn silent(row: &Value) -> Vec<&str> {
    let names = row["silent"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().split(' ').next().unwrap()).collect()
}

/// There, confirmed, cooled down, and back: with an agent that has a hook, one that has none, a slow one, one that is killed, one
/// that lies, and a host without any.
#[test]
fn flows_go_to_the_slow_lane_and_come_back_when_their_hot_spot_cools_down() {
    let life = LaneScenario::of(Some(25));
    life.flatten();
    let values = life.lab.home.path().join("values");
    let good = life.hook("good", &format!("env | grep ^FABDECK_ | sort >> {}", values.display()));
    let _first = life.agent(3, &["--hook", &good]);
    let _second = life.agent(4, &[]);
    let slow = life.slow(5);
    let mut dead = life.agent(6, &[]);
    dead.child.kill().unwrap();
    dead.child.wait().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let lying = spawn_host_that_never_moves(life.client(8), Arc::clone(&stop));

    let told = life.propose("life.plan", 2);
    let follows: Vec<_> =
        flows(&told).into_iter().map(|(name, state, follows)| (name, state + " " + &follows)).collect();
    let wanted = SENDERS.map(|host| {
        let follows = if host == 7 { "proposed queries" } else { "proposed agent" };
        (format!("node{host}"), follows.to_owned())
    });
    assert_eq!(follows, wanted, "{told}");
    assert!(told["writes"].as_u64().unwrap() > 20 && differing(&told) > 20, "{told}");
    assert_eq!(life.json(&["lanes", "--json"], 0)["hot_spots"], Value::Array(Vec::new()));

    let said = life.lab.run_to_end(&["apply", "life.plan", "--yes"], 0);
    assert!(
        said.contains("6 flows to node0") && said.contains("5 by their agents, 1 without an agent"),
        "{said}"
    );
    life.assert_hook_values(&values, 3);
    // A false answer is believed, and the fabric shows that it is false; slow and dead agents are named.
    assert_eq!(life.levels(&SENDERS), [1, 1, 0, 0, 0, 0]);
    let row = life.lab.row();
    assert_eq!(silent(&row), ["node5", "node6"], "{row}");
    let said = life.lab.run_to_end(&["changes"], 0);
    assert!(
        said.contains("2 agents have not reported that they followed: node5") && said.contains("node6"),
        "{said}"
    );
    let state = life.json(&["lanes", "--json"], 0);
    // Who did not follow is not on the slow lane: a later plan may take it along.
    let on: Vec<_> = flows(&state).into_iter().map(|(name, state, _)| name + " " + &state).collect();
    assert_eq!(
        (on, differing(&state)),
        ([3, 4, 8].map(|host| format!("node{host} in")).to_vec(), 0),
        "{state}"
    );
    life.lab.run_to_end(&["confirm", &life.id()], 0);

    // The flows can be moved back before the hot-spot cools down too.
    let args = ["lanes", "propose", "--back", "-o", "early.plan", "--json"];
    let early = life.json(&args, 0);
    let cooling = flows(&early).iter().filter(|(_, state, _)| state == "cooling").count();
    assert_eq!((cooling, &early["writes"]), (3, &0.into()), "{early}");

    let cooling = life.has_cooled("back.plan");
    assert_eq!((flows(&cooling).len(), &cooling["writes"]), (3, &0.into()), "{cooling}");
    drop(slow);
    let said = life.lab.run_to_end(&["apply", "back.plan", "--yes"], 0);
    assert!(said.contains("3 flows to node0") && said.contains("back to the fast lane, level 0"), "{said}");
    assert_eq!(life.levels(&SENDERS), [0; 6]);
    assert!(std::fs::read_to_string(&values).unwrap().contains("FABDECK_DIRECTION=fast"));
    life.lab.run_to_end(&["confirm", &life.id()], 0);
    assert!(life.lab.run_to_end(&["lanes"], 0).contains("no flow is on a slow lane"));
    assert_eq!(life.propose("none.plan", 0)["hot_spots"], Value::Array(Vec::new()));
    stop.store(true, Ordering::Relaxed);
    lying.join().unwrap();
}

/// SL2VL and arbitration, of switches and adapters, are byte for byte as before, and flows go back first.
#[test]
fn a_migration_that_is_rolled_back_leaves_nothing_behind() {
    let life = LaneScenario::of(None);
    let before = life.flatten();
    let agents = [3, 8].map(|host| life.agent(host, &[]));
    let told = life.propose("life.plan", 2);
    let writes = told["writes"].as_u64().unwrap() as usize;
    life.lab.run_to_end(&["apply", "life.plan", "--yes"], 0);
    let now = life.dump();
    let changed = before.iter().zip(&now).filter(|(before, now)| before != now);
    let adapters = changed.clone().filter(|((slot, _), _)| matches!(slot.at, DeviceId::Adapter(_))).count();
    assert!(changed.count() == writes && adapters >= 16, "{adapters} of {writes}");
    assert_eq!(life.levels(&[3, 7, 8]), [1, 0, 1]);
    life.lab.run_to_end(&["rollback", &life.id()], 0);
    assert_eq!((life.lab.state(), life.levels(&[3, 7, 8])), ("rolled-back".to_owned(), vec![0; 3]));
    assert_eq!(life.dump(), before);
    assert!(agents.iter().all(|agent| agent.count("moved") == 2));
    assert!(life.lab.run_to_end(&["lanes"], 0).contains("no flow is on a slow lane"));
}

/// kill -9 while the guard waits for answers, there and on the way back: the successor calls hosts back and restores.
#[test]
fn a_guard_killed_while_it_notifies_hosts_has_a_successor_that_calls_them_back() {
    let life = LaneScenario::of(None);
    let before = life.flatten();
    let _agents = [3, 8].map(|host| life.agent(host, &[]));
    let _slow = life.slow(5);
    life.propose("life.plan", 2);
    let mut applying = life.lab.command(&["apply", "life.plan", "--yes"]).spawn().unwrap();
    life.trail_has("notifying", 1);
    // Those that are quick have moved, and the guard waits for the slow one.
    let since = Instant::now();
    while life.levels(&[3, 8]) != [1, 1] {
        assert!(since.elapsed() < Duration::from_secs(4), "{}", life.lab.logs());
    }
    life.lab.kill_guard();
    applying.wait().unwrap();
    assert!(!life.lab.trail().contains("\"what\":\"applied\""), "{}", life.lab.trail());
    life.lab.run_to_end(&["guard", "--resume"], 0);
    // Whose hook runs on has not said that its flows went back.
    life.lab.wait_for_state("incomplete", Duration::from_secs(30));
    assert_eq!((life.levels(&[3, 5, 8]), life.dump() == before), (vec![0; 3], true));
    let left = life.lab.row()["left"].clone();
    assert!(
        left.as_array().unwrap().len() == 1 && left[0]["what"].as_str().unwrap().contains("node5"),
        "{left}"
    );
    assert!(flows(&life.json(&["lanes", "--json"], 2)).iter().all(|(name, ..)| name == "node5"));

    let _other = life.slow(6);
    life.propose("life.plan", 2);
    life.lab.run_to_end(&["apply", "life.plan", "--yes"], 0);
    assert_eq!(life.levels(&[3, 8]), [1, 1]);
    let mut back = life.lab.command(&["rollback", &life.id()]).spawn().unwrap();
    // Two of the first change, one of this, and now its way back.
    life.trail_has("notifying", 4);
    life.lab.kill_guard();
    let _ = Command::new("kill").arg(back.id().to_string()).status();
    back.wait().unwrap();
    life.lab.run(&["guard", "--resume"]);
    life.lab.wait_for_state("incomplete", Duration::from_secs(30));
    assert_eq!((life.levels(&[3, 5, 8]), life.dump() == before), (vec![0; 3], true));
}

/// Another tool rewrites SL2VL while flows are on the slow lane: `lanes` reports it, and the proposed plan writes what is
/// missing and moves no flow.
#[test]
fn tables_of_flows_on_the_slow_lane_are_put_right_by_a_plan() {
    let life = LaneScenario::of(None);
    let _agents = SENDERS.map(|host| life.agent(host, &[]));
    life.propose("life.plan", 0);
    life.lab.run_to_end(&["apply", "life.plan", "--yes"], 0);
    life.lab.run_to_end(&["confirm", &life.id()], 0);
    let right = life.dump();
    life.flatten();
    let wrong = differing(&life.json(&["lanes", "--json"], 2));
    assert!(wrong > 20, "{wrong}");
    // Right after the tables were rewritten, packets of the earlier lanes are still under way: on a busy machine an
    // interval may show a hot-spot that cools.
    let corrected = "no flow: tables on the paths of flows on the slow lane are corrected";
    let mut said = Vec::new();
    while !said.last().is_some_and(|last: &String| last.contains(corrected)) {
        assert!(said.len() < 10, "{}", said.join("\n"));
        let ended = life.lab.run(&["lanes", "propose", "--interval", "1s"]);
        assert!(matches!(ended.status.code(), Some(0 | 2)), "{ended:?}");
        said.push(String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap());
    }
    let told = life.propose("repair.plan", 0);
    assert!(told["writes"].as_u64().unwrap() >= wrong as u64, "{told}");
    let said = life.lab.run_to_end(&["plan", "show", "repair.plan"], 0);
    assert!(said.contains("no flow: tables"), "{said}");
    assert!(said.contains("there is no credit loop on any lanes"), "{said}");
    life.lab.run_to_end(&["apply", "repair.plan", "--yes"], 0);
    life.lab.run_to_end(&["confirm", &life.id()], 0);
    assert_eq!(differing(&life.json(&["lanes", "--json"], 0)), 0);
    assert_eq!(life.levels(&[3, 8]), [1, 1]);
    // Tables that no flow to the hot-spot passes stay as they were rewritten.
    assert_ne!(life.dump(), right);
    assert_eq!(life.propose("none.plan", 0)["plan"], Value::Null);
    assert!(life.lab.run_to_end(&["apply", "repair.plan", "--yes"], 0).contains("nothing to do"));
}

/// A fabric whose fast lane has a credit loop already: that is a finding of the certificate, and the moves add none.
#[test]
fn a_credit_loop_that_existed_before_does_not_make_the_transition_unsafe() {
    let life = LaneScenario::on("sim:torus,dims=9,story=heat.story", None);
    life.flatten();
    life.propose("life.plan", 2);
    let refused = life.lab.run_to_end(&["apply", "life.plan", "--yes"], 4);
    assert!(refused.contains("--accept cycle") && !refused.contains("transition"), "{refused}");
    life.lab.run_to_end(&["apply", "life.plan", "--yes", "--accept", "cycle"], 0);
    life.lab.run_to_end(&["confirm", &life.id()], 0);
    life.lab.run_to_end(&["lanes"], 0);
}
