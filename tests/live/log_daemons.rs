//! Events of `watch` in the journal of a real systemd-journald, read by journalctl, and in the file of a real rsyslogd. Each
//! daemon runs in a mount namespace of its own, where `/run` and `/dev` are empty folders of the test: nothing of this machine
//! is written to. Needs root.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::ibsim::program;

/// Ten intervals of a cable that goes down and comes back, beside a host that receives too slowly.
const WATCH: &str = "--source sim:demo,story=story watch --interval 10s --count 12";
const STORY: &str = "30s down rack4-leaf/8\n31s route\n90s up rack4-leaf/8\n91s route\n";

/// Makes the folders, and a function that waits for a socket.
const PREPARE: &str = r#"
mkdir dev run
mount -t tmpfs tmpfs dev
mount -t tmpfs tmpfs run
for name in null zero full random urandom; do : >dev/$name; mount --bind /dev/$name dev/$name; done
mount --rbind dev /dev
mount --rbind run /run
wait_for() { n=0; until [ -S "$1" ]; do n=$((n + 1)); [ $n -lt 300 ]; sleep 0.1; done; }
"#;

struct LogSite {
    folder: TempDir,
}

impl LogSite {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(folder.path().join("story"), STORY).unwrap();
        Self { folder }
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a script after the preparation, in a mount namespace that ends with it. `$fabdeck` is the program.
    fn run(&self, script: &str) -> String {
        let mut command = Command::new(program("unshare", "util-linux"));
        command.args(["--mount", "--propagation", "private", "sh", "-euc"]).arg(format!("{PREPARE}{script}"));
        let ended = self.finish(command);
        assert!(ended.status.success(), "{script}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    fn finish(&self, mut command: Command) -> Output {
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, self.at());
        }
        command.env("fabdeck", env!("CARGO_BIN_EXE_fabdeck"));
        command.current_dir(self.at()).stdin(Stdio::null()).output().unwrap()
    }

    /// The events of the same watch as objects. A simulator's time passes alike in both.
    fn printed(&self) -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
        command.arg("--json").args(WATCH.split(' '));
        let lines = String::from_utf8(self.finish(command).stdout).unwrap();
        let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: BTreeSet<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains("link-down") && kinds.contains("problem-began"), "{kinds:?}");
        events
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn journalctl_reads_the_events_with_their_fields() {
    let site = LogSite::new();
    let printed = site.printed();
    program("journalctl", "systemd");
    // The journal stays in the memory of the namespace, and the messages of the kernel stay out of it.
    let read = site.run(&format!(
        r#"
mkdir -p /run/systemd/journal /run/systemd/journald.conf.d
printf '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nForwardToSyslog=no\nForwardToWall=no\n' >/run/systemd/journald.conf.d/test.conf
/lib/systemd/systemd-journald >journald.out 2>&1 &
daemon=$!
trap 'kill $daemon' EXIT
wait_for /run/systemd/journal/socket
"$fabdeck" {WATCH} --journald >&2
journalctl --sync >/dev/null 2>&1 || sleep 2
journalctl --directory=/run/log/journal --output=json SYSLOG_IDENTIFIER=fabdeck
echo --
journalctl --directory=/run/log/journal --output=cat FABDECK_KIND=link-down
"#
    ));
    let (all, downs) = read.split_once("--\n").unwrap();
    let entries: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), printed.len(), "{read}");
    let mut ids = BTreeSet::new();
    for (entry, event) in entries.iter().zip(&printed) {
        let priority = match text(&event["severity"]) {
            "critical" => "2",
            "warning" => "4",
            _ => "6",
        };
        let message = format!("{}: {}", text(&event["kind"]), text(&event["text"]));
        assert_eq!((text(&entry["MESSAGE"]), text(&entry["PRIORITY"])), (message.as_str(), priority));
        assert_eq!(text(&entry["FABDECK_NUMBER"]), event["number"].to_string());
        assert_eq!((&entry["FABDECK_KIND"], &entry["_TRANSPORT"]), (&event["kind"], &"journal".into()));
        let elements: Vec<&str> = event["elements"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(text(&entry["FABDECK_ELEMENTS"]), elements.join(" "));
        ids.insert((text(&entry["FABDECK_KIND"]).to_owned(), text(&entry["MESSAGE_ID"]).to_owned()));
    }
    let kinds: BTreeSet<&String> = ids.iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.len(), ids.len(), "a kind of event has one id");
    assert_eq!(downs.lines().count(), 1, "{downs}");
}

#[test]
fn a_syslog_daemon_writes_the_events_with_facility_and_severity() {
    let site = LogSite::new();
    let printed = site.printed();
    let daemon = program("rsyslogd", "rsyslog");
    fs::write(
        site.at().join("rsyslog.conf"),
        format!(
            "module(load=\"imuxsock\")\nglobal(workDirectory=\"{at}\")\n\
             template(name=\"plain\" type=\"string\" string=\"%syslogfacility-text%.%syslogseverity-text% %programname%%msg%\\n\")\n\
             if $programname == 'fabdeck' then action(type=\"omfile\" file=\"{at}/log\" template=\"plain\")\n",
            at = site.at().display()
        ),
    )
    .unwrap();
    site.run(&format!(
        r#"
{daemon} -n -f rsyslog.conf -i "$PWD/rsyslog.pid" >rsyslog.out 2>&1 &
daemon=$!
wait_for /dev/log
"$fabdeck" {WATCH} --syslog >&2
kill $daemon
wait $daemon || true
"#,
        daemon = daemon.display()
    ));
    let log = fs::read_to_string(site.at().join("log")).unwrap();
    let wanted: Vec<String> = printed
        .iter()
        .map(|event| {
            let severity = match text(&event["severity"]) {
                "critical" => "crit",
                "warning" => "warning",
                _ => "info",
            };
            format!("daemon.{severity} fabdeck {}: {}", text(&event["kind"]), text(&event["text"]))
        })
        .collect();
    assert_eq!(log.lines().collect::<Vec<_>>(), wanted);
}
