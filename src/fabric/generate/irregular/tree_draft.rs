//! A tree while it is drawn: switches, links and hosts, then what happens to them in operation.

use super::super::plan::{FabricPlan, PlannedHost};
use super::super::rng::Rng;
use super::parameters::Scale;

/// A range of a draw, both ends included.
pub type DrawRange = (u32, u32);

pub struct TreeDraft {
    rng: Rng,
    scale: Scale,
    /// Parts of a mixed tree have half the size.
    pub halved: bool,
    /// Goes before the names of switches, so that the parts of a mixed tree do not share names.
    pub prefix: &'static str,
    switches: Vec<(String, u8)>,
    links: Vec<(u32, u32)>,
    /// The switch of each host, and the one behind its second port.
    hosts: Vec<(u32, Option<u32>)>,
}

impl TreeDraft {
    pub fn new(rng: Rng, scale: Scale) -> Self {
        Self {
            rng,
            scale,
            halved: false,
            prefix: "",
            switches: Vec::new(),
            links: Vec::new(),
            hosts: Vec::new(),
        }
    }

    pub fn draw_between(&mut self, (low, high): DrawRange) -> u32 {
        low + self.rng.draw_below((high.max(low) - low + 1) as usize) as u32
    }

    /// A random number from the range of the tree's scale; half of it in the parts of a mixed tree.
    pub fn draw_scaled(&mut self, small: DrawRange, large: DrawRange) -> u32 {
        let (low, high) = match self.scale {
            Scale::Small => small,
            Scale::Large => large,
        };
        match self.halved {
            true => self.draw_between((low.div_ceil(2), high.div_ceil(2))),
            false => self.draw_between((low, high)),
        }
    }

    pub fn draw_chance(&mut self, percent: usize) -> bool {
        self.rng.draw_below(100) < percent
    }

    pub fn draw_one_of(&mut self, switches: &[u32]) -> u32 {
        switches[self.rng.draw_below(switches.len())]
    }

    /// `count` switches called `{prefix}{number}`.
    pub fn add_row(&mut self, prefix: &str, count: u32, level: u8) -> Vec<u32> {
        let (first, own) = (self.switches.len() as u32, self.prefix);
        self.switches.extend((0..count).map(|number| (format!("{own}{prefix}{number}"), level)));
        (first..first + count).collect()
    }

    /// Adds parallel links between two switches.
    pub fn add_trunk(&mut self, a: u32, b: u32, links: u32) {
        self.links.extend((0..links).map(|_| (a, b)));
    }

    /// Adds parallel links from each lower to each upper switch.
    pub fn link_all(&mut self, lower: &[u32], upper: &[u32], links: u32) {
        for low in lower {
            upper.iter().for_each(|high| self.add_trunk(*low, *high, links));
        }
    }

    /// A number of uplinks from each lower switch, dealt out over the upper ones in turn, beginning anywhere.
    pub fn deal_uplinks(&mut self, lower: &[u32], upper: &[u32], uplinks: DrawRange) {
        let mut turn = self.rng.draw_below(upper.len());
        for low in lower {
            for _ in 0..self.draw_between(uplinks) {
                self.links.push((*low, upper[turn % upper.len()]));
                turn += 1;
            }
        }
    }

    /// A number of hosts on each switch.
    pub fn add_hosts(&mut self, switches: &[u32], each: DrawRange) {
        for switch in switches {
            let count = self.draw_between(each);
            self.hosts.extend((0..count).map(|_| (*switch, None)));
        }
    }

    /// A host with a port on each of two switches.
    pub fn add_dual_host(&mut self, one: u32, other: u32) {
        self.hosts.push((one, Some(other)));
    }

    pub fn switch_count(&self) -> usize {
        self.switches.len()
    }

    /// The switches of the highest level among those from `first` on.
    pub fn tops(&self, first: usize) -> Vec<u32> {
        let top = self.switches[first..].iter().map(|(_, level)| *level).max();
        self.switches_where(|switch, level| switch >= first && Some(level) == top)
    }

    /// The switches of the lowest level among those from `first` on.
    pub fn bottom(&self, first: usize) -> Vec<u32> {
        let bottom = self.switches[first..].iter().map(|(_, level)| *level).min();
        self.switches_where(|switch, level| switch >= first && Some(level) == bottom)
    }

    fn switches_where(&self, chosen: impl Fn(usize, u8) -> bool) -> Vec<u32> {
        let switches = self.switches.iter().enumerate();
        switches.filter(|(at, (_, level))| chosen(*at, *level)).map(|(at, _)| at as u32).collect()
    }

    /// What happens to a fabric in operation; returns it in words.
    pub fn apply_accidents(&mut self) -> String {
        let mut said = String::new();
        if self.draw_chance(30) {
            let emptied = self.remove_hosts();
            if emptied > 0 {
                said += &format!("; {emptied} leaves without hosts");
            }
        }
        if self.draw_chance(25) {
            let above = self.switches_where(|_, level| level > 0);
            let count = self.draw_between((1, 3));
            let chosen: Vec<u32> = (0..count).map(|_| self.draw_one_of(&above)).collect();
            self.add_hosts(&chosen, (1, 3));
            said += "; hosts on upper levels";
        }
        if self.draw_chance(25) {
            let bottom = self.bottom(0);
            for _ in 0..self.draw_between((1, 3)) {
                let (a, b) = (self.draw_one_of(&bottom), self.draw_one_of(&bottom));
                let links = self.draw_between((1, 4));
                self.add_trunk(a, b, if a == b { 0 } else { links });
            }
            said += "; leaf-to-leaf links";
        }
        let share = if self.draw_chance(45) { self.draw_between((1, 6)) as usize } else { 0 };
        let missing = self.remove_links(share);
        if missing > 0 {
            said += &format!("; {missing} links missing");
        }
        said
    }

    /// Takes the hosts from a part of the leaves; two of those that had hosts keep them.
    fn remove_hosts(&mut self) -> usize {
        let with_one_port = self.hosts.iter().filter(|(_, second)| second.is_none());
        let mut populated: Vec<u32> = with_one_port.map(|(switch, _)| *switch).collect();
        populated.sort_unstable();
        populated.dedup();
        let share = self.draw_between((10, 30)) as usize;
        let wanted = (populated.len() * share / 100).min(populated.len().saturating_sub(2));
        let order = self.rng.shuffled(populated.len());
        let emptied: Vec<u32> = order.iter().take(wanted).map(|at| populated[*at as usize]).collect();
        self.hosts.retain(|(switch, second)| second.is_some() || !emptied.contains(switch));
        wanted
    }

    /// Removes a share of the links, but none that holds the fabric together; joins what was never joined.
    fn remove_links(&mut self, percent: usize) -> usize {
        let total = self.links.len();
        let order = self.rng.shuffled(total);
        let (lost, held) = order.split_at((total * percent).div_ceil(100));
        let mut parts = UnionFind((0..self.switches.len() as u32).collect());
        let mut stays = vec![false; total];
        for at in held {
            let (a, b) = self.links[*at as usize];
            parts.unite(a, b);
            stays[*at as usize] = true;
        }
        for at in lost {
            let (a, b) = self.links[*at as usize];
            stays[*at as usize] = parts.unite(a, b);
        }
        let mut at = 0;
        self.links.retain(|_| {
            at += 1;
            stays[at - 1]
        });
        let missing = total - self.links.len();
        let top = self.tops(0).first().copied().unwrap_or(0);
        for switch in 0..self.switches.len() as u32 {
            if parts.unite(switch, top) {
                self.links.push((switch, top));
            }
        }
        missing
    }

    /// Writes the tree into the plan, in seven of ten cases with switches, hosts and cables in no order.
    pub fn write_plan(mut self, plan: &mut FabricPlan) {
        let shuffled = self.draw_chance(70);
        let mut order = |count: usize| match shuffled {
            true => self.rng.shuffled(count),
            false => (0..count as u32).collect(),
        };
        let (places, cables) = (order(self.switches.len()), order(self.links.len()));
        let hosts = order(self.hosts.len());
        let mut number = vec![0; places.len()];
        for place in places {
            let (name, level) = std::mem::take(&mut self.switches[place as usize]);
            number[place as usize] = plan.add_switch(name, level);
        }
        if plan.has_default_hosts() {
            for at in hosts {
                let (switch, second) = self.hosts[at as usize];
                let name = format!("node{} HCA-1", plan.hosts.len());
                let second = second.map(|second| number[second as usize]);
                plan.hosts.push(PlannedHost { name, switch: number[switch as usize], second });
            }
        } else {
            let mut leaves: Vec<u32> =
                self.hosts.iter().map(|(switch, _)| number[*switch as usize]).collect();
            leaves.sort_unstable();
            leaves.dedup();
            plan.spread_hosts(&leaves);
        }
        for at in cables {
            let (a, b) = self.links[at as usize];
            plan.add_link(number[a as usize], number[b as usize]);
        }
    }
}

/// Union-find over switches.
struct UnionFind(Vec<u32>);

impl UnionFind {
    fn find_root(&mut self, mut switch: u32) -> u32 {
        while self.0[switch as usize] != switch {
            let above = self.0[self.0[switch as usize] as usize];
            self.0[switch as usize] = above;
            switch = above;
        }
        switch
    }

    /// Whether the two were apart.
    fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.0[a as usize] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rng::RngStream;
    use super::*;

    #[test]
    fn the_lowest_and_highest_switches_are_those_of_the_rows_from_a_number_on() {
        let mut site = TreeDraft::new(Rng::new(1, RngStream::Topology), Scale::Small);
        let rows: Vec<Vec<u32>> =
            (0..3u8).map(|level| site.add_row("row", 2 + u32::from(level), level)).collect();
        assert_eq!((site.bottom(0), site.tops(0)), (rows[0].clone(), rows[2].clone()));
        assert_eq!((site.bottom(2), site.tops(2)), (rows[1].clone(), rows[2].clone()));
    }
}
