//! Traffic beside datagrams: packets move while the fabric answers, and ports count them.
//!
//! Packets take far more work than datagrams, so their time goes slower: at a ratio of 1:1000 a millisecond of traffic
//! stands for a second of the fabric, and what ports count in it counts a thousandfold. Rates and shares of time are
//! therefore those of the traffic. It is moved only when somebody asks, and no question does more than a bounded amount
//! of work: where that is not enough, less traffic stands for the same time, and the ratio that was held is told.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::device::Plug;
use super::story::{Ailing, Change, Scene};
use super::traffic::{PortCount, TrafficRun, Wires};
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Fabric, NodeId, PortId, PortNum};

/// Events that one question may wait for between two scenes: less than a tenth of a second of work.
const EVENTS_MOST: u64 = 500_000;

/// So many nanoseconds of the fabric for each of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio(u32);

impl Ratio {
    pub const USUAL: Self = Self(1000);
    const MOST: u32 = 1_000_000;

    pub fn new(real: u32) -> Option<Self> {
        (1..=Self::MOST).contains(&real).then_some(Self(real))
    }

    /// `1:1000`.
    pub fn read(text: &str) -> Option<Self> {
        Self::new(text.strip_prefix("1:")?.parse().ok()?)
    }

    pub fn real(self) -> u32 {
        self.0
    }
}

/// How far traffic fell behind its ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Behind {
    pub asked: u64,
    /// Over the whole time.
    pub held: u64,
}

/// What was counted up to a moment, and what the run's own counters were then.
#[derive(Debug)]
struct Booked {
    counted: Vec<PortCount>,
    of_run: Vec<PortCount>,
}

#[derive(Debug)]
pub struct Underway {
    pub(super) run: TrafficRun,
    wires: Wires,
    ratio: u64,
    /// Nothing moves before.
    begins: Duration,
    scenes: Vec<Scene>,
    played: usize,
    /// Nanoseconds since the beginning that the traffic stands for.
    reached: u64,
    /// A moment of the fabric and of the run, from which on the ratio was held.
    anchor: (u64, u64),
    booked: Option<Booked>,
    fell_behind: bool,
    ailing: BTreeMap<Plug, Ailing>,
    /// What counters were when somebody cleared them.
    cleared: FxHashMap<Plug, CounterValues>,
}

impl Underway {
    pub fn new(
        run: TrafficRun,
        fabric: &Fabric,
        ratio: Ratio,
        (begins, scenes): (Duration, Vec<Scene>),
    ) -> Self {
        Self {
            wires: run.wires(fabric),
            run,
            ratio: ratio.real().into(),
            begins,
            scenes,
            played: 0,
            reached: 0,
            anchor: (0, 0),
            booked: None,
            fell_behind: false,
            ailing: BTreeMap::new(),
            cleared: FxHashMap::default(),
        }
    }

    /// The next change of the story that is due by a moment of the fabric: packets are moved up to it.
    pub fn next_scene(&mut self, fabric: &Fabric, now: Duration) -> Option<Change> {
        let since = now.checked_sub(self.begins)?;
        let scene = self.scenes.get(self.played).filter(|scene| scene.at <= since)?;
        let (at, change) = (scene.at, scene.change.clone());
        self.played += 1;
        self.pass(fabric, self.begins + at);
        Some(change)
    }

    /// When the story goes on.
    pub fn next_scene_at(&self) -> Option<Duration> {
        self.scenes.get(self.played).map(|scene| self.begins + scene.at)
    }

    /// Moves packets up to a moment of the fabric.
    pub fn pass(&mut self, fabric: &Fabric, now: Duration) {
        let now = nanos(now.saturating_sub(self.begins));
        if now <= self.reached {
            return;
        }
        let real = now - self.reached;
        let until = self.anchor.1 + (now - self.anchor.0) / self.ratio;
        self.reached = now;
        if self.run.events_most(until.saturating_sub(self.run.now_ns())) <= EVENTS_MOST {
            return self.run.advance(until);
        }
        let (before, from) = (self.run.counters(fabric), self.run.now_ns());
        self.run.advance_within(until, EVENTS_MOST);
        let reached = self.run.now_ns();
        // The slots of the agenda are an eighth of a nanosecond.
        if reached + 1 >= until {
            return;
        }
        self.fell_behind = true;
        self.anchor = (now, reached);
        let mut counted = self.counted(fabric, &before);
        let of_run = self.run.counters(fabric);
        for ((count, before), after) in counted.iter_mut().zip(&before).zip(&of_run) {
            add(count, (before, after), (real, (reached - from).max(1)));
        }
        self.booked = Some(Booked { counted, of_run });
    }

    /// How far packets are behind a moment of the fabric.
    pub fn lags(&self, now: Duration) -> Duration {
        now.saturating_sub(self.begins).saturating_sub(Duration::from_nanos(self.reached))
    }

    /// What ports have counted when the run's own counters are these, at the ratio.
    fn counted(&self, fabric: &Fabric, of_run: &[PortCount]) -> Vec<PortCount> {
        let ports = fabric.ports().map(|(port, _)| port);
        ports.zip(of_run).map(|(port, now)| self.counted_at(port, now)).collect()
    }

    fn counted_at(&self, port: PortId, now: &PortCount) -> PortCount {
        let none = PortCount { port, ..PortCount::NONE };
        let held = |counts: &Vec<PortCount>| counts.get(port.index()).copied().unwrap_or(none);
        let (mut count, since) = match &self.booked {
            Some(booked) => (held(&booked.counted), held(&booked.of_run)),
            None => (none, none),
        };
        add(&mut count, (&since, now), (self.ratio, 1));
        count
    }

    /// What of a port's counters is the traffic's and the story's, on top of what stands there.
    pub fn add_to(&self, fabric: &Fabric, at: Plug, values: &mut CounterValues) {
        let Some(port) = fabric.port_of(NodeId(at.0), PortNum(at.1)) else { return };
        let counted = self.counted_at(port, &self.run.count(fabric, &self.wires, port));
        let mut put = |counter: Counter, more: u64| {
            let held = values.get(&counter).unwrap_or(0);
            values.insert(counter, Some(held.saturating_add(more)));
        };
        for (counter, value) in counted.values().iter() {
            put(counter, value.unwrap_or(0));
        }
        if let Some(ailing) = self.ailing.get(&at) {
            put(Counter::SymbolErrorCounterExt, ailing.errors(self.reached));
        }
        for (counter, value) in self.cleared.get(&at).into_iter().flat_map(CounterValues::iter) {
            let held = values.get(&counter).unwrap_or(0);
            values.insert(counter, Some(held.saturating_sub(value.unwrap_or(0))));
        }
    }

    /// A counter begins at nothing again.
    pub fn clear(&mut self, at: Plug, counter: &Counter, value: u64) {
        let held = self.cleared.entry(at).or_default();
        let before = held.get(counter).unwrap_or(0);
        held.insert(counter.clone(), Some(before.saturating_add(value)));
    }

    pub(super) fn ail(&mut self, at: Plug, per_minute: u32) {
        let now = self.reached;
        self.ailing.entry(at).or_default().change(now, per_minute);
    }

    /// Whether less traffic than asked for stood for the time up to now.
    pub fn behind(&self) -> Option<Behind> {
        let held = self.reached / self.run.now_ns().max(1);
        self.fell_behind.then_some(Behind { asked: self.ratio, held })
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Adds what grew between two readings of the run, so many times.
fn add(count: &mut PortCount, (before, after): (&PortCount, &PortCount), (times, of): (u64, u64)) {
    let mut grow = |field: fn(&mut PortCount) -> &mut u64| {
        let (mut before, mut after) = (*before, *after);
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
