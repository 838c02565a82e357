//! Does what a policy decided on a live fabric: a change like every other, with its guard and its journal. Only the fabrics
//! that the policy names are written to.

use std::time::Duration;

use super::policy_actions::{ChangeStart, IsolationRecord, PolicyActions, PolicyFabric};
use super::policy_file::{Policy, PolicyMode};
use super::policy_switch::{PolicyStop, find_stop, turn_off};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::nothing_to_do;
use crate::operations::changes::applied_plan::find_deviation;
use crate::operations::changes::apply::{ApplyOptions, UnattendedFrontEnd, apply_unattended};
use crate::operations::changes::change_control::{
    confirm_by_program, driver_options, guard_status, refuse_without_right, roll_back,
};
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::DriverOptions;
use crate::operations::changes::undo::find_state;
use crate::operations::changes::verification::hides_part;
use crate::operations::environment::{Env, OperationOptions, simulator_socket};
use crate::operations::lanes::lanes_in_force::{LaneReading, read_snapshot};
use crate::operations::operation::Operation;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::route_plan::text_of_plan;
use crate::system::stop_flag::StopFlag;
use fabdeck_change::{ChangePhase, EVERYTHING_LEFT, Plan};
use fabdeck_mad::access::{ObservedFabric, ReadOptions, WriteToken};

/// Time to wait for a rollback; the guard goes on with it afterwards.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(25);

/// The right of a policy to write, and how it does.
#[derive(Debug)]
pub struct PolicyWriter {
    /// The options of the watch, with the right to write to the fabrics of the policy alone.
    options: OperationOptions,
    source: String,
    driver: DriverOptions,
    window: Duration,
    stop: StopFlag,
}

/// Refuses a policy that applies where it may not, before anything runs.
pub fn refuse_unnamed_fabric(env: Env<'_>, policy: &Policy) -> Result<(), Failure> {
    let source = env.named_source()?;
    let refused = |what: &str| {
        Failure::new(
            Exit::Refused,
            format!(
                "FD-7382: the policy would write, and {what}; or write mode = \"shadow\" into the file, which only proposes"
            ),
        )
    };
    if !env.given.right.asked {
        return Err(refused("--allow-write is not given"));
    }
    let is_named =
        |name: &String| name == source || env.given.right.opted_in.iter().any(|fabric| fabric.name == *name);
    match policy.fabrics.iter().any(is_named) {
        true => Ok(()),
        false => {
            Err(refused(&format!("'fabrics' names neither {source} nor a [[fabric]] of the configuration")))
        }
    }
}

/// Refuses a policy that writes, to tables or to Slurm, on a fabric whose switches are those of no entry that it names.
pub fn refuse_other_fabric(env: Env<'_>, policy: &Policy, look: &Snapshot) -> Result<(), Failure> {
    let source = env.named_source()?;
    let is_simulator = env.outside.is_own_simulator(source) || simulator_socket(source)?.is_some();
    if !policy.may_write() || is_simulator {
        return Ok(());
    }
    let mut named = env.given.right.opted_in.clone();
    named.retain(|fabric| policy.fabrics.contains(&fabric.name));
    let seen = ObservedFabric {
        switches: look.fabric().switches().map(|(_, node)| node.guid()).collect(),
        subnet_prefix: look.observation.reading.as_ref().and_then(|reading| reading.subnet_prefix),
        manager: look.manager(),
        port: None,
    };
    match WriteToken::grant(true, &named, &seen) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new(
            Exit::Refused,
            format!(
                "FD-7388: the policy would write to this fabric, and none in its 'fabrics' is this one: {error}"
            ),
        )),
    }
}

impl PolicyWriter {
    /// `None` for a policy that writes to no fabric.
    pub fn new(operation: &Operation<'_>, policy: &Policy, stop: StopFlag) -> Result<Option<Self>, Failure> {
        let env = operation.env;
        if policy.may_write() {
            refuse_unnamed_fabric(env, policy)?;
        }
        if policy.mode == PolicyMode::Shadow {
            return Ok(None);
        }
        let source = env.named_source()?.to_owned();
        let mut options = env.given.clone();
        options.right.opted_in.retain(|fabric| policy.fabrics.contains(&fabric.name));
        refuse_without_right(Env { given: &options, ..env }, &source)?;
        let driver = policy.driver.clone();
        let driver = driver_options(
            driver.through_opensm,
            driver.opensm_conf,
            driver.opensm_console,
            driver.beside_manager,
        );
        Ok(Some(Self { options, source, driver, window: policy.window(), stop }))
    }
}

/// The actions of a policy on the fabric of an operation.
pub struct LiveActions<'a, 'o> {
    pub operation: &'a mut Operation<'o>,
    /// `None`: nothing is written to the fabric.
    pub writer: Option<&'a PolicyWriter>,
}

fn message(failure: Failure) -> String {
    failure.message.unwrap_or_default()
}

impl LiveActions<'_, '_> {
    /// The operation, with the right to write to the fabrics of the policy alone.
    fn limited(&mut self) -> Operation<'_> {
        let given = self.writer.map_or(self.operation.env.given, |writer| &writer.options);
        Operation {
            env: Env { outside: self.operation.env.outside, given },
            stop: self.operation.stop,
            partial: self.operation.partial,
            reporter: self.operation.reporter,
        }
    }
}

impl PolicyActions for LiveActions<'_, '_> {
    fn find_stop(&mut self) -> Option<PolicyStop> {
        find_stop(self.operation.env)
    }

    fn turn_off(&mut self, why: &str) -> Result<(), Failure> {
        turn_off(self.operation.env, why).map(drop)
    }

    fn report_line(&mut self, line: &str) {
        self.operation.reporter.report_line(line);
    }

    fn writes(&self) -> bool {
        self.writer.is_some()
    }

    fn origin(&self) -> PlanOrigin {
        PlanOrigin::now(self.operation.env.given)
    }

    fn read_fabric(&mut self) -> Result<PolicyFabric, String> {
        let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
        let (look, in_force) =
            read_snapshot(&mut self.limited(), wanted, LaneReading::default()).map_err(message)?;
        match hides_part(&look.observation) {
            true => Err("part of the fabric did not answer".to_owned()),
            false => Ok(PolicyFabric::new(look, in_force)),
        }
    }

    fn apply(
        &mut self,
        plan: &Plan,
        accepted: &[String],
        record: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> ChangeStart {
        let refused = |failure: Failure| ChangeStart::NotBegun { why: message(failure) };
        let Some(writer) = self.writer else {
            return ChangeStart::NotBegun { why: "the policy does not apply".to_owned() };
        };
        let bug = |error: fabdeck_change::PlanFileError| Failure::new(Exit::Bug, error.to_string());
        let read = match text_of_plan(plan).and_then(|text| Ok((Plan::read(&text).map_err(bug)?, text))) {
            Ok(read) => read,
            Err(failure) => return refused(failure),
        };
        let (accepted, window) = (accepted.to_vec(), writer.window);
        let acceptance = Acceptance { accepted, window, unanswered: Default::default() };
        let options = ApplyOptions {
            source: &writer.source,
            driver: &writer.driver,
            acceptance: &acceptance,
            audited_as: format!("{}, by policy", plan.engine),
        };
        let mut begun = None;
        let mut record_id = |id: &str| {
            record(id)?;
            begun = Some(id.to_owned());
            Ok(())
        };
        let Operation { env, reporter, .. } = self.limited();
        let front = UnattendedFrontEnd { reporter, stop: &writer.stop, record_id: &mut record_id };
        match (apply_unattended(env, &options, read, front), begun) {
            (Ok(Some(status)), Some(id)) if status.phase == ChangePhase::Applied => {
                ChangeStart::Applied { id }
            }
            (Ok(Some(status)), _) if status.phase == ChangePhase::Refused => {
                ChangeStart::NotBegun { why: status.why.unwrap_or_default() }
            }
            (Ok(Some(_)), Some(id)) => ChangeStart::Begun { id },
            // An unknown state counts as begun.
            (Err(_), Some(id)) if self.phase(&id) != Some(ChangePhase::Refused) => ChangeStart::Begun { id },
            (Err(failure), _) => refused(failure),
            (Ok(_), _) => ChangeStart::NotBegun { why: nothing_to_do("the plan", plan.writes.len()) },
        }
    }

    fn phase(&mut self, id: &str) -> Option<ChangePhase> {
        match guard_status(self.limited().env, id) {
            Ok(status) => Some(status.phase),
            Err(failure) if failure.exit == Exit::Usage => Some(ChangePhase::Refused),
            Err(_) => None,
        }
    }

    fn is_left_whole(&mut self, id: &str) -> bool {
        let status = guard_status(self.limited().env, id);
        status.is_ok_and(|status| status.left.iter().any(|left| left.what == EVERYTHING_LEFT))
    }

    fn find_isolation(&mut self, id: &str) -> Result<IsolationRecord, String> {
        let begun = find_state(self.limited().env, id).map_err(message)?.begun;
        Ok(IsolationRecord { number: begun.number, writes: begun.writes })
    }

    fn find_deviation(&mut self, plan: &Plan, accepted: &[String]) -> Result<Option<String>, String> {
        find_deviation(&mut self.limited(), plan, accepted)
    }

    fn confirm(&mut self, id: &str) -> Result<(), String> {
        let Operation { env, reporter, .. } = self.limited();
        let confirmed = confirm_by_program(env, id, "policy", &mut |line| reporter.report_line(line));
        confirmed.map(drop).map_err(message)
    }

    fn roll_back(&mut self, id: &str) -> Result<(), String> {
        let Operation { env, reporter, .. } = self.limited();
        let ended = roll_back(env, id, ROLLBACK_TIMEOUT, &mut |line| reporter.report_line(line));
        ended.map(drop).map_err(message)
    }
}
