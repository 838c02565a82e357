//! Sweeps of ports that are busy, for tests and benchmarks of captures.

use std::time::Duration;

use fabdeck_fabric::observe::{Counter, Sweep};
use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Of so many ports one is busy, each second with another load of packets of another size.
pub fn step(sweep: &mut Sweep, second: u64, busy_in: usize, dice: &mut Xoshiro256PlusPlus) {
    sweep.began = Duration::from_micros(1_000_000 * second);
    let mut at = sweep.began;
    for (place, sample) in sweep.samples.iter_mut().enumerate() {
        at += Duration::from_micros(dice.next_u64() % 20);
        sweep.at[place] = at;
        if !place.is_multiple_of(busy_in) {
            continue;
        }
        let packets = 1_000_000 + dice.next_u64() % 1_000_000;
        for (counter, by) in [
            (Counter::PortXmitDataExtended, packets * (500 + dice.next_u64() % 24)),
            (Counter::PortRcvDataExtended, dice.next_u64() % 1_000_000_000),
            (Counter::PortXmitPktsExtended, packets),
            (Counter::PortRcvPktsExtended, dice.next_u64() % 2_000_000),
            (Counter::PortUnicastXmitPkts, packets),
            (Counter::PortXmitWaitExt, dice.next_u64() % 100_000),
        ] {
            let value = sample.values.get(&counter).unwrap_or(0);
            sample.values.insert(counter, Some(value + by));
        }
    }
}
