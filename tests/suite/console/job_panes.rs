//! The panes of Jobs on a wide screen: which jobs wait, for whom each host waits, the cables of a job, and its paths.

use super::fixture::{appearance, frame, golden, open_session, styles};
use super::health::demo;
use super::test_session::TestSession;
use super::watches::{shown, swept};
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::features::jobs::screen::JobView;
use fabdeck::console::model::layout::Size;
use fabdeck_fabric::ElementId;

fn resized(driver: &mut TestSession, width: u16, height: u16) -> String {
    driver.send_input(SessionInput::Resized(Size { width, height }));
    shown(driver)
}

/// The demo after six readings, on Jobs.
fn watched() -> TestSession {
    let mut driver = demo("sim:demo");
    swept(&mut driver, 6);
    driver.press("8");
    swept(&mut driver, 1);
    driver
}

/// The row that begins with these words inside its pane.
fn row_of<'s>(screen: &'s str, words: &str) -> Option<&'s str> {
    screen.lines().find(|line| line.trim_start_matches(['│', ' ', '▶']).starts_with(words))
}

#[test]
fn the_panes_have_their_frame_at_each_size() {
    let mut driver = watched();
    for (width, height) in [(120, 40), (200, 60)] {
        let screen = resized(&mut driver, width, height);
        let colours = appearance("dark", ColorDepth::True);
        let styles = styles(&frame(&driver.state, &colours), colours.theme.blank());
        golden(&format!("job panes {width}x{height}"), &format!("{screen}\n{styles}"));
    }
}

/// The jobs whose hosts wait most come first, and each host has the wait that the last reading found.
#[test]
fn jobs_and_their_hosts_have_the_waits_of_the_reading() {
    let driver = watched();
    let screen = shown(&driver);
    let hits = driver.state.known.problems.ranked.as_ref().unwrap().jobs.as_ref().unwrap();
    assert!(screen.contains(&format!("{} of {} hit", hits.hit, hits.rows.len())), "{screen}");
    let rows: Vec<usize> = hits
        .rows
        .iter()
        .map(|hit| screen.lines().position(|line| line.contains(&format!(" {}  ", hit.job))).unwrap())
        .collect();
    let mut waiting: Vec<(usize, usize)> =
        rows.into_iter().zip(hits.rows.iter().map(|hit| hit.waiting)).collect();
    waiting.sort_unstable();
    assert!(waiting.is_sorted_by_key(|(_, waiting)| std::cmp::Reverse(*waiting)), "{screen}");
    let (comparison, look) = (
        driver.state.known.jobs.comparison.clone().unwrap(),
        driver.state.known.jobs.snapshot().unwrap().clone(),
    );
    let name = screen.lines().find_map(|line| line.split_once("Job ")?.1.split_once(": wait")).unwrap().0;
    let (_, ports) = comparison.jobs.iter().find(|(job, _)| *job == name).unwrap();
    let reading = driver.state.known.watch.reading.as_ref().unwrap();
    for port in ports {
        let share = reading.port_row_of(ElementId::Port(*port)).unwrap().time_waited.unwrap();
        let host = look.name(look.fabric().port(*port).node).split(' ').next().unwrap();
        let percent = format!("{:.0} %", share * 100.0);
        let wanted = if share < 0.005 { "none" } else { percent.as_str() };
        // Those without room wait least.
        match row_of(&screen, &format!("{host} ")) {
            Some(row) => assert!(row.contains(wanted), "{host} waits {wanted}: {row}"),
            None => assert!(share < 0.005 && screen.contains("worst 9 of 10"), "{host}: {screen}"),
        }
    }
}

/// What a job uses: the channels of its paths, those with the most of them first.
#[test]
fn the_cables_of_a_job_are_those_of_its_paths() {
    let driver = watched();
    let screen = shown(&driver);
    let comparison = driver.state.known.jobs.comparison.clone().unwrap();
    let look = driver.state.known.jobs.snapshot().unwrap().clone();
    let name = screen.split_once("that job ").unwrap().1.split_once(" uses").unwrap().0;
    let job = comparison.jobs.iter().position(|(job, _)| job == name).unwrap();
    let now = comparison.effective_in_force(job).unwrap();
    assert!(screen.contains(&format!("{} of {} ─", now.loads.len(), comparison.channels.len())));
    let mut loads = now.loads.clone();
    loads.sort_by_key(|(channel, paths)| (std::cmp::Reverse(*paths), *channel));
    let mut behind = 0;
    for (channel, paths) in loads.iter().take(5) {
        let port = comparison.channels[channel.index()];
        let peer = look.fabric().port(port).peer.unwrap();
        let words = format!("{} to {}", look.unique_port_name(port), look.unique_port_name(peer));
        let at = screen.find(&words).unwrap_or_else(|| panic!("{words}: {screen}"));
        let row = screen[at + words.len()..].lines().next().unwrap();
        assert!(at > behind && row.trim_start().starts_with(&paths.to_string()), "{words} {paths}: {row}");
        behind = at;
    }
}

/// Where all panes are in sight there is no other view, and a smaller screen has both.
#[test]
fn a_small_screen_has_views_instead_of_panes() {
    let mut driver = watched();
    let screen = resized(&mut driver, 120, 40);
    assert!(screen.contains("paths on one cable") && screen.contains("Worst wait of each job"), "{screen}");
    driver.press("V");
    assert_eq!(driver.state.screens.jobs.view, JobView::Jobs);
    assert!(shown(&driver).contains("all of the job at the cursor is in sight"), "{}", shown(&driver));
    let screen = resized(&mut driver, 80, 24);
    assert!(!screen.contains("Worst wait of each job") && screen.contains("WAITING"), "{screen}");
    driver.press("V");
    assert_eq!(driver.state.screens.jobs.view, JobView::Histogram);
    resized(&mut driver, 120, 40);
    assert_eq!(driver.state.screens.jobs.view, JobView::Jobs, "its pane is in sight");
}

/// Without counters no wait is known, and none is shown as 0.
#[test]
fn without_a_reading_no_wait_is_known() {
    let mut driver = open_session("sim:demo");
    driver.press("8");
    let screen = resized(&mut driver, 120, 40);
    assert!(!screen.contains("WAITING") && !screen.contains("none"), "{screen}");
    let row = row_of(&screen, "node16 ").unwrap_or_else(|| panic!("{screen}"));
    assert!(row.split("││").next().unwrap().trim_end().ends_with('○'), "{row}");
}

/// The cursor stays on its job while a reading puts others before it.
#[test]
fn the_cursor_stays_on_its_job() {
    let mut driver = demo("sim:demo");
    driver.press("8");
    let title = |driver: &TestSession| {
        let screen = shown(driver);
        screen.split_once("that job ").unwrap().1.split_once(" uses").unwrap().0.to_owned()
    };
    let first = |driver: &TestSession| {
        let screen = shown(driver);
        let row = screen.lines().nth(4).unwrap();
        row.trim_start_matches(['│', ' ', '▶']).split(' ').next().unwrap().to_owned()
    };
    let (job, before) = (title(&driver), first(&driver));
    assert_eq!(job, before);
    let mut moved = false;
    for _ in 0..8 {
        swept(&mut driver, 1);
        moved |= first(&driver) != before;
        assert_eq!(title(&driver), job, "{}", shown(&driver));
    }
    assert!(moved, "{}", shown(&driver));
}
