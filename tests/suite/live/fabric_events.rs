//! What sweeps find to be different, against what a fresh look at the same fabric finds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fabdeck_fabric::counters::rates_of_sweeps;
use fabdeck_fabric::observe::{ChangedEntry, FabricEvent, KnownManager, PortIdentity, SubnetManager};
use fabdeck_fabric::{Fabric, Lid, LinkId, NodeId, PortNum};
use fabdeck_live::socket::{Server, connect};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{AddressedMad, NoObserver, ReadPort, WriteToken};
use fabdeck_mad::{Method, PortInfo, Smp, attribute};
use fabdeck_simulator::{LineFaults, Share, SharedSimulator, Simulator, SimulatorRng};

use super::faults::ChangingPort;
use super::sweeps::WatchedSource;
use super::{ReadOptions, TOPOLOGY, exchange, fabric, look_at, plug, route_to, simulated, switches, world};
use fabdeck_mad::access::Source;

pub(super) const TEN_SECONDS: Duration = Duration::from_secs(10);
pub(super) const TABLES: ReadOptions = ReadOptions { tables: true, ..TOPOLOGY };

impl WatchedSource {
    /// A sweep ten seconds after the last one.
    pub(super) fn next(&mut self, last: &mut Duration) -> Vec<FabricEvent> {
        let swept = self.sweep(*last + TEN_SECONDS);
        *last = swept.began;
        if let Some(fabric) = &swept.fabric {
            assert_eq!(**fabric, self.look.fabric);
        }
        swept.news
    }

    pub(super) fn settled(&mut self, last: &mut Duration, sweeps: usize) -> Vec<FabricEvent> {
        (0..sweeps).flat_map(|_| self.next(last)).collect()
    }

    pub(super) fn set_link(&self, link: LinkId, planned: &Fabric, up: bool) {
        let (node, port) = planned.ends(link)[0];
        self.simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(node, port, up));
    }

    /// The manager sees to what changed.
    pub(super) fn manager(&self) {
        self.simulator.with_simulator(|simulator| simulator.fabric_mut().acknowledge_changes());
    }

    pub(super) fn fresh(&self) -> Fabric {
        let mut calm = self.simulator.open_port(None).unwrap();
        look_at(&mut calm, TOPOLOGY).fabric
    }

    pub(super) fn writes(&self) -> u64 {
        self.simulator.with_simulator(|simulator| simulator.traffic().write_count())
    }
}

/// A link as its ends are told.
pub(super) fn ends(fabric: &Fabric, link: LinkId) -> (PortIdentity, PortIdentity) {
    let [a, b] = fabric.ends(link).map(|(node, port)| (fabric.node(node).guid(), port));
    (a, b)
}

pub(super) fn between_switches(fabric: &Fabric) -> Vec<LinkId> {
    fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect()
}

/// Where both know a node they agree about it; nothing that a fresh look sees is missing.
fn agree(what: &str, kept: &Fabric, fresh: &Fabric) {
    let cables = |fabric: &Fabric| -> BTreeSet<(PortIdentity, PortIdentity)> {
        fabric.links().map(|(id, _)| ends(fabric, id)).collect()
    };
    let known = |end: &PortIdentity| fresh.node_by_guid(end.0).is_some();
    let kept_cables: BTreeSet<_> = cables(kept).into_iter().filter(|(a, b)| known(a) && known(b)).collect();
    assert_eq!(kept_cables, cables(fresh), "{what}");
    for (_, port) in fresh.ports() {
        let guid = fresh.node(port.node).guid();
        let node = kept.node_by_guid(guid).unwrap_or_else(|| panic!("{what}: {guid} is missing"));
        let here = kept.port_of(node, port.number).map(|port| kept.port(port));
        let same = here.is_some_and(|here| here.facts == port.facts);
        assert!(same, "{what}: {guid} port {}: {here:?}, and is {port:?}", port.number);
    }
}

#[test]
fn a_link_that_goes_down_and_comes_back_is_reported_once_each() {
    let planned = fabric("kary,k=3,n=2");
    for manager in [false, true] {
        let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
        let whole = watched.look.fabric.clone();
        let mut last = watched.sweep(Duration::ZERO).began;
        for link in planned.links().map(|(id, _)| id).skip(1) {
            let (a, b) = ends(&planned, link);
            watched.set_link(link, &planned, false);
            // A manager is quicker than a sweep: switches do not say any more that something changed.
            manager.then(|| watched.manager());
            let down = watched.next(&mut last);
            assert_eq!(down, [FabricEvent::LinkDown { a, b }], "{link:?}");
            agree("down", &watched.look.fabric, &watched.fresh());
            assert_eq!(watched.look.fabric.nodes().len(), whole.nodes().len(), "nobody is forgotten");
            watched.set_link(link, &planned, true);
            manager.then(|| watched.manager());
            // Without a manager nobody takes switches' word back: then it is their ports' turn within eight sweeps.
            let up = watched.settled(&mut last, if manager { 2 } else { 8 });
            assert!(up.contains(&FabricEvent::LinkUp { a, b }), "{link:?}: {up:?}");
            assert!(up.iter().all(|news| !news.is_trouble()), "{link:?}: {up:?}");
            assert_eq!(watched.look.fabric, whole, "{link:?}");
        }
        assert_eq!(watched.settled(&mut last, 2), []);
        assert_eq!(watched.writes(), 0);
    }
}

/// Wherever in the middle of a sweep a link goes down or comes up, that sweep or the next ones tell it, once.
#[test]
fn a_link_that_moves_in_the_middle_of_a_sweep_is_reported_once() {
    let planned = fabric("kary,k=2,n=2");
    let link = between_switches(&planned)[2];
    let ((node, port), (a, b)) = (planned.ends(link)[0], ends(&planned, link));
    for up in [false, true] {
        let start = || {
            let simulator = simulated(&planned, LineFaults::default(), 1);
            simulator.with_simulator(|simulator| {
                simulator.fabric_mut().set_link(node, port, !up);
                simulator.fabric_mut().acknowledge_changes();
            });
            simulator
        };
        let plain = {
            let simulator = start();
            let port = simulator.open_port(None).unwrap();
            let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TOPOLOGY);
            let first = watched.sweep(Duration::ZERO);
            let looked: u64 = watched.look.reading.as_ref().unwrap().phases.iter().map(|p| p.sent).sum();
            (looked - first.sent, looked, watched.sweep(first.began + TEN_SECONDS).sent)
        };
        let (looked, swept, second) = plain;
        let mut at_once = 0;
        // The second sweep asks what the first did: every third of its datagrams will do.
        for left in (looked + 1..=swept).chain((swept + 1..=swept + second).step_by(3)) {
            let simulator = start();
            let shared = simulator.clone();
            let change = Some(move || {
                shared.with_simulator(|simulator| simulator.fabric_mut().set_link(node, port, up))
            });
            let changing =
                ChangingPort { port: simulator.open_port(None).unwrap(), left: left as usize, change };
            let mut watched = WatchedSource::looked(
                simulator,
                ReadPort::new(changing),
                ExchangePolicy::default(),
                TOPOLOGY,
            );
            let swept = watched.sweep(Duration::ZERO);
            let mut last = swept.began;
            let mut news = swept.news;
            news.extend(watched.next(&mut last));
            at_once += usize::from(!news.is_empty());
            news.extend(watched.settled(&mut last, 2));
            let expected = if up { FabricEvent::LinkUp { a, b } } else { FabricEvent::LinkDown { a, b } };
            assert_eq!(news, [expected], "after {left} datagrams");
            agree(&format!("after {left} datagrams"), &watched.look.fabric, &watched.fresh());
        }
        assert!(at_once > 0 && (at_once as u64) < swept + second / 3 - looked, "{at_once}");
    }
}

#[test]
fn swapped_cables_are_reported_by_their_former_peers() {
    let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
    let mut last = watched.sweep(Duration::ZERO).began;
    let planned = watched.look.fabric.clone();
    let hosts: Vec<_> = planned
        .links()
        .map(|(id, _)| id)
        .filter(|id| !planned.is_between_switches(*id))
        .map(|id| planned.ends(id))
        .collect();
    // The first host is looked from.
    let ([s1, h1], [s2, h2]) = (hosts[4], hosts[7]);
    let end = |(node, port): (NodeId, PortNum)| (planned.node(node).guid(), port);
    watched.simulator.with_simulator(|simulator| {
        simulator.fabric_mut().recable(s1, h2);
        simulator.fabric_mut().recable(s2, h1);
    });
    watched.manager();
    let news: BTreeSet<String> = watched.next(&mut last).iter().map(|news| format!("{news:?}")).collect();
    let told = |at, before, now| {
        format!("{:?}", FabricEvent::Recabled { at: end(at), before: end(before), now: end(now) })
    };
    let expected = [told(s1, h1, h2), told(h2, s2, s1), told(s2, h2, h1), told(h1, s1, s2)];
    assert_eq!(news, BTreeSet::from(expected));
    agree("swapped", &watched.look.fabric, &watched.fresh());
    assert_eq!(watched.settled(&mut last, 3), []);
}

/// Links go down, come back and are put elsewhere at random, with and without a manager that takes switches at their word.
#[test]
fn whatever_moves_a_few_sweeps_later_all_is_known() {
    for seed in 1..=6u64 {
        let name = ["kary,k=3,n=2", "torus,dims=3x3", "random,switches=8,links=16"][seed as usize % 3];
        let planned = fabric(name);
        let mut watched = WatchedSource::new(name, |port| port);
        let mut last = watched.sweep(Duration::ZERO).began;
        let links: Vec<LinkId> = planned.links().map(|(id, _)| id).collect();
        let mut dice = SimulatorRng::new(seed);
        let half = Share::percent(50);
        let mut draw =
            |below: usize| (0..10).fold(0, |n, _| 2 * n + usize::from(dice.draw_share(half))) % below;
        for step in 0..12 {
            for _ in 0..=draw(3) {
                // Never the cable of the host that is looked from: its port is the first of all adapters.
                let link = links[draw(links.len())];
                if planned
                    .ends(link)
                    .iter()
                    .any(|(node, _)| planned.node(*node).guid() == port_ref_of(&planned))
                {
                    continue;
                }
                watched.set_link(link, &planned, draw(2) == 0);
            }
            if draw(2) == 0 {
                watched.manager();
            }
            watched.settled(&mut last, 9);
            agree(&format!("{name} seed {seed} step {step}"), &watched.look.fabric, &watched.fresh());
        }
        assert_eq!(watched.writes(), 0);
    }
}

fn port_ref_of(fabric: &Fabric) -> fabdeck_fabric::Guid {
    fabric.node(super::hosts(fabric)[0]).guid()
}

/// On lines that lose, delay, double and reorder, what moved is told once and stays known.
#[test]
fn bad_lines_do_not_make_news_of_links() {
    let planned = fabric("kary,k=3,n=2");
    let links = between_switches(&planned);
    let half = Share::percent(50);
    for line in [
        LineFaults { loss: Share::percent(5), ..LineFaults::default() },
        LineFaults { duplicate: half, reorder: half, foreign: half, ..LineFaults::default() },
        LineFaults { delay: Duration::from_millis(700), loss: Share::percent(2), ..LineFaults::default() },
    ] {
        for seed in 1..=4 {
            let simulator = SharedSimulator::new(Simulator::new(world(&planned), line, seed));
            let port = simulator.open_port(None).unwrap();
            let mut watched = WatchedSource::looked(
                simulator,
                port,
                ExchangePolicy { retries: 4, ..ExchangePolicy::default() },
                TOPOLOGY,
            );
            let mut last = watched.sweep(Duration::ZERO).began;
            let link = links[seed as usize];
            let (a, b) = ends(&planned, link);
            let mut of_links = Vec::new();
            for up in [false, true] {
                watched.set_link(link, &planned, up);
                of_links.extend(watched.settled(&mut last, 4));
            }
            of_links.retain(|news| {
                !matches!(news, FabricEvent::NodeSilent { .. } | FabricEvent::NodeAnswers { .. })
            });
            assert_eq!(
                of_links,
                [FabricEvent::LinkDown { a, b }, FabricEvent::LinkUp { a, b }],
                "{line:?} seed {seed}"
            );
        }
    }
}

/// A node that was not there at first moves the ids of those behind it; counters go on, for they are kept by GUID.
#[test]
fn a_node_that_appears_is_taken_in() {
    let planned = fabric("kary,k=3,n=2");
    for newcomer in [switches(&planned)[4], super::hosts(&planned)[3]] {
        let simulator = simulated(&planned, LineFaults::default(), 1);
        let cables = plug(&simulator, &planned, newcomer, false);
        simulator.with_simulator(|simulator| simulator.fabric_mut().acknowledge_changes());
        let port = simulator.open_port(None).unwrap();
        let mut watched = WatchedSource::looked(simulator.clone(), port, ExchangePolicy::default(), TABLES);
        let before = watched.sweep(Duration::ZERO);
        let (guid, few) = (planned.node(newcomer).guid(), watched.look.fabric.nodes().len());
        assert!(watched.look.fabric.node_by_guid(guid).is_none());
        plug(&simulator, &planned, newcomer, true);
        simulator.with_simulator(|simulator| simulator.fabric_mut().acknowledge_changes());
        // Ports without a cable have their turn within eight sweeps.
        let mut last = before.began;
        let news = watched.settled(&mut last, 9);
        assert!(news.contains(&FabricEvent::NodeAppeared { node: guid }), "{news:?}");
        let up = news.iter().filter(|news| matches!(news, FabricEvent::LinkUp { .. })).count();
        assert!(up >= cables && watched.look.fabric.nodes().len() > few, "{news:?}");
        let after = watched.sweep(last + TEN_SECONDS);
        agree("appeared", &watched.look.fabric, &watched.fresh());
        assert_eq!(watched.look.fabric, watched.fresh());
        // Its tables are those of the nodes that they are of.
        for (node, held) in watched.look.tables.nodes.iter().filter(|(_, held)| held.lft.is_some()) {
            let there = planned.node_by_guid(watched.look.fabric.node(*node).guid()).unwrap();
            let wrong = held
                .lft
                .as_ref()
                .unwrap()
                .routed_lids()
                .any(|(_, port)| planned.port_of(there, port).is_none());
            assert!(!wrong, "{node:?}");
        }
        let rates = rates_of_sweeps(&watched.look.fabric, &before, &after);
        assert_eq!(rates.ports.len(), before.samples.len());
        assert!(after.samples.len() > before.samples.len() && after.news.is_empty(), "{:?}", after.news);
    }
}

fn drift_of(news: &[FabricEvent]) -> Vec<&FabricEvent> {
    news.iter().filter(|news| matches!(news, FabricEvent::TableDrift { .. })).collect()
}

#[test]
fn one_rewritten_entry_is_named_within_the_period() {
    for (wanted, rounds) in [(TABLES, 30), (TOPOLOGY, 60)] {
        let planned = fabric("torus,dims=4x4");
        let simulator = simulated(&planned, LineFaults::default(), 1);
        let port = simulator.open_port(None).unwrap();
        let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), wanted);
        let mut last = watched.sweep(Duration::ZERO).began;
        if rounds == 60 {
            // A look without tables has nothing to compare with before everything was read once.
            assert_eq!(watched.settled(&mut last, 30), []);
        }
        let fabric = watched.look.fabric.clone();
        let manager = fabric.port_by_guid(watched.look.subnet_manager.as_ref().unwrap().guid).unwrap();
        let manager = fabric.address_of(manager).map(|(lid, _)| lid);
        let (switch, lid) = (fabric.switches().nth(5).unwrap(), Lid::new(9).unwrap());
        let was = {
            let mut calm = watched.simulator.open_port(None).unwrap();
            look_at(&mut calm, TABLES).tables.lft(switch.0).unwrap().get(lid).unwrap()
        };
        let now = PortNum(if was.value() == 1 { 2 } else { 1 });
        watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_entry(switch.0, lid, now));
        let news = watched.settled(&mut last, 30);
        let expected = FabricEvent::TableDrift {
            switch: switch.1.guid(),
            blocks: vec![0],
            entries: 1,
            first: vec![ChangedEntry { lid, before: Some(was), now: Some(now) }],
            manager,
        };
        assert_eq!(news, [expected]);
        if wanted.tables {
            assert_eq!(watched.look.tables.lft(switch.0).unwrap().get(lid), Some(now));
        }
        assert_eq!(watched.settled(&mut last, 31), [], "it is told once");
        assert_eq!(watched.writes(), 0);
    }
}

/// Rewritten tables are one piece of news for each switch, however many of their entries differ; turned off there is none.
#[test]
fn whole_tables_are_reported_by_switch() {
    for (period, told) in [(30, true), (0, false)] {
        let planned = fabric("kary,k=4,n=3");
        let policy =
            ExchangePolicy { drift_period: Duration::from_secs(period), ..ExchangePolicy::default() };
        let simulator = simulated(&planned, LineFaults::default(), 1);
        let port = simulator.open_port(None).unwrap();
        let mut watched = WatchedSource::looked(simulator, port, policy, TABLES);
        let mut last = watched.sweep(Duration::ZERO).began;
        let rewritten: Vec<NodeId> = switches(&planned).into_iter().step_by(3).collect();
        let top = watched.look.fabric.top_lid().unwrap().value();
        watched.simulator.with_simulator(|simulator| {
            for switch in &rewritten {
                for lid in (1..=top).filter_map(|lid| Lid::new(lid.into())) {
                    simulator.fabric_mut().set_entry(*switch, lid, PortNum(7));
                }
            }
        });
        let sent_before = watched.simulator.with_simulator(|simulator| simulator.traffic().write_count());
        let news: Vec<FabricEvent> = watched.settled(&mut last, 3);
        let all = drift_of(&news);
        assert_eq!(all.len(), news.len(), "{news:?}");
        let switches: BTreeSet<_> = all
            .iter()
            .map(|news| match news {
                FabricEvent::TableDrift { switch, entries, first, blocks, .. } => {
                    assert!(*entries > 4 && first.len() == 4 && !blocks.is_empty(), "{news:?}");
                    *switch
                }
                _ => unreachable!(),
            })
            .collect();
        let expected: BTreeSet<_> = rewritten.iter().map(|switch| planned.node(*switch).guid()).collect();
        assert_eq!(switches, if told { expected } else { BTreeSet::new() });
        assert_eq!(sent_before, 0);
    }
}

/// A sweep that was cancelled never was: what it saw is told by the next one.
#[test]
fn a_cancelled_sweep_loses_nothing() {
    struct CancelAfter(std::cell::Cell<u32>);
    impl super::ReadObserver for CancelAfter {
        fn report_progress(&mut self, _: super::ReadProgress) {}
        fn is_cancelled(&self) -> bool {
            self.0.set(self.0.get().saturating_sub(1));
            self.0.get() == 0
        }
    }
    let planned = fabric("kary,k=3,n=2");
    let link = between_switches(&planned)[1];
    let (a, b) = ends(&planned, link);
    let mut cancelled = 0;
    for turns in (1..400).step_by(7) {
        let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
        let mut last = watched.sweep(Duration::ZERO).began;
        watched.set_link(link, &planned, false);
        let ended =
            watched.source.sweep(&mut watched.look, last + TEN_SECONDS, &mut CancelAfter(turns.into()));
        let mut news = ended.as_ref().map_or(Vec::new(), |swept| swept.news.clone());
        cancelled += usize::from(ended.is_err());
        last += TEN_SECONDS;
        news.extend(watched.next(&mut last));
        assert_eq!(news, [FabricEvent::LinkDown { a, b }], "after {turns} turns");
    }
    assert!(cancelled > 5, "{cancelled}");
}

/// Two watch one served fabric; the only datagram that writes is that of a third, who takes a link down.
#[test]
fn two_observers_of_one_served_fabric_tell_the_same() {
    let planned = fabric("kary,k=3,n=2");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let server = Server::bind(&path, Simulator::new(world(&planned), LineFaults::default(), 1)).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&flag, &mut |_| {}));
    // Tables still lead over the link that goes down, and time is real.
    let policy = ExchangePolicy { timeout: Duration::from_millis(300), ..ExchangePolicy::default() };
    let watcher = || LiveSource::new("served", connect(&path, None).unwrap(), policy, Keys::default());
    let mut both: Vec<_> = (0..2)
        .map(|_| {
            let mut source = watcher();
            let look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
            (source, look)
        })
        .collect();
    for (source, look) in &mut both {
        assert_eq!(source.sweep(look, Duration::ZERO, &mut NoObserver).unwrap().news, []);
    }
    let link = between_switches(&planned)[3];
    let (a, b) = ends(&planned, link);
    // The way to it must not lead over the link that it takes down.
    let near = |(node, _): &(NodeId, PortNum)| route_to(&planned, *node).len();
    let (node, number) = planned.ends(link).into_iter().min_by_key(near).unwrap();
    let mut writer = connect(&path, None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
    let mut set =
        Smp::directed(Method::SET, attribute::PORT_INFO, number.value().into(), &route_to(&planned, node))
            .unwrap();
    // Disabled, and nothing else.
    set.data_mut::<PortInfo>().physical_down_default = 3 << 4;
    let parcel = AddressedMad { mad: set.0, address: fabdeck_mad::access::MadAddress::directed() };
    assert!(exchange(&mut writer, parcel).is_some());
    let news: Vec<Vec<FabricEvent>> = both
        .iter_mut()
        .map(|(source, look)| source.sweep(look, Duration::ZERO, &mut NoObserver).unwrap().news)
        .collect();
    assert_eq!(news, [vec![FabricEvent::LinkDown { a, b }], vec![FabricEvent::LinkDown { a, b }]]);
    assert!(both[0].1.fabric == both[1].1.fabric);
    drop((both, writer));
    stop.store(true, Ordering::Relaxed);
    assert_eq!(thread.join().unwrap().traffic.write_count(), 1);
}

/// A link that falls and comes back between two sweeps is told once, with how often, whichever end is read when.
#[test]
fn a_link_that_falls_and_comes_back_between_two_sweeps_is_reported_once() {
    let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
    let planned = watched.look.fabric.clone();
    let mut last = watched.sweep(Duration::ZERO).began;
    for (link, times) in planned.links().map(|(id, _)| id).skip(1).zip([1, 3].into_iter().cycle()) {
        let (a, b) = ends(&planned, link);
        for _ in 0..times {
            watched.set_link(link, &planned, false);
            watched.set_link(link, &planned, true);
        }
        watched.manager();
        let news = watched.next(&mut last);
        assert_eq!(news, [FabricEvent::LinkFlapped { a, b, downed: times, recovered: 0 }], "{link:?}");
        // It is down at one sweep and up at the next: that is told by itself.
        watched.set_link(link, &planned, false);
        watched.manager();
        assert_eq!(watched.next(&mut last), [FabricEvent::LinkDown { a, b }]);
        watched.set_link(link, &planned, true);
        watched.manager();
        // Ports without a cable have their turn within eight sweeps.
        let up = watched.settled(&mut last, 8);
        assert_eq!(up, [FabricEvent::LinkUp { a, b }], "{link:?}");
    }
    assert_eq!(watched.settled(&mut last, 2), []);
}

/// Wherever in the middle of a sweep it falls and comes back, and so between the counters of its ends, it is told once.
#[test]
fn a_link_that_flaps_in_the_middle_of_a_sweep_is_reported_once() {
    let planned = fabric("kary,k=2,n=2");
    let link = between_switches(&planned)[2];
    let ((node, port), (a, b)) = (planned.ends(link)[0], ends(&planned, link));
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let start = simulator.open_port(None).unwrap();
    let mut watched = WatchedSource::looked(simulator, start, ExchangePolicy::default(), TOPOLOGY);
    let looked: u64 = watched.look.reading.as_ref().unwrap().phases.iter().map(|p| p.sent).sum();
    let (first, second) = {
        let first = watched.sweep(Duration::ZERO);
        (first.sent, watched.sweep(first.began + TEN_SECONDS).sent)
    };
    let mut at_once = 0;
    for left in looked + first + 1..=looked + first + second {
        let simulator = simulated(&planned, LineFaults::default(), 1);
        let shared = simulator.clone();
        let change = Some(move || {
            shared.with_simulator(|simulator| {
                simulator.fabric_mut().set_link(node, port, false);
                simulator.fabric_mut().set_link(node, port, true);
                simulator.fabric_mut().acknowledge_changes();
            });
        });
        let changing = ChangingPort { port: simulator.open_port(None).unwrap(), left: left as usize, change };
        let mut watched =
            WatchedSource::looked(simulator, ReadPort::new(changing), ExchangePolicy::default(), TOPOLOGY);
        let mut last = watched.sweep(Duration::ZERO).began;
        let mut news = watched.next(&mut last);
        at_once += usize::from(!news.is_empty());
        news.extend(watched.settled(&mut last, 2));
        assert_eq!(
            news,
            [FabricEvent::LinkFlapped { a, b, downed: 1, recovered: 0 }],
            "after {left} datagrams"
        );
    }
    assert!(at_once > 0 && (at_once as u64) < second, "{at_once}");
}

/// The manager moves, falls silent, and is back: each is told once, with where and who.
#[test]
fn another_manager_is_reported_with_its_place_and_name() {
    let planned = fabric("kary,k=3,n=2");
    let mut watched = WatchedSource::new("kary,k=3,n=2", |port| port);
    let mut last = watched.sweep(Duration::ZERO).began;
    let there = super::hosts(&planned)[5];
    let told = |watched: &WatchedSource, node: NodeId| {
        let fabric = &watched.look.fabric;
        let node = fabric.node_by_guid(planned.node(node).guid()).unwrap();
        let (_, port) = fabric.ports_of(node).find(|(_, port)| port.facts.lid.is_some()).unwrap();
        let guid = port.facts.guid.unwrap();
        let manager = SubnetManager { guid, state: Some("MASTER".into()), priority: Some(8) };
        KnownManager { lid: port.facts.lid, manager: Some(manager) }
    };
    let (here, there_told) = (told(&watched, super::hosts(&planned)[0]), told(&watched, there));
    assert_eq!(watched.look.subnet_manager, here.manager);
    watched.simulator.with_simulator(|simulator| simulator.fabric_mut().move_manager(there));
    let changed = FabricEvent::ManagerChanged { before: here, now: there_told.clone() };
    assert!(changed.is_trouble());
    assert_eq!(watched.next(&mut last), [changed]);
    assert_eq!(watched.look.subnet_manager, there_told.manager);
    let silence = |silent| {
        watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(there, silent))
    };
    let nobody = KnownManager { lid: there_told.lid, manager: None };
    silence(true);
    let gone = FabricEvent::ManagerChanged { before: there_told.clone(), now: nobody.clone() };
    let node = planned.node(there).guid();
    let (silent, answers) = (FabricEvent::NodeSilent { node }, FabricEvent::NodeAnswers { node });
    assert_eq!(watched.settled(&mut last, 3), [silent, gone]);
    assert_eq!(watched.look.subnet_manager, None);
    watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(there, false));
    let back = FabricEvent::ManagerChanged { before: nobody, now: there_told };
    assert!(!back.is_trouble());
    assert_eq!(watched.settled(&mut last, 3), [answers, back]);
}
