//! A pause: what happens behind it, and how one gets back to live.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::fixture::{appearance, frame, text};
use super::replays::{WANTED, last_message, looking, playback, screens, settings};
use super::test_session::{ReplayBox, Sweeper, TestSession, UserSystem};
use crate::captures::sample_fabric;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::timeline::frame_requests::{
    FrameOutcome, FrameTask, RecordingOutcome, RecordingTask,
};
use fabdeck::console::model::background_task::BackgroundTask;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::tasks::TaskId;
use fabdeck::operations::replay::replay_frame::{FrameSource, OpenedRecording, ReplayFrame, SeekRequest};
use fabdeck::operations::replay::watch_recording::WatchRecording;
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::observe::{FabricEvent, Sweep};
use fabdeck_fabric::{Guid, NameMap};
use fabdeck_files::capture::{
    OperatorEntry, RecordingPlayer, TimelineEntry, TimelineEvent, read_acknowledgements,
};
use fabdeck_files::capture_format::{CaptureHeader, CaptureReader, OperatorAction};
use fabdeck_mad::access::NoObserver;
use fabdeck_routing::{NoProgress, RouteProgress};

const MOST: u64 = 64 << 20;

/// What is kept of a watch, shared by whoever sweeps and whoever steps back.
struct SharedHistory(Rc<RefCell<WatchRecording>>);

impl FrameSource for SharedHistory {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        self.0.borrow_mut().open_recording()
    }

    fn seek_frame(&mut self, seek: SeekRequest, pulse: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        self.0.borrow_mut().seek_frame(seek, pulse)
    }

    fn add_entry(&mut self, after: Duration, entry: &OperatorEntry) {
        self.0.borrow_mut().add_entry(after, entry);
    }

    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        self.0.borrow_mut().capture_bytes()
    }
}

/// A watch that keeps what it sees.
fn watch_with_history(source: &str, most: u64) -> TestSession {
    watch_and_history(source, most, |_, _| {}).0
}

/// The same and what it keeps, each sweep changed as it is told: the first is 1.
pub fn watch_and_history(
    source: &str,
    most: u64,
    mut change: impl FnMut(usize, &mut Sweep) + 'static,
) -> (TestSession, Rc<RefCell<WatchRecording>>) {
    let mut opened = LocalSystemAccess::default().open(source, &SourceOptions::default()).unwrap();
    let observed = opened.observe(WANTED, &mut NoObserver).unwrap();
    let look = Snapshot::new(source, observed, &NameMap::default());
    let header = CaptureHeader { interval_ms: settings().interval_ms, ..sample_fabric::header() };
    let past = Rc::new(RefCell::new(WatchRecording::new(header, most, looking(source))));
    let (mut known, written, mut first, mut count) = (look.clone(), past.clone(), None, 0);
    let sweep = move |not_before: Duration| {
        let mut swept = read_sweep(opened.as_mut(), &mut known, not_before, &mut NoObserver)
            .map_err(|error| error.to_string())?;
        count += 1;
        change(count, Arc::make_mut(&mut swept.sweep));
        let passed = swept.sweep.began - *first.get_or_insert(swept.sweep.began);
        let time = sample_fabric::BEGUN + passed.as_millis() as i64;
        written.borrow_mut().record(time, &known.observation, &swept.sweep);
        Ok(swept)
    };
    let size = Size { width: 120, height: 40 };
    let both = (Sweeper(Box::new(sweep)), ReplayBox(Box::new(SharedHistory(past.clone()))));
    (TestSession::open_recorded(look, both, settings(), size), past)
}

/// A pause is a replay of what was watched; the watch continues in the background it, and who goes back has missed nothing.
#[test]
fn a_pause_steps_back_through_what_was_watched() {
    let (mut paused, mut live) =
        (watch_with_history("sim:demo", 64 << 20), watch_with_history("sim:demo", 64 << 20));
    paused.press("0 space");
    assert!(last_message(&paused).contains("no sweep was read yet"), "{}", last_message(&paused));
    let mut seen = Vec::new();
    for moment in 0..15 {
        for driver in [&mut paused, &mut live] {
            if moment == 0 {
                driver.send_input(SessionInput::Tick)
            } else {
                driver.advance_ms(5000)
            };
        }
        seen.push(screens(&mut paused));
        assert_eq!(screens(&mut live), seen[moment]);
    }
    paused.press("0 space");
    let said = last_message(&paused).to_owned();
    assert!(said.contains("paused at 03:14:50") && said.contains("the watch continues"), "{said}");
    assert_eq!(screens(&mut paused), seen[14]);
    paused.press("{ [");
    assert_eq!(playback(&paused).place(), 3);
    for _ in 0..3 {
        paused.advance_ms(5000);
        live.advance_ms(5000);
    }
    assert_eq!(screens(&mut paused), seen[3], "what goes on behind a pause does not show");
    let line = {
        paused.press("3 c");
        paused.copied.last().unwrap().clone()
    };
    assert!(!line.contains("--at"), "no file has this moment: {line}");
    paused.press("}").press("]");
    assert_eq!(screens(&mut paused), seen[14]);
    paused.press("]");
    assert!(last_message(&paused).contains("L returns to live"), "{}", last_message(&paused));
    paused.press("L");
    assert!(paused.state.known.playback.is_none());
    assert!(paused.state.messages.iter().any(|said| said.text == "back to live"));
    assert_eq!(screens(&mut paused), screens(&mut live), "nothing was missed");
    for driver in [&mut paused, &mut live] {
        driver.advance_ms(5000);
    }
    assert_eq!(screens(&mut paused), screens(&mut live), "and it goes on");
    assert_eq!(paused.state.known.watch.sweeps, 19);
    paused.press("L");
    assert!(last_message(&paused).contains("the screens are live already"), "{}", last_message(&paused));
    // Another look is live.
    paused.press("0 space r");
    assert!(paused.state.known.playback.is_none() && !paused.state.known.watch.recorded);
    paused.advance_ms(5000).advance_ms(5000);
    assert_eq!(paused.state.known.watch.sweeps, 2);
    let mut forgetful = watch_with_history("sim:demo", 0);
    forgetful.advance_ms(5000).press("0 space");
    assert!(last_message(&forgetful).contains("past_mib"), "{}", last_message(&forgetful));
    assert!(forgetful.state.known.playback.is_none(), "who cannot step back stays live");
    forgetful.advance_ms(5000);
    assert_eq!(forgetful.state.known.watch.sweeps, 2);
}

/// Presses a key, and what is to be done about it waits.
fn press_and_hold(driver: &mut TestSession, key: &str) -> Vec<(TaskId, Arc<dyn BackgroundTask>)> {
    let [key] = Key::parse_sequence(key)[..] else { panic!("{key}") };
    waiting(driver, SessionInput::Key(key))
}

/// Takes what happens in, and gives the work that it begins.
pub(super) fn waiting(
    driver: &mut TestSession,
    what: SessionInput,
) -> Vec<(TaskId, Arc<dyn BackgroundTask>)> {
    let at_ms = driver.state.now_ms;
    let effects = update(&mut driver.state, SessionEvent { at_ms, what });
    let begun = effects.into_iter().filter_map(|effect| match effect {
        Effect::Begin { task, job } => Some((task, job)),
        _ => None,
    });
    begun.collect()
}

/// The only task that was begun, which is of this kind.
fn only_task<T: BackgroundTask>(
    begun: Vec<(TaskId, Arc<dyn BackgroundTask>)>,
) -> (TaskId, Arc<dyn BackgroundTask>) {
    assert!(begun.len() == 1 && begun[0].1.downcast::<T>().is_some(), "{begun:?}");
    begun.into_iter().next().unwrap()
}

fn matching_messages(driver: &TestSession, words: &str) -> Vec<String> {
    let said = driver.state.messages.iter().map(|message| message.line());
    said.filter(|line| line.contains(words)).collect()
}

/// Of the first node it is told that it is silent, and that it answers.
fn add_events(nodes: &[Guid], sweep: &mut Sweep) {
    let node = nodes[0];
    sweep.news.extend([FabricEvent::NodeSilent { node }, FabricEvent::NodeAnswers { node }]);
}

fn node() -> Vec<Guid> {
    let (driver, _) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.state.snapshot().unwrap().fabric().nodes().map(|(_, node)| node.guid()).collect()
}

#[test]
fn what_is_new_behind_a_pause_is_reported_afterwards() {
    let nodes = node();
    let (mut driver, _) = watch_and_history("sim:demo", MOST, move |at, sweep| {
        if at > 3 {
            add_events(&nodes, sweep);
        }
    });
    driver.send_input(SessionInput::Tick).advance_ms(5000).advance_ms(5000).press("0 space [");
    driver.advance_ms(5000);
    assert!(matching_messages(&driver, "during the pause: ").is_empty(), "nothing of it is shown yet");
    driver.press("L");
    let said = matching_messages(&driver, "during the pause: ");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("warning: ")), "{said:?}");
    assert_eq!(last_message(&driver), "back to live");
    // Each thing once; of many so many are said, and of the others their number.
    driver.press("0 space");
    for _ in 0..30 {
        driver.advance_ms(5000);
    }
    driver.press("L");
    let said = matching_messages(&driver, "during the pause: ");
    assert_eq!(said.len(), 2 + 50 + 1, "{said:?}");
    let more = said.last().and_then(|line| line.strip_prefix("warning: during the pause: and "));
    let more = more.and_then(|line| line.strip_suffix(" more messages, not stored"));
    // Of thirty sweeps two each, and what the fabric tells of itself.
    assert!(more.is_some_and(|more| more.parse::<usize>().unwrap() >= 10), "{said:?}");
}

/// Whoever finds nothing to step back through goes on, and another look ends a pause: both tell what came meanwhile.
#[test]
fn resuming_reports_what_was_new() {
    for by_look in [false, true] {
        let nodes = node();
        let (mut driver, _) = watch_and_history("sim:demo", MOST, move |at, sweep| {
            if at == 3 {
                add_events(&nodes, sweep);
            }
        });
        driver.send_input(SessionInput::Tick).advance_ms(5000).press("0");
        let (task, _) = only_task::<RecordingTask>(press_and_hold(&mut driver, "space"));
        driver.advance_ms(5000);
        assert!(matching_messages(&driver, "during the pause: ").is_empty());
        match by_look {
            true => driver.press("r"),
            false => driver
                .send_input(SessionInput::Finished { task, outcome: Box::new(RecordingOutcome(Ok(None))) }),
        };
        assert!(driver.state.known.playback.is_none());
        assert_eq!(matching_messages(&driver, "during the pause: ").len(), 2, "by another look: {by_look}");
    }
}

/// A sweep that nobody answers makes no moment; what it found is told with the next.
#[test]
fn what_a_silent_sweep_found_is_recorded() {
    let nodes = node();
    let (mut driver, _) = watch_and_history("sim:demo", MOST, move |at, sweep| {
        if at == 3 {
            add_events(&nodes, sweep);
            sweep.samples.clear();
        }
    });
    driver.send_input(SessionInput::Tick);
    for _ in 0..4 {
        driver.advance_ms(5000);
    }
    driver.press("0 space");
    let timeline = playback(&driver).timeline();
    assert_eq!(timeline.times.len(), 4, "nobody answered the third");
    let node = node()[0];
    for news in [FabricEvent::NodeSilent { node }, FabricEvent::NodeAnswers { node }] {
        let of = |happened: &&TimelineEntry| happened.event == TimelineEvent::News(news.clone());
        let places: Vec<usize> = timeline.happened.iter().filter(of).map(|happened| happened.place).collect();
        assert_eq!(places, [2], "{news:?}");
    }
}

/// On the way back no other moment is gone to: it is the latest that live goes on from.
#[test]
fn nothing_overtakes_the_way_back() {
    let (mut driver, past) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.send_input(SessionInput::Tick);
    for _ in 0..12 {
        driver.advance_ms(5000);
    }
    driver.press("0 space {");
    driver.advance_ms(5000);
    let place = playback(&driver).place();
    let refused = |driver: &mut TestSession| {
        for key in ["[", "]", "{", "N", "space", "L", "m", "<"] {
            assert_eq!(press_and_hold(driver, key).len(), 0, "{key}");
            assert!(last_message(driver).contains("returning to live"), "{key}: {}", last_message(driver));
        }
        assert_eq!(press_and_hold(driver, "enter").len(), 0);
    };
    let (task, _) = only_task::<RecordingTask>(press_and_hold(&mut driver, "L"));
    refused(&mut driver);
    assert_eq!(playback(&driver).place(), place);
    let unrolled = Box::new(RecordingOutcome(past.borrow_mut().open_recording()));
    let begun = waiting(&mut driver, SessionInput::Finished { task, outcome: unrolled });
    let (task, job) = only_task::<FrameTask>(begun);
    let seek = job.downcast::<FrameTask>().unwrap().0;
    assert_eq!((seek.place, seek.deep), (13, true));
    refused(&mut driver);
    let outcome = Box::new(FrameOutcome(past.borrow_mut().seek_frame(seek, &NoProgress).map(Box::new)));
    driver.send_input(SessionInput::Finished { task, outcome });
    assert!(driver.state.known.playback.is_none());
    assert_eq!(driver.state.known.watch.sweeps, 14, "nothing is cut away");
}

/// What came since cannot be read: the pause continues, and steps are steps again.
#[test]
fn a_failed_return_to_live_stays_in_the_pause() {
    let (mut driver, past) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.send_input(SessionInput::Tick);
    for _ in 0..5 {
        driver.advance_ms(5000);
    }
    driver.press("0 space [");
    let (task, _) = only_task::<RecordingTask>(press_and_hold(&mut driver, "L"));
    let unrolled = Box::new(RecordingOutcome(past.borrow_mut().open_recording()));
    let begun = waiting(&mut driver, SessionInput::Finished { task, outcome: unrolled });
    let (task, _) = only_task::<FrameTask>(begun);
    driver.send_input(SessionInput::Finished {
        task,
        outcome: Box::new(FrameOutcome(Err("it is broken".to_owned()))),
    });
    let said = matching_messages(&driver, "the pause continues");
    assert!(said.len() == 1 && said[0].ends_with("it is broken"), "{said:?}");
    assert_eq!(playback(&driver).shown, Some(5), "the screens are where the cursor is");
    driver.press("[");
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (4, Some(4)));
    driver.press("L");
    assert!(driver.state.known.playback.is_none());
    assert_eq!(last_message(&driver), "back to live");
}

/// Of all that happened what an operator said and did: the moment, the time since the first sweep, and the words.
fn entered<'h>(all: impl Iterator<Item = &'h TimelineEntry>) -> Vec<(usize, i64, String, Option<String>)> {
    let one = |happened: &TimelineEntry| match &happened.event {
        TimelineEvent::Note(text) => Some((text.clone(), None)),
        TimelineEvent::Action(OperatorAction { what, command }) => Some((what.clone(), command.clone())),
        _ => None,
    };
    let row = |happened: &TimelineEntry| {
        let (words, command) = one(happened)?;
        Some((happened.place, happened.time - sample_fabric::BEGUN, words, command))
    };
    all.filter_map(row).collect()
}

/// Marks, what engines make of them, plans and notes are in what is recorded, with the lines that do the same, and a
/// capture that is made of it has them.
#[test]
fn what_an_operator_does_is_recorded() {
    let (mut driver, past) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.press("i");
    assert!(driver.state.prompt.is_some(), "i asks for the words");
    driver.press("b e g i n s enter");
    driver.send_input(SessionInput::Tick).advance_ms(5000);
    driver.press("3 / kind=switch-switch enter g f").advance_ms(5000);
    driver.press("z esc esc").press(":note space a space cable space was space pulled enter");
    driver.press(":preview space minhop enter");
    driver.press(":write-plan space x.plan enter");
    assert_eq!(driver.written.len(), 1);
    driver.advance_ms(5000);
    driver.press("0 space");
    let words = entered(playback(&driver).entries());
    let texts: Vec<&str> = words.iter().map(|(_, _, text, _)| text.as_str()).collect();
    let [begins, marked, unmarked, note, proposed, planned] = texts[..] else { panic!("{words:?}") };
    assert_eq!((begins, note), ("begins", "a cable was pulled"));
    assert!(
        marked.starts_with("marked as failed: ") && marked.ends_with("; 1 element marked now"),
        "{marked}"
    );
    assert!(unmarked.starts_with("no longer marked: ") && unmarked.ends_with("; 0 elements marked now"));
    assert_eq!(proposed, "minhop proposed routes around 0 marks");
    assert_eq!(planned, "wrote the plan of minhop to a file");
    let lines: Vec<&str> = words.iter().filter_map(|(_, _, _, line)| line.as_deref()).collect();
    assert!(lines[0].starts_with("fabdeck --source sim:demo whatif --fail "), "{lines:?}");
    assert_eq!(lines[1], "fabdeck --source sim:demo whatif");
    assert_eq!(lines[2], "fabdeck --source sim:demo whatif --engine minhop");
    assert!(lines[3].contains("route --engine minhop") && lines[3].ends_with("-o x.plan"), "{lines:?}");
    // With the sweep that came next, at the time of the one before.
    let seen: Vec<(usize, i64)> = words.iter().map(|(place, time, ..)| (*place, *time)).collect();
    assert_eq!(seen, [(1, 0), (2, 5000), (3, 10_000), (3, 10_000), (3, 10_000), (3, 10_000)]);
    // During a pause they are seen at its end, and with the next pause where they belong.
    driver.press("[ [ [").advance_ms(5000).press("3 f 0");
    let during = entered(playback(&driver).entries());
    assert_eq!((during.len(), during[6].0, during[6].1), (7, 3, 20_000), "{during:?}");
    driver.press("n n n n");
    assert_eq!(playback(&driver).place(), 3);
    driver.press("L space");
    let after = entered(playback(&driver).entries());
    assert_eq!((after.len(), after[6].0), (7, 4), "{after:?}");
    assert_eq!(after[6].2, during[6].2);
    // And a capture that is made of it.
    driver.press(":save space a.fdcap enter");
    assert!(
        last_message(&driver).contains("--source a.fdcap plays the recording so far"),
        "{}",
        last_message(&driver)
    );
    let bytes = past.borrow_mut().capture_bytes().unwrap();
    let reader = CaptureReader::open("a.fdcap", bytes.as_slice()).unwrap();
    assert!(reader.has_end());
    let timeline = RecordingPlayer::from_reader(reader).timeline();
    let saved = entered(timeline.happened.iter());
    assert_eq!((timeline.times.len(), &saved[..7]), (5, &after[..]));
    assert_eq!(saved[7].2, "wrote the recording so far to a capture");
}

/// What is not recorded says so.
#[test]
fn where_nothing_is_recorded_there_are_no_notes() {
    let mut forgetful = watch_with_history("sim:demo", 0);
    forgetful.state.known.watch.settings.past_bytes = 0;
    forgetful.advance_ms(5000).press("i");
    assert!(last_message(&forgetful).contains("past_mib"), "{}", last_message(&forgetful));
    forgetful.press(":save space a.fdcap enter");
    assert!(last_message(&forgetful).contains("past_mib"), "{}", last_message(&forgetful));
}

/// Bookmarks of a pause are there in the next, at the same moments, as long as these are kept.
#[test]
fn bookmarks_outlive_a_pause() {
    let mut driver = watch_with_history("sim:demo", MOST);
    driver.send_input(SessionInput::Tick);
    for _ in 0..4 {
        driver.advance_ms(5000);
    }
    driver.press("0 space [ m [ [ m");
    let times = |driver: &TestSession| -> Vec<i64> {
        let playback = playback(driver);
        playback
            .bookmarks
            .iter()
            .map(|place| playback.timeline().times[*place] - sample_fabric::BEGUN)
            .collect()
    };
    assert_eq!(times(&driver), [5_000, 15_000]);
    driver.press("L").advance_ms(5000).press("space");
    assert_eq!(times(&driver), [5_000, 15_000]);
    assert!(last_message(&driver).ends_with("; 2 bookmarks from before"), "{}", last_message(&driver));
    // One that is taken away stays away.
    driver.press(":at space -10s enter m");
    assert_eq!(times(&driver), [5_000]);
    driver.press("L space");
    assert_eq!(times(&driver), [5_000]);
    // Another look goes on with what is recorded, and says so; what ended the pause is in it.
    driver.press("r");
    let said = matching_messages(&driver, "the recording stays (0)");
    assert!(said.len() == 1 && said[0].starts_with("live again: the source was read again"), "{said:?}");
    assert_eq!(driver.state.known.watch.sweeps, 0);
    driver.advance_ms(5000).advance_ms(5000).press("0 space");
    assert_eq!(times(&driver), [5_000]);
    let words = entered(playback(&driver).entries());
    assert_eq!(
        words.iter().map(|(_, _, what, _)| what.as_str()).collect::<Vec<_>>(),
        ["read the source again"]
    );
}

/// A note has the time at which it was written, however long after the last sweep that is, and stands behind what came
/// before it. Written while an earlier moment is shown, it is about that moment, also in the next pause.
#[test]
fn a_note_stands_at_the_time_of_now() {
    let (mut driver, _) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.send_input(SessionInput::Tick).advance_ms(5000);
    driver.state.now_ms += 3000;
    driver.press("3 / kind=switch-switch enter g f 0");
    driver.state.now_ms += 1000;
    driver.press("space");
    driver.state.now_ms += 500;
    driver.press(":note space late enter");
    let said = last_message(&driver).to_owned();
    assert!(said.starts_with("noted at 03:13:49, the present time and not the moment shown"), "{said}");
    let times = |driver: &TestSession| -> Vec<i64> {
        entered(playback(driver).entries()).into_iter().map(|(_, time, ..)| time).collect()
    };
    assert_eq!(times(&driver), [8_000, 9_500]);
    driver.press("[ :note space early enter");
    assert_eq!(last_message(&driver), "noted at 03:13:40");
    let early = |driver: &TestSession| {
        let is_early = |entry: &&TimelineEntry| matches!(&entry.event, TimelineEvent::Annotation(own) if own.text.as_deref() == Some("early"));
        playback(driver).entries().filter(is_early).map(|entry| entry.place).collect::<Vec<_>>()
    };
    assert_eq!(early(&driver), [0]);
    driver.press("L").advance_ms(5000).press("0 space");
    assert_eq!(times(&driver), [8_000, 9_500], "and so it is recorded");
    assert_eq!(early(&driver), [0]);
}

/// The recording of a watch has the acknowledgements that are made during it.
#[test]
fn an_acknowledgement_is_recorded() {
    let home = tempfile::tempdir().unwrap();
    let (mut driver, past) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.system = UserSystem(Some(Box::new(LocalSystemAccess::default().with_state(home.path()))));
    driver.send_input(SessionInput::Tick).advance_ms(5000).press("1 x enter");
    let recorded = || {
        let bytes = past.borrow_mut().capture_bytes().unwrap();
        read_acknowledgements(&mut CaptureReader::open("f", bytes).unwrap())
    };
    let first = recorded();
    let acknowledged = driver.state.known.problems.ranked.as_ref().unwrap().problems.last().unwrap().clone();
    assert_eq!((first.len(), &first[0].problem), (1, &acknowledged.id));
    assert!(std::fs::read_to_string(home.path().join("acknowledged")).unwrap().contains(&first[0].problem));
    driver.press("G x enter");
    assert_eq!(recorded(), []);
}

/// Whoever leaves with notes that are in no file is told of them once.
#[test]
fn notes_in_no_file_are_announced_before_they_are_lost() {
    let mut driver = watch_with_history("sim:demo", MOST);
    driver.send_input(SessionInput::Tick).press(":note space one enter").press("1 q");
    let said = last_message(&driver).to_owned();
    assert!(!driver.state.leaving && said.contains(":save FILE") && said.contains("1 note is"), "{said}");
    driver.press("g q");
    assert!(!driver.state.leaving, "another key was pressed: it is asked again");
    driver.press("q");
    assert!(driver.state.leaving);
    let mut saved = watch_with_history("sim:demo", MOST);
    saved
        .send_input(SessionInput::Tick)
        .press(":note space one enter")
        .press(":save space a.fdcap enter 1 q");
    assert!(saved.state.leaving);
}

/// What goes on behind a pause is told as it is; and what is shown then is no replay.
#[test]
fn a_pause_says_whether_the_watch_goes_on() {
    let mut driver = watch_with_history("sim:demo", MOST);
    driver.send_input(SessionInput::Tick).advance_ms(5000).press("0");
    let seen = |driver: &TestSession| text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
    assert!(
        seen(&driver).contains("space pause") && !seen(&driver).contains("space play"),
        "{}",
        seen(&driver)
    );
    driver.press("space");
    assert!(
        last_message(&driver).contains("the watch continues in the background"),
        "{}",
        last_message(&driver)
    );
    assert!(seen(&driver).starts_with(" PAUSED "), "{}", seen(&driver));
    driver.press("L W").press("0 space");
    assert!(last_message(&driver).contains("the watch is off (W)"), "{}", last_message(&driver));
}

/// A sweep that nobody answers is none behind a pause either: it is said, and does not count.
#[test]
fn a_silent_sweep_behind_a_pause_is_reported() {
    let (mut driver, _) = watch_and_history("sim:demo", MOST, |at, sweep| {
        if at == 4 {
            sweep.samples.clear();
        }
    });
    driver.send_input(SessionInput::Tick).advance_ms(5000).advance_ms(5000).press("0 space");
    driver.advance_ms(5000);
    let said = matching_messages(&driver, "could not be read during the pause");
    assert!(said.len() == 1 && said[0].contains("FD-6320"), "{said:?}");
    let live = |driver: &TestSession| playback(driver).live.as_ref().unwrap().sweeps;
    assert_eq!(live(&driver), 0);
    driver.advance_ms(5000);
    assert_eq!((live(&driver), matching_messages(&driver, "could not be read").len()), (1, 1));
    driver.press("L");
    assert_eq!(driver.state.known.watch.sweeps, 4);
}

/// What is swept on the way back would be in no history: nothing is, until one is there.
#[test]
fn nothing_is_swept_on_the_way_back() {
    let (mut driver, past) = watch_and_history("sim:demo", MOST, |_, _| {});
    driver.send_input(SessionInput::Tick);
    for _ in 0..5 {
        driver.advance_ms(5000);
    }
    driver.press("0 space [");
    let (task, _) = only_task::<RecordingTask>(press_and_hold(&mut driver, "L"));
    driver.state.now_ms += 20_000;
    let begun = waiting(&mut driver, SessionInput::Tick);
    assert!(begun.is_empty(), "{begun:?}");
    let unrolled = Box::new(RecordingOutcome(past.borrow_mut().open_recording()));
    let begun = waiting(&mut driver, SessionInput::Finished { task, outcome: unrolled });
    let (task, job) = only_task::<FrameTask>(begun);
    let seek = job.downcast::<FrameTask>().unwrap().0;
    assert!(waiting(&mut driver, SessionInput::Tick).is_empty());
    let outcome = Box::new(FrameOutcome(past.borrow_mut().seek_frame(seek, &NoProgress).map(Box::new)));
    driver.send_input(SessionInput::Finished { task, outcome });
    driver.send_input(SessionInput::Tick);
    let all = past.borrow_mut().open_recording().unwrap().unwrap().timeline.times.len();
    assert_eq!((driver.state.known.watch.sweeps, all), (7, 7), "the sweep that was due, and none is missing");
}

/// What a watch over a simulator shows is of its time, and a line that is copied begins at its beginning.
#[test]
fn a_line_of_a_simulator_says_that_time_begins_anew() {
    let mut driver = watch_with_history("sim:demo", MOST);
    driver.press("3 c");
    assert!(last_message(&driver).starts_with("copied: fabdeck "), "{}", last_message(&driver));
    driver.send_input(SessionInput::Tick).press("3 c");
    let said = last_message(&driver);
    assert!(said.starts_with("copied (with a new simulator, at the time 0): fabdeck "), "{said}");
}

/// A pause begins where the cursor of the charts is.
#[test]
fn a_pause_begins_at_the_cursor_of_the_charts() {
    let mut driver = watch_with_history("sim:demo", MOST);
    driver.send_input(SessionInput::Tick);
    for _ in 0..9 {
        driver.advance_ms(5000);
    }
    driver.press("0 left left left left left");
    let cursor = driver.state.known.chart_cursor.unwrap();
    driver.press("space");
    assert_eq!(driver.state.known.chart_cursor, None);
    let (place, at_ms) = (playback(&driver).place(), playback(&driver).at_ms(playback(&driver).place()));
    assert!(place < 9 && at_ms <= cursor && cursor < at_ms + 5000, "{place}: {at_ms} for {cursor}");
    assert_eq!(playback(&driver).shown, Some(place));
}

/// Who comes to the Timeline of a live watch is told what it is for, and which key begins.
#[test]
fn a_live_timeline_says_what_it_is_for() {
    let mut driver = watch_with_history("sim:demo", MOST);
    // Once there are events, they are listed instead.
    driver.send_input(SessionInput::Tick).press("0");
    assert!(driver.state.screens.timeline.events().is_empty());
    for (width, height) in [(80, 24), (200, 60)] {
        driver.send_input(SessionInput::Resized(Size { width, height }));
        let frame = text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
        assert!(
            frame.contains("The Timeline goes back in time") && frame.contains("Space pauses"),
            "{frame}"
        );
    }
}
