//! A fabric as a plan, and a plan as a table (CSV) that reads back as the same plan.

use super::plan::{CablingPlan, PlanCable, PlanForm, PlannedEnd};
use super::planned_rate::PlannedRate;
use super::port_text::PortText;
use crate::csv::write_row;
use fabdeck_fabric::{Fabric, LinkId, Names, PortId, PortState};

/// Whether a link is cabling: up, and not within the box of a switch that leads to its aggregation node.
fn is_cable(fabric: &Fabric, link: LinkId) -> bool {
    let ends = fabric.link(link);
    [ends.a, ends.b].into_iter().all(|id| {
        let port = fabric.port(id);
        port.facts.state != Some(PortState::Down) && !fabric.node(port.node).facts.is_aggregation()
    })
}

fn end_of(fabric: &Fabric, names: &Names, id: PortId) -> PlannedEnd {
    let port = fabric.port(id);
    let facts = &fabric.node(port.node).facts;
    PlannedEnd {
        device: names.name(port.node).to_owned(),
        guid: Some(facts.guid),
        kind: Some(facts.kind),
        port: PortText::Number(port.number.value()),
        place: names.place(port.node).cloned().unwrap_or_default(),
    }
}

/// The cables of a fabric that are up, as a plan.
pub fn plan_of_fabric(fabric: &Fabric, names: &Names, file: &str) -> CablingPlan {
    let mut plan = CablingPlan::new(PlanForm::Fabric, file);
    for (id, link) in fabric.links().filter(|(id, _)| is_cable(fabric, *id)) {
        let facts = [link.a, link.b].map(|port| &fabric.port(port).facts);
        let rate = PlannedRate {
            width: facts.iter().filter_map(|facts| facts.width).min(),
            speed: facts.iter().filter_map(|facts| facts.speed).min(),
            gigabits: None,
        };
        debug_assert!(fabric.port(link.a).link == Some(id), "a link and its port name each other");
        let ends = [link.a, link.b].map(|port| end_of(fabric, names, port));
        plan.cables.push(PlanCable { ends, rate, label: None, length: None, kind: None, line: None });
    }
    plan
}

/// Columns of one end of a written table.
const END_COLUMNS: [&str; 9] = ["guid", "kind", "device", "port", "label", "room", "row", "rack", "u"];

/// A cable for a written table: the plan's cable, and the labels of its ports.
#[derive(Clone, Debug)]
pub struct PlanRow<'p> {
    pub cable: &'p PlanCable,
    pub labels: [Option<String>; 2],
}

/// Writes a table. GUID and number of the port identify an end; names, labels and places are for people.
pub fn write_sheet<'p>(lines: impl Iterator<Item = PlanRow<'p>>) -> String {
    let mut text = String::new();
    let heading: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|end| END_COLUMNS.iter().map(move |column| format!("{end}_{column}")))
        .chain(["width", "speed", "cable", "length"].map(str::to_owned))
        .collect();
    write_row(&mut text, heading.iter().map(String::as_str));
    for PlanRow { cable, labels } in lines {
        let mut cells: Vec<String> = Vec::new();
        for (end, label) in cable.ends.iter().zip(labels) {
            let place = &end.place;
            cells.push(end.guid.map(|guid| guid.to_string()).unwrap_or_default());
            cells.push(end.kind.map(|kind| kind.word().to_owned()).unwrap_or_default());
            cells.push(end.device.clone());
            cells.push(end.port.to_string());
            cells.push(label.unwrap_or_default());
            cells.extend(
                [&place.room, &place.row, &place.rack, &place.unit]
                    .map(|part| part.clone().unwrap_or_default()),
            );
        }
        cells.push(cable.rate.width.map(|width| width.word().to_owned()).unwrap_or_default());
        cells.push(cable.rate.speed.map(|speed| speed.word().to_owned()).unwrap_or_default());
        cells.push(cable.label.clone().unwrap_or_default());
        cells.push(cable.length.clone().unwrap_or_default());
        write_row(&mut text, cells.iter().map(String::as_str));
    }
    text
}
