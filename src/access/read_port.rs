//! How a port is handed out: for reading, until a token says otherwise.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::port::{Arrival, Clock, LocalPort, MadPort, Parcel, PortError};
use super::token::{TokenError, WriteToken};
use crate::mad::Method;

/// What went through a port, by method, and what it refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    pub sent: BTreeMap<u8, u64>,
    pub refused: u64,
}

impl Traffic {
    pub fn total(&self) -> u64 {
        self.sent.values().sum()
    }

    /// Everything sent that is not a Get of one attribute or of a table.
    pub fn writes(&self) -> u64 {
        self.sent.iter().filter(|(method, _)| !reads(Method(**method))).map(|(_, count)| count).sum()
    }

    pub fn count(&mut self, method: Method) {
        *self.sent.entry(method.0).or_default() += 1;
    }
}

/// The methods that change nothing anywhere. Everything else (Set, Delete, TrapRepress, Send) counts as a write.
fn reads(method: Method) -> bool {
    matches!(method, Method::GET | Method::GET_TABLE)
}

/// A port that refuses everything but Get and GetTable, and counts what passes.
pub struct ReadPort {
    port: Box<dyn MadPort + Send>,
    traffic: Traffic,
}

impl ReadPort {
    pub fn new(port: impl MadPort + Send + 'static) -> Self {
        Self { port: Box::new(port), traffic: Traffic::default() }
    }

    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The port that writes, for a token that is meant for this port.
    pub fn unlock(self, token: &WriteToken) -> Result<WritePort, TokenError> {
        token.opens(self.port.local())?;
        Ok(WritePort { port: self.port, traffic: self.traffic })
    }
}

/// A port that sends whatever it is given. It can only be had for a token.
pub struct WritePort {
    port: Box<dyn MadPort + Send>,
    traffic: Traffic,
}

impl WritePort {
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    pub fn lock(self) -> ReadPort {
        ReadPort { port: self.port, traffic: self.traffic }
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
    fn local(&self) -> &LocalPort {
        self.port.local()
    }

    fn send(&mut self, parcel: &Parcel, patience: Duration) -> Result<(), PortError> {
        let method = parcel.mad.method();
        if !reads(method) {
            self.traffic.refused += 1;
            let attribute = parcel.mad.header().attribute.get();
            return Err(PortError::ReadOnly { method, attribute });
        }
        self.port.send(parcel, patience)?;
        self.traffic.count(method);
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<Arrival>, PortError> {
        self.port.receive(until)
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
    fn local(&self) -> &LocalPort {
        self.port.local()
    }

    fn send(&mut self, parcel: &Parcel, patience: Duration) -> Result<(), PortError> {
        self.port.send(parcel, patience)?;
        self.traffic.count(parcel.mad.method());
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<Arrival>, PortError> {
        self.port.receive(until)
    }
}

impl fmt::Debug for ReadPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadPort").field("local", self.port.local()).field("traffic", &self.traffic).finish()
    }
}

impl fmt::Debug for WritePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WritePort").field("local", self.port.local()).field("traffic", &self.traffic).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::port::Address;
    use crate::fabric::{Guid, PortNum};
    use crate::mad::{Class, Mad, attribute};

    struct Sink(LocalPort);

    impl Clock for Sink {
        fn now(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl MadPort for Sink {
        fn local(&self) -> &LocalPort {
            &self.0
        }

        fn send(&mut self, _: &Parcel, _: Duration) -> Result<(), PortError> {
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<Arrival>, PortError> {
            Ok(None)
        }
    }

    fn port(simulated: bool) -> ReadPort {
        let (name, number) = ("sink".to_owned(), PortNum(1));
        ReadPort::new(Sink(LocalPort { name, number, guid: None, lid: None, manager_lid: None, simulated }))
    }

    fn parcel(method: Method) -> Parcel {
        let mad = Mad::new(Class::SUBNET_DIRECTED, method, attribute::PORT_INFO, 0);
        Parcel { mad, address: Address::directed() }
    }

    #[test]
    fn whatever_is_no_get_is_refused_and_counted() {
        let mut port = port(false);
        for method in 0..=u8::MAX {
            let sent = port.send(&parcel(Method(method)), Duration::ZERO);
            assert_eq!(sent.is_ok(), matches!(method, 0x01 | 0x12), "{method:#x}");
        }
        assert_eq!((port.traffic().total(), port.traffic().writes(), port.traffic().refused), (2, 0, 254));
    }

    #[test]
    fn the_token_of_the_simulator_opens_no_adapter() {
        let token = WriteToken::simulation();
        assert_eq!(port(false).unlock(&token).unwrap_err(), TokenError::RealFabric);
        let mut open = port(true).unlock(&token).unwrap();
        open.send(&parcel(Method::SET), Duration::ZERO).unwrap();
        assert_eq!(open.traffic().writes(), 1);
        assert!(open.lock().send(&parcel(Method::SET), Duration::ZERO).is_err());
    }

    #[test]
    fn a_token_of_an_opted_in_fabric_opens_its_port() {
        let seen = crate::access::Seen { switches: [Guid(1)].into(), ..Default::default() };
        let identity =
            crate::access::Identity { name: "site".into(), switches: vec![Guid(1)], ..Default::default() };
        let token = WriteToken::grant(true, std::slice::from_ref(&identity), &seen).unwrap();
        assert!(port(false).unlock(&token).is_ok());
        let elsewhere = crate::access::Seen { port: Some(Guid(5)), ..seen };
        let token = WriteToken::grant(true, &[identity], &elsewhere).unwrap();
        assert!(matches!(port(false).unlock(&token), Err(TokenError::OtherPort { .. })));
    }
}
