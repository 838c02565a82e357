//! The adapters of this machine, as `fabdeck sources` lists them.

use crate::catalogue::json_type::json_type;

json_type! {
    /// An adapter with its ports.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct AdapterRow {
        pub name: String,
        /// `0x` and 16 hexadecimal digits.
        pub node_guid: Option<String>,
        /// Number of ports.
        pub ports: usize,
        pub port_list: Vec<AdapterPortRow>,
    }

    /// A port of an adapter.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct AdapterPortRow {
        pub number: u8,
        pub guid: Option<String>,
        pub lid: Option<u16>,
        /// The LID of the master subnet manager.
        pub manager_lid: Option<u16>,
        pub state: Option<&'static str>,
        pub physical_state: Option<&'static str>,
        pub rate_gbps: u32,
        pub link_layer: String,
        /// The classes of datagrams that the port carries: an adapter with planes has subnet management on another.
        pub classes: String,
        /// The value of `--source` for this port.
        pub source: String,
    }
}
