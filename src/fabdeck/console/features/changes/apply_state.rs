//! The state of the question whether to begin a change: what is acknowledged, the deadline, and how the change is written.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::operations::changes::changer::{Acceptance, ChangeOffer};
use crate::operations::plans::plan_request::{PlanRequest, WriteMode};
use crate::operations::plans::write_mode_offer::OtherMode;
use fabdeck_change::SilentHostAction;

/// The possible windows in seconds. The shortest leaves time to read the result, and the longest is a day.
const WINDOWS: [u64; 12] = [30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];
const DEFAULT_WINDOW_S: u64 = 600;

/// The plan of an engine, which can be made again in the other mode, and the command lines of both modes.
#[derive(Clone, Debug)]
pub struct ProposedPlan {
    pub request: Box<PlanRequest>,
    pub at_once: String,
    pub in_phases: String,
}

impl ProposedPlan {
    pub fn line(&self) -> &str {
        match self.request.mode {
            WriteMode::AtOnce => &self.at_once,
            WriteMode::FivePhases => &self.in_phases,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ApplyState {
    pub offer: Box<ChangeOffer>,
    /// The accepted findings.
    pub taken: BTreeSet<usize>,
    pub window_s: u64,
    pub line: Option<String>,
    pub proposed: Option<ProposedPlan>,
    /// In five phases: what happens if hosts give no answer.
    pub unanswered: SilentHostAction,
    /// Why the plan could not be made in the other mode, when that was asked for.
    pub mode_error: Option<String>,
}

impl ApplyState {
    pub fn new(offer: Box<ChangeOffer>, line: Option<String>, proposed: Option<ProposedPlan>) -> Self {
        Self {
            offer,
            taken: BTreeSet::new(),
            window_s: DEFAULT_WINDOW_S,
            line,
            proposed,
            unanswered: SilentHostAction::Stop,
            mode_error: None,
        }
    }

    pub fn unacknowledged_count(&self) -> usize {
        self.offer.findings.len() - self.taken.len()
    }

    /// Acknowledges a risk, or reverses that.
    pub(super) fn toggle(&mut self, risk: usize) {
        if !self.taken.remove(&risk) {
            self.taken.insert(risk);
        }
    }

    pub(super) fn change_window(&mut self, longer: bool) {
        let now = self.window_s;
        let next = match longer {
            true => WINDOWS.iter().find(|window| **window > now),
            false => WINDOWS.iter().rev().find(|window| **window < now),
        };
        self.window_s = next.copied().unwrap_or(now);
    }

    pub fn has_phases(&self) -> bool {
        self.offer.mode.mode == WriteMode::FivePhases
    }

    /// Whether the plan can be asked for in the other mode.
    pub fn can_switch_mode(&self) -> bool {
        self.proposed.is_some() && self.offer.mode.other == OtherMode::Possible
    }

    /// Takes the next answer to hosts that do not say that they have left. Going on without them is one only where that is
    /// shown to be safe; the guard refuses it elsewhere.
    pub(super) fn change_unanswered(&mut self) {
        let is_safe = self.offer.mode.safe_without == Some(true);
        self.unanswered = match self.unanswered {
            SilentHostAction::Stop => SilentHostAction::Wait,
            SilentHostAction::Wait if is_safe => SilentHostAction::GoOn,
            SilentHostAction::Wait | SilentHostAction::GoOn => SilentHostAction::Stop,
        };
    }

    /// What the operator agrees to once every risk is acknowledged.
    pub(super) fn acceptance(&self) -> Acceptance {
        Acceptance {
            accepted: accepted_names(self.offer.findings.iter()),
            window: Duration::from_secs(self.window_s),
            unanswered: self.unanswered,
        }
    }

    /// The command line that applies the same plan and accepts the acknowledged risks.
    pub(super) fn command_line(&self) -> Option<String> {
        let accepted = accepted_names(self.taken.iter().filter_map(|at| self.offer.findings.get(*at)));
        Some(format!("{}{}", self.line.as_ref()?, answer_options(&accepted, self.window_s, self.unanswered)))
    }
}

/// The options of `apply` that give the same answers.
pub(super) fn answer_options(accepted: &[String], window_s: u64, unanswered: SilentHostAction) -> String {
    let names = if accepted.is_empty() { String::new() } else { format!(" --accept {}", accepted.join(",")) };
    let silent = match unanswered {
        SilentHostAction::Stop => "",
        SilentHostAction::Wait => " --unanswered wait",
        SilentHostAction::GoOn => " --unanswered go-on",
    };
    format!("{names}{silent} --confirm-within {window_s}s")
}

/// The names under which findings are accepted. Several findings may have one name.
fn accepted_names<'f>(findings: impl Iterator<Item = &'f (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = findings.map(|(name, _)| name.clone()).collect();
    names.sort();
    names.dedup();
    names
}
