//! The sources that can be named on this machine.

use crate::system::access::{CatalogueEntry, CatalogueKey, SystemAccess};
use crate::system::adapter_row::AdapterRow;
use crate::system::source_files::SourceFile;
use fabdeck_live::MadLibrary;

/// Sources of this machine and of the current folder.
pub struct SourceList {
    pub adapters: Vec<AdapterRow>,
    /// Why the adapters could not be listed.
    pub adapters_error: Option<String>,
    pub catalogue: Vec<CatalogueEntry>,
    pub common_keys: Vec<CatalogueKey>,
    pub simulator_keys: Vec<CatalogueKey>,
    pub captures: Vec<SourceFile>,
}

/// Lists adapters, generated fabrics, and files of the current folder.
pub fn list_sources(outside: &dyn SystemAccess, library: MadLibrary) -> SourceList {
    let (adapters, adapters_error) = match outside.adapters(library) {
        Ok(adapters) => (adapters, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    SourceList {
        adapters,
        adapters_error,
        catalogue: outside.catalogue(),
        common_keys: outside.common_keys(),
        simulator_keys: outside.simulator_keys(),
        captures: outside.captures(),
    }
}
