//! Fabrics with mistakes in their cabling, and what each mistake has to be called.

use std::collections::{BTreeMap, BTreeSet};

use crate::routing::certificate::Dice;
use crate::routing::fabric;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::cabling::cable_end::{CableEnd, CabledDevice, in_order};
use fabdeck::operations::cabling::finding::CablingFault;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{
    Fabric, FabricBuilder, LinkSpeed, LinkWidth, NameMap, NodeId, NodeKey, PortNum, PortState,
};

/// Free ports of each switch, so that a plug has another place to be in.
const FREE_PORTS: u8 = 8;

pub type Ends = [CableEnd; 2];

/// What a mistake has to be called, with the planned cables that it is about; of an extra cable the one that is there.
pub type Expected = (CablingFault, BTreeSet<Ends>);

/// The fabric as it is planned: with some free ports, and the same rate everywhere.
pub fn planned_fabric(dice: &mut Dice) -> Fabric {
    let names = [
        "kary,k=4,n=2",
        "kary,k=3,n=3",
        "kary,k=6,n=2",
        "torus,dims=4x4,terminals=3",
        "dragonfly,a=4,p=3,h=2,g=5",
        "xgft,m=6x6,w=1x6",
        "random,switches=14,links=40,terminals=4,seed=3",
    ];
    let plain = fabric(names[dice.below(names.len())]);
    let mut builder = FabricBuilder::from_fabric(&plain);
    for (id, node) in plain.nodes() {
        if node.is_switch() {
            builder.node_mut(NodeKey::from(id)).port_count += FREE_PORTS;
        }
        for (_, port) in plain.ports_of(id).filter(|(_, port)| port.peer.is_some()) {
            let facts = builder.port(NodeKey::from(id), port.number);
            (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Hdr));
            facts.state = Some(PortState::Active);
        }
    }
    builder.finish()
}

pub fn snapshot(fabric: Fabric) -> Snapshot {
    Snapshot::new("here", Observation { fabric, ..Observation::default() }, &NameMap::default())
}

/// A fabric into which mistakes are put.
pub struct Mistaken<'f> {
    planned: &'f Fabric,
    cables: BTreeMap<CableEnd, CableEnd>,
    /// Ends of cables that a mistake is about, and devices that no further mistake may touch.
    touched: BTreeSet<CableEnd>,
    closed: BTreeSet<CabledDevice>,
    /// Right cables that run below their rate.
    slow: BTreeMap<Ends, (LinkWidth, LinkSpeed)>,
    pub expected: Vec<Expected>,
}

impl<'f> Mistaken<'f> {
    pub fn new(planned: &'f Fabric) -> Self {
        let end = |port: fabdeck_fabric::PortId| {
            let port = planned.port(port);
            CableEnd { device: CabledDevice(port.node.0), port: u16::from(port.number.value()) }
        };
        let both = |link: &fabdeck_fabric::Link| [(end(link.a), end(link.b)), (end(link.b), end(link.a))];
        Self {
            planned,
            cables: planned.links().flat_map(|(_, link)| both(link)).collect(),
            touched: BTreeSet::new(),
            closed: BTreeSet::new(),
            slow: BTreeMap::new(),
            expected: Vec::new(),
        }
    }

    fn is_switch(&self, device: CabledDevice) -> bool {
        self.planned.node(NodeId(device.0)).is_switch()
    }

    fn disconnect(&mut self, end: CableEnd) {
        if let Some(peer) = self.cables.remove(&end) {
            self.cables.remove(&peer);
        }
    }

    fn connect(&mut self, a: CableEnd, b: CableEnd) {
        assert!(self.cables.insert(a, b).is_none() && self.cables.insert(b, a).is_none(), "{a:?} {b:?}");
    }

    /// A cable of devices that no mistake has touched.
    fn fresh_cable(&self, dice: &mut Dice) -> Option<Ends> {
        let free = |(a, b): (&CableEnd, &CableEnd)| {
            let known =
                [a, b].iter().any(|end| self.closed.contains(&end.device) || self.touched.contains(end));
            (!known && a.device != b.device).then_some([*a, *b])
        };
        let all: Vec<Ends> = self.cables.iter().filter_map(free).collect();
        (!all.is_empty()).then(|| all[dice.below(all.len())])
    }

    /// A free port of a switch.
    fn free_port(&self, device: CabledDevice, dice: &mut Dice) -> Option<CableEnd> {
        let count = u16::from(self.planned.node(NodeId(device.0)).facts.port_count);
        let ends = (1..=count).map(|port| CableEnd { device, port });
        let free: Vec<CableEnd> =
            ends.filter(|end| !self.cables.contains_key(end) && !self.touched.contains(end)).collect();
        (!free.is_empty()).then(|| free[dice.below(free.len())])
    }

    fn fresh_switch(&self, dice: &mut Dice, but: &[CabledDevice]) -> Option<CabledDevice> {
        let devices = (0..self.planned.switch_count() as u32).map(CabledDevice);
        let free: Vec<CabledDevice> =
            devices.filter(|device| !self.closed.contains(device) && !but.contains(device)).collect();
        (!free.is_empty()).then(|| free[dice.below(free.len())])
    }

    fn close(&mut self, ends: &[CableEnd], devices: &[CabledDevice]) {
        self.touched.extend(ends);
        self.closed.extend(devices);
    }

    fn expect(&mut self, fault: CablingFault, cables: impl IntoIterator<Item = Ends>) {
        self.expected.push((fault, cables.into_iter().map(in_order).collect()));
    }

    /// Puts one mistake of some kind in; `false` where there is no room for it.
    pub fn make_mistake(&mut self, dice: &mut Dice) -> bool {
        match dice.below(9) {
            0 => self.swap(dice),
            1 => self.wrong_port(dice),
            2 => self.wrong_switch(dice),
            3 => self.remove(dice),
            4 => self.add(dice),
            5 => self.shift(dice),
            6 => self.rotate(dice),
            7 => self.exchange(dice),
            _ => self.slow_down(dice),
        }
        .is_some()
    }

    fn swap(&mut self, dice: &mut Dice) -> Option<()> {
        let [a, b] = self.fresh_cable(dice)?;
        self.close(&[a, b], &[a.device, b.device]);
        let [c, d] = self.fresh_cable(dice)?;
        self.close(&[c, d], &[c.device, d.device]);
        self.disconnect(a);
        self.disconnect(c);
        self.connect(a, d);
        self.connect(c, b);
        self.expect(CablingFault::Swapped, [[a, b], [c, d]]);
        Some(())
    }

    fn wrong_port(&mut self, dice: &mut Dice) -> Option<()> {
        let [far, near] = self.fresh_cable(dice).filter(|[_, near]| self.is_switch(near.device))?;
        let other = self.free_port(near.device, dice)?;
        self.close(&[far, near, other], &[near.device, far.device]);
        self.disconnect(near);
        self.connect(far, other);
        self.expect(CablingFault::WrongPort, [[far, near]]);
        Some(())
    }

    fn wrong_switch(&mut self, dice: &mut Dice) -> Option<()> {
        let [far, near] = self.fresh_cable(dice).filter(|[_, near]| self.is_switch(near.device))?;
        let switch = self.fresh_switch(dice, &[near.device, far.device])?;
        let other = self.free_port(switch, dice)?;
        self.close(&[far, near, other], &[near.device, far.device, switch]);
        self.disconnect(near);
        self.connect(far, other);
        let fault = if self.is_switch(far.device) { CablingFault::WrongPeer } else { CablingFault::OffRail };
        self.expect(fault, [[far, near]]);
        Some(())
    }

    fn remove(&mut self, dice: &mut Dice) -> Option<()> {
        let [a, b] = self.fresh_cable(dice)?;
        self.close(&[a, b], &[a.device, b.device]);
        self.disconnect(a);
        self.expect(CablingFault::Missing, [[a, b]]);
        Some(())
    }

    fn add(&mut self, dice: &mut Dice) -> Option<()> {
        let a = self.fresh_switch(dice, &[])?;
        let b = self.fresh_switch(dice, &[a])?;
        let [a, b] = [self.free_port(a, dice)?, self.free_port(b, dice)?];
        self.close(&[a, b], &[a.device, b.device]);
        self.connect(a, b);
        self.expect(CablingFault::Extra, [[a, b]]);
        Some(())
    }

    /// The cables of a row of neighbouring ports of a switch of its own.
    fn fresh_row(&self, dice: &mut Dice) -> Option<Vec<(CableEnd, CableEnd)>> {
        let device = self.fresh_switch(dice, &[])?;
        let [low, high] = [0, u16::MAX].map(|port| CableEnd { device, port });
        let row: Vec<_> = self.cables.range(low..=high).map(|(near, far)| (*near, *far)).collect();
        let is_fresh = |(_, far): &(CableEnd, CableEnd)| !self.touched.contains(far) && far.device != device;
        (row.len() >= 4 && row.iter().all(is_fresh)).then_some(row)
    }

    fn move_row(&mut self, row: &[(CableEnd, CableEnd)], to: impl Fn(usize) -> CableEnd) {
        row.iter().for_each(|(near, _)| self.disconnect(*near));
        for (at, (_, far)) in row.iter().enumerate() {
            self.connect(to(at), *far);
        }
        let ends: Vec<CableEnd> =
            row.iter().enumerate().flat_map(|(at, (near, far))| [*near, *far, to(at)]).collect();
        self.close(&ends, &[row[0].0.device]);
        self.expect(CablingFault::Shifted, row.iter().map(|(near, far)| [*near, *far]));
    }

    /// The last ports of a switch, some ports further up, where ports are free.
    fn shift(&mut self, dice: &mut Dice) -> Option<()> {
        let row = self.fresh_row(dice)?;
        let row = &row[dice.below(row.len() - 3)..];
        let by = 1 + dice.below(usize::from(FREE_PORTS) - 1) as u16;
        let up = |at: usize| CableEnd { port: row[at].0.port + by, ..row[at].0 };
        let has_room = (0..row.len()).all(|at| {
            let there = up(at);
            row.iter().any(|(near, _)| *near == there) || !self.cables.contains_key(&there)
        });
        let count = u16::from(self.planned.node(NodeId(row[0].0.device.0)).facts.port_count);
        (has_room && up(row.len() - 1).port <= count).then(|| self.move_row(row, up))
    }

    /// Neighbouring ports, each at the next one, and the last one at the first.
    fn rotate(&mut self, dice: &mut Dice) -> Option<()> {
        let row = self.fresh_row(dice)?;
        let from = dice.below(row.len() - 3);
        let row = &row[from..from + 4 + dice.below(row.len() - from - 3)];
        self.move_row(row, |at| row[(at + 1) % row.len()].0);
        Some(())
    }

    /// Two switches with their cables, each in the place of the other one.
    fn exchange(&mut self, dice: &mut Dice) -> Option<()> {
        let a = self.fresh_switch(dice, &[])?;
        let b = self.fresh_switch(dice, &[a])?;
        let own: Vec<Ends> = self
            .cables
            .iter()
            .filter(|(end, _)| [a, b].contains(&end.device))
            .map(|(x, y)| in_order([*x, *y]))
            .collect();
        let rename = |end: CableEnd| match end.device {
            device if device == a => CableEnd { device: b, ..end },
            device if device == b => CableEnd { device: a, ..end },
            _ => end,
        };
        let own: BTreeSet<Ends> = own.into_iter().collect();
        if own.iter().flatten().any(|end| self.touched.contains(end)) {
            return None;
        }
        let renamed: BTreeSet<Ends> = own.iter().map(|ends| in_order(ends.map(rename))).collect();
        let wrong: Vec<Ends> = own.difference(&renamed).copied().collect();
        // Both have cables that differ, and enough to be a whole.
        let of = |device| wrong.iter().filter(|ends| ends.iter().any(|end| end.device == device)).count();
        if of(a) < 3 || of(b) < 3 {
            return None;
        }
        own.iter().for_each(|[end, _]| self.disconnect(*end));
        renamed.iter().for_each(|[x, y]| self.connect(*x, *y));
        let ends: Vec<CableEnd> = own.iter().chain(&renamed).flatten().copied().collect();
        self.close(&ends, &[a, b]);
        self.expect(CablingFault::Exchanged, wrong);
        Some(())
    }

    fn slow_down(&mut self, dice: &mut Dice) -> Option<()> {
        let [a, b] = self.fresh_cable(dice)?;
        self.close(&[a, b], &[a.device, b.device]);
        let (rate, fault) = match dice.below(2) {
            0 => ((LinkWidth::X1, LinkSpeed::Hdr), CablingFault::Narrower),
            _ => ((LinkWidth::X4, LinkSpeed::Edr), CablingFault::Slower),
        };
        self.slow.insert(in_order([a, b]), rate);
        // Alike ones may be one finding: the rates of one set differ.
        if self.expected.iter().any(|(known, _)| *known == fault) {
            self.slow.remove(&in_order([a, b]));
            return None;
        }
        self.expect(fault, [[a, b]]);
        Some(())
    }

    /// The fabric with the mistakes in it.
    pub fn fabric(&self) -> Fabric {
        let mut builder = FabricBuilder::from_fabric(self.planned);
        let key = |end: CableEnd| (NodeKey::from(NodeId(end.device.0)), PortNum(end.port as u8));
        for (_, link) in self.planned.links() {
            let port = self.planned.port(link.a);
            builder.disconnect(NodeKey::from(port.node), port.number);
        }
        for (a, b) in self.cables.iter().filter(|(a, b)| a < b) {
            let rate = self.slow.get(&[*a, *b]).copied().unwrap_or((LinkWidth::X4, LinkSpeed::Hdr));
            for (node, number) in [key(*a), key(*b)] {
                let facts = builder.port(node, number);
                (facts.width, facts.speed) = (Some(rate.0), Some(rate.1));
                facts.state = Some(PortState::Active);
            }
            builder.connect(key(*a), key(*b)).unwrap();
        }
        builder.finish()
    }
}
