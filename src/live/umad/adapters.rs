//! Lists the adapters of this machine.

use super::adapter::{Adapter, AdapterPort, LinkLayer};
use super::driver::{MadLibrary, UmadDriver};
use super::packet::{UmadAdapterFacts, UmadPortFacts};
use fabdeck_fabric::{Guid, Lid, PhysicalState, PortNum, PortState};
use fabdeck_mad::access::SourceError;

/// Every adapter, by name. The list of a machine without adapters is empty.
pub fn adapters() -> Result<Vec<Adapter>, SourceError> {
    MadLibrary::default().adapters()
}

impl MadLibrary {
    /// Every adapter, by name. The list of a machine without adapters is empty. Without a library that is asked for it is
    /// an error.
    pub fn adapters(self) -> Result<Vec<Adapter>, SourceError> {
        Ok(list_adapters(self.load()?.as_ref()))
    }
}

/// The name that libibumad returns if the kernel lists no adapter: that of the first adapter ever.
const INVENTED_NAME: &str = "mthca0";

pub(crate) fn list_adapters(library: &dyn UmadDriver) -> Vec<Adapter> {
    let described = |name: String| {
        let facts = library.adapter(&name);
        (facts.is_some() || name != INVENTED_NAME).then(|| to_adapter(name, facts))
    };
    library.adapter_names().into_iter().filter_map(described).collect()
}

fn to_adapter(name: String, facts: Option<UmadAdapterFacts>) -> Adapter {
    let Some(facts) = facts else { return Adapter { name, node_guid: None, ports: Vec::new() } };
    Adapter {
        name,
        node_guid: to_guid(facts.node_guid),
        ports: facts.ports.iter().filter_map(to_port).collect(),
    }
}

fn to_port(facts: &UmadPortFacts) -> Option<AdapterPort> {
    Some(AdapterPort {
        number: PortNum::new(facts.number)?,
        guid: to_guid(facts.guid),
        lid: Lid::new(facts.lid),
        manager_lid: Lid::new(facts.manager_lid),
        state: u8::try_from(facts.state).ok().and_then(PortState::from_code),
        physical_state: u8::try_from(facts.physical_state).ok().and_then(PhysicalState::from_code),
        rate_gbps: facts.rate_gbps,
        link_layer: LinkLayer::of(&facts.link_layer),
        is_manager_disabled: facts.capabilities & SM_DISABLED != 0,
    })
}

/// IsSMDisabled of the CapabilityMask.
const SM_DISABLED: u32 = 0x400;

fn to_guid(value: u64) -> Option<Guid> {
    (value != 0).then_some(Guid(value))
}
