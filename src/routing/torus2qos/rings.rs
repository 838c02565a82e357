//! The lines and rings of a torus with its failures: which ways along them work.

use crate::problem::switch_name;
use fabdeck_fabric::{Channel, Fabric, SwitchGraph, TORUS_DIMENSIONS};

use super::coordinates::{NAMES, Place, TorusCoordinates};

/// The working links of a torus.
#[derive(Debug)]
pub(super) struct WorkingRings<'t> {
    pub(super) torus: &'t TorusCoordinates,
    graph: &'t SwitchGraph,
    /// By place and dimension: whether a link leads to the next place in positive direction.
    is_joined: Vec<[bool; TORUS_DIMENSIONS]>,
}

impl<'t> WorkingRings<'t> {
    pub(super) fn new(torus: &'t TorusCoordinates, graph: &'t SwitchGraph) -> Self {
        let mut is_joined = vec![[false; TORUS_DIMENSIONS]; torus.places().count()];
        for Channel { from, to, .. } in graph.channels() {
            if let Some((dimension, true)) = torus.direction(*from, *to) {
                is_joined[torus.number(torus.place(*from))][dimension] = true;
            }
        }
        Self { torus, graph, is_joined }
    }

    /// The working switch at a place.
    pub(super) fn working_at(&self, place: Place) -> Option<u32> {
        self.torus.switch_at(place).filter(|switch| self.graph.is_alive(*switch))
    }

    /// The place beyond a working link.
    pub(super) fn beyond(&self, place: Place, dimension: usize, is_positive: bool) -> Option<Place> {
        let next = self.torus.step(place, dimension, is_positive)?;
        let low = if is_positive { place } else { next };
        self.is_joined[self.torus.number(low)][dimension].then_some(next)
    }

    /// Whether a way along a line arrives at a coordinate.
    pub(super) fn arrives(&self, from: Place, dimension: usize, is_positive: bool, to: u32) -> bool {
        let mut at = Some(from);
        for _ in 0..self.torus.radix[dimension] {
            match at {
                Some(place) if place[dimension] == to => return true,
                Some(place) => at = self.beyond(place, dimension, is_positive),
                None => return false,
            }
        }
        at.is_some_and(|place| place[dimension] == to)
    }

    /// Places without a working switch, in order.
    pub(super) fn missing(&self) -> Vec<Place> {
        self.torus.places().filter(|place| self.working_at(*place).is_none()).collect()
    }

    /// The first ring or line whose working switches are in several pieces, in words.
    pub(super) fn find_broken_line(&self, fabric: &Fabric) -> Option<String> {
        for dimension in (0..TORUS_DIMENSIONS).filter(|at| self.torus.radix[*at] > 1) {
            for start in self.torus.places().filter(|place| place[dimension] == 0) {
                if self.count_pieces(start, dimension) > 1 {
                    return Some(self.broken_line_words(fabric, start, dimension));
                }
            }
        }
        None
    }

    fn line(&self, start: Place, dimension: usize) -> Vec<Place> {
        let place = |at: u32| {
            let mut place = start;
            place[dimension] = at;
            place
        };
        (0..self.torus.radix[dimension]).map(place).collect()
    }

    /// How many pieces the working switches of a line are in. A ring with one break is one piece.
    fn count_pieces(&self, start: Place, dimension: usize) -> usize {
        let working: Vec<Place> = self
            .line(start, dimension)
            .into_iter()
            .filter(|place| self.working_at(*place).is_some())
            .collect();
        let ends = working.iter().filter(|place| self.beyond(**place, dimension, true).is_none()).count();
        // A whole ring has no end.
        ends.max(usize::from(!working.is_empty()))
    }

    fn broken_line_words(&self, fabric: &Fabric, start: Place, dimension: usize) -> String {
        let name = |place: Place| match self.torus.switch_at(place) {
            Some(switch) => switch_name(fabric, switch),
            None => format!("the place {place:?}"),
        };
        let line = self.line(start, dimension);
        let is_ring = self.torus.is_closed[dimension];
        let mut breaks: Vec<String> = Vec::new();
        for place in &line {
            if self.working_at(*place).is_none() {
                let what =
                    if self.torus.switch_at(*place).is_some() { "has failed" } else { "has no switch" };
                breaks.push(format!("{} {what}", name(*place)));
                continue;
            }
            let next =
                self.torus.step(*place, dimension, true).filter(|next| self.working_at(*next).is_some());
            if let Some(next) = next.filter(|_| self.beyond(*place, dimension, true).is_none()) {
                breaks.push(format!("no link from {} to {}", name(*place), name(next)));
            }
        }
        const MAX_NAMED: usize = 4;
        let more = if breaks.len() > MAX_NAMED { ", ..." } else { "" };
        let count = breaks.len();
        breaks.truncate(MAX_NAMED);
        let (kind, count) = match (is_ring, count) {
            (true, count) => ("ring", format!("{count} breaks")),
            (false, 1) => ("line", "a break".to_owned()),
            (false, count) => ("line", format!("{count} breaks")),
        };
        let first = line.iter().copied().find(|place| self.torus.switch_at(*place).is_some());
        let through = first.map_or_else(String::new, |place| format!(" through {}", name(place)));
        format!(
            "the {kind} in {}{through} has {count}: {}{more}; mend one of them, or take nue until then",
            NAMES[dimension],
            breaks.join(", ")
        )
    }

    /// Two missing switches side by side in a dimension after which routes take another one. Packets turn early before
    /// both, and their illegal turns can close a credit loop.
    pub(super) fn find_missing_neighbours(&self, fabric: &Fabric) -> Option<String> {
        let last = (0..TORUS_DIMENSIONS).rev().find(|at| self.torus.radix[*at] > 1)?;
        let missing = self.missing();
        let name = |place: Place| match self.torus.switch_at(place) {
            Some(switch) => switch_name(fabric, switch),
            None => format!("the switch at {place:?}"),
        };
        for place in &missing {
            for dimension in (0..last).filter(|at| self.torus.radix[*at] > 1) {
                let next = self.torus.step(*place, dimension, true).filter(|next| missing.contains(next));
                if let Some(next) = next {
                    return Some(format!(
                        "{} and {} are missing side by side in {}, so packets that turn early before them could wait \
                         for each other; bring one back, or take nue until then",
                        name(*place),
                        name(next),
                        NAMES[dimension]
                    ));
                }
            }
        }
        None
    }
}
