//! Subnet management packets (IBA 14.2.1): by directed route through numbered ports, or by LID.

use std::fmt;

use zerocopy::network_endian::{U16, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method};

/// The attribute of a subnet packet: 64 bytes behind the directed-route header.
pub const SMP_DATA: usize = 64;
/// The longest directed route; entry 0 of a path is unused.
pub const HOPS_MAX: usize = 63;

const DATA_AT: usize = 64;
const HEADER_AT: usize = 24;
const HOPS_AT: usize = 6;
const INITIAL_AT: usize = 128;
const RETURN_AT: usize = 192;

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Routing {
    m_key: U64,
    from_lid: U16,
    to_lid: U16,
}

/// A directed route that cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a directed route has at most {HOPS_MAX} hops, this one has {0}")]
pub struct RouteError(pub usize);

/// A subnet packet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Smp(pub Mad);

impl Smp {
    /// A packet that leaves through the ports of `route`, from the local port on.
    pub fn directed(method: Method, attribute: u16, modifier: u32, route: &[u8]) -> Result<Self, RouteError> {
        if route.len() > HOPS_MAX {
            return Err(RouteError(route.len()));
        }
        let mut smp = Self(Mad::new(Class::SUBNET_DIRECTED, method, attribute, modifier));
        let routing: &mut Routing = smp.0.view_mut(HEADER_AT);
        // The permissive LID at both ends: no part of the route is LID-routed.
        (routing.from_lid, routing.to_lid) = (0xFFFF.into(), 0xFFFF.into());
        smp.0.0[HOPS_AT + 1] = route.len() as u8;
        smp.0.0[INITIAL_AT + 1..INITIAL_AT + 1 + route.len()].copy_from_slice(route);
        Ok(smp)
    }

    pub fn by_lid(method: Method, attribute: u16, modifier: u32) -> Self {
        Self(Mad::new(Class::SUBNET_LID, method, attribute, modifier))
    }

    pub fn is_directed(&self) -> bool {
        self.0.class() == Class::SUBNET_DIRECTED
    }

    pub fn hop_pointer(&self) -> u8 {
        self.0.0[HOPS_AT]
    }

    pub fn set_hop_pointer(&mut self, at: u8) {
        self.0.0[HOPS_AT] = at;
    }

    pub fn hop_count(&self) -> u8 {
        self.0.0[HOPS_AT + 1]
    }

    /// The egress ports of the outbound route; `None` when the packet claims more hops than the format allows.
    pub fn route(&self) -> Option<&[u8]> {
        let hops = usize::from(self.hop_count());
        (hops <= HOPS_MAX).then(|| &self.0.0[INITIAL_AT + 1..INITIAL_AT + 1 + hops])
    }

    /// The ingress ports that the return route uses.
    pub fn return_path(&self) -> &[u8; 64] {
        self.0.view(RETURN_AT)
    }

    pub fn return_path_mut(&mut self) -> &mut [u8; 64] {
        self.0.view_mut(RETURN_AT)
    }

    pub fn m_key(&self) -> u64 {
        self.0.view::<Routing>(HEADER_AT).m_key.get()
    }

    pub fn set_m_key(&mut self, key: u64) {
        self.0.view_mut::<Routing>(HEADER_AT).m_key = key.into();
    }

    /// The attribute, as one of the structures of this crate.
    pub fn data<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self) -> &T {
        const { assert!(size_of::<T>() <= SMP_DATA) };
        self.0.view(DATA_AT)
    }

    pub fn data_mut<T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned>(&mut self) -> &mut T {
        const { assert!(size_of::<T>() <= SMP_DATA) };
        self.0.view_mut(DATA_AT)
    }
}

/// Leaves out the key.
impl fmt::Debug for Smp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Smp")
            .field("header", self.0.header())
            .field("route", &self.route())
            .finish_non_exhaustive()
    }
}
