//! `ibdiagnet2.net_dump_ext`: one row for each port with its label, FEC mode and bit error rates. Columns are found by name.
//!
//! ```text
//! Ty : #      : #IB : GUID               : LID         : Sta : ... : FEC mode       : RTR    : Raw BER : ... : Node Desc
//! SW : 1/1/1  : 1   : 0x0002c90000000201 : 24  (0x18 ) : ACT : ... : RS_FEC_544_514 : NO-RTR : 3e-09   : ... : "leaf1"
//! ```

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{
    BitErrorCounts, BitErrorRate, DeviceAnswer, FecMode, NotePlace, Notes, PortWire,
};
use fabdeck_fabric::{Guid, PortNum};

use super::FileError;
use super::content::{WireFile, WireOwner, WirePort};
use super::counters_text::is_absent;
use super::label_binding::{LabelStatement, read_label};
use super::opensm::{no_content, note_truncated_line};
use super::text::Input;

pub const ID: &str = "net-dump-ext";

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| DumpColumns::find(line).is_some())
}

/// The columns that are read.
struct DumpColumns {
    count: usize,
    port: usize,
    guid: usize,
    label: Option<usize>,
    fec: Option<usize>,
    raw: Option<usize>,
    effective: Option<usize>,
    symbol: Option<usize>,
    symbol_errors: Option<usize>,
    effective_errors: Option<usize>,
}

impl DumpColumns {
    /// The columns of the heading; `None` for another line.
    fn find(line: &str) -> Option<Self> {
        if !line.trim_start().starts_with("Ty") {
            return None;
        }
        let names: Vec<String> = line.split(':').map(|name| name.trim().to_ascii_lowercase()).collect();
        let of = |name: &str| names.iter().position(|known| known == name);
        let fec = of("fec mode").or_else(|| of("fec"));
        let found = Self {
            count: names.len(),
            port: of("#ib")?,
            guid: of("guid")?,
            label: of("#"),
            fec,
            raw: of("raw ber"),
            effective: of("effective ber"),
            symbol: of("symbol ber"),
            symbol_errors: of("symbol err"),
            effective_errors: of("effective err"),
        };
        (fec.is_some() || found.raw.is_some()).then_some(found)
    }
}

pub fn read(input: Input<'_>) -> Result<WireFile, Box<FileError>> {
    let mut notes = Notes::new();
    let mut columns = None;
    let mut ports: BTreeMap<(Guid, PortNum), (PortWire, NotePlace)> = BTreeMap::new();
    let mut labels = Vec::new();
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let place = input.line_place(line.number);
        if line.unended {
            note_truncated_line(&mut notes, place, text);
            continue;
        }
        let Some(known) = &columns else {
            columns = DumpColumns::find(text);
            continue;
        };
        match read_row(text, known, &place, &mut notes) {
            Some((at, label, wire)) => match ports.get_mut(&at) {
                // A port of several planes has a row for each.
                Some((held, _)) => join_planes(held, &wire),
                None => {
                    let text = read_label(label, &place, &mut notes);
                    let (guid, port) = at;
                    labels.extend(text.map(|text| LabelStatement { guid, port, text, place: place.clone() }));
                    ports.insert(at, (wire, place));
                }
            },
            None => notes.add_partial("FN-424", place, || {
                format!("a row of the table does not fit its {} columns; left out", known.count)
            }),
        }
    }
    if columns.is_none() {
        return Err(no_content(input.name, "heading with GUID and bit error rates"));
    }
    let port = |((guid, port), (wire, place))| WirePort {
        owner: WireOwner::Guid(guid),
        port: Some(port),
        wire,
        place,
    };
    Ok(WireFile { ports: ports.into_iter().map(port).collect(), labels, notes, ..WireFile::default() })
}

fn read_row<'t>(
    text: &'t str,
    columns: &DumpColumns,
    place: &NotePlace,
    notes: &mut Notes,
) -> Option<((Guid, PortNum), &'t str, PortWire)> {
    // The description at the end may have colons.
    let cells: Vec<&'t str> = text.splitn(columns.count, ':').map(str::trim).collect();
    let cell = |column: Option<usize>| column.and_then(|at| cells.get(at)).copied().unwrap_or_default();
    if cells.len() < columns.count {
        return None;
    }
    let guid = Guid::from_hex(cell(Some(columns.guid))).ok()?;
    let port = cell(Some(columns.port)).parse().ok().and_then(PortNum::new)?;
    let mut wire = PortWire::default();
    match read_fec(cell(columns.fec)) {
        Ok(mode) => wire.fec = mode.map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known),
        Err(()) => notes.add("FN-433", place.clone(), || {
            format!("the FEC mode of {guid} port {port} is no known word: read as unknown")
        }),
    }
    let mut rate = |column, name: &str| read_rate(cell(column), name, (guid, port), place, notes);
    let (raw, effective, symbol) =
        (rate(columns.raw, "raw"), rate(columns.effective, "effective"), rate(columns.symbol, "symbol"));
    let count = |column| cell(column).parse().unwrap_or(0);
    if raw.is_some() || effective.is_some() || symbol.is_some() {
        wire.bit_errors = DeviceAnswer::Known(BitErrorCounts {
            symbol_errors: count(columns.symbol_errors),
            effective_errors: count(columns.effective_errors),
            raw,
            effective,
            symbol,
            ..BitErrorCounts::default()
        });
    }
    Some(((guid, port), cell(columns.label), wire))
}

fn read_rate(
    text: &str,
    name: &str,
    (guid, port): (Guid, PortNum),
    place: &NotePlace,
    notes: &mut Notes,
) -> Option<BitErrorRate> {
    if is_absent(text) {
        return None;
    }
    let rate = text.parse().ok().and_then(BitErrorRate::from_number);
    if rate.is_none() {
        notes.add("FN-433", place.clone(), || {
            format!("the {name} BER of {guid} port {port} is no rate: read as unknown")
        });
    }
    rate
}

/// The FEC mode that a word of ibdiagnet stands for; nothing for a port without one.
fn read_fec(word: &str) -> Result<Option<FecMode>, ()> {
    let mode = match word {
        word if is_absent(word) => return Ok(None),
        "NO-FEC" => FecMode::Off,
        "FIRECODE" => FecMode::Firecode,
        "STD-RS" => FecMode::Rs,
        "STD-LL-RS" => FecMode::LowLatencyRs,
        "RS_FEC_544_514" => FecMode::Rs544,
        "MLNX-STRONG-RS" => FecMode::VendorStrongRs,
        "MLNX-LL-RS" => FecMode::VendorLowLatencyRs,
        "MLNX-ADAPT-RS" => FecMode::VendorAdaptiveRs,
        "MLNX-COD-FEC" => FecMode::VendorCod,
        "MLNX-ZL-FEC" => FecMode::VendorZeroLatency,
        "MLNX_RS_544_514_PLR" => FecMode::Rs544Plr,
        "MLNX_RS_271_257_PLR" => FecMode::LowLatency271Plr,
        _ => return Err(()),
    };
    Ok(Some(mode))
}

/// The worse rate of two planes of a port counts.
fn join_planes(held: &mut PortWire, plane: &PortWire) {
    match (&mut held.bit_errors, &plane.bit_errors) {
        (DeviceAnswer::Known(held), DeviceAnswer::Known(plane)) => {
            held.raw = held.raw.max(plane.raw);
            held.effective = held.effective.max(plane.effective);
            held.symbol = held.symbol.max(plane.symbol);
            held.symbol_errors = held.symbol_errors.saturating_add(plane.symbol_errors);
            held.effective_errors = held.effective_errors.saturating_add(plane.effective_errors);
        }
        (held, plane) if held.is_not_asked() => held.clone_from(plane),
        _ => {}
    }
    if held.fec.is_not_asked() {
        held.fec = plane.fec;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Ty : # : #IB : GUID : LID : FEC mode : RTR : Raw BER : Effective BER : Symbol BER : Symbol Err : Effective Err : Node Desc\n";

    fn read_text(rows: &str) -> WireFile {
        read(Input::new("f", format!("{HEAD}{rows}").as_bytes())).unwrap()
    }

    fn codes(file: &WireFile) -> Vec<&'static str> {
        file.notes.iter().map(|note| note.code).collect()
    }

    #[test]
    fn rows_have_rates_and_a_description_may_have_colons() {
        let file = read_text(
            "SW : 1/1/1 : 1 : 0x1 : 24 (0x18 ) : MLNX_RS_544_514_PLR : NO-RTR : 3e-09 : 1.5e-254 : 1.2e-15 : 7 : 0 : \"a: b\"\n\
             CA : 1 : 1 : 0x21 : 25 (0x19 ) : N/A : NO-RTR : : : : : : \"n1\"\n",
        );
        assert_eq!((file.ports.len(), codes(&file)), (2, vec![]));
        let labels: Vec<_> = file.labels.iter().map(|one| (one.guid.0, one.text.as_str())).collect();
        assert_eq!(labels, [(1, "1/1/1"), (0x21, "1")]);
        let wire = &file.ports[0].wire;
        let bits = wire.bit_errors.known().unwrap();
        let texts = [bits.raw, bits.effective, bits.symbol].map(|rate| rate.unwrap().to_string());
        assert_eq!(
            (texts.each_ref().map(String::as_str), bits.symbol_errors),
            (["3e-9", "none seen", "12e-16"], 7)
        );
        assert_eq!(wire.fec, DeviceAnswer::Known(FecMode::Rs544Plr));
        assert_eq!(file.ports[1].wire, PortWire::default());
    }

    #[test]
    fn planes_are_one_port_with_the_worse_rates() {
        let row = |raw: &str| format!("SW : x : 1 : 0x1 : 24 : N/A : R : {raw} : : : 2 : 0 : \"a\"\n");
        let file = read_text(&(row("1.5e-254") + &row("2e-7") + &row("1e-9") + &row("")));
        let bits = file.ports[0].wire.bit_errors.known().unwrap();
        assert_eq!(
            (file.ports.len(), bits.raw.unwrap().to_string(), bits.symbol_errors),
            (1, "2e-7".into(), 6)
        );
    }

    #[test]
    fn a_bad_row_takes_no_other() {
        let good = "SW : x : 1 : 0x1 : 24 : WILD : R : 1e9 : : : : : \"a\"\n";
        let file = read_text(&format!("SW : x : y : 0x1\n{good}"));
        assert_eq!((file.ports.len(), codes(&file)), (1, vec!["FN-424", "FN-433"]));
        assert!(file.ports[0].wire.bit_errors.is_not_asked());
    }
}
