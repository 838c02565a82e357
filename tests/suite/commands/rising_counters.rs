//! A live source on which counters rise five seconds after it is first looked at: a hot-spot, who is held up by it, and
//! a cable with errors; or a rail whose links between switches are too narrow.

use std::time::Duration;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Fabric, Lid, NodeId, PortNum, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort, Source};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

const WAIT: Counter = Counter::PortXmitWaitExt;
const DATA: Counter = Counter::PortXmitDataExtended;

type Rise = Vec<(NodeId, PortNum, CounterValues)>;
type Place = (NodeId, PortNum);

struct RisingSource {
    port: ReadPort,
    simulator: SharedSimulator,
    rise: Rise,
    /// A cable that is pulled at the same time, and an entry of a table that is rewritten.
    pulled: Option<(Place, NodeId)>,
}

impl Clock for RisingSource {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        true
    }
}

impl MadPort for RisingSource {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        if self.port.now() >= Duration::from_secs(5) {
            for (node, number, values) in std::mem::take(&mut self.rise) {
                self.simulator
                    .with_simulator(|simulator| simulator.fabric_mut().set_counters(node, number, values));
            }
        }
        if self.port.now() >= Duration::from_secs(5)
            && let Some(((node, port), switch)) = self.pulled.take()
        {
            self.simulator.with_simulator(|simulator| {
                simulator.fabric_mut().set_link(node, port, false);
                simulator.fabric_mut().set_entry(switch, Lid::new(9).unwrap(), PortNum(3));
            });
        }
        self.port.receive(until)
    }
}

/// Adapters' ports with the ports of switches that they hang on, and a cable between switches.
fn places(fabric: &Fabric) -> (Vec<[Place; 2]>, [Place; 2]) {
    let place = |id| (fabric.port(id).node, fabric.port(id).number);
    let mut hosts = Vec::new();
    let mut between = None;
    for (_, ends) in fabric.links() {
        match [ends.a, ends.b].map(|end| fabric.node(fabric.port(end).node).is_switch()) {
            [false, true] => hosts.push([place(ends.a), place(ends.b)]),
            [true, false] => hosts.push([place(ends.b), place(ends.a)]),
            _ => between = Some([place(ends.a), place(ends.b)]),
        }
    }
    hosts.sort();
    (hosts, between.unwrap())
}

fn source(name: &str, rise: impl FnOnce(&Fabric) -> Vec<(Place, Counter, u64)>) -> Box<dyn Source> {
    let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let mut raised: Rise = Vec::new();
    for ((node, number), counter, value) in rise(&fabric) {
        match raised.iter_mut().find(|(at, port, _)| (*at, *port) == (node, number)) {
            Some((.., values)) => values.insert(counter, Some(value)),
            None => raised.push((node, number, CounterValues::from_iter([(counter, Some(value))]))),
        }
    }
    let world = SimulatedFabric::new(&fabric, &Tables::default()).unwrap();
    let simulator = SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1));
    let pulled = (name == "moving").then(|| {
        let (hosts, [_, b]) = places(&fabric);
        (b, hosts[3][1].0)
    });
    // Where a table is rewritten, everything is read again at each sweep.
    let usual = ExchangePolicy::default();
    let drift_period = if pulled.is_some() { Duration::from_secs(1) } else { usual.drift_period };
    let policy = ExchangePolicy { drift_period, ..usual };
    let port = RisingSource { port: simulator.open_port(None).unwrap(), simulator, rise: raised, pulled };
    Box::new(LiveSource::new(name, ReadPort::new(port), policy, Keys::default()))
}

/// Three adapters wait for one a good part of the time, of whom the first has a fair share; a cable counts 50 symbol
/// errors.
pub fn hot() -> Box<dyn Source> {
    source("hot", |fabric| {
        let (hosts, [a, _]) = places(fabric);
        let mut rise = vec![(hosts[4][1], WAIT, 3_600_000_000), (a, Counter::SymbolErrorCounterExt, 50)];
        rise.extend((0..3).map(|at| (hosts[at][0], WAIT, 1_600_000_000)));
        rise.push((hosts[0][0], DATA, 1 << 33));
        rise
    })
}

/// A cable is pulled and a table rewritten.
pub fn moving() -> Box<dyn Source> {
    source("moving", |_| Vec::new())
}

/// A link between switches waits, and an adapter because of it.
pub fn rail() -> Box<dyn Source> {
    source("rail", |fabric| {
        let (hosts, [a, _]) = places(fabric);
        vec![(a, WAIT, 9_000_000), (a, DATA, 5_000_000_000), (hosts[1][0], WAIT, 3_000_000)]
    })
}
