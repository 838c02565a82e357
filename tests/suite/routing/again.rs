//! Engines that begin from an earlier run: the same bytes as from nothing, whatever was marked in between.

use std::sync::Arc;

use fabdeck::session::{Asked, Look, Proposals, propose};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Faults, NodeId, Resolved};
use fabdeck_routing::{ENGINES, NoPulse, Past, Problem, Ran, Request, engine, run};
use rayon::prelude::*;

use super::certificate::Dice;
use super::fabric;
use super::sketch::sketch;

/// Marks an element or takes its mark away.
fn turn(fabric: &Fabric, faults: &mut Faults, dice: &mut Dice) {
    let links: Vec<_> = fabric.links().map(|(id, _)| id).collect();
    let nodes = fabric.nodes().count();
    let drawn = match dice.below(8) {
        0 => Resolved::Node(NodeId(dice.below(nodes) as u32)),
        1..4 if !faults.is_empty() => faults.iter().nth(dice.below(faults.len())).unwrap(),
        _ if links.is_empty() => return,
        _ => Resolved::Link(links[dice.below(links.len())]),
    };
    if !faults.unmark(drawn) {
        faults.mark(drawn);
    }
}

/// Rows taken over, of how many, over a walk of marks.
fn walk(what: &str, fabric: &Fabric, dice: &mut Dice, steps: usize) -> (usize, usize) {
    let (engine, request) = (engine("minhop").unwrap(), Request::default());
    let mut faults = Faults::default();
    let mut past: Option<Past> = None;
    let (mut reused, mut all) = (0, 0);
    for step in 0..steps {
        let problem = Problem::new(fabric, &faults);
        let again = run(engine, &problem, &request, past.as_ref(), &NoPulse).unwrap();
        let full = (engine.route)(&problem, &request, &NoPulse).unwrap();
        assert!(*again.routes == full.routes, "{what}, step {step}: {faults:?}");
        match again.ran {
            Ran::Reused { rows, of } => (reused, all) = (reused + rows, all + of),
            ran => assert_eq!((ran, step), (Ran::Full, 0), "{what}"),
        }
        past = again.past;
        for _ in 0..1 + dice.below(3) {
            turn(fabric, &mut faults, dice);
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
                walk(&format!("sketch {seed}"), &fabric, &mut Dice(seed ^ 0xA6A1), 12)
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
        let (engine, request, none) = (engine("minhop").unwrap(), Request::default(), Faults::default());
        let first = run(engine, &Problem::new(&fabric, &none), &request, None, &NoPulse).unwrap();
        let link = fabric.links().map(|(id, _)| id).find(|id| fabric.between_switches(*id)).unwrap();
        let mut faults = Faults::default();
        faults.mark(Resolved::Link(link));
        let problem = Problem::new(&fabric, &faults);
        let again = run(engine, &problem, &request, first.past.as_ref(), &NoPulse).unwrap();
        assert!(*again.routes == (engine.route)(&problem, &request, &NoPulse).unwrap().routes, "{name}");
        let Ran::Reused { rows, of } = again.ran else { panic!("{name}: {:?}", again.ran) };
        assert!(rows * 100 >= of * percent && rows < of, "{name}: {rows} of {of}");
    }
}

#[test]
fn a_past_of_another_fabric_or_request_is_left_alone() {
    let (engine, request, none) = (engine("minhop").unwrap(), Request::default(), Faults::default());
    let [one, other] = ["torus,dims=4x4", "torus,dims=4x3"].map(fabric);
    let past = run(engine, &Problem::new(&one, &none), &request, None, &NoPulse).unwrap().past;
    let problem = Problem::new(&other, &none);
    let again = run(engine, &problem, &request, past.as_ref(), &NoPulse).unwrap();
    assert_eq!(again.ran, Ran::Full);
    assert!(*again.routes == (engine.route)(&problem, &request, &NoPulse).unwrap().routes);
    let lanes = Request { lanes: 1, ..request };
    let again = run(engine, &Problem::new(&one, &none), &lanes, past.as_ref(), &NoPulse).unwrap();
    assert_eq!(again.ran, Ran::Full);
}

#[test]
fn marks_that_return_need_no_engine() {
    let observed = Observation { fabric: fabric("torus,dims=4x3"), ..Observation::default() };
    let look = Look::new("here", observed, &Default::default());
    let tables = look.observation.tables.clone();
    let mut proposals = Proposals::default();
    let (mut marked, request) = (Faults::default(), Request::default());
    let link = look.fabric().links().map(|(id, _)| id).find(|id| look.fabric().between_switches(*id));
    marked.mark(Resolved::Link(link.unwrap()));
    for engine in ENGINES.iter().filter(|engine| !engine.id.contains("ftree")) {
        let mut ask = |marks: &Faults| {
            proposals.propose((&look, &tables), marks, engine, Asked::of(&request), &NoPulse).unwrap()
        };
        let [first, second, back] = [&Faults::default(), &marked, &Faults::default()].map(&mut ask);
        let of = look.fabric().switches().count();
        let words = [first.ran, second.ran, back.ran].map(Ran::word);
        let between = if engine.again.is_some() { "reused" } else { "full" };
        assert_eq!(words, ["full", between, "kept"], "{}", engine.id);
        if let Ran::Reused { rows, of: all } = second.ran {
            assert!(rows < of && all == of, "{rows} of {all}");
        }
        assert!(Arc::ptr_eq(&first.routes, &back.routes) && first.report == back.report);
        let fresh = propose(&look, &tables, &marked, engine, Asked::of(&request), &NoPulse).unwrap();
        assert!(fresh.routes == second.routes && fresh.report == second.report);
        assert_eq!((fresh.difference, fresh.ran), (second.difference, Ran::Full));
    }
}
