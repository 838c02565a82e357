//! VL arbitration: tables of high and low priority with weights (IBA 7.6.9).

use fabdeck_fabric::{Arbitration, VlWeight};

/// Bytes that the high priority may send for each unit of its limit before the low priority gets a turn.
const LIMIT_UNIT: i32 = 4096;
/// The high priority has no limit.
const NO_LIMIT: u8 = 255;
/// Bytes for each unit of weight.
const WEIGHT_UNIT: i32 = 64;
/// Default weight of a lane.
const EVEN_WEIGHT: u8 = 64;

/// Most entries of a table (IBA 14.2.5.9).
const MAX_ENTRIES: usize = 64;

/// The arbitration tables of a port. Ports with equal tables share them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arbiter {
    high: WeightTable,
    low: WeightTable,
    limit: Option<i32>,
}

/// Lanes with their weights in bytes; entries without weight are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct WeightTable {
    entries: Vec<(u8, i32)>,
    lanes: u16,
    /// The entries of each lane, as bits, so that arbitration skips lanes with nothing to send.
    of_lane: [u64; 16],
}

impl WeightTable {
    fn new(entries: impl Iterator<Item = (u8, i32)>) -> Self {
        let mut table = Self::default();
        for (at, (lane, weight)) in entries.take(MAX_ENTRIES).enumerate() {
            table.entries.push((lane, weight));
            table.lanes |= 1 << lane;
            table.of_lane[usize::from(lane)] |= 1 << at;
        }
        table
    }

    /// Chooses the next lane. An entry keeps its turn while it has weight left and a packet to send; the last packet
    /// of a turn may exceed the weight.
    fn take_turn(&self, place: &mut TablePlace, able: u16, bytes: i32) -> Option<u8> {
        let able = able & self.lanes;
        let (lane, _) = *self.entries.get(usize::from(place.entry))?;
        if place.left > 0 && able >> lane & 1 == 1 {
            place.left -= bytes;
            return Some(lane);
        }
        let wanted = bits_of(able).fold(0, |wanted, lane| wanted | self.of_lane[lane as usize]);
        // The entries behind the current one; otherwise from the first on, ending with the current one and new weight.
        let behind = wanted & (u64::MAX << place.entry << 1);
        let next = if behind != 0 { behind } else { wanted };
        let (lane, weight) = *self.entries.get(next.trailing_zeros() as usize)?;
        *place = TablePlace { entry: next.trailing_zeros() as u8, left: weight - bytes };
        Some(lane)
    }
}

/// The position of a port in its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ArbiterState {
    high: TablePlace,
    low: TablePlace,
    /// Bytes that the high priority may still send before the low one gets a turn.
    spare: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct TablePlace {
    entry: u8,
    left: i32,
}

impl Arbiter {
    pub fn new(tables: &Arbitration) -> Self {
        let table = |table: &[VlWeight]| {
            let used = table.iter().filter(|entry| entry.weight > 0);
            WeightTable::new(used.map(|entry| (entry.lane.value(), i32::from(entry.weight) * WEIGHT_UNIT)))
        };
        // A limit of 0 lets one packet pass.
        let limit = i32::from(tables.high_limit) * LIMIT_UNIT;
        Self {
            high: table(&tables.high),
            low: table(&tables.low),
            limit: (tables.high_limit != NO_LIMIT).then_some(limit.max(1)),
        }
    }

    /// Equal weights for all lanes, the default of a port.
    pub fn with_even_weights(lanes: u8) -> Self {
        let low = WeightTable::new((0..lanes).map(|lane| (lane, i32::from(EVEN_WEIGHT) * WEIGHT_UNIT)));
        Self { high: WeightTable::default(), low, limit: None }
    }

    /// Chooses a lane among those that have a packet and credits.
    pub fn next_lane(&self, turn: &mut ArbiterState, able: u16, bytes: u32) -> Option<u8> {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let (high, low) = (able & self.high.lanes, able & self.low.lanes);
        let first = high != 0 && (low == 0 || self.limit.is_none() || turn.spare > 0);
        if first {
            turn.spare = turn.spare.saturating_sub(bytes);
            return self.high.take_turn(&mut turn.high, high, bytes);
        }
        if low != 0 {
            turn.spare = self.limit.unwrap_or(0);
        }
        self.low.take_turn(&mut turn.low, low, bytes)
    }
}

/// The bits of a mask, lowest first.
pub(crate) fn bits_of(mut mask: u16) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Lane;

    fn table(entries: &[(u32, u8)]) -> Vec<VlWeight> {
        entries
            .iter()
            .map(|(lane, weight)| VlWeight { lane: Lane::new(*lane).unwrap(), weight: *weight })
            .collect()
    }

    /// Number of 2,048-byte packets that each lane sends when all lanes of `able` always have one.
    fn shares(tables: &Arbitration, able: u16) -> Vec<u32> {
        let (turns, mut turn) = (Arbiter::new(tables), ArbiterState::default());
        let mut sent = vec![0; 4];
        for _ in 0..6400 {
            if let Some(lane) = turns.next_lane(&mut turn, able, 2048) {
                sent[usize::from(lane)] += 1;
            }
        }
        sent
    }

    #[test]
    fn weights_share_the_link() {
        let low = |entries: &[(u32, u8)]| Arbitration { low: table(entries), ..Default::default() };
        assert_eq!(shares(&low(&[(0, 64), (1, 64)]), 0b11), [3200, 3200, 0, 0]);
        assert_eq!(shares(&low(&[(0, 192), (1, 64)]), 0b11), [4800, 1600, 0, 0]);
        // Two entries of a lane are two turns.
        assert_eq!(shares(&low(&[(0, 64), (1, 64), (0, 64), (2, 64)]), 0b111), [3200, 1600, 1600, 0]);
        // A lane with nothing to send leaves the link to the others; a lane in no table never sends.
        assert_eq!(shares(&low(&[(0, 192), (1, 64)]), 0b10), [0, 6400, 0, 0]);
        assert_eq!(shares(&low(&[(0, 192), (1, 0)]), 0b10), [0, 0, 0, 0]);
        assert_eq!(shares(&low(&[]), 0b11), [0, 0, 0, 0]);
    }

    #[test]
    fn the_high_priority_goes_first_up_to_its_limit() {
        let tables = |high_limit| Arbitration { high_limit, high: table(&[(1, 64)]), low: table(&[(0, 64)]) };
        assert_eq!(shares(&tables(255), 0b11), [0, 6400, 0, 0]);
        // 4,096 bytes are two packets; then the low priority gets a turn.
        assert_eq!(shares(&tables(1), 0b11)[0], 6400 / 3 + 1);
        assert_eq!(shares(&tables(0), 0b11), [3200, 3200, 0, 0]);
        assert_eq!(shares(&tables(255), 0b01), [6400, 0, 0, 0]);
    }
}
