//! Sweeps over ibsim: counters that are set on its console during a watch become a hot-spot, a waiting host, and an
//! errored cable. They still have their values afterwards, because nothing clears them.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use fabdeck_fabric::{Fabric, Guid, NodeKind, PortId};
use serde_json::Value;

use crate::discovery::fabdeck;
use crate::ibsim::{self, Stage};

/// Cables of hosts: the adapter's port and the switch's port.
pub fn hosts(fabric: &Fabric) -> Vec<(PortId, PortId)> {
    let adapter = |port: PortId| fabric.node(fabric.port(port).node).facts.kind == NodeKind::ChannelAdapter;
    let cabled = fabric.ports().filter_map(|(id, port)| Some((id, port.peer?)));
    cabled.filter(|(id, _)| adapter(*id)).collect()
}

/// Name of a port on ibsim's console, and in fabdeck.
pub fn names(fabric: &Fabric, port: PortId) -> (String, (String, String)) {
    let port = fabric.port(port);
    let node = fabric.node(port.node);
    let kind = if node.is_switch() { 'S' } else { 'H' };
    let console = format!("\"{kind}-{:016x}\"[{}]", node.guid().0, port.number);
    (console, (node.guid().to_string(), format!("[{}]", port.number)))
}

#[test]
fn counters_that_rise_under_ibsim_become_a_verdict() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    stage.opensm(&["-R", "minhop"]);
    let hosts = hosts(&fabric);
    let (hot, held) = (names(&fabric, hosts[5].1), names(&fabric, hosts[2].0));
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "--json", "-v", "hotspots", "--interval", "3s", "--count", "3"]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let watching =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By then the first sweep is done, and the last one is not.
    sleep(Duration::from_secs(4));
    for (port, field, value) in [
        (&hot.0, "PortXmitWait", 9_000_000),
        (&held.0, "PortXmitWait", 4_000_000),
        (&hot.0, "SymbolErrorCounter", 40),
    ] {
        stage.console(&format!("PerformanceSet {port} PortCounters.{field}={value}"), "has been set to");
    }
    let output = watching.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains(" sent in total, 0 of them able to write"), "{talk}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sweeps = answer["sweeps"].as_array().unwrap();
    // The commands run one after the other, so they may fall into two intervals.
    let of = |key: &str| -> Vec<&Value> {
        sweeps.iter().flat_map(|sweep| sweep[key].as_array().unwrap()).collect()
    };
    let is = |row: &Value, (guid, number): &(String, String)| {
        row["guid"] == guid.as_str() && row["port"].as_str().unwrap().ends_with(number.as_str())
    };
    let hotspots = of("hotspots");
    assert!(hotspots.len() == 1 && is(hotspots[0], &hot.1), "{answer}");
    let ticks = hotspots[0]["ticks_per_second"].as_f64().unwrap();
    // A sweep can read a port slightly earlier than the one before did, so its interval differs slightly from that of
    // the sweeps.
    assert!((1_500_000.0..=3_300_000.0).contains(&ticks), "{ticks}");
    let waiting = of("waiting_adapters");
    assert!(waiting.len() == 1 && is(waiting[0], &held.1), "{answer}");
    // All cables that ibsim plays run below their best rate, so degraded links are ignored.
    let all = sweeps[2]["links"].as_array().unwrap().iter();
    let links: Vec<_> = all.filter(|link| link["why"] != "degraded").collect();
    assert!(links.len() == 1 && links[0]["why"] == "errored" && links[0]["per_hour"] == 40.0, "{answer}");
    assert!(of("untold").is_empty() && of("on_the_path").is_empty() && of("cleared").is_empty(), "{answer}");
    // Nothing was cleared.
    let fields = ["show", "counters", "--fields", "guid,port,PortXmitWait,SymbolErrorCounter"];
    let (shown, _) = fabdeck(&stage, &fields, 0);
    let here = |row: &&Value| row["guid"] == hot.1.0.as_str() && format!("[{}]", row["port"]) == hot.1.1;
    let row = shown["rows"].as_array().unwrap().iter().find(here).unwrap();
    assert_eq!((&row["PortXmitWait"], &row["SymbolErrorCounter"]), (&9_000_000.into(), &40.into()), "{row}");
    println!("{ticks:.0} ticks/s at {}", hotspots[0]["port"]);
}

/// A cable is pulled while OpenSM is in charge: the next sweep reports the link, and OpenSM's changes to the tables
/// as drift.
#[test]
fn a_link_that_goes_down_under_ibsim_is_reported_with_what_opensm_makes_of_it() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    let _manager = stage.opensm_stays(&["-R", "minhop"]);
    let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id)).unwrap();
    let ends = fabric.link(link);
    let (a, b) = (names(&fabric, ends.a), names(&fabric, ends.b));
    let config = stage.folder.path().join("config.toml");
    std::fs::write(&config, "[watch]\ndrift_period = \"2s\"\n").unwrap();
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.arg("--config").arg(&config);
    command.args(["--source", "umad", "--json", "-v", "hotspots", "--interval", "4s", "--count", "4"]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let watching =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By then the second sweep is done, which read all tables.
    sleep(Duration::from_secs(6));
    stage.console(&format!("Unlink {}", a.0), "");
    let output = watching.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains(" sent in total, 0 of them able to write"), "{talk}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let news = |what: &str| -> Vec<Value> {
        let sweeps = answer["sweeps"].as_array().unwrap().iter();
        let all = sweeps.flat_map(|sweep| sweep["news"].as_array().unwrap().clone());
        all.filter(|news| news["what"] == what).collect()
    };
    let down = news("link-down");
    assert_eq!(down.len(), 1, "{answer}");
    let guids: Vec<&str> =
        down[0]["ports"].as_array().unwrap().iter().map(|end| end["guid"].as_str().unwrap()).collect();
    assert_eq!(guids, [a.1.0.as_str(), b.1.0.as_str()], "{answer}");
    let drift = news("table-drift");
    assert!(
        !drift.is_empty(),
        "OpenSM routed around the link, and no table is answer to be another: {answer}"
    );
    assert!(drift.iter().all(|news| news["drift"]["manager_lid"].is_u64()), "{answer}");
    println!("{} switches drifted: {}", drift.len(), drift[0]["text"]);
}

/// Of two OpenSMs the master ends and the other takes over; the watch reports both and their ports. OpenSM may take
/// longer to take over than the watch lasts; then the whole is done again.
#[test]
fn another_opensm_that_takes_over_under_ibsim_is_reported() {
    let (standby, managers) = (0..3).find_map(|_| watch_a_takeover()).expect("OpenSM does not take over");
    let (before, now) =
        (&managers.first().unwrap()["manager"]["before"], &managers.last().unwrap()["manager"]["now"]);
    let guid = |manager: &Value| manager["guid"].as_str().map(str::to_owned);
    assert_eq!(guid(now), Some(format!("0x{:016x}", standby.0 + 1)), "{managers:?}");
    assert!(
        now["state"] == "MASTER" && now["lid"] != before["lid"] && guid(before).is_some(),
        "{managers:?}"
    );
    managers.iter().for_each(|news| println!("{}", news["text"]));
}

/// The node of the OpenSM that waits, and what the watch reported of subnet managers; none if the OpenSM that waits
/// was not in charge two sweeps before the end of the watch.
fn watch_a_takeover() -> Option<(Guid, Vec<Value>)> {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let stage = Stage::play(&fabric);
    let first = stage.opensm_stays(&["-R", "minhop"]);
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let standby = hosts.map(|(_, node)| node.guid()).nth(6).unwrap();
    let _second = stage.opensm_waits(standby);
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "--json", "-v", "hotspots", "--interval", "3s", "--count", "7"]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let watching =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By then the first sweep is done.
    sleep(Duration::from_secs(2));
    drop(first);
    sleep(Duration::from_secs(11));
    let log = std::fs::read_to_string(stage.folder.path().join("waiting/opensm.log")).unwrap();
    let took_over = log.contains("Entering MASTER state");
    let output = watching.wait_with_output().unwrap();
    if !took_over {
        println!("OpenSM still waits after 11 seconds: {log}");
        return None;
    }
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains(" sent in total, 0 of them able to write"), "{talk}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sweeps = report["sweeps"].as_array().unwrap().iter();
    let all = sweeps.flat_map(|sweep| sweep["news"].as_array().unwrap().clone());
    Some((standby, all.filter(|news| news["what"] == "manager-changed").collect()))
}

/// The tick is what ibsim reports, or unknown if it reports none.
#[test]
fn ticks_under_ibsim_are_what_it_says_or_unknown() {
    let stage = Stage::play(&ibsim::fabric("kary,k=2,n=2"));
    let _manager = stage.opensm_stays(&["-R", "minhop"]);
    sleep(Duration::from_secs(1));
    let (shown, _) = fabdeck(&stage, &["show", "counters", "--fields", "guid,port,tick_ps"], 0);
    let rows = shown["rows"].as_array().unwrap();
    let ticks: std::collections::BTreeSet<Option<u64>> =
        rows.iter().map(|row| row["tick_ps"].as_u64()).collect();
    println!("{ticks:?}");
    assert!(!rows.is_empty() && shown["notes"].as_array().unwrap().is_empty(), "{shown}");
    // The subnet manager is still in charge.
    let said = stage.run("sminfo", "infiniband-diags", &["-t", "2000"]);
    assert!(said.contains("SMINFO_MASTER"), "{said}");
}
