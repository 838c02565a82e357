//! The data of PPCNT: bits, errors by lane and error rates of a port; FEC blocks, link downs; retransmission.

use super::sensor_registers::RegisterContent;
use super::vendor_class::RegisterBytes;
use fabdeck_fabric::observe::{BitErrorCounts, BitErrorRate, PhysicalLayerCounts, RetransmissionCounts};

/// Where the data begins, behind the input words.
const DATA_AT: usize = 8;
/// The number of lanes with a count.
const LANES: usize = 8;

impl RegisterContent for BitErrorCounts {
    /// Group 0x16.
    fn read(register: &RegisterBytes) -> Option<Self> {
        let count = |at: usize| register.u64_at(DATA_AT + at);
        let rate = |at: usize| BitErrorRate::from_word(register.u32_at(DATA_AT + at));
        let mut lane_errors: Vec<u64> = (0..LANES).map(|lane| count(0x20 + 8 * lane)).collect();
        let used = lane_errors.iter().rposition(|errors| *errors > 0).map_or(0, |last| last + 1);
        lane_errors.truncate(used);
        let read = Self {
            since_ms: count(0),
            bits: count(8),
            symbol_errors: count(0x10),
            corrected_bits: count(0x18),
            lane_errors,
            effective_errors: count(0x7C),
            raw: rate(0x60),
            effective: rate(0x64),
            symbol: rate(0x68),
        };
        // Errors are errors of received bits, and all bits in a register at once are no count.
        let all = read.lane_errors.iter().fold(read.symbol_errors, |sum, errors| sum.saturating_add(*errors));
        (all <= read.bits && read.since_ms != u64::MAX && read.bits != u64::MAX).then_some(read)
    }

    fn fill(&self, register: &mut RegisterBytes) {
        let counts = [self.since_ms, self.bits, self.symbol_errors, self.corrected_bits];
        let lanes = self.lane_errors.iter().take(LANES).enumerate();
        let lanes = lanes.map(|(lane, errors)| (0x20 + 8 * lane, *errors));
        let head = counts.into_iter().enumerate().map(|(at, count)| (8 * at, count));
        for (at, count) in head.chain(lanes).chain([(0x7C, self.effective_errors)]) {
            register.put(DATA_AT + at, &count.to_be_bytes());
        }
        for (at, rate) in [(0x60, self.raw), (0x64, self.effective), (0x68, self.symbol)] {
            register.put(DATA_AT + at, &rate.map_or(0, BitErrorRate::to_word).to_be_bytes());
        }
    }
}

/// Group 0x12: FEC blocks, and how often the link went down.
impl RegisterContent for PhysicalLayerCounts {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let read = Self {
            uncorrectable_blocks: register.u64_at(DATA_AT + 0x80),
            good_blocks: register.u64_at(DATA_AT + 0x88),
            link_downs: register.u32_at(DATA_AT + 0xC0),
            recoveries: register.u32_at(DATA_AT + 0xC4),
        };
        // All bits at once are no count.
        (read.good_blocks != u64::MAX && read.uncorrectable_blocks != u64::MAX).then_some(read)
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(DATA_AT + 0x80, &self.uncorrectable_blocks.to_be_bytes());
        register.put(DATA_AT + 0x88, &self.good_blocks.to_be_bytes());
        register.put(DATA_AT + 0xC0, &self.link_downs.to_be_bytes());
        register.put(DATA_AT + 0xC4, &self.recoveries.to_be_bytes());
    }
}

/// The second block of group 0x12: link downs by intent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkDownCauses {
    pub unintentional: u32,
    pub intentional: u32,
}

impl LinkDownCauses {
    /// The offset in the second block of 220 bytes.
    const AT: usize = DATA_AT + 0xF0 - super::REGISTER_BLOCK;
}

impl RegisterContent for LinkDownCauses {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let (unintentional, intentional) = (register.u32_at(Self::AT), register.u32_at(Self::AT + 4));
        Some(Self { unintentional, intentional })
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(Self::AT, &self.unintentional.to_be_bytes());
        register.put(Self::AT + 4, &self.intentional.to_be_bytes());
    }
}

/// Group 0x22: retransmission in the physical layer (PLR).
impl RegisterContent for RetransmissionCounts {
    fn read(register: &RegisterBytes) -> Option<Self> {
        let read = Self {
            received_codes: register.u64_at(DATA_AT),
            retry_codes: register.u64_at(DATA_AT + 0x20),
            losses: register.u64_at(DATA_AT + 0x38),
        };
        // Both directions are counted apart, so one is no bound of the other.
        (read.received_codes != u64::MAX && read.retry_codes != u64::MAX).then_some(read)
    }

    fn fill(&self, register: &mut RegisterBytes) {
        register.put(DATA_AT, &self.received_codes.to_be_bytes());
        register.put(DATA_AT + 0x20, &self.retry_codes.to_be_bytes());
        register.put(DATA_AT + 0x38, &self.losses.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_errors_read_as_they_are_written() {
        let counts = BitErrorCounts {
            since_ms: 3_600_000,
            bits: 1_530_000_000_000_000,
            symbol_errors: 3,
            corrected_bits: 9_000_000,
            lane_errors: vec![10, 4_589_990, 0, 7],
            effective_errors: 12,
            raw: BitErrorRate::from_word(0x0903),
            effective: BitErrorRate::from_word(0x0E07),
            symbol: BitErrorRate::from_word(0xFF0F),
        };
        let mut register = RegisterBytes::default();
        counts.fill(&mut register);
        assert_eq!(register.0[DATA_AT + 0x60..DATA_AT + 0x64], [0, 0, 9, 3]);
        assert_eq!(register.0[DATA_AT + 0x68..DATA_AT + 0x6C], [0, 0, 0xFF, 0x0F]);
        assert_eq!(register.u64_at(DATA_AT + 0x28), 4_589_990);
        assert_eq!(BitErrorCounts::read(&register), Some(counts.clone()));
        // A device that measures no rate leaves the word at 0: that is no rate, and not the rate 0.
        register.put(DATA_AT + 0x60, &[0; 4]);
        assert_eq!(BitErrorCounts::read(&register).map(|read| read.raw), Some(None));
        for nonsense in [[0xFF; 220], {
            let mut few = register.0;
            few[DATA_AT + 8..DATA_AT + 16].fill(0);
            few
        }] {
            assert_eq!(BitErrorCounts::read(&RegisterBytes(nonsense)), None);
        }
    }

    #[test]
    fn other_groups_read_as_they_are_written() {
        let layer = PhysicalLayerCounts {
            uncorrectable_blocks: 5,
            good_blocks: 1 << 40,
            link_downs: 2,
            recoveries: 9,
        };
        let causes = LinkDownCauses { unintentional: 1, intentional: 4 };
        let resent = RetransmissionCounts { received_codes: 1 << 50, retry_codes: 7, losses: 1 };
        let mut register = RegisterBytes::default();
        layer.fill(&mut register);
        assert_eq!((register.u64_at(0x88), register.u32_at(0xC8), register.u32_at(0xCC)), (5, 2, 9));
        assert_eq!(PhysicalLayerCounts::read(&register), Some(layer));
        let nonsense = RegisterBytes([0xFF; 220]);
        assert_eq!(
            (PhysicalLayerCounts::read(&nonsense), RetransmissionCounts::read(&nonsense)),
            (None, None)
        );
        let mut register = RegisterBytes::default();
        causes.fill(&mut register);
        assert_eq!((register.u32_at(28), LinkDownCauses::read(&register)), (1, Some(causes)));
        let mut register = RegisterBytes::default();
        resent.fill(&mut register);
        assert_eq!((register.u64_at(0x40), RetransmissionCounts::read(&register)), (1, Some(resent)));
    }
}
