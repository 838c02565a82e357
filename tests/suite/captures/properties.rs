//! Whatever is recorded in whatever order comes out as it went in.

use std::time::Duration;

use fabdeck_fabric::observe::{Counter, CounterSample, Observation, Sweep};
use fabdeck_fabric::{Guid, PortNum};
use fabdeck_files::capture::{OperatorEntry, Recorder, read_acknowledgements};
use fabdeck_files::capture_format::{AcknowledgementRecord, CaptureReader};
use proptest::prelude::*;

use super::sample_fabric::{BEGUN, Memory, Moment, assert_same, header, look};

/// A port and counters of it, by their place in a list.
type PortCounters = (u8, Vec<(usize, Option<u64>)>);

/// What happens between two sweeps.
#[derive(Clone, Debug)]
enum Step {
    Sweep { ports: Vec<PortCounters>, look: usize, passed: i64 },
    Note(String),
    News(Vec<i32>),
    Acknowledgement { problem: String, made: i64, removed: bool },
}

fn value() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![4 => any::<u16>().prop_map(|low| Some(low.into())), 1 => any::<u64>().prop_map(Some), 1 => Just(None)]
}

fn step() -> impl Strategy<Value = Step> {
    let values = prop::collection::vec((0..6usize, value()), 0..4);
    let ports = prop::collection::vec((0..6u8, values), 0..6);
    let sweep = (ports, 0..3usize, -5000..5000i64).prop_map(|(ports, look, passed)| Step::Sweep {
        ports,
        look,
        passed,
    });
    let words = "\\PC{0,20}".prop_map(Step::Note);
    let acknowledged = ("\\PC{0,6}", any::<i64>(), any::<bool>())
        .prop_map(|(problem, made, removed)| Step::Acknowledgement { problem, made, removed });
    prop_oneof![8 => sweep, 1 => words, 1 => acknowledged, 1 => prop::collection::vec(any::<i32>(), 0..5).prop_map(Step::News)]
}

fn sweep_of(ports: &[PortCounters], nth: u64) -> Sweep {
    let began = Duration::from_micros(nth * 1_000_003);
    let mut ports = ports.to_vec();
    ports.sort_by_key(|(port, _)| *port);
    let counters = [
        Counter::PortXmitDataExtended,
        Counter::PortXmitWait,
        Counter::SymbolErrorCounter,
        Counter::PortRcvPkts,
        Counter::Other("vendor one".into()),
        Counter::Other("vendor two".into()),
    ];
    let sample = |(port, values): &PortCounters| CounterSample {
        node: (port % 2 == 0).then_some(Guid(u64::MAX - u64::from(*port))),
        lid: (port % 3 == 0).then_some(7),
        port: (port % 5 != 4).then_some(PortNum(*port)),
        values: values.iter().map(|(at, value)| (counters[*at].clone(), *value)).collect(),
    };
    let at = (0..ports.len() as u64)
        .map(|at| Duration::from_micros(nth * 1_000_003 + (at * 7919) % 1000))
        .collect();
    Sweep {
        samples: ports.iter().map(sample).collect(),
        at,
        began,
        took: Duration::from_micros(nth),
        ports: 9,
        sent: nth,
        ..Sweep::default()
    }
}

/// From a moment on another capture holds the same.
fn assert_cut(bytes: &[u8], moments: &[Moment], from: usize) {
    let cut = super::cut::from_place(bytes, from);
    let mut reader = CaptureReader::open("cut", cut.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    assert_eq!(slots.len(), moments.len() - from);
    for (slot, moment) in slots.into_iter().zip(&moments[from..]).rev() {
        reader.show_moment(slot).unwrap();
        assert_same(&reader, moment);
    }
    assert!(reader.has_end());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_read_back(steps in prop::collection::vec(step(), 1..24), every in 0..6u64, least in 0..4000u64, leaps in prop::collection::vec(any::<prop::sample::Index>(), 12)) {
        let looks = ["kary,k=2,n=2", "kary,k=2,n=2,faults=1,seed=3", "mesh,dims=2x2"].map(look);
        let looks = [looks[0].clone(), looks[1].clone(), Observation { names: Default::default(), ..looks[2].clone() }];
        let memory = Memory::default();
        let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(every, least);
        let (mut moments, mut acknowledged, mut time) = (Vec::new(), Vec::new(), BEGUN);
        for (nth, step) in steps.iter().enumerate() {
            match step {
                Step::Sweep { ports, look, passed } => {
                    time += passed;
                    let moment = Moment { time, look: looks[*look].clone(), sweep: sweep_of(ports, nth as u64) };
                    recorder.record_sweep(time, &moment.look, &moment.sweep).unwrap();
                    moments.push(moment);
                }
                Step::Note(text) => recorder.record_note(time, text).unwrap(),
                Step::Acknowledgement { problem, made, removed } => {
                    let record = AcknowledgementRecord {
                        problem: problem.clone(),
                        by: "anna".into(),
                        made: *made,
                        note: None,
                        extent: None,
                        removed: *removed,
                    };
                    acknowledged.push(record.clone());
                    recorder.record_entry(time, &OperatorEntry::Acknowledgement(record)).unwrap();
                }
                Step::News(news) => recorder.record_news(time, serde_json::json!(news)).unwrap(),
            }
        }
        let kept = recorder.finish(time).unwrap();
        prop_assert_eq!(kept.sweeps, moments.len() as u64);
        let bytes = memory.bytes.take();
        prop_assert_eq!(kept.bytes, bytes.len() as u64);
        let mut reader = CaptureReader::open("any", bytes.as_slice()).unwrap();
        let slots = reader.moments().to_vec();
        prop_assert_eq!(slots.len(), moments.len());
        prop_assert_eq!(read_acknowledgements(&mut reader), AcknowledgementRecord::in_force(acknowledged));
        for cut in leaps.iter().take(3).filter(|_| !moments.is_empty()) {
            assert_cut(&bytes, &moments, cut.index(moments.len()));
        }
        let leaps = leaps.iter().filter(|_| !moments.is_empty()).map(|leap| leap.index(moments.len()));
        for at in (0..moments.len()).chain(leaps) {
            prop_assert_eq!(reader.show_moment(slots[at]), Ok(()));
            assert_same(&reader, &moments[at]);
        }
    }
}
