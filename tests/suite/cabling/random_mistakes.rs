//! Random sets of mistakes: every one is named, and nothing else.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::mistakes::{Ends, Expected, Mistaken, planned_fabric, snapshot};
use crate::routing::certificate::Dice;
use fabdeck::operations::cabling::cable_end::in_order;
use fabdeck::operations::cabling::cabling_check::{CablingReport, check_cabling};
use fabdeck::operations::cabling::export::{ExportForm, export_cabling};
use fabdeck::operations::cabling::finding::{CablingFault, CablingFinding};
use fabdeck_files::cabling::{self, CablingPlan, plan_of_fabric};
use fabdeck_files::text::Input;

/// Number of sets; `FABDECK_LONG=1` for all 500.
fn sets() -> u64 {
    if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 500 } else { 200 }
}

/// What a finding says, in the form of what is expected.
fn said(finding: &CablingFinding) -> Expected {
    let cables: BTreeSet<Ends> = finding
        .cables
        .iter()
        .filter_map(|cable| if finding.fault == CablingFault::Extra { cable.found } else { cable.planned })
        .map(in_order)
        .collect();
    (finding.fault, cables)
}

fn sorted(mut all: Vec<Expected>) -> Vec<Expected> {
    all.sort();
    all
}

/// The plan of a fabric in some form of a file.
fn plan_in_some_form(look: &fabdeck::catalogue::snapshot::Snapshot, dice: &mut Dice) -> CablingPlan {
    let form = match dice.below(3) {
        0 => return plan_of_fabric(look.fabric(), &look.names, "golden"),
        1 => ExportForm::Csv,
        _ => ExportForm::Topo,
    };
    let written = export_cabling(look, form);
    assert_eq!((written.cables, written.left_out.len()), (look.fabric().links().len(), 0));
    cabling::read(Input::new("plan", written.text.as_bytes())).unwrap()
}

#[test]
fn every_mistake_of_a_random_set_is_named_and_nothing_else() {
    let kinds: Vec<Vec<CablingFault>> = (0..sets())
        .into_par_iter()
        .map(|seed| {
            let mut dice = Dice(seed);
            let planned = planned_fabric(&mut dice);
            let right = snapshot(planned.clone());
            let plan = plan_in_some_form(&right, &mut dice);
            let mut mistaken = Mistaken::new(&planned);
            let wanted = 1 + dice.below(5);
            for _ in 0..40 {
                if mistaken.expected.len() >= wanted {
                    break;
                }
                mistaken.make_mistake(&mut dice);
            }
            let look = snapshot(mistaken.fabric());
            let report = check_cabling(&look, &plan);
            let found = sorted(report.findings.iter().map(said).collect());
            let titles: Vec<&str> = report.findings.iter().map(|finding| finding.title.as_str()).collect();
            assert_eq!(found, sorted(mistaken.expected.clone()), "seed {seed}: {titles:#?}");
            assert_named(&report, &right, seed);
            found.into_iter().map(|(fault, _)| fault).collect()
        })
        .collect();
    assert!(kinds.iter().all(|set| !set.is_empty()), "every set has a mistake");
    let made: Vec<CablingFault> = kinds.into_iter().flatten().collect();
    assert!(made.len() > 2 * sets() as usize, "{} mistakes", made.len());
    let all: BTreeSet<CablingFault> = made.into_iter().collect();
    assert_eq!(all.len(), 10, "mistakes of every kind were made: {all:?}");
}

/// The title and the steps of a finding name the devices of its cables.
fn assert_named(report: &CablingReport<'_>, right: &fabdeck::catalogue::snapshot::Snapshot, seed: u64) {
    for finding in &report.findings {
        assert!(!finding.steps.is_empty(), "seed {seed}: {}", finding.title);
        if finding.moved.is_some() {
            continue;
        }
        let ends = finding.cables.iter().filter_map(|cable| cable.planned.or(cable.found)).flatten();
        for end in ends {
            let name = right.name(fabdeck_fabric::NodeId(end.device.0));
            assert!(finding.title.contains(name), "seed {seed}: {} without {name}", finding.title);
        }
    }
}

#[test]
fn a_fabric_is_as_its_own_plan_says() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let look = snapshot(planned_fabric(&mut dice));
        let plan = plan_in_some_form(&look, &mut dice);
        let report = check_cabling(&look, &plan);
        assert_eq!((report.findings.len(), report.faults().len()), (0, 0), "{:?}", report.findings);
        assert_eq!((report.right, report.uncovered), (look.fabric().links().len(), 0));
    }
}
