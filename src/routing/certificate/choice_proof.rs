//! A credit loop of choices with a path for each of its dependencies.

use std::collections::VecDeque;

use super::choice_sources::ChoiceSource;
use super::choice_walk::{ChoiceWalk, WalkTarget};
use super::choices::{ChoicePass, ChoicePath, distances};
use super::report::DependencyProof;
use super::service::CreditLoop;
use fabdeck_fabric::{ChannelId, Lane};

/// A channel with a lane.
type LaneChannel = (u32, u8);

/// Finds a path for each dependency of a loop.
pub fn prove_loop(pass: &ChoicePass<'_>, hops: &[(usize, u8)]) -> (CreditLoop, Vec<ChoicePath>) {
    let hop = |at: usize| (hops[at % hops.len()].0 as u32, hops[at % hops.len()].1);
    let mut open: Vec<usize> = (0..hops.len()).collect();
    let mut paths: Vec<Option<ChoicePath>> = vec![None; hops.len()];
    let problem = pass.sets.problem();
    let mut walk = ChoiceWalk::new(pass.sets, pass.lanes);
    for root in problem.switches() {
        if open.is_empty() {
            break;
        }
        let wanted = pass.destinations(root);
        let near = if wanted.is_empty() { Vec::new() } else { distances(&problem.graph, root) };
        let targets = wanted.iter().flat_map(|end| pass.levels().iter().map(move |level| (end, *level)));
        for (end, level) in targets {
            let target = WalkTarget { root, end, level };
            pass.sets.fill_column(end, level, &mut walk.column);
            let senders = pass.senders(target, &near);
            walk.walk(&senders, target);
            let mut found = Vec::new();
            walk.each_dependency(target, &mut |(channel, lanes), next| {
                let fits = |at: &usize| {
                    let (from, to) = (hop(*at), hop(*at + 1));
                    from.0 == channel && lanes >> from.1 & 1 == 1 && to == next
                };
                found.extend(open.iter().copied().filter(fits));
            });
            for at in found {
                paths[at] = find_path(&walk, &senders, target, (hop(at), hop(at + 1)));
            }
            open.retain(|at| paths[*at].is_none());
            if open.is_empty() {
                break;
            }
        }
    }
    let named = |(channel, lane): &(usize, u8)| {
        (ChannelId(*channel as u32), Lane::new((*lane).into()).unwrap_or_default())
    };
    let paths: Vec<ChoicePath> = paths.into_iter().flatten().collect();
    let proof = |path: &ChoicePath| DependencyProof {
        source: switch_of(pass, path),
        destination: path.to,
        routes: 0,
    };
    (CreditLoop { hops: hops.iter().map(named).collect(), paths: paths.iter().map(proof).collect() }, paths)
}

fn switch_of(pass: &ChoicePass<'_>, path: &ChoicePath) -> u32 {
    let problem = pass.sets.problem();
    let first = path.channels.first().map(|channel| problem.graph.channel(*channel).from);
    first.unwrap_or(problem.fabric.port(path.from).node.0)
}

/// A shortest path of some source that takes one channel and then the other, and from there a shortest one to the
/// destination.
fn find_path(
    walk: &ChoiceWalk<'_>,
    senders: &[ChoiceSource],
    target: WalkTarget<'_>,
    (a, b): (LaneChannel, LaneChannel),
) -> Option<ChoicePath> {
    let starts = senders.iter().enumerate().flat_map(|(number, source)| {
        walk.next_channels(Err(source), target).0.into_iter().map(move |next| (number, next))
    });
    let (source, mut channels) = search(walk, target, starts.collect(), |found, _| found == a)?;
    let after =
        search(walk, target, vec![(0, b)], |(channel, _), walk| walk.next_channels(Ok(channel), target).1);
    // Where the second channel arrives by no choice, packets come to it all the same, and wait.
    channels.extend(after.map_or_else(|| vec![ChannelId(b.0)], |(_, rest)| rest));
    let source = senders.get(source)?;
    Some(ChoicePath { from: source.port, to: target.end.lid, level: target.level, channels })
}

/// Breadth-first search from some channels to one that fits. Returns the number of its start, and the path.
fn search(
    walk: &ChoiceWalk<'_>,
    target: WalkTarget<'_>,
    starts: Vec<(usize, LaneChannel)>,
    fits: impl Fn(LaneChannel, &ChoiceWalk<'_>) -> bool,
) -> Option<(usize, Vec<ChannelId>)> {
    let lanes = 16;
    let place = |(channel, lane): LaneChannel| channel as usize * lanes + usize::from(lane);
    let mut before: Vec<Option<(usize, Option<LaneChannel>)>> = vec![None; walk.on.len() * lanes];
    let mut queue = VecDeque::new();
    for (number, start) in starts {
        if before[place(start)].is_none() {
            before[place(start)] = Some((number, None));
            queue.push_back(start);
        }
    }
    while let Some(at) = queue.pop_front() {
        let number = before[place(at)]?.0;
        if fits(at, walk) {
            let mut path = vec![ChannelId(at.0)];
            let mut last = at;
            while let Some(Some((_, Some(previous)))) = before.get(place(last)) {
                path.push(ChannelId(previous.0));
                last = *previous;
            }
            path.reverse();
            return Some((number, path));
        }
        for next in walk.next_channels(Ok(at.0), target).0 {
            if before[place(next)].is_none() {
                before[place(next)] = Some((number, Some(at)));
                queue.push_back(next);
            }
        }
    }
    None
}
