//! What earlier intervals say about the destinations of adapters.
//!
//! One interval often has two explanations: of two adapters at one leaf, either may be the one that sends to the
//! hot-spot. Earlier intervals tell more. The rules, none of which is a proof:
//!
//! - While no channel changes its rate, no adapter has a new destination.
//! - When adapters that sent nothing begin to send, they are those with new destinations, and all others **likely** send
//!   only to those that they could have sent to before, also in the interval after it.
//! - Where an agent of its host lists the open flows of an adapter, the adapter sends to no other destination. Lists that
//!   do not explain what the channels carried are left out.
//! - When rates change and no adapter begins, at most one adapter has a new destination. Each may be the one, and only
//!   what holds whichever it is is likely. Each of these alternatives has its own destinations, and the next intervals
//!   rule out those that cannot explain them.
//!
//! Experiment I of dFtree: 2 sends to 3 before 1 begins. When 1 begins and port 5 waits, 2 still sends to 3 only, and
//! what reaches 5 over their uplink comes from 1.

use std::collections::BTreeMap;

use super::channel_rates::ChannelRates;
use super::congestion::{CongestedAdapter, CongestionRole, Evidence, HotSpotFlow, HotSpots, LikelyRole};
use super::contributors::{CONTRIBUTION, classify_by_paths, is_provable};
use super::destinations::Destinations;
use super::flow_model::{FlowLimits, FlowModel, FlowProgram};
use super::rates::Rates;
use crate::{Fabric, PortId, Tables};

/// The cells of tables that one interval may compute: about half a second of one core.
const MAX_WORK: usize = 400_000_000;

/// With more flows than this, limits of single flows follow from those of channels one by one.
const MAX_SINGLE_FLOWS: usize = 400;

/// With more adapters than this that send, a change without a beginning leaves nothing of earlier intervals.
const MAX_ALTERNATIVES: usize = 64;

/// Alternatives that are kept from one interval to the next; more become one with the destinations of all.
const MAX_KEPT: usize = 32;

/// With more alternatives and adapters together than this, the alternatives become one before a new one is tried for each
/// adapter.
const MAX_ATTEMPTS: usize = 512;

/// A change below this fraction of the rate is none.
const CHANGE: f64 = 0.03;

/// A flow below this fraction of what its adapter sends is none.
const NO_FLOW: f64 = 0.02;

/// The destinations that adapters can have had in the last interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FlowHistory {
    /// Whether there is an earlier interval.
    known: bool,
    /// What each port sent.
    sent: BTreeMap<PortId, f64>,
    /// Where adapters can have sent to: one of these is true.
    alternatives: Vec<Destinations>,
    /// Adapters that began in the last interval.
    begun: Vec<PortId>,
    /// Whether rates changed in the last interval and no adapter began.
    unsettled: bool,
}

/// What changed since the last interval.
struct Change {
    begun: Vec<PortId>,
    /// Whether an adapter that sent before may have a new destination.
    unsettled: bool,
}

/// A model of the flows of an interval that may be true.
struct Explanation {
    model: FlowModel,
    /// The largest slack of an adapter's own channel.
    slack: f64,
    program: Option<FlowProgram>,
}

/// An adapter that waits, with its flows to the hot-spots.
struct Waiting {
    place: usize,
    sent: f64,
    to_all: Vec<usize>,
    to_each: Vec<(PortId, Vec<usize>)>,
}

impl FlowHistory {
    /// Separates contributors from victims like [`super::classify_adapters`], with what earlier intervals say, and
    /// returns what the next interval needs. The fabric and its tables have to be those of the earlier intervals.
    pub fn classify(&self, fabric: &Fabric, tables: &Tables, rates: &Rates, verdict: &mut HotSpots) -> Self {
        if !is_provable(rates) {
            return Self::default();
        }
        classify_by_paths(fabric, tables, rates, verdict);
        let channels = ChannelRates::new(fabric, tables, rates);
        let Some(model) = FlowModel::new(&channels) else { return Self::default() };
        let mut work = MAX_WORK;
        let Ok(mut program) = model.program(&mut work) else { return Self::default() };
        let waiting = waiting_adapters(&model, &channels, verdict);
        for adapter in &waiting {
            let held = &mut verdict.congested_adapters[adapter.place];
            prove_role(held, adapter, &model, program.as_mut(), &mut work);
        }
        let change = self.change(&model, &channels);
        let slacks = waiting
            .iter()
            .map(|adapter| model.noise(&channels, verdict.congested_adapters[adapter.place].at.port));
        let slack = slacks.fold(0.0, f64::max);
        let agreed = model.with_listed(&rates.listed, &mut work);
        let has_lists = agreed.is_some();
        let (model, program) = agreed.unwrap_or((model, program));
        let all = Explanation { slack, model, program };
        let mut explanations = self.explanations(all, &change, &mut work);
        for adapter in &waiting {
            let held = &mut verdict.congested_adapters[adapter.place];
            suggest_role(held, adapter, &mut explanations, &mut work);
            held.by_agents = has_lists && held.likely.is_some();
        }
        Self::of(explanations, change, &channels, &mut work)
    }

    /// What the next interval needs after this one, without a verdict.
    pub fn after_interval(&self, fabric: &Fabric, tables: &Tables, rates: &Rates) -> Self {
        self.classify(fabric, tables, rates, &mut HotSpots::default())
    }

    fn change(&self, model: &FlowModel, channels: &ChannelRates<'_>) -> Change {
        let before = |port: PortId| self.sent.get(&port).copied().unwrap_or(0.0);
        let begins = |port: &PortId| {
            let slack = model.noise(channels, *port);
            before(*port) <= slack && channels.sent_rate(*port) > slack
        };
        let begun: Vec<PortId> = sources_of(model).into_iter().filter(begins).collect();
        let changes = |port: PortId| {
            let (now, before) = (channels.sent_rate(port), before(port));
            let allowed = (before * CHANGE).max(2.0 * model.noise(channels, port));
            let is_same = (now - before).abs() <= allowed;
            !is_same
        };
        let explained = !begun.is_empty() || !self.begun.is_empty();
        let unsettled = self.unsettled || !explained;
        Change { unsettled: unsettled && model.ports().any(changes), begun }
    }

    /// All that may be true of this interval after the last one.
    fn explanations(&self, all: Explanation, change: &Change, work: &mut usize) -> Vec<Explanation> {
        if !self.known {
            return vec![all];
        }
        let attempt = |before: &Destinations, free: Option<PortId>, work: &mut usize| {
            let mut model = all.model.clone();
            let explained = model.restrict(|flow| {
                let from = flow.from;
                change.begun.contains(&from)
                    || self.begun.contains(&from)
                    || free == Some(from)
                    || before.has(from, flow.to)
            });
            let program = if explained { model.program(work).ok()? } else { None };
            explained.then_some(Explanation { model, program, slack: all.slack })
        };
        let mut found: Vec<Explanation> =
            self.alternatives.iter().filter_map(|before| attempt(before, None, work)).collect();
        if !change.unsettled && !found.is_empty() {
            return found;
        }
        let sources = sources_of(&all.model);
        if sources.len() > MAX_ALTERNATIVES {
            return vec![all];
        }
        let joined = [Destinations::joined(&self.alternatives)];
        let alternatives = match self.alternatives.len().saturating_mul(sources.len()) > MAX_ATTEMPTS {
            true => &joined[..],
            false => &self.alternatives,
        };
        for before in alternatives {
            for port in &sources {
                found.extend(attempt(before, Some(*port), work));
            }
        }
        if found.is_empty() || *work == 0 { vec![all] } else { found }
    }

    fn of(
        mut explanations: Vec<Explanation>,
        change: Change,
        channels: &ChannelRates<'_>,
        work: &mut usize,
    ) -> Self {
        let mut history =
            Self { known: true, begun: change.begun, unsettled: change.unsettled, ..Self::default() };
        let Some(first) = explanations.first() else { return Self::default() };
        history.sent = first.model.ports().map(|port| (port, channels.sent_rate(port))).collect();
        let alternatives = explanations.iter_mut().map(|one| one.destinations(channels, work)).collect();
        history.alternatives = Destinations::widest(alternatives, MAX_KEPT);
        history
    }
}

impl Explanation {
    /// Where adapters can have sent to.
    fn destinations(&mut self, channels: &ChannelRates<'_>, work: &mut usize) -> Destinations {
        let Self { model, program, .. } = self;
        let single = model.flows.len() <= MAX_SINGLE_FLOWS;
        let mut destinations = Destinations::default();
        for (at, flow) in model.flows.iter().enumerate().filter(|(_, flow)| !flow.is_stuck) {
            let nothing = 2.0 * model.noise(channels, flow.from) + NO_FLOW * channels.sent_rate(flow.from);
            let mut most = flow.most;
            if let Some(program) = program.as_mut().filter(|_| single && most > nothing) {
                most = program.sum_limits(&[at], FlowLimits { least: flow.least, most }, work).most;
            }
            if most > nothing {
                destinations.add(flow.from, flow.to);
            }
        }
        destinations
    }
}

fn sources_of(model: &FlowModel) -> Vec<PortId> {
    let mut sources: Vec<PortId> = model.flows.iter().map(|flow| flow.from).collect();
    sources.dedup();
    sources
}

/// Adapters that wait below a fair share, or of which more can be said.
fn waiting_adapters(model: &FlowModel, channels: &ChannelRates<'_>, verdict: &HotSpots) -> Vec<Waiting> {
    let mut all = Vec::new();
    for (place, held) in verdict.congested_adapters.iter().enumerate() {
        let (port, sent) = (held.at.port, channels.sent_rate(held.at.port));
        if verdict.hot_spots.is_empty() || !sent.is_finite() || sent <= 0.0 {
            continue;
        }
        let hot = |to: PortId| verdict.hot_spots.iter().any(|hot| hot.adapter == to);
        let others = verdict.hot_spots.iter().map(|hot| hot.adapter).filter(|hot| *hot != port);
        let to_each = others.map(|hot| (hot, model.flows_of(port, |to| to == hot))).collect();
        all.push(Waiting { place, sent, to_all: model.flows_of(port, hot), to_each });
    }
    all
}

/// The limits of what an adapter sends to all hot-spots, and to the one that it can send most to.
fn limits(
    adapter: &Waiting,
    model: &FlowModel,
    mut program: Option<&mut FlowProgram>,
    work: &mut usize,
) -> (FlowLimits, Option<HotSpotFlow>) {
    let mut of = |flows: &[usize]| {
        let known = model.sum_limits(flows);
        match &mut program {
            Some(program) => program.sum_limits(flows, known, work),
            None => known,
        }
    };
    let to_all = of(&adapter.to_all);
    let each = adapter.to_each.iter().map(|(hot_spot, flows)| {
        let FlowLimits { least, most } = of(flows);
        let narrowest = model.narrowest_channel(flows).map(|(port, _)| port);
        HotSpotFlow { hot_spot: *hot_spot, least: least.max(0.0), most: most.min(adapter.sent), narrowest }
    });
    let by_share = |a: &HotSpotFlow, b: &HotSpotFlow| {
        a.least.total_cmp(&b.least).then(a.most.total_cmp(&b.most)).then(b.hot_spot.cmp(&a.hot_spot))
    };
    (to_all, each.max_by(by_share))
}

fn prove_role(
    held: &mut CongestedAdapter,
    adapter: &Waiting,
    model: &FlowModel,
    program: Option<&mut FlowProgram>,
    work: &mut usize,
) {
    let (to_all, flow) = limits(adapter, model, program, work);
    let (slack, sent) = (model.slack(held.at.port), adapter.sent);
    held.flow = flow;
    if held.role != CongestionRole::Undecided {
        return;
    }
    if to_all.most <= CONTRIBUTION * (sent - slack) {
        held.role = CongestionRole::Victim { most: to_all.most, sent };
    } else if let Some(flow) = flow.filter(|flow| flow.least > CONTRIBUTION * (sent + slack)) {
        let (hot_spot, least) = (flow.hot_spot, flow.least);
        held.role = CongestionRole::Contributor(Evidence::AllChannels { hot_spot, least, sent });
    } else if to_all.least > CONTRIBUTION * (sent + slack) {
        // To several hot-spots together; how much to each is not known.
        held.role =
            CongestionRole::Contributor(Evidence::NowhereElse { elsewhere: sent - to_all.least, sent });
    }
}

fn suggest_role(
    held: &mut CongestedAdapter,
    adapter: &Waiting,
    explanations: &mut [Explanation],
    work: &mut usize,
) {
    // An adapter that sends no more than the tolerance may just have begun.
    let is_too_little = |all: &Explanation| adapter.sent <= 2.0 * all.slack;
    if held.role != CongestionRole::Undecided || explanations.first().is_none_or(is_too_little) {
        return;
    }
    let share = CONTRIBUTION * adapter.sent;
    let mut likely: Option<LikelyRole> = None;
    for Explanation { model, program, slack } in explanations {
        let (to_all, flow) = limits(adapter, model, program.as_mut(), work);
        let role = match flow.filter(|flow| flow.least > share) {
            // A flow that began since and is smaller than the smallest change that counts is not noticed.
            _ if to_all.most + 2.0 * *slack <= share => {
                LikelyRole::Victim { most: to_all.most + 2.0 * *slack }
            }
            Some(flow) => LikelyRole::Contributor(flow),
            None => return,
        };
        likely = match (likely, role) {
            (None, role) => Some(role),
            (Some(known), role) => match known.joined(role) {
                Some(joined) => Some(joined),
                None => return,
            },
        };
    }
    held.likely = likely;
}
