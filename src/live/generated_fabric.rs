//! An observation of a generated fabric: no tables, no states.

use fabdeck_fabric::generate::{FabricSpec, GenerateError, GeneratedFabric, generate};
use fabdeck_fabric::observe::{NotePlace, Notes, Observation};
use fabdeck_mad::access::{FAILED_BEFORE, SourceError};

/// Generates a fabric from `spec`. `source` is its name in notes.
pub fn generate_snapshot(source: &str, spec: &str) -> Result<Observation, SourceError> {
    let generated = generate_fabric(spec)?;
    let notes = notes_of(source, &generated);
    Ok(Observation { fabric: generated.fabric, notes, ..Observation::default() })
}

/// Generates a fabric from its name.
pub(super) fn generate_fabric(spec: &str) -> Result<GeneratedFabric, SourceError> {
    generate(&spec.parse::<FabricSpec>().map_err(name_error)?).map_err(name_error)
}

/// The notes about a generated fabric.
pub(super) fn notes_of(source: &str, generated: &GeneratedFabric) -> Notes {
    let mut notes = Notes::new();
    for text in &generated.notes {
        notes.add("FN-511", NotePlace::file(source), || text.clone());
    }
    if let [first, rest @ ..] = generated.failed.as_slice() {
        notes.add(FAILED_BEFORE, NotePlace::file(source), || {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            format!("failed and not in the fabric: {first}{more}")
        });
    }
    notes
}

fn name_error(e: GenerateError) -> SourceError {
    SourceError::Name {
        code: e.code(),
        what: e.to_string(),
        hint: "'fabdeck sources' lists the names and their keys; a served simulator is named by the path of its socket"
            .into(),
    }
}
