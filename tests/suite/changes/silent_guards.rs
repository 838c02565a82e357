//! Guards that take a request and do not answer for long, and guards without a usable socket.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::other_users::{NOBODY, open_to_others, run_as_second_user};
use super::processes::{DEMO, ServedLab};

/// The answer is that the request may still be carried out; it is carried out once, as soon as the guard continues.
#[test]
fn what_was_asked_of_a_guard_that_is_silent_is_done_once() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let guard = lab.guards().remove(0);
    let signal = |name: &str| {
        assert!(Command::new("kill").args(["-s", name, &guard]).status().unwrap().success());
    };
    signal("STOP");
    let asked = lab.run(&["extend", &id, "60s"]);
    signal("CONT");
    let words = String::from_utf8(asked.stderr).unwrap();
    assert_eq!(asked.status.code(), Some(1), "{words}");
    assert!(words.contains("FD-5659") && words.contains("'extend' may still be carried out"), "{words}");
    let journal = || std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    let extended = || journal().matches("\"record\":\"extended\"").count();
    let since = Instant::now();
    while extended() == 0 {
        assert!(since.elapsed() < Duration::from_secs(10), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Callers are answered in their order: whatever was asked before is done by now.
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(extended(), 1, "{}", journal());
}

/// A guard that dies with a question in its socket did nothing of it: the next one is asked.
#[test]
fn what_was_asked_of_a_guard_that_is_killed_is_asked_of_the_next() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let guard = lab.guards().remove(0);
    let signal = |name: &str| {
        assert!(Command::new("kill").args(["-s", name, &guard]).status().unwrap().success());
    };
    signal("STOP");
    let asking = lab.command(&["extend", &id, "60s"]).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    signal("KILL");
    let asked = asking.wait_with_output().unwrap();
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
    let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    assert_eq!(journal.matches("\"record\":\"extended\"").count(), 1, "{journal}");
    lab.run_to_end(&["confirm", &id], 0);
}

/// A socket's path is short: in a folder with a long path no request could reach the guard, so nothing is written.
#[test]
fn a_change_that_could_not_be_confirmed_is_not_written() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let state = format!("./{}", "s".repeat(100));
    let apply = ["apply", "a.plan", "--yes", "--accept", "transition"];
    let refused = lab.command_of(&state, &apply).output().unwrap();
    let words =
        format!("{}{}", String::from_utf8_lossy(&refused.stdout), String::from_utf8_lossy(&refused.stderr));
    assert_eq!(refused.status.code(), Some(4), "{words}");
    assert!(words.contains("FD-7995") && words.contains("shorter --state-dir"), "{words}");
    assert_eq!(lab.tables(), before);
    let trail = std::fs::read_to_string(lab.home.path().join(&state).join("audit")).unwrap();
    assert!(trail.contains("\"what\":\"refused\"") && !trail.contains("\"what\":\"writing\""), "{trail}");
}

/// Servers of another user that send one blank each half a second: as long as they do, each read ends in time.
#[test]
fn servers_that_never_end_their_answer_hold_no_command_up() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let id = lab.apply();
    let changes = lab.home.path().join("state/changes");
    let journal = fs::read(lab.folder().join("journal")).unwrap();
    for folder in [lab.home.path().join("state"), changes.clone()] {
        fs::set_permissions(folder, Permissions::from_mode(0o1777)).unwrap();
    }
    let script = "import socket,sys,time,threading,os\nos.chdir(sys.argv[1])\ndef drip(s):\n try:\n  while True:\n   \
                  s.send(b' ')\n   time.sleep(0.5)\n except OSError: pass\ndef serve(n):\n l=socket.socket(socket.AF_UNIX)\n \
                  l.bind(n+'/guard.sock')\n l.listen(9)\n while True:\n  threading.Thread(target=drip,args=(l.accept()[0],),\
                  daemon=True).start()\nfor n in range(900,904):\n n=str(n).zfill(6)\n os.mkdir(n)\n \
                  threading.Thread(target=serve,args=(n,),daemon=True).start()\ntime.sleep(1)\nprint('ready',flush=True)\ntime.sleep(600)";
    let mut server = run_as_second_user("python3").args(["-c", script]).arg(&changes).spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert_eq!(line, "ready\n");
    for number in 900..904 {
        let path = changes.join(format!("{number:06}/journal"));
        fs::write(&path, &journal).unwrap();
        std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let since = Instant::now();
    let ended = lab.run(&["changes"]);
    let (took, text) = (since.elapsed(), String::from_utf8_lossy(&ended.stdout).into_owned());
    let back = lab.run(&["rollback", &id]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(took < Duration::from_secs(28) && text.contains(&id[..4]), "{took:?}: {text}");
    assert!(since.elapsed() - took < Duration::from_secs(8) && back.status.success(), "{back:?}");
}
