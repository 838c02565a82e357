//! A fabric made by name. Nothing runs behind it: its tables are empty.

use crate::access::{Source, SourceError};
use crate::generate::{Spec, generate};
use crate::observe::Observation;

#[derive(Debug, Clone)]
pub struct GeneratedSource {
    name: String,
    spec: Spec,
}

impl GeneratedSource {
    pub fn new(name: &str, spec: &str) -> Result<Self, SourceError> {
        let spec = spec.parse::<Spec>().map_err(wrong_name)?;
        Ok(Self { name: name.to_owned(), spec })
    }
}

impl Source for GeneratedSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self) -> Result<Observation, SourceError> {
        let generated = generate(&self.spec).map_err(wrong_name)?;
        Ok(Observation { fabric: generated.fabric, ..Observation::default() })
    }
}

fn wrong_name(e: crate::generate::GenerateError) -> SourceError {
    SourceError::Name { code: e.code(), what: e.to_string(), hint: "'fabdeck sources' lists the names and keys".into() }
}
