//! Finds what hosts add to base LIDs since the last change of a fabric. A fabric does not state path bits, but the plan of
//! the change does.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fabdeck_fabric::{Fabric, PathBits};
use fabdeck_mad::access::AttributePart;

use super::attest::merge_histories;
use super::change_dir::ChangeDir;
use super::change_store::ChangeStore;
use super::journal::{BeginRecord, ChangePhase};

/// What the engine of a plan begins with that undoes a change; its number follows.
pub const UNDO_OF: &str = "undo of change";

/// The path bits of a change that is in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedPathBits {
    /// The number of the change.
    pub number: u64,
    pub engine: String,
    pub bits: PathBits,
}

/// The path bits of the last change of the fabric of `here` that is applied or confirmed and wrote forwarding tables.
/// `None` where its hosts pick by their places, or where no such change is known. An undone change does not count, nor
/// does the one with the id `except`.
pub fn path_bits_in_force(
    homes: &[ChangeStore],
    here: &BeginRecord,
    fabric: &Fabric,
    except: Option<&str>,
) -> Option<ChangedPathBits> {
    let is_here = |kept: &ChangeDir| {
        let state = &kept.read.state;
        matches!(state.phase, ChangePhase::Applied | ChangePhase::Confirmed)
            && state.begun.is_of_fabric_of(here)
    };
    let of_home = |home: &ChangeStore| -> Vec<ChangeDir> {
        home.list().into_iter().flatten().flatten().filter(is_here).collect()
    };
    let kept: Vec<Vec<ChangeDir>> = homes.iter().map(of_home).collect();
    let states = kept.iter().map(|home| home.iter().map(|kept| kept.read.state.clone()).collect());
    // Numbers are those of a state folder, and the folder of a change is two levels above it.
    let folder = |kept: &ChangeDir| kept.folder.parent().map(PathBuf::from);
    let mut undone: BTreeSet<(Option<PathBuf>, u64)> = BTreeSet::new();
    for state in merge_histories(states.collect()).into_iter().rev() {
        let begun = state.begun;
        let mut all = kept.iter().flatten();
        let Some(kept) = all.find(|kept| kept.read.state.begun.id == begun.id) else { continue };
        if except == Some(begun.id.as_str()) || undone.contains(&(folder(kept), begun.number)) {
            continue;
        }
        if let Some(number) = undone_number(&begun.engine) {
            undone.insert((folder(kept), number));
            continue;
        }
        if begun.writes.iter().any(|write| matches!(write.part, AttributePart::Block(_))) {
            let bits = kept.plan_begun().ok()?.path_bits.to_path_bits(fabric)?;
            return Some(ChangedPathBits { number: begun.number, engine: begun.engine, bits });
        }
    }
    None
}

/// The number of the change that a plan undoes.
pub fn undone_number(engine: &str) -> Option<u64> {
    engine.strip_prefix(UNDO_OF)?.split_whitespace().next()?.parse().ok()
}
