//! From the words behind `--source` to a source.

use std::path::PathBuf;

use super::FilesSource;
use super::live::{Keys, LiveSource, Policy};
use super::simulated::{self, simulated_source};
use crate::access::{Source, SourceError};

/// How live fabrics are read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LiveOptions {
    pub policy: Policy,
    pub keys: Keys,
}

/// `umad[:CA[:PORT]]`, `sim:NAME[,key=value...]`, `sim:SOCKET[,at=NODE]` or a path; `-` is standard input. What it
/// names is looked at by `observe`.
pub fn open(text: &str, options: &LiveOptions) -> Result<Box<dyn Source>, SourceError> {
    if let Some(words) = text.strip_prefix("sim:") {
        return Ok(Box::new(match simulated::socket(words) {
            Some((path, at)) => {
                return Err(SourceError::Name {
                    code: "FD-5001",
                    what: format!("{path:?} {at:?}"),
                    hint: String::new(),
                });
            }
            None => simulated_source(text, words, options)?,
        }));
    }
    if text == "umad" || text.starts_with("umad:") {
        return Err(SourceError::Name { code: "FD-5001", what: text.into(), hint: String::new() });
    }
    if text.is_empty() {
        return Err(SourceError::Name {
            code: "FD-5002",
            what: "the source is empty".into(),
            hint: "give umad, sim:NAME, a file or a folder".into(),
        });
    }
    Ok(Box::new(FilesSource::new(text, vec![PathBuf::from(text)])))
}
