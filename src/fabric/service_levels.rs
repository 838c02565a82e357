//! The service levels that packets are sent on, by source switch and destination.

use super::{Lid, ServiceLevel};

/// The service levels of paths by source switch and destination LID. A set of levels is a bit mask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServiceLevels {
    /// All paths have one level.
    One(ServiceLevel),
    /// The levels to each LID, the same from every switch.
    ByLid(Vec<u16>),
    /// The levels to each LID, for each source switch. The sources of one switch may use different levels; without
    /// a bit the level is unknown.
    BySwitch {
        /// The number of LIDs of a row, from LID 0 on.
        stride: usize,
        /// The rows in the order of the switches.
        bits: Vec<u16>,
    },
}

impl ServiceLevels {
    /// Makes levels of which every one is unknown, for LIDs up to `top`.
    pub fn unknown(switches: usize, top: Option<Lid>) -> Self {
        let stride = top.map_or(0, |lid| lid.index() + 1);
        Self::BySwitch { stride, bits: vec![0; switches * stride] }
    }

    /// Replaces a single level by one entry for each LID up to `top`, so that entries can change.
    pub fn expand(&mut self, top: Option<Lid>) {
        if let Self::One(level) = self {
            let mut bits = vec![1 << level.value(); top.map_or(0, |lid| lid.index() + 1)];
            bits.first_mut().into_iter().for_each(|none| *none = 0);
            *self = Self::ByLid(bits);
        }
    }

    /// Changes the levels to a LID from every switch. A single level for all paths stays.
    pub fn map_lid(&mut self, lid: Lid, becomes: impl Fn(u16) -> u16) {
        match self {
            Self::One(_) => {}
            Self::ByLid(bits) => {
                bits.get_mut(lid.index()).into_iter().for_each(|held| *held = becomes(*held));
            }
            Self::BySwitch { stride, bits } => {
                for row in bits.chunks_exact_mut((*stride).max(1)) {
                    row.get_mut(lid.index()).into_iter().for_each(|held| *held = becomes(*held));
                }
            }
        }
    }

    /// Adds a level to those from a switch to a LID. Has an effect on `BySwitch` only.
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
    pub fn level_bits(&self, switch: u32, lid: Lid) -> u16 {
        match self {
            Self::One(level) => 1 << level.value(),
            Self::ByLid(bits) => bits.get(lid.index()).copied().unwrap_or(0),
            Self::BySwitch { stride, bits } if lid.index() < *stride => {
                bits.get(switch as usize * stride + lid.index()).copied().unwrap_or(0)
            }
            Self::BySwitch { .. } => 0,
        }
    }

    /// All levels in use, as bits.
    pub fn all_bits(&self) -> u16 {
        match self {
            Self::One(level) => 1 << level.value(),
            Self::ByLid(bits) | Self::BySwitch { bits, .. } => bits.iter().fold(0, |all, bits| all | bits),
        }
    }
}

/// The levels whose bits are set, ascending.
pub fn levels_in(bits: u16) -> impl Iterator<Item = ServiceLevel> {
    (0..16u32).filter(move |level| bits >> level & 1 == 1).filter_map(ServiceLevel::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_by_switch_and_lid() {
        let (lid, level) = (|lid| Lid::new(lid).unwrap(), |level| ServiceLevel::new(level).unwrap());
        let mut levels = ServiceLevels::unknown(2, Lid::new(4));
        levels.add(1, lid(4), level(3));
        levels.add(1, lid(4), level(0));
        levels.add(1, lid(5), level(1));
        levels.add(7, lid(1), level(1));
        assert_eq!(
            (levels.level_bits(1, lid(4)), levels.level_bits(0, lid(4)), levels.level_bits(1, lid(5))),
            (0b1001, 0, 0)
        );
        assert_eq!((levels.all_bits(), ServiceLevels::One(level(2)).level_bits(9, lid(9))), (0b1001, 0b100));
        assert_eq!(levels_in(levels.all_bits()).map(ServiceLevel::value).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn a_change_of_one_lid_is_from_every_switch() {
        let (lid, level) = (|lid| Lid::new(lid).unwrap(), |level| ServiceLevel::new(level).unwrap());
        let mut one = ServiceLevels::One(level(2));
        one.expand(Lid::new(4));
        assert_eq!(one, ServiceLevels::ByLid(vec![0, 4, 4, 4, 4]));
        let mut rows = ServiceLevels::unknown(2, Lid::new(4));
        (0..2).for_each(|switch| (1..5).for_each(|at| rows.add(switch, lid(at), level(2))));
        for levels in [&mut one, &mut rows] {
            levels.map_lid(lid(3), |held| held | 1);
            levels.map_lid(lid(9), |held| held | 2);
            let found = |switch| [lid(1), lid(3), lid(9)].map(|lid| levels.level_bits(switch, lid));
            assert_eq!((found(0), found(1), levels.all_bits()), ([4, 5, 0], [4, 5, 0], 5));
        }
    }
}
