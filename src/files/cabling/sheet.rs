//! Sheets with both ends of a cable in a line: NDT of UFM, P2P of the Cable Validation Tool, and plain tables. The columns
//! stand in any order, separated by commas, semicolons or tabs; a sheet may have lines above its heading.
//!
//! ```text
//! #StartDevice,StartPort,EndDevice,EndPort,LinkType,Speed
//! leaf3,Port 21,spine1,Port 3,Data,200000
//! ```

use std::borrow::Cow;

use super::plan::{CablingPlan, PlanCable, PlannedEnd};
use super::plan_reader::{BAD_LINE, OTHER_NETWORK, SECOND_COLUMN, no_plan};
use super::planned_rate::PlannedRate;
use super::port_text::PortText;
use super::sheet_columns::{EndColumn, PlanColumn, PlanHeading};

use crate::FileError;
use crate::csv::read_cells;
use crate::label_binding::read_label;
use crate::text::Input;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Guid, NodeKind, NodePlace};

/// Most lines above the heading: titles, and the first of two rows of headings.
const MAX_ABOVE: usize = 8;

/// The heading within the first lines, and how many lines stand above it.
fn find_heading<'l>(lines: impl Iterator<Item = &'l str>) -> Option<(usize, PlanHeading)> {
    let mut filled = 0;
    for (at, line) in lines.enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if let Some(heading) = PlanHeading::of(line) {
            return Some((at, heading));
        }
        filled += 1;
        // A remark is no line of the table.
        filled -= usize::from(line.starts_with('#') && !line.contains([',', ';', '\t']));
        if filled > MAX_ABOVE {
            return None;
        }
    }
    None
}

pub(super) fn looks_like(head: &str) -> bool {
    find_heading(head.lines()).is_some()
}

/// The cells of one line under their heading.
struct SheetLine<'c> {
    heading: &'c PlanHeading,
    cells: &'c [Cow<'c, str>],
}

impl<'c> SheetLine<'c> {
    /// The cell of a column; `-`, `TBD` and `N/A` are no value.
    fn cell(&self, wanted: PlanColumn) -> Option<&'c str> {
        let at = self.heading.columns.iter().position(|column| *column == Some(wanted))?;
        let text = self.cells.get(at)?.trim();
        let is_absent =
            matches!(text, "" | "-") || ["tbd", "n/a", "na"].contains(&&*text.to_ascii_lowercase());
        (!is_absent).then_some(text)
    }

    fn end(&self, at: usize, place: &NotePlace, notes: &mut Notes) -> Result<PlannedEnd, String> {
        let which = ["first", "second"][at];
        let cell = |column| self.cell(PlanColumn::End(at, column));
        let mut value = |column| cell(column).and_then(|text| read_label(text, place, notes));
        let location = value(EndColumn::Location);
        let node_place = NodePlace {
            site: value(EndColumn::Site),
            room: value(EndColumn::Room),
            row: value(EndColumn::Row),
            rack: value(EndColumn::Rack).or(location),
            unit: value(EndColumn::Unit),
        };
        let guid = cell(EndColumn::Guid).map(Guid::from_hex).transpose();
        let guid = guid.map_err(|_| format!("the GUID of the {which} end cannot be read"))?;
        let device = value(EndColumn::Device).unwrap_or_default();
        if device.is_empty() && guid.is_none() {
            return Err(format!("the {which} end has no device"));
        }
        let parts = [cell(EndColumn::Slot), cell(EndColumn::Cage), cell(EndColumn::Breakout)];
        let built = parts[1].map(|_| parts.into_iter().flatten().collect::<Vec<_>>().join("/"));
        let port = cell(EndColumn::Port).map(PortText::parse);
        let label = || cell(EndColumn::Label).map(|text| PortText::Label(text.to_owned()));
        let port = port.or_else(label).or_else(|| built.map(PortText::Label));
        let port = port.ok_or_else(|| format!("the {which} end has no port"))?;
        let kind = cell(EndColumn::Kind);
        let kind = kind.and_then(|word| NodeKind::ALL.into_iter().find(|kind| kind.word() == word));
        Ok(PlannedEnd { device, guid, kind, port, place: node_place })
    }

    fn rate(&self, place: &NotePlace, notes: &mut Notes) -> PlannedRate {
        let mut rate = PlannedRate::default();
        for column in [PlanColumn::Width, PlanColumn::Speed] {
            let Some(text) = self.cell(column) else { continue };
            match PlannedRate::parse(text) {
                Some(stated) => rate = rate.or(stated),
                None => notes.add(BAD_LINE, place.clone(), || {
                    format!("'{text}' is no rate (HDR, 4x, 200G, 200000): the cable is compared without it")
                }),
            }
        }
        rate
    }

    fn cable(&self, line: u64, place: &NotePlace, notes: &mut Notes) -> Result<PlanCable, String> {
        let ends = [self.end(0, place, notes)?, self.end(1, place, notes)?];
        let mut text = |column| self.cell(column).and_then(|text| read_label(text, place, notes));
        let [label, length, kind] =
            [PlanColumn::CableLabel, PlanColumn::Length, PlanColumn::CableKind].map(&mut text);
        Ok(PlanCable { ends, rate: self.rate(place, notes), label, length, kind, line: Some(line) })
    }

    /// The network of a cable that is not of the fabric, such as `Management`.
    fn other_network(&self) -> Option<&'c str> {
        const OF_FABRICS: [&str; 5] = ["data", "ib", "infiniband", "compute", "fabric"];
        let network = self.cell(PlanColumn::Network)?;
        (!OF_FABRICS.contains(&&*network.to_ascii_lowercase())).then_some(network)
    }
}

pub(super) fn read(input: Input<'_>) -> Result<CablingPlan, Box<FileError>> {
    let mut lines = Vec::new();
    for line in input.lines() {
        lines.push(line?);
    }
    let Some((above, heading)) = find_heading(lines.iter().map(|line| &*line.text)) else {
        return Err(no_plan(input));
    };
    let mut plan = CablingPlan::new(heading.form, input.name);
    for at in &heading.repeated {
        plan.notes.add(SECOND_COLUMN, input.line_place(above as u64 + 1), || {
            format!("column {} has the meaning of an earlier one and is not read", at + 1)
        });
    }
    for line in &lines[above + 1..] {
        let place = input.line_place(line.number);
        let mut cells = Vec::new();
        if let Err(error) = read_cells(&line.text, heading.separator, &mut cells) {
            plan.notes.add_partial(BAD_LINE, place, || format!("{error}: the line is left out"));
            continue;
        }
        let is_heading = || PlanHeading::of(&line.text).is_some();
        if cells.iter().all(|cell| cell.trim().is_empty()) || line.text.starts_with('#') || is_heading() {
            continue;
        }
        let row = SheetLine { heading: &heading, cells: &cells };
        if let Some(network) = row.other_network() {
            plan.notes.add(OTHER_NETWORK, place, || {
                format!("a cable of '{network}' is not of this fabric and is not compared")
            });
            continue;
        }
        match row.cable(line.number, &place, &mut plan.notes) {
            Ok(cable) => plan.cables.push(cable),
            Err(what) => {
                plan.notes.add_partial(BAD_LINE, place, || format!("{what}: the line is left out"));
            }
        }
    }
    Ok(plan)
}
