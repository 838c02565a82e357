//! Prepares a plan: checks it against the fabric, and refuses what may not be applied.

use super::change_comparison::pending_elsewhere;
use super::{acceptance, change_store};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::{Env, OperationOptions, absolute_path, simulator_socket, switch_guids};
use crate::operations::plans::adaptive_refusal::AdaptiveRefusal;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::{PlanFit, PlanVerdict, check_plan_fit, judge_plan};
use crate::operations::preview::comparison::PathScope;
use crate::operations::preview::whatif::routes_in_force;
use fabdeck_change::{
    BeginRecord, LocalSystem, OpensmDriver, OpensmSite, Plan, UnfailedLoss, find_rollback_defects,
    first_unreached, measure_writes, switched_ports,
};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::{Actuator, ReadObserver, ReadOptions, RegistrationLookup, Surveyor};
use fabdeck_routing::Problem;

/// Which driver writes the change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DriverOptions {
    /// The OpenSM installation, for changes through OpenSM.
    pub site: Option<OpensmSite>,
    /// Whether the operator accepts writing beside an active subnet manager.
    pub beside_manager: bool,
}

/// A plan that fits the fabric, with what was read of both.
pub struct PreparedChange {
    /// Source as the operator named it; the guard process opens it again.
    pub source: String,
    pub plan: Plan,
    /// Text of the plan, which is stored beside the journal.
    pub text: String,
    pub look: Snapshot,
    pub judged: PlanVerdict,
    /// Findings against the plan, by the name under which each is accepted.
    pub found: Vec<(&'static str, String)>,
    /// The actuator that read the fabric, until a later step takes it.
    pub actuator: Option<Box<dyn Actuator>>,
    /// Whether the source is a simulator of this process, with which the change ends.
    pub own: bool,
    /// Why other machines cannot see the change while it is pending.
    pub unregistered: Option<String>,
    pub simulated: bool,
}

/// A plan of which everything is in place already, or which writes nothing.
pub struct NothingToDo {
    /// Why changes of other machines cannot be seen, if they cannot.
    unregistered: Option<String>,
}

impl NothingToDo {
    /// Warning that what is in place may be a pending change of another machine.
    pub fn warning(&self) -> Option<String> {
        let why = self.unregistered.as_ref()?;
        Some(format!(
            "another machine may have this change pending, and would then roll it back: pending changes of other machines are not \
             visible: {why}"
        ))
    }
}

/// Checks a plan against the fabric. The inner error says that there is nothing to write.
pub fn prepare(
    means: Env<'_>,
    source: &str,
    plan: Plan,
    text: String,
    road: &DriverOptions,
    watch: &mut dyn ReadObserver,
) -> Result<Result<PreparedChange, NothingToDo>, Failure> {
    // The right to write is checked before the long reading.
    let mut actuator = means.outside.actuator(source, &means.given.reach, &means.given.right)?;
    let lanes = plan_file::plan_has_lanes(&plan);
    let observed =
        actuator.read_fabric(ReadOptions { tables: true, lanes, ..ReadOptions::default() }, watch)?;
    let look = means.snapshot_of(source, observed)?;
    // A plan may be older than adaptive routing on this fabric.
    if let Some(refusal) = AdaptiveRefusal::new(&look, &plan.writes) {
        return Err(Failure::new(Exit::Refused, format!("FD-7928: the plan is not applied: {refusal}")));
    }
    let simulated = source.starts_with("sim:");
    let own = means.outside.is_own_simulator(source);
    let found = check_plan_fit(&look, &plan);
    let writes_nothing = plan.writes.is_empty() && plan.migrations.is_empty();
    // A pending change explains a misfit and may roll back at any moment, so it is reported first. It may also be
    // the reason why a plan writes nothing.
    if !own && (writes_nothing || !matches!(found, PlanFit::AsMade)) {
        change_store::refuse_pending_change(means, simulated, &fabric_record(source, &look)?)?;
    }
    let unregistered = if own { None } else { refuse_registered(means, actuator.as_mut())? };
    let judged = match found {
        PlanFit::Stale(stale) => {
            let what = format!("FD-7986: the plan is stale: {}; make it again", stale.words());
            return Err(Failure::new(Exit::Stale, what));
        }
        PlanFit::Applied => return Ok(Err(NothingToDo { unregistered })),
        PlanFit::AsMade if writes_nothing => return Ok(Err(NothingToDo { unregistered })),
        fit @ PlanFit::AsMade => {
            let mut judged = judge_plan(&look, &plan, &fit, PathScope::TERMINALS)?;
            if let Some(way) = &mut judged.transition.on_the_way {
                way.unfailed = count_unfailed(&look, &plan);
            }
            judged
        }
    };
    Ok(Ok(PreparedChange {
        source: source.to_owned(),
        found: acceptance::plan_findings(&judged, &plan, &look, road.site.is_some()),
        own,
        unregistered,
        simulated,
        plan,
        text,
        look,
        judged,
        actuator: Some(actuator),
    }))
}

/// Counts the pairs of the fabric as it is, where the plan takes elements as failed: these may still work.
fn count_unfailed(look: &Snapshot, plan: &Plan) -> Option<UnfailedLoss> {
    if plan.failed.is_empty() {
        return None;
    }
    let (fabric, tables, none) = (look.fabric(), &look.observation.tables, Faults::default());
    let whole = Problem::new(fabric, &none);
    let old = routes_in_force(look, tables, &none);
    let new = plan.routes(fabric, &plan.tables_after(fabric, tables));
    Some(measure_writes(&whole, (&old, &new), plan.scope.switches, &plan.writes))
}

/// Refuses if another machine has registered a pending change. Returns why registrations are impossible, if they are.
/// A registration of this user's own change does not count; the change has a journal here.
fn refuse_registered(means: Env<'_>, actuator: &mut dyn Actuator) -> Result<Option<String>, Failure> {
    let found = actuator.read_registration();
    match pending_elsewhere(means, &found) {
        Some(why) => Err(Failure::new(Exit::Refused, why)),
        None => Ok(match found {
            RegistrationLookup::NotKept(why) => Some(why),
            _ => None,
        }),
    }
}

/// A first record that says only of which fabric a change is.
pub fn fabric_record(source: &str, look: &Snapshot) -> Result<BeginRecord, Failure> {
    let (simulator, switches) = (simulator_socket(source)?, switch_guids(look));
    Ok(BeginRecord { simulator, switches, ..BeginRecord::default() })
}

impl PreparedChange {
    /// Warning that other machines cannot see the change while it is pending.
    pub fn unregistered_warning(&self) -> Option<String> {
        let why = self.unregistered.as_ref()?;
        Some(format!("other machines do not see this change, and may write at the same time: {why}"))
    }

    /// Refuses what no option accepts, and reports unreadable changes and remarks about the driver.
    pub fn refuse(
        &mut self,
        means: Env<'_>,
        road: &DriverOptions,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        self.refuse_stdin_key(means)?;
        self.refuse_beside_manager(road)?;
        if !self.own {
            let here = fabric_record(&self.source, &self.look)?;
            change_store::refuse_unfit_folder(means, self.simulated)?;
            let stepped_over = change_store::refuse_pending_change(means, self.simulated, &here)?;
            stepped_over.iter().for_each(|message| say(message));
        }
        let Some(mut surveyor) = self.actuator.take() else { return Ok(()) };
        refuse_unreachable(surveyor.as_mut(), &self.plan)?;
        let Some(site) = &road.site else {
            self.actuator = Some(surveyor);
            return Ok(());
        };
        let checked = OpensmDriver::new(surveyor, (&self.plan, ""), site.clone(), &LocalSystem).check();
        checked.remarks.iter().for_each(|remark| say(remark));
        if !checked.refusals.is_empty() {
            return Err(Failure::of_all(Exit::Refused, checked.refusals.iter().map(ToString::to_string)));
        }
        let OperationOptions { reach, right, .. } = means.given;
        self.actuator = Some(means.outside.actuator(&self.source, reach, right)?);
        Ok(())
    }

    /// The guard reads the keys itself, and so does a guard that replaces it.
    fn refuse_stdin_key(&self, means: Env<'_>) -> Result<(), Failure> {
        let stdin = means.given.reach.mkey_file.as_ref().is_some_and(|file| file.as_os_str() == "-");
        if self.own || !stdin {
            return Ok(());
        }
        Err(Failure::usage(
            "FD-7991: the guard of a change reads the M_Keys itself, also later: give a file with --mkey-file",
        ))
    }

    /// OpenSM never reads tables back, and would mix its own state with what was written.
    fn refuse_beside_manager(&self, road: &DriverOptions) -> Result<(), Failure> {
        let heeded = road.site.is_none() && !self.simulated && !road.beside_manager;
        match self.look.manager().filter(|_| heeded) {
            None => Ok(()),
            Some(manager) => Err(Failure::new(
                Exit::Refused,
                format!(
                    "FD-7987: the subnet manager {manager} is in charge: it does not read tables back, and \
                     overwrites this change at its next handover or reroute; 'fabdeck apply PLAN --via opensm' goes \
                     through OpenSM, --beside-manager writes directly all the same"
                ),
            )),
        }
    }

    /// The first record of the journal, without user and time.
    pub fn begin_record(&self, means: Env<'_>, road: &DriverOptions) -> Result<BeginRecord, Failure> {
        let source = &self.source;
        let simulator = simulator_socket(source)?;
        let at = source.split_once(",at=").map_or_else(String::new, |(_, at)| format!(",at={at}"));
        Ok(BeginRecord {
            // The guard opens the source again from another working directory.
            source: simulator.as_ref().map_or_else(|| source.clone(), |path| format!("sim:{path}{at}")),
            via: if road.site.is_some() { "opensm".to_owned() } else { "direct".to_owned() },
            opensm: road.site.clone(),
            plan: self.plan.hash.clone(),
            engine: self.plan.engine.clone(),
            mkey_file: means.given.reach.mkey_file.clone().map(absolute_path),
            switches: switch_guids(&self.look),
            simulator,
            lost_before: find_rollback_defects(self.look.fabric(), &self.look.observation.tables, &self.plan)
                .pairs,
            failed: self.plan.failed.clone(),
            pairs: self.judged.transition.on_the_way.clone(),
            covers_switches: self.plan.scope.switches,
            migrations: self.plan.migrations.clone(),
            phases: self.plan.phases.clone(),
            writes: self.plan.writes.clone(),
            ..BeginRecord::default()
        })
    }
}

/// Refuses a plan that disables the only way to a switch that it writes.
fn refuse_unreachable(surveyor: &mut (impl Surveyor + ?Sized), plan: &Plan) -> Result<(), Failure> {
    let steps: Vec<_> = plan.writes.iter().filter_map(|write| write.to_step().ok()).collect();
    let lost = surveyor.avoid_ports(&switched_ports(&steps));
    match first_unreached(&lost, &steps) {
        None => Ok(()),
        Some((device, _)) => Err(Failure::new(
            Exit::Refused,
            format!("FD-7988: without the ports that the plan disables no MAD can reach {device}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::NothingToDo;

    /// Where registrations are kept, a pending change of another machine is refused before.
    #[test]
    fn what_is_in_place_may_be_pending_elsewhere_where_no_registration_is_kept() {
        let warning = |why: Option<&str>| NothingToDo { unregistered: why.map(str::to_owned) }.warning();
        assert_eq!(warning(None), None);
        let words = warning(Some("FD-4541: no subnet manager")).unwrap();
        assert!(words.contains("pending") && words.ends_with("FD-4541: no subnet manager"), "{words}");
    }
}
