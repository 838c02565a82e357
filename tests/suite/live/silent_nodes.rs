//! Who falls silent while a fabric is watched is shown as that, live and in what was recorded, until it answers again.

use std::time::Duration;

use super::fabric_events::{TABLES, TEN_SECONDS};
use super::sweeps::WatchedSource;
use super::{ExchangePolicy, LineFaults, fabric, hosts, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};
use fabdeck::catalogue::query::{Columns, Query};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::catalogue::summary::FabricSummary;
use fabdeck::operations::view_id::ViewId;
use fabdeck_fabric::observe::{FabricEvent, Observation};
use fabdeck_fabric::{NameMap, NodeId, PortNum};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_mad::Class;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort};

/// The longest sweep beside a device that hangs, all but one of eight. Every question has a second.
const SHORT_SWEEP: Duration = Duration::from_millis(500);

/// A port over which the agent for counters at a LID hears nothing.
struct DeafAgent {
    port: ReadPort,
    lid: u16,
}

impl Clock for DeafAgent {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for DeafAgent {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, timeout: Duration) -> Result<(), PortError> {
        match parcel.mad.class() == Class::PERFORMANCE && parcel.address.lid == self.lid {
            true => Ok(()),
            false => self.port.send(parcel, timeout),
        }
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.port.receive(until)
    }
}

/// How long sweeps take while a device hangs, after the one that finds it out.
fn sweep_times(watched: &mut WatchedSource, count: u32) -> Vec<Duration> {
    let mut last = Duration::ZERO;
    let sweep = |_| {
        let swept = watched.sweep(last);
        last = swept.began + TEN_SECONDS;
        swept.took
    };
    (0..count).map(sweep).collect()
}

/// Of the sweeps after the first one, all but each eighth are short.
fn are_short(times: &[Duration]) {
    let long = times.iter().skip(1).filter(|took| **took > SHORT_SWEEP).count();
    assert!(long <= times.len() / 8 + 1, "{times:?}");
    assert!(times.iter().skip(1).all(|took| *took < Duration::from_secs(4)), "{times:?}");
}

#[test]
fn a_switch_that_hangs_delays_no_other_for_long_and_is_found_again() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let port = simulator.open_port(None).unwrap();
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TABLES);
    let switch = *switches(&planned).last().unwrap();
    let silence = |watched: &WatchedSource, is_silent: bool| {
        watched.simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(switch, is_silent));
    };
    assert!(watched.sweep(Duration::ZERO).took < SHORT_SWEEP);
    silence(&watched, true);
    are_short(&sweep_times(&mut watched, 17));
    assert_eq!(unanswered_nodes(&watched.look).len(), 1);
    silence(&watched, false);
    let swept = watched.sweep(Duration::from_secs(3600));
    let node = planned.node(switch).guid();
    assert!(swept.news.contains(&FabricEvent::NodeAnswers { node }), "{:?}", swept.news);
}

/// A switch that forwards, and whose agent for counters hangs: its ports count as asked, and it is found again.
#[test]
fn an_agent_for_counters_that_hangs_delays_no_other_for_long() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let switch = *switches(&planned).last().unwrap();
    let management = planned.port_of(switch, PortNum::MANAGEMENT).unwrap();
    let lid = planned.port(management).facts.lid.unwrap().value();
    let port = ReadPort::new(DeafAgent { port: simulator.open_port(None).unwrap(), lid });
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TABLES);
    are_short(&sweep_times(&mut watched, 17));
    let swept = watched.sweep(Duration::from_secs(3600));
    let unread = swept.ports - swept.samples.len() as u64;
    assert_eq!(unread, u64::from(planned.node(switch).facts.port_count), "of all its ports");
}

/// GUIDs of those of whom `show` says that they do not answer, and how many ports it says that they have.
fn unanswered_nodes(seen: &Observation) -> Vec<(String, String)> {
    let look = Snapshot::new("sim", seen.clone(), &NameMap::default());
    let mut all = Vec::new();
    for view in [ViewId::Hosts, ViewId::Switches] {
        let query = Query { filters: vec!["answered=no".into()], ..Query::default() };
        let listing = view.listing(&look).unwrap();
        let column = |id| (0..listing.column_count()).find(|at| listing.column(*at).id == id).unwrap();
        let said = |row, id| listing.cell(row, column(id)).display_text().into_owned();
        let rows = query.select(listing.as_ref(), Columns::All).unwrap().rows;
        all.extend(rows.into_iter().map(|row| (said(row, "guid"), said(row, "ports"))));
    }
    assert_eq!(FabricSummary::from_snapshot(&look).unanswered, all.len());
    all
}

#[test]
fn a_silent_node_is_shown_as_silent_until_it_answers_again_live_and_recorded() {
    let planned = fabric("kary,k=3,n=2");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    let port = simulator.open_port(None).unwrap();
    let mut watched = WatchedSource::looked(simulator, port, ExchangePolicy::default(), TABLES);
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
        watched.simulator.with_simulator(|simulator| {
            [host, switch]
                .iter()
                .for_each(|node| simulator.fabric_mut().set_silent(*node, now.contains(node)));
        });
        let swept = watched.sweep(last);
        last = swept.began + TEN_SECONDS;
        let before = silent[step.saturating_sub(1)];
        let fell = now.iter().filter(|node| !before.contains(node));
        let fell = fell.map(|node| FabricEvent::NodeSilent { node: guid(*node) });
        let back = before.iter().filter(|node| !now.contains(node));
        let back = back.map(|node| FabricEvent::NodeAnswers { node: guid(*node) });
        assert_eq!(swept.news, fell.chain(back).collect::<Vec<_>>(), "step {step}");
        let said = unanswered_nodes(&watched.look);
        assert_eq!(said, now.iter().copied().map(shown).collect::<Vec<_>>(), "step {step}");
        recorder.record_sweep(BEGUN + 10_000 * step as i64, &watched.look, &swept).unwrap();
        live.push((said, watched.look.fabric.clone()));
    }
    recorder.finish(BEGUN + 60_000).unwrap();
    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), live.len());
    // Forward, and back again.
    for (slot, (said, fabric)) in slots.iter().zip(&live).chain(slots.iter().zip(&live).rev()) {
        reader.show_moment(*slot).unwrap();
        let seen = reader.observation();
        assert_eq!((&unanswered_nodes(&seen), &seen.fabric), (said, fabric));
    }
}
