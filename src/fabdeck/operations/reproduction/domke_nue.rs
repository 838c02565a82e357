//! The dissertation (Domke), chapter 6: Nue.

use super::domke_studies::cells_or_failure;
use super::headline::HeadlineRelation::{AtLeast, AtMost, Between, Equal, Printed, Within};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork};
use super::headline_run::HeadlineRun;
use super::study_part::{StudyPart, mean};
use crate::operations::study::study_row::{CellStatus, StudyRow};
use fabdeck_routing::{FigureValue, figure_values};

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "domke-6.3",
        place: "dissertation, figures 6.3 to 6.9",
        shows: "worked examples: dependency graph, escape paths, islands and shortcuts",
        inputs: "the figures' networks, by the data structures of `nue`",
        work: HeadlineWork::Rows(worked_examples),
    },
    Headline {
        id: "domke-6.10",
        place: "dissertation, figure 6.10",
        shows: "random graphs of 125 switches: edge forwarding index, lanes, longest paths, destinations on escape paths",
        inputs: "study `nue-6.10`",
        work: HeadlineWork::Rows(random_graphs),
    },
    Headline {
        id: "domke-6.11",
        place: "dissertation, figure 6.11",
        shows: "throughput of Nue at its best number of lanes, in % of the best other engine",
        inputs: "study `nue-6.11`",
        work: HeadlineWork::Rows(best_of_others),
    },
    Headline {
        id: "domke-6.12",
        place: "dissertation, figure 6.12",
        shows: "tori with 1 % of the links failed: on which an engine finds routes, and its seconds",
        inputs: "study `nue-6.12`",
        work: HeadlineWork::Rows(tori),
    },
];

fn worked_examples(_: &HeadlineRun<'_>) -> HeadlineRows {
    let rows = figure_values().into_iter().map(|FigureValue { label, paper, ours, error }| {
        let row = HeadlineRow::must(label, paper, ours, Equal);
        match error {
            // The paper's value is that of another tree.
            Some(why) => HeadlineRow { must: false, ..row.because(why) },
            None => row,
        }
    });
    Ok(rows.collect())
}

/// The cells of an engine with this number of lanes.
fn own<'c>(cells: &'c [StudyRow], engine: &'c str, lanes: Option<u64>) -> impl Iterator<Item = &'c StudyRow> {
    cells
        .iter()
        .filter(move |cell| cell.engine == engine && lanes.is_none_or(|lanes| cell.lanes_asked == lanes))
}

/// The longest path with the cables of both hosts, as the paper counts.
fn with_hosts(cell: &StudyRow) -> Option<u64> {
    cell.hops_max.map(|hops| hops + 2)
}

fn random_graphs(run: &HeadlineRun<'_>) -> HeadlineRows {
    let graphs = run.samples(3, 1000);
    let sample = run.sample_words(3, 1000, "graphs");
    let mut part = StudyPart::built_in("nue-6.10")?.first_topologies(graphs);
    if run.quick {
        part = part.lanes("nue", &[1, 4, 7, 8]);
    }
    let cells = cells_or_failure(part.run(run, false)?, "nue-6.10")?;
    let mut rows = Vec::new();
    for (engine, lanes) in
        [("nue", Some(1)), ("nue", Some(4)), ("nue", Some(8)), ("dfsssp", None), ("lash", None)]
    {
        let name = lanes.map_or_else(|| engine.to_owned(), |lanes: u64| format!("{engine} on {lanes} lanes"));
        if let Some(ours) =
            mean(own(&cells, engine, lanes).filter_map(|cell| cell.efi_max).map(|max| max as f64))
        {
            let row = HeadlineRow::may(format!("{name}: mean of the largest index"), "-", ours, Printed);
            rows.push(row.because("the drawing is lost").over(sample.clone()));
        }
    }
    let most = |engine: &str, lanes: Option<u64>, of: fn(&StudyRow) -> Option<u64>| {
        own(&cells, engine, lanes).filter_map(of).max()
    };
    for (label, paper, ours, relation) in [
        ("dfsssp: most lanes", "4, at times 5", most("dfsssp", None, |cell| cell.lanes), AtMost(5.0)),
        ("lash: most lanes", "2 to 4", most("lash", None, |cell| cell.lanes), AtMost(4.0)),
        (
            "dfsssp: longest path, cables of hosts included",
            "6 at most",
            most("dfsssp", None, with_hosts),
            AtMost(6.0),
        ),
        (
            "lash: longest path, cables of hosts included",
            "6 at most",
            most("lash", None, with_hosts),
            AtMost(6.0),
        ),
        (
            "nue on one lane: longest path, cables of hosts included",
            "7 to 10",
            most("nue", Some(1), with_hosts),
            Between(7.0, 10.0),
        ),
    ] {
        if let Some(ours) = ours {
            rows.push(HeadlineRow::may(label, paper, ours, relation).over(sample.clone()));
        }
    }
    let is_clean = own(&cells, "nue", None).all(|cell| cell.status == CellStatus::Done);
    let words = |clean: bool| if clean { "all" } else { "not all" };
    rows.push(
        HeadlineRow::must("nue: graphs without lost pairs and cycles", "all", words(is_clean), Equal)
            .over(sample.clone()),
    );
    rows.extend(length_rows(&cells).into_iter().map(|row| row.over(sample.clone())));
    rows.extend(escape_rows(&cells).into_iter().map(|row| row.over(sample.clone())));
    rows.extend(index_ratios(&cells).into_iter().map(|row| row.over(sample.clone())));
    Ok(rows)
}

/// The destinations on escape paths in % of all: the mean over graphs, and of one lane the most of a graph.
fn escape_rows(cells: &[StudyRow]) -> Vec<HeadlineRow> {
    let shares = |lanes: u64| {
        let own = own(cells, "nue", Some(lanes));
        own.filter_map(|cell| Some(cell.fell_back? as f64 / cell.hosts? as f64 * 100.0)).collect::<Vec<_>>()
    };
    let most = shares(1).into_iter().max_by(f64::total_cmp);
    let found = [
        ("nue on one lane: % of destinations on escape paths, mean", 0.95, mean(shares(1))),
        ("nue on one lane: % of destinations on escape paths, most of a graph", 9.7, most),
        ("nue on 8 lanes: % of destinations on escape paths, mean", 0.006, mean(shares(8))),
    ];
    let found = found.into_iter().filter_map(|(label, paper, ours)| Some((label, paper, ours?)));
    found.map(|(label, paper, ours)| HeadlineRow::may(label, paper, ours, AtMost(paper))).collect()
}

/// How long the longest paths are in the mean of all graphs: of dfsssp, and of nue on as many lanes as the paper's nue needs
/// to be as short.
fn length_rows(cells: &[StudyRow]) -> Vec<HeadlineRow> {
    let longest = |engine: &str, lanes: Option<u64>| {
        mean(own(cells, engine, lanes).filter_map(with_hosts).map(|hops| hops as f64))
    };
    let label = |name: &str| format!("{name}: longest path, cables of hosts included, mean");
    let dfsssp = longest("dfsssp", None);
    let dfsssp = dfsssp.map(|ours| HeadlineRow::may(label("dfsssp"), 5.3, ours, Within(10.0)));
    let nue = longest("nue", Some(7)).map(|ours| {
        let row = HeadlineRow::may(label("nue on 7 lanes"), 5.3, ours, Within(10.0));
        row.because(
            "nue here takes longer paths where that lowers the largest index: see the rows of the index",
        )
    });
    dfsssp.into_iter().chain(nue).collect()
}

/// The largest index of nue on four lanes beside those of dfsssp and LASH: section 6.3.1 calls nue and dfsssp almost similar
/// from four lanes on, and both clearly better than LASH.
fn index_ratios(cells: &[StudyRow]) -> Vec<HeadlineRow> {
    let largest = |engine: &str, lanes: Option<u64>| {
        mean(own(cells, engine, lanes).filter_map(|cell| cell.efi_max).map(|max| max as f64))
    };
    let nue = largest("nue", Some(4));
    let similar = nue.zip(largest("dfsssp", None)).map(|(nue, dfsssp)| {
        HeadlineRow::may("largest index, nue on 4 lanes / dfsssp", "almost 1", nue / dfsssp, AtMost(1.1))
    });
    let better = largest("lash", None).zip(nue).map(|(lash, nue)| {
        HeadlineRow::must("largest index, lash / nue on 4 lanes", "clearly above 1", lash / nue, AtLeast(1.5))
    });
    similar.into_iter().chain(better).collect()
}

/// A topology of table 6.1 with the paper's throughput in percent of the best other engine, where the text has it.
const BEST: [(&str, Option<f64>); 8] = [
    ("random", Some(115.0)),
    ("torus", None),
    ("kary", Some(83.5)),
    ("kautz", None),
    ("dragonfly", None),
    ("cascade", Some(121.4)),
    ("tsubame2", None),
    ("taurus", None),
];

fn best_of_others(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (topology, paper) in BEST {
        run.show(format!("domke-6.11: {topology}"));
        let label = format!("{topology}: nue in % of the best other");
        let paper = paper.map_or_else(|| "83.5 to 121.4".into(), super::headline::HeadlineValue::from);
        if run.quick && !matches!(topology, "random" | "kautz") {
            rows.push(HeadlineRow::missing(label, paper, "left out with --quick"));
            continue;
        }
        let mut part = StudyPart::built_in("nue-6.11")?.topologies(|name| name.starts_with(topology));
        if run.quick {
            part = part.lanes("nue", &[4, 8]);
        }
        let cells = part.run(run, false)?;
        let fastest = |is_nue: bool| {
            let others = ["dfsssp", "lash", "torus2qos", "ftree", "updn"];
            let own = cells.iter().filter(|cell| match is_nue {
                true => cell.engine == "nue",
                false => others.contains(&&*cell.engine),
            });
            own.filter_map(|cell| Some((cell, cell.throughput()?))).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let Some((other, best)) = fastest(false) else {
            rows.push(HeadlineRow::missing(label, paper, "no other engine has a throughput"));
            continue;
        };
        let (nue, throughput) = fastest(true).unzip();
        let share = throughput.unwrap_or(0.0) / best * 100.0;
        let mut row = HeadlineRow::may(label, paper, share, AtLeast(83.5));
        if let (true, Some(most), Some(of_other)) =
            (share < 83.5, nue.and_then(|cell| cell.efi_max), other.efi_max)
        {
            row = row.because(format!(
                "the busiest channel has {most} paths with nue here, and {of_other} with {}",
                other.engine
            ));
        }
        rows.push(match run.quick {
            true => row.over("4 and 8 lanes"),
            false => row.over("1 to 8 lanes"),
        });
    }
    Ok(rows)
}

fn tori(run: &HeadlineRun<'_>) -> HeadlineRows {
    let count = run.samples(9, 25);
    let sample = run.sample_words(9, 25, "tori");
    let cells = StudyPart::built_in("nue-6.12")?.first_topologies(count).run(run, true)?;
    let cells = cells_or_failure(cells, "nue-6.12")?;
    let mut rows = Vec::new();
    for (engine, paper) in [("nue", "25"), ("dfsssp", "fewer"), ("lash", "fewer"), ("torus2qos", "fewer")] {
        let routed = own(&cells, engine, None).filter(|cell| cell.status == CellStatus::Done).count();
        let label = format!("{engine}: tori with routes on 8 lanes");
        rows.push(match engine {
            "nue" => HeadlineRow::must(label, paper, routed, AtLeast(count as f64)).over(sample.clone()),
            _ => HeadlineRow::may(label, paper, routed, Printed)
                .because("the drawing is lost")
                .over(sample.clone()),
        });
    }
    // Seconds where both found routes.
    let seconds = |engine: &str, topology: &str| {
        let mut cells = own(&cells, engine, None);
        cells.find(|cell| cell.topology == topology && cell.status == CellStatus::Done)?.route_seconds
    };
    let ratio =
        |cell: &StudyRow| Some(seconds("nue", &cell.topology)? / seconds("torus2qos", &cell.topology)?);
    if let Some(ours) = mean(own(&cells, "torus2qos", None).filter_map(ratio)) {
        let row =
            HeadlineRow::may("seconds of nue divided by those of torus-2QoS, mean", 9u64, ours, AtLeast(1.0));
        rows.push(row.mark_as_time().over(sample));
    }
    Ok(rows)
}
