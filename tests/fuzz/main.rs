//! Coverage-guided fuzzing of the readers. `FABDECK_FUZZ` names the format; `tests/fuzz/run` builds and runs all.

#![no_main]
#![allow(clippy::print_stdout, reason = "the list of formats is for the script that asks")]

use std::sync::OnceLock;

use fabdeck::files::text::Input;
use fabdeck::files::{FORMATS, Format};
use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "judge.rs"]
mod judge;

static FORMAT: OnceLock<&'static Format> = OnceLock::new();

/// The format under test, asked for once. An unknown name lists the known ones and ends the process.
fn format() -> &'static Format {
    FORMAT.get_or_init(|| {
        let wanted = std::env::var("FABDECK_FUZZ").unwrap_or_default();
        match FORMATS.iter().find(|format| format.id == wanted) {
            Some(format) => format,
            None => {
                for format in FORMATS {
                    println!("{}", format.id);
                }
                std::process::exit(i32::from(wanted != "list"));
            }
        }
    })
}

fuzz_target!(init: { format(); }, |data: &[u8]| -> Corpus {
    judge::judge(format(), Input::new("fuzz", data));
    Corpus::Keep
});
