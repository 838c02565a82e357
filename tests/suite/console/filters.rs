//! Filters: what does not fit is dimmed on the map, the place that was found stays, and a GUID finds its node in every
//! view.

use super::fixture::{appearance, frame, open_session, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::drawing::theme::Role;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::ElementId;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("mono", ColorDepth::Mono)))
}

fn on(driver: &TestSession) -> Option<String> {
    let known = &driver.state.known;
    known.element(driver.state.current().current(known)?)
}

#[test]
fn a_filter_dims_the_rest_of_the_map() {
    let mut driver = open_session("sim:demo");
    // Lines have no room here: the map is a sign for each switch.
    driver.send_input(SessionInput::Resized(Size { width: 80, height: 12 }));
    driver.press("V V V / l e a f");
    let looks = appearance("dark", ColorDepth::True);
    let dimmed = |driver: &TestSession, name: &str| {
        let buffer = frame(&driver.state, &looks);
        let all = text(&buffer);
        let y = all
            .lines()
            .position(|line| line.trim_start_matches('│').starts_with(name))
            .unwrap_or_else(|| panic!("{all}"));
        let colour = |x| buffer[(x, y as u16 + 1)].style().fg;
        let signs = all.lines().nth(y + 1).unwrap().chars().enumerate();
        let signs: Vec<_> = signs.filter(|(x, sign)| *x < 60 && "■◪".contains(*sign)).collect();
        let dim = looks.theme.style(Role::Dim).fg;
        signs.iter().map(|(x, _)| colour(*x as u16) == dim).collect::<Vec<bool>>()
    };
    assert_eq!((dimmed(&driver, "spines"), dimmed(&driver, "leaves")), (vec![true; 3], vec![false; 6]));
    driver.press("esc");
    assert_eq!((dimmed(&driver, "spines"), dimmed(&driver, "leaves")), (vec![false; 3], vec![false; 6]));
    driver.press("/ n o n e s u c h");
    assert_eq!(dimmed(&driver, "leaves"), vec![true; 6]);
    assert!(shown(&driver).contains("no switch of 9 matches 'nonesuch'"), "{}", shown(&driver));
}

/// Each letter moves the cursor to what is left; a filter that in the end leaves nothing found nothing.
#[test]
fn esc_from_a_filter_without_a_row_goes_back_to_where_it_began() {
    let mut driver = open_session("sim:demo");
    driver.press("3");
    let began = on(&driver);
    driver.press("/ s p i n e");
    assert_ne!(on(&driver), began);
    driver.press("z z");
    assert!(shown(&driver).contains("no row"), "{}", shown(&driver));
    driver.press("enter esc");
    assert_eq!(on(&driver), began);
}

#[test]
fn esc_from_a_filter_keeps_the_place_found() {
    for (view, filter) in
        [("", "node07"), ("V", "rack4"), ("V V", "node07"), ("V V V", "rack4"), ("3", "node07")]
    {
        for leave in ["enter esc", "esc"] {
            let mut driver = open_session("sim:demo");
            driver.press(view).press("/").send_input(SessionInput::Paste(filter.to_owned()));
            let at = on(&driver);
            driver.press(leave);
            assert!(driver.state.current().table().filter.is_empty());
            assert_eq!(on(&driver), at, "{view:?} {leave}");
            assert!(at.is_some());
            assert!(shown(&driver).contains(filter), "{view:?} {leave}: {}", shown(&driver));
        }
        // A filter that nothing fits loses nothing either.
        let mut driver = open_session("sim:demo");
        driver.press(view).press("down down down");
        let before = on(&driver);
        driver.press("/").send_input(SessionInput::Paste("nonesuch".to_owned()));
        assert_eq!(on(&driver), None);
        driver.press("esc");
        assert_eq!(on(&driver), before, "{view:?}");
    }
}

#[test]
fn the_bad_come_first() {
    let mut driver = open_session("sim:demo");
    driver.press("3 :sort space degraded enter");
    let Some(ElementId::Link(link)) = driver.state.current().current(&driver.state.known) else {
        panic!("{}", shown(&driver));
    };
    assert_eq!(driver.state.snapshot().unwrap().is_degraded(link), Some(true), "{}", shown(&driver));
    driver.press("2 :sort space state enter");
    let first = shown(&driver).lines().nth(4).unwrap().to_owned();
    assert!(first.contains("degraded"), "{}", shown(&driver));
}

/// What stands first stays first where a filter has an error: it says so, and all rows keep their order.
#[test]
fn a_filter_with_an_error_keeps_the_order() {
    let mut driver = open_session("sim:demo");
    driver.press("3 :sort space degraded enter");
    let rows = |driver: &TestSession| driver.state.current().table().selection.rows.clone();
    let sorted = rows(&driver);
    assert!(!sorted.is_sorted(), "the order is not that of the listing");
    driver.press("/").send_input(SessionInput::Paste("foo>zz".to_owned()));
    assert_eq!(rows(&driver), sorted, "{}", shown(&driver));
    assert!(driver.state.current().table().problem.as_ref().is_some_and(|why| why.contains("FD-6001")));
}

/// As tools write it: with and without its beginning, in capitals, with colons, without leading zeros; of the node and of
/// its port.
#[test]
fn a_guid_finds_its_node_in_every_view() {
    let look = super::fixture::look("sim:demo");
    let fabric = look.fabric();
    let of = |name: &str| look.names.find(fabric, name, None)[0];
    let (host, leaf) = (of("node07"), of("rack2-leaf"));
    let guid = fabric.node(host).guid().to_string();
    let digits = guid[2..].to_owned();
    let colons = [&digits[..4], &digits[4..8], &digits[8..12], &digits[12..]].join(":");
    let short = format!("0x{}", digits.trim_start_matches('0'));
    let port = fabric.ports_of(host).find_map(|(_, port)| port.facts.guid).unwrap().to_string();
    let forms = [guid.clone(), digits.to_uppercase(), colons, short, port];
    for keys in ["", "V", "V V", "V V V", "3", "2 V / rack2-leaf enter enter", "V V / node07 enter f 3 V"] {
        for form in &forms {
            let mut driver = open_session("sim:demo");
            for key in keys.split(' ').filter(|key| !key.is_empty()) {
                match key.len() > 5 && key != "enter" {
                    true => driver.send_input(SessionInput::Paste(key.to_owned())),
                    false => driver.press(key),
                };
            }
            driver.press("/").send_input(SessionInput::Paste(format!(" {form}\n")));
            let table = driver.state.current().table();
            let rows = table.selection.rows.len();
            assert!((1..=6).contains(&rows), "{keys:?} {form}: {rows}\n{}", shown(&driver));
            let fits = |row: &usize| match driver.state.current().element(*row, &driver.state.known) {
                Some(ElementId::Node(node)) => node == host || node == leaf,
                Some(ElementId::Port(port)) => {
                    let fabric = driver.state.snapshot().unwrap().fabric();
                    fabric.peer(port).is_some_and(|peer| fabric.port(peer).node == host)
                }
                Some(ElementId::Link(link)) => fabric.ends(link).iter().any(|(node, _)| *node == host),
                None => true,
            };
            assert!(table.selection.rows.iter().all(fits), "{keys:?} {form}\n{}", shown(&driver));
        }
    }
}

/// On Jobs a GUID finds the jobs of its host, and none where no job runs.
#[test]
fn a_guid_finds_the_jobs_of_its_host() {
    let mut driver = open_session("sim:demo");
    driver.press("8");
    let look = driver.state.snapshot().unwrap().clone();
    let fabric = look.fabric();
    let jobs = driver.state.known.jobs.comparison.clone().unwrap().jobs.clone();
    let (job, ports) = jobs.iter().last().unwrap();
    let host = fabric.node(fabric.port(*ports.first().unwrap()).node).guid();
    driver.press("/").send_input(SessionInput::Paste(format!("{host}\n")));
    let listed = |driver: &TestSession| driver.state.current().table().selection.rows.len();
    assert_eq!(
        (listed(&driver), shown(&driver).contains(&format!("\u{25b6}  {job} "))),
        (1, true),
        "{}",
        shown(&driver)
    );
    // No job has its busiest channel at this one.
    let switch = fabric.switches().last().unwrap().1.guid();
    driver.press("esc /").send_input(SessionInput::Paste(format!("{switch}\n")));
    assert_eq!(listed(&driver), 0, "{}", shown(&driver));
}
