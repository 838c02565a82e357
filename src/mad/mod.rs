//! Management datagrams byte by byte: the header, directed-route and LID-routed subnet packets, performance
//! counters, subnet administration. Encoding and decoding only.

mod administration;
mod counters;
mod header;
mod notice;
mod performance;
mod port_info;
mod smp;
mod subnet;

pub use administration::{InformInfo, NodeRecord, PathRecord, RECORD_AT, SaHeader};
pub use counters::CounterBlock;
pub use header::{Class, Header, MAD_SIZE, Mad, Method, Status, attribute};
pub use notice::{Notice, trap};
pub use performance::{ClassPortInfo, PortCounters, PortCountersExtended, PortSamplesControl};
pub use port_info::{PortInfo, ProtectBits};
pub use smp::{HOPS_MAX, RouteError, SMP_DATA, Smp};
pub use subnet::{
    LftBlock, MftBlock, NodeDescription, NodeInfo, SlToVl, SmInfo, SwitchInfo, VlArbitrationBlock,
};
