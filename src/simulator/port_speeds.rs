//! What devices answer about speeds: capability masks, the query bit for extended speeds, and FDR10 in ExtPortInfo.

use fabdeck_fabric::{LinkSpeed, LinkWidth};
use fabdeck_mad::{ExtendedPortInfo, PortCapabilities, PortInfo, PortStateTable};

use super::attribute_refusal::AttributeRefusal;
use super::device::SimulatedDevice;

/// How a device takes the bit for extended speeds in the modifier of a PortInfo query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PortInfoForm {
    /// The answer has the extended speeds, with the bit and without.
    #[default]
    Always,
    /// Without the bit the extended speeds are 0.
    OnRequest,
    /// The bit counts as a port number that the device does not have.
    Refusing,
}

impl PortInfoForm {
    pub(super) fn apply(self, modifier: u32, info: &mut PortInfo) -> Result<(), AttributeRefusal> {
        let knows = modifier & PortInfo::KNOWS_EXTENDED_SPEEDS != 0;
        match self {
            Self::OnRequest if !knows => info.hide_extended_speeds(),
            Self::Refusing if knows => return Err(AttributeRefusal::InvalidField),
            _ => {}
        }
        Ok(())
    }
}

/// What a switch answers to SwitchPortStateTable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PortStatesForm {
    /// The switch does not have it, and says so in its capabilities.
    #[default]
    Absent,
    Held,
    /// The switch says that it has it, and refuses it.
    Refused,
    /// The switch says that it has it, and does not answer.
    Silent,
    /// All bits are set: no state has that code.
    Nonsense,
}

pub(super) fn port_states(
    device: &SimulatedDevice,
    modifier: u32,
) -> Result<PortStateTable, AttributeRefusal> {
    let first = usize::from(PortStateTable::PORTS) * modifier as usize;
    match device.port_states {
        PortStatesForm::Held if modifier <= 1 => {
            Ok(PortStateTable::new(device.ports.iter().skip(first).map(|port| port.state)))
        }
        PortStatesForm::Held => Err(AttributeRefusal::InvalidField),
        PortStatesForm::Nonsense => Ok(PortStateTable { pairs: [0xFF; 64] }),
        PortStatesForm::Absent | PortStatesForm::Refused | PortStatesForm::Silent => {
            Err(AttributeRefusal::UnsupportedAttribute)
        }
    }
}

/// The masks of a device, by the best speed and the widths of its ports.
pub(super) fn speed_capabilities(device: &SimulatedDevice) -> PortCapabilities {
    let best = device.ports.iter().map(|port| port.speed_best).max().unwrap_or(LinkSpeed::Edr);
    let narrow = device.ports.iter().any(|port| port.width == LinkWidth::X2);
    let details = device.wire.has_details();
    let mask = PortCapabilities::EXTENDED_SPEEDS | device.labels.capability();
    let mut known = PortCapabilities { mask, mask2: 0 };
    let states = device.port_states != PortStatesForm::Absent;
    if best >= LinkSpeed::Hdr || narrow || details || states {
        known.mask |= PortCapabilities::MASK2;
    }
    for (has, bit) in [
        (narrow, PortCapabilities::WIDTH_2X),
        (details, PortCapabilities::PORT_INFO_EXTENDED),
        (states, PortCapabilities::SWITCH_PORT_STATES),
        (best >= LinkSpeed::Hdr, PortCapabilities::HDR),
        (best >= LinkSpeed::Ndr, PortCapabilities::NDR),
        (best >= LinkSpeed::Xdr, PortCapabilities::EXTENDED_SPEEDS2 | PortCapabilities::XDR),
    ] {
        known.mask2 |= if has { bit } else { 0 };
    }
    known
}

/// Whether a device has a port with FDR10, and with that ExtPortInfo.
pub(super) fn has_fdr10(device: &SimulatedDevice) -> bool {
    device.ports.iter().any(|port| port.speed == LinkSpeed::Fdr10)
}

pub(super) fn extended_port_info(
    device: &SimulatedDevice,
    modifier: u32,
) -> Result<ExtendedPortInfo, AttributeRefusal> {
    let number = u8::try_from(modifier).map_err(|_| AttributeRefusal::InvalidField)?;
    let port = device.port(number).ok_or(AttributeRefusal::InvalidField)?;
    Ok(ExtendedPortInfo::new(port.speed_best == LinkSpeed::Fdr10, port.speed == LinkSpeed::Fdr10))
}
