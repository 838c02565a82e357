//! Tables of ports: forward error correction, modules, causes of errors, and ports that were set aside.

use std::collections::BTreeMap;
use std::time::Duration;

use super::section::{CsvTables, Section, SectionColumns, read_number};
use crate::FileError;
use crate::module_text::ModuleText;
use fabdeck_fabric::observe::{
    Counter, CounterGrowth, CounterSample, CounterValues, DeviceAnswer, DiscardCauses, FecCounts, FecMode,
    Notes, PortWire, ReceiveErrorCauses,
};
use fabdeck_fabric::{Guid, PortNum};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &["EXTENDED_PORT_INFO", "PORT_INFO_EXTENDED", "FEC_MODE", "CABLE_INFO"];

type Ports = BTreeMap<(Guid, PortNum), PortWire>;

/// Reads all tables of ports. Causes of errors come from the counters, which are read already.
pub(super) fn read(
    tables: &CsvTables<'_>,
    counters: &[CounterSample],
    growth: Option<&CounterGrowth>,
    notes: &mut Notes,
) -> Result<Ports, Box<FileError>> {
    let mut ports = Ports::new();
    for name in ["PORT_INFO_EXTENDED", "EXTENDED_PORT_INFO", "FEC_MODE"] {
        if let Some(section) = tables.get_table(name) {
            read_fec_modes(section, &mut ports, notes)?;
        }
    }
    if let Some(section) = tables.get_table("EXTENDED_PORT_INFO") {
        note_ports_set_aside(section, notes)?;
    }
    if let Some(section) = tables.get_table("CABLE_INFO") {
        read_modules(section, &mut ports, notes)?;
    }
    add_causes(&mut ports, counters, growth);
    Ok(ports)
}

fn read_fec_modes(section: &Section<'_>, ports: &mut Ports, notes: &mut Notes) -> Result<(), Box<FileError>> {
    /// The tool's code for a port without a mode.
    const NONE: u64 = 0xFF;
    let pick = |columns: &SectionColumns| columns.find(&["FECModeActive", "FECActv"]);
    section.read_ports(notes, pick, |at, column, row, notes| {
        let Some(code) = read_number(row, *column, "FEC mode", notes).filter(|code| *code != NONE) else {
            return;
        };
        let mode = u16::try_from(code).ok().and_then(FecMode::from_code);
        match mode {
            Some(mode) => {
                let fec = &mut ports.entry(at).or_default().fec;
                if fec.is_not_asked() {
                    *fec = DeviceAnswer::Known(mode);
                }
            }
            None => notes.add("FN-433", row.place(), || {
                format!("the FEC mode of {} port {} is no known code: read as unknown", at.0, at.1)
            }),
        }
    })
}

/// The reasons of the field UnhealthyReason for which the subnet manager sets a port aside.
fn aside_reason(code: u64) -> Option<&'static str> {
    Some(match code {
        0 | 1 => return None,
        2 => "credit watchdog",
        3 => "asymmetric planes",
        4 => "raw bit errors",
        5 => "effective bit errors",
        6 => "symbol errors",
        8 => "drained",
        _ => "a reason that is not known",
    })
}

fn note_ports_set_aside(section: &Section<'_>, notes: &mut Notes) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| columns.find(&["UnhealthyReason"]);
    section.read_ports(notes, pick, |(node, port), column, row, notes| {
        if let Some(reason) = read_number(row, *column, "UnhealthyReason", notes).and_then(aside_reason) {
            notes.add("FN-443", row.place(), || {
                format!("the subnet manager set port {port} of {node} aside: {reason} (UnhealthyReason)")
            });
        }
    })
}

fn read_modules(section: &Section<'_>, ports: &mut Ports, notes: &mut Notes) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| {
        let known = |name: &str| ModuleText::default().add(name, "");
        columns.mark_read((0..columns.names.len()).filter(|at| known(&columns.names[*at])));
        columns.names.clone()
    };
    section.read_ports(notes, pick, |at, names, row, _| {
        let mut module = ModuleText::default();
        for (column, name) in names.iter().enumerate() {
            module.add(name, row.cell(Some(column)));
        }
        if let Some(module) = module.finish() {
            ports.entry(at).or_default().module = DeviceAnswer::Known(module);
        }
    })
}

/// Adds the causes of errors and the counts of FEC to their ports.
fn add_causes(ports: &mut Ports, counters: &[CounterSample], growth: Option<&CounterGrowth>) {
    for sample in counters {
        let Some(at) = sample.node.zip(sample.port) else { continue };
        let (errors, discards, fec) =
            (error_causes(&sample.values), discard_causes(&sample.values), fec_counts(&sample.values));
        if errors.is_none() && discards.is_none() && fec.is_none() {
            continue;
        }
        let said = ports.entry(at).or_default();
        said.errors = errors.map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
        said.discards = discards.map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
        said.fec_counts = fec.map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
    }
    let Some(growth) = growth else { return };
    for sample in &growth.samples {
        let grown = sample.node.zip(sample.port).zip(fec_counts(&sample.values));
        let Some((said, grown)) = grown.and_then(|(at, grown)| Some((ports.get_mut(&at)?, grown))) else {
            continue;
        };
        if let Some(before) = said.fec_counts.known().and_then(|now| counts_before(now, &grown)) {
            said.fec_counts_at = Some(growth.over);
            said.earlier_fec = Some((Duration::ZERO, before));
        }
    }
}

/// The counts before they grew; `None` where they grew by more than they are.
fn counts_before(now: &FecCounts, grown: &FecCounts) -> Option<FecCounts> {
    Some(FecCounts {
        corrected_blocks: now.corrected_blocks.checked_sub(grown.corrected_blocks)?,
        uncorrected_blocks: now.uncorrected_blocks.checked_sub(grown.uncorrected_blocks)?,
        corrected_symbols: match (now.corrected_symbols, grown.corrected_symbols) {
            (Some(now), Some(grown)) => Some(now.checked_sub(grown)?),
            _ => None,
        },
        sync_header_errors: now.sync_header_errors.checked_sub(grown.sync_header_errors)?,
    })
}

/// The value of a counter of 16 bits.
fn narrow(values: &CounterValues, counter: &Counter) -> Option<u16> {
    values.get(counter).map(|value| u16::try_from(value).unwrap_or(u16::MAX))
}

/// A cause that the device does not count is 0 beside others.
fn error_causes(values: &CounterValues) -> Option<ReceiveErrorCauses> {
    let counters = [
        Counter::PortLocalPhysicalErrors,
        Counter::PortMalformedPktErrors,
        Counter::PortBufferOverrunErrors,
        Counter::PortDLIDMappingErrors,
        Counter::PortVLMappingErrors,
        Counter::PortLoopingErrors,
    ];
    let counts = counters.map(|counter| narrow(values, &counter));
    counts.iter().any(Option::is_some).then(|| {
        let [local_physical, malformed, buffer_overrun, dlid_mapping, vl_mapping, looping] =
            counts.map(Option::unwrap_or_default);
        ReceiveErrorCauses { local_physical, malformed, buffer_overrun, dlid_mapping, vl_mapping, looping }
    })
}

fn discard_causes(values: &CounterValues) -> Option<DiscardCauses> {
    let counters = [
        Counter::PortInactiveDiscards,
        Counter::PortNeighborMTUDiscards,
        Counter::PortSwLifetimeLimitDiscards,
        Counter::PortSwHOQLifetimeLimitDiscards,
    ];
    let counts = counters.map(|counter| narrow(values, &counter));
    counts.iter().any(Option::is_some).then(|| {
        let [port_inactive, neighbor_mtu, switch_lifetime, head_of_queue] =
            counts.map(Option::unwrap_or_default);
        DiscardCauses { port_inactive, neighbor_mtu, switch_lifetime, head_of_queue }
    })
}

/// Both counts of blocks have to be there: without them an error rate would be too low.
fn fec_counts(values: &CounterValues) -> Option<FecCounts> {
    let wide = |counter| values.get(&counter).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    Some(FecCounts {
        corrected_blocks: wide(Counter::PortFECCorrectableBlockCtr)?,
        uncorrected_blocks: wide(Counter::PortFECUncorrectableBlockCtr)?,
        corrected_symbols: wide(Counter::PortFECCorrectedSymbolCtr),
        sync_header_errors: narrow(values, &Counter::SyncHeaderErrorCounter).unwrap_or(0),
    })
}
