//! What a session writes for others: reports, pictures of the screen, recordings of the terminal.

use serde_json::Value;

use super::fixture::open_session;
use super::pty::Session;
use super::test_session::{NoServices, TestServices, TestSession, first_task};
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::outputs::report_file::ReportTask;
use fabdeck::console::model::key::Key;
use fabdeck_routing::RouteProgress;

fn last_message(driver: &TestSession) -> &str {
    driver.state.messages.last().map_or("", |message| message.text.as_str())
}

#[test]
fn a_report_is_written_from_what_the_session_knows() {
    let mut driver = open_session("sim:demo");
    driver.press(":report space a.html enter");
    assert!(last_message(&driver).contains("the report is in a.html"), "{}", last_message(&driver));
    let (file, page) = driver.written.last().unwrap();
    assert_eq!(file.to_str(), Some("a.html"));
    assert!(page.contains("rack3-leaf[10] to spine-2[6] runs at 1x HDR") && page.ends_with("</html>\n"));
    assert!(page.contains("Report written 2"), "it has a time");
    assert!(page.contains("○ not known: not compared"), "this session has no second reading: {page}");
    driver.press(":report enter");
    assert_eq!(driver.written.last().unwrap().0.to_str(), Some("fabdeck-report.html"));
    driver.press(":report space - enter");
    assert!(last_message(&driver).contains("- is stdout"), "{}", last_message(&driver));
    assert_eq!(driver.written.len(), 2);
}

/// Progress of a task that was cancelled.
struct Cancelled;

impl RouteProgress for Cancelled {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_cancelled_report_leaves_nothing() {
    let mut driver = open_session("sim:demo");
    let mut effects = Vec::new();
    for key in [":", "r", "e", "p", "o", "r", "t", "enter"] {
        let what = SessionInput::Key(key.parse::<Key>().unwrap());
        effects = update(&mut driver.state, SessionEvent { at_ms: 0, what });
    }
    let (_, task) = first_task::<ReportTask>(&effects);
    assert!(task.is_cancellable());
    let mut nothing = NoServices::default();
    assert!(task.run(&mut TestServices::nothing(&mut nothing), &Cancelled).is_none());
}

/// A recording of a session shows what its terminal showed; the picture has the same texts.
#[test]
fn the_screen_is_a_picture_and_a_recording() {
    let mut session = Session::open(&["--source", "sim:demo"], 110, 30);
    session.open_map();
    session.press(":cast a.cast\r");
    session.until("the terminal is recorded to a.cast");
    session.press("3");
    session.until("DEGRADED");
    session.press(":svg a.svg\r");
    session.until("the picture is in a.svg");
    session.press(":svg a.svg\r");
    session.until("give :svg another name");
    session.press(":svg\r");
    session.until("the picture is in fabdeck-links");
    session.press(":cast b.cast\r");
    session.until("is recorded already");
    session.press(":cast\r");
    session.until("the recording of the terminal is in a.cast");
    session.press(":cast a.cast\r");
    session.until("give :cast another name");
    session.press("\x1b\x1bqqq");
    session.ended();

    let picture = std::fs::read_to_string(session.home().join("a.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("rack1-leaf") && !picture.contains("<script"));
    let text = std::fs::read_to_string(session.home().join("a.cast")).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&2.into(), &110.into(), &30.into())
    );
    let mut screen = vt100::Parser::new(30.try_into().unwrap(), 110.try_into().unwrap(), 0);
    let mut last = 0.0;
    for line in lines {
        let at = line[0].as_f64().unwrap();
        assert!(at >= last, "times rise");
        last = at;
        if line[1] == "o" {
            screen.process(line[2].as_str().unwrap().as_bytes());
        }
    }
    let shown = screen.screen().contents();
    assert!(shown.contains("rack1-leaf") && shown.contains("is recorded already"), "{shown}");
    assert!(!session.home().join("b.cast").exists());
}
