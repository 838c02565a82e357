//! What was written of a session is enough to have it again: one that was driven here, and one of the real program.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fixture::{appearance, frame, look, open_session, text};
use super::pty::Session;
use super::session_replay::{ReplayError, replay, replay_watched};
use super::test_session::{ReplayBox, Sweeper, TestSession};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::watch::sweep::read_sweep;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::NameMap;
use fabdeck_mad::access::{NoObserver, ReadOptions};

/// The same keys at the same times give the same events, results included.
#[test]
fn a_session_happens_again_the_same_way() {
    let keys = "V f 3 p enter esc 2 / leaf enter c";
    let (mut one, mut two) = (open_session("sim:demo"), open_session("sim:demo"));
    one.press(keys);
    two.press(keys);
    assert_eq!(one.events, two.events);
    assert!(one.events.iter().any(|event| event.contains("finished")));
}

/// What was written of a session is enough to have it again, and what differs is found.
#[test]
fn a_session_is_replayed_from_what_was_written() {
    let mut driver = open_session("sim:demo");
    driver
        .press("V down f 6 p enter esc 3 / leaf enter down")
        .send_input(SessionInput::Paste("x".to_owned()));
    let look = driver.state.snapshot().unwrap().clone();
    let lines: Vec<&str> = driver.events.iter().map(String::as_str).collect();
    let again = replay(&look, lines.iter().copied()).unwrap();
    let appearance = appearance("dark", ColorDepth::True);
    assert_eq!(frame(&again, &appearance), frame(&driver.state, &appearance));
    let without_mark: Vec<&str> = lines.iter().copied().filter(|line| !line.contains("\"f\"")).collect();
    let differs = replay(&look, without_mark);
    assert!(matches!(differs, Err(ReplayError::Differs { .. } | ReplayError::Unknown { .. })), "{differs:?}");
    let cut = replay(&look, [lines[0], "{\"at_ms\":"]);
    assert!(matches!(cut, Err(ReplayError::Unreadable { number: 1, .. })), "{cut:?}");
    let headless = replay(&look, lines[1..].iter().copied());
    assert!(matches!(headless, Err(ReplayError::Beginning(_))), "{headless:?}");
    let later = lines[0].replace("\"format\":1", "\"format\":2");
    assert!(matches!(replay(&look, [later.as_str()]), Err(ReplayError::Beginning(_))), "{later}");
}

/// Keys that were bound otherwise are those of the session, not those of whoever has it again.
#[test]
fn keys_of_ones_own_are_replayed() {
    let own = BTreeMap::from([
        ("mark".to_owned(), vec!["x".to_owned()]),
        ("screen-links".to_owned(), vec!["f".to_owned()]),
    ]);
    let look = Arc::new(look("sim:demo"));
    let size = Size { width: 100, height: 30 };
    let mut driver = TestSession::with_keymap(Ok(look.clone()), size, Keymap::with_overrides(&own).unwrap());
    driver.press("f down x 6");
    assert_eq!(driver.state.known.marks.len(), 1);
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    let appearance = appearance("dark", ColorDepth::True);
    assert_eq!(frame(&again, &appearance), frame(&driver.state, &appearance));
    let strange = driver.events[0].replace("\"mark\"", "\"remark\"");
    let refused = replay(&look, [strange.as_str()]);
    assert!(matches!(refused, Err(ReplayError::Keys(_))), "{refused:?}");
}

/// The file of the real program: keys of one's own, a paste, a resize, work that is cancelled, engines with their times.
#[test]
fn a_session_of_the_program_is_replayed_into_the_same_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (config, events) = (folder.path().join("own.toml"), folder.path().join("events"));
    std::fs::write(&config, "[keys]\nmark = \"x\"\nscreen-links = \"f\"\n").unwrap();
    let (config, events_arg) = (config.display().to_string(), events.display().to_string());
    let args = ["--config", &config, "--source", "sim:demo", "--record-events", &events_arg];
    let mut session = Session::open(&args, 100, 30);
    session.open_map();
    session.quiet();
    session.press("f/");
    session.press("\x1b[200~switch-switch\x1b[201~\r");
    session.until(", 81 in all");
    session.press("jx6p\x1b");
    session.until("cancelled");
    session.press("p");
    session.quiet();
    let before = session.bytes();
    session.resize(120, 32);
    session.press("jj");
    session.settled_after(before);
    let shown: Vec<String> = session.text().lines().map(|line| line.trim_end().to_owned()).collect();
    let written = std::fs::read_to_string(&events).unwrap();
    session.press("\x03");
    assert_eq!(session.ended(), 130);
    // The program looks at counters and groups as well.
    let wanted = ReadOptions { tables: true, counters: true, multicast: true, ..ReadOptions::default() };
    let mut source = LocalSystemAccess::default().open("sim:demo", &SourceOptions::default()).unwrap();
    let seen = source.observe(wanted, &mut NoObserver).unwrap();
    let mut seen = Snapshot::new("sim:demo", seen, &NameMap::default());
    let look = Arc::new(seen.clone());
    let sweep = move |not_before| {
        read_sweep(source.as_mut(), &mut seen, not_before, &mut NoObserver).map_err(|error| error.to_string())
    };
    assert!(written.lines().next().unwrap().contains("interval_ms"), "{written}");
    let again = replay_watched(&look, (Sweeper(Box::new(sweep)), ReplayBox::default()), written.lines())
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    let frame = text(&frame(&again, &appearance("dark", ColorDepth::True)));
    let replayed: Vec<&str> = frame.trim_end().lines().collect();
    assert_eq!(replayed, shown, "{written}");
    assert!(shown.iter().any(|line| line.contains("clean")), "{shown:?}");
    // A file that is there is not written over.
    let mut again = Session::open(&args, 100, 30);
    assert_eq!(again.ended(), 1);
    again.assert_restored();
    assert!(again.text().contains("FD-9004"), "{}", again.text());
    assert!(std::fs::read_to_string(&events).unwrap().starts_with(&written));
}
