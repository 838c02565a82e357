//! The dissertation (Domke), chapter 4 and the parts of chapter 6 that use its toolchain: parts of the built-in studies.

use super::headline::HeadlineRelation::{AtLeast, AtMost, Equal, Printed, SameOrder, SameSign, Within};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork, order_words};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::study_part::{StudyPart, mean};
use crate::operations::study::linear_fit::{LinearFit, fit_rows};
use crate::operations::study::study_row::{CellStatus, StudyRow};

const LEFT_OUT: &str = "left out with --quick";

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "domke-4.3",
        place: "dissertation, table 4.3",
        shows: "usable (o), refused or incomplete (r), deadlock (d); here also c: a credit loop, and packets flowed",
        inputs: "studies `domke-small-uniform`, `tsubame2` and `deimos` without failures, uniform traffic until steady",
        work: HeadlineWork::Rows(usability),
    },
    Headline {
        id: "domke-4.4",
        place: "dissertation, figure 4.4",
        shows: "median consumption bandwidth after 1 % of the links of a 16-ary 2-tree and 10 % of a random graph's have failed",
        inputs: "study `domke-small-uniform`",
        work: HeadlineWork::Rows(consumption),
    },
    Headline {
        id: "domke-4.5",
        place: "dissertation, table 4.4 and figure 4.5",
        shows: "throughput of an exchange over failed links on small topologies: intercept in Gbyte/s and slope",
        inputs: "study `domke-small`, the paper's best engine of each topology",
        work: HeadlineWork::Rows(small_fits),
    },
    Headline {
        id: "domke-4.6",
        place: "dissertation, table 4.5 and figure 4.6",
        shows: "the same on large topologies",
        inputs: "study `domke-large`, the paper's best engine of each topology",
        work: HeadlineWork::Rows(large_fits),
    },
    Headline {
        id: "domke-4.7",
        place: "dissertation, table 4.6, figures 4.7 and 4.8",
        shows: "throughput of an exchange on TSUBAME2 and Deimos under several engines",
        inputs: "studies `tsubame2` and `deimos`",
        work: HeadlineWork::Rows(systems),
    },
    Headline {
        id: "domke-6.2",
        place: "dissertation, figure 6.2",
        shows: "throughput and lanes of all engines on a torus 4x4x3 with a failed switch, four lanes",
        inputs: "study `nue-6.2`",
        work: HeadlineWork::Rows(faulty_torus),
    },
];

/// A topology with the paper's letters for the engines.
type UsabilityRow = (&'static str, &'static str, [char; 8]);
const ENGINES: [&str; 8] = ["ftree", "updn", "dor", "torus2qos", "minhop", "sssp", "dfsssp", "lash"];

const USABILITY: [UsabilityRow; 9] = [
    ("2D mesh", "mesh,dims=5x5", ['r', 'r', 'o', 'o', 'd', 'd', 'o', 'o']),
    ("3D mesh", "mesh,dims=3x3x3", ['r', 'r', 'o', 'o', 'd', 'd', 'o', 'o']),
    ("2D torus", "torus,dims=5x5", ['r', 'r', 'd', 'o', 'd', 'd', 'o', 'o']),
    ("3D torus", "torus,dims=3x3x3", ['r', 'r', 'o', 'o', 'd', 'd', 'o', 'o']),
    ("Kautz", "kautz", ['r', 'r', 'd', 'r', 'd', 'd', 'o', 'o']),
    ("k-ary n-tree", "kary", ['o', 'o', 'o', 'r', 'o', 'o', 'o', 'o']),
    ("XGFT", "xgft", ['o', 'o', 'o', 'r', 'o', 'o', 'o', 'o']),
    ("dragonfly", "dragonfly", ['r', 'r', 'd', 'r', 'd', 'd', 'o', 'o']),
    ("random", "random", ['r', 'r', 'o', 'r', 'd', 'd', 'o', 'o']),
];

const SYSTEM_USABILITY: [UsabilityRow; 2] = [
    ("Deimos", "deimos", ['r', 'o', 'o', 'r', 'o', 'o', 'o', 'o']),
    ("TSUBAME2", "tsubame2", ['o', 'o', 'o', 'r', 'o', 'o', 'o', 'o']),
];

fn letter(row: &StudyRow) -> char {
    match row.status {
        CellStatus::Refused | CellStatus::Incomplete => 'r',
        CellStatus::Deadlock => 'd',
        CellStatus::Cycle => 'c',
        CellStatus::Failed => 'x',
        CellStatus::Done | CellStatus::Time | CellStatus::Wall => 'o',
    }
}

fn usability(run: &HeadlineRun<'_>) -> HeadlineRows {
    let small = StudyPart::built_in("domke-small-uniform")?.failures(&[0]).engines(&ENGINES);
    let mut found = small.run(run, false)?;
    if !run.quick {
        for study in ["deimos", "tsubame2"] {
            let part = StudyPart::built_in(study)?.failures(&[0]).measures(&["uniform"]);
            found.extend(part.run(run, false)?);
        }
    }
    let mut rows = Vec::new();
    for (label, prefix, letters) in USABILITY.iter().chain(&SYSTEM_USABILITY) {
        for (engine, paper) in ENGINES.into_iter().zip(letters) {
            let is_cell = |row: &&StudyRow| row.topology.starts_with(prefix) && row.engine == engine;
            let label = format!("{label}, {engine}");
            let paper = paper.to_string();
            rows.push(match found.iter().find(is_cell) {
                Some(row) => usability_row(label, &paper, engine, letter(row)),
                None if run.quick => HeadlineRow::missing(label, paper, LEFT_OUT),
                None => HeadlineRow::missing(label, paper, "not an engine of the study"),
            });
        }
    }
    Ok(rows)
}

fn usability_row(label: String, paper: &str, engine: &str, ours: char) -> HeadlineRow {
    let is_promised = paper == "o" && matches!(engine, "dfsssp" | "lash" | "torus2qos");
    let why = match (paper, ours) {
        ("r", 'o') => "the engine here routes what OpenSM's refused",
        ("o", 'c') => "the certificate has a credit loop that no run of either filled",
        ("d", 'c') => "the certificate has a credit loop that this run did not fill",
        ("d", 'o') => "the routes here have no credit loop",
        ("o", 'd') => "the credit loop was not filled in the paper's run",
        _ => "",
    };
    let row = match is_promised {
        true => HeadlineRow::must(label, paper, ours.to_string(), Equal),
        false => HeadlineRow::may(label, paper, ours.to_string(), Equal),
    };
    if why.is_empty() { row } else { row.because(why) }
}

/// The mean over seeds of the median consumption of an engine.
fn median(rows: &[StudyRow], topology: &str, engine: &str, is_faulty: bool) -> Option<f64> {
    let wanted = rows.iter().filter(|row| {
        row.topology.starts_with(topology) && row.engine == engine && (row.link_faults > 0) == is_faulty
    });
    mean(wanted.filter_map(|row| row.consumption_median))
}

fn consumption(run: &HeadlineRun<'_>) -> HeadlineRows {
    let seeds = run.samples(1, 3);
    let sample = run.sample_words(1, 3, "seeds");
    let part = |prefix: &'static str, failures: &[usize], engines: &[&str]| {
        let part = StudyPart::built_in("domke-small-uniform")?.topologies(|name| name.starts_with(prefix));
        part.failures(failures).engines(engines).seeds(seeds).run(run, false)
    };
    // The second number of failures is 1 %, the fifth 10 %.
    let tree = part("kary", &[0, 1], &["ftree", "dfsssp", "lash", "dor"])?;
    let random = part("random", &[0, 4], &["dfsssp"])?;
    let loss = |rows: &[StudyRow], topology: &str, engine: &str| {
        let (whole, faulty) = (median(rows, topology, engine, false)?, median(rows, topology, engine, true)?);
        Some((1.0 - faulty / whole) * 100.0)
    };
    let missing = |label: &str, paper: f64| HeadlineRow::missing(label, paper, "a run has no rates");
    let mut rows = Vec::new();
    let mut losses = Vec::new();
    let mut paths = Vec::new();
    for (engine, paper) in [("ftree", 30.0), ("dfsssp", 8.0)] {
        let label = format!("16-ary 2-tree, 1 % of links, {engine}: loss of the median in %");
        rows.push(match loss(&tree, "kary", engine) {
            Some(ours) => {
                losses.push((engine, ours));
                paths.extend(busiest_words(tree.iter().filter(|row| row.engine == engine), engine));
                HeadlineRow::may(label, paper, ours, Within(50.0)).over(sample.clone())
            }
            None => missing(&label, paper),
        });
    }
    rows.push(
        HeadlineRow::may("order of the losses", "ftree > dfsssp", order_words(&losses, 0.0), SameOrder)
            .because(format!("paths over the busiest channel, before and after: {}", paths.join(", ")))
            .over(sample.clone()),
    );
    for engine in ["lash", "dor"] {
        let label = format!("16-ary 2-tree, {engine}: % of the median of dfsssp");
        let ours = median(&tree, "kary", engine, false).zip(median(&tree, "kary", "dfsssp", false));
        rows.push(match ours {
            Some((ours, dfsssp)) => {
                let row = HeadlineRow::may(label, "below 10", ours / dfsssp * 100.0, AtMost(10.0));
                row.over(sample.clone())
            }
            None => HeadlineRow::missing(label, "below 10", "a run has no rates"),
        });
    }
    let label = "random, 10 % of links, dfsssp: loss of the median in %";
    rows.push(match loss(&random, "random", "dfsssp") {
        Some(ours) => HeadlineRow::may(label, "hardly any", ours, AtMost(15.0)).over(sample),
        None => HeadlineRow::missing(label, "hardly any", "a run has no rates"),
    });
    Ok(rows)
}

/// The paths over the busiest channel without failures and with them, in the mean.
fn busiest_words<'r>(rows: impl Iterator<Item = &'r StudyRow>, engine: &str) -> Option<String> {
    let (whole, faulty): (Vec<&StudyRow>, Vec<&StudyRow>) = rows.partition(|row| row.link_faults == 0);
    let busiest =
        |rows: Vec<&StudyRow>| mean(rows.iter().filter_map(|row| row.efi_max).map(|paths| paths as f64));
    Some(format!("{engine} {:.0} and {:.0}", busiest(whole)?, busiest(faulty)?))
}

/// The throughput without failures in percent of what the busiest channel allows: hosts that each send to all others
/// are done when it has carried its paths.
fn share_of_limit<'r>(cells: impl Iterator<Item = &'r StudyRow>) -> Option<f64> {
    let shares = cells.filter(|cell| cell.failures() == 0).filter_map(|cell| {
        let (hosts, paths) = (cell.hosts? as f64, cell.efi_max? as f64);
        Some(cell.throughput()? / (hosts * (hosts - 1.0) * LINK_GBYTE_S / paths) * 100.0)
    });
    mean(shares)
}

/// What a link of the dissertation carries: 32 Gb/s.
const LINK_GBYTE_S: f64 = 4.0;

/// A topology with the paper's best engine, intercept and slope.
type PaperFit = (&'static str, &'static str, f64, f64);

const TABLE_4_4: [PaperFit; 9] = [
    ("mesh,dims=5x5", "torus2qos", 263.63, -1.83),
    ("mesh,dims=3x3x3", "torus2qos", 276.18, -2.37),
    ("torus,dims=5x5", "torus2qos", 341.11, -1.68),
    ("torus,dims=3x3x3", "dfsssp", 508.97, -2.12),
    ("kautz", "dfsssp", 299.48, -1.45),
    ("kary", "dfsssp", 629.76, -3.59),
    ("xgft", "dfsssp", 527.31, -3.03),
    ("dragonfly", "dfsssp", 479.03, -2.39),
    ("random", "dfsssp", 417.53, -2.17),
];

const TABLE_4_5: [PaperFit; 4] = [
    ("torus,dims=7x7x7", "torus2qos", 2_794.89, -2.06),
    ("dragonfly", "dfsssp", 2_166.54, -1.50),
    ("kautz", "lash", 1_541.58, 0.09),
    ("kary", "dfsssp", 5_015.53, -1.85),
];

/// Lines through the exchanges of each topology under the paper's best engine. `quick` names the failures and topologies
/// that remain with `--quick`.
fn fit_table(
    run: &HeadlineRun<'_>,
    (study, table): (&str, &[PaperFit]),
    (all_failures, quick_failures): (&[usize], &[usize]),
    quick_topologies: &[&str],
) -> HeadlineRows {
    let seeds = run.samples(1, 10);
    let sample = run.sample_words(1, 10, "seeds");
    let failures = if run.quick { quick_failures } else { all_failures };
    let (mut rows, mut papers, mut ours, mut shares) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (topology, engine, intercept, slope) in table {
        run.show(format!("{study}: {topology}"));
        let intercept_label = format!("{topology}, {engine}: intercept in Gbyte/s");
        let slope_label = format!("{topology}, {engine}: slope");
        if run.quick && !quick_topologies.contains(topology) {
            rows.push(HeadlineRow::missing(intercept_label, *intercept, LEFT_OUT));
            continue;
        }
        let part = StudyPart::built_in(study)?.topologies(|name| name.starts_with(topology));
        let cells = part.failures(failures).engines(&[engine]).seeds(seeds).run(run, false)?;
        let fits = fit_rows(&cells);
        let Some(fit) = fits.first().map(|row| row.fit) else {
            let why = cells.iter().find_map(|cell| cell.why.clone());
            let why =
                why.unwrap_or_else(|| "fewer than two numbers of failures have a throughput".to_owned());
            rows.push(HeadlineRow::missing(intercept_label, *intercept, why));
            continue;
        };
        papers.push((*topology, *intercept));
        ours.push((*topology, fit.intercept));
        shares.extend(share_of_limit(cells.iter()).map(|share| format!("{topology} {share:.0}")));
        let why = "packets, not flits, and no output buffers: a third off is near";
        let row = HeadlineRow::may(intercept_label, *intercept, fit.intercept, Within(30.0));
        rows.push(row.because(why).over(sample.clone()));
        let row = match study {
            "domke-small" => HeadlineRow::must(slope_label, *slope, fit.slope, SameSign),
            _ => HeadlineRow::may(slope_label, *slope, fit.slope, SameSign),
        };
        rows.push(row.because(slope_words(&fit)).over(sample.clone()));
    }
    if ours.len() < 2 {
        return Ok(rows);
    }
    let (paper, ours) = (order_words(&papers, 0.0), order_words(&ours, 0.0));
    let row = HeadlineRow::may("order by intercept", paper, ours, SameOrder).over(sample);
    let why = format!("of what the busiest channel allows flow here, in %: {}", shares.join(", "));
    rows.push(row.because(why));
    Ok(rows)
}

/// How well the line fits, and how sure its slope is.
fn slope_words(fit: &LinearFit) -> String {
    match (fit.r2, fit.slope_margin) {
        (Some(r2), Some(margin)) => {
            let [low, high] = [fit.slope - margin, fit.slope + margin];
            format!("R squared {r2:.2}; the interval of 95 % is {low:.2} to {high:.2}")
        }
        (None, Some(margin)) => format!("all throughputs are equal; the interval is {margin:.2} wide"),
        _ => "two values alone, so the slope has no interval".to_owned(),
    }
}

fn small_fits(run: &HeadlineRun<'_>) -> HeadlineRows {
    let all: Vec<usize> = (0..7).collect();
    let quick = ["mesh,dims=3x3x3", "kautz", "kary", "random"];
    fit_table(run, ("domke-small", &TABLE_4_4), (&all, &[0, 3, 4]), &quick)
}

fn large_fits(run: &HeadlineRun<'_>) -> HeadlineRows {
    let all: Vec<usize> = (0..9).collect();
    fit_table(run, ("domke-large", &TABLE_4_5), (&all, &[0, 8]), &["kautz"])
}

/// A line of table 4.6: engine, intercept in Gbyte/s, slope and R squared. Deimos's minhop has only the throughput without
/// failures.
type SystemFit = (&'static str, f64, Option<(f64, f64)>);

const TABLE_4_6: [(&str, &[SystemFit]); 2] = [
    (
        "tsubame2",
        &[
            ("dfsssp", 1_393.40, Some((-1.33, 0.62))),
            ("ftree", 1_187.19, Some((-1.48, 0.66))),
            ("updn", 717.76, Some((-0.08, 0.01))),
            ("lash", 22.92, Some((-0.01, 0.10))),
        ],
    ),
    (
        "deimos",
        &[
            ("dfsssp", 93.40, Some((-0.15, 0.09))),
            ("updn", 30.10, Some((0.06, 0.11))),
            ("minhop", 29.94, None),
            ("lash", 8.37, Some((0.00, 0.04))),
        ],
    ),
];

/// From this R squared on a line of the paper explains its points.
const EXPLAINING_R2: f64 = 0.5;

fn systems(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (study, table) in TABLE_4_6 {
        run.show(format!("domke-4.7: {study}"));
        let names: Vec<&str> = table.iter().map(|(engine, ..)| *engine).collect();
        let failures: Vec<usize> = if run.quick { vec![0] } else { (0..9).collect() };
        let part = StudyPart::built_in(study)?.failures(&failures).engines(&names).measures(&["exchange"]);
        let cells = part.seeds(run.samples(1, 10)).run(run, false)?;
        rows.extend(system_rates(study, table, &cells));
        rows.extend(system_slopes(run, (study, table), &cells));
    }
    Ok(rows)
}

/// Throughputs of a system without failures: each, as ratios, and in order.
fn system_rates(study: &str, table: &[SystemFit], cells: &[StudyRow]) -> Vec<HeadlineRow> {
    let (mut rows, mut found, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for (engine, paper, _) in table {
        let own = || cells.iter().filter(|cell| cell.engine == *engine && cell.failures() == 0);
        let label = format!("{study}, {engine}: Gbyte/s without failures");
        rows.push(match own().find_map(StudyRow::throughput) {
            Some(ours) => {
                found.push((*engine, *paper, ours));
                shares.extend(share_of_limit(own()).map(|share| format!("{engine} {share:.0}")));
                HeadlineRow::may(label, *paper, ours, Within(30.0))
            }
            None => {
                let why = own().find_map(|cell| cell.why.clone());
                HeadlineRow::missing(label, *paper, why.unwrap_or_else(|| "no such cell".to_owned()))
            }
        });
    }
    let rate = |engine: &str| found.iter().find(|(id, ..)| *id == engine).copied();
    for (other, paper, _) in table.iter().filter(|(engine, ..)| *engine != "dfsssp") {
        let (Some((_, most, ours)), Some((.., others))) = (rate("dfsssp"), rate(other)) else { continue };
        let (label, ratio) = (format!("{study}: dfsssp / {other}"), most / paper);
        rows.push(match (study, *other) {
            ("tsubame2", "updn" | "lash") => HeadlineRow::must(
                label,
                ratio,
                ours / others,
                AtLeast(if *other == "lash" { 10.0 } else { 1.0 }),
            ),
            _ => HeadlineRow::may(label, ratio, ours / others, Within(30.0)),
        });
    }
    let papers: Vec<_> = table.iter().map(|(engine, paper, _)| (*engine, *paper)).collect();
    let ours: Vec<_> = found.iter().map(|(engine, _, ours)| (*engine, *ours)).collect();
    let (paper, ours) = (order_words(&papers, 0.02), order_words(&ours, 0.02));
    rows.push(HeadlineRow::may(format!("{study}: order, equal within 2 %"), paper, ours, SameOrder));
    let why = format!(
        "the cables are a reconstruction; of what the busiest channel allows flow here, in %: {}",
        shares.join(", ")
    );
    rows.into_iter().map(|row| if row.why.is_none() { row.because(why.clone()) } else { row }).collect()
}

/// What each failure costs on a system, by engine: intercept and slope of a line.
fn system_slopes(
    run: &HeadlineRun<'_>,
    (study, table): (&str, &[SystemFit]),
    cells: &[StudyRow],
) -> Vec<HeadlineRow> {
    let fits = fit_rows(cells);
    let sample = run.sample_words(1, 10, "seeds");
    let (mut rows, mut slopes) = (Vec::new(), Vec::new());
    for (engine, intercept, line) in table {
        let Some((slope, r2)) = *line else { continue };
        let label = format!("{study}, {engine}: slope in Gbyte/s a failure");
        if run.quick {
            rows.push(HeadlineRow::missing(label, slope, LEFT_OUT));
            continue;
        }
        let Some(fit) = fits.iter().find(|row| row.engine == *engine).map(|row| row.fit) else {
            let why = cells.iter().filter(|cell| cell.engine == *engine).find_map(|cell| cell.why.clone());
            rows.push(HeadlineRow::missing(label, slope, why.unwrap_or_else(|| "no line fits".to_owned())));
            continue;
        };
        let label_of_intercept = format!("{study}, {engine}: intercept of the line in Gbyte/s");
        rows.push(HeadlineRow::may(label_of_intercept, *intercept, fit.intercept, Within(30.0)));
        let relation = if r2 < EXPLAINING_R2 { Printed } else { SameSign };
        let why = format!("the paper's line has R squared {r2:.2}; here {}", slope_words(&fit));
        rows.push(HeadlineRow::may(label, slope, fit.slope, relation).because(why));
        slopes.push((*engine, slope, fit.slope));
    }
    let slope = |engine: &str| slopes.iter().find(|(id, ..)| *id == engine).copied();
    if let (Some((_, paper, ours)), Some((_, paper_of_other, other))) = (slope("ftree"), slope("dfsssp")) {
        let label = format!("{study}: slope of ftree / slope of dfsssp");
        rows.push(HeadlineRow::may(label, paper / paper_of_other, ours / other, Within(30.0)));
    }
    rows.into_iter().map(|row| row.over(sample.clone())).collect()
}

fn faulty_torus(run: &HeadlineRun<'_>) -> HeadlineRows {
    let seeds = run.samples(1, 10);
    let sample = run.sample_words(1, 10, "failed switches");
    let cells = StudyPart::built_in("nue-6.2")?.seeds(seeds).run(run, false)?;
    let rate = |engine: &str, lanes: u64| {
        let own = cells.iter().filter(|cell| cell.engine == engine && cell.lanes_asked == lanes);
        mean(own.filter_map(StudyRow::throughput))
    };
    let mut rows = Vec::new();
    for cell in cells.iter().filter(|cell| cell.fault_seed == Some(1)) {
        let label = format!("{}, {} lanes asked: Gbyte/s", cell.engine, cell.lanes_asked);
        rows.push(match rate(&cell.engine, cell.lanes_asked) {
            Some(ours) => HeadlineRow::may(label, "-", ours, Printed)
                .because(format!("the bars are lost; {} lanes used", cell.lanes.unwrap_or(0)))
                .over(sample.clone()),
            None => HeadlineRow::without(label, cell.why.clone().unwrap_or_else(|| letter(cell).to_string())),
        });
    }
    let is_clean = cells
        .iter()
        .filter(|cell| cell.engine == "nue")
        .all(|cell| cell.cycle == Some(false) && cell.lost_pairs == Some(0));
    let words = |clean: bool| if clean { "deadlock-free and connected" } else { "not" };
    rows.push(HeadlineRow::must("nue on 1 to 4 lanes", words(true), words(is_clean), Equal).over(sample));
    Ok(rows)
}

/// Makes sure that a part of a study has cells.
pub fn cells_or_failure(cells: Vec<StudyRow>, what: &str) -> Result<Vec<StudyRow>, HeadlineStop> {
    match cells.is_empty() {
        true => Err(HeadlineStop::Failed(format!("{what} has no cells"))),
        false => Ok(cells),
    }
}
