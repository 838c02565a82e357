//! Links that are errored, flap, or run slower or narrower than both of their ends can.
//!
//! One error in a second is 3,600 per hour and means nothing: the caller passes rates over a long time, such as since the
//! first sweep, and not those between two sweeps.

use std::time::Duration;

use super::rates::Rates;
use super::thresholds::Thresholds;
use crate::{Fabric, LinkId, PortId};

/// A long watch counts errors since a sweep that is at least this old and at most twice as old.
pub const ERROR_WINDOW: Duration = Duration::from_secs(1800);

/// What is wrong with a link, with its evidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LinkProblemKind {
    /// The port at one end counts too many errors.
    Errored {
        /// The port that counts.
        at: PortId,
        /// Errors per hour.
        per_hour: f64,
        /// Whether there may have been more.
        at_least: bool,
    },
    /// The port at one end discards too many packets instead of sending them: they waited too long, or the link was
    /// down. This says nothing of the cable.
    Discards {
        /// The port that counts.
        at: PortId,
        /// Packets per hour.
        per_hour: f64,
        /// Whether there may have been more.
        at_least: bool,
    },
    /// The link goes down too often.
    Flaps {
        /// The port that counts.
        at: PortId,
        /// How often the link went down, per hour.
        per_hour: f64,
        /// Whether it may have gone down more often.
        at_least: bool,
    },
    /// The link runs below what both of its ends support.
    Degraded,
}

impl Thresholds {
    /// The threshold of a kind of link problem. A degraded link has none; the value returned for it is not used.
    pub fn limit_for(&self, why: LinkProblemKind) -> f64 {
        match why {
            LinkProblemKind::Flaps { .. } => self.flaps_per_hour,
            LinkProblemKind::Errored { .. }
            | LinkProblemKind::Discards { .. }
            | LinkProblemKind::Degraded => self.errors_per_hour,
        }
    }
}

/// A link that has a problem.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkProblem {
    /// The link.
    pub link: LinkId,
    /// What is wrong with it.
    pub why: LinkProblemKind,
}

/// Finds all links that have a problem, in the order of the links. One link may have several.
pub fn link_problems(fabric: &Fabric, rates: &Rates, thresholds: &Thresholds) -> Vec<LinkProblem> {
    let mut all = Vec::new();
    for (link, ends) in fabric.links() {
        let mut add = |why| all.push(LinkProblem { link, why });
        if fabric.is_degraded(link) == Some(true) {
            add(LinkProblemKind::Degraded);
        }
        // A cable that leads back to its own port has one end.
        let both = [Some(ends.a), (ends.b != ends.a).then_some(ends.b)];
        for at in both.into_iter().flatten() {
            let Some(rates) = rates.port(at) else { continue };
            let errors = rates.errors_per_hour().filter(|rate| *rate >= thresholds.errors_per_hour);
            if let Some(per_hour) = errors {
                add(LinkProblemKind::Errored { at, per_hour, at_least: rates.errors.is_lower_bound() });
            }
            let discards = rates.discards_per_hour().filter(|rate| *rate >= thresholds.errors_per_hour);
            if let Some(per_hour) = discards {
                add(LinkProblemKind::Discards { at, per_hour, at_least: rates.discarded.is_lower_bound() });
            }
            let flaps =
                rates.flaps_per_hour().filter(|rate| *rate > 0.0 && *rate >= thresholds.flaps_per_hour);
            if let Some(per_hour) = flaps {
                add(LinkProblemKind::Flaps { at, per_hour, at_least: rates.downed.is_lower_bound() });
            }
        }
    }
    all
}
