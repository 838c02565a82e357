//! The meaning of the columns of a sheet: which end of the cable a column is about, and what it states of that end.

use super::plan::PlanForm;
use crate::csv::read_cells;

/// What a column states about one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndColumn {
    Device,
    Guid,
    Kind,
    Port,
    Label,
    Slot,
    Cage,
    Breakout,
    Site,
    Room,
    Row,
    Rack,
    Unit,
    Location,
}

/// What a column states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlanColumn {
    /// Of the first end (0) or the second one (1).
    End(usize, EndColumn),
    Width,
    Speed,
    Network,
    CableLabel,
    CableKind,
    Length,
}

/// The columns of an end with their names, without blanks and signs, in small letters.
const END_NAMES: [(EndColumn, &[&str]); 14] = [
    (
        EndColumn::Device,
        &["device", "node", "name", "nodename", "devicename", "switch", "host", "hostname", "system"],
    ),
    (EndColumn::Guid, &["guid", "nodeguid"]),
    (EndColumn::Kind, &["kind", "nodetype"]),
    (EndColumn::Port, &["port", "portnumber", "portnum", "ibport", "hcaport", "portname"]),
    (EndColumn::Label, &["label", "portlabel", "frontpanel"]),
    (EndColumn::Slot, &["slot"]),
    (EndColumn::Cage, &["cage"]),
    (EndColumn::Breakout, &["breakout", "split"]),
    (EndColumn::Site, &["site", "campus", "datacenter", "dc"]),
    (EndColumn::Room, &["room", "hall", "datahall"]),
    (EndColumn::Row, &["row"]),
    (EndColumn::Rack, &["rack", "cabinet"]),
    (EndColumn::Unit, &["u", "unit", "ru", "rackunit", "uheight"]),
    (EndColumn::Location, &["devicelocation", "location"]),
];

/// Words for the ends, the longest of each first: `StartDevice`, `Z-Port`, `device_b`, `Port 2`.
const ENDS: [[&str; 9]; 2] = [
    ["anode", "source", "local", "start", "left", "from", "src", "a", "1"],
    ["znode", "destination", "remote", "right", "dest", "end", "dst", "to", "2"],
];
/// Further words for the second end.
const SECOND_END: [&str; 2] = ["b", "z"];

const CABLE_NAMES: [(PlanColumn, &[&str]); 6] = [
    (PlanColumn::Width, &["width", "linkwidth"]),
    (PlanColumn::Speed, &["speed", "linkspeed", "rate", "bandwidth"]),
    (PlanColumn::Network, &["linktype", "network"]),
    (PlanColumn::CableLabel, &["cablename", "cablelabel", "cable", "cableid", "cablenumber"]),
    (PlanColumn::CableKind, &["cabletype", "cablepn", "cablepartnumber"]),
    (PlanColumn::Length, &["length", "cablelength", "lengthm", "cablelengthm"]),
];

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn end_column(name: &str) -> Option<EndColumn> {
    END_NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(column, _)| *column)
}

/// The end that the name of a column names, and what it states about it.
fn named_end(name: &str) -> Option<(usize, EndColumn)> {
    let words = |end: usize| {
        let more = if end == 1 { &SECOND_END[..] } else { &[] };
        ENDS[end].iter().chain(more).copied()
    };
    [0, 1].into_iter().find_map(|end| {
        words(end).find_map(|word| {
            let rest = name.strip_prefix(word).or_else(|| name.strip_suffix(word))?;
            Some((end, end_column(rest)?))
        })
    })
}

/// The heading of a sheet: the separator, and the meaning of each column.
#[derive(Clone, Debug)]
pub(super) struct PlanHeading {
    pub separator: char,
    pub columns: Vec<Option<PlanColumn>>,
    pub form: PlanForm,
    /// Columns that have the meaning of an earlier one.
    pub repeated: Vec<usize>,
}

impl PlanHeading {
    /// Reads a heading; `None` for another line. It has a device or GUID, and a port, at both ends.
    pub(super) fn of(line: &str) -> Option<Self> {
        let count = |separator: char| line.matches(separator).count();
        let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| count(*separator))?;
        let mut cells = Vec::new();
        read_cells(line, separator, &mut cells).ok()?;
        let names: Vec<String> = cells.iter().map(|cell| plain(strip_mark(cell))).collect();
        let mut heading =
            Self { separator, columns: Vec::new(), form: form_of(&names), repeated: Vec::new() };
        for (at, name) in names.iter().enumerate() {
            let column = heading.meaning(name);
            if column.is_some_and(|column| heading.columns.contains(&Some(column))) {
                heading.repeated.push(at);
                heading.columns.push(None);
            } else {
                heading.columns.push(column);
            }
        }
        let has = |end: usize, wanted: &[EndColumn]| {
            wanted.iter().any(|column| heading.columns.contains(&Some(PlanColumn::End(end, *column))))
        };
        let device = [EndColumn::Device, EndColumn::Guid];
        let port = [EndColumn::Port, EndColumn::Label, EndColumn::Cage];
        [0, 1].into_iter().all(|end| has(end, &device) && has(end, &port)).then_some(heading)
    }

    /// The meaning of a name. A name without an end is about the first one, and at its second appearance about the second.
    fn meaning(&self, name: &str) -> Option<PlanColumn> {
        if name.is_empty() {
            return None;
        }
        let cable = CABLE_NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(column, _)| *column);
        let named = cable.or_else(|| named_end(name).map(|(end, column)| PlanColumn::End(end, column)));
        named.or_else(|| {
            let column = end_column(name)?;
            let is_taken = self.columns.contains(&Some(PlanColumn::End(0, column)));
            Some(PlanColumn::End(usize::from(is_taken), column))
        })
    }
}

/// The name of the first column without the marks of NDT: `#StartDevice`, `#Fields:StartDevice`.
fn strip_mark(cell: &str) -> &str {
    let cell = cell.trim().trim_start_matches('#').trim();
    cell.strip_prefix("Fields:").unwrap_or(cell)
}

fn form_of(names: &[String]) -> PlanForm {
    let has = |name: &str| names.iter().any(|own| own == name);
    match () {
        () if has("startdevice") && has("enddevice") => PlanForm::Ndt,
        () if has("anodename") || names.iter().filter(|name| *name == "name").count() > 1 => {
            PlanForm::PointToPoint
        }
        () => PlanForm::Table,
    }
}
