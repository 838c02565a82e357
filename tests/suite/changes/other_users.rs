//! A second user of the machine, without any right, against the guards of the first: locks, names, folders. Tests run as
//! root in CI; the second user is `nobody`.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::processes::{DEMO, ServedLab};
use fabdeck_change::{BeginRecord, ChangeStore, Journal, JournalError, JournalRecord, LocalSystem};

pub const NOBODY: u32 = 65534;
/// An owner of changes without root's rights.
const DAEMON: u32 = 1;

/// The program where the second user may run it: the folder of the build may be closed to others.
fn program(lab: &ServedLab) -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_fabdeck"));
    if run_as_second_user(&built).arg("--version").output().is_ok_and(|ended| ended.status.success()) {
        return built;
    }
    let copy = lab.home.path().join("fabdeck");
    if !copy.exists() {
        fs::copy(built, &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    }
    copy
}

pub fn open_to_others(folder: &Path) {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
}

pub fn run_as_second_user(program: impl AsRef<std::ffi::OsStr>) -> Command {
    run_as(NOBODY, program)
}

fn run_as(user: u32, program: impl AsRef<std::ffi::OsStr>) -> Command {
    assert!(rustix::process::geteuid().is_root(), "this test needs a second user: run it as root");
    let mut command = Command::new(program);
    command.uid(user).gid(user).env_clear().env("PATH", "/usr/bin:/bin").env("USER", "root").env("HOME", "/");
    command.envs(super::processes::break_switches());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A lab whose guards listen in a folder of their own, with rights for others.
fn lab(rights: &str) -> ServedLab {
    ServedLab::with(DEMO, &["--config", "lab.toml"], |home| {
        open_to_others(home);
        let sockets = home.join("run");
        let text = format!("socket-dir = \"{}\"\n[rights]\n{rights}\n", sockets.display());
        fs::write(home.join("lab.toml"), text).unwrap();
    })
}

/// A command of the second user about the changes of a lab.
fn second_user(lab: &ServedLab, args: &[&str]) -> (i32, String) {
    second_user_of(lab, &["--config", "lab.toml"], args)
}

/// The same with other options.
pub fn second_user_of(lab: &ServedLab, options: &[&str], args: &[&str]) -> (i32, String) {
    let mut command = run_as_second_user(program(lab));
    command.current_dir(lab.home.path()).args(options).args(["--state-dir", "state"]).args(args);
    exit_and_text(&command.output().unwrap())
}

fn exit_and_text(ended: &Output) -> (i32, String) {
    let text = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (ended.status.code().unwrap(), text.concat())
}

/// Processes of the second user that hold the locks of files for as long as this value lives.
struct LockHolders(Vec<Child>);

impl LockHolders {
    fn of(files: &[PathBuf]) -> Self {
        let hold = |file: &PathBuf| {
            let mut command = run_as_second_user("python3");
            let script = "import fcntl,sys,time\nf=open(sys.argv[1])\nfcntl.flock(f,fcntl.LOCK_EX)\nprint('held',flush=True)\ntime.sleep(600)";
            let mut child = command.args(["-c", script]).arg(file).spawn().unwrap();
            let mut line = String::new();
            let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut out, &mut line).unwrap();
            assert_eq!(line, "held\n", "{}", file.display());
            child
        };
        Self(files.iter().map(hold).collect())
    }
}

impl Drop for LockHolders {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The modes that older versions gave to locks, and a folder that others can enter.
fn open_as_before(state: &Path) -> Vec<PathBuf> {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for folder in [state.to_owned(), state.join("changes"), state.join("changes/000001")] {
        set(&folder, 0o755);
    }
    let locks = ["lock", "audit.lock", "changes/000001/guard.lock"].map(|name| state.join(name));
    locks.iter().for_each(|lock| set(lock, 0o644));
    locks.into()
}

#[test]
fn locks_that_another_user_holds_stop_no_rollback() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let before = lab.tables();
    let id = lab.apply();
    lab.kill_guard();
    let state = lab.home.path().join("state");
    let holders = LockHolders::of(&open_as_before(&state));
    let since = Instant::now();
    let said = lab.run_to_end(&["rollback", &id], 0);
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}: {said}", since.elapsed());
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
    // The next change begins as well.
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    drop(holders);
}

/// The owner may not end the process that holds the guard's lock, and nothing but the second process is left to act.
#[test]
fn the_second_process_takes_over_while_another_user_holds_the_lock() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let (before, owned) = (lab.tables(), lab.home.path().join("owned"));
    fs::create_dir(&owned).unwrap();
    std::os::unix::fs::chown(&owned, Some(DAEMON), Some(DAEMON)).unwrap();
    fs::set_permissions(lab.home.path().join("lab.sock"), Permissions::from_mode(0o666)).unwrap();
    let mut apply = run_as(DAEMON, program(&lab));
    apply.current_dir(lab.home.path()).args(["--source", "sim:./lab.sock", "--state-dir", "owned/state"]);
    apply.args(["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"]);
    let (code, text) = exit_and_text(&apply.output().unwrap());
    assert_eq!(code, 0, "{text}");
    let applied = Instant::now();
    let (state, folder) = (owned.join("state"), owned.join("state/changes/000001"));
    let guard = fs::read_to_string(folder.join("guard.lock")).unwrap();
    let guard = guard.split_whitespace().next().unwrap();
    assert!(Command::new("kill").args(["-s", "KILL", guard]).status().unwrap().success());
    let mut holders = LockHolders::of(&open_as_before(&state));
    let journal = || fs::read_to_string(folder.join("journal")).unwrap();
    while !journal().contains("\"record\":\"returned\"") {
        assert!(applied.elapsed() < Duration::from_secs(60), "{}", journal());
        std::thread::sleep(Duration::from_millis(50));
    }
    let late = applied.elapsed().saturating_sub(Duration::from_secs(30));
    assert!(late < Duration::from_secs(5), "{late:?}");
    assert_eq!(lab.tables(), before);
    assert!(holders.0.iter_mut().all(|holder| holder.try_wait().unwrap().is_none()));
}

/// In a folder of older versions where several users write, each may hold its locks rightly.
#[test]
fn a_lock_of_another_user_in_a_shared_folder_is_waited_for() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let id = lab.apply();
    let state = lab.home.path().join("state");
    let lock = open_as_before(&state).swap_remove(1);
    fs::set_permissions(&state, Permissions::from_mode(0o1777)).unwrap();
    let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&lock).unwrap());
    let before = inode();
    let holders = LockHolders::of(std::slice::from_ref(&lock));
    let said = lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(inode(), before, "another writer may be in the middle of a line: {said}");
    drop(holders);
}

#[test]
fn a_lock_that_another_user_holds_is_no_guard() {
    let lab = ServedLab::new(DEMO);
    open_to_others(lab.home.path());
    let id = lab.apply();
    lab.kill_guard();
    let holders = LockHolders::of(&open_as_before(&lab.home.path().join("state")));
    let mut resumed = lab.command(&["guard", "--resume"]).spawn().unwrap();
    let since = Instant::now();
    // `fabdeck changes` would start a guard itself, so the journal is looked at, and the socket.
    while !fabdeck_change::is_listening(&lab.folder().join("guard.sock")) {
        assert!(since.elapsed() < Duration::from_secs(20), "nobody took the change over{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    lab.run_to_end(&["confirm", &id], 0);
    assert!(resumed.wait().unwrap().success());
    drop(holders);
}

/// The holder may be a guard that hangs, or one that this machine does not show: no command may report success.
#[test]
fn a_change_beyond_its_deadline_is_reported_as_overdue() {
    let parent = tempfile::tempdir().unwrap();
    let home = ChangeStore::open(&parent.path().join("state")).unwrap();
    let begun = BeginRecord { id: "0badcafe".into(), engine: "updn".into(), ..BeginRecord::default() };
    let (kept, _keeping) = home.begin(begun, "{}").unwrap();
    let past = |minutes| (Timestamp::now() - SignedDuration::from_mins(minutes)).to_string();
    let applied = JournalRecord::Applied { time: past(12), deadline: past(2), ends: None };
    kept.journal().unwrap().0.append_durably(&applied).unwrap();
    let run = |args: &[&str]| {
        let mut command = super::processes::command(parent.path());
        exit_and_text(&command.args(["--state-dir", "state"]).args(args).output().unwrap())
    };
    let (code, text) = run(&["changes"]);
    assert_eq!(code, 6, "{text}");
    assert!(text.contains("OVERDUE") && text.contains("FD-7992") && !text.contains("0s left"), "{text}");
    let (code, text) = run(&["changes", "--json"]);
    assert_eq!(code, 6, "{text}");
    assert!(text.contains("\"overdue\":true"), "{text}");
    let (code, text) = run(&["changes", "--format", "prometheus"]);
    assert_eq!(code, 6, "{text}");
    assert!(
        text.contains("\nfabdeck_changes_overdue 1\n") && text.contains("\nfabdeck_changes_pending 1\n"),
        "{text}"
    );
    assert!(text.contains("\nfabdeck_change_deadline_seconds{id=\"0badcafe\",number=\"1\"} "), "{text}");
    let (code, text) = run(&["guard", "--resume"]);
    assert_eq!(code, 6, "{text}");
    let holder = format!("process {}", std::process::id());
    assert!(text.contains("FD-7992") && text.contains(&holder), "{text}");
}

#[test]
fn a_held_lock_of_the_folder_is_waited_for_in_bounded_time_and_named() {
    let lab = ServedLab::new(DEMO);
    let home = ChangeStore::open(&lab.home.path().join("state")).unwrap();
    let lock = File::open(home.folder().join("lock")).unwrap();
    lock.lock().unwrap();
    let since = Instant::now();
    let refused = lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 4);
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    let holder = format!("process {}", std::process::id());
    assert!(refused.contains("FD-5631") && refused.contains(&holder), "{refused}");
}

#[test]
fn another_user_asks_guards_and_gets_what_the_owner_grants() {
    let lab = lab("list = [\"*\"]\nextend = [\"65534\"]");
    let id = lab.apply();
    let (code, text) = second_user(&lab, &["changes"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(&id) && text.contains("applied, not confirmed"), "{text}");
    // A change that has lost its guard is not seen from here.
    assert!(text.contains("only changes whose guards answer are listed"), "{text}");
    // Whatever USER says: the kernel knows who asks.
    for (args, right) in [(["confirm", &id[..4]], "confirm"), (["rollback", &id], "rollback")] {
        let (code, text) = second_user(&lab, &args);
        assert_eq!(code, 4, "{text}");
        assert!(text.contains("FD-5665") && text.contains(&format!("[rights]: {right} = [")), "{text}");
    }
    // By the number in the list, too.
    for name in [&id, "1"] {
        let (code, text) = second_user(&lab, &["extend", name, "1m"]);
        assert_eq!(code, 0, "{name}: {text}");
    }
    lab.run_to_end(&["confirm", &id], 0);
    let trail = lab.trail();
    let nobody = fabdeck_change::user_names::user_label(NOBODY);
    let line = |what: &str| {
        trail.lines().find(|line| line.contains(&format!("\"what\":\"{what}\""))).expect(what).to_owned()
    };
    for what in ["refused", "extended"] {
        assert!(line(what).contains(&format!("\"user\":\"{nobody}\"")), "{}", line(what));
    }
}

/// A new change needs the owner of the state folder, whatever rights on the fabric are.
#[test]
fn another_user_applies_nothing_in_the_folder_of_the_owner() {
    let lab = lab("list = [\"*\"]\nconfirm = [\"*\"]");
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    // The second user has a fabric and a plan of their own.
    let own = lab.home.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
    fs::copy(lab.home.path().join("a.plan"), own.join("a.plan")).unwrap();
    let run = |args: &[&str]| {
        let mut command = run_as_second_user(program(&lab));
        command.current_dir(&own).args(["--state-dir", "../state", "--config", "../lab.toml"]).args(args);
        command
    };
    let serve = ["--source", DEMO, "simulate", "--serve", "own.sock"];
    let mut server = run(&serve).stdout(Stdio::null()).spawn().unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stderr.take().unwrap()), &mut ready)
        .unwrap();
    assert!(ready.contains("serving"), "{ready}");
    let apply = ["--source", "sim:own.sock", "apply", "a.plan", "--yes", "--accept", "transition"];
    let (code, text) = exit_and_text(&run(&apply).output().unwrap());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(code == 4 && text.contains("FD-5637"), "{code}: {text}");
    assert!(!lab.home.path().join("state/changes/000002").exists());
}

#[test]
fn another_user_with_the_right_rolls_back_to_the_end() {
    let lab = lab("list = [\"*\"]\nrollback = [\"*\"]");
    let before = lab.tables();
    let id = lab.apply();
    let (code, text) = second_user(&lab, &["rollback", &id]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("rolled back"), "{text}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// Connections that ask nothing take no place away from the owner.
#[test]
fn another_user_who_holds_connections_open_prevents_no_confirmation() {
    let lab = lab("confirm = [\"1\"]");
    let id = lab.apply();
    let socket = lab.home.path().join("run").join(format!("{id}.sock"));
    let script = "import socket,sys,time\nheld=[]\nfor _ in range(200):\n s=socket.socket(socket.AF_UNIX)\n \
                  s.connect(sys.argv[1])\n held.append(s)\nprint('held',flush=True)\ntime.sleep(600)";
    let mut holder = run_as_second_user("python3").args(["-c", script]).arg(&socket).spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(holder.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert_eq!(line, "held\n");
    // One user takes the places of no other user, nor those of the owner.
    let mut confirm = run_as(DAEMON, program(&lab));
    confirm.current_dir(lab.home.path()).args([
        "--config",
        "lab.toml",
        "--state-dir",
        "state",
        "confirm",
        &id,
    ]);
    let (code, text) = exit_and_text(&confirm.output().unwrap());
    assert_eq!(code, 0, "{text}");
    assert!(lab.run_to_end(&["confirm", &id], 4).contains("FD-7985"));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(lab.state(), "confirmed");
}

/// No answer is not the answer that nothing is pending.
#[test]
fn what_another_user_cannot_see_is_reported_as_unknown() {
    let lab = lab("");
    let id = lab.apply();
    let (code, text) = second_user(&lab, &["changes"]);
    assert!(code == 4 && text.contains("FD-5665"), "{code}: {text}");
    lab.kill_guard();
    for args in [&["changes"][..], &["rollback", &id], &["guard", "--resume"]] {
        let (code, text) = second_user(&lab, args);
        assert!(code == 4 && text.contains("FD-7993"), "{args:?} {code}: {text}");
        assert!(!text.contains("nothing is pending") && !text.contains("no change is pending"), "{text}");
    }
    let (_, json) = second_user(&lab, &["changes", "--json"]);
    assert!(json.contains("\"partial\": true"), "{json}");
    let (_, metrics) = second_user(&lab, &["changes", "--format", "prometheus"]);
    assert!(
        metrics.contains("fabdeck_changes_unknown 1") && !metrics.contains("changes_pending"),
        "{metrics}"
    );
    lab.run_to_end(&["rollback", &id], 0);
}

/// One guard answers, the socket of another is silent: the rows that there are, and that they are not all.
#[test]
fn a_silent_guard_beside_one_that_answers_is_reported() {
    let lab = lab("list = [\"*\"]");
    let id = lab.apply();
    let silent = lab.home.path().join("run/0badcafe.sock");
    drop(std::os::unix::net::UnixListener::bind(&silent).unwrap());
    let (code, text) = second_user(&lab, &["changes"]);
    assert!(
        code == 4 && text.contains(&id) && text.contains("FD-7993") && text.contains("0badcafe"),
        "{code}: {text}"
    );
    lab.run_to_end(&["confirm", &id], 0);
}

/// After a boot another user can make the folder first, with guards of their own in it: their rows are not the owner's.
#[test]
fn a_socket_folder_of_another_user_is_not_asked() {
    let lab = lab("list = [\"*\"]");
    let id = lab.apply();
    let sockets = lab.home.path().join("run");
    for path in [sockets.join(format!("{id}.sock")), sockets.clone()] {
        std::os::unix::fs::chown(path, Some(DAEMON), Some(DAEMON)).unwrap();
    }
    let (code, text) = second_user(&lab, &["changes"]);
    assert!(code == 4 && text.contains("FD-7993") && text.contains("it belongs to daemon"), "{code}: {text}");
    assert!(!text.contains(&id), "{text}");
    let (code, text) = second_user(&lab, &["rollback", &id]);
    assert!(code == 4 && text.contains("FD-7993"), "{code}: {text}");
    lab.run_to_end(&["confirm", &id], 0);
}

/// A planted socket folder, or one that others may write in, is not used: the owner still reaches the guard.
#[test]
fn a_socket_folder_that_others_may_write_in_is_not_used() {
    let lab = lab("list = [\"*\"]");
    let sockets = lab.home.path().join("run");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, Permissions::from_mode(0o1777)).unwrap();
    let id = lab.apply();
    assert!(fs::read_dir(&sockets).unwrap().next().is_none());
    assert!(lab.logs().contains("only the owner of the state folder can ask this guard"), "{}", lab.logs());
    lab.run_to_end(&["confirm", &id], 0);
}

/// Replaces a lock file, as a file system does that has a lock for each machine.
fn replace_lock(path: &Path) {
    let text = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    fs::write(path, text).unwrap();
}

/// Two guards of one machine over a folder whose locks it does not share with itself: the second one knocks first.
#[test]
fn a_second_guard_finds_the_first_at_its_socket() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let first = lab.guards();
    replace_lock(&lab.folder().join("guard.lock"));
    let mut second = lab.command(&["guard", "--keep", &id]).spawn().unwrap();
    let since = Instant::now();
    while second.try_wait().unwrap().is_none() {
        if since.elapsed() > Duration::from_secs(20) {
            second.kill().unwrap();
            panic!("a second guard runs beside the first{}", lab.logs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, refused) = exit_and_text(&second.wait_with_output().unwrap());
    assert!(code == 4 && refused.contains("FD-7984"), "{code}: {refused}");
    fs::write(lab.folder().join("guard.lock"), &first[0]).unwrap();
    lab.run_to_end(&["confirm", &id], 0);
}

/// Where the socket cannot be knocked at either, the journal tells the older guard that it is not the newest.
#[test]
fn a_guard_stops_once_another_has_written_to_the_journal() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let after = lab.tables();
    let first = lab.guards().remove(0);
    let alive =
        || Command::new("kill").args(["-0", &first]).stderr(Stdio::null()).status().unwrap().success();
    // The second guard confirms the change; the first is asked to roll it back.
    let journal = lab.folder().join("journal");
    let read = Journal::load(&LocalSystem, &journal).unwrap();
    let confirmed =
        JournalRecord::Confirmed { time: Timestamp::now().to_string(), user: "second".to_owned() };
    Journal::resume(&LocalSystem, &journal, &read).unwrap().append_durably(&confirmed).unwrap();
    let ask = fabdeck_change::GuardRequest::RollBack { user: "root".to_owned(), anyway: true };
    let _ = fabdeck_change::send_request(&lab.folder().join("guard.sock"), &ask);
    let since = Instant::now();
    while alive() {
        assert!(since.elapsed() < Duration::from_secs(20), "the older guard lives on{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((lab.state(), lab.tables()), ("confirmed".to_owned(), after), "{id}{}", lab.logs());
    assert!(lab.logs().contains("FD-5606"), "{}", lab.logs());
}

#[test]
fn a_journal_that_another_process_appended_to_takes_nothing_more() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("journal");
    let mut journal = Journal::create(&LocalSystem, &path).unwrap();
    journal.append_durably(&JournalRecord::Begun(Box::default())).unwrap();
    let mut other = OpenOptions::new().append(true).mode(0o600).open(&path).unwrap();
    std::io::Write::write_all(&mut other, b"x").unwrap();
    let error = journal.append_durably(&JournalRecord::Written { count: 1 }).unwrap_err();
    assert!(matches!(error, JournalError::Superseded { .. }), "{error}");
    assert!(fs::read(&path).unwrap().ends_with(b"\nx"), "nothing is cut off either");
}
