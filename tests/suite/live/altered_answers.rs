//! A port whose answers come otherwise than they were sent: devices and managers that the simulator is not.

use std::time::Duration;

use fabdeck_mad::Mad;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent};

pub struct AlteringPort<P>(pub P, pub fn(&mut Mad));

impl<P: MadPort> Clock for AlteringPort<P> {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn is_virtual(&self) -> bool {
        self.0.is_virtual()
    }
}

impl<P: MadPort> MadPort for AlteringPort<P> {
    fn local_port(&self) -> &LocalPort {
        self.0.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        let mut arrival = self.0.receive(until)?;
        if let Some(PortEvent::Mad(parcel)) = &mut arrival {
            (self.1)(&mut parcel.mad);
        }
        Ok(arrival)
    }
}
