//! What-if: the bar of pairs, the hosts and jobs that are hit, and the engines by their verdict.

use super::fixture::{appearance, frame, golden, open_session, text};
use super::test_session::TestSession;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::SessionInput;
use fabdeck::console::model::fabric_model::ProposalState;
use fabdeck::console::model::layout::Size;
use fabdeck::operations::fabric_map::figures::MapQuantity;
use fabdeck_change::TransitionReport;
use fabdeck_fabric::Link;
use fabdeck_routing::{ENGINES, find_engine};

/// Rows of engines that are in sight; the others come by the cursor.
const TABLE_ROWS: usize = 8;

fn shown(driver: &TestSession) -> String {
    text(&frame(&driver.state, &appearance("dark", ColorDepth::True)))
}

/// What-if of the demo at a size, with an element marked as failed.
fn marked(element: &str, width: u16, height: u16) -> TestSession {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width, height }));
    driver.press(":").send_input(SessionInput::Paste(format!("mark {element}"))).press("enter 6");
    driver
}

/// The texts of a column of the table of engines, from above.
fn first_words(screen: &str) -> Vec<String> {
    let rows = screen.lines().skip_while(|line| !line.contains("VERDICT")).skip(1).take(TABLE_ROWS);
    let word = |row: &str| row.trim_start_matches(['│', '▶', ' ']).split(' ').next().map(str::to_owned);
    rows.filter_map(word).collect()
}

#[test]
fn hosts_and_jobs_are_named_at_any_size() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let driver = marked("switch:rack2-leaf", width, height);
        let screen = shown(&driver);
        for words in ["rack2-leaf fails.", "574", "wait for new routes", "6 hosts", "node06 node07 node08"] {
            assert!(screen.contains(words), "{words} at {width}x{height}:\n{screen}");
        }
        golden(&format!("what-if {width}x{height}"), &screen);
    }
}

/// The hosts at a switch are cut off with it, those behind a spine only wait for new routes.
#[test]
fn what_a_reroute_restores_is_not_cut_off() {
    let screen = shown(&marked("switch:spine-2", 120, 40));
    assert!(screen.contains("504 wait for new routes") && screen.contains("88 cut off"), "{screen}");
    assert!(screen.contains("CUT OFF      no host; 1 aggregation node"), "{screen}");
    // 36 hosts and 9 aggregation nodes, without the one that is cut off and the host itself.
    assert!(screen.contains("SENDERS THAT MISS IT, OF 43"), "{screen}");
    assert!(
        screen.contains("16 hosts miss senders until rerouted") && screen.contains("node02 (job 74) 35"),
        "{screen}"
    );
    let screen = shown(&marked("link:rack1-leaf[7]", 120, 40));
    assert!(screen.contains("CUT OFF      no host ") && screen.contains(" 0 cut off"), "{screen}");
}

/// Under adaptive routing the screen has the line of `whatif` over all choices, and its page too.
#[test]
fn the_answer_says_what_it_means_under_adaptive_routing() {
    let open = |source: &str| {
        let mut driver = open_session(source);
        driver.send_input(SessionInput::Resized(Size { width: 160, height: 50 }));
        driver.press(":").send_input(SessionInput::Paste("mark link:leaf0/5".to_owned())).press("enter 6");
        driver
    };
    let driver = open("sim:kary,k=4,n=2,ar=all");
    let choices = driver.state.known.choices.as_ref().unwrap().words();
    assert!(choices.contains("paths can be lost by a choice"), "{choices}");
    let screen = shown(&driver);
    assert!(screen.contains("choices ") && screen.contains(&choices[..40]), "{choices}\n{screen}");
    let mut driver = open("sim:kary,k=4,n=2");
    assert!(
        driver.state.known.choices.is_none() && !shown(&driver).contains("choices "),
        "{}",
        shown(&driver)
    );
    driver.press("u");
    assert!(driver.state.known.choices.is_none());
}

#[test]
fn without_a_mark_no_host_is_hit() {
    let mut driver = open_session("sim:demo");
    driver.press("6");
    let screen = shown(&driver);
    assert!(screen.contains("Nothing is marked.") && screen.contains("no host is hit"), "{screen}");
}

/// The order of the registry stays until all engines are done; then the best comes first.
#[test]
fn engines_are_listed_by_verdict_once_all_are_done() {
    let mut driver = marked("switch:rack2-leaf", 120, 40);
    driver.press(":preview space nue enter");
    let registry: Vec<&str> = ENGINES.iter().map(|engine| engine.id).take(TABLE_ROWS).collect();
    assert_eq!(first_words(&shown(&driver)), registry);
    driver.press("p");
    assert_eq!(first_words(&shown(&driver))[0], "sftree", "{}", shown(&driver));
    driver.press("end");
    let screen = shown(&driver);
    let last = first_words(&screen);
    assert_eq!(last[TABLE_ROWS - 1], "ftree", "{screen}");
    // Engines for tori and for several LIDs a port have no row here.
    assert!(!last.iter().any(|id| ["mlid", "opt", "torus2qos", "dor"].contains(&id.as_str())), "{screen}");
    assert!(screen.contains("6 pairs lost"), "{screen}");
    driver.press("home");
    // Enter opens the engine at the cursor, not the one that the registry has in this row.
    driver.press("enter");
    assert!(shown(&driver).contains("sftree: "), "{}", shown(&driver));
}

/// The engines as rows of the screen, once all of them are done.
fn engine_rows(driver: &mut TestSession) -> Vec<String> {
    driver.press("p");
    let screen = shown(driver);
    let rows = screen.lines().skip_while(|line| !line.contains("VERDICT")).skip(1).take(TABLE_ROWS);
    rows.map(str::to_owned).collect()
}

/// Among engines of one verdict, those come first that can be written while traffic flows. One row is proposed, and the
/// cursor begins there.
#[test]
fn the_best_engine_is_proposed_and_has_the_cursor() {
    for element in ["link:rack1-leaf[7]", "switch:spine-2", "switch:rack2-leaf"] {
        let mut driver = marked(element, 120, 40);
        let rows = engine_rows(&mut driver);
        let live = |row: &String| match () {
            () if row.contains(" unsafe ") => 2,
            () if row.contains(" safe ") => 0,
            () => 1,
        };
        let is_clean = |row: &String| row.contains(" clean") || row.contains(" proposed, ");
        let ranks: Vec<(bool, i32)> = rows.iter().map(|row| (!is_clean(row), live(row))).collect();
        assert!(ranks.is_sorted(), "{element}: {rows:#?}");
        // What cannot be written while traffic flows is not proposed without saying so.
        let words = if live(&rows[0]) == 2 { "proposed, drain first" } else { "clean, proposed" };
        assert!(rows[0].contains(words), "{element}: {rows:#?}");
        assert_eq!(rows.iter().filter(|row| row.contains("proposed")).count(), 1, "{rows:#?}");
        for row in rows.iter().filter(|row| is_clean(row)) {
            assert_eq!(row.contains("drain first"), live(row) == 2, "{row}");
        }
        assert_eq!(driver.state.screens.whatif.engine().unwrap().id, first_words(&shown(&driver))[0]);
    }
}

/// Gauges give way to columns, and then the time and the hops.
#[test]
fn columns_are_worth_more_than_gauges() {
    let mut driver = marked("switch:spine-2", 120, 40);
    let rows = engine_rows(&mut driver);
    let screen = shown(&driver);
    for title in ["WRITES", "MOVED", "BUSIEST", "LANES"] {
        assert!(screen.contains(title), "{title}:\n{screen}");
    }
    assert!(!screen.contains(" SEC ") && !rows[0].contains('━'), "{screen}");
    driver.send_input(SessionInput::Resized(Size { width: 200, height: 40 }));
    let screen = shown(&driver);
    assert!(screen.contains(" SEC ") && screen.contains("BLOCKS"), "{screen}");
}

/// Old and new paths that are safe together say nothing of single entries. Small fabrics are checked in the order of the
/// writes; of a large one the page says that the dialog may still find a credit loop.
#[test]
fn what_is_not_checked_is_not_called_safe() {
    let mut driver = marked("link:rack1-leaf[7]", 120, 40);
    engine_rows(&mut driver);
    let engine = driver.state.screens.whatif.engine().unwrap();
    let Some(ProposalState::Done { outcome: Ok(proposal), .. }) =
        driver.state.known.proposed.get_mut(engine.id)
    else {
        panic!("{} was not run", engine.id)
    };
    assert!(proposal.transition.safe.is_some(), "{:?}", proposal.transition);
    let proposal = std::sync::Arc::make_mut(proposal);
    proposal.transition = TransitionReport { old_lanes: "one".to_owned(), ..TransitionReport::default() };
    let screen = shown(&driver);
    assert!(screen.contains("A mixture of old and new entries is not checked yet"), "{screen}");
}

/// Names take the rows that are free; with the keys, the pane has all of them and its page lists them.
#[test]
fn every_victim_is_named() {
    let mut driver = marked("switch:spine-2", 120, 40);
    let screen = shown(&driver);
    assert!(screen.contains("▲ JOBS") && screen.contains("jobs lose"), "{screen}");
    assert!(
        screen.contains("35 pairs of hosts until rerouted")
            && screen.contains("job 83: 18 pairs")
            && !screen.contains("none of 3 jobs loses a host"),
        "{screen}"
    );
    assert!(
        screen.contains("node02 (job 74) 35")
            && screen.contains("SENDERS THAT MISS IT")
            && screen.contains("node28 7")
            && !screen.contains(" more"),
        "{screen}"
    );
    while driver.state.focused_pane() != "victims" {
        driver.press("tab");
    }
    driver.press("Z");
    let zoomed = shown(&driver);
    assert!(!zoomed.contains(" more") && zoomed.matches("(job ").count() >= 10, "{zoomed}");
    driver.press("Z enter");
    let page = shown(&driver);
    assert!(page.contains("Who is hit until the fabric is rerouted") && page.contains("degraded"), "{page}");
    assert!(page.matches("senders").count() >= 16, "{page}");
    driver.press("esc d");
    assert!(shown(&driver).contains("Who is hit until"), "{}", shown(&driver));
}

/// The made-up jobs of a simulated fabric are known too; no command could repeat a run with them.
#[test]
fn a_run_without_jobs_says_why() {
    let mut driver = marked("switch:spine-2", 120, 40);
    driver.press("p enter");
    let screen = shown(&driver);
    assert!(
        screen.contains("no jobs: those of this simulated fabric") && screen.contains("8 Jobs"),
        "{screen}"
    );
    driver.press("q 8 6 p enter");
    let screen = shown(&driver);
    assert!(screen.contains("SIMULATED jobs"), "{screen}");
}

/// A mark is made by name, and the words say which keys lead there.
#[test]
fn an_element_fails_by_name_or_where_the_message_says() {
    let mut driver = open_session("sim:demo");
    driver.press("6 f");
    let line = |driver: &TestSession| driver.state.prompt.as_ref().map(|prompt| prompt.text.clone());
    assert_eq!(line(&driver).as_deref(), Some("mark "), "the key asks for a name where it is on none");
    driver.send_input(SessionInput::Paste("spine-2".to_owned())).press("enter");
    assert_eq!(driver.state.known.marks.len(), 1);
    driver.press("F");
    let said = |driver: &TestSession, words: &str| {
        driver.state.messages.iter().any(|message| message.line().contains(words))
    };
    driver.press(":").send_input(SessionInput::Paste("fail spine-2".to_owned()));
    assert!(shown(&driver).contains("switch:spine-2"), "{}", shown(&driver));
    driver.press("down enter");
    assert_eq!(driver.state.known.marks.len(), 1);
    driver.press("F 3 f");
    assert!(said(&driver, "6 What-if shows who is hit"), "the next step");
}

#[test]
fn help_explains_the_columns_of_the_engines() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 60 }));
    driver.press("6 ?");
    let screen = shown(&driver);
    for words in [
        "BUSIEST: paths over the busiest channel",
        "LIVE: safe: the tables can be written",
        "UNUSED %: dark fiber",
    ] {
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
}

/// A row of the cables that change most: paths live, under the preview, and the difference.
fn changes(screen: &str) -> Vec<(String, u64, Option<u64>, i64)> {
    let rows = screen.lines().skip_while(|line| !line.contains("LIVE, PATHS")).skip(1);
    let rows = rows.map(|row| row.split('│').nth(1).unwrap_or_default());
    let cells = rows.map_while(|row| {
        let (name, rest) = row.split_at(row.find(['━', '╌'])?);
        let numbers: Vec<&str> = rest.split(['━', '╌', ' ']).filter(|word| !word.is_empty()).collect();
        let [live, preview, difference, ..] = numbers[..] else { return None };
        Some((name.trim().to_owned(), live.parse().ok()?, preview.parse().ok(), difference.parse().ok()?))
    });
    cells.collect()
}

#[test]
fn the_widest_screen_has_live_beside_preview_and_the_cables_that_change() {
    let mut driver = marked("switch:spine-2", 200, 60);
    let screen = shown(&driver);
    assert!(screen.contains("─ Live ─") && screen.contains("─ ◇ Preview ─"), "{screen}");
    assert!(screen.contains("p runs the engines"), "{screen}");
    driver.press(":preview space sftree enter / sftree enter");
    let screen = shown(&driver);
    assert!(screen.contains("sftree without spine-2"), "{screen}");
    let rows = changes(&screen);
    assert!(rows.len() >= 8, "{rows:?}\n{screen}");
    let mut before = (false, 0);
    for (name, live, preview, difference) in &rows {
        assert_eq!(preview.unwrap_or(0) as i64 - *live as i64, *difference, "{name}");
        // The marked switch, and nothing else, takes cables away.
        assert_eq!(preview.is_none(), name.contains("spine-2"), "{name}");
        // Those out of use come last.
        let rank = (preview.is_none(), u64::MAX - difference.unsigned_abs());
        assert!(rank >= before, "the largest difference comes first: {rows:?}");
        before = rank;
    }
    assert!(rows.iter().any(|(_, _, _, difference)| *difference > 0), "{rows:?}");
    // The busiest cable of the preview is the one of the certificate.
    let ProposalState::Done { row, .. } = &driver.state.known.proposed["sftree"] else { panic!() };
    let busiest = row.certificate.as_ref().unwrap().edge_forwarding_index.max;
    assert!(screen.contains(&format!("busiest cable {busiest} paths ─╮\n")), "{busiest}:\n{screen}");
    // Live shows no mark, preview does.
    let [left, right] = [0..100, 100..200].map(|half| {
        let part = |row: &str| row.chars().skip(half.start).take(100).collect::<String>();
        screen.lines().skip(7).take(24).map(part).collect::<Vec<_>>().join("\n")
    });
    assert!(
        right.contains("✗ spine-2") && left.contains("spine-2") && !left.contains('✗'),
        "{left}\n{right}"
    );
    // Each host of the preview has the pairs that move to it; together these are the pairs of the engine's row.
    let known = &driver.state.known;
    let (look, proposal) =
        (known.look.as_ref().unwrap(), known.proposal(find_engine("sftree").unwrap()).unwrap());
    let changes = driver.state.screens.whatif.preview.of(look, proposal).unwrap();
    let fabric = look.fabric();
    let ends =
        |link: &Link| [link.a, link.b].iter().any(|port| !fabric.node(fabric.port(*port).node).is_switch());
    let hosts = fabric.links().filter(|(_, link)| ends(link));
    let to_hosts: u64 =
        hosts.filter_map(|(id, _)| changes.moved.figures.link(id).score(MapQuantity::Paths)).sum();
    assert_eq!(Some(to_hosts), row.moved_pairs);
    assert!(right.contains("hosts: pairs moved, of 43") && right.contains("node01"), "{right}");
    assert!(left.contains("hosts: wait now"), "{left}");
    golden("live beside preview", &screen);
    // Other marks have other routes: nothing of the old ones stays.
    driver.press("F");
    assert!(shown(&driver).contains("p runs the engines"), "{}", shown(&driver));
}

/// On Links, the preview is about the cable at the cursor, unless something is marked already.
#[test]
fn a_preview_from_links_is_about_the_chosen_cable() {
    let mut driver = open_session("sim:demo");
    driver.send_input(SessionInput::Resized(Size { width: 120, height: 40 }));
    driver.press("3 p");
    let screen = shown(&driver);
    assert!(screen.contains("rack1-leaf[1] to login1 mlx5_0[1] fails."), "{screen}");
    driver.press("3 j p");
    assert_eq!(driver.state.known.marks.len(), 1, "what is marked stays as it is");
    // Routes that change nothing are no proposal.
    let mut driver = open_session("sim:demo");
    driver.press("6 :preview space minhop enter");
    assert!(!shown(&driver).contains("proposed"), "{}", shown(&driver));
}
