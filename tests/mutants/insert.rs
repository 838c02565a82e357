//! Puts breaks into source files, each behind a switch: `insert COUNT DROPPED FOLDER...`.
//!
//! One build then has all breaks, and `FABDECK_MUTANT=7` in the environment turns number 7 on. A break is one operator
//! exchanged for another, a negation left out, or a function that returns a fixed value at once. Which of all possible
//! breaks are taken depends on their files, functions and kinds, not on lines. `DROPPED` lists breaks that do not compile, one line each, as they are
//! printed. Prints one line for each break: number, file, range in the new file, and what it is, separated by tabs.

mod breaks;
mod choice;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use breaks::{Break, find_breaks};

/// Appended to the root of each crate. `is_active` notes which breaks a test reaches, in the file that
/// `FABDECK_MUTANT_HITS` names.
const SWITCH: &str = r#"
#[doc(hidden)]
pub mod mutant_switch {
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static REACHED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];
    static ACTIVE: OnceLock<usize> = OnceLock::new();

    pub fn is_active(number: usize) -> bool {
        if !REACHED[number].load(Ordering::Relaxed) && !REACHED[number].swap(true, Ordering::Relaxed) {
            if let Some(file) = std::env::var_os("FABDECK_MUTANT_HITS") {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
                let _ = file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()));
            }
        }
        let active = || std::env::var("FABDECK_MUTANT").ok()?.parse().ok();
        *ACTIVE.get_or_init(|| active().unwrap_or(usize::MAX)) == number
    }
}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let count: usize = args.next().ok_or("insert COUNT DROPPED FOLDER...")?.parse()?;
    let dropped = fs::read_to_string(args.next().ok_or("a file of dropped breaks is missing")?)?;
    let dropped: BTreeSet<&str> = dropped.lines().collect();
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for folder in args {
        collect_sources(Path::new(&folder), &mut files)?;
        let root = Path::new(&folder).join("lib.rs");
        fs::write(&root, fs::read_to_string(&root)? + SWITCH)?;
    }
    let mut found = Vec::new();
    for (number, (path, text)) in files.iter().enumerate() {
        let breaks = find_breaks(text).map_err(|error| format!("{}: {error}", path.display()))?;
        found.extend(breaks.into_iter().map(|one| (number, one)));
    }
    let name = |(file, one): &(usize, Break)| format!("{}:{}", files[*file].0.display(), one.label);
    let place = |(file, one): &(usize, Break)| {
        let without_line = one.label.split_once(": ").map_or("", |(_, rest)| rest);
        format!("{}:{without_line}", files[*file].0.display())
    };
    let chosen = choice::choose(found, count, |one| !dropped.contains(name(one).as_str()), place);
    let mut number = 0;
    for (file, (path, text)) in files.iter().enumerate() {
        let here: Vec<&Break> = chosen.iter().filter(|(of, _)| *of == file).map(|(_, one)| one).collect();
        if here.is_empty() {
            continue;
        }
        let (mut new, mut end) = (String::new(), 0);
        for one in here {
            new += &text[end..one.start];
            let begin = new.len();
            new += &one.text(text, number);
            println!("{number}\t{}\t{begin}\t{}\t{}", path.display(), new.len(), one.label);
            (end, number) = (one.end, number + 1);
        }
        new += &text[end..];
        // The switch is at the end of the root, behind everything that was read.
        let root = if path.ends_with("lib.rs") { SWITCH } else { "" };
        fs::write(path, new + root)?;
    }
    Ok(())
}

/// All source files of a folder in the order of their names; examples are no part of a library.
fn collect_sources(folder: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<(), Box<dyn Error>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("examples") {
            collect_sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((path.clone(), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}
