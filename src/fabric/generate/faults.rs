//! Faults by seed: switches and links that have failed, without cutting anything off unless that is asked for.
//!
//! - A failed switch takes its links, its hosts and its aggregation node along. Where some switches have no hosts
//!   only those fail, so that no host is lost; where all have hosts (tori, dragonflies, ...) any may.
//! - Links between switches fail, host cables do not. A share counts from the links of the whole fabric.
//! - Candidates come in an order drawn from the seed; one whose loss would disconnect the rest is passed over.

use super::error::GenerateError;
use super::plan::FabricPlan;
use super::rng::{Rng, RngStream};
use super::spec::FabricSpec;

pub struct Failures {
    pub switches: Vec<bool>,
    pub cables: Vec<bool>,
}

pub fn choose_failures(spec: &FabricSpec, plan: &FabricPlan) -> Result<Failures, GenerateError> {
    let mut failures =
        Failures { switches: vec![false; plan.switches.len()], cables: vec![false; plan.cables.len()] };
    fail_switches(spec, plan, &mut failures)?;
    fail_links(spec, plan, &mut failures)?;
    Ok(failures)
}

fn fail_switches(spec: &FabricSpec, plan: &FabricPlan, failures: &mut Failures) -> Result<(), GenerateError> {
    const KEY: (&str, &str) = ("switch-faults", "switches");
    let (amount, disconnect) = (spec.options.switch_faults, spec.options.disconnect);
    let total = plan.switches.len();
    let wanted = amount.resolve(total);
    if wanted == 0 {
        return Ok(());
    }
    let mut spared = vec![false; total];
    if !disconnect {
        for host in &plan.hosts {
            spared[host.switch as usize] = true;
            host.second.iter().for_each(|second| spared[*second as usize] = true);
        }
        if spared.iter().all(|has_hosts| *has_hosts) {
            spared.fill(false);
        }
    }
    let pairs: Vec<(u32, u32)> = plan.cables.iter().map(|cable| (cable.a, cable.b)).collect();
    let mut survivors = Survivors::new(total, &pairs);
    let mut failed = 0;
    for switch in Rng::new(spec.seed(), RngStream::SwitchFaults).shuffled(total) {
        if failed == wanted {
            break;
        }
        if disconnect || (!spared[switch as usize] && failed + 1 < total && survivors.can_remove(switch)) {
            survivors.remove(switch);
            failed += 1;
        }
    }
    failures.switches = survivors.lost;
    check_count(KEY, amount.to_string(), wanted, failed, total, disconnect)
}

/// Passing over a link that would disconnect, in a given order, is the reverse-delete algorithm: it keeps exactly the
/// spanning tree that Kruskal's algorithm builds when it takes the links in the opposite order. One pass of
/// union-find thus says of every link whether it could ever go, and the first ones that can are the ones that fail.
fn fail_links(spec: &FabricSpec, plan: &FabricPlan, failures: &mut Failures) -> Result<(), GenerateError> {
    const KEY: (&str, &str) = ("faults", "links between switches");
    let (amount, disconnect) = (spec.options.faults, spec.options.disconnect);
    let total = plan.cables.len();
    let wanted = amount.resolve(total);
    if wanted == 0 {
        return Ok(());
    }
    let alive = |cable: &u32| {
        let cable = &plan.cables[*cable as usize];
        !failures.switches[cable.a as usize] && !failures.switches[cable.b as usize]
    };
    let mut order = Rng::new(spec.seed(), RngStream::LinkFaults).shuffled(total);
    order.retain(alive);
    let mut parts = UnionFind::new(plan.switches.len());
    let mut needed = vec![false; order.len()];
    if !disconnect {
        for (needed, cable) in needed.iter_mut().zip(&order).rev() {
            let cable = &plan.cables[*cable as usize];
            *needed = parts.unite(cable.a, cable.b);
        }
    }
    let can_fail = order.iter().zip(&needed).filter(|(_, needed)| !**needed).map(|(cable, _)| *cable);
    let mut failed = 0;
    for cable in can_fail.take(wanted) {
        failures.cables[cable as usize] = true;
        failed += 1;
    }
    check_count(KEY, amount.to_string(), wanted, failed, total, disconnect)
}

fn check_count(
    (key, what): (&'static str, &'static str),
    asked: String,
    wanted: usize,
    failed: usize,
    total: usize,
    disconnect: bool,
) -> Result<(), GenerateError> {
    if failed == wanted {
        return Ok(());
    }
    Err(match disconnect || wanted > total {
        true => GenerateError::TooManyFaults { key, what, asked, total },
        false => GenerateError::WouldDisconnect { key, what, asked, possible: failed, total },
    })
}

/// The switches that are left, for the question whether they stay connected without one more.
pub(super) struct Survivors {
    neighbours: Vec<u32>,
    first: Vec<u32>,
    pub(super) lost: Vec<bool>,
    /// The search in which a switch was last seen, and last sought.
    seen: Vec<u32>,
    sought: Vec<u32>,
    search: u32,
    queue: Vec<u32>,
}

impl Survivors {
    /// From the switches at the ends of each cable.
    pub(super) fn new(switches: usize, cables: &[(u32, u32)]) -> Self {
        let mut first = vec![0u32; switches + 1];
        for (a, b) in cables {
            first[*a as usize + 1] += 1;
            first[*b as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut neighbours = vec![0; cables.len() * 2];
        for (a, b) in cables {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let slot = &mut next[from as usize];
                neighbours[*slot as usize] = to;
                *slot += 1;
            }
        }
        Self {
            neighbours,
            first,
            lost: vec![false; switches],
            seen: vec![0; switches],
            sought: vec![0; switches],
            search: 0,
            queue: Vec::new(),
        }
    }

    pub(super) fn remove(&mut self, switch: u32) {
        self.lost[switch as usize] = true;
    }

    /// Whether the neighbours of a switch reach one another without it. In a well-linked fabric they do so nearby, so
    /// the search ends long before it has seen everything.
    pub(super) fn can_remove(&mut self, switch: u32) -> bool {
        self.search += 1;
        self.queue.clear();
        let mut missing = 0;
        for at in self.neighbour_range(switch) {
            let neighbour = self.neighbours[at];
            if !self.lost[neighbour as usize] && self.sought[neighbour as usize] != self.search {
                self.sought[neighbour as usize] = self.search;
                missing += 1;
                if missing == 1 {
                    self.queue.push(neighbour);
                }
            }
        }
        self.seen[switch as usize] = self.search;
        self.queue.iter().for_each(|start| self.seen[*start as usize] = self.search);
        missing = missing.max(1) - 1;
        let mut done = 0;
        while missing > 0 && done < self.queue.len() {
            let from = self.queue[done];
            done += 1;
            for at in self.neighbour_range(from) {
                let to = self.neighbours[at] as usize;
                if self.lost[to] || self.seen[to] == self.search {
                    continue;
                }
                self.seen[to] = self.search;
                missing -= usize::from(self.sought[to] == self.search);
                self.queue.push(to as u32);
            }
        }
        missing == 0
    }

    fn neighbour_range(&self, switch: u32) -> std::ops::Range<usize> {
        self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize
    }
}

/// Union-find with path halving.
pub(super) struct UnionFind(Vec<u32>);

impl UnionFind {
    pub(super) fn new(switches: usize) -> Self {
        Self((0..switches as u32).collect())
    }

    fn find_root(&mut self, mut switch: u32) -> u32 {
        while self.0[switch as usize] != switch {
            let above = self.0[self.0[switch as usize] as usize];
            self.0[switch as usize] = above;
            switch = above;
        }
        switch
    }

    /// Joins the parts of two switches; false when it was one part already.
    pub(super) fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.0[a as usize] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::assemble::plan;

    fn setup(text: &str) -> (FabricSpec, FabricPlan) {
        let spec: FabricSpec = text.parse().unwrap();
        let plan = plan(&spec).unwrap();
        (spec, plan)
    }

    fn connected(plan: &FabricPlan, gone: &[bool]) -> bool {
        let mut parts = UnionFind::new(plan.switches.len());
        let kept = plan.cables.iter().zip(gone).filter(|(_, gone)| !**gone);
        let joined = kept.filter(|(cable, _)| parts.unite(cable.a, cable.b)).count();
        joined + 1 == plan.switches.len()
    }

    /// What the pass of union-find replaces: one search per link.
    fn one_by_one(spec: &FabricSpec, plan: &FabricPlan) -> Vec<bool> {
        let mut gone = vec![false; plan.cables.len()];
        let mut left = spec.options.faults.resolve(gone.len());
        for cable in Rng::new(spec.seed(), RngStream::LinkFaults).shuffled(gone.len()) {
            gone[cable as usize] = left > 0;
            match connected(plan, &gone) {
                true if left > 0 => left -= 1,
                _ => gone[cable as usize] = false,
            }
        }
        gone
    }

    #[test]
    fn the_links_that_fail_are_those_of_trying_one_by_one() {
        for text in [
            "mesh,dims=4x4,redundancy=1,faults=9",
            "mesh,dims=3x3,redundancy=1,faults=4,seed=3",
            "kary,k=3,n=3,faults=30%",
            "random,switches=12,links=20,faults=9,seed=5",
        ] {
            let (spec, plan) = setup(text);
            assert_eq!(choose_failures(&spec, &plan).unwrap().cables, one_by_one(&spec, &plan), "{text}");
        }
    }

    #[test]
    fn as_many_links_fail_as_a_tree_can_spare() {
        let (spec, plan) = setup("mesh,dims=4x4,redundancy=1,faults=9");
        assert!(connected(&plan, &choose_failures(&spec, &plan).unwrap().cables));
        let (spec, plan) = setup("mesh,dims=4x4,redundancy=1,faults=10");
        let error = choose_failures(&spec, &plan).err().unwrap();
        assert!(error.to_string().contains("only 9 of 24"), "{error}");
        let (spec, plan) = setup("mesh,dims=4x4,redundancy=1,faults=24,disconnect=yes");
        assert!(choose_failures(&spec, &plan).unwrap().cables.iter().all(|gone| *gone));
        let (spec, plan) = setup("mesh,dims=4x4,redundancy=1,faults=25,disconnect=yes");
        assert_eq!(choose_failures(&spec, &plan).err().unwrap().code(), "FD-3011");
    }

    #[test]
    fn a_switch_that_holds_parts_together_does_not_fail() {
        // A row of five: only its ends can go, one after the other.
        let (spec, plan) = setup("mesh,dims=5,redundancy=1,switch-faults=3");
        let failed = choose_failures(&spec, &plan).unwrap().switches;
        assert_eq!(failed.iter().filter(|failed| **failed).count(), 3);
        assert!(failed.windows(3).all(|three| three != [false, true, false]), "{failed:?}");
    }

    #[test]
    fn switches_with_hosts_are_spared_where_others_can_fail() {
        let (spec, plan) = setup("switch648,switch-faults=17");
        let failed = choose_failures(&spec, &plan).unwrap().switches;
        assert!(failed[..36].iter().all(|failed| !failed));
        let (spec, plan) = setup("switch648,switch-faults=18");
        let error = choose_failures(&spec, &plan).err().unwrap();
        assert_eq!(error.code(), "FD-3010");
        assert!(error.to_string().contains("only 17 of 54 switches"), "{error}");
    }
}
