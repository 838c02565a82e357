//! What an operator states about a torus or mesh: its size, where its coordinates begin, and which way they count.

use super::{Guid, PortNum};

/// Dimensions of a torus, in the order in which routes take them: x, y, z.
pub const TORUS_DIMENSIONS: usize = 3;

/// A torus or mesh as its operator describes it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TorusDescription {
    /// The number of switches in each dimension; 1 for a dimension that does not exist.
    pub radix: [u32; TORUS_DIMENSIONS],
    /// Whether the lines of a dimension close to rings.
    pub is_closed: [bool; TORUS_DIMENSIONS],
    /// Links that fix the coordinates. The first seed whose switches all exist counts.
    pub seeds: Vec<TorusSeed>,
    /// The order of ports in which hosts take turns on parallel cables; ports that are not named follow by number.
    pub port_order: Vec<PortNum>,
}

/// Links of one switch whose directions are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TorusSeed {
    /// The switch where all links begin.
    pub from: Guid,
    /// The links.
    pub links: Vec<SeedLink>,
    /// How far the origin lies from that switch, in each dimension.
    pub dateline: [i32; TORUS_DIMENSIONS],
}

/// A neighbour of a seed's switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeedLink {
    /// The dimension: 0 for x, 1 for y, 2 for z.
    pub dimension: usize,
    /// Whether the coordinate grows towards the neighbour.
    pub is_positive: bool,
    /// The neighbour.
    pub to: Guid,
}
