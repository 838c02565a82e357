//! Which lane may send next: arbitration tables of a high and a low priority with weights (IBA 7.6.9).

use crate::fabric::{Arbitration, VlWeight};

/// The high priority may send so many bytes for each unit of its limit before the low one gets a turn.
const LIMIT_UNIT: i64 = 4096;
/// No end to what the high priority may send.
const NO_LIMIT: u8 = 255;
/// Weights count so many bytes.
const WEIGHT_UNIT: i64 = 64;
/// What each lane gets where nobody has set anything.
const EVEN: u8 = 64;

/// The tables of a port. Ports with equal tables share them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Turns {
    high: Vec<(u8, i64)>,
    low: Vec<(u8, i64)>,
    high_lanes: u16,
    low_lanes: u16,
    limit: Option<i64>,
}

/// Where a port is in its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Turn {
    high: Place,
    low: Place,
    /// What the high priority may still send before the low one.
    spare: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Place {
    entry: u8,
    left: i64,
}

impl Turns {
    pub fn new(tables: &Arbitration) -> Self {
        let entries = |table: &[VlWeight]| -> Vec<(u8, i64)> {
            let used = table.iter().filter(|entry| entry.weight > 0);
            used.map(|entry| (entry.lane.value(), i64::from(entry.weight) * WEIGHT_UNIT)).collect()
        };
        let lanes = |entries: &[(u8, i64)]| entries.iter().fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        let (high, low) = (entries(&tables.high), entries(&tables.low));
        // A limit of 0 lets one packet through.
        let limit = i64::from(tables.high_limit) * LIMIT_UNIT;
        Self {
            high_lanes: lanes(&high),
            low_lanes: lanes(&low),
            limit: (tables.high_limit != NO_LIMIT).then_some(limit.max(1)),
            high,
            low,
        }
    }

    /// Every lane in turn, as ports come up.
    pub fn even(lanes: u8) -> Self {
        let entries: Vec<(u8, i64)> = (0..lanes).map(|lane| (lane, i64::from(EVEN) * WEIGHT_UNIT)).collect();
        let low_lanes = entries.iter().fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        Self { high: Vec::new(), low: entries, high_lanes: 0, low_lanes, limit: None }
    }

    /// The lane that sends, out of those that have a packet and room for it beyond.
    pub fn next(&self, turn: &mut Turn, able: u16, bytes: u32) -> Option<u8> {
        let bytes = i64::from(bytes);
        let (high, low) = (able & self.high_lanes, able & self.low_lanes);
        let first = high != 0 && (low == 0 || self.limit.is_none() || turn.spare > 0);
        if first {
            turn.spare -= bytes;
            return take(&self.high, &mut turn.high, high, bytes);
        }
        if low != 0 {
            turn.spare = self.limit.unwrap_or(0);
        }
        take(&self.low, &mut turn.low, low, bytes)
    }
}

/// An entry keeps its turn while it has weight left and something to send. The last packet of a turn may take more.
fn take(entries: &[(u8, i64)], place: &mut Place, able: u16, bytes: i64) -> Option<u8> {
    if able == 0 {
        return None;
    }
    // Once around, and back to the entry that has used up its weight.
    for _ in 0..=entries.len() {
        let (lane, _) = *entries.get(usize::from(place.entry))?;
        if place.left > 0 && able >> lane & 1 == 1 {
            place.left -= bytes;
            return Some(lane);
        }
        place.entry = (place.entry + 1) % entries.len() as u8;
        place.left = entries[usize::from(place.entry)].1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Lane;

    fn table(entries: &[(u32, u8)]) -> Vec<VlWeight> {
        entries
            .iter()
            .map(|(lane, weight)| VlWeight { lane: Lane::new(*lane).unwrap(), weight: *weight })
            .collect()
    }

    /// What each lane sends of many packets of 2048 bytes when all of `able` always could.
    fn shares(tables: &Arbitration, able: u16) -> Vec<u32> {
        let (turns, mut turn) = (Turns::new(tables), Turn::default());
        let mut sent = vec![0; 4];
        for _ in 0..6400 {
            if let Some(lane) = turns.next(&mut turn, able, 2048) {
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
        // Who has nothing to send leaves the link to the others; who is in no table never sends.
        assert_eq!(shares(&low(&[(0, 192), (1, 64)]), 0b10), [0, 6400, 0, 0]);
        assert_eq!(shares(&low(&[(0, 192), (1, 0)]), 0b10), [0, 0, 0, 0]);
        assert_eq!(shares(&low(&[]), 0b11), [0, 0, 0, 0]);
    }

    #[test]
    fn the_high_priority_goes_first_up_to_its_limit() {
        let tables = |high_limit| Arbitration { high_limit, high: table(&[(1, 64)]), low: table(&[(0, 64)]) };
        assert_eq!(shares(&tables(255), 0b11), [0, 6400, 0, 0]);
        // 4096 bytes are two packets, and then it is the other's turn.
        assert_eq!(shares(&tables(1), 0b11)[0], 6400 / 3 + 1);
        assert_eq!(shares(&tables(0), 0b11), [3200, 3200, 0, 0]);
        assert_eq!(shares(&tables(255), 0b01), [6400, 0, 0, 0]);
    }
}
