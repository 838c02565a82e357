//! The figures that colour the drawn map, by cable and by switch. They are summed up when a reading arrives; a frame only
//! looks them up.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::rowset::Rowset;
use crate::operations::watch::hot_ports::HotPort;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{LinkId, NodeId};
use fabdeck_routing::analysis::PathIndex;

/// What the colours of the map say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MapQuantity {
    #[default]
    Wait,
    Load,
    Errors,
    Paths,
}

impl MapQuantity {
    pub const ALL: &[Self] = &[Self::Wait, Self::Load, Self::Errors, Self::Paths];

    pub fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Load => "load",
            Self::Errors => "errors",
            Self::Paths => "paths",
        }
    }

    /// The next quantity of the round.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    /// The scale in words: the quantity, its least and its most.
    pub fn scale(self) -> [&'static str; 3] {
        match self {
            Self::Wait => ["wait, % of time", "0", "100 %"],
            Self::Load => ["load", "0", "100 %"],
            Self::Errors => ["errors an hour", "0", "1,000 and more"],
            Self::Paths => ["paths", "0", "busiest cable"],
        }
    }
}

/// The step of a percentage: 0 below 1 %, then four steps.
pub fn percent_step(percent: u16) -> u8 {
    match percent {
        0 => 0,
        1..25 => 1,
        25..50 => 2,
        50..75 => 3,
        _ => 4,
    }
}

/// The figures of a port, or the worse ones of several ports. `None` is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapFigures {
    /// Share of the time in percent, where the length of a tick is known.
    wait: Option<u16>,
    /// The level of waiting, from 0 to 7.
    wait_level: Option<u8>,
    load: Option<u16>,
    errors: Option<u64>,
    paths: Option<u64>,
    /// Percentage of the paths over the busiest cable.
    paths_share: u16,
}

impl MapFigures {
    pub fn of_port(row: &HotPort) -> Self {
        let level = row.waited_levels.last().copied().filter(|level| *level < 8);
        Self {
            wait: row.time_waited.map(|share| (share * 100.0).round() as u16),
            wait_level: level,
            load: row.used,
            errors: row.errors_per_hour,
            ..Self::default()
        }
    }

    /// Takes the worse of both figures.
    pub fn worsen(&mut self, other: &Self) {
        self.wait = self.wait.max(other.wait);
        self.wait_level = self.wait_level.max(other.wait_level);
        self.load = self.load.max(other.load);
        self.errors = self.errors.max(other.errors);
        self.paths = self.paths.max(other.paths);
        self.paths_share = self.paths_share.max(other.paths_share);
    }

    /// Sets the paths over a port, of which the busiest cable has `most`.
    pub fn set_paths(&mut self, paths: u64, most: u64) {
        (self.paths, self.paths_share) = (Some(paths), (paths * 100).div_ceil(most.max(1)) as u16);
    }

    /// A number that orders ports by the quantity; `None` where it is not known.
    pub fn score(&self, quantity: MapQuantity) -> Option<u64> {
        match quantity {
            // A level stands for the percentage that it begins with.
            MapQuantity::Wait => {
                self.wait.or(self.wait_level.map(|level| u16::from(level) * 14)).map(u64::from)
            }
            MapQuantity::Load => self.load.map(u64::from),
            MapQuantity::Errors => self.errors,
            MapQuantity::Paths => self.paths,
        }
    }

    /// The step from 0 to 4; `None` where the quantity is not known.
    pub fn step(&self, quantity: MapQuantity) -> Option<u8> {
        match quantity {
            MapQuantity::Wait => match self.wait {
                Some(wait) => Some(percent_step(wait)),
                None => self.wait_level.map(|level| level.div_ceil(2)),
            },
            MapQuantity::Load => self.load.map(percent_step),
            MapQuantity::Errors => {
                self.errors.map(|errors| errors.checked_ilog10().map_or(0, |digits| digits.min(3) as u8 + 1))
            }
            MapQuantity::Paths => self.paths.map(|_| percent_step(self.paths_share)),
        }
    }

    /// The height of a bar; 0 where the quantity is next to nothing.
    pub fn share(&self, quantity: MapQuantity) -> Option<f64> {
        let percent = |percent: u16| f64::from(percent) / 100.0;
        match quantity {
            MapQuantity::Wait => {
                self.wait.map(percent).or(self.wait_level.map(|level| f64::from(level) / 7.0))
            }
            MapQuantity::Load => self.load.map(percent),
            MapQuantity::Errors => self.errors.map(|errors| (errors as f64).ln_1p() / 1000f64.ln_1p()),
            MapQuantity::Paths => self.paths.map(|_| percent(self.paths_share)),
        }
    }

    /// The figure as text; `None` where it is not known. Of a wait in ticks of unknown length, only the step is known.
    pub fn text(&self, quantity: MapQuantity) -> Option<String> {
        match quantity {
            MapQuantity::Wait => match (self.wait, self.wait_level) {
                (Some(wait), _) => Some(format!("{wait} %")),
                (None, Some(0)) => Some("none".to_owned()),
                (None, Some(level)) => Some(format!("level {level}")),
                (None, None) => None,
            },
            MapQuantity::Load => self.load.map(|load| format!("{load} %")),
            MapQuantity::Errors => self.errors.map(|errors| format!("{}/h", digits_in_groups(errors))),
            MapQuantity::Paths => self.paths.map(digits_in_groups),
        }
    }

    /// The figure in three columns: a percentage without its sign, or the paths in thousands.
    pub fn short_text(&self, quantity: MapQuantity) -> Option<String> {
        let number = match quantity {
            MapQuantity::Wait => u64::from(self.wait?),
            MapQuantity::Load => u64::from(self.load?),
            MapQuantity::Errors => self.errors?,
            MapQuantity::Paths => self.paths?,
        };
        Some(match number {
            0..1_000 => number.to_string(),
            1_000..100_000 => format!("{}k", number / 1_000),
            100_000..1_000_000 => format!(".{}M", number / 100_000),
            _ => format!("{}M", number / 1_000_000),
        })
    }
}

/// The figures of a reading.
#[derive(Clone, Debug, Default)]
pub struct FigureTable {
    /// The reading and the paths, by their addresses.
    of: Option<(usize, usize)>,
    links: Vec<MapFigures>,
    nodes: Vec<MapFigures>,
}

impl FigureTable {
    /// Whether the figures are those of a reading and paths on a fabric.
    pub fn is_of(
        &self,
        look: &Snapshot,
        reading: Option<&Arc<WatchVerdict>>,
        paths: Option<&Arc<PathIndex>>,
    ) -> bool {
        let fabric = look.fabric();
        let same_size = self.links.len() == fabric.links().len() && self.nodes.len() == fabric.nodes().len();
        self.of == Some(addresses(reading, paths)) && same_size
    }

    /// The figures of a reading and of paths, as far as they are known.
    pub fn new(look: &Snapshot, reading: Option<&Arc<WatchVerdict>>, paths: Option<&Arc<PathIndex>>) -> Self {
        let (of, fabric) = (addresses(reading, paths), look.fabric());
        let mut links = vec![MapFigures::default(); fabric.links().len()];
        let mut nodes = vec![MapFigures::default(); fabric.nodes().len()];
        if let Some(Rowset::Hot(rows)) = reading.map(|reading| &*reading.ports.rows) {
            for row in rows {
                let (figures, port) = (MapFigures::of_port(row), fabric.port(row.port));
                nodes[port.node.index()].worsen(&figures);
                if let Some(link) = port.link {
                    links[link.index()].worsen(&figures);
                }
            }
        }
        let mut table = Self { of: Some(of), links, nodes };
        if let Some(paths) = paths {
            table.set_paths(look, paths, None);
        }
        table
    }

    /// The numbers of links and nodes.
    pub fn size(&self) -> (usize, usize) {
        (self.links.len(), self.nodes.len())
    }

    /// The figures of paths alone; the scale ends at `most`, where that is more than the busiest cable has.
    pub fn of_paths(look: &Snapshot, paths: &PathIndex, most: u64) -> Self {
        let fabric = look.fabric();
        let links = vec![MapFigures::default(); fabric.links().len()];
        let nodes = vec![MapFigures::default(); fabric.nodes().len()];
        let mut table = Self { of: None, links, nodes };
        table.set_paths(look, paths, Some(most));
        table
    }

    /// Figures of a fabric on which no path is.
    pub fn of_no_paths(look: &Snapshot) -> Self {
        let fabric = look.fabric();
        let none = MapFigures { paths: Some(0), ..MapFigures::default() };
        Self { of: None, links: vec![none; fabric.links().len()], nodes: vec![none; fabric.nodes().len()] }
    }

    /// Sets the paths over a cable, whose scale ends at `most`.
    pub fn set_link_paths(&mut self, link: LinkId, paths: u64, most: u64) {
        if let Some(figures) = self.links.get_mut(link.index()) {
            figures.set_paths(paths, most);
        }
    }

    /// Sets the paths over each cable between switches, and of each node those of its busiest cable.
    fn set_paths(&mut self, look: &Snapshot, paths: &PathIndex, most: Option<u64>) {
        let fabric = look.fabric();
        let over = |(id, _)| paths.load_of(id).map(|[there, back]| there.max(back));
        let all: Vec<Option<u64>> = fabric.links().map(over).collect();
        let busiest = all.iter().flatten().copied().max().unwrap_or(0);
        let most = busiest.max(most.unwrap_or(0)).max(1);
        for ((figures, paths), (_, link)) in self.links.iter_mut().zip(all).zip(fabric.links()) {
            let share = paths.map_or(0, |paths| (paths * 100).div_ceil(most) as u16);
            (figures.paths, figures.paths_share) = (paths, share);
            for port in [link.a, link.b] {
                let node = &mut self.nodes[fabric.port(port).node.index()];
                (node.paths, node.paths_share) = (node.paths.max(paths), node.paths_share.max(share));
            }
        }
    }

    /// The worse of both directions of a cable.
    pub fn link(&self, id: LinkId) -> MapFigures {
        self.links.get(id.index()).copied().unwrap_or_default()
    }

    /// The worst of what a node sends.
    pub fn node(&self, id: NodeId) -> MapFigures {
        self.nodes.get(id.index()).copied().unwrap_or_default()
    }
}

fn addresses(reading: Option<&Arc<WatchVerdict>>, paths: Option<&Arc<PathIndex>>) -> (usize, usize) {
    let address = |at: Option<usize>| at.unwrap_or(0);
    (
        address(reading.map(|reading| Arc::as_ptr(reading) as usize)),
        address(paths.map(|paths| Arc::as_ptr(paths) as usize)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_at_one_percent_and_errors_rise_by_ten() {
        assert_eq!([0, 1, 24, 25, 74, 75, 100].map(percent_step), [0, 1, 1, 2, 3, 4, 4]);
        let errors = |errors| MapFigures { errors: Some(errors), ..MapFigures::default() };
        let steps = [0, 1, 9, 10, 100, 1_000, 1_000_000].map(|count| errors(count).step(MapQuantity::Errors));
        assert_eq!(steps.map(Option::unwrap), [0, 1, 1, 2, 3, 4, 4]);
        assert_eq!(MapFigures::default().step(MapQuantity::Wait), None, "unknown is no zero");
    }

    #[test]
    fn quantities_go_round() {
        let mut quantity = MapQuantity::Wait;
        for word in ["load", "errors", "paths", "wait"] {
            quantity = quantity.next();
            assert_eq!(quantity.word(), word);
        }
    }
}
