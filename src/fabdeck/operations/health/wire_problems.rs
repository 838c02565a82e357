//! Cables whose wire verdict is bad: bit errors or a module beyond their limits, by what devices answered. Those of one
//! kind are one problem.

use std::collections::BTreeMap;

use super::problem::{FabricProblem, HitRole, ProblemCause, ProblemHits, ProblemKind};
use super::problem_list::HealthFacts;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::counters::WireVerdict;
use fabdeck_fabric::observe::BitErrorCounts;
use fabdeck_fabric::{ElementId, LinkId, NodeId, PortId};

/// A lane stands out if it has this many times the errors of all other lanes together.
const LANE_FACTOR: u64 = 4;
/// Cables that a title names at most.
const MAX_NAMED: usize = 2;

/// What is bad about a cable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum WireFault {
    BitErrors,
    HotModule,
    Light,
    ModuleFault,
}

impl WireFault {
    fn of_evidence(text: &str) -> Self {
        match text {
            text if text.starts_with("module at") => Self::HotModule,
            text if text.contains(" power of lane ") => Self::Light,
            text if text.starts_with("the module reports") => Self::ModuleFault,
            _ => Self::BitErrors,
        }
    }

    /// The word in ids.
    fn word(self) -> &'static str {
        match self {
            Self::BitErrors => "bit-errors",
            Self::HotModule => "hot-module",
            Self::Light => "light",
            Self::ModuleFault => "module-fault",
        }
    }

    /// What several cables have, behind their number.
    fn words_of_many(self) -> &'static str {
        match self {
            Self::BitErrors => "have more bit errors than their limit",
            Self::HotModule => "have a module that is too hot",
            Self::Light => "have light outside the limits of their modules",
            Self::ModuleFault => "have a module that reports a fault",
        }
    }

    /// The cause of several; `lanes` has the lane of each with nearly all errors.
    fn cause_of_many(self, lanes: &[Option<usize>]) -> ProblemCause {
        match self {
            Self::BitErrors => match lanes {
                [Some(lane), others @ ..] if others.iter().all(|other| *other == Some(*lane)) => {
                    ProblemCause::likely(format!(
                        "one lane of each: nearly all errors are on lane {lane}, so a fibre, contact or laser of it"
                    ))
                }
                _ if lanes.iter().all(Option::is_some) => ProblemCause::likely(
                    "one lane of each has nearly all errors, so a fibre, contact or laser of it",
                ),
                _ => ProblemCause::unknown(
                    "cables or modules: the receiving ends see more errors than their limit",
                ),
            },
            Self::HotModule => ProblemCause::likely(
                "the modules are too hot: check the air to them and the fans of their switches",
            ),
            Self::Light => ProblemCause::likely("the optical paths or the modules: light outside its limits"),
            Self::ModuleFault => ProblemCause::sure("the modules say so"),
        }
    }
}

/// A bad end of a cable, with what shows it.
struct BadEnd {
    link: LinkId,
    port: PortId,
    text: String,
}

impl HealthFacts<'_> {
    pub(super) fn wire_problems(&self) -> Vec<FabricProblem> {
        if self.look.observation.wire.is_empty() {
            return Vec::new();
        }
        let mut by_fault: BTreeMap<WireFault, Vec<BadEnd>> = BTreeMap::new();
        for (link, _) in self.look.fabric().links() {
            for (fault, end) in self.bad_ends(link) {
                by_fault.entry(fault).or_default().push(end);
            }
        }
        by_fault.into_iter().map(|(fault, ends)| self.wire_problem(fault, &ends)).collect()
    }

    /// What is bad at the ends of a cable: of each kind the first end that has it.
    fn bad_ends(&self, link: LinkId) -> BTreeMap<WireFault, BadEnd> {
        let mut bad = BTreeMap::new();
        if self.look.is_down(link) {
            return bad;
        }
        let ends = self.look.fabric().link(link);
        for port in [ends.a, ends.b] {
            let evidence = self.look.wire_judgement(port).evidence.into_iter();
            for shown in evidence.filter(|shown| shown.verdict == WireVerdict::Bad) {
                let fault = WireFault::of_evidence(&shown.text);
                bad.entry(fault).or_insert(BadEnd { link, port, text: shown.text });
            }
        }
        bad
    }

    fn wire_problem(&self, fault: WireFault, ends: &[BadEnd]) -> FabricProblem {
        let first = &ends[0];
        let one = |text: &str| format!("{}: {text}", self.look.labelled_port_name(first.port));
        if let [end] = ends {
            let repair = "clean, reseat or replace its module";
            let (title, cause) = (one(&end.text), self.wire_cause(fault, end.port));
            let mut problem = self.link_problem(end.link, ProblemKind::WireHealth, title, cause, repair);
            problem.id = format!("{}:{}", problem.id, fault.word());
            return problem;
        }
        let named: Vec<String> = ends.iter().take(MAX_NAMED).map(|end| self.link_name(end.link)).collect();
        let more = match ends.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let title = format!(
            "{} {}: {}{more}",
            count_words(ends.len(), "cable", "cables"),
            fault.words_of_many(),
            named.join(", ")
        );
        let lanes: Vec<Option<usize>> = ends.iter().map(|end| self.worn_lane(end.port)).collect();
        let (kind, cause) = (ProblemKind::WireHealth, fault.cause_of_many(&lanes));
        let mut problem = self.link_problem(first.link, kind, title, cause, "");
        // With another number of cables it is another problem: an acknowledgement covers no further cable.
        problem.id = format!("{}:{}:{}", kind.word(), fault.word(), ends.len());
        problem.elements = ends.iter().map(|end| ElementId::Link(end.link)).collect();
        let hosts: Vec<NodeId> = ends.iter().flat_map(|end| self.attached_hosts(end.link)).collect();
        problem.hits = ProblemHits {
            hosts: self.hit_hosts(&hosts, HitRole::Attached),
            paths: self.paths.map(|_| ends.iter().filter_map(|end| self.paths_over(end.link)).sum()),
            jobs: None,
        };
        problem.next = self.step("list these cables", "show links --filter wire=bad");
        problem
    }

    fn worn_lane(&self, port: PortId) -> Option<usize> {
        let said = self.look.port_wire(port)?;
        worst_lane(said.bit_errors.known()?, said.earlier_bits.as_ref())
    }

    fn wire_cause(&self, fault: WireFault, port: PortId) -> ProblemCause {
        match fault {
            WireFault::HotModule => {
                return ProblemCause::likely(
                    "the module is too hot: check the air to it and the fans of the switch",
                );
            }
            WireFault::Light => {
                return ProblemCause::likely("the optical path or the module: light outside its limits");
            }
            WireFault::ModuleFault => return ProblemCause::sure("the module says so"),
            WireFault::BitErrors => {}
        }
        match self.worn_lane(port) {
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
