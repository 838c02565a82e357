//! Management datagrams byte by byte: the header, directed-route and LID-routed subnet packets, performance
//! counters, subnet administration, and which notices a host follows. `access` has the traits of ports and sources.

pub mod access;

mod adaptive_blocks;
mod administration;
mod counters;
mod extended_port_info;
mod follow_status;
mod header;
mod hierarchy_info;
mod host_flows;
mod member_record;
mod module_page;
mod notice;
mod notice_filter;
mod path_notice;
mod performance;
mod physical_counters;
mod port_capabilities;
mod port_details;
mod port_info;
mod port_info_extended;
mod port_state_table;
mod record_transfer;
mod register_query;
mod sensor_registers;
mod smp;
mod subnet;
mod vendor;
mod vendor_class;

pub use adaptive_blocks::{
    AdaptiveGroupBlock, AdaptiveLftBlock, AdaptiveLftEntry, ExtendedNodeInfo, PortLevelTables,
    PrivateTableInfo,
};
pub use administration::{
    InformInfo, InformInfoRecord, NodeRecord, PathRecord, RECORD_AT, SaHeader, ServiceRecord,
};
pub use counters::CounterBlock;
pub use extended_port_info::ExtendedPortInfo;
pub use follow_status::{FollowQuery, FollowStatus, NoticeKey};
pub use header::{Class, MAD_SIZE, Mad, MadHeader, MadStatus, Method, attribute};
pub use hierarchy_info::HierarchyInfo;
pub use host_flows::{FlowLevel, HostFlow, HostFlows};
pub use member_record::McMemberRecord;
pub use notice::{Notice, trap};
pub use notice_filter::{NoticeAction, NoticeFilter};
pub use path_notice::PathNotice;
pub use performance::{ClassPortInfo, PortCounters, PortCountersExtended, PortSamplesControl};
pub use physical_counters::LinkDownCauses;
pub use port_capabilities::PortCapabilities;
pub use port_details::{
    PortCongestionMarks, PortExtendedSpeedsCounters, PortRcvErrorDetails, PortXmitDiscardDetails, SPEED_LANES,
};
pub use port_info::{PortInfo, ProtectBits};
pub use port_info_extended::PortInfoExtended;
pub use port_state_table::PortStateTable;
pub use record_transfer::{MAX_SEGMENTS, RecordTransfer, TransferError, TransferStep, record_segments, rmpp};
pub use register_query::{CounterGroup, DiagnosticPage, Register, RegisterQuery};
pub use sensor_registers::{FanList, FanSpeed, RegisterContent, SensorCount};
pub use smp::{HOPS_MAX, RouteError, SMP_DATA, Smp};
pub use subnet::{
    LftBlock, MftBlock, NodeDescription, NodeInfo, PKeyBlock, SlToVl, SmInfo, SwitchInfo, VlArbitrationBlock,
};
pub use vendor::{AdaptiveRoutingInfo, GeneralInfo, has_vendor_attributes};
pub use vendor_class::{REGISTER_BLOCK, RegisterBytes, VendorQuery};
