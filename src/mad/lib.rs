//! Management datagrams byte by byte: the header, directed-route and LID-routed subnet packets, performance
//! counters, subnet administration, and which notices a host follows. `access` has the traits of ports and sources.

pub mod access;

mod administration;
mod counters;
mod header;
mod heard;
mod host_flows;
mod notice;
mod performance;
mod port_info;
mod repath;
mod smp;
mod standing;
mod subnet;
mod vendor;

pub use administration::{
    InformInfo, InformInfoRecord, NodeRecord, PathRecord, RECORD_AT, SaHeader, ServiceRecord,
};
pub use counters::CounterBlock;
pub use header::{Class, Header, MAD_SIZE, Mad, Method, Status, attribute};
pub use heard::{Coming, Heard};
pub use host_flows::{FlowLevel, HostFlow, HostFlows};
pub use notice::{Notice, trap};
pub use performance::{ClassPortInfo, PortCounters, PortCountersExtended, PortSamplesControl};
pub use port_info::{PortInfo, ProtectBits};
pub use repath::Repath;
pub use smp::{HOPS_MAX, RouteError, SMP_DATA, Smp};
pub use standing::{Follow, NoticeKey, Standing};
pub use subnet::{
    LftBlock, MftBlock, NodeDescription, NodeInfo, SlToVl, SmInfo, SwitchInfo, VlArbitrationBlock,
};
pub use vendor::{AdaptiveRoutingInfo, GeneralInfo, has_vendor_attributes};
