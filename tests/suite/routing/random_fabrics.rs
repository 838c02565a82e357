//! Random small fabrics as lists that can be cut down: what every promise of an engine is tried on.

use fabdeck_fabric::{
    ElementId, Fabric, FabricBuilder, Faults, Guid, Lid, Lmc, NodeFacts, NodeId, NodeKind, PortNum,
};

use super::certificate::Dice;

#[derive(Clone, Debug)]
pub struct Cable {
    pub ends: [u32; 2],
    /// Marked as failed, not taken out.
    pub failed: bool,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub at: u32,
    pub aggregation: bool,
}

/// Switches by number, which is their GUID and stays theirs whatever is taken away.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// What it began as.
    pub name: String,
    pub switches: Vec<u32>,
    pub cables: Vec<Cable>,
    pub hosts: Vec<Host>,
    /// Switches that are marked as failed.
    pub failed: Vec<u32>,
    pub lmc: u8,
    /// Switches whose ports have fewer lanes, with how many.
    pub narrow: Vec<(u32, u8)>,
    /// The top of a tree; empty for what is none.
    pub tops: Vec<u32>,
    /// Nothing is missing or marked.
    pub whole: bool,
}

/// The sketch of a seed. Trees alone, or every kind.
pub fn sketch(seed: u64, trees: bool) -> Sketch {
    let dice = &mut Dice(seed);
    let mut sketch = if trees { tree(dice) } else { any(dice, seed) };
    if dice.below(8) == 0 {
        let other = if trees { tree(dice) } else { any(dice, seed + 1) };
        sketch.beside(&other);
    }
    if dice.below(3) == 0 {
        let twins = dice.below(6);
        for _ in 0..twins.min(sketch.cables.len()) {
            sketch.cables.push(sketch.cables[dice.below(sketch.cables.len())].clone());
        }
    }
    if dice.below(3) == 0 {
        let all = sketch.switches.iter();
        sketch.hosts.extend(all.map(|at| Host { at: *at, aggregation: true }));
    }
    sketch.lmc = u8::from(dice.below(8) == 0);
    if dice.below(4) > 0 {
        sketch.damage(dice);
    }
    if dice.below(4) == 0 && !sketch.switches.is_empty() {
        let at = sketch.switches[dice.below(sketch.switches.len())];
        sketch.narrow.push((at, 1 + dice.below(4) as u8));
    }
    sketch
}

fn tree(dice: &mut Dice) -> Sketch {
    let mut at_most = |most: usize| 1 + dice.below(most);
    let name = match at_most(5) {
        1 => format!("kary,k={},n=2", 1 + at_most(4)),
        2 => format!("kary,k={},n=3", 1 + at_most(2)),
        3 => format!("xgft,m={}x{},w=1x{}", at_most(3), 1 + at_most(5), at_most(4)),
        4 => format!(
            "xgft,m={}x{}x{},w=1x{}x{}",
            at_most(2),
            1 + at_most(2),
            1 + at_most(2),
            at_most(2),
            at_most(3)
        ),
        _ => format!("gft2,n={},m={},r={}", at_most(3), at_most(4), 1 + at_most(5)),
    };
    Sketch::of(&name, true)
}

fn any(dice: &mut Dice, seed: u64) -> Sketch {
    let name = match dice.below(8) {
        0 => return tree(dice),
        1 => format!("torus,dims={},terminals=1", 3 + dice.below(6)),
        2 => format!("torus,dims={}x{},terminals=2", 2 + dice.below(3), 2 + dice.below(4)),
        3 => format!("torus,dims={}x2x3,terminals=1", 2 + dice.below(2)),
        4 => format!("kautz,d=2,k={},terminals=1", 2 + dice.below(2)),
        5 => format!("dragonfly,a={},p=1,h=2,g={}", 2 + dice.below(3), 3 + dice.below(3)),
        _ => {
            let switches = 4 + dice.below(16);
            let links = (switches + dice.below(2 * switches)).min(switches * (switches - 1) / 2);
            let terminals = dice.below(3);
            format!("random,switches={switches},links={links},terminals={terminals},seed={seed}")
        }
    };
    Sketch::of(&name, false)
}

impl Sketch {
    fn of(name: &str, tree: bool) -> Self {
        let fabric = super::fabric(name);
        let number = |id: NodeId| id.0 + 1;
        let mut sketch = Self { name: name.to_owned(), whole: true, ..Self::default() };
        sketch.switches.extend(fabric.switches().map(|(id, _)| number(id)));
        for (_, link) in fabric.links() {
            let [a, b] = [link.a, link.b].map(|port| fabric.port(port).node);
            match [a, b].map(|id| fabric.node(id).is_switch()) {
                [true, true] => {
                    sketch.cables.push(Cable { ends: [number(a), number(b)], failed: false });
                }
                [true, false] => sketch.hosts.push(Host { at: number(a), aggregation: false }),
                [false, true] => sketch.hosts.push(Host { at: number(b), aggregation: false }),
                [false, false] => {}
            }
        }
        if tree {
            sketch.tops = sketch.farthest_from_hosts();
        }
        sketch
    }

    fn farthest_from_hosts(&self) -> Vec<u32> {
        let mut seen: Vec<u32> = self.switches.clone();
        seen.retain(|at| self.hosts.iter().any(|host| host.at == *at));
        let mut front = seen.clone();
        loop {
            let next = |at: &u32| {
                let to = |[a, b]: [u32; 2]| if a == *at { Some(b) } else { (b == *at).then_some(a) };
                self.cables.iter().filter_map(|cable| to(cable.ends)).collect::<Vec<_>>()
            };
            let mut beyond: Vec<u32> = front.iter().flat_map(next).collect();
            beyond.retain(|at| !seen.contains(at));
            beyond.sort_unstable();
            beyond.dedup();
            if beyond.is_empty() {
                return front;
            }
            seen.extend(&beyond);
            front = beyond;
        }
    }

    /// A second fabric that no cable joins to this one.
    fn beside(&mut self, other: &Self) {
        let first = self.switches.iter().max().copied().unwrap_or(0);
        self.name = format!("{} and {}", self.name, other.name);
        self.switches.extend(other.switches.iter().map(|at| first + at));
        let cables = other.cables.iter().map(|cable| cable.ends.map(|end| first + end));
        self.cables.extend(cables.map(|ends| Cable { ends, failed: false }));
        let hosts = other.hosts.iter().map(|host| first + host.at);
        self.hosts.extend(hosts.map(|at| Host { at, aggregation: false }));
        self.tops.extend(other.tops.iter().map(|at| first + at));
        self.whole = false;
    }

    /// Holes, cables that are gone, and marks.
    fn damage(&mut self, dice: &mut Dice) {
        self.whole = false;
        for _ in 0..dice.below(3).min(self.switches.len().saturating_sub(4)) {
            *self = self.without_switch(dice.below(self.switches.len()));
        }
        let percent = [0, 5, 15, 35][dice.below(4)];
        self.cables.retain(|_| dice.below(100) >= percent);
        for cable in &mut self.cables {
            cable.failed = dice.below(100) < percent / 2;
        }
        if dice.below(4) == 0 {
            self.failed.push(self.switches[dice.below(self.switches.len())]);
        }
    }

    fn without_switch(&self, place: usize) -> Self {
        let mut less = self.clone();
        let gone = less.switches.remove(place);
        less.cables.retain(|cable| !cable.ends.contains(&gone));
        less.hosts.retain(|host| host.at != gone);
        less.failed.retain(|at| *at != gone);
        less.narrow.retain(|(at, _)| *at != gone);
        less.tops.retain(|at| *at != gone);
        less
    }

    /// Two switches made one, so that a ring becomes a smaller ring.
    fn drawn_together(&self, [stays, gone]: [u32; 2]) -> Self {
        let mut less = self.clone();
        less.hosts.retain(|host| host.at != gone);
        for end in less.cables.iter_mut().flat_map(|cable| &mut cable.ends).filter(|end| **end == gone) {
            *end = stays;
        }
        less.cables.retain(|cable| cable.ends[0] != cable.ends[1]);
        let place = less.switches.iter().position(|at| *at == gone);
        place.map_or(less.clone(), |place| less.without_switch(place))
    }

    /// Everything that is one step smaller, the greatest steps first.
    fn smaller(&self) -> Vec<Self> {
        let mut all: Vec<Self> = (0..self.switches.len()).map(|place| self.without_switch(place)).collect();
        all.extend(self.cables.iter().map(|cable| self.drawn_together(cable.ends)));
        let mut but = |change: &dyn Fn(&mut Self)| {
            let mut less = self.clone();
            change(&mut less);
            all.push(less);
        };
        for place in 0..self.cables.len() {
            but(&|less| {
                less.cables.remove(place);
            });
        }
        for place in 0..self.hosts.len() {
            but(&|less| {
                less.hosts.remove(place);
            });
        }
        for place in (0..self.cables.len()).filter(|place| self.cables[*place].failed) {
            but(&|less| less.cables[place].failed = false);
        }
        if !self.failed.is_empty() {
            but(&|less| less.failed.clear());
        }
        if !self.narrow.is_empty() {
            but(&|less| less.narrow.clear());
        }
        if self.lmc > 0 {
            but(&|less| less.lmc = 0);
        }
        all.iter_mut().for_each(|less| less.whole = false);
        all
    }

    /// The smallest that fails as well, as far as single steps lead.
    pub fn shrink(mut self, fails: impl Fn(&Self) -> bool) -> Self {
        while let Some(less) = self.smaller().into_iter().find(&fails) {
            self = less;
        }
        self
    }

    pub fn build(&self) -> (Fabric, Faults) {
        let mut builder = FabricBuilder::new();
        let mut taken = vec![0u8; self.switches.len()];
        let switch = |at: &u32| NodeFacts::new(NodeKind::Switch, Guid(u64::from(*at)), 64, format!("n{at}"));
        let keys: Vec<_> = self.switches.iter().map(|at| builder.add_node(switch(at)).unwrap()).collect();
        let place_of = |at: u32| self.switches.iter().position(|number| *number == at);
        let port = |at: u32, taken: &mut [u8]| {
            let place = place_of(at).unwrap();
            taken[place] += 1;
            (keys[place], PortNum(taken[place]))
        };
        for cable in &self.cables {
            let [a, b] = cable.ends.map(|end| port(end, &mut taken));
            builder.connect(a, b).unwrap();
        }
        for (place, key) in keys.iter().enumerate() {
            builder.port(*key, PortNum(0)).lid = Lid::new(place as u32 + 1);
        }
        for (key, lanes) in self.narrow.iter().filter_map(|(at, lanes)| Some((place_of(*at)?, *lanes))) {
            for number in 1..=taken[key] {
                builder.port(keys[key], PortNum(number)).operational_lanes = Some(lanes);
            }
        }
        let first = (keys.len() as u32 + 1).next_multiple_of(2);
        for (place, host) in self.hosts.iter().enumerate() {
            let name = if host.aggregation { "Mellanox Technologies Aggregation Node" } else { "host" };
            let guid = Guid(0x1000 + place as u64);
            let key = builder.add_node(NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, name)).unwrap();
            let facts = builder.port(key, PortNum(1));
            facts.lid = Lid::new(first + ((place as u32) << self.lmc));
            facts.lmc = Lmc::new(self.lmc.into()).unwrap();
            builder.connect((key, PortNum(1)), port(host.at, &mut taken)).unwrap();
        }
        let fabric = builder.finish();
        let faults = self.faults(&fabric);
        (fabric, faults)
    }

    fn faults(&self, fabric: &Fabric) -> Faults {
        let mut faults = Faults::default();
        for at in &self.failed {
            faults.mark(ElementId::Node(fabric.node_by_guid(Guid(u64::from(*at))).unwrap()));
        }
        // Cables took the ports of their switches in turn.
        let mut taken = std::collections::BTreeMap::<u32, u8>::new();
        for cable in &self.cables {
            let [number, _] = cable.ends.map(|end| {
                let next = taken.entry(end).or_default();
                *next += 1;
                *next
            });
            if cable.failed {
                let node = fabric.node_by_guid(Guid(u64::from(cable.ends[0]))).unwrap();
                let port = fabric.port_of(node, PortNum(number)).unwrap();
                faults.mark(ElementId::Link(fabric.port(port).link.unwrap()));
            }
        }
        faults
    }

    /// As text that the program reads, with the marks beside it.
    pub fn text(&self) -> String {
        let (fabric, _) = self.build();
        // A fabric without nodes cannot be written, nor need it be.
        let written = fabdeck_files::ibnetdiscover::write(&fabric, None);
        let failed: Vec<[u32; 2]> =
            self.cables.iter().filter(|cable| cable.failed).map(|cable| cable.ends).collect();
        format!(
            "from {}, LMC {}, lanes {:?}, failed switches {:?}, failed cables {failed:?}\n{}",
            self.name,
            self.lmc,
            self.narrow,
            self.failed,
            written.map(|written| written.text).unwrap_or_default()
        )
    }
}
