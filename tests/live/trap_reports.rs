//! Traps that OpenSM reports over ibsim to subscribers: OpenSM reports a host whose cable is pulled as out of
//! service.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use fabdeck_fabric::NodeKind;
use serde_json::Value;

use crate::ibsim::{self, Stage};

#[test]
fn a_host_that_goes_under_ibsim_is_reported_by_opensm() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let mut stage = Stage::play(&fabric);
    // Over ibsim a subscriber has to pose as a subnet manager. OpenSM would query such a manager and wait for its
    // answer without end, so its configuration makes it ignore others.
    let alone = stage.folder.path().join("alone.conf");
    std::fs::write(&alone, "max_smps_timeout 600000\nignore_other_sm TRUE\n").unwrap();
    let _manager = stage.opensm_stays(&["-R", "minhop", "-F", &alone.display().to_string()]);
    let hosts: Vec<_> = fabric
        .nodes()
        .filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter)
        .map(|(_, node)| node.guid())
        .collect();
    let (seat, gone) = (hosts[6], hosts[11]);
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    // OpenSM runs at the first host, and ibsim would deliver reports for that host to OpenSM.
    command.env("SIM_HOST", format!("H-{:016x}", seat.0)).env("SIM_SET_ISSM", "1");
    command.args([
        "--source",
        "umad",
        "--traps",
        "--json",
        "-v",
        "hotspots",
        "--interval",
        "5s",
        "--count",
        "3",
    ]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let watching =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // By then the first sweep is done, and with it the subscription.
    sleep(Duration::from_secs(2));
    stage.console(&format!("Unlink \"H-{:016x}\"[1]", gone.0), "");
    let output = watching.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains(" sent in total, 0 of them able to write"), "{talk}");
    assert!(talk.contains("traps: 2 Sets of InformInfo to the subnet manager"), "{talk}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sweeps = told["sweeps"].as_array().unwrap().iter();
    let all: Vec<Value> = sweeps.flat_map(|sweep| sweep["news"].as_array().unwrap().clone()).collect();
    let traps = |number: u64| all.iter().filter(move |news| news["trap"]["number"] == number);
    let name = gone.to_string();
    let out: Vec<&Value> = traps(65).collect();
    assert_eq!(out.len(), 1, "{all:?}\n{talk}");
    assert_eq!((&out[0]["guid"], &out[0]["trap"]["producer"]), (&name.as_str().into(), &"manager".into()));
    assert_eq!(out[0]["trap"]["port_guid"], format!("0x{:016x}", gone.0 + 1), "{out:?}");
    println!("{}", out[0]["text"]);
    traps(128).for_each(|news| println!("{}", news["text"]));
    assert!(traps(128).next().is_some(), "the switch's own trap is passed on: {all:?}");
}
