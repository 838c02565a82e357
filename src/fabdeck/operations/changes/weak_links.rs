//! The bad cables that the new tables of a plan send over: a reroute that leads more paths over a cable with errors, or at a
//! reduced rate, is asked about with that in sight.

use serde::{Deserialize, Serialize};

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_change::Plan;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{LinkId, PortId, Tables};

/// A bad cable under the tables before and after a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WeakLinkUse {
    /// What is wrong with the cable, as its problem says it.
    pub words: String,
    /// Entries of the forwarding tables of both ends that lead over it, before and after.
    pub before: usize,
    pub after: usize,
}

/// The cables of `bad` that the tables of a plan still lead over, those with most entries first. Cables that the plan takes as
/// failed are left out.
pub fn weak_links_used(look: &Snapshot, plan: &Plan, bad: &[(LinkId, String)]) -> Vec<WeakLinkUse> {
    let fabric = look.fabric();
    let failed = plan.faults(fabric);
    let open = bad.iter().filter(|(link, _)| !failed.is_link_failed(fabric, *link));
    let open: Vec<_> = open.collect();
    if open.is_empty() {
        return Vec::new();
    }
    let before = &look.observation.tables;
    let after = plan.tables_after(fabric, before);
    let entries = |tables: &Tables, link: LinkId| {
        let ends = fabric.link(link);
        [ends.a, ends.b].into_iter().map(|port| entries_over(look, tables, port)).sum()
    };
    let used = |(link, words): &(LinkId, String)| WeakLinkUse {
        words: words.clone(),
        before: entries(before, *link),
        after: entries(&after, *link),
    };
    let mut used: Vec<WeakLinkUse> = open.into_iter().map(used).filter(|used| used.after > 0).collect();
    used.sort_by_key(|used| std::cmp::Reverse(used.after));
    used
}

/// The destinations that a switch sends out of a port.
fn entries_over(look: &Snapshot, tables: &Tables, port: PortId) -> usize {
    let at = look.fabric().port(port);
    tables.lft(at.node).map_or(0, |lft| lft.routed_lids().filter(|(_, egress)| *egress == at.number).count())
}

/// `rack3-leaf[10] to spine-2[6] runs at 1x HDR of 4x HDR: 12 destinations go over it, before 9; and 1 more bad cable`.
pub fn weak_link_words(used: &[WeakLinkUse]) -> Option<String> {
    let (first, rest) = used.split_first()?;
    let count = count_words(first.after, "destination goes", "destinations go");
    let before = match first.before == first.after {
        true => "as before".to_owned(),
        false => format!("before {}", digits_in_groups(first.before)),
    };
    let more = match rest.len() {
        0 => String::new(),
        more => format!("; and over {more} more bad {}", if more == 1 { "cable" } else { "cables" }),
    };
    Some(format!("{}: {count} over it, {before}{more}", first.words))
}
