//! Nodes that do not answer, and links that went down.

use std::collections::BTreeMap;

use super::problem::{FabricProblem, HitRole, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::operations::watch::fabric_events::{end_name, node_name};
use fabdeck_fabric::observe::{FabricEvent, PortIdentity};
use fabdeck_fabric::{ElementId, Guid, NodeId};

impl HealthFacts<'_> {
    pub(super) fn node_problems(&self) -> Vec<FabricProblem> {
        let fabric = self.look.fabric();
        let silent = fabric.nodes().filter(|(_, node)| !node.facts.answered).map(|(id, _)| id);
        let mut all: Vec<FabricProblem> = silent.map(|node| self.silent_node(node)).collect();
        all.extend(self.vanished_nodes());
        all.extend(self.links_gone_down());
        all
    }

    fn silent_node(&self, node: NodeId) -> FabricProblem {
        let fabric = self.look.fabric();
        let (name, facts) = (self.look.unique_name(node), &fabric.node(node).facts);
        let is_switch = fabric.node(node).is_switch();
        let hosts = if is_switch { self.hosts_at(node) } else { vec![node] };
        // A node that answered before has reported its ports.
        let cause = match facts.port_count {
            0 => ProblemCause::unknown("only its peer reports it; it never answered"),
            _ => ProblemCause::unknown("its cable has a peer, and the node itself does not answer"),
        };
        let next = match is_switch {
            true => self
                .whatif_step(ElementId::Node(node), "preview the routes without it; then look at the switch"),
            false => self.step(
                "look at the host: power, driver, firmware",
                &format!(
                    "show ports --filter {}",
                    crate::catalogue::shell_words::quote_for_shell(&format!("node={name}"))
                ),
            ),
        };
        FabricProblem {
            id: format!("{}:{}", ProblemKind::SilentNode.word(), facts.guid),
            kind: ProblemKind::SilentNode,
            severity: if is_switch { ProblemSeverity::Critical } else { ProblemSeverity::Warning },
            elements: vec![ElementId::Node(node)],
            title: format!("{name} does not answer"),
            cause,
            hits: ProblemHits {
                jobs: self.jobs_of_hosts(&hosts),
                hosts: self.hit_hosts(&hosts, HitRole::CutOff),
                paths: None,
            },
            next,
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        }
    }

    /// Nodes that fell silent during the interval and are no longer in the fabric.
    fn vanished_nodes(&self) -> Vec<FabricProblem> {
        let gone = |event: &FabricEvent| match event {
            FabricEvent::NodeSilent { node } if self.look.fabric().node_by_guid(*node).is_none() => {
                Some(*node)
            }
            _ => None,
        };
        let problem = |guid: Guid| FabricProblem {
            id: format!("{}:{guid}", ProblemKind::SilentNode.word()),
            kind: ProblemKind::SilentNode,
            severity: ProblemSeverity::Critical,
            elements: Vec::new(),
            title: format!("{} does not answer any more", node_name(self.look, guid)),
            cause: ProblemCause::unknown("it answered the reading before, and no cable leads to it now"),
            hits: ProblemHits::default(),
            next: self.step("see which pairs have no path now", "check"),
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        };
        self.news.iter().filter_map(gone).map(problem).collect()
    }

    /// Links that went down during the interval and did not come up again.
    fn links_gone_down(&self) -> Vec<FabricProblem> {
        let mut down: BTreeMap<[PortIdentity; 2], ()> = BTreeMap::new();
        for event in self.news {
            match event {
                FabricEvent::LinkDown { a, b } => drop(down.insert([*a, *b], ())),
                FabricEvent::LinkUp { a, b } => drop(down.remove(&[*a, *b])),
                _ => {}
            }
        }
        let problem = |[a, b]: [PortIdentity; 2]| {
            let ends = [a, b].map(|end| end_name(self.look, end));
            let known: Vec<NodeId> =
                [a, b].iter().filter_map(|(guid, _)| self.look.fabric().node_by_guid(*guid)).collect();
            let hosts: Vec<NodeId> =
                known.iter().copied().filter(|node| !self.look.fabric().node(*node).is_switch()).collect();
            FabricProblem {
                id: format!("{}:{}/{}", ProblemKind::LinkDown.word(), a.0, a.1),
                kind: ProblemKind::LinkDown,
                severity: ProblemSeverity::Critical,
                elements: known.into_iter().map(ElementId::Node).collect(),
                title: format!("{} to {} is down", ends[0], ends[1]),
                cause: ProblemCause::unknown(
                    "it was up in the reading before: cable, module, or one of its ends",
                ),
                hits: ProblemHits {
                    jobs: self.jobs_of_hosts(&hosts),
                    hosts: self.hit_hosts(&hosts, HitRole::CutOff),
                    paths: None,
                },
                next: self.step("see which pairs have no path now", "check"),
                acknowledged: None,
                worse_since: None,
                history: None,
                sign: None,
            }
        };
        down.into_keys().map(problem).collect()
    }
}
