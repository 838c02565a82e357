//! `whatif`.

use std::path::PathBuf;

use super::check;
use super::route_args::{FailArgs, RouteArgs};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::{Sorted, json_type};
use crate::catalogue::query::Query;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::certificate_text::{
    adaptive_words, doubtful_partition_lines, group_names, groups_line, kept_apart_line,
};
use crate::operations::check::known_partitions::KnownPartitions;
use crate::operations::check::loads::JobFigures;
use crate::operations::jobs::job_table::job_table;
use crate::operations::preview::choice_loss::ChoiceLoss;
use crate::operations::preview::comparison::NO_TABLES;
use crate::operations::preview::engine_names::{engine_list, engines};
use crate::operations::preview::engine_preview::{EnginePreview, PreviewRequest, preview_engines};
use crate::operations::preview::engine_table::{ENGINE_TABLE, EngineStates, defect_words};
use crate::operations::preview::victims::{HostNames, Victims};
use crate::operations::preview::whatif::{
    Cost, CostBound, EngineRow, MarkLoss, cut_off_words, supposed_words,
};
use crate::script::answer::{Lines, Part, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use clap::Args;
use fabdeck_fabric::Faults;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_routing::analysis::{GroupDamage, PathLosses, group_damage};
use fabdeck_routing::{DEGRADED_REMARK, UPDOWN_REMARK};
pub const WHATIF: CommandEntry = CommandEntry::new(
    "whatif",
    "What failures cost, and what each engine would route instead",
    "Nothing is written to the fabric. Elements are marked as failed, and the paths that the tables in force \
     lose are counted: until rerouted, and cut off. Beside them is the expected loss \
     of as many random links, or of --expect links. Then every engine routes the fabric without the marked \
     elements. Each engine has a certificate that does not trust it, and the cost of its tables: switches and \
     blocks to write, pairs whose path changes, and whether old and new paths together have a credit loop. A \
     certificate with findings ends with exit code 2.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:kary,k=4,n=2 whatif --fail link:leaf0/5",
    "fabdeck --source capture/ whatif --fail-random 3 --seed 7 --engine minhop",
])
.runs(&CommandFunction(run))
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::answer::<WhatifAnswer<'_>>("whatif")]);

#[derive(Debug, Args)]
pub struct WhatifArgs {
    #[command(flatten)]
    pub fail: FailArgs,
    /// Compare the loss with the mean over all sets of N failed links (default: as many links as the marks take down)
    #[arg(long, value_name = "N")]
    pub expect: Option<usize>,
    #[arg(long, value_name = "E,...", value_delimiter = ',', help = format!("Only these engines, separated by commas (default: all that suit the fabric): {}", engine_list()))]
    pub engine: Vec<String>,
    /// Count pairs by the partitions of this file (partitions.conf of OpenSM) instead of the P_Key tables of ports
    #[arg(long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    #[command(flatten)]
    pub route: RouteArgs,
}

fn run(context: &mut Context<'_, '_>, args: &WhatifArgs) -> Result<Exit, Failure> {
    let engines = engines(&args.engine)?;
    let (marks, options) = (args.fail.marks(), args.route.options());
    let names = if context.output.json { HostNames::Full } else { HostNames::Short };
    let partitions = args.partitions.clone();
    let request = PreviewRequest { marks, options, engines, partitions, expected: args.expect, names };
    let EnginePreview { snapshot, faults, partitions, loss, choices, victims, jobs, engines } =
        preview_engines(&mut context.operation(), &request)?;
    let damage = MarkDamage {
        groups: group_damage(snapshot.fabric(), &snapshot.observation.tables, &faults),
        loss: &loss,
        partitions,
        choices: choices.as_ref(),
        victims: &victims,
        jobs: jobs.as_ref(),
    };
    write(context, &snapshot, &faults, damage, &engines)?;
    let concluded = context.conclude(&snapshot);
    let faults = defect_words(&engines);
    faults.iter().for_each(|fault| context.output.print_message(fault));
    let none = engines.iter().all(|row| row.refused.is_some());
    if none {
        context.output.print_message("no engine found routes");
    }
    Ok(if faults.is_empty() && !none { concluded } else { Exit::Findings })
}

fn write(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    faults: &Faults,
    damage: MarkDamage<'_>,
    rows: &[EngineRow],
) -> Result<(), Failure> {
    if context.output.json {
        let failed = faults.elements(snapshot.fabric(), &snapshot.names);
        let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
        return write_json(context, snapshot, &failed, damage, rows);
    }
    let failed: Vec<String> = faults.iter().map(|what| snapshot.labelled_element(what)).collect();
    let MarkDamage { loss, partitions, choices, victims, groups, jobs } = damage;
    let mut lines = check::premises(snapshot);
    lines.push(("failed", if failed.is_empty() { "nothing".to_owned() } else { first_elements(&failed) }));
    lines.extend(loss_lines(snapshot, &failed, loss, context.output.verbose));
    lines.extend(doubtful_partition_lines(partitions.unknown, partitions.dropped));
    lines.extend(choices.map(|choices| ("choices", choices.words())));
    if !failed.is_empty() {
        lines.extend(victims.lines());
    }
    lines.extend(groups.filter(|groups| groups.known > 0).map(|groups| ("groups", groups_line(&groups))));
    lines.extend(supposed_words(rows).map(|words| ("lanes", words)));
    context.output.write_pairs(&lines)?;
    writeln!(context.output.out)?;
    let table = ENGINE_TABLE.rows_in(EngineStates::new(), rows);
    let selection = Query::default().select(&table, crate::catalogue::query::Columns::Shown)?;
    context.output.write_table(&table, selection, false)?;
    if let Some(table) = job_table(jobs, rows) {
        writeln!(context.output.out)?;
        let selection = Query::default().select(&table, crate::catalogue::query::Columns::Shown)?;
        context.output.write_table(&table, selection, false)?;
    }
    // Engines with the same credit loop are printed together.
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].iter().all(|earlier| earlier.transition != row.transition) {
            let alike = rows.iter().filter(|other| other.transition == row.transition);
            write_transition(context, row, alike)?;
        }
    }
    for row in rows {
        // Remarks on routes without a search and on worse routes are always shown.
        let shown = |remark: &&String| {
            context.output.verbose || remark.starts_with(UPDOWN_REMARK) || remark.starts_with(DEGRADED_REMARK)
        };
        let remarks = row.remarks.iter().filter(shown);
        let texts: Vec<&String> = row.refused.iter().chain(remarks).collect();
        texts.into_iter().for_each(|words| context.output.print_message(&format!("{}: {words}", row.engine)));
    }
    // Options that several engines ignored share a line.
    let mut unused: Vec<(&[&str], Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.not_used.is_empty()) {
        match unused.iter_mut().find(|(options, _)| *options == row.not_used) {
            Some((_, engines)) => engines.push(row.engine),
            None => unused.push((&row.not_used, vec![row.engine])),
        }
    }
    unused.iter().for_each(|(options, engines)| {
        context.output.print_message(&unused_option_note(&engines.join(", "), options))
    });
    Ok(())
}

/// What the marks cost under the tables in force.
struct MarkDamage<'a> {
    loss: &'a MarkLoss,
    partitions: KnownPartitions,
    choices: Option<&'a ChoiceLoss>,
    victims: &'a Victims,
    groups: Option<GroupDamage>,
    jobs: Option<&'a JobFigures>,
}

fn write_json(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    failed: &[String],
    damage: MarkDamage<'_>,
    rows: &[EngineRow],
) -> Result<(), Failure> {
    let MarkDamage { loss, partitions, choices, victims, groups, jobs } = damage;
    let cost = match loss {
        MarkLoss::Counted(cost) => CostAnswer::new(snapshot, failed, cost),
        MarkLoss::ByCables(cut) => CostAnswer {
            cut_off_pairs: Some(cut.pairs),
            failed_end_pairs: Some(cut.ended),
            ..CostAnswer::default()
        },
    };
    let answer = WhatifAnswer {
        failed,
        tables_in_force: matches!(loss, MarkLoss::Counted(_)),
        cost: Part(cost),
        unknown_partitions: partitions.unknown,
        dropped_partitions: partitions.dropped,
        choices: choices.map(Sorted),
        victims: Sorted(victims),
        groups_cut: groups.as_ref().map(|groups| Sorted(GroupsObject::from(groups))),
        jobs,
        engines: Lines::of(rows),
    };
    context.write_answer("whatif", snapshot, answer)
}

json_answer! {
    struct WhatifAnswer<'a> {
        failed: &'a [String],
        tables_in_force: bool,
        cost: Part<CostAnswer<'a>>,
        unknown_partitions: u64,
        dropped_partitions: u64,
        choices: Option<Sorted<&'a ChoiceLoss>>,
        victims: Sorted<&'a Victims>,
        groups_cut: Option<Sorted<GroupsObject>>,
        jobs: Option<&'a JobFigures>,
        engines: Lines<'a, &'a EngineRow>,
    }

    /// The costs of marks. Without tables in force only those that cables decide are known.
    #[derive(Default)]
    struct CostAnswer<'a> {
        pairs: Option<u64>,
        kept_apart: Option<u64>,
        lost_until_reroute: Option<u64>,
        at_least: Option<bool>,
        by_static_ports: Option<bool>,
        without_path_before: Option<u64>,
        unread_tables: Option<u64>,
        adaptive_routing: Option<u64>,
        adaptive_unknown: Option<u64>,
        lost_share: Option<f64>,
        lost_lids: Option<u64>,
        partly_reached: Option<PartlyReached>,
        elements: Option<Vec<ElementObject<'a>>>,
        cut_off_pairs: Option<u64>,
        failed_end_pairs: Option<u64>,
        cut_off_without_path: Option<u64>,
        expected: Option<Sorted<ExpectedObject>>,
    }
}

json_type! {
    struct PartlyReached {
        count: u64,
        first: Vec<String>,
    }

    struct ElementObject<'a> {
        element: &'a str,
        pairs: u64,
    }

    /// The expected loss of random links.
    struct ExpectedObject {
        faults: usize,
        unit: &'static str,
        mean: f64,
        linear: f64,
        one_channel: f64,
        best: u64,
        worst: u64,
        counts: &'static str,
    }

    struct GroupsObject {
        known: usize,
        count: usize,
        first: Vec<String>,
    }
}

impl<'a> CostAnswer<'a> {
    fn new(snapshot: &Snapshot, failed: &'a [String], cost: &Cost) -> Self {
        let Cost { lost, expected, .. } = cost;
        let first = partly_lost_names(snapshot, lost);
        let elements = failed.iter().zip(&lost.elements);
        let elements = elements.map(|(element, lost)| ElementObject { element, pairs: lost.pairs });
        Self {
            pairs: Some(cost.pairs),
            kept_apart: cost.kept_apart,
            lost_until_reroute: Some(cost.lost_pairs()),
            at_least: Some(cost.bound() == CostBound::AtLeast),
            by_static_ports: Some(cost.bound() == CostBound::ByStaticPorts),
            without_path_before: Some(cost.without_path_before),
            unread_tables: Some(cost.unread_tables),
            adaptive_routing: cost.adaptive_routing,
            adaptive_unknown: Some(cost.adaptive_unknown),
            lost_share: Some(cost.lost_share()),
            lost_lids: Some(lost.lids),
            partly_reached: Some(PartlyReached { count: lost.partial, first }),
            elements: Some(elements.collect()),
            cut_off_pairs: Some(lost.critical),
            failed_end_pairs: Some(lost.ended),
            cut_off_without_path: Some(lost.critical_without_path),
            expected: Some(Sorted(ExpectedObject {
                faults: expected.faults,
                unit: "link",
                mean: expected.mean,
                linear: expected.linear,
                one_channel: expected.one_channel,
                best: expected.best,
                worst: expected.worst,
                counts: cost.expected_counts(),
            })),
        }
    }
}

/// Message in place of the costs if there are no tables in force.
fn no_tables_words() -> String {
    format!("{NO_TABLES}, so the loss until rerouted is unknown; assume some with --assume ENGINE")
}

/// Lines about the loss that the marks cause, as far as it is known.
fn loss_lines(
    snapshot: &Snapshot,
    failed: &[String],
    loss: &MarkLoss,
    verbose: bool,
) -> Vec<(&'static str, String)> {
    let cost = match loss {
        MarkLoss::Counted(cost) => cost,
        MarkLoss::ByCables(cut) => {
            return vec![("lost", no_tables_words()), ("at least", cut_off_words(*cut))];
        }
    };
    let mut lines = cost_lines(snapshot, failed, cost);
    if verbose {
        let (one, what) = (cost.expected.one_channel, cost.expected_counts());
        lines.push(("", format!("{one:.1} {what} for one channel of one link")));
    }
    lines
}

/// Lost pairs, and the loss that random links would cause.
fn cost_lines(snapshot: &Snapshot, failed: &[String], cost: &Cost) -> Vec<(&'static str, String)> {
    let Cost { lost, expected, several_lids, .. } = cost;
    let mut lines = vec![("lost", cost.lost_words())];
    lines.extend(cost.kept_apart.map(kept_apart_line));
    lines.extend(uncounted_note(cost).map(|why| ("", why)));
    lines.push(("of these", cost.cut_off_words()));
    lines.extend(loss_of_each_mark(failed, lost));
    lines.extend(several_lids.then(|| ("some LIDs", partly_lost_line(snapshot, lost))));
    let usual = format!(
        "{} {} for {}; a single link costs {} to {}",
        digits_in_groups(format_args!("{:.1}", expected.mean)),
        cost.expected_counts(),
        count_words(expected.faults, "random link", "random links"),
        digits_in_groups(expected.best),
        digits_in_groups(expected.worst)
    );
    lines.push(("expected", usual));
    lines
}

/// Reasons why more pairs may be lost than are counted, and the paths that were missing before.
fn uncounted_note(cost: &Cost) -> Option<String> {
    let unread = match cost.unread_tables {
        0 => None,
        some => {
            Some(format!("the tables of {} were not read", count_words(some as usize, "switch", "switches")))
        }
    };
    let adaptive = cost
        .adaptive_routing
        .map(|_| format!("{}, so tables do not determine the paths", adaptive_words(cost.adaptive_unknown)));
    let before = match cost.without_path_before {
        0 => None,
        some => Some(format!(
            "before any failure: {} missing, counted only between ends that are cut off",
            count_words(some as usize, "path to a LID", "paths to a LID")
        )),
    };
    let all: Vec<String> = unread.into_iter().chain(adaptive).chain(before).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Message about options that engines ignored.
pub fn unused_option_note(engines: &str, options: &[&str]) -> String {
    format!("{engines}: options without effect: {}", options.join(", "))
}

/// The loss of each mark alone, if there are several.
fn loss_of_each_mark(failed: &[String], lost: &PathLosses) -> Vec<(&'static str, String)> {
    const SHOWN: usize = 4;
    if failed.len() < 2 {
        return Vec::new();
    }
    let mut most: Vec<(&String, u64)> =
        failed.iter().zip(lost.elements.iter().map(|element| element.pairs)).collect();
    most.sort_by_key(|(_, pairs)| std::cmp::Reverse(*pairs));
    let alone = |(name, pairs): (&String, u64)| ("  alone", format!("{name}: {}", digits_in_groups(pairs)));
    most.into_iter().take(SHOWN).map(alone).collect()
}

fn partly_lost_names(snapshot: &Snapshot, lost: &PathLosses) -> Vec<String> {
    lost.partial_ports.iter().map(|port| snapshot.labelled_port_name(*port)).collect()
}

/// A line such as `12 pairs keep some LIDs only, such as of host1[1]; 40 paths to a LID are lost`.
fn partly_lost_line(snapshot: &Snapshot, lost: &PathLosses) -> String {
    let such_as = match lost.partial {
        0 => String::new(),
        _ => format!(", such as to {}", partly_lost_names(snapshot, lost).join(", ")),
    };
    let pairs = count_words(lost.partial as usize, "pair keeps", "pairs keep");
    let paths = count_words(lost.lids as usize, "path to a LID is lost", "paths to a LID are lost");
    format!("{pairs} some LIDs only{such_as}; {paths}")
}

/// Prints the transition of `row` unless it is safe. `alike` are the rows with the same transition, `row` included: it is
/// printed once, under the names of their engines.
fn write_transition<'r>(
    context: &mut Context<'_, '_>,
    row: &EngineRow,
    alike: impl Iterator<Item = &'r EngineRow>,
) -> Result<(), Failure> {
    let report = row.transition.as_ref();
    let Some(transition) = report.filter(|report| report.safe != Some(true)) else { return Ok(()) };
    let engines: Vec<&str> = alike.map(|row| row.engine).collect();
    let mut lines = vec![("transition", engines.join(", "))];
    lines.extend(transition.lines());
    writeln!(context.output.out)?;
    Ok(context.output.write_pairs(&lines)?)
}

impl From<&GroupDamage> for GroupsObject {
    fn from(groups: &GroupDamage) -> Self {
        Self { known: groups.known, count: groups.cut.len(), first: group_names(groups) }
    }
}

fn first_elements(failed: &[String]) -> String {
    const SHOWN: usize = 4;
    let more =
        if failed.len() > SHOWN { format!(" and {} more", failed.len() - SHOWN) } else { String::new() };
    format!("{}{more}", failed[..failed.len().min(SHOWN)].join(", "))
}
