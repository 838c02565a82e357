//! Finds the heights of switches, from the bottom of a tree to its top, on fabrics without labels.
//!
//! Several readings are tried, and judged on paths between a sample of host switches: first by how many pairs have no
//! path up, across once at most, and down that is as short as the fabric has one (a step more is allowed, where racks
//! are joined in pairs there may be a way over the other rack); then by how many switches lie at the bottom without
//! hosts (a spine that misses a leaf is nearer to the leaves than to the other spines, and still belongs above them);
//! then by how many channels lead across. The first of the best is taken.

use rayon::prelude::*;

use super::engine::{EngineRefusal, Request};
use super::problem::Problem;
use fabdeck_fabric::{Fabric, Guid, Node, NodeId, PortId, SwitchGraph};

const FAR: u32 = u32::MAX;
const ABOVE_HOSTS: &str = "ranks above the switches with hosts";
/// Host switches that a reading is judged on.
const SAMPLE: usize = 24;

#[derive(Clone, Debug)]
pub(super) struct TreeRanks {
    /// Of each switch: higher is nearer the top.
    pub height: Vec<u32>,
    /// How they were found, a sentence.
    pub remark: String,
}

/// An adapter inside a switch that reduces data, no host.
pub(super) fn is_aggregation(node: &Node) -> bool {
    node.facts.is_aggregation()
}

/// Which adapters compute: those that are given, else all but aggregation nodes and those that serve.
pub(super) struct ComputeAdapters<'f> {
    fabric: &'f Fabric,
    given: Vec<Guid>,
    serving: Vec<Guid>,
}

impl<'f> ComputeAdapters<'f> {
    pub(super) fn new(fabric: &'f Fabric, request: &Request) -> Self {
        let sorted = |guids: &[Guid]| {
            let mut guids = guids.to_vec();
            guids.sort_unstable();
            guids
        };
        Self { fabric, given: sorted(&request.compute_nodes), serving: sorted(&request.io_nodes) }
    }

    /// Lists name nodes, or ports as OpenSM's do.
    pub(super) fn is_compute(&self, port: PortId) -> bool {
        let node = self.fabric.node(self.fabric.port(port).node);
        match self.given.is_empty() {
            true => !is_aggregation(node) && !self.is_io(port),
            false => self.is_listed(&self.given, port),
        }
    }

    /// Adapters that are given as those that serve the others.
    pub(super) fn is_io(&self, port: PortId) -> bool {
        self.is_listed(&self.serving, port)
    }

    fn is_listed(&self, list: &[Guid], port: PortId) -> bool {
        let port = self.fabric.port(port);
        let own = [Some(self.fabric.node(port.node).guid()), port.facts.guid];
        own.iter().flatten().any(|guid| list.binary_search(guid).is_ok())
    }
}

/// The hosts of each switch: the adapters that compute.
pub(super) fn hosts(problem: &Problem<'_>, request: &Request) -> Vec<u32> {
    let computing = ComputeAdapters::new(problem.fabric, request);
    let mut hosts = vec![0; problem.graph.switch_count()];
    for terminal in problem.graph.terminals() {
        hosts[terminal.switch as usize] += u32::from(computing.is_compute(terminal.port));
    }
    hosts
}

/// The switches of a list of GUIDs that live.
pub(super) fn named_switches(
    engine: &'static str,
    problem: &Problem<'_>,
    guids: &[Guid],
) -> Result<Vec<u32>, EngineRefusal> {
    let find = |guid: &Guid| {
        let node = problem.fabric.node_by_guid(*guid).filter(|id| problem.fabric.node(*id).is_switch());
        node.map(|id| id.0).ok_or_else(|| EngineRefusal::Request {
            engine,
            what: format!(
                "the list of roots names {guid}, which is no switch of this fabric; correct the list"
            ),
        })
    };
    let mut found: Vec<u32> = guids.iter().map(find).collect::<Result<_, _>>()?;
    found.retain(|switch| problem.graph.is_alive(*switch));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Which of the given roots are failed, for a remark.
pub(super) fn failed_roots(problem: &Problem<'_>, request: &Request) -> Option<String> {
    let failed = |guid: &&Guid| {
        let node = problem.fabric.node_by_guid(**guid);
        node.is_some_and(|id| problem.fabric.node(id).is_switch() && !problem.graph.is_alive(id.0))
    };
    let failed: Vec<String> = request.roots.iter().filter(failed).map(Guid::to_string).collect();
    (!failed.is_empty()).then(|| format!("roots that were given and have failed: {}", failed.join(", ")))
}

/// Hops to each switch from the nearest of `starts`; `FAR` where none leads there.
fn steps_from(graph: &SwitchGraph, starts: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut steps = vec![FAR; graph.switch_count()];
    let mut queue = Vec::new();
    for start in starts {
        if graph.is_alive(start) && steps[start as usize] == FAR {
            steps[start as usize] = 0;
            queue.push(start);
        }
    }
    let mut next = 0;
    while let Some(at) = queue.get(next).copied() {
        next += 1;
        for channel in &graph.channels()[graph.outgoing(at)] {
            if steps[channel.to as usize] == FAR {
                steps[channel.to as usize] = steps[at as usize] + 1;
                queue.push(channel.to);
            }
        }
    }
    steps
}

/// Heights below roots: the farthest switches are at the bottom.
pub(super) fn heights_below(graph: &SwitchGraph, roots: &[u32]) -> Vec<u32> {
    let steps = steps_from(graph, roots.iter().copied());
    let most = steps.iter().filter(|steps| **steps != FAR).max().copied().unwrap_or(0);
    steps.into_iter().map(|steps| most.saturating_sub(steps)).collect()
}

/// Heights above the bottom.
pub(super) fn heights_above(graph: &SwitchGraph, bottom: &[u32]) -> Vec<u32> {
    let steps = steps_from(graph, bottom.iter().copied());
    steps.into_iter().map(|steps| if steps == FAR { 0 } else { steps }).collect()
}

/// Switches with hosts, part by part, evenly chosen where there are many.
fn sample(problem: &Problem<'_>, hosts: &[u32]) -> Vec<Vec<u32>> {
    let (part, parts) = problem.graph.components();
    let mut by_part: Vec<Vec<u32>> = vec![Vec::new(); parts as usize];
    for pass in 0..2 {
        for switch in problem.switches().filter(|switch| problem.graph.is_alive(*switch)) {
            let members = &mut by_part[part[switch as usize] as usize];
            // A part without hosts is judged on its switches.
            let wanted = hosts[switch as usize] > 0;
            if (pass == 0 && wanted) || (pass == 1 && members.first().is_none_or(|m| hosts[*m as usize] == 0))
            {
                members.push(switch);
            }
        }
    }
    for members in &mut by_part {
        if members.len() > SAMPLE {
            let all = std::mem::take(members);
            members.extend((0..SAMPLE).map(|at| all[at * all.len() / SAMPLE]));
        }
    }
    by_part
}

/// The centre of each part: the switches from which nine in ten of its host switches are nearest (the statistical
/// choice of roots, dissertation 3.3.4). The second value is the one with the least sum of distances, of equals the
/// one with the lowest GUID.
pub(super) fn centres(problem: &Problem<'_>, hosts: &[u32]) -> Vec<(Vec<u32>, u32)> {
    let (part, _) = problem.graph.components();
    let sampled = sample(problem, hosts);
    let of_part = |(number, members): (usize, &Vec<u32>)| {
        let steps: Vec<Vec<u32>> =
            members.par_iter().map(|start| steps_from(&problem.graph, [*start])).collect();
        let mut ranked = Vec::new();
        for switch in problem.switches().filter(|switch| part[*switch as usize] == number as u32) {
            let mut far: Vec<u32> = steps.iter().map(|steps| steps[switch as usize]).collect();
            far.sort_unstable();
            let most = far[..(far.len() * 9).div_ceil(10)].last().copied().unwrap_or(0);
            ranked.push((most, far.iter().map(|far| u64::from(*far)).sum::<u64>(), switch));
        }
        let best = ranked.iter().min().copied().unwrap_or((0, 0, 0));
        let centre = ranked.iter().filter(|(most, _, _)| *most == best.0).map(|(_, _, switch)| *switch);
        (centre.collect(), best.2)
    };
    sampled.iter().enumerate().map(of_part).collect()
}

/// What is wrong with a reading.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct RankFlaws {
    /// Ordered pairs of sampled host switches without a short path that goes up, across once, and down.
    pub missed: usize,
    /// Switches with neither hosts nor a switch below them.
    pub hollow: usize,
    pub across: usize,
    pub pairs: usize,
    /// The pairs missed by each sampled switch, the worst first.
    pub worst: Vec<(usize, u32)>,
}

impl RankFlaws {
    /// It shows no tree. On irregular trees, racks of several rails for one, a quarter of the pairs may be missed; on
    /// tori it is two in three and more.
    fn is_unfit(&self) -> bool {
        self.missed * 3 > self.pairs
    }
}

pub(super) fn rank_flaws(problem: &Problem<'_>, hosts: &[u32], height: &[u32]) -> RankFlaws {
    let graph = &problem.graph;
    let mut flaws = RankFlaws::default();
    let level =
        |channel: &&fabdeck_fabric::Channel| height[channel.from as usize] == height[channel.to as usize];
    flaws.across = graph.channels().iter().filter(level).count();
    flaws.hollow = count_hollow(problem, hosts, height);
    for members in sample(problem, hosts) {
        let missed: Vec<usize> = members
            .par_iter()
            .map(|from| {
                let (shortest, ordered) = (steps_from(graph, [*from]), ordered_steps(graph, height, *from));
                let missed = |to: &&u32| ordered[**to as usize] > shortest[**to as usize].saturating_add(1);
                members.iter().filter(missed).count()
            })
            .collect();
        flaws.pairs += members.len() * members.len().saturating_sub(1);
        flaws.missed += missed.iter().sum::<usize>();
        flaws.worst.extend(missed.into_iter().zip(members).filter(|(missed, _)| *missed > 0));
    }
    flaws.worst.sort_unstable_by_key(|(missed, switch)| (std::cmp::Reverse(*missed), *switch));
    flaws
}

/// How many switches nothing lies below, no host either, although others lie above.
fn count_hollow(problem: &Problem<'_>, hosts: &[u32], height: &[u32]) -> usize {
    let graph = &problem.graph;
    let idle = |switch: &u32| {
        let mut leaving = graph.channels()[graph.outgoing(*switch)].iter().peekable();
        let linked = leaving.peek().is_some();
        linked && leaving.all(|channel| height[channel.to as usize] >= height[*switch as usize])
    };
    problem.switches().filter(|switch| hosts[*switch as usize] == 0).filter(idle).count()
}

/// How many channels lead from a switch to one of its height.
fn count_across(graph: &SwitchGraph, height: &[u32]) -> usize {
    let level = |from: u32, to: u32| height[from as usize] == height[to as usize];
    graph.channels().iter().filter(|channel| level(channel.from, channel.to)).count()
}

/// Steps by paths that go up, across once at most, and down.
fn ordered_steps(graph: &SwitchGraph, height: &[u32], from: u32) -> Vec<u32> {
    let mut steps = vec![[FAR; 2]; graph.switch_count()];
    let mut queue = vec![(from, 0)];
    steps[from as usize][0] = 0;
    let mut next = 0;
    while let Some((at, fell)) = queue.get(next).copied() {
        next += 1;
        for channel in &graph.channels()[graph.outgoing(at)] {
            let (here, there) = (height[at as usize], height[channel.to as usize]);
            if fell == 1 && there >= here {
                continue;
            }
            let falls = usize::from(there <= here);
            if steps[channel.to as usize][falls] == FAR {
                steps[channel.to as usize][falls] = steps[at as usize][fell] + 1;
                queue.push((channel.to, falls));
            }
        }
    }
    steps.into_iter().map(|[rising, falling]| rising.min(falling)).collect()
}

/// The heights of a tree, or why the fabric is none.
pub(super) fn find_ranks(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
) -> Result<TreeRanks, EngineRefusal> {
    let hosts = hosts(problem, request);
    let given = !request.compute_nodes.is_empty() || !request.io_nodes.is_empty();
    if given && hosts.iter().all(|hosts| *hosts == 0) {
        let what = match request.compute_nodes.is_empty() {
            true => "every adapter on a working switch is given as an I/O node, so no compute node is left",
            false => "none of the given compute nodes is an adapter on a working switch",
        };
        let what = what.to_owned();
        return Err(EngineRefusal::Request { engine, what });
    }
    let readings = candidate_heights(engine, problem, request, &hosts)?;
    let graph = &problem.graph;
    let mut best: Option<(RankFlaws, TreeRanks)> = None;
    for ranks in readings {
        let cheap = || (count_hollow(problem, &hosts, &ranks.height), count_across(graph, &ranks.height));
        if best
            .as_ref()
            .is_some_and(|(least, _)| least.missed == 0 && cheap() >= (least.hollow, least.across))
        {
            continue;
        }
        let flaws = rank_flaws(problem, &hosts, &ranks.height);
        let order = |flaws: &RankFlaws| (flaws.missed, flaws.hollow, flaws.across);
        let better = best.as_ref().is_none_or(|(least, _)| order(&flaws) < order(least));
        if better {
            best = Some((flaws, ranks));
        }
    }
    match best {
        Some((flaws, _)) if flaws.is_unfit() => Err(unfit_refusal(engine, problem, &flaws)),
        Some((_, ranks)) => Ok(ranks),
        None => {
            Ok(TreeRanks { height: vec![0; problem.graph.switch_count()], remark: "no switches".to_owned() })
        }
    }
}

/// The other readings that show a tree too.
pub(super) fn other_ranks(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
    found: &TreeRanks,
) -> Vec<TreeRanks> {
    let hosts = hosts(problem, request);
    let mut others: Vec<TreeRanks> = Vec::new();
    let roots: Vec<u32> = centres(problem, &hosts).into_iter().map(|(_, root)| root).collect();
    let central = TreeRanks {
        height: heights_below(&problem.graph, &roots),
        remark: "ranks below the switch nearest to all hosts".to_owned(),
    };
    let readings = candidate_heights(engine, problem, request, &hosts).unwrap_or_default();
    let more = [central, beside_tops(problem, &hosts, &found.height)].into_iter();
    for ranks in readings.into_iter().chain(more.filter(|_| request.roots.is_empty())) {
        let is_new = ranks.height != found.height && others.iter().all(|other| other.height != ranks.height);
        if is_new && !rank_flaws(problem, &hosts, &ranks.height).is_unfit() {
            others.push(ranks);
        }
    }
    others
}

/// Ranks below the tops of a reading and those beside them: switches without hosts that half of their neighbours at least
/// share with one of the tops. A spine that misses some of the leaves looks like one of the middle else.
fn beside_tops(problem: &Problem<'_>, hosts: &[u32], height: &[u32]) -> TreeRanks {
    let graph = &problem.graph;
    let neighbours = |switch: u32| graph.channels()[graph.outgoing(switch)].iter().map(|channel| channel.to);
    let is_top = |switch: &u32| {
        graph.is_alive(*switch)
            && neighbours(*switch).all(|other| height[other as usize] <= height[*switch as usize])
    };
    let mut tops: Vec<u32> = problem.switches().filter(is_top).collect();
    let highest = tops.clone();
    for switch in
        problem.switches().filter(|switch| hosts[*switch as usize] == 0 && !highest.contains(switch))
    {
        let mut own: Vec<u32> = neighbours(switch).collect();
        own.sort_unstable();
        own.dedup();
        let shares = |top: &u32| {
            let shared = own.iter().filter(|other| neighbours(*top).any(|to| to == **other)).count();
            shared > 0 && shared * 2 >= own.len() && !own.contains(top)
        };
        if highest.iter().any(shares) {
            tops.push(switch);
        }
    }
    let remark = format!("ranks below {} switches at the top, or beside them", tops.len());
    TreeRanks { height: heights_below(graph, &tops), remark }
}

fn candidate_heights(
    engine: &'static str,
    problem: &Problem<'_>,
    request: &Request,
    hosts: &[u32],
) -> Result<Vec<TreeRanks>, EngineRefusal> {
    let graph = &problem.graph;
    let centres = centres(problem, hosts);
    if !request.roots.is_empty() {
        let mut roots = named_switches(engine, problem, &request.roots)?;
        let given = roots.len();
        fill_parts(problem, &mut roots, |part| centres[part].0.clone());
        let below_given = match given {
            0 => "ranks below the centre, because no root works".to_owned(),
            _ => format!("ranks below {given} roots that were given"),
        };
        let remark = match failed_roots(problem, request) {
            Some(failed) => format!("{below_given}; {failed}"),
            None => below_given,
        };
        return Ok(vec![TreeRanks { height: heights_below(graph, &roots), remark }]);
    }
    let centre: Vec<u32> = centres.iter().flat_map(|(centre, _)| centre.iter().copied()).collect();
    let above = |least: u32| heights_above_hosts(problem, hosts, &centres, least);
    let most = hosts.iter().copied().max().unwrap_or(0);
    let (all, crowded) = (above(1), above(most.div_ceil(2).max(1)));
    let top = crowded.iter().copied().max().unwrap_or(0);
    let mut tops: Vec<u32> = problem.switches().filter(|switch| crowded[*switch as usize] == top).collect();
    fill_parts(problem, &mut tops, |part| centres[part].0.clone());
    let ranks = |height: Vec<u32>, remark: String| TreeRanks { height, remark };
    Ok(vec![
        ranks(heights_below(graph, &centre), format!("ranks below {} switches at the centre", centre.len())),
        ranks(all, ABOVE_HOSTS.to_owned()),
        ranks(
            heights_below(graph, &tops),
            format!("ranks below the {} switches farthest from hosts", tops.len()),
        ),
        ranks(crowded, "ranks above the switches with most hosts".to_owned()),
    ])
}

/// Heights above the switches that have `least` hosts or more.
fn heights_above_hosts(
    problem: &Problem<'_>,
    hosts: &[u32],
    centres: &[(Vec<u32>, u32)],
    least: u32,
) -> Vec<u32> {
    let mut bottom: Vec<u32> = problem.switches().filter(|at| hosts[*at as usize] >= least).collect();
    fill_parts(problem, &mut bottom, |part| vec![centres[part].1]);
    heights_above(&problem.graph, &bottom)
}

/// Ranks above the switches with hosts, whatever other ranks may fit better, and whether they show a tree.
pub(super) fn ranks_above_hosts(problem: &Problem<'_>, request: &Request) -> (TreeRanks, bool) {
    let hosts = hosts(problem, request);
    let height = heights_above_hosts(problem, &hosts, &centres(problem, &hosts), 1);
    let is_tree = !rank_flaws(problem, &hosts, &height).is_unfit();
    (TreeRanks { height, remark: ABOVE_HOSTS.to_owned() }, is_tree)
}

/// Adds switches to the parts that have none of the list.
fn fill_parts(problem: &Problem<'_>, switches: &mut Vec<u32>, of_part: impl Fn(usize) -> Vec<u32>) {
    let (part, parts) = problem.graph.components();
    let mut has = vec![false; parts as usize];
    switches.retain(|switch| problem.graph.is_alive(*switch));
    switches.iter().for_each(|switch| has[part[*switch as usize] as usize] = true);
    for part in (0..parts as usize).filter(|part| !has[*part]) {
        switches.extend(of_part(part));
    }
}

fn unfit_refusal(engine: &'static str, problem: &Problem<'_>, flaws: &RankFlaws) -> EngineRefusal {
    let name = |switch: &u32| {
        let node = problem.fabric.node(NodeId(*switch));
        format!("{} ({})", node.facts.description.trim(), node.guid())
    };
    let worst: Vec<String> = flaws.worst.iter().take(3).map(|(_, switch)| name(switch)).collect();
    let why = format!(
        "it is not a tree: of {} pairs of switches with hosts {} have no short path that goes up and then down, most \
         of them from {}; updn and nue take any fabric",
        flaws.pairs,
        flaws.missed,
        worst.join(", ")
    );
    EngineRefusal::Unfit { engine, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_switch_above_nothing_and_without_hosts_is_hollow() {
        let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let mut hosts = hosts(&problem, &Request::default());
        let height: Vec<u32> = hosts.iter().map(|hosts| u32::from(*hosts == 0)).collect();
        assert_eq!(count_hollow(&problem, &hosts, &height), 0);
        let leaf = hosts.iter().position(|hosts| *hosts > 0).unwrap();
        hosts[leaf] = 0;
        assert_eq!(count_hollow(&problem, &hosts, &height), 1);
    }
}
