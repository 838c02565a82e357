//! Every action of the table prints the command line that does the same, and the line is run and compared; or says here
//! why nothing outside of a session does the same. A new action has to say which.

use std::collections::BTreeSet;

use serde_json::Value;

use super::command_lines::{carried_out, first_column, hops};
use super::fixture::open_session;
use super::test_session::TestSession;
use fabdeck::catalogue::exit::Exit;
use fabdeck::console::event_loop::actions::ACTIONS;
use fabdeck::console::event_loop::event::SessionInput;

/// What is compared of a line that was copied.
#[derive(Clone, Copy)]
enum Comparison {
    /// The rows of the list: those of the command.
    Rows,
    /// The hops of the path.
    Hops,
    /// Marks, what they cost, and which engines were asked.
    Whatif,
    /// The plan in a file.
    Plan,
}

enum CopiedLine {
    /// Keys that carry the action out and copy a line, on the demo.
    Copied(&'static str, Comparison),
    /// Nothing outside of a session does the same, and why.
    Only(&'static str),
}

use CopiedLine::{Copied, Only};

const VIEW: &str = "it moves within what is shown; the line of what is shown stays the same";
const SESSION: &str = "it is about the session, not about the fabric";

/// `replays.rs` compares these.
const TIME: &str = "it leads to another moment; the lines of all screens have it as --at";

/// `apply_dialog.rs` compares these.
const CHANGE: &str = "the fabric is another afterwards, so that it cannot be done twice and compared";

const LINES: &[(&str, &[CopiedLine])] = &[
    ("help", &[Only(SESSION)]),
    ("tour", &[Only(SESSION)]),
    ("next-step", &[Only(SESSION)]),
    ("previous-step", &[Only(SESSION)]),
    ("back", &[Only(SESSION)]),
    ("quit", &[Only(SESSION)]),
    ("out", &[Copied("V / leaf enter esc c", Comparison::Rows), Copied("V enter esc c", Comparison::Rows)]),
    ("enter", &[Copied("V enter c", Comparison::Rows), Copied("V V enter c", Comparison::Rows)]),
    (
        "details",
        &[Only("what it shows of one element stands in the rows of show switches, hosts, links and ports")],
    ),
    ("palette", &[Only("what is typed there is another action")]),
    (
        "filter",
        &[
            Copied("V / leaf enter c", Comparison::Rows),
            Copied(":filter space hosts>2 enter V c", Comparison::Rows),
        ],
    ),
    ("screen-health", &[Only(VIEW)]),
    ("screen-map", &[Copied("3 2 V c", Comparison::Rows)]),
    ("screen-links", &[Copied("3 c", Comparison::Rows)]),
    ("screen-whatif", &[Copied("3 f 6 c", Comparison::Whatif)]),
    ("screen-paths", &[Copied("5 enter node01 enter node24 enter 2 5 c", Comparison::Hops)]),
    ("screen-hotspots", &[Only("the verdict is one of a moment; another process sees another")]),
    ("screen-lanes", &[Only("what would move follows from a verdict, which is one of a moment")]),
    ("screen-jobs", &[Only("jobs of a simulated fabric are made up; jobs.rs compares the line of a list")]),
    ("jobs", &[Only("who knows the jobs stands in the line of the list, which jobs.rs compares")]),
    ("screen-changes", &[Only("changes ended and pending are listed by changes")]),
    ("apply", &[Only(CHANGE)]),
    ("confirm", &[Only(CHANGE)]),
    ("rollback", &[Only(CHANGE)]),
    ("extend", &[Only(CHANGE)]),
    ("move-back", &[Only(CHANGE)]),
    ("disable", &[Only(CHANGE)]),
    ("enable", &[Only(CHANGE)]),
    (
        "screen-timeline",
        &[Only("what happened in a capture is listed by capture info; a live session has no file")],
    ),
    ("watch", &[Only(SESSION)]),
    ("pause", &[Only(TIME)]),
    ("slower", &[Only(TIME)]),
    ("faster", &[Only(TIME)]),
    ("step-back", &[Only(TIME)]),
    ("step", &[Only(TIME)]),
    ("step-back-10", &[Only(TIME)]),
    ("step-10", &[Only(TIME)]),
    ("next-event", &[Only(TIME)]),
    ("previous-event", &[Only(TIME)]),
    ("worst", &[Only(TIME)]),
    ("at", &[Only(TIME)]),
    ("bookmark", &[Only(SESSION)]),
    ("next-bookmark", &[Only(TIME)]),
    ("previous-bookmark", &[Only(TIME)]),
    ("compare", &[Only(TIME)]),
    ("compare-from", &[Only(TIME)]),
    ("note", &[Only("it is about what is recorded of this session's watch")]),
    ("save", &[Only("what was watched is in this session alone; record writes what comes")]),
    ("live", &[Only(TIME)]),
    ("next-view", &[Copied("V V c", Comparison::Rows)]),
    ("previous-view", &[Copied(":previous-view enter :previous-view enter c", Comparison::Rows)]),
    ("quantity", &[Only(VIEW)]),
    ("slice-next", &[Only(VIEW)]),
    ("slice-back", &[Only(VIEW)]),
    ("hot-spot-next", &[Only(VIEW)]),
    ("hot-spot-back", &[Only(VIEW)]),
    ("up", &[Only(VIEW)]),
    ("down", &[Only(VIEW)]),
    ("page-up", &[Only(VIEW)]),
    ("page-down", &[Only(VIEW)]),
    ("first", &[Only(VIEW)]),
    ("last", &[Only(VIEW)]),
    ("left", &[Only(VIEW)]),
    ("right", &[Only(VIEW)]),
    ("sort", &[Copied("3 s s c", Comparison::Rows), Copied("3 :sort space efi enter c", Comparison::Rows)]),
    ("reverse", &[Copied("V s S c", Comparison::Rows), Copied("3 S c", Comparison::Rows)]),
    (
        "mark",
        &[
            Copied("3 down f C", Comparison::Whatif),
            Copied(":mark space switch:spine-2 enter C", Comparison::Whatif),
        ],
    ),
    ("clear-marks", &[Copied("3 f down f F C", Comparison::Whatif)]),
    ("random", &[Copied(":random space 6 enter C", Comparison::Whatif)]),
    ("select", &[Copied("3 / kind=switch-switch enter space down space f C", Comparison::Whatif)]),
    ("undo", &[Copied("3 f down f z C", Comparison::Whatif)]),
    (
        "preview",
        &[
            Copied("3 f :preview space updn,minhop enter C", Comparison::Whatif),
            Copied("3 f :preview space updn enter c", Comparison::Whatif),
        ],
    ),
    (
        "write-plan",
        &[
            Copied("3 f :preview space updn enter j w same.plan enter C", Comparison::Plan),
            Copied("3 f :preview space updn enter j 2 :write-plan space same.plan enter C", Comparison::Plan),
        ],
    ),
    (
        "trace",
        &[
            Copied("V V t node24 enter c", Comparison::Hops),
            Copied(":trace space node01 space node24 enter c", Comparison::Hops),
        ],
    ),
    ("users", &[Copied("3 / kind=switch-switch enter down U c", Comparison::Rows)]),
    ("from", &[Copied("5 enter node01 enter node24 enter b node02 enter c", Comparison::Hops)]),
    ("to", &[Copied("5 enter node01 enter node24 enter e node20 enter c", Comparison::Hops)]),
    ("lid-next", &[Only("the line of the path has the LID; a test of the keys compares it")]),
    ("lid-back", &[Only("the line of the path has the LID; a test of the keys compares it")]),
    ("preview-fix", &[Only("it opens the screen that prints the command")]),
    ("acknowledge", &[Only("health --acknowledge takes the id that the page of the problem shows")]),
    ("longer-window", &[Only(VIEW)]),
    ("shorter-window", &[Only(VIEW)]),
    ("copy-line", &[Only("it is what copies the line")]),
    ("copy-last", &[Only("it is what copies the line")]),
    ("look-again", &[Only("every command looks anew")]),
    ("log", &[Only(SESSION)]),
    ("report", &[Only("it has what this session watched; the command report sweeps by itself")]),
    ("svg", &[Only(SESSION)]),
    ("cast", &[Only(SESSION)]),
    ("slow-line", &[Only(SESSION)]),
    ("theme", &[Only(SESSION)]),
    ("redraw", &[Only(SESSION)]),
    ("mouse", &[Only(SESSION)]),
    ("next-pane", &[Only(SESSION)]),
    ("previous-pane", &[Only(SESSION)]),
    ("open", &[Only(VIEW)]),
    ("zoom", &[Only(SESSION)]),
    ("preview-relief", &[Only(SESSION)]),
    ("its-job", &[Only(SESSION)]),
    ("pin", &[Only(SESSION)]),
    ("border-left", &[Only(SESSION)]),
    ("border-right", &[Only(SESSION)]),
    ("border-up", &[Only(SESSION)]),
    ("border-down", &[Only(SESSION)]),
    ("reset-size", &[Only(SESSION)]),
    ("suspend", &[Only(SESSION)]),
];

#[test]
fn every_action_has_a_line_or_a_reason() {
    let table: BTreeSet<&str> = LINES.iter().map(|(id, _)| *id).collect();
    let actions: BTreeSet<&str> = ACTIONS.iter().map(|action| action.id).collect();
    assert_eq!(
        table, actions,
        "an action has neither a line that is compared nor a reason for none, or is gone"
    );
    for action in ACTIONS.iter().filter(|action| action.line.is_some()) {
        let (_, lines) = LINES.iter().find(|(id, _)| *id == action.id).unwrap();
        assert!(
            lines.iter().all(|line| matches!(line, Copied(..))),
            "{} prints a line: compare it",
            action.id
        );
    }
    for (id, lines) in LINES {
        let said =
            |line: &CopiedLine| matches!(line, Copied(..)) || matches!(line, Only(why) if !why.is_empty());
        assert!(!lines.is_empty() && lines.iter().all(said), "{id}");
    }
}

#[test]
fn lines_do_what_their_actions_do() {
    for (id, lines) in LINES {
        for line in *lines {
            let Copied(keys, same) = line else { continue };
            let mut driver = open_session("sim:demo");
            driver.press(keys);
            let Some(line) = driver.copied.last().cloned() else {
                panic!("{id}: {keys} copied nothing: {:?}", driver.state.messages)
            };
            compare(id, &driver, &line, *same);
        }
    }
}

fn compare(id: &str, driver: &TestSession, line: &str, same: Comparison) {
    let state = &driver.state;
    if let Comparison::Plan = same {
        return compare_plans(id, driver, line);
    }
    let (exit, json) = carried_out(line);
    match same {
        Comparison::Rows => {
            let column = state.current().listing(&state.known).unwrap().column(0).id.to_string();
            let rows = json["rows"].as_array().unwrap_or_else(|| panic!("{id}: {line}: {json}"));
            let printed: Vec<&str> = rows.iter().map(|row| row[&column].as_str().unwrap()).collect();
            assert_eq!(printed, first_column(driver), "{id}: {line}");
            assert!(exit == Exit::Done && !printed.is_empty(), "{id}: {line}");
        }
        Comparison::Hops => {
            let printed = json["rows"].as_array().unwrap_or_else(|| panic!("{id}: {line}: {json}"));
            let printed: Vec<&str> = printed.iter().map(|hop| hop["node"].as_str().unwrap()).collect();
            assert_eq!(printed, hops(driver), "{id}: {line}");
            assert!(exit == Exit::Done && !printed.is_empty(), "{id}: {line}");
        }
        Comparison::Whatif => {
            let cost = state.known.cost.as_ref().unwrap_or_else(|| panic!("{id}: nothing was counted"));
            assert_eq!(json["lost_until_reroute"], cost.lost.pairs, "{id}: {line}: {json}");
            assert_eq!(json["cut_off_pairs"], cost.lost.critical, "{id}: {line}");
            let marks = line.matches("--fail").count();
            assert_eq!(marks, state.known.marks.len(), "{id}: {line}");
            let engines = |of: &Value| -> BTreeSet<String> {
                let rows = of["engines"].as_array().into_iter().flatten();
                rows.map(|row| row["engine"].as_str().unwrap().to_owned()).collect()
            };
            let asked: BTreeSet<String> = state.engines().keys().map(|id| (*id).to_owned()).collect();
            // A line that names none asks all of them.
            assert!(asked.is_empty() || engines(&json) == asked, "{id}: {line}: {json}");
        }
        Comparison::Plan => unreachable!("compared above"),
    }
}

/// The file of the line is put into a folder of its own.
fn compare_plans(id: &str, driver: &TestSession, line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("same.plan");
    let (before, name) = line.rsplit_once(' ').unwrap();
    assert_eq!(name, "same.plan", "{id}: {line}: {:?}", driver.state.messages);
    carried_out(&format!("{before} {}", file.display()));
    let mut by_line: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let (_, text) = driver.written.last().unwrap_or_else(|| panic!("{id}: no plan was written"));
    let mut by_console: Value = serde_json::from_str(text).unwrap();
    // The lines of a change in steps name plans beside the one plan, which lies in another folder.
    if let Some(staged) = by_line["transition"]["staged"].as_object_mut() {
        let commands = staged["commands"].as_array_mut().unwrap();
        let prefix = format!("{}/", folder.path().display());
        for command in commands {
            *command = command.as_str().unwrap().replace(&prefix, "").into();
        }
        // The hash is over these too.
        by_line["hash"] = by_console["hash"].take();
        by_console["hash"] = by_line["hash"].clone();
    }
    assert_eq!(by_line, by_console, "{id}: {line}");
}

/// What was done last is offered once there is something.
#[test]
fn nothing_done_copies_nothing() {
    let mut driver = open_session("sim:demo");
    driver.press("C");
    assert!(driver.copied.is_empty());
    let said = &driver.state.messages.last().unwrap().text;
    assert!(said.contains("no action has a command line"), "{said}");
    driver.send_input(SessionInput::Tick);
}
