//! A fabric made by name, as a look at it would be: no tables, no states, nothing behind it.

use fabdeck_fabric::generate::{GenerateError, Generated, Spec, generate};
use fabdeck_fabric::observe::{Notes, Observation, Place};
use fabdeck_mad::access::SourceError;

/// The code of what failed and is no part of the fabric.
pub const FAILED_BEFORE: &str = "FN-512";

/// `source` is how it is called in notes, `spec` what to make.
pub fn generated(source: &str, spec: &str) -> Result<Observation, SourceError> {
    let generated = make(spec)?;
    let notes = notes_of(source, &generated);
    Ok(Observation { fabric: generated.fabric, notes, ..Observation::default() })
}

/// The fabric of a name.
pub(super) fn make(spec: &str) -> Result<Generated, SourceError> {
    generate(&spec.parse::<Spec>().map_err(wrong_name)?).map_err(wrong_name)
}

/// What there is to say about a fabric that was made.
pub(super) fn notes_of(source: &str, generated: &Generated) -> Notes {
    let mut notes = Notes::new();
    for text in &generated.notes {
        notes.add("FN-511", Place::file(source), || text.clone());
    }
    if let [first, rest @ ..] = generated.failed.as_slice() {
        notes.add(FAILED_BEFORE, Place::file(source), || {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            format!("failed and not in the fabric: {first}{more}")
        });
    }
    notes
}

fn wrong_name(e: GenerateError) -> SourceError {
    SourceError::Name {
        code: e.code(),
        what: e.to_string(),
        hint: "'fabdeck sources' lists the names and their keys; a served simulator is named by the path of its socket"
            .into(),
    }
}
