//! Coordinates from cabling that is alike at every switch: each pair of (egress port, ingress port) stands for one
//! direction everywhere.

use crate::problem::switch_name;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fabdeck_fabric::{Channel, Fabric, PortNum, SwitchGraph, TORUS_DIMENSIONS};

use super::coordinates::{Place, TorusCoordinates};

/// Egress port and ingress port of a link, as seen from one end.
type PortPair = (PortNum, PortNum);

/// The hint of every refusal.
const ASK_FOR_FILE: &str = "give a torus-2QoS.conf with --torus FILE";

/// A direction: the switch that it leads to from each switch.
struct Direction {
    next: Vec<Option<u32>>,
}

/// Finds the coordinates, beginning at the switch with the lowest GUID; or the reason why there are none.
pub(super) fn find_places(fabric: &Fabric, graph: &SwitchGraph) -> Result<TorusCoordinates, String> {
    let refuse = |why: String| format!("{why}; {ASK_FOR_FILE}");
    let dimensions = find_directions(fabric, graph).map_err(refuse)?;
    let (mut radix, mut is_closed) = ([1; TORUS_DIMENSIONS], [false; TORUS_DIMENSIONS]);
    for (at, direction) in dimensions.iter().enumerate() {
        if let Some(length) = ring_length(direction).map_err(refuse)? {
            (radix[at], is_closed[at]) = (length, true);
        }
    }
    let walked = walk(fabric, graph, &dimensions, (radix, is_closed)).map_err(refuse)?;
    for at in (0..dimensions.len()).filter(|at| !is_closed[*at]) {
        let top = walked.iter().map(|place| place[at]).max().unwrap_or(0);
        radix[at] = top + 1;
    }
    TorusCoordinates::new(fabric, graph, radix, is_closed, walked).map_err(refuse)
}

/// The positive direction of each dimension, in the order of ports. Pairs of ports that join the same two switches are
/// parallel cables of one direction.
fn find_directions(fabric: &Fabric, graph: &SwitchGraph) -> Result<Vec<Direction>, String> {
    let pair = |channel: &Channel| (channel.from_port, channel.to_port);
    let mut class: BTreeMap<PortPair, PortPair> =
        graph.channels().iter().map(|channel| (pair(channel), pair(channel))).collect();
    for switch in 0..graph.switch_count() as u32 {
        let mut first: BTreeMap<u32, PortPair> = BTreeMap::new();
        for channel in &graph.channels()[graph.outgoing(switch)] {
            let known = *first.entry(channel.to).or_insert_with(|| pair(channel));
            join(&mut class, known, pair(channel));
        }
    }
    let all: Vec<PortPair> = class.keys().copied().collect();
    let roots: BTreeSet<PortPair> = all.iter().map(|pair| root_of(&class, *pair)).collect();
    if roots.len() > 2 * TORUS_DIMENSIONS {
        return Err(format!(
            "its links are of {} kinds of (port, port at the other end), and a torus cabled alike has at most {}",
            roots.len(),
            2 * TORUS_DIMENSIONS
        ));
    }
    let (mut taken, mut directions) = (BTreeSet::new(), Vec::new());
    for (out, into) in roots {
        let opposite = root_of(&class, (into, out));
        if !taken.insert((out, into)) || !taken.insert(opposite) && opposite != (out, into) {
            continue;
        }
        directions.push(follow(fabric, graph, |channel| root_of(&class, pair(channel)) == (out, into))?);
    }
    match directions.len() {
        0..=TORUS_DIMENSIONS => Ok(directions),
        more => Err(format!("its links have {more} directions, and routes take at most {TORUS_DIMENSIONS}")),
    }
}

fn root_of(class: &BTreeMap<PortPair, PortPair>, mut pair: PortPair) -> PortPair {
    while let Some(above) = class.get(&pair).filter(|above| **above != pair) {
        pair = *above;
    }
    pair
}

fn join(class: &mut BTreeMap<PortPair, PortPair>, a: PortPair, b: PortPair) {
    let (a, b) = (root_of(class, a), root_of(class, b));
    class.insert(a.max(b), a.min(b));
}

/// The links of one kind as a direction; at each switch they lead to one other.
fn follow(
    fabric: &Fabric,
    graph: &SwitchGraph,
    is_of: impl Fn(&Channel) -> bool,
) -> Result<Direction, String> {
    let mut next = vec![None; graph.switch_count()];
    for channel in graph.channels().iter().filter(|channel| is_of(channel)) {
        let known = next[channel.from as usize].replace(channel.to);
        if let Some(other) = known.filter(|known| *known != channel.to) {
            let name = |switch| switch_name(fabric, switch);
            return Err(format!(
                "ports that lead one way at other switches lead from {} to both {} and {}",
                name(channel.from),
                name(other),
                name(channel.to)
            ));
        }
    }
    Ok(Direction { next })
}

/// The length of the rings of a direction, which must agree; `None` where no line closes.
fn ring_length(direction: &Direction) -> Result<Option<u32>, String> {
    let mut seen = vec![false; direction.next.len()];
    let mut lengths = BTreeSet::new();
    for start in 0..direction.next.len() as u32 {
        let (mut at, mut length) = (start, 0);
        while !std::mem::replace(&mut seen[at as usize], true) {
            length += 1;
            let Some(next) = direction.next[at as usize] else { break };
            at = next;
        }
        if length > 0 && at == start && direction.next[start as usize].is_some() {
            lengths.insert(length);
        }
    }
    match lengths.into_iter().collect::<Vec<u32>>().as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        [one, other, ..] => Err(format!("rings of one direction have {one} and {other} switches")),
    }
}

/// Walks from the first switch along all links. An open dimension has its smallest coordinate at 0.
fn walk(
    fabric: &Fabric,
    graph: &SwitchGraph,
    dimensions: &[Direction],
    (radix, is_closed): (Place, [bool; TORUS_DIMENSIONS]),
) -> Result<Vec<Place>, String> {
    let mut back: Vec<Vec<Option<u32>>> = Vec::new();
    for direction in dimensions {
        let mut from = vec![None; direction.next.len()];
        let hops = (0u32..).zip(&direction.next).filter_map(|(at, next)| Some((at, (*next)?)));
        hops.for_each(|(at, next)| from[next as usize] = Some(at));
        back.push(from);
    }
    let mut found: Vec<Option<[i64; TORUS_DIMENSIONS]>> = vec![None; graph.switch_count()];
    let mut queue = VecDeque::new();
    if let Some(first) = found.first_mut() {
        *first = Some([0; TORUS_DIMENSIONS]);
        queue.push_back(0u32);
    }
    while let Some(at) = queue.pop_front() {
        let Some(here) = found[at as usize] else { continue };
        for dimension in 0..dimensions.len() {
            let ways = [(dimensions[dimension].next[at as usize], 1), (back[dimension][at as usize], -1)];
            for (next, by) in ways.into_iter().filter_map(|(next, by)| Some((next?, by))) {
                let mut there = here;
                there[dimension] += by;
                if is_closed[dimension] {
                    there[dimension] = there[dimension].rem_euclid(i64::from(radix[dimension]));
                }
                match found[next as usize] {
                    None => {
                        found[next as usize] = Some(there);
                        queue.push_back(next);
                    }
                    Some(known) if known == there => {}
                    Some(_) => {
                        let names = [at, next].map(|switch| switch_name(fabric, switch));
                        return Err(format!(
                            "the link from {} to {} does not agree with other links about where {} lies",
                            names[0], names[1], names[1]
                        ));
                    }
                }
            }
        }
    }
    if let Some(lonely) = found.iter().position(Option::is_none) {
        let name = switch_name(fabric, lonely as u32);
        return Err(format!("no links lead to {name} from the switch with the lowest GUID"));
    }
    let places: Vec<[i64; TORUS_DIMENSIONS]> = found.into_iter().flatten().collect();
    let low: [i64; TORUS_DIMENSIONS] =
        std::array::from_fn(|at| places.iter().map(|place| place[at]).min().unwrap_or(0));
    Ok(places.iter().map(|place| std::array::from_fn(|at| (place[at] - low[at]) as u32)).collect())
}
