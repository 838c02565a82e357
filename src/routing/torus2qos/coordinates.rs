//! The coordinates of the switches of a torus or mesh.

use crate::problem::switch_name;
use fabdeck_fabric::{Fabric, SwitchGraph, TORUS_DIMENSIONS};

/// A place in a torus: its coordinates x, y, z.
pub(super) type Place = [u32; TORUS_DIMENSIONS];

/// The names of the dimensions.
pub(super) const NAMES: [&str; TORUS_DIMENSIONS] = ["x", "y", "z"];

/// The coordinates of the switches of a torus or mesh. Failures that are marked do not change them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TorusCoordinates {
    /// The number of switches in each dimension.
    pub(super) radix: Place,
    /// Whether the lines of a dimension are rings. Two switches are a line: both their cables count as parallel.
    pub(super) is_closed: [bool; TORUS_DIMENSIONS],
    /// By switch.
    place: Vec<Place>,
    /// By number of the place.
    switch: Vec<Option<u32>>,
}

impl TorusCoordinates {
    /// Makes coordinates and checks that each link joins neighbours.
    pub(super) fn new(
        fabric: &Fabric,
        graph: &SwitchGraph,
        radix: Place,
        is_closed: [bool; TORUS_DIMENSIONS],
        place: Vec<Place>,
    ) -> Result<Self, String> {
        let is_closed = std::array::from_fn(|at| is_closed[at] && radix[at] > 2);
        let count = place_count(radix).ok_or("it has more places than a subnet can have switches")?;
        let mut found = Self { radix, is_closed, place, switch: vec![None; count] };
        let name = |switch: u32| switch_name(fabric, switch);
        for (at, place) in (0u32..).zip(&found.place) {
            let number = found.number(*place);
            if let Some(other) = found.switch[number].replace(at) {
                return Err(format!("{} and {} would be at one place", name(other), name(at)));
            }
        }
        let stray = |channel: &&fabdeck_fabric::Channel| found.direction(channel.from, channel.to).is_none();
        match graph.channels().iter().find(stray) {
            Some(channel) => Err(format!(
                "the link from port {} of {} to port {} of {} joins places that are no neighbours",
                channel.from_port.value(),
                name(channel.from),
                channel.to_port.value(),
                name(channel.to)
            )),
            None => Ok(found),
        }
    }

    /// The place of a switch.
    pub(super) fn place(&self, switch: u32) -> Place {
        self.place[switch as usize]
    }

    /// The switch at a place.
    pub(super) fn switch_at(&self, place: Place) -> Option<u32> {
        self.switch[self.number(place)]
    }

    /// Whether some place has no switch.
    pub(super) fn has_gap(&self) -> bool {
        self.switch.iter().any(Option::is_none)
    }

    /// All places, z fastest.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let [x, y, z] = self.radix;
        (0..x).flat_map(move |at| (0..y).flat_map(move |next| (0..z).map(move |last| [at, next, last])))
    }

    /// The number of a place.
    pub(super) fn number(&self, [x, y, z]: Place) -> usize {
        let [_, wide, deep] = self.radix;
        ((x * wide + y) * deep + z) as usize
    }

    /// The next place of a line in a direction; `None` at the end of a line that is no ring.
    pub(super) fn step(&self, place: Place, dimension: usize, is_positive: bool) -> Option<Place> {
        step((self.radix, self.is_closed), place, dimension, is_positive)
    }

    /// The dimension of the link between two switches, and whether it leads to the larger coordinate or across the
    /// dateline from the largest to 0.
    pub(super) fn direction(&self, from: u32, to: u32) -> Option<(usize, bool)> {
        let (here, there) = (self.place(from), self.place(to));
        let ways = (0..TORUS_DIMENSIONS).flat_map(|dimension| [(dimension, true), (dimension, false)]);
        let mut ways = ways.filter(|way| self.step(here, way.0, way.1) == Some(there));
        ways.next()
    }

    /// The shorter way between two coordinates of a dimension: its direction, and whether it crosses the dateline. Of
    /// equal ways the one that does not.
    pub(super) fn shorter_way(&self, dimension: usize, from: u32, to: u32) -> (bool, bool) {
        let is_ahead = to > from;
        let crosses = self.is_closed[dimension] && 2 * to.abs_diff(from) > self.radix[dimension];
        (is_ahead != crosses, crosses)
    }

    /// The size in words: `torus 4 x 4 x 3`; in `4m` the letter marks an open dimension of a torus.
    pub(super) fn words(&self) -> String {
        let used = (0..TORUS_DIMENSIONS).filter(|at| self.radix[*at] > 1);
        let is_torus = self.is_closed.contains(&true);
        let size = |at: usize| match is_torus && !self.is_closed[at] {
            true => format!("{}m", self.radix[at]),
            false => self.radix[at].to_string(),
        };
        let sizes: Vec<String> = used.map(size).collect();
        format!("{} {}", if is_torus { "torus" } else { "mesh" }, sizes.join(" x "))
    }
}

/// The number of places, if a subnet can have that many switches.
pub(super) fn place_count(radix: Place) -> Option<usize> {
    const MAX_PLACES: u64 = 48 * 1024;
    let count = radix.iter().try_fold(1u64, |count, size| count.checked_mul(u64::from(*size)))?;
    (1..=MAX_PLACES).contains(&count).then_some(count as usize)
}

/// The next place of a line of a torus of this size.
pub(super) fn step(
    (radix, is_closed): (Place, [bool; TORUS_DIMENSIONS]),
    place: Place,
    dimension: usize,
    is_positive: bool,
) -> Option<Place> {
    let (at, size) = (place[dimension], radix[dimension]);
    let next = match is_positive {
        true if at + 1 < size => at + 1,
        true => 0,
        false if at > 0 => at - 1,
        false => size - 1,
    };
    let wraps = if is_positive { next < at } else { next > at };
    let is_there = next != at && (!wraps || is_closed[dimension]);
    let mut beyond = place;
    beyond[dimension] = next;
    is_there.then_some(beyond)
}
