//! What each adapter can have sent to each other one, from all channels and tables together.
//!
//! The rates of single flows are unknown; that of each channel is counted, and the forwarding tables say which flows it
//! carried. So what adapters sent of the flows of a channel adds up to its rate, within a tolerance:
//!
//! - Ports are read one after the other. Between two readings a channel carries at most what its link can: the time to
//!   read all ports, as a fraction of the interval, times the link's bandwidth.
//! - Packets that an adapter sent may lie in an input buffer before the channel, and packets that lay there may have come
//!   over it: as many as all buffers before it can hold.
//! - Packets that switches discarded were on the first channels of their paths only.
//! - Multicast packets take other paths.

use std::collections::BTreeSet;

use super::channel_rates::ChannelRates;
use super::contributors::MAX_HOPS;
use super::destinations::Destinations;
use super::linear_bounds::{LinearProgram, SumRow};
use crate::{Lid, PortId};

/// Flows that a model can have, and those of one whose limits are computed one by one.
const MAX_FLOWS: usize = 20_000;
const MAX_PATH_STEPS: usize = 400_000;

/// Rounds of limits that follow from each other; more gain next to nothing.
const ROUNDS: usize = 12;

/// The size of a table of the simplex method.
const MAX_CELLS: usize = 2_000_000;

/// A flow from an adapter to a LID, with its limits.
#[derive(Clone, Debug)]
pub(super) struct ModelFlow {
    pub from: PortId,
    pub to: PortId,
    pub least: f64,
    pub most: f64,
    /// Whether its packets lie in buffers, on the path to an adapter that received none.
    pub is_stuck: bool,
}

/// An adapter that flows can go to.
struct Destination {
    port: PortId,
    receives: bool,
}

/// A channel: the flows over it, and the least and the greatest sum of their rates.
#[derive(Clone, Debug)]
struct ChannelSum {
    port: PortId,
    low: f64,
    high: f64,
    flows: Vec<usize>,
    /// The channels before it on the paths of its flows.
    before: BTreeSet<usize>,
    /// How far its rate can be from the sum of its flows.
    slack: f64,
}

/// The flows of an interval with what all channels say of them. Rates are in bytes per second.
#[derive(Clone, Debug)]
pub(super) struct FlowModel {
    pub flows: Vec<ModelFlow>,
    channels: Vec<ChannelSum>,
    /// The place of the channel of each port.
    place_of: Vec<Option<usize>>,
    scale: f64,
}

impl FlowModel {
    /// The model of an interval. `None`: there are too many flows, a table on a path is not known, a flow has no limit,
    /// or the channels contradict the tables.
    pub fn new(rates: &ChannelRates<'_>) -> Option<Self> {
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for (node, _) in rates.fabric.nodes().filter(|(_, node)| !node.is_switch()) {
            for (port, facts) in rates.fabric.ports_of(node).filter(|(_, port)| port.peer.is_some()) {
                if rates.sent_rate(port) > 0.0 {
                    sources.push(port);
                }
                if facts.facts.lid.is_some() {
                    destinations.push(Destination { port, receives: rates.received_rate(port) > 0.0 });
                }
            }
        }
        let receivers = destinations.iter().filter(|to| to.receives).count();
        if sources.len().saturating_mul(receivers) > MAX_FLOWS {
            return None;
        }
        let place_of = vec![None; rates.fabric.ports().len()];
        let mut model = Self { flows: Vec::new(), channels: Vec::new(), place_of, scale: 1.0 };
        model.add_flows(rates, &sources, &destinations)?;
        model.set_limits(rates)?;
        let known = model.channels.iter().map(|channel| channel.high).filter(|high| high.is_finite());
        model.scale = known.fold(1.0, f64::max);
        model.propagate().then_some(model)
    }

    fn add_flows(
        &mut self,
        rates: &ChannelRates<'_>,
        sources: &[PortId],
        destinations: &[Destination],
    ) -> Option<()> {
        let (mut steps, all_buffered) = (0, rates.all_buffered_rate());
        for from in sources {
            // A source without a destination still has a channel that has to be explained.
            self.channel(rates, *from);
            let mut stuck: BTreeSet<(Vec<PortId>, bool)> = BTreeSet::new();
            for to in destinations.iter().filter(|to| to.port != *from) {
                for lid in rates.lids(to.port) {
                    let path = path(rates, *from, to.port, lid);
                    steps += path.as_ref().map_or(1, Vec::len);
                    if steps > MAX_PATH_STEPS {
                        return None;
                    }
                    let (path, most) = match path {
                        Some(path) if to.receives => (path, f64::INFINITY),
                        None if to.receives => return None,
                        Some(path) => stuck_path(rates, path),
                        None => (vec![*from], all_buffered),
                    };
                    if path.is_empty() || (!to.receives && !stuck.insert((path.clone(), most < all_buffered)))
                    {
                        continue;
                    }
                    let places: Vec<usize> = path.iter().map(|port| self.channel(rates, *port)).collect();
                    let (to, is_stuck) = (to.port, !to.receives);
                    self.add_flow(ModelFlow { from: *from, to, least: 0.0, most, is_stuck }, places);
                }
            }
        }
        Some(())
    }

    fn add_flow(&mut self, flow: ModelFlow, places: Vec<usize>) {
        for (at, place) in places.iter().enumerate() {
            let channel = &mut self.channels[*place];
            channel.flows.push(self.flows.len());
            channel.before.extend(&places[..at]);
        }
        self.flows.push(flow);
    }

    fn channel(&mut self, rates: &ChannelRates<'_>, port: PortId) -> usize {
        if let Some(place) = self.place_of[port.index()] {
            return place;
        }
        let (high, slack) = (rates.sent_rate(port), f64::INFINITY);
        self.place_of[port.index()] = Some(self.channels.len());
        let (flows, before) = (Vec::new(), BTreeSet::new());
        self.channels.push(ChannelSum { port, low: 0.0, high, flows, before, slack });
        self.channels.len() - 1
    }

    /// The limits of channels by their rates, and of flows by their channels. `None`: a flow has no limit.
    fn set_limits(&mut self, rates: &ChannelRates<'_>) -> Option<()> {
        let buffered: Vec<f64> =
            self.channels.iter().map(|channel| rates.buffered_rate(channel.port)).collect();
        for channel in &mut self.channels {
            let rate = channel.high;
            let capacity = rates.rates.port(channel.port).and_then(|counted| counted.capacity);
            let skew = rates.rates.skew;
            let skewed = if skew > 0.0 { skew * capacity.unwrap_or(f64::INFINITY) } else { 0.0 };
            channel.slack = skewed + channel.before.iter().map(|place| buffered[*place]).sum::<f64>();
            // A channel whose rate is not known limits nothing.
            if !rate.is_finite() || !channel.slack.is_finite() {
                (channel.low, channel.high) = (0.0, f64::INFINITY);
                continue;
            }
            let lost = if channel.before.is_empty() { 0.0 } else { rates.lost };
            channel.low = (rate - channel.slack - rates.multicast_rate(channel.port)).max(0.0);
            channel.high = rate + channel.slack + lost;
            for flow in &channel.flows {
                let flow = &mut self.flows[*flow];
                flow.most = flow.most.min(channel.high);
            }
        }
        self.flows.iter().all(|flow| flow.most.is_finite()).then_some(())
    }

    fn channel_of(&self, port: PortId) -> Option<&ChannelSum> {
        let place = *self.place_of.get(port.index())?;
        self.channels.get(place?)
    }

    /// How far the rate of an adapter's own channel can be from the sum of its flows.
    pub fn slack(&self, adapter: PortId) -> f64 {
        self.channel_of(adapter).map_or(f64::INFINITY, |channel| channel.slack)
    }

    /// A change of a channel's rate that shows nothing: what buffers and moments of reading can make of it.
    pub fn noise(&self, rates: &ChannelRates<'_>, port: PortId) -> f64 {
        let own = self.channel_of(port);
        own.map_or(f64::INFINITY, |channel| channel.slack + rates.buffered_rate(port))
    }

    /// The ports whose channels have flows.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        self.channels.iter().map(|channel| channel.port)
    }

    /// Leaves out the flows that arrive and for which `is_possible` is false. Returns whether the channels can still be
    /// explained.
    pub fn restrict(&mut self, is_possible: impl Fn(&ModelFlow) -> bool) -> bool {
        for flow in self.flows.iter_mut().filter(|flow| !flow.is_stuck && !is_possible(flow)) {
            flow.most = 0.0;
            if flow.least > 0.0 {
                return false;
            }
        }
        self.propagate()
    }

    /// The model without flows that agents do not list, and its program. `None`: no agent lists any, or what they list
    /// does not explain the channels.
    pub fn with_listed(
        &self,
        listed: &Destinations,
        work: &mut usize,
    ) -> Option<(Self, Option<FlowProgram>)> {
        if !self.flows.iter().any(|flow| listed.lists(flow.from)) {
            return None;
        }
        let mut model = self.clone();
        let is_possible = |flow: &ModelFlow| !listed.lists(flow.from) || listed.has(flow.from, flow.to);
        let program = model.restrict(is_possible).then(|| model.program(work).ok()).flatten()?;
        Some((model, program))
    }

    /// Narrows the limits of each flow by those of the others on each channel. Returns whether any rates explain the
    /// channels, as far as this shows.
    fn propagate(&mut self) -> bool {
        let allowance = self.scale * 1e-9;
        for _ in 0..ROUNDS {
            let mut changed = false;
            for channel in &self.channels {
                let of_flows = || channel.flows.iter().map(|flow| &self.flows[*flow]);
                let least: f64 = of_flows().map(|flow| flow.least).sum();
                let most: f64 = of_flows().map(|flow| flow.most).sum();
                if most < channel.low - allowance || least > channel.high + allowance {
                    return false;
                }
                for at in &channel.flows {
                    let flow = &mut self.flows[*at];
                    let highest = (channel.high - (least - flow.least)).max(0.0);
                    let lowest = channel.low - (most - flow.most);
                    if highest < flow.most - allowance {
                        (flow.most, changed) = (highest, true);
                    }
                    if lowest > flow.least + allowance {
                        (flow.least, changed) = (lowest, true);
                    }
                    if flow.least > flow.most {
                        if flow.least > flow.most + 10.0 * allowance {
                            return false;
                        }
                        flow.least = flow.most;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        true
    }

    /// The same as a linear program, whose limits on sums of flows are the narrowest that the channels allow. `Ok(None)`:
    /// too large or too much work. `Err`: no rates explain the channels.
    pub fn program(&self, work: &mut usize) -> Result<Option<FlowProgram>, Unexplained> {
        let used: Vec<usize> = (0..self.flows.len()).filter(|flow| self.flows[*flow].most > 0.0).collect();
        let mut column_of = vec![None; self.flows.len()];
        used.iter().enumerate().for_each(|(column, flow)| column_of[*flow] = Some(column));
        let rows: Vec<SumRow> = self
            .channels
            .iter()
            .map(|channel| {
                let variables: Vec<usize> =
                    channel.flows.iter().filter_map(|flow| column_of[*flow]).collect();
                SumRow { variables, low: channel.low / self.scale, high: channel.high / self.scale }
            })
            .filter(|row| !row.variables.is_empty() && row.high.is_finite())
            .collect();
        if LinearProgram::cells(used.len(), rows.len()) > MAX_CELLS {
            return Ok(None);
        }
        let upper: Vec<f64> = used.iter().map(|flow| self.flows[*flow].most / self.scale).collect();
        match LinearProgram::solve(&upper, &rows, work) {
            Some(program) => Ok(Some(FlowProgram { program, column_of, scale: self.scale })),
            None if *work == 0 => Ok(None),
            None => Err(Unexplained),
        }
    }

    /// The flows from an adapter to others that `is_meant` takes.
    pub fn flows_of(&self, from: PortId, is_meant: impl Fn(PortId) -> bool) -> Vec<usize> {
        let own = self.flows.iter().enumerate().filter(|(_, flow)| flow.from == from && is_meant(flow.to));
        own.map(|(at, _)| at).collect()
    }

    /// The limits of a sum of flows, each flow by itself.
    pub fn sum_limits(&self, flows: &[usize]) -> FlowLimits {
        let sum = |of: fn(&ModelFlow) -> f64| flows.iter().map(|flow| of(&self.flows[*flow])).sum();
        FlowLimits { least: sum(|flow| flow.least), most: sum(|flow| flow.most) }
    }

    /// The channel that carried least of those that all these flows go over.
    pub fn narrowest_channel(&self, flows: &[usize]) -> Option<(PortId, f64)> {
        let of_all =
            self.channels.iter().filter(|channel| flows.iter().all(|flow| channel.flows.contains(flow)));
        let least = of_all.min_by(|a, b| a.high.total_cmp(&b.high));
        least.map(|channel| (channel.port, channel.high))
    }
}

/// No rates of flows explain what the channels carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unexplained;

/// The least and the most of a sum of flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct FlowLimits {
    pub least: f64,
    pub most: f64,
}

/// A model as a linear program.
#[derive(Clone, Debug)]
pub(super) struct FlowProgram {
    program: LinearProgram,
    column_of: Vec<Option<usize>>,
    scale: f64,
}

impl FlowProgram {
    /// The limits of a sum of flows over all channels, no wider than `known`.
    pub fn sum_limits(&mut self, flows: &[usize], known: FlowLimits, work: &mut usize) -> FlowLimits {
        let columns: Vec<usize> = flows.iter().filter_map(|flow| self.column_of[*flow]).collect();
        // Rounding must not make a limit narrower than it is.
        let margin = 1e-6;
        let least = self.program.least(&columns, work).map_or(0.0, |least| (least - margin) * self.scale);
        let most =
            self.program.most(&columns, work).map_or(f64::INFINITY, |most| (most + margin) * self.scale);
        FlowLimits { least: known.least.max(least), most: known.most.min(most) }
    }
}

/// The part of a path to an adapter that received nothing: packets lie in buffers before the first channel that carried
/// none, and are no more than these can hold.
fn stuck_path(rates: &ChannelRates<'_>, mut path: Vec<PortId>) -> (Vec<PortId>, f64) {
    path.truncate(path.iter().take_while(|port| rates.sent_rate(**port) > 0.0).count());
    let most = path.iter().map(|port| rates.buffered_rate(*port)).sum();
    (path, most)
}

/// The ports by which packets leave the adapter and each switch on the path; empty without a path.
fn path(rates: &ChannelRates<'_>, from: PortId, to: PortId, lid: Lid) -> Option<Vec<PortId>> {
    let mut ports = vec![from];
    let mut switch = rates.switch_at(from);
    for _ in 0..MAX_HOPS {
        let Some(at) = switch else { break };
        if !rates.tables.is_entry_known(at, lid) {
            return None;
        }
        let Some(port) = rates.egress(at, lid) else { break };
        ports.push(port);
        if rates.fabric.peer(port) == Some(to) {
            return Some(ports);
        }
        switch = rates.switch_at(port);
    }
    Some(Vec::new())
}
