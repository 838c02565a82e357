//! Lanes by path records of a real OpenSM: on a ring, with an engine that uses lanes and one that does not.

use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck::session::{Look, Sent, check_in_force};
use fabdeck_fabric::Faults;
use fabdeck_live::{Keys, LiveSource, Policy, open_adapter};
use fabdeck_mad::access::{LevelsRead, LevelsWanted, Source, Unwatched, Wanted};
use fabdeck_routing::NoPulse;

use crate::adapters::said;
use crate::stage::{self, Stage};

/// Environment variable with the part that the process over ibsim runs; it is unset elsewhere.
const PART: &str = "FABDECK_SERVED_PART";

/// The process over ibsim. Without a part it does nothing.
#[test]
fn served() {
    let Ok(part) = std::env::var(PART) else { return };
    // The test harness has begun a line.
    println!();
    let port = open_adapter(None, None).unwrap();
    let mut source = LiveSource::new("umad", port, Policy::default(), Keys::default());
    let wanted = Wanted { tables: true, lanes: true, ..Wanted::default() };
    let asked = LevelsWanted { every: part == "exact", ..LevelsWanted::default() };
    // A manager is master before it has set up the fabric and answers path queries.
    let begun = Instant::now();
    let (observation, read) = loop {
        let mut observation = source.observe(wanted, &mut Unwatched).unwrap();
        match source.read_levels(&mut observation, asked, &mut Unwatched).unwrap() {
            LevelsRead::Read(read) if read.unsaid == 0 && read.asked > 0 => break (observation, read),
            other => assert!(begun.elapsed() < Duration::from_secs(10), "{other:?}"),
        }
        sleep(Duration::from_millis(100));
    };
    assert_eq!(source.port().traffic().writes(), 0);
    println!("said: asked {}, unsaid {}, differing {}", read.asked, read.unsaid, read.differing);
    let look = Look::new("umad", observation, &Default::default());
    let tables = &look.observation.tables;
    let sent = Sent::Records { levels: &read.levels, every: read.every };
    let report = check_in_force(&look, tables, &Faults::default(), false, sent, &NoPulse).unwrap();
    println!("said: {:?} {} {}", report.deadlock_free, report.lanes, report.lanes_from);
    println!("said: limits {:?} untold {}", report.lane_limits, report.untold_switches);
}

fn judge(name: &str, part: &str, engine: &[&str]) -> Vec<String> {
    let fabric = stage::fabric(name);
    let stage = Stage::play(&fabric);
    let _manager = stage.opensm_stays(engine);
    let mut command = stage.command(std::env::current_exe().unwrap());
    // ibsim delivers datagrams of a port to one client there, so this process runs at another host than the manager.
    let (_, host) = fabric.nodes().filter(|(_, node)| !node.is_switch()).last().unwrap();
    command.env("SIM_HOST", format!("H-{:016x}", host.guid().0));
    command.args(["--exact", "served::served", "--nocapture"]).env(PART, part);
    let said = said(stage::finish(command));
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
