//! The states of all ports of a switch in one datagram: what it finds, and what becomes of switches that refuse, are
//! silent, or say what is not true.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fabdeck_fabric::{PhysicalState, PortState};
use fabdeck_live::ExchangePolicy;
use fabdeck_mad::access::ReadPort;
use fabdeck_mad::{Class, Mad, PortInfo, PortStateTable, Smp, attribute};
use fabdeck_simulator::{LineFaults, PortStatesForm};

use super::altered_answers::AlteringPort;
use super::logged_port::{LoggedPort, SentMads};
use super::sweeps::WatchedSource;
use super::{TOPOLOGY, fabric, simulated, switches};

const PERIOD: Duration = Duration::from_secs(10);

/// Whether the ports with this number have fallen back to the state Armed.
static ARMED: AtomicBool = AtomicBool::new(false);
const CHANGED: u8 = 4;

/// Answers in which these ports are armed. No counter and no PortStateChange tells that.
fn arm(mad: &mut Mad) {
    let header = mad.header();
    let (asked, port) = (header.attribute.get(), header.modifier.get() & 0xFF);
    if !ARMED.load(Ordering::Relaxed) || mad.class() != Class::SUBNET_DIRECTED {
        return;
    }
    let mut smp = Smp(mad.clone());
    match asked {
        attribute::PORT_INFO if port == u32::from(CHANGED) => {
            let info = smp.data_mut::<PortInfo>();
            info.set_states(PortState::Armed, PhysicalState::LinkUp);
        }
        attribute::SWITCH_PORT_STATES => {
            let table = smp.data_mut::<PortStateTable>();
            let pair = &mut table.pairs[usize::from(CHANGED / 2)];
            *pair = *pair & 0x0F | PortState::Armed.code() << 4;
        }
        _ => {}
    }
    *mad = smp.0;
}

/// Sweeps a quiet fabric three times, and once after ports have changed. Returns how often the table was asked in each
/// sweep, and in which sweeps the fabric differed.
fn watch(form: PortStatesForm) -> (Vec<usize>, Vec<bool>) {
    let fabric = fabric("kary,k=3,n=2");
    let simulator = simulated(&fabric, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        for switch in switches(&fabric) {
            simulator.fabric_mut().set_port_states(switch, form);
        }
    });
    ARMED.store(false, Ordering::Relaxed);
    let sent = SentMads::default();
    let port = ReadPort::new(LoggedPort(simulator.open_port(None).unwrap(), sent.clone()));
    let port = ReadPort::new(AlteringPort(port, arm));
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TOPOLOGY);
    let (mut asked, mut changed, mut at) = (Vec::new(), Vec::new(), Duration::ZERO);
    for sweep in 0..4 {
        ARMED.store(sweep == 3, Ordering::Relaxed);
        sent.lock().unwrap().clear();
        let swept = watched.sweep(at);
        at = swept.began + PERIOD;
        let of_table = |(_, asked): &&(_, u16)| *asked == attribute::SWITCH_PORT_STATES;
        asked.push(sent.lock().unwrap().iter().filter(of_table).count());
        changed.push(swept.fabric.is_some() || !swept.news.is_empty());
    }
    (asked, changed)
}

#[test]
fn one_datagram_a_switch_finds_ports_that_changed_and_what_cannot_be_used_is_asked_once() {
    let count = switches(&fabric("kary,k=3,n=2")).len();
    assert_eq!(watch(PortStatesForm::Held), (vec![count; 4], vec![false, false, false, true]));
    // Without the table this change waits for the turn of its ports.
    assert_eq!(watch(PortStatesForm::Absent), (vec![0; 4], vec![false; 4]));
    for form in [PortStatesForm::Refused, PortStatesForm::Silent, PortStatesForm::Nonsense] {
        let (asked, changed) = watch(form);
        assert_eq!((&asked[..], &changed[..3]), (&[count, 0, 0, 0][..], &[false; 3][..]), "{form:?}");
    }
}
