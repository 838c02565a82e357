//! Prepares a plan: checks it against the fabric, refuses what may not be applied, and begins the change. Commands
//! and the console share this.

use std::path::PathBuf;

use jiff::Timestamp;

use super::attested::pending_elsewhere;
use super::means::{Given, Means};
use super::told::{id_of, user};
use super::{accept, home, seen};
use crate::script::{Exit, Failure, plan};
use crate::session::interactive::Acceptance;
use crate::session::{Fit, Judged, Look, Sent, fit, judge};
use fabdeck_change::{
    Begun, Clocks as _, Home, Kept, Opensm, OpensmSite, Plan, SystemClocks, host_name, switched, unreached,
    wrong,
};
use fabdeck_live::socket_of;
use fabdeck_mad::access::{Actuator, Registered, Surveyor, Wanted, Watch};

/// Which driver writes the change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Road {
    /// The OpenSM installation, for changes through OpenSM.
    pub site: Option<OpensmSite>,
    /// Whether the operator accepts writing beside an active subnet manager.
    pub beside_manager: bool,
}

/// A plan that fits the fabric, with what was read of both.
pub struct Prepared {
    /// Source as the operator named it; the guard process opens it again.
    pub source: String,
    pub plan: Plan,
    /// Text of the plan, which is stored beside the journal.
    pub text: String,
    pub look: Look,
    pub judged: Judged,
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

/// Checks a plan against the fabric; `None` if everything that it writes is in place.
pub fn prepare(
    means: Means<'_>,
    source: &str,
    (plan, text): (Plan, String),
    road: &Road,
    watch: &mut dyn Watch,
) -> Result<Option<Prepared>, Failure> {
    // The right to write is checked before the long reading.
    let mut actuator = means.outside.actuator(source, &means.given.reach, &means.given.right)?;
    let lanes = plan::knows_lanes(&plan);
    let observed = actuator.look(Wanted { tables: true, lanes, ..Wanted::default() }, watch)?;
    let look = means.look_of(source, observed)?;
    let simulated = source.starts_with("sim:");
    let own = means.outside.is_own_simulator(source);
    let found = fit(&look, &plan);
    // A pending change explains a misfit and may roll back at any moment, so it is reported first.
    if !own && !matches!(found, Fit::AsMade) {
        let here = Begun { simulator: simulator(source)?, switches: switches(&look), ..Begun::default() };
        home::refuse_beside(
            means,
            simulated,
            &here,
            matches!(found, Fit::Applied).then_some(plan.hash.as_str()),
        )?;
    }
    let unregistered = if own { None } else { refuse_registered(means, actuator.as_mut())? };
    let judged = match found {
        Fit::Stale(stale) => {
            let what = format!("FD-7986: the plan is stale: {}; make it again", stale.words());
            return Err(Failure::new(Exit::Stale, what));
        }
        Fit::Applied => return Ok(None),
        fit @ Fit::AsMade => judge(&look, &plan, &fit, (false, Sent::Unsaid))?,
    };
    Ok(Some(Prepared {
        source: source.to_owned(),
        found: accept::findings(&judged, &plan, &look, road.site.is_some()),
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

/// Refuses if another machine has registered a pending change. Returns why registrations are impossible, if they are.
/// A registration of this user's own change does not count; the change has a journal here.
fn refuse_registered(means: Means<'_>, actuator: &mut dyn Actuator) -> Result<Option<String>, Failure> {
    let found = actuator.registered();
    match pending_elsewhere(means, &found) {
        Some(why) => Err(Failure::new(Exit::Refused, why)),
        None => Ok(match found {
            Registered::NotKept(why) => Some(why),
            _ => None,
        }),
    }
}

impl Prepared {
    /// Refuses what no option accepts, and reports remarks about the driver.
    pub fn refuse(
        &mut self,
        means: Means<'_>,
        road: &Road,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        self.refuse_stdin_key(means)?;
        self.refuse_beside(road)?;
        let Some(mut surveyor) = self.actuator.take() else { return Ok(()) };
        refuse_unreachable(surveyor.as_mut(), &self.plan)?;
        let Some(site) = &road.site else {
            self.actuator = Some(surveyor);
            return Ok(());
        };
        let checked = Opensm::new(surveyor, &self.plan, site.clone()).check();
        checked.remarks.iter().for_each(|remark| say(remark));
        if !checked.refusals.is_empty() {
            let words: Vec<String> = checked.refusals.iter().map(ToString::to_string).collect();
            return Err(Failure::new(Exit::Refused, words.join("\n")));
        }
        let Given { reach, right, .. } = means.given;
        self.actuator = Some(means.outside.actuator(&self.source, reach, right)?);
        Ok(())
    }

    /// The guard reads the keys itself, and so does a guard that replaces it.
    fn refuse_stdin_key(&self, means: Means<'_>) -> Result<(), Failure> {
        let stdin = means.given.reach.mkey_file.as_ref().is_some_and(|file| file.as_os_str() == "-");
        if self.own || !stdin {
            return Ok(());
        }
        Err(Failure::usage(
            "FD-7991: the guard of a change reads the M_Keys itself, later too: give a file with --mkey-file",
        ))
    }

    /// OpenSM never reads tables back, and would mix its own state with what was written.
    fn refuse_beside(&self, road: &Road) -> Result<(), Failure> {
        let heeded = road.site.is_none() && !self.simulated && !road.beside_manager;
        match self.look.manager().filter(|_| heeded) {
            None => Ok(()),
            Some(manager) => Err(Failure::new(
                Exit::Refused,
                format!(
                    "FD-7987: the subnet manager {manager} is in charge: it does not read tables back, and writes over this change \
                     at its next handover or reroute; 'fabdeck apply PLAN --via opensm' goes through OpenSM, --beside-manager \
                     writes beside it all the same"
                ),
            )),
        }
    }

    /// The first record of the journal, without user and time.
    pub fn begun(&self, means: Means<'_>, road: &Road) -> Result<Begun, Failure> {
        let source = &self.source;
        let simulator = simulator(source)?;
        let at = source.split_once(",at=").map_or_else(String::new, |(_, at)| format!(",at={at}"));
        Ok(Begun {
            // The guard opens the source again from another working directory.
            source: simulator.as_ref().map_or_else(|| source.clone(), |path| format!("sim:{path}{at}")),
            via: if road.site.is_some() { "opensm".to_owned() } else { "direct".to_owned() },
            opensm: road.site.clone(),
            plan: self.plan.hash.clone(),
            engine: self.plan.engine.clone(),
            mkey_file: means.given.reach.mkey_file.clone().map(full),
            switches: switches(&self.look),
            simulator,
            lost_before: wrong(self.look.fabric(), &self.look.observation.tables, &self.plan).pairs,
            migrations: self.plan.migrations.clone(),
            phases: self.plan.phases.clone(),
            writes: self.plan.writes.clone(),
            ..Begun::default()
        })
    }
}

fn full(path: PathBuf) -> String {
    std::fs::canonicalize(&path).unwrap_or(path).display().to_string()
}

/// Path of the simulator's socket in a source, as journals store it.
pub fn simulator(source: &str) -> Result<Option<String>, Failure> {
    let Some(words) = source.strip_prefix("sim:") else { return Ok(None) };
    Ok(socket_of(words)?.map(|(path, _)| full(path)))
}

/// GUIDs of the switches, which identify a fabric.
pub fn switches(look: &Look) -> std::collections::BTreeSet<String> {
    look.fabric().switches().map(|(_, node)| node.guid().to_string()).collect()
}

/// Refuses a plan that disables the only way to a switch that it writes.
fn refuse_unreachable(surveyor: &mut (impl Surveyor + ?Sized), plan: &Plan) -> Result<(), Failure> {
    let steps: Vec<_> = plan.writes.iter().filter_map(|write| write.step().ok()).collect();
    let lost = surveyor.keep_off(&switched(&steps));
    match unreached(&lost, &steps) {
        None => Ok(()),
        Some((device, _)) => Err(Failure::new(
            Exit::Refused,
            format!("FD-7988: without the ports that the plan disables there is no way left to {device}"),
        )),
    }
}

/// Completes the first record with the user and the time of the confirmation.
pub fn said_yes(begun: Begun, terms: &Acceptance) -> Begun {
    let mut begun = Begun {
        time: Timestamp::now().to_string(),
        user: user(),
        pid: std::process::id(),
        host: host_name(),
        boot: SystemClocks.boot_time().boot,
        window_s: terms.window.as_secs(),
        accepted: terms.accepted.clone(),
        unanswered: terms.unanswered,
        ..begun
    };
    begun.id = id_of(&begun);
    begun
}

/// Begins a change in its folder: the journal is durable, and a guard starts.
pub fn begin(
    means: Means<'_>,
    simulated: bool,
    (begun, text): (Begun, &str),
    say: &mut dyn FnMut(&str),
) -> Result<(Home, Kept), Failure> {
    let home = home::of_source(means, simulated)?;
    let (kept, keeping) = home.begin(begun, text).map_err(home::refused)?;
    seen::saw(means.outside, &kept.read.told.begun.id, kept.read.told.phase);
    // The guard waits for this lock. If this process dies in between, nothing is written and the journal says so.
    drop(keeping);
    let remark = home::start_guard(means, &home, &["--begin", &kept.read.told.begun.id], &kept.log())?;
    remark.iter().for_each(|remark| say(remark));
    Ok((home, kept))
}
