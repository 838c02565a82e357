//! Traits between sources of a fabric and the code above them, and the tokens that grant rights.

mod actuator;
mod port;
mod read_port;
mod registration;
mod source;
mod token;

pub use actuator::{Actuator, Device, DevicePort, Part, Slot, Surveyor, WriteError};
pub use port::{Address, Arrival, Clock, LocalPort, MadPort, Parcel, PortError, QP1_KEY};
pub use read_port::{ReadPort, Traffic, WritePort};
pub use registration::{Registered, Registration};
pub use source::{
    LanesRead, LevelsRead, LevelsWanted, Past, Progress, Source, SourceError, Unwatched, Wanted, Watch,
};
pub use token::{AgentToken, DEFAULT_PREFIX, Identity, InformToken, Seen, TokenError, WriteToken};
