//! Steps that mark elements and make plans.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::crew::{Done, Hands};
use super::jobs;
use super::looking::{captured, of_plan};
use crate::runbook::{Did, Found, Propose, Route, given};
use crate::script::args::{LanesAction, LanesArgs, LanesShown, ProposeArgs};
use crate::script::plan::knows_lanes;
use crate::script::route::{Routed, changes, made, routed, text_of};
use crate::script::{Exit, Failure, lanes, target, whatif};
use crate::session::{
    Asked, Fit, Report, Sent, Service, fit, job_figures_in_force, judge, marks, service_element, service_plan,
};
use fabdeck_change::Plan;
use fabdeck_mad::access::Wanted;
use fabdeck_routing::Request;

impl Hands<'_, '_, '_> {
    fn marked(&self, words: String) -> Did {
        let values = vec![("marked".to_owned(), Found::count(self.marks.len() as u64))];
        Did { values, ..Did::said(words) }
    }

    pub fn fail(&mut self, elements: &[String]) -> Done {
        let (look, _) = self.look(Wanted::default())?;
        self.context.among_answers(&look, marks(&look, elements))?;
        let new = elements.iter().filter(|element| !self.marks.contains(element));
        let new: Vec<String> = new.cloned().collect();
        self.marks.extend(new);
        Ok(self.marked(format!("marked as failed: {}", self.marks.join(", "))))
    }

    pub fn unmark(&mut self, elements: &[String]) -> Did {
        self.marks.retain(|marked| !elements.is_empty() && !elements.contains(marked));
        let left = if self.marks.is_empty() { "nothing".to_owned() } else { self.marks.join(", ") };
        self.marked(format!("marked as failed: {left}"))
    }

    pub fn route(&mut self, route: &Route) -> Done {
        let engine = whatif::engine_named(&route.engine)?;
        let (look, in_force) = self.look(Wanted { tables: true, ..Wanted::default() })?;
        if !look.observation.tables.has_forwarding() {
            return Err(Failure::new(Exit::Failed, "FD-7913: the source has no forwarding tables").into());
        }
        let faults = self.faults(&look);
        let Route { lanes, lanes_by, .. } = *route;
        let jobs = self.running(&look);
        let request = Request { lanes_by, manager: look.manager(), jobs, ..Request::default() }
            .with_lanes(lanes, self.context.config.supposed_lanes);
        let asked = Asked { request: &request, switches: false, sent: in_force.sent() };
        let now = job_figures_in_force(&look, &look.observation.tables, &faults, &request.jobs);
        let Routed { plan, proposal, row } = routed(self.context, &look, &faults, engine, asked)?;
        let mut did = self.keep(plan, &proposal.report, route.plan.as_deref())?;
        if self.jobs.is_some() {
            did.values.extend(jobs::of_plan(now.as_ref(), row.jobs.as_ref()));
        }
        Ok(did)
    }

    pub fn service(&mut self, element: &str, service: Service) -> Done {
        let (look, in_force) = self.look(Wanted { tables: true, ..Wanted::default() })?;
        let found = self.context.among_answers(&look, service_element(&look, element))?;
        let made = made(self.context);
        let plan = service_plan(&look, found, service, in_force.sent(), made)
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        let judged = judge(&look, &plan, &Fit::AsMade, (false, Sent::Unsaid))?;
        self.keep(plan, &judged.report, None)
    }

    /// Keeps a plan for later steps, and writes it to a file if one is named.
    pub fn keep(&mut self, plan: Plan, report: &Report, file: Option<&Path>) -> Done {
        let text = text_of(&plan)?;
        // The step applies exactly what a file of the plan would say.
        let plan = Plan::read(&text).map_err(|error| Failure::new(Exit::Bug, format!("FD-7923: {error}")))?;
        let values = of_plan(&plan, report);
        let mut words = format!("{}: {}", plan.engine, changes(&plan));
        if !plan.findings.is_empty() {
            words = format!("{words}; findings: {}", plan.findings.join("; "));
        }
        if let Some(file) = file {
            if self.dry {
                words = format!("{words}; {} is not written", file.display());
            } else {
                target::write_new(file, text.as_bytes())?;
                words = format!("{words}; in {}", file.display());
            }
            self.files.insert(file.to_owned(), (plan.clone(), text.clone()));
        }
        self.made = Some((plan, text));
        Ok(Did { values, rehearsed: self.dry && !self.led.is_empty(), ..Did::said(words) })
    }

    /// Keeps the plan that `lanes propose` would write.
    pub fn lanes(&mut self, propose: &Propose) -> Done {
        if self.dry && !self.led.is_empty() {
            let values = ["migrations", "hotspots"].map(|name| (name.to_owned(), Found::Unrehearsed)).into();
            let words = "not rehearsed: counters tell of the fabric as it is, not of the plan";
            return Ok(Did { values, rehearsed: true, ..Did::said(words) });
        }
        let shown = || LanesShown { lanes_in_force: None, top: usize::MAX };
        let asked = ProposeArgs {
            output: Some("-".into()),
            force: false,
            back: false,
            interval: Some(propose.interval),
            count: propose.count,
            shown: shown(),
        };
        let args = LanesArgs { shown: shown(), action: Some(LanesAction::Propose(asked)) };
        let text = captured(self.context, &self.stop, |inner| lanes::run(inner, &args))?;
        self.heed()?;
        let plan = match Plan::read(&text) {
            Ok(plan) => plan,
            Err(_) if says_nothing_moves(&text) => {
                self.made = None;
                return Ok(nothing_moves());
            }
            Err(error) => {
                let what = format!("FD-9241: what was proposed cannot be read: {error}");
                return Err(Failure::new(Exit::Bug, what).into());
            }
        };
        let wanted = Wanted { tables: true, lanes: knows_lanes(&plan), ..Wanted::default() };
        let (look, _) = self.look(wanted)?;
        let judged = judge(&look, &plan, &fit(&look, &plan), (false, Sent::Unsaid))?;
        let flows: usize = plan.migrations.iter().map(|migration| migration.flows.len()).sum();
        let spots: BTreeSet<u16> = plan.migrations.iter().map(|migration| migration.hot_spot.lid).collect();
        let mut did = self.keep(plan, &judged.report, propose.plan.as_deref())?;
        did.values.push(("migrations".to_owned(), Found::count(flows as u64)));
        did.values.push(("hotspots".to_owned(), Found::count(spots.len() as u64)));
        Ok(did)
    }

    /// Adds a plan to those that later snapshots of the rehearsal are led through. A stale plan is refused.
    pub fn lead(&mut self, plan: Plan) -> Result<(), Failure> {
        let lanes = knows_lanes(&plan);
        let (look, _) = self.look(Wanted { tables: true, lanes, ..Wanted::default() })?;
        if let Fit::Stale(stale) = fit(&look, &plan) {
            let what = format!("FD-7986: the plan is stale: {}; make it again", stale.words());
            return Err(Failure::new(Exit::Stale, what));
        }
        self.led.push(plan);
        Ok(())
    }
}

/// Whether the output says that no flow moves, in which case there is no plan.
fn says_nothing_moves(text: &str) -> bool {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    answer["schema"] == "fabdeck.lanes-propose/1" && answer.get("plan").is_some_and(Value::is_null)
}

fn nothing_moves() -> Did {
    // The values of a plan are unknown, so that those of an earlier step do not count as this plan's.
    let unknown = given::plan().map(|name| (name, Found::Unknown));
    let counted = ["migrations", "hotspots", "writes"].map(|name| (name, Found::count(0)));
    let values = unknown.chain(counted).map(|(name, found)| (name.to_owned(), found)).collect();
    Did { values, ..Did::said("nothing to move") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_without_a_plan_says_that_nothing_moves() {
        assert!(says_nothing_moves(r#"{"schema":"fabdeck.lanes-propose/1","plan":null}"#));
        for other in [
            "",
            "{}",
            "null",
            r#"{"schema":"fabdeck.lanes-propose/1"}"#,
            r#"{"schema":"fabdeck.lanes-propose/1","plan":"a.plan"}"#,
            r#"{"schema":"fabdeck.plan/9","plan":null}"#,
        ] {
            assert!(!says_nothing_moves(other), "{other}");
        }
        let did = nothing_moves();
        let of = |name: &str| did.values.iter().rfind(|(known, _)| known == name).map(|(_, found)| *found);
        assert_eq!((of("lost_pairs"), of("migrations")), (Some(Found::Unknown), Some(Found::count(0))));
        assert_eq!(of("writes"), Some(Found::count(0)));
    }
}
