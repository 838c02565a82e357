//! Recognises the form of a plan and reads it.

use super::plan::CablingPlan;
use super::{sheet, topo};
use crate::FileError;
use crate::text::Input;

/// A line that cannot be used.
pub(super) const BAD_LINE: &str = "FN-466";
/// A second column of one meaning.
pub(super) const SECOND_COLUMN: &str = "FN-467";
/// Lines about cables of another network.
pub(super) const OTHER_NETWORK: &str = "FN-468";

/// Whether the beginning of a file is that of a plan.
pub fn looks_like(head: &str) -> bool {
    topo::looks_like(head) || sheet::looks_like(head)
}

/// Reads a plan. A bad line is noted, and takes no other with it; a file without a single cable is refused.
pub fn read(input: Input<'_>) -> Result<CablingPlan, Box<FileError>> {
    let head = String::from_utf8_lossy(&input.bytes[..input.bytes.len().min(8 * 1024)]).into_owned();
    let plan = match head.trim_start_matches('\u{feff}') {
        head if topo::looks_like(head) => topo::read(input)?,
        head if sheet::looks_like(head) => sheet::read(input)?,
        _ => return Err(no_plan(input)),
    };
    match plan.cables.is_empty() {
        true => Err(no_cable(input, &plan)),
        false => Ok(plan),
    }
}

pub(super) fn no_plan(input: Input<'_>) -> Box<FileError> {
    let hint = "give a .topo of ibutils, an NDT or P2P sheet as CSV, a table with device and port at both ends, or a dump \
                or capture of the fabric from when it was right; `fabdeck cabling export` writes one";
    FileError::new("FD-2422", input.line_place(1), "this is no plan of cabling", hint)
}

/// A plan without a cable, with what is wrong with its first line.
fn no_cable(input: Input<'_>, plan: &CablingPlan) -> Box<FileError> {
    let first = plan.notes.iter().find(|note| note.partial);
    let place = first.map_or_else(|| input.line_place(1), |note| note.first.clone());
    let why = first.map(|note| format!(": {}", note.text)).unwrap_or_default();
    let what = format!("this {} names no cable{why}", plan.form.title());
    FileError::new("FD-2423", place, what, "each line needs device and port at both ends")
}
