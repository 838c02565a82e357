//! Changes as steps of a runbook: apply, wait and decide, with the functions of the commands.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::means::Means;
use super::prepared::{Prepared, Road, begin, prepare, said_yes, simulator, switches};
use super::told::{exit_of, user};
use super::{accept, asking, home, refused, seen};
use crate::script::{Exit, Failure};
use crate::session::interactive::Acceptance;
use crate::session::{Judged, Look};
use fabdeck_change::{Ask, Begun, Kept, OpensmSite, Phase, Plan, Status};
use fabdeck_mad::access::Watch;

/// Time to wait for the end of a rollback after a failed apply.
const GOES_BACK: Duration = Duration::from_secs(60);
const TURN: Duration = Duration::from_millis(50);

/// Builds the driver options from a runbook's step.
pub fn road(opensm: bool, conf: Option<PathBuf>, console: Option<SocketAddr>, beside_manager: bool) -> Road {
    let usual = OpensmSite::default();
    let conf = conf.unwrap_or_else(|| usual.conf.clone());
    let conf = std::path::absolute(&conf).unwrap_or(conf);
    Road { site: opensm.then_some(OpensmSite { conf, console, ..usual }), beside_manager }
}

/// Folder of the reports of runs, beside the changes; it is created if it does not exist.
pub fn folder(means: Means<'_>, source: &str) -> Result<PathBuf, Failure> {
    Ok(home::of_source(means, source.starts_with("sim:"))?.folder().to_owned())
}

/// Refuses, before anything is done, a source that may not be written to or has a pending change.
pub fn refuse_unwritable(means: Means<'_>, source: &str, look: &Look) -> Result<(), Failure> {
    refuse_without_right(means, source)?;
    let here = Begun { simulator: simulator(source)?, switches: switches(look), ..Begun::default() };
    home::refuse_beside(means, source.starts_with("sim:"), &here, None)
}

/// Refuses a source without the right to write, and simulators of this process.
pub fn refuse_without_right(means: Means<'_>, source: &str) -> Result<(), Failure> {
    if means.outside.is_own_simulator(source) {
        return Err(Failure::new(
            Exit::Refused,
            "FD-9238: a simulator of this process is another one at every step, so no change in it would last; serve one: \
             fabdeck --source sim:demo simulate --serve SOCKET, and name it with --source sim:SOCKET",
        ));
    }
    drop(means.outside.actuator(source, &means.given.reach, &means.given.right)?);
    Ok(())
}

/// Options of an applied plan.
pub struct Terms<'t> {
    pub source: &'t str,
    pub road: &'t Road,
    pub acceptance: &'t Acceptance,
    /// The program that applies the plan, for the audit trail.
    pub by: &'t str,
}

/// Applies a plan. Returns when it is read back, when it is rolled back, or when the run is asked to end. `begins`
/// gets the id before the change exists; `None` means that everything the plan writes is in place already.
pub fn apply(
    means: Means<'_>,
    terms: &Terms<'_>,
    read: (Plan, String),
    watch: &mut dyn Watch,
    say: &mut dyn FnMut(&str),
    begins: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<Option<Status>, Failure> {
    let name = read.0.engine.clone();
    let applied = applied(means, terms, read, watch, say, begins);
    applied.map_err(|failure| {
        refused::to_source(means, terms.source, &format!("apply of {name}, {}", terms.by), failure, say)
    })
}

fn applied(
    means: Means<'_>,
    terms: &Terms<'_>,
    read: (Plan, String),
    watch: &mut dyn Watch,
    say: &mut dyn FnMut(&str),
    begins: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<Option<Status>, Failure> {
    let Some(mut ready) = prepare(means, terms.source, read, terms.road, watch)? else { return Ok(None) };
    accept::refuse(&ready.found, &terms.acceptance.accepted)?;
    ready.refuse(means, terms.road, say)?;
    let begun = said_yes(ready.begun(means, terms.road)?, terms.acceptance);
    let Prepared { simulated, text, .. } = ready;
    begins(&begun.id)?;
    let (home, kept) = begin(means, simulated, (begun, &text), say)?;
    let mut status = Status::of(&kept.read.told);
    let mut back = None;
    let goes_on = |status: &Status, back: &mut Option<Instant>| match status.phase {
        Phase::Applying => true,
        // The rollback may go on for long: an unreachable fabric is retried for an hour.
        Phase::RollingBack => back.get_or_insert_with(Instant::now).elapsed() < GOES_BACK,
        _ => false,
    };
    while goes_on(&status, &mut back) && !watch.cancelled() {
        std::thread::sleep(TURN);
        status = asking::look(means, (&home, &kept))?;
    }
    Ok(Some(status))
}

/// Refuses what `apply` refuses of a judged plan.
pub fn refuse_findings(
    judged: &Judged,
    plan: &Plan,
    look: &Look,
    opensm: bool,
    accepted: &[String],
) -> Result<(), Failure> {
    accept::refuse(&accept::findings(judged, plan, look, opensm), accepted)
}

/// Exit code of a step that applied a plan.
pub fn exit_code(status: &Status) -> Exit {
    exit_of(status)
}

/// Confirms a change.
pub fn confirm(means: Means<'_>, id: &str, say: &mut dyn FnMut(&str)) -> Result<Status, Failure> {
    let status = asking::order(means, id, &Ask::Confirm { user: user() }, say)?;
    seen::saw(means.outside, id, status.phase);
    Ok(status)
}

/// Rolls a change back and waits for the end of that, at most for `patience`.
pub fn roll_back(
    means: Means<'_>,
    id: &str,
    patience: Duration,
    say: &mut dyn FnMut(&str),
) -> Result<Status, Failure> {
    let ask = Ask::RollBack { user: user(), anyway: false };
    let mut status = match asking::order(means, id, &ask, say) {
        Ok(status) => status,
        // The change may have rolled back by itself.
        Err(failure) => match status(means, id) {
            Some(status) if status.phase == Phase::RolledBack => status,
            _ => return Err(failure),
        },
    };
    let (home, kept) = home::find(means, id)?;
    let since = Instant::now();
    while status.phase.is_pending() && since.elapsed() < patience {
        std::thread::sleep(TURN);
        status = asking::look(means, (&home, &kept))?;
    }
    seen::saw(means.outside, id, status.phase);
    Ok(status)
}

/// Status of a change from its journal.
pub fn status(means: Means<'_>, id: &str) -> Option<Status> {
    let (_, Kept { read, .. }) = home::find(means, id).ok()?;
    Some(Status::of(&read.told))
}

/// Status of a change from its guard. A change without a guard gets one, because otherwise no process would roll it
/// back.
pub fn look(means: Means<'_>, id: &str) -> Result<Status, Failure> {
    let (home, kept) = home::find(means, id)?;
    asking::look(means, (&home, &kept))
}
