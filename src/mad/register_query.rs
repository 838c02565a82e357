//! The registers that fabdeck reads by AccessRegister, with their input fields. The list is closed: no other register
//! can be asked for. Registers have fields that clear counters even on a Get (PPCNT `clr`, MTMP `mtr`); no value here
//! sets one.

use super::vendor_class::{REGISTER_BLOCK, RegisterBytes};

/// A register, by its name in the programmer's reference manual.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Register {
    /// General information: firmware, PSID, uptime.
    Mgir,
    /// Serial number, part number and product name of a system.
    Msgi,
    /// A temperature sensor.
    Mtmp,
    /// The number of sensors.
    Mtcap,
    /// The fans that are there.
    Mfcr,
    /// The speed of a fan.
    Mfsm,
    /// Counters of the physical layer of a port.
    Ppcnt,
    /// Diagnostics of a port and its module.
    Pddr,
}

impl Register {
    pub const ALL: [Self; 8] =
        [Self::Mgir, Self::Msgi, Self::Mtmp, Self::Mtcap, Self::Mfcr, Self::Mfsm, Self::Ppcnt, Self::Pddr];

    pub fn id(self) -> u16 {
        match self {
            Self::Mgir => 0x9020,
            Self::Msgi => 0x9021,
            Self::Mtmp => 0x900A,
            Self::Mtcap => 0x9009,
            Self::Mfcr => 0x9001,
            Self::Mfsm => 0x9003,
            Self::Ppcnt => 0x5008,
            Self::Pddr => 0x5031,
        }
    }

    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|register| u32::from(register.id()) == id)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Mgir => "MGIR",
            Self::Msgi => "MSGI",
            Self::Mtmp => "MTMP",
            Self::Mtcap => "MTCAP",
            Self::Mfcr => "MFCR",
            Self::Mfsm => "MFSM",
            Self::Ppcnt => "PPCNT",
            Self::Pddr => "PDDR",
        }
    }
}

/// The groups of PPCNT that fabdeck reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CounterGroup {
    /// Bits, errors by lane, and bit error rates.
    PhysicalStatistics,
    /// FEC blocks, link downs and recoveries; `Second` has the link downs by intent.
    PhysicalLayer,
    PhysicalLayerSecond,
    /// Retransmission (PLR).
    Retransmission,
}

impl CounterGroup {
    pub fn code(self) -> u8 {
        match self {
            Self::PhysicalStatistics => 0x16,
            Self::PhysicalLayer | Self::PhysicalLayerSecond => 0x12,
            Self::Retransmission => 0x22,
        }
    }
}

/// The pages of PDDR that fabdeck reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DiagnosticPage {
    Troubleshooting,
    Module,
    LinkDown,
}

impl DiagnosticPage {
    pub fn code(self) -> u8 {
        match self {
            Self::Troubleshooting => 1,
            Self::Module => 3,
            Self::LinkDown => 6,
        }
    }
}

/// A register with its input fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RegisterQuery {
    GeneralInfo,
    SystemInfo,
    /// 0 is the ASIC.
    Temperature {
        sensor: u16,
    },
    SensorCount,
    Fans,
    FanSpeed {
        tacho: u8,
    },
    Counters {
        port: u8,
        group: CounterGroup,
    },
    Diagnostics {
        port: u8,
        page: DiagnosticPage,
    },
}

/// Bits of the first word of PPCNT and PDDR: the port is an InfiniBand port number.
const IB_PORT: u32 = 1 << 14;
/// The unit of powers in the second word of PDDR: 0 for dBm, 1 for uW.
pub(super) const UNIT_BITS: u32 = 3 << 29;
pub(super) const MICROWATT: u32 = 1 << 29;

impl RegisterQuery {
    pub fn register(self) -> Register {
        match self {
            Self::GeneralInfo => Register::Mgir,
            Self::SystemInfo => Register::Msgi,
            Self::Temperature { .. } => Register::Mtmp,
            Self::SensorCount => Register::Mtcap,
            Self::Fans => Register::Mfcr,
            Self::FanSpeed { .. } => Register::Mfsm,
            Self::Counters { .. } => Register::Ppcnt,
            Self::Diagnostics { .. } => Register::Pddr,
        }
    }

    /// The block of the register: a datagram holds 220 bytes.
    pub fn block(self) -> u16 {
        let second = matches!(self, Self::Counters { group: CounterGroup::PhysicalLayerSecond, .. });
        u16::from(second)
    }

    /// The input words: the first and the second.
    fn words(self) -> [u32; 2] {
        match self {
            Self::GeneralInfo | Self::SystemInfo | Self::SensorCount | Self::Fans => [0, 0],
            Self::Temperature { sensor } => [u32::from(sensor) & 0xFFF, 0],
            Self::FanSpeed { tacho } => [u32::from(tacho) << 24, 0],
            Self::Counters { port, group } => [u32::from(port) << 16 | IB_PORT | u32::from(group.code()), 0],
            Self::Diagnostics { port, page } => {
                [u32::from(port) << 16 | IB_PORT, MICROWATT | u32::from(page.code())]
            }
        }
    }

    /// Writes the input fields; all other bytes stay 0.
    pub(super) fn fill(self, register: &mut RegisterBytes) {
        for (at, word) in self.words().into_iter().enumerate() {
            register.put(at * 4, &word.to_be_bytes());
        }
    }

    /// Whether an answer is for this query. The input fields come back in the first block; in an answer to another
    /// question the values would belong to another port or sensor.
    pub fn matches(self, register: &RegisterBytes) -> bool {
        let [first, second] = self.words();
        match self {
            _ if self.block() > 0 => true,
            Self::GeneralInfo | Self::SystemInfo | Self::SensorCount | Self::Fans => true,
            Self::Temperature { .. } => register.u32_at(0) & 0xFFF == first,
            Self::FanSpeed { .. } => register.u32_at(0) & 0x0F00_0000 == first & 0x0F00_0000,
            Self::Counters { .. } => register.u32_at(0) & 0x00FF_C03F == first,
            Self::Diagnostics { .. } => {
                register.u32_at(0) & 0x00FF_C000 == first && register.u32_at(4) & 0xFF == second & 0xFF
            }
        }
    }

    /// The query that a request states; `None` for one that fabdeck would not send.
    pub fn of_request(register: Register, bytes: &RegisterBytes, block: u16) -> Option<Self> {
        let word = bytes.u32_at(0);
        let port = (word >> 16) as u8;
        Some(match register {
            Register::Mgir => Self::GeneralInfo,
            Register::Msgi => Self::SystemInfo,
            Register::Mtmp => Self::Temperature { sensor: (word & 0xFFF) as u16 },
            Register::Mtcap => Self::SensorCount,
            Register::Mfcr => Self::Fans,
            Register::Mfsm => Self::FanSpeed { tacho: (word >> 24) as u8 & 0xF },
            Register::Ppcnt => {
                let group = match (word & 0x3F, block) {
                    (0x16, 0) => CounterGroup::PhysicalStatistics,
                    (0x12, 0) => CounterGroup::PhysicalLayer,
                    (0x12, 1) => CounterGroup::PhysicalLayerSecond,
                    (0x22, 0) => CounterGroup::Retransmission,
                    _ => return None,
                };
                Self::Counters { port, group }
            }
            Register::Pddr => {
                let page = match bytes.u32_at(4) & 0xFF {
                    1 => DiagnosticPage::Troubleshooting,
                    3 => DiagnosticPage::Module,
                    6 => DiagnosticPage::LinkDown,
                    _ => return None,
                };
                Self::Diagnostics { port, page }
            }
        })
    }

    /// Whether a request would clear or reset something: the clear bit of PPCNT, the reset bit of MTMP.
    pub fn clears(register: Register, bytes: &RegisterBytes) -> bool {
        match register {
            Register::Ppcnt => bytes.u32_at(4) & 1 << 31 != 0,
            Register::Mtmp => bytes.u32_at(8) & 1 << 30 != 0,
            _ => false,
        }
    }
}

const _: () = assert!(REGISTER_BLOCK.is_multiple_of(4));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Method, VendorQuery};

    fn all_queries() -> Vec<RegisterQuery> {
        let mut all = vec![
            RegisterQuery::GeneralInfo,
            RegisterQuery::SystemInfo,
            RegisterQuery::SensorCount,
            RegisterQuery::Fans,
        ];
        all.extend((0..=u16::from(u8::MAX)).map(|sensor| RegisterQuery::Temperature { sensor }));
        all.push(RegisterQuery::Temperature { sensor: u16::MAX });
        all.extend((0..=u8::MAX).map(|tacho| RegisterQuery::FanSpeed { tacho }));
        for port in 0..=u8::MAX {
            for group in [
                CounterGroup::PhysicalStatistics,
                CounterGroup::PhysicalLayer,
                CounterGroup::PhysicalLayerSecond,
                CounterGroup::Retransmission,
            ] {
                all.push(RegisterQuery::Counters { port, group });
            }
            for page in [DiagnosticPage::Troubleshooting, DiagnosticPage::Module, DiagnosticPage::LinkDown] {
                all.push(RegisterQuery::Diagnostics { port, page });
            }
        }
        all
    }

    #[test]
    fn no_query_sets_or_clears_anything() {
        for query in all_queries() {
            let mad = VendorQuery::Register(query).to_mad();
            assert_eq!((mad.method(), mad.class()), (Method::GET, Class::VENDOR_DIAGNOSTICS), "{query:?}");
            assert!(mad.0[24..32].iter().all(|byte| *byte == 0), "the key stays 0");
            let register = mad.register();
            assert!(!RegisterQuery::clears(query.register(), register), "{query:?}");
            // Nothing but the input fields is set: the clear bit of PPCNT is d1 bit 31, the reset bit of MTMP d2 bit 30.
            assert_eq!(register.u32_at(4) >> 31, 0, "{query:?}");
            assert!(register.0[8..].iter().all(|byte| *byte == 0), "{query:?}");
            if query.register() == Register::Ppcnt {
                assert_eq!(register.u32_at(4), 0, "{query:?}");
            }
        }
        for register in [Register::Ppcnt, Register::Mtmp] {
            let mut bytes = RegisterBytes::default();
            bytes.put(4, &0x8000_0000_u32.to_be_bytes());
            bytes.put(8, &0x4000_0000_u32.to_be_bytes());
            assert!(RegisterQuery::clears(register, &bytes), "the test of the bits sees them");
        }
    }

    #[test]
    fn a_query_has_its_fields_in_place_and_answers_to_others_do_not_match() {
        let query = RegisterQuery::Counters { port: 33, group: CounterGroup::PhysicalStatistics };
        let mad = VendorQuery::Register(query).to_mad();
        assert_eq!((mad.header().attribute.get(), mad.header().modifier.get()), (0x51, 0x5008));
        assert_eq!(mad.0[32..44], [0, 0, 0, 0, 0, 33, 0x40, 0x16, 0, 0, 0, 0]);
        let second = RegisterQuery::Counters { port: 33, group: CounterGroup::PhysicalLayerSecond };
        assert_eq!(VendorQuery::Register(second).to_mad().0[32..40], [0, 1, 0, 0, 0, 33, 0x40, 0x12]);
        let page = RegisterQuery::Diagnostics { port: 2, page: DiagnosticPage::Module };
        let page = VendorQuery::Register(page).to_mad();
        assert_eq!(
            (page.header().modifier.get(), &page.0[36..44]),
            (0x5031, &[0, 2, 0x40, 0, 0x20, 0, 0, 3][..])
        );
        let sensor = VendorQuery::Register(RegisterQuery::Temperature { sensor: 64 }).to_mad();
        assert_eq!((sensor.header().modifier.get(), &sensor.0[36..40]), (0x900A, &[0, 0, 0, 64][..]));
        for query in all_queries().into_iter().filter(|query| query.block() == 0) {
            let mad = VendorQuery::Register(query).to_mad();
            assert!(query.matches(mad.register()), "{query:?}");
        }
        for (query, other) in [
            (query, RegisterQuery::Counters { port: 34, group: CounterGroup::PhysicalStatistics }),
            (query, RegisterQuery::Counters { port: 33, group: CounterGroup::PhysicalLayer }),
            (RegisterQuery::Temperature { sensor: 0 }, RegisterQuery::Temperature { sensor: 1 }),
        ] {
            assert!(!query.matches(VendorQuery::Register(other).to_mad().register()), "{query:?}");
        }
    }

    #[test]
    fn the_list_of_registers_is_closed() {
        let ids: Vec<u32> = (0..=u32::from(u16::MAX)).filter(|id| Register::from_id(*id).is_some()).collect();
        assert_eq!(ids, [0x5008, 0x5031, 0x9001, 0x9003, 0x9009, 0x900A, 0x9020, 0x9021]);
        for register in Register::ALL {
            assert_eq!(Register::from_id(register.id().into()), Some(register), "{}", register.name());
        }
    }
}
