//! The only way to a fabric: datagrams out, datagrams in, and a clock. Adapters, the simulator and the socket to a
//! simulator implement it; the code above is the same for all three.

use std::time::Duration;

use crate::{Class, Mad, Method};
use fabdeck_fabric::{Guid, Lid, PortNum};

/// The well-known Q_Key of queue pair 1.
pub const QP1_KEY: u32 = 0x8001_0000;

/// The destination of a datagram, or its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadAddress {
    /// The permissive LID (0xFFFF) for a directed route.
    pub lid: u16,
    /// 0 for subnet management, 1 for every other class.
    pub queue_pair: u32,
    pub service_level: u8,
}

impl MadAddress {
    const PERMISSIVE: u16 = 0xFFFF;

    /// The address of a directed route: the packet itself holds the route.
    pub fn directed() -> Self {
        Self { lid: Self::PERMISSIVE, queue_pair: 0, service_level: 0 }
    }

    /// The agent of a class at a LID.
    pub fn for_class(lid: Lid, class: Class) -> Self {
        let queue_pair = u32::from(!matches!(class, Class::SUBNET_LID | Class::SUBNET_DIRECTED));
        Self { lid: lid.value(), queue_pair, service_level: 0 }
    }
}

/// A datagram with its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressedMad {
    pub mad: Mad,
    pub address: MadAddress,
}

/// What a port receives.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every arrival is a datagram, which a box would only copy twice"
)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PortEvent {
    Mad(AddressedMad),
    /// The port itself timed out waiting for the answer to a request: the lower 32 bits of the transaction id.
    Unanswered(u32),
}

/// The local port that datagrams leave through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalPort {
    /// The name that operators use: `mlx5_0 port 1`, `node01 port 1`.
    pub name: String,
    pub number: PortNum,
    pub guid: Option<Guid>,
    pub lid: Option<Lid>,
    /// The LID of the master subnet manager, from the port's PortInfo.
    pub manager_lid: Option<Lid>,
    /// Whether the fabric is simulated. Writes to a simulated fabric need no entry in the configuration.
    pub simulated: bool,
}

/// Why a port failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    #[error(
        "FD-4001: method 0x{:02x} of attribute 0x{attribute:04x} writes to the fabric, and this port only reads; nothing was sent. \
         This is a bug in fabdeck: report it with the command line", method.0
    )]
    ReadOnly { method: Method, attribute: u16 },
    /// The adapter or the simulator is gone, or the system refuses access.
    #[error("{code}: {what}; {hint}")]
    Gone { code: &'static str, what: String, hint: String },
}

/// Time since a moment of the clock's own: virtual time in the simulator, the machine's time elsewhere.
pub trait Clock {
    fn now(&self) -> Duration;

    /// Whether time passes only while a caller waits for it.
    fn is_virtual(&self) -> bool {
        false
    }
}

/// Sends and receives datagrams; many may be under way at once. The lower 32 bits identify a transaction, because a
/// kernel overwrites the upper ones.
pub trait MadPort: Clock {
    fn local_port(&self) -> &LocalPort;

    /// The longest time that an answer may take; a port with timeouts of its own uses it.
    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError>;

    /// The next arrival; `None` when the clock reaches `until` without one.
    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError>;

    /// Receives reports of subnet administration from now on. A kernel port has to register for them; other ports
    /// receive them anyway.
    fn accept_reports(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// Receives requests to this host's agent from now on.
    fn accept_requests(&mut self) -> Result<(), PortError> {
        Ok(())
    }
}

impl<P: MadPort + ?Sized> Clock for Box<P> {
    fn now(&self) -> Duration {
        (**self).now()
    }

    fn is_virtual(&self) -> bool {
        (**self).is_virtual()
    }
}

impl<P: MadPort + ?Sized> MadPort for Box<P> {
    fn local_port(&self) -> &LocalPort {
        (**self).local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        (**self).send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        (**self).receive(until)
    }

    fn accept_reports(&mut self) -> Result<(), PortError> {
        (**self).accept_reports()
    }

    fn accept_requests(&mut self) -> Result<(), PortError> {
        (**self).accept_requests()
    }
}
