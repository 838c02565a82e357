//! The drawn map: its cables, their colours, the lit path, marks and the cursor.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::fixture::{appearance, frame, golden, open_session, styles, text};
use super::health::demo;
use super::test_session::{TestSession, begun_task};
use super::watches::{CounterStory, EVERY, WAIT, incast, lab_from, node, swept, watching};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::frame::Appearance;
use fabdeck::console::drawing::symbols::Symbols;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::map::pair_table::PairTask;
use fabdeck::console::features::map::screen::MapView;
use fabdeck::console::features::screens::ScreenId;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::fabric_map::groups::GroupKind;
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{ElementId, PortNum};

/// Turns to the drawn map at a size.
fn drawn(driver: &mut TestSession, width: u16, height: u16) {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    while driver.state.screens.map.view != MapView::Drawn {
        driver.press("V");
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
    // As on a large fabric.
    let mut behind = watching(busy);
    behind.state.screens.map.drawn.figures_behind = true;
    for driver in [&mut driver, &mut behind] {
        swept(driver, 4);
        drawn(driver, 120, 40);
        driver.press("3 2");
    }
    assert_eq!(shown(&driver), shown(&behind), "figures of a task are those that are summed up at once");
    assert_eq!(buffer(&driver), buffer(&behind));
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
    assert!(driver.state.screens.links.page.is_some(), "Enter opens the page of a cable");
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
    // No cable has a value yet, and all are drawn; beside a path they would hide it.
    let whole = lines(&driver);
    assert!(whole > 200, "{whole}");
    driver.press(":trace space \"node01 space mlx5_0\" space \"node16 space mlx5_0\" enter 2");
    drawn(&mut driver, 120, 40);
    let path = lines(&driver);
    assert!(path > 10 && path < whole / 3, "{path} of {whole}");
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

/// A tree of three ranks that is too large for lines: 108 switches, 216 hosts, 6 pods.
fn large() -> TestSession {
    let mut driver = open_session("sim:kary,k=6,n=3");
    drawn(&mut driver, 120, 40);
    driver.press("v v v");
    driver
}

#[test]
fn a_large_tree_is_a_matrix_of_pods() {
    let driver = large();
    let map = &driver.state.screens.map.drawn;
    assert!(map.layout.is_none() && map.matrix.shown);
    assert_eq!((map.matrix.table.rows.len(), map.matrix.table.columns.len()), (6, 6));
    assert_eq!(map.matrix.table.broken, 0);
    // Each pair of pods is connected, so each cell but those of the same pod has a port with paths.
    let known = map.matrix.table.cells.iter().filter(|cell| cell.is_some()).count();
    assert_eq!(known, 36);
    let all = shown(&driver);
    assert!(all.contains("from pod (row) to pod (column)"), "{all}");
    assert!(all.contains("36 roots, one bar each"), "{all}");
    let mut unread = open_session("sim:kary,k=6,n=3");
    drawn(&mut unread, 120, 40);
    let all = shown(&unread);
    let worst: Vec<&str> = all.lines().skip_while(|row| !row.contains("Where it waits")).take(2).collect();
    assert!(worst.get(1).is_some_and(|row| row.contains("○ not known")), "unknown is no zero: {all}");
    assert!(!all.contains("not arrive"), "{all}");
}

/// The name of a pod opens the map there, from any screen, and Esc leads back; the map of all pods then has the cursor on it.
#[test]
fn the_name_of_a_pod_opens_the_map_there() {
    for line in ["pod3", "pod 3"] {
        let mut driver = large();
        driver.press("1 :").send_input(SessionInput::Paste(line.to_owned()));
        let row = driver.state.goto.rows[0].clone();
        assert_eq!((row.text.as_str(), row.blocked), ("pod 3", false), "{row:?}");
        assert!(row.about.ends_with("36 hosts") || row.about.contains(" hosts"), "{row:?}");
        driver.press("enter");
        assert_eq!(driver.state.screen, ScreenId::Map);
        let crumbs = |driver: &TestSession| driver.state.current().crumbs(&driver.state.known);
        assert_eq!(crumbs(&driver), ["drawn", "pod 3 to all"]);
        let table = &driver.state.screens.map.drawn.matrix.table;
        assert_eq!((table.rows.len(), table.columns.len()), (6, 6), "its leaves against all pods");
        assert!(shown(&driver).contains("from pod 3 (rows) to pods 0-5 (columns)"), "{}", shown(&driver));
        driver.press("esc");
        assert_eq!(driver.state.screen, ScreenId::Health, "back to where the line was typed");
        driver.press("2");
        assert_eq!(crumbs(&driver).len(), 1);
        assert_eq!(driver.state.screens.map.drawn.matrix.cursor.0, 3);
    }
}

#[test]
fn enter_zooms_from_pods_to_ports_and_esc_back() {
    let mut driver = large();
    driver.press("down right right");
    assert_eq!(driver.state.screens.map.drawn.matrix.cursor, (1, 2));
    let port = here(&driver);
    assert!(port.starts_with("port:"), "the worst port of the pair: {port}");
    driver.press("enter");
    let crumbs = |driver: &TestSession| driver.state.current().crumbs(&driver.state.known);
    assert_eq!(crumbs(&driver), ["drawn", "pod 1 to pod 2"]);
    let table = &driver.state.screens.map.drawn.matrix.table;
    assert_eq!((table.rows.len(), table.columns.len()), (6, 6), "the leaves of both pods");
    assert!(shown(&driver).contains("from pod 1 (rows) to pod 2 (columns)"), "{}", shown(&driver));
    driver.press("down enter");
    assert_eq!(crumbs(&driver).len(), 3);
    assert!(shown(&driver).contains("PEER"), "the ports of the leaf: {}", shown(&driver));
    driver.press("esc");
    assert_eq!(crumbs(&driver).len(), 2);
    driver.press("esc");
    assert_eq!(crumbs(&driver).len(), 1);
    assert_eq!(driver.state.screens.map.drawn.matrix.cursor, (1, 2), "back at the same pair");
    assert_eq!(here(&driver), port);
}

/// A watch of a generated fabric; each port has one counter in the story.
fn watching_fabric(spec: &str, story: CounterStory) -> TestSession {
    let (look, sweeper) = lab_from(
        spec,
        |_| (),
        move |world, look, second| {
            for (name, number, counter, count) in story(second) {
                let values = CounterValues::from_iter([(counter, Some(count))]);
                world.set_counters(node(look, name), PortNum(number), values);
            }
            Ok(())
        },
    );
    TestSession::open_watching(look, sweeper, EVERY, Size { width: 120, height: 40 })
}

/// A host of the first pod waits, and so does a cable up from a leaf of the second one.
fn waiting_host_and_cable(second: u64) -> Vec<(&'static str, u8, Counter, u64)> {
    vec![("node0 HCA-1", 1, WAIT, 2_800_000_000 * second), ("leaf5", 6, WAIT, 2_800_000_000 * second)]
}

fn waiting_matrix() -> TestSession {
    let mut driver = watching_fabric("kary,k=5,n=3", waiting_host_and_cable);
    swept(&mut driver, 4);
    driver.press("2");
    drawn(&mut driver, 120, 40);
    swept(&mut driver, 1);
    driver
}

#[test]
fn a_host_that_waits_lights_no_row_and_a_cable_does() {
    let driver = waiting_matrix();
    let map = &driver.state.screens.map.drawn;
    let step = |row, column| map.matrix.table.cell(row, column).and_then(|(_, all)| all.step(map.quantity));
    assert!((0..5).all(|column| step(0, column) == Some(0)), "the host's own port is no cable between pods");
    assert!(
        (2..5).any(|column| step(1, column).is_some_and(|step| step > 2)),
        "{:?}",
        map.matrix.table.cells
    );
    let frame = buffer(&driver);
    let heat = appearance("dark", ColorDepth::True).theme.painted(Role::Wait4, true);
    let painted = frame.content.iter().filter(|cell| Some(cell.bg) == heat.bg && cell.fg == Color::Black);
    assert!(painted.count() > 0, "{}", shown(&driver));
}

#[test]
fn the_pane_beside_the_matrix_names_the_worst_ports_of_a_pair() {
    let mut driver = waiting_matrix();
    driver.press("down right right");
    let all = shown(&driver);
    for words in
        ["pod 1 to pod 2", "25 to 25", "leaf5-9", "Where it waits", "leaf5[6]", "enter 5 x 5 switches"]
    {
        assert!(all.contains(words), "{words}: {all}");
    }
}

/// A status line that comes and goes changes the room, not the table: a long task is not begun again.
#[test]
fn a_status_line_does_not_make_the_matrix_again() {
    let mut driver = large();
    let room = driver.state.screens.map.drawn.room;
    assert!(!driver.state.screens.map.drawn.matrix.stale);
    let mut resize = |height: u16| {
        let what = SessionInput::Resized(Size { width: 120, height });
        let at_ms = driver.state.now_ms;
        let effects = update(&mut driver.state, SessionEvent { at_ms, what });
        (driver.state.screens.map.drawn.room, begun_task::<PairTask>(&effects).is_some())
    };
    // The session above would have performed a task at once; these effects are not performed.
    let (other, is_made) = resize(39);
    assert!(other != room && !is_made, "the same table in another room");
    let what = SessionInput::Key(Key::parse_sequence("v")[0]);
    let at_ms = driver.state.now_ms;
    let effects = update(&mut driver.state, SessionEvent { at_ms, what });
    assert!(begun_task::<PairTask>(&effects).is_some(), "another quantity needs another table");
}

#[test]
fn the_pane_beside_the_lines_has_cables_and_the_cost_of_a_failure() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    driver.press("2");
    drawn(&mut driver, 120, 40);
    let all = shown(&driver);
    for words in [" of 13 cables, by wait", "If it fails", "1,980 pairs", "enter lists its ports"] {
        assert!(all.contains(words), "{words}: {all}");
    }
    driver.press("down");
    let all = shown(&driver);
    for words in [" beside, by wait", "If it fails", "opens the cable"] {
        assert!(all.contains(words), "{words}: {all}");
    }
}

#[test]
fn the_path_to_the_worst_hot_spot_is_lit() {
    let mut driver = watching(incast);
    swept(&mut driver, 4);
    let lit = driver.state.screens.map.drawn.lit.as_ref().expect("a contributor, sure or likely");
    assert!(lit.role.ends_with("contributor"), "{}", lit.role);
}

#[test]
fn a_matrix_always_fits_one_screen() {
    let mut driver = large();
    for (width, height) in [(80, 24), (120, 40), (200, 60), (60, 20)] {
        driver.send_input(SessionInput::Resized(Size { width, height }));
        let matrix = &driver.state.screens.map.drawn.matrix;
        assert!(matrix.shown && !matrix.stale);
        let rows = matrix.table.rows.len();
        assert_eq!(matrix.table.rows.last().map(|bucket| bucket.leaves.end), Some(36), "no pod is left out");
        assert!(rows <= usize::from(height), "{rows} rows at {width}x{height}");
        assert!(shown(&driver).contains("worst"), "{}", shown(&driver));
    }
    // Where rows are few, neighbours are joined.
    let mut driver = open_session("sim:kary,k=8,n=3");
    drawn(&mut driver, 60, 17);
    let matrix = &driver.state.screens.map.drawn.matrix;
    assert!(matrix.table.rows.len() < 8 && matrix.table.rows[0].name == "0-1", "{:?}", matrix.table.rows);
    assert_eq!(matrix.table.rows.last().map(|bucket| bucket.leaves.end), Some(64));
}

#[test]
fn a_matrix_counts_the_paths_that_do_not_arrive() {
    use super::fixture::shared;
    let mut broken = super::fixture::look("sim:kary,k=6,n=3");
    let (node, _) = broken.fabric().switches().next().unwrap();
    broken.observation.tables.nodes.get_mut(&node).unwrap().lft =
        Some(fabdeck_fabric::Lft::from_entries(Vec::new()));
    let mut driver = shared(broken);
    drawn(&mut driver, 120, 40);
    assert!(driver.state.screens.map.drawn.matrix.table.broken > 0);
    assert!(shown(&driver).contains("paths do not arrive"), "{}", shown(&driver));
}

/// A frame draws the cells of the table, which has as many as the screen: eight times the hosts make no more of them.
#[test]
fn the_work_of_a_frame_follows_the_screen() {
    let room = 120 * 40;
    for (source, hosts) in [("sim:kary,k=5,n=3", 125), ("sim:kary,k=10,n=3", 1_000)] {
        let mut driver = open_session(source);
        drawn(&mut driver, 120, 40);
        assert!(driver.state.known.hosts.len() >= hosts);
        let matrix = &driver.state.screens.map.drawn.matrix;
        assert!(matrix.shown && matrix.table.cells.len() <= 100, "{}", matrix.table.cells.len());
        // Single switches are more than the screen has rows, so neighbours are joined.
        driver.press("enter");
        assert!(driver.state.screens.map.drawn.matrix.table.cells.len() * 3 <= room);
    }
}

#[test]
fn the_columns_of_a_zoomed_matrix_are_numbered() {
    let mut driver = waiting_matrix();
    driver.press("enter");
    let all = shown(&driver);
    let heads = all.lines().find(|line| line.contains("to leaf…")).unwrap_or_else(|| panic!("{all}"));
    let matrix = &driver.state.screens.map.drawn.matrix;
    for bucket in &matrix.table.columns {
        let number = bucket.name.trim_start_matches("leaf");
        assert!(heads.split(' ').any(|word| word == number), "{}: {heads}", bucket.name);
    }
    assert!(all.contains(" switches, worst wait between"), "{all}");
}

#[test]
fn a_group_of_the_ring_lists_its_bundles() {
    let mut driver = open_session("sim:dragonfly,a=6,h=3,p=3");
    drawn(&mut driver, 120, 40);
    driver.press("v v v");
    let all = shown(&driver);
    assert!(all.contains("worst paths of its bundles"), "{all}");
    for group in 1..10 {
        assert!(all.contains(&format!("to group {group}")), "{group}: {all}");
    }
    driver.press("down");
    assert!(shown(&driver).contains("─ g1s"), "a cable has the line between its ends: {}", shown(&driver));
}

#[test]
fn a_dragonfly_is_a_ring_of_groups() {
    let mut driver = open_session("sim:dragonfly,a=4,p=2,h=2,g=9");
    drawn(&mut driver, 120, 40);
    let map = &driver.state.screens.map.drawn;
    let structure = map.structure.as_ref().unwrap();
    assert_eq!((structure.groups.kind, structure.groups.groups.len()), (GroupKind::Dragonfly, 9));
    assert_eq!(structure.bundles.len(), 36, "each two groups have a bundle");
    if map.layout.is_none() {
        assert!(map.shows_ring());
        assert_ring(&mut driver, 9);
    }
    let mut driver = open_session("sim:dragonfly,a=6,p=3,h=3,g=12");
    drawn(&mut driver, 120, 40);
    assert!(driver.state.screens.map.drawn.shows_ring(), "{}", shown(&driver));
    assert_ring(&mut driver, 12);
}

/// What a ring of groups shows, and how its cursor goes into two groups.
#[test]
fn the_inside_of_a_group_has_all_its_columns() {
    let mut driver = open_session("sim:dragonfly");
    drawn(&mut driver, 120, 40);
    driver.press("v v v");
    let all = shown(&driver);
    let row = all.lines().find(|row| row.contains(" g0s0 ")).unwrap_or_else(|| panic!("{all}"));
    let cells = row.rsplit("g0s0").next().unwrap().split_whitespace();
    let cells = cells.filter(|cell| cell.chars().count() == 1 || cell.ends_with('│')).count();
    assert_eq!(cells, 12, "{row}");
}

fn assert_ring(driver: &mut TestSession, groups: usize) {
    driver.press("right down down");
    let all = shown(driver);
    for group in 0..groups {
        assert!(all.contains(&format!("group {group}")), "{group}: {all}");
    }
    assert!(all.contains("group 1 to group 2") && all.contains("Inside group 1"), "{all}");
    assert!(dots(&buffer(driver), Role::Key) > 5, "the chosen bundle: {all}");
    assert!(all.contains(" not known") && !all.contains("little"), "nothing was read: {all}");
    driver.press("enter");
    assert!(shown(driver).contains("from group 1 (rows) to group 2 (columns)"), "{}", shown(driver));
    driver.press("esc");
    assert!(driver.state.screens.map.drawn.shows_ring());
}

/// A fabric without traffic has the bundles of the group at the cursor, and says why others are not drawn.
#[test]
fn the_bundles_of_the_group_at_the_cursor_are_always_drawn() {
    let mut driver = demo("sim:dragonfly,a=6,h=3,p=3");
    swept(&mut driver, 2);
    driver.press("2");
    drawn(&mut driver, 120, 40);
    let all = shown(&driver);
    assert!(all.contains("not drawn of 105 bundles: 91 with little or no wait"), "{all}");
    assert!(dots(&buffer(&driver), Role::Border) > 50, "14 bundles: {all}");
    assert!(all.contains("up, down: one of them"), "{all}");
}

#[test]
fn a_torus_is_shown_by_slices() {
    let mut driver = open_session("sim:torus,dims=5x4x3");
    drawn(&mut driver, 120, 40);
    let shape = driver.state.screens.map.drawn.torus().unwrap();
    assert_eq!((shape.dims.as_slice(), shape.slice_count()), ([5, 4, 3].as_slice(), 3));
    let ways: usize = (0..3)
        .flat_map(|slice| (0..5).flat_map(move |x| (0..4).map(move |y| (slice, (x, y)))))
        .map(|(slice, at)| shape.cables(slice, at).iter().map(|cables| cables.len()).sum::<usize>())
        .sum();
    assert_eq!(ways, 2 * 60, "two ways of three lead to another cell of the slice");
    assert!(shown(&driver).contains("5 x 4 x 3 switches   slice 1 of 3"), "{}", shown(&driver));
    assert_eq!(here(&driver), "switch:sw_0_0_0");
    driver.press("right down )");
    assert_eq!(here(&driver), "switch:sw_1_1_1");
    driver.press("( (");
    assert_eq!(here(&driver), "switch:sw_1_1_2", "the last slice is before the first");
    driver.press("enter");
    assert!(shown(&driver).contains("PEER"), "Enter opens the ports: {}", shown(&driver));
    driver.press("esc f");
    assert!(shown(&driver).contains("[✗"), "{}", shown(&driver));
}

#[test]
fn another_fabric_is_drawn_by_distance() {
    let mut driver = open_session("sim:torus,dims=9");
    drawn(&mut driver, 120, 40);
    let structure = driver.state.screens.map.drawn.structure.clone().unwrap();
    assert!(!structure.tree && structure.torus.is_none(), "a ring of one dimension has no slices");
    assert_eq!((structure.ranks.as_slice(), structure.cables.len()), ([3, 2, 2, 2].as_slice(), 9));
    let mut driver = open_session("sim:random,switches=9,links=16,terminals=2");
    drawn(&mut driver, 120, 40);
    let map = &driver.state.screens.map.drawn;
    let structure = map.structure.as_ref().unwrap();
    assert!(structure.torus.is_none() && structure.ranks.len() > 1, "{:?}", structure.ranks);
    assert_eq!((structure.switches.len(), structure.cables.len()), (9, 16), "no cable is left out");
    assert!(map.layout.is_some());
    let look = driver.state.snapshot().unwrap();
    for (id, _) in look.fabric().switches() {
        assert!(shown(&driver).contains(look.name(id)), "{}: {}", look.name(id), shown(&driver));
    }
}
