//! Systems built of directors: those of the sFtree paper's Table IV, and the largest fat-tree of one subnet.
//!
//! The paper gives the numbers of switches and nodes; where it does not tell how racks are cabled to directors, the
//! cabling here deals a rack's uplinks out evenly.

use super::plan::FabricPlan;
use super::trees::{FatTreeSwitches, xgft};

/// A director of two stages: every line chip is linked to every spine chip, `each` times.
pub struct Director {
    pub lines: Vec<u32>,
    spines: Vec<u32>,
    each: u32,
    next: usize,
}

impl Director {
    /// Adds the chips; `name` goes before theirs.
    pub fn new(plan: &mut FabricPlan, name: &str, (lines, spines, each): (u32, u32, u32), level: u8) -> Self {
        let lines = plan.add_row(&format!("{name}line"), lines, level);
        let spines = plan.add_row(&format!("{name}spine"), spines, level + 1);
        Self { lines, spines, each, next: 0 }
    }

    /// The line chip for the next cable from outside: they take turns.
    pub fn next_line(&mut self) -> u32 {
        let line = self.lines[self.next % self.lines.len()];
        self.next += 1;
        line
    }

    /// Adds the links within.
    pub fn link(&self, plan: &mut FabricPlan) {
        for line in &self.lines {
            for spine in &self.spines {
                (0..self.each).for_each(|_| plan.add_link(*line, *spine));
            }
        }
    }
}

/// A 648-port director of 36-port chips.
const DIRECTOR_648: (u32, u32, u32) = (36, 18, 1);
/// Links between the two switches of a rack unit.
const HORIZONTAL: u32 = 9;

/// The 648-port fat-tree of sFtree's figure 5.
pub fn switch648(plan: &mut FabricPlan) {
    xgft(plan, &[18, 36], &[1, 18]);
}

/// Three levels of 24-port chips: 24 pods of 12 and 12, and 144 on top.
pub fn switch3456(plan: &mut FabricPlan) {
    xgft(plan, &[12, 12, 24], &[1, 12, 12]);
}

/// The fat-tree of 56-port switches: 56 pods of 28 and 28, and 784 on top. With its hosts it takes 47,824 of 49,151
/// unicast LIDs; 57 ports are no even number and 58 would need 52,983.
pub fn full_subnet(plan: &mut FabricPlan) {
    xgft(plan, &[28, 28, 56], &[1, 28, 28]);
}

/// A 648-port director with a layer of rack switches below (sFtree 7.2.3): 54 of them with 12 hosts and 12 uplinks.
pub fn racks648(plan: &mut FabricPlan) {
    let racks = plan.add_row("rack", 54, 0);
    let mut director = Director::new(plan, "", DIRECTOR_648, 1);
    plan.spread_hosts(&racks);
    for rack in &racks {
        for _ in 0..12 {
            plan.add_link(*rack, director.next_line());
        }
    }
    director.link(plan);
    join_pairs(plan, &racks);
}

/// JuRoPA-like: 432 rack switches with 12 hosts and 12 uplinks, eight 648-port directors. A unit of two rack switches
/// has three cables to each director: two from one switch and one from the other, half of the directors each way.
pub fn juropa(plan: &mut FabricPlan) {
    const DIRECTORS: usize = 8;
    let racks = plan.add_row("rack", 432, 0);
    let mut directors: Vec<Director> =
        (0..DIRECTORS).map(|number| Director::new(plan, &format!("d{number}-"), DIRECTOR_648, 1)).collect();
    plan.spread_hosts(&racks);
    for (number, rack) in racks.iter().enumerate() {
        for (place, director) in directors.iter_mut().enumerate() {
            let doubled = (place < DIRECTORS / 2) == (number % 2 == 0);
            for _ in 0..1 + u32::from(doubled) {
                plan.add_link(*rack, director.next_line());
            }
        }
    }
    directors.iter().for_each(|director| director.link(plan));
    join_pairs(plan, &racks);
}

/// Ranger-like: 384 rack switches of 24 ports with ten or eleven hosts and six uplinks to each of two directors. A
/// director has 16 line cards of 12 and 12 chips, and 144 chips on top: 528.
pub fn ranger(plan: &mut FabricPlan) {
    let racks = plan.add_row("rack", 384, 0);
    let names = |director: u32| ["line", "fabric", "spine"].map(|chip| format!("d{director}-{chip}"));
    let directors: Vec<FatTreeSwitches> = (0..2)
        .map(|number| FatTreeSwitches::new(plan, &[12, 12, 16], &[1, 12, 12], &names(number), 1))
        .collect();
    plan.spread_hosts(&racks);
    for director in &directors {
        for (number, rack) in racks.iter().enumerate() {
            for uplink in 0..6 {
                let line = (6 * number + uplink) % director.leaves().len();
                plan.add_link(*rack, director.leaves()[line]);
            }
        }
    }
    directors.iter().for_each(|director| director.link(plan));
}

/// Rack switches two by two, joined by horizontal links.
fn join_pairs(plan: &mut FabricPlan, racks: &[u32]) {
    for pair in racks.chunks_exact(2) {
        (0..HORIZONTAL).for_each(|_| plan.add_link(pair[0], pair[1]));
    }
}
