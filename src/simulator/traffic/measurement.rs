//! What a run measures, from the moment on that measuring begins: rates of ends and flows, latency, the steady state.

use super::channel_graph::TrafficEnd;
use super::flow::{FlowCount, FlowState};
use super::network::TrafficRun;
use super::traffic_tally::{EndCount, Latency};

impl TrafficRun {
    /// Begins to measure: earlier packets do not count, except in the counters of ports.
    pub fn begin_measuring(&mut self) {
        let now = self.wheel.now();
        self.tally.reset(now);
        self.steady.reset();
        self.senders.flows.iter_mut().for_each(|flow| flow.delivered = 0);
    }

    /// What each end has sent and received.
    pub fn end_counts(&self) -> Vec<EndCount> {
        let (tally, now) = (&self.tally, self.wheel.now());
        let counted = self.graph.ends.iter().zip(tally.sent.iter().zip(&tally.taken));
        let count = |(end, (sent, taken)): (&TrafficEnd, (&u64, &u64))| EndCount {
            port: end.port,
            is_host: end.is_host,
            sent: *sent,
            taken: *taken,
            sent_mbps: tally.mbps(*sent, now),
            taken_mbps: tally.mbps(*taken, now),
        };
        counted.map(count).collect()
    }

    /// What listed flows have delivered.
    pub fn flow_counts(&self) -> Vec<FlowCount> {
        let now = self.wheel.now();
        let port = |end: u32| self.graph.ends[end as usize].port;
        let count = |flow: &FlowState| FlowCount {
            from: port(flow.from),
            to: port(flow.to),
            level: fabdeck_fabric::ServiceLevel::new(flow.level.into()).unwrap_or_default(),
            mbps: self.tally.mbps(flow.delivered, now),
            packets: flow.delivered,
        };
        self.senders.flows.iter().map(count).collect()
    }

    /// Payload rate of all ends together, in Mb/s.
    pub fn total_mbps(&self) -> u64 {
        self.tally.mbps(self.tally.taken.iter().sum(), self.wheel.now())
    }

    pub fn latency(&self) -> Latency {
        self.tally.latency()
    }

    /// Packets by lane, counted on each cable that they crossed.
    pub fn lane_hops(&self) -> &[u64] {
        &self.tally.lane_hops[..usize::from(self.lanes)]
    }

    /// Number of cables that packets have crossed since the beginning.
    pub fn packet_hops(&self) -> u64 {
        self.tally.hops
    }

    /// Packets since the beginning: made, arrived, lost.
    pub fn packet_totals(&self) -> [u64; 3] {
        [self.tally.made, self.tally.arrived, self.tally.lost]
    }

    /// Number of packets of a pattern that ends, and when the last one arrived, in nanoseconds.
    pub fn exchange_progress(&self) -> Option<(u64, u64)> {
        self.senders.expected_packets().map(|expected| (expected, self.senders.last_arrival / 1000))
    }

    /// Whether every packet of an exchange has arrived, whatever other traffic goes on.
    pub fn has_finished_exchange(&self) -> bool {
        self.senders.has_finished_exchange()
    }

    /// Samples the rate of each end; the samples of a run must be equally far apart.
    pub fn sample_rates(&mut self) {
        self.steady.add_sample(&self.tally.taken);
    }

    /// Whether the rates since measuring began are steady.
    pub fn is_steady(&self) -> bool {
        self.steady.is_settled()
    }
}
