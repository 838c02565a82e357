//! Background traffic: packets move while the fabric answers datagrams, and ports count them.
//!
//! Packets take far more work than datagrams, so their time runs slower. At a ratio of 1:1000 a millisecond of traffic
//! stands for a second of the fabric, and its counts are multiplied by 1,000. So rates and shares of time are those of
//! the traffic. Packets in buffers count once, whatever the ratio: a fabric that is a thousand times slower does not have
//! buffers that are a thousand times larger. Packets move only when a request needs them to, and each request does a bounded amount of work. If
//! that is not enough, less traffic stands for the same time, and the simulator reports the ratio it reached.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::device::PortRef;
use super::error_growth::ErrorGrowth;
use super::story_step::{StoryChange, StoryStep};
use super::traffic::{PortChannels, PortCount, TrafficRun};
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Fabric, NodeId, PortId, PortNum};

/// Most events that one request may process between two scenes: less than 0.1 s of work.
const MAX_EVENTS: u64 = 500_000;

/// Nanoseconds of the fabric for each nanosecond of traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeRatio(u32);

impl TimeRatio {
    pub const DEFAULT: Self = Self(1000);
    const MAX: u32 = 1_000_000;

    pub fn new(real: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&real).then_some(Self(real))
    }

    /// Reads `1:1000`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::new(text.strip_prefix("1:")?.parse().ok()?)
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

/// The ratio asked for, and the ratio that traffic reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RatioShortfall {
    pub asked: u64,
    /// Over the whole time so far.
    pub held: u64,
}

/// Counts of settled packets up to a moment, and the run's own counts at that moment.
#[derive(Debug)]
struct CounterBaseline {
    counted: Vec<PortCount>,
    of_run: Vec<PortCount>,
}

#[derive(Debug)]
pub struct BackgroundTraffic {
    pub(super) run: TrafficRun,
    port_channels: PortChannels,
    ratio: u64,
    /// No packet moves before this time.
    begins: Duration,
    steps: Vec<StoryStep>,
    played: usize,
    /// Nanoseconds since the beginning that the traffic so far stands for.
    reached: u64,
    /// A pair of times, of the fabric and of the run, since which the ratio was reached.
    anchor: (u64, u64),
    baseline: Option<CounterBaseline>,
    fell_behind: bool,
    error_growth: BTreeMap<PortRef, ErrorGrowth>,
    /// Values of counters when they were cleared.
    cleared: FxHashMap<PortRef, CounterValues>,
}

impl BackgroundTraffic {
    pub fn new(
        run: TrafficRun,
        fabric: &Fabric,
        ratio: TimeRatio,
        (begins, scenes): (Duration, Vec<StoryStep>),
    ) -> Self {
        Self {
            port_channels: run.port_channels(fabric),
            run,
            ratio: ratio.number().into(),
            begins,
            steps: scenes,
            played: 0,
            reached: 0,
            anchor: (0, 0),
            baseline: None,
            fell_behind: false,
            error_growth: BTreeMap::new(),
            cleared: FxHashMap::default(),
        }
    }

    /// The next change of the story that is due; packets move up to its time first.
    pub fn take_next_step(&mut self, fabric: &Fabric, now: Duration) -> Option<StoryChange> {
        let since = now.checked_sub(self.begins)?;
        let scene = self.steps.get(self.played).filter(|scene| scene.at <= since)?;
        let (at, change) = (scene.at, scene.change.clone());
        self.played += 1;
        self.advance(fabric, self.begins + at);
        Some(change)
    }

    /// The time of the next change of the story.
    pub fn next_step_time(&self) -> Option<Duration> {
        self.steps.get(self.played).map(|scene| self.begins + scene.at)
    }

    /// Moves packets up to a time of the fabric.
    pub fn advance(&mut self, fabric: &Fabric, now: Duration) {
        let now = nanos(now.saturating_sub(self.begins));
        if now <= self.reached {
            return;
        }
        let real = now - self.reached;
        let until = self.anchor.1 + (now - self.anchor.0) / self.ratio;
        self.reached = now;
        if self.run.max_events(until.saturating_sub(self.run.now_ns())) <= MAX_EVENTS {
            return self.run.advance(until);
        }
        let (before, from) = (self.run.port_counts(fabric), self.run.now_ns());
        self.run.advance_within(until, MAX_EVENTS);
        let reached = self.run.now_ns();
        // A slot of the timing wheel is 128 ps, so `until` may be missed by 1 ns.
        if reached + 1 >= until {
            return;
        }
        self.fell_behind = true;
        self.anchor = (now, reached);
        let mut counted = self.counts_at_ratio(fabric, &before);
        let of_run = self.run.port_counts(fabric);
        for ((count, before), after) in counted.iter_mut().zip(&before).zip(&of_run) {
            add_growth(count, (before, after), (real, (reached - from).max(1)));
        }
        self.baseline = Some(CounterBaseline { counted, of_run });
    }

    /// How far packets are behind a time of the fabric.
    pub fn lag_behind(&self, now: Duration) -> Duration {
        now.saturating_sub(self.begins).saturating_sub(Duration::from_nanos(self.reached))
    }

    /// The counts of all ports at the ratio, given the run's own counters.
    fn counts_at_ratio(&self, fabric: &Fabric, of_run: &[PortCount]) -> Vec<PortCount> {
        let ports = fabric.ports().map(|(port, _)| port);
        ports.zip(of_run).map(|(port, now)| self.port_counts_at_ratio(port, now)).collect()
    }

    fn port_counts_at_ratio(&self, port: PortId, now: &PortCount) -> PortCount {
        let none = PortCount { port, ..PortCount::NONE };
        let held = |counts: &Vec<PortCount>| counts.get(port.index()).copied().unwrap_or(none);
        let (mut count, since) = match &self.baseline {
            Some(booked) => (held(&booked.counted), held(&booked.of_run)),
            None => (none, none),
        };
        add_growth(&mut count, (&since, now), (self.ratio, 1));
        count
    }

    /// The counts of a port, with the packets in buffers.
    fn count_port(&self, fabric: &Fabric, port: PortId) -> PortCount {
        let now = self.run.count_port(fabric, &self.port_channels, port);
        let (settled, mut count) = (now.settled(), self.port_counts_at_ratio(port, &now));
        count.xmit_packets += now.xmit_packets - settled.xmit_packets;
        count.xmit_data += now.xmit_data - settled.xmit_data;
        count.rcv_packets += now.rcv_packets - settled.rcv_packets;
        count.rcv_data += now.rcv_data - settled.rcv_data;
        count
    }

    /// Adds the counts of the traffic and of the story to the counters of a port.
    pub fn add_to(&self, fabric: &Fabric, at: PortRef, values: &mut CounterValues) {
        let Some(port) = fabric.port_of(NodeId(at.0), PortNum(at.1)) else { return };
        let counted = self.count_port(fabric, port);
        let mut put = |counter: Counter, more: u64| {
            let held = values.get(&counter).unwrap_or(0);
            values.insert(counter, Some(held.saturating_add(more)));
        };
        for (counter, value) in counted.values().iter() {
            put(counter, value.unwrap_or(0));
        }
        if let Some(ailing) = self.error_growth.get(&at) {
            put(Counter::SymbolErrorCounterExt, ailing.error_count(self.reached));
        }
        for (counter, value) in self.cleared.get(&at).into_iter().flat_map(CounterValues::iter) {
            let held = values.get(&counter).unwrap_or(0);
            values.insert(counter, Some(held.saturating_sub(value.unwrap_or(0))));
        }
    }

    /// Clears a counter: its value so far is subtracted from now on.
    pub fn clear_counter(&mut self, at: PortRef, counter: &Counter, value: u64) {
        let held = self.cleared.entry(at).or_default();
        let before = held.get(counter).unwrap_or(0);
        held.insert(counter.clone(), Some(before.saturating_add(value)));
    }

    pub(super) fn set_error_rate(&mut self, at: PortRef, per_minute: u32) {
        let now = self.reached;
        self.error_growth.entry(at).or_default().set_rate(now, per_minute);
    }

    /// The ratio asked for and reached, if traffic fell behind.
    pub fn ratio_shortfall(&self) -> Option<RatioShortfall> {
        let held = self.reached / self.run.now_ns().max(1);
        self.fell_behind.then_some(RatioShortfall { asked: self.ratio, held })
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Adds the growth of settled packets between two readings of the run, multiplied by a fraction.
fn add_growth(count: &mut PortCount, (before, after): (&PortCount, &PortCount), (times, of): (u64, u64)) {
    let (before, after) = (before.settled(), after.settled());
    let mut grow = |field: fn(&mut PortCount) -> &mut u64| {
        let (mut before, mut after) = (before, after);
        let more = u128::from(*field(&mut after) - *field(&mut before)) * u128::from(times) / u128::from(of);
        let held = field(count);
        *held = held.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    };
    grow(|count| &mut count.xmit_data);
    grow(|count| &mut count.rcv_data);
    grow(|count| &mut count.xmit_packets);
    grow(|count| &mut count.rcv_packets);
    grow(|count| &mut count.xmit_wait);
    grow(|count| &mut count.waited_ns);
    grow(|count| &mut count.discards);
    grow(|count| &mut count.relay_errors);
}
