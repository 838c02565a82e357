//! Levels in turns: packets spread over lanes, whatever the routes say of lanes.

use std::sync::Arc;

use fabdeck_fabric::{Fabric, Faults, LinkSpeed, PortId, Tables};
use fabdeck_routing::Problem;
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficError, TrafficLoad, TrafficPattern, TrafficRun,
    TrafficSettings,
};

use super::test_bed::TestBed;
use crate::routing::{fabric, route};

fn run_in_turns(fabric: &Fabric, pattern: TrafficPattern, count: u8) -> Result<TrafficRun, TrafficError> {
    let faults = Faults::new();
    let given = NetworkSetup {
        fabric,
        faults: &faults,
        routes: &Arc::new(route("ftree", &Problem::new(fabric, &faults)).unwrap().routes),
        service: &LevelSelection::InTurns { count },
        tables: &Tables::default(),
    };
    TrafficRun::new(given, &TrafficLoad { pattern, settings: TrafficSettings::default() })
}

#[test]
fn packets_use_all_lanes_alike_and_no_other() {
    let tree = fabric("kary,k=3,n=2");
    let mut run = run_in_turns(&tree, TrafficPattern::Uniform, 1).unwrap();
    let hosts: Vec<PortId> = run.end_counts().iter().map(|end| end.port).collect();
    run.advance(100_000);
    assert_eq!(run.lane_hops().len(), 1);
    let ring = (0..9).map(|at| Flow::new(hosts[at], hosts[(at + 4) % 9])).collect();
    let spots = TrafficPattern::centric();
    // A shift exchange of three-packet messages to eight hosts: 24 packets, six on each of four lanes.
    let shift = TrafficPattern::Shift { packets: 3, shifts: None };
    for (pattern, count) in
        [(TrafficPattern::Uniform, 4u8), (spots, 2), (TrafficPattern::Flows(ring), 3), (shift, 4)]
    {
        let mut run = run_in_turns(&tree, pattern.clone(), count).unwrap();
        run.advance(200_000);
        run.audit().unwrap();
        let hops = run.lane_hops();
        assert_eq!(hops.len(), usize::from(count), "{pattern:?}: {hops:?}");
        let share = 1.0 / f64::from(count);
        let all: u64 = hops.iter().sum();
        assert!(
            hops.iter().all(|hops| (*hops as f64 / all as f64 - share).abs() < 0.1 * share),
            "{pattern:?}: {hops:?}"
        );
    }
}

#[test]
fn more_levels_than_the_cables_have_lanes_are_refused() {
    let bed = TestBed::with_lanes(2, LinkSpeed::Ddr, false, Some(4));
    for (count, fits) in [(0, false), (1, true), (4, true), (5, false)] {
        let built = run_in_turns(&bed.fabric, TrafficPattern::Uniform, count);
        let refused = matches!(built, Err(TrafficError::Setting { what: "the lanes to spread over", .. }));
        assert_eq!(refused, !fits, "{count}");
    }
}
