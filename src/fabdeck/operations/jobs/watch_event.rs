//! The events of a watch over jobs.

use std::fmt;

use serde::Serialize;

use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::changes::change_row::time_of_day;
use crate::operations::check::loads::JobFigures;
use crate::operations::operation::Operation;
use fabdeck_files::jobs::JobPlacement;

/// The engine that routes for jobs.
pub const ENGINE: &str = "sar";

/// The front end that watches jobs and reports each event at once.
pub trait JobWatchFrontEnd {
    fn operation(&mut self) -> Operation<'_>;
    /// Reports an event; `missing` counts the missing hosts of a list that was compared with the fabric.
    fn report_event(&mut self, event: &JobWatchEvent, missing: Option<MissingCounts>) -> Result<(), Failure>;
}

/// Outcome of a list.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JobWatchEvent {
    /// The list could not be read; the last one stays valid.
    Unheard {
        why: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        age_seconds: Option<u64>,
    },
    /// The jobs on several switches use the same hosts as before.
    Unchanged {
        multi_switch: usize,
    },
    /// The fabric did not answer; the jobs are judged with the next list.
    Unseen {
        why: String,
    },
    /// The jobs differ, but it is too early for another proposal.
    Held {
        multi_switch: usize,
    },
    /// The jobs differ, and new routes would gain too little.
    Kept {
        gain: f64,
        now: JobFigures,
        proposed: JobFigures,
    },
    Refused {
        why: String,
    },
    /// The routes gain enough, but the plan cannot be written; the jobs are judged with the next list.
    Unwritten {
        why: String,
    },
    Proposed {
        gain: f64,
        now: JobFigures,
        proposed: JobFigures,
        writes: usize,
        findings: Vec<String>,
        plan: Option<String>,
    },
    /// The proposal was not applied, although the watch may apply.
    NotApplied {
        why: String,
    },
    /// The change is read back; it rolls back at its deadline unless it is confirmed.
    Applied {
        change: String,
        writes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<String>,
    },
    /// The watch read the fabric again and confirmed the change.
    Confirmed {
        change: String,
    },
    /// The change is rolled back; nothing more is applied until an operator removes the mark.
    RolledBack {
        change: String,
        why: String,
    },
    /// The change is incomplete or its state is unknown; nothing more is applied until an operator removes the mark.
    Failed {
        change: String,
        state: Option<String>,
        why: String,
    },
}

impl fmt::Display for JobWatchEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write_figures = |f: &mut fmt::Formatter<'_>, now: &JobFigures, proposed: &JobFigures| {
            now.lost_words(proposed).iter().try_for_each(|lost| write!(f, "{lost}, "))?;
            write!(f, "mean over jobs {:.1} to {:.1}, ", now.mean_max, proposed.mean_max)?;
            write!(f, "maximum {} to {}, ", now.max, proposed.max)?;
            write!(f, "dark fiber {:.1} to {:.1} %", now.dark_fiber, proposed.dark_fiber)
        };
        match self {
            Self::Unheard { why, age_seconds: Some(age) } => {
                write!(f, "unheard: no list; the one from {age} s ago stays in use: {why}")
            }
            Self::Unheard { why, age_seconds: None } => write!(f, "unheard: no list: {why}"),
            Self::Unseen { why } => {
                write!(f, "unseen: the fabric did not answer; the jobs are judged with the next list: {why}")
            }
            Self::NotApplied { why } => write!(f, "not-applied: {why}"),
            Self::Applied { change, writes, deadline } => {
                write!(
                    f,
                    "applied: change {change}, {} read back",
                    count_words(*writes as usize, "write", "writes")
                )?;
                let at = deadline.as_deref().map(time_of_day);
                at.iter().try_for_each(|at| write!(f, "; it is rolled back at {at} unless it is confirmed"))
            }
            Self::Confirmed { change } => write!(f, "confirmed: change {change} stays"),
            Self::RolledBack { change, why } => write!(f, "rolled-back: change {change}: {why}"),
            Self::Failed { change, state, why } => {
                let state = state.as_deref().unwrap_or("in an unknown state");
                write!(f, "failed: change {change} is {state}: {why}")
            }
            Self::Unchanged { multi_switch } => {
                write!(f, "unchanged: {}", several_switches_text(*multi_switch))
            }
            Self::Held { multi_switch } => {
                write!(f, "held: {}; too early for another proposal", several_switches_text(*multi_switch))
            }
            Self::Kept { gain, now, proposed } => {
                write!(f, "kept: new routes would gain {gain:.1} %, which is too little: ")?;
                write_figures(f, now, proposed)
            }
            Self::Refused { why } => write!(f, "refused: {ENGINE} found no routes: {why}"),
            Self::Unwritten { why } => {
                write!(
                    f,
                    "unwritten: the plan cannot be written; the jobs are judged with the next list: {why}"
                )
            }
            Self::Proposed { gain, now, proposed, writes, findings, plan } => {
                write!(f, "proposed: routes that gain {gain:.1} %: ")?;
                write_figures(f, now, proposed)?;
                write!(f, "; {}", count_words(*writes, "write", "writes"))?;
                findings.iter().try_for_each(|finding| write!(f, "; finding: {finding}"))?;
                plan.iter().try_for_each(|plan| write!(f, "; plan: {plan}"))
            }
        }
    }
}

fn several_switches_text(jobs: usize) -> String {
    count_words(jobs, "job on several switches", "jobs on several switches")
}

/// Numbers of hosts in a list that the fabric lacks, or that match several hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MissingCounts {
    not_found: usize,
    ambiguous: usize,
}

impl MissingCounts {
    pub fn of(placed: &JobPlacement) -> Self {
        Self { not_found: placed.unknown.len(), ambiguous: placed.ambiguous.len() }
    }
}

impl fmt::Display for MissingCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { not_found, ambiguous } = *self;
        if not_found > 0 {
            write!(f, "; {} not in the fabric", count_words(not_found, "host", "hosts"))?;
        }
        if ambiguous > 0 {
            write!(f, "; {} several hosts", count_words(ambiguous, "host name matches", "host names match"))?;
        }
        Ok(())
    }
}
