//! Reads plans from files.

use std::io::Read;
use std::path::Path;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use fabdeck_change::{MAX_PLAN_BYTES, Plan};
use fabdeck_files::read_text_within;

pub fn read(file: &Path) -> Result<Plan, Failure> {
    read_with_text(file).map(|(plan, _)| plan)
}

/// Reads a plan with its text, which is stored as it was judged.
pub fn read_with_text(file: &Path) -> Result<(Plan, String), Failure> {
    let name = file.display();
    let bad = |what: String| {
        Failure::new(Exit::BadInput, format!("{name}: FD-7931: the plan cannot be read: {what}"))
    };
    let text = read_text_within(file, MAX_PLAN_BYTES).map_err(|error| bad(error.to_string()))?;
    let plan = Plan::read(&text);
    plan.map(|plan| (plan, text)).map_err(|error| Failure::new(Exit::BadInput, format!("{name}: {error}")))
}

/// Whether a file is a plan, by its content; an unreadable file is none.
pub fn is_plan(path: &Path) -> bool {
    let mut first = [0];
    let opened = || std::fs::File::open(path);
    let begun = path.is_file().then(|| opened().and_then(|mut file| file.read(&mut first)));
    if !matches!(begun, Some(Ok(1))) || first != *b"{" {
        return false;
    }
    let mut text = String::new();
    let read = opened().and_then(|file| file.take(MAX_PLAN_BYTES).read_to_string(&mut text));
    read.is_ok() && text.contains("\"fabdeck.plan/")
}

/// Whether the plan was made with the switches' lane tables, which then have to be read again.
pub fn plan_has_lanes(plan: &Plan) -> bool {
    plan.fingerprint.has_lanes()
}
