//! What is seen of changes: the list of them, and the line that renews itself on a terminal.

use std::process::Command;
use std::time::{Duration, Instant};

use super::processes::{ServedLab, user};
use crate::console::pty::Session;
use fabdeck_change::{BeginRecord, ChangeStore, Journal, JournalRecord, LocalSystem};

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

/// In a folder of an older version another user can put a journal with any text in it.
#[test]
fn a_forged_id_adds_no_metric_and_no_control_character() {
    let lab = ServedLab::new(DEMO);
    let home = ChangeStore::open(&lab.home.path().join("state")).unwrap();
    let id = "x\"} 1\nfabdeck_changes_overdue 0\n\u{1b}[31m\u{9b}31m\u{202e}\\".to_owned();
    let (kept, keeping) = home.begin(BeginRecord { id, ..BeginRecord::default() }, "{}").unwrap();
    let (time, deadline) = ("2026-11-28T00:00:00Z".to_owned(), "2036-11-28T00:00:00Z".to_owned());
    let applied = JournalRecord::Applied { time, deadline, ends: None };
    kept.journal().unwrap().0.append_durably(&applied).unwrap();
    let text = lab.run(&["changes", "--format", "prometheus"]).stdout;
    drop(keeping);
    let text = String::from_utf8(text).unwrap();
    let lines = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(
        (lines("fabdeck_changes_overdue"), lines("fabdeck_change_deadline_seconds{")),
        (1, 1),
        "{text}"
    );
    assert!(text.contains(r#"{id="x\"} 1\\nfabdeck"#), "{text}");
    assert!(text.chars().all(|sign| sign == '\n' || fabdeck_fabric::observe::is_printable(sign)), "{text:?}");
}

/// A pipe waits for its other end, a link leads to a file of another folder.
#[test]
fn what_was_planted_beside_the_seen_changes_is_left_alone() {
    let lab = ServedLab::new(DEMO);
    let folder = lab.home.path().join(".local/state/fabdeck");
    std::fs::create_dir_all(&folder).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("seen")).status().unwrap().success());
    std::os::unix::fs::symlink(lab.home.path().join("elsewhere"), folder.join("seen.lock")).unwrap();
    let run = |args: &[&str]| {
        let mut command = lab.command(args).spawn().unwrap();
        let since = Instant::now();
        while command.try_wait().unwrap().is_none() {
            if since.elapsed() > Duration::from_secs(20) {
                command.kill().unwrap();
                panic!("{args:?} waits for a pipe");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(command.wait().unwrap().success(), "{args:?}");
    };
    run(&["apply", "a.plan", "--yes", "--accept", "transition"]);
    run(&["changes"]);
    run(&["rollback", "1"]);
    assert!(!lab.home.path().join("elsewhere").exists());
}
