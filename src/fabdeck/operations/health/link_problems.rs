//! Links that are down, count errors, flap, or run below what both of their ends support.

use std::collections::BTreeMap;

use super::problem::{
    CableSign, FabricProblem, HitRole, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity,
};
use super::problem_list::HealthFacts;
use crate::catalogue::summary::count_words;
use crate::operations::watch::interval_verdict::{discard_words, error_words, flap_words};
use fabdeck_fabric::counters::LinkProblemKind;
use fabdeck_fabric::{ElementId, LinkId, LinkSpeed, LinkWidth, PortId};

/// From this number on, links that run at the same rate below the same possible one are one problem: that is how a
/// fabric is configured, and no longer a bad cable.
const MANY_ALIKE: usize = 4;

/// Width and speed of a link, in use and possible.
type RateInUse = [(Option<LinkWidth>, Option<LinkSpeed>); 2];

/// What was counted at one end of a link, each an hour.
#[derive(Clone, Copy, Default)]
struct EndCounts {
    errors: Option<f64>,
    discards: Option<f64>,
    downs: Option<f64>,
    at_least: bool,
}

impl HealthFacts<'_> {
    pub(super) fn link_problems(&self) -> Vec<FabricProblem> {
        let fabric = self.look.fabric();
        let counted = self.counted_troubles();
        let mut all: Vec<FabricProblem> =
            counted.iter().map(|(link, ends)| self.errored_link(*link, ends)).collect();
        let down = fabric.links().map(|(id, _)| id).filter(|id| self.look.is_down(*id));
        all.extend(down.map(|link| self.link_down(link)));
        let mut degraded: BTreeMap<RateInUse, Vec<LinkId>> = BTreeMap::new();
        for (id, _) in fabric.links() {
            let is_bare = !counted.contains_key(&id) && !self.look.is_down(id);
            if is_bare && self.look.is_degraded(id) == Some(true) {
                degraded.entry(self.rate_in_use(id)).or_default().push(id);
            }
        }
        for (rate, links) in degraded {
            match links.len() >= MANY_ALIKE {
                true => all.push(self.degraded_links(rate, &links)),
                false => all.extend(links.iter().map(|link| self.degraded_links(rate, &[*link]))),
            }
        }
        all
    }

    /// Errors and link-downs above the thresholds, by link and the port that counted them.
    fn counted_troubles(&self) -> BTreeMap<LinkId, BTreeMap<PortId, EndCounts>> {
        let mut counted: BTreeMap<LinkId, BTreeMap<PortId, EndCounts>> = BTreeMap::new();
        for trouble in self.interval.iter().flat_map(|interval| &interval.troubles) {
            let (LinkProblemKind::Errored { at, per_hour, at_least }
            | LinkProblemKind::Discards { at, per_hour, at_least }
            | LinkProblemKind::Flaps { at, per_hour, at_least }) = trouble.why
            else {
                continue;
            };
            let end = counted.entry(trouble.link).or_default().entry(at).or_default();
            match trouble.why {
                LinkProblemKind::Flaps { .. } => end.downs = Some(per_hour),
                LinkProblemKind::Discards { .. } => end.discards = Some(per_hour),
                _ => end.errors = Some(per_hour),
            }
            end.at_least |= at_least;
        }
        counted
    }

    fn errored_link(&self, link: LinkId, ends: &BTreeMap<PortId, EndCounts>) -> FabricProblem {
        if ends.values().all(|end| end.errors.is_none() && end.downs.is_none()) {
            return self.discarding_link(link, ends);
        }
        let worst = |value: fn(&EndCounts) -> Option<f64>| ends.values().filter_map(value).reduce(f64::max);
        let (errors, downs) = (worst(|end| end.errors), worst(|end| end.downs));
        let at_least = ends.values().any(|end| end.at_least);
        let rate = self.look.is_degraded(link) == Some(true);
        let rate = rate.then(|| format!("runs at {}", rate_words(self.rate_in_use(link)[0])));
        let downs = downs.map(|downs| flap_words(downs, at_least));
        let errors = errors.map(|errors| error_words(errors, at_least && downs.is_none()));
        let sign = match (&rate, &downs) {
            (Some(_), _) => CableSign::ReducedRate,
            (None, Some(_)) => CableSign::Flaps,
            (None, None) => CableSign::Errors,
        };
        // The worst fact comes first, so that a narrow screen cuts the others.
        let verb = if rate.is_none() && downs.is_none() { "has " } else { "" };
        let facts: Vec<String> = [rate, downs, errors].into_iter().flatten().collect();
        let title = format!("{} {verb}{} in {}", self.link_name(link), facts.join(", "), self.error_span());
        let counting: Vec<PortId> =
            ends.iter().filter(|(_, end)| end.errors.is_some()).map(|(port, _)| *port).collect();
        let cause = match counting[..] {
            [] => {
                ProblemCause::unknown("it goes down without link errors: an end restarts or resets its port")
            }
            [at] => ProblemCause::likely(format!(
                "cable or module: only {} counts errors",
                self.look.labelled_port_name(at)
            )),
            _ => ProblemCause::likely("cable: both ends count errors"),
        };
        let repair = "clean, reseat or replace it";
        let problem = self.link_problem(link, ProblemKind::LinkErrors, title, cause, repair);
        FabricProblem { sign: Some(sign), ..problem }
    }

    /// The time in which errors were counted.
    fn error_span(&self) -> String {
        self.interval.map_or_else(|| "an hour".to_owned(), |interval| interval.error_span())
    }

    /// A link without errors that stays up, and packets for it are discarded.
    fn discarding_link(&self, link: LinkId, ends: &BTreeMap<PortId, EndCounts>) -> FabricProblem {
        let most = ends.iter().filter_map(|(port, end)| Some((*port, end.discards?, end.at_least)));
        let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
        let name = |port| self.look.labelled_port_name(port);
        let title = most.map_or_else(
            || self.link_name(link),
            |(port, per_hour, at_least)| {
                let discards = discard_words(per_hour, at_least);
                format!("{} has {discards} in {}", name(port), self.error_span())
            },
        );
        let cause = ProblemCause::unknown(
            "a port discards what waits too long to be sent, and everything while its link is down",
        );
        self.link_problem(link, ProblemKind::LinkErrors, title, cause, "")
    }

    fn link_down(&self, link: LinkId) -> FabricProblem {
        let cause =
            ProblemCause::unknown("an end reports the state Down: cable, module, or a port that is disabled");
        let title = format!("{} is down", self.link_name(link));
        let mut problem = self.link_problem(link, ProblemKind::LinkDown, title, cause, "");
        problem.hits.hosts.iter_mut().for_each(|host| host.role = HitRole::CutOff);
        problem.severity = ProblemSeverity::Critical;
        problem
    }

    /// Links that run at one rate below one possible one; several are one problem.
    fn degraded_links(&self, rate @ [used, possible]: RateInUse, links: &[LinkId]) -> FabricProblem {
        let rates = format!("{} of {}", rate_words(used), rate_words(possible));
        let title = match links {
            [link] => format!("{} runs at {rates}", self.link_name(*link)),
            _ => format!("{} run at {rates}", count_words(links.len(), "link", "links")),
        };
        let lanes = used.0 < possible.0;
        let cause = match (links.len() > 1, lanes) {
            (true, _) => ProblemCause::unknown("many alike: rather a setting than a bad cable"),
            (false, true) => {
                ProblemCause::likely("the cable is badly seated, or some of its lanes are broken")
            }
            (false, false) => {
                ProblemCause::unknown("the speed is set at an end, or was lowered after errors")
            }
        };
        let repair = "reseat or replace it at the next service";
        let mut problem = self.link_problem(links[0], ProblemKind::DegradedLink, title, cause, repair);
        if links.len() > 1 {
            let [used, possible] = rate.map(|rate| rate_words(rate).replace(' ', "-"));
            // With another number of links it is another problem: an acknowledgement covers no further link.
            problem.id = format!("{}:{used}-of-{possible}:{}", ProblemKind::DegradedLink.word(), links.len());
            problem.elements = links.iter().map(|link| ElementId::Link(*link)).collect();
            problem.hits = ProblemHits {
                paths: self.paths.map(|_| links.iter().filter_map(|link| self.paths_over(*link)).sum()),
                ..ProblemHits::default()
            };
            problem.next = self.step("list these links", "show links --filter degraded=yes");
        }
        problem
    }

    /// A problem of one link, with who is hit.
    pub(super) fn link_problem(
        &self,
        link: LinkId,
        kind: ProblemKind,
        title: String,
        cause: ProblemCause,
        repair: &str,
    ) -> FabricProblem {
        let hosts = self.attached_hosts(link);
        FabricProblem {
            id: format!("{}:{}", kind.word(), self.port_key(self.look.fabric().link(link).a)),
            kind,
            severity: ProblemSeverity::Warning,
            elements: vec![ElementId::Link(link)],
            title,
            cause,
            hits: ProblemHits {
                hosts: self.hit_hosts(&hosts, HitRole::Attached),
                paths: self.paths_over(link),
                jobs: self.jobs_over(link),
            },
            next: self.whatif_step(ElementId::Link(link), self.repair_words(link, repair)),
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        }
    }

    /// What to do about a link: a cable that no path crosses needs no new routes before it is worked on.
    fn repair_words(&self, link: LinkId, repair: &str) -> String {
        match (self.paths_over(link), repair) {
            (Some(0), "") => "no path crosses it".to_owned(),
            (Some(0), repair) => format!("no path crosses it: {repair}"),
            (_, "") => "preview routes without it".to_owned(),
            (_, repair) => format!("preview routes without it; then {repair}"),
        }
    }

    fn rate_in_use(&self, link: LinkId) -> RateInUse {
        let fabric = self.look.fabric();
        let ends = fabric.link(link);
        let [a, b] = [ends.a, ends.b].map(|port| &fabric.port(port).facts);
        let width = a.width_supported.zip(b.width_supported).map(|(a, b)| a.min(b));
        let speed = a.speed_supported.zip(b.speed_supported).map(|(a, b)| a.min(b));
        [(self.look.width_in_use(link), self.look.speed_in_use(link)), (width, speed)]
    }
}

fn rate_words((width, speed): (Option<LinkWidth>, Option<LinkSpeed>)) -> String {
    let width = width.map_or("?", |width| width.word());
    format!("{width} {}", speed.map_or("?", LinkSpeed::word))
}
