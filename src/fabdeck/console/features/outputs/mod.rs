//! What a session writes for others: a report of the fabric, a picture of the screen, a recording of the terminal.

mod feature;
pub mod report_file;
pub mod screen_files;
pub mod slow_line;

pub(crate) use feature::FEATURE;
