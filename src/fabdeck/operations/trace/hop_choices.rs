//! The ports besides that of the linear table by which a switch may send the packets of a path.

use fabdeck_fabric::{AdaptiveStatement, Lid, NodeId, PortNum, PortSet, ServiceLevel, Tables};

/// The other ports by which a switch may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HopChoices {
    /// The table determines the port, as far as the source states it.
    #[default]
    None,
    /// Packets of some service level may leave by these ports too.
    Ports(PortSet),
    /// The switch may send by other ports, and by which is not known.
    Unknown,
}

impl HopChoices {
    /// The choices of a switch for packets that come in by one port and leave by another one if nothing is adaptive.
    pub fn of(tables: &Tables, at: NodeId, (ingress, egress): (PortNum, PortNum), lid: Lid) -> Self {
        let Some(held) = tables.nodes.get(&at) else { return Self::None };
        let Some(adaptive) = &held.adaptive else { return Self::None };
        let is_linear = match &adaptive.statement {
            AdaptiveStatement::Absent => true,
            AdaptiveStatement::NoAnswer => false,
            AdaptiveStatement::Stated(settings) => {
                !settings.needs_tables() && settings.private_tables.is_some()
            }
        };
        if is_linear {
            return Self::None;
        }
        if held.adaptive_doubt(std::iter::once(lid)).is_some() {
            return Self::Unknown;
        }
        let mut all = PortSet::EMPTY;
        for level in (0..16).filter_map(ServiceLevel::new) {
            let Some(outputs) = held.outputs(ingress, level, lid) else { return Self::Unknown };
            all = all.union(&outputs.ports);
        }
        all.remove(egress);
        if all.is_empty() { Self::None } else { Self::Ports(all) }
    }
}
