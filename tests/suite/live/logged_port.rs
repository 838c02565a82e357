//! A port that keeps what is sent through it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabdeck_mad::Class;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort};

/// The class and the attribute of each datagram.
pub type SentMads = Arc<Mutex<Vec<(Class, u16)>>>;

pub struct LoggedPort(pub ReadPort, pub SentMads);

impl Clock for LoggedPort {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn is_virtual(&self) -> bool {
        self.0.is_virtual()
    }
}

impl MadPort for LoggedPort {
    fn local_port(&self) -> &LocalPort {
        self.0.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        let sent = (parcel.mad.class(), parcel.mad.header().attribute.get());
        self.1.lock().unwrap().push(sent);
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.0.receive(until)
    }
}
