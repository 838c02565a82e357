//! What fits into one subnet, judged from the parameters before anything is made.

use super::error::GenerateError;
use super::shape::{CASCADE_GROUP, Shape};
use super::spec::{FabricSpec, HostsOption};
use crate::{Lid, Lmc, PortNum};

/// How large a fabric would be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FabricSize {
    switches: u64,
    /// Switches that have hosts.
    leaves: u64,
    /// Links between switches at the switch that has most of them, each once.
    degree: u64,
}

/// Refuses what one subnet cannot hold.
pub fn check(spec: &FabricSpec) -> Result<(), GenerateError> {
    let fabric = spec.entry.name;
    let size = fabric_size(&spec.shape);
    let links = size.degree.saturating_mul(u64::from(spec.redundancy()));
    if links > u64::from(PortNum::MAX) {
        return Err(too_many_ports(fabric, links));
    }
    let hosts = match spec.options.hosts {
        HostsOption::InAll(all) => u64::from(all),
        HostsOption::PerSwitch(each) => size.leaves.saturating_mul(u64::from(each)),
        HostsOption::ByFabric => match spec.shape.hosts() {
            Some(all) => u64::from(all),
            None => size.leaves.saturating_mul(u64::from(spec.shape.terminals())),
        },
    };
    let switches = size.switches.saturating_mul(1 + u64::from(spec.aggregation()));
    let limit = u64::from(Lid::MAX);
    let asked = switches.saturating_add(hosts);
    if asked > limit {
        return Err(GenerateError::TooLarge { fabric, what: "nodes", asked, limit });
    }
    if let Some(lmc) = spec.options.lmc {
        // LIDs of a port begin at a multiple of their number.
        let lids = hosts.saturating_mul(lmc.lid_count().into());
        let asked = switches.next_multiple_of(lmc.lid_count().into()).saturating_add(lids);
        return match asked > limit {
            true => Err(GenerateError::TooLarge { fabric, what: "LIDs", asked, limit }),
            false => Ok(()),
        };
    }
    if let Shape::Mport { m, n } = spec.shape {
        let lmc = mport_lmc(m, n);
        if lmc > u32::from(Lmc::MAX) {
            return Err(GenerateError::LmcTooLarge { m, n, lmc, k: m / 2 });
        }
        let per_leaf = hosts.div_ceil(size.leaves);
        if per_leaf > u64::from(m / 2) {
            let allowed = format!("the addresses of the paper leave room for {} hosts per leaf", m / 2);
            let (key, value) = match spec.options.hosts {
                HostsOption::InAll(all) => ("hosts", all),
                _ => ("terminals", per_leaf as u32),
            };
            return Err(GenerateError::BadValue { fabric, key, value: value.to_string(), allowed });
        }
        let asked = size.leaves.saturating_mul(u64::from(m / 2) << lmc).saturating_add(switches);
        if asked > limit {
            return Err(GenerateError::TooLarge { fabric, what: "LIDs", asked, limit });
        }
    }
    Ok(())
}

pub fn too_many_ports(fabric: &'static str, asked: u64) -> GenerateError {
    GenerateError::TooManyPorts { fabric, asked, limit: u64::from(PortNum::MAX) }
}

/// MLID paper, section 4.1: LMC = log2((m/2)^(n-1)).
pub fn mport_lmc(m: u32, n: u32) -> u32 {
    (m / 2).trailing_zeros() * (n - 1)
}

fn fabric_size(shape: &Shape) -> FabricSize {
    let of = |switches: u64, leaves: u64, degree: u64| FabricSize { switches, leaves, degree };
    match shape {
        Shape::Kary { k, n } => {
            let (k, n) = (u64::from(*k), u64::from(*n));
            let level = k.saturating_pow(n as u32 - 1);
            of(level.saturating_mul(n), level, k * n.saturating_sub(1).min(2))
        }
        Shape::Xgft { m, w } => xgft_size(m, w),
        Shape::Mport { m, n } => {
            let level = u64::from(m / 2).saturating_pow(n - 1);
            of(level.saturating_mul(u64::from(2 * n - 1)), level.saturating_mul(2), u64::from(*m))
        }
        Shape::Gft2 { m, r, .. } => of(u64::from(m + r), u64::from(*r), u64::from(*m.max(r))),
        Shape::Torus { dims } | Shape::Mesh { dims } => {
            let all = product(dims);
            of(all, all, 2 * dims.len() as u64)
        }
        Shape::Dragonfly { a, h, g, .. } => {
            let all = u64::from(*a) * u64::from(*g);
            of(all, all, u64::from(a - 1 + h))
        }
        Shape::Cascade { groups, .. } => {
            let all = u64::from(CASCADE_GROUP * groups);
            of(all, all, 40)
        }
        Shape::Kautz { d, k } => {
            let all = u64::from(*d).saturating_pow(k - 1).saturating_mul(u64::from(d + 1));
            of(all, all, 2 * u64::from(*d))
        }
        Shape::Random { switches, links } => {
            let all = u64::from(*switches);
            of(all, all, (2 * u64::from(*links)).div_ceil(all))
        }
        // What is drawn is not known yet; too many ports are found when cables are wired.
        Shape::Irregular { scale, .. } => of(scale.most_switches(), scale.most_switches(), 1),
        Shape::Demo => of(9, 6, 12),
        Shape::Switch648 => of(54, 36, 36),
        Shape::Racks648 => of(108, 54, 36),
        Shape::Switch3456 => of(720, 288, 24),
        Shape::Juropa => of(864, 432, 36),
        Shape::Ranger => of(1_440, 384, 24),
        Shape::Deimos => of(108, 72, 24),
        Shape::Tsubame2 => of(258, 96, 36),
        Shape::Taurus => of(211, 117, 36),
        Shape::FullSubnet => of(3_920, 1_568, 56),
    }
}

fn xgft_size(m: &[u32], w: &[u32]) -> FabricSize {
    let mut size = FabricSize { switches: 0, leaves: product(m.get(1..).unwrap_or(&[])), degree: 0 };
    for level in 0..m.len() {
        let switches = product(&m[level + 1..]).saturating_mul(product(&w[..=level]));
        let down = if level == 0 { 0 } else { m[level] };
        let up = w.get(level + 1).copied().unwrap_or(0);
        size.switches = size.switches.saturating_add(switches);
        size.degree = size.degree.max(u64::from(down) + u64::from(up));
    }
    size
}

fn product(factors: &[u32]) -> u64 {
    factors.iter().fold(1, |all, factor| all.saturating_mul(u64::from(*factor)))
}
