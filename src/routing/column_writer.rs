//! Trees of shortest paths one after the other, and the tables that come of them: a column of ports for each destination.
//! What a tree puts on its channels is for who asks to say.

use rayon::prelude::*;

use super::balance::ChannelBalance;
use super::descent::{Descent, Neighbours};
use super::engine::{EngineRefusal, RouteProgress};
use super::problem::{Destination, Problem};
use fabdeck_fabric::{NO_PATH, Routes};

/// Columns that are buffered before they are written, row by row.
const BLOCK_COLUMNS: usize = 64;

/// Numbers that a port can have.
const PORT_NUMBERS: usize = 256;

/// A destination, and the switch that it is or is behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PlacedDestination {
    pub(super) switch: u32,
    pub(super) to: Destination,
}

/// Everything behind some switches, in their order and by LID.
pub(super) fn placed_destinations<'p>(
    problem: &'p Problem<'_>,
    switches: impl Iterator<Item = u32> + 'p,
) -> impl Iterator<Item = PlacedDestination> + 'p {
    switches.flat_map(|switch| {
        problem.destinations_behind(switch).iter().map(move |to| PlacedDestination { switch, to: *to })
    })
}

/// The source of the weights of paths.
pub(super) trait PathSenders: Send {
    /// How many paths that weigh each switch sends to a destination; `None`: no path to it weighs.
    fn senders_to(&mut self, end: PlacedDestination) -> Option<&[u32]>;

    /// The job class that sends to a destination, where job classes are balanced separately too.
    fn job_class(&self, _end: PlacedDestination) -> Option<u32> {
        None
    }
}

/// Whether ends have no tree yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GrowthPass {
    First,
    /// They have one, whose paths weigh: each is taken away and another one grows, by the weights of all others.
    Again,
}

/// Routes that grow.
pub(super) struct ColumnWriter<'p> {
    pulse: &'p dyn RouteProgress,
    net: Neighbours,
    /// The port of each channel.
    ports: Vec<u8>,
    /// Of each port of each switch, its channel.
    channel: Vec<u32>,
    routes: Routes,
    /// Trees that have grown, or were passed over, and how many there will be.
    grown: usize,
    wanted: usize,
}

impl<'p> ColumnWriter<'p> {
    pub(super) fn new(problem: &'p Problem<'_>, pulse: &'p dyn RouteProgress) -> Self {
        let channels = problem.graph.channels();
        let mut channel = vec![0; problem.graph.switch_count() * PORT_NUMBERS];
        for (at, taken) in (0..).zip(channels) {
            channel[port_of(taken.from, taken.from_port.value())] = at;
        }
        Self {
            pulse,
            net: Neighbours::new(&problem.graph),
            ports: channels.iter().map(|channel| channel.from_port.value()).collect(),
            channel,
            routes: problem.empty_routes(),
            grown: 0,
            wanted: problem.destinations().len(),
        }
    }

    pub(super) fn neighbours(&self) -> &Neighbours {
        &self.net
    }

    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Goes on with routes that it had before.
    pub(super) fn replace_routes(&mut self, routes: Routes) {
        self.routes = routes;
    }

    pub(super) fn into_routes(self) -> Routes {
        self.routes
    }

    /// Adds trees to the expected number, which is one for each destination.
    pub(super) fn add_expected(&mut self, trees: usize) {
        self.wanted += trees;
    }

    /// Counts trees that are not grown as done.
    pub(super) fn skip(&mut self, trees: usize) {
        self.grown += trees;
    }

    /// Grows a tree for each of the ends. Trees depend on one another and grow in one thread; another searches ahead and
    /// writes out what is done.
    pub(super) fn grow_trees(
        &mut self,
        ends: &[PlacedDestination],
        pass: GrowthPass,
        balance: &mut ChannelBalance,
        senders: &mut dyn PathSenders,
    ) -> Result<(), EngineRefusal> {
        let blocks = group_blocks(ends);
        let (mut now, mut done) = (ColumnBlock::default(), ColumnBlock::default());
        let mut ahead = ColumnBlock::default();
        ahead.descend(&self.net, blocks.first().copied().unwrap_or_default());
        ahead.read(&self.routes, pass);
        for at in 0..blocks.len() {
            self.pulse.check_cancelled()?;
            std::mem::swap(&mut now, &mut ahead);
            let next = blocks.get(at + 1).copied().unwrap_or_default();
            let (net, routes) = (&self.net, &mut self.routes);
            let maps = ChannelMaps { net, ports: &self.ports, channel: &self.channel };
            rayon::join(
                || now.grow(maps, pass, balance, senders),
                || {
                    done.write(routes);
                    ahead.descend(net, next);
                    ahead.read(routes, pass);
                },
            );
            self.grown += now.ends.len();
            self.pulse.report(self.grown.min(self.wanted), self.wanted);
            std::mem::swap(&mut now, &mut done);
        }
        done.write(&mut self.routes);
        Ok(())
    }
}

/// What ports lead to.
#[derive(Clone, Copy)]
struct ChannelMaps<'c> {
    net: &'c Neighbours,
    ports: &'c [u8],
    channel: &'c [u32],
}

fn port_of(switch: u32, port: u8) -> usize {
    switch as usize * PORT_NUMBERS + usize::from(port)
}

/// Ends in a row, in groups of about `COLUMNS`; those of one switch that follow each other stay together.
fn group_blocks(ends: &[PlacedDestination]) -> Vec<&[PlacedDestination]> {
    let mut blocks = Vec::new();
    let (mut start, mut at) = (0, 0);
    for of_switch in ends.chunk_by(|a, b| a.switch == b.switch) {
        if at > start && at + of_switch.len() > start + BLOCK_COLUMNS {
            blocks.push(&ends[start..at]);
            start = at;
        }
        at += of_switch.len();
    }
    if at > start {
        blocks.push(&ends[start..at]);
    }
    blocks
}

/// A column of ports for each of a few ends.
#[derive(Debug, Default)]
struct ColumnBlock {
    ends: Vec<PlacedDestination>,
    /// One for all ends of a switch that follow each other.
    descents: Vec<Descent>,
    /// Column after column, a byte for each switch.
    columns: Vec<u8>,
}

impl ColumnBlock {
    fn descend(&mut self, net: &Neighbours, ends: &[PlacedDestination]) {
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        let switches = ends.chunk_by(|a, b| a.switch == b.switch);
        for (at, of_switch) in switches.enumerate() {
            if self.descents.len() == at {
                self.descents.push(Descent::default());
            }
            self.descents[at].build(net, of_switch[0].switch);
        }
        self.columns.clear();
        self.columns.resize(ends.len() * net.switch_count(), NO_PATH);
    }

    /// Takes the trees that there are.
    fn read(&mut self, routes: &Routes, pass: GrowthPass) {
        if pass == GrowthPass::First || self.ends.is_empty() {
            return;
        }
        let height = routes.switch_count();
        for switch in 0..height {
            let row = routes.row(switch as u32);
            for (end, column) in self.ends.iter().zip(self.columns.chunks_exact_mut(height)) {
                column[switch] = row[end.to.lid.index()];
            }
        }
    }

    fn grow(
        &mut self,
        maps: ChannelMaps<'_>,
        pass: GrowthPass,
        balance: &mut ChannelBalance,
        senders: &mut dyn PathSenders,
    ) {
        let ChannelMaps { net, ports, channel } = maps;
        let mut columns = self.columns.chunks_exact_mut(net.switch_count().max(1));
        let switches = self.ends.chunk_by(|a, b| a.switch == b.switch);
        for (descent, of_switch) in self.descents.iter().zip(switches) {
            // Whose tree was grown last, if nothing weighs differently since.
            let mut stands = None;
            for (end, column) in of_switch.iter().zip(&mut columns) {
                let class = senders.job_class(*end);
                balance.select_class(class);
                let sent = senders.senders_to(*end);
                if let Some(sent) = sent.filter(|_| pass == GrowthPass::Again) {
                    let taken = |switch: u32| channel[port_of(switch, column[switch as usize])];
                    balance.unload_tree(net, descent, sent, taken);
                    stands = None;
                }
                if stands != Some(class) {
                    balance.grow_tree(descent);
                }
                stands = Some(class);
                let taken = balance.tree(descent);
                for (taken, from) in taken.iter().zip(descent.order()).skip(1) {
                    column[*from as usize] = ports[taken.channel as usize];
                }
                column[end.switch as usize] = end.to.port.value();
                if let Some(sent) = sent {
                    balance.load_tree(descent, sent);
                    stands = None;
                }
            }
        }
    }

    fn write(&self, routes: &mut Routes) {
        let height = routes.switch_count();
        if self.ends.is_empty() {
            return;
        }
        let stride = routes.stride();
        let rows = routes.entries_mut().par_chunks_exact_mut(stride);
        rows.with_min_len(64).enumerate().for_each(|(switch, row)| {
            for (end, column) in self.ends.iter().zip(self.columns.chunks_exact(height)) {
                row[end.to.lid.index()] = column[switch];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Lid, PortNum};

    #[test]
    fn ends_of_a_switch_stay_together() {
        let end = |switch, lid| PlacedDestination {
            switch,
            to: Destination { lid: Lid::new(lid).unwrap(), port: PortNum(1) },
        };
        let many = |switch: u32, count: u32| (1..=count).map(move |lid| end(switch, 1000 * switch + lid));
        let line: Vec<PlacedDestination> =
            many(1, 60).chain(many(2, 10)).chain(many(3, 54)).chain(many(4, 100)).chain(many(1, 1)).collect();
        let cut: Vec<usize> = group_blocks(&line).iter().map(|block| block.len()).collect();
        assert_eq!(cut, [60, 64, 100, 1]);
        assert!(group_blocks(&[]).is_empty());
    }
}
