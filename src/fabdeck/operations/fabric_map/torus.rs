//! Tori and meshes: the coordinates of switches, and the slice of them that the map shows.

use super::structure::{MapCable, MapSwitch};
use crate::catalogue::snapshot::Snapshot;

/// The coordinates of a torus or mesh. The first two dimensions are drawn, the others count slices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TorusShape {
    pub dims: Vec<usize>,
    /// The switches slice by slice, each row by row; the value is the index in the structure.
    places: Vec<usize>,
    /// The cables to the right and downwards of each place, with those around the edge.
    cables: Vec<[Vec<usize>; 2]>,
}

impl TorusShape {
    /// The shape of a fabric whose switches are named by their coordinates, and whose cables all lead to a neighbour in
    /// one dimension. `None` for any other fabric.
    pub fn new(look: &Snapshot, switches: &[MapSwitch], cables: &[MapCable]) -> Option<Self> {
        let coordinates: Vec<Vec<usize>> =
            switches.iter().map(|switch| numbers(look.name(switch.id))).collect();
        let count = coordinates.first()?.len();
        if count < 2 || coordinates.iter().any(|at| at.len() != count) {
            return None;
        }
        let dims: Vec<usize> =
            (0..count).map(|dim| coordinates.iter().map(|at| at[dim]).max().unwrap_or(0) + 1).collect();
        let all = dims.iter().try_fold(1usize, |all, dim| all.checked_mul(*dim))?;
        if all != switches.len() || cables.is_empty() {
            return None;
        }
        let index = |at: &[usize]| at.iter().zip(&dims).rev().fold(0, |index, (at, dim)| index * dim + at);
        let mut places = vec![usize::MAX; all];
        for (switch, at) in coordinates.iter().enumerate() {
            places[index(at)] = switch;
        }
        if places.contains(&usize::MAX) {
            return None;
        }
        let mut ways: Vec<[Vec<usize>; 2]> = vec![Default::default(); all];
        for (at, cable) in cables.iter().enumerate() {
            let ends = [&coordinates[cable.upper], &coordinates[cable.lower]];
            let mut apart = (0..count).filter(|dim| ends[0][*dim] != ends[1][*dim]);
            let (dim, None) = (apart.next()?, apart.next()) else { return None };
            let (from, to) = (ends[0][dim], ends[1][dim]);
            let (size, next) = (dims[dim], |from: usize, to: usize| (from + 1) % dims[dim] == to);
            let first = match (next(from, to), next(to, from)) {
                // In a ring of two, the lower coordinate is the first.
                (true, true) if from > to && size == 2 => ends[1],
                (true, _) => ends[0],
                (false, true) => ends[1],
                (false, false) => return None,
            };
            if dim < 2 {
                ways[index(first)][dim].push(at);
            }
        }
        Some(Self { dims, places, cables: ways })
    }

    /// Columns and rows of a slice.
    pub fn size(&self) -> (usize, usize) {
        (self.dims.first().copied().unwrap_or(1), self.dims.get(1).copied().unwrap_or(1))
    }

    pub fn slice_count(&self) -> usize {
        self.dims.iter().skip(2).product()
    }

    fn index(&self, slice: usize, (x, y): (usize, usize)) -> usize {
        let (columns, rows) = self.size();
        (slice * rows + y) * columns + x
    }

    /// The switch at a place of a slice, by its index in the structure.
    pub fn switch(&self, slice: usize, at: (usize, usize)) -> Option<usize> {
        self.places.get(self.index(slice, at)).copied()
    }

    /// The slice of a switch and its place in it, by the index of the switch in the structure.
    pub fn place_of(&self, switch: usize) -> Option<(usize, (usize, usize))> {
        let index = self.places.iter().position(|at| *at == switch)?;
        let (columns, rows) = self.size();
        Some((index / (columns * rows), (index % columns, index / columns % rows)))
    }

    /// The cables from a place to the next one to the right, and below.
    pub fn cables(&self, slice: usize, at: (usize, usize)) -> [&[usize]; 2] {
        match self.cables.get(self.index(slice, at)) {
            Some([right, down]) => [right, down],
            None => [&[], &[]],
        }
    }

    /// The name of a slice by its coordinates: `z 2`, or `2, 1` of several dimensions.
    pub fn slice_name(&self, slice: usize) -> String {
        let mut rest = slice;
        let mut names = Vec::new();
        for dim in self.dims.iter().skip(2) {
            names.push((rest % dim).to_string());
            rest /= dim;
        }
        names.join(", ")
    }
}

/// The numbers of a name, in their order.
fn numbers(name: &str) -> Vec<usize> {
    name.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}
