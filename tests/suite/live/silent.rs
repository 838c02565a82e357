//! Who falls silent while a fabric is watched is shown as that, live and in what was recorded, until it answers again.

use std::time::Duration;

use fabdeck::session::{Browse, Columns, Look, Query, Summary};
use fabdeck_fabric::observe::{News, Observation};
use fabdeck_fabric::{NameMap, NodeId};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::Reader;

use super::following::{TABLES, TEN_SECONDS};
use super::sweeps::Watched;
use super::{Line, Policy, fabric, hosts, simulated, switches};
use crate::captures::stage::{BEGUN, Memory, header};

/// GUIDs of those of whom `show` says that they do not answer, and how many ports it says that they have.
fn unheard(seen: &Observation) -> Vec<(String, String)> {
    let look = Look::new("sim", seen.clone(), &NameMap::default());
    let mut all = Vec::new();
    for view in [Browse::Hosts, Browse::Switches] {
        let query = Query { filters: vec!["answered=no".into()], ..Query::default() };
        let listing = view.listing(&look).unwrap();
        let column = |id| (0..listing.column_count()).find(|at| listing.column(*at).id == id).unwrap();
        let said = |row, id| listing.cell(row, column(id)).shown().into_owned();
        let rows = query.select(listing.as_ref(), Columns::All).unwrap().rows;
        all.extend(rows.into_iter().map(|row| (said(row, "guid"), said(row, "ports"))));
    }
    assert_eq!(Summary::of(&look).unanswered, all.len());
    all
}

#[test]
fn who_falls_silent_is_shown_so_until_it_answers_again_live_and_recorded() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, Line::default(), 1);
    let port = simulator.open(None).unwrap();
    let mut watched = Watched::looked(simulator, port, Policy::default(), TABLES);
    let (host, switch) = (hosts(&planned)[3], *switches(&planned).last().unwrap());
    let guid = |node: NodeId| planned.node(node).guid();
    let shown = |node: NodeId| (guid(node).to_string(), planned.node(node).facts.port_count.to_string());
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let mut last = Duration::ZERO;
    let mut live = Vec::new();
    // At each step who is silent; it is told once, and shown as long as it lasts.
    let silent: [&[NodeId]; 6] = [&[], &[host], &[host, switch], &[host, switch], &[switch], &[]];
    for (step, now) in silent.into_iter().enumerate() {
        watched.simulator.with(|simulator| {
            [host, switch].iter().for_each(|node| simulator.world_mut().silence(*node, now.contains(node)));
        });
        let swept = watched.sweep(last);
        last = swept.began + TEN_SECONDS;
        let before = silent[step.saturating_sub(1)];
        let fell = now.iter().filter(|node| !before.contains(node));
        let fell = fell.map(|node| News::NodeSilent { node: guid(*node) });
        let back = before.iter().filter(|node| !now.contains(node));
        let back = back.map(|node| News::NodeAnswers { node: guid(*node) });
        assert_eq!(swept.news, fell.chain(back).collect::<Vec<_>>(), "step {step}");
        let said = unheard(&watched.look);
        assert_eq!(said, now.iter().copied().map(shown).collect::<Vec<_>>(), "step {step}");
        recorder.sweep(BEGUN + 10_000 * step as i64, &watched.look, &swept).unwrap();
        live.push((said, watched.look.fabric.clone()));
    }
    recorder.end(BEGUN + 60_000).unwrap();
    let bytes = memory.bytes.borrow().clone();
    let mut reader = Reader::open("it", bytes.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), live.len());
    // Forward, and back again.
    for (slot, (said, fabric)) in slots.iter().zip(&live).chain(slots.iter().zip(&live).rev()) {
        reader.show(*slot).unwrap();
        let seen = reader.observation();
        assert_eq!((&unheard(&seen), &seen.fabric), (said, fabric));
    }
}
