//! Engines that begin from an earlier run: the same bytes as from nothing, whatever was marked in between.

use std::sync::Arc;

use rayon::prelude::*;

use super::certificate::Dice;
use super::fabric;
use super::random_fabrics::sketch;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::preview::proposals::Proposals;
use fabdeck::operations::preview::whatif::{MarkedFabric, ProposalOptions, propose};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, NodeId};
use fabdeck_routing::{
    ENGINES, NoProgress, PreviousRun, Problem, Request, RunExtent, find_engine, run_engine,
};

/// Marks an element or takes its mark away.
fn toggle_mark(fabric: &Fabric, faults: &mut Faults, dice: &mut Dice) {
    let links: Vec<_> = fabric.links().map(|(id, _)| id).collect();
    let nodes = fabric.nodes().count();
    let drawn = match dice.below(8) {
        0 => ElementId::Node(NodeId(dice.below(nodes) as u32)),
        1..4 if !faults.is_empty() => faults.iter().nth(dice.below(faults.len())).unwrap(),
        _ if links.is_empty() => return,
        _ => ElementId::Link(links[dice.below(links.len())]),
    };
    if !faults.unmark(drawn) {
        faults.mark(drawn);
    }
}

/// Rows taken over, of how many, over a walk of marks.
fn compare_over_walk(what: &str, fabric: &Fabric, dice: &mut Dice, steps: usize) -> (usize, usize) {
    let (engine, request) = (find_engine("minhop").unwrap(), Request::default());
    let mut faults = Faults::default();
    let mut past: Option<PreviousRun> = None;
    let (mut reused, mut all) = (0, 0);
    for step in 0..steps {
        let problem = Problem::new(fabric, &faults);
        let again = run_engine(engine, &problem, &request, past.as_ref(), &NoProgress).unwrap();
        let full = (engine.route)(&problem, &request, &NoProgress).unwrap();
        assert!(*again.routes == full.routes, "{what}, step {step}: {faults:?}");
        match again.extent {
            RunExtent::Reused { rows, of } => (reused, all) = (reused + rows, all + of),
            ran => assert_eq!((ran, step), (RunExtent::Full, 0), "{what}"),
        }
        past = again.past;
        for _ in 0..1 + dice.below(3) {
            toggle_mark(fabric, &mut faults, dice);
        }
    }
    (reused, all)
}

#[test]
fn minhop_after_marks_is_minhop_from_nothing() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let walks = || {
            let seeds = (0..200u64).into_par_iter();
            let walked = seeds.map(|seed| {
                let (fabric, _) = sketch(seed, seed % 2 == 0).build();
                compare_over_walk(&format!("sketch {seed}"), &fabric, &mut Dice(seed ^ 0xA6A1), 12)
            });
            walked.reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1 + other.1))
        };
        pool.install(walks)
    };
    let (reused, all) = on(1);
    assert_eq!(on(2), (reused, all));
    assert!(reused * 20 > all, "{reused} of {all}");
}

#[test]
fn a_cable_leaves_tables_far_from_it_alone() {
    // Each spine of a tree of two ranks is beside each leaf.
    for (name, percent) in [("kary,k=6,n=2", 0), ("torus,dims=8x8", 50), ("random,switches=60,links=200", 50)]
    {
        let fabric = fabric(name);
        let (engine, request, none) = (find_engine("minhop").unwrap(), Request::default(), Faults::default());
        let first = run_engine(engine, &Problem::new(&fabric, &none), &request, None, &NoProgress).unwrap();
        let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id)).unwrap();
        let mut faults = Faults::default();
        faults.mark(ElementId::Link(link));
        let problem = Problem::new(&fabric, &faults);
        let again = run_engine(engine, &problem, &request, first.past.as_ref(), &NoProgress).unwrap();
        assert!(*again.routes == (engine.route)(&problem, &request, &NoProgress).unwrap().routes, "{name}");
        let RunExtent::Reused { rows, of } = again.extent else { panic!("{name}: {:?}", again.extent) };
        assert!(rows * 100 >= of * percent && rows < of, "{name}: {rows} of {of}");
    }
}

#[test]
fn a_past_of_another_fabric_or_request_is_left_alone() {
    let (engine, request, none) = (find_engine("minhop").unwrap(), Request::default(), Faults::default());
    let [one, other] = ["torus,dims=4x4", "torus,dims=4x3"].map(fabric);
    let past = run_engine(engine, &Problem::new(&one, &none), &request, None, &NoProgress).unwrap().past;
    let problem = Problem::new(&other, &none);
    let again = run_engine(engine, &problem, &request, past.as_ref(), &NoProgress).unwrap();
    assert_eq!(again.extent, RunExtent::Full);
    assert!(*again.routes == (engine.route)(&problem, &request, &NoProgress).unwrap().routes);
    let lanes = Request { lanes: 1, ..request };
    let again = run_engine(engine, &Problem::new(&one, &none), &lanes, past.as_ref(), &NoProgress).unwrap();
    assert_eq!(again.extent, RunExtent::Full);
}

#[test]
fn marks_that_return_need_no_engine() {
    let observed = Observation { fabric: fabric("torus,dims=4x3"), ..Observation::default() };
    let look = Snapshot::new("here", observed, &Default::default());
    let tables = look.observation.tables.clone();
    let mut proposals = Proposals::default();
    let (mut marked, request) = (Faults::default(), Request::default());
    let link = look.fabric().links().map(|(id, _)| id).find(|id| look.fabric().is_between_switches(*id));
    marked.mark(ElementId::Link(link.unwrap()));
    let is_for_trees = |id: &str| ["ftree", "sftree", "dmodk", "mlid", "opt"].contains(&id);
    for engine in ENGINES.iter().filter(|engine| !is_for_trees(engine.id)) {
        let mut ask = |marks: &Faults| {
            proposals
                .propose(
                    MarkedFabric { look: &look, tables: &tables, faults: marks },
                    engine,
                    ProposalOptions::for_terminals(&request),
                    &NoProgress,
                )
                .unwrap()
        };
        let [first, second, back] = [&Faults::default(), &marked, &Faults::default()].map(&mut ask);
        let of = look.fabric().switches().count();
        let words = [first.ran, second.ran, back.ran].map(RunExtent::word);
        let between = if engine.incremental.is_some() { "reused" } else { "full" };
        assert_eq!(words, ["full", between, "kept"], "{}", engine.id);
        if let RunExtent::Reused { rows, of: all } = second.ran {
            assert!(rows < of && all == of, "{rows} of {all}");
        }
        assert!(Arc::ptr_eq(&first.routes, &back.routes) && first.report == back.report);
        let fresh =
            propose(&look, &tables, &marked, engine, ProposalOptions::for_terminals(&request), &NoProgress)
                .unwrap();
        assert!(fresh.routes == second.routes && fresh.report == second.report);
        assert_eq!((fresh.difference, fresh.ran), (second.difference, RunExtent::Full));
    }
}
