//! Rates of ports between two looks at one fabric (dFtree, equations 1 to 3).

use std::borrow::Cow;
use std::time::Duration;

use rayon::prelude::*;

use super::growth::{Growth, growth};
use super::placed::port_of;
use super::waiting_time::{part_waited, tick_of};
use crate::observe::{Counter, CounterGrowth, CounterSample, CounterValues, Sweep, Ticks};
use crate::{Fabric, LinkWidth, PortFacts, PortId};

/// What one port did in the time between two looks.
#[derive(Clone, PartialEq, Debug)]
pub struct PortRates {
    pub port: PortId,
    pub seconds: f64,
    /// Words of four bytes, packets, and ticks of waiting: how much each grew.
    pub sent: Growth,
    pub received: Growth,
    pub packets_sent: Growth,
    pub packets_received: Growth,
    pub waited: Growth,
    pub discarded: Growth,
    /// Errors that tell of a bad cable or a full buffer, all together, and how often the link went down.
    pub errors: Growth,
    pub downed: Growth,
    /// What the link carries at most, in bytes a second.
    pub capacity: Option<f64>,
    /// How long a tick of waiting is, in seconds, where its device told.
    pub tick: Option<f64>,
}

impl PortRates {
    fn a_second(&self, growth: Growth) -> Option<f64> {
        growth.known().map(|count| count as f64 / self.seconds)
    }

    /// Equation 1: ticks of waiting a second.
    pub fn congestion(&self) -> Option<f64> {
        self.a_second(self.waited)
    }

    /// The part of the time in which packets waited and nothing was sent.
    pub fn time_waited(&self) -> Option<f64> {
        part_waited(self.congestion()?, self.tick?)
    }

    /// Equation 2: bytes sent a second.
    pub fn bandwidth(&self) -> Option<f64> {
        self.a_second(self.sent).map(|words| words * 4.0)
    }

    /// Bytes received a second.
    pub fn intake(&self) -> Option<f64> {
        self.a_second(self.received).map(|words| words * 4.0)
    }

    /// Equation 3: the part of the link's bandwidth that is used.
    pub fn utilisation(&self) -> Option<f64> {
        Some(self.bandwidth()? / self.capacity.filter(|capacity| *capacity > 0.0)?)
    }

    pub fn errors_per_hour(&self) -> Option<f64> {
        self.a_second(self.errors).map(|errors| errors * 3600.0)
    }

    fn cleared(&self) -> bool {
        let all = [self.sent, self.received, self.packets_sent, self.packets_received, self.waited];
        all.into_iter().chain([self.discarded, self.downed]).any(|grew| matches!(grew, Growth::Cleared(_)))
    }

    pub fn flaps_per_hour(&self) -> Option<f64> {
        self.a_second(self.downed).map(|times| times * 3600.0)
    }
}

/// All ports that both looks have samples of.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rates {
    /// In the order of ports.
    pub ports: Vec<PortRates>,
    /// Ports that one of the looks has a sample of and the other has not: they did not answer, or came later.
    pub once: Vec<PortId>,
    /// How long reading all ports took beside the time between two readings of one: what came in bursts may be in the
    /// counter of one port and not yet in that of the next.
    pub skew: f64,
}

impl Rates {
    pub fn of(&self, port: PortId) -> Option<&PortRates> {
        let at = self.ports.binary_search_by_key(&port, |rates| rates.port).ok()?;
        self.ports.get(at)
    }

    /// With what devices say of the length of a tick.
    pub fn with_ticks(mut self, fabric: &Fabric, ticks: &Ticks) -> Self {
        self.ports.iter_mut().for_each(|port| port.tick = tick_of(fabric, ticks, port.port));
        self
    }

    /// The same growth as if it had taken an hour, where it took less: what came in a few seconds then counts as all that
    /// came in that hour, and a single error does not become thousands.
    pub fn over_an_hour(mut self) -> Self {
        self.ports.iter_mut().for_each(|port| port.seconds = port.seconds.max(3600.0));
        self
    }

    /// Ports at which a counter became smaller: somebody else cleared it.
    pub fn cleared(&self) -> impl Iterator<Item = PortId> {
        self.ports.iter().filter(|port| port.cleared()).map(|port| port.port)
    }
}

/// What every port did between two looks that lie so many seconds apart; nothing if no time lies between them.
pub fn rates(fabric: &Fabric, before: &[CounterSample], after: &[CounterSample], seconds: f64) -> Rates {
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Rates::default();
    }
    between(fabric, (before, |_| 0.0), (after, |_| seconds))
}

/// What every port did, where the source states the growth itself.
pub fn rates_of_growth(fabric: &Fabric, growth: &CounterGrowth) -> Rates {
    let zeros = growth.samples.iter().map(|sample| CounterSample {
        values: sample.values.iter().map(|(counter, value)| (counter, value.map(|_| 0))).collect(),
        ..sample.clone()
    });
    let zeros: Vec<CounterSample> = zeros.collect();
    rates(fabric, &zeros, &growth.samples, growth.over.as_secs_f64())
}

/// What every port did between two sweeps, each over the time between its own two samples.
pub fn rates_of_sweeps(fabric: &Fabric, before: &Sweep, after: &Sweep) -> Rates {
    let time = |sweep: &Sweep, at: usize| sweep.at.get(at).map_or(0.0, Duration::as_secs_f64);
    let all =
        between(fabric, (&before.samples, |at| time(before, at)), (&after.samples, |at| time(after, at)));
    let apart = after.began.saturating_sub(before.began).as_secs_f64();
    let took = before.took.max(after.took).as_secs_f64();
    Rates { skew: if apart > 0.0 { took / apart } else { 1.0 }, ..all }
}

/// Both looks with the time of each of their samples, in seconds.
fn between(
    fabric: &Fabric,
    before: (&[CounterSample], impl Fn(usize) -> f64),
    after: (&[CounterSample], impl Fn(usize) -> f64),
) -> Rates {
    let (before, after) = (by_port(fabric, before.0, before.1), by_port(fabric, after.0, after.1));
    let pairs: Vec<_> = before.iter().zip(&after).enumerate().collect();
    let both = |(at, (before, after)): &(usize, (&Option<Timed<'_>>, &Option<Timed<'_>>))| {
        let (port, before, after) = (PortId(*at as u32), before.as_ref()?, after.as_ref()?);
        let seconds = after.seconds - before.seconds;
        let passed = seconds > 0.0 && seconds.is_finite();
        passed.then(|| one(fabric, port, &before.values, &after.values, seconds))
    };
    let ports = pairs.par_iter().with_min_len(1024).filter_map(both).collect();
    let once = pairs.iter().filter(|(_, (before, after))| before.is_some() != after.is_some());
    let once = once.map(|(at, _)| PortId(*at as u32)).collect();
    Rates { ports, once, skew: 0.0 }
}

/// What a port said, and when.
struct Timed<'s> {
    values: Cow<'s, CounterValues>,
    seconds: f64,
}

/// The sample of every port. Of several (a file has one for each attribute) they count together, the last word first.
fn by_port<'s>(
    fabric: &Fabric,
    samples: &'s [CounterSample],
    time: impl Fn(usize) -> f64,
) -> Vec<Option<Timed<'s>>> {
    let mut all: Vec<_> = fabric.ports().map(|_| None).collect();
    for (at, sample) in samples.iter().enumerate() {
        let Some(port) = port_of(fabric, sample) else { continue };
        match &mut all[port.index()] {
            none @ None => *none = Some(Timed { values: Cow::Borrowed(&sample.values), seconds: time(at) }),
            Some(known) => {
                let values = known.values.to_mut();
                sample.values.iter().for_each(|(counter, value)| values.insert(counter, value));
                known.seconds = time(at);
            }
        }
    }
    all
}

fn one(
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
        waited: grew(C::PortXmitWait, C::PortXmitWaitExt),
        discarded: grew(C::PortXmitDiscards, C::PortXmitDiscardsExt),
        errors: errors(before, after),
        downed: grew(C::LinkDownedCounter, C::LinkDownedCounterExt),
        capacity: capacity(facts).or_else(|| peer.and_then(capacity)),
        tick: None,
    }
}

/// By how much a counter grew, told by the form of it that says more.
pub fn growth_between(
    narrow: &Counter,
    wide: &Counter,
    before: &CounterValues,
    after: &CounterValues,
) -> Growth {
    let of = |counter| growth(counter, before.get(counter), after.get(counter));
    better(of(wide), of(narrow))
}

/// Of the wide and the narrow form of one counter the one that says more: devices have either, or a wide one that sticks
/// beside a narrow one that moves, or the other way round.
fn better(wide: Growth, narrow: Growth) -> Growth {
    let worth = |growth: Growth| match growth {
        Growth::By(_) => 3,
        Growth::AtLeast(_) | Growth::Cleared(_) => 2,
        Growth::Stuck => 1,
        Growth::NoCount | Growth::Absent => 0,
    };
    if worth(wide) >= worth(narrow) { wide } else { narrow }
}

/// All errors of the link: exact as long as every counter is, a bound as soon as one is.
fn errors(before: &CounterValues, after: &CounterValues) -> Growth {
    let mut sum = Growth::Absent;
    for (narrow, wide) in Counter::of_links() {
        let grew = growth_between(narrow, wide, before, after);
        sum = match (sum, grew) {
            (sum, Growth::Absent) => sum,
            (Growth::Absent, grew) => grew,
            (Growth::By(a), Growth::By(b)) => Growth::By(a.saturating_add(b)),
            (a, b) => Growth::AtLeast(a.known().unwrap_or(0).saturating_add(b.known().unwrap_or(0))),
        };
    }
    sum
}

/// What a port's link carries of data, in bytes a second.
pub(super) fn capacity(facts: &PortFacts) -> Option<f64> {
    let lanes = facts.width.map(LinkWidth::lanes)?;
    Some(f64::from(facts.speed?.data_mbps()) * f64::from(lanes) * 1e6 / 8.0)
}
