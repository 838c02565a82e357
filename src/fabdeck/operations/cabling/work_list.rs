//! The work list for technicians: every step of every repair, in the order of racks.

use std::cmp::Ordering;

use super::cabling_check::CablingReport;
use super::engine_effect::{EngineEffect, RepairEffect};
use super::finding::CablingFinding;
use super::finding_words::CablingNames;
use crate::catalogue::value::natural_order;
use fabdeck_fabric::NodePlace;
use fabdeck_files::csv::write_row;

/// One step, done at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkItem {
    pub place: NodePlace,
    /// The device at which the technician stands.
    pub device: String,
    pub step: String,
    /// The number of the finding in the report, from 1.
    pub finding: usize,
    pub fault: &'static str,
    /// Whether the repair changes routes, in words.
    pub routes: String,
}

/// Whether a repair changes routes, in one sentence.
pub fn route_words(effect: &RepairEffect, engine: Option<&str>) -> String {
    let engine = engine.unwrap_or("the engine in force");
    let of_engine = match &effect.engine {
        EngineEffect::Same => format!("{engine} makes the same routes after the repair"),
        EngineEffect::Changed { entries, switches } => {
            let count = |count: u64, one: &str, many: &str| {
                crate::catalogue::summary::count_words(
                    usize::try_from(count).unwrap_or(usize::MAX),
                    one,
                    many,
                )
            };
            format!(
                "{engine} changes {} in {}",
                count(*entries, "entry", "entries"),
                count(*switches, "switch", "switches")
            )
        }
        EngineEffect::Unknown(why) => format!("what an engine makes of the repair is not known: {why}"),
    };
    format!("{}; {of_engine}", effect.paths.words())
}

fn by_part(a: Option<&String>, b: Option<&String>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => natural_order(a, b),
        // What has no place comes last.
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// Racks in the order of site, room, row and rack; in a rack from the top.
fn by_place(a: &NodePlace, b: &NodePlace) -> Ordering {
    by_part(a.site.as_ref(), b.site.as_ref())
        .then_with(|| by_part(a.room.as_ref(), b.room.as_ref()))
        .then_with(|| by_part(a.row.as_ref(), b.row.as_ref()))
        .then_with(|| by_part(a.rack.as_ref(), b.rack.as_ref()))
        .then_with(|| by_part(b.unit.as_ref(), a.unit.as_ref()))
}

/// All steps by rack and device. The steps of one finding at one device stay in their order.
pub fn work_list(names: &CablingNames<'_>, report: &CablingReport<'_>, routes: &[String]) -> Vec<WorkItem> {
    let item = |at: usize, finding: &CablingFinding, step: usize| {
        let repair = &finding.steps[step];
        WorkItem {
            place: names.place(repair.at),
            device: names.device(repair.at.device),
            step: repair.text.clone(),
            finding: at + 1,
            fault: finding.fault.word(),
            routes: routes.get(at).cloned().unwrap_or_default(),
        }
    };
    let mut items: Vec<WorkItem> = report
        .findings
        .iter()
        .enumerate()
        .flat_map(|(at, finding)| (0..finding.steps.len()).map(move |step| item(at, finding, step)))
        .collect();
    items.sort_by(|a, b| {
        by_place(&a.place, &b.place)
            .then_with(|| natural_order(&a.device, &b.device))
            .then_with(|| a.finding.cmp(&b.finding))
    });
    items
}

/// The rack of an item, as a heading.
pub fn rack_words(place: &NodePlace) -> String {
    let rack = NodePlace { unit: None, ..place.clone() };
    if rack.is_empty() { "rack not known".to_owned() } else { rack.text() }
}

/// The list as text: a heading for each rack, and a box to tick for each step.
pub fn work_text(items: &[WorkItem]) -> String {
    let mut text = String::new();
    let mut rack = None;
    for item in items {
        let words = rack_words(&item.place);
        if rack.as_ref() != Some(&words) {
            let blank = if rack.is_some() { "\n" } else { "" };
            text.push_str(&format!("{blank}{words}\n"));
            rack = Some(words);
        }
        let unit = item.place.unit.as_ref().map(|unit| format!("U {unit}, ")).unwrap_or_default();
        text.push_str(&format!("  [ ] {unit}{}: {}\n", item.device, item.step));
        text.push_str(&format!("      finding {} ({}); {}\n", item.finding, item.fault, item.routes));
    }
    text
}

/// The list as a table.
pub fn work_csv(items: &[WorkItem]) -> String {
    let mut text = String::new();
    let heading =
        ["site", "room", "row", "rack", "u", "device", "step", "finding", "fault", "routes", "done"];
    write_row(&mut text, heading.into_iter());
    for item in items {
        let place = &item.place;
        let parts = [&place.site, &place.room, &place.row, &place.rack, &place.unit];
        let number = item.finding.to_string();
        let own = [&*item.device, &item.step, &number, item.fault, &item.routes, ""];
        write_row(&mut text, parts.into_iter().map(|part| part.as_deref().unwrap_or("")).chain(own));
    }
    text
}
