//! All trees, grown one after the other by what those before put on channels, then again by what all others do.

use std::sync::Arc;

use super::grow::Grower;
use super::line::Line;
use super::net::{NONE, Net};

/// A place in a table that leads nowhere.
const NOWHERE: u8 = u8::MAX;

/// All trees are grown again so many times at most, until so many times in a row nothing got better.
const PASSES: usize = 24;
const PATIENCE: usize = 6;
/// Trees, times channels, that all passes may take; once is always worth it.
const WORK: usize = 200_000_000;

/// Beside what the paths over channels weigh a hop decides.
const HOP: u64 = 1 << 44;

const SOFT: u64 = 40;

/// One tree to make: the LIDs of `lids` behind a switch, of which so many are loaded (those of terminals), each by what
/// the switches send.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Tree {
    pub switch: u32,
    pub lids: Vec<u32>,
    pub loaded: u32,
    pub senders: Arc<[u32]>,
}

/// Trees that stand, and what they put on channels.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Spread {
    pub trees: Vec<Tree>,
    /// Of each tree the place of the channel that each switch takes, and its line.
    pub table: Vec<u8>,
    pub line: Vec<u8>,
    pub busiest: u64,
    pub total: u64,
}

/// What channels carry.
pub(in crate::routing) struct Load {
    paths: Vec<u64>,
    pub weight: Vec<u64>,
    unit: u64,
    pub hop: u64,
    power: u32,
}

impl Load {
    fn weight_of(&self, paths: u64) -> u64 {
        1 + (paths * 128 / self.unit).min(255).pow(self.power)
    }

    pub fn change(&mut self, channel: u32, paths: u64, add: bool) {
        let at = channel as usize;
        self.paths[at] = if add { self.paths[at] + paths } else { self.paths[at] - paths };
        self.weight[at] = self.weight_of(self.paths[at]);
    }

    fn weigh_anew(&mut self, power: u32) {
        self.unit = self.busiest().max(1);
        self.power = power;
        for at in 0..self.paths.len() {
            self.weight[at] = self.weight_of(self.paths[at]);
        }
    }

    fn busiest(&self) -> u64 {
        self.paths.iter().copied().max().unwrap_or(0)
    }
}

impl Spread {
    pub fn new(net: &Net, trees: Vec<Tree>, lines: &[Line], mean: u64, passes: usize) -> Self {
        let mut spread = Self {
            table: vec![NOWHERE; trees.len() * net.switches()],
            line: vec![0; trees.len()],
            trees,
            busiest: 0,
            total: 0,
        };
        let mut load =
            Load { paths: vec![0; net.channels()], weight: vec![1; net.channels()], unit: mean.max(1) * 4, power: 2, hop: HOP };
        let mut grower = Grower::new(net);
        let passes = (WORK / (spread.trees.len() * net.channels()).max(1)).clamp(1, passes);
        let mut best: Option<(u64, u64, Vec<u8>)> = None;
        let mut idle = 0;
        let mut soft = false;
        for pass in 0..=passes {
            let power = [2, 5, 3, 8][pass % 4];
            if pass > 0 {
                load.weigh_anew(power);
            }
            load.hop = if soft { SOFT.pow(power) } else { HOP };
            for at in 0..spread.trees.len() {
                if pass == 0 || spread.trees[at].loaded > 0 {
                    spread.grow(net, &lines[usize::from(spread.line[at])], at, &mut grower, &mut load);
                }
            }
            let (busiest, total): (u64, u64) = (load.busiest(), load.paths.iter().sum());
            if std::env::var("DBG").is_ok() && passes > 4 { eprintln!("pass {pass} soft {soft} busiest {busiest} total {total}"); }
            if best.as_ref().is_none_or(|(least, all, _)| (busiest, total) < (*least, *all)) {
                best = Some((busiest, total, spread.table.clone()));
                idle = 0;
            } else {
                idle += 1;
            }
            if idle == PATIENCE || (!soft && pass * 2 > passes) {
                if soft {
                    break;
                }
                soft = true;
                idle = 0;
            }
        }
        if let Some((busiest, total, table)) = best {
            (spread.busiest, spread.total, spread.table) = (busiest, total, table);
        }
        spread
    }

    fn grow(&mut self, net: &Net, line: &Line, at: usize, grower: &mut Grower, load: &mut Load) {
        let tree = &self.trees[at];
        let loaded = u64::from(tree.loaded);
        let row = &mut self.table[at * net.switches()..(at + 1) * net.switches()];
        if row.iter().any(|place| *place != NOWHERE) {
            grower.take_up(net, row, tree.switch);
            grower.flows(net, &tree.senders, |channel, paths| load.change(channel, paths * loaded, false));
        }
        grower.grow(net, line, load, (&tree.senders, loaded), tree.switch);
        for (place, next) in row.iter_mut().zip(&grower.next) {
            *place = if *next == NONE { NOWHERE } else { net.place(*next) };
        }
    }
}
