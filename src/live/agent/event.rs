//! Describes the events of an agent, one line each.

use std::fmt;

use serde::Serialize;

use fabdeck_fabric::Lid;
use fabdeck_mad::PathNotice;

/// The direction of a move of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeDirection {
    Slow,
    Fast,
    /// To high LIDs; below, back to base LIDs.
    High,
    Base,
}

impl NoticeDirection {
    pub fn of(told: &PathNotice) -> Self {
        match (told.hot_spot.is_some(), told.back) {
            (true, false) => Self::Slow,
            (true, true) => Self::Fast,
            (false, false) => Self::High,
            (false, true) => Self::Base,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Fast => "fast",
            Self::High => "high",
            Self::Base => "base",
        }
    }
}

/// A notice in an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NoticeSummary {
    pub number: u32,
    /// The LID; 0 for flows to all LIDs.
    pub hot_spot: u16,
    pub service_level: u8,
    pub direction: NoticeDirection,
}

impl From<&PathNotice> for NoticeSummary {
    fn from(told: &PathNotice) -> Self {
        Self {
            number: told.number,
            hot_spot: told.wire_lid(),
            service_level: told.level.value(),
            direction: NoticeDirection::of(told),
        }
    }
}

impl fmt::Display for NoticeSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, hot_spot, service_level, direction } = self;
        let lane = direction.word();
        if *hot_spot == 0 {
            return write!(f, "notice {number} (all flows: {lane} LIDs, service level {service_level})");
        }
        write!(f, "notice {number} (flows to LID {hot_spot}: {lane} lane, service level {service_level})")
    }
}

/// An event of an agent.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AgentEvent {
    /// The LIDs with flows on the slow lane, as an earlier agent left them, or as this one leaves them.
    StillSlow {
        lids: Vec<u16>,
    },
    Subscribed {
        manager: Lid,
    },
    Unsubscribed {
        manager: Lid,
    },
    NoManager,
    ManagerSilent {
        manager: Lid,
    },
    ManagerRefuses {
        manager: Lid,
        status: String,
    },
    ManagerMoved {
        before: Option<Lid>,
        now: Option<Lid>,
    },
    Heard {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    NotMeant {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    Repeated {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    /// A newer notice about the same LID came before, or while this one waited for its turn.
    Superseded {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    Dropped {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    /// A report from a LID that is not the subnet manager's.
    Stranger {
        from: u16,
    },
    Unreadable {
        trap: u16,
    },
    NoFlows {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    WouldMove {
        #[serde(flatten)]
        about: NoticeSummary,
    },
    Hook {
        number: u32,
        seconds: f64,
        trouble: Option<String>,
        said: String,
    },
    Moved {
        #[serde(flatten)]
        about: NoticeSummary,
        flows: Option<u16>,
        /// Whether a hook moved the flows.
        hook: bool,
    },
    Failed {
        #[serde(flatten)]
        about: NoticeSummary,
        why: String,
    },
    NotKept {
        why: String,
    },
    /// The program of the site that lists flows failed.
    NotListed {
        why: String,
    },
    Ended {
        #[serde(flatten)]
        summary: AgentSummary,
    },
}

/// The counts of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct AgentSummary {
    pub heard: u64,
    pub repeated: u64,
    pub superseded: u64,
    pub dropped: u64,
    pub strangers: u64,
    pub moved: u64,
    pub failed: u64,
    /// Number of MADs that it sent: subscriptions; below, answers to reports, and answers to queries for the status.
    pub informs: u64,
    pub reports_answered: u64,
    pub follows_answered: u64,
    /// Number of requests that set flows of a simulated host to another level.
    pub flow_sets: u64,
    /// Number of other MADs that could write; always 0.
    pub writes: u64,
}

impl fmt::Display for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StillSlow { lids } if lids.is_empty() => f.write_str("no flows are on the slow lane"),
            Self::StillSlow { lids } => {
                let lids: Vec<String> = lids.iter().map(ToString::to_string).collect();
                write!(f, "on the slow lane are flows to LID {}", lids.join(", "))
            }
            Self::Subscribed { manager } => write!(f, "subscribed at the subnet manager at LID {manager}"),
            Self::Unsubscribed { manager } => {
                write!(f, "unsubscribed at the subnet manager at LID {manager}")
            }
            Self::NoManager => {
                f.write_str("no subnet manager has configured this port; the agent looks again")
            }
            Self::ManagerSilent { manager } => {
                write!(f, "the subnet manager at LID {manager} does not answer; the agent asks again")
            }
            Self::ManagerRefuses { manager, status } => {
                write!(f, "the subnet manager at LID {manager} refuses the subscription: {status}")
            }
            Self::ManagerMoved { before, now } => {
                let at = |lid: &Option<Lid>| lid.map_or("nowhere".into(), |lid| format!("at LID {lid}"));
                write!(f, "the subnet manager was {}, and is {} now", at(before), at(now))
            }
            Self::Heard { about } => write!(f, "{about}: heard"),
            Self::NotMeant { about } => write!(f, "{about}: for other hosts"),
            Self::Repeated { about } => write!(f, "{about}: repeated, already known"),
            Self::Superseded { about } => write!(f, "{about}: not followed, a newer notice replaced it"),
            Self::Dropped { about } => write!(f, "{about}: dropped, too many came at once"),
            Self::Stranger { from } => {
                write!(f, "a report came from LID {from}, which is not the subnet manager's: refused")
            }
            Self::Unreadable { trap } => write!(f, "a notice of trap {trap} has invalid values: ignored"),
            Self::NoFlows { about } => write!(f, "{about}: this host has no such flow"),
            Self::WouldMove { about } => write!(f, "{about}: would be followed (--dry-run)"),
            Self::Hook { number, seconds, trouble, said } => {
                let how = trouble.as_deref().unwrap_or("ended well");
                write!(f, "notice {number}: hook {how} after {seconds:.1} s")?;
                said.lines().try_for_each(|line| write!(f, "\n  hook: {line}"))
            }
            Self::Moved { about, flows: Some(flows), .. } => write!(f, "{about}: followed, {flows} moved"),
            Self::Moved { about, hook: true, .. } => write!(f, "{about}: followed, as the hook reports"),
            Self::Moved { about, .. } => write!(f, "{about}: followed, as the simulated host reports"),
            Self::Failed { about, why } => write!(f, "{about}: not followed: {why}"),
            Self::NotKept { why } => write!(f, "the moves could not be stored: {why}"),
            Self::NotListed { why } => {
                write!(f, "the flows of this host could not be listed: --flows: {why}")
            }
            Self::Ended { summary } => {
                let AgentSummary { heard, repeated, superseded, dropped, strangers, moved, failed, .. } =
                    summary;
                write!(
                    f,
                    "{heard} notices received, {repeated} repeated, {dropped} dropped, {strangers} from other \
                     senders; {moved} followed, {superseded} superseded, {failed} failed"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_hook_no_hook_is_mentioned() {
        let about =
            NoticeSummary { number: 7, hot_spot: 0, service_level: 1, direction: NoticeDirection::High };
        let said = |flows, hook| AgentEvent::Moved { about: about.clone(), flows, hook }.to_string();
        assert!(said(None, true).ends_with("followed, as the hook reports"));
        assert!(said(None, false).ends_with("followed, as the simulated host reports"));
        assert!(said(Some(3), true).ends_with("followed, 3 moved"));
    }
}
