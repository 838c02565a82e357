//! `sssp`: shortest paths in hops, balanced over the whole fabric (dissertation 3.3.2, algorithm 3.1). Destinations go
//! one after the other, those behind a switch together, by LID there; each takes the tree that is lightest by the paths
//! of all before it. Paths that end at a switch follow the weights and add none, as what adapters send is what is
//! balanced. No promise about deadlocks. The order of the switches is ours (see `spread`), the paper leaves it open.

use rayon::prelude::*;

use super::balance::{Among, Balance};
use super::descent::{Descent, Neighbours};
use super::engine::{Answer, Pulse, Refusal, Request};
use super::problem::{Destination, Problem};
use crate::fabric::{NO_PATH, Routes};

/// So many columns are kept before they are written out, row by row.
const COLUMNS: usize = 64;

pub fn route(problem: &Problem<'_>, _: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    balanced(problem, Among::All, pulse).map(Answer::from)
}

/// Every switch sends as many paths to a LID as it has adapters.
pub(super) fn senders(problem: &Problem<'_>) -> Vec<u32> {
    problem.switches().map(|switch| problem.graph.terminals_of(switch).len() as u32).collect()
}

pub(super) fn balanced(problem: &Problem<'_>, among: Among, pulse: &dyn Pulse) -> Result<Routes, Refusal> {
    let net = Neighbours::new(&problem.graph);
    let ports: Vec<u8> = problem.graph.channels().iter().map(|channel| channel.from_port.value()).collect();
    let senders = senders(problem);
    let mut balance = Balance::new(&net, among);
    let mut routes = problem.no_routes();
    let blocks = blocks(problem);
    let (mut now, mut done) = (Block::default(), Block::default());
    let mut ahead = Block::default();
    ahead.descend(problem, &net, blocks.first().map_or(&[], Vec::as_slice));
    let total = problem.destinations().len();
    let mut routed = 0;
    // Trees depend on one another and grow in one thread; another searches ahead and writes out what is done.
    for at in 0..blocks.len() {
        if pulse.cancelled() {
            return Err(Refusal::Cancelled);
        }
        std::mem::swap(&mut now, &mut ahead);
        let next = blocks.get(at + 1).map_or(&[][..], Vec::as_slice);
        rayon::join(
            || now.grow(problem, &mut balance, &senders, &ports),
            || {
                done.write(&mut routes);
                ahead.descend(problem, &net, next);
            },
        );
        routed += now.ends.len();
        pulse.step(routed, total);
        std::mem::swap(&mut now, &mut done);
    }
    done.write(&mut routes);
    Ok(routes)
}

/// Switches with destinations, in groups of about `COLUMNS` destinations.
fn blocks(problem: &Problem<'_>) -> Vec<Vec<u32>> {
    let mut blocks = Vec::new();
    let mut block = Vec::new();
    let mut columns = 0;
    for switch in spread(problem.graph.switch_count() as u32) {
        let more = problem.behind(switch).len();
        if more == 0 {
            continue;
        }
        if columns > 0 && columns + more > COLUMNS {
            blocks.push(std::mem::take(&mut block));
            columns = 0;
        }
        block.push(switch);
        columns += more;
    }
    if !block.is_empty() {
        blocks.push(block);
    }
    blocks
}

/// Every switch once, in steps of the golden ratio: neighbours in the order of GUIDs are mostly neighbours in the fabric,
/// and destinations side by side would fill the channels of their corner while weights elsewhere say nothing yet.
fn spread(switches: u32) -> impl Iterator<Item = u32> {
    let common = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (f64::from(switches) * 0.618) as u32;
    let step = (golden.max(1)..=switches).find(|step| common(*step, switches) == 1).unwrap_or(1);
    (0..u64::from(switches)).map(move |at| (at * u64::from(step) % u64::from(switches)) as u32)
}

/// A few destination switches with what is behind them: a column of ports for each LID.
#[derive(Debug, Default)]
struct Block {
    switches: Vec<u32>,
    descents: Vec<Descent>,
    ends: Vec<Destination>,
    /// Column after column, a byte for each switch.
    columns: Vec<u8>,
}

impl Block {
    fn descend(&mut self, problem: &Problem<'_>, net: &Neighbours, switches: &[u32]) {
        self.switches.clear();
        self.switches.extend_from_slice(switches);
        self.descents.resize_with(self.descents.len().max(switches.len()), Descent::default);
        self.ends.clear();
        for (descent, switch) in self.descents.iter_mut().zip(switches) {
            descent.build(net, *switch);
            self.ends.extend_from_slice(problem.behind(*switch));
        }
        self.columns.clear();
        self.columns.resize(self.ends.len() * net.switch_count(), NO_PATH);
    }

    fn grow(&mut self, problem: &Problem<'_>, balance: &mut Balance, senders: &[u32], ports: &[u8]) {
        let height = senders.len();
        let mut columns = self.columns.chunks_exact_mut(height.max(1));
        for (descent, switch) in self.descents.iter().zip(&self.switches) {
            for (end, column) in problem.behind(*switch).iter().zip(&mut columns) {
                let taken = balance.grow(descent);
                for (taken, from) in taken.iter().zip(descent.order()).skip(1) {
                    column[*from as usize] = ports[taken.channel as usize];
                }
                column[*switch as usize] = end.port.value();
                if !end.is_switch() {
                    balance.load(descent, senders);
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
        let rows = routes.bytes_mut().par_chunks_exact_mut(stride);
        rows.with_min_len(64).enumerate().for_each(|(switch, row)| {
            for (end, column) in self.ends.iter().zip(self.columns.chunks_exact(height)) {
                row[end.lid.index()] = column[switch];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_has_every_switch_once() {
        for count in [0, 1, 2, 3, 5, 8, 54, 125, 1000] {
            let mut all: Vec<u32> = spread(count).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(spread(8).take(4).collect::<Vec<_>>(), [0, 5, 2, 7]);
    }
}
