//! Cables that are not as the plan has them.

use super::problem::{FabricProblem, HitRole, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::catalogue::shell_words::quote_for_shell;
use crate::operations::cabling::cable_end::CableEnd;
use crate::operations::cabling::cabling_check::check_cabling;
use crate::operations::cabling::finding::CablingFinding;
use crate::operations::cabling::moved_ports::MovedPorts;
use crate::operations::cabling::present_cables::{node_of, port_of};
use fabdeck_fabric::{ElementId, NodeId};

impl HealthFacts<'_> {
    /// A problem for each finding; none without a plan.
    pub(super) fn cabling_problems(&self) -> Vec<FabricProblem> {
        let Some(plan) = self.look.cabling_plan.as_deref() else { return Vec::new() };
        let report = check_cabling(self.look, plan);
        let problem = |finding: &CablingFinding| self.cabling_problem(finding, &plan.file);
        report.findings.iter().map(problem).collect()
    }

    fn cabling_problem(&self, finding: &CablingFinding, plan: &str) -> FabricProblem {
        let hosts = self.hosts_of(finding);
        let paths = self.paths.map(|_| finding.links().filter_map(|link| self.paths_over(link)).sum());
        let step = finding.steps.first().map(|step| step.text.clone()).unwrap_or_default();
        let more = match finding.steps.len() {
            0 | 1 => String::new(),
            steps => format!(" (the first of {steps} steps)"),
        };
        FabricProblem {
            id: format!("{}:{}", ProblemKind::Miscabled.word(), finding.id),
            kind: ProblemKind::Miscabled,
            severity: ProblemSeverity::Warning,
            elements: self.miscabled_elements(finding),
            title: finding.title.clone(),
            cause: ProblemCause::sure(format!("cabling differs from the plan ({})", finding.fault.word())),
            sign: None,
            hits: ProblemHits {
                jobs: self.jobs_of_hosts(&hosts),
                hosts: self.hit_hosts(&hosts, HitRole::Attached),
                paths,
            },
            next: self.step(format!("{step}{more}"), &format!("cabling {}", quote_for_shell(plan))),
            acknowledged: None,
            worse_since: None,
            history: None,
        }
    }

    fn hosts_of(&self, finding: &CablingFinding) -> Vec<NodeId> {
        let fabric = self.look.fabric();
        let ends = finding.cables.iter().flat_map(|cable| [cable.planned, cable.found]).flatten().flatten();
        let mut hosts: Vec<NodeId> = ends.filter_map(|end| node_of(fabric, end.device)).collect();
        hosts.retain(|node| !fabric.node(*node).is_switch());
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// What moved as a whole, the links that are wrong, and the ports where a cable is missing.
    fn miscabled_elements(&self, finding: &CablingFinding) -> Vec<ElementId> {
        let fabric = self.look.fabric();
        let node = |device| node_of(fabric, device).map(ElementId::Node);
        let whole = match finding.moved {
            Some(MovedPorts::Exchanged([a, b]) | MovedPorts::ExchangedBoards([a, b])) => [node(a), node(b)],
            Some(MovedPorts::Replaced { planned, found }) => [node(found), node(planned)],
            Some(MovedPorts::Shifted { device, .. }) => [node(device), None],
            Some(MovedPorts::Moved { from, to, .. }) => [node(from), node(to)],
            None => [None, None],
        };
        let mut elements: Vec<ElementId> = whole.into_iter().flatten().collect();
        elements.extend(finding.links().map(ElementId::Link));
        let bare = finding.cables.iter().filter(|cable| cable.link.is_none());
        let ends = bare.flat_map(|cable| cable.planned.into_iter().flatten());
        let element = |end: CableEnd| port_of(fabric, end).map(ElementId::Port).or_else(|| node(end.device));
        elements.extend(ends.filter_map(element));
        elements.dedup();
        elements
    }
}
