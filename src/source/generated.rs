//! A fabric made by name. Nothing runs behind it: its tables are empty.

use crate::access::{Source, SourceError, Wanted, Watch};
use crate::generate::{GenerateError, Spec, generate};
use crate::observe::{Notes, Observation, Place};

#[derive(Debug, Clone)]
pub struct GeneratedSource {
    name: String,
    spec: Spec,
}

impl GeneratedSource {
    /// `name` is how the source is called, `spec` what to make.
    pub fn new(name: &str, spec: &str) -> Result<Self, SourceError> {
        let spec = spec.parse::<Spec>().map_err(wrong_name)?;
        Ok(Self { name: name.to_owned(), spec })
    }
}

impl Source for GeneratedSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, _: Wanted, _: &mut dyn Watch) -> Result<Observation, SourceError> {
        let generated = generate(&self.spec).map_err(wrong_name)?;
        let mut notes = Notes::new();
        for text in generated.notes {
            notes.add("FN-511", Place::file(&self.name), || text);
        }
        if let [first, rest @ ..] = generated.failed.as_slice() {
            notes.add("FN-512", Place::file(&self.name), || {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                format!("failed and not in the fabric: {first}{more}")
            });
        }
        Ok(Observation { fabric: generated.fabric, notes, ..Observation::default() })
    }
}

fn wrong_name(e: GenerateError) -> SourceError {
    SourceError::Name {
        code: e.code(),
        what: e.to_string(),
        hint: "'fabdeck sources' lists the names and their keys".into(),
    }
}
