//! The list of `--jobs`: which job runs where.

use std::path::Path;

use crate::fabric::JobMap;
use crate::session::{Look, run_on};

use super::context::Context;
use super::{Exit, Failure};

/// Jobs by the ports of their hosts. A host that the fabric does not have is a mistake in the file.
pub fn read(context: &Context<'_, '_>, look: &Look, file: &Path) -> Result<JobMap, Failure> {
    let mut jobs = JobMap::default();
    for line in context.outside.jobs(file).map_err(Failure::of_list)?.lines {
        run_on(look, &line.host, &line.job, &mut jobs).map_err(|error| {
            let place = format!("{}:{}", file.display(), line.number);
            Failure::new(Exit::BadInput, format!("{place}: FD-7903: {error}; mend the line"))
        })?;
    }
    Ok(jobs)
}
