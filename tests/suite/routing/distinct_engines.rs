//! No engine returns another one's tables: on irregular trees any two differ.

use std::collections::BTreeSet;

use fabdeck_fabric::Faults;
use fabdeck_routing::Problem;

use super::{fabric, route};

/// Engines that compute tables of their own. `dfsssp` is left out: by its paper it takes the paths of `sssp`; `sar` without
/// jobs is `dfsssp`; `mlid` and `opt` need several LIDs, `torus2qos` a torus. `dor` and `lash` both take first ports, so
/// where no trees differ they may have the same tables.
const ENGINES: [&str; 9] = ["minhop", "dor", "updn", "ftree", "sftree", "dmodk", "sssp", "lash", "nue"];

/// The trees of `tests/peers/kit --ci`, and large ones on which fewer starts are tried.
fn trees() -> impl Iterator<Item = String> {
    let seeds = [
        ("pods", 3),
        ("half", 2),
        ("director", 2),
        ("racks", 2),
        ("merged", 2),
        ("spines", 2),
        ("tier", 2),
        ("rails", 3),
        ("mixed", 2),
    ];
    let small = seeds.into_iter().flat_map(|(family, count)| {
        (1..=count).map(move |seed| format!("irregular,family={family},seed={seed}"))
    });
    small.chain(
        ["merged", "racks", "tier"].map(|family| format!("irregular,family={family},size=large,seed=1")),
    )
}

#[test]
fn no_engine_returns_the_tables_of_another_one() {
    let mut equal = BTreeSet::new();
    for name in trees() {
        let (fabric, faults) = (fabric(&name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let tables = ENGINES.map(|engine| route(engine, &problem).ok().map(|answer| answer.routes));
        for (at, one) in tables.iter().enumerate() {
            for (other, engine) in tables.iter().zip(ENGINES).skip(at + 1) {
                let same = |switch| one.as_ref().unwrap().row(switch) == other.as_ref().unwrap().row(switch);
                let first_ports = (ENGINES[at], engine) == ("dor", "lash");
                if !first_ports && one.is_some() && other.is_some() && problem.switches().all(same) {
                    equal.insert((name.clone(), ENGINES[at], engine));
                }
            }
        }
    }
    assert!(equal.is_empty(), "equal tables: {equal:#?}");
}
