//! The states of all ports of a switch in one datagram: what it finds, and what becomes of switches that refuse, are
//! silent, or say what is not true.

use std::time::Duration;

use fabdeck_fabric::PortNum;
use fabdeck_fabric::observe::FabricEvent;
use fabdeck_live::ExchangePolicy;
use fabdeck_mad::access::ReadPort;
use fabdeck_mad::attribute;
use fabdeck_simulator::{LineFaults, PortStatesForm};

use super::logged_port::{LoggedPort, SentMads};
use super::sweeps::WatchedSource;
use super::{TOPOLOGY, fabric, simulated, switches};

const PERIOD: Duration = Duration::from_secs(10);

/// Sweeps a quiet fabric, then one whose link fell while the subnet manager cleared the sign of it. Returns how often
/// the table was asked in each sweep, and the events of each.
fn watch(form: PortStatesForm) -> (Vec<usize>, Vec<Vec<FabricEvent>>) {
    let fabric = fabric("kary,k=3,n=2");
    let simulator = simulated(&fabric, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        for switch in switches(&fabric) {
            simulator.fabric_mut().set_port_states(switch, form);
        }
    });
    let sent = SentMads::default();
    let port = ReadPort::new(LoggedPort(simulator.open_port(None).unwrap(), sent.clone()));
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TOPOLOGY);
    let (mut asked, mut news, mut at) = (Vec::new(), Vec::new(), Duration::ZERO);
    for sweep in 0..4 {
        if sweep == 3 {
            watched.simulator.with_simulator(|simulator| {
                simulator.fabric_mut().set_link(switches(&fabric)[0], PortNum(4), false);
                simulator.fabric_mut().acknowledge_changes();
            });
        }
        sent.lock().unwrap().clear();
        let swept = watched.sweep(at);
        at = swept.began + PERIOD;
        let of_table = |(_, asked): &&(_, u16)| *asked == attribute::SWITCH_PORT_STATES;
        asked.push(sent.lock().unwrap().iter().filter(of_table).count());
        news.push(swept.news);
    }
    (asked, news)
}

#[test]
fn one_datagram_a_switch_finds_a_port_that_changed() {
    let (asked, news) = watch(PortStatesForm::Held);
    let switches = switches(&fabric("kary,k=3,n=2")).len();
    assert_eq!(asked, vec![switches; 4]);
    assert!(news[..3].iter().all(Vec::is_empty), "{news:?}");
    assert!(!news[3].is_empty(), "the link that fell is found without its sign");
}

#[test]
fn switches_without_the_table_are_asked_once_and_nothing_wrong_is_said() {
    let switches = switches(&fabric("kary,k=3,n=2")).len();
    for form in [PortStatesForm::Refused, PortStatesForm::Silent, PortStatesForm::Nonsense] {
        let (asked, news) = watch(form);
        assert_eq!(asked, [switches, 0, 0, 0], "{form:?}");
        assert!(news[..3].iter().all(Vec::is_empty), "{form:?}: {news:?}");
    }
    let (asked, _) = watch(PortStatesForm::Absent);
    assert_eq!(asked, [0; 4]);
}
