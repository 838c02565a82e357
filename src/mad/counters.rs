//! Mapping of counters to fields of the two counter attributes.

use super::performance::{PortCounters, PortCountersExtended};
use fabdeck_fabric::observe::Counter;

/// An attribute that holds counters, read and filled counter by counter.
pub trait CounterBlock {
    /// All counters of the attribute, with their values.
    fn values(&self) -> Vec<(Counter, u64)>;

    /// Stores a value; a narrow field saturates at its maximum. False for a counter without a field.
    fn put(&mut self, counter: &Counter, value: u64) -> bool;
}

/// Maps fields to counters: fields of one byte, or of network words.
macro_rules! block {
    ($block:ty: $(byte $bfield:ident = $bcounter:ident,)* $(word $wide:ty: $wfield:ident = $wcounter:ident,)*) => {
        fn plain_values(block: &$block) -> Vec<(Counter, u64)> {
            vec![
                $((Counter::$bcounter, u64::from(block.$bfield)),)*
                $((Counter::$wcounter, u64::from(block.$wfield.get())),)*
            ]
        }

        fn plain_put(block: &mut $block, counter: &Counter, value: u64) -> bool {
            match counter {
                $(Counter::$bcounter => block.$bfield = u8::try_from(value).unwrap_or(u8::MAX),)*
                $(Counter::$wcounter => block.$wfield = <$wide>::try_from(value).unwrap_or(<$wide>::MAX).into(),)*
                _ => return false,
            }
            true
        }
    };
}

mod narrow {
    use super::{Counter, PortCounters};

    block! { PortCounters:
        byte link_recoveries = LinkErrorRecoveryCounter,
        byte link_downed = LinkDownedCounter,
        byte transmit_constraint_errors = PortXmitConstraintErrors,
        byte receive_constraint_errors = PortRcvConstraintErrors,
        word u16: symbol_errors = SymbolErrorCounter,
        word u16: receive_errors = PortRcvErrors,
        word u16: receive_remote_physical_errors = PortRcvRemotePhysicalErrors,
        word u16: receive_switch_relay_errors = PortRcvSwitchRelayErrors,
        word u16: transmit_discards = PortXmitDiscards,
        word u16: qp1_dropped = QP1Dropped,
        word u16: vl15_dropped = VL15Dropped,
        word u32: transmit_data = PortXmitData,
        word u32: receive_data = PortRcvData,
        word u32: transmit_packets = PortXmitPkts,
        word u32: receive_packets = PortRcvPkts,
        word u32: transmit_wait = PortXmitWait,
    }

    impl super::CounterBlock for PortCounters {
        fn values(&self) -> Vec<(Counter, u64)> {
            let mut values = plain_values(self);
            values.push((Counter::LocalLinkIntegrityErrors, u64::from(self.integrity_overrun >> 4)));
            values.push((Counter::ExcessiveBufferOverrunErrors, u64::from(self.integrity_overrun & 0xF)));
            values
        }

        fn put(&mut self, counter: &Counter, value: u64) -> bool {
            let nibble = value.min(0xF) as u8;
            match counter {
                Counter::LocalLinkIntegrityErrors => {
                    self.integrity_overrun = (self.integrity_overrun & 0x0F) | nibble << 4;
                }
                Counter::ExcessiveBufferOverrunErrors => {
                    self.integrity_overrun = (self.integrity_overrun & 0xF0) | nibble;
                }
                other => return plain_put(self, other, value),
            }
            true
        }
    }
}

mod wide {
    use super::{Counter, PortCountersExtended};

    block! { PortCountersExtended:
        word u64: transmit_data = PortXmitDataExtended,
        word u64: receive_data = PortRcvDataExtended,
        word u64: transmit_packets = PortXmitPktsExtended,
        word u64: receive_packets = PortRcvPktsExtended,
        word u64: unicast_transmit_packets = PortUnicastXmitPkts,
        word u64: unicast_receive_packets = PortUnicastRcvPkts,
        word u64: multicast_transmit_packets = PortMulticastXmitPkts,
        word u64: multicast_receive_packets = PortMulticastRcvPkts,
        word u64: symbol_errors = SymbolErrorCounterExt,
        word u64: link_recoveries = LinkErrorRecoveryCounterExt,
        word u64: link_downed = LinkDownedCounterExt,
        word u64: receive_errors = PortRcvErrorsExt,
        word u64: receive_remote_physical_errors = PortRcvRemotePhysicalErrorsExt,
        word u64: receive_switch_relay_errors = PortRcvSwitchRelayErrorsExt,
        word u64: transmit_discards = PortXmitDiscardsExt,
        word u64: transmit_constraint_errors = PortXmitConstraintErrorsExt,
        word u64: receive_constraint_errors = PortRcvConstraintErrorsExt,
        word u64: integrity_errors = LocalLinkIntegrityErrorsExt,
        word u64: buffer_overruns = ExcessiveBufferOverrunErrorsExt,
        word u64: vl15_dropped = VL15DroppedExt,
        word u64: transmit_wait = PortXmitWaitExt,
        word u64: qp1_dropped = QP1DroppedExt,
    }

    impl super::CounterBlock for PortCountersExtended {
        fn values(&self) -> Vec<(Counter, u64)> {
            plain_values(self)
        }

        fn put(&mut self, counter: &Counter, value: u64) -> bool {
            plain_put(self, counter, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    #[test]
    fn every_counter_of_an_attribute_reads_back_and_sticks_at_its_width() {
        let mut narrow = PortCounters::new_zeroed();
        let mut wide = PortCountersExtended::new_zeroed();
        let (counters, extended) = (narrow.values(), wide.values());
        assert_eq!((counters.len(), extended.len()), (18, 22));
        for (at, (counter, _)) in counters.iter().enumerate() {
            assert!(narrow.put(counter, at as u64 % 15));
        }
        for (at, (counter, value)) in narrow.values().iter().enumerate() {
            assert_eq!(*value, at as u64 % 15, "{counter}");
        }
        for (counter, _) in &counters {
            narrow.put(counter, u64::MAX);
        }
        assert!(narrow.values().iter().all(|(counter, value)| counter.is_saturated(*value)));
        for (at, (counter, _)) in extended.iter().enumerate() {
            assert!(wide.put(counter, u64::MAX - at as u64));
        }
        for (at, (_, value)) in wide.values().iter().enumerate() {
            assert_eq!(*value, u64::MAX - at as u64);
        }
        assert!(!narrow.put(&Counter::PortXmitDataExtended, 1) && !wide.put(&Counter::PortXmitData, 1));
    }
}
