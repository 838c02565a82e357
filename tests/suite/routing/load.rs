//! Loads of channels, by walking every path between adapters once: for fabrics that are too large for the naive judge.

use fabdeck_fabric::Routes;
use fabdeck_routing::Problem;

const NONE: u32 = u32::MAX;

pub struct Traffic<'p> {
    problem: &'p Problem<'p>,
    routes: &'p Routes,
    /// The channel behind each port of each switch.
    channel: Vec<[u32; 256]>,
    /// Paths over the busiest channel, adapter to adapter.
    pub busiest: u64,
    /// Ordered pairs of adapters without a path, of different switches.
    pub lost: u64,
}

impl<'p> Traffic<'p> {
    pub fn new(problem: &'p Problem<'p>, routes: &'p Routes) -> Self {
        let mut channel = vec![[NONE; 256]; problem.graph.switch_count()];
        for (id, at) in problem.graph.channels().iter().enumerate() {
            channel[at.from as usize][usize::from(at.from_port.value())] = id as u32;
        }
        let mut traffic = Self { problem, routes, channel, busiest: 0, lost: 0 };
        traffic.count();
        traffic
    }

    fn walk(&self, from: u32, to: u32, lid: fabdeck_fabric::Lid, mut each: impl FnMut(u32)) -> bool {
        let mut at = from;
        for _ in 0..64 {
            if at == to {
                return true;
            }
            let Some(port) = self.routes.get(at, lid) else { return false };
            let channel = self.channel[at as usize][usize::from(port.value())];
            if channel == NONE {
                return false;
            }
            each(channel);
            at = self.problem.graph.channels()[channel as usize].to;
        }
        false
    }

    fn count(&mut self) {
        let mut load = vec![0u64; self.problem.graph.channels().len()];
        let mut lost = 0;
        for from in self.problem.switches() {
            let senders = self.problem.graph.terminals_of(from).len() as u64;
            for to in self.problem.switches().filter(|to| *to != from && senders > 0) {
                for end in self.problem.destinations_behind(to).iter().filter(|end| !end.is_switch()) {
                    if !self.walk(from, to, end.lid, |channel| load[channel as usize] += senders) {
                        lost += senders;
                    }
                }
            }
        }
        (self.busiest, self.lost) = (load.into_iter().max().unwrap_or(0), lost);
    }

    /// The most flows of one step of a shift that any channel carries; adapters are counted through as they lie.
    pub fn worst_shift(&self) -> u32 {
        let hosts: Vec<(u32, fabdeck_fabric::Lid)> = self
            .problem
            .switches()
            .flat_map(|at| {
                self.problem
                    .destinations_behind(at)
                    .iter()
                    .filter(|end| !end.is_switch())
                    .map(move |end| (at, end.lid))
            })
            .collect();
        let mut worst = 0;
        for shift in 1..hosts.len() {
            let mut flows = vec![0u32; self.problem.graph.channels().len()];
            for (at, (from, _)) in hosts.iter().enumerate() {
                let (to, lid) = hosts[(at + shift) % hosts.len()];
                assert!(self.walk(*from, to, lid, |channel| flows[channel as usize] += 1));
            }
            worst = worst.max(flows.into_iter().max().unwrap_or(0));
        }
        worst
    }
}
