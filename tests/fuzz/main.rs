//! Coverage-guided fuzzing of the readers and of all that takes datagrams. `FABDECK_FUZZ` names the format or target;
//! `tests/fuzz/run` builds and runs all.

#![no_main]
#![allow(clippy::print_stdout, reason = "the list of formats is for the script that asks")]
#![allow(clippy::unwrap_used, reason = "the fabric that datagrams are sent to is a fixed one")]

use std::sync::OnceLock;

use fabdeck_files::text::Input;
use fabdeck_files::{FORMATS, Format};
use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "datagrams.rs"]
mod datagrams;
#[path = "judge.rs"]
mod judge;
#[path = "lines.rs"]
mod lines;
#[path = "sent.rs"]
mod sent;

enum Target {
    Format(&'static Format),
    Datagrams(datagrams::Run),
}

static TARGET: OnceLock<Target> = OnceLock::new();

/// What is under test, asked for once. An unknown name lists the known ones and ends the process.
fn target() -> &'static Target {
    TARGET.get_or_init(|| {
        let wanted = std::env::var("FABDECK_FUZZ").unwrap_or_default();
        if let Some(format) = FORMATS.iter().find(|format| format.id == wanted) {
            return Target::Format(format);
        }
        if let Some((_, run)) = datagrams::TARGETS.iter().find(|(name, _)| *name == wanted) {
            return Target::Datagrams(*run);
        }
        let names = FORMATS.iter().map(|format| format.id);
        for name in names.chain(datagrams::TARGETS.iter().map(|(name, _)| *name)) {
            println!("{name}");
        }
        std::process::exit(i32::from(wanted != "list"));
    })
}

fuzz_target!(init: { target(); }, |data: &[u8]| -> Corpus {
    match target() {
        Target::Format(format) => judge::judge(format, Input::new("fuzz", data)),
        Target::Datagrams(run) => run(data),
    }
    Corpus::Keep
});
