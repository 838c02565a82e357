//! What is seen of changes: the list of them, and the line that renews itself on a terminal.

use super::processes::{ServedLab, user};
use crate::console::pty::Session;
use fabdeck_change::{Journal, JournalRecord, LocalSystem};

const DEMO: &str = "sim:demo,traffic=none";

#[test]
fn changes_are_a_table_with_the_newest_last() {
    let lab = ServedLab::new(DEMO);
    let none = lab.run_to_end(&["changes"], 0);
    assert_eq!(
        none,
        "no change is pending, and none was applied so far, in ./state (which does not exist)\n"
    );
    let first = lab.apply();
    lab.run_to_end(&["rollback", &first], 0);
    let second = lab.apply();
    let text = lab.run_to_end(&["changes"], 0);
    let lines: Vec<&str> = text.lines().collect();
    let [title, one, two] = lines[..] else { panic!("{text}") };
    let titles: Vec<&str> = title.split_whitespace().collect();
    assert_eq!(titles, ["NO", "ID", "STATE", "TIME", "USER", "VIA", "ENGINE", "WRITES", "SOURCE", "WHY"]);
    for (line, number, id, state, why) in [
        (one, "1", &first, "rolled back ", &format!("requested by {}", user())),
        (two, "2", &second, "applied, not confirmed ", &" left, until ".to_owned()),
    ] {
        let place = |title_of: &str| title.find(title_of).unwrap();
        assert!(line.trim_start().starts_with(number), "{line}");
        assert!(line[place("ID")..].starts_with(&format!("{id}  ")), "{line}");
        assert!(line[place("STATE")..].starts_with(state), "{line}");
        assert!(
            line[place("USER")..].starts_with(&format!("{} ", user()))
                && line[place("VIA")..].starts_with("direct "),
            "{line}"
        );
        assert!(
            line[place("ENGINE")..].starts_with("updn ") && line[place("WHY")..].contains(why.as_str()),
            "{line}"
        );
        let writes = line[..place("WRITES") + "WRITES".len()].rsplit(' ').next().unwrap();
        assert!(writes.parse::<u32>().is_ok_and(|writes| writes > 0), "{line}");
    }
    lab.run_to_end(&["rollback", &second], 0);
}

/// A disk that fails can leave a record in the journal that the guard refused.
#[test]
fn a_change_has_ended_only_where_its_guard_says_so_too() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let path = lab.home.path().join("state/changes/000001/journal");
    let before = std::fs::read(&path).unwrap();
    let read = Journal::load(&LocalSystem, &path).unwrap();
    let confirmed = JournalRecord::Confirmed { time: "2026-11-28T00:00:00Z".into(), user: "ada".into() };
    Journal::resume(&LocalSystem, &path, &read).unwrap().append_durably(&confirmed).unwrap();
    let listed = lab.run_to_end(&["changes"], 0);
    std::fs::write(&path, before).unwrap();
    assert!(listed.contains("applied, not confirmed "), "{listed}");
    lab.run_to_end(&["rollback", &id], 0);
}

/// What `apply --wait` says on a terminal of 80 columns stands in one line of it, and is gone when it is over.
#[test]
fn the_line_that_waits_fits_its_terminal_and_goes_away() {
    let lab = ServedLab::new(DEMO);
    let path = |name: &str| lab.home.path().join(name).display().to_string();
    let (source, state, plan) = (format!("sim:{}", path("lab.sock")), path("state"), path("a.plan"));
    let apply = ["apply", &plan, "--yes", "--accept", "transition", "--wait", "--confirm-within", "10m"];
    let args = [&["--source", &source, "--state-dir", &state], &apply[..]].concat();
    let mut session = Session::open(&args, 80, 24);
    session.until("left, until");
    let text = session.text();
    let line = text.lines().find(|line| line.contains("left, until")).unwrap();
    assert!(line.starts_with("change ") && line.ends_with(" UTC"), "{text}");
    // Long enough for it to be renewed some times.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let text = session.text();
    let shown = text.lines().filter(|line| !line.trim().is_empty()).count();
    assert_eq!(shown, 1, "it is one line, however often it is renewed: {text}");
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["confirm", &id], 0);
    // The waiting line says "not confirmed"; the report that replaces it names the change in two words.
    session.until(&format!("change  {id}"));
    assert_eq!(session.ended(), 0);
    let text = session.text();
    assert!(!text.contains("left, until") && !text.contains("Ctrl-C"), "{text}");
    assert_eq!(text.lines().next().unwrap().trim_end(), format!("change  {id}"), "{text}");
}
