//! Datagrams that ask for an attribute of subnet management, by directed route or by LID.

use fabdeck_fabric::Lid;
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{Mad, Method, Smp};

/// A Get by directed route.
pub fn directed_get(attribute: u16, modifier: u32, route: &[u8], key: u64) -> AddressedMad {
    // Discovery stops at 64 hops, so a route always fits.
    let mut smp = Smp::directed(Method::GET, attribute, modifier, route).unwrap_or_default();
    smp.set_m_key(key);
    AddressedMad { mad: smp.0, address: MadAddress::directed() }
}

/// A Get by LID to the subnet management agent.
pub fn lid_get(attribute: u16, modifier: u32, lid: Lid, key: u64) -> AddressedMad {
    let mut smp = Smp::by_lid(Method::GET, attribute, modifier);
    smp.set_m_key(key);
    let mad: Mad = smp.0;
    let address = MadAddress::for_class(lid, mad.class());
    AddressedMad { mad, address }
}
