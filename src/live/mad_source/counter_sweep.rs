//! Reads all counters again, over known routes and agents: as few MADs a port as the agent allows, many under way. An
//! agent is asked for its capabilities once; a silent one is asked again in the next sweep.

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::counters::{CountedPort, agents_of, counter_query, empty_sample, has_counter};
use super::discovery_state::DiscoveredNode;
use super::link_down_counts::LinkDownCounts;
use super::question::{Question, Reply};
use super::reader::PortReader;
use super::tables::to_silence;
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{Fabric, Lid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{ClassPortInfo, CounterBlock, Mad, PortCounters, PortCountersExtended, attribute};

/// The capabilities of performance agents, by LID.
pub type CounterAgents = FxHashMap<Lid, ClassPortInfo>;

/// The attributes with counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CounterAttribute {
    Narrow,
    Wide,
}

/// The subject of a query.
#[derive(Clone, Debug)]
enum SweepQuestion {
    /// The capabilities of an agent, for `count` ports from `first` on.
    Abilities {
        first: usize,
        count: usize,
    },
    Counters {
        at: usize,
        block: CounterAttribute,
        abilities: ClassPortInfo,
    },
}

/// The samples so far.
struct SweepProgress<'n> {
    nodes: &'n [DiscoveredNode],
    ports: Vec<CountedPort>,
    samples: Vec<Option<(CounterSample, Duration)>>,
}

/// The result of reading the counters.
#[derive(Debug, Default)]
pub struct CounterSweep {
    pub samples: Vec<CounterSample>,
    pub at: Vec<Duration>,
    pub ports: u64,
    /// Nodes with an agent that left a query unanswered.
    pub mute: BTreeSet<usize>,
    /// How often links went down, by node and port.
    pub falls: Vec<(usize, u8, LinkDownCounts)>,
}

/// Reads all counters of the nodes that are not left out.
pub fn sweep_counters(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    agents: &mut CounterAgents,
    left_out: impl Fn(usize) -> bool,
) -> Result<CounterSweep, SourceError> {
    let mut phase = reader.open_phase::<SweepQuestion>("counters");
    let (mut ports, mut questions) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| !left_out(*at)) {
        for group in agents_of(phase.log, fabric, at, node) {
            let first = ports.len();
            match agents.get(&group[0].lid) {
                Some(abilities) => questions.extend(plan_questions(*abilities, first, group.len())),
                None => questions.push(SweepQuestion::Abilities { first, count: group.len() }),
            }
            ports.extend(group);
        }
    }
    let retries = phase.exchange.retries();
    let known = ports.clone();
    let fed = questions.into_iter().map(move |asked| question(asked, &known, retries));
    phase.exchange.feed(fed.len() as u64, fed);
    let samples = ports.iter().map(|_| None).collect();
    let mut swept = SweepProgress { nodes, ports, samples };
    let mut mute = BTreeSet::new();
    while let Some((asked, reply)) = phase.next()? {
        match (asked, reply) {
            (SweepQuestion::Abilities { first, count }, Reply::Answer(mad)) => {
                let abilities = *mad.performance_data::<ClassPortInfo>();
                agents.insert(swept.ports[first].lid, abilities);
                for asked in plan_questions(abilities, first, count) {
                    phase.exchange.ask(question(asked, &swept.ports, retries));
                }
            }
            (SweepQuestion::Counters { at, block, abilities }, Reply::Answer(mad)) => {
                let now = phase.exchange.now();
                swept.add_counters(at, (block, &abilities), &mad, now);
            }
            (asked, failed) => {
                let (node, words) = swept.question_text(&asked);
                if matches!(failed, Reply::Silence) {
                    mute.insert(swept.node_of(&asked));
                }
                phase.log.silent.push(to_silence(node, words, &failed));
            }
        }
    }
    phase.end();
    let falls = swept.link_downs().collect();
    let ports = swept.ports.len() as u64;
    let answered = swept.samples.iter().flatten().count();
    let (mut samples, mut at) = (Vec::with_capacity(answered), Vec::with_capacity(answered));
    for (sample, time) in swept.samples.into_iter().flatten() {
        samples.push(sample);
        at.push(time);
    }
    Ok(CounterSweep { samples, at, ports, mute, falls })
}

/// The attributes to read: only the wide one if it has every counter; otherwise the narrow one, with or without the
/// wide one.
fn plan_questions(
    abilities: ClassPortInfo,
    first: usize,
    count: usize,
) -> impl Iterator<Item = SweepQuestion> {
    let blocks: &[CounterAttribute] =
        match (abilities.has_extended_counters(), abilities.has_additional_extended()) {
            (true, true) => &[CounterAttribute::Wide],
            (true, false) => &[CounterAttribute::Wide, CounterAttribute::Narrow],
            (false, _) => &[CounterAttribute::Narrow],
        };
    let of_port =
        move |at| blocks.iter().map(move |block| SweepQuestion::Counters { at, block: *block, abilities });
    (first..first + count).flat_map(of_port)
}

fn question(asked: SweepQuestion, ports: &[CountedPort], retries: u32) -> Question<SweepQuestion> {
    let (at, attribute) = match &asked {
        SweepQuestion::Abilities { first, .. } => (*first, attribute::CLASS_PORT_INFO),
        SweepQuestion::Counters { at, block: CounterAttribute::Narrow, .. } => {
            (*at, attribute::PORT_COUNTERS)
        }
        SweepQuestion::Counters { at, block: CounterAttribute::Wide, .. } => {
            (*at, attribute::PORT_COUNTERS_EXTENDED)
        }
    };
    let port = ports[at];
    Question {
        parcel: counter_query(port.lid, attribute, port.number),
        target: port.node as u32,
        retries,
        tag: asked,
    }
}

impl SweepProgress<'_> {
    fn add_counters(
        &mut self,
        at: usize,
        (block, abilities): (CounterAttribute, &ClassPortInfo),
        mad: &Mad,
        now: Duration,
    ) {
        let port = self.ports[at];
        let values: Vec<(Counter, u64)> = match block {
            CounterAttribute::Narrow => mad.performance_data::<PortCounters>().values(),
            CounterAttribute::Wide => mad.performance_data::<PortCountersExtended>().values(),
        };
        let (sample, time) =
            self.samples[at].get_or_insert_with(|| (empty_sample(&self.nodes[port.node], port), now));
        *time = now;
        for (counter, value) in values.into_iter().filter(|(counter, _)| has_counter(abilities, counter)) {
            sample.values.insert(counter, Some(value));
        }
        sample.values.shrink_to_fit();
    }

    fn link_downs(&self) -> impl Iterator<Item = (usize, u8, LinkDownCounts)> {
        let both = self.ports.iter().zip(&self.samples);
        both.filter_map(|(port, sample)| {
            let (sample, _) = sample.as_ref()?;
            let count = |wide, narrow| sample.values.get(&wide).or_else(|| sample.values.get(&narrow));
            let downed = count(Counter::LinkDownedCounterExt, Counter::LinkDownedCounter)?;
            let recovered = count(Counter::LinkErrorRecoveryCounterExt, Counter::LinkErrorRecoveryCounter)?;
            Some((port.node, port.number, LinkDownCounts { downed, recovered }))
        })
    }

    fn node_of(&self, asked: &SweepQuestion) -> usize {
        let (SweepQuestion::Abilities { first: at, .. } | SweepQuestion::Counters { at, .. }) = asked;
        self.ports[*at].node
    }

    /// The node and the subject of a query.
    fn question_text(&self, asked: &SweepQuestion) -> (&DiscoveredNode, String) {
        let (SweepQuestion::Abilities { first: at, .. } | SweepQuestion::Counters { at, .. }) = asked;
        let port = self.ports[*at];
        let words = match asked {
            SweepQuestion::Abilities { .. } => format!("ClassPortInfo of the counters at LID {}", port.lid),
            SweepQuestion::Counters { block: CounterAttribute::Narrow, .. } => {
                format!("PortCounters {}", port.number)
            }
            SweepQuestion::Counters { block: CounterAttribute::Wide, .. } => {
                format!("PortCountersExtended {}", port.number)
            }
        };
        (&self.nodes[port.node], words)
    }
}
