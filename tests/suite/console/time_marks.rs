//! Notes and bookmarks at the cursor in time, kept in captures and in the state folder; and two moments compared.

use std::path::{Path, PathBuf};

use super::fixture::golden;
use super::replays::{last_message, playback, played};
use super::test_session::{TestSession, UserSystem};
use super::watches::{incast, shown, swept, watching};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::screen::Screen;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::watch::history_clock::HistoryClock;
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_files::capture::examine;

fn incident_file(name: &str) -> PathBuf {
    Path::new(env!("FABDECK_ROOT")).join(format!("captures/{name}/{name}.fdcap"))
}

fn resize(driver: &mut TestSession, width: u16, height: u16) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
}

fn with_system(mut driver: TestSession, folder: &Path) -> TestSession {
    driver.system = UserSystem(Some(Box::new(LocalSystemAccess::default().with_state(folder))));
    driver
}

fn type_line(driver: &mut TestSession, key: &str, line: &str) {
    driver.press(key).send_input(SessionInput::Paste(line.to_owned())).press("enter");
}

#[test]
fn notes_and_bookmarks_are_kept_in_the_capture_that_is_replayed() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("night.fdcap");
    std::fs::copy(incident_file("incast"), &file).unwrap();
    let mut driver = with_system(played(&file, None), home.path());
    driver.press("0 [ [ [ m");
    let marked = playback(&driver).place();
    assert_eq!(last_message(&driver), format!("kept in {}", file.display()));
    driver.press("[ [");
    type_line(&mut driver, "i", "called the cabling team");
    let noted = playback(&driver).place();
    assert!(shown(&driver).contains("called the cabling team"), "{}", shown(&driver));
    let info = examine(&file).unwrap();
    assert_eq!((info.bookmarked, info.noted, info.ended), (1, 1, true));
    assert!(!info.first_bookmarked[0].1.is_empty(), "who left it");
    // Another session finds both, shows them on the axis and in the list, and keys lead to them.
    let mut again = with_system(played(&file, None), home.path());
    again.press("0");
    assert!(playback(&again).bookmarks.contains(&marked));
    resize(&mut again, 120, 40);
    let screen = shown(&again);
    let lane = screen.lines().find(|line| line.contains("│ you")).unwrap();
    assert!(lane.contains('⚑') && lane.contains(" i"), "{screen}");
    again.press("\"");
    assert_eq!(playback(&again).place(), marked);
    again.press("\"");
    assert_eq!(last_message(&again), "no bookmark before this time");
    again.press("g { { '");
    assert_eq!(playback(&again).place(), marked);
    again.press("/ kind=note enter g enter");
    assert_eq!(playback(&again).place(), noted);
    // Taken back, it is gone; the note stays.
    again.press("esc ' m");
    let info = examine(&file).unwrap();
    assert_eq!((info.bookmarked, info.noted), (0, 1));
    assert!(playback(&with_system(played(&file, None), home.path())).bookmarks.is_empty());
}

/// A capture that is still written, or that may not be written to, stays as it is, and the session says so.
#[test]
fn a_capture_without_an_end_is_not_changed() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("open.fdcap");
    let bytes = std::fs::read(incident_file("incast")).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 3000]).unwrap();
    let before = std::fs::read(&file).unwrap();
    let mut driver = with_system(played(&file, None), home.path());
    driver.press("0 m");
    assert!(
        last_message(&driver).contains("kept in this session only: FD-7969"),
        "{}",
        last_message(&driver)
    );
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert_eq!(playback(&driver).bookmarks.len(), 1);
}

fn watched(folder: &Path) -> TestSession {
    let mut driver = with_system(watching(incast), folder);
    driver.state.known.clock =
        Some(HistoryClock { at_ms: 0, unix_ms: 1_795_313_620_000, utc_offset_s: 3600 });
    swept(&mut driver, 24);
    resize(&mut driver, 120, 40);
    driver.press("0");
    driver
}

#[test]
fn those_about_a_live_fabric_are_kept_in_the_state_folder() {
    let home = tempfile::tempdir().unwrap();
    let mut driver = watched(home.path());
    for _ in 0..20 {
        driver.press("left");
    }
    driver.press("m");
    let at = driver.state.known.chart_cursor.unwrap();
    assert_eq!(last_message(&driver), "kept in your state folder");
    let kept = std::fs::read_to_string(home.path().join("annotations")).unwrap();
    assert!(
        kept.contains(&format!("\"at\":{}", 1_795_313_620_000 + at)) && kept.contains("\"by\""),
        "{kept}"
    );
    driver.press("left");
    // Without a recording of the watch, a note at the cursor needs none.
    type_line(&mut driver, ":", "bookmark");
    assert_eq!(std::fs::read_to_string(home.path().join("annotations")).unwrap().lines().count(), 2);
    driver.press("m");
    assert_eq!(std::fs::read_to_string(home.path().join("annotations")).unwrap().lines().count(), 1);
    driver.press("L \"");
    assert_eq!(driver.state.known.chart_cursor, Some(at));
    // The next session on the same fabric shows it at its time.
    let mut again = watched(home.path());
    again.press("\"");
    assert_eq!(again.state.known.chart_cursor, Some(at), "{}", shown(&again));
    assert!(shown(&again).contains('⚑'), "{}", shown(&again));
    // It is drawn on the charts of Health too.
    again.press("1");
    assert!(shown(&again).contains('⚑'), "{}", shown(&again));
}

#[test]
fn a_moment_is_compared_with_the_last_one() {
    let mut driver = played(&incident_file("incast"), None);
    driver.state.source = "incast.fdcap".to_owned();
    resize(&mut driver, 120, 40);
    driver.press("0 =");
    assert!(last_message(&driver).contains("move the cursor back first"), "{}", last_message(&driver));
    driver.press(":at space -9h enter ] ] =");
    let comparison = driver.state.screens.timeline.comparison().expect("a comparison").clone();
    assert!(comparison.counts.new_problems > 0, "{comparison:?}");
    let hot = comparison.rows.iter().find(|row| row.kind == "problem" && row.change == "new");
    assert!(hot.is_some_and(|row| row.then == "none"), "{comparison:?}");
    assert!(comparison.counts.ports > 0 && comparison.counts.switches == 0, "{comparison:?}");
    golden("timeline compared 120x40", &shown(&driver));
    // The list can be narrowed like any other, and esc leads back to the events.
    driver.press("/ kind=port enter");
    let rows = driver.state.screens.timeline.table().selection.rows.len();
    assert!(rows > 0 && rows < comparison.rows.len(), "{rows}");
    driver.press("esc esc");
    assert!(driver.state.screens.timeline.comparison().is_none());
    assert_eq!(driver.state.screen, ScreenId::Timeline);
    // Backwards, what was new is gone: the earlier moment always comes first.
    driver.press("& } } =");
    let other = driver.state.screens.timeline.comparison().expect("a comparison").clone();
    assert!(other.then_ms < other.now_ms && other.then_ms == comparison.then_ms, "{other:?}");
    resize(&mut driver, 80, 24);
    golden("timeline compared 80x24", &shown(&driver));
}

#[test]
fn a_comparison_needs_a_recording_and_a_moment() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    driver.press("0 left =");
    assert!(last_message(&driver).contains("past_mib"), "{}", last_message(&driver));
}
