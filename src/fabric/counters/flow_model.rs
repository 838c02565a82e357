//! What each adapter can have sent to each other one, from all channels and tables together.
//!
//! The rates of single flows are unknown; that of each channel is counted, and the forwarding tables say which flows it
//! carried. So the flows of each channel add up to its rate, within a tolerance:
//!
//! - Ports are read one after the other. Between two readings a channel carries at most what its link can: the time to
//!   read all ports, as a fraction of the interval, times the link's bandwidth.
//! - An input buffer holds at most 2,048 credits of 64 bytes for a lane (IBA 7.9.4.4): that much can have left one
//!   channel in the interval and not the next.
//! - What went into a switch and did not come out of it, or the reverse, was in its buffers, or shows how far apart its
//!   ports were read. The largest such difference counts for every channel.
//! - Packets that switches discarded were on the first channels of their paths only.

use super::channel_rates::ChannelRates;
use super::contributors::MAX_HOPS;
use super::linear_bounds::{LinearProgram, SumRow};
use crate::{Lid, PortId};

/// 2,048 credits of 64 bytes.
const BUFFER_BYTES: f64 = 131_072.0;

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
}

/// A channel: the flows over it, and the least and the greatest sum of their rates.
#[derive(Clone, Debug)]
struct ChannelSum {
    port: PortId,
    low: f64,
    high: f64,
    flows: Vec<usize>,
}

/// The flows of an interval with what all channels say of them. Rates are in bytes per second.
#[derive(Clone, Debug)]
pub(super) struct FlowModel {
    pub flows: Vec<ModelFlow>,
    channels: Vec<ChannelSum>,
    /// What no channel distinguishes from nothing.
    pub tolerance: f64,
    scale: f64,
}

impl FlowModel {
    /// The model of an interval. `None`: there are too many flows, a table on a path is not known, a flow has no limit,
    /// or the channels contradict the tables.
    pub fn new(rates: &ChannelRates<'_>) -> Option<Self> {
        let tolerance = common_tolerance(rates);
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for (node, _) in rates.fabric.nodes().filter(|(_, node)| !node.is_switch()) {
            for (port, facts) in rates.fabric.ports_of(node).filter(|(_, port)| port.peer.is_some()) {
                if rates.sent_rate(port) > 0.0 {
                    sources.push(port);
                }
                if rates.received_rate(port) > 0.0 && facts.facts.lid.is_some() {
                    destinations.push(port);
                }
            }
        }
        if sources.len().saturating_mul(destinations.len()) > MAX_FLOWS {
            return None;
        }
        let mut model = Self { flows: Vec::new(), channels: Vec::new(), tolerance, scale: 1.0 };
        model.add_flows(rates, &sources, &destinations)?;
        let known = model.channels.iter().map(|channel| channel.high).filter(|high| high.is_finite());
        model.scale = known.fold(1.0, f64::max);
        model.propagate().then_some(model)
    }

    fn add_flows(
        &mut self,
        rates: &ChannelRates<'_>,
        sources: &[PortId],
        destinations: &[PortId],
    ) -> Option<()> {
        let mut place_of: Vec<Option<usize>> = vec![None; rates.fabric.ports().len()];
        let mut steps = 0;
        for from in sources {
            // A source without a destination still has a channel that has to be explained.
            self.channel(rates, *from, &mut place_of);
            for to in destinations.iter().filter(|to| *to != from) {
                for lid in rates.lids(*to) {
                    let path = path(rates, *from, *to, lid)?;
                    steps += path.len();
                    if steps > MAX_PATH_STEPS {
                        return None;
                    }
                    if path.is_empty() {
                        continue;
                    }
                    let flow = self.flows.len();
                    let mut most = f64::INFINITY;
                    for port in path {
                        let place = self.channel(rates, port, &mut place_of);
                        most = most.min(self.channels[place].high);
                        self.channels[place].flows.push(flow);
                    }
                    if !most.is_finite() {
                        return None;
                    }
                    self.flows.push(ModelFlow { from: *from, to: *to, least: 0.0, most });
                }
            }
        }
        Some(())
    }

    fn channel(&mut self, rates: &ChannelRates<'_>, port: PortId, place_of: &mut [Option<usize>]) -> usize {
        if let Some(place) = place_of[port.index()] {
            return place;
        }
        let slack = self.slack(rates, port);
        let rate = rates.sent_rate(port);
        let is_first = !rates.fabric.node(rates.fabric.port(port).node).is_switch();
        let lost = if is_first { 0.0 } else { rates.lost };
        // A channel whose rate is not known limits nothing.
        let is_known = rate.is_finite() && slack.is_finite();
        let (low, high) =
            if is_known { ((rate - slack).max(0.0), rate + slack + lost) } else { (0.0, f64::INFINITY) };
        place_of[port.index()] = Some(self.channels.len());
        self.channels.push(ChannelSum { port, low, high, flows: Vec::new() });
        self.channels.len() - 1
    }

    /// How far the counted rate of a channel can be from the sum of its flows.
    pub fn slack(&self, rates: &ChannelRates<'_>, port: PortId) -> f64 {
        let Some(counted) = rates.rates.port(port) else { return f64::INFINITY };
        let link = counted.capacity.unwrap_or(f64::INFINITY);
        let skewed = if rates.rates.skew > 0.0 { rates.rates.skew * link } else { 0.0 };
        self.tolerance + skewed + BUFFER_BYTES / counted.seconds
    }

    /// The ports whose channels have flows.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        self.channels.iter().map(|channel| channel.port)
    }

    /// Leaves out the flows for which `is_possible` is false. Returns whether the channels can still be explained.
    pub fn restrict(&mut self, is_possible: impl Fn(&ModelFlow) -> bool) -> bool {
        for flow in self.flows.iter_mut().filter(|flow| !is_possible(flow)) {
            flow.most = 0.0;
            if flow.least > 0.0 {
                return false;
            }
        }
        self.propagate()
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

/// The largest difference between what went into a switch and what came out of it, of switches whose ports all count.
fn common_tolerance(rates: &ChannelRates<'_>) -> f64 {
    let mut largest: f64 = 0.0;
    for (switch, _) in rates.fabric.switches() {
        let (mut entered, mut left) = (0.0, 0.0);
        for (port, facts) in rates.fabric.ports_of(switch) {
            let Some(peer) = facts.peer else { continue };
            entered += rates.sent_rate(peer);
            left += rates.sent_rate(port);
        }
        let difference = f64::abs(entered - left) - rates.lost;
        if difference.is_finite() {
            largest = largest.max(difference);
        }
    }
    largest
}
