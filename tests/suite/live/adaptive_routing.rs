//! Whether switches choose ports by themselves: who is asked, how often, and what a look makes of the answers.

use std::time::Duration;

use fabdeck_fabric::FabricBuilder;
use fabdeck_fabric::observe::{AdaptiveRouting, Observation};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::CaptureReader;
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, Source};
use fabdeck_simulator::AdaptiveProfile::{Off, On, Plain, Silent, Withheld};
use fabdeck_simulator::{AdaptiveProfile, SharedSimulator};

use super::fabric_events::{TABLES, TEN_SECONDS};
use super::sweeps::WatchedSource;
use super::{ALL, Fabric, LineFaults, TOPOLOGY, fabric, look_at, plug, simulated, switches};
use crate::captures::sample_fabric::{BEGUN, Memory, header};

/// A simulated fabric whose first switches say these things.
fn saying(planned: &Fabric, profiles: &[AdaptiveProfile]) -> SharedSimulator {
    let simulator = simulated(planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        simulator.enable_log();
        for (switch, profile) in switches(planned).into_iter().zip(profiles) {
            simulator.fabric_mut().set_adaptive(switch, *profile);
        }
    });
    simulator
}

/// How often the two questions went out up to now: what switches can do, and whether they do it.
fn asked(simulator: &SharedSimulator) -> (usize, usize) {
    simulator.with_simulator(|simulator| {
        let log = simulator.log().text();
        let sent = |attribute: &str| {
            let lines = log.lines().filter(|line| line.contains(" sends ") && line.contains(attribute));
            lines.inspect(|line| assert!(line.contains(" method 01 "), "{line}")).count()
        };
        (sent("attribute ff17 modifier 00000004"), sent("attribute ff20 modifier 00000000"))
    })
}

fn looked(simulator: &SharedSimulator) -> Observation {
    look_at(&mut simulator.open_port(None).unwrap(), TABLES)
}

#[test]
fn a_switch_is_on_off_or_open_by_what_it_answers() {
    let planned = fabric("kary,k=2,n=2");
    for (profiles, adaptive, questions, code) in [
        (&[Plain; 4], None, (4, 0), None),
        (&[Off; 4], None, (4, 4), None),
        (&[Off, On, Plain, On], Some(AdaptiveRouting::On(2)), (4, 3), Some("FN-561")),
        // A question without an answer is sent once more, however many times the policy says.
        (&[Silent, Off, Silent, Plain], Some(AdaptiveRouting::Unknown(2)), (6, 1), Some("FN-562")),
        (&[Silent, On, Silent, Plain], Some(AdaptiveRouting::On(1)), (6, 1), Some("FN-561")),
    ] {
        let simulator = saying(&planned, profiles);
        let look = looked(&simulator);
        assert_eq!((look.adaptive, asked(&simulator)), (adaptive, questions), "{profiles:?}");
        assert_eq!(look.is_partial(), profiles.contains(&Silent), "{profiles:?}: {:?}", look.notes);
        for known in ["FN-561", "FN-562"] {
            assert_eq!(look.notes.has(known), code == Some(known), "{profiles:?}: {:?}", look.notes);
        }
    }
}

#[test]
fn the_note_of_adaptive_routing_tells_whether_the_tables_were_read() {
    let planned = fabric("kary,k=2,n=2");
    for (profiles, words) in [
        (&[On; 4], "the adaptive tables show all of them"),
        (&[Withheld; 4], "and the adaptive tables are not known"),
        (&[On, Off, Withheld, On], "tables of 2 of them show all ports, those of 1 are not known"),
    ] {
        let look = looked(&saying(&planned, profiles));
        let note = look.notes.iter().find(|note| note.code == "FN-561").unwrap();
        assert!(note.text.ends_with(words), "{}", note.text);
    }
}

#[test]
fn only_what_needs_tables_asks_and_only_vendors_that_know_the_question_are_asked() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = saying(&planned, &[On; 4]);
    let look = look_at(&mut simulator.open_port(None).unwrap(), TOPOLOGY);
    assert_eq!((look.adaptive, asked(&simulator)), (None, (0, 0)));
    let of_vendors = |vendors: [u32; 4]| {
        let mut builder = FabricBuilder::from_fabric(&planned);
        for (switch, vendor) in switches(&planned).into_iter().zip(vendors) {
            builder.node_mut(switch.into()).vendor_id = Some(vendor);
        }
        builder.finish()
    };
    let simulator = saying(&of_vendors([0x1175, 0x66A, 0xFF_FFFF, 0x1]), &[On; 4]);
    let look = looked(&simulator);
    assert_eq!((look.adaptive, asked(&simulator)), (None, (0, 0)), "of others nothing says what it means");
    let simulator = saying(&of_vendors([0x2C9, 0x8F1, 0x119F, 0x1175]), &[On; 4]);
    assert_eq!((looked(&simulator).adaptive, asked(&simulator)), (Some(AdaptiveRouting::On(3)), (3, 3)));
}

/// Who says no, or nothing, has said so for the session; who can choose ports is asked at each look whether it does.
#[test]
fn no_is_asked_for_once_a_session() {
    let planned = fabric("kary,k=2,n=2");
    let simulator = saying(&planned, &[Plain, Off, Silent, On]);
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    for (look, questions) in [(1, (5, 2)), (2, (5, 4)), (3, (5, 6))] {
        let seen = source.observe(ALL, &mut NoObserver).unwrap();
        assert_eq!(
            (seen.adaptive, asked(&simulator)),
            (Some(AdaptiveRouting::On(1)), questions),
            "look {look}"
        );
    }
    let last = switches(&planned)[3];
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_adaptive(last, Off));
    let seen = source.observe(ALL, &mut NoObserver).unwrap();
    assert_eq!(seen.adaptive, Some(AdaptiveRouting::Unknown(1)), "what was silent stays open");
    assert!(seen.is_partial() && seen.notes.has("FN-562") && !seen.notes.has("FN-526"), "{:?}", seen.notes);
}

/// Sweeps notice when it is switched on and off, ask a switch that comes, and record what they know.
#[test]
fn sweeps_follow_what_switches_say_and_captures_keep_it() {
    let planned = fabric("kary,k=3,n=2");
    let all = switches(&planned);
    let simulator = saying(&planned, &[Off, Off, Plain, Plain]);
    // The switch that comes later does not answer the question.
    let newcomer = all[4];
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_adaptive(newcomer, Silent));
    plug(&simulator, &planned, newcomer, false);
    let port = simulator.open_port(None).unwrap();
    let policy = ExchangePolicy { drift_period: Duration::from_secs(30), ..ExchangePolicy::default() };
    let mut watched = WatchedSource::looked(simulator.clone(), port, policy, TABLES);
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    let mut last = Duration::ZERO;
    let mut known = Vec::new();
    let says = |at: usize, profile| {
        simulator.with_simulator(|simulator| simulator.fabric_mut().set_adaptive(all[at], profile))
    };
    for step in 0..16 {
        match step {
            2 => says(1, On),
            6 => says(1, Off),
            9 => {
                plug(&simulator, &planned, newcomer, true);
                watched.manager();
            }
            _ => {}
        }
        let before = watched.look.adaptive;
        let swept = watched.sweep(last);
        last = swept.began + TEN_SECONDS;
        assert!(
            swept.retabled || watched.look.adaptive == before,
            "step {step}: what follows is worked out again"
        );
        recorder.record_sweep(BEGUN + 10_000 * step, &watched.look, &swept).unwrap();
        known.push(watched.look.adaptive);
    }
    recorder.finish(BEGUN + 160_000).unwrap();
    assert_eq!((known[1], known[5], known[8]), (None, Some(AdaptiveRouting::On(1)), None), "{known:?}");
    assert_eq!(known.last(), Some(&Some(AdaptiveRouting::Unknown(1))), "{known:?}");
    // Two that say no at the first look, and the silent one twice.
    let plain = all.len() - 3;
    assert_eq!(asked(&simulator).0, 2 + plain + 2);

    let bytes = memory.bytes.borrow().clone();
    let mut reader = CaptureReader::open("it", bytes.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    let mut recorded = Vec::new();
    for slot in slots {
        reader.show_moment(slot).unwrap();
        recorded.push(reader.observation().adaptive);
    }
    assert_eq!(recorded, known);
}
