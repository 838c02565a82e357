//! The revision of the engines rises with the tables that they make: results of studies are stored under it.

use std::fmt::Write;

use fabdeck_fabric::{ElementId, Faults, LinkId};
use fabdeck_routing::{ENGINE_REVISION, ENGINES, NoProgress, Problem, Request};

use super::common::fabric;

/// If this snapshot changes for an engine that was there before, raise `ENGINE_REVISION`, and then accept it.
#[test]
fn tables_of_a_revision_stay() {
    let mut digests = format!("revision {ENGINE_REVISION}\n");
    for name in
        ["demo", "kary,k=3,n=3", "torus,dims=4x3,terminals=2", "random,switches=12,links=24,hosts=24,seed=7"]
    {
        let fabric = fabric(name);
        for failed in [0, 1] {
            let mut faults = Faults::default();
            let between = fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id));
            let failed: Vec<LinkId> = between.take(failed).collect();
            failed.iter().for_each(|link| _ = faults.mark(ElementId::Link(*link)));
            let problem = Problem::new(&fabric, &faults);
            for engine in ENGINES {
                let answer = (engine.route)(&problem, &Request::default(), &NoProgress);
                let digest = match answer {
                    Ok(answer) => {
                        let mut hash = blake3::Hasher::new();
                        for switch in problem.switches() {
                            hash.update(answer.routes.row(switch));
                        }
                        hash.update(format!("{:?}", answer.routes.lanes).as_bytes());
                        hash.finalize().to_hex()[..16].to_owned()
                    }
                    Err(_) => "refused".to_owned(),
                };
                writeln!(digests, "{name}, {} failed, {}: {digest}", failed.len(), engine.id).unwrap();
            }
        }
    }
    insta::assert_snapshot!(digests);
}
