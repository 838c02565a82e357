//! From the words behind `--source` to a source.

use std::path::PathBuf;

use super::{FilesSource, GeneratedSource};
use crate::access::{Source, SourceError};

/// `sim:NAME[,key=value...]` or a path; `-` is standard input. What it names is looked at by `observe`.
pub fn open(text: &str) -> Result<Box<dyn Source>, SourceError> {
    if let Some(spec) = text.strip_prefix("sim:") {
        return Ok(Box::new(GeneratedSource::new(text, spec)?));
    }
    if text == "umad" || text.starts_with("umad:") {
        return Err(SourceError::Name {
            code: "FD-5001",
            what: format!(
                "'{text}' is a live fabric, and this version reads files and generated fabrics only"
            ),
            hint: "record it with ibnetdiscover and dump_lfts into a folder, and give the folder".into(),
        });
    }
    if text.is_empty() {
        return Err(SourceError::Name {
            code: "FD-5002",
            what: "the source is empty".into(),
            hint: "give sim:NAME, a file or a folder".into(),
        });
    }
    Ok(Box::new(FilesSource::new(text, vec![PathBuf::from(text)])))
}
