//! What stands on a screen can be read: names that differ look different, what tells of trouble is in sight, and what
//! does not fit says that there is more.

use super::fixture::{SIZES, appearance, frame, open_session, shared, text};
use super::test_session::TestSession;
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::tour::tour_steps::TOUR_STEPS;
use fabdeck::console::model::layout::{BOX_MIN_SCREEN, Size};
use fabdeck::console::model::tasks::TaskDependency;
use fabdeck::system::access::{SourceOptions, SystemAccess};
use fabdeck::system::local_access::LocalSystemAccess;
use fabdeck_fabric::NameMap;
use fabdeck_mad::access::{NoObserver, ReadOptions};

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Mono)))
}

fn sized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    shown(driver)
}

fn line(all: &str, part: &str) -> String {
    all.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} in\n{all}")).to_owned()
}

/// The rows of the generated table of fields: title, and unit.
fn titles_with_units() -> Vec<(String, String)> {
    let all = include_str!("../../../docs/fields.md");
    let rows = all.lines().filter(|line| line.starts_with("| `"));
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    rows.map(cells)
        .filter(|cells| cells.len() > 6)
        .map(|cells| (cells[2].clone(), cells[4].clone()))
        .collect()
}

#[test]
fn a_share_has_its_sign_in_the_head_of_its_column() {
    let all = titles_with_units();
    let shares: Vec<&String> = all.iter().filter(|(_, unit)| unit == "%").map(|(title, _)| title).collect();
    assert!(shares.len() >= 5, "{shares:?}");
    assert!(shares.iter().all(|title| title.contains('%')), "{shares:?}");
    // One word for one thing: a port waits, and has a load.
    for (title, _) in &all {
        assert!(!["WAITED", "USED", "WAIT/S"].contains(&title.as_str()), "{title}");
    }
}

/// A list has the name of a host without its adapter where it has one, so that other columns have room; its details have
/// the whole name.
#[test]
fn hosts_with_one_adapter_are_named_without_it() {
    let mut driver = open_session("sim:demo");
    driver.press("3");
    let links = sized(&mut driver, 120, 40);
    let row = links.lines().find(|row| row.contains(" login1 ") && row.contains("Active"));
    let row = row.unwrap_or_else(|| panic!("{links}"));
    assert!(row.contains("rack1-leaf") && !row.split("││").next().unwrap().contains("mlx5"), "{row}");
    // Names that several nodes have stay whole.
    assert!(links.contains("Mellanox"), "{links}");
    driver.press("2");
    for _ in 0..6 {
        if shown(&driver).contains("Map › hosts") {
            break;
        }
        driver.press("V");
    }
    let hosts = shown(&driver);
    assert!(hosts.contains("▶  login1 ") && hosts.contains("name   login1 mlx5_0"), "{hosts}");
    // A filter finds it by either.
    driver.press("/").send_input(SessionInput::Paste("login1 mlx5".to_owned())).press("enter");
    assert!(shown(&driver).contains("1 of 1"), "{}", shown(&driver));
}

/// The demo with names that differ at their ends only.
fn long_names() -> Snapshot {
    let mut opened = LocalSystemAccess::default().open("sim:demo", &SourceOptions::default()).unwrap();
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let observation = opened.observe(wanted, &mut NoObserver).unwrap();
    let mut names = NameMap::default();
    for (at, (_, node)) in observation.fabric.nodes().enumerate() {
        names.by_guid.insert(node.guid(), format!("datacentre-north-hall-seven-row-{at:03}"));
    }
    Snapshot::new("sim:demo", observation, &names)
}

#[test]
fn names_that_differ_at_their_ends_stay_different() {
    let look = long_names();
    for keys in ["V", "V V", "3", "V enter", "enter", "3 f 6 V"] {
        for (width, height) in SIZES {
            for signs in [Symbols::UNICODE, Symbols::ASCII] {
                let mut driver = shared(look_again(&look));
                driver.press(keys).send_input(SessionInput::Resized(Size { width, height }));
                let appearance = Appearance { signs, ..appearance("mono", ColorDepth::Mono) };
                let all = text(&frame(&driver.state, &appearance));
                // No name is cut behind its beginning: its number stands wherever it does.
                let cut = format!("north-hall{}", signs.more);
                let beside = signs.beside;
                // Of a wide screen, the inside of the first box.
                let inside = usize::from(width >= BOX_MIN_SCREEN);
                let rows = all.lines().filter_map(|line| line.split(beside).nth(inside));
                let rows = rows.filter(|row| row.contains("data"));
                for row in rows {
                    let numbered = row.split("data").skip(1).all(|rest| {
                        rest.split([' ', '['])
                            .next()
                            .is_some_and(|name| name.ends_with(|sign: char| sign.is_ascii_digit()))
                    });
                    assert!(numbered && !row.contains(&cut), "{keys} at {width}x{height}: {row}\n{all}");
                }
            }
        }
    }
}

fn look_again(look: &Snapshot) -> Snapshot {
    let names: NameMap = NameMap {
        by_guid: look.fabric().nodes().map(|(id, node)| (node.guid(), look.name(id).to_owned())).collect(),
        ..NameMap::default()
    };
    Snapshot::new("sim:demo", look.observation.clone(), &names)
}

#[test]
fn ports_tell_their_state_and_their_speed_and_trouble_comes_first() {
    let mut driver = open_session("sim:demo");
    // The spine with the weak cable, and a mark on another of its ports.
    driver.press("/ degraded enter down down");
    let weak = line(&shown(&driver), "degraded");
    let number = driver.state.known.look.clone().map(|look| {
        let fabric = look.fabric();
        let (_, link) = fabric.links().find(|(id, _)| look.is_degraded(*id) == Some(true)).unwrap();
        [link.a, link.b].map(|port| look.port_name(port))
    });
    let [a, b] = number.unwrap();
    assert!(!weak.is_empty());
    let spine = if a.starts_with("spine") { &a } else { &b };
    let (name, port) = spine.trim_end_matches(']').split_once('[').unwrap();
    driver.press("esc V").press("/").send_input(SessionInput::Paste(name.to_owned())).press("enter");
    driver.press(&format!(":mark space link:{name}[2] enter 2"));
    for (width, height, open) in [(80, 24, "d"), (120, 40, ""), (200, 60, "")] {
        driver.press(open);
        let all = sized(&mut driver, width, height);
        let at = |wanted: &str| {
            all.lines().position(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{wanted}: {all}"))
        };
        assert!(all.contains(&format!("1 link: port {port}")), "{all}");
        let ports: Vec<&str> = all.lines().skip(at("1 link: port") + 1).collect();
        let first = ports.iter().position(|line| line.contains("HDR")).unwrap();
        let two = format!("{}\n{}", ports[first], ports[first + 1]);
        assert!(
            two.contains("degraded") && two.contains("marked") && two.contains("x HDR"),
            "{width}: {all}"
        );
        let third = ports[first + 2];
        assert!(third.contains("4x HDR") && third.contains("rack"), "{width}: {third}");
        assert!(width == 120 || third.contains("Active"), "{width}: {third}");
        if !open.is_empty() {
            driver.press("esc");
        }
    }
}

#[test]
fn a_short_pane_counts_the_ports_that_it_leaves_out() {
    let mut driver = open_session("sim:switch648");
    driver.press("V");
    let all = sized(&mut driver, 120, 20);
    assert!(line(&all, "d shows them").contains("more; d shows them"), "{all}");
    driver.press("d");
    let all = sized(&mut driver, 80, 24);
    assert!(line(&all, "1-").contains("of 4") && line(&all, "1-").contains('▼'), "{all}");
    driver.press("G");
    assert!(shown(&driver).contains('▲') && !shown(&driver).contains('▼'), "{}", shown(&driver));
}

#[test]
fn the_cursor_of_the_map_has_brackets_and_every_sign_a_word() {
    let mut driver = open_session("sim:demo");
    driver.press("V V V f right");
    // Lines have no room on these.
    for (width, height) in [(80, 12), (120, 12), (40, 12)] {
        let all = sized(&mut driver, width, height);
        assert!(all.contains("[◪]") && all.contains('✗'), "{all}");
        let legend = line(&all, "■ well");
        for sign in ["◪ ", "□ ", "✗ marked"] {
            assert!(legend.contains(sign), "{width}: {legend}");
        }
        assert!(all.contains("switch:spine-2"), "{all}");
    }
    driver.press("left");
    assert!(shown(&driver).contains("[✗]"), "{}", shown(&driver));
}

#[test]
fn the_map_names_the_rank_of_its_cursor_where_there_is_room() {
    let mut driver = open_session("sim:demo");
    driver.press("V V V");
    let all = sized(&mut driver, 39, 40);
    assert!(all.contains("spine-2") && all.contains("spines by name"), "{all}");
    driver.press("down");
    let all = shown(&driver);
    assert!(all.contains("leaves by name") && all.contains("▶ rack1-leaf"), "{all}");
    assert!(all.contains("a link is degraded"), "{all}");
}

#[test]
fn what_tells_of_trouble_is_in_sight_beside_details_and_on_small_screens() {
    let mut driver = open_session("sim:demo");
    let headings = |all: &str| all.lines().nth(3).unwrap().to_owned();
    driver.press("3");
    let all = sized(&mut driver, 120, 40);
    for title in ["STATE", "DEGRADED", "PATHS"] {
        assert!(headings(&all).contains(title), "{title}: {all}");
    }
    for keys in ["2", "2 V V", "3", "2 V enter"] {
        driver.press("2 esc esc").press(keys);
        let all = sized(&mut driver, 40, 12);
        assert!(headings(&all).contains("STATE"), "{keys}: {all}");
        driver.press("2 esc esc V V");
    }
    // Errors stand beside paths where somebody counted them.
    let wanted = ReadOptions { tables: true, counters: true, ..ReadOptions::default() };
    let mut driver = shared(super::fixture::look_at("sim:demo", wanted));
    driver.press("3");
    for width in [110, 120, 140] {
        let all = sized(&mut driver, width, 40);
        assert!(headings(&all).contains("ERRORS"), "{width}: {all}");
    }
    // What gave way comes by with the arrow keys.
    sized(&mut driver, 80, 24);
    assert!(!headings(&shown(&driver)).contains("PARALLEL"));
    driver.press("right right right right right right right right");
    assert!(headings(&shown(&driver)).contains("PARALLEL"), "{}", shown(&driver));
}

/// An engine that takes long, seen when so many seconds have passed and so many steps are done.
fn under_way(steps: &[(u64, u64)], then_ms: u64, width: u16) -> String {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width, height: 24 }));
    let task = driver.state.tasks.begin("minhop routes", TaskDependency::Marks, 0);
    driver.state.tasks.set_cancellable(task);
    driver.state.seen = driver.state.messages.total_count();
    for (at_ms, done) in steps {
        driver.state.now_ms = *at_ms;
        driver.send_input(SessionInput::Progress { task, done: *done, of: 1000 });
    }
    driver.state.now_ms = then_ms;
    line(&shown(&driver), "minhop routes")
}

#[test]
fn estimates_wait_until_they_say_something() {
    let early = under_way(&[(1000, 1)], 1000, 120);
    assert!(!early.contains("left") && early.contains("Esc cancels"), "{early}");
    let quick = under_way(&[(900, 100)], 1900, 120);
    assert!(quick.contains("10 %") && !quick.contains("left"), "{quick}");
    let hours = under_way(&[(300_000, 66)], 300_000, 120);
    assert!(
        hours.contains("6 %") && !hours.contains("left"),
        "parts differ, and their number is not known: {hours}"
    );
    let last = under_way(&[(1000, 970)], 13_000, 120);
    assert!(!last.contains("97 %") && last.contains("minhop routes, checking, 13 s so far"), "{last}");
    for width in [40, 60, 80] {
        let narrow = under_way(&[(1000, 100), (1200, 2), (300_000, 66)], 300_000, width);
        assert!(narrow.contains("Esc cancels") && narrow.contains("6 %"), "{narrow}");
    }
}

#[test]
fn pages_that_do_not_fit_say_so_and_scroll() {
    for (width, height) in [(40, 12), (80, 24)] {
        let mut driver = open_session("sim:demo");
        driver.press("?");
        let all = sized(&mut driver, width, height);
        assert!(all.contains('▼') && all.lines().last().unwrap().contains("down up scroll"), "{all}");
        // Nothing is cut at the right edge, however far one goes.
        for _ in 0..60 {
            assert!(!shown(&driver).contains('…'), "{}", shown(&driver));
            driver.press("pgdn");
        }
        assert!(shown(&driver).contains('▲') && !shown(&driver).contains('▼'), "{}", shown(&driver));
    }
}

/// Every word of each step is there beside the screen that it is about.
#[test]
fn the_tour_is_read_whole_beside_the_screens() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut driver = open_session("sim:demo");
        driver.press(":tour enter");
        for (at, step) in TOUR_STEPS.iter().enumerate() {
            let all = sized(&mut driver, width, height);
            assert!(all.contains(&format!("Tour {} of 10: {}", at + 1, step.title)), "{all}");
            for word in step.words(&driver.state.keymap).split_whitespace() {
                assert!(all.contains(word), "{word} of {} at {width}x{height}: {all}", step.title);
            }
            driver.press(".");
        }
        assert_eq!(driver.state.tour.step, None, "behind the last step it ends");
    }
}

#[test]
fn cables_that_failed_before_are_shown_on_the_fabric_screen() {
    let mut driver = open_session("sim:switch648,faults=1%");
    for (view, (width, height)) in ["", "V", "V", "V"].into_iter().zip(SIZES) {
        driver.press(view);
        let all = sized(&mut driver, width, height);
        let first = all.lines().nth(3).unwrap().trim_start_matches('│');
        assert!(first.starts_with("failed and not in") && first.contains(" more"), "{all}");
    }
    driver.press("3");
    assert!(!shown(&driver).contains("failed and not"));
    let mut whole = open_session("sim:demo");
    whole.press("V");
    assert!(!shown(&whole).contains("failed and not"));
}

/// After a reroute around a switch, pairs of its own have no path before the mark: that stands in the line, whole.
#[test]
fn what_had_no_path_before_is_shown_within_eighty_columns() {
    let mut look = super::fixture::look("sim:demo");
    let named = |name: &str| look.fabric().nodes().find(|(id, _)| look.name(*id) == name).unwrap().0;
    let spine = named("spine-1");
    let own = look.fabric().ports_of(spine).filter_map(|(_, port)| port.peer);
    let own: Vec<_> =
        own.filter(|port| !look.fabric().node(look.fabric().port(*port).node).is_switch()).collect();
    let lid = look.fabric().port(own[0]).facts.lid.unwrap();
    let switches: Vec<_> = look.fabric().switches().map(|(id, _)| id).collect();
    for switch in switches {
        look.observation.tables.node_mut(switch).lft.as_mut().unwrap().set(lid, None);
    }
    let mut driver = TestSession::open(look, Size { width: 80, height: 24 });
    driver.press("V /").send_input(SessionInput::Paste("spine-1".to_owned())).press("enter f 6");
    let line = line(&shown(&driver), "CUT OFF");
    assert_eq!(line, " ◆ CUT OFF      no host; 1 aggregation node; 44 pairs had no path before");
}
