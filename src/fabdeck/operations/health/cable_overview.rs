//! The cables of a fabric in short: those in trouble, the busiest ones, and how many carry how much.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::rowset::Rowset;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::LinkId;

/// What is wrong with a cable, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CableTrouble {
    Down,
    Errors,
    Degraded,
    None,
}

/// A cable.
#[derive(Clone, PartialEq, Debug)]
pub struct CableSummary {
    pub link: LinkId,
    /// Its ends.
    pub ends: [String; 2],
    pub trouble: CableTrouble,
    /// Width and speed in use, as far as they are known.
    pub rate: String,
    /// Errors that both ends counted, and in the next field the load of the busier direction in percent.
    pub errors: Option<u64>,
    pub load: Option<u16>,
}

/// Most cables that are named, and the number of steps of load.
const MAX_CABLES: usize = 100;
pub const LOAD_STEPS: usize = 10;

/// The cables of a fabric.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CableOverview {
    /// Those in trouble, the worst first; then the others by load.
    pub rows: Vec<CableSummary>,
    pub in_trouble: usize,
    pub cables: usize,
    /// Number of cables in each tenth of load, and in the next field of those whose load is not known.
    pub by_load: [usize; LOAD_STEPS],
    pub unknown_load: usize,
}

impl CableOverview {
    pub fn new(look: &Snapshot, reading: Option<&WatchVerdict>) -> Self {
        let errored: BTreeSet<LinkId> =
            reading.map(|reading| reading.errored_links().into_iter().collect()).unwrap_or_default();
        let trouble = |link: LinkId| match () {
            () if look.is_down(link) => CableTrouble::Down,
            () if errored.contains(&link) => CableTrouble::Errors,
            () if look.is_degraded(link) == Some(true) => CableTrouble::Degraded,
            () => CableTrouble::None,
        };
        let rows = reading.map(|reading| &*reading.links.rows);
        let mut cables: Vec<(CableTrouble, LinkId, Option<u64>, Option<u16>)> = match rows {
            Some(Rowset::Links(cables)) if cables.len() == look.fabric().links().len() => cables
                .iter()
                .map(|cable| (trouble(cable.link), cable.link, cable.errors, cable.load))
                .collect(),
            _ => look.fabric().links().map(|(link, _)| (trouble(link), link, None, None)).collect(),
        };
        let mut overview = Self {
            in_trouble: cables.iter().filter(|(trouble, ..)| *trouble != CableTrouble::None).count(),
            cables: cables.len(),
            ..Self::default()
        };
        for (_, _, _, load) in &cables {
            match load {
                Some(load) => overview.by_load[(usize::from(*load) / 10).min(LOAD_STEPS - 1)] += 1,
                None => overview.unknown_load += 1,
            }
        }
        cables.sort_by_key(|(trouble, link, errors, load)| {
            let errors = errors.filter(|_| *trouble != CableTrouble::None);
            (*trouble, Reverse(errors), Reverse(*load), *link)
        });
        cables.truncate(MAX_CABLES);
        let summary = |(trouble, link, errors, load): (CableTrouble, LinkId, Option<u64>, Option<u16>)| {
            let ends = look.fabric().link(link);
            let width = look.width_in_use(link).map(|width| width.word());
            let speed = look.speed_in_use(link).map(|speed| speed.word());
            CableSummary {
                link,
                ends: [ends.a, ends.b].map(|port| look.port_name(port)),
                trouble,
                rate: [width, speed].into_iter().flatten().collect::<Vec<_>>().join(" "),
                errors,
                load,
            }
        };
        overview.rows = cables.into_iter().map(summary).collect();
        overview
    }
}
