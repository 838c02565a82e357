//! Packets sent and received since measuring began, and their latency.

use super::settings::TrafficSettings;
use fabdeck_fabric::PortId;

/// Number of buckets for each power of two of nanoseconds.
const BUCKETS_PER_OCTAVE: u64 = 8;
const BUCKET_COUNT: usize = 64 * BUCKETS_PER_OCTAVE as usize;

/// What one end has sent and received since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndCount {
    pub port: PortId,
    pub is_host: bool,
    pub sent: u64,
    pub taken: u64,
    /// Payload, in Mb/s.
    pub sent_mbps: u64,
    pub taken_mbps: u64,
}

/// Time of packets from leaving their source to arriving, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Latency {
    pub packets: u64,
    pub mean: u64,
    /// Accurate to one eighth, as is the next field.
    pub median: u64,
    pub p99: u64,
    pub max: u64,
}

#[derive(Debug)]
pub(crate) struct TrafficTally {
    /// When measuring began, in picoseconds.
    since: u64,
    payload: u32,
    pub sent: Vec<u64>,
    pub taken: Vec<u64>,
    /// Packets by lane, over all hops.
    pub lane_hops: [u64; 16],
    buckets: Vec<u64>,
    total: u64,
    longest: u64,
    /// Since the beginning of the run, independent of measuring.
    pub made: u64,
    pub arrived: u64,
    pub lost: u64,
    pub hops: u64,
}

impl TrafficTally {
    pub fn new(ends: usize, settings: &TrafficSettings) -> Self {
        Self {
            since: 0,
            payload: settings.payload,
            sent: vec![0; ends],
            taken: vec![0; ends],
            lane_hops: [0; 16],
            buckets: vec![0; BUCKET_COUNT],
            total: 0,
            longest: 0,
            made: 0,
            arrived: 0,
            lost: 0,
            hops: 0,
        }
    }

    pub fn reset(&mut self, now: u64) {
        self.since = now;
        self.sent.fill(0);
        self.taken.fill(0);
        self.lane_hops.fill(0);
        self.buckets.fill(0);
        (self.total, self.longest) = (0, 0);
    }

    pub fn count_sent(&mut self, end: u32) {
        self.sent[end as usize] += 1;
    }

    pub fn count_hop(&mut self, lane: u8, counted: u64) {
        self.hops += counted;
        self.lane_hops[usize::from(lane)] += counted;
    }

    pub fn count_received(&mut self, end: u32, picos: u64) {
        self.arrived += 1;
        self.taken[end as usize] += 1;
        let nanos = picos / 1000;
        self.total += nanos;
        self.longest = self.longest.max(nanos);
        self.buckets[bucket_of(nanos)] += 1;
    }

    pub fn mbps(&self, packets: u64, now: u64) -> u64 {
        let bits = u128::from(packets) * u128::from(self.payload) * 8;
        (bits * 1_000_000 / u128::from((now - self.since).max(1))) as u64
    }

    pub fn latency(&self) -> Latency {
        let packets: u64 = self.taken.iter().sum();
        let below = |share: u64| {
            let wanted = (packets * share).div_ceil(100);
            let mut seen = 0;
            let found = self.buckets.iter().position(|count| {
                seen += count;
                seen >= wanted && wanted > 0
            });
            found.map_or(0, bucket_start)
        };
        let mean = self.total.checked_div(packets).unwrap_or(0);
        Latency { packets, mean, median: below(50), p99: below(99), max: self.longest }
    }
}

/// The bucket of a time: eight to a power of two.
fn bucket_of(nanos: u64) -> usize {
    let log = (nanos | 1).ilog2().max(3);
    let part = (nanos >> (log - 3)) % BUCKETS_PER_OCTAVE;
    // Below 8 ns each nanosecond has its own bucket.
    if nanos < BUCKETS_PER_OCTAVE {
        nanos as usize
    } else {
        (u64::from(log) * BUCKETS_PER_OCTAVE + part) as usize
    }
}

/// The shortest time of a bucket.
fn bucket_start(bucket: usize) -> u64 {
    let (log, part) = (bucket as u64 / BUCKETS_PER_OCTAVE, bucket as u64 % BUCKETS_PER_OCTAVE);
    if log == 0 { part } else { (BUCKETS_PER_OCTAVE + part) << (log - 3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_an_eighth_wide_and_in_order() {
        let mut last = 0;
        for nanos in (0..5000).chain([1 << 20, 1 << 40, u64::MAX]) {
            let at = bucket_of(nanos);
            assert!(at < BUCKET_COUNT && at >= last, "{nanos}");
            last = at;
            let first = bucket_start(at);
            assert!(first <= nanos && nanos - first <= first / BUCKETS_PER_OCTAVE, "{nanos} {first}");
        }
    }
}
