//! Being told of traps: what the simulator's manager reports, to whom and how often; what a watch makes of it, and that
//! nothing else goes out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabdeck_fabric::observe::{FabricEvent, Observation, Sweep};
use fabdeck_fabric::{Fabric, Lid};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{
    AddressedMad, Clock, InformToken, LocalPort, MadAddress, MadPort, NoObserver, PortError, PortEvent,
    ReadPort, Source, WritePort,
};
use fabdeck_mad::{InformInfo, Mad, Method, Notice, attribute, trap};
use fabdeck_simulator::{LineFaults, Share, SharedSimulator};

use super::altered_answers::AlteringPort;
use super::fabric_events::{between_switches, ends};
use super::{TOPOLOGY, exchange, fabric, hosts, simulated, writable};

/// Longer than anything that a sweep waits for.
const MINUTE: Duration = Duration::from_secs(60);

fn inform(port: &mut dyn MadPort, subscribe: bool) -> u16 {
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut() = InformInfo::all_traps(subscribe);
    let address = MadAddress::for_class(port.local_port().manager_lid.unwrap(), mad.class());
    let answer = exchange(port, AddressedMad { mad, address }).unwrap();
    assert_eq!(answer.method(), Method::GET_RESPONSE);
    answer.status().0
}

/// What comes within a time, each with when it came; `answers`: that it came is said.
fn reports(port: &mut WritePort, within: Duration, answers: bool) -> Vec<(u64, Notice, Duration)> {
    let until = port.now() + within;
    let mut heard = Vec::new();
    while let Some(arrival) = port.receive(until).unwrap() {
        let PortEvent::Mad(mut parcel) = arrival else { panic!("{arrival:?}") };
        assert_eq!(parcel.mad.method(), Method::REPORT);
        let transaction = parcel.mad.header().transaction.get();
        heard.push((transaction, *parcel.mad.record::<Notice>(), port.now()));
        if answers {
            parcel.mad.header_mut().method = Method::REPORT_RESPONSE.0;
            port.send(&parcel, Duration::ZERO).unwrap();
        }
    }
    heard
}

#[test]
fn the_manager_reports_to_subscribers_until_they_acknowledge() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let mut port = writable(&simulator);
    let host = *hosts(&planned).last().unwrap();
    let name = planned.node(host).guid();
    let guid = planned.ports_of(host).find_map(|(_, port)| port.facts.guid).unwrap();
    let cable = planned.ports_of(host).find(|(_, port)| port.peer.is_some()).unwrap().1;
    let set =
        |up| simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(host, cable.number, up));
    set(false);
    set(true);
    assert_eq!(reports(&mut port, MINUTE, true), [], "nobody subscribed");
    assert_eq!(inform(&mut port, false), 0x0200, "there is nothing to give back");
    assert_eq!(inform(&mut port, true), 0);
    for (up, number) in [(false, trap::GID_OUT_OF_SERVICE), (true, trap::GID_IN_SERVICE)] {
        set(up);
        let heard = reports(&mut port, MINUTE, true);
        let numbers: Vec<u16> = heard.iter().map(|(_, notice, _)| notice.trap_number.get()).collect();
        assert_eq!(numbers, [trap::LINK_STATE_CHANGE, number], "{name}");
        let (link, came) = (heard[0].1, heard[1].1);
        assert_eq!((link.producer(), came.producer()), (Notice::SWITCH, Notice::MANAGER));
        assert_eq!(came.subject_guid(), Some(guid.0));
        assert_eq!(link.subject_lid(), Some(link.issuer_lid.get()));
        let leaf = planned.port(cable.peer.unwrap()).node;
        let there = simulator.with_simulator(|simulator| {
            simulator
                .fabric()
                .snapshot()
                .port_by_lid(Lid::new(link.issuer_lid.get().into()).unwrap())
                .map(|id| simulator.fabric().snapshot().port(id).node)
        });
        assert_eq!(there, Some(leaf));
    }
    // Who does not say that it came is told again, a few times.
    set(false);
    let heard = reports(&mut port, MINUTE, false);
    let mut each: std::collections::BTreeMap<u64, usize> = Default::default();
    heard.iter().for_each(|(number, ..)| *each.entry(*number).or_default() += 1);
    assert_eq!(each.into_values().collect::<Vec<_>>(), [4, 4]);
    // Somebody else at another port hears nothing of it, and whoever left neither.
    let mut other = simulator.open_port(Some(&planned.node(hosts(&planned)[3]).facts.description)).unwrap();
    assert_eq!(inform(&mut port, false), 0);
    set(true);
    assert_eq!(reports(&mut port, MINUTE, true), []);
    assert_eq!(other.receive(other.now() + MINUTE).unwrap(), None);
}

type Log = Arc<Mutex<Vec<(u8, u16, u8)>>>;

/// A port that writes, and keeps what went out that is no Get: method, attribute, and whether InformInfo subscribes.
struct CountingPort(WritePort, Log);

impl Clock for CountingPort {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn is_virtual(&self) -> bool {
        self.0.is_virtual()
    }
}

impl MadPort for CountingPort {
    fn local_port(&self) -> &LocalPort {
        self.0.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        let (method, attribute) = (parcel.mad.method(), parcel.mad.header().attribute.get());
        if method != Method::GET {
            let subscribe = parcel.mad.record::<InformInfo>().subscribe;
            let subscribe = if attribute == attribute::INFORM_INFO { subscribe } else { 0 };
            self.1.lock().unwrap().push((method.0, attribute, subscribe));
        }
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.0.receive(until)
    }
}

struct SubscribedSource {
    simulator: SharedSimulator,
    source: LiveSource,
    look: Observation,
    last: Duration,
    log: Log,
}

impl SubscribedSource {
    fn new(planned: &Fabric, line: LineFaults, traps: bool, alter: fn(&mut Mad)) -> Self {
        Self::over(simulated(planned, line, 1), traps, alter)
    }

    fn over(simulator: SharedSimulator, traps: bool, alter: fn(&mut Mad)) -> Self {
        let log = Log::default();
        let port = ReadPort::new(AlteringPort(CountingPort(writable(&simulator), log.clone()), alter));
        let policy = ExchangePolicy { drift_period: Duration::ZERO, retries: 9, ..ExchangePolicy::default() };
        let mut source =
            LiveSource::new("sim", port, policy, Keys::default()).with_traps(InformToken::grant(traps));
        let look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
        assert_eq!(*log.lock().unwrap(), [], "a look subscribes to nothing");
        let mut told = Self { simulator, source, look, last: Duration::ZERO, log };
        assert_eq!(told.next().news, []);
        told
    }

    fn next(&mut self) -> Sweep {
        let swept = self.source.sweep(&mut self.look, self.last + MINUTE, &mut NoObserver).unwrap();
        self.last = swept.began;
        swept
    }

    fn notes(&self) -> Vec<&'static str> {
        self.look.notes.iter().map(|note| note.code).filter(|code| code.starts_with("FN-53")).collect()
    }
}

const SET: (u8, u16, u8) = (0x02, attribute::INFORM_INFO, 1);
const UNSET: (u8, u16, u8) = (0x02, attribute::INFORM_INFO, 0);
const ANSWER: (u8, u16, u8) = (0x86, attribute::NOTICE, 0);

#[test]
fn a_watch_tells_what_is_reported_and_sends_nothing_else_that_is_no_get() {
    let planned = fabric("kary,k=3,n=2");
    let host = *hosts(&planned).last().unwrap();
    let name = planned.node(host).guid();
    let quiet = |_: &mut Mad| {};
    // Lines that lose make reports come again: what is told stays the same.
    for loss in [0, 20] {
        let line = LineFaults { loss: Share::percent(loss), ..LineFaults::default() };
        let mut told = SubscribedSource::new(&planned, line, true, quiet);
        let link = between_switches(&planned)[2];
        let (node, port) = planned.ends(link)[0];
        told.simulator.with_simulator(|simulator| simulator.fabric_mut().set_link(node, port, false));
        let mut said = told.next().news;
        let news = said.clone();
        let (a, b) = ends(&planned, link);
        let of = |news: &[FabricEvent], number: u16| -> Vec<Option<fabdeck_fabric::Guid>> {
            let traps = news.iter().filter_map(|news| match news {
                FabricEvent::Trap { number: this, node, .. } if *this == number => Some(*node),
                _ => None,
            });
            traps.collect()
        };
        // Whose tables lead to the manager over the very link cannot say anything.
        let issuers = of(&news, 128);
        assert!(issuers.iter().all(|issuer| [Some(a.0), Some(b.0)].contains(issuer)), "{news:?}");
        assert!(loss > 0 || news[issuers.len()..] == [FabricEvent::LinkDown { a, b }], "{news:?}");
        assert!(news.contains(&FabricEvent::LinkDown { a, b }) && !of(&news, 128).is_empty(), "{news:?}");
        told.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(host, true));
        let news = told.next().news;
        assert_eq!(of(&news, 65), [Some(name)], "{news:?}");
        assert!(news.iter().any(FabricEvent::is_trouble));
        said.extend(news);
        told.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(host, false));
        let news = told.next().news;
        assert_eq!(of(&news, 64), [Some(name)], "{news:?}");
        said.extend(news);
        assert!(loss > 0 || told.notes().is_empty(), "{:?}", told.notes());
        let reading = told.look.reading.as_ref().unwrap();
        let sent = told.log.lock().unwrap().clone();
        let (sets, answers): (Vec<_>, Vec<_>) =
            sent.iter().copied().partition(|what: &(u8, u16, u8)| what.0 == 0x02);
        assert!(
            sets.iter().all(|what| *what == SET) && answers.iter().all(|what| *what == ANSWER),
            "{sent:?}"
        );
        assert_eq!((reading.sets, reading.reports_answered), (sets.len() as u64, answers.len() as u64));
        assert_eq!(reading.writes, 0);
        if loss == 0 {
            let traps = said.iter().filter(|news| matches!(news, FabricEvent::Trap { .. })).count();
            assert_eq!((sets.len(), answers.len()), (1, traps), "{sent:?}");
        }
        let log = told.log.clone();
        drop(told);
        assert_eq!(log.lock().unwrap().last(), Some(&UNSET), "whoever leaves gives the subscription back");
        assert_eq!(log.lock().unwrap().iter().filter(|what| **what == UNSET).count(), 1);
    }
    let mut silent = SubscribedSource::new(&planned, LineFaults::default(), false, quiet);
    silent.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(host, true));
    assert_eq!(silent.next().news, [FabricEvent::NodeSilent { node: name }]);
    let log = silent.log.clone();
    drop(silent);
    assert_eq!(*log.lock().unwrap(), [], "without the right nothing goes out");
}

#[test]
fn ending_a_watch_unsubscribes_once() {
    let mut told = SubscribedSource::new(&fabric("kary,k=2,n=2"), LineFaults::default(), true, |_| {});
    told.source.end_watch(&mut told.look);
    assert_eq!(told.look.reading.as_ref().unwrap().sets, 2);
    let log = told.log.clone();
    drop(told);
    assert_eq!(*log.lock().unwrap(), [SET, UNSET]);
}

/// Of switches with many ports that have no cable only some are read at each sweep; what a report names is read at once.
#[test]
fn the_next_sweep_reads_what_a_report_names() {
    let planned = fabric("kary,k=12,n=2");
    let mut sweeps = [0, 0];
    for (count, traps) in sweeps.iter_mut().zip([false, true]) {
        let simulator = simulated(&planned, LineFaults::default(), 1);
        simulator.with_simulator(|simulator| {
            for host in hosts(&planned).into_iter().skip(1).take(120) {
                let cables = planned.ports_of(host).filter(|(_, port)| port.peer.is_some());
                cables.for_each(|(_, port)| simulator.fabric_mut().set_link(host, port.number, false));
            }
            simulator.fabric_mut().acknowledge_changes();
        });
        let mut told = SubscribedSource::over(simulator, traps, |_| {});
        for link in between_switches(&planned).into_iter().step_by(19) {
            let (node, port) = planned.ends(link)[0];
            let (a, b) = ends(&planned, link);
            for up in [false, true] {
                // A manager is quicker than the sweep, and takes the word of switches back.
                told.simulator.with_simulator(|simulator| {
                    simulator.fabric_mut().set_link(node, port, up);
                    simulator.fabric_mut().acknowledge_changes();
                });
                let wanted = if up { FabricEvent::LinkUp { a, b } } else { FabricEvent::LinkDown { a, b } };
                let needed = (1..=9).find(|_| told.next().news.contains(&wanted));
                *count += needed.unwrap_or_else(|| panic!("{wanted:?} is never told"));
                assert!(!traps || needed == Some(1), "{wanted:?}: {needed:?}");
            }
        }
    }
    println!("{sweeps:?} sweeps without and with");
    assert!(sweeps[0] > sweeps[1], "{sweeps:?}");
}

#[test]
fn a_manager_that_refuses_or_is_silent_is_reported_and_the_watch_continues() {
    let planned = fabric("kary,k=3,n=2");
    let refuse = |mad: &mut Mad| {
        if mad.header().attribute.get() == attribute::INFORM_INFO {
            mad.header_mut().status = 0x0200.into();
        }
    };
    let swallow = |mad: &mut Mad| {
        if mad.header().attribute.get() == attribute::INFORM_INFO {
            mad.header_mut().transaction = 0.into();
        }
    };
    for (alter, tries) in [(refuse as fn(&mut Mad), 1), (swallow, 10)] {
        let mut told = SubscribedSource::new(&planned, LineFaults::default(), true, alter);
        assert_eq!(told.notes(), ["FN-533"]);
        let host = *hosts(&planned).last().unwrap();
        told.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(host, true));
        let news = told.next().news;
        assert!(news.contains(&FabricEvent::NodeSilent { node: planned.node(host).guid() }), "{news:?}");
        assert_eq!(told.notes(), ["FN-533"], "once");
        let sent = told.log.lock().unwrap().iter().filter(|what| **what == SET).count();
        assert_eq!(sent, tries, "nobody is asked at every sweep");
    }
}
