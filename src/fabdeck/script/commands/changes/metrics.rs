//! `changes --format prometheus`: numbers of pending and overdue changes, for the textfile collector of
//! node_exporter.

use std::fmt::{Display, Write};

use jiff::Timestamp;

use crate::operations::changes::change_row::ChangeRow;
use fabdeck_change::{AttestationVerdict, ChangePhase};
use fabdeck_files::prometheus::write_label;

/// Prints the metrics. `incomplete` counts the rollbacks that left something, and `unknown` the state folders and journals that could not be read; `compared` says
/// whether a requested comparison with the fabric succeeded.
pub fn write(rows: &[ChangeRow], incomplete: usize, unknown: usize, compared: Option<bool>) -> String {
    let mut text = String::new();
    let pending: Vec<&ChangeRow> = rows.iter().filter(|row| row.state.is_pending()).collect();
    let overdue = pending.iter().filter(|row| row.overdue).count();
    let counts = [
        ("changes_pending", "Changes that are neither confirmed nor rolled back", pending.len()),
        ("changes_overdue", "Changes beyond their deadline that no guard has rolled back", overdue),
        ("changes_incomplete", "Changes of which a rollback left parts in the fabric", incomplete),
        ("changes_unknown", "State folders and journals whose changes could not be read", unknown),
    ];
    // Where something could not be read, zero would say that nothing is pending.
    let known = counts
        .into_iter()
        .filter(|(name, _, value)| *value > 0 || unknown == 0 || *name == "changes_unknown");
    for (name, help, value) in known {
        write_head(&mut text, name, help);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "fabdeck_{name} {value}");
    }
    let waiting = pending.iter().filter(|row| row.state == ChangePhase::Applied);
    let deadlines = waiting.filter_map(|row| {
        let deadline: Timestamp = row.deadline.as_ref()?.parse().ok()?;
        Some((row, deadline.as_second()))
    });
    for (at, (row, seconds)) in deadlines.enumerate() {
        if at == 0 {
            write_head(
                &mut text,
                "change_deadline_seconds",
                "When a change is rolled back unless it is confirmed, in Unix time",
            );
        }
        write_change_value(&mut text, "change_deadline_seconds", row, seconds);
    }
    if let Some(compared) = compared {
        write_comparison(&mut text, rows, compared);
    }
    text
}

/// Prints how confirmed changes compare with the fabric.
fn write_comparison(text: &mut String, rows: &[ChangeRow], compared: bool) {
    write_head(text, "changes_compared", "Whether confirmed changes could be compared with the fabric");
    let _ = writeln!(text, "fabdeck_changes_compared {}", u8::from(compared));
    if !compared {
        return;
    }
    write_head(
        text,
        "changes_by_verdict",
        "Confirmed changes of the fabric, by what the comparison with it says",
    );
    for verdict in [
        AttestationVerdict::Stands,
        AttestationVerdict::NoLongerStands,
        AttestationVerdict::NotKnown,
        AttestationVerdict::Superseded,
    ] {
        let found = |row: &&ChangeRow| row.comparison.as_ref().is_some_and(|found| found.verdict == verdict);
        let count = rows.iter().filter(found).count();
        let _ = writeln!(text, "fabdeck_changes_by_verdict{{verdict=\"{}\"}} {count}", verdict.title());
    }
    let fallen = rows.iter().filter_map(|row| Some((row, row.comparison.as_ref()?)));
    let fallen = fallen.filter(|(_, found)| found.verdict == AttestationVerdict::NoLongerStands);
    for (at, (row, found)) in fallen.enumerate() {
        if at == 0 {
            write_head(
                text,
                "change_entries_differ",
                "Entries that do not hold what a confirmed change wrote",
            );
        }
        write_change_value(text, "change_entries_differ", row, found.differ);
    }
}

/// Writes the value of one change. In a folder of an older version the id is whatever another user wrote.
fn write_change_value(text: &mut String, name: &str, row: &ChangeRow, value: impl Display) {
    let _ = write!(text, "fabdeck_{name}{{");
    write_label(text, "id", &row.id);
    let _ = writeln!(text, ",number=\"{}\"}} {value}", row.number);
}

fn write_head(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# HELP fabdeck_{name} {help}\n# TYPE fabdeck_{name} gauge");
}
