//! PORTS: the PortInfo of each port.

use super::section::{Row, SectionColumns, read_number};
use super::speeds::{fastest, widest};
use crate::counters_text::{is_absent, parse_number};
use crate::lane_code;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Guid, Lid, LinkSpeed, LinkWidth, Lmc, PhysicalState, PortFacts, PortNum, PortState};

/// The columns that are read. No column of keys is among them.
pub(super) struct PortColumns {
    pub(super) node: Option<usize>,
    pub(super) number: Option<usize>,
    guid: Option<usize>,
    lid: Option<usize>,
    lmc: Option<usize>,
    state: Option<usize>,
    physical_state: Option<usize>,
    width: Option<usize>,
    width_supported: Option<usize>,
    speed: SpeedColumns,
    speed_supported: SpeedColumns,
    operational_lanes: Option<usize>,
    lanes_supported: Option<usize>,
    /// `LinkSpeed` and `LinkWidth` of opensm-smdb.dump, as words.
    speed_word: Option<usize>,
    width_word: Option<usize>,
}

/// The bytes of a speed mask, in one column or in three.
struct SpeedColumns {
    all: Option<usize>,
    extended: Option<usize>,
    extended2: Option<usize>,
}

impl PortColumns {
    pub(super) fn find(columns: &SectionColumns) -> Self {
        let speed = |all: &[&str], extended: &[&str], extended2: &[&str]| SpeedColumns {
            all: columns.find(all),
            extended: columns.find(extended),
            extended2: columns.find(extended2),
        };
        Self {
            node: columns.find(&["NodeGUID"]),
            number: columns.find(&["PortNum", "PortNumber"]),
            guid: columns.find(&["PortGUID"]),
            lid: columns.find(&["LID", "BaseLID"]),
            lmc: columns.find(&["LMC"]),
            state: columns.find(&["PortState"]),
            physical_state: columns.find(&["PortPhyState", "PortPhysicalState"]),
            width: columns.find(&["LinkWidthActv", "LinkWidthActive"]),
            width_supported: columns.find(&["LinkWidthSup", "LinkWidthSupported"]),
            speed: speed(
                &["LinkSpeedActv", "LinkSpeedActive"],
                &["LinkSpeedExtActv", "LinkSpeedExtActive"],
                &["LinkSpeedExtActv2", "LinkSpeedExtActive2"],
            ),
            speed_supported: speed(
                &["LinkSpeedSup", "LinkSpeedSupported"],
                &["LinkSpeedExtSup", "LinkSpeedExtSupported"],
                &["LinkSpeedExtSup2", "LinkSpeedExtSupported2"],
            ),
            operational_lanes: columns.find(&["OpVLs", "OperationalVLs"]),
            lanes_supported: columns.find(&["VLCap"]),
            speed_word: columns.find(&["LinkSpeed"]),
            width_word: columns.find(&["LinkWidth"]),
        }
    }

    /// The facts of one row. On a switch only port 0 has a LID and a GUID of its own.
    pub(super) fn read_facts(
        &self,
        row: &Row<'_>,
        on_switch: bool,
        number: PortNum,
        notes: &mut Notes,
    ) -> PortFacts {
        let mut facts = PortFacts {
            state: self.read_state(row, notes),
            physical_state: self.read_physical_state(row, notes),
            width_supported: read_number(row, self.width_supported, "LinkWidthSup", notes).and_then(widest),
            speed_supported: self.speed_supported.read(row, "LinkSpeedSup", notes),
            operational_lanes: read_lane_count(row, self.operational_lanes, "OpVLs", notes),
            lanes_supported: read_lane_count(row, self.lanes_supported, "VLCap", notes),
            ..PortFacts::default()
        };
        // Width and speed of a port that is down are not valid (C14-24.2.1).
        if facts.state != Some(PortState::Down) {
            facts.width = self.read_width(row, notes);
            facts.speed = self.read_speed(row, notes);
        }
        if !on_switch || number == PortNum::MANAGEMENT {
            facts.guid = Guid::from_hex(row.cell(self.guid)).ok().filter(|guid| guid.0 != 0);
            facts.lid = self.read_lid(row, notes);
            facts.lmc = self.read_lmc(row, notes);
        }
        facts
    }

    fn read_lid(&self, row: &Row<'_>, notes: &mut Notes) -> Option<Lid> {
        self.lid?;
        let value = parse_number(row.cell(self.lid));
        let lid = value.and_then(|lid| u32::try_from(lid).ok()).and_then(Lid::new);
        if lid.is_none() {
            notes.add("FN-427", row.place(), || {
                let shown =
                    value.and_then(redact_key_like).map_or(String::new(), |value| format!(" {value}"));
                format!("the LID{shown} of this row is no unicast LID: read as unknown")
            });
        }
        lid
    }

    fn read_lmc(&self, row: &Row<'_>, notes: &mut Notes) -> Lmc {
        let Some(code) = read_number(row, self.lmc, "LMC", notes) else { return Lmc::default() };
        let lmc = u32::try_from(code).ok().and_then(Lmc::new);
        lmc.unwrap_or_else(|| {
            note_code(row, "LMC", code, notes);
            Lmc::default()
        })
    }

    fn read_state(&self, row: &Row<'_>, notes: &mut Notes) -> Option<PortState> {
        if let Some(state) = PortState::from_word(row.cell(self.state)) {
            return Some(state);
        }
        read_code(row, self.state, "PortState", PortState::from_code, notes)
    }

    fn read_physical_state(&self, row: &Row<'_>, notes: &mut Notes) -> Option<PhysicalState> {
        if let Some(state) = PhysicalState::from_word(row.cell(self.physical_state)) {
            return Some(state);
        }
        read_code(row, self.physical_state, "PortPhyState", PhysicalState::from_code, notes)
    }

    fn read_width(&self, row: &Row<'_>, notes: &mut Notes) -> Option<LinkWidth> {
        if self.width.is_none() {
            return read_word(row, self.width_word, "LinkWidth", LinkWidth::from_word, notes);
        }
        read_code(row, self.width, "LinkWidthActv", LinkWidth::from_code, notes)
    }

    fn read_speed(&self, row: &Row<'_>, notes: &mut Notes) -> Option<LinkSpeed> {
        if self.speed.all.is_none() && self.speed.extended.is_none() {
            return read_word(row, self.speed_word, "LinkSpeed", LinkSpeed::from_word, notes);
        }
        self.speed.read(row, "LinkSpeedActv", notes)
    }
}

impl SpeedColumns {
    fn read(&self, row: &Row<'_>, what: &str, notes: &mut Notes) -> Option<LinkSpeed> {
        if let Some(speed) = LinkSpeed::from_word(row.cell(self.all)) {
            return Some(speed);
        }
        let mut whole = read_number(row, self.all, what, notes).unwrap_or(0);
        whole |= read_number(row, self.extended, what, notes).map_or(0, |byte| (byte & 0xFF) << 8);
        whole |= read_number(row, self.extended2, what, notes).map_or(0, |byte| (byte & 0xFF) << 24);
        let speed = fastest(whole);
        if speed.is_none() && whole != 0 {
            note_code(row, what, whole, notes);
        }
        speed
    }
}

/// A code of an enumeration; in all of PortInfo's enumerations 0 means "no value".
fn read_code<T>(
    row: &Row<'_>,
    column: Option<usize>,
    what: &str,
    from_code: impl Fn(u8) -> Option<T>,
    notes: &mut Notes,
) -> Option<T> {
    let code = read_number(row, column, what, notes).filter(|code| *code != 0)?;
    let value = u8::try_from(code).ok().and_then(from_code);
    if value.is_none() {
        note_code(row, what, code, notes);
    }
    value
}

fn read_lane_count(row: &Row<'_>, column: Option<usize>, what: &str, notes: &mut Notes) -> Option<u8> {
    let code = read_number(row, column, what, notes).filter(|code| *code != 0)?;
    let count = lane_code::lane_count(code);
    if count.is_none() {
        note_code(row, what, code, notes);
    }
    count
}

fn read_word<T>(
    row: &Row<'_>,
    column: Option<usize>,
    what: &str,
    from_word: impl Fn(&str) -> Option<T>,
    notes: &mut Notes,
) -> Option<T> {
    let text = row.cell(column);
    if is_absent(text) {
        return None;
    }
    let value = from_word(text);
    if value.is_none() {
        notes.add("FN-433", row.place(), || {
            format!("the {what} of this row is not a known word: read as unknown")
        });
    }
    value
}

/// A number, if it is safe to show. In a table with shifted columns any cell may hold a key, but no key is as short as
/// the values that belong there.
fn redact_key_like(value: u64) -> Option<u64> {
    (value <= 0xFFFF).then_some(value)
}

fn note_code(row: &Row<'_>, what: &str, code: u64, notes: &mut Notes) {
    notes.add("FN-433", row.place(), || {
        let shown = redact_key_like(code).map_or(String::new(), |code| format!(" {code:#x}"));
        format!("the {what}{shown} of this row is not a known value: read as unknown")
    });
}
