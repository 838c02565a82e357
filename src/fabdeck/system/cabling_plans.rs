//! Reads plans of cabling. A file of none of their forms is read as a dump or capture of the fabric from when it was right.

use std::path::Path;

use fabdeck_fabric::Names;
use fabdeck_files::cabling::{self, CablingPlan, plan_of_fabric};
use fabdeck_live::read_as;
use fabdeck_mad::access::{NoObserver, ReadOptions, SourceError};

use super::access::SourceOptions;
use super::open_sources;

/// The first bytes of a file, by which its form is recognised.
const HEAD_BYTES: usize = 8 * 1024;

pub fn read_plan(file: &Path) -> Result<CablingPlan, SourceError> {
    // A folder, or an archive of several files, is a fabric.
    let text = read_as(file, |input| {
        let head = String::from_utf8_lossy(&input.bytes[..input.bytes.len().min(HEAD_BYTES)]).into_owned();
        let is_plan = cabling::looks_like(head.trim_start_matches('\u{feff}'));
        is_plan.then(|| cabling::read(input)).transpose()
    });
    match text {
        Ok(Some(plan)) => Ok(plan),
        Err(error @ SourceError::Input { code: "FD-2423", .. }) => Err(error),
        Ok(None) | Err(_) => read_fabric(file),
    }
}

fn read_fabric(file: &Path) -> Result<CablingPlan, SourceError> {
    let name = file.display().to_string();
    let mut source = open_sources::open(&name, &SourceOptions::default(), (None, None))?;
    let observation = source.observe(ReadOptions::default(), &mut NoObserver).map_err(|error| match error {
        SourceError::Input { code: "FD-2002", place, what, .. } => SourceError::Input {
            code: "FD-2424",
            place,
            what,
            hint: "a plan is a .topo of ibutils, an NDT or P2P sheet as CSV, a table with device and port at both ends, \
                   or a dump or capture of the fabric from when it was right"
                .into(),
        },
        error => error,
    })?;
    let names = Names::new(&observation.fabric, &observation.names);
    let mut plan = plan_of_fabric(&observation.fabric, &names, &name);
    plan.notes.extend(observation.notes);
    Ok(plan)
}
