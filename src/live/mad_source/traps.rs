//! Traps, if the user asked for them: subscribing at the subnet manager, answering its reports, and unsubscribing.
//! Watching a fabric sends nothing else but Gets.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::found::FoundNode;
use super::question::{Question, Reply};
use super::reader::Reader;
use super::round::far_end;
use fabdeck_fabric::observe::{ManagerTold, News};
use fabdeck_fabric::{Fabric, Guid, Lid, PortId, PortNum};
use fabdeck_mad::access::{
    Address, Arrival, Clock, InformToken, LocalPort, MadPort, Parcel, PortError, ReadPort, SourceError,
};
use fabdeck_mad::{Class, InformInfo, Mad, Method, Notice, attribute, trap};

/// Number of reports that are kept between two sweeps; more are only counted.
const HEARD_MOST: usize = 4096;
/// Number of transactions by which repeated reports are recognized.
const KNOWN_MOST: usize = 1024;
/// When a subscription is renewed: the subnet manager may have restarted without it.
const RENEW: Duration = Duration::from_secs(300);
/// Timeout for the answer to the unsubscription.
const FAREWELL: Duration = Duration::from_millis(200);
/// The transaction of the unsubscription: the highest one below those of Sets.
const LEAVES: u32 = 0x3FFF_FFFF;

/// A port that answers reports on the side, and keeps their notices.
#[derive(Debug)]
pub struct Listener {
    port: ReadPort,
    /// Whether reports are expected.
    listening: bool,
    heard: Vec<Notice>,
    left_out: u64,
    /// The LIDs and transactions of the last reports.
    known: VecDeque<(u16, u64)>,
}

impl Listener {
    pub fn new(port: ReadPort) -> Self {
        Self { port, listening: false, heard: Vec::new(), left_out: 0, known: VecDeque::new() }
    }

    pub fn port(&self) -> &ReadPort {
        &self.port
    }

    /// The notices since the last call, and the number of those left out.
    fn take(&mut self) -> (Vec<Notice>, u64) {
        (std::mem::take(&mut self.heard), std::mem::take(&mut self.left_out))
    }

    /// Answers a report, and keeps it unless it is a repetition.
    fn hear(&mut self, parcel: &Parcel) -> Result<(), PortError> {
        let mut answer = parcel.clone();
        answer.mad.header_mut().method = Method::REPORT_RESPONSE.0;
        self.port.send(&answer, Duration::ZERO)?;
        let who = (parcel.address.lid, parcel.mad.header().transaction.get());
        if self.known.contains(&who) {
            return Ok(());
        }
        if self.known.len() >= KNOWN_MOST {
            self.known.pop_front();
        }
        self.known.push_back(who);
        let notice = *parcel.mad.record::<Notice>();
        match self.heard.len() < HEARD_MOST {
            true => self.heard.extend(notice.is_generic().then_some(notice)),
            false => self.left_out += 1,
        }
        Ok(())
    }
}

impl Clock for Listener {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for Listener {
    fn local(&self) -> &LocalPort {
        self.port.local()
    }

    fn send(&mut self, parcel: &Parcel, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<Arrival>, PortError> {
        for _ in 0..HEARD_MOST {
            match self.port.receive(until)? {
                Some(Arrival::Mad(parcel)) if self.listening && is_report(&parcel) => self.hear(&parcel)?,
                other => return Ok(other),
            }
        }
        Ok(None)
    }
}

fn is_report(parcel: &Parcel) -> bool {
    let mad = &parcel.mad;
    mad.class() == Class::SUBNET_ADMINISTRATION
        && mad.method() == Method::REPORT
        && mad.header().attribute.get() == attribute::NOTICE
        && parcel.address.queue_pair == 1
}

/// The state of a source with a subscription.
#[derive(Debug)]
pub struct Traps {
    token: InformToken,
    /// The subnet manager that was asked last (LID and GUID), and when.
    asked: Option<(Lid, Guid, Duration)>,
    /// The LID of the subnet manager with a subscription.
    subscribed: Option<Lid>,
    /// Whether the lack of a subnet manager was noted.
    alone: bool,
    opened: bool,
    /// Events that no sweep has reported so far; below, notices whose ports no sweep has taken so far.
    unsaid: Vec<News>,
    named: Vec<Notice>,
}

impl Traps {
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
    pub fn open(&mut self, listener: &mut Listener) -> Option<PortError> {
        if self.opened {
            return None;
        }
        self.opened = true;
        listener.port.admit_informs(self.token);
        match listener.port.take_reports() {
            Ok(()) => {
                listener.listening = true;
                None
            }
            Err(error) => Some(error),
        }
    }

    /// Subscribes if the subnet manager in charge was not asked so far, or not recently.
    pub fn subscribe(&mut self, reader: &mut Reader<'_>, told: &ManagerTold) -> Result<(), SourceError> {
        let who = told.lid.zip(told.manager.as_ref().map(|manager| manager.guid));
        let Some((lid, guid)) = who else {
            self.asked = None;
            if !std::mem::replace(&mut self.alone, true) {
                reader.told.note("FN-532", || {
                    "traps: no subnet manager answers whom to ask for them; once one does, it is asked".into()
                });
            }
            return Ok(());
        };
        let now = reader.now();
        let known = |(at, manager, when): &(Lid, Guid, Duration)| {
            (*at, *manager) == (lid, guid) && now.saturating_sub(*when) < RENEW
        };
        if self.asked.as_ref().is_some_and(known) {
            return Ok(());
        }
        (self.asked, self.alone) = (Some((lid, guid, now)), false);
        let mut phase = reader.phase::<()>("traps");
        let retries = phase.exchange.retries();
        phase.exchange.ask(Question { parcel: inform(lid, true), target: 0, retries, tag: () });
        // Whatever the reply, the subscription may exist.
        self.subscribed = Some(lid);
        while let Some((_, reply)) = phase.next()? {
            let why = match reply {
                Reply::Answer(_) => continue,
                Reply::Refused(status) => format!("refuses: {status}"),
                Reply::Silence => "does not answer to that".to_owned(),
            };
            phase.told.note("FN-533", || {
                format!("traps: the subnet manager at LID {lid}, asked to report them, {why}; watching goes on without")
            });
        }
        phase.end();
        Ok(())
    }

    /// Takes in notices. Returns the number of those left out.
    pub fn hear(&mut self, listener: &mut Listener, fabric: &Fabric) -> u64 {
        let (heard, left_out) = listener.take();
        self.unsaid.extend(heard.iter().map(|notice| news_of(notice, fabric)));
        self.named.extend(heard);
        left_out
    }

    /// The events for a sweep.
    pub fn say(&mut self) -> Vec<News> {
        std::mem::take(&mut self.unsaid)
    }

    /// The ports in notices since the last call.
    pub fn named(&mut self, fabric: &Fabric, nodes: &[FoundNode]) -> BTreeSet<(usize, u8)> {
        let named = std::mem::take(&mut self.named);
        let ports = named.iter().flat_map(|notice| ports_of(notice, fabric));
        // Silent nodes are asked in every sweep anyway.
        ports
            .filter(|(at, _)| nodes.get(*at).is_some_and(|node| !node.kept.silent && !node.kept.cut_off))
            .collect()
    }

    /// Unsubscribes, and waits only briefly for the answer.
    pub fn leave(&mut self, listener: &mut Listener) {
        let Some(lid) = self.subscribed.take() else { return };
        self.asked = None;
        let mut parcel = inform(lid, false);
        parcel.mad.header_mut().transaction = u64::from(LEAVES).into();
        let until = listener.now() + FAREWELL;
        if listener.send(&parcel, FAREWELL).is_err() {
            return;
        }
        while listener.now() < until {
            match listener.receive(until) {
                Ok(Some(Arrival::Mad(parcel))) if answers(&parcel.mad) => return,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}

fn answers(mad: &Mad) -> bool {
    mad.method().is_response() && mad.header().transaction.get() as u32 == LEAVES
}

fn inform(lid: Lid, subscribe: bool) -> Parcel {
    // The component mask is 0: a Set of InformInfo needs none, since all components count.
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut::<InformInfo>() = InformInfo::of_all(subscribe);
    Parcel { address: Address::of(lid, mad.class()), mad }
}

fn news_of(notice: &Notice, fabric: &Fabric) -> News {
    let lid = |lid: u16| Lid::new(lid.into());
    let about = notice.about_lid().and_then(lid);
    let guid = notice.about_guid().map(Guid);
    let port = guid.and_then(|guid| port_by_guid(fabric, guid));
    let port = port.or_else(|| fabric.port_by_lid(about?));
    News::Trap {
        number: notice.trap_number.get(),
        issuer: lid(notice.issuer_lid.get()),
        producer: notice.producer(),
        lid: about,
        port: notice.about_port().map(PortNum),
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
fn ports_of(notice: &Notice, fabric: &Fabric) -> Vec<(usize, u8)> {
    let place = |port: PortId| {
        let port = fabric.port(port);
        (port.node.index(), port.number.value())
    };
    if let Some(port) = notice.about_guid().and_then(|guid| port_by_guid(fabric, Guid(guid))) {
        let node = fabric.port(port).node;
        let own = fabric.ports_of(node).filter(|(id, _)| *id == port || fabric.node(node).is_switch());
        return own.filter_map(|(id, _)| far_end(fabric, place(id))).collect();
    }
    let owner = notice.about_lid().and_then(|lid| fabric.port_by_lid(Lid::new(lid.into())?));
    let Some(owner) = owner else { return Vec::new() };
    let (at, own) = place(owner);
    match (notice.trap_number.get(), notice.about_port()) {
        (trap::LINK_STATE_CHANGE, _) => {
            let ports = fabric.ports_of(fabric.port(owner).node).map(|(id, _)| place(id));
            ports.filter(|(_, port)| *port != 0).collect()
        }
        (_, Some(port)) if fabric.node(fabric.port(owner).node).is_switch() => vec![(at, port)],
        _ => vec![(at, own)],
    }
}
