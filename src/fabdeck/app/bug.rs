//! The message of a panic, printed before the process ends with exit code 101.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether any thread panicked.
static OCCURRED: AtomicBool = AtomicBool::new(false);

pub fn has_occurred() -> bool {
    OCCURRED.load(Ordering::SeqCst)
}

/// The panic hook: prints where it happened, what happened, and what to report.
pub fn report(info: &PanicHookInfo<'_>) {
    OCCURRED.store(true, Ordering::SeqCst);
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let what = info.payload_as_str().unwrap_or("no message");
    tracing::error!(place, what, "bug");
    // Text that is written to the alternate screen is lost when the session leaves it.
    crate::app::console::terminal::restore();
    crate::app::console::terminal_writer::write_after_exit(message(&place, what));
}

fn message(place: &str, what: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "fabdeck: bug: {what} ({place})\n\
         fabdeck: this is a bug in fabdeck {version}, not a problem of your fabric. Please report it with the line above, \
         the command line, and the input if you can share it.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_says_where_it_is_and_what_to_report() {
        let text = message("src/x.rs:7:1", "index out of bounds");
        assert!(text.starts_with("fabdeck: bug: index out of bounds (src/x.rs:7:1)\n"), "{text}");
        assert!(text.contains("Please report it"));
    }
}
