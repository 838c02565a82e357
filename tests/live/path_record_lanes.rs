//! Lanes by path records of a real OpenSM: on a ring, with an engine that uses lanes and one that does not.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::adapters::tool_lines;
use crate::ibsim::{self, Stage};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::Faults;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource, open_adapter};
use fabdeck_mad::access::{LevelReadOptions, LevelReadOutcome, NoObserver, ReadOptions, Source};
use fabdeck_routing::NoProgress;

/// Environment variable with the part that the process over ibsim runs; it is unset elsewhere.
const PART: &str = "FABDECK_SERVED_PART";

/// The process over ibsim. Without a part it does nothing.
#[test]
fn served() {
    let Ok(part) = std::env::var(PART) else { return };
    // The test harness has begun a line.
    println!();
    let port = open_adapter(None, None).unwrap();
    let mut source = LiveSource::new("umad", port, ExchangePolicy::default(), Keys::default());
    let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
    let asked = LevelReadOptions { every: part == "exact", ..LevelReadOptions::default() };
    // A manager is master before it has set up the fabric and answers path queries.
    let begun = Instant::now();
    let (observation, read) = loop {
        let mut observation = source.observe(wanted, &mut NoObserver).unwrap();
        match source.read_levels(&mut observation, None, asked, &mut NoObserver).unwrap() {
            LevelReadOutcome::Read(read) if read.without_path == 0 && read.asked > 0 => {
                break (observation, read);
            }
            other => assert!(begun.elapsed() < Duration::from_secs(10), "{other:?}"),
        }
        sleep(Duration::from_millis(100));
    };
    assert_eq!(source.port().traffic().write_count(), 0);
    println!("said: asked {}, unsaid {}, differing {}", read.asked, read.without_path, read.differing);
    let look = Snapshot::new("umad", observation, &Default::default());
    let tables = &look.observation.tables;
    let sent = LevelsInForce::Records { levels: &read.levels, every: read.every };
    let report = check_in_force(&look, tables, &Faults::default(), false, sent, &NoProgress).unwrap();
    println!("said: {:?} {} {}", report.deadlock_free, report.lanes, report.lanes_from);
    println!("said: limits {:?} untold {}", report.lane_limits, report.untold_switches);
}

fn judge(name: &str, part: &str, engine: &[&str]) -> Vec<String> {
    let stage = Stage::play(&ibsim::fabric(name));
    judge_on(&stage, name, part, engine)
}

fn judge_on(stage: &Stage, name: &str, part: &str, engine: &[&str]) -> Vec<String> {
    let fabric = ibsim::fabric(name);
    let _manager = stage.opensm_stays(engine);
    let mut command = stage.command(std::env::current_exe().unwrap());
    // ibsim delivers datagrams of a port to one client there, so this process runs at another host than the manager.
    let (_, host) = fabric.nodes().filter(|(_, node)| !node.is_switch()).last().unwrap();
    command.env("SIM_HOST", format!("H-{:016x}", host.guid().0));
    command.args(["--exact", "path_record_lanes::served", "--nocapture"]).env(PART, part);
    let said = tool_lines(ibsim::finish(command));
    println!("{name} {engine:?}: {said:?}");
    said
}

#[test]
fn lanes_by_path_records_tell_a_ring_that_is_free_from_one_that_is_not() {
    for name in ["torus,dims=5", "torus,dims=6"] {
        for (part, from) in [("sampled", "path records, sampled"), ("exact", "path records, every pair")] {
            let free = judge(name, part, &["-R", "dfsssp", "-Q"]);
            let verdict: Vec<&str> = free[1].splitn(3, ' ').collect();
            assert_eq!((verdict[0], verdict[2]), ("Some(true)", from), "{free:?}");
            assert!(verdict[1].parse::<u8>().unwrap() >= 2, "{free:?}");
            assert!(free[0].contains("unsaid 0"), "{free:?}");
        }
        let stuck = judge(name, "sampled", &["-R", "minhop", "-Q"]);
        assert!(stuck[1].starts_with("Some(false) 1 "), "{stuck:?}");
    }
}

/// The torus of [`TORUS`], given by the switches around its first.
const TORUS_CONF: &str = "\
torus 4 5 1
xp_link 0x2c90100000000 0x2c90100000005
xm_link 0x2c90100000000 0x2c9010000000f
yp_link 0x2c90100000000 0x2c90100000001
ym_link 0x2c90100000000 0x2c90100000004
";
const TORUS: &str = "torus,dims=4x5,terminals=1";

/// OpenSM's torus-2QoS changes lanes on the way. Its tables have a credit loop on one lane, and none on the lanes that its
/// SL2VL tables give the levels of path records.
#[test]
fn lanes_of_torus_2qos_are_followed_hop_by_hop() {
    let fabric = ibsim::fabric(TORUS);
    for (part, from) in [("sampled", "path records, sampled"), ("exact", "path records, every pair")] {
        let stage = Stage::play(&fabric);
        let file = stage.folder.path().join("torus-2QoS.conf");
        std::fs::write(&file, TORUS_CONF).unwrap();
        let file = file.display().to_string();
        let said = judge_on(&stage, TORUS, part, &["-R", "torus-2QoS", "-Q", "--torus_config", &file]);
        let verdict: Vec<&str> = said[1].splitn(3, ' ').collect();
        assert_eq!((verdict[0], verdict[2]), ("Some(true)", from), "{said:?}");
        assert!(verdict[1].parse::<u8>().unwrap() >= 2, "{said:?}");
        assert!(said[0].contains("unsaid 0") && said[2] == "limits [] untold 0", "{said:?}");
    }
}
