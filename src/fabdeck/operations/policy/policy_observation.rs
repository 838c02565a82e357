//! What a sweep of a watch shows of the links of a policy.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::isolation_plan::{carries_paths, connected_losses, link_between};
use super::link_decisions::{
    BadLinkObservation, IsolatedObservation, PolicyObservation, PolicyState, SightFault,
};
use super::link_troubles::{BadLinkEvidence, LinkTroubles};
use super::policy_file::Policy;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::event_store::cable_places::{ends_of_link, link_ends};
use crate::operations::event_store::stored_batch::LinkEnds;
use crate::operations::event_store::watch_store::bit_error_rate;
use crate::operations::health::table_certificate::uncertified_reason;
use crate::operations::ledger::link_ledger::LinkLedger;
use crate::operations::ledger::period::PeriodLength;
use fabdeck_fabric::LinkId;
use fabdeck_fabric::observe::{FabricEvent, PortIdentity, Sweep};

/// A sweep is stale that took this many intervals.
const MAX_INTERVALS: u32 = 2;

/// A sweep, with what the watch knows of the fabric then.
#[derive(Clone, Copy, Debug)]
pub struct PolicyReading<'r> {
    pub look: &'r Snapshot,
    pub sweep: &'r Sweep,
    pub news: &'r [FabricEvent],
    /// The certificate of the tables in force; `None` without tables.
    pub certificate: Option<&'r CertificateReport>,
    /// Changes of the fabric that wait, and why others may not be known.
    pub changes: &'r [ChangeRow],
    pub unread_changes: &'r [String],
    pub ledger: Option<&'r LinkLedger>,
    /// Whether any port has counters in this sweep and the one before.
    pub has_counters: bool,
    pub interval: Duration,
    pub time_ms: i64,
}

/// Follows links over sweeps.
#[derive(Debug, Default)]
pub struct LinkFollower {
    troubles: LinkTroubles,
    /// The link at each port, also of cables that are down.
    ends_at: HashMap<PortIdentity, LinkEnds>,
    names: HashMap<LinkEnds, LinkNames>,
}

/// How a link is called, and the host at its end.
#[derive(Clone, Debug)]
struct LinkNames {
    name: String,
    host: Option<String>,
}

impl LinkFollower {
    /// Takes up a sweep.
    pub fn observe(&mut self, reading: &PolicyReading<'_>) {
        let look = reading.look;
        if self.ends_at.is_empty() || reading.sweep.fabric.is_some() {
            for (id, _) in look.fabric().links() {
                let ends = ends_of_link(look, id);
                ends.iter().for_each(|end| _ = self.ends_at.insert(*end, ends));
                self.names.insert(ends, LinkNames::new(look, id));
            }
        }
        let ends_at = &self.ends_at;
        let time_ms = reading.time_ms;
        self.troubles.observe(look.fabric(), reading.sweep, time_ms, |port| ends_at.get(&port).copied());
        for news in reading.news {
            if let FabricEvent::LinkDown { a, b } = news {
                self.troubles.count(link_ends(*a, *b), time_ms, [0, 0, 1], 0);
            }
        }
        if !look.observation.wire.ports.is_empty() {
            for ends in self.names.keys() {
                let rates = ends.iter().filter_map(|end| bit_error_rate(look, *end));
                self.troubles.set_bit_error_rate(*ends, rates.reduce(f32::max));
            }
        }
    }

    /// What the sweep shows, for decisions. The phases of changes are for the caller to add.
    pub fn observation(
        &mut self,
        reading: &PolicyReading<'_>,
        policy: &Policy,
        state: &PolicyState,
    ) -> PolicyObservation {
        let PolicyReading { look, certificate, time_ms, .. } = *reading;
        let today = PeriodLength::Day.period_at(time_ms);
        let downs_today = |ends: LinkEnds| {
            let cable = reading.ledger.and_then(|ledger| ledger.at_port(ends[0]));
            let cable = cable.filter(|cable| cable.place.ends == ends);
            let day = cable.and_then(|cable| cable.days(time_ms).find(|day| day.period == today));
            day.map_or(0, |day| u64::from(day.downs))
        };
        let bad = self.troubles.judge(time_ms, policy, downs_today);
        let isolated = state.isolated.iter().map(|link| {
            let present = link_between(look, link.ends);
            let seen = IsolatedObservation {
                is_present: present.is_some_and(|id| !look.is_down(id)),
                carries_paths: present.filter(|_| certificate.is_some()).map(|id| carries_paths(look, id)),
                last_down_ms: self.troubles.last_down_ms(link.ends),
            };
            (link.ends, seen)
        });
        PolicyObservation {
            time_ms,
            links: look.fabric().links().len(),
            isolated: isolated.collect(),
            bad: bad.into_iter().filter_map(|bad| self.bad_link(look, bad)).collect(),
            troubled: self.troubles.troubled_since(time_ms - policy.limits.together_ms),
            changes: BTreeMap::new(),
            left_whole: BTreeSet::new(),
            incomplete: find_fault(reading),
            pending: find_pending(reading, state),
            uncertified: certificate.and_then(adaptive_reason),
            lost_pairs: certificate.map(connected_losses),
            findings: certificate.map(CertificateReport::defect_words).unwrap_or_default(),
        }
    }

    fn bad_link(&self, look: &Snapshot, bad: BadLinkEvidence) -> Option<BadLinkObservation> {
        let LinkNames { name, host } = self.names.get(&bad.ends)?.clone();
        let is_present = link_between(look, bad.ends).is_some_and(|id| !look.is_down(id));
        Some(BadLinkObservation {
            ends: bad.ends,
            name,
            why: bad.words,
            since_ms: bad.since_ms,
            is_present,
            host,
        })
    }
}

impl LinkNames {
    fn new(look: &Snapshot, link: LinkId) -> Self {
        let fabric = look.fabric();
        let ends = [fabric.link(link).a, fabric.link(link).b].map(|port| fabric.port(port).node);
        let host = ends.into_iter().find(|node| !fabric.node(*node).is_switch());
        Self { name: look.labelled_link_name(link), host: host.map(|node| look.host_name(node).into_owned()) }
    }
}

/// Why the certificate leaves open what adaptive routing does.
fn adaptive_reason(certificate: &CertificateReport) -> Option<String> {
    if let Some(reason) = uncertified_reason(certificate) {
        return Some(reason);
    }
    (certificate.adaptive_unknown > 0).then(|| {
        let switches = count_words(certificate.adaptive_unknown as usize, "switch", "switches");
        format!("{switches} did not answer whether it is on")
    })
}

/// Why a sweep is no basis for a decision.
fn find_fault(reading: &PolicyReading<'_>) -> Option<SightFault> {
    let PolicyReading { look, sweep, .. } = reading;
    let silent = usize::try_from(sweep.ports).unwrap_or(usize::MAX).saturating_sub(sweep.samples.len());
    if silent > 0 {
        let ports = count_words(silent, "port", "ports");
        return Some(SightFault::Partial(format!("{ports} did not answer")));
    }
    if look.observation.is_partial() {
        return Some(SightFault::Partial("part of the fabric did not answer when it was read".to_owned()));
    }
    if !reading.has_counters {
        return Some(SightFault::Partial("no port has counters in this sweep and the one before".to_owned()));
    }
    if !look.observation.tables.has_forwarding() {
        return Some(SightFault::Partial("the forwarding tables were not read".to_owned()));
    }
    let took = sweep.took;
    (took > reading.interval * MAX_INTERVALS).then(|| {
        SightFault::Stale(format!("it took {:.0} s, more than {MAX_INTERVALS} intervals", took.as_secs_f64()))
    })
}

/// The change of others that waits, or why that is not known.
fn find_pending(reading: &PolicyReading<'_>, state: &PolicyState) -> Option<String> {
    let is_own =
        |id: &str| state.isolated.iter().filter_map(|link| link.pending()).any(|change| change.id == id);
    if let Some(row) = reading.changes.iter().find(|row| !is_own(&row.id)) {
        return Some(format!("change {} of {} is {}", row.number, row.user, row.state_title()));
    }
    let unread = reading.unread_changes.first()?;
    Some(format!("whether a change waits is not known: {unread}"))
}
