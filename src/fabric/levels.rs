//! The service levels that packets are sent on, by source switch and destination.

use super::{Lid, ServiceLevel};

/// The service level of each path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Levels {
    /// Every path on one.
    One(ServiceLevel),
    /// A row for each source switch, the levels of a LID as bits: sources of one switch may differ. No bit: nobody
    /// said.
    BySwitch { stride: usize, bits: Vec<u16> },
}

impl Levels {
    /// Nobody has said anything yet.
    pub fn unsaid(switches: usize, top: Option<Lid>) -> Self {
        let stride = top.map_or(0, |lid| lid.index() + 1);
        Self::BySwitch { stride, bits: vec![0; switches * stride] }
    }

    /// Some source of a switch sends to a LID on this level.
    pub fn add(&mut self, switch: u32, lid: Lid, level: ServiceLevel) {
        let Self::BySwitch { stride, bits } = self else { return };
        let at = switch as usize * *stride + lid.index();
        if lid.index() < *stride
            && let Some(held) = bits.get_mut(at)
        {
            *held |= 1 << level.value();
        }
    }

    /// The levels from a switch to a LID, as bits.
    pub fn of(&self, switch: u32, lid: Lid) -> u16 {
        match self {
            Self::One(level) => 1 << level.value(),
            Self::BySwitch { stride, bits } if lid.index() < *stride => {
                bits.get(switch as usize * stride + lid.index()).copied().unwrap_or(0)
            }
            Self::BySwitch { .. } => 0,
        }
    }

    /// All levels that come up, as bits.
    pub fn all(&self) -> u16 {
        match self {
            Self::One(level) => 1 << level.value(),
            Self::BySwitch { bits, .. } => bits.iter().fold(0, |all, bits| all | bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_by_switch_and_lid() {
        let (lid, level) = (|lid| Lid::new(lid).unwrap(), |level| ServiceLevel::new(level).unwrap());
        let mut levels = Levels::unsaid(2, Lid::new(4));
        levels.add(1, lid(4), level(3));
        levels.add(1, lid(4), level(0));
        levels.add(1, lid(5), level(1));
        levels.add(7, lid(1), level(1));
        assert_eq!((levels.of(1, lid(4)), levels.of(0, lid(4)), levels.of(1, lid(5))), (0b1001, 0, 0));
        assert_eq!((levels.all(), Levels::One(level(2)).of(9, lid(9))), (0b1001, 0b100));
    }
}
