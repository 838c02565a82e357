//! The port of an adapter. The kernel matches answers to requests, and returns a request without an answer in time.

use std::time::{Duration, Instant};

use super::super::mad_source::{PlaneSource, PlaneSources};
use super::super::paired_port::PairedPort;
use super::adapter::PortChoice;
use super::adapters::list_adapters;
use super::driver::{MadLibrary, UmadAgent, UmadDevice, UmadDriver};
use super::packet::{Endpoint, ReceivedPacket};
use super::port_choice::{choose_port, other_planes};
use super::refusal;
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadAddress, MadPort, PortError, PortEvent, QP1_KEY, ReadPort, SourceError,
};
use fabdeck_mad::{Class, MAD_SIZE, Mad, Method, RECORD_AT};

/// Opens the first active port with this adapter and number, for reading.
pub fn open_umad_port(adapter: Option<&str>, port: Option<u8>) -> Result<ReadPort, SourceError> {
    MadLibrary::default().open_port(adapter, port)
}

impl MadLibrary {
    /// Opens the first active port with this adapter and number, for reading.
    pub fn open_port(self, adapter: Option<&str>, port: Option<u8>) -> Result<ReadPort, SourceError> {
        let library = self.load()?;
        let adapters = list_adapters(library.as_ref());
        let chosen = choose_port(&adapters, adapter, port)?;
        let gsi = UmadPort::open(library, &chosen.gsi)?;
        if chosen.smi.is_same(&chosen.gsi) {
            return Ok(ReadPort::new(gsi));
        }
        let smi = UmadPort::open(self.load()?, &chosen.smi)?;
        Ok(ReadPort::new(PairedPort::new(smi, gsi)))
    }

    /// Opens the first active port with this adapter and number, for reading, and the ports of its further planes.
    pub fn open_planes(
        self,
        adapter: Option<&str>,
        port: Option<u8>,
    ) -> Result<(ReadPort, PlaneSources), SourceError> {
        let main = self.open_port(adapter, port)?;
        let adapters = self.adapters()?;
        let chosen = choose_port(&adapters, adapter, port)?;
        let mut planes = PlaneSources { main: chosen.smi.port.number.value(), others: Vec::new() };
        for other in other_planes(&adapters, &chosen) {
            let opened = self.load().and_then(|library| UmadPort::open(library, &other));
            let port = opened.map(ReadPort::new).map_err(|error| error.to_string());
            planes.others.push(PlaneSource { plane: other.port.number.value(), port });
        }
        Ok((main, planes))
    }
}

struct UmadPort {
    device: Box<dyn UmadDevice>,
    local: LocalPort,
    /// The port and its device file, for messages.
    place: String,
    /// The registered classes: a class is registered when its first MAD is sent.
    agents: Vec<(Class, UmadAgent)>,
    /// The agent for reports, if reports are wanted.
    reports: Option<UmadAgent>,
    /// Number of requests that the kernel will answer or return.
    owed: u32,
    begun: Instant,
}

/// How long a port that closes waits for these.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

impl UmadPort {
    fn open(library: Box<dyn UmadDriver>, choice: &PortChoice<'_>) -> Result<Self, SourceError> {
        let (name, number) = (choice.name(), choice.port.number);
        // Looked up before opening: without the device the library prints to standard error.
        let file = library
            .device_path(&choice.adapter.name, number.value())
            .ok_or_else(|| refusal::no_device(&name))?;
        let device = library
            .open(&choice.adapter.name, number.value())
            .map_err(|e| refusal::not_opened(&file, &name, &e))?;
        if !device.has_current_envelope() {
            return Err(refusal::old_kernel(&file));
        }
        let place = format!("{name} ({file})");
        let (guid, lid, manager_lid) = (choice.port.guid, choice.port.lid, choice.port.manager_lid);
        let local = LocalPort { name, number, guid, lid, manager_lid, simulated: false };
        Ok(Self { device, local, place, agents: Vec::new(), reports: None, owed: 0, begun: Instant::now() })
    }

    fn agent_for(&mut self, class: Class) -> Result<UmadAgent, PortError> {
        if let Some((_, agent)) = self.agents.iter().find(|(known, _)| *known == class) {
            return Ok(*agent);
        }
        let registered = self.device.register(class.0, class.version(), None);
        let agent = registered.map_err(|e| refusal::no_agent(&self.place, class, &e))?;
        self.agents.push((class, agent));
        Ok(agent)
    }
}

impl Clock for UmadPort {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl MadPort for UmadPort {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        let agent = self.agent_for(parcel.mad.class())?;
        let timeout_ms = timeout_ms(&parcel.mad, patience);
        let sent = self.device.send(agent, to_endpoint(parcel.address), &parcel.mad.0, timeout_ms);
        sent.map_err(|e| refusal::not_sent(&self.place, &e))?;
        self.owed = self.owed.saturating_add(u32::from(timeout_ms > 0));
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        loop {
            let left = until.saturating_sub(self.now());
            let received = self.device.receive(left).map_err(|e| refusal::not_received(&self.place, &e))?;
            match received.as_ref().map(to_event) {
                Some(Some(arrival)) => {
                    let asked =
                        !matches!(&arrival, PortEvent::Mad(parcel) if !parcel.mad.method().is_response());
                    self.owed = self.owed.saturating_sub(asked.into());
                    return Ok(Some(arrival));
                }
                // A packet that is there already is returned even when the time is over.
                _ if left.is_zero() => return Ok(None),
                // The wait ended early, or the packet is too short to belong to a request.
                _ => {}
            }
        }
    }

    fn accept_reports(&mut self) -> Result<(), PortError> {
        if self.reports.is_none() {
            let class = Class::SUBNET_ADMINISTRATION;
            let agent = self.device.register(class.0, class.version(), Some(Method::REPORT.0));
            self.reports = Some(agent.map_err(|e| refusal::no_agent(&self.place, class, &e))?);
        }
        Ok(())
    }

    fn accept_requests(&mut self) -> Result<(), PortError> {
        let class = Class::HOST_AGENTS;
        if self.agents.iter().all(|(known, _)| *known != class) {
            let agent = self.device.register(class.0, class.version(), Some(Method::GET.0));
            self.agents.push((class, agent.map_err(|e| refusal::no_agent(&self.place, class, &e))?));
        }
        // For a kernel these registrations cost nothing. ibsim passes a process that looks like a subnet manager the
        // MADs for one, and its library crashes on an unregistered class.
        [Class::SUBNET_LID, Class::SUBNET_DIRECTED]
            .into_iter()
            .try_for_each(|class| self.agent_for(class).map(drop))
    }
}

/// Waits for answers before the port closes: ibsim's library crashes on an answer to a closed port. A kernel does not
/// need this.
impl Drop for UmadPort {
    fn drop(&mut self) {
        let until = self.now() + CLOSE_TIMEOUT;
        while self.owed > 0 && matches!(self.receive(until), Ok(Some(_))) {}
        let agents = std::mem::take(&mut self.agents).into_iter().map(|(_, agent)| agent);
        for agent in agents.chain(self.reports.take()) {
            self.device.unregister(agent);
        }
    }
}

/// The timeout for the kernel; 0 if no answer is due, for which it would wait.
fn timeout_ms(mad: &Mad, patience: Duration) -> i32 {
    if mad.method().is_response() || mad.method() == Method::SEND || mad.is_transfer_control() {
        return 0;
    }
    i32::try_from(patience.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX).max(1)
}

fn to_endpoint(address: MadAddress) -> Endpoint {
    let MadAddress { lid, queue_pair, service_level } = address;
    let queue_key = if queue_pair == 0 { 0 } else { QP1_KEY };
    Endpoint { lid, queue_pair, queue_key, service_level }
}

/// The meaning of a packet; `None` if it is shorter than a MAD header.
fn to_event(packet: &ReceivedPacket<'_>) -> Option<PortEvent> {
    const HEADER: usize = 24;
    let given = packet.data.get(..packet.data.len().min(MAD_SIZE)).filter(|data| data.len() >= HEADER)?;
    let mut mad = Mad::default();
    for (to, from) in mad.0.iter_mut().zip(given) {
        *to = *from;
    }
    // The kernel uses the upper half.
    let transaction = (mad.header().transaction.get() & u64::from(u32::MAX)) as u32;
    if packet.status != 0 || given.len() < min_length(mad.class()) {
        return Some(PortEvent::Unanswered(transaction));
    }
    let Endpoint { lid, queue_pair, service_level, .. } = packet.from;
    Some(PortEvent::Mad(AddressedMad { mad, address: MadAddress { lid, queue_pair, service_level } }))
}

/// Smallest length of an answer. A kernel always returns 256 bytes. OpenSM sends an answer of subnet administration
/// only up to the end of its record, and ibsim keeps that length; the rest is zero.
fn min_length(class: Class) -> usize {
    if class == Class::SUBNET_ADMINISTRATION { RECORD_AT } else { MAD_SIZE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::{PathRecord, RecordTransfer, TransferStep, attribute, record_segments};

    const FROM: Endpoint = Endpoint { lid: 7, queue_pair: 1, queue_key: 0, service_level: 3 };

    fn answer() -> Mad {
        let mut mad = Mad::new(Class::PERFORMANCE, Method::GET_RESPONSE, attribute::PORT_COUNTERS, 0);
        mad.header_mut().transaction = 0x0001_0002_1122_3344.into();
        mad
    }

    #[test]
    fn an_answer_comes_with_its_address() {
        let mad = answer();
        let address = MadAddress { lid: 7, queue_pair: 1, service_level: 3 };
        let said = to_event(&ReceivedPacket { status: 0, from: FROM, data: &mad.0 });
        assert_eq!(said, Some(PortEvent::Mad(AddressedMad { mad, address })));
    }

    #[test]
    fn a_request_given_back_is_unanswered() {
        let mad = answer();
        for (status, length) in [(110, 256), (110, 24), (5, 256), (0, 255)] {
            let said = to_event(&ReceivedPacket { status, from: FROM, data: &mad.0[..length] });
            assert_eq!(said, Some(PortEvent::Unanswered(0x1122_3344)), "{status} {length}");
        }
        for length in [0, 23] {
            assert_eq!(to_event(&ReceivedPacket { status: 110, from: FROM, data: &mad.0[..length] }), None);
        }
    }

    /// As OpenSM sends a path record: 56 bytes of headers and 64 of the record.
    #[test]
    fn an_answer_of_subnet_administration_ends_with_its_record() {
        let mut mad = Mad::administration(Method::GET_RESPONSE, attribute::PATH_RECORD, 0);
        mad.record_mut::<PathRecord>().qos_class_sl = 5.into();
        let said = to_event(&ReceivedPacket { status: 0, from: FROM, data: &mad.0[..120] });
        let Some(PortEvent::Mad(parcel)) = said else { panic!("{said:?}") };
        assert_eq!(parcel.mad.record::<PathRecord>().service_level(), 5);
        for (status, length) in [(110, 120), (0, 55)] {
            let said = to_event(&ReceivedPacket { status, from: FROM, data: &mad.0[..length] });
            assert!(matches!(said, Some(PortEvent::Unanswered(_))), "{status} {length}");
        }
    }

    #[test]
    fn a_longer_datagram_is_cut() {
        let mut long = [0; 2048];
        long[..MAD_SIZE].copy_from_slice(&answer().0);
        let said = to_event(&ReceivedPacket { status: 0, from: FROM, data: &long });
        assert!(matches!(said, Some(PortEvent::Mad(parcel)) if parcel.mad == answer()));
    }

    #[test]
    fn only_what_is_answered_has_a_time_out() {
        let patience = Duration::from_micros(1_500);
        let timeout_ms = |method, patience| {
            timeout_ms(&Mad::new(Class::PERFORMANCE, method, attribute::PORT_COUNTERS, 0), patience)
        };
        assert_eq!(timeout_ms(Method::GET, patience), 2);
        assert_eq!(timeout_ms(Method::GET, Duration::ZERO), 1, "with 0 the kernel would match no answer");
        assert_eq!(timeout_ms(Method::GET, Duration::MAX), i32::MAX);
        for method in [Method::GET_RESPONSE, Method::REPORT_RESPONSE, Method::TRAP_REPRESS, Method::SEND] {
            assert_eq!(timeout_ms(method, patience), 0);
        }
        // An acknowledgement of a segment has the method of its query.
        let mut transfer = RecordTransfer::default();
        let segment =
            &record_segments(&Mad::administration(Method::GET_TABLE_RESPONSE, 0x38, 0), &[1; 600], 56)[0];
        let TransferStep::Acknowledge(control) = transfer.take(segment) else {
            panic!("more segments follow")
        };
        assert_eq!((control.method(), super::timeout_ms(&control, patience)), (Method::GET_TABLE, 0));
    }

    #[test]
    fn the_well_known_key_goes_to_every_queue_pair_but_0() {
        assert_eq!(to_endpoint(MadAddress::directed()).queue_key, 0);
        assert_eq!(to_endpoint(MadAddress { lid: 1, queue_pair: 1, service_level: 0 }).queue_key, QP1_KEY);
    }
}
