//! The adapters of this machine, as the list of sources shows them.

/// One adapter.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Adapter {
    pub name: String,
    /// `0x` and 16 digits.
    pub node_guid: Option<String>,
    /// How many ports it has.
    pub ports: usize,
    pub port_list: Vec<AdapterPort>,
}

/// One of its ports.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct AdapterPort {
    pub number: u8,
    pub guid: Option<String>,
    pub lid: Option<u16>,
    /// The LID of the master subnet manager.
    pub manager_lid: Option<u16>,
    pub state: Option<&'static str>,
    pub physical_state: Option<&'static str>,
    pub rate_gbps: u32,
    pub link_layer: String,
    /// What `--source` names it by.
    pub source: String,
}
