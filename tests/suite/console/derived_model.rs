//! What counters of a recording came to, worked out behind the screen: the same as a watch would have announced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::fixture::{appearance, frame, text};
use super::pauses::waiting;
use super::replays::{last_message, playback, played, settings, watched_every};
use super::test_session::{NoServices, ReplayBox, TestServices, TestSession};
use crate::captures::sample_fabric;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::timeline::derived_events::{DerivationOutcome, DerivationTask};
use fabdeck::console::features::timeline::frame_requests::FrameTask;
use fabdeck::console::model::background_task::BackgroundTask;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::tasks::TaskId;
use fabdeck_fabric::counters::LinkProblemKind;
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_files::capture::{DerivedEvent, Recorder, TimelineEvent, create};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_routing::NoProgress;

fn incident(name: &str) -> PathBuf {
    Path::new(env!("FABDECK_ROOT")).join(format!("captures/{name}/{name}.fdcap"))
}

const INCIDENTS: [&str; 7] = [
    "credit-loop",
    "failed-link",
    "flapping-link",
    "incast",
    "oversubscribed",
    "silent-host",
    "spine-failure",
];

/// Of each derived event its moment, its label, and whether it began.
fn derived(driver: &TestSession) -> Vec<(usize, DerivedEvent)> {
    let derived = |happened: &fabdeck_files::capture::TimelineEntry| match &happened.event {
        TimelineEvent::Derived(derived) => Some((happened.place, derived.clone())),
        _ => None,
    };
    playback(driver).entries().filter_map(derived).collect()
}

/// Ports that are hot-spots, links in trouble with what is wrong, and what links between switches come to.
type VerdictSets = (BTreeSet<String>, BTreeSet<String>, Option<&'static str>);

/// What stands on the screens at every moment.
fn verdict_sets(driver: &mut TestSession) -> Vec<Option<VerdictSets>> {
    let count = playback(driver).timeline().times.len();
    driver.press(":at space -9h enter");
    (0..count)
        .map(|place| {
            let timeline = playback(driver).timeline();
            let stamp = timeline.time_spec_text(timeline.times[place]);
            driver.press(&format!(":at space {stamp} enter"));
            assert_eq!(playback(driver).shown, Some(place));
            let (state, look) = (&driver.state, driver.state.snapshot().unwrap());
            let watched = &state.known.watch.reading.as_ref()?.watched;
            let hot = watched.verdict.hot_spots.iter().map(|hot| look.port_name(hot.adapter));
            let bad = watched.troubles.iter().filter(|bad| bad.why != LinkProblemKind::Degraded).map(|bad| {
                let ends = look.fabric().link(bad.link);
                let label =
                    if matches!(bad.why, LinkProblemKind::Flaps { .. }) { "flapped" } else { "errors" };
                format!("{label} {} to {}", look.port_name(ends.a), look.port_name(ends.b))
            });
            let way = match (watched.verdict.is_stalled(), watched.verdict.has_narrow_links()) {
                (true, _) => Some("stalled"),
                (false, narrow) => narrow.then_some("too narrow"),
            };
            Some((hot.collect(), bad.collect(), way))
        })
        .collect()
}

const WAYS: [&str; 2] = ["stalled", "too narrow"];

/// The screens of every moment say what was worked out. Gives how many events there are.
fn assert_agree(name: &str, driver: &mut TestSession) -> usize {
    let (mut found, events) = (0, derived(driver));
    let (mut hot, mut bad, mut way) = (BTreeSet::new(), BTreeSet::new(), None);
    for (place, now) in verdict_sets(driver).into_iter().enumerate() {
        let here: Vec<&DerivedEvent> =
            events.iter().filter(|(at, _)| *at == place).map(|(_, one)| one).collect();
        let told = |label: &str, began: bool| {
            here.iter().filter(|one| one.label == label && one.began == began).count()
        };
        let Some((now_hot, now_bad, now_way)) = now else {
            assert!(here.is_empty(), "{name} {place}: {here:?}");
            continue;
        };
        assert_eq!(told("hot-spot", true), now_hot.difference(&hot).count(), "{name} {place}: {here:?}");
        assert_eq!(told("hot-spot", false), hot.difference(&now_hot).count(), "{name} {place}: {here:?}");
        for label in WAYS {
            let (is, was) = (now_way == Some(label), way == Some(label));
            assert_eq!(told(label, true), usize::from(is && !was), "{name} {place}: {here:?}");
            assert_eq!(told(label, false), usize::from(was && !is), "{name} {place}: {here:?}");
        }
        for one in here.iter().filter(|one| one.label == "hot-spot") {
            let set = if one.began { &now_hot } else { &hot };
            assert!(set.iter().any(|adapter| one.text.contains(adapter.as_str())), "{name} {place}: {one:?}");
        }
        for (links, began) in [(now_bad.difference(&bad), true), (bad.difference(&now_bad), false)] {
            for link in links {
                let (label, link): (&str, &str) = link.split_once(' ').unwrap();
                let said = |one: &&&DerivedEvent| {
                    one.label == label && one.began == began && one.text.contains(link)
                };
                assert!(here.iter().any(|one| said(&one)), "{name} {place}: {label} {link}: {here:?}");
            }
        }
        if now_bad == bad {
            assert_eq!(
                here.iter().filter(|one| one.label != "hot-spot" && !WAYS.contains(&one.label)).count(),
                0,
                "{name} {place}: {here:?}"
            );
        }
        found += here.len();
        (hot, bad, way) = (now_hot, now_bad, now_way);
    }
    found
}

/// The Timeline of an incident has the incident: links that stand still, and links that are too narrow.
#[test]
fn links_that_wait_without_a_hot_spot_are_events() {
    for (name, label, words) in [
        ("credit-loop", "stalled", "wait and no adapter is a hot-spot; the worst is "),
        ("credit-loop", "too narrow", "no adapter is a hot-spot; the worst is "),
    ] {
        let events = derived(&played(&incident(name), None));
        let began = events.iter().find(|(_, one)| one.label == label && one.began);
        let (_, began) = began.unwrap_or_else(|| panic!("{name}: {events:?}"));
        assert!(began.text.contains(words), "{name}: {}", began.text);
    }
}

#[test]
fn derived_events_are_what_the_screens_show() {
    let mut found = 0;
    for name in INCIDENTS {
        let mut driver = played(&incident(name), None);
        let events = derived(&driver);
        found += assert_agree(name, &mut driver);
        assert_eq!(derived(&played(&incident(name), None)), events, "{name}: the same each time");
    }
    assert!(found > 10, "{found}");
}

/// A hot-spot that comes and goes twice, and errors that are forgotten once nobody counts more of them for an hour.
#[test]
fn what_began_ends() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("waves.fdcap");
    let look = sample_fabric::look("kary,k=2,n=2");
    let fabric = &look.fabric;
    let (hot, _) = (fabric.ports())
        .find(|(id, port)| {
            let peer = fabric.peer(*id).map(|peer| fabric.node(fabric.port(peer).node).is_switch());
            fabric.node(port.node).is_switch() && peer == Some(false)
        })
        .unwrap();
    let hot = (fabric.node(fabric.port(hot).node).guid(), fabric.port(hot).number);
    let header = CaptureHeader { interval_ms: 600_000, ..sample_fabric::header() };
    let mut recorder = Recorder::new(create(&file).unwrap(), header);
    let (mut waited, mut errors) = (0, 0);
    for at in 0..16_u64 {
        let mut sweep = sample_fabric::sweep(fabric, 0);
        sweep.began = Duration::from_secs(600 * at);
        sweep.at.iter_mut().for_each(|time| *time += Duration::from_secs(600 * at));
        waited += if [3, 4, 8].contains(&at) { 1_000_000_000 } else { 0 };
        errors += if at == 2 { 500 } else { 0 };
        for sample in &mut sweep.samples {
            let here = sample.node.zip(sample.port) == Some(hot);
            let mut values = CounterValues::default();
            values.insert(Counter::PortXmitWait, Some(if here { waited } else { 0 }));
            values.insert(Counter::SymbolErrorCounter, Some(if here { errors } else { 0 }));
            sample.values = values;
        }
        recorder.record_sweep(sample_fabric::BEGUN + 600_000 * at as i64, &look, &sweep).unwrap();
    }
    recorder.finish(sample_fabric::BEGUN + 600_000 * 16).unwrap();
    let mut driver = played(&file, None);
    let seen: Vec<(usize, &str, bool)> = {
        let all = derived(&driver).into_iter();
        all.map(|(place, derived)| (place, derived.label, derived.began)).collect()
    };
    let ended = seen.iter().find(|(_, label, began)| *label == "errors" && !began).unwrap().0;
    assert!((5..=8).contains(&ended), "half an hour to an hour later: {seen:?}");
    let mut expected = vec![
        (2, "errors", true),
        (3, "hot-spot", true),
        (5, "hot-spot", false),
        (8, "hot-spot", true),
        (9, "hot-spot", false),
        (ended, "errors", false),
    ];
    let mut sorted = seen.clone();
    expected.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(assert_agree("waves", &mut driver), 6);
    let last = derived(&driver).pop().unwrap().1.text;
    assert!(last.starts_with("hot-spot ended: ") && last.contains(", which "), "{last}");
}

/// What a watch announced while it was recorded is what is worked out of the recording.
#[test]
fn the_log_of_the_watch_says_the_same() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("demo.fdcap");
    let (mut live, recorder) = watched_every("sim:demo", &file, settings());
    live.send_input(SessionInput::Tick);
    for _ in 0..20 {
        live.advance_ms(5000);
    }
    recorder.borrow_mut().take().unwrap().finish(1_795_313_900_000).unwrap();
    let said: Vec<String> = live.state.messages.iter().map(|message| message.text.clone()).collect();
    let events = derived(&played(&file, None));
    assert!(!events.is_empty());
    for (place, DerivedEvent { label, text, began }) in &events {
        let line = match (*began, *label) {
            (true, "hot-spot" | "stalled" | "too narrow") => format!("{label}: {text}"),
            (true, _) => format!("link {text}"),
            (false, _) => text.clone(),
        };
        assert!(said.contains(&line), "{place}: {line}: {said:?}");
    }
    let announced = |line: &&String| {
        [
            "hot-spot: ",
            "hot-spot ended",
            "link ",
            "stalled: ",
            "too narrow: ",
            "ports between ",
            "links between ",
        ]
        .iter()
        .any(|begin| line.starts_with(begin))
            && !line.starts_with("link down")
    };
    assert_eq!(said.iter().filter(announced).count(), events.len(), "{said:?}");
}

/// The incidents in which nothing is told but by counters have events to go to.
#[test]
fn n_goes_to_what_counters_came_to() {
    for name in ["incast", "oversubscribed"] {
        let mut driver = played(&incident(name), None);
        driver.press(":at space -9h enter");
        let places: BTreeSet<usize> = derived(&driver).into_iter().map(|(place, _)| place).collect();
        assert!(!places.is_empty(), "{name}");
        for place in places {
            driver.press("n");
            assert_eq!(playback(&driver).place(), place, "{name}: {}", last_message(&driver));
        }
        driver.press("n");
        assert!(last_message(&driver).contains("no event after"), "{}", last_message(&driver));
        driver.press("0");
        let seen = text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
        assert!(seen.contains(" derived from counters"), "{seen}");
    }
}

/// A capture as it is looked at again, up to the first part of its counters.
fn at_first_part(driver: &mut TestSession) -> (TaskId, Arc<dyn BackgroundTask>) {
    let [key] = Key::parse_sequence("r")[..] else { panic!() };
    let mut work = waiting(driver, SessionInput::Key(key));
    while let Some(at) = work.iter().position(|(_, job)| job.downcast::<DerivationTask>().is_none()) {
        let (task, job) = work.remove(at);
        let mut recorded = ReplayBox(Box::new(scenes()));
        let (look, mut nothing) = (Ok(driver.state.snapshot().unwrap().clone()), NoServices::default());
        let services =
            &mut TestServices { look: &look, recorded: &mut recorded, ..TestServices::nothing(&mut nothing) };
        let outcome = job.run(services, &NoProgress).unwrap();
        assert!(
            !work.iter().any(|(_, job)| job.downcast::<DerivationTask>().is_some()),
            "it waits for all else"
        );
        work.extend(waiting(driver, SessionInput::Finished { task, outcome }));
    }
    let [(task, job)] = &work[..] else { panic!("{work:?}") };
    (*task, job.clone())
}

fn scenes() -> fabdeck::operations::replay::replay_frame::ReplayFrames<fabdeck_files::capture::FileBytes> {
    let (tape, place) = fabdeck_files::capture::RecordingPlayer::open(&incident("incast"), None).unwrap();
    fabdeck::operations::replay::replay_frame::ReplayFrames::new(
        tape,
        place,
        super::replays::looking("incast"),
    )
}

/// It comes in parts, behind all that somebody waits for, and says how far it is; Esc on the Timeline ends it.
#[test]
fn it_is_worked_out_in_parts_and_can_be_stopped() {
    let mut driver = played(&incident("incast"), None);
    let all = derived(&driver);
    driver.press("0");
    let seen = |driver: &TestSession| text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
    let (task, _) = at_first_part(&mut driver);
    assert!(derived(&driver).is_empty());
    assert!(seen(&driver).contains("0 derived from counters so far (0%, Esc stops)"), "{}", seen(&driver));
    // Who steps is first: nothing of it is asked for until the moment is there.
    let [key] = Key::parse_sequence("[")[..] else { panic!() };
    let seek = waiting(&mut driver, SessionInput::Key(key));
    assert!(matches!(&seek[..], [(_, job)] if job.downcast::<FrameTask>().is_some()), "{seek:?}");
    let (place, event) = all[0].clone();
    let event = TimelineEvent::Derived(event);
    let time = playback(&driver).timeline().times[place];
    let happened = vec![fabdeck_files::capture::TimelineEntry { place, time, event }];
    let part = fabdeck::operations::replay::event_scan::DerivedPart {
        happened,
        done: place + 1,
        ..Default::default()
    };
    let next =
        waiting(&mut driver, SessionInput::Finished { task, outcome: Box::new(DerivationOutcome(Ok(part))) });
    assert!(next.is_empty(), "{next:?}");
    assert_eq!(derived(&driver), all[..1]);
    assert!(seen(&driver).contains("1 derived from counters so far ("), "{}", seen(&driver));
    let [key] = Key::parse_sequence("esc")[..] else { panic!() };
    waiting(&mut driver, SessionInput::Key(key));
    assert!(
        last_message(&driver).contains("are derived from counters up to sample"),
        "{}",
        last_message(&driver)
    );
    driver.press("0");
    assert!(seen(&driver).contains("1 derived from counters up to sample"), "{}", seen(&driver));
}
