//! Fat-trees: XGFT (and with it k-ary n-trees and T(n+m, r)) and the m-port n-tree.

use super::plan::{FabricPlan, MlidAddressing};

/// The switches of an extended generalized fat-tree, level by level from the bottom.
///
/// A switch of level i (from 1) is (a_h .. a_i+1, b_i .. b_1): which subtree it lies in, and which of the subtree's
/// copies it is. Its number within the level is A * W_i + B, with A and B those digits read as numbers.
pub struct FatTreeSwitches {
    pub levels: Vec<Vec<u32>>,
    m: Vec<u32>,
    w: Vec<u32>,
}

impl FatTreeSwitches {
    /// Adds the switches; `m` and `w` are from the bottom up, `m[0]` and `w[0]` concern the hosts. The names stand
    /// in `names`, bottom first.
    pub fn new(plan: &mut FabricPlan, m: &[u32], w: &[u32], names: &[String], bottom: u8) -> Self {
        let mut levels = Vec::with_capacity(m.len());
        for (level, name) in names.iter().enumerate().take(m.len()) {
            let subtrees: u32 = m.iter().skip(level + 1).product();
            let copies: u32 = w.iter().take(level + 1).product();
            levels.push(plan.add_row(name, subtrees * copies, bottom + level as u8));
        }
        Self { levels, m: m.to_vec(), w: w.to_vec() }
    }

    /// Adds the links, level by level: a switch is linked to the parents that share its remaining digits.
    pub fn link(&self, plan: &mut FabricPlan) {
        let mut copies: u32 = self.w.first().copied().unwrap_or(1);
        for (level, pair) in self.levels.windows(2).enumerate() {
            let [lower, upper] = pair else { continue };
            let (children, parents) = (self.m[level + 1], self.w[level + 1]);
            for (number, switch) in lower.iter().enumerate() {
                let (a, b) = (number as u32 / copies, number as u32 % copies);
                for parent in 0..parents {
                    let above = (a / children) * copies * parents + parent * copies + b;
                    plan.add_link(*switch, upper[above as usize]);
                }
            }
            copies *= parents;
        }
    }

    pub fn leaves(&self) -> &[u32] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }
}

/// `leaf`, `mid` or `mid1-`, `mid2-` ..., `spine`.
pub fn level_names(levels: usize) -> Vec<String> {
    let name = |level: usize| match level {
        0 => "leaf".to_owned(),
        last if last + 1 == levels => "spine".to_owned(),
        _ if levels == 3 => "mid".to_owned(),
        middle => format!("mid{middle}-"),
    };
    (0..levels).map(name).collect()
}

/// An XGFT with hosts (dissertation 3.2.2).
pub fn xgft(plan: &mut FabricPlan, m: &[u32], w: &[u32]) {
    let tree = FatTreeSwitches::new(plan, m, w, &level_names(m.len()), 0);
    plan.spread_hosts(tree.leaves());
    tree.link(plan);
}

/// A k-ary n-tree (dissertation 3.2.2): the XGFT with k children and k parents throughout.
pub fn kary(plan: &mut FabricPlan, k: u32, n: u32) {
    let m = vec![k; n as usize];
    let mut w = m.clone();
    w[0] = 1;
    xgft(plan, &m, &w);
}

/// An m-port n-tree (MLID paper, section 3), on the ports of its definition; `addressed`: with the LIDs of section 4.1.
///
/// Switch <w0 .. wn-2, l> is linked from port w'l to port wn-2 + m/2 of the switch <w', l+1> that has its digits but
/// for w'l, which is new, and wn-2, which is dropped. Level 0 is the top; a port of the paper is one less than ours.
pub fn mport(plan: &mut FabricPlan, m: u32, n: u32, addressed: bool) {
    let half = m / 2;
    let top = half.pow(n - 1);
    let names = level_names(n as usize);
    let mut levels: Vec<Vec<u32>> = Vec::with_capacity(n as usize);
    for (height, name) in names.iter().enumerate() {
        let count = if height + 1 == n as usize { top } else { 2 * top };
        levels.push(plan.add_row(name, count, height as u8));
    }
    levels.reverse();
    let leaves = levels.last().cloned().unwrap_or_default();
    plan.spread_hosts(&leaves);
    for (l, pair) in levels.windows(2).enumerate() {
        let [upper, lower] = pair else { continue };
        link_mport_levels(plan, (m, n), l as u32, upper, lower);
    }
    if addressed {
        number_mport_hosts(plan, (m, n), &leaves);
    }
}

fn link_mport_levels(plan: &mut FabricPlan, (m, n): (u32, u32), l: u32, upper: &[u32], lower: &[u32]) {
    let half = m / 2;
    // The digits w0 .. wn-3 of the upper switch lie before and behind the place l where the lower one has a new one.
    let behind = half.pow(n - 2 - l);
    let new_digits = if l == 0 { m } else { half };
    for (number, switch) in upper.iter().enumerate() {
        let (kept, dropped) = (number as u32 / half, number as u32 % half);
        let (front, back) = (kept / behind, kept % behind);
        for digit in 0..new_digits {
            let below = (front * new_digits + digit) * behind + back;
            plan.add_link_at((*switch, digit), (lower[below as usize], dropped + half));
        }
    }
}

/// BaseLID = 2^LMC * PID + 1, where PID numbers the processing nodes by leaf and port.
fn number_mport_hosts(plan: &mut FabricPlan, (m, n): (u32, u32), leaves: &[u32]) {
    let lmc = super::limits::mport_lmc(m, n);
    let half = m / 2;
    let first = leaves.first().copied().unwrap_or(0);
    let mut base = Vec::with_capacity(plan.hosts.len());
    let mut on_leaf = vec![0; leaves.len()];
    for host in &plan.hosts {
        let leaf = host.switch - first;
        let pid = leaf * half + on_leaf[leaf as usize];
        on_leaf[leaf as usize] += 1;
        base.push((pid << lmc) + 1);
    }
    let past = ((leaves.len() as u32 * half) << lmc) + 1;
    plan.mlid = Some(MlidAddressing { lmc, base, past });
    if lmc > 0 {
        plan.notes.push(format!(
            "LMC {lmc} and base LIDs 2^{lmc} * PID + 1 are the paper's; the low {lmc} bits of a base LID should be 0 \
             on real ports, a subnet manager would assign others"
        ));
    }
}
