//! What kinds of devices refused in earlier sessions, so that a session does not ask it again. A refusal counts for the
//! firmware of the device that refused: one device of each kind is asked for its firmware first. Without a known firmware
//! nothing is kept and nothing is used. A device that is silent, or wants a key, has refused nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use super::wire_topic::WireTopic;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{DeviceAnswer, WireHealth};

/// The vendor and the device number.
pub type DeviceKind = (u32, u32);

/// A question that devices of a kind refused.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KindRefusal {
    pub vendor: u32,
    pub device: u32,
    /// The firmware of the device that refused.
    pub firmware: String,
    /// The subject of the question, by its word in files.
    pub topic: String,
}

/// Where refusals are kept between sessions. It knows the time and leaves out those that are too old.
pub trait RefusalStore: Debug + Send + Sync {
    fn load(&self) -> Result<Vec<KindRefusal>, String>;

    fn add(&self, refusals: &[KindRefusal]) -> Result<(), String>;
}

/// What a session knows of refusals in earlier ones.
#[derive(Clone, Debug)]
pub struct RefusalMemory {
    store: Arc<dyn RefusalStore>,
    /// Those of earlier sessions, and those that this one has stored.
    known: BTreeSet<KindRefusal>,
    /// The firmware of one device of each kind; `None` where it did not state it.
    firmware: BTreeMap<DeviceKind, Option<(Guid, String)>>,
    /// Why the store cannot be used, until it is noted.
    problem: Option<String>,
}

impl RefusalMemory {
    pub fn new(store: Arc<dyn RefusalStore>) -> Self {
        let (known, problem) = match store.load() {
            Ok(known) => (known.into_iter().collect(), None),
            Err(problem) => (BTreeSet::new(), Some(problem)),
        };
        Self { store, known, firmware: BTreeMap::new(), problem }
    }

    /// Whether the firmware of a kind is to be asked.
    pub fn wants_firmware(&self, kind: DeviceKind) -> bool {
        !self.firmware.contains_key(&kind)
    }

    /// Stores the firmware of the device of a kind that was asked, as far as it answered.
    pub fn set_firmware(&mut self, kind: DeviceKind, device: Guid, health: &WireHealth) {
        let stated = health.devices.get(&device).and_then(|said| said.firmware.known());
        self.firmware.insert(kind, stated.map(|firmware| (device, firmware.version.clone())));
    }

    /// The topics that devices with the firmware of this kind refused, and the device whose firmware was read.
    pub fn refused_topics(&self, kind: DeviceKind) -> impl Iterator<Item = (WireTopic, Guid)> {
        let firmware = self.firmware.get(&kind).and_then(Option::as_ref);
        let refused = move |(device, version): &(Guid, String)| {
            let topics = WireTopic::KEPT.into_iter();
            let own = topics.filter(|topic| self.known.contains(&refusal(kind, version, *topic)));
            own.map(|topic| (topic, *device)).collect::<Vec<_>>()
        };
        firmware.map(refused).unwrap_or_default().into_iter()
    }

    /// Stores what kinds refused in this session, where the firmware of the device that refused is known.
    pub fn keep_refusals<'k>(
        &mut self,
        kinds: impl Iterator<Item = (&'k (DeviceKind, WireTopic), &'k (DeviceAnswer<()>, Guid))>,
    ) {
        let own =
            |((kind, topic), (answer, device)): (&(DeviceKind, WireTopic), &(DeviceAnswer<()>, Guid))| {
                let (of, version) = self.firmware.get(kind)?.as_ref()?;
                let is_refusal =
                    *answer == DeviceAnswer::Absent && of == device && WireTopic::KEPT.contains(topic);
                is_refusal.then(|| refusal(*kind, version, *topic))
            };
        let new: Vec<KindRefusal> = kinds.filter_map(own).filter(|one| !self.known.contains(one)).collect();
        if new.is_empty() {
            return;
        }
        if let Err(problem) = self.store.add(&new) {
            self.problem.get_or_insert(problem);
        }
        self.known.extend(new);
    }

    /// The reason why the store cannot be used, once.
    pub fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }
}

fn refusal((vendor, device): DeviceKind, firmware: &str, topic: WireTopic) -> KindRefusal {
    KindRefusal { vendor, device, firmware: firmware.to_owned(), topic: topic.file_word().to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use fabdeck_fabric::observe::FirmwareReading;

    use super::*;

    const KIND: DeviceKind = (0x2C9, 0xD2F2);

    #[derive(Debug, Default)]
    struct Memory(Mutex<Vec<KindRefusal>>);

    impl RefusalStore for Memory {
        fn load(&self) -> Result<Vec<KindRefusal>, String> {
            Ok(self.0.lock().unwrap().clone())
        }

        fn add(&self, refusals: &[KindRefusal]) -> Result<(), String> {
            self.0.lock().unwrap().extend_from_slice(refusals);
            Ok(())
        }
    }

    fn health(device: u64, version: Option<&str>) -> WireHealth {
        let mut health = WireHealth::default();
        let firmware =
            version.map(|version| FirmwareReading { version: version.to_owned(), ..Default::default() });
        health.devices.entry(Guid(device)).or_default().firmware =
            firmware.map_or(DeviceAnswer::Silent, DeviceAnswer::Known);
        health
    }

    fn session(store: &Arc<Memory>, version: Option<&str>) -> RefusalMemory {
        let mut session = RefusalMemory::new(store.clone());
        assert!(session.wants_firmware(KIND));
        session.set_firmware(KIND, Guid(1), &health(1, version));
        assert!(!session.wants_firmware(KIND), "a device that does not answer is not asked again");
        session
    }

    #[test]
    fn a_refusal_counts_for_the_same_firmware_only() {
        let store = Arc::new(Memory::default());
        let kinds = BTreeMap::from([
            ((KIND, WireTopic::Module), (DeviceAnswer::Absent, Guid(1))),
            // Silence, a key and another device are no refusal with this firmware.
            ((KIND, WireTopic::BitErrors), (DeviceAnswer::Silent, Guid(1))),
            ((KIND, WireTopic::FanList), (DeviceAnswer::Guarded, Guid(1))),
            ((KIND, WireTopic::System), (DeviceAnswer::Absent, Guid(2))),
            // The ladder itself is asked in each session.
            ((KIND, WireTopic::Registers), (DeviceAnswer::Absent, Guid(1))),
        ]);
        session(&store, Some("31.1")).keep_refusals(kinds.iter());
        assert_eq!(store.load().unwrap(), [refusal(KIND, "31.1", WireTopic::Module)]);
        let refused = |version| session(&store, version).refused_topics(KIND).collect::<Vec<_>>();
        assert_eq!(refused(Some("31.1")), [(WireTopic::Module, Guid(1))]);
        assert_eq!(refused(Some("31.2")), [], "a new firmware is asked anew");
        assert_eq!(refused(None), [], "an unknown firmware matches nothing");
        assert!(session(&store, Some("31.1")).refused_topics((0x2C9, 0x1021)).next().is_none());
        // Nothing is kept of a device whose firmware is not known.
        session(&store, None).keep_refusals(kinds.iter());
        session(&store, Some("31.1")).keep_refusals(kinds.iter());
        assert_eq!(store.load().unwrap().len(), 1, "what is known is not stored twice");
    }
}
