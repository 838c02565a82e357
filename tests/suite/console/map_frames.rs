//! The drawn map: its cables, their colours, the lit path, marks and the cursor.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::fixture::{appearance, frame, golden, open_session, styles, text};
use super::test_session::TestSession;
use super::watches::{WAIT, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::Counter;

/// Turns to the drawn map at a size.
fn drawn(driver: &mut TestSession, width: u16, height: u16) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("shift-tab");
    }
}

fn buffer(driver: &TestSession) -> Buffer {
    frame(&driver.state, &appearance("dark", ColorDepth::True))
}

fn shown(driver: &TestSession) -> String {
    text(&buffer(driver))
}

fn colour(role: Role) -> Option<Color> {
    appearance("dark", ColorDepth::True).theme.style(role).fg
}

/// Number of cells with dots in the colour of a role.
fn dots(buffer: &Buffer, role: Role) -> usize {
    let is_dots = |sign: &str| sign.chars().all(|sign| ('\u{2801}'..='\u{28ff}').contains(&sign));
    let wanted = colour(role);
    let cells = buffer.content.iter().filter(|cell| is_dots(cell.symbol()));
    cells.filter(|cell| Some(cell.fg) == wanted).count()
}

fn here(driver: &TestSession) -> String {
    let known = &driver.state.known;
    driver.state.current().current(known).and_then(|what| known.element(what)).unwrap_or_default()
}

#[test]
fn the_map_is_the_first_view_and_v_turns_to_the_others() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 80, 24);
    for view in [MapView::Tree, MapView::Switches, MapView::Hosts, MapView::Drawn] {
        driver.press("V");
        assert_eq!(driver.state.screens.map.view, view);
    }
    assert_eq!(MapView::default(), MapView::Drawn);
}

#[test]
fn the_demo_is_drawn_whole() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut driver = open_session("sim:demo");
        drawn(&mut driver, width, height);
        let map = &driver.state.screens.map.drawn;
        let (structure, layout) = (map.structure.as_ref().unwrap(), map.layout.as_ref().unwrap());
        assert_eq!((structure.switches.len(), structure.cables.len()), (9, 36));
        let mut places = layout.cables.clone();
        places.sort_by_key(|place| (place.from, place.to));
        places.dedup();
        assert_eq!(places.len(), 36, "each cable has a line of its own");
        let all = shown(&driver);
        for switch in ["spine-1", "spine-2", "spine-3", "rack1", "rack6"] {
            assert!(all.contains(switch), "{switch} at {width}x{height}: {all}");
        }
        assert_eq!(all.matches("▲1x").count(), 1, "the cable below its width: {all}");
        let all = buffer(&driver);
        assert!(dots(&all, Role::Border) > 100, "cables whose wait is not known are faint");
        assert_eq!(dots(&all, Role::Wait4) + dots(&all, Role::Load4), 0);
    }
}

#[test]
fn without_a_reading_nothing_is_said_to_be_zero() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 120, 40);
    let all = shown(&driver);
    assert!(all.contains("wait, % of time ○ not known yet"), "{all}");
    assert!(!all.contains("wait 0 %"), "{all}");
    // Paths are known from the tables.
    driver.press("v v v");
    assert!(shown(&driver).contains("busiest cable"), "{}", shown(&driver));
    assert!(dots(&buffer(&driver), Role::Load4) > 0);
}

#[test]
fn each_quantity_has_its_colours() {
    // A cable that waits and another one that sends, without a hot-spot.
    fn busy(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
        vec![
            ("rack3-leaf", 7, WAIT, 2_800_000_000 * second),
            ("rack5-leaf", 8, Counter::PortXmitDataExtended, 5_000_000_000 * second),
        ]
    }
    let mut driver = watching(busy);
    swept(&mut driver, 4);
    drawn(&mut driver, 120, 40);
    driver.press("3 2");
    let count = |driver: &TestSession, steps: [Role; 4]| -> usize {
        let all = buffer(driver);
        steps.into_iter().map(|role| dots(&all, role)).sum()
    };
    let wait = [Role::Wait1, Role::Wait2, Role::Wait3, Role::Wait4];
    let load = [Role::Load1, Role::Load2, Role::Load3, Role::Load4];
    let seen = |driver: &TestSession| (count(driver, wait) > 0, count(driver, load) > 0);
    assert_eq!(seen(&driver), (true, false), "{}", shown(&driver));
    driver.press("v");
    assert!(shown(&driver).contains("by load"), "{}", shown(&driver));
    assert_eq!(seen(&driver), (false, true), "{}", shown(&driver));
    driver.press("v v v");
    assert!(shown(&driver).contains("by wait"), "{}", shown(&driver));
    assert!(!seen(&driver).1, "{}", shown(&driver));
}

#[test]
fn the_path_that_the_operator_follows_is_lit() {
    let mut driver = open_session("sim:demo");
    driver.press(":trace space \"node01 space mlx5_0\" space \"node16 space mlx5_0\" enter 2");
    drawn(&mut driver, 80, 24);
    let lit = driver.state.screens.map.drawn.lit.clone().expect("a path is lit");
    assert_eq!((lit.hops.len(), lit.arrives), (5, true));
    assert!(dots(&buffer(&driver), Role::Strong) > 10, "its cables between switches");
    let all = shown(&driver);
    assert!(all.contains("path node01 to node16") && all.contains("node01 › rack1-leaf["), "{all}");
    drawn(&mut driver, 120, 40);
    let all = shown(&driver);
    let hops = ["● node01", "■ rack1-leaf[", "■ spine-", "■ rack3-leaf[", "● node16"];
    assert!(hops.iter().all(|hop| all.contains(hop)), "a pane of its own: {all}");
    assert!(all.contains("○ not known"), "nothing was read yet: {all}");
}

#[test]
fn marks_are_dashed_and_violet() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 120, 40);
    assert_eq!(dots(&buffer(&driver), Role::Marked), 0);
    driver.press("f");
    let all = buffer(&driver);
    assert!(dots(&all, Role::Marked) > 40, "the cables of the marked switch");
    assert!(text(&all).contains("✗ spine-1"), "{}", text(&all));
    driver.press("f down f");
    assert_eq!(driver.state.known.marks.len(), 1);
    assert!(
        driver.state.known.marks.iter().all(|mark| matches!(mark, ElementId::Link(_))),
        "a cable is marked"
    );
}

#[test]
fn the_cursor_goes_over_switches_and_cables() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 120, 40);
    assert_eq!(here(&driver), "switch:spine-1");
    driver.press("right");
    assert_eq!(here(&driver), "switch:spine-2");
    driver.press("down");
    assert!(here(&driver).starts_with("link:"), "{}", here(&driver));
    let before = here(&driver);
    assert!(dots(&buffer(&driver), Role::Key) > 5, "the cable at the cursor");
    assert!(shown(&driver).contains("from"), "its details are beside the map");
    driver.press("right");
    assert_ne!(here(&driver), before, "the next cable");
    driver.press("enter");
    assert!(driver.state.layer.is_some(), "Enter opens the details of a cable");
    driver.press("esc down");
    assert!(here(&driver).ends_with("-leaf"), "{}", here(&driver));
    driver.press("up up");
    assert_eq!(here(&driver), "switch:spine-2", "up a cable, up to its end");
    driver.press("enter");
    assert_eq!(
        driver.state.current().crumbs(&driver.state.known).len(),
        2,
        "Enter opens the ports of a switch"
    );
}

#[test]
fn a_filter_dims_switches_and_cables() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 120, 40);
    let grid = |driver: &TestSession| dots(&buffer(driver), Role::Grid);
    assert_eq!(grid(&driver), 0);
    driver.press("/ rack1 enter");
    assert!(grid(&driver) > 100, "{}", shown(&driver));
    assert_eq!(here(&driver), "switch:rack1-leaf");
    driver.press("right");
    assert_eq!(here(&driver), "switch:rack1-leaf", "the cursor goes to what passes the filter only");
    driver.press("esc");
    assert_eq!(grid(&driver), 0);
    driver.press("/ nonesuch");
    assert!(shown(&driver).contains("no switch of 9 matches 'nonesuch'"), "{}", shown(&driver));
}

#[test]
fn ascii_has_its_own_lines_and_leaves_idle_cables_out() {
    let mut driver = open_session("sim:demo");
    drawn(&mut driver, 120, 40);
    let ascii = Appearance { signs: Symbols::ASCII, ..appearance("mono", ColorDepth::Mono) };
    let lines = |driver: &TestSession| {
        let all = text(&frame(&driver.state, &ascii));
        assert!(all.is_ascii(), "{all}");
        let body = all.lines().skip(6).take(15).map(|line| line.chars().skip(1).take(80).collect::<String>());
        body.map(|line| line.matches(['.', ':', '/', '\\']).count()).sum::<usize>()
    };
    assert_eq!(lines(&driver), 0, "no cable has a value yet");
    driver.press("v v v");
    assert!(lines(&driver) > 50, "{}", text(&frame(&driver.state, &ascii)));
}

#[test]
fn the_map_at_two_sizes() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut driver = open_session("sim:demo");
        driver.press(":trace space \"node01 space mlx5_0\" space \"node16 space mlx5_0\" enter 2");
        drawn(&mut driver, width, height);
        driver.press("v v v");
        let (all, plain) = (buffer(&driver), appearance("dark", ColorDepth::True).theme.blank());
        golden(
            &format!("map {width}x{height}"),
            &format!("{}-- styles\n{}", text(&all), styles(&all, plain)),
        );
    }
}
