//! The actions that write for others, and how the terminal is written to. They belong to no screen.

use super::{report_file, screen_files, slow_line};
use crate::console::features::feature::Feature;
use crate::console::model::action::{ActionGroup, ActionSection, new};

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Session,
        actions: &[
            new(
                "report",
                &[],
                "Write a report to hand on: one HTML page of health, map, problems and events",
                report_file::write_report,
            )
            .with_argument("[FILE]")
            .with_precondition(report_file::can_report)
            .writes_file(),
            new("svg", &[], "Write the screen as an SVG picture", screen_files::save_picture)
                .with_argument("[FILE]")
                .writes_file(),
            new(
                "cast",
                &[],
                "Record the terminal to an asciicast; without a file, end the recording",
                screen_files::record_terminal,
            )
            .with_argument("[FILE]")
            .writes_file(),
            new(
                "slow-line",
                &[],
                "Move charts every 5 s for a slow line, or with each reading; auto measures the line",
                slow_line::set_slow_line,
            )
            .with_argument("[on|off|auto]"),
        ],
    }],
    ..Feature::NEW
};
