//! What the trees so far put on channels, and what a path over a channel weighs for that.

use super::flat_graph::FlatGraph;

/// Beside what the paths over channels weigh a hop decides.
pub const STRICT_HOP: u64 = 1 << 48;

/// Weight of a hop where detours are allowed, in 512ths of the busiest channel's load.
pub const SOFT_HOP: u64 = 160;

/// To these powers load is weighed, pass by pass: the higher, the more the busiest channels count beside all others.
pub const LOAD_POWERS: [u32; 4] = [2, 4, 3, 4];

/// What channels carry, and what that weighs.
#[derive(Debug)]
pub struct WeightedLoad {
    pub weight: Vec<u64>,
    /// What a hop weighs more.
    pub hop: u64,
    paths: Vec<u64>,
    unit: u64,
    power: u32,
}

impl WeightedLoad {
    pub fn new(net: &FlatGraph, least: u64) -> Self {
        let nothing = vec![0; net.channel_count()];
        // Before anything is known of the busiest channel.
        let unit = least.max(1) * 4;
        Self {
            weight: vec![1; net.channel_count()],
            hop: STRICT_HOP,
            paths: nothing,
            unit,
            power: LOAD_POWERS[0],
        }
    }

    fn weight_of(&self, paths: u64) -> u64 {
        1 + (paths * 512 / self.unit).min(1023).pow(self.power)
    }

    pub fn change_load(&mut self, channel: u32, paths: u64, add: bool) {
        let at = channel as usize;
        self.paths[at] = if add { self.paths[at] + paths } else { self.paths[at] - paths };
        self.weight[at] = self.weight_of(self.paths[at]);
    }

    pub fn reweigh(&mut self, power: u32) {
        self.unit = self.max_load().max(1);
        self.power = power;
        for at in 0..self.paths.len() {
            self.weight[at] = self.weight_of(self.paths[at]);
        }
    }

    pub fn max_load(&self) -> u64 {
        self.paths.iter().copied().max().unwrap_or(0)
    }

    pub fn total_load(&self) -> u64 {
        self.paths.iter().sum()
    }
}
