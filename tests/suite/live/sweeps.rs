//! Counters read again and again through the real path: what the simulator's ports counted, cleared, kept to themselves.

use std::time::Duration;

use fabdeck_fabric::counters::{
    CongestionRole, Growth, HotSpots, Rates, Thresholds, find_hot_spots, rates_of_sweeps,
};
use fabdeck_fabric::observe::{Counter, FabricEvent, Observation, Sweep};
use fabdeck_fabric::{Fabric, NodeKind, PortId};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, ReadOptions, ReadPort, Source};
use fabdeck_mad::{Class, ClassPortInfo, PortSamplesControl, attribute};
use fabdeck_simulator::{LineFaults, SharedSimulator, Simulator};

use super::altered_answers::AlteringPort;
use super::{TOPOLOGY, fabric, simulated, world};

const TEN_SECONDS: Duration = Duration::from_secs(10);
const WAIT: Counter = Counter::PortXmitWaitExt;
const DATA: Counter = Counter::PortXmitDataExtended;

/// A simulator, a source over it, and what the source saw first.
pub(super) struct WatchedSource {
    pub(super) simulator: SharedSimulator,
    pub(super) source: LiveSource,
    pub(super) look: Observation,
}

impl WatchedSource {
    pub(super) fn new(name: &str, wrap: impl FnOnce(ReadPort) -> ReadPort) -> Self {
        let simulator = simulated(&fabric(name), LineFaults::default(), 1);
        let port = wrap(simulator.open_port(None).unwrap());
        Self::over(simulator, port)
    }

    fn over(simulator: SharedSimulator, port: ReadPort) -> Self {
        Self::looked(simulator, port, ExchangePolicy::default(), TOPOLOGY)
    }

    pub(super) fn looked(
        simulator: SharedSimulator,
        port: ReadPort,
        policy: ExchangePolicy,
        wanted: ReadOptions,
    ) -> Self {
        let mut source = LiveSource::new("sim", port, policy, Keys::default());
        let look = source.observe(wanted, &mut NoObserver).unwrap();
        Self { simulator, source, look }
    }

    pub(super) fn fabric(&self) -> &Fabric {
        &self.look.fabric
    }

    pub(super) fn sweep(&mut self, not_before: Duration) -> Sweep {
        self.source.sweep(&mut self.look, not_before, &mut NoObserver).unwrap()
    }

    fn count(&self, port: PortId, values: &[(Counter, u64)]) {
        let facts = self.fabric().port(port);
        let values = values.iter().map(|(counter, value)| (counter.clone(), Some(*value))).collect();
        self.simulator.with_simulator(|simulator| {
            simulator.fabric_mut().set_counters(facts.node, facts.number, values)
        });
    }

    /// Two sweeps with something in between.
    fn between(&mut self, act: impl FnOnce(&Self)) -> (Sweep, Sweep, Rates) {
        let before = self.sweep(Duration::ZERO);
        act(self);
        let after = self.sweep(before.began + TEN_SECONDS);
        let rates = rates_of_sweeps(self.fabric(), &before, &after);
        (before, after, rates)
    }

    fn verdict(&self, rates: &Rates) -> HotSpots {
        find_hot_spots(self.fabric(), rates, &Thresholds::default())
    }

    /// Ports of adapters with a cable, and the ports of switches that they hang on.
    fn hosts(&self) -> Vec<(PortId, PortId)> {
        let fabric = self.fabric();
        let adapter =
            |port: PortId| fabric.node(fabric.port(port).node).facts.kind == NodeKind::ChannelAdapter;
        let cabled = fabric.ports().filter_map(|(id, port)| Some((id, port.peer?)));
        cabled.filter(|(id, _)| adapter(*id)).collect()
    }
}

/// Agents with 32 bits for errors and waiting, as many devices have.
fn older(port: ReadPort) -> ReadPort {
    ReadPort::new(AlteringPort(port, |mad| {
        if mad.header().attribute.get() == attribute::CLASS_PORT_INFO && mad.class() == Class::PERFORMANCE {
            mad.performance_data_mut::<ClassPortInfo>().capability_mask2_response = 16.into();
        }
    }))
}

#[test]
fn a_port_takes_one_datagram_where_its_agent_has_everything_and_two_where_not() {
    let mut all = WatchedSource::new("kary,k=3,n=2", |port| port);
    let (first, second, rates) = all.between(|_| {});
    let agents = all.fabric().nodes().len() as u64;
    // Besides its counters a quiet fabric takes SwitchInfo of each switch, the manager, the port that is looked from, ports without a
    // cable, and a share of what is read in turns.
    let switches = all.fabric().switch_count() as u64;
    let bare = all.fabric().switches().flat_map(|(id, _)| all.fabric().ports_of(id));
    let bare = bare.filter(|(_, port)| port.number.value() != 0 && port.peer.is_none()).count() as u64;
    let states = 2 + switches + bare.min(64).max(bare.div_ceil(8));
    // Of a switch with so many cables as many pairs of ports, one block of groups, and arbitration at each cable.
    let cables = |id| all.fabric().ports_of(id).filter(|(_, port)| port.peer.is_some()).count() as u64;
    let lanes: u64 =
        all.fabric().nodes().map(|(id, node)| cables(id).pow(1 + u32::from(node.is_switch()))).sum();
    let weights: u64 = all.fabric().nodes().map(|(id, _)| cables(id)).sum();
    let tables = 2 * switches + lanes + weights;
    let turns = tables + bare + all.fabric().links().len() as u64;
    let due = (turns * 10).div_ceil(290);
    // In what waiting is counted one port of each kind says once: a switch and an adapter.
    let kinds = all.look.ticks.by_kind.len() as u64;
    assert_eq!(kinds, 2);
    let first_time = agents + kinds;
    assert_eq!((first.sent, second.sent), (first.ports + first_time + states, second.ports + states + due));
    assert!(
        first.fabric.is_none() && first.news.is_empty() && second.fabric.is_none() && second.news.is_empty()
    );
    assert_eq!(first.ports, all.fabric().ports().filter(|(_, port)| port.number.value() != 0).count() as u64);
    assert_eq!((second.samples.len() as u64, rates.ports.len() as u64), (second.ports, second.ports));
    assert!(second.began == first.began + TEN_SECONDS && second.took < Duration::from_secs(1), "{second:?}");
    let mut older = WatchedSource::new("kary,k=3,n=2", older);
    let (_, second, _) = older.between(|_| {});
    assert_eq!(second.sent, 2 * second.ports + states + due);
    for watched in [&all, &older] {
        let reading = watched.look.reading.as_ref().unwrap();
        assert_eq!((reading.writes, reading.silent.len()), (0, 0));
        let cleared = watched.simulator.with_simulator(|simulator| simulator.traffic().write_count());
        assert_eq!(cleared, 0, "a sweep clears nothing");
    }
}

/// How long a tick is, the device says, and so what part of the time a port waited; who does not say has none.
#[test]
fn the_part_of_the_time_that_a_port_waits_follows_from_what_its_device_says_of_a_tick() {
    let refusing = |port: ReadPort| {
        ReadPort::new(AlteringPort(port, |mad| {
            if mad.header().attribute.get() == attribute::PORT_SAMPLES_CONTROL
                && mad.class() == Class::PERFORMANCE
            {
                mad.header_mut().status = (3 << 2).into();
            }
        }))
    };
    let wide = |port: ReadPort| {
        ReadPort::new(AlteringPort(port, |mad| {
            if mad.header().attribute.get() == attribute::PORT_SAMPLES_CONTROL
                && mad.class() == Class::PERFORMANCE
            {
                mad.performance_data_mut::<PortSamplesControl>().tick = 9;
            }
        }))
    };
    for (case, bytes) in [Some(2.0), Some(10.0), None].into_iter().enumerate() {
        let mut watched = WatchedSource::new("kary,k=3,n=2", |port| match case {
            0 => port,
            1 => wide(port),
            _ => refusing(port),
        });
        let hosts = watched.hosts();
        let port = hosts[4].1;
        let (_, _, rates) = watched.between(|watched| watched.count(port, &[(WAIT, 9_000_000)]));
        let rates = rates.with_ticks(watched.fabric(), &watched.look.ticks);
        let speed = watched.fabric().port(port).facts.speed.unwrap();
        let byte = 8e-6 / f64::from(speed.data_mbps());
        let told = rates.port(port).unwrap().wait_share();
        match bytes {
            None => assert_eq!(told, None),
            // 900,000 ticks in each second.
            Some(bytes) => {
                let expected = 900_000.0 * bytes * byte;
                assert!(
                    told.is_some_and(|part| (part / expected - 1.0).abs() < 0.01),
                    "{told:?}, not {expected}"
                );
            }
        }
        let verdict = watched.verdict(&rates);
        assert_eq!(verdict.hot_spots[0].at.time_waited, told);
        let kinds = &watched.look.ticks.by_kind;
        assert!(
            kinds.len() == 2 && kinds.values().all(|tick| tick.is_some() == bytes.is_some()),
            "{kinds:?}"
        );
    }
}

/// One adapter takes in slower than three send to it, of whom one gets a fair share.
#[test]
fn a_hot_spot_is_seen_through_the_real_path() {
    let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
    let hosts = watched.hosts();
    let (_, _, rates) = watched.between(|watched| {
        let capacity = {
            let facts = &watched.fabric().port(hosts[0].0).facts;
            facts.speed.unwrap().data_mbps() as u64 * u64::from(facts.width.unwrap().lanes()) * 1_000_000 / 32
        };
        watched.count(hosts[4].1, &[(WAIT, 9_000_000), (DATA, capacity * 10)]);
        watched.count(hosts[0].0, &[(WAIT, 4_000_000), (DATA, capacity * 3)]);
        watched.count(hosts[1].0, &[(WAIT, 2_000_000), (DATA, capacity * 7)]);
    });
    let verdict = watched.verdict(&rates);
    let hot: Vec<_> = verdict.hot_spots.iter().map(|hot| (hot.at.port, hot.adapter)).collect();
    assert_eq!(hot, [(hosts[4].1, hosts[4].0)]);
    // Ten seconds, and what lies between the answers of one port.
    let congestion = verdict.hot_spots[0].at.congestion;
    assert!((899_000.0..=901_000.0).contains(&congestion), "{congestion}");
    let held: Vec<_> = verdict.congested_adapters.iter().map(|held| (held.at.port, held.role)).collect();
    assert_eq!(held, [(hosts[0].0, CongestionRole::Undecided), (hosts[1].0, CongestionRole::FairShare)]);
    assert!(verdict.unknown_ports.is_empty() && verdict.congested_ports.is_empty());
}

#[test]
fn nodes_that_fall_silent_between_two_sweeps_are_named_and_have_no_values() {
    let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
    let (switch, name) = {
        let (id, node) = watched.fabric().switches().last().unwrap();
        (id, node.guid())
    };
    let (before, after, rates) = watched.between(|watched| {
        watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(switch, true));
    });
    let ports: Vec<PortId> = watched
        .fabric()
        .ports_of(switch)
        .filter(|(_, port)| port.number.value() != 0)
        .map(|(id, _)| id)
        .collect();
    assert_eq!(before.samples.len() - after.samples.len(), ports.len());
    assert!(rates.once == ports && watched.verdict(&rates).unknown_ports == ports);
    let silent = &watched.look.reading.as_ref().unwrap().silent;
    // After its state, its agent is asked one question only.
    assert!(!silent.is_empty() && silent.iter().all(|silence| silence.node.is_none_or(|node| node == name)));
    assert_eq!(after.news, [FabricEvent::NodeSilent { node: name }]);
    assert!(watched.look.is_partial(), "{:?}", watched.look.notes);
    // Back again it is counted again, from then on.
    watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(switch, false));
    let again = watched.sweep(after.began + TEN_SECONDS);
    assert_eq!(again.samples.len(), before.samples.len());
    assert_eq!(again.news, [FabricEvent::NodeAnswers { node: name }]);
}

#[test]
fn cleared_and_stuck_counters_are_distinguished() {
    let mut watched = WatchedSource::new("kary,k=3,n=2", older);
    let hosts = watched.hosts();
    let full = u64::from(u32::MAX);
    watched.count(hosts[0].0, &[(WAIT, 70_000_000)]);
    watched.count(hosts[1].0, &[(WAIT, full)]);
    watched.count(hosts[2].0, &[(WAIT, full - 5_000_000)]);
    let (_, _, rates) = watched.between(|watched| {
        watched.count(hosts[0].0, &[(WAIT, 3_000_000)]);
        // The simulator's port goes on; the attribute of 32 bits stays where it is.
        watched.count(hosts[1].0, &[(WAIT, full + 9_000_000)]);
        watched.count(hosts[2].0, &[(WAIT, full + 9_000_000)]);
    });
    let waited = |port: PortId| rates.port(port).unwrap().waited;
    assert_eq!(waited(hosts[0].0), Growth::Cleared(3_000_000));
    assert_eq!(waited(hosts[1].0), Growth::Stuck);
    assert_eq!(waited(hosts[2].0), Growth::AtLeast(5_000_000));
    assert_eq!(rates.cleared_ports().collect::<Vec<_>>(), [hosts[0].0]);
    let verdict = watched.verdict(&rates);
    assert_eq!(verdict.unknown_ports, [hosts[1].0]);
    let held: Vec<_> =
        verdict.congested_adapters.iter().map(|held| (held.at.port, held.at.at_least)).collect();
    assert_eq!(held, [(hosts[2].0, true), (hosts[0].0, true)]);
}

/// With loss and late answers every port is swept or named, and what is swept is what was counted.
#[test]
fn a_sweep_over_a_bad_line_is_whole_or_partial() {
    let drawn = fabric("torus,dims=3x2");
    let bad = LineFaults {
        loss: fabdeck_simulator::Share::parse("5%").unwrap(),
        delay: Duration::from_millis(300),
        ..LineFaults::default()
    };
    for seed in 1..=4 {
        let simulator = SharedSimulator::new(Simulator::new(world(&drawn), bad, seed));
        let port = simulator.open_port(None).unwrap();
        let mut watched = WatchedSource::over(simulator, port);
        let all: Vec<PortId> =
            watched.fabric().ports().filter(|(_, port)| port.peer.is_some()).map(|(id, _)| id).collect();
        let (before, after, rates) = watched.between(|watched| {
            all.iter().for_each(|port| watched.count(*port, &[(WAIT, 1_000_000 + u64::from(port.0))]));
        });
        for port in &rates.ports {
            let expected = if all.contains(&port.port) { 1_000_000 + u64::from(port.port.0) } else { 0 };
            assert_eq!(port.waited, Growth::By(expected), "seed {seed}");
            assert!((5.0..15.0).contains(&port.seconds), "{}", port.seconds);
        }
        // The answers of one port lie further apart or nearer than the sweeps.
        assert!(rates.ports.iter().any(|port| (port.seconds - 10.0).abs() > 0.05), "seed {seed}");
        let missing =
            (before.ports - before.samples.len() as u64) + (after.ports - after.samples.len() as u64);
        let silent = watched.look.reading.as_ref().unwrap().silent.len();
        assert!(missing == 0 || silent > 0, "seed {seed}: {missing} ports missing without a word");
    }
}
