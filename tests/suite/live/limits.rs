//! Fabrics that cannot be: without end, too deep, or saying what no node is.

use std::collections::VecDeque;
use std::time::Duration;

use fabdeck_fabric::PortNum;
use fabdeck_live::{ExchangePolicy, Keys, read_snapshot};
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, NoObserver, PortError, PortEvent};
use fabdeck_mad::{Method, NodeInfo, PortInfo, Smp, attribute};
use fabdeck_simulator::LineFaults;

use super::{ALL, TOPOLOGY, fabric, look_at, simulated};

/// Every route leads to a switch that nobody has seen before, all of whose ports have a link.
struct EndlessPort {
    now: Duration,
    local: LocalPort,
    answers: VecDeque<AddressedMad>,
    next: u64,
    alter: fn(&mut NodeInfo),
}

impl EndlessPort {
    fn new(alter: fn(&mut NodeInfo)) -> Self {
        let (name, number) = ("endless".to_owned(), PortNum(1));
        let local = LocalPort { name, number, guid: None, lid: None, manager_lid: None, simulated: true };
        Self { now: Duration::ZERO, local, answers: VecDeque::new(), next: 1, alter }
    }
}

impl Clock for EndlessPort {
    fn now(&self) -> Duration {
        self.now
    }
}

impl MadPort for EndlessPort {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, _: Duration) -> Result<(), PortError> {
        let mut smp = Smp(parcel.mad.clone());
        smp.0.header_mut().method = Method::GET_RESPONSE.0;
        match smp.0.header().attribute.get() {
            attribute::NODE_INFO => {
                let hops = smp.hop_count();
                let info = smp.data_mut::<NodeInfo>();
                (info.node_type, info.port_count, info.local_port) = (2, 36, u8::from(hops > 0));
                info.node_guid = self.next.into();
                self.next += 1;
                if hops > 0 {
                    (self.alter)(info);
                }
            }
            attribute::PORT_INFO => smp.data_mut::<PortInfo>().physical_down_default = 0x52,
            _ => {}
        }
        self.answers.push_back(AddressedMad { mad: smp.0, address: parcel.address });
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        if self.answers.is_empty() {
            self.now = self.now.max(until);
        }
        Ok(self.answers.pop_front().map(PortEvent::Mad))
    }
}

#[test]
fn a_fabric_without_end_ends_at_the_limit() {
    let policy = ExchangePolicy { nodes: 500, ..ExchangePolicy::default() };
    let mut port = EndlessPort::new(|_| {});
    let seen = read_snapshot("sim", &mut port, policy, &Keys::default(), TOPOLOGY, &mut NoObserver).unwrap();
    assert_eq!(seen.fabric.nodes().len(), 500);
    assert!(seen.is_partial() && seen.notes.has("FN-528"), "{:?}", seen.notes);
}

#[test]
fn impossible_answers_are_reported_and_left_out() {
    for alter in [
        |info: &mut NodeInfo| info.node_type = 9,
        |info: &mut NodeInfo| info.port_count = 255,
        |info: &mut NodeInfo| info.local_port = 37,
        |info: &mut NodeInfo| info.local_port = 0,
        |info: &mut NodeInfo| info.port_count = 0,
    ] {
        let mut port = EndlessPort::new(alter);
        let seen = read_snapshot(
            "sim",
            &mut port,
            ExchangePolicy::default(),
            &Keys::default(),
            ALL,
            &mut NoObserver,
        )
        .unwrap();
        assert_eq!(seen.fabric.nodes().len(), 1);
        let silent = seen.reading.as_ref().unwrap().silent.iter().filter(|s| s.asked == "NodeInfo");
        let refusals: Vec<_> = silent.map(|s| s.refusal.clone().unwrap()).collect();
        assert_eq!(refusals.len(), 36);
        assert!(refusals.iter().all(|why| why.starts_with("it ")), "{refusals:?}");
        assert!(seen.is_partial());
    }
}

/// A switch that claims the GUID of the one before it at the very port that the way goes out through.
#[test]
fn a_port_cabled_to_itself_is_no_cable() {
    let mut port = EndlessPort::new(|info| info.node_guid = 1.into());
    let seen = read_snapshot(
        "sim",
        &mut port,
        ExchangePolicy::default(),
        &Keys::default(),
        TOPOLOGY,
        &mut NoObserver,
    )
    .unwrap();
    assert_eq!(seen.fabric.nodes().len(), 1);
    assert!(seen.is_partial() && seen.notes.has("FN-521"), "{:?}", seen.notes);
    assert!(seen.fabric.links().all(|(_, link)| link.a != link.b));
}

#[test]
fn what_is_too_far_for_a_directed_route_is_reported() {
    let line = fabric("mesh,dims=70x2");
    let simulator = simulated(&line, LineFaults::default(), 1);
    let seen = look_at(&mut simulator.open_port(None).unwrap(), TOPOLOGY);
    assert!(seen.fabric.nodes().len() < line.nodes().len());
    assert!(seen.is_partial() && seen.notes.has("FN-529"), "{:?}", seen.notes);
}
