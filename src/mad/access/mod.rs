//! Traits between sources of a fabric and the code above them, and the tokens that grant rights.

mod actuator;
mod port;
mod read_port;
mod registration;
mod source;
mod token;

pub use actuator::{Actuator, AttributePart, DeviceAttribute, DeviceId, DevicePort, Surveyor, WriteError};
pub use port::{AddressedMad, Clock, LocalPort, MadAddress, MadPort, PortError, PortEvent, QP1_KEY};
pub use read_port::{MadTraffic, ReadPort, WritePort};
pub use registration::{Registration, RegistrationLookup};
pub use source::{
    FAILED_BEFORE, LaneReadOutcome, LevelReadOptions, LevelReadOutcome, NoObserver, PastSweep, ReadObserver,
    ReadOptions, ReadProgress, Source, SourceError, WireReadOptions,
};
pub use token::{
    AgentToken, DEFAULT_PREFIX, FabricIdentity, InformToken, ObservedFabric, TokenError, WriteToken,
};
