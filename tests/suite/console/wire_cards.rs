//! What the console shows of the health of links: cards of Health, the list of cables, details.

use super::health::demo;
use super::pty::Session;
use super::test_session::TestSession;
use super::watches::{shown, swept};
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::screen::Screen;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::health::problem::{FabricProblem, ProblemKind};
use fabdeck_fabric::ElementId;

/// Each device has a port with a worn lane, and each switch another one with a hot module.
const OPTICS: &str = "sim:kary,k=2,n=2,speed=ndr,wire-optics=all";

fn watched(source: &str) -> TestSession {
    let mut driver = demo(source);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    swept(&mut driver, 30);
    driver
}

fn wire_problems(driver: &TestSession) -> Vec<(usize, FabricProblem)> {
    let ranked = driver.state.known.problems.ranked.as_ref().unwrap();
    let own = ranked.problems.iter().cloned().enumerate();
    own.filter(|(_, problem)| problem.kind == ProblemKind::WireHealth).collect()
}

#[test]
fn bad_wires_of_one_kind_are_one_card_that_leads_to_each_of_them() {
    let mut driver = watched(OPTICS);
    let all = wire_problems(&driver);
    let titles: Vec<&str> = all.iter().map(|(_, problem)| problem.title.as_str()).collect();
    assert_eq!(all.len(), 2, "one for worn lanes, one for hot modules: {titles:?}");
    for (at, problem) in &all {
        let count = problem.elements.len();
        assert!(count > 1 && problem.title.starts_with(&format!("{count} cables have ")), "{titles:?}");
        assert!(problem.title.contains("] to ") && problem.id.ends_with(&format!(":{count}")), "{problem:?}");
        driver.press("1 g").press(&"down ".repeat(*at)).press("d");
        let page = shown(&driver);
        assert!(page.matches("cable  ").count() >= count.min(20), "each cable has a line: {page}");
        driver.press("esc enter");
        assert_eq!(driver.state.screen, ScreenId::Links);
        let links = driver.state.screens.links.table();
        assert_eq!(links.filter, "wire=bad");
        let rows = links.selection.rows.clone();
        let listed = |what: &ElementId| {
            rows.iter()
                .any(|row| driver.state.screens.links.element(*row, &driver.state.known) == Some(*what))
        };
        assert!(problem.elements.iter().all(listed), "all of them are listed");
        driver.press("enter");
        assert!(driver.state.screens.links.page.is_some(), "and each has its page");
        driver.press("esc esc esc");
    }
}

#[test]
fn a_filter_brings_its_column_and_details_have_module_and_bit_errors() {
    let mut driver = watched(OPTICS);
    driver.press("3");
    assert!(!shown(&driver).contains(" WIRE "), "{}", shown(&driver));
    driver.press("/").send_input(SessionInput::Paste("wire=bad".to_owned())).press("enter");
    let list = shown(&driver);
    assert!(list.contains(" WIRE ") && list.contains(" bad "), "{list}");
    driver.press("d");
    let page = shown(&driver);
    for words in ["wire ", ": bad, ", "module ", "SIMULATED, SIM-NDR", "bit errors", "raw ", "after FEC "] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// While the rotation over the ports runs, the list says how far it is, and so do the details of a cable that is not read.
#[test]
fn the_rotation_over_links_says_how_many_ports_were_read() {
    let mut driver = watched(OPTICS);
    driver.state.known.watch.wire_read = Some((3, 1234));
    driver.press("3");
    assert!(shown(&driver).contains("link health of 3 of 1,234 ports read"), "{}", shown(&driver));
    let mut driver = super::watches::watching(super::watches::quiet);
    driver.state.known.watch.wire_read = Some((0, 162));
    driver.press("3 d");
    assert!(
        shown(&driver).contains("not read yet; link health of 0 of 162 ports read so far"),
        "{}",
        shown(&driver)
    );
}

/// Once routes lead around a bad cable, its card asks for its repair: there is nothing more to preview.
#[test]
fn a_cable_that_no_path_crosses_needs_no_new_routes() {
    let mut session = Session::open(&["--source", "sim:demo,traffic=none"], 120, 40);
    session.until("next  p preview routes without it; then reseat");
    session.press("p");
    session.until("clean");
    session.press("a");
    session.until("Cancel ]");
    session.press(" \x1b[Z\r");
    session.until("is rolled back at");
    session.press("1");
    session.until("next  no path crosses it: reseat");
    session.press("\x03");
    session.until("Leave while change 1 is pending?");
    session.press("\x03");
    session.ended();
}

#[test]
fn hot_devices_and_failed_fans_are_cards_that_name_the_sensor() {
    let mut driver = watched("sim:kary,k=2,n=2,wire-hot=all");
    // Sensors come last in the rotation.
    swept(&mut driver, 90);
    let ranked = driver.state.known.problems.ranked.as_ref().unwrap();
    let own = ranked.problems.iter().filter(|problem| problem.kind == ProblemKind::DeviceHealth);
    let titles: Vec<&str> = own.map(|problem| problem.title.as_str()).collect();
    assert!(titles.iter().any(|title| title.contains("(its own limit is 105.0 °C)")), "{titles:?}");
    assert!(titles.iter().any(|title| title.contains("fan 1 stands still (0 rpm)")), "{titles:?}");
    let page = shown(&driver);
    assert!(page.contains("too hot") && page.contains("stands still"), "{page}");
}

#[test]
fn details_of_a_cable_have_the_course_of_its_link() {
    let mut driver = watched(OPTICS);
    // A rotation of its own, which is slower.
    swept(&mut driver, 300);
    driver.press("3").press("/").send_input(SessionInput::Paste("wire=bad".to_owned())).press("enter d");
    let page = shown(&driver);
    for words in ["link  ", "FECN ", "uncorrectable ", "went down", "last by this end, not intended"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}
