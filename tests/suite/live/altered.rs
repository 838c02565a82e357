//! A port whose answers come otherwise than they were sent: devices and managers that the simulator is not.

use std::time::Duration;

use fabdeck_mad::Mad;
use fabdeck_mad::access::{Arrival, Clock, LocalPort, MadPort, Parcel, PortError};

pub struct Altered<P>(pub P, pub fn(&mut Mad));

impl<P: MadPort> Clock for Altered<P> {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn is_virtual(&self) -> bool {
        self.0.is_virtual()
    }
}

impl<P: MadPort> MadPort for Altered<P> {
    fn local(&self) -> &LocalPort {
        self.0.local()
    }

    fn send(&mut self, parcel: &Parcel, patience: Duration) -> Result<(), PortError> {
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<Arrival>, PortError> {
        let mut arrival = self.0.receive(until)?;
        if let Some(Arrival::Mad(parcel)) = &mut arrival {
            (self.1)(&mut parcel.mad);
        }
        Ok(arrival)
    }
}
