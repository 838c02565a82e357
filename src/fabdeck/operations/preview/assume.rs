//! Forwarding tables for a source without any, computed by an engine and marked as assumed.

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{Fabric, Faults, Lft, PathLanes, Tables};
use fabdeck_routing::{Engine, EngineRefusal, NoProgress, Problem, Request};

/// Note: the source has forwarding tables, so none are assumed.
const NOT_NEEDED: &str = "FN-701";
/// Note: LIDs are assumed, in OpenSM's order.
const ASSUMED_LIDS: &str = "FN-702";
/// Note: forwarding tables are assumed, as an engine computes them.
const ASSUMED_TABLES: &str = "FN-703";

/// Adds the forwarding tables of an engine, and LIDs where there are none, to a snapshot without forwarding
/// tables. Existing tables stay.
pub fn assume(look: &mut Snapshot, engine: &Engine) -> Result<(), EngineRefusal> {
    let place = NotePlace::file(&look.source);
    let observation = &mut look.observation;
    if observation.tables.has_forwarding() {
        observation.notes.add(NOT_NEEDED, place, || {
            format!(
                "the source has forwarding tables; they count, and those of {} are not assumed",
                engine.id
            )
        });
        return Ok(());
    }
    assume_lids(look);
    let observation = &mut look.observation;
    let manager = observation.subnet_manager.as_ref().map(|manager| manager.guid);
    let faults = Faults::new();
    let problem = Problem::new(&observation.fabric, &faults);
    let request = Request { manager, ..Request::default() };
    let routes = (engine.route)(&problem, &request, &NoProgress)?.routes;
    let switches: Vec<_> = observation.fabric.switches().map(|(id, _)| id).collect();
    for id in switches {
        observation.tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    if let PathLanes::ByHop { tables, .. } = &routes.lanes {
        for (id, lanes) in &tables.nodes {
            observation.tables.node_mut(*id).sl2vl.clone_from(&lanes.sl2vl);
        }
    }
    observation.tables.only = None;
    observation.notes.add(ASSUMED_TABLES, place, || {
        format!("the source has no forwarding tables; those that {} computes are assumed", engine.id)
    });
    look.assumed = Some(engine.id);
    look.routes = Some(routes);
    Ok(())
}

/// Adds the LIDs that OpenSM gives to a new fabric to a snapshot without LIDs.
pub fn assume_lids(look: &mut Snapshot) {
    let place = NotePlace::file(&look.source);
    let observation = &mut look.observation;
    if observation.fabric.top_lid().is_none() {
        let manager = observation.subnet_manager.as_ref().map(|manager| manager.guid);
        observation.fabric = observation.fabric.with_fresh_lids(manager);
        observation.notes.add(ASSUMED_LIDS, place, || {
            "the source has no LIDs; they are assumed as OpenSM gives them to a new fabric, by port GUID"
                .to_owned()
        });
    }
}

/// Gives each switch an empty forwarding table.
pub fn assume_empty_tables(look: &mut Snapshot) {
    let observation = &mut look.observation;
    fill_empty(&observation.fabric, &mut observation.tables);
}

/// Gives each switch of `tables` an empty forwarding table.
pub(crate) fn fill_empty(fabric: &Fabric, tables: &mut Tables) {
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(Lft::new());
    }
    tables.only = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::observe::Observation;
    use fabdeck_routing::find_engine;

    #[test]
    fn tables_of_the_source_win_over_assumed_ones() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut look = Snapshot::new("x", Observation { fabric, ..Default::default() }, &Default::default());
        assume(&mut look, find_engine("minhop").unwrap()).unwrap();
        assert_eq!(look.assumed, Some("minhop"));
        assert!(look.observation.tables.has_forwarding() && look.observation.notes.has(ASSUMED_TABLES));
        let before = look.clone();
        assume(&mut look, find_engine("nue").unwrap()).unwrap();
        assert_eq!((look.assumed, &look.observation.tables), (Some("minhop"), &before.observation.tables));
        assert!(look.observation.notes.has(NOT_NEEDED));
    }

    #[test]
    fn a_fabric_without_lids_gets_some() {
        let text = "Switch 4 \"S-1\"\n[1] \"H-1\"[1]\n[2] \"H-2\"[1]\n\nHca 1 \"H-1\"\n[1] \"S-1\"[1]\n\nHca 1 \"H-2\"\n[1] \"S-1\"[2]\n";
        let file =
            fabdeck_files::ibsim::read(fabdeck_files::text::Input::new("net", text.as_bytes())).unwrap();
        let observation = Observation { fabric: file.fabric, ..Default::default() };
        let mut look = Snapshot::new("net", observation, &Default::default());
        assert_eq!(look.fabric().top_lid(), None);
        assume(&mut look, find_engine("minhop").unwrap()).unwrap();
        assert_eq!(look.fabric().top_lid().map(fabdeck_fabric::Lid::value), Some(3));
        assert!(look.observation.notes.has(ASSUMED_LIDS));
    }
}
