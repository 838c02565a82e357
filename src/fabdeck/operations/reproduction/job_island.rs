//! Fabrics and placements of jobs of the dissertation, chapter 5.

use super::headline_run::HeadlineStop;
use fabdeck_fabric::{Fabric, FabricBuilder, Guid, JobMap, Lid, NodeFacts, NodeKind, PortId, PortNum};
use fabdeck_routing::Problem;
use fabdeck_simulator::SimulatorRng;

const LEAVES: usize = 10;
const HOSTS: usize = 180;
const HOSTS_PER_LEAF: usize = HOSTS / LEAVES;

/// The tree of figure 5.2 with its three jobs: this number of spines, with this number of cables from each leaf. By the seed
/// nodes have other GUIDs and LIDs, so that an engine comes to destinations in another order; 0: as they are counted.
pub fn figure_5_2(shape: (usize, usize), seed: u64) -> Result<(Fabric, JobMap), HeadlineStop> {
    build_island(shape, seed).ok_or_else(|| HeadlineStop::Failed("figure 5.2 has no fabric".to_owned()))
}

fn build_island((spines, cables): (usize, usize), seed: u64) -> Option<(Fabric, JobMap)> {
    let mut rng = SimulatorRng::new(seed);
    let mut drawn = |count: usize| {
        let mut all: Vec<u64> = (0..count as u64).collect();
        for last in (1..count).rev().filter(|_| seed > 0) {
            all.swap(last, rng.draw_below(last as u64 + 1) as usize);
        }
        all
    };
    let (switch_guids, host_guids, lids) = (drawn(LEAVES + spines), drawn(HOSTS), drawn(HOSTS));
    let mut builder = FabricBuilder::new();
    let mut switches = Vec::new();
    for (at, guid) in switch_guids.iter().enumerate() {
        let key =
            builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1 + guid), 36, format!("s{at}"))).ok()?;
        builder.port(key, PortNum(0)).lid = Lid::new(1000 + at as u32);
        switches.push(key);
    }
    for leaf in 0..LEAVES {
        for up in 0..spines * cables {
            let down = leaf * cables + up % cables;
            let (low, high) = (*switches.get(leaf)?, *switches.get(LEAVES + up / cables)?);
            let ends = [PortNum(19 + up as u8), PortNum(1 + down as u8)];
            builder.connect((low, ends[0]), (high, ends[1])).ok()?;
        }
    }
    for (host, (guid, lid)) in host_guids.iter().zip(&lids).enumerate() {
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(0x1000 + guid), 1, format!("{}", host + 1));
        let key = builder.add_node(facts).ok()?;
        builder.port(key, PortNum(1)).lid = Lid::new(1 + *lid as u32);
        let leaf = (*switches.get(host / HOSTS_PER_LEAF)?, PortNum(1 + (host % HOSTS_PER_LEAF) as u8));
        builder.connect((key, PortNum(1)), leaf).ok()?;
    }
    let fabric = builder.finish();
    let mut jobs = JobMap::default();
    for (guid, host) in host_guids.iter().zip(1..) {
        let job = match host {
            1..=30 | 91..=120 => "j1",
            31..=60 | 151..=180 => "j2",
            _ => "j3",
        };
        let node = fabric.node_by_guid(Guid(0x1000 + guid))?;
        jobs.add(job, fabric.port_of(node, PortNum(1))?);
    }
    Some((fabric, jobs))
}

/// The ports of the hosts of each leaf switch that has some.
fn hosts_of_leaves(problem: &Problem<'_>) -> Vec<Vec<PortId>> {
    let ports = |switch| problem.graph.terminals_of(switch).iter().map(|end| end.port).collect();
    problem.switches().map(ports).filter(|leaf: &Vec<PortId>| !leaf.is_empty()).collect()
}

/// Drawn leaf switches, at most `count`.
fn draw_leaves(all: &[Vec<PortId>], count: usize, rng: &mut SimulatorRng) -> Vec<Vec<PortId>> {
    let mut leaves = all.to_vec();
    draw_first(&mut leaves, count, rng);
    leaves.truncate(count);
    leaves
}

/// Drawn places for the job of 5.3.2.3: 200 hosts on 15 leaf switches, at least one on each.
pub fn placements(problem: &Problem<'_>, seed: u64) -> impl Iterator<Item = JobMap> {
    const JOB_LEAVES: usize = 15;
    const JOB_HOSTS: usize = 200;
    let all = hosts_of_leaves(problem);
    let mut rng = SimulatorRng::new(seed);
    std::iter::repeat_with(move || {
        let mut leaves = draw_leaves(&all, JOB_LEAVES, &mut rng);
        let (mut jobs, mut rest) = (JobMap::default(), Vec::new());
        for leaf in &mut leaves {
            draw_first(leaf, 1, &mut rng);
            leaf.iter().take(1).for_each(|port| jobs.add("200", *port));
            rest.extend(leaf.iter().skip(1).copied());
        }
        draw_first(&mut rest, JOB_HOSTS - JOB_LEAVES, &mut rng);
        rest.iter().take(JOB_HOSTS - JOB_LEAVES).for_each(|port| jobs.add("200", *port));
        jobs
    })
}

/// A job that is looked at, and the jobs beside it.
#[derive(Clone, Debug)]
pub struct JobsOnLeaves {
    pub job: Vec<PortId>,
    pub others: Vec<Vec<PortId>>,
}

impl JobsOnLeaves {
    /// The jobs by name, for `sar`.
    pub fn map(&self) -> JobMap {
        let mut jobs = JobMap::default();
        self.job.iter().for_each(|port| jobs.add("job", *port));
        for (at, other) in self.others.iter().enumerate() {
            other.iter().for_each(|port| jobs.add(&format!("other{at}"), *port));
        }
        jobs
    }
}

/// Drawn places for figure 5.12: 28 hosts on ten leaf switches, the other hosts of these in jobs of 20 hosts.
pub fn jobs_on_leaves(problem: &Problem<'_>, seed: u64) -> impl Iterator<Item = JobsOnLeaves> {
    const JOB_LEAVES: usize = 10;
    const JOB_HOSTS: usize = 28;
    const OTHER_HOSTS: usize = 20;
    let all = hosts_of_leaves(problem);
    let mut rng = SimulatorRng::new(seed);
    std::iter::repeat_with(move || {
        let leaves = draw_leaves(&all, JOB_LEAVES, &mut rng);
        let mut hosts: Vec<PortId> = leaves.concat();
        draw_first(&mut hosts, usize::MAX, &mut rng);
        let mut job = hosts.split_off(hosts.len().saturating_sub(JOB_HOSTS));
        job.sort_unstable();
        let others = hosts.chunks(OTHER_HOSTS).filter(|other| other.len() > 1);
        JobsOnLeaves { job, others: others.map(<[PortId]>::to_vec).collect() }
    })
}

/// Moves drawn elements to the first `count` places.
fn draw_first<T>(all: &mut [T], count: usize, rng: &mut SimulatorRng) {
    for at in 0..count.min(all.len()) {
        let other = at + rng.draw_below((all.len() - at) as u64) as usize;
        all.swap(at, other);
    }
}
