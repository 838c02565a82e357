//! A policy that applies, over a served simulator: what it does is a change with its journal.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::changes::processes::ServedLab;

const PATIENCE: Duration = Duration::from_secs(60);
/// A cable that counts errors for the first minute of the simulator.
const STORY: &str = "0s errors leaf0/4 6000000\n";
const SOURCE: &str = "sim:kary,k=3,n=2,traffic=none,story=story";

/// A watch with a policy, which ends with this.
pub struct PolicyWatch {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Drop for PolicyWatch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl PolicyWatch {
    pub fn start(lab: &ServedLab, policy: &str) -> Self {
        let fixed = "mode = \"apply\"\nfabrics = [\"sim:./lab.sock\"]\n";
        std::fs::write(lab.home.path().join("policy.toml"), format!("{fixed}{policy}")).unwrap();
        let args = ["--allow-write", "--json", "watch", "--policy", "policy.toml", "--interval", "200ms"];
        let mut child = lab.command(&args).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next event of the policy.
    fn next(&mut self) -> Value {
        let since = Instant::now();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended: {:?}", self.child.wait());
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["kind"].as_str().unwrap().starts_with("policy") {
                return event;
            }
            assert!(since.elapsed() < PATIENCE, "{line}");
        }
    }

    fn is(&mut self, kind: &str) -> Value {
        let event = self.next();
        assert_eq!(event["kind"], kind, "{event}");
        event
    }
}

fn lab() -> ServedLab {
    ServedLab::with(SOURCE, &[], |home| std::fs::write(home.join("story"), STORY).unwrap())
}

#[test]
fn what_a_policy_applies_is_a_change_that_it_confirms_by_name() {
    let lab = lab();
    let before = lab.tables();
    let mut watch =
        PolicyWatch::start(&lab, "errors_an_hour = 1000\nconfirm_after = \"1s\"\ngood_for = \"30d\"\n");
    let proposed = watch.is("policy-proposed");
    assert_eq!(proposed["elements"], serde_json::json!(["port:leaf0[4]", "port:spine0[1]"]));
    let id = watch.is("policy-applied")["subject"].clone();
    assert_ne!(lab.tables(), before);
    let row = lab.row();
    assert_eq!((&row["id"], &row["state"]), (&id, &"applied".into()), "{row}");
    assert!(row["engine"].as_str().unwrap().starts_with("isolate leaf0[4]"), "{row}");
    assert_eq!(watch.is("policy-confirmed")["subject"], id);
    assert_eq!(lab.state(), "confirmed");
    assert!(
        lab.trail().lines().any(|line| line.contains("confirmed") && line.contains("(by policy)")),
        "{}",
        lab.trail()
    );
    let shown: Value = serde_json::from_slice(&lab.run(&["policy", "show", "--json"]).stdout).unwrap();
    assert_eq!((&shown["rows"][0]["stage"], &shown["rows"][0]["change"]), (&"out".into(), &id), "{shown}");
    drop(watch);
    // The ledger has what was done about the cable.
    let ledger: Value = serde_json::from_slice(&lab.run(&["ledger", "--json"]).stdout).unwrap();
    let actions = ledger["rows"][0]["actions"].to_string();
    assert!(actions.contains("isolate leaf0[4]"), "{ledger}");
    // The next watch knows what is out of use, and takes it back once it is good.
    let mut watch =
        PolicyWatch::start(&lab, "confirm_after = \"1s\"\ngood_for = \"1s\"\nerrors_an_hour = 4000000000\n");
    let back = watch.is("policy-applied");
    assert!(back["text"].as_str().unwrap().contains("back in use"), "{back}");
    watch.is("policy-returned");
    assert_eq!(lab.tables(), before);
    let row = lab.row();
    assert!(row["engine"].as_str().unwrap().starts_with("undo of change 1"), "{row}");
}

/// Off stops a watch between two steps: the change that waits is not confirmed by it.
#[test]
fn policy_off_leaves_a_change_to_its_guard() {
    let lab = lab();
    let mut watch = PolicyWatch::start(&lab, "errors_an_hour = 1000\nconfirm_after = \"2s\"\n");
    watch.is("policy-proposed");
    watch.is("policy-applied");
    lab.run_to_end(&["policy", "off", "--why", "work"], 0);
    let off = watch.is("policy-switched");
    assert!(off["text"].as_str().unwrap().contains("its guard rolls it back"), "{off}");
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(lab.state(), "applied", "it would be confirmed by now");
    lab.run_to_end(&["rollback", "1"], 0);
    lab.run_to_end(&["policy", "on"], 0);
    assert_eq!(watch.is("policy-switched")["text"], "policies are on");
    assert_eq!(watch.is("policy-rolled-back")["severity"], "warning");
}
