//! One sweep, and the look that it leaves: whoever keeps the source keeps a look beside it, which follows the fabric.

use std::sync::Arc;
use std::time::Duration;

use crate::session::Look;
use fabdeck_fabric::observe::Sweep;
use fabdeck_mad::access::{Source, SourceError, Watch};

/// What came of a sweep.
#[derive(Clone, Debug)]
pub struct Swept {
    pub sweep: Arc<Sweep>,
    /// The look as it is now, where the fabric or its tables are not as they were.
    pub look: Option<Arc<Look>>,
    /// Why nobody reports traps, where that was asked for.
    pub unreported: Option<String>,
}

/// Notes that say so.
const NO_TRAPS: [&str; 3] = ["FN-532", "FN-533", "FN-534"];

/// Reads the counters again. Notes, and how it was read, stay those of the look: of a thousand sweeps they are of no use
/// and without end, and who was silent is told by what is missing.
pub fn sweep_again(
    source: &mut dyn Source,
    look: &mut Look,
    not_before: Duration,
    watch: &mut dyn Watch,
) -> Result<Swept, SourceError> {
    let notes = std::mem::take(&mut look.observation.notes);
    let reading = look.observation.reading.clone();
    // Tables that are assumed are nobody's to have changed.
    let assumed = look.assumed.map(|_| std::mem::take(&mut look.observation.tables));
    let nodes = look.fabric().nodes().len();
    let kinds = look.observation.ticks.by_kind.len();
    let swept = source.sweep(&mut look.observation, not_before, watch);
    let said = std::mem::replace(&mut look.observation.notes, notes);
    let unreported = said.iter().find(|note| NO_TRAPS.contains(&note.code)).map(|note| note.text.clone());
    look.observation.reading = reading;
    match assumed.filter(|_| look.fabric().nodes().len() == nodes) {
        Some(assumed) => look.observation.tables = assumed,
        // With another node the assumed routes are those of no fabric.
        None if look.assumed.is_some() => (look.assumed, look.routes) = (None, None),
        None => {}
    }
    let sweep = swept?;
    if sweep.fabric.is_some() {
        look.moved();
    }
    let moved = sweep.fabric.is_some() || sweep.retabled && look.assumed.is_none();
    // In what ports count waiting is known since the first sweep.
    let moved = moved || look.observation.ticks.by_kind.len() != kinds;
    let look = moved.then(|| Arc::new(look.clone()));
    Ok(Swept { sweep: Arc::new(sweep), look, unreported })
}
