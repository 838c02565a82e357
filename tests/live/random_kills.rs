//! Kills with SIGKILL at random moments of a change over ibsim: the session, the guard, the second process or all of
//! them. Changes go through the direct driver and through a real OpenSM. The next start takes over, and every byte is
//! as before. `tests/run --long` kills 500 times.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_change::ChangePhase;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::changes::opt_in;
use crate::ibsim::{self, Stage};
use crate::killed_processes::{Round, Site, read_bytes};
use crate::opensm_driver;

/// Random moments from a fixed seed; they recur as far as the machine has the same speed.
struct KillMoments(Xoshiro256PlusPlus);

impl KillMoments {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }
}

/// Processes of a round: those with its state folder in their command line.
fn processes(round: &Round<'_>) -> Vec<(String, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut found = Vec::new();
    for pid in entries.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<String> =
            line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let here = folder == round.stage.folder.path()
            || words.iter().any(|word| word.contains(&*round.stage.folder.path().to_string_lossy()));
        if here && words.iter().any(|word| word.ends_with(&round.state)) {
            let role = ["--begin", "--second", "--keep", "--resume", "apply", "rollback"];
            let role = role.into_iter().find(|role| words.iter().any(|word| word == role));
            found.push((pid, role.unwrap_or("other").trim_start_matches('-').to_owned()));
        }
    }
    found
}

/// Kills one of the processes of a round, or all; returns which.
fn kill(round: &Round<'_>, moments: &mut KillMoments) -> String {
    let mut all = processes(round);
    all.sort_by(|a, b| a.1.cmp(&b.1));
    if all.is_empty() {
        return "none lived".to_owned();
    }
    let one = moments.below(2 * all.len() as u64) as usize;
    let chosen = if one < all.len() { vec![all.swap_remove(one)] } else { all };
    for (pid, _) in &chosen {
        // The process may have ended by itself.
        let _ = Command::new("kill").args(["-KILL", pid]).stderr(std::process::Stdio::null()).status();
    }
    // A process counts as gone when it has no command line; until then its socket may accept a request.
    while chosen
        .iter()
        .any(|(pid, _)| !fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default().is_empty())
    {
        sleep(Duration::from_millis(1));
    }
    match chosen.as_slice() {
        [(_, role)] => role.clone(),
        several => format!("{} at once", several.len()),
    }
}

/// Runs one change with a kill on its way there or back; returns what was killed.
fn one_round(round: &Round<'_>, moments: &mut KillMoments, span_ms: u64) -> String {
    let mut children: Vec<Child> = vec![round.apply()];
    // Two rounds in three wait for a guard, because a session reads the fabric for longer than a guard writes.
    if moments.below(3) > 0 {
        while children[0].try_wait().unwrap().is_none()
            && !processes(round).iter().any(|(_, role)| role == "begin")
        {
            sleep(Duration::from_millis(2));
        }
    }
    sleep(Duration::from_millis(moments.below(span_ms)));
    let mut killed = kill(round, moments);
    let back = moments.below(2) == 0;
    if back && round.phase() == Some(ChangePhase::Applied) {
        children.push(round.spawn(&["rollback", &round.id()]));
        sleep(Duration::from_millis(moments.below(span_ms)));
        killed = format!("{killed}, then {}", kill(round, moments));
    }
    // A session that was not killed ends by itself; a rollback command may find the change rolled back already.
    for mut child in children {
        let _ = child.wait();
    }
    if round.phase().is_some() {
        round.take_over_and_check(false);
    }
    round.is_as_before();
    killed
}

fn rounds(road: &str) -> u64 {
    let (few, many) = (8, 250);
    let rounds = std::env::var("FABDECK_KILLS").ok().and_then(|text| text.parse().ok());
    let rounds = rounds.unwrap_or(if ibsim::long() { many } else { few });
    println!("said: {rounds} kills {road}");
    rounds
}

fn random_kills(stage: &mut Stage, before: &str, road: &[String]) -> BTreeMap<String, u32> {
    // A round without a kill measures the time from the start to the end of the rollback.
    let whole = Round::over(stage, before, road, "whole");
    let since = Instant::now();
    let applied = whole.apply().wait().unwrap();
    assert_eq!(applied.code(), Some(0), "{}", fs::read_to_string(whole.path("state-whole.log")).unwrap());
    let span_ms = since.elapsed().as_millis() as u64 + 50;
    assert_eq!(whole.run(&["rollback", &whole.id()]).0, Some(0));
    whole.is_as_before();
    drop(whole);
    stage.forget_the_dead();
    let mut moments = KillMoments(Xoshiro256PlusPlus::seed_from_u64(24));
    let mut seen = BTreeMap::<String, u32>::new();
    let rounds = rounds(&road.join(" "));
    let mut killed = 0;
    // A round whose processes had ended by the moment is no round.
    for number in 0..3 * rounds {
        if killed == rounds {
            break;
        }
        let round = Round::over(stage, before, road, &format!("random-{number}"));
        let outcome = one_round(&round, &mut moments, span_ms);
        killed += u64::from(outcome != "none lived");
        *seen.entry(outcome).or_default() += 1;
        drop(round);
        stage.forget_the_dead();
    }
    assert_eq!(killed, rounds, "{seen:?}");
    seen
}

#[test]
fn kills_at_random_moments_leave_every_byte_as_it_was() {
    let Site { mut stage, before, .. } = Site::new();
    let seen = random_kills(&mut stage, &before, &[]);
    println!("said: killed {seen:?}");
}

#[test]
fn kills_at_random_moments_through_opensm_leave_every_byte_as_it_was() {
    let mut site = opensm_driver::Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    site.plan("sssp", &[], 0);
    opt_in(&site.stage);
    let before = read_bytes(&site.stage);
    let console = format!("127.0.0.1:{}", site.port());
    let road = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
    let road = road.map(str::to_owned);
    let seen = random_kills(&mut site.stage, &before, &road);
    println!("said: killed {seen:?}");
}
