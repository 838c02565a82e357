//! Traps, if the user asked for them: subscribing at the subnet manager, answering its reports, and unsubscribing.
//! Watching a fabric sends nothing else but Gets.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::discovery_state::{DiscoveredNode, far_end};
use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_fabric::observe::{FabricEvent, KnownManager};
use fabdeck_fabric::{Fabric, Guid, Lid, PortId, PortNum};
use fabdeck_mad::access::{
    AddressedMad, Clock, InformToken, LocalPort, MadAddress, MadPort, PortError, PortEvent, ReadPort,
    SourceError,
};
use fabdeck_mad::{Class, InformInfo, Mad, Method, Notice, attribute, trap};

/// Number of reports that are kept between two sweeps; more are only counted.
const MAX_KEPT_REPORTS: usize = 4096;
/// Number of transactions by which repeated reports are recognized.
const MAX_KNOWN_TRANSACTIONS: usize = 1024;
/// When a subscription is renewed: the subnet manager may have restarted without it.
const RENEW_INTERVAL: Duration = Duration::from_secs(300);
/// Timeout for the answer to the unsubscription.
const UNSUBSCRIBE_TIMEOUT: Duration = Duration::from_millis(200);
/// The transaction of the unsubscription: the highest one below those of Sets.
const UNSUBSCRIBE_TRANSACTION: u32 = 0x3FFF_FFFF;

/// A port that answers reports on the side, and keeps their notices.
#[derive(Debug)]
pub struct TrapListener {
    port: ReadPort,
    /// Whether reports are expected.
    listening: bool,
    notices: Vec<Notice>,
    left_out: u64,
    /// The LIDs and transactions of the last reports.
    known: VecDeque<(u16, u64)>,
}

impl TrapListener {
    pub fn new(port: ReadPort) -> Self {
        Self { port, listening: false, notices: Vec::new(), left_out: 0, known: VecDeque::new() }
    }

    pub fn port(&self) -> &ReadPort {
        &self.port
    }

    /// The notices since the last call, and the number of those left out.
    fn take_notices(&mut self) -> (Vec<Notice>, u64) {
        (std::mem::take(&mut self.notices), std::mem::take(&mut self.left_out))
    }

    /// Answers a report, and keeps it unless it is a repetition.
    fn acknowledge_report(&mut self, parcel: &AddressedMad) -> Result<(), PortError> {
        let mut answer = parcel.clone();
        answer.mad.header_mut().method = Method::REPORT_RESPONSE.0;
        self.port.send(&answer, Duration::ZERO)?;
        let who = (parcel.address.lid, parcel.mad.header().transaction.get());
        if self.known.contains(&who) {
            return Ok(());
        }
        if self.known.len() >= MAX_KNOWN_TRANSACTIONS {
            self.known.pop_front();
        }
        self.known.push_back(who);
        let notice = *parcel.mad.record::<Notice>();
        match self.notices.len() < MAX_KEPT_REPORTS {
            true => self.notices.extend(notice.is_generic().then_some(notice)),
            false => self.left_out += 1,
        }
        Ok(())
    }
}

impl Clock for TrapListener {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for TrapListener {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        for _ in 0..MAX_KEPT_REPORTS {
            match self.port.receive(until)? {
                Some(PortEvent::Mad(parcel)) if self.listening && is_report(&parcel) => {
                    self.acknowledge_report(&parcel)?
                }
                other => return Ok(other),
            }
        }
        Ok(None)
    }
}

fn is_report(parcel: &AddressedMad) -> bool {
    let mad = &parcel.mad;
    mad.class() == Class::SUBNET_ADMINISTRATION
        && mad.method() == Method::REPORT
        && mad.header().attribute.get() == attribute::NOTICE
        && parcel.address.queue_pair == 1
}

/// The state of a source with a subscription.
#[derive(Debug)]
pub struct TrapSubscription {
    token: InformToken,
    /// The subnet manager that was asked last (LID and GUID), and when.
    asked: Option<(Lid, Guid, Duration)>,
    /// The LID of the subnet manager with a subscription.
    subscribed: Option<Lid>,
    /// Whether the lack of a subnet manager was noted.
    alone: bool,
    opened: bool,
    /// Events that no sweep has reported so far; below, notices whose ports no sweep has taken so far.
    unsaid: Vec<FabricEvent>,
    named: Vec<Notice>,
}

impl TrapSubscription {
    pub fn new(token: InformToken) -> Self {
        Self {
            token,
            asked: None,
            subscribed: None,
            alone: false,
            opened: false,
            unsaid: Vec::new(),
            named: Vec::new(),
        }
    }

    /// Prepares the port for subscriptions, once. If the port refuses reports, watching goes on without.
    pub fn open_reports(&mut self, listener: &mut TrapListener) -> Option<PortError> {
        if self.opened {
            return None;
        }
        self.opened = true;
        listener.port.admit_informs(self.token);
        match listener.port.accept_reports() {
            Ok(()) => {
                listener.listening = true;
                None
            }
            Err(error) => Some(error),
        }
    }

    /// Subscribes if the subnet manager in charge was not asked so far, or not recently.
    pub fn subscribe(&mut self, reader: &mut PortReader<'_>, told: &KnownManager) -> Result<(), SourceError> {
        let who = told.lid.zip(told.manager.as_ref().map(|manager| manager.guid));
        let Some((lid, guid)) = who else {
            self.asked = None;
            if !std::mem::replace(&mut self.alone, true) {
                reader.log.note("FN-532", || {
                    "traps: no subnet manager answers; the subscription is sent once one does".into()
                });
            }
            return Ok(());
        };
        let now = reader.now();
        let known = |(at, manager, when): &(Lid, Guid, Duration)| {
            (*at, *manager) == (lid, guid) && now.saturating_sub(*when) < RENEW_INTERVAL
        };
        if self.asked.as_ref().is_some_and(known) {
            return Ok(());
        }
        (self.asked, self.alone) = (Some((lid, guid, now)), false);
        let mut phase = reader.open_phase::<()>("traps");
        let retries = phase.exchange.retries();
        phase.exchange.ask(Question { parcel: inform_request(lid, true), target: 0, retries, tag: () });
        // Whatever the reply, the subscription may exist.
        self.subscribed = Some(lid);
        while let Some((_, reply)) = phase.next()? {
            let why = match reply {
                Reply::Answer(_) => continue,
                Reply::Refused(status) => format!("refuses: {status}"),
                Reply::Silence => "does not answer to that".to_owned(),
            };
            phase.log.note("FN-533", || {
                format!("traps are not reported: the subnet manager at LID {lid}, asked for them, {why}; changes are still found by \
                 each sweep")
            });
        }
        phase.end();
        Ok(())
    }

    /// Takes in notices. Returns the number of those left out.
    pub fn collect_notices(&mut self, listener: &mut TrapListener, fabric: &Fabric) -> u64 {
        let (heard, left_out) = listener.take_notices();
        self.unsaid.extend(heard.iter().map(|notice| to_news(notice, fabric)));
        self.named.extend(heard);
        left_out
    }

    /// The events for a sweep.
    pub fn take_news(&mut self) -> Vec<FabricEvent> {
        std::mem::take(&mut self.unsaid)
    }

    /// The ports in notices since the last call.
    pub fn take_named_ports(&mut self, fabric: &Fabric, nodes: &[DiscoveredNode]) -> BTreeSet<(usize, u8)> {
        let named = std::mem::take(&mut self.named);
        let ports = named.iter().flat_map(|notice| affected_ports(notice, fabric));
        // Silent nodes are asked in every sweep anyway.
        ports
            .filter(|(at, _)| nodes.get(*at).is_some_and(|node| !node.memory.silent && !node.memory.cut_off))
            .collect()
    }

    /// Unsubscribes, and waits only briefly for the answer.
    pub fn unsubscribe(&mut self, listener: &mut TrapListener) {
        let Some(lid) = self.subscribed.take() else { return };
        self.asked = None;
        let mut parcel = inform_request(lid, false);
        parcel.mad.header_mut().transaction = u64::from(UNSUBSCRIBE_TRANSACTION).into();
        let until = listener.now() + UNSUBSCRIBE_TIMEOUT;
        if listener.send(&parcel, UNSUBSCRIBE_TIMEOUT).is_err() {
            return;
        }
        while listener.now() < until {
            match listener.receive(until) {
                Ok(Some(PortEvent::Mad(parcel))) if is_answer(&parcel.mad) => return,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}

fn is_answer(mad: &Mad) -> bool {
    mad.method().is_response() && mad.header().transaction.get() as u32 == UNSUBSCRIBE_TRANSACTION
}

fn inform_request(lid: Lid, subscribe: bool) -> AddressedMad {
    // The component mask is 0: a Set of InformInfo needs none, since all components count.
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut::<InformInfo>() = InformInfo::all_traps(subscribe);
    AddressedMad { address: MadAddress::for_class(lid, mad.class()), mad }
}

fn to_news(notice: &Notice, fabric: &Fabric) -> FabricEvent {
    let lid = |lid: u16| Lid::new(lid.into());
    let about = notice.subject_lid().and_then(lid);
    let guid = notice.subject_guid().map(Guid);
    let port = guid.and_then(|guid| port_by_guid(fabric, guid));
    let port = port.or_else(|| fabric.port_by_lid(about?));
    FabricEvent::Trap {
        number: notice.trap_number.get(),
        issuer: lid(notice.issuer_lid.get()),
        producer: notice.producer(),
        lid: about,
        port: notice.subject_port().map(PortNum),
        guid,
        node: port.map(|port| fabric.node(fabric.port(port).node).guid()),
    }
}

/// A port by its GUID. All ports of a switch share the GUID of the node.
fn port_by_guid(fabric: &Fabric, guid: Guid) -> Option<PortId> {
    let switch = || fabric.port_of(fabric.node_by_guid(guid)?, PortNum::MANAGEMENT);
    fabric.port_by_guid(guid).or_else(switch)
}

/// The ports to read. After a link state change all ports of the switch, since the trap does not say which. After a
/// node appeared or vanished, the port at the other end of its cable.
fn affected_ports(notice: &Notice, fabric: &Fabric) -> Vec<(usize, u8)> {
    let place = |port: PortId| {
        let port = fabric.port(port);
        (port.node.index(), port.number.value())
    };
    if let Some(port) = notice.subject_guid().and_then(|guid| port_by_guid(fabric, Guid(guid))) {
        let node = fabric.port(port).node;
        let own = fabric.ports_of(node).filter(|(id, _)| *id == port || fabric.node(node).is_switch());
        return own.filter_map(|(id, _)| far_end(fabric, place(id))).collect();
    }
    let owner = notice.subject_lid().and_then(|lid| fabric.port_by_lid(Lid::new(lid.into())?));
    let Some(owner) = owner else { return Vec::new() };
    let (at, own) = place(owner);
    match (notice.trap_number.get(), notice.subject_port()) {
        (trap::LINK_STATE_CHANGE, _) => {
            let ports = fabric.ports_of(fabric.port(owner).node).map(|(id, _)| place(id));
            ports.filter(|(_, port)| *port != 0).collect()
        }
        (_, Some(port)) if fabric.node(fabric.port(owner).node).is_switch() => vec![(at, port)],
        _ => vec![(at, own)],
    }
}
