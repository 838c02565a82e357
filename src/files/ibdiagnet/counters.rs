//! PM_INFO: a row of counters for each port. PM_DELTA: their growth while ibdiagnet waited.

use std::time::Duration;

use super::section::{Columns, Section, Tables};
use crate::FileError;
use crate::counters_text::{Reading, is_absent, port};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{Counter, CounterGrowth, CounterSample, CounterValues, Notes};

struct Picked {
    node: Option<usize>,
    port: Option<usize>,
    counters: Vec<(usize, Counter)>,
}

pub(super) fn read(section: &Section<'_>, notes: &mut Notes) -> Result<Vec<CounterSample>, Box<FileError>> {
    let mut samples = Vec::new();
    section.rows(notes, None, pick, |picked, row, notes| {
        let Ok(node) = Guid::from_hex(row.cell(picked.node)) else {
            return row.unreadable("NodeGUID", notes);
        };
        let Some(port) = port(row.cell(picked.port)) else { return row.unreadable("PortNumber", notes) };
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
            let reading = Reading::of(counter, cell);
            reading.note(counter, row.input(), row.line, notes);
            if let Some(value) = reading.value() {
                values.insert(counter.clone(), value);
            }
        }
        if absent > 0 {
            // One note a row, because large files have whole columns of N/A.
            notes.add("FN-404", row.place(), || {
                format!("{absent} counters have no value (N/A): read as unknown")
            });
        }
        values.shrink();
        samples.push(CounterSample { node: Some(node), lid: None, port, values });
    })?;
    Ok(samples)
}

/// ibdiagnet reads counters twice, one second apart unless `--pm_pause_time` sets another pause.
const USUAL_PAUSE: Duration = Duration::from_secs(1);

/// PM_DELTA, with the time that it covers.
pub(super) fn growth(
    section: &Section<'_>,
    tables: &Tables<'_>,
    notes: &mut Notes,
) -> Result<CounterGrowth, Box<FileError>> {
    let samples = read(section, notes)?;
    let mut pause = None;
    if let Some(run) = tables.get("RUN_INFO") {
        let pick = |columns: &Columns| columns.find(&["Args"]);
        run.rows(notes, Some("Args"), pick, |args, row, _| pause = pause.or(pause_time(row.cell(*args))))?;
    }
    if pause.is_none() {
        notes.add("FN-438", section.place(), || {
            "the file does not state --pm_pause_time; the growth in PM_DELTA is taken to be that of 1 s, ibdiagnet's \
             usual pause"
                .to_owned()
        });
    }
    Ok(CounterGrowth { samples, over: pause.unwrap_or(USUAL_PAUSE), stated: pause.is_some() })
}

/// The seconds after `--pm_pause_time` in a command line. The rest is not read, because it may contain keys.
fn pause_time(args: &str) -> Option<Duration> {
    let mut words = args.split(|c: char| c.is_whitespace() || c == '=');
    words.find(|word| *word == "--pm_pause_time")?;
    let seconds = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds))
}

/// Selects columns: each column that is no address and no key is a counter.
fn pick(columns: &Columns) -> Picked {
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
    // Sorted as samples store counters; of two spellings of one counter the first column counts.
    counters.sort_by(|a, b| a.1.cmp(&b.1));
    counters.dedup_by(|later, first| later.1 == first.1);
    Picked { node, port, counters }
}
