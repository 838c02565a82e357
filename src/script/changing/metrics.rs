//! `changes --format prometheus`: how many changes are pending and beyond their deadline, for node_exporter's textfile
//! collector.

use std::fmt::Write;

use jiff::Timestamp;

use crate::session::ChangeRow;

/// `unknown`: how many state folders and journals could not be read.
pub fn write(rows: &[ChangeRow], unknown: usize) -> String {
    let mut text = String::new();
    let pending: Vec<&ChangeRow> = rows.iter().filter(|row| row.state.is_pending()).collect();
    let overdue = pending.iter().filter(|row| row.overdue).count();
    for (name, help, value) in [
        ("changes_pending", "Changes that are neither confirmed nor taken back", pending.len()),
        ("changes_overdue", "Changes beyond their deadline that no guard has taken back", overdue),
        ("changes_unknown", "State folders and journals whose changes could not be read", unknown),
    ] {
        head(&mut text, name, help);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "fabdeck_{name} {value}");
    }
    let deadlines = pending.iter().filter_map(|row| {
        let deadline: Timestamp = row.deadline.as_ref()?.parse().ok()?;
        Some((row, deadline.as_second()))
    });
    for (at, (row, seconds)) in deadlines.enumerate() {
        if at == 0 {
            head(
                &mut text,
                "change_deadline_seconds",
                "When a change is taken back that is not confirmed, in Unix time",
            );
        }
        let _ = writeln!(
            text,
            "fabdeck_change_deadline_seconds{{id=\"{}\",number=\"{}\"}} {seconds}",
            row.id, row.number
        );
    }
    text
}

fn head(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# HELP fabdeck_{name} {help}\n# TYPE fabdeck_{name} gauge");
}
