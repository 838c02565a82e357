//! What sweeps tell of tables: groups, lanes and arbitration that somebody rewrites, and those of a switch that comes.

use std::time::Duration;

use fabdeck_fabric::observe::FabricEvent;
use fabdeck_fabric::{Lane, Lid, NodeId, PortNum, ServiceLevel, Sl2Vl};
use fabdeck_live::ExchangePolicy;
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{Method, SwitchInfo};
use fabdeck_mad::{MftBlock, SlToVl, Smp, VlArbitrationBlock, attribute};
use fabdeck_simulator::{LineFaults, SharedSimulator};

use super::fabric_events::TABLES;
use super::sweeps::WatchedSource;
use super::{
    ALL, ReadOptions, TOPOLOGY, exchange, fabric, hosts, look_at, plug, route_to, simulated, switches,
    writable,
};

pub(super) const HELD: ReadOptions = ReadOptions { counters: false, ..ALL };

/// Somebody else writes.
pub(super) fn write<T>(
    simulator: &SharedSimulator,
    route: &[u8],
    (attribute, modifier): (u16, u32),
    change: impl FnOnce(&mut T),
) where
    T: zerocopy::FromBytes
        + zerocopy::IntoBytes
        + zerocopy::KnownLayout
        + zerocopy::Immutable
        + zerocopy::Unaligned,
{
    let mut port = writable(simulator);
    let send = |smp: Smp, port: &mut dyn fabdeck_mad::access::MadPort| {
        let parcel = AddressedMad { mad: smp.0, address: MadAddress::directed() };
        Smp(exchange(port, parcel).unwrap())
    };
    let held = send(Smp::directed(Method::GET, attribute, modifier, route).unwrap(), &mut port);
    let mut set = Smp::directed(Method::SET, attribute, modifier, route).unwrap();
    *set.data_mut::<[u8; 64]>() = *held.data::<[u8; 64]>();
    change(set.data_mut::<T>());
    assert!(send(set, &mut port).0.status().is_ok());
}

fn watched(name: &str, wanted: ReadOptions, optimized: bool) -> (WatchedSource, Duration) {
    let planned = fabric(name);
    let simulator = simulated(&planned, LineFaults::default(), 1);
    if optimized {
        let all = switches(&planned);
        simulator.with_simulator(|simulator| {
            all.iter().for_each(|id| simulator.fabric_mut().optimize_lanes(*id, true))
        });
    }
    let port = simulator.open_port(None).unwrap();
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), wanted);
    let last = watched.sweep(Duration::ZERO).began;
    (watched, last)
}

fn swapped(row: Sl2Vl) -> Sl2Vl {
    let mut row = row;
    row.set(ServiceLevel::new(3).unwrap(), Lane::new(7).unwrap());
    row
}

/// One row of lanes at a switch and one at an adapter, whether the look has tables or not, whether a switch can tell all
/// ports in at once or not.
#[test]
fn lanes_that_another_tool_rewrites_are_named_within_the_period() {
    for (wanted, optimized) in [(HELD, false), (HELD, true), (TOPOLOGY, false), (TOPOLOGY, true)] {
        let name = "kary,k=3,n=2";
        let planned = fabric(name);
        let (mut watched, mut last) = watched(name, wanted, optimized);
        if !wanted.lanes {
            assert_eq!(watched.settled(&mut last, 30), [], "first readings are no news");
        }
        let (switch, adapter) = (switches(&planned)[4], hosts(&planned)[2]);
        let (from, to) = (PortNum(1), PortNum(3));
        let modifier = u32::from(from.value()) << 8 | u32::from(to.value());
        let mut rows = Vec::new();
        for (node, modifier) in [(switch, modifier), (adapter, 0)] {
            let route = route_to(&planned, node);
            write::<SlToVl>(&watched.simulator, &route, (attribute::SL_TO_VL, modifier), |row| {
                rows.push((row.table(), swapped(row.table())));
                *row = SlToVl::from_table(swapped(row.table()));
            });
        }
        let news = watched.settled(&mut last, 30);
        let mut told = Vec::new();
        for news in &news {
            let FabricEvent::LanesDrift { node, entries: 1, first, manager: Some(_) } = news else {
                panic!("{news:?}");
            };
            told.push((*node, first[0].from, first[0].to, (first[0].before, first[0].now)));
        }
        told.sort_by_key(|(node, ..)| *node != planned.node(switch).guid());
        let guid = |node: NodeId| planned.node(node).guid();
        let expected = [(guid(switch), from, to, rows[0]), (guid(adapter), PortNum(0), PortNum(1), rows[1])];
        assert_eq!(told, expected, "{wanted:?} {optimized}");
        let held = watched.look.tables.nodes.get(&switch).and_then(|held| held.sl2vl.get(&(from, to)));
        assert_eq!(held.copied(), wanted.lanes.then_some(rows[0].1));
        assert_eq!(watched.settled(&mut last, 31), [], "it is told once");
    }
}

#[test]
fn arbitration_and_groups_that_another_tool_rewrites_are_named_within_the_period() {
    for wanted in [HELD, TOPOLOGY] {
        let name = "kary,k=3,n=2";
        let planned = fabric(name);
        let (mut watched, mut last) = watched(name, wanted, false);
        if !wanted.lanes {
            assert_eq!(watched.settled(&mut last, 30), []);
        }
        let switch = switches(&planned)[2];
        let route = route_to(&planned, switch);
        let low = 1 << 16 | 2;
        write::<VlArbitrationBlock>(&watched.simulator, &route, (attribute::VL_ARBITRATION, low), |block| {
            block.entries[0][1] = 9;
        });
        // One group loses a port, and one comes that nobody had.
        write::<MftBlock>(&watched.simulator, &route, (attribute::MULTICAST_FORWARDING, 0), |block| {
            block.masks[0] = (block.masks[0].get() & !(1 << 2)).into();
            block.masks[1] = (1 << 1).into();
        });
        let news = watched.settled(&mut last, 30);
        let guid = planned.node(switch).guid();
        let arbitration = news.iter().find_map(|news| match news {
            FabricEvent::ArbitrationDrift { node, entries: 1, first, .. } if *node == guid => Some(&first[0]),
            _ => None,
        });
        let changed = arbitration.unwrap();
        assert_eq!((changed.port, changed.now.low[0].weight), (PortNum(2), 9));
        assert_eq!(changed.before.low[0].weight, 64);
        let groups = news.iter().find_map(|news| match news {
            FabricEvent::GroupDrift { switch, entries: 2, first, .. } if *switch == guid => Some(first),
            _ => None,
        });
        let groups = groups.unwrap_or_else(|| panic!("{news:?}"));
        let lost: Vec<PortNum> =
            groups[0].before.iter().copied().filter(|port| !groups[0].now.contains(port)).collect();
        assert_eq!((groups[0].group, lost), (0xc000, vec![PortNum(2)]));
        assert_eq!(
            (groups[1].group, &groups[1].before, &groups[1].now),
            (0xc001, &vec![], &vec![PortNum(1)])
        );
        assert_eq!(news.len(), 2, "{news:?}");
        if wanted.multicast {
            let fresh = look_at(&mut watched.simulator.open_port(None).unwrap(), HELD);
            assert_eq!(watched.look.tables, fresh.tables);
        }
        assert_eq!(watched.settled(&mut last, 31), []);
    }
}

/// Tables of a switch that was not there at first are read with the sweep behind the one that found it, and are no drift;
/// those of one that comes back are told where they differ.
#[test]
fn a_switch_that_comes_brings_its_tables_with_the_next_sweep() {
    let planned = fabric("kary,k=3,n=2");
    let newcomer = switches(&planned)[4];
    let guid = planned.node(newcomer).guid();
    let simulator = simulated(&planned, LineFaults::default(), 1);
    plug(&simulator, &planned, newcomer, false);
    let port = simulator.open_port(None).unwrap();
    // Nothing has its turn but what is new.
    let policy = ExchangePolicy { drift_period: Duration::ZERO, ..ExchangePolicy::default() };
    let mut watched = WatchedSource::looked(simulator.clone(), port, policy, HELD);
    let mut last = watched.sweep(Duration::ZERO).began;
    watched.manager();
    watched.next(&mut last);
    plug(&simulator, &planned, newcomer, true);
    let news = watched.next(&mut last);
    assert!(news.contains(&FabricEvent::NodeAppeared { node: guid }), "{news:?}");
    let held = |watched: &WatchedSource| {
        let node = watched.look.fabric.node_by_guid(guid).unwrap();
        watched.look.tables.nodes.get(&node).cloned()
    };
    assert_eq!(held(&watched), None);
    // Others' lanes to ports that have a cable now are a first reading too, and wait for their turn.
    let swept = watched.sweep(last + Duration::from_secs(10));
    assert!(swept.retabled && swept.news.is_empty(), "{:?}", swept.news);
    last = swept.began;
    let calm = look_at(&mut watched.simulator.open_port(None).unwrap(), HELD);
    let there = calm.fabric.node_by_guid(guid).unwrap();
    assert_eq!(held(&watched).as_ref(), calm.tables.nodes.get(&there));
    assert!(!watched.sweep(last + Duration::from_secs(10)).retabled, "they are read once");
    last += Duration::from_secs(10);
    // It falls silent, is rewritten meanwhile, and answers again.
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(newcomer, true));
    watched.settled(&mut last, 2);
    let lid = Lid::new(9).unwrap();
    simulator.with_simulator(|simulator| {
        simulator.fabric_mut().set_silent(newcomer, false);
        simulator.fabric_mut().set_entry(newcomer, lid, PortNum(5));
    });
    let news = watched.settled(&mut last, 3);
    let drift = news.iter().any(|news| {
        matches!(news, FabricEvent::TableDrift { switch, entries: 1, first, .. } if *switch == guid && first[0].lid == lid)
    });
    assert!(news.contains(&FabricEvent::NodeAnswers { node: guid }) && drift, "{news:?}");
}

/// A switch that nobody has set up yet has no table to read; as soon as it has one it is read.
#[test]
fn a_switch_that_is_not_set_up_yet_is_read_when_it_is() {
    let planned = fabric("torus,dims=4,terminals=1");
    let newcomer = switches(&planned)[2];
    let guid = planned.node(newcomer).guid();
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let route = route_to(&planned, newcomer);
    let top = planned.nodes().len() as u16;
    let set_top = |top: u16| {
        write::<SwitchInfo>(&simulator, &route, (attribute::SWITCH_INFO, 0), |info| {
            info.linear_top = top.into();
            info.life_state &= !0x04;
        });
    };
    set_top(0);
    plug(&simulator, &planned, newcomer, false);
    let port = simulator.open_port(None).unwrap();
    let policy = ExchangePolicy { drift_period: Duration::ZERO, ..ExchangePolicy::default() };
    let mut watched = WatchedSource::looked(simulator.clone(), port, policy, TABLES);
    let mut last = watched.sweep(Duration::ZERO).began;
    plug(&simulator, &planned, newcomer, true);
    watched.settled(&mut last, 9);
    let lft = |watched: &WatchedSource| {
        let node = watched.look.fabric.node_by_guid(guid)?;
        watched.look.tables.lft(node).cloned()
    };
    assert_eq!(lft(&watched), None);
    set_top(top);
    assert_eq!(watched.settled(&mut last, 3), []);
    assert!(lft(&watched).unwrap().routed_lids().count() > 4, "{:?}", lft(&watched));
}

/// Where a switch says that its table ends sooner than it did, what was known beyond is no route any more: at once, though
/// nobody reads those blocks again.
#[test]
fn what_lies_above_a_top_that_fell_is_no_route() {
    for wanted in [TABLES, TOPOLOGY] {
        let planned = fabric("kary,k=4,n=3");
        let (mut watched, mut last) = watched("kary,k=4,n=3", wanted, false);
        if !wanted.tables {
            // Nothing is known before everything was read once.
            watched.settled(&mut last, 30);
        }
        let switch = switches(&planned)[40];
        let (guid, route) = (planned.node(switch).guid(), route_to(&planned, switch));
        let top = watched.look.fabric.top_lid().unwrap().value();
        let simulator = watched.simulator.clone();
        let set_top = |top: u16| {
            write::<SwitchInfo>(&simulator, &route, (attribute::SWITCH_INFO, 0), |info| {
                info.linear_top = top.into();
                info.life_state &= !0x04;
            });
        };
        let before = look_at(&mut watched.simulator.open_port(None).unwrap(), TABLES);
        let known = before.tables.lft(switch).unwrap();
        let gone = known.routed_lids().filter(|(lid, _)| lid.value() > 40).count();
        assert!(top > 2 * 64 / 2 && gone > 64, "{top} {gone}");
        set_top(40);
        let swept = watched.sweep(last + Duration::from_secs(10));
        last = swept.began;
        let drift: Vec<&FabricEvent> =
            swept.news.iter().filter(|news| matches!(news, FabricEvent::TableDrift { .. })).collect();
        let [FabricEvent::TableDrift { switch: told, blocks, entries, first, .. }] = drift[..] else {
            panic!("{:?}", swept.news)
        };
        assert_eq!((*told, blocks.as_slice(), *entries), (guid, &[0, 1][..], gone), "{wanted:?}");
        assert!(first[0].lid.value() == 41 && first[0].now.is_none() && first[0].before.is_some());
        let as_fresh = |watched: &WatchedSource| {
            let fresh = look_at(&mut watched.simulator.open_port(None).unwrap(), TABLES);
            assert_eq!(watched.look.tables.lft(switch), fresh.tables.lft(switch).filter(|_| wanted.tables));
        };
        as_fresh(&watched);
        assert_eq!(swept.retabled, wanted.tables);
        // It is told once; and what is there again when the top rises is told within the period.
        let drifts = |news: Vec<FabricEvent>| -> usize {
            let of = |news: &FabricEvent| match news {
                FabricEvent::TableDrift { entries, first, .. } if first[0].before.is_none() => *entries,
                FabricEvent::TableDrift { .. } => panic!("{news:?}"),
                _ => 0,
            };
            news.iter().map(of).sum()
        };
        assert_eq!(drifts(watched.settled(&mut last, 31)), 0);
        set_top(top);
        assert_eq!(drifts(watched.settled(&mut last, 31)), gone, "{wanted:?}");
        as_fresh(&watched);
    }
}
