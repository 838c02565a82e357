//! `cabling` and `cabling export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::check::premises;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::summary::count_words;
use crate::operations::cabling::cable_end::CableEnd;
use crate::operations::cabling::cabling_check::CablingReport;
use crate::operations::cabling::cabling_request::{CablingAnswer, CablingRequest, answer_cabling};
use crate::operations::cabling::engine_effect::EngineEffect;
use crate::operations::cabling::export::{ExportForm, export_cabling};
use crate::operations::cabling::finding::{CablingFault, CablingFinding};
use crate::operations::cabling::finding_words::CablingNames;
use crate::operations::cabling::work_list::{WorkItem, work_csv, work_text};
use crate::operations::cabling::work_page::work_page;
use crate::operations::preview::engine_names::engine_named;
use crate::script::answer::{Lines, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_mad::access::ReadOptions;

pub const CABLING: CommandEntry = CommandEntry::new(
    "cabling",
    "Cabling as planned against cabling as found, with a work list for technicians",
    "Reads a plan (.topo of ibutils, an NDT or P2P sheet as CSV, a table with device and port at both ends, or a dump or \
     capture from when the fabric was right; the content decides) and names what differs: cables that are missing, extra, \
     swapped, in a wrong port or at a wrong device, hosts off their rail, cables below their planned width or speed. \
     Exchanged devices and shifted rows of ports are one finding each. Devices are matched by GUID, by name, by the host of \
     an adapter; ports by label or number. A line of the plan that fits no port is named and not compared. For each \
     finding: how many paths cross its cables now, and what the engine in force makes of the repair; --engine names that \
     engine where it cannot be found. --work writes the list of steps, ordered by rack. Ends with 2 if anything differs. \
     With --cabling PLAN the findings are problems of `health`, `report` and the console too.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source umad cabling plan.topo",
    "fabdeck --source umad cabling plan.topo --work list.html",
    "fabdeck --source today.fdcap cabling golden.fdcap --json",
    "fabdeck --source umad --cabling plan.topo health",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::answer::<CablingObject<'_>>("cabling")]);

pub const CABLING_EXPORT: CommandEntry = CommandEntry::new(
    "cabling export",
    "Write the present cabling as a plan",
    "All cables that are up, as a table (CSV) with GUID, kind, name, port, label and place of both ends and the rate, or \
     as .topo of ibutils. Read back against the same fabric, the plan gives no finding. A .topo has room for names of one \
     word that one device has (of an adapter, host and adapter): other cables are counted and left out.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source umad cabling export -o plan.csv",
    "fabdeck --source umad cabling export --to topo -o plan.topo",
])
.runs(&CommandFunction(run_export))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<CablingExportObject<'_>>("cabling-export")]);

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct CablingArgs {
    /// The plan (default: that of --cabling, or of the configuration)
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// The engine that routes the fabric (default: the one that makes exactly the tables in force)
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// Write the work list to this new file; its end says the form: .html, .csv, else text; `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub work: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Print only the first N findings; JSON and the work list have all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Form of a written plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PlanFileForm {
    /// A table with GUIDs, which reads back without loss
    #[default]
    Csv,
    /// Topology file of ibutils
    Topo,
}

#[derive(Debug, Args)]
pub struct CablingExportArgs {
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Form of the plan
    #[arg(long, value_enum, default_value_t)]
    pub to: PlanFileForm,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn run(context: &mut Context<'_, '_>, args: &CablingArgs) -> Result<Exit, Failure> {
    let plan = args.plan.clone().or_else(|| context.options.cabling.clone());
    let plan = plan.ok_or_else(|| {
        Failure::usage(
            "FD-7344: no plan is named; give a .topo, a sheet (CSV) or a dump: fabdeck cabling PLAN; `fabdeck cabling \
             export -o plan.csv` writes one of the fabric as it is",
        )
    })?;
    let engine = args.engine.as_deref().map(engine_named).transpose()?;
    if let Some(work) = &args.work {
        if output_file::is_stdout(work) && context.output.json {
            return Err(Failure::usage("FD-7345: --json and '--work -' both write to stdout; leave one out"));
        }
        output_file::refuse_unless_forced(work, args.force)?;
    }
    let answer = answer_cabling(&mut context.operation(), &CablingRequest { plan, engine })?;
    let report = answer.report();
    let (names, steps) = (answer.names(&report), answer.work(&report));
    if let Some(work) = &args.work {
        write_work(context, work, &answer, &steps)?;
    }
    match (context.output.json, args.work.as_deref().is_some_and(output_file::is_stdout)) {
        (true, _) => write_json(context, &answer, &report, &names, &steps)?,
        (false, true) => {}
        (false, false) => write_text(context, &answer, &report, args.top)?,
    }
    context.output.print_notes(&answer.plan.notes);
    let concluded = context.conclude(&answer.look);
    Ok(if report.findings.is_empty() { concluded } else { Exit::Findings })
}

fn write_work(
    context: &mut Context<'_, '_>,
    file: &std::path::Path,
    answer: &CablingAnswer,
    steps: &[WorkItem],
) -> Result<(), Failure> {
    let ends_with = |end: &str| file.extension().is_some_and(|own| own.eq_ignore_ascii_case(end));
    let text = match () {
        () if ends_with("html") || ends_with("htm") => {
            work_page(&answer.look.source, &answer.plan.file, steps)
        }
        () if ends_with("csv") => work_csv(steps),
        () => work_text(steps),
    };
    output_file::write(context.output.out, file, text.as_bytes())?;
    if !output_file::is_stdout(file) {
        let steps = count_words(steps.len(), "step", "steps");
        context.output.print_message(&format!("{}: {steps} written", file.display()));
    }
    Ok(())
}

fn write_text(
    context: &mut Context<'_, '_>,
    answer: &CablingAnswer,
    report: &CablingReport<'_>,
    most: usize,
) -> Result<(), Failure> {
    let mut head = premises(&answer.look);
    let planned = count_words(report.planned(), "cable", "cables");
    head.push(("plan", format!("{} ({}): {planned}", answer.plan.file, report.form().title())));
    let right = digits_in_groups(report.right);
    let verdict = match report.findings.len() {
        0 => format!("as planned: {right} of {planned}"),
        some => format!("{}; {right} of {planned} are right", count_words(some, "finding", "findings")),
    };
    head.push(("cabling", verdict));
    head.extend(unchecked_lines(report, context.output.verbose));
    context.output.write_pairs(&head)?;
    for (finding, routes) in report.findings.iter().zip(&answer.routes).take(most) {
        writeln!(context.output.out)?;
        let mut lines = vec![(finding.fault.word(), finding.title.clone())];
        const SHOWN: usize = 6;
        let steps = finding.steps.iter().take(if context.output.verbose { usize::MAX } else { SHOWN });
        lines.extend(
            steps.enumerate().map(|(at, step)| (if at == 0 { "repair" } else { "" }, step.text.clone())),
        );
        let more = finding.steps.len().saturating_sub(SHOWN);
        if more > 0 && !context.output.verbose {
            lines.push(("", format!("and {} (-v, --work)", count_words(more, "more step", "more steps"))));
        }
        lines.push(("routes", routes.clone()));
        lines.extend(context.output.verbose.then(|| ("id", finding.id.clone())));
        context.output.write_pairs(&lines)?;
    }
    if report.findings.len() > most {
        writeln!(context.output.out)?;
        let more = format!("and {} more (--top)", digits_in_groups(report.findings.len() - most));
        context.output.print_message(&more);
    }
    Ok(())
}

/// What was not compared, and why.
fn unchecked_lines(report: &CablingReport<'_>, all: bool) -> Vec<(&'static str, String)> {
    const SHOWN: usize = 3;
    let mut lines = Vec::new();
    if report.uncovered > 0 {
        let cables = count_words(report.uncovered, "cable", "cables");
        lines.push(("unchecked", format!("{cables} that the plan does not cover")));
    }
    if report.unrated > 0 {
        let cables = count_words(report.unrated, "cable", "cables");
        lines.push(("unchecked", format!("the rate of {cables}: the plan or the fabric does not state it")));
    }
    let faults = report.faults();
    for fault in faults.iter().take(if all { usize::MAX } else { SHOWN }) {
        let place = report.bound.plan.line_place(fault.line);
        lines.push(("unchecked", format!("{place}: {}: the line is not compared", fault.text)));
    }
    if faults.len() > SHOWN && !all {
        let more = count_words(faults.len() - SHOWN, "more line", "more lines");
        lines.push(("unchecked", format!("{more} of the plan (-v)")));
    }
    lines
}

json_answer! {
    struct CablingObject<'a> {
        plan: &'a str,
        form: &'a str,
        planned: usize,
        right: usize,
        uncovered: usize,
        unrated: usize,
        /// The engine in force; null where it is not known.
        engine: Option<&'a str>,
        faults: Lines<'a, PlanFaultObject<'a>>,
        findings: Lines<'a, FindingObject<'a>>,
        work: Lines<'a, WorkObject<'a>>,
    }
}

json_type! {
    struct PlanFaultObject<'a> {
        line: Option<u64>,
        text: &'a str,
    }

    struct FindingObject<'a> {
        id: &'a str,
        fault: CablingFault,
        title: &'a str,
        steps: Vec<&'a str>,
        cables: Vec<CableObject>,
        routes: RoutesObject<'a>,
    }

    struct CableObject {
        planned: Option<Vec<EndObject>>,
        found: Option<Vec<EndObject>>,
        line: Option<u64>,
        label: Option<String>,
        down: bool,
    }

    struct EndObject {
        device: String,
        port: u16,
        name: String,
        rack: Option<String>,
        u: Option<String>,
    }

    struct RoutesObject<'a> {
        /// Whether paths in force cross the cables; null where that is not known.
        used: Option<bool>,
        /// Whether the engine in force makes other routes after the repair; null where that is not known.
        changed: Option<bool>,
        changed_entries: Option<u64>,
        text: &'a str,
    }

    struct WorkObject<'a> {
        rack: Option<&'a str>,
        u: Option<&'a str>,
        device: &'a str,
        step: &'a str,
        finding: usize,
    }
}

fn end_object(names: &CablingNames<'_>, end: CableEnd) -> EndObject {
    let place = names.place(end);
    EndObject {
        device: names.device(end.device),
        port: end.port,
        name: names.end(end),
        rack: place.rack,
        u: place.unit,
    }
}

fn finding_object<'a>(
    names: &CablingNames<'_>,
    answer: &'a CablingAnswer,
    at: usize,
    finding: &'a CablingFinding,
) -> FindingObject<'a> {
    let cables = finding.cables.iter().map(|cable| {
        let written = cable.planned.and_then(|[end, _]| names.bound.cable_at(end));
        CableObject {
            planned: cable.planned.map(|ends| ends.map(|end| end_object(names, end)).into()),
            found: cable.found.map(|ends| ends.map(|end| end_object(names, end)).into()),
            line: written.and_then(|cable| cable.line),
            label: written.and_then(|cable| cable.label.clone()),
            down: cable.is_down,
        }
    });
    let effect = &answer.effects[at];
    let (changed, changed_entries) = match effect.engine {
        EngineEffect::Same => (Some(false), Some(0)),
        EngineEffect::Changed { entries, .. } => (Some(true), Some(entries)),
        EngineEffect::Unknown(_) => (None, None),
    };
    FindingObject {
        id: &finding.id,
        fault: finding.fault,
        title: &finding.title,
        steps: finding.steps.iter().map(|step| step.text.as_str()).collect(),
        cables: cables.collect(),
        routes: RoutesObject {
            used: effect.paths.is_used(),
            changed,
            changed_entries,
            text: &answer.routes[at],
        },
    }
}

fn write_json(
    context: &mut Context<'_, '_>,
    answer: &CablingAnswer,
    report: &CablingReport<'_>,
    names: &CablingNames<'_>,
    steps: &[WorkItem],
) -> Result<(), Failure> {
    let faults = report.faults().iter().map(|fault| PlanFaultObject { line: fault.line, text: &fault.text });
    let findings = report.findings.iter().enumerate();
    let work = steps.iter().map(|item| WorkObject {
        rack: item.place.rack.as_deref(),
        u: item.place.unit.as_deref(),
        device: &item.device,
        step: &item.step,
        finding: item.finding,
    });
    let object = CablingObject {
        plan: &answer.plan.file,
        form: report.form().title(),
        planned: report.planned(),
        right: report.right,
        uncovered: report.uncovered,
        unrated: report.unrated,
        engine: answer.engine,
        faults: Lines::of(faults),
        findings: Lines::of(findings.map(|(at, finding)| finding_object(names, answer, at, finding))),
        work: Lines::of(work),
    };
    context.write_answer("cabling", &answer.look, object)
}

json_answer! {
    struct CablingExportObject<'a> {
        file: &'a str,
        cables: usize,
        left_out: usize,
    }
}

fn run_export(context: &mut Context<'_, '_>, args: &CablingExportArgs) -> Result<Exit, Failure> {
    let is_stdout = output_file::is_stdout(&args.output);
    if context.output.json && is_stdout {
        return Err(Failure::usage("FD-7346: --json and '-o -' both write to stdout; leave one out"));
    }
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let look = context.operation().read_snapshot(ReadOptions::default())?;
    let form = match args.to {
        PlanFileForm::Csv => ExportForm::Csv,
        PlanFileForm::Topo => ExportForm::Topo,
    };
    let plan = export_cabling(&look, form);
    output_file::write(context.output.out, &args.output, plan.text.as_bytes())?;
    let file = args.output.display().to_string();
    if context.output.json {
        let object = CablingExportObject { file: &file, cables: plan.cables, left_out: plan.left_out.len() };
        context.write_answer("cabling-export", &look, object)?;
    } else if !is_stdout {
        context
            .output
            .print_message(&format!("{file}: {} written", count_words(plan.cables, "cable", "cables")));
    }
    if let Some(first) = plan.left_out.first() {
        let cables = count_words(plan.left_out.len(), "cable", "cables");
        context.output.print_message(&format!("{cables} left out: {first}; --to csv has all"));
    }
    Ok(context.conclude(&look))
}
