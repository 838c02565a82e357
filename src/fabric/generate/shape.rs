//! What a name stands for: its parameters, read and checked, and what the papers' tables say of them.

use super::catalogue::{LINKS_BY_GROUPS, LINKS_PER_SWITCH};
use super::error::GenerateError;
use super::irregular::parameters::{ANY, Family, Scale};
use super::spec_values::ValuesOrDefaults;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    Demo,
    Kary { k: u32, n: u32 },
    Xgft { m: Vec<u32>, w: Vec<u32> },
    Mport { m: u32, n: u32 },
    Gft2 { n: u32, m: u32, r: u32 },
    Torus { dims: Vec<u32> },
    Mesh { dims: Vec<u32> },
    Dragonfly { a: u32, p: u32, h: u32, g: u32 },
    Cascade { groups: u32, global: u32 },
    Kautz { d: u32, k: u32 },
    Random { switches: u32, links: u32 },
    Irregular { family: Option<Family>, scale: Scale },
    Switch648,
    Racks648,
    Switch3456,
    Juropa,
    Ranger,
    Deimos,
    Tsubame2,
    Taurus,
    FullSubnet,
}

/// What the dissertation's table 6.1, else its table 4.2, gives a topology beyond its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaperRow {
    pub terminals: u32,
    pub redundancy: u32,
}

/// The most switches along one parameter: no subnet has room for more nodes.
const MAX_SWITCHES: u32 = crate::Lid::MAX as u32;
const MAX_PORTS: u32 = crate::PortNum::MAX as u32;
/// Deeper trees and higher dimensions than anyone builds; 2^15 switches have 15.
const MAX_DEPTH: u32 = 15;

/// A Cascade group: 16 x 6 switches, ten global ports each (dissertation 3.2.4).
pub const CASCADE_COLUMNS: u32 = 16;
pub const CASCADE_ROWS: u32 = 6;
pub const CASCADE_GROUP: u32 = CASCADE_COLUMNS * CASCADE_ROWS;
const CASCADE_GLOBAL: u32 = 10 * CASCADE_GROUP;

impl Shape {
    pub fn read(own: &ValuesOrDefaults<'_>) -> Result<Self, GenerateError> {
        Ok(match own.entry.name {
            "kary" => Self::Kary { k: own.number("k", 1, MAX_PORTS)?, n: own.number("n", 1, MAX_DEPTH)? },
            "xgft" => read_xgft(own)?,
            "mport" => read_mport(own)?,
            "gft2" => Self::Gft2 {
                n: own.number("n", 1, MAX_PORTS)?,
                m: own.number("m", 1, MAX_PORTS)?,
                r: own.number("r", 1, MAX_PORTS)?,
            },
            "torus" => Self::Torus { dims: own.list("dims", 2, MAX_DEPTH as usize)? },
            "mesh" => Self::Mesh { dims: own.list("dims", 1, MAX_DEPTH as usize)? },
            "dragonfly" => read_dragonfly(own)?,
            "cascade" => read_cascade(own)?,
            "kautz" => {
                Self::Kautz { d: own.number("d", 1, MAX_PORTS / 2)?, k: own.number("k", 1, MAX_DEPTH)? }
            }
            "random" => read_random(own)?,
            "irregular" => read_irregular(own)?,
            "switch648" => Self::Switch648,
            "racks648" => Self::Racks648,
            "switch3456" => Self::Switch3456,
            "juropa" => Self::Juropa,
            "ranger" => Self::Ranger,
            "deimos" => Self::Deimos,
            "tsubame2" => Self::Tsubame2,
            "taurus" => Self::Taurus,
            "full-subnet" => Self::FullSubnet,
            _ => Self::Demo,
        })
    }

    /// Every value of its own by key, in the order of the catalogue.
    pub fn values(&self) -> Vec<(&'static str, String)> {
        let joined = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        let numbers = |pairs: &[(&'static str, u32)]| {
            pairs.iter().map(|(key, value)| (*key, value.to_string())).collect::<Vec<_>>()
        };
        match self {
            Self::Kary { k, n } => numbers(&[("k", *k), ("n", *n)]),
            Self::Xgft { m, w } => vec![("m", joined(m)), ("w", joined(w))],
            Self::Mport { m, n } => numbers(&[("m", *m), ("n", *n)]),
            Self::Gft2 { n, m, r } => numbers(&[("n", *n), ("m", *m), ("r", *r)]),
            Self::Torus { dims } | Self::Mesh { dims } => vec![("dims", joined(dims))],
            Self::Dragonfly { a, p, h, g } => numbers(&[("a", *a), ("p", *p), ("h", *h), ("g", *g)]),
            Self::Cascade { groups, global } => numbers(&[("groups", *groups), ("global", *global)]),
            Self::Kautz { d, k } => numbers(&[("d", *d), ("k", *k)]),
            Self::Random { switches, links } => numbers(&[("switches", *switches), ("links", *links)]),
            Self::Irregular { family, scale } => {
                let family = family.map_or(ANY, Family::word);
                vec![("family", family.to_owned()), ("size", scale.word().to_owned())]
            }
            _ => Vec::new(),
        }
    }

    /// The row of table 6.1, else of table 4.2, that has exactly this structure.
    ///
    /// Table 6.1 calls its Kautz graph (7,3) and gives the counts of (5,3) by definition 3.2.3: both have its values.
    pub fn paper_row(&self) -> Option<PaperRow> {
        let row = |terminals, redundancy| Some(PaperRow { terminals, redundancy });
        match self {
            Self::Torus { dims } => match dims.as_slice() {
                [6, 5, 5] => row(7, 4),
                [5, 5] => row(11, 6),
                [3, 3, 3] => row(10, 4),
                _ => None,
            },
            Self::Mesh { dims } => match dims.as_slice() {
                [5, 5] => row(11, 6),
                [3, 3, 3] => row(10, 4),
                _ => None,
            },
            Self::Kary { k: 10, n: 3 } => row(11, 1),
            Self::Kautz { d: 5 | 7, k: 3 } => row(7, 2),
            Self::Kautz { d: 2, k: 4 } => row(11, 6),
            Self::Dragonfly { a: 10, p: 5, h: 5, g: 4 } => row(7, 1),
            _ => None,
        }
    }

    /// Hosts per switch that has hosts, where neither a key nor the fabric's own plan says otherwise.
    pub fn terminals(&self) -> u32 {
        if let Some(row) = self.paper_row() {
            return row.terminals;
        }
        match self {
            Self::Kary { k, .. } => *k,
            Self::Xgft { m, .. } => m.first().copied().unwrap_or(0),
            Self::Mport { m, .. } => m / 2,
            Self::Gft2 { n, .. } => *n,
            Self::Dragonfly { p, .. } => *p,
            Self::Torus { .. } | Self::Kautz { .. } => 7,
            Self::Mesh { dims } if dims.len() < 3 => 11,
            Self::Mesh { .. } => 10,
            Self::Cascade { .. } | Self::Random { .. } => 8,
            Self::Demo | Self::Irregular { .. } => 6,
            Self::Switch648 => 18,
            Self::Racks648 | Self::Switch3456 | Self::Juropa => 12,
            Self::FullSubnet => 28,
            // Hosts in all stand for these; see `hosts`.
            Self::Ranger | Self::Deimos | Self::Tsubame2 | Self::Taurus => 0,
        }
    }

    /// Hosts in all of a system whose switches are not filled alike.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Self::Ranger => Some(3_936),
            Self::Deimos => Some(728),
            Self::Tsubame2 => Some(1_408),
            Self::Taurus => Some(2_090),
            _ => None,
        }
    }

    /// The ports of a switch, before a value asks for more.
    pub fn radix(&self) -> u32 {
        match self {
            Self::Mport { m, .. } => *m,
            Self::Cascade { .. } => 48,
            Self::Switch3456 | Self::Ranger | Self::Deimos => 24,
            Self::FullSubnet => 56,
            Self::Demo => 40,
            _ => 36,
        }
    }
}

fn read_xgft(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    const LEVELS: usize = 8;
    let (m, w) = (own.list("m", 1, LEVELS)?, own.list("w", 1, LEVELS)?);
    if m.len() != w.len() {
        let allowed = format!("as many levels as m, {}", m.len());
        return Err(own.values.bad_value("w", own.text("w"), allowed));
    }
    if w.first() != Some(&1) {
        let allowed = "the first must be 1: a host hangs on one leaf";
        return Err(own.values.bad_value("w", own.text("w"), allowed));
    }
    Ok(Shape::Xgft { m, w })
}

fn read_mport(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    let m = own.number("m", 2, MAX_PORTS)?;
    if !m.is_power_of_two() {
        return Err(own.values.bad_value("m", own.text("m"), "a power of two from 2 to 128"));
    }
    Ok(Shape::Mport { m, n: own.number("n", 2, MAX_DEPTH)? })
}

fn read_dragonfly(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    let (a, p, h) =
        (own.number("a", 1, MAX_PORTS)?, own.number("p", 0, MAX_PORTS)?, own.number("h", 0, MAX_PORTS)?);
    Ok(Shape::Dragonfly { a, p, h, g: own.number("g", 1, (a * h + 1).min(MAX_SWITCHES))? })
}

fn read_cascade(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    const MAX_BUNDLE: u32 = 4;
    const PAIR: u32 = 192;
    let groups = own.number("groups", 1, 241)?;
    let most = CASCADE_GLOBAL / groups.saturating_sub(1).max(1);
    let global = match own.text("global") {
        // Bundles of four while they fit; table 6.1's two groups are joined by 192.
        LINKS_BY_GROUPS => PAIR.min((most / MAX_BUNDLE).max(1) * MAX_BUNDLE),
        _ => own.number("global", 1, most)?,
    };
    Ok(Shape::Cascade { groups, global })
}

fn read_random(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    let switches = own.number("switches", 1, MAX_SWITCHES)?;
    let links = match own.text("links") {
        LINKS_PER_SWITCH if switches > 1 => 8 * switches,
        LINKS_PER_SWITCH => 0,
        _ => own.number("links", ring_links(switches), MAX_SWITCHES * MAX_PORTS / 2)?,
    };
    if switches == 1 && links > 0 {
        return Err(own.values.bad_value("links", own.text("links"), "0 for a single switch"));
    }
    Ok(Shape::Random { switches, links })
}

fn read_irregular(own: &ValuesOrDefaults<'_>) -> Result<Shape, GenerateError> {
    let (family, scale) = (own.text("family"), own.text("size"));
    let known = Family::from_word(family);
    if known.is_none() && family != ANY {
        return Err(own.values.bad_value("family", family, Family::words()));
    }
    let bad_scale = || own.values.bad_value("size", scale, "small or large");
    Ok(Shape::Irregular { family: known, scale: Scale::from_word(scale).ok_or_else(bad_scale)? })
}

/// The cables of a ring: two switches are joined by one.
pub fn ring_links(switches: u32) -> u32 {
    match switches {
        0 | 1 => 0,
        2 => 1,
        n => n,
    }
}
