//! What sweeps make of answers that do not come for a while, or come as refusals: agents for counters that are mute, switches
//! that are heard a little later, a local port that does not tell of the subnet manager.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabdeck_fabric::observe::{FabricEvent, KnownManager};
use fabdeck_fabric::{NodeId, NodeTables, PortNum};
use fabdeck_live::ExchangePolicy;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort};
use fabdeck_mad::{Class, Mad, MftBlock, Smp, SwitchInfo, attribute};
use fabdeck_simulator::{LineFaults, SharedSimulator};

use super::fabric_events::TEN_SECONDS;
use super::sweeps::WatchedSource;
use super::table_drift::{HELD, write};
use super::{ReadOptions, TOPOLOGY, fabric, look_at, plug, route_to, simulated, switches};

/// What happens to an answer, and whether it comes at all.
type AnswerFilter = Box<dyn FnMut(&mut Mad) -> bool + Send>;

/// How answers are meddled with from now on.
type SharedFilter = Arc<Mutex<Option<AnswerFilter>>>;

/// A port over whose answers somebody meddles for a while.
struct FilteredPort {
    port: ReadPort,
    how: SharedFilter,
}

impl Clock for FilteredPort {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for FilteredPort {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        loop {
            let mut arrival = self.port.receive(until)?;
            let comes = match (&mut arrival, self.how.lock().unwrap().as_mut()) {
                (Some(PortEvent::Mad(parcel)), Some(how)) => how(&mut parcel.mad),
                _ => true,
            };
            if comes {
                return Ok(arrival);
            }
        }
    }
}

/// A fabric that is watched, and how its answers are meddled with from now on.
fn watched(
    simulator: &SharedSimulator,
    policy: ExchangePolicy,
    wanted: ReadOptions,
) -> (WatchedSource, SharedFilter) {
    let how = SharedFilter::default();
    let port =
        ReadPort::new(FilteredPort { port: simulator.open_port(None).unwrap(), how: Arc::clone(&how) });
    (WatchedSource::looked(simulator.clone(), port, policy, wanted), how)
}

/// A switch that came has its tables read before their turn, whatever else of it is not heard in that sweep: where its agent
/// for counters alone is mute at once, and where it was not heard itself with the next sweep.
#[test]
fn tables_of_a_switch_that_came_are_read_though_others_of_its_answers_are_not_heard() {
    let no_counters = |_: usize| -> AnswerFilter { Box::new(|mad| mad.class() != Class::PERFORMANCE) };
    // So often each of all switches is asked; when it is asked once more it answers.
    let no_state = |switches: usize| -> AnswerFilter {
        let mut left = switches * (ExchangePolicy::default().retries as usize + 1);
        Box::new(move |mad| {
            let lost = left > 0 && mad.header().attribute.get() == attribute::SWITCH_INFO;
            left -= usize::from(lost);
            !lost
        })
    };
    for (meddle, sweeps) in [(&no_counters as &dyn Fn(usize) -> AnswerFilter, 1), (&no_state, 2)] {
        let planned = fabric("kary,k=3,n=2");
        let newcomer = switches(&planned)[4];
        let guid = planned.node(newcomer).guid();
        let simulator = simulated(&planned, LineFaults::default(), 1);
        plug(&simulator, &planned, newcomer, false);
        // Nothing has its turn but what is new.
        let policy = ExchangePolicy { drift_period: Duration::ZERO, ..ExchangePolicy::default() };
        let (mut watched, how) = watched(&simulator, policy, HELD);
        let mut last = watched.sweep(Duration::ZERO).began;
        watched.manager();
        watched.next(&mut last);
        plug(&simulator, &planned, newcomer, true);
        let news = watched.next(&mut last);
        assert!(news.contains(&FabricEvent::NodeAppeared { node: guid }), "{news:?}");
        let held = |watched: &WatchedSource| -> Option<NodeTables> {
            let node = watched.look.fabric.node_by_guid(guid).unwrap();
            watched.look.tables.nodes.get(&node).cloned()
        };
        assert_eq!(held(&watched), None);
        *how.lock().unwrap() = Some(meddle(switches(&planned).len()));
        let news = watched.next(&mut last);
        let silent = |news: &FabricEvent| matches!(news, FabricEvent::NodeSilent { .. });
        assert!(!news.iter().any(silent), "all of them answered when they were asked who they are: {news:?}");
        *how.lock().unwrap() = None;
        if sweeps > 1 {
            watched.next(&mut last);
        }
        let calm = look_at(&mut simulator.open_port(None).unwrap(), HELD);
        let there: NodeId = calm.fabric.node_by_guid(guid).unwrap();
        assert_eq!(held(&watched).as_ref(), calm.tables.nodes.get(&there), "after {sweeps} sweeps");
        // Then it is fresh no more: its tables would take more than that.
        let first = watched.sweep(last + TEN_SECONDS);
        let second = watched.sweep(first.began + TEN_SECONDS);
        assert!(first.sent < second.sent + 10, "{} {}", first.sent, second.sent);
    }
}

/// A local port that refuses to tell of itself for a while has not told of another manager.
#[test]
fn a_local_port_that_refuses_leaves_the_manager_as_it_was() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let (mut watched, how) = watched(&simulator, ExchangePolicy::default(), TOPOLOGY);
    let mut last = watched.sweep(Duration::ZERO).began;
    let manager = watched.look.subnet_manager.clone();
    assert!(manager.is_some());
    *how.lock().unwrap() = Some(Box::new(|mad| {
        let smp = Smp(mad.clone());
        if smp.is_directed() && smp.hop_count() == 0 && mad.header().attribute.get() == attribute::PORT_INFO {
            // Busy; the bit of the direction stays.
            let header = mad.header_mut();
            header.status = (header.status.get() | 0x0004).into();
        }
        true
    }));
    assert_eq!(watched.settled(&mut last, 3), []);
    assert_eq!(watched.look.subnet_manager, manager);
    let silent = &watched.look.reading.as_ref().unwrap().silent;
    assert!(silent.iter().any(|silence| silence.route.is_empty() && silence.refusal.is_some()), "{silent:?}");
    // Who it is told of after that is news, and who falls silent too.
    *how.lock().unwrap() = None;
    assert_eq!(watched.settled(&mut last, 2), []);
    *how.lock().unwrap() = Some(Box::new(|mad| mad.header().attribute.get() != attribute::SM_INFO));
    let news = watched.next(&mut last);
    let [FabricEvent::ManagerChanged { before: KnownManager { manager: Some(_), lid }, now }] = &news[..]
    else {
        panic!("{news:?}")
    };
    assert_eq!(now, &KnownManager { lid: *lid, manager: None });
}

/// Groups beyond the last one that a switch says that it has are none of its groups: at once, though nobody reads those
/// blocks again.
#[test]
fn groups_beyond_the_last_one_of_a_switch_are_gone_at_once() {
    let planned = fabric("kary,k=3,n=2");
    let switch = switches(&planned)[2];
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let route = route_to(&planned, switch);
    // In the third block, and one in the first that its top will fall below.
    for (block, group) in [(0, 31), (2, 5)] {
        write::<MftBlock>(&simulator, &route, (attribute::MULTICAST_FORWARDING, block), |block| {
            block.masks[group] = (1 << 3).into();
        });
    }
    // Nothing has its turn.
    let policy = ExchangePolicy { drift_period: Duration::ZERO, ..ExchangePolicy::default() };
    let (mut watched, how) = watched(&simulator, policy, HELD);
    let mut last = watched.sweep(Duration::ZERO).began;
    let held = |watched: &WatchedSource| -> Vec<u16> {
        watched.look.tables.nodes[&switch].mft.as_ref().unwrap().groups.keys().copied().collect()
    };
    assert_eq!(held(&watched), [0xC000, 0xC01F, 0xC045]);
    *how.lock().unwrap() = Some(Box::new(|mad| {
        if mad.header().attribute.get() == attribute::SWITCH_INFO {
            let mut smp = Smp(mad.clone());
            let info = smp.data_mut::<SwitchInfo>();
            info.multicast_top = info.multicast_top.get().min(0xC00F).into();
            *mad = smp.0;
        }
        true
    }));
    let swept = watched.sweep(last + TEN_SECONDS);
    last = swept.began;
    let [FabricEvent::GroupDrift { switch: told, entries: 2, first, .. }] = &swept.news[..] else {
        panic!("{:?}", swept.news)
    };
    assert_eq!(*told, planned.node(switch).guid());
    let gone: Vec<_> = first.iter().map(|gone| (gone.group, &gone.before[..], gone.now.len())).collect();
    assert_eq!(gone, [(0xC01F, &[PortNum(3)][..], 0), (0xC045, &[PortNum(3)], 0)]);
    assert!(swept.retabled && held(&watched) == [0xC000]);
    assert_eq!(watched.settled(&mut last, 2), []);
    // Whoever looks now sees no others.
    let port = ReadPort::new(FilteredPort { port: simulator.open_port(None).unwrap(), how });
    let fresh = WatchedSource::looked(simulator.clone(), port, ExchangePolicy::default(), HELD);
    assert_eq!(held(&fresh), [0xC000]);
}
