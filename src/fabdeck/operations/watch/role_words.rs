//! The role of an adapter that waits, and what it sends to hot-spots, in words.

use super::hot_ports::{HotPort, HotRole};
use super::interval_verdict::waiting_words;
use super::link_rate::data_gbps;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{CongestedAdapter, CongestionRole, Evidence, HotSpotFlow, LikelyRole};
use fabdeck_fabric::observe::digits_in_groups;

/// `alone`: no adapter is a hot-spot.
pub(crate) fn congested_adapter_words(
    look: &Snapshot,
    held: &CongestedAdapter,
    alone: bool,
    limit: f64,
) -> String {
    let mut text = format!(
        "{}: {}; {}",
        look.labelled_port_name(held.at.port),
        waiting_words(&held.at, limit),
        role_reason(look, held.role, alone)
    );
    if let Some(likely) = held.likely {
        text.push_str(likely_words(likely, held.by_agents));
    }
    if let Some(flow) = held.flow {
        text.push_str(&format!("; {}", range_words(look, &flow)));
    }
    text
}

/// A rate in Gb/s, with a digit behind the point.
fn gbps(bytes_per_second: f64) -> String {
    digits_in_groups(format_args!("{:.1}", bytes_per_second * 8.0 / 1e9))
}

/// A rate in Gb/s, with three digits at most.
fn short_gbps(bytes_per_second: f64) -> String {
    let rate = bytes_per_second * 8.0 / 1e9;
    if rate < 99.95 { gbps(bytes_per_second) } else { digits_in_groups(format_args!("{rate:.0}")) }
}

/// The name of the host of an adapter port.
pub(crate) fn host_of(look: &Snapshot, adapter: PortId) -> String {
    look.host_name(look.fabric().port(adapter).node).into_owned()
}

/// The range of what an adapter sends to a hot-spot.
pub(crate) fn range_words(look: &Snapshot, flow: &HotSpotFlow) -> String {
    let (least, most, hot_spot) = (gbps(flow.least), gbps(flow.most), host_of(look, flow.hot_spot));
    match least == most {
        true => format!("sends {most} Gb/s to {hot_spot}"),
        false => format!("sends {least} to {most} Gb/s to {hot_spot}"),
    }
}

/// The same for a column that may be cut: the figures come first.
fn short_range(look: &Snapshot, flow: &HotSpotFlow) -> String {
    let (least, most, hot_spot) = (gbps(flow.least), gbps(flow.most), host_of(look, flow.hot_spot));
    match (flow.least < NEXT_TO_NOTHING, least == most) {
        (_, true) => format!("{most} Gb/s to {hot_spot}"),
        (true, false) => format!("0 to {most} Gb/s to {hot_spot}"),
        (false, false) => format!("{least} to {most} Gb/s to {hot_spot}"),
    }
}

/// Bytes per second that print as 0.0 Gb/s.
const NEXT_TO_NOTHING: f64 = 0.05e9 / 8.0;

fn likely_words(likely: LikelyRole, by_agents: bool) -> &'static str {
    match (likely, by_agents) {
        (LikelyRole::Contributor(_), false) => ", likely a contributor by the intervals before",
        (LikelyRole::Victim { .. }, false) => ", likely a victim by the intervals before",
        (LikelyRole::Contributor(_), true) => ", likely a contributor by the flows that agents list",
        (LikelyRole::Victim { .. }, true) => ", likely a victim by the flows that agents list",
    }
}

/// The proof for the role of a port in a few words, for a column.
pub(crate) fn proof_words(look: &Snapshot, row: &HotPort) -> Option<String> {
    match (row.role?, row.adapter_role()) {
        (HotRole::HotSpot, _) => Some(accepted_words(look, row)?.trim_start_matches(ITS_HOST).to_owned()),
        (HotRole::OnPath, _) => Some("leads to a hot-spot".to_owned()),
        (HotRole::Victim, Some(held)) => match held.role {
            CongestionRole::Victim { most, sent } => {
                Some(format!("{} of {} Gb/s at most go to hot-spots", gbps(most), gbps(sent)))
            }
            _ => Some("no adapter is a hot-spot".to_owned()),
        },
        (HotRole::Contributor, Some(held)) => match (held.flow, held.role) {
            (Some(flow), _) => Some(short_range(look, &flow)),
            (None, CongestionRole::Contributor(evidence)) => Some(evidence_words(look, evidence)),
            (None, _) => None,
        },
        (HotRole::LikelyContributor | HotRole::Undecided | HotRole::LikelyVictim, Some(held)) => {
            let range = held.flow.map(|flow| short_range(look, &flow));
            Some(range.unwrap_or_else(|| "its destinations are not known".to_owned()))
        }
        _ => None,
    }
}

/// How a text begins that says what a host does; a column leaves it out.
const ITS_HOST: &str = "its host ";

/// What the host behind a port accepts of what its link carries.
pub(crate) fn accepted_words(look: &Snapshot, row: &HotPort) -> Option<String> {
    let facts = &look.fabric().port(row.port).facts;
    let carried = facts.width.zip(facts.speed).map(|(width, speed)| data_gbps(width, speed));
    let accepted = short_gbps(row.sent_mbps? as f64 * 1e6 / 8.0);
    Some(match carried {
        Some(carried) => format!("{ITS_HOST}accepts {accepted} of {carried:.0} Gb/s"),
        None => format!("{ITS_HOST}accepts {accepted} Gb/s"),
    })
}

fn evidence_words(look: &Snapshot, evidence: Evidence) -> String {
    match evidence {
        Evidence::OthersFallShort { hot_spot, others, arrived } => {
            format!("sends {} Gb/s or more to {}", gbps(arrived - others), host_of(look, hot_spot))
        }
        Evidence::NowhereElse { elsewhere, sent } => {
            format!("sends {} Gb/s or more to hot-spots", gbps(sent - elsewhere))
        }
        Evidence::AllChannels { hot_spot, least, .. } => {
            format!("sends {} Gb/s or more to {}", gbps(least), host_of(look, hot_spot))
        }
    }
}

/// Why an adapter has its role.
pub(crate) fn role_reason(look: &Snapshot, role: CongestionRole, alone: bool) -> String {
    let mbps = |bytes: f64| digits_in_groups(format_args!("{:.0}", bytes * 8.0 / 1e6));
    match (role, alone) {
        (CongestionRole::Contributor(Evidence::OthersFallShort { hot_spot, others, arrived }), _) => {
            let (hot_spot, others) = (look.port_name(hot_spot), mbps(others));
            format!(
                "contributor: the paths of all others carried {others} of the {} Mbit/s to {hot_spot}",
                mbps(arrived)
            )
        }
        (CongestionRole::Contributor(Evidence::NowhereElse { elsewhere, sent }), _) => {
            let (elsewhere, sent) = (mbps(elsewhere), mbps(sent));
            format!("contributor: other destinations can have received only {elsewhere} of its {sent} Mbit/s")
        }
        (CongestionRole::Contributor(Evidence::AllChannels { hot_spot, least, sent }), _) => {
            let (least, sent) = (mbps(least), mbps(sent));
            let hot_spot = look.port_name(hot_spot);
            format!(
                "contributor: all channels together leave {least} of its {sent} Mbit/s for {hot_spot} only"
            )
        }
        (CongestionRole::Victim { most, sent }, _) => {
            let (most, sent) = (mbps(most), mbps(sent));
            format!("victim: at most {most} of its {sent} Mbit/s go to hot-spots")
        }
        (CongestionRole::Undecided, false) => {
            "undecided: below a fair share, contributor or victim".to_owned()
        }
        (CongestionRole::Undecided, true) => {
            "victim: below a fair share, and no adapter is a hot-spot".to_owned()
        }
        (CongestionRole::FairShare, _) => "which is a fair share".to_owned(),
        (CongestionRole::Unknown, _) => "undecided: its sending rate is not known".to_owned(),
    }
}
