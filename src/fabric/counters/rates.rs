//! Rates of ports between two looks at one fabric (dFtree, equations 1 to 3).

use std::borrow::Cow;
use std::time::Duration;

use rayon::prelude::*;

use super::destinations::Destinations;
use super::growth::{Growth, counter_growth};
use super::sample_place::sample_port;
use super::waiting_time::{port_tick_seconds, wait_share};
use crate::observe::{Counter, CounterGrowth, CounterSample, CounterValues, Sweep, Ticks};
use crate::{Fabric, LinkWidth, PortFacts, PortId};

/// The growth of one port's counters between two samples.
#[derive(Clone, PartialEq, Debug)]
pub struct PortRates {
    /// The port.
    pub port: PortId,
    /// The time between the two samples, in seconds.
    pub seconds: f64,
    /// Growth of the data sent, in words of four bytes.
    pub(crate) sent: Growth,
    /// Growth of the data received, in words of four bytes.
    pub(crate) received: Growth,
    /// Growth of the packets sent.
    pub(crate) packets_sent: Growth,
    /// Growth of the packets received.
    pub(crate) packets_received: Growth,
    /// Growth of the multicast packets sent.
    pub(crate) multicast_sent: Growth,
    /// Growth of the ticks in which a packet waited (XmitWait).
    pub waited: Growth,
    /// Growth of the packets discarded.
    pub(crate) discarded: Growth,
    /// Growth of all errors that come from a bad cable or a full buffer.
    pub(crate) errors: Growth,
    /// How often the link went down.
    pub(crate) downed: Growth,
    /// The bandwidth of the link in bytes per second.
    pub(crate) capacity: Option<f64>,
    /// The length of a tick of waiting in seconds, where the device states it.
    pub(crate) tick: Option<f64>,
}

impl PortRates {
    fn per_second(&self, growth: Growth) -> Option<f64> {
        growth.lower_bound().map(|count| count as f64 / self.seconds)
    }

    /// Ticks of waiting per second (dFtree, equation 1).
    pub fn congestion(&self) -> Option<f64> {
        self.per_second(self.waited)
    }

    /// The fraction of the time in which packets waited and the port sent nothing.
    pub fn wait_share(&self) -> Option<f64> {
        wait_share(self.congestion()?, self.tick?)
    }

    /// Bytes sent per second (dFtree, equation 2).
    pub fn bandwidth(&self) -> Option<f64> {
        self.per_second(self.sent).map(|words| words * 4.0)
    }

    /// Bytes received per second.
    pub fn receive_bandwidth(&self) -> Option<f64> {
        self.per_second(self.received).map(|words| words * 4.0)
    }

    /// The fraction of the link's bandwidth that the port used (dFtree, equation 3).
    pub fn utilisation(&self) -> Option<f64> {
        Some(self.bandwidth()? / self.capacity.filter(|capacity| *capacity > 0.0)?)
    }

    /// Errors per hour.
    pub fn errors_per_hour(&self) -> Option<f64> {
        self.per_second(self.errors).map(|errors| errors * 3600.0)
    }

    fn is_cleared(&self) -> bool {
        let all = [self.sent, self.received, self.packets_sent, self.packets_received, self.waited];
        all.into_iter().chain([self.discarded, self.downed]).any(|grew| matches!(grew, Growth::Cleared(_)))
    }

    /// Packets discarded before they were sent, per hour.
    pub fn discards_per_hour(&self) -> Option<f64> {
        self.per_second(self.discarded).map(|packets| packets * 3600.0)
    }

    /// How often the link went down, per hour.
    pub(crate) fn flaps_per_hour(&self) -> Option<f64> {
        self.per_second(self.downed).map(|times| times * 3600.0)
    }
}

/// The rates of all ports that have a sample in both readings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rates {
    /// The rates, in the order of the ports.
    pub ports: Vec<PortRates>,
    /// Ports that have a sample in one of the readings only: they did not answer, or were added.
    pub once: Vec<PortId>,
    /// The time to read all ports, divided by the time between two readings of one port. A burst may be in the
    /// counter of one port and not yet in that of the next.
    pub skew: f64,
    /// Where hosts had flows open, as far as agents list them.
    pub listed: Destinations,
    /// The longest time between the two samples of a port, in seconds; [`with_min_hour`](Self::with_min_hour) leaves it.
    pub span: f64,
}

impl Rates {
    /// The rates of a port.
    pub fn port(&self, port: PortId) -> Option<&PortRates> {
        let at = self.ports.binary_search_by_key(&port, |rates| rates.port).ok()?;
        self.ports.get(at)
    }

    /// Adds the tick lengths that devices stated.
    pub fn with_ticks(mut self, fabric: &Fabric, ticks: &Ticks) -> Self {
        self.ports.iter_mut().for_each(|port| port.tick = port_tick_seconds(fabric, ticks, port.port));
        self
    }

    /// Stretches intervals below an hour to an hour, with the same growth: a single error in a few seconds does not
    /// become thousands per hour.
    pub fn with_min_hour(mut self) -> Self {
        self.ports.iter_mut().for_each(|port| port.seconds = port.seconds.max(3600.0));
        self
    }

    /// Ports with a counter that became smaller because another program cleared it.
    pub fn cleared_ports(&self) -> impl Iterator<Item = PortId> {
        self.ports.iter().filter(|port| port.is_cleared()).map(|port| port.port)
    }
}

/// Computes the rates of every port between two readings that are `seconds` apart. Without time between them there
/// are none.
pub fn rates_of_samples(
    fabric: &Fabric,
    before: &[CounterSample],
    after: &[CounterSample],
    seconds: f64,
) -> Rates {
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Rates::default();
    }
    rates_between(fabric, (before, |_| 0.0), (after, |_| seconds))
}

/// Computes the rates of every port from growth that the source states itself.
pub fn rates_of_growth(fabric: &Fabric, growth: &CounterGrowth) -> Rates {
    let zeros = growth.samples.iter().map(|sample| CounterSample {
        values: sample.values.iter().map(|(counter, value)| (counter, value.map(|_| 0))).collect(),
        ..sample.clone()
    });
    let zeros: Vec<CounterSample> = zeros.collect();
    rates_of_samples(fabric, &zeros, &growth.samples, growth.over.as_secs_f64())
}

/// Computes the rates of every port between two sweeps, each over the time between the port's own two samples.
pub fn rates_of_sweeps(fabric: &Fabric, before: &Sweep, after: &Sweep) -> Rates {
    let time = |sweep: &Sweep, at: usize| sweep.at.get(at).map_or(0.0, Duration::as_secs_f64);
    let all = rates_between(
        fabric,
        (&before.samples, |at| time(before, at)),
        (&after.samples, |at| time(after, at)),
    );
    let apart = after.began.saturating_sub(before.began).as_secs_f64();
    let took = before.took.max(after.took).as_secs_f64();
    let listed = Destinations::of_lists(fabric, &after.flows);
    Rates { skew: if apart > 0.0 { took / apart } else { 1.0 }, listed, ..all }
}

/// Both looks with the time of each of their samples, in seconds.
fn rates_between(
    fabric: &Fabric,
    before: (&[CounterSample], impl Fn(usize) -> f64),
    after: (&[CounterSample], impl Fn(usize) -> f64),
) -> Rates {
    let (before, after) =
        (samples_by_port(fabric, before.0, before.1), samples_by_port(fabric, after.0, after.1));
    let pairs: Vec<_> = before.iter().zip(&after).enumerate().collect();
    let both = |(at, (before, after)): &(usize, (&Option<TimedSample<'_>>, &Option<TimedSample<'_>>))| {
        let (port, before, after) = (PortId(*at as u32), before.as_ref()?, after.as_ref()?);
        let seconds = after.seconds - before.seconds;
        let passed = seconds > 0.0 && seconds.is_finite();
        passed.then(|| port_rates(fabric, port, &before.values, &after.values, seconds))
    };
    // Collected with their number known, as the pieces of a vector that grows would be in memory twice.
    let all: Vec<Option<PortRates>> = pairs.par_iter().with_min_len(1024).map(both).collect();
    let ports: Vec<PortRates> = all.into_iter().flatten().collect();
    let span = ports.iter().map(|port| port.seconds).fold(0.0, f64::max);
    let once = pairs.iter().filter(|(_, (before, after))| before.is_some() != after.is_some());
    let once = once.map(|(at, _)| PortId(*at as u32)).collect();
    Rates { ports, once, skew: 0.0, listed: Destinations::default(), span }
}

/// What a port said, and when.
struct TimedSample<'s> {
    values: Cow<'s, CounterValues>,
    seconds: f64,
}

/// The sample of every port. Of several (a file has one for each attribute) they count together, the last word first.
fn samples_by_port<'s>(
    fabric: &Fabric,
    samples: &'s [CounterSample],
    time: impl Fn(usize) -> f64,
) -> Vec<Option<TimedSample<'s>>> {
    let mut all: Vec<_> = fabric.ports().map(|_| None).collect();
    for (at, sample) in samples.iter().enumerate() {
        let Some(port) = sample_port(fabric, sample) else { continue };
        match &mut all[port.index()] {
            none @ None => {
                *none = Some(TimedSample { values: Cow::Borrowed(&sample.values), seconds: time(at) })
            }
            Some(known) => {
                let values = known.values.to_mut();
                sample.values.iter().for_each(|(counter, value)| values.insert(counter, value));
                known.seconds = time(at);
            }
        }
    }
    all
}

fn port_rates(
    fabric: &Fabric,
    port: PortId,
    before: &CounterValues,
    after: &CounterValues,
    seconds: f64,
) -> PortRates {
    use Counter as C;
    let grew = |narrow: C, wide: C| growth_between(&narrow, &wide, before, after);
    let facts = &fabric.port(port).facts;
    let peer = fabric.peer(port).map(|peer| &fabric.port(peer).facts);
    PortRates {
        port,
        seconds,
        sent: grew(C::PortXmitData, C::PortXmitDataExtended),
        received: grew(C::PortRcvData, C::PortRcvDataExtended),
        packets_sent: grew(C::PortXmitPkts, C::PortXmitPktsExtended),
        packets_received: grew(C::PortRcvPkts, C::PortRcvPktsExtended),
        multicast_sent: counter_growth(
            &C::PortMulticastXmitPkts,
            before.get(&C::PortMulticastXmitPkts),
            after.get(&C::PortMulticastXmitPkts),
        ),
        waited: grew(C::PortXmitWait, C::PortXmitWaitExt),
        discarded: grew(C::PortXmitDiscards, C::PortXmitDiscardsExt),
        errors: link_error_growth(before, after),
        downed: grew(C::LinkDownedCounter, C::LinkDownedCounterExt),
        capacity: data_capacity(facts).or_else(|| peer.and_then(data_capacity)),
        tick: None,
    }
}

/// The growth of a counter from whichever of its two forms, narrow or 64-bit, says more.
pub fn growth_between(
    narrow: &Counter,
    wide: &Counter,
    before: &CounterValues,
    after: &CounterValues,
) -> Growth {
    let of = |counter| counter_growth(counter, before.get(counter), after.get(counter));
    better_growth(of(wide), of(narrow))
}

/// Of the wide and the narrow form of one counter the one that says more: devices have either, or a wide one that sticks
/// beside a narrow one that moves, or the other way round.
fn better_growth(wide: Growth, narrow: Growth) -> Growth {
    let worth = |growth: Growth| match growth {
        Growth::By(_) => 3,
        Growth::AtLeast(_) | Growth::Cleared(_) => 2,
        Growth::Stuck => 1,
        Growth::NoCount | Growth::Absent => 0,
    };
    if worth(wide) >= worth(narrow) { wide } else { narrow }
}

/// All errors of the link: exact as long as every counter is, a bound as soon as one is.
pub fn link_error_growth(before: &CounterValues, after: &CounterValues) -> Growth {
    let mut sum = Growth::Absent;
    for (narrow, wide) in Counter::link_error_counters() {
        let grew = growth_between(narrow, wide, before, after);
        sum = match (sum, grew) {
            (sum, Growth::Absent) => sum,
            (Growth::Absent, grew) => grew,
            (Growth::By(a), Growth::By(b)) => Growth::By(a.saturating_add(b)),
            (a, b) => {
                Growth::AtLeast(a.lower_bound().unwrap_or(0).saturating_add(b.lower_bound().unwrap_or(0)))
            }
        };
    }
    sum
}

/// What a port's link carries of data, in bytes a second.
pub fn data_capacity(facts: &PortFacts) -> Option<f64> {
    let lanes = facts.width.map(LinkWidth::lanes)?;
    Some(f64::from(facts.speed?.data_mbps()) * f64::from(lanes) * 1e6 / 8.0)
}
