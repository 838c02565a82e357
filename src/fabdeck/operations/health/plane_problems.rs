//! Aggregated ports of which a plane is down, and planes that gave no answer.

use std::collections::BTreeMap;

use super::problem::{FabricProblem, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::observe::{OtherPlaneLink, PlaneAnswer};
use fabdeck_fabric::{ElementId, LinkId};

/// From this number on, links without the same planes are one problem.
const MANY_ALIKE: usize = 4;

impl HealthFacts<'_> {
    pub(super) fn plane_problems(&self) -> Vec<FabricProblem> {
        let fabric = self.look.fabric();
        let mut alike: BTreeMap<(&[u8], usize), Vec<LinkId>> = BTreeMap::new();
        for (link, _) in fabric.links() {
            let planes = self.look.link_planes(link).filter(|planes| !planes.down.is_empty());
            if let Some(planes) = planes.filter(|_| !self.look.is_down(link)) {
                alike.entry((&planes.down, planes.count())).or_default().push(link);
            }
        }
        let mut all = Vec::new();
        for ((down, count), links) in alike {
            match links.len() >= MANY_ALIKE {
                true => all.push(self.plane_down(down, count, &links)),
                false => all.extend(links.iter().map(|link| self.plane_down(down, count, &[*link]))),
            }
        }
        all.extend(self.links_of_other_planes());
        all.extend(self.silent_planes());
        all
    }

    fn plane_down(&self, down: &[u8], count: usize, links: &[LinkId]) -> FabricProblem {
        let planes = plane_words(down, count);
        let title = match links {
            [link] => format!("{}: {planes}", self.link_name(*link)),
            _ => format!("{}: {planes}", count_words(links.len(), "link", "links")),
        };
        let cause = match links.len() > 1 {
            true => {
                ProblemCause::likely("many alike: a switch of the plane, or its power, rather than cables")
            }
            false => ProblemCause::unknown(
                "a lane of the cable or the module, or a port of the plane that is disabled",
            ),
        };
        let mut problem =
            self.link_problem(links[0], ProblemKind::PlaneDown, title, cause, "reseat or replace it");
        problem.next =
            self.step("list the links with planes that are down", "show links --filter 'planes_down>0'");
        if links.len() > 1 {
            let numbers: Vec<String> = down.iter().map(u8::to_string).collect();
            problem.id =
                format!("{}:{}-of-{count}:{}", ProblemKind::PlaneDown.word(), numbers.join("+"), links.len());
            problem.elements = links.iter().map(|link| ElementId::Link(*link)).collect();
            problem.hits = ProblemHits::default();
        }
        problem
    }

    /// Links that the plane of the fabric lacks. The fabric has no element for them. Where part of that plane did not
    /// answer, they are not known to be down.
    fn links_of_other_planes(&self) -> Vec<FabricProblem> {
        let mut alike: BTreeMap<(&[u8], usize), Vec<&OtherPlaneLink>> = BTreeMap::new();
        for link in self.look.links_of_other_planes().iter().filter(|link| !link.planes.down.is_empty()) {
            alike.entry((&link.planes.down, link.planes.count())).or_default().push(link);
        }
        let mut all = Vec::new();
        for ((down, count), links) in alike {
            let planes = plane_words(down, count);
            if links.len() < MANY_ALIKE {
                all.extend(links.into_iter().map(|link| {
                    let name = if link.name.is_empty() { link.node.to_string() } else { link.name.clone() };
                    let id = format!("{}:{}/{}", ProblemKind::PlaneDown.word(), link.node, link.number);
                    self.missing_link_problem(id, format!("{name} port {}: {planes}", link.number))
                }));
                continue;
            }
            let numbers: Vec<String> = down.iter().map(u8::to_string).collect();
            let (kind, missing) = (ProblemKind::PlaneDown.word(), links.len());
            let id = format!("{kind}:missing-{}-of-{count}:{missing}", numbers.join("+"));
            let links = count_words(missing, "link of other planes", "links of other planes");
            all.push(self.missing_link_problem(id, format!("{links}: {planes}")));
        }
        all
    }

    fn missing_link_problem(&self, id: String, title: String) -> FabricProblem {
        let main = self.look.observation.planes.main;
        let cause = ProblemCause::unknown(format!(
            "other planes lead to it; plane {main}, of which the tables are, does not"
        ));
        let mut problem = self.plane_problem(id, title, cause);
        problem.next = self.step(format!("see which pairs have no path in plane {main}"), "check");
        problem
    }

    fn silent_planes(&self) -> Vec<FabricProblem> {
        let readings = self.look.observation.planes.readings.iter();
        let silent = readings.filter(|reading| reading.answer == PlaneAnswer::Silent);
        let problem = |plane: u8| {
            let id = format!("{}:plane-{plane}", ProblemKind::PlaneDown.word());
            let title = format!("plane {plane} gave no answer");
            let cause =
                ProblemCause::unknown("the link of this host in it is down, or its switches do not answer");
            let mut problem = self.plane_problem(id, title, cause);
            problem.next = self.step("see what was asked and what was not answered", "check -v");
            problem
        };
        silent.map(|reading| problem(reading.plane)).collect()
    }

    fn plane_problem(&self, id: String, title: String, cause: ProblemCause) -> FabricProblem {
        FabricProblem {
            id,
            kind: ProblemKind::PlaneDown,
            severity: ProblemSeverity::Warning,
            elements: Vec::new(),
            title,
            cause,
            hits: ProblemHits::default(),
            next: self.step("", "check"),
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        }
    }
}

/// `1 of 4 planes is down (plane 3)`.
fn plane_words(down: &[u8], count: usize) -> String {
    let numbers: Vec<String> = down.iter().map(u8::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("1 of {count} planes is down (plane {one})"),
        several => format!("{} of {count} planes are down (planes {})", several.len(), several.join(", ")),
    }
}
