//! The closed list of attributes whose bytes may be published, each with the bytes that are left out: keys, GUIDs,
//! names and serial numbers. Of an attribute that is not in the list only the header is published, and of a listed one
//! only the bytes up to the end of its known fields.

use fabdeck_mad::{
    Class, CounterGroup, DiagnosticPage, ExtendedPortInfo, GeneralInfo, MAD_SIZE, Mad, PortCongestionMarks,
    PortExtendedSpeedsCounters, PortInfoExtended, PortRcvErrorDetails, PortXmitDiscardDetails, Register,
    RegisterQuery, Smp, VendorQuery, attribute,
};

/// The bytes of the common header, which have neither keys nor identities.
const HEADER: usize = 24;
/// Where subnet management has the two directed routes.
const ROUTES: [usize; 2] = [128, 192];

/// Bytes of an attribute that are left out: the first, their number, and what they are.
type RemovedBytes = (usize, usize, &'static str);

/// An attribute that may be published.
#[derive(Debug)]
pub(super) struct ListedAttribute {
    pub name: &'static str,
    /// Where the attribute begins in the datagram.
    at: usize,
    /// The number of bytes with known fields.
    length: usize,
    removed: &'static [RemovedBytes],
}

const fn listed(
    name: &'static str,
    at: usize,
    length: usize,
    removed: &'static [RemovedBytes],
) -> ListedAttribute {
    ListedAttribute { name, at, length, removed }
}

const fn subnet(name: &'static str, length: usize, removed: &'static [RemovedBytes]) -> ListedAttribute {
    listed(name, 64, length, removed)
}

const fn performance(name: &'static str, length: usize) -> ListedAttribute {
    listed(name, 64, length, &[])
}

/// A register lies behind the word with the number of its block.
const fn register(name: &'static str, length: usize, removed: &'static [RemovedBytes]) -> ListedAttribute {
    listed(name, 36, length, removed)
}

/// Bytes of the hardware that include the base of its MAC addresses.
const HARDWARE: RemovedBytes = (0x08, 0x14, "identity of the hardware");

type ListRow = (u16, ListedAttribute);

static SUBNET: [ListRow; 18] = [
    (attribute::NODE_DESCRIPTION, subnet("NodeDescription", 64, &[(0, 64, "name of the node")])),
    (attribute::NODE_INFO, subnet("NodeInfo", 40, &[(4, 24, "GUIDs of system, node and port")])),
    (attribute::SWITCH_INFO, subnet("SwitchInfo", 20, &[])),
    (attribute::PORT_INFO, subnet("PortInfo", 64, &[(0, 8, "M_Key"), (8, 8, "GID prefix")])),
    (attribute::SL_TO_VL, subnet("SLtoVLMappingTable", 64, &[])),
    (attribute::VL_ARBITRATION, subnet("VLArbitrationTable", 64, &[])),
    (attribute::LINEAR_FORWARDING, subnet("LinearForwardingTable", 64, &[])),
    (attribute::MULTICAST_FORWARDING, subnet("MulticastForwardingTable", 64, &[])),
    (attribute::SM_INFO, subnet("SMInfo", 24, &[(0, 8, "GUID"), (8, 8, "SM_Key")])),
    (PortInfoExtended::ATTRIBUTE, subnet("PortInfoExtended", 40, &[])),
    (attribute::SWITCH_PORT_STATES, subnet("SwitchPortStateTable", 64, &[])),
    (attribute::PRIVATE_TABLE_INFO, subnet("PrivateLFTInfo", 64, &[])),
    (attribute::PORT_LEVEL_TABLES, subnet("PortSLToPrivateLFT", 64, &[])),
    (attribute::ADAPTIVE_ROUTING_INFO, subnet("AdaptiveRoutingInfo", 28, &[])),
    (attribute::ADAPTIVE_GROUPS, subnet("AdaptiveRoutingGroups", 64, &[])),
    (attribute::ADAPTIVE_FORWARDING, subnet("AdaptiveRoutingLFT", 64, &[])),
    (ExtendedPortInfo::ATTRIBUTE, subnet("ExtendedPortInfo", 20, &[])),
    (attribute::EXTENDED_NODE_INFO, subnet("ExtendedNodeInfo", 20, &[])),
];

/// GeneralInfo of subnet management, with the modifier for capabilities alone.
static CAPABILITIES: ListedAttribute = subnet("GeneralInfo (capabilities)", 16, &[]);

static PERFORMANCE: [ListRow; 8] = [
    // The rest has the GIDs and keys of redirections and traps.
    (attribute::CLASS_PORT_INFO, performance("ClassPortInfo", 8)),
    (attribute::PORT_SAMPLES_CONTROL, performance("PortSamplesControl", 64)),
    (attribute::PORT_COUNTERS, performance("PortCounters", 48)),
    (attribute::PORT_COUNTERS_EXTENDED, performance("PortCountersExtended", 192)),
    (PortRcvErrorDetails::ATTRIBUTE, performance("PortRcvErrorDetails", 16)),
    (PortXmitDiscardDetails::ATTRIBUTE, performance("PortXmitDiscardDetails", 12)),
    (PortCongestionMarks::ATTRIBUTE, performance("PortRcvConCtrl", 12)),
    (PortExtendedSpeedsCounters::ATTRIBUTE, performance("PortExtendedSpeedsCounters", 192)),
];

static VENDOR: [ListRow; 2] = [
    (attribute::CLASS_PORT_INFO, listed("ClassPortInfo", 32, 8, &[])),
    (VendorQuery::GENERAL_INFO, listed("GeneralInfo", 32, 144, &[HARDWARE])),
];

static MGIR: ListedAttribute = register("AccessRegister MGIR", 0x50, &[HARDWARE]);
static MSGI: ListedAttribute = register("AccessRegister MSGI", 0x80, &[(0, 0x20, "serial number")]);
static MTMP: ListedAttribute = register("AccessRegister MTMP", 0x20, &[]);
static MTCAP: ListedAttribute = register("AccessRegister MTCAP", 0x10, &[]);
static MFCR: ListedAttribute = register("AccessRegister MFCR", 0x10, &[]);
static MFSM: ListedAttribute = register("AccessRegister MFSM", 0x10, &[]);
static PPCNT_STATISTICS: ListedAttribute = register("AccessRegister PPCNT group 0x16", 220, &[]);
static PPCNT_LAYER: ListedAttribute = register("AccessRegister PPCNT group 0x12", 220, &[]);
static PPCNT_RETRANSMISSION: ListedAttribute = register("AccessRegister PPCNT group 0x22", 220, &[]);
static PDDR_MODULE: ListedAttribute =
    register("AccessRegister PDDR page 3 (module)", 0xA8, &[(0x44, 16, "serial number of the module")]);

fn listed_register(query: RegisterQuery) -> Option<&'static ListedAttribute> {
    Some(match query {
        RegisterQuery::GeneralInfo => &MGIR,
        RegisterQuery::SystemInfo => &MSGI,
        RegisterQuery::Temperature { .. } => &MTMP,
        RegisterQuery::SensorCount => &MTCAP,
        RegisterQuery::Fans => &MFCR,
        RegisterQuery::FanSpeed { .. } => &MFSM,
        RegisterQuery::Counters { group: CounterGroup::PhysicalStatistics, .. } => &PPCNT_STATISTICS,
        RegisterQuery::Counters { group: CounterGroup::Retransmission, .. } => &PPCNT_RETRANSMISSION,
        RegisterQuery::Counters { .. } => &PPCNT_LAYER,
        RegisterQuery::Diagnostics { page: DiagnosticPage::Module, .. } => &PDDR_MODULE,
        // Texts of the firmware, whose content is not known.
        RegisterQuery::Diagnostics { .. } => return None,
    })
}

/// The register that a request asks for, if it is one of those that fabdeck reads.
fn register_query(request: &Mad) -> Option<RegisterQuery> {
    let register = Register::from_id(request.header().modifier.get())?;
    RegisterQuery::of_request(register, request.register(), request.register_block())
}

/// The entry of the list for a request; an answer has the entry of its request.
pub(super) fn find_listed(request: &Mad) -> Option<&'static ListedAttribute> {
    let (number, modifier) = (request.header().attribute.get(), request.header().modifier.get());
    let row =
        |rows: &'static [ListRow]| rows.iter().find(|(listed, _)| *listed == number).map(|(_, entry)| entry);
    match request.class() {
        Class::SUBNET_LID | Class::SUBNET_DIRECTED if number == attribute::GENERAL_INFO => {
            (modifier == GeneralInfo::CAPABILITIES).then_some(&CAPABILITIES)
        }
        Class::SUBNET_LID | Class::SUBNET_DIRECTED => row(&SUBNET),
        Class::PERFORMANCE => row(&PERFORMANCE),
        Class::VENDOR_DIAGNOSTICS if number == VendorQuery::ACCESS_REGISTER => {
            register_query(request).and_then(listed_register)
        }
        Class::VENDOR_DIAGNOSTICS => row(&VENDOR),
        _ => None,
    }
}

/// What tells two questions about one attribute apart. Ports, sensors, fans and blocks of tables do not; the group or page
/// of a register does, and the private table of adaptive routing.
pub(super) fn question_detail(request: &Mad) -> u32 {
    let (number, modifier) = (request.header().attribute.get(), request.header().modifier.get());
    match (request.class(), number) {
        (Class::SUBNET_LID | Class::SUBNET_DIRECTED, attribute::PORT_INFO) => modifier & 0x8000_0000,
        (Class::SUBNET_LID | Class::SUBNET_DIRECTED, attribute::GENERAL_INFO) => modifier,
        (Class::SUBNET_LID | Class::SUBNET_DIRECTED, attribute::ADAPTIVE_FORWARDING) => {
            modifier & 0xFF00_0000
        }
        (Class::VENDOR_DIAGNOSTICS, VendorQuery::ACCESS_REGISTER) => {
            let part = match register_query(request) {
                Some(RegisterQuery::Counters { group, .. }) => u32::from(group.code()),
                Some(RegisterQuery::Diagnostics { page, .. }) => u32::from(page.code()),
                _ => 0,
            };
            modifier & 0xFFFF | part << 16 | u32::from(request.register_block()) << 24
        }
        _ => 0,
    }
}

/// The bytes of a datagram that may be published, and what is left out of its attribute.
pub(super) struct PublishedBytes {
    pub shown: [bool; MAD_SIZE],
    /// Places in the datagram, and what they are.
    pub removed: Vec<RemovedBytes>,
}

/// What of a datagram may be published: all of the header, the known fields of a listed attribute, and the directed
/// routes. The bytes between header and attribute have the key of each class.
pub(super) fn published_bytes(mad: &Mad, entry: Option<&ListedAttribute>) -> PublishedBytes {
    let mut bytes = PublishedBytes { shown: [false; MAD_SIZE], removed: Vec::new() };
    bytes.show(0, HEADER, true);
    let Some(entry) = entry else { return bytes };
    if entry.at == 36 {
        bytes.show(32, 4, true);
    }
    bytes.show(entry.at, entry.length, true);
    for (at, length, what) in entry.removed {
        bytes.show(entry.at + at, *length, false);
        bytes.removed.push((entry.at + at, *length, *what));
    }
    if mad.class() == Class::SUBNET_DIRECTED {
        // A header that states more hops than a route can have is no route.
        let hops = Smp(mad.clone()).route().map_or(0, <[u8]>::len);
        ROUTES.iter().for_each(|at| bytes.show(*at, hops + 1, true));
    }
    bytes
}

impl PublishedBytes {
    fn show(&mut self, at: usize, length: usize, shown: bool) {
        self.shown.iter_mut().skip(at).take(length).for_each(|byte| *byte = shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::Method;

    /// An attribute that is not in the list, and one of a class that is not, have only their header.
    #[test]
    fn what_is_not_listed_has_only_its_header() {
        for (class, number, modifier) in [
            (Class::SUBNET_DIRECTED, 0x14, 0),
            (Class::SUBNET_DIRECTED, attribute::GENERAL_INFO, 1),
            (Class::SUBNET_ADMINISTRATION, attribute::NODE_INFO, 0),
            (Class::VENDOR_DIAGNOSTICS, VendorQuery::ACCESS_REGISTER, 0x9999),
            (Class(0x0D), attribute::FOLLOW, 0),
        ] {
            let mad = Mad::new(class, Method::GET, number, modifier);
            let entry = find_listed(&mad);
            assert!(entry.is_none(), "{class:?} {number:#x}: {entry:?}");
            let shown = published_bytes(&mad, entry).shown;
            assert!((0..MAD_SIZE).all(|at| shown[at] == (at < HEADER)), "{class:?} {number:#x}");
        }
    }

    /// The place of the key of every class is left out, whatever the attribute.
    #[test]
    fn no_entry_shows_the_place_of_a_key() {
        let classes =
            [Class::SUBNET_LID, Class::SUBNET_DIRECTED, Class::PERFORMANCE, Class::VENDOR_DIAGNOSTICS];
        let mut entries = 0;
        for class in classes {
            for number in 0..=u16::MAX {
                let mad = Mad::new(class, Method::GET, number, GeneralInfo::CAPABILITIES);
                let Some(entry) = find_listed(&mad) else { continue };
                let shown = published_bytes(&mad, Some(entry)).shown;
                assert!(!shown[24..32].iter().any(|shown| *shown), "{}", entry.name);
                entries += 1;
            }
        }
        assert_eq!(entries, 2 * (SUBNET.len() + 1) + PERFORMANCE.len() + VENDOR.len());
        for register in Register::ALL {
            let mad = Mad::new(
                Class::VENDOR_DIAGNOSTICS,
                Method::GET,
                VendorQuery::ACCESS_REGISTER,
                register.id().into(),
            );
            let shown = published_bytes(&mad, find_listed(&mad)).shown;
            assert!(!shown[24..32].iter().any(|shown| *shown), "{}", register.name());
        }
    }
}
