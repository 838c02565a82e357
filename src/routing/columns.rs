//! Trees of shortest paths one after the other, and the tables that come of them: a column of ports for each destination.
//! What a tree puts on its channels is for who asks to say.

use rayon::prelude::*;

use super::balance::Balance;
use super::descent::{Descent, Neighbours};
use super::engine::{Pulse, Refusal};
use super::problem::{Destination, Problem};
use crate::fabric::{NO_PATH, Routes};

/// So many columns are kept before they are written out, row by row.
const COLUMNS: usize = 64;

/// A destination, and the switch that it is or is behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub(super) switch: u32,
    pub(super) to: Destination,
}

/// Everything behind some switches, in their order and by LID.
pub(super) fn ends<'p>(
    problem: &'p Problem<'_>,
    switches: impl Iterator<Item = u32> + 'p,
) -> impl Iterator<Item = End> + 'p {
    switches.flat_map(|switch| problem.behind(switch).iter().map(move |to| End { switch, to: *to }))
}

/// Puts the paths of the tree that was grown last on its channels, as far as they count.
pub(super) type Load<'l> = &'l mut (dyn FnMut(&mut Balance, &Descent, End) + Send);

/// Routes that grow.
pub(super) struct Columns<'p> {
    problem: &'p Problem<'p>,
    pulse: &'p dyn Pulse,
    net: Neighbours,
    /// The port of each channel.
    ports: Vec<u8>,
    routes: Routes,
    grown: usize,
}

impl<'p> Columns<'p> {
    pub(super) fn new(problem: &'p Problem<'_>, pulse: &'p dyn Pulse) -> Self {
        Self {
            problem,
            pulse,
            net: Neighbours::new(&problem.graph),
            ports: problem.graph.channels().iter().map(|channel| channel.from_port.value()).collect(),
            routes: problem.no_routes(),
            grown: 0,
        }
    }

    pub(super) fn net(&self) -> &Neighbours {
        &self.net
    }

    pub(super) fn routes(self) -> Routes {
        self.routes
    }

    /// Grows a tree for each of the ends. Trees depend on one another and grow in one thread; another searches ahead and
    /// writes out what is done.
    pub(super) fn grow(
        &mut self,
        ends: &[End],
        balance: &mut Balance,
        load: Load<'_>,
    ) -> Result<(), Refusal> {
        let blocks = blocks(ends);
        let (mut now, mut done) = (Block::default(), Block::default());
        let mut ahead = Block::default();
        ahead.descend(&self.net, blocks.first().copied().unwrap_or_default());
        let total = self.problem.destinations().len();
        for at in 0..blocks.len() {
            if self.pulse.cancelled() {
                return Err(Refusal::Cancelled);
            }
            std::mem::swap(&mut now, &mut ahead);
            let next = blocks.get(at + 1).copied().unwrap_or_default();
            let (net, ports, routes) = (&self.net, &self.ports, &mut self.routes);
            rayon::join(
                || now.grow(net, balance, load, ports),
                || {
                    done.write(routes);
                    ahead.descend(net, next);
                },
            );
            self.grown += now.ends.len();
            self.pulse.step(self.grown.min(total), total);
            std::mem::swap(&mut now, &mut done);
        }
        done.write(&mut self.routes);
        Ok(())
    }
}

/// Ends in a row, in groups of about `COLUMNS`; those of one switch that follow each other stay together.
fn blocks(ends: &[End]) -> Vec<&[End]> {
    let mut blocks = Vec::new();
    let (mut start, mut at) = (0, 0);
    for of_switch in ends.chunk_by(|a, b| a.switch == b.switch) {
        if at > start && at + of_switch.len() > start + COLUMNS {
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
struct Block {
    ends: Vec<End>,
    /// One for all ends of a switch that follow each other.
    descents: Vec<Descent>,
    /// Column after column, a byte for each switch.
    columns: Vec<u8>,
}

impl Block {
    fn descend(&mut self, net: &Neighbours, ends: &[End]) {
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

    fn grow(&mut self, net: &Neighbours, balance: &mut Balance, load: Load<'_>, ports: &[u8]) {
        let mut columns = self.columns.chunks_exact_mut(net.switch_count().max(1));
        let switches = self.ends.chunk_by(|a, b| a.switch == b.switch);
        for (descent, of_switch) in self.descents.iter().zip(switches) {
            for (end, column) in of_switch.iter().zip(&mut columns) {
                let taken = balance.grow(descent);
                for (taken, from) in taken.iter().zip(descent.order()).skip(1) {
                    column[*from as usize] = ports[taken.channel as usize];
                }
                column[end.switch as usize] = end.to.port.value();
                load(balance, descent, *end);
            }
        }
    }

    fn write(&self, routes: &mut Routes) {
        let height = routes.switch_count();
        if self.ends.is_empty() {
            return;
        }
        let stride = routes.stride();
        let rows = routes.bytes_mut().par_chunks_exact_mut(stride);
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
    use crate::fabric::{Lid, PortNum};

    #[test]
    fn ends_of_a_switch_stay_together() {
        let end =
            |switch, lid| End { switch, to: Destination { lid: Lid::new(lid).unwrap(), port: PortNum(1) } };
        let many = |switch: u32, count: u32| (1..=count).map(move |lid| end(switch, 1000 * switch + lid));
        let line: Vec<End> =
            many(1, 60).chain(many(2, 10)).chain(many(3, 54)).chain(many(4, 100)).chain(many(1, 1)).collect();
        let cut: Vec<usize> = blocks(&line).iter().map(|block| block.len()).collect();
        assert_eq!(cut, [60, 64, 100, 1]);
        assert!(blocks(&[]).is_empty());
    }
}
