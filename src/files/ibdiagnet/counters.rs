//! PM_INFO: a row of counters for each port. PM_DELTA: their growth while ibdiagnet waited.

use std::time::Duration;

use super::run_info;
use super::section::{CsvTables, Section, SectionColumns, read_number};
use crate::FileError;
use crate::counters_text::{CounterCell, is_absent, parse_port};
use fabdeck_fabric::observe::{Counter, CounterGrowth, CounterSample, CounterValues, Notes, TickKind, Ticks};
use fabdeck_fabric::{Fabric, Guid};

struct CounterColumns {
    node: Option<usize>,
    port: Option<usize>,
    counters: Vec<(usize, Counter)>,
}

pub(super) fn read(section: &Section<'_>, notes: &mut Notes) -> Result<Vec<CounterSample>, Box<FileError>> {
    let mut samples = Vec::new();
    section.read_rows(notes, None, find_columns, |picked, row, notes| {
        let Ok(node) = Guid::from_hex(row.cell(picked.node)) else {
            return row.note_unreadable("NodeGUID", notes);
        };
        let Some(port) = parse_port(row.cell(picked.port)) else {
            return row.note_unreadable("PortNumber", notes);
        };
        let mut values = CounterValues::new();
        let mut absent = 0;
        for (column, counter) in &picked.counters {
            let cell = row.cell(Some(*column));
            if is_absent(cell) {
                absent += 1;
                // A vendor's counter is expected to be missing on ports of other vendors.
                if counter.bits().is_some() {
                    values.insert(counter.clone(), None);
                }
                continue;
            }
            let reading = CounterCell::of(counter, cell);
            reading.note(counter, row.input(), row.line, notes);
            if !matches!(reading, CounterCell::Unreadable) {
                values.insert(counter.clone(), reading.value());
            }
        }
        if absent > 0 {
            // One note a row, because large files have whole columns of N/A.
            notes.add("FN-404", row.place(), || {
                let counters = if absent == 1 { "counter has" } else { "counters have" };
                format!("{absent} {counters} no value (N/A): read as unknown")
            });
        }
        values.shrink_to_fit();
        samples.push(CounterSample { node: Some(node), lid: None, port: port.number(), values });
    })?;
    Ok(samples)
}

/// ibdiagnet reads counters twice, one second apart unless `--pm_pause_time` sets another pause.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);

/// PM_DELTA, with the time that it covers.
pub(super) fn read_growth(
    section: &Section<'_>,
    tables: &CsvTables<'_>,
    notes: &mut Notes,
) -> Result<CounterGrowth, Box<FileError>> {
    let samples = read(section, notes)?;
    let pause = run_info::read_pause(tables, notes)?;
    if pause.is_none() {
        notes.add("FN-438", section.place(), || {
            "the file does not state --pm_pause_time; PM_DELTA is read as the growth within 1 s, ibdiagnet's default \
             pause"
                .to_owned()
        });
    }
    Ok(CounterGrowth { samples, over: pause.unwrap_or(DEFAULT_PAUSE), stated: pause.is_some() })
}

/// The ticks of XmitWait by kind of device (PM_PORT_SAMPLES_CONTROL). A kind whose ports state different ticks has none.
pub(super) fn read_ticks(
    tables: &CsvTables<'_>,
    fabric: &Fabric,
    notes: &mut Notes,
) -> Result<Ticks, Box<FileError>> {
    let mut ticks = Ticks::default();
    let Some(section) = tables.get_table("PM_PORT_SAMPLES_CONTROL") else { return Ok(ticks) };
    let pick = |columns: &SectionColumns| columns.find(&["Tick"]);
    section.read_ports(notes, pick, |(node, port), column, row, notes| {
        let node = fabric.node_by_guid(node);
        let kind = node.and_then(|node| TickKind::for_port(fabric, fabric.port_of(node, port)?));
        let Some(kind) = kind else { return };
        let tick = read_number(row, *column, "tick", notes).and_then(|tick| u8::try_from(tick).ok());
        if let Some(tick) = tick {
            let known = ticks.by_kind.entry(kind).or_insert(Some(tick));
            *known = known.filter(|known| *known == tick);
        }
    })?;
    Ok(ticks)
}

/// Selects columns: each column that is no address and no key is a counter.
fn find_columns(columns: &SectionColumns) -> CounterColumns {
    let node = columns.find(&["NodeGUID"]);
    let port = columns.find(&["PortNumber", "PortNum"]);
    let mut counters: Vec<(usize, Counter)> = Vec::new();
    for (at, name) in columns.names.iter().enumerate() {
        let plain = name.to_ascii_lowercase();
        let address =
            plain.ends_with("guid") || ["lid", "capmask"].iter().any(|word| plain.starts_with(word));
        let key = plain.ends_with("key") || plain.contains("m_key") || plain.contains("mkey");
        if name.is_empty() || Some(at) == node || Some(at) == port || address || key {
            continue;
        }
        let counter = Counter::from_name(name);
        counters.push((at, counter));
    }
    columns.mark_read(counters.iter().map(|(at, _)| *at));
    // Sorted as samples store counters; of two spellings of one counter the first column counts.
    counters.sort_by(|a, b| a.1.cmp(&b.1));
    counters.dedup_by(|later, first| later.1 == first.1);
    CounterColumns { node, port, counters }
}
