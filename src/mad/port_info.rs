//! PortInfo (IBA 14.2.5.6): 64 bytes, most of them shared by two fields.

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::{Lid, LinkSpeed, LinkWidth, Lmc, PhysicalState, PortState};

use super::port_capabilities::PortCapabilities;

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct PortInfo {
    /// Never shown and never stored.
    pub m_key: U64,
    pub subnet_prefix: U64,
    pub base_lid: U16,
    pub master_sm_lid: U16,
    pub capability_mask: U32,
    pub diag_code: U16,
    pub m_key_lease_period: U16,
    pub local_port: u8,
    pub width_enabled: u8,
    pub width_supported: u8,
    pub width_active: u8,
    /// LinkSpeedSupported, PortState.
    pub speed_supported_state: u8,
    /// PortPhysicalState, LinkDownDefaultState.
    pub physical_down_default: u8,
    /// M_KeyProtectBits (2), reserved (3), LMC (3).
    pub protect_lmc: u8,
    /// LinkSpeedActive, LinkSpeedEnabled.
    pub speed_active_enabled: u8,
    pub mtu_sm_sl: u8,
    /// VLCap, InitType.
    pub lanes_init_type: u8,
    pub lanes_high_limit: u8,
    pub arbitration_high_cap: u8,
    pub arbitration_low_cap: u8,
    pub mtu_cap: u8,
    pub stall_life: u8,
    /// OperationalVLs (4), partition and raw enforcement (4).
    pub operational_lanes_enforce: u8,
    pub m_key_violations: U16,
    pub p_key_violations: U16,
    pub q_key_violations: U16,
    pub guid_cap: u8,
    pub subnet_timeout: u8,
    pub response_time: u8,
    pub error_thresholds: u8,
    pub max_credit_hint: U16,
    /// Reserved (1), LinkSpeedExt2Active (2), LinkSpeedExt2Supported (2), LinkSpeedExt2Enabled (3).
    pub speed_ext2: u8,
    /// LinkRoundTripLatency, 24 bits.
    pub round_trip_latency: [u8; 3],
    pub capability_mask2: U16,
    /// LinkSpeedExtActive, LinkSpeedExtSupported.
    pub speed_ext_active_supported: u8,
    pub speed_ext_enabled: u8,
}

/// How a port guards its M_Key (IBA 14.2.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProtectBits {
    /// 0: a Get without the key is answered and shows the key.
    Open,
    /// 1: a Get without the key is answered, and the key reads as zero.
    HideKey,
    /// 2 and 3: a Get without the key is not answered.
    Silent,
}

impl PortInfo {
    /// The bit of the modifier by which the sender says that it knows extended speeds. Without it a switch may answer
    /// with the extended fields at 0 and QDR in the old one.
    pub const KNOWS_EXTENDED_SPEEDS: u32 = 1 << 31;

    /// IsSM: a subnet manager runs at this port, as master or not.
    pub fn has_manager(&self) -> bool {
        self.capability_mask.get() & 1 << 1 != 0
    }

    pub fn lid(&self) -> Option<Lid> {
        Lid::new(self.base_lid.get().into())
    }

    pub fn lmc(&self) -> Lmc {
        Lmc::new(u32::from(self.protect_lmc & 0x07)).unwrap_or_default()
    }

    pub fn protect_bits(&self) -> ProtectBits {
        match self.protect_lmc >> 6 {
            0 => ProtectBits::Open,
            1 => ProtectBits::HideKey,
            _ => ProtectBits::Silent,
        }
    }

    pub fn state(&self) -> Option<PortState> {
        PortState::from_code(self.speed_supported_state & 0xF)
    }

    pub fn physical_state(&self) -> Option<PhysicalState> {
        PhysicalState::from_code(self.physical_down_default >> 4)
    }

    pub fn width(&self) -> Option<LinkWidth> {
        LinkWidth::from_code(self.width_active)
    }

    pub fn width_best(&self) -> Option<LinkWidth> {
        LinkWidth::ALL
            .iter()
            .copied()
            .filter(|w| self.width_supported & w.code() != 0)
            .max_by_key(|w| w.lanes())
    }

    /// What this port says about its fields.
    pub fn capabilities(&self) -> PortCapabilities {
        PortCapabilities { mask: self.capability_mask.get(), mask2: self.capability_mask2.get() }
    }

    /// The speed in use. FDR10 reads as QDR here, because only a vendor's attribute has it. The capabilities are those
    /// of the port, at a switch those of port 0; a speed that only they can confirm is `None` without them.
    pub fn speed(&self, known: Option<PortCapabilities>) -> Option<LinkSpeed> {
        let older = extended_speed(self.speed_ext_active_supported >> 4)
            .or_else(|| basic_speed(self.speed_active_enabled >> 4));
        newest_speed(self.speed_ext2 >> 5 & 3, known, older)
    }

    pub fn speed_best(&self, known: Option<PortCapabilities>) -> Option<LinkSpeed> {
        let older = extended_speed(self.speed_ext_active_supported & 0xF)
            .or_else(|| basic_speed(self.speed_supported_state >> 4));
        newest_speed(self.speed_ext2 >> 3 & 3, known, older)
    }

    /// Whether a switch port drops packets by their P_Key as they come in, and as they go out.
    pub fn enforces_partitions(&self) -> (bool, bool) {
        (self.operational_lanes_enforce & 0x08 != 0, self.operational_lanes_enforce & 0x04 != 0)
    }

    /// Sets these two bits.
    pub fn set_partition_enforcement(&mut self, inbound: bool, outbound: bool) {
        self.operational_lanes_enforce &= !0x0C;
        self.operational_lanes_enforce |= u8::from(inbound) << 3 | u8::from(outbound) << 2;
    }

    /// The time of a bit to the other end of the cable and back, in units of 4 ns; 0xFFFFFF if it is not known.
    pub fn round_trip(&self) -> u32 {
        let [high, middle, low] = self.round_trip_latency;
        u32::from_be_bytes([0, high, middle, low])
    }

    /// Number of data lanes in operation.
    pub fn operational_lanes(&self) -> Option<u8> {
        lane_count(self.operational_lanes_enforce >> 4)
    }

    pub fn lanes_supported(&self) -> Option<u8> {
        lane_count(self.lanes_init_type >> 4)
    }

    /// A PortInfo for a Set that changes the physical state alone (0 in state, width and speed: no change).
    pub fn with_physical_state(&self, state: PhysicalState) -> Self {
        let mut set = *self;
        set.speed_supported_state &= 0xF0;
        set.physical_down_default = state.code() << 4;
        set.width_enabled = 0;
        set.speed_active_enabled &= 0xF0;
        set.speed_ext_enabled = 0;
        set.speed_ext2 &= !7;
        set
    }
}

/// Encoding, for devices that answer: the simulator.
impl PortInfo {
    pub fn set_states(&mut self, state: PortState, physical: PhysicalState) {
        self.speed_supported_state = (self.speed_supported_state & 0xF0) | state.code();
        // The port returns to polling when its link goes down.
        self.physical_down_default = physical.code() << 4 | PhysicalState::Polling.code();
    }

    pub fn set_width(&mut self, active: LinkWidth, best: LinkWidth) {
        let up_to = LinkWidth::ALL.iter().filter(|w| w.lanes() <= best.lanes() && w.lanes() != 2);
        self.width_supported = up_to.map(|w| w.code()).sum::<u8>() | active.code();
        self.width_enabled = self.width_supported;
        self.width_active = active.code();
    }

    /// PortInfo cannot express FDR10, which is encoded as QDR.
    pub fn set_speed(&mut self, active: LinkSpeed, best: LinkSpeed) {
        let (basic_best, extended_best, second_best) = speed_codes(best);
        let (basic_active, extended_active, second_active) = speed_codes(active);
        // At XDR the older extended field is 0, and all older speeds are supported.
        let extended_best = if second_best > 0 { 8 } else { extended_best };
        // Every speed up to the best one: 1, 3 or 7, and 1, 3, 7 or 15.
        let basic_best = (basic_best << 1).wrapping_sub(1) & 7;
        let extended_best = if extended_best == 0 { 0 } else { (extended_best << 1).wrapping_sub(1) & 15 };
        self.speed_supported_state = (self.speed_supported_state & 0x0F) | basic_best << 4;
        self.speed_active_enabled = basic_active << 4 | basic_best;
        self.speed_ext_active_supported = extended_active << 4 | extended_best;
        self.speed_ext_enabled = extended_best;
        self.speed_ext2 = second_active << 5 | second_best << 3 | second_best;
    }

    /// Clears the extended speeds, as a port answers a sender that does not know them.
    pub fn hide_extended_speeds(&mut self) {
        (self.speed_ext_active_supported, self.speed_ext_enabled, self.speed_ext2) = (0, 0, 0);
    }

    pub fn set_lanes(&mut self, supported: u8, operational: u8) {
        self.lanes_init_type = (self.lanes_init_type & 0x0F) | lanes_code(supported) << 4;
        self.operational_lanes_enforce =
            (self.operational_lanes_enforce & 0x0F) | lanes_code(operational) << 4;
    }

    pub fn set_lmc(&mut self, lmc: Lmc) {
        self.protect_lmc = (self.protect_lmc & 0xF8) | lmc.value();
    }

    pub fn set_protect(&mut self, level: u8) {
        self.protect_lmc = (self.protect_lmc & 0x3F) | (level & 3) << 6;
    }
}

impl std::fmt::Debug for PortInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortInfo")
            .field("lid", &self.lid())
            .field("state", &self.state())
            .field("width", &self.width())
            .field("speed", &self.speed(Some(self.capabilities())))
            .finish_non_exhaustive()
    }
}

/// The highest speed named in the four bits of the SDR to QDR fields.
fn basic_speed(bits: u8) -> Option<LinkSpeed> {
    match bits {
        b if b & 4 != 0 => Some(LinkSpeed::Qdr),
        b if b & 2 != 0 => Some(LinkSpeed::Ddr),
        b if b & 1 != 0 => Some(LinkSpeed::Sdr),
        _ => None,
    }
}

/// The highest speed named in the four bits of the extended fields.
fn extended_speed(bits: u8) -> Option<LinkSpeed> {
    match bits {
        b if b & 8 != 0 => Some(LinkSpeed::Ndr),
        b if b & 4 != 0 => Some(LinkSpeed::Hdr),
        b if b & 2 != 0 => Some(LinkSpeed::Edr),
        b if b & 1 != 0 => Some(LinkSpeed::Fdr),
        _ => None,
    }
}

/// The speed in the two bits of the second extended field, if the port has that field; otherwise the older one. Bits
/// that no capability confirms leave the speed unknown: the older fields do not say it either.
fn newest_speed(bits: u8, known: Option<PortCapabilities>, older: Option<LinkSpeed>) -> Option<LinkSpeed> {
    match (bits, known) {
        (0, _) => older,
        (_, None) => None,
        (_, Some(known)) if !known.has_extended_speeds2() => older,
        (bits, Some(_)) => (bits & 1 != 0).then_some(LinkSpeed::Xdr),
    }
}

/// A speed as bits of the SDR to QDR fields, of the extended ones and of the second extended ones. A link at an
/// extended speed has QDR in the fields that older software reads.
fn speed_codes(speed: LinkSpeed) -> (u8, u8, u8) {
    match speed {
        LinkSpeed::Sdr => (1, 0, 0),
        LinkSpeed::Ddr => (2, 0, 0),
        LinkSpeed::Qdr | LinkSpeed::Fdr10 => (4, 0, 0),
        LinkSpeed::Fdr => (4, 1, 0),
        LinkSpeed::Edr => (4, 2, 0),
        LinkSpeed::Hdr => (4, 4, 0),
        LinkSpeed::Ndr => (4, 8, 0),
        LinkSpeed::Xdr => (4, 0, 1),
    }
}

/// The code of the largest lane count that is at most this count.
fn lanes_code(count: u8) -> u8 {
    (1..=5).rev().find(|code| lane_count(*code).is_some_and(|lanes| lanes <= count)).unwrap_or(1)
}

/// VLCap and OperationalVLs count in an enumeration: VL0, VL0-1, VL0-3, VL0-7, VL0-14.
fn lane_count(code: u8) -> Option<u8> {
    [1, 2, 4, 8, 15].get(usize::from(code).checked_sub(1)?).copied()
}
