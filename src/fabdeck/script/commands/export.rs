//! `capture export`: counters over time as comma-separated values, one line for each port and sweep.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::Args;

use super::capture::{CaptureFileArgs, OutputFileArgs, StretchArgs};
use super::capture_rewrite::{damage_notes, refuse_two_outputs, report_damage};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::record::capture_rewrite::{resolve_stretch, write_failure};
use crate::script::answer::{json_answer, write_object};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json::ObjectHead;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file::{is_stdout, write_with};
use fabdeck_fabric::counters::{PortRates, rates_of_sweeps};
use fabdeck_fabric::observe::{Counter, CounterSample, Sweep};
use fabdeck_fabric::{Fabric, NameMap, Names, PortId};
use fabdeck_files::capture::{CaptureRange, FileBytes, Moments, survey};
use fabdeck_files::capture_format::{CaptureRecord, Damage, Hole, flags};
use fabdeck_files::csv::write_row;

pub const CAPTURE_EXPORT: CommandEntry = CommandEntry::new(
    "capture export",
    "Counters over time, comma-separated",
    "A line for each port at each sweep: time, GUID, port, name, and each counter as it was read. With \
     --rates: data sent and received, and waiting, a second since the sweep before. `convert` with --at \
     writes one moment in another format: topology, forwarding tables, Prometheus' text.",
)
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck capture export night.fdcap --from -10m -o counters.csv",
    "fabdeck convert night.fdcap --at 02:13:40 --to prometheus -o moment.prom",
])
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<ExportAnswer<'_>>("capture-export")]);

#[derive(Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    capture: CaptureFileArgs,
    #[command(flatten)]
    stretch: StretchArgs,
    /// Rates since the previous sweep, instead of the counters
    #[arg(long)]
    rates: bool,
    #[command(flatten)]
    made: OutputFileArgs,
}

/// Columns before the values of a line.
const KEY_COLUMNS: [&str; 4] = ["time", "guid", "port", "name"];
/// Columns of `--rates`, under their names in Prometheus.
const RATE_COLUMNS: [(&str, RateGetter); 4] = [
    ("transmit_data_bytes_per_second", PortRates::bandwidth),
    ("receive_data_bytes_per_second", PortRates::receive_bandwidth),
    ("transmit_wait_ticks_per_second", PortRates::congestion),
    ("utilization_ratio", PortRates::utilisation),
];

type RateGetter = fn(&PortRates) -> Option<f64>;

fn run(context: &mut Context<'_, '_>, args: &ExportArgs) -> Result<Exit, Failure> {
    let (file, made) = (args.capture.file.as_path(), &args.made);
    let mut moments = Moments::new(open(file)?);
    let stretch = resolve_stretch(&moments, args.stretch.request())?;
    let found = survey(&mut moments, stretch.places());
    let mut damage: Vec<String> = found.holes.iter().map(Hole::to_string).collect();
    damage.extend(found.damage.iter().map(Damage::to_string));
    let readable: Vec<usize> = found.runs.into_iter().flatten().collect();
    let (names, notes) = context.env().operator_names()?;
    context.output.print_notes(&notes);
    let mut table =
        CsvTable { names: &names, rates: args.rates, columns: columns(&mut moments, &stretch), rows: 0 };
    let failed = |error: io::Error| write_failure(&made.output, &error);
    if is_stdout(&made.output) {
        refuse_two_outputs(context)?;
        table.write(&mut moments, &readable, &mut *context.output.out).map_err(failed)?;
    } else {
        write_with(&made.output, made.force, |file| {
            let mut out = BufWriter::new(file);
            table.write(&mut moments, &readable, &mut out).map_err(failed)?;
            out.flush().map_err(failed)
        })?;
    }
    let rows = table.rows;
    let (name, output) = (file.display().to_string(), made.output.display().to_string());
    let notes = damage_notes(&name, &damage);
    if context.output.json {
        let (source, partial) = (Some(name.as_str()), notes.is_partial());
        let head = ObjectHead {
            schema: "capture-export",
            source,
            time: None,
            assumed: None,
            partial,
            notes: &notes,
        };
        let (sweeps, unreadable) = (readable.len(), found.lost);
        let answer = ExportAnswer { file: &output, sweeps, unreadable, rows };
        write_object(context.output.out, &head, answer)?;
    } else {
        let (lines, sweeps) =
            (count_words(rows, "line", "lines"), count_words(readable.len(), "sweep", "sweeps"));
        let where_to = if output == "-" { "stdout" } else { &output };
        context.output.print_message(&format!("{lines} of {sweeps} of {name} written to {where_to}"));
    }
    Ok(report_damage(context, &notes))
}

fn open(file: &Path) -> Result<fabdeck_files::capture_format::CaptureReader<FileBytes>, Failure> {
    Ok(fabdeck_files::capture::open(file)?)
}

/// Every counter that any port has within the stretch. Records with whole counters name them.
fn columns(moments: &mut Moments<FileBytes>, stretch: &CaptureRange) -> Vec<Counter> {
    let reader = &mut moments.reader;
    let (first, last) =
        (reader.moments()[*stretch.places().start()], reader.moments()[*stretch.places().end()]);
    let lead = |slot: usize| reader.frame_slot(slot).lead;
    let begin = (0..=first).rev().find(|slot| lead(*slot).has_flag(flags::COUNTERS_WHOLE)).unwrap_or(first);
    let frames: Vec<usize> = (begin..=last).filter(|slot| lead(*slot).has_flag(flags::COUNTERS)).collect();
    let mut counters_named = BTreeSet::new();
    let mut more = false;
    for slot in frames {
        // Whole records name their counters, and so do the differences up to the first moment of the stretch.
        more = reader.frame_slot(slot).lead.has_flag(flags::COUNTERS_WHOLE) || more && slot <= first;
        if more {
            for line in reader.read_lines(slot, flags::COUNTERS).unwrap_or_default() {
                if let CaptureRecord::Counters(counters) = line.record {
                    counters_named.extend(counters.stated_counters());
                }
            }
        }
    }
    counters_named.into_iter().collect()
}

struct CsvTable<'n> {
    names: &'n NameMap,
    rates: bool,
    columns: Vec<Counter>,
    rows: usize,
}

impl CsvTable<'_> {
    fn write(
        &mut self,
        moments: &mut Moments<FileBytes>,
        places: &[usize],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut text = String::new();
        let figures: Vec<&str> = match self.rates {
            true => RATE_COLUMNS.iter().map(|(name, _)| *name).collect(),
            false => self.columns.iter().map(Counter::name).collect(),
        };
        write_row(&mut text, KEY_COLUMNS.into_iter().chain(figures));
        let mut before: Option<(usize, Sweep)> = None;
        let mut named: Option<(Fabric, NameMap, Names)> = None;
        for place in places {
            let slot = moments.reader.moments()[*place];
            moments.reader.show_moment(slot).map_err(|damage| io::Error::other(damage.to_string()))?;
            let reader = &moments.reader;
            let state = reader.state();
            if named
                .as_ref()
                .is_none_or(|(fabric, names, _)| (fabric, names) != (&state.fabric, &state.names))
            {
                let mut map = state.names.clone();
                map.by_guid.extend(self.names.by_guid.clone());
                let names = Names::new(&state.fabric, &map);
                named = Some((state.fabric.clone(), state.names.clone(), names));
            }
            let Some((fabric, _, names)) = &named else { continue };
            let (time, sweep) =
                (reader.clock_text(reader.frame_slot(slot).lead.time), state.base.last_sweep());
            let at = ExportMoment { time: &time, fabric, names };
            match (self.rates, &before) {
                (false, _) => sweep.samples.iter().for_each(|sample| self.values(&mut text, &at, sample)),
                // A rate belongs to one interval. There is none over lost sweeps, over a gap in the recording, or
                // across two recordings.
                (true, Some((earlier, before))) if earlier + 1 == *place && moments.is_comparable(*place) => {
                    let rates = rates_of_sweeps(fabric, before, &sweep);
                    rates.ports.iter().for_each(|port| self.figures(&mut text, &at, port));
                }
                (true, _) => {}
            }
            before = self.rates.then_some((*place, sweep));
            out.write_all(text.as_bytes())?;
            text.clear();
        }
        out.write_all(text.as_bytes())
    }

    fn values(&mut self, text: &mut String, at: &ExportMoment<'_>, sample: &CounterSample) {
        let guid = sample.node.map(|guid| guid.to_string()).unwrap_or_default();
        let port = sample.port.map(|port| port.to_string()).unwrap_or_default();
        let values: Vec<String> =
            self.columns.iter().map(|counter| cell_text(sample.values.get(counter))).collect();
        let name = sample.node.and_then(|guid| {
            let by_port = || at.fabric.port_by_guid(guid).map(|port| at.fabric.port(port).node);
            at.fabric.node_by_guid(guid).or_else(by_port)
        });
        let name = name.map_or("", |node| at.names.name(node));
        let cells = [at.time, &guid, &port, name].into_iter().chain(values.iter().map(String::as_str));
        write_row(text, cells);
        self.rows += 1;
    }

    fn figures(&mut self, text: &mut String, at: &ExportMoment<'_>, rates: &PortRates) {
        let port: PortId = rates.port;
        let node = at.fabric.port(port).node;
        let (guid, number) =
            (at.fabric.node(node).guid().to_string(), at.fabric.port(port).number.to_string());
        let figures: Vec<String> = RATE_COLUMNS.iter().map(|(_, figure)| cell_text(figure(rates))).collect();
        let cells = [at.time, &guid, &number, at.names.name(node)];
        write_row(text, cells.into_iter().chain(figures.iter().map(String::as_str)));
        self.rows += 1;
    }
}

/// A moment of the capture, with the fabric and its names at that time.
struct ExportMoment<'a> {
    time: &'a str,
    fabric: &'a Fabric,
    names: &'a Names,
}

/// An unknown value is an empty cell.
fn cell_text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

json_answer! {
    struct ExportAnswer<'a> {
        file: &'a str,
        sweeps: usize,
        unreadable: usize,
        rows: usize,
    }
}
