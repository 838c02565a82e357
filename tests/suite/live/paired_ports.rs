//! A port made of two devices, as adapters with planes have it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabdeck_live::{ExchangePolicy, Keys, LiveSource, PairedPort};
use fabdeck_mad::Class;
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadPort, NoObserver, PortError, PortEvent, ReadPort, Source,
};
use fabdeck_simulator::{LineFaults, Share};

use super::{ALL, fabric, look_at, simulated};

type Classes = Arc<Mutex<Vec<Class>>>;

/// Keeps the classes of what is sent.
struct ClassLog(ReadPort, Classes);

impl Clock for ClassLog {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn is_virtual(&self) -> bool {
        self.0.is_virtual()
    }
}

impl MadPort for ClassLog {
    fn local_port(&self) -> &LocalPort {
        self.0.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.1.lock().unwrap().push(parcel.mad.class());
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.0.receive(until)
    }
}

#[test]
fn subnet_management_goes_through_one_device_and_the_rest_through_the_other() {
    for loss in [0, 10] {
        let faults = LineFaults { loss: Share::percent(loss), ..LineFaults::default() };
        let fabric = fabric("demo");
        let simulator = simulated(&fabric, faults, 7);
        let (planes, rest) = (Classes::default(), Classes::default());
        let smi = ClassLog(simulator.open_port(None).unwrap(), planes.clone());
        let gsi = ClassLog(simulator.open_port(None).unwrap(), rest.clone());
        let paired = ReadPort::new(PairedPort::new(smi, gsi));
        assert!(paired.local_port().name.contains(" through "), "{}", paired.local_port().name);
        let mut source = LiveSource::new("pair", paired, ExchangePolicy::default(), Keys::default());
        let seen = source.observe(ALL, &mut NoObserver).unwrap();

        let plain = simulated(&fabric, LineFaults::default(), 7);
        let expected = look_at(&mut plain.open_port(None).unwrap(), ALL);
        assert_eq!(seen.fabric, expected.fabric, "loss {loss}");
        assert_eq!(seen.subnet_manager, expected.subnet_manager, "by directed route, loss {loss}");
        assert_eq!(seen.counters.len(), expected.counters.len());

        let (planes, rest) = (planes.lock().unwrap(), rest.lock().unwrap());
        assert!(
            planes.len() > 100 && planes.iter().all(|class| *class == Class::SUBNET_DIRECTED),
            "loss {loss}"
        );
        assert!(rest.len() > 100, "loss {loss}");
        assert!(rest.iter().all(|class| !matches!(*class, Class::SUBNET_DIRECTED | Class::SUBNET_LID)));
    }
}
