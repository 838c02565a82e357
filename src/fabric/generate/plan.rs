//! A fabric on paper: switches, cables and hosts, before ports, GUIDs and LIDs are dealt out.

use super::shape::Shape;
use super::spec::{FabricSpec, HostsOption};
use crate::{LinkSpeed, LinkWidth};

pub struct PlannedSwitch {
    pub name: String,
    /// 0 at the bottom. The highest level of a tree holds its roots.
    pub level: u8,
    pub speed: LinkSpeed,
}

pub struct PlannedCable {
    pub a: u32,
    pub b: u32,
    /// Where the definition numbers ports; else the first free ones are taken.
    pub ports: Option<(u32, u32)>,
    pub width: LinkWidth,
}

pub struct PlannedHost {
    pub name: String,
    pub switch: u32,
    /// The switch behind a second port of the adapter.
    pub second: Option<u32>,
}

pub struct FabricPlan {
    pub fabric: &'static str,
    pub switches: Vec<PlannedSwitch>,
    pub cables: Vec<PlannedCable>,
    pub hosts: Vec<PlannedHost>,
    pub redundancy: u32,
    pub radix: u32,
    /// Hosts take the first free ports from this one on.
    pub first_host_port: u32,
    pub speed: LinkSpeed,
    /// The width that was asked for.
    pub width: Option<LinkWidth>,
    /// Whether the speed was asked for: then parts of their own speed have none.
    pub speed_asked: bool,
    /// The multiple LID scheme: LMC and base LID per host, and the first LID after those of all hosts.
    pub mlid: Option<MlidAddressing>,
    pub notes: Vec<String>,
    asked: HostsOption,
    terminals: u32,
    hosts_in_all: Option<u32>,
}

pub struct MlidAddressing {
    pub lmc: u32,
    pub base: Vec<u32>,
    pub past: u32,
}

impl FabricPlan {
    pub fn new(spec: &FabricSpec) -> Self {
        let speed = spec.options.speed.unwrap_or(match spec.shape {
            Shape::Deimos => LinkSpeed::Sdr,
            Shape::Taurus => LinkSpeed::Fdr,
            Shape::Demo | Shape::FullSubnet => LinkSpeed::Hdr,
            _ => LinkSpeed::Qdr,
        });
        Self {
            fabric: spec.entry.name,
            switches: Vec::new(),
            cables: Vec::new(),
            hosts: Vec::new(),
            redundancy: spec.redundancy(),
            radix: spec.shape.radix(),
            first_host_port: 1,
            speed,
            width: spec.options.width,
            speed_asked: spec.options.speed.is_some(),
            mlid: None,
            notes: Vec::new(),
            asked: spec.options.hosts,
            terminals: spec.shape.terminals(),
            hosts_in_all: spec.shape.hosts(),
        }
    }

    pub fn add_switch(&mut self, name: impl Into<String>, level: u8) -> u32 {
        self.switches.push(PlannedSwitch { name: name.into(), level, speed: self.speed });
        self.switches.len() as u32 - 1
    }

    /// `count` switches called `{prefix}{number}`.
    pub fn add_row(&mut self, prefix: &str, count: u32, level: u8) -> Vec<u32> {
        (0..count).map(|number| self.add_switch(format!("{prefix}{number}"), level)).collect()
    }

    /// A link, as often as the redundancy asks.
    pub fn add_link(&mut self, a: u32, b: u32) {
        for _ in 0..self.redundancy {
            self.cables.push(PlannedCable { a, b, ports: None, width: LinkWidth::X4 });
        }
    }

    /// A link whose ends have a place of their own (from 0), each place as wide as the redundancy.
    pub fn add_link_at(&mut self, a: (u32, u32), b: (u32, u32)) {
        let r = self.redundancy;
        for copy in 0..r {
            let ports = Some((a.1 * r + copy + 1, b.1 * r + copy + 1));
            self.cables.push(PlannedCable { a: a.0, b: b.0, ports, width: LinkWidth::X4 });
        }
    }

    /// Whether the specification leaves the number of hosts open.
    pub fn has_default_hosts(&self) -> bool {
        self.asked == HostsOption::ByFabric
    }

    /// The number of hosts on this number of leaves.
    pub fn host_count(&self, leaves: usize) -> usize {
        match self.asked {
            HostsOption::PerSwitch(each) => each as usize * leaves,
            HostsOption::InAll(all) => all as usize,
            HostsOption::ByFabric => match self.hosts_in_all {
                Some(all) => all as usize,
                None => self.terminals as usize * leaves,
            },
        }
    }

    /// Hosts on these leaves as dissertation 3.2.1 spreads them.
    pub fn spread_hosts(&mut self, leaves: &[u32]) {
        let counts = split_evenly(self.host_count(leaves.len()), leaves.len());
        self.add_hosts(leaves, &counts);
    }

    /// Adds `counts` hosts to the leaves, called `node{number} HCA-1`.
    pub fn add_hosts(&mut self, leaves: &[u32], counts: &[usize]) {
        for (leaf, count) in leaves.iter().zip(counts) {
            for _ in 0..*count {
                let name = format!("node{} HCA-1", self.hosts.len());
                self.hosts.push(PlannedHost { name, switch: *leaf, second: None });
            }
        }
    }
}

/// `total` in `parts`: each has the floor or the ceiling of the mean, the first ones the ceiling.
pub fn split_evenly(total: usize, parts: usize) -> Vec<usize> {
    let (each, more) = match parts {
        0 => (0, 0),
        parts => (total / parts, total % parts),
    };
    (0..parts).map(|part| each + usize::from(part < more)).collect()
}

/// `total` in parts of limited room, filled evenly; what no room is left for lies on top, evenly again.
pub fn split_within(total: usize, rooms: &[usize]) -> Vec<usize> {
    let mut filled = vec![0; rooms.len()];
    let mut left = total;
    while left > 0 {
        let before = left;
        for (part, room) in filled.iter_mut().zip(rooms) {
            if left > 0 && *part < *room {
                *part += 1;
                left -= 1;
            }
        }
        if left == before {
            let over = split_evenly(left, rooms.len());
            filled.iter_mut().zip(over).for_each(|(part, more)| *part += more);
            break;
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_spread_evenly_within_their_room() {
        assert_eq!(split_evenly(10, 4), [3, 3, 2, 2]);
        assert_eq!(split_evenly(3, 0), [0; 0]);
        assert_eq!(split_within(7, &[1, 3, 9]), [1, 3, 3]);
        assert_eq!(split_within(9, &[1, 3, 3]), [2, 4, 3]);
        assert_eq!(split_within(2, &[]), [0; 0]);
    }
}
