//! Wraps a port so that it only reads, until a token allows more.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::port::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent};
use super::token::{AgentToken, InformToken, TokenError, WriteToken};
use crate::{Class, Mad, Method, Register, RegisterQuery, VendorQuery, attribute};

/// Number of datagrams that a port sent, by method, and number that it refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MadTraffic {
    pub sent: BTreeMap<u8, u64>,
    pub refused: u64,
    /// InformInfo datagrams among those sent, which subscribe to traps or end a subscription. This field and the next
    /// one count what a read port lets pass with an `InformToken`.
    pub informs: u64,
    pub reports_answered: u64,
    /// Answers of an agent that say how far it has followed a notice, and moves of flows of a simulated host. A read
    /// port lets them pass with an `AgentToken`.
    pub follows_answered: u64,
    pub flow_sets: u64,
    /// Registrations of changes with the subnet manager, with renewals and ends.
    pub registrations: u64,
}

impl MadTraffic {
    pub fn total_sent(&self) -> u64 {
        self.sent.values().sum()
    }

    /// Number of datagrams sent that are no Get or GetTable and that no other field here counts.
    pub fn write_count(&self) -> u64 {
        let others = self.sent.iter().filter(|(method, _)| !is_read(Method(**method)));
        let passed = self.informs + self.reports_answered + self.follows_answered + self.flow_sets;
        let passed = passed + self.registrations;
        others.map(|(_, count)| count).sum::<u64>() - passed
    }

    pub fn count(&mut self, method: Method) {
        *self.sent.entry(method.0).or_default() += 1;
    }
}

/// Whether a method changes nothing on any device. All other methods (Set, Delete, TrapRepress, Send) count as writes.
fn is_read(method: Method) -> bool {
    matches!(method, Method::GET | Method::GET_TABLE)
}

/// Whether a Get would clear or reset something. Registers of class 0x0A have such bits; a register that fabdeck does
/// not know counts as one that has.
fn clears_something(mad: &Mad) -> bool {
    let header = mad.header();
    if mad.class() != Class::VENDOR_DIAGNOSTICS {
        return false;
    }
    match header.attribute.get() {
        attribute::CLASS_PORT_INFO | VendorQuery::GENERAL_INFO => false,
        VendorQuery::ACCESS_REGISTER => Register::from_id(header.modifier.get())
            .is_none_or(|register| RegisterQuery::clears(register, mad.register())),
        _ => true,
    }
}

/// The method, if a datagram subscribes to traps, ends a subscription or acknowledges a report.
fn inform_method(parcel: &AddressedMad) -> Option<Method> {
    let attribute = parcel.mad.header().attribute.get();
    let administration = parcel.mad.class() == Class::SUBNET_ADMINISTRATION && parcel.address.queue_pair == 1;
    match (parcel.mad.method(), attribute) {
        (method @ Method::SET, attribute::INFORM_INFO)
        | (method @ Method::REPORT_RESPONSE, attribute::NOTICE) => administration.then_some(method),
        _ => None,
    }
}

/// Whether a datagram registers a change for other machines, or ends a registration.
fn is_registration(parcel: &AddressedMad) -> bool {
    let (mad, queue_pair) = (&parcel.mad, parcel.address.queue_pair);
    let of_services = mad.class() == Class::SUBNET_ADMINISTRATION && queue_pair == 1;
    let attribute = mad.header().attribute.get();
    of_services
        && attribute == attribute::SERVICE_RECORD
        && matches!(mad.method(), Method::SET | Method::DELETE)
}

/// The method, if a datagram is an agent's own: its answers, and at a simulated host the moves of the host's flows.
fn follow_method(parcel: &AddressedMad, local: &LocalPort) -> Option<Method> {
    let (method, attribute) = (parcel.mad.method(), parcel.mad.header().attribute.get());
    let own = local.simulated && local.lid.is_some_and(|lid| lid.value() == parcel.address.lid);
    let passes = match (method, attribute) {
        (Method::GET_RESPONSE, attribute::FOLLOW | attribute::HOST_FLOWS) => true,
        (Method::SET, attribute::HOST_FLOWS) => own,
        _ => false,
    };
    (passes && parcel.mad.class() == Class::HOST_AGENTS && parcel.address.queue_pair == 1).then_some(method)
}

/// A port that refuses everything but Get and GetTable, and counts what passes.
pub struct ReadPort {
    port: Box<dyn MadPort + Send>,
    traffic: MadTraffic,
    /// Set when subscriptions to traps may pass.
    informed: Option<InformToken>,
    /// Set when datagrams of a host's agent may pass.
    agent: Option<AgentToken>,
}

impl ReadPort {
    pub fn new(port: impl MadPort + Send + 'static) -> Self {
        Self { port: Box::new(port), traffic: MadTraffic::default(), informed: None, agent: None }
    }

    pub fn traffic(&self) -> &MadTraffic {
        &self.traffic
    }

    /// Lets subscriptions to traps and answers to reports pass from now on.
    pub fn admit_informs(&mut self, token: InformToken) {
        self.informed = Some(token);
    }

    /// Lets the datagrams of a host's agent pass from now on, subscriptions and answers to reports included.
    pub fn admit_agent(&mut self, token: AgentToken) {
        self.agent = Some(token);
    }

    /// The port that writes, if the token is for this port.
    pub fn unlock(self, token: &WriteToken) -> Result<WritePort, TokenError> {
        token.check_port(self.port.local_port())?;
        Ok(WritePort { port: self.port, traffic: self.traffic })
    }
}

/// A port that sends every datagram. Only a token makes one.
pub struct WritePort {
    port: Box<dyn MadPort + Send>,
    traffic: MadTraffic,
}

impl WritePort {
    pub fn traffic(&self) -> &MadTraffic {
        &self.traffic
    }

    pub fn lock(self) -> ReadPort {
        ReadPort { port: self.port, traffic: self.traffic, informed: None, agent: None }
    }
}

impl Clock for ReadPort {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for ReadPort {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        let method = parcel.mad.method();
        let told = self.informed.is_some() || self.agent.is_some();
        let inform = inform_method(parcel).filter(|_| told);
        let follow = follow_method(parcel, self.port.local_port()).filter(|_| self.agent.is_some());
        let clears = clears_something(&parcel.mad);
        if (!is_read(method) || clears) && inform.is_none() && follow.is_none() {
            self.traffic.refused += 1;
            let attribute = parcel.mad.header().attribute.get();
            return Err(PortError::ReadOnly { method, attribute });
        }
        self.port.send(parcel, patience)?;
        self.traffic.count(method);
        match inform {
            Some(Method::SET) => self.traffic.informs += 1,
            Some(_) => self.traffic.reports_answered += 1,
            None => {}
        }
        match follow {
            Some(Method::SET) => self.traffic.flow_sets += 1,
            Some(_) => self.traffic.follows_answered += 1,
            None => {}
        }
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.port.receive(until)
    }

    fn accept_reports(&mut self) -> Result<(), PortError> {
        self.port.accept_reports()
    }

    fn accept_requests(&mut self) -> Result<(), PortError> {
        self.port.accept_requests()
    }
}

impl Clock for WritePort {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for WritePort {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)?;
        self.traffic.count(parcel.mad.method());
        self.traffic.registrations += u64::from(is_registration(parcel));
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.port.receive(until)
    }

    fn accept_reports(&mut self) -> Result<(), PortError> {
        self.port.accept_reports()
    }

    fn accept_requests(&mut self) -> Result<(), PortError> {
        self.port.accept_requests()
    }
}

impl fmt::Debug for ReadPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadPort")
            .field("local", self.port.local_port())
            .field("traffic", &self.traffic)
            .finish()
    }
}

impl fmt::Debug for WritePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WritePort")
            .field("local", self.port.local_port())
            .field("traffic", &self.traffic)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::port::MadAddress;
    use crate::{Class, Mad, attribute};
    use fabdeck_fabric::{Guid, PortNum};

    struct Sink(LocalPort);

    impl Clock for Sink {
        fn now(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl MadPort for Sink {
        fn local_port(&self) -> &LocalPort {
            &self.0
        }

        fn send(&mut self, _: &AddressedMad, _: Duration) -> Result<(), PortError> {
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<PortEvent>, PortError> {
            Ok(None)
        }

        fn accept_reports(&mut self) -> Result<(), PortError> {
            Err(PortError::ReadOnly { method: Method::REPORT, attribute: attribute::NOTICE })
        }

        fn accept_requests(&mut self) -> Result<(), PortError> {
            Err(PortError::ReadOnly { method: Method::GET, attribute: attribute::FOLLOW })
        }
    }

    fn port(simulated: bool) -> ReadPort {
        let (name, number) = ("sink".to_owned(), PortNum(1));
        ReadPort::new(Sink(LocalPort { name, number, guid: None, lid: None, manager_lid: None, simulated }))
    }

    fn parcel(method: Method) -> AddressedMad {
        let mad = Mad::new(Class::SUBNET_DIRECTED, method, attribute::PORT_INFO, 0);
        AddressedMad { mad, address: MadAddress::directed() }
    }

    #[test]
    fn everything_but_get_is_refused_and_counted() {
        let mut port = port(false);
        for method in 0..=u8::MAX {
            let sent = port.send(&parcel(Method(method)), Duration::ZERO);
            assert_eq!(sent.is_ok(), matches!(method, 0x01 | 0x12), "{method:#x}");
        }
        assert_eq!(
            (port.traffic().total_sent(), port.traffic().write_count(), port.traffic().refused),
            (2, 0, 254)
        );
    }

    #[test]
    fn a_get_that_would_clear_something_is_refused() {
        let mut port = port(false);
        let mut send = |mad: Mad| {
            let address = MadAddress { lid: 1, queue_pair: 1, service_level: 0 };
            port.send(&AddressedMad { mad, address }, Duration::ZERO).is_ok()
        };
        let counters = RegisterQuery::Counters { port: 1, group: crate::CounterGroup::PhysicalStatistics };
        for query in [counters, RegisterQuery::Temperature { sensor: 0 }] {
            let mad = VendorQuery::Register(query).to_mad();
            assert!(send(mad.clone()), "{query:?}");
            let mut clearing = mad.clone();
            clearing.register_mut().put(4, &0x8000_0000_u32.to_be_bytes());
            clearing.register_mut().put(8, &0x4000_0000_u32.to_be_bytes());
            assert!(!send(clearing), "{query:?}");
            let mut other = mad;
            other.header_mut().modifier = 0x9014.into();
            assert!(!send(other), "no register but those that are known");
        }
        assert!(send(VendorQuery::GeneralInfo.to_mad()) && send(VendorQuery::ClassPortInfo.to_mad()));
        assert!(!send(Mad::new(Class::VENDOR_DIAGNOSTICS, Method::GET, 0xFF52, 0)));
    }

    /// With an `InformToken` two kinds of datagrams pass besides Gets, to queue pair 1 and of this class only.
    #[test]
    fn a_subscriber_to_traps_may_write_nothing_else() {
        let mut port = port(false);
        port.admit_informs(InformToken::grant(true).unwrap());
        assert_eq!(InformToken::grant(false), None);
        let classes =
            [Class::SUBNET_DIRECTED, Class::SUBNET_LID, Class::SUBNET_ADMINISTRATION, Class::PERFORMANCE];
        let mut passed = Vec::new();
        for class in classes {
            for method in 0..=u8::MAX {
                for attribute in 0..=0x40 {
                    for queue_pair in [0, 1] {
                        let mad = Mad::new(class, Method(method), attribute, 0);
                        let address = MadAddress { lid: 1, queue_pair, service_level: 0 };
                        let sent = port.send(&AddressedMad { mad, address }, Duration::ZERO).is_ok();
                        if sent && !matches!(method, 0x01 | 0x12) {
                            passed.push((class.0, method, attribute, queue_pair));
                        }
                    }
                }
            }
        }
        assert_eq!(passed, [(3, 0x02, 0x03, 1), (3, 0x86, 0x02, 1)]);
        let traffic = port.traffic();
        assert_eq!((traffic.informs, traffic.reports_answered, traffic.write_count()), (1, 1, 0));
    }

    /// With an `AgentToken` one answer of the class for hosts passes, and over a simulated port one Set to the port
    /// itself.
    #[test]
    fn an_agent_may_write_nothing_but_its_own() {
        for simulated in [false, true] {
            let (name, number) = ("sink".to_owned(), PortNum(1));
            let local = LocalPort {
                name,
                number,
                guid: None,
                lid: fabdeck_fabric::Lid::new(1),
                manager_lid: None,
                simulated,
            };
            let mut port = ReadPort::new(Sink(local));
            port.admit_agent(AgentToken::grant());
            let mut passed = Vec::new();
            for class in 0..=u8::MAX {
                for (method, attribute) in
                    (0..=u8::MAX).flat_map(|method| (0..0x14).map(move |at| (method, at)))
                {
                    for (lid, queue_pair) in [(1, 0), (1, 1), (2, 1)] {
                        let mad = Mad::new(Class(class), Method(method), attribute, 0);
                        let address = MadAddress { lid, queue_pair, service_level: 0 };
                        let sent = port.send(&AddressedMad { mad, address }, Duration::ZERO).is_ok();
                        if sent && !matches!(method, 0x01 | 0x12) && class != 3 {
                            passed.push((class, method, attribute, lid, queue_pair));
                        }
                    }
                }
            }
            // What agents answer: how far they are, and their flows.
            let mut wanted: Vec<_> =
                [0x10, 0x11].into_iter().flat_map(|at| [1, 2].map(|lid| (0x0D, 0x81, at, lid, 1))).collect();
            if simulated {
                wanted.insert(0, (0x0D, 0x02, 0x11, 1, 1));
            }
            assert_eq!((passed, port.traffic().write_count()), (wanted, 0));
            assert_eq!(port.traffic().flow_sets, u64::from(simulated));
        }
    }

    #[test]
    fn the_token_of_the_simulator_opens_no_adapter() {
        let token = WriteToken::for_simulation();
        assert_eq!(port(false).unlock(&token).unwrap_err(), TokenError::RealFabric);
        let mut open = port(true).unlock(&token).unwrap();
        open.send(&parcel(Method::SET), Duration::ZERO).unwrap();
        assert_eq!(open.traffic().write_count(), 1);
        assert!(open.lock().send(&parcel(Method::SET), Duration::ZERO).is_err());
    }

    #[test]
    fn what_a_port_is_asked_to_accept_reaches_the_port_below() {
        let (mut read, mut write) = (port(true), port(true).unlock(&WriteToken::for_simulation()).unwrap());
        // The sink can register for neither.
        for port in [&mut read as &mut dyn MadPort, &mut write] {
            assert!(matches!(port.accept_reports(), Err(PortError::ReadOnly { method: Method::REPORT, .. })));
            assert!(matches!(port.accept_requests(), Err(PortError::ReadOnly { method: Method::GET, .. })));
        }
    }

    #[test]
    fn a_token_of_an_opted_in_fabric_opens_its_port() {
        let seen = crate::access::ObservedFabric { switches: [Guid(1)].into(), ..Default::default() };
        let identity = crate::access::FabricIdentity {
            name: "site".into(),
            switches: vec![Guid(1)],
            ..Default::default()
        };
        let token = WriteToken::grant(true, std::slice::from_ref(&identity), &seen).unwrap();
        assert!(port(false).unlock(&token).is_ok());
        let elsewhere = crate::access::ObservedFabric { port: Some(Guid(5)), ..seen };
        let token = WriteToken::grant(true, &[identity], &elsewhere).unwrap();
        assert!(matches!(port(false).unlock(&token), Err(TokenError::OtherPort { .. })));
    }
}
