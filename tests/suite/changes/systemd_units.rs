//! The unit files of `docs/systemd`: what they start exists, with these flags, and systemd can read them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("FABDECK_ROOT"), "/docs/systemd");
const PROGRAM: &str = "/usr/local/bin/fabdeck";

fn units() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| {
        (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
    });
    named.collect()
}

fn values<'u>(unit: &'u str, key: &str) -> Vec<&'u str> {
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines.filter(|(name, _)| *name == key).map(|(_, value)| value).collect()
}

fn fabdeck(args: &[&str], home: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for variable in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(variable, home);
    }
    command.args(args).current_dir(home).output().unwrap()
}

#[test]
fn what_units_start_is_a_command_that_runs() {
    let (units, home) = (units(), tempfile::tempdir().unwrap());
    let mut started = 0;
    for (name, unit) in &units {
        for line in values(unit, "ExecStart") {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], PROGRAM, "{name}");
            // With a folder in which nothing is pending, in the place of the machine's own; a service watches the simulator
            // for one interval, at a port that is free.
            let in_place_of = |word: &str| match word {
                "umad" => "sim:demo".to_owned(),
                word => word.replace("127.0.0.1:9315", "127.0.0.1:0"),
            };
            let mut words: Vec<String> = words[1..].iter().map(|word| in_place_of(word)).collect();
            words.extend(["--state-dir", "./state"].map(str::to_owned));
            if words.iter().any(|word| word == "watch") {
                words.extend(["--count", "1"].map(str::to_owned));
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = fabdeck(&words, home.path());
            assert_eq!(ended.status.code(), Some(0), "{name}: {line}: {ended:?}");
            started += 1;
        }
    }
    assert_eq!(started, 2);
}

/// What comments say to add are flags of the command, too.
#[test]
fn flags_in_comments_of_units_are_those_of_the_command() {
    let home = tempfile::tempdir().unwrap();
    let help = ["guard", "watch"].map(|command| fabdeck(&[command, "--help"], home.path()).stdout).concat();
    let help = String::from_utf8(help).unwrap();
    let mut found = 0;
    for (name, unit) in units() {
        let own = unit.lines().filter(|line| !line.contains("systemctl"));
        for word in own.flat_map(|line| line.split([' ', '`', ',', ';', '.'])) {
            if word.starts_with("--") {
                assert!(help.contains(word), "{name}: {word}");
                found += 1;
            }
        }
    }
    assert!(found >= 3, "{found}");
}

#[test]
fn a_timer_starts_a_unit_that_is_there_at_times_that_come() {
    let units = units();
    let timers: Vec<_> = units.iter().filter(|(name, _)| name.ends_with(".timer")).collect();
    assert_eq!(timers.len(), 1);
    for (name, timer) in timers {
        let started = values(timer, "Unit");
        assert!(started.len() == 1 && units.contains_key(started[0]), "{name}: {started:?}");
        assert_eq!(values(timer, "WantedBy"), ["timers.target"], "{name}");
        // A timer starts no unit that runs, so the service has to end while changes are pending, or be ended.
        let service = &units[started[0]];
        assert!(service.contains("guard --resume"), "{name}");
        assert_eq!(values(service, "Type"), ["oneshot"], "{name}");
        assert_eq!(values(service, "TimeoutStartSec"), ["120"], "{name}");
        let often = values(timer, "OnCalendar");
        assert_eq!(often, ["*:*:00/30"], "{name}");
        let Ok(told) = Command::new("systemd-analyze").args(["calendar", often[0]]).output() else {
            continue;
        };
        assert!(told.status.success(), "{name}: {}", String::from_utf8_lossy(&told.stderr));
    }
}

/// The highest exposure that `systemd-analyze security` may find, in tenths.
const EXPOSURE: &str = "17";

/// systemd ignores what it does not know, so an error of a unit would go unnoticed.
#[test]
fn systemd_finds_no_error_in_units_and_the_service_exposes_little() {
    let folder = tempfile::tempdir().unwrap();
    let units = units();
    for (name, unit) in &units {
        // What a unit starts has to exist.
        let unit = unit.replace(PROGRAM, env!("CARGO_BIN_EXE_fabdeck"));
        // Its page is installed with a package alone.
        let unit: String =
            unit.lines().filter(|line| !line.starts_with("Documentation=")).collect::<Vec<_>>().join("\n");
        std::fs::write(folder.path().join(name), unit).unwrap();
    }
    let analyze = |args: &[&str]| {
        let ended = Command::new("systemd-analyze").args(args).current_dir(folder.path()).output();
        let ended = ended.expect("systemd-analyze (Debian: systemd)");
        (ended.status.success(), String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned())
    };
    for name in units.keys() {
        let (passed, said) = analyze(&["verify", "--man=no", &format!("./{name}")]);
        let about_ours = said.lines().any(|line| line.contains("fabdeck"));
        assert!(passed && !about_ours, "{name}: {said}");
    }
    let threshold = format!("--threshold={EXPOSURE}");
    let (passed, said) = analyze(&["security", "--offline=true", &threshold, "./fabdeck-watch.service"]);
    assert!(passed, "{said}");
}
