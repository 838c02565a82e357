//! The page of a cable: what it shows at each size, how one gets there and back, and that its figures are those of other
//! screens.

use std::sync::Arc;

use super::fixture::{appearance, frame, golden, open_session, text};
use super::test_session::TestSession;
use super::watches::{incast, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::goto::goto_state::GotoGroup;
use fabdeck::console::features::screen::Screen;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::event_store::cable_places::{ends_of_link, place_of};
use fabdeck::operations::event_store::ledger_reader::StoredLedger;
use fabdeck::operations::ledger::cable_history::{CableCounts, CableHistory};
use fabdeck::operations::ledger::link_ledger::LinkLedger;
use fabdeck::operations::preview::whatif::MarkLoss;
use fabdeck_fabric::observe::Counter;
use fabdeck_fabric::{Element, ElementId};

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

fn type_line(driver: &mut TestSession, key: &str, line: &str) {
    driver.press(key).send_input(SessionInput::Paste(line.to_owned())).press("enter");
}

/// The page of the cable at a port, from the list of links.
fn open_page(driver: &mut TestSession, port: &str, width: u16, height: u16) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver.press("3");
    let look = driver.state.snapshot().unwrap().clone();
    let element: Element = format!("link:{port}").parse().unwrap();
    let ElementId::Link(link) = element.resolve(look.fabric(), &look.names).unwrap() else {
        panic!("no link")
    };
    let screen = &mut driver.state.screens.links;
    fabdeck::console::features::screens::move_cursor_to(screen, ElementId::Link(link), &driver.state.known);
    driver.press("enter");
}

/// The port counts errors, and forgets none.
fn erring(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    let mut all = incast(second);
    all.push(("rack3-leaf", 10, Counter::SymbolErrorCounterExt, 12_000 + second));
    all.push(("rack3-leaf", 10, Counter::LinkDownedCounterExt, second / 10));
    all
}

#[test]
fn the_page_of_a_cable_has_its_frame_at_each_size() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut driver = watching(erring);
        swept(&mut driver, 4);
        open_page(&mut driver, "rack3-leaf[10]", width, height);
        let screen = shown(&driver);
        for words in [
            "rack3-leaf[10]",
            "spine-2[6]",
            "runs at 1x",
            "Symbol errors",
            "12,015",
            "Who uses it",
            "If it fails",
        ] {
            assert!(screen.contains(words), "{words} at {width}x{height}:\n{screen}");
        }
        golden(&format!("cable {width}x{height}"), &screen);
    }
}

/// Dropped packets are judged as Health judges them, and each error counter has a history of its own.
#[test]
fn each_counter_has_a_threshold_or_says_that_it_has_none() {
    fn dropping(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        let mut all = erring(second);
        all.push(("rack3-leaf", 10, Counter::PortXmitDiscardsExt, 30 * second));
        all.push(("rack3-leaf", 10, Counter::PortRcvSwitchRelayErrorsExt, 2));
        all
    }
    let mut driver = watching(dropping);
    swept(&mut driver, 4);
    open_page(&mut driver, "rack3-leaf[10]", 200, 60);
    let screen = shown(&driver);
    let row = |title: &str| {
        screen.lines().find(|row| row.contains(title)).unwrap_or_else(|| panic!("{title}:\n{screen}"))
    };
    for (title, threshold) in [
        ("Data sent", "no threshold"),
        ("Link errors, all", "10 /h"),
        ("Symbol errors", "in the sum"),
        ("Link went down", "1 /h"),
        ("Sent but dropped", "10 /h"),
        ("Switch relay errors", "no threshold"),
    ] {
        assert!(row(title).contains(threshold), "{title}: {}", row(title));
    }
    assert!(row("Sent but dropped").contains("▲ over"), "{}", row("Sent but dropped"));
    let is_dots = |sign: &char| ('\u{2801}'..='\u{28ff}').contains(sign);
    let heights = |title: &str| row(title).chars().filter(is_dots).collect::<String>();
    assert_ne!(heights("Sent but dropped"), heights("Switch relay errors"), "{screen}");
    assert!(!heights("Switch relay errors").is_empty(), "no growth is a line at zero: {screen}");
}

#[test]
fn a_page_is_opened_from_any_screen_and_esc_leads_back() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    open_page(&mut driver, "rack2-leaf[7]", 120, 40);
    let row = driver.state.screens.links.page.as_ref().unwrap().link;
    assert!(shown(&driver).contains("Links › rack2-leaf[7]"), "{}", shown(&driver));
    // Up and down lead through the list.
    driver.press("down");
    assert_ne!(driver.state.screens.links.page.as_ref().unwrap().link, row);
    driver.press("up");
    assert_eq!(driver.state.screens.links.page.as_ref().unwrap().link, row);
    driver.press("esc");
    assert!(driver.state.screens.links.page.is_none() && driver.state.screen == ScreenId::Links);
    // A port of Hot-spots leads to its cable, and back.
    driver.press("4 enter");
    assert!(driver.state.screens.links.page.is_some() && driver.state.screen == ScreenId::Links);
    driver.press("esc");
    assert_eq!(driver.state.screen, ScreenId::Hotspots);
    assert!(driver.state.screens.links.page.is_none());
}

/// What a watch stored of a cable is a column of the list and a line of the page. Without a store there is no column.
#[test]
fn links_and_the_page_have_what_the_ledger_has_of_a_cable() {
    const DAY_MS: i64 = 86_400_000;
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    open_page(&mut driver, "rack2-leaf[7]", 200, 60);
    driver.press("esc");
    assert!(!shown(&driver).contains("DOWNS 90D"), "{}", shown(&driver));
    let look = driver.state.snapshot().unwrap().clone();
    let element: Element = "link:rack2-leaf[7]".parse().unwrap();
    let ElementId::Link(link) = element.resolve(look.fabric(), &look.names).unwrap() else {
        panic!("no link")
    };
    let mut cable = CableHistory::new(place_of(&look, ends_of_link(&look, link)), 0);
    // 2026-11-02, and fourteen days before that.
    let now_ms = 20_759 * DAY_MS;
    let down = CableCounts { downs: [1, 1, 0], ..CableCounts::default() };
    (1..=14).rev().for_each(|day| cable.add(&down, now_ms - day * DAY_MS));
    let ledger = LinkLedger::from_histories([cable]);
    driver.ledger = Some(Arc::new(StoredLedger { ledger, now_ms }));
    swept(&mut driver, 2);
    let screen = shown(&driver);
    assert!(screen.contains("DOWNS 90D"), "{screen}");
    let known: Vec<String> = {
        let listing = driver.state.screens.links.listing(&driver.state.known).unwrap();
        let column = (0..listing.column_count()).find(|at| listing.column(*at).id == "downs").unwrap();
        let cells = (0..listing.row_count()).map(|row| listing.cell(row, column).display_text().into_owned());
        cells.filter(|text| text.chars().any(|sign| sign.is_ascii_digit())).collect()
    };
    assert_eq!(known, ["14"]);
    driver.press("enter");
    let screen = shown(&driver);
    assert!(screen.contains("went down 14 times"), "{screen}");
}

/// The failure is tried on the paths that also count the marks of the session: these stay.
#[test]
fn what_a_failure_costs_is_what_a_mark_costs() {
    let mut driver = open_session("sim:demo");
    type_line(&mut driver, ":", "mark switch:spine-1");
    let marked = driver.state.known.cost.clone().unwrap();
    open_page(&mut driver, "rack2-leaf[10]", 120, 40);
    let report = driver.state.screens.links.page.as_ref().unwrap().report.clone().expect("a report");
    let MarkLoss::Counted(cost) = &report.loss else { panic!("{:?}", report.loss) };
    assert_eq!(driver.state.known.cost.as_ref(), Some(&marked));
    driver.press("esc");
    type_line(&mut driver, ":", "mark switch:spine-2");
    type_line(&mut driver, ":", "mark switch:spine-2");
    assert_eq!(driver.state.known.cost.as_ref().map(|cost| &cost.lost), Some(&marked.lost), "marked again");
    driver.press("F");
    type_line(&mut driver, ":", "mark link:rack2-leaf[10]");
    let alone = driver.state.known.cost.clone().unwrap();
    assert_eq!((&cost.lost, cost.pairs), (&alone.lost, alone.pairs));
    assert!(cost.lost_pairs() > 0 && cost.lost_pairs() != marked.lost_pairs());
}

#[test]
fn jobs_over_the_cable_are_named() {
    let mut driver = watching(incast);
    swept(&mut driver, 3);
    type_line(&mut driver, ":", "jobs off");
    open_page(&mut driver, "rack2-leaf[7]", 120, 40);
    let screen = shown(&driver);
    assert!(screen.contains("Jobs are not known.") || screen.contains("no job"), "{screen}");
}

#[test]
fn the_time_of_the_charts_can_be_changed() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    open_page(&mut driver, "rack1-leaf[2]", 120, 40);
    assert!(shown(&driver).contains("-5 min"), "{}", shown(&driver));
    driver.press("+");
    assert!(shown(&driver).contains("-15 min"), "{}", shown(&driver));
    driver.press("- -");
    let screen = shown(&driver);
    assert!(screen.contains("-1 min"), "{screen}");
    // The leaf sends 95 % of its link.
    let head = screen.lines().find(|line| line.contains("Sent by rack1-leaf")).unwrap();
    assert!(head.contains("184 Gb/s"), "{head}");
    driver.press("esc 5 +");
    assert!(shown(&driver).contains("the charts are on Health"), "{}", shown(&driver));
}

/// What is not known is said to be, and never 0.
#[test]
fn without_counters_nothing_is_zero() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("3 enter");
    let screen = shown(&driver);
    assert!(driver.state.screens.links.page.is_some(), "{screen}");
    assert_eq!(screen.matches("not measured").count(), 2, "{screen}");
    assert!(!screen.contains("Gb/s  0 %") && screen.contains("waiting for two readings"), "{screen}");
}

#[test]
fn the_page_says_what_its_counters_mean() {
    let mut driver = watching(erring);
    swept(&mut driver, 4);
    open_page(&mut driver, "rack3-leaf[10]", 120, 40);
    let screen = shown(&driver);
    assert!(screen.contains("What it means") && screen.contains("▲ over"), "{screen}");
    let meaning =
        screen.lines().skip_while(|row| !row.contains("What it means")).collect::<Vec<_>>().join(" ");
    assert!(meaning.contains("likely:"), "{screen}");
    driver.press("esc");
    open_page(&mut driver, "rack5-leaf[7]", 120, 40);
    assert!(shown(&driver).contains("nothing is wrong with it"), "{}", shown(&driver));
}

#[test]
fn a_card_and_the_line_that_goes_to_anything_open_the_page() {
    let mut driver = watching(erring);
    swept(&mut driver, 4);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("1");
    let is_cable = |driver: &TestSession| {
        driver
            .state
            .screens
            .health
            .problem()
            .is_some_and(|(_, problem)| problem.title.contains("rack3-leaf[10]"))
    };
    while !is_cable(&driver) {
        driver.press("down");
    }
    driver.press("enter");
    let page = driver.state.screens.links.page.as_ref().expect("the page of the cable");
    let link = page.link;
    driver.press("esc 1");
    driver.press(":").send_input(SessionInput::Paste("rack3-leaf[10]".to_owned()));
    let cable = driver.state.goto.rows.iter().position(|row| row.group == GotoGroup::Cables).unwrap();
    driver.press(&"down ".repeat(cable)).press("enter");
    assert_eq!(driver.state.screens.links.page.as_ref().map(|page| page.link), Some(link));
}

#[test]
fn cables_in_trouble_come_first() {
    let mut driver = watching(erring);
    swept(&mut driver, 4);
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    let mut table = std::mem::take(&mut driver.state.screens.links);
    table.opens_by_trouble = true;
    table.reset(&driver.state.known);
    driver.state.screens.links = table;
    swept(&mut driver, 2);
    driver.press("3");
    let screen = shown(&driver);
    assert!(screen.contains("Links › degraded first"), "{screen}");
    let rows: Vec<&str> = screen.lines().skip(4).take(3).collect();
    assert!(rows[0].contains("rack3-leaf"), "{screen}");
    // Of cables alike in that, those with errors come before those without.
    let order = driver.state.screens.links.table().sort_words();
    assert_eq!(order.as_deref(), Some("degraded:desc,errors_per_hour:desc"));
    let errors = driver.state.known.watch.reading.as_ref().unwrap().errored_links();
    let second = driver.state.screens.links.table().selection.rows[1];
    let second = driver.state.screens.links.element(second, &driver.state.known);
    assert!(errors.iter().any(|link| Some(ElementId::Link(*link)) == second), "{screen}");
    driver.press("s");
    assert!(!shown(&driver).contains("degraded first"), "an order that the operator chose stays");
}
