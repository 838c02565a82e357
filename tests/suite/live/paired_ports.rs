//! A port made of two devices, as adapters with planes have it.

use fabdeck_live::{ExchangePolicy, Keys, LiveSource, PairedPort};
use fabdeck_mad::Class;
use fabdeck_mad::access::{MadPort, NoObserver, ReadPort, Source};
use fabdeck_simulator::{LineFaults, Share};

use super::logged_port::{LoggedPort, SentMads};
use super::{ALL, fabric, look_at, simulated};

#[test]
fn subnet_management_goes_through_one_device_and_the_rest_through_the_other() {
    for loss in [0, 2] {
        let faults = LineFaults { loss: Share::percent(loss), ..LineFaults::default() };
        let fabric = fabric("demo");
        let simulator = simulated(&fabric, faults, 7);
        let (planes, rest) = (SentMads::default(), SentMads::default());
        let smi = LoggedPort(simulator.open_port(None).unwrap(), planes.clone());
        let gsi = LoggedPort(simulator.open_port(None).unwrap(), rest.clone());
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
        assert!(planes.len() > 100 && planes.iter().all(|(class, _)| *class == Class::SUBNET_DIRECTED));
        let of_management = |class: Class| matches!(class, Class::SUBNET_DIRECTED | Class::SUBNET_LID);
        assert!(rest.len() > 100 && !rest.iter().any(|(class, _)| of_management(*class)), "loss {loss}");
    }
}
