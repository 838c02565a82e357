//! The test bed of the dFtree paper (figure 3) and its four experiments: three leaves with two cables each to one root.

use std::sync::Arc;

use fabdeck_fabric::{
    ElementId, Fabric, FabricBuilder, Faults, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeKind, PortId,
    PortNum, Routes, ServiceLevel, Tables,
};
use fabdeck_simulator::traffic::{
    Flow, LevelSelection, NetworkSetup, TrafficLoad, TrafficPattern, TrafficRun, TrafficSettings,
};

/// What the hosts of the paper send at the most, in Mb/s.
pub const HOST_LIMIT: u32 = 12_900;
const LEAVES: u8 = 3;

pub struct TestBed {
    pub fabric: Fabric,
    pub faults: Faults,
    pub routes: Arc<Routes>,
}

impl TestBed {
    /// Two hosts a leaf (figure 3a) or four (3b); cables of hosts are DDR. Odd hosts are reached over the first cable of
    /// their leaf, even ones over the second; with `one_lost` the second cable of leaf A has failed. Ports do not state
    /// their lanes.
    pub fn new(per_leaf: u8, trunk: LinkSpeed, one_lost: bool) -> Self {
        Self::with_lanes(per_leaf, trunk, one_lost, None)
    }

    /// The same with this number of lanes at each port, which limits what buffers hold.
    pub fn with_lanes(per_leaf: u8, trunk: LinkSpeed, one_lost: bool, lanes: Option<u8>) -> Self {
        let fabric = figure_3(per_leaf, trunk, lanes);
        let mut faults = Faults::new();
        if one_lost {
            let port = fabric.port_of(leaf(&fabric, 0), PortNum(per_leaf + 2)).unwrap();
            faults.mark(ElementId::Link(fabric.port(port).link.unwrap()));
        }
        let mut routes = Routes::empty(usize::from(LEAVES) + 1, fabric.top_lid());
        let second = |leaf: u8, host: u8| u8::from(host.is_multiple_of(2) && !(one_lost && leaf == 0));
        for host in 1..=LEAVES * per_leaf {
            let (lid, own) = (Lid::new(host.into()).unwrap(), (host - 1) / per_leaf);
            for at in 0..LEAVES {
                let port = match at == own {
                    true => (host - 1) % per_leaf + 1,
                    false => per_leaf + 1 + second(at, host),
                };
                routes.set(u32::from(at), lid, Some(PortNum(port)));
            }
            routes.set(u32::from(LEAVES), lid, Some(PortNum(2 * own + 1 + second(own, host))));
        }
        Self { fabric, faults, routes: Arc::new(routes) }
    }

    pub fn host(&self, number: u8) -> PortId {
        let node = self.fabric.node_of(NodeKind::ChannelAdapter, host_guid(number)).unwrap();
        self.fabric.port_of(node, PortNum(1)).unwrap()
    }

    pub fn flow(&self, from: u8, to: u8) -> Flow {
        Flow::new(self.host(from), self.host(to))
    }

    pub fn run(&self, flows: Vec<Flow>, settings: TrafficSettings, tables: &Tables) -> TrafficRun {
        let given = NetworkSetup {
            fabric: &self.fabric,
            faults: &self.faults,
            routes: &self.routes,
            service: &LevelSelection::Routes,
            tables,
        };
        TrafficRun::new(given, &TrafficLoad { pattern: TrafficPattern::Flows(flows), settings }).unwrap()
    }

    /// Mb/s of each flow once things have settled.
    pub fn rates(&self, flows: Vec<Flow>, settings: TrafficSettings, tables: &Tables) -> Vec<u64> {
        let mut run = self.run(flows, settings, tables);
        run.advance(300_000);
        run.begin_measuring();
        run.advance(1_300_000);
        assert_eq!(run.find_deadlock(), None);
        run.flow_counts().iter().map(|flow| flow.mbps).collect()
    }
}

/// So far apart that the ports of an adapter can have the next.
fn host_guid(number: u8) -> Guid {
    Guid(0x100 + 0x10 * u64::from(number))
}

fn leaf(fabric: &Fabric, at: u8) -> fabdeck_fabric::NodeId {
    fabric.node_of(NodeKind::Switch, Guid(u64::from(at) + 1)).unwrap()
}

fn figure_3(per_leaf: u8, trunk: LinkSpeed, lanes: Option<u8>) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut switch = |number: u8| {
        let name = ["A", "B", "C", "root"][usize::from(number)];
        let facts = NodeFacts::new(NodeKind::Switch, Guid(u64::from(number) + 1), 36, name);
        let key = builder.add_node(facts).unwrap();
        builder.port(key, PortNum(0)).lid = Lid::new(100 + u32::from(number));
        key
    };
    let switches: Vec<_> = (0..=LEAVES).map(&mut switch).collect();
    let root = switches[usize::from(LEAVES)];
    let mut cable = |a: (_, u8), b: (_, u8), speed| {
        let ends = [(a.0, PortNum(a.1)), (b.0, PortNum(b.1))];
        for (key, port) in ends {
            let facts = builder.port(key, port);
            (facts.speed, facts.width) = (Some(speed), Some(LinkWidth::X4));
            facts.operational_lanes = lanes;
        }
        builder.connect(ends[0], ends[1]).unwrap();
    };
    for at in 0..LEAVES {
        for second in 0..2 {
            let up = (switches[usize::from(at)], per_leaf + 1 + second);
            cable(up, (root, 2 * at + 1 + second), trunk);
        }
    }
    for host in 1..=LEAVES * per_leaf {
        let (at, port) = ((host - 1) / per_leaf, (host - 1) % per_leaf + 1);
        let guid = host_guid(host);
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, format!("node{host}"));
        let key = builder.add_node(facts).unwrap();
        builder.port(key, PortNum(1)).lid = Lid::new(host.into());
        let ends = [(key, PortNum(1)), (switches[usize::from(at)], PortNum(port))];
        for (key, port) in ends {
            let facts = builder.port(key, port);
            (facts.speed, facts.width) = (Some(LinkSpeed::Ddr), Some(LinkWidth::X4));
            facts.operational_lanes = lanes;
        }
        builder.connect(ends[0], ends[1]).unwrap();
    }
    builder.finish()
}

/// One of the paper's experiments (V-A, V-B).
pub struct Experiment {
    pub name: &'static str,
    pub victim: (u8, u8),
    pub contributors: [(u8, u8); 3],
    /// Gb/s of the victim beside the contributors, all on one lane, and with the contributors on a slow one.
    pub paper: (f64, f64),
    pub per_leaf: u8,
    pub trunk: LinkSpeed,
    pub one_lost: bool,
}

const SMALL: [(u8, u8); 3] = [(1, 5), (3, 5), (6, 5)];
const LARGE: [(u8, u8); 3] = [(1, 9), (5, 9), (10, 9)];

pub const EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        name: "I",
        victim: (2, 3),
        contributors: SMALL,
        paper: (3.0, 7.5),
        per_leaf: 2,
        trunk: LinkSpeed::Ddr,
        one_lost: false,
    },
    Experiment {
        name: "II",
        victim: (2, 4),
        contributors: SMALL,
        paper: (3.0, 7.5),
        per_leaf: 2,
        trunk: LinkSpeed::Ddr,
        one_lost: true,
    },
    Experiment {
        name: "III",
        victim: (2, 7),
        contributors: LARGE,
        paper: (3.4, 12.9),
        per_leaf: 4,
        trunk: LinkSpeed::Qdr,
        one_lost: false,
    },
    Experiment {
        name: "IV",
        victim: (2, 11),
        contributors: LARGE,
        paper: (2.2, 12.9),
        per_leaf: 4,
        trunk: LinkSpeed::Qdr,
        one_lost: false,
    },
];

pub fn limited() -> TrafficSettings {
    TrafficSettings { host_limit_mbps: Some(HOST_LIMIT), ..TrafficSettings::default() }
}

impl Experiment {
    pub fn stage(&self) -> TestBed {
        TestBed::new(self.per_leaf, self.trunk, self.one_lost)
    }

    /// Mb/s of the victim alone.
    pub fn alone(&self) -> u64 {
        let stage = self.stage();
        let victim = stage.flow(self.victim.0, self.victim.1);
        stage.rates(vec![victim], limited(), &Tables::default())[0]
    }

    /// Mb/s of the victim and of the contributors, with these on a lane of their own or not.
    pub fn congested(&self, separated: bool) -> (u64, Vec<u64>) {
        let stage = self.stage();
        let mut flows = vec![stage.flow(self.victim.0, self.victim.1)];
        flows.extend(self.contributors.map(|(from, to)| {
            let level = ServiceLevel::new(1).filter(|_| separated);
            Flow { level, ..stage.flow(from, to) }
        }));
        let mut rates = stage.rates(flows, limited(), &Tables::default());
        let contributors = rates.split_off(1);
        (rates[0], contributors)
    }
}
