//! Steps that mark elements and make plans.

use std::collections::BTreeSet;
use std::path::Path;

use super::job_steps;
use super::runner::{Runner, StepResult};
use super::snapshot_steps::values_of_plan;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::check::loads::job_figures_in_force;
use crate::operations::lanes::lane_proposal::{ProposalRequest, propose_lanes};
use crate::operations::plans::link_service::{LinkService, find_service_element, service_plan};
use crate::operations::plans::plan_file::plan_has_lanes;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::plan_verdict::{PlanFit, check_plan_fit, judge_plan};
use crate::operations::plans::route_plan::{
    RoutedPlan, change_summary, findings_warning, route_plan, text_of_plan,
};
use crate::operations::preview::comparison::PathScope;
use crate::operations::preview::engine_names;
use crate::operations::preview::whatif::{ProposalOptions, parse_marks};
use crate::runbook::execute::StepOutput;
use crate::runbook::steps::{ProposeTask, RouteTask};
use crate::runbook::value_names;
use crate::runbook::values::StepValue;
use crate::system::output_file;
use fabdeck_change::Plan;
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::Request;

impl Runner<'_> {
    fn mark_output(&self, words: String) -> StepOutput {
        let values = vec![("marked".to_owned(), StepValue::count(self.marks.len() as u64))];
        StepOutput { values, ..StepOutput::with_text(words) }
    }

    pub fn fail(&mut self, elements: &[String]) -> StepResult {
        let (snapshot, _) = self.read_snapshot(ReadOptions::default())?;
        self.operation.explain_missing(&snapshot, parse_marks(&snapshot, elements))?;
        self.operation.report_guessed_labels(&snapshot, elements.iter().map(String::as_str));
        let added = elements.iter().filter(|element| !self.marks.contains(element));
        let added: Vec<String> = added.cloned().collect();
        self.marks.extend(added);
        Ok(self.mark_output(format!("marked as failed: {}", self.marks.join(", "))))
    }

    pub fn unmark(&mut self, elements: &[String]) -> StepOutput {
        self.marks.retain(|marked| !elements.is_empty() && !elements.contains(marked));
        let left = if self.marks.is_empty() { "nothing".to_owned() } else { self.marks.join(", ") };
        self.mark_output(format!("marked as failed: {left}"))
    }

    pub fn route(&mut self, route: &RouteTask) -> StepResult {
        let engine = engine_names::engine_named(&route.engine)?;
        let lanes = engine.writes_lane_tables;
        let (snapshot, in_force) =
            self.read_snapshot(ReadOptions { tables: true, lanes, ..ReadOptions::default() })?;
        if !snapshot.observation.tables.has_forwarding() {
            return Err(Failure::new(Exit::Failed, "FD-7913: the source has no forwarding tables; put a dump of them beside the topology (dump_lfts)").into());
        }
        let faults = self.faults(&snapshot);
        let RouteTask { lanes, lanes_by, .. } = *route;
        let jobs = self.running_jobs(&snapshot);
        let request = Request { lanes_by, manager: snapshot.manager(), jobs, ..Request::default() }
            .with_lanes(lanes, self.operation.env.given.supposed_lanes);
        let asked = ProposalOptions { request: &request, switches: false, sent: in_force.sent() };
        let now = job_figures_in_force(&snapshot, &snapshot.observation.tables, &faults, &request.jobs);
        let RoutedPlan { plan, proposal, row } =
            route_plan(&mut self.operation, &snapshot, &faults, engine, asked)?;
        let mut output = self.store_plan(plan, &proposal.report, route.plan.as_deref())?;
        if self.jobs.is_some() {
            output.values.extend(job_steps::values_of_plan(now.as_ref(), row.jobs.as_ref()));
        }
        Ok(output)
    }

    pub fn service(&mut self, element: &str, service: LinkService) -> StepResult {
        let (snapshot, in_force) =
            self.read_snapshot(ReadOptions { tables: true, ..ReadOptions::default() })?;
        let found = self.operation.explain_missing(&snapshot, find_service_element(&snapshot, element))?;
        self.operation.report_guessed_labels(&snapshot, [element]);
        let made = PlanOrigin::now(self.operation.env.given);
        let plan = service_plan(&snapshot, found, service, in_force.sent(), made)
            .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        let judged = judge_plan(&snapshot, &plan, &PlanFit::AsMade, PathScope::TERMINALS)?;
        self.store_plan(plan, &judged.report, None)
    }

    /// Stores a plan for later steps, and writes it to a file if one is named.
    pub fn store_plan(&mut self, plan: Plan, report: &CertificateReport, file: Option<&Path>) -> StepResult {
        let text = text_of_plan(&plan)?;
        // Later steps apply exactly what a file of the plan would contain.
        let plan = Plan::read(&text).map_err(|error| Failure::new(Exit::Bug, format!("FD-7923: {error}")))?;
        let values = values_of_plan(&plan, report);
        let mut words = format!("{}: {}", plan.engine, change_summary(&plan));
        if !plan.findings.is_empty() {
            words = format!("{words}; findings: {}", plan.findings.join("; "));
        }
        if let Some(file) = file {
            if self.dry {
                words = format!("{words}; {} is not written", file.display());
            } else {
                output_file::write_new(file, text.as_bytes())?;
                words = format!("{words}; in {}", file.display());
            }
            self.files.insert(file.to_owned(), (plan.clone(), text.clone()));
        }
        self.made = Some((plan, text));
        Ok(StepOutput {
            values,
            rehearsed: self.dry && !self.rehearsed_plans.is_empty(),
            ..StepOutput::with_text(words)
        })
    }

    /// Stores the plan that `lanes propose` would write.
    pub fn lanes(&mut self, propose: &ProposeTask) -> StepResult {
        if self.dry && !self.rehearsed_plans.is_empty() {
            let values =
                ["migrations", "hotspots"].map(|name| (name.to_owned(), StepValue::Unrehearsed)).into();
            let words = "not rehearsed: the counters are those of the current fabric, not of the plan";
            return Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) });
        }
        let request = ProposalRequest {
            interval: Some(propose.interval),
            count: propose.count,
            ..ProposalRequest::default()
        };
        let proposal = propose_lanes(&mut self.operation, &request)?;
        if let Ok(Some(plan)) = &proposal.plan {
            findings_warning(plan).iter().for_each(|line| self.operation.reporter.report_line(line));
        }
        self.operation.count_reading(&proposal.snapshot);
        let plan = proposal.plan?;
        self.check_stop()?;
        let Some(plan) = plan else {
            self.made = None;
            return Ok(empty_proposal_output());
        };
        let wanted = ReadOptions { tables: true, lanes: plan_has_lanes(&plan), ..ReadOptions::default() };
        let (snapshot, _) = self.read_snapshot(wanted)?;
        let judged = judge_plan(&snapshot, &plan, &check_plan_fit(&snapshot, &plan), PathScope::TERMINALS)?;
        let flows: usize = plan.migrations.iter().map(|migration| migration.flows.len()).sum();
        let spots: BTreeSet<u16> = plan.migrations.iter().map(|migration| migration.hot_spot.lid).collect();
        let mut output = self.store_plan(plan, &judged.report, propose.plan.as_deref())?;
        output.values.push(("migrations".to_owned(), StepValue::count(flows as u64)));
        output.values.push(("hotspots".to_owned(), StepValue::count(spots.len() as u64)));
        Ok(output)
    }

    /// Adds a plan to the rehearsal, whose later snapshots show the fabric after it. A stale plan is refused.
    pub fn apply_to_snapshot(&mut self, plan: Plan) -> Result<(), Failure> {
        let lanes = plan_has_lanes(&plan);
        let (snapshot, _) =
            self.read_snapshot(ReadOptions { tables: true, lanes, ..ReadOptions::default() })?;
        if let PlanFit::Stale(stale) = check_plan_fit(&snapshot, &plan) {
            let what = format!("FD-7986: the plan is stale: {}; make it again", stale.words());
            return Err(Failure::new(Exit::Stale, what));
        }
        self.rehearsed_plans.push(plan);
        Ok(())
    }
}

fn empty_proposal_output() -> StepOutput {
    // The values of a plan are unknown, so that those of an earlier step do not count as this plan's.
    let unknown = value_names::plan().map(|name| (name, StepValue::Unknown));
    let counted = ["migrations", "hotspots", "writes"].map(|name| (name, StepValue::count(0)));
    let values = unknown.chain(counted).map(|(name, found)| (name.to_owned(), found)).collect();
    StepOutput { values, ..StepOutput::with_text("nothing to move") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_proposal_leaves_the_values_of_a_plan_unknown() {
        let output = empty_proposal_output();
        let of = |name: &str| output.values.iter().rfind(|(other, _)| other == name).map(|(_, found)| *found);
        assert_eq!(
            (of("lost_pairs"), of("migrations")),
            (Some(StepValue::Unknown), Some(StepValue::count(0)))
        );
        assert_eq!(of("writes"), Some(StepValue::count(0)));
    }
}
