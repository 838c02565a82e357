//! Service levels by path records: what is asked, and what becomes of sources that differ.

use fabdeck_fabric::observe::{Observation, PathLevels};
use fabdeck_fabric::{Fabric, Faults, Lid};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{
    LaneReadOutcome, LevelReadOptions, LevelReadOutcome, NoObserver, ReadOptions, ReadPort, Source,
};
use fabdeck_mad::{Class, Mad, PathRecord};
use fabdeck_routing::Problem;
use fabdeck_simulator::LineFaults;

use super::altered_answers::AlteringPort;
use super::{ALL, fabric, simulated};

/// The level that a path from one LID to another has in these tests.
fn level(from: u16, to: u16) -> u8 {
    // Sources differ towards some destinations only.
    if to % 5 == 2 { (from % 3) as u8 } else { (to % 4) as u8 }
}

/// The manager gives levels.
fn levelled(mad: &mut Mad) {
    if mad.class() == Class::SUBNET_ADMINISTRATION {
        let record = mad.record_mut::<PathRecord>();
        let level = level(record.source_lid.get(), record.destination_lid.get());
        record.qos_class_sl = u16::from(level).into();
    }
}

fn read(fabric: &Fabric, wanted: LevelReadOptions) -> (Fabric, LevelReadOutcome, u64) {
    let port = simulated(fabric, LineFaults::default(), 1).open_port(None).unwrap();
    let port = ReadPort::new(AlteringPort(port, levelled));
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut look = source.observe(ALL, &mut NoObserver).unwrap();
    let read = source.read_levels(&mut look, None, wanted, &mut NoObserver).unwrap();
    let reading = look.reading.unwrap();
    assert_eq!(reading.writes, 0);
    let sent = reading.phase("path records").map_or(0, |phase| phase.sent);
    (look.fabric, read, sent)
}

/// What is to be asked, and the levels that come of it, pair by pair.
fn compare(fabric: &Fabric, read: &PathLevels, every: bool, switches: bool) -> u64 {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let (mut asked, mut differing) = (0, 0);
    for from in problem.switches() {
        let here = problem.destinations_behind(from);
        // Adapters by port, then the switch itself.
        let ends = here.iter().filter(|end| !end.is_switch());
        let mut sources: Vec<_> = ends.collect();
        sources.sort_by_key(|end| end.port);
        sources.extend(here.iter().filter(|end| switches && end.is_switch()));
        for end in problem.destinations().iter().filter(|end| switches || !end.is_switch()) {
            let others: Vec<Lid> =
                sources.iter().map(|source| source.lid).filter(|lid| *lid != end.lid).collect();
            let bits = |of: &[Lid]| {
                of.iter().fold(0u16, |bits, lid| bits | 1 << level(lid.value(), end.lid.value()))
            };
            let first = &others[..others.len().min(if every { others.len() } else { 2 })];
            let agree = bits(first).count_ones() < 2;
            differing += u64::from(!agree);
            let all = if agree { first } else { &others[..] };
            asked += all.len() as u64;
            assert_eq!(read.levels.level_bits(from, end.lid), bits(all), "{from} to {}", end.lid);
        }
    }
    assert_eq!((read.asked, read.without_path, read.differing), (asked, 0, differing));
    asked
}

#[test]
fn two_sources_of_a_switch_stand_for_all_where_they_agree() {
    let fabric = fabric("kary,k=4,n=2");
    let mut counts = Vec::new();
    for (every, switches) in [(false, false), (true, false), (false, true), (true, true)] {
        let (seen, said, sent) = read(&fabric, LevelReadOptions { every, switches, most: None });
        let LevelReadOutcome::Read(said) = said else { panic!("{said:?}") };
        assert_eq!(said.every, every);
        assert_eq!(compare(&seen, &said, every, switches), sent);
        assert!(said.differing > 0);
        counts.push(sent);
    }
    // 16 hosts: every ordered pair, and less than that by samples.
    assert!(counts[1] == 240 && counts[0] < 200 && counts[3] > counts[2], "{counts:?}");
}

#[test]
fn too_many_questions_are_not_asked() {
    let wanted = LevelReadOptions { most: Some(100), ..LevelReadOptions::default() };
    let (_, said, sent) = read(&fabric("kary,k=4,n=2"), wanted);
    assert!(matches!(said, LevelReadOutcome::TooMany(count) if count > 100), "{said:?}");
    assert_eq!(sent, 0);
}

#[test]
fn lanes_read_later_are_those_of_a_look_and_can_be_left_when_they_are_many() {
    let fabric = fabric("kary,k=3,n=2");
    let source = || {
        let port = simulated(&fabric, LineFaults::default(), 1).open_port(None).unwrap();
        LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default())
    };
    let with = source().observe(ALL, &mut NoObserver).unwrap();
    let mut later = source();
    let mut look = later.observe(ReadOptions { lanes: false, ..ALL }, &mut NoObserver).unwrap();
    assert_ne!(look.tables, with.tables);
    let sent = |look: &Observation| -> u64 {
        look.reading.iter().flat_map(|reading| &reading.phases).map(|phase| phase.sent).sum()
    };
    let before = sent(&look);
    let refused = later.read_lanes(&mut look, Some(1), &mut NoObserver).unwrap();
    let LaneReadOutcome::TooMany(questions) = refused else { panic!("{refused:?}") };
    assert_eq!(sent(&look), before, "nothing is asked");
    let read = later.read_lanes(&mut look, Some(questions), &mut NoObserver).unwrap();
    assert_eq!((read, &look.tables), (LaneReadOutcome::Read, &with.tables));
    assert!(sent(&look) - before >= questions && sent(&look) == sent(&with));
}
