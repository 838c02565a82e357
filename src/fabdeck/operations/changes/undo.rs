//! The way back of a confirmed change as a plan, which is applied like any other. Forwarding tables, SL2VL
//! tables and ports are put back as far as they are still as the change wrote them. Flows that the change moved to another lane move back; the
//! tables of the slow lane stay, since hosts need them until they have followed.

use super::change_store;
use super::undo_loss::UndoneChange;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::environment::{Env, switch_guids};
use crate::operations::lanes::lane_request::read_undo_moves;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::undo_plan::{UndoPlan, UndoPlanError, undo_plan};
use fabdeck_change::{BeginRecord, ChangePhase, ChangeState, Migration, Plan};
use fabdeck_mad::access::{AttributePart, ReadObserver, ReadOptions};

/// The plan of the way back, with what it leaves as it is.
pub struct PlannedUndo {
    pub plan: Plan,
    pub remarks: Vec<String>,
    pub snapshot: Snapshot,
    pub undone: UndoneChange,
}

fn undone_change(begun: &BeginRecord) -> UndoneChange {
    UndoneChange {
        number: begun.number,
        failed: begun.failed.clone(),
        covers_switches: begun.covers_switches,
        moves_flows: !begun.migrations.is_empty(),
    }
}

/// Finds a change in the state folders, by its id, its number or the beginning of its id.
pub fn find_state(env: Env<'_>, text: &str) -> Result<ChangeState, Failure> {
    let id = change_store::resolve_id(env, text)?;
    Ok(change_store::find_change(env, &id)?.1.read.state)
}

/// The moves of changes in all state folders that are in force on a fabric.
pub fn moves_in_force(env: Env<'_>, source: &str, look: &Snapshot) -> Result<Vec<Migration>, Failure> {
    change_store::all_migrations_in_force(env, source, switch_guids(look)).map(|(migrations, _)| migrations)
}

/// Plans the way back of a change. `in_force` are the moves of all changes that are in force on the fabric.
pub fn plan_undo(
    env: Env<'_>,
    source: &str,
    state: &ChangeState,
    in_force: &dyn Fn(&Snapshot) -> Result<Vec<Migration>, Failure>,
    watch: &mut dyn ReadObserver,
) -> Result<PlannedUndo, Failure> {
    refuse_unconfirmed(state)?;
    let begun = &state.begun;
    let mut open = env.outside.open(source, &env.given.reach)?;
    let lanes = begun.writes.iter().any(|write| matches!(write.part, AttributePart::Lanes(_)));
    let observed = open.observe(ReadOptions { tables: true, lanes, ..ReadOptions::default() }, watch)?;
    let mut look = env.snapshot_of(source, observed)?;
    // Hosts go back to the path bits that they had before the change.
    look.changed_path_bits = env.changed_path_bits(source, &look, Some(&begun.id));
    let made = PlanOrigin::now(env.given);
    if begun.migrations.is_empty() {
        let UndoPlan { plan, foreign } =
            undo_plan(&look, begun, LevelsInForce::Unsaid, made).map_err(plan_failure)?;
        let remark = (foreign > 0).then(|| {
            format!(
                "{} written by others since, and stays as it is",
                count_words(foreign, "part was", "parts were")
            )
        });
        let (remarks, undone) = (remark.into_iter().collect(), undone_change(begun));
        return Ok(PlannedUndo { plan, remarks, snapshot: look, undone });
    }
    let in_force = in_force(&look)?;
    let moves = read_undo_moves(open.as_mut(), look, &begun.migrations, &in_force, watch)?;
    if !moves.has_moves() {
        return Err(plan_failure(UndoPlanError::Nothing(begun.number)));
    }
    let plan = moves.plan(made).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let remarks = match begun.writes.len() {
        0 => Vec::new(),
        some => vec![format!(
            "{} for the slow lane stay: hosts need them until they have followed, and no other path uses them",
            count_words(some, "table part", "table parts")
        )],
    };
    Ok(PlannedUndo { plan, remarks, snapshot: moves.snapshot, undone: undone_change(begun) })
}

/// Only a confirmed change is undone by a plan: its guard rolls back a pending one.
fn refuse_unconfirmed(state: &ChangeState) -> Result<(), Failure> {
    let (id, number, title) = (&state.begun.id, state.begun.number, state.phase.title());
    let what = match state.phase {
        ChangePhase::Confirmed => return Ok(()),
        phase if phase.is_pending() => format!("'fabdeck rollback {id}' undoes it"),
        _ => "it is not in force".to_owned(),
    };
    Err(Failure::new(Exit::Refused, format!("FD-7905: change {number} is {title}: {what}")))
}

fn plan_failure(error: UndoPlanError) -> Failure {
    let words = error.to_string();
    match error {
        UndoPlanError::Refused(refusal) => refusal.into(),
        UndoPlanError::Nothing(_) | UndoPlanError::Write(..) | UndoPlanError::Plan(_) => {
            Failure::new(Exit::Failed, words)
        }
    }
}
