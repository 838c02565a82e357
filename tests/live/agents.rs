//! Agents over ibsim, with OpenSM forwarding notices. The tests check who is subscribed (by OpenSM's own records),
//! who follows, and that an unreachable agent disturbs nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_fabric::{Guid, Lid, NodeKind, ServiceLevel};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator, LiveSource, open_adapter};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{Actuator, NoObserver, ObservedFabric, ReadOptions, Source, Surveyor, WriteToken};
use serde_json::{Value, json};

use crate::ibsim::{self, Stage};

const PATIENCE: Duration = Duration::from_secs(60);
/// Environment variable for the sending process: LIDs, with the hot-spot's as the last.
const TELLS: &str = "FABDECK_TEST_TELLS";

/// The sending process over ibsim: asks who is subscribed, sends notices to all LIDs but the last, and asks for the
/// outcome.
#[test]
fn notices_of_a_process() {
    let Ok(words) = std::env::var(TELLS) else { return };
    let lids: Vec<Lid> = words.split(',').map(|lid| Lid::new(lid.parse().unwrap()).unwrap()).collect();
    let (hot_spot, whom) = lids.split_last().unwrap();
    let subscribed = {
        let port = open_adapter(None, None).unwrap();
        let mut source = LiveSource::new("umad", port, ExchangePolicy::default(), Keys::default());
        source.observe(ReadOptions::default(), &mut NoObserver).unwrap();
        source.find_agents(&lids).unwrap()
    };
    let port = open_adapter(None, None).unwrap();
    let begun = BTreeSet::from([Guid(1)]);
    let guid = fabdeck_mad::access::MadPort::local_port(&port).guid;
    let token = WriteToken::for_rollback(
        &begun,
        &ObservedFabric { switches: begun.clone(), port: guid, ..ObservedFabric::default() },
    );
    let port = port.unlock(&token.unwrap()).unwrap();
    let mut teller = LiveActuator::new("umad", port, ExchangePolicy::default(), Keys::default());
    teller.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    let level = ServiceLevel::new(1).unwrap();
    let told = PathNotice { hot_spot: Some(*hot_spot), level, back: false, number: 77, hosts: whom.to_vec() };
    let begun = Instant::now();
    let followed = teller.notify(&[told], whom, Duration::from_secs(4)).unwrap();
    let followed: Vec<u16> = followed.iter().map(|lid| lid.value()).collect();
    let told =
        json!({ "subscribed": subscribed, "followed": followed, "ms": begun.elapsed().as_millis() as u64 });
    fs::write("told.json", told.to_string()).unwrap();
}

pub fn wait_for_event(out: &Path, event: &str) -> Value {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(out).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let all: Vec<Value> = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if let Some(found) = all.iter().rfind(|told| told["event"] == event) {
            return found.clone();
        }
        assert!(begun.elapsed() < PATIENCE, "no {event}: {text}");
        sleep(Duration::from_millis(20));
    }
}

pub fn hook(stage: &Stage, name: &str, script: &str) -> String {
    let file = stage.folder.path().join(name);
    fs::write(&file, format!("#!/bin/sh\nunset LD_PRELOAD\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    file.display().to_string()
}

pub fn agent(stage: &Stage, host: Guid, args: &[&str]) -> (Child, std::path::PathBuf) {
    let folder = stage.folder.path().join(format!("host-{:x}", host.0));
    fs::create_dir_all(&folder).unwrap();
    let out = folder.join("out");
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    // Over ibsim, reports reach only processes that pose as subnet managers.
    command.current_dir(&folder).env("SIM_HOST", format!("H-{:016x}", host.0)).env("SIM_SET_ISSM", "1");
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, &folder);
    }
    command.args(["--json", "--source", "umad", "agent"]).args(args);
    command.stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap());
    let child = command.stderr(fs::File::create(folder.join("err")).unwrap()).spawn().unwrap();
    wait_for_event(&out, "subscribed");
    (child, out)
}

#[test]
fn opensm_passes_notices_on_and_agents_that_are_there_follow() {
    let fabric = ibsim::fabric("kary,k=4,n=2");
    let stage = Stage::play(&fabric);
    let alone = stage.folder.path().join("alone.conf");
    fs::write(&alone, "max_smps_timeout 600000\nignore_other_sm TRUE\n").unwrap();
    let _manager = stage.opensm_stays(&["-R", "minhop", "-F", &alone.display().to_string()]);
    let adapters = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let hosts: Vec<Guid> = adapters.map(|(_, node)| node.guid()).collect();
    let lids = stage.run("saquery", "infiniband-diags", &["-N"]);
    println!("{}", lids.lines().take(3).collect::<Vec<_>>().join(" "));
    let seen = stage.folder.path().join("seen");
    let good = hook(&stage, "good", &format!("env | grep ^FABDECK_ | sort > {}", seen.display()));
    let sleeper = stage.folder.path().join("sleeper");
    let endless = hook(&stage, "endless", &format!("echo $$ > {}; exec sleep 600", sleeper.display()));
    let (mut one, out) = agent(&stage, hosts[3], &["--hook", &good]);
    let (mut slow, _) = agent(&stage, hosts[5], &["--hook", &endless]);
    let (mut dead, _) = agent(&stage, hosts[9], &["--hook", &good]);
    dead.kill().unwrap();
    dead.wait().unwrap();
    let lid = |host: Guid| -> u16 {
        let said =
            stage.run("smpquery", "infiniband-diags", &["-G", "portinfo", &format!("0x{:x}", host.0 + 1)]);
        let line = said.lines().find(|line| line.starts_with("Lid:")).unwrap();
        line.trim_start_matches("Lid:").trim_matches('.').parse().unwrap()
    };
    // Hosts with an agent, a slow agent, a dead agent, and none; then the hot-spot.
    let named = [hosts[3], hosts[5], hosts[9], hosts[11], hosts[14]].map(lid);
    let words: Vec<String> = named.iter().map(ToString::to_string).collect();
    let mut command = stage.command(std::env::current_exe().unwrap());
    let folder = stage.folder.path().join("teller");
    fs::create_dir_all(&folder).unwrap();
    command
        .env("SIM_HOST", format!("H-{:016x}", hosts[7].0))
        .env(TELLS, words.join(","))
        .current_dir(&folder);
    command.args(["--exact", "agents::notices_of_a_process", "--nocapture"]);
    let ended = ibsim::finish(command);
    assert!(ended.status.success(), "{ended:?}");
    let told: Value = serde_json::from_slice(&fs::read(folder.join("told.json")).unwrap()).unwrap();
    println!("{told}");
    assert_eq!(told["followed"], json!([named[0]]), "{told}");
    assert_eq!(told["subscribed"], json!([true, true, true, false, false]), "{told}");
    wait_for_event(&out, "moved");
    let found = fs::read_to_string(&seen).unwrap();
    assert!(found.contains(&format!("FABDECK_HOT_SPOT_LID={}\n", named[4])), "{found}");
    assert!(found.contains(&format!("FABDECK_LID={}\n", named[0])), "{found}");
    // OpenSM still works, and handles the unsubscription.
    let id = rustix::process::Pid::from_child(&one);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    one.wait().unwrap();
    assert_eq!(
        (&wait_for_event(&out, "ended")["writes"], &wait_for_event(&out, "ended")["heard"]),
        (&0.into(), &1.into())
    );
    wait_for_event(&out, "unsubscribed");
    slow.kill().unwrap();
    slow.wait().unwrap();
    // The hook of the killed agent still runs.
    let left = fs::read_to_string(&sleeper).unwrap().trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    assert!(stage.run("sminfo", "infiniband-diags", &[] as &[&str]).contains("SMINFO_MASTER"));
}
