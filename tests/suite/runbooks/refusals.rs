//! Errors of a runbook are reported before its first step, with file, line and reason, and all at once.

use super::{book, put};
use crate::changes::processes::command;

/// Steps, the line of what is wrong, and the words for it.
const WRONG: &[(&str, usize, &str)] = &[
    ("[[step]\nconfirm = true\n", 3, "FD-9202"),
    (
        "nmae = \"x\"\n[[step]]\nnotify = \"x\"\n",
        3,
        "FD-9203: 'nmae' is no key of the runbook (did you mean name?)",
    ),
    (
        "[[step]]\nroute = { engine = \"updn\", lnaes = 2 }\n",
        4,
        "FD-9203: 'lnaes' is no key of 'route' of step 1",
    ),
    (
        "[[step]]\nfail = 3\n",
        4,
        "FD-9204: 'fail' of step 1 has to be a string or a list of strings, not integer",
    ),
    ("[[step]]\nconfirm = \"yes\"\n", 4, "FD-9204: 'confirm' of step 1 has to be true"),
    ("step = 3\n", 3, "FD-9204: 'step' has to be a list: write [[step]]"),
    ("[[step]]\nroute = {}\n", 4, "FD-9205: 'route' of step 1 has no 'engine'"),
    ("[[step]]\nwait = { file = \"x\" }\n", 4, "FD-9205: 'wait' of step 1 has no 'timeout'"),
    ("guards = []\n", 1, "FD-9205: the runbook has no [[step]]"),
    ("[[step]]\nwait = \"soon\"\n", 4, "FD-9206: 'wait' of step 1: 'soon' is no time"),
    (
        "[[step]]\nroute = { engine = \"updn\", lanes = 16 }\n",
        4,
        "FD-9206: 'lanes' of 'route' of step 1 is no whole number from 1 to 15",
    ),
    (
        "[[step]]\nexpect = { table = \"port\", count = \"== 1\" }\n",
        4,
        "FD-9206: there is no table 'port' (did you mean ports?)",
    ),
    ("[[step]]\nexpect = { table = \"ports\", count = \"many\" }\n", 4, "FD-9206: 'many' is no count"),
    ("[[step]]\nexpect = { table = \"ports\", max = \"lid\" }\n", 4, "FD-9206: 'lid' is no condition"),
    ("[[step]]\nnotify = \"${who}\"\n", 4, "FD-9207: there is no variable 'who'"),
    ("[[step]]\nname = \"nothing\"\n", 3, "FD-9208: step 1 has no kind"),
    (
        "[[step]]\nnotify = \"x\"\nrollback = true\n",
        3,
        "FD-9208: step 1 has several kinds: rollback and notify",
    ),
    ("guards = [\"lost pairs\"]\n[[step]]\nverify = true\n", 3, "FD-9209: 'lost pairs' is no guard"),
    (
        "guards = [\"lost_paris <= 0\"]\n[[step]]\nverify = true\n",
        3,
        "FD-9210: no step sets the value 'lost_paris', which does not exist (did you mean lost_pairs?)",
    ),
    (
        "[[step]]\nnotify = \"x\"\nguards = [\"hotspots <= 0\"]\n",
        5,
        "FD-9210: neither this step nor an earlier one sets the value 'hotspots'",
    ),
    (
        "[[step]]\nexpect = [\"lost_pairs <= 0\"]\n[[step]]\nverify = true\n",
        4,
        "FD-9210: no earlier step sets the value 'lost_pairs'",
    ),
    ("[[step]]\nconfirm = true\n", 3, "FD-9211: confirm without apply"),
    ("[[step]]\napply = {}\n[[step]]\nconfirm = true\n", 3, "FD-9211: apply without a plan"),
    (
        "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = {}\n",
        5,
        "FD-9211: apply without confirm or rollback",
    ),
    (
        "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = { window = \"30s\" }\n[[step]]\nwait = \"31s\"\n[[step]]\nconfirm = true\n",
        5,
        "FD-9212: the window of 30 s is too short: the steps up to confirm (line 9) may last 31 s",
    ),
    (
        "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = { window = \"10s\" }\n[[step]]\nconfirm = true\n",
        6,
        "FD-9206: 'window' of 'apply' of step 2: '10s' is no time: write a time from 30s to 24h",
    ),
    ("[[step]]\nnotify = \"x\"\n[[on_failure]]\nconfirm = true\n", 5, "FD-9211: confirm on failure"),
    (
        "[[step]]\nexpect = { table = \"ports\", filter = \"sate=Down\", count = \"== 0\" }\n",
        4,
        "FD-9213: FD-6001: no field is called 'sate'",
    ),
    (
        "[[step]]\nexpect = { table = \"ports\", filter = \"state=Dwon\", count = \"== 0\" }\n",
        4,
        "FD-9213: FD-6002: 'Dwon' is no value of the field state",
    ),
    ("[[step]]\nfail = \"switch:spine-9\"\n", 3, "FD-9214: FD-1102: no switch is called 'spine-9'"),
    ("[[step]]\nroute = { engine = \"updown\" }\n", 4, "FD-9215: there is no engine 'updown'"),
    (
        "[[step]]\nroute = { engine = \"updn\" }\n[[step]]\napply = { accept = \"cycles\" }\n[[step]]\nconfirm = true\n",
        6,
        "FD-9216: 'cycles' is no finding",
    ),
    (
        "[[step]]\napply = { plan = \"absent.plan\" }\n[[step]]\nconfirm = true\n",
        3,
        "FD-9217: absent.plan: FD-7931",
    ),
    ("[[step]]\nroute = { engine = \"updn\", plan = \"taken.plan\" }\n", 3, "FD-9218: FD-7922: taken.plan"),
    (
        "[[step]]\nrun = { program = \"no-such-program\" }\n",
        3,
        "FD-9219: there is no executable program 'no-such-program'",
    ),
];

#[test]
fn every_error_is_reported_with_its_line_before_the_first_step() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "taken.plan", "somebody's");
    for (steps, line, words) in WRONG {
        put(home.path(), "b.toml", &book(steps));
        let mut run = command(home.path());
        run.args(["--source", "sim:demo,traffic=none", "run", "b.toml"]);
        let ended = run.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(7), "{steps}: {said}");
        let place = format!("b.toml:{line}: {words}");
        assert!(said.contains(&place), "{place}: {said}");
        assert!(!said.contains("step 1 of") && ended.stdout.is_empty(), "{said}");
    }
    println!("said: {} errors, each before the first step", WRONG.len());
}

#[test]
fn all_errors_are_reported_at_once() {
    let home = tempfile::tempdir().unwrap();
    let all = "[[step]]\nroute = { engine = \"updwn\" }\n[[step]]\nwait = \"soon\"\n[[step]]\nfial = \"x\"\n";
    put(home.path(), "b.toml", &book(all));
    let ended = command(home.path()).args(["--source", "sim:demo", "run", "b.toml"]).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(7));
    for place in ["b.toml:4: FD-9215", "b.toml:6: FD-9206", "b.toml:7: FD-9208", "b.toml:8: FD-9203"] {
        assert!(said.contains(place), "{place}: {said}");
    }
}

#[test]
fn what_is_set_wrongly_is_no_fault_of_the_book() {
    let home = tempfile::tempdir().unwrap();
    let vars = "[vars.who]\nabout = \"for whom\"\n[[step]]\nnotify = \"for ${who}\"\n";
    put(home.path(), "b.toml", &book(vars));
    let run = |args: &[&str]| {
        let mut run = command(home.path());
        let ended = run.args(["--source", "sim:demo", "run", "b.toml"]).args(args).output().unwrap();
        (ended.status.code().unwrap(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let (code, said) = run(&[]);
    assert!(code == 64 && said.contains("FD-9222: the variable 'who' (for whom) is not set"), "{said}");
    let (code, said) = run(&["--set", "whom=ada"]);
    assert!(
        code == 64
            && said.contains("FD-9221: --set: the runbook has no variable 'whom'; its variables are who"),
        "{said}"
    );
    let (code, said) = run(&["--set", "who=ada", "--set", "who=bob"]);
    assert!(code == 64 && said.contains("FD-9221: --set: 'who' is set twice"), "{said}");
    assert_eq!(run(&["--set", "ada"]).0, 64);
    let (code, said) = run(&["--set", "who=ada"]);
    assert!(code == 0 && said.contains("for ada"), "{said}");
    let mut absent = command(home.path());
    let ended = absent.args(["--source", "sim:demo", "run", "absent.toml"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("absent.toml: FD-9201"));
    assert_eq!(ended.status.code(), Some(7));
}
