//! A tree while it is drawn: switches, links and hosts, then what happens to them in operation.

use super::super::plan::{Host, Plan};
use super::super::rng::Rng;
use super::Scale;

/// A range of a draw, both ends included.
pub(super) type Range = (u32, u32);

pub(super) struct Site {
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

impl Site {
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

    pub fn between(&mut self, (low, high): Range) -> u32 {
        low + self.rng.below((high.max(low) - low + 1) as usize) as u32
    }

    /// A number from the range of the tree's scale.
    pub fn sized(&mut self, small: Range, large: Range) -> u32 {
        let (low, high) = match self.scale {
            Scale::Small => small,
            Scale::Large => large,
        };
        match self.halved {
            true => self.between((low.div_ceil(2), high.div_ceil(2))),
            false => self.between((low, high)),
        }
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.rng.below(100) < percent
    }

    pub fn one_of(&mut self, switches: &[u32]) -> u32 {
        switches[self.rng.below(switches.len())]
    }

    /// `count` switches called `{prefix}{number}`.
    pub fn row(&mut self, prefix: &str, count: u32, level: u8) -> Vec<u32> {
        let (first, own) = (self.switches.len() as u32, self.prefix);
        self.switches.extend((0..count).map(|number| (format!("{own}{prefix}{number}"), level)));
        (first..first + count).collect()
    }

    /// Adds parallel links between two switches.
    pub fn trunk(&mut self, a: u32, b: u32, links: u32) {
        self.links.extend((0..links).map(|_| (a, b)));
    }

    /// Adds parallel links from each lower to each upper switch.
    pub fn join_all(&mut self, lower: &[u32], upper: &[u32], links: u32) {
        for low in lower {
            upper.iter().for_each(|high| self.trunk(*low, *high, links));
        }
    }

    /// A number of uplinks from each lower switch, dealt out over the upper ones in turn, beginning anywhere.
    pub fn deal(&mut self, lower: &[u32], upper: &[u32], uplinks: Range) {
        let mut turn = self.rng.below(upper.len());
        for low in lower {
            for _ in 0..self.between(uplinks) {
                self.links.push((*low, upper[turn % upper.len()]));
                turn += 1;
            }
        }
    }

    /// A number of hosts on each switch.
    pub fn populate(&mut self, switches: &[u32], each: Range) {
        for switch in switches {
            let count = self.between(each);
            self.hosts.extend((0..count).map(|_| (*switch, None)));
        }
    }

    /// A host with a port on each of two switches.
    pub fn host_on_both(&mut self, one: u32, other: u32) {
        self.hosts.push((one, Some(other)));
    }

    pub fn switches(&self) -> usize {
        self.switches.len()
    }

    /// The switches of the highest level among those from `first` on.
    pub fn tops(&self, first: usize) -> Vec<u32> {
        let top = self.switches[first..].iter().map(|(_, level)| *level).max();
        self.with(|switch, level| switch >= first && Some(level) == top)
    }

    /// The switches of the lowest level among those from `first` on.
    pub fn bottom(&self, first: usize) -> Vec<u32> {
        let bottom = self.switches[first..].iter().map(|(_, level)| *level).min();
        self.with(|switch, level| switch >= first && Some(level) == bottom)
    }

    fn with(&self, chosen: impl Fn(usize, u8) -> bool) -> Vec<u32> {
        let switches = self.switches.iter().enumerate();
        switches.filter(|(at, (_, level))| chosen(*at, *level)).map(|(at, _)| at as u32).collect()
    }

    /// What happens to a fabric in operation; returns it in words.
    pub fn accidents(&mut self) -> String {
        let mut said = String::new();
        if self.chance(30) {
            let emptied = self.empty_leaves();
            if emptied > 0 {
                said += &format!("; {emptied} leaves without hosts");
            }
        }
        if self.chance(25) {
            let above = self.with(|_, level| level > 0);
            let count = self.between((1, 3));
            let chosen: Vec<u32> = (0..count).map(|_| self.one_of(&above)).collect();
            self.populate(&chosen, (1, 3));
            said += "; hosts on upper levels";
        }
        if self.chance(25) {
            let bottom = self.bottom(0);
            for _ in 0..self.between((1, 3)) {
                let (a, b) = (self.one_of(&bottom), self.one_of(&bottom));
                let links = self.between((1, 4));
                self.trunk(a, b, if a == b { 0 } else { links });
            }
            said += "; leaf-to-leaf links";
        }
        let share = if self.chance(45) { self.between((1, 6)) as usize } else { 0 };
        let missing = self.lose_links(share);
        if missing > 0 {
            said += &format!("; {missing} links missing");
        }
        said
    }

    /// Takes the hosts from a part of the leaves; two of those that had hosts keep them.
    fn empty_leaves(&mut self) -> usize {
        let with_one_port = self.hosts.iter().filter(|(_, second)| second.is_none());
        let mut populated: Vec<u32> = with_one_port.map(|(switch, _)| *switch).collect();
        populated.sort_unstable();
        populated.dedup();
        let share = self.between((10, 30)) as usize;
        let wanted = (populated.len() * share / 100).min(populated.len().saturating_sub(2));
        let order = self.rng.order(populated.len());
        let emptied: Vec<u32> = order.iter().take(wanted).map(|at| populated[*at as usize]).collect();
        self.hosts.retain(|(switch, second)| second.is_some() || !emptied.contains(switch));
        wanted
    }

    /// Removes a share of the links, but none that holds the fabric together; joins what was never joined.
    fn lose_links(&mut self, percent: usize) -> usize {
        let total = self.links.len();
        let order = self.rng.order(total);
        let (lost, held) = order.split_at((total * percent).div_ceil(100));
        let mut parts = Parts((0..self.switches.len() as u32).collect());
        let mut stays = vec![false; total];
        for at in held {
            let (a, b) = self.links[*at as usize];
            parts.join(a, b);
            stays[*at as usize] = true;
        }
        for at in lost {
            let (a, b) = self.links[*at as usize];
            stays[*at as usize] = parts.join(a, b);
        }
        let mut at = 0;
        self.links.retain(|_| {
            at += 1;
            stays[at - 1]
        });
        let missing = total - self.links.len();
        let top = self.tops(0).first().copied().unwrap_or(0);
        for switch in 0..self.switches.len() as u32 {
            if parts.join(switch, top) {
                self.links.push((switch, top));
            }
        }
        missing
    }

    /// Writes the tree into the plan, in seven of ten cases with switches, hosts and cables in no order.
    pub fn finish(mut self, plan: &mut Plan) {
        let shuffled = self.chance(70);
        let mut order = |count: usize| match shuffled {
            true => self.rng.order(count),
            false => (0..count as u32).collect(),
        };
        let (places, cables) = (order(self.switches.len()), order(self.links.len()));
        let hosts = order(self.hosts.len());
        let mut number = vec![0; places.len()];
        for place in places {
            let (name, level) = std::mem::take(&mut self.switches[place as usize]);
            number[place as usize] = plan.switch(name, level);
        }
        if plan.hosts_by_fabric() {
            for at in hosts {
                let (switch, second) = self.hosts[at as usize];
                let name = format!("node{} HCA-1", plan.hosts.len());
                let second = second.map(|second| number[second as usize]);
                plan.hosts.push(Host { name, switch: number[switch as usize], second });
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
            plan.link(number[a as usize], number[b as usize]);
        }
    }
}

/// Union-find over switches.
struct Parts(Vec<u32>);

impl Parts {
    fn root(&mut self, mut switch: u32) -> u32 {
        while self.0[switch as usize] != switch {
            let above = self.0[self.0[switch as usize] as usize];
            self.0[switch as usize] = above;
            switch = above;
        }
        switch
    }

    /// Whether the two were apart.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a as usize] = b;
        a != b
    }
}
