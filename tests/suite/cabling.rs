//! Cabling as planned against cabling as found.

mod console_marks;
mod mistakes;
mod plan_files;
mod printed_findings;
mod random_mistakes;
