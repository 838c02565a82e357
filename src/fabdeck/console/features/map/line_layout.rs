//! Where switches, cables and hosts are on the drawn map. A layout is kept until the structure or the size changes.
//!
//! ```text
//! ╭─────────╮   ╭─────────╮     a box for each switch, or a sign where a rank has too many
//! │ spine-1 │   │ spine-2 │
//! ╰┬┬┬┬┬┬┬┬┬╯   ╰┬┬┬┬┬┬┬┬┬╯     a tick for each cable, in the order of the other ends
//!   ⡇ ⠱⡀   ⠑⢄  ⡠⠊  ⡰⠁ ⡇        cables from tick to tick
//!  ╭┴┴┴┴┴╮       ╭┴┴┴┴┴╮
//!  │leaf1│       │leaf2│
//!  ╰─────╯       ╰─────╯
//!  ▇ · ▇ ·       · · ▇ ·        hosts: a bar each, or a row each with its name
//! ```

use crate::operations::fabric_map::structure::MapStructure;

/// Most switches and cables that are drawn as lines.
pub const MAX_SWITCHES: usize = 48;
pub const MAX_CABLES: usize = 400;

/// Least width of a box around the name of a switch.
const BOX_MIN_WIDTH: u16 = 8;
/// Largest width of a box.
const BOX_MAX_WIDTH: u16 = 24;
/// Least number of rows between two ranks, and that where hosts have a row each.
const BAND_MIN_ROWS: u16 = 3;
const BAND_NAMED_ROWS: u16 = 8;
/// Least columns of a switch whose hosts have a row each with name and bar.
const NAMED_MIN_WIDTH: u16 = 11;
/// Least columns of a map.
const MAP_MIN_WIDTH: u16 = 40;

/// The place of a switch, in columns and rows of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchPlace {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    /// 3 for a box, 1 for a sign.
    pub height: u16,
}

impl SwitchPlace {
    pub fn middle(self) -> u16 {
        self.x + self.width / 2
    }

    /// The first row below.
    pub fn below(self) -> u16 {
        self.y + self.height
    }
}

/// The line of a cable in dots: two columns and four rows of them in each cell. A cable within a rank has a bend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CablePlace {
    pub from: (i32, i32),
    pub bend: Option<(i32, i32)>,
    pub to: (i32, i32),
}

impl CablePlace {
    /// The cell at a share of the way, in tenths.
    pub fn cell_at(self, tenths: i32) -> (u16, u16) {
        let (from, to, tenths) = match self.bend {
            Some(bend) => (self.from, bend, 10),
            None => (self.from, self.to, tenths),
        };
        let between = |from: i32, to: i32| from + (to - from) * tenths / 10;
        ((between(from.0, to.0) / 2).max(0) as u16, (between(from.1, to.1) / 4).max(0) as u16)
    }
}

/// How the hosts of the lowest rank are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostRows {
    None,
    /// A bar for each host, and a row with the first and the last name.
    Bars,
    /// A row for each host.
    Named(u16),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineLayout {
    pub width: u16,
    pub height: u16,
    /// The place of each switch, and of each cable.
    pub switches: Vec<SwitchPlace>,
    pub cables: Vec<CablePlace>,
    pub hosts: HostRows,
    /// The first row of the hosts.
    pub hosts_y: u16,
    /// The rows below the map: the path, the legend, the counts.
    pub footer: u16,
}

impl LineLayout {
    /// Whether a map is drawn as lines where there is room for it.
    pub fn draws(structure: &MapStructure) -> bool {
        let few = structure.switches.len() <= MAX_SWITCHES && structure.cables.len() <= MAX_CABLES;
        few && !structure.switches.is_empty()
    }

    /// The layout for an area; `None` where it is too small, or the fabric too large. With `path`, the footer has a row
    /// for the lit path.
    pub fn new(structure: &MapStructure, (width, height): (u16, u16), path: bool) -> Option<Self> {
        if !Self::draws(structure) || width < MAP_MIN_WIDTH {
            return None;
        }
        let footer = u16::from(path) + if height >= 30 { 2 } else { 1 };
        let slots: Vec<u16> = structure.ranks.iter().map(|count| width / (*count).max(1) as u16).collect();
        if slots.iter().any(|slot| *slot < 2) {
            return None;
        }
        let heights: Vec<u16> = slots.iter().map(|slot| if *slot > BOX_MIN_WIDTH { 3 } else { 1 }).collect();
        let bands = (slots.len() - 1) as u16;
        let room = height.checked_sub(footer + heights.iter().sum::<u16>())?;
        let (hosts, rows) = host_rows(structure, slots.last().copied()?, room, bands)?;
        let band = (room - rows).checked_div(bands).unwrap_or(0);
        let switches = place_switches(structure, &slots, &heights, band);
        let hosts_y = switches.last().map_or(0, |place| place.below());
        let cables = place_cables(structure, &switches, &heights, band);
        Some(Self { width, height, switches, cables, hosts, hosts_y, footer })
    }
}

/// How the hosts of the lowest rank fit, and their rows; `None` where the cables have no room.
fn host_rows(structure: &MapStructure, slot: u16, room: u16, bands: u16) -> Option<(HostRows, u16)> {
    let room = room.checked_sub(bands * BAND_MIN_ROWS)?;
    let lowest = structure.ranks.len() - 1;
    let of_rank = structure.switches.iter().filter(|switch| switch.rank == lowest);
    let most = of_rank.map(|switch| switch.hosts.len()).max().unwrap_or(0) as u16;
    // Steep cables in few rows cannot be followed.
    let named_rows = most + bands * (BAND_NAMED_ROWS - BAND_MIN_ROWS);
    let named = most > 0 && slot > NAMED_MIN_WIDTH && named_rows <= room;
    Some(match () {
        () if named => (HostRows::Named(most), most),
        () if most > 0 && room >= 2 => (HostRows::Bars, 2),
        () => (HostRows::None, 0),
    })
}

fn place_switches(structure: &MapStructure, slots: &[u16], heights: &[u16], band: u16) -> Vec<SwitchPlace> {
    let mut places = Vec::with_capacity(structure.switches.len());
    let mut y = 0;
    let width: u16 =
        structure.ranks.iter().zip(slots).map(|(count, slot)| *count as u16 * slot).max().unwrap_or(0);
    for (rank, count) in structure.ranks.iter().enumerate() {
        let (slot, height) = (&slots[rank], heights[rank]);
        let wide = match height {
            // Narrow boxes need each column for their names.
            3 => slot
                .saturating_sub(if *slot < BOX_MAX_WIDTH { 1 } else { 2 })
                .clamp(BOX_MIN_WIDTH, BOX_MAX_WIDTH),
            _ => 1,
        };
        for at in 0..*count as u16 {
            // A rank is spread over the whole width, whatever remains of the division.
            let left = u32::from(at) * u32::from(width) / (*count as u32);
            let x = left as u16 + slot.saturating_sub(wide) / 2;
            places.push(SwitchPlace { x, y, width: wide, height });
        }
        y += height + band;
    }
    places
}

/// The end of a cable at a switch: the side, and the middle of the switch at its other end.
type CableEnd = (u16, usize);

fn place_cables(
    structure: &MapStructure,
    switches: &[SwitchPlace],
    heights: &[u16],
    band: u16,
) -> Vec<CablePlace> {
    let lowest = structure.ranks.len() - 1;
    let rank = |at: usize| structure.switches[at].rank;
    // Cables within the lowest rank are above it, because hosts are below.
    let above = |at: usize, other: usize| match rank(at).cmp(&rank(other)) {
        std::cmp::Ordering::Equal => rank(at) == lowest && lowest > 0,
        order => order.is_gt(),
    };
    let mut ends: Vec<[Vec<CableEnd>; 2]> = vec![Default::default(); switches.len()];
    for (index, cable) in structure.cables.iter().enumerate() {
        for (at, other) in [(cable.upper, cable.lower), (cable.lower, cable.upper)] {
            ends[at][usize::from(above(at, other))].push((switches[other].middle(), index));
        }
    }
    let mut dots = vec![[(0, 0); 2]; structure.cables.len()];
    for (at, sides) in ends.iter_mut().enumerate() {
        let place = switches[at];
        for (side, cables) in sides.iter_mut().enumerate() {
            cables.sort_unstable();
            let (left, wide) = match place.height {
                3 => (place.x + 1, place.width - 2),
                _ => (place.x, place.width),
            };
            let y = match side {
                1 => i32::from(place.y) * 4 - 1,
                _ => i32::from(place.below()) * 4,
            };
            let count = cables.len() as i32;
            for (order, (_, index)) in cables.iter().enumerate() {
                let x = i32::from(left) * 2 + (2 * order as i32 + 1) * i32::from(wide) / count;
                let end = usize::from(structure.cables[*index].lower == at);
                dots[*index][end] = (x, y);
            }
        }
    }
    let bend_of = |cable: &crate::operations::fabric_map::structure::MapCable,
                   [from, to]: [(i32, i32); 2]| {
        if rank(cable.upper) != rank(cable.lower) {
            return None;
        }
        let deep = (2 + (to.0 - from.0).abs() / 8).min(i32::from(band).max(1) * 4 - 1);
        let up = above(cable.upper, cable.lower);
        Some(((from.0 + to.0) / 2, if up { from.1 - deep } else { from.1 + deep }))
    };
    debug_assert_eq!(heights.len(), structure.ranks.len());
    let place = |(cable, ends): (&crate::operations::fabric_map::structure::MapCable, [(i32, i32); 2])| {
        CablePlace { from: ends[0], bend: bend_of(cable, ends), to: ends[1] }
    };
    structure.cables.iter().zip(dots).map(place).collect()
}
