//! What was recorded, played: every screen at any moment is what a watch showed then; and every key of time at the
//! beginning, the end, a gap, damage, and where a clock was set back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};
use std::time::{Duration, Instant};

use super::colour_independence::assert_readable_without_colours;
use super::command_lines::carried_out;
use super::fixture::{appearance, frame, golden, text};
use super::pty::Session;
use super::test_session::{ReplayBox, Sweeper, TestSession};
use crate::captures::sample_fabric;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::timeline::frame_requests::{FrameOutcome, FrameTask};
use fabdeck::console::features::timeline::playback::{Playback, PlaybackPosition};
use fabdeck::console::features::watch::watch_state::WatchSettings;
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::replay::replay_frame::{FrameSource, ReplayFrames, SeekRequest, SnapshotMaker};
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::NameMap;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_files::capture::{Recorder, RecordingPlayer, TimeSpec, create};
use fabdeck_files::capture_format::{ByteSource, CaptureHeader};
use fabdeck_mad::access::{NoObserver, ReadOptions};
use fabdeck_routing::{NoProgress, RouteProgress};

pub fn settings() -> WatchSettings {
    WatchSettings { interval_ms: 5000, thresholds: Thresholds::default(), past_bytes: 64 << 20 }
}

pub fn looking(name: &str) -> SnapshotMaker {
    let name = name.to_owned();
    Arc::new(move |observation| Ok(Snapshot::new(&name, observation, &NameMap::default())))
}

pub const WANTED: ReadOptions =
    ReadOptions { tables: true, counters: true, multicast: true, ..crate::live::TOPOLOGY };

/// A session on a capture, at its end or at a time.
pub fn played(file: &Path, at: Option<&str>) -> TestSession {
    played_with(file, at, settings())
}

fn played_with(file: &Path, at: Option<&str>, settings: WatchSettings) -> TestSession {
    let name = file.display().to_string();
    let at = at.map(|at| TimeSpec::parse(at).unwrap());
    let (tape, place) = RecordingPlayer::open(file, at).unwrap();
    let reach = SourceOptions::default();
    let observed =
        LocalSystemAccess::default().open(&name, &reach).unwrap().observe(WANTED, &mut NoObserver).unwrap();
    let look = Snapshot::new(&name, observed, &NameMap::default());
    let recording = ReplayBox(Box::new(ReplayFrames::new(tape, place, looking(&name))));
    let size = Size { width: 120, height: 40 };
    TestSession::open_recorded(look, (Sweeper::default(), recording), settings, size)
}

pub type Writing = Rc<RefCell<Option<Recorder<File>>>>;

/// A watch over a source of the simulator, in its own time, and all that it sees in a file.
fn watched(source: &str, file: &Path) -> (TestSession, Writing) {
    watched_every(source, file, settings())
}

pub fn watched_every(source: &str, file: &Path, settings: WatchSettings) -> (TestSession, Writing) {
    let mut opened = LocalSystemAccess::default().open(source, &SourceOptions::default()).unwrap();
    let observed = opened.observe(WANTED, &mut NoObserver).unwrap();
    let look = Snapshot::new(source, observed, &NameMap::default());
    let header = CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: "0.1.0".into(),
        source: source.to_owned(),
        interval_ms: settings.interval_ms,
        utc_offset_s: 3600,
    };
    let recorder = Rc::new(RefCell::new(Some(
        Recorder::new(create(file).unwrap(), header).with_whole_interval(7, 4000),
    )));
    let (mut known, written) = (look.clone(), recorder.clone());
    let mut first = None;
    let sweep = move |not_before: Duration| {
        let swept = read_sweep(opened.as_mut(), &mut known, not_before, &mut NoObserver)
            .map_err(|error| error.to_string())?;
        let began = swept.sweep.began;
        let passed = began - *first.get_or_insert(began);
        let time = 1_795_313_620_000 + passed.as_millis() as i64;
        let mut recorder = written.borrow_mut();
        recorder.as_mut().unwrap().record_sweep(time, &known.observation, &swept.sweep).unwrap();
        Ok(swept)
    };
    let size = Size { width: 120, height: 40 };
    (TestSession::open_watching(look, Sweeper(Box::new(sweep)), settings, size), recorder)
}

/// What is pressed to see a screen; whatever was pressed before, it shows the same.
const SCREENS: [(&str, &str); 12] = [
    ("tree", "2 g"),
    ("switches", "2 V g down"),
    ("hosts", "V G"),
    ("map", "V"),
    ("tree again", "V g"),
    ("links", "2 :sort space errors enter g"),
    ("links by load", "2 :sort space load enter g"),
    ("what-if", "6 g"),
    ("paths", "4 :trace space node01 space node24 enter"),
    ("verdicts", "4 g"),
    ("most waiting", "4 V g"),
    ("back at verdicts", "V V V"),
];

/// All screens, without the line at the top that says what is looked at.
pub fn screens(driver: &mut TestSession) -> BTreeMap<&'static str, String> {
    let mut shown = BTreeMap::new();
    for (name, keys) in SCREENS {
        // Whatever was said goes with the next key.
        driver.press(keys).press("?").press("?");
        // Charts of a recording go on behind the moment; a small screen of Hot-spots has none.
        let [width, height] = if name.contains("verdicts") { [80, 24] } else { [120, 40] };
        driver.send_input(SessionInput::Resized(Size { width, height }));
        let frame = text(&frame(&driver.state, &appearance("dark", ColorDepth::True)));
        // A recording without lists of jobs does not know the jobs of the simulator, which What-if names with its hosts.
        let mut in_victims = false;
        let known = frame.lines().skip(1).filter(|line| {
            in_victims = (in_victims || line.contains("─ Who is hit ")) && !line.contains("─ New routes");
            !(in_victims || line.contains(" JOBS "))
        });
        shown.insert(name, known.collect::<Vec<_>>().join("\n"));
    }
    shown
}

fn first_difference(a: &str, b: &str) -> String {
    let pair = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    pair.map_or_else(String::new, |(a, b)| format!("\n{a}\n{b}"))
}

#[test]
fn a_replayed_moment_is_the_one_that_was_watched() {
    // In any order: forward, back, and across whole states.
    same_as_watched(5000, 26, &[25, 24, 23, 1, 2, 3, 12, 5, 6, 20, 7, 25, 0, 9]);
}

/// Errors are told since half an hour to an hour ago.
#[test]
fn a_replayed_hour_is_the_one_that_was_watched() {
    same_as_watched(600_000, 14, &[13, 2, 7, 12, 3, 4]);
}

fn same_as_watched(interval_ms: u64, moments: usize, order: &[usize]) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("demo.fdcap");
    let every = WatchSettings { interval_ms, ..settings() };
    const KEYS: &str = "3 / kind=switch-switch enter down f esc esc :trace space node01 space node24 enter";
    let (mut live, recorder) = watched_every("sim:demo", &file, every.clone());
    live.press(KEYS);
    assert_eq!(live.state.known.marks.len(), 1);
    let mut seen = Vec::new();
    for moment in 0..moments {
        match moment {
            0 => live.send_input(SessionInput::Tick),
            _ => live.advance_ms(interval_ms),
        };
        seen.push(screens(&mut live));
    }
    recorder.borrow_mut().take().unwrap().finish(1_795_313_900_000).unwrap();
    let mut replay = played_with(&file, None, every);
    replay.press(KEYS);
    assert_eq!(replay.state.known.playback.as_ref().unwrap().timeline().times.len(), seen.len());
    for moment in order.iter().copied() {
        let time = replay.state.known.playback.as_ref().unwrap().timeline().times[moment];
        let stamp = replay.state.known.playback.as_ref().unwrap().timeline().time_spec_text(time);
        replay.press(&format!(":at space {stamp} enter"));
        assert_eq!(replay.state.known.playback.as_ref().unwrap().place(), moment);
        let again = screens(&mut replay);
        for (name, then) in &seen[moment] {
            if moment == 0 && again[name].contains("this is the first moment") {
                assert!(then.contains("the first sweep was read"), "{then}");
                continue;
            }
            let differs = first_difference(then, &again[name]);
            assert!(again[name] == *then, "{name} at moment {moment}: {differs}");
        }
    }
}

/// Ten moments: the clock is set back before the sixth, nothing is recorded for a while before the ninth; words, news and
/// something that a later version tells.
fn reference(bytes: &[u8]) -> (tempfile::TempDir, TestSession) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("reference.fdcap");
    std::fs::write(&file, bytes).unwrap();
    let driver = played(&file, None);
    (home, driver)
}

pub fn playback(driver: &TestSession) -> &Playback {
    driver.state.known.playback.as_ref().unwrap()
}

pub fn last_message(driver: &TestSession) -> &str {
    driver.state.messages.last().map_or("", |message| message.text.as_str())
}

#[test]
fn each_step_says_what_it_leads_to() {
    let (_home, mut driver) = reference(&sample_fabric::reference().bytes);
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (9, Some(9)));
    let said = last_message(&driver);
    assert!(said.contains("a replay of 10 moments; this is 10, 03:14:46"), "{said}");
    driver.press("]");
    assert_eq!(last_message(&driver), "03:14:46 is the last moment: the recording ends there");
    driver.press("[ [");
    assert_eq!(
        last_message(&driver),
        "nothing was recorded from 03:13:44 to 03:14:45, for 61 s; this is the sample before it"
    );
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (7, Some(7)));
    assert!(matches!(playback(&driver).position, PlaybackPosition::Gap { .. }));
    driver.press("]");
    assert_eq!((playback(&driver).place(), &playback(&driver).position), (8, &PlaybackPosition::Moment));
    assert!(driver.state.known.watch.reading.is_none(), "over a gap there is no verdict");
    driver.press("[ [");
    assert_eq!((playback(&driver).place(), &playback(&driver).position), (7, &PlaybackPosition::Moment));
    assert!(driver.state.known.watch.reading.is_some());
    // Back over the moment before which the clock was set back.
    driver.press("[ [");
    assert_eq!(last_message(&driver), "03:13:42: clock: the recorder's clock was set back by 1.500 s");
    driver.press("[");
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (4, Some(4)));
    driver.press("{");
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (0, Some(0)));
    driver.press("[");
    assert_eq!(last_message(&driver), "03:13:40 is the first moment: nothing was recorded before");
    driver.press("}");
    // The gap is a step of its own.
    assert_eq!(playback(&driver).place(), 9);
    driver.press("L");
    assert!(last_message(&driver).contains("this source is a recording"), "{}", last_message(&driver));
    driver.press("W");
    assert!(last_message(&driver).contains("the screens show a recording"), "{}", last_message(&driver));
}

#[test]
fn events_times_and_bookmarks_are_found() {
    let (_home, mut driver) = reference(&sample_fabric::reference().bytes);
    let mut places = Vec::new();
    for _ in 0..5 {
        driver.press("N");
        places.push(playback(&driver).place());
    }
    // What counters came to is with the second moment.
    assert_eq!(places, [6, 5, 3, 1, 1]);
    assert_eq!(last_message(&driver), "no event before 03:13:41: n goes to the one after");
    driver.press("n n n n");
    assert_eq!(playback(&driver).place(), 6);
    assert_eq!(last_message(&driver), "no event after 03:13:43: N goes to the one before");
    for (time, place, words) in [
        ("03:13:41", 1, ""),
        ("03:13:42", 5, ""),
        ("03:13:00", 0, "03:13:00 is before the first moment"),
        ("05:00:00", 9, "05:00:00 is after the last moment"),
        ("-1s", 8, ""),
        ("03:14:00", 7, "nothing was recorded from"),
        ("03:13:46", 7, "nothing was recorded from"),
        ("2026-11-22T02:13:43Z", 6, ""),
    ] {
        driver.press(&format!(":at space {time} enter"));
        assert_eq!(playback(&driver).place(), place, "{time}: {}", last_message(&driver));
        assert_eq!(playback(&driver).shown, Some(place), "{time}");
        assert!(last_message(&driver).contains(words), "{time}: {}", last_message(&driver));
    }
    driver.press(":at space noon enter");
    assert!(last_message(&driver).contains("FD-5062"), "{}", last_message(&driver));
    driver.press("@ 0 3 : 1 3 : 4 1 enter m");
    assert_eq!(playback(&driver).place(), 1);
    assert_eq!(last_message(&driver), "03:13:41 has a bookmark now; 1 bookmark in this session");
    driver.press("} 0 / kind=bookmark enter g enter");
    assert_eq!(playback(&driver).place(), 1, "Enter goes to the bookmark");
    // Looked at again, it stays where it is, and so do bookmarks.
    driver.press("r");
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (1, Some(1)));
    driver.press("m");
    assert!(playback(&driver).bookmarks.is_empty());
}

/// Who holds a key gets the last moment that he came to, and not one after the other.
#[test]
fn later_wishes_overtake_earlier_ones() {
    let (home, mut driver) = reference(&sample_fabric::reference().bytes);
    driver.press("{");
    let at_ms = driver.state.now_ms;
    let mut begun = Vec::new();
    for _ in 0..5 {
        let [key] = Key::parse_sequence("]")[..] else { panic!() };
        let effects = update(&mut driver.state, SessionEvent { at_ms, what: SessionInput::Key(key) });
        begun.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Begin { task, job } => job.downcast::<FrameTask>().map(|job| (task, job.0)),
            _ => None,
        }));
    }
    let [(task, seek)] = begun[..] else { panic!("{begun:?}") };
    assert_eq!((seek.place, playback(&driver).place(), playback(&driver).shown), (1, 5, Some(0)));
    let (tape, place) = RecordingPlayer::open(&home.path().join("reference.fdcap"), None).unwrap();
    let scene =
        ReplayFrames::new(tape, place, looking("reference")).seek_frame(seek, &NoProgress).map(Box::new);
    driver.send_input(SessionInput::Finished { task, outcome: Box::new(FrameOutcome(scene)) });
    assert_eq!((playback(&driver).place(), playback(&driver).shown), (5, Some(5)));
}

/// What cannot be read is no end and no gap, and hides nothing behind it.
#[test]
fn damage_is_reported_and_passed() {
    let whole = sample_fabric::reference().bytes;
    let reader = fabdeck_files::capture_format::CaptureReader::open("whole", whole.as_slice()).unwrap();
    let slots = reader.moments().to_vec();
    let mut bytes = whole.clone();
    let slot = reader.frame_slot(slots[1]);
    bytes[slot.offset as usize + slot.lead.packed as usize / 2] ^= 0x55;
    let (_home, mut driver) = reference(&bytes);
    let damaged: Vec<usize> = playback(&driver).timeline().damaged.keys().copied().collect();
    assert_eq!(damaged.first(), Some(&1));
    assert!(damaged.len() < 9, "{damaged:?}");
    let first =
        driver.state.messages.iter().find(|said| said.text.starts_with("a replay of ")).unwrap().line();
    assert!(first.contains(&format!("{} of which cannot be read", damaged.len())), "{first}");
    assert!(screen(&mut driver, "2").contains(&format!("{} damaged", damaged.len())));
    driver.press(":at space 03:13:40 enter ]");
    assert!(matches!(playback(&driver).position, PlaybackPosition::Damage(_)));
    assert!(
        last_message(&driver)
            .contains("03:13:41 cannot be read; this is the last sample before it that can: record")
    );
    assert!(screen(&mut driver, "0").lines().next().unwrap().contains("damaged"));
    let shown = playback(&driver).shown;
    assert_eq!((shown, driver.state.known.watch.sweeps), (Some(1), 1), "the screens are of the first moment");
    while playback(&driver).position != PlaybackPosition::Moment {
        driver.press("]");
    }
    assert_eq!(playback(&driver).place(), damaged.last().unwrap() + 1);
    let listed = screen(&mut driver, "0");
    assert!(listed.contains(&format!("{} cannot be read", damaged.len())), "{listed}");
}

fn screen(driver: &mut TestSession, keys: &str) -> String {
    driver.press(keys);
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

#[test]
fn it_plays_at_the_chosen_speed() {
    let (_home, mut driver) = reference(&sample_fabric::reference().bytes);
    driver.press("{ 0");
    let place = |driver: &TestSession| playback(driver).place();
    assert_eq!(place(&driver), 0, "the gap is a step");
    driver.press("space");
    assert!(playback(&driver).is_playing());
    driver.advance_ms(0);
    assert_eq!(place(&driver), 1);
    driver.advance_ms(400);
    assert_eq!(place(&driver), 1, "a second is not over");
    driver.advance_ms(600);
    assert_eq!(place(&driver), 2);
    // Ten times as fast, and so many moments go by at once.
    driver.press("> > >");
    driver.advance_ms(250);
    assert_eq!(place(&driver), 6);
    assert!(screen(&mut driver, "0").contains("plays 10x"));
    driver.press("space");
    driver.advance_ms(10_000);
    assert_eq!((place(&driver), playback(&driver).is_playing()), (6, false));
    driver.press("> > > >");
    assert!(last_message(&driver).contains("no higher speed"), "{}", last_message(&driver));
    driver.press("space");
    for _ in 0..9 {
        driver.advance_ms(0);
    }
    assert_eq!((place(&driver), playback(&driver).is_playing()), (9, false));
    assert!(last_message(&driver).contains("03:14:46 is the last moment"), "{}", last_message(&driver));
    driver.press("space");
    assert!(!playback(&driver).is_playing(), "behind the end there is nothing to play");
}

/// Captures of this repository: those of tests, and those that are shown to people.
fn captures() -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("FABDECK_ROOT"));
    let files = |folder: &Path| -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut all = files(&root.join("tests/fixtures/capture"));
    files(&root.join("captures")).into_iter().for_each(|folder| all.extend(files(&folder)));
    all.retain(|file| file.extension().is_some_and(|end| end == "fdcap"));
    all.sort();
    all
}

/// Moments and screens that are looked at in each capture.
const MOMENTS: [(&str, &str); 2] = [("first event", "{ { { { { { { { { n"), ("end", "")];
const SEEN: [(&str, &str); 10] = [
    ("timeline", "0"),
    ("tree", "2 g"),
    ("switches", "2 V g down"),
    ("hosts", "2 V V G"),
    ("map", "2 V V V"),
    ("links by load", "2 :sort space load enter g"),
    ("what-if", "3 f 6 g"),
    ("paths", "4 :trace space FIRST space LAST enter"),
    ("verdicts", "4 g"),
    ("most waiting", "4 V g"),
];

/// The same keys with the first and the last host of a capture for `FIRST` and `LAST`.
fn between_hosts(driver: &TestSession, keys: &str) -> String {
    let look = driver.state.snapshot().unwrap();
    let hosts = look.fabric().nodes().map(|(_, node)| node).filter(|node| !node.is_switch());
    let guids: Vec<String> = hosts.map(|node| node.guid().to_string()).collect();
    let [first, .., last] = &guids[..] else { panic!("one host has no path to another") };
    keys.replace("FIRST", first).replace("LAST", last)
}

/// Every capture on every screen, narrow and wide, with signs of ASCII alone, and without colours.
#[test]
fn every_capture_on_every_screen() {
    let all = captures();
    assert!(!all.is_empty());
    let colours = appearance("dark", ColorDepth::True);
    let mono = appearance("mono", ColorDepth::Mono);
    let ascii = Appearance { signs: Symbols::ASCII, ..mono.clone() };
    for file in all {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for (moment, keys) in MOMENTS {
            let mut said = String::new();
            for (screen, press) in SEEN {
                let mut driver = played(&file, None);
                driver.state.source = format!("{name}.fdcap");
                let press = between_hosts(&driver, press);
                driver.press(keys).press(&press).press("? ?");
                for (width, height) in [(80, 24), (120, 40)] {
                    driver.send_input(SessionInput::Resized(Size { width, height }));
                    let colour = text(&frame(&driver.state, &colours));
                    said.push_str(&format!("== {screen}, {width}x{height}\n{colour}"));
                }
                let (colour, plain) = (frame(&driver.state, &colours), frame(&driver.state, &mono));
                assert_eq!(text(&colour), text(&plain), "{name}, {screen}: the same signs without colours");
                assert_readable_without_colours(screen, &colour, &plain);
                let plain = text(&frame(&driver.state, &ascii));
                assert!(plain.is_ascii(), "{name}, {screen}: {plain}");
                if screen == "timeline" {
                    said.push_str(&format!("== {screen}, ASCII\n{plain}"));
                }
            }
            golden(&format!("capture {name} {moment}"), &said);
        }
    }
}

/// The first end and the errors of each link in the list of links.
fn errors_of_links(state: &fabdeck::console::model::state::SessionState) -> Vec<(String, Option<u64>)> {
    let listing = state.current().listing(&state.known).unwrap();
    let column = (0..listing.column_count()).find(|at| listing.column(*at).id == "errors").unwrap();
    let text = |row: usize, column| listing.cell(row, column).display_text().into_owned();
    let rows = state.current().table().selection.rows.iter();
    rows.map(|row| (text(*row, 0), text(*row, column).parse().ok())).collect()
}

/// What a line that is copied prints is what the screen showed at that moment.
#[test]
fn lines_of_a_replay_have_its_time() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("demo.fdcap");
    let (mut live, recorder) = watched("sim:demo", &file);
    live.send_input(SessionInput::Tick);
    for _ in 0..14 {
        live.advance_ms(5000);
    }
    recorder.borrow_mut().take().unwrap().finish(1_795_313_900_000).unwrap();
    let mut driver = played(&file, Some("-0s"));
    driver.state.options.push(("--at".to_owned(), "-0s".to_owned()));
    for back in ["", "[", "{"] {
        driver.press(back).press("3 c");
        let line = driver.copied.last().unwrap().clone();
        let stamp = playback(&driver).timeline().time_spec_text(playback(&driver).time());
        assert_eq!(line.matches("--at").count(), 1, "{line}");
        assert!(line.contains(&format!("--at {stamp} show links")), "{line}");
        let (_, json) = carried_out(&line);
        let printed: Vec<(&str, Option<u64>)> = json["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["a"].as_str().unwrap(), row["errors"].as_u64()))
            .collect();
        let cells = errors_of_links(&driver.state);
        let cells: Vec<(&str, Option<u64>)> = cells.iter().map(|(a, errors)| (a.as_str(), *errors)).collect();
        assert_eq!(printed, cells, "{line}");
        driver.press("4 c");
        let line = driver.copied.last().unwrap().clone();
        assert!(line.contains(&format!("--at {stamp} hotspots --interval 5s --count 1")), "{line}");
        let (_, json) = carried_out(&line);
        let verdict = &driver.state.known.watch.reading.as_ref().unwrap().watched.verdict;
        let look = driver.state.snapshot().unwrap();
        let hot: Vec<String> = verdict.hot_spots.iter().map(|hot| look.port_name(hot.at.port)).collect();
        let told: Vec<&str> = json["sweeps"][0]["hotspots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hot| hot["port"].as_str().unwrap())
            .collect();
        assert_eq!(told, hot, "{line}");
        let ticks: Vec<f64> = verdict.hot_spots.iter().map(|hot| hot.at.congestion).collect();
        let told: Vec<f64> = json["sweeps"][0]["hotspots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hot| hot["ticks_per_second"].as_f64().unwrap())
            .collect();
        // What is read back of a number in JSON may be off in its last digit.
        let same = told.iter().zip(&ticks).all(|(told, ticks)| (told - ticks).abs() <= ticks * 1e-12);
        assert!(told.len() == ticks.len() && same, "{line}: {told:?} {ticks:?}");
        assert!(!hot.is_empty(), "{line}");
    }
    // A clock that was set back later makes no other moment of it.
    let (_home, mut driver) = reference(&sample_fabric::reference().bytes);
    driver.press("{ ] ] ] 3 c");
    assert!(driver.copied.last().unwrap().contains("--at 2026-11-22T03:13:43.000+01:00"));
}

/// Steps and jumps through an hour of a fabric: how long a moment takes until it can be judged, and all of its history.
/// `FABDECK_LONG=1` with a release build takes one of ten thousand ports, and holds a jump to its budget.
#[test]
fn a_jump_is_quick() {
    const BUDGET: Duration = Duration::from_millis(200);
    let long = std::env::var_os("FABDECK_LONG").is_some_and(|long| long == "1");
    let (fabric, sweeps) = if long { ("kary,k=11,n=3", 720) } else { ("kary,k=4,n=2", 200) };
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("hour.fdcap");
    let look = sample_fabric::look(fabric);
    let mut recorder =
        Recorder::new(create(&file).unwrap(), CaptureHeader { interval_ms: 5000, ..sample_fabric::header() });
    for at in 0..sweeps {
        let sweep = sample_fabric::sweep(&look.fabric, 5 * at);
        recorder.record_sweep(sample_fabric::BEGUN + 5000 * at as i64, &look, &sweep).unwrap();
    }
    recorder.finish(sample_fabric::BEGUN + 5000 * sweeps as i64).unwrap();
    let begun = Instant::now();
    let (tape, place) = RecordingPlayer::open(&file, None).unwrap();
    let mut scenes = ReplayFrames::new(tape, place, looking("hour"));
    let opened = begun.elapsed();
    let mut took = |place: usize, deep: bool| {
        let begun = Instant::now();
        let scene = scenes.seek_frame(SeekRequest { place, deep, congestion: 100_000 }, &NoProgress).unwrap();
        assert_eq!(scene.shown, place);
        begun.elapsed()
    };
    let last = sweeps as usize - 1;
    let first = took(last, false);
    let jumps: Vec<Duration> = (1..12).map(|at| took((at * 7919) % last, false)).collect();
    let deep = took(last / 2, true);
    let on: Vec<Duration> = (1..20).map(|at| took(last / 2 + at, false)).collect();
    let back: Vec<Duration> = (1..20).map(|at| took(last / 2 + 20 - at, false)).collect();
    let (parts, beside) = jumps_beside_events(&mut scenes, last);
    let ms = |time: &Duration| time.as_secs_f64() * 1000.0;
    let most = |times: &[Duration]| times.iter().map(ms).fold(0.0, f64::max);
    println!(
        "{fabric}, {} ports, {sweeps} sweeps, {} kB: opened in {:.0} ms; the last moment {:.0} ms, a jump at most {:.0} \
         ms, a step on {:.0} ms, back {:.0} ms; with all history {:.0} ms; events of counters \
         in {} parts of {:.0} ms at most, {:.1} s in all, a jump beside them at most {:.0} ms",
        look.fabric.ports().len(),
        std::fs::metadata(&file).unwrap().len() / 1000,
        ms(&opened),
        ms(&first),
        most(&jumps),
        most(&on),
        most(&back),
        ms(&deep),
        parts.len(),
        most(&parts),
        parts.iter().sum::<Duration>().as_secs_f64(),
        most(&beside)
    );
    let all = [jumps, on, back, beside].concat();
    assert!(!long || all.iter().all(|took| *took <= BUDGET), "{all:?}");
}

/// How long the parts take in which counters are gone through, and jumps while that is done by another thread.
fn jumps_beside_events<B: ByteSource + Clone + Send + 'static>(
    scenes: &mut ReplayFrames<B>,
    last: usize,
) -> (Vec<Duration>, Vec<Duration>) {
    let scan = scenes.open_recording().unwrap().unwrap().scan.unwrap();
    let going = std::thread::spawn(move || {
        let mut parts = Vec::new();
        loop {
            let begun = Instant::now();
            let part = scan.derive_part(&Thresholds::default(), &NoProgress).unwrap();
            parts.push(begun.elapsed());
            if part.done > last {
                return parts;
            }
        }
    });
    let mut jumps = Vec::new();
    for at in 1..12 {
        let begun = Instant::now();
        let seek = SeekRequest { place: (at * 7919) % last, deep: false, congestion: 100_000 };
        scenes.seek_frame(seek, &NoProgress).unwrap();
        jumps.push(begun.elapsed());
    }
    (going.join().unwrap(), jumps)
}

/// Stops after so many questions.
struct StepLimit(AtomicUsize);

impl RouteProgress for StepLimit {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

/// A history that nobody waits for any more ends with the column that it is at, and nothing of it is wrong afterwards.
#[test]
fn a_long_history_can_be_cancelled() {
    let (home, _driver) = reference(&sample_fabric::reference().bytes);
    let opened = || {
        let (tape, place) = RecordingPlayer::open(&home.path().join("reference.fdcap"), None).unwrap();
        ReplayFrames::new(tape, place, looking("reference"))
    };
    let (mut scenes, mut other) = (opened(), opened());
    let seek = SeekRequest { place: 7, deep: true, congestion: 100_000 };
    let patience = StepLimit(AtomicUsize::new(2));
    assert_eq!(scenes.seek_frame(seek, &patience).unwrap_err(), "cancelled");
    let patience = StepLimit(AtomicUsize::new(100));
    let (again, whole) =
        (scenes.seek_frame(seek, &patience).unwrap(), other.seek_frame(seek, &NoProgress).unwrap());
    assert!(again.whole && whole.whole);
    assert_eq!(format!("{:?}", again.history), format!("{:?}", whole.history));
    let asked = 100 - patience.0.into_inner();
    assert!((1..12).contains(&asked), "two of six columns and of six intervals were there already: {asked}");
}

/// The real program: a capture is stepped through, from its end and from a time; a live watch is paused and gone back to.
#[test]
fn the_program_replays_a_capture_and_a_pause() {
    let file = Path::new(env!("FABDECK_ROOT")).join("tests/fixtures/capture/first.fdcap");
    let file = file.display().to_string();
    let mut session = Session::open(&["--source", &file], 120, 30);
    session.until("03:14:46 paused");
    session.press("[[");
    session.until("nothing was recorded from 03:13:44 to 03:14:45");
    session.press("0");
    session.until("sample 8 of 10  in a gap");
    session.press("N");
    session.until("sample 7 of 10  paused");
    session.press(">>>>>");
    session.until("as fast as possible");
    session.press(" ");
    session.until("sample 10 of 10  paused");
    session.press("qq");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
    let mut session = Session::open(&["--source", &file, "--at", "03:13:41"], 120, 30);
    session.until("03:13:41 paused");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("often.toml");
    std::fs::write(&config, "[watch]\ninterval = \"1s\"\n").unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--config", &config, "--source", "sim:demo"], 120, 30);
    session.until("live 1 s");
    session.press("4");
    session.until("2 sweeps");
    session.press("0 ");
    session.until("L returns to live");
    session.press("[");
    session.until("sample ");
    session.press("4L");
    session.until("live 1 s");
    session.until("5 sweeps");
    session.press("qq");
    assert_eq!(session.ended(), 0);
}
