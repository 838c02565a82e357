//! Reads all counters again, over known routes and agents: as few MADs a port as the agent allows, many under way. An
//! agent is asked for its capabilities once. One that was silent is asked one question in the next sweep, and the others once
//! it answers, so that it delays no other.

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::counters::{CountedPort, agents_of, counter_query, empty_sample, has_counter};
use super::discovery_state::DiscoveredNode;
use super::link_down_counts::LinkDownCounts;
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PortReader};
use super::tables::to_silence;
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{Fabric, Lid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{ClassPortInfo, CounterBlock, Mad, PortCounters, PortCountersExtended, attribute};

/// The capabilities of performance agents, by LID.
pub type CounterAgents = FxHashMap<Lid, ClassPortInfo>;

/// How a sweep asks the agent of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentTrust {
    Answers,
    /// It was silent, and is asked one question first. `patient`: for as long as any other.
    Doubted {
        patient: bool,
    },
    LeftOut,
}

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
    /// The first of the queries for the counters of `count` ports, to an agent that was silent.
    First {
        first: usize,
        count: usize,
        abilities: ClassPortInfo,
    },
    Counters {
        at: usize,
        block: CounterAttribute,
        abilities: ClassPortInfo,
    },
}

impl SweepQuestion {
    /// The port that it is about, the first one of several.
    fn port(&self) -> usize {
        match self {
            Self::Abilities { first: at, .. } | Self::First { first: at, .. } | Self::Counters { at, .. } => {
                *at
            }
        }
    }

    /// The attribute with counters; `None` for capabilities.
    fn block(&self) -> Option<CounterAttribute> {
        match self {
            Self::Abilities { .. } => None,
            Self::First { abilities, .. } => counter_blocks(*abilities).first().copied(),
            Self::Counters { block, .. } => Some(*block),
        }
    }
}

/// The samples so far.
struct SweepProgress<'n> {
    nodes: &'n [DiscoveredNode],
    ports: Vec<CountedPort>,
    samples: Vec<Option<(CounterSample, Duration)>>,
    /// Nodes with an agent that left a query unanswered.
    mute: BTreeSet<usize>,
}

/// The result of reading the counters.
#[derive(Debug, Default)]
pub struct CounterSweep {
    pub samples: Vec<CounterSample>,
    pub at: Vec<Duration>,
    pub ports: u64,
    /// Nodes with an agent that left a query unanswered.
    pub mute: BTreeSet<usize>,
    /// Those of them of which no port has a sample.
    pub hung: BTreeSet<usize>,
    /// How often links went down, by node and port.
    pub falls: Vec<(usize, u8, LinkDownCounts)>,
}

/// The questions of a sweep at its beginning, and the ports that they are about.
fn first_questions(
    phase: &mut OpenPhase<'_, '_, SweepQuestion>,
    (fabric, nodes): (&Fabric, &[DiscoveredNode]),
    agents: &CounterAgents,
    trust: impl Fn(usize) -> AgentTrust,
) -> (Vec<CountedPort>, Vec<SweepQuestion>) {
    let (mut ports, mut questions) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate() {
        let trust = trust(at);
        if trust == AgentTrust::LeftOut {
            continue;
        }
        if trust == (AgentTrust::Doubted { patient: false }) {
            phase.exchange.doubt([at as u32]);
        }
        for group in agents_of(phase.log, fabric, at, node) {
            let (first, count) = (ports.len(), group.len());
            match (agents.get(&group[0].lid).copied(), trust) {
                (None, _) => questions.push(SweepQuestion::Abilities { first, count }),
                (Some(abilities), AgentTrust::Answers) => {
                    questions.extend(plan_questions(abilities, first, count));
                }
                (Some(abilities), _) => questions.push(SweepQuestion::First { first, count, abilities }),
            }
            ports.extend(group);
        }
    }
    (ports, questions)
}

/// Reads all counters of the nodes that are not left out.
pub fn sweep_counters(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    agents: &mut CounterAgents,
    trust: impl Fn(usize) -> AgentTrust,
) -> Result<CounterSweep, SourceError> {
    let mut phase = reader.open_phase::<SweepQuestion>("counters");
    let (ports, questions) = first_questions(&mut phase, (fabric, nodes), agents, trust);
    let retries = phase.exchange.retries();
    let known = ports.clone();
    let fed = questions.into_iter().map(move |asked| question(asked, &known, retries));
    phase.exchange.feed(fed.len() as u64, fed);
    let samples = ports.iter().map(|_| None).collect();
    let mut swept = SweepProgress { nodes, ports, samples, mute: BTreeSet::new() };
    while let Some((asked, reply)) = phase.next()? {
        let (more, from) = match (&asked, reply) {
            (SweepQuestion::Abilities { first, count }, Reply::Answer(mad)) => {
                let abilities = *mad.performance_data::<ClassPortInfo>();
                agents.insert(swept.ports[*first].lid, abilities);
                (Some((abilities, *first, *count)), 0)
            }
            (SweepQuestion::First { first, count, abilities }, Reply::Answer(mad)) => {
                swept.add_counters(&asked, abilities, &mad, phase.exchange.now());
                (Some((*abilities, *first, *count)), 1)
            }
            (SweepQuestion::Counters { abilities, .. }, Reply::Answer(mad)) => {
                swept.add_counters(&asked, abilities, &mad, phase.exchange.now());
                (None, 0)
            }
            (asked, failed) => {
                let (node, words) = swept.question_text(asked);
                phase.log.silent.push(to_silence(node, words, &failed));
                let mute = matches!(failed, Reply::Silence).then_some(swept.ports[asked.port()].node);
                swept.mute.extend(mute);
                (None, 0)
            }
        };
        let more =
            more.into_iter().flat_map(|(abilities, first, count)| plan_questions(abilities, first, count));
        more.skip(from).for_each(|asked| phase.exchange.ask(question(asked, &swept.ports, retries)));
    }
    phase.end();
    Ok(swept.finish())
}

/// The attributes to read: only the wide one if it has every counter; otherwise the narrow one, with or without the
/// wide one.
fn counter_blocks(abilities: ClassPortInfo) -> &'static [CounterAttribute] {
    match (abilities.has_extended_counters(), abilities.has_additional_extended()) {
        (true, true) => &[CounterAttribute::Wide],
        (true, false) => &[CounterAttribute::Wide, CounterAttribute::Narrow],
        (false, _) => &[CounterAttribute::Narrow],
    }
}

fn plan_questions(
    abilities: ClassPortInfo,
    first: usize,
    count: usize,
) -> impl Iterator<Item = SweepQuestion> {
    let of_port = move |at| {
        counter_blocks(abilities).iter().map(move |block| SweepQuestion::Counters {
            at,
            block: *block,
            abilities,
        })
    };
    (first..first + count).flat_map(of_port)
}

fn question(asked: SweepQuestion, ports: &[CountedPort], retries: u32) -> Question<SweepQuestion> {
    let attribute = match asked.block() {
        None => attribute::CLASS_PORT_INFO,
        Some(CounterAttribute::Narrow) => attribute::PORT_COUNTERS,
        Some(CounterAttribute::Wide) => attribute::PORT_COUNTERS_EXTENDED,
    };
    let port = ports[asked.port()];
    Question {
        parcel: counter_query(port.lid, attribute, port.number),
        target: port.node as u32,
        retries,
        tag: asked,
    }
}

impl SweepProgress<'_> {
    fn add_counters(&mut self, asked: &SweepQuestion, abilities: &ClassPortInfo, mad: &Mad, now: Duration) {
        let at = asked.port();
        let port = self.ports[at];
        let values: Vec<(Counter, u64)> = match asked.block() {
            None => Vec::new(),
            Some(CounterAttribute::Narrow) => mad.performance_data::<PortCounters>().values(),
            Some(CounterAttribute::Wide) => mad.performance_data::<PortCountersExtended>().values(),
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

    /// What was read.
    fn finish(self) -> CounterSweep {
        let falls = self.link_downs().collect();
        let ports = self.ports.len() as u64;
        let all = self.ports.iter().zip(&self.samples);
        let sampled: BTreeSet<usize> =
            all.filter(|(_, sample)| sample.is_some()).map(|(port, _)| port.node).collect();
        let hung = self.mute.difference(&sampled).copied().collect();
        let answered = self.samples.iter().flatten().count();
        let (mut samples, mut at) = (Vec::with_capacity(answered), Vec::with_capacity(answered));
        for (sample, time) in self.samples.into_iter().flatten() {
            samples.push(sample);
            at.push(time);
        }
        CounterSweep { samples, at, ports, mute: self.mute, hung, falls }
    }

    /// The node and the subject of a query.
    fn question_text(&self, asked: &SweepQuestion) -> (&DiscoveredNode, String) {
        let port = self.ports[asked.port()];
        let words = match asked.block() {
            None => format!("ClassPortInfo of the counters at LID {}", port.lid),
            Some(CounterAttribute::Narrow) => format!("PortCounters {}", port.number),
            Some(CounterAttribute::Wide) => format!("PortCountersExtended {}", port.number),
        };
        (&self.nodes[port.node], words)
    }
}
