//! The evaluation of the multiple LID paper (section 5): its fabrics, its hardware and its traffic.

use std::sync::Arc;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Faults, Routes, Tables};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use fabdeck_simulator::traffic::{
    LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

/// Bytes of a packet on the wire, all headers included.
const PACKET_BYTES: f64 = 32.0;

/// A fabric of table 1 under the routes of an engine.
pub struct PaperFabric {
    fabric: Fabric,
    routes: Arc<Routes>,
}

/// What a run measures.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaperPoint {
    /// Bytes a nanosecond and host.
    pub accepted: f64,
    /// From the head of the send queue on; what a host holds back does not count.
    pub latency_ns: u64,
}

/// How long traffic fills the fabric, and how long it is measured after that.
#[derive(Clone, Copy)]
pub struct PaperTimes {
    pub warm_up_ns: u64,
    pub measured_ns: u64,
}

/// Links of one physical lane carry 4 ns a byte, as the paper has it.
pub fn paper_fabric(name: &str) -> Fabric {
    let spec: FabricSpec = format!("{name},speed=SDR,width=1x").parse().unwrap();
    generate(&spec).unwrap().fabric
}

impl PaperFabric {
    pub fn new(name: &str, engine: &str) -> Self {
        let fabric = paper_fabric(name);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine(engine).unwrap().route)(&problem, &Request::default(), &NoProgress);
        Self { routes: Arc::new(routes.unwrap().routes), fabric }
    }

    /// Traffic at an offered load, on this number of lanes.
    pub fn measure(
        &self,
        pattern: &TrafficPattern,
        lanes: u8,
        (load, seed): (f64, u64),
        times: PaperTimes,
    ) -> PaperPoint {
        let given = NetworkSetup {
            fabric: &self.fabric,
            faults: &Faults::default(),
            routes: &self.routes,
            service: &LevelSelection::InTurns { count: lanes },
            tables: &Tables::default(),
        };
        // 26 bytes of headers and checksums make 32; buffers of one packet at the input and at the output.
        let settings = TrafficSettings {
            payload: 6,
            buffer: 32,
            output_buffer: 1,
            load,
            seed,
            ..TrafficSettings::default()
        };
        let load = TrafficLoad { pattern: pattern.clone(), settings };
        let mut run = TrafficRun::new(given, &load).unwrap();
        run.advance(times.warm_up_ns);
        run.begin_measuring();
        run.advance(times.warm_up_ns + times.measured_ns);
        let ends = run.end_counts();
        let taken: u64 = ends.iter().map(|end| end.taken).sum();
        let accepted = taken as f64 * PACKET_BYTES / times.measured_ns as f64 / ends.len() as f64;
        PaperPoint { accepted, latency_ns: run.latency().mean }
    }
}
