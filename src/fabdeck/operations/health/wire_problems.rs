//! Links whose wire verdict is bad: bit errors or a module beyond their limits, by what devices answered.

use super::problem::{FabricProblem, ProblemCause, ProblemKind};
use super::problem_list::HealthFacts;
use fabdeck_fabric::counters::WireVerdict;
use fabdeck_fabric::observe::BitErrorCounts;
use fabdeck_fabric::{LinkId, PortId};

/// A lane stands out if it has this many times the errors of all other lanes together.
const LANE_FACTOR: u64 = 4;

impl HealthFacts<'_> {
    pub(super) fn wire_problems(&self) -> Vec<FabricProblem> {
        if self.look.observation.wire.is_empty() {
            return Vec::new();
        }
        let links = self.look.fabric().links().map(|(id, _)| id);
        links.filter_map(|link| self.bad_wire(link)).collect()
    }

    fn bad_wire(&self, link: LinkId) -> Option<FabricProblem> {
        let (port, judged) = self.look.link_judgement(link);
        if judged.verdict != WireVerdict::Bad || self.look.is_down(link) {
            return None;
        }
        let worst = judged.evidence.first()?;
        let title = format!("{}: {}", self.look.unique_port_name(port), worst.text);
        let cause = self.wire_cause(port, &worst.text);
        let text = "preview the routes without this cable; then clean, reseat or replace its module";
        Some(self.link_problem(link, ProblemKind::WireHealth, title, cause, text))
    }

    fn wire_cause(&self, port: PortId, worst: &str) -> ProblemCause {
        if worst.starts_with("module at") {
            return ProblemCause::likely(
                "the module is too hot: check the air to it and the fans of the switch",
            );
        }
        if worst.contains(" power of lane ") {
            return ProblemCause::likely("the optical path or the module: light outside its limits");
        }
        let said = self.look.port_wire(port);
        let lane = said.and_then(|said| worst_lane(said.bit_errors.known()?, said.earlier_bits.as_ref()));
        match lane {
            Some(lane) => ProblemCause::likely(format!(
                "one lane: nearly all errors are on lane {lane}, so a fibre, contact or laser of that lane"
            )),
            None => {
                ProblemCause::unknown("cable or module: the receiving end sees more errors than its limit")
            }
        }
    }
}

/// The lane with nearly all errors, from 1.
fn worst_lane(now: &BitErrorCounts, before: Option<&BitErrorCounts>) -> Option<usize> {
    let past = |lane: usize| before.and_then(|before| before.lane_errors.get(lane)).copied().unwrap_or(0);
    let grown = now.lane_errors.iter().enumerate();
    let grown: Vec<u64> = grown.map(|(lane, errors)| errors.saturating_sub(past(lane))).collect();
    let (lane, most) = grown.iter().enumerate().max_by_key(|(_, errors)| **errors)?;
    let others = grown.iter().fold(0u64, |sum, errors| sum.saturating_add(*errors)) - most;
    (grown.len() > 1 && *most > others.saturating_mul(LANE_FACTOR)).then_some(lane + 1)
}
