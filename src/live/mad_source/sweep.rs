//! Reads all counters again, over known routes and agents: as few MADs a port as the agent allows, many under way. An
//! agent is asked for its capabilities once; a silent one is asked again in the next sweep.

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::counters::{Port, agents_of, blank, get, has};
use super::flaps::Falls;
use super::found::FoundNode;
use super::question::{Question, Reply};
use super::reader::Reader;
use super::tables::silence;
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{Fabric, Lid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{ClassPortInfo, CounterBlock, Mad, PortCounters, PortCountersExtended, attribute};

/// The capabilities of performance agents, by LID.
pub type Agents = FxHashMap<Lid, ClassPortInfo>;

/// The attributes with counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Block {
    Narrow,
    Wide,
}

/// The subject of a query.
#[derive(Clone, Debug)]
enum Asked {
    /// The capabilities of an agent, for `count` ports from `first` on.
    Abilities {
        first: usize,
        count: usize,
    },
    Counters {
        at: usize,
        block: Block,
        abilities: ClassPortInfo,
    },
}

/// The samples so far.
struct Swept<'n> {
    nodes: &'n [FoundNode],
    ports: Vec<Port>,
    samples: Vec<Option<(CounterSample, Duration)>>,
}

/// The result of reading the counters.
#[derive(Debug, Default)]
pub struct Counted {
    pub samples: Vec<CounterSample>,
    pub at: Vec<Duration>,
    pub ports: u64,
    /// Nodes with an agent that left a query unanswered.
    pub mute: BTreeSet<usize>,
    /// How often links went down, by node and port.
    pub falls: Vec<(usize, u8, Falls)>,
}

/// Reads all counters of the nodes that are not left out.
pub fn sweep_counters(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    nodes: &[FoundNode],
    agents: &mut Agents,
    left_out: impl Fn(usize) -> bool,
) -> Result<Counted, SourceError> {
    let mut phase = reader.phase::<Asked>("counters");
    let (mut ports, mut questions) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| !left_out(*at)) {
        for group in agents_of(phase.told, fabric, at, node) {
            let first = ports.len();
            match agents.get(&group[0].lid) {
                Some(abilities) => questions.extend(asked_of(*abilities, first, group.len())),
                None => questions.push(Asked::Abilities { first, count: group.len() }),
            }
            ports.extend(group);
        }
    }
    let retries = phase.exchange.retries();
    let known = ports.clone();
    let fed = questions.into_iter().map(move |asked| question(asked, &known, retries));
    phase.exchange.feed(fed.len() as u64, fed);
    let samples = ports.iter().map(|_| None).collect();
    let mut swept = Swept { nodes, ports, samples };
    let mut mute = BTreeSet::new();
    while let Some((asked, reply)) = phase.next()? {
        match (asked, reply) {
            (Asked::Abilities { first, count }, Reply::Answer(mad)) => {
                let abilities = *mad.performance_data::<ClassPortInfo>();
                agents.insert(swept.ports[first].lid, abilities);
                for asked in asked_of(abilities, first, count) {
                    phase.exchange.ask(question(asked, &swept.ports, retries));
                }
            }
            (Asked::Counters { at, block, abilities }, Reply::Answer(mad)) => {
                let now = phase.exchange.now();
                swept.take(at, (block, &abilities), &mad, now);
            }
            (asked, failed) => {
                let (node, words) = swept.words(&asked);
                if matches!(failed, Reply::Silence) {
                    mute.insert(swept.node_of(&asked));
                }
                phase.told.silent.push(silence(node, words, &failed));
            }
        }
    }
    phase.end();
    let falls = swept.falls().collect();
    let ports = swept.ports.len() as u64;
    let (samples, at) = swept.samples.into_iter().flatten().unzip();
    Ok(Counted { samples, at, ports, mute, falls })
}

/// The attributes to read: only the wide one if it has every counter; otherwise the narrow one, with or without the
/// wide one.
fn asked_of(abilities: ClassPortInfo, first: usize, count: usize) -> impl Iterator<Item = Asked> {
    let blocks: &[Block] = match (abilities.extended_counters(), abilities.additional_extended()) {
        (true, true) => &[Block::Wide],
        (true, false) => &[Block::Wide, Block::Narrow],
        (false, _) => &[Block::Narrow],
    };
    let of_port = move |at| blocks.iter().map(move |block| Asked::Counters { at, block: *block, abilities });
    (first..first + count).flat_map(of_port)
}

fn question(asked: Asked, ports: &[Port], retries: u32) -> Question<Asked> {
    let (at, attribute) = match &asked {
        Asked::Abilities { first, .. } => (*first, attribute::CLASS_PORT_INFO),
        Asked::Counters { at, block: Block::Narrow, .. } => (*at, attribute::PORT_COUNTERS),
        Asked::Counters { at, block: Block::Wide, .. } => (*at, attribute::PORT_COUNTERS_EXTENDED),
    };
    let port = ports[at];
    Question { parcel: get(port.lid, attribute, port.number), target: port.node as u32, retries, tag: asked }
}

impl Swept<'_> {
    fn take(&mut self, at: usize, (block, abilities): (Block, &ClassPortInfo), mad: &Mad, now: Duration) {
        let port = self.ports[at];
        let values: Vec<(Counter, u64)> = match block {
            Block::Narrow => mad.performance_data::<PortCounters>().values(),
            Block::Wide => mad.performance_data::<PortCountersExtended>().values(),
        };
        let (sample, time) =
            self.samples[at].get_or_insert_with(|| (blank(&self.nodes[port.node], port), now));
        *time = now;
        for (counter, value) in values.into_iter().filter(|(counter, _)| has(abilities, counter)) {
            sample.values.insert(counter, Some(value));
        }
        sample.values.shrink();
    }

    fn falls(&self) -> impl Iterator<Item = (usize, u8, Falls)> {
        let both = self.ports.iter().zip(&self.samples);
        both.filter_map(|(port, sample)| {
            let (sample, _) = sample.as_ref()?;
            let count = |wide, narrow| sample.values.get(&wide).or_else(|| sample.values.get(&narrow));
            let downed = count(Counter::LinkDownedCounterExt, Counter::LinkDownedCounter)?;
            let recovered = count(Counter::LinkErrorRecoveryCounterExt, Counter::LinkErrorRecoveryCounter)?;
            Some((port.node, port.number, Falls { downed, recovered }))
        })
    }

    fn node_of(&self, asked: &Asked) -> usize {
        let (Asked::Abilities { first: at, .. } | Asked::Counters { at, .. }) = asked;
        self.ports[*at].node
    }

    /// The node and the subject of a query.
    fn words(&self, asked: &Asked) -> (&FoundNode, String) {
        let (Asked::Abilities { first: at, .. } | Asked::Counters { at, .. }) = asked;
        let port = self.ports[*at];
        let words = match asked {
            Asked::Abilities { .. } => format!("ClassPortInfo of the counters at LID {}", port.lid),
            Asked::Counters { block: Block::Narrow, .. } => format!("PortCounters {}", port.number),
            Asked::Counters { block: Block::Wide, .. } => format!("PortCountersExtended {}", port.number),
        };
        (&self.nodes[port.node], words)
    }
}
