//! Dimension order, and the detours round what failed (dissertation 3.3.7).

use fabdeck_fabric::TORUS_DIMENSIONS;

use super::coordinates::Place;
use super::rings::WorkingRings;

/// A direction of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    pub(super) dimension: usize,
    pub(super) is_positive: bool,
}

/// The hop from a place towards another one. `None`: no path.
pub(super) fn next_hop(rings: &WorkingRings<'_>, from: Place, to: Place) -> Option<Hop> {
    let differing = (0..TORUS_DIMENSIONS).filter(|at| from[*at] != to[*at]);
    differing.into_iter().find_map(|dimension| hop_in(rings, from, to, dimension))
}

/// The hop in one dimension, if it makes progress. Where the switch at which the path would turn is missing, it goes on
/// beside that switch and turns early: the next dimension follows, and an illegal turn after it.
fn hop_in(rings: &WorkingRings<'_>, from: Place, to: Place, dimension: usize) -> Option<Hop> {
    let torus = rings.torus;
    let mut turning = from;
    turning[dimension] = to[dimension];
    let (shorter, _) = torus.shorter_way(dimension, from[dimension], to[dimension]);
    let hop = |is_positive| Hop { dimension, is_positive };
    if rings.working_at(turning).is_none() {
        let next = rings.beyond(from, dimension, shorter)?;
        return rings.working_at(next).map(|_| hop(shorter));
    }
    let arrives = |is_positive: &bool| rings.arrives(from, dimension, *is_positive, to[dimension]);
    [shorter, !shorter].into_iter().find(arrives).map(hop)
}
