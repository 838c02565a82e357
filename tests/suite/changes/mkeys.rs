//! M_Keys in the life of a change: they open the fabric, and stand nowhere but in the file that was given.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fabdeck_change::{ChangePhase, Plan};
use fabdeck_fabric::{Fabric, PortNum, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

use super::processes::ServedLab;
use super::{Stage, fabric, observe_simulator, order_channel, plan_by_engine};

const KEY: u64 = 0x5EC2_E7C0_FFEE_4B1D;
const WRONG: u64 = 0x7A5E_91D3_0BAD_C0DE;

/// Every form in which a key could be written down.
fn forms(key: u64) -> Vec<Vec<u8>> {
    let bytes = key.to_be_bytes();
    let joined = |sign: &str, hex: bool| {
        let one = |byte: &u8| if hex { format!("{byte:02x}") } else { byte.to_string() };
        bytes.iter().map(one).collect::<Vec<_>>().join(sign)
    };
    let texts = [format!("{key:x}"), key.to_string(), key.cast_signed().to_string()];
    let lists = [" ", ":", ", ", ",", "-"].iter().flat_map(|sign| [joined(sign, true), joined(sign, false)]);
    let texts = texts.into_iter().chain(lists).map(String::into_bytes);
    texts.chain([bytes.to_vec(), key.to_le_bytes().to_vec()]).collect()
}

fn assert_no_key(what: &str, held: &[u8]) {
    let small = held.to_ascii_lowercase();
    for form in [KEY, WRONG].into_iter().flat_map(forms) {
        let there = [held, &small].iter().any(|held| held.windows(form.len()).any(|part| part == form));
        assert!(!there, "{what} shows a key as {:?}", String::from_utf8_lossy(&form));
    }
}

/// Every file below a folder, unpacked where it is packed, but for the files of keys. How many there are.
fn hidden_below(folder: &Path, ends: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            hidden_below(&path, ends);
        } else if path.is_file() && path.extension().is_none_or(|kind| kind != "key") {
            let bytes = std::fs::read(&path).unwrap();
            assert_no_key(&path.display().to_string(), &bytes);
            if let Ok(unpacked) = zstd::stream::decode_all(bytes.as_slice()) {
                assert_no_key(&path.display().to_string(), &unpacked);
            }
            ends.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
}

/// What the kernel shows of the processes that keep a change: their arguments and variables. Anybody may read the first.
fn guard_hides(lab: &ServedLab) {
    let guards = lab.guards();
    assert_eq!(guards.len(), 1);
    for file in ["cmdline", "environ"] {
        let shown = std::fs::read(format!("/proc/{}/{file}", guards[0])).unwrap();
        let begun = String::from_utf8_lossy(&shown).into_owned();
        assert!(file == "environ" || begun.contains("guard") && begun.contains("site.key"), "{begun}");
        assert_no_key(file, &shown);
    }
}

/// What looks for keys finds them, in every form.
#[test]
fn a_key_that_is_written_down_is_found() {
    for key in [KEY, WRONG] {
        for form in forms(key) {
            let held = [b"before ", form.as_slice(), b" behind"].concat();
            assert!(std::panic::catch_unwind(|| assert_no_key("a file", &held)).is_err(), "{form:?}");
        }
    }
    assert_no_key("a file", b"nothing");
}

/// A file of keys that no other user can read.
fn write_key(file: &Path, key: &str) {
    std::fs::write(file, format!("{key}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn lab(level: u8) -> ServedLab {
    let source = format!("sim:demo,traffic=none,protect={level}");
    ServedLab::with(&source, &["--mkey-file", "site.key"], |home| {
        write_key(&home.join("site.key"), &format!("{KEY:#x}"));
        write_key(&home.join("wrong.key"), &WRONG.to_string());
    })
}

/// Runs it and looks at all that it says.
fn run_and_check(lab: &ServedLab, args: &[&str], code: i32) -> String {
    let ended = lab.command(args).arg("-v").env("FABDECK_LOG", "trace").output().unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    assert_no_key(&args.join(" "), &said);
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    said
}

fn applied(lab: &ServedLab, plan: &str) -> String {
    run_and_check(lab, &["apply", plan, "--yes", "--accept", "transition,cycle,unreachable"], 0);
    guard_hides(lab);
    lab.row()["id"].as_str().unwrap().to_owned()
}

/// A fabric that shows nothing without its key: a change is extended and confirmed, one rolled back, one taken over by another
/// guard, a link is disabled, and all of it is recorded and logged.
#[test]
fn a_life_of_changes_shows_no_key() {
    let lab = lab(3);
    let before = lab.tables();
    let id = applied(&lab, "a.plan");
    assert_ne!(lab.tables(), before, "the guard had the key, or it could not have written");
    run_and_check(&lab, &["extend", &id, "5m"], 0);
    run_and_check(&lab, &["changes", "--json"], 0);
    run_and_check(&lab, &["confirm", &id], 0);
    let kept = lab.tables();
    run_and_check(&lab, &["route", "--engine", "minhop", "-o", "b.plan"], 2);
    run_and_check(&lab, &["plan", "show", "b.plan", "--json"], 0);
    let id = applied(&lab, "b.plan");
    lab.kill_guard_of("000002");
    assert!(run_and_check(&lab, &["changes"], 0).contains("its guard was gone"));
    run_and_check(&lab, &["rollback", &id], 0);
    assert_eq!(lab.tables(), kept);
    run_and_check(&lab, &["disable", "link:rack1-leaf[8]", "-o", "out.plan"], 2);
    let id = applied(&lab, "out.plan");
    run_and_check(&lab, &["rollback", &id], 0);
    run_and_check(&lab, &["record", "-o", "life.fdcap", "--for", "2s"], 0);
    run_and_check(&lab, &["changes", "--json"], 0);
    // Who has another key sees nothing of this fabric.
    std::fs::copy(lab.home.path().join("wrong.key"), lab.home.path().join("site.key")).unwrap();
    assert!(run_and_check(&lab, &["apply", "b.plan", "--yes"], 8).contains("M_Key"));
    let mut files = Vec::new();
    hidden_below(lab.home.path(), &mut files);
    for wanted in ["journal", "plan.json", "guard.log", "audit", "life.fdcap", "a.plan"] {
        assert!(files.iter().any(|file| file == wanted), "no {wanted}: {files:?}");
    }
    assert!(files.iter().any(|file| file.starts_with("fabdeck.") && file.ends_with(".log")), "{files:?}");
    println!("said: {} files, {} forms of 2 keys, none found", files.len(), forms(KEY).len());
}

/// A fabric that anybody may read: the guard writes with another key, is met with silence, and takes the change back.
#[test]
fn a_guard_with_a_wrong_key_ends_and_shows_neither() {
    let lab = lab(1);
    let before = lab.tables();
    std::fs::copy(lab.home.path().join("wrong.key"), lab.home.path().join("site.key")).unwrap();
    let said = run_and_check(&lab, &["apply", "a.plan", "--yes", "--accept", "transition"], 5);
    assert!(said.contains("M_Key suspected"), "{said}");
    lab.wait_for_state("rolled-back", Duration::from_secs(10));
    assert_eq!(lab.tables(), before);
    hidden_below(lab.home.path(), &mut Vec::new());
}

fn guarded(fabric: &Fabric, protect: u8) -> SharedSimulator {
    let mut world = SimulatedFabric::new(fabric, &Tables::default()).unwrap();
    fabric.nodes().for_each(|(id, _)| world.set_key(id, KEY, protect));
    SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1))
}

/// Each datagram with a wrong key raises a counter and a trap: a port sees three at most, whatever is configured.
#[test]
fn a_port_sees_three_tries_with_a_wrong_key_at_most() {
    let fabric = fabric("kary,k=3,n=2");
    let open = super::simulated(&fabric);
    let plan: Plan = plan_by_engine(&open, "updn", &Default::default());
    let mut most = Vec::new();
    for protect in 0..=3 {
        let simulator = guarded(&fabric, protect);
        let mut stage = Stage::new(&open, &plan);
        let port = simulator.open_port(None).unwrap();
        let port = port.unlock(&fabdeck_mad::access::WriteToken::for_simulation()).unwrap();
        let policy = ExchangePolicy { retries: 9, ..ExchangePolicy::default() };
        let mut hands = LiveActuator::new("sim", port, policy, Keys::single(WRONG));
        let (_sender, orders) = order_channel();
        let told = stage.apply_with(&mut hands, 60, &orders, &fabdeck_change::SystemClocks, &mut |line| {
            assert_no_key("the guard", line.as_bytes());
        });
        let why = told.why.clone().unwrap_or_default();
        // Where anybody may read, the Set is what is not answered; else nothing is seen of the fabric.
        let expected = if protect < 2 {
            (ChangePhase::RolledBack, "FD-4501")
        } else {
            (ChangePhase::Refused, "FD-5012")
        };
        assert!(told.phase == expected.0 && why.contains(expected.1), "{protect}: {:?} {why}", told.phase);
        let tries = fabric.ports().map(|(_, port)| {
            let at = if fabric.node(port.node).is_switch() { PortNum(0) } else { port.number };
            simulator.with_simulator(|simulator| simulator.fabric().violations(port.node, at))
        });
        let tries = tries.max().unwrap();
        assert!((1..=3).contains(&tries), "{protect}: {tries} tries");
        most.push(tries);
        if protect < 2 {
            assert!(observe_simulator(&simulator).tables == observe_simulator(&open).tables, "{protect}");
        }
    }
    println!("said: at most {most:?} tries a port, by level");
}

impl ServedLab {
    /// kill -9 of the guard of a later change.
    fn kill_guard_of(&self, number: &str) {
        let folder = self.home.path().join("state/changes").join(number);
        let pid = std::fs::read_to_string(folder.join("guard.lock")).unwrap();
        assert!(Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap().success());
        let lock = std::fs::File::open(folder.join("guard.lock")).unwrap();
        while lock.try_lock().is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
