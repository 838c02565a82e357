//! SwitchPortStateTable: the states of 128 ports of a switch in one datagram. A switch has it where CapabilityMask2 of
//! its port 0 says so.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::PortState;

/// A block of the table: four bits a port, the even port in the upper half of a byte.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortStateTable {
    pub pairs: [u8; 64],
}

impl PortStateTable {
    /// The number of ports of a block.
    pub const PORTS: u8 = 128;

    /// A block with these states, from its first port on.
    pub fn new(states: impl Iterator<Item = PortState>) -> Self {
        let mut pairs = [0; 64];
        for (at, state) in states.take(Self::PORTS.into()).enumerate() {
            pairs[at / 2] |= if at % 2 == 0 { state.code() << 4 } else { state.code() };
        }
        Self { pairs }
    }

    /// The state of a port, by its number within the block; `None` for a code without a meaning.
    pub fn state(&self, at: u8) -> Option<PortState> {
        let pair = *self.pairs.get(usize::from(at) / 2)?;
        PortState::from_code(if at.is_multiple_of(2) { pair >> 4 } else { pair & 0xF })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PortState::{Active, Armed, Down, Init};

    #[test]
    fn even_ports_are_in_the_upper_half() {
        let table = PortStateTable::new([Active, Down, Init, Armed].into_iter());
        assert_eq!(table.pairs[..3], [0x41, 0x23, 0]);
        let read: Vec<_> = (0..5).map(|at| table.state(at)).collect();
        assert_eq!(read[..4], [Some(Active), Some(Down), Some(Init), Some(Armed)]);
        assert_eq!((read[4].filter(|state| *state != Down), table.state(128)), (None, None));
    }
}
