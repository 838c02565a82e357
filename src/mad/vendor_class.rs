//! The management class 0x0A of NVIDIA's devices, read-only: what a device can do, and registers of the device. The
//! attribute lies behind the 8 bytes of a key, which fabdeck leaves at 0.

use zerocopy::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, MadStatus, Method};
use super::register_query::RegisterQuery;
use super::vendor::GeneralInfo;

const DATA_AT: usize = 32;
/// Where the register begins, behind the word with the number of the block.
const REGISTER_AT: usize = 36;
/// Where the capabilities of GeneralInfo begin.
const CAPABILITIES_AT: usize = 160;

/// The bytes of a register that one datagram holds.
pub const REGISTER_BLOCK: usize = 220;

impl Class {
    /// NVIDIA's class for diagnostics of a device.
    pub const VENDOR_DIAGNOSTICS: Class = Class(0x0A);
}

/// An attribute of the class that fabdeck reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VendorQuery {
    ClassPortInfo,
    /// What the class supports.
    GeneralInfo,
    Register(RegisterQuery),
}

impl VendorQuery {
    pub const GENERAL_INFO: u16 = 0x17;
    pub const ACCESS_REGISTER: u16 = 0x51;
    /// The bit of GeneralInfo for AccessRegister.
    pub const ACCESS_REGISTER_BIT: usize = 20;

    /// The datagram that asks. The method is always Get, and the fields of a register that clear or reset something
    /// are 0: `RegisterQuery` has no value that sets them.
    pub fn to_mad(self) -> Mad {
        let (attribute, modifier) = match self {
            Self::ClassPortInfo => (super::attribute::CLASS_PORT_INFO, 0),
            Self::GeneralInfo => (Self::GENERAL_INFO, 0),
            Self::Register(query) => (Self::ACCESS_REGISTER, query.register().id().into()),
        };
        let mut mad = Mad::new(Class::VENDOR_DIAGNOSTICS, Method::GET, attribute, modifier);
        if let Self::Register(query) = self {
            *mad.view_mut::<U32>(DATA_AT) = (u32::from(query.block()) << 16).into();
            query.fill(mad.register_mut());
        }
        mad
    }
}

/// The bytes of a register in a datagram.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RegisterBytes(pub [u8; REGISTER_BLOCK]);

impl Default for RegisterBytes {
    fn default() -> Self {
        Self([0; REGISTER_BLOCK])
    }
}

impl RegisterBytes {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let found = self.0.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
        found.unwrap_or([0; N])
    }

    pub fn u16_at(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.bytes(at))
    }

    pub fn u32_at(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.bytes(at))
    }

    pub fn u64_at(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.bytes(at))
    }

    /// A text up to its first zero byte, without blanks around it; `None` if nothing printable is left.
    pub fn text_at(&self, at: usize, length: usize) -> Option<String> {
        let bytes = self.0.get(at..at + length)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(length);
        let printable = bytes[..end].iter().filter(|byte| byte.is_ascii_graphic() || **byte == b' ');
        let text: String = printable.map(|byte| char::from(*byte)).collect();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

impl Mad {
    /// ClassPortInfo of a datagram of this class.
    pub fn vendor_class_info(&self) -> &super::ClassPortInfo {
        self.view(DATA_AT)
    }

    pub fn vendor_class_info_mut(&mut self) -> &mut super::ClassPortInfo {
        self.view_mut(DATA_AT)
    }

    /// The capabilities in GeneralInfo of this class.
    pub fn vendor_capabilities(&self) -> &GeneralInfo {
        self.view(CAPABILITIES_AT)
    }

    pub fn vendor_capabilities_mut(&mut self) -> &mut GeneralInfo {
        self.view_mut(CAPABILITIES_AT)
    }

    /// The number of the block of a register, and its bytes.
    pub fn register_block(&self) -> u16 {
        (self.view::<U32>(DATA_AT).get() >> 16) as u16
    }

    pub fn register(&self) -> &RegisterBytes {
        self.view(REGISTER_AT)
    }

    pub fn register_mut(&mut self) -> &mut RegisterBytes {
        self.view_mut(REGISTER_AT)
    }
}

impl super::ClassPortInfo {
    /// Whether the device of class 0x0A answers only with a key.
    pub fn wants_vendor_key(&self) -> bool {
        self.capability_mask.get() & 0x0100 != 0
    }
}

impl MadStatus {
    /// Whether an AccessRegister answer says that the device has no such register; it may have others.
    pub fn is_unsupported_register(self) -> bool {
        self.0 & 0x1F == 0x14
    }
}
