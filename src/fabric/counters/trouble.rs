//! Links that are errored, flap, or run slower or narrower than both of their ends can.
//!
//! One error in a second is 3,600 an hour and means nothing: whoever asks gives rates over a long time, such as that since
//! the first look, and not those between two sweeps.

use std::time::Duration;

use super::rates::Rates;
use super::thresholds::Thresholds;
use crate::{Fabric, LinkId, PortId};

/// Whoever watches for long tells errors since a sweep that lies back so much at least, and twice as much at the most.
pub const ANCHOR: Duration = Duration::from_secs(1800);

/// What is wrong with a link, and what tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Why {
    /// So many errors an hour, counted at this end.
    Errored { at: PortId, per_hour: f64, at_least: bool },
    /// It went down so many times an hour.
    Flaps { at: PortId, per_hour: f64, at_least: bool },
    /// It runs below what both of its ends say they can.
    Degraded,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trouble {
    pub link: LinkId,
    pub why: Why,
}

/// All links with something wrong, in the order of links; one may have several things.
pub fn troubles(fabric: &Fabric, rates: &Rates, thresholds: &Thresholds) -> Vec<Trouble> {
    let mut all = Vec::new();
    for (link, ends) in fabric.links() {
        let mut add = |why| all.push(Trouble { link, why });
        if fabric.degraded(link) == Some(true) {
            add(Why::Degraded);
        }
        // A cable that leads back to its own port has one end.
        let both = [Some(ends.a), (ends.b != ends.a).then_some(ends.b)];
        for at in both.into_iter().flatten() {
            let Some(rates) = rates.of(at) else { continue };
            let errors = rates.errors_per_hour().filter(|rate| *rate >= thresholds.errors_per_hour);
            if let Some(per_hour) = errors {
                add(Why::Errored { at, per_hour, at_least: rates.errors.is_bound() });
            }
            let flaps =
                rates.flaps_per_hour().filter(|rate| *rate > 0.0 && *rate >= thresholds.flaps_per_hour);
            if let Some(per_hour) = flaps {
                add(Why::Flaps { at, per_hour, at_least: rates.downed.is_bound() });
            }
        }
    }
    all
}
