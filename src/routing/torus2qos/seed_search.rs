//! Coordinates from links whose directions are stated. A switch lies next to all of its neighbours, so most switches have
//! one possible place once some of their neighbours have one. Where several remain, they are tried in turn.

use crate::problem::switch_name;
use std::collections::{BTreeSet, VecDeque};

use fabdeck_fabric::{Fabric, Guid, NodeKind, SwitchGraph, TORUS_DIMENSIONS, TorusDescription, TorusSeed};

use super::coordinates::{NAMES, Place, TorusCoordinates, place_count, step};

/// Most places that are tried where links leave a choice.
const MAX_TRIES: usize = 2_000;

/// Finds the coordinates by the first seed whose switches all exist; or the reason why there are none.
pub(super) fn find_places(
    fabric: &Fabric,
    graph: &SwitchGraph,
    description: &TorusDescription,
) -> Result<TorusCoordinates, String> {
    let count = place_count(description.radix)
        .ok_or_else(|| "the torus of --torus has more places than a subnet can have switches".to_owned())?;
    if graph.switch_count() > count {
        return Err(format!(
            "the torus of --torus has {count} places, and the fabric has {} switches",
            graph.switch_count()
        ));
    }
    let switch = |guid: Guid| fabric.node_of(NodeKind::Switch, guid).map(|id| id.0);
    let is_there = |seed: &&TorusSeed| {
        switch(seed.from).is_some() && seed.links.iter().all(|link| switch(link.to).is_some())
    };
    let seed = description.seeds.iter().find(is_there);
    let seed = seed.ok_or("no seed of --torus has all its switches in this fabric")?;
    let mut search = PlaceSearch::new(graph, description);
    let shape = search.shape;
    let origin: Place = std::array::from_fn(|at| {
        (-i64::from(seed.dateline[at])).rem_euclid(i64::from(description.radix[at])) as u32
    });
    let mut fixed = vec![(switch(seed.from), Some(origin))];
    for link in &seed.links {
        // Of two switches each is on both sides of the other.
        let is_positive = match description.radix[link.dimension] {
            2 => origin[link.dimension] == 0,
            _ => link.is_positive,
        };
        let place = step(shape, origin, link.dimension, is_positive);
        if place.is_none() {
            return Err(format!(
                "a link of the seed at {} leads out of the mesh in {}: move its dateline",
                seed.from, NAMES[link.dimension]
            ));
        }
        fixed.push((switch(link.to), place));
    }
    let mut state = PlaceState::new(graph.switch_count(), count);
    for (switch, place) in fixed.into_iter().filter_map(|(switch, place)| Some((switch?, place?))) {
        if !search.put(&mut state, switch, place) {
            return Err(format!("the links of the seed at {} contradict each other", seed.from));
        }
    }
    let state = search.solve(state).map_err(|failure| match failure {
        SearchFailure::Contradiction => {
            format!("its links do not fit the torus of --torus, beginning at the seed at {}", seed.from)
        }
        SearchFailure::TooManyTries => format!(
            "the seed at {} leaves too many choices: state links in both directions of each dimension",
            seed.from
        ),
    })?;
    let places: Option<Vec<Place>> = state.place.iter().copied().collect();
    let Some(places) = places else {
        let lonely = state.place.iter().position(Option::is_none).unwrap_or(0);
        let name = switch_name(fabric, lonely as u32);
        return Err(format!("no links lead from the seed at {} to {name}", seed.from));
    };
    TorusCoordinates::new(fabric, graph, description.radix, description.is_closed, places)
}

enum SearchFailure {
    Contradiction,
    TooManyTries,
}

/// The places that are known so far.
#[derive(Clone)]
struct PlaceState {
    place: Vec<Option<Place>>,
    is_taken: Vec<bool>,
    /// Switches next to one whose place became known.
    queue: VecDeque<u32>,
    /// Switches with several possible places.
    open: BTreeSet<u32>,
}

impl PlaceState {
    fn new(switches: usize, places: usize) -> Self {
        Self {
            place: vec![None; switches],
            is_taken: vec![false; places],
            queue: VecDeque::new(),
            open: BTreeSet::new(),
        }
    }
}

struct PlaceSearch {
    neighbours: Vec<Vec<u32>>,
    shape: (Place, [bool; TORUS_DIMENSIONS]),
    tries: usize,
}

impl PlaceSearch {
    fn new(graph: &SwitchGraph, description: &TorusDescription) -> Self {
        let neighbours = |switch: u32| {
            let all: BTreeSet<u32> =
                graph.channels()[graph.outgoing(switch)].iter().map(|channel| channel.to).collect();
            all.into_iter().collect()
        };
        let closed = std::array::from_fn(|at| description.is_closed[at] && description.radix[at] > 2);
        Self {
            neighbours: (0..graph.switch_count() as u32).map(neighbours).collect(),
            shape: (description.radix, closed),
            tries: 0,
        }
    }

    fn number(&self, [x, y, z]: Place) -> usize {
        let [_, wide, deep] = self.shape.0;
        ((x * wide + y) * deep + z) as usize
    }

    /// Puts a switch at a place, unless another is there or one of its neighbours is elsewhere.
    fn put(&self, state: &mut PlaceState, switch: u32, place: Place) -> bool {
        match state.place[switch as usize] {
            Some(known) => return known == place,
            None if !self.is_possible(state, switch, place) => return false,
            None => {}
        }
        state.place[switch as usize] = Some(place);
        state.is_taken[self.number(place)] = true;
        state.open.remove(&switch);
        state.queue.extend(&self.neighbours[switch as usize]);
        true
    }

    fn around(&self, place: Place) -> impl Iterator<Item = Place> {
        let ways = (0..TORUS_DIMENSIONS).flat_map(|dimension| [(dimension, true), (dimension, false)]);
        ways.filter_map(move |(dimension, is_positive)| step(self.shape, place, dimension, is_positive))
    }

    fn is_possible(&self, state: &PlaceState, switch: u32, place: Place) -> bool {
        let mut known =
            self.neighbours[switch as usize].iter().filter_map(|other| state.place[*other as usize]);
        !state.is_taken[self.number(place)]
            && known.all(|known| self.around(place).any(|beside| beside == known))
    }

    /// The places that a switch can have by those of its neighbours.
    fn candidates(&self, state: &PlaceState, switch: u32) -> Vec<Place> {
        let known = self.neighbours[switch as usize].iter().find_map(|other| state.place[*other as usize]);
        let Some(known) = known else { return Vec::new() };
        let fits = |place: &Place| self.is_possible(state, switch, *place);
        self.around(known).filter(fits).collect()
    }

    /// Fixes all switches with one possible place; `false` where some switch has none.
    fn settle(&self, state: &mut PlaceState) -> bool {
        while let Some(switch) = state.queue.pop_front() {
            if state.place[switch as usize].is_some() {
                continue;
            }
            match self.candidates(state, switch).as_slice() {
                [] => return false,
                [one] => {
                    let one = *one;
                    self.put(state, switch, one);
                }
                _ => _ = state.open.insert(switch),
            }
            if state.queue.is_empty() {
                state.queue.extend(self.newly_decided(state));
            }
        }
        true
    }

    /// Open switches that have lost all choices but one, because other switches took them.
    fn newly_decided(&self, state: &PlaceState) -> Vec<u32> {
        let decided = |switch: &u32| self.candidates(state, *switch).len() <= 1;
        state.open.iter().copied().filter(decided).collect()
    }

    /// Tries the places of switches with a choice, the one with the fewest first.
    fn solve(&mut self, first: PlaceState) -> Result<PlaceState, SearchFailure> {
        let mut stack = vec![first];
        while let Some(mut state) = stack.pop() {
            if !self.settle(&mut state) {
                continue;
            }
            let choices = state.open.iter().map(|switch| (self.candidates(&state, *switch), *switch));
            let Some((places, switch)) = choices.min_by_key(|(places, _)| places.len()) else {
                return Ok(state);
            };
            self.tries += places.len();
            if self.tries > MAX_TRIES {
                return Err(SearchFailure::TooManyTries);
            }
            for place in places.into_iter().rev() {
                let mut tried = state.clone();
                if self.put(&mut tried, switch, place) {
                    stack.push(tried);
                }
            }
        }
        Err(SearchFailure::Contradiction)
    }
}
