//! CapabilityMask and CapabilityMask2 of PortInfo: which of its fields, and which further attributes, a port has.

/// The two masks of a port. Port 0 has those of all ports of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCapabilities {
    pub mask: u32,
    pub mask2: u16,
}

impl PortCapabilities {
    pub const SM_DISABLED: u32 = 1 << 10;
    pub const CABLE_INFO: u32 = 1 << 13;
    pub const EXTENDED_SPEEDS: u32 = 1 << 14;
    /// CapabilityMask2 holds a value; otherwise its bytes, and the byte of the second extended speeds, mean nothing.
    pub const MASK2: u32 = 1 << 15;
    pub const HIERARCHY_INFO: u32 = 1 << 31;

    pub const SET_NODE_DESCRIPTION: u16 = 0x1;
    pub const PORT_INFO_EXTENDED: u16 = 0x2;
    pub const VIRTUALIZATION: u16 = 0x4;
    pub const SWITCH_PORT_STATES: u16 = 0x8;
    pub const WIDTH_2X: u16 = 0x10;
    pub const HDR: u16 = 0x20;
    pub const NDR: u16 = 0x400;
    pub const EXTENDED_SPEEDS2: u16 = 0x800;
    pub const XDR: u16 = 0x1000;

    fn has2(self, bit: u16) -> bool {
        self.mask & Self::MASK2 != 0 && self.mask2 & bit != 0
    }

    /// Whether the port answers no subnet management because another device of its host does.
    pub fn is_sm_disabled(self) -> bool {
        self.mask & Self::SM_DISABLED != 0
    }

    pub fn has_extended_speeds(self) -> bool {
        self.mask & Self::EXTENDED_SPEEDS != 0
    }

    /// Whether the byte of the second extended speeds (XDR) holds a value.
    pub fn has_extended_speeds2(self) -> bool {
        self.has2(Self::EXTENDED_SPEEDS2)
    }

    /// Whether the port has PortInfoExtended, with its FEC modes.
    pub fn has_port_info_extended(self) -> bool {
        self.has2(Self::PORT_INFO_EXTENDED)
    }

    /// Whether one SwitchPortStateTable holds the states of all ports.
    pub fn has_switch_port_states(self) -> bool {
        self.has2(Self::SWITCH_PORT_STATES)
    }

    pub fn has_width_2x(self) -> bool {
        self.has2(Self::WIDTH_2X)
    }
}
