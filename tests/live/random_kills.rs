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

/// A fabric, its attributes before any change, and options of the driver of changes.
struct KillSite {
    site: Box<dyn AsMut<Stage>>,
    before: String,
    road: Vec<String>,
}

impl KillSite {
    fn new(mut site: impl AsMut<Stage> + 'static, road: Vec<String>) -> Self {
        let before = read_bytes(site.as_mut());
        Self { site: Box::new(site), before, road }
    }

    fn round(&mut self, name: &str) -> Round<'_> {
        Round::over(self.site.as_mut().as_mut(), &self.before, &self.road, name)
    }

    /// Time from the start of a change to the end of its rollback, in a round without a kill.
    fn measure_span_ms(&mut self) -> u64 {
        let whole = self.round("whole");
        let since = Instant::now();
        let applied = whole.apply().wait().unwrap();
        assert_eq!(applied.code(), Some(0), "{}", fs::read_to_string(whole.path("state-whole.log")).unwrap());
        let span_ms = since.elapsed().as_millis() as u64 + 50;
        assert_eq!(whole.run(&["rollback", &whole.id()]).0, Some(0));
        whole.is_as_before();
        drop(whole);
        self.forget_the_dead();
        span_ms
    }

    fn forget_the_dead(&mut self) {
        self.site.as_mut().as_mut().forget_the_dead();
    }
}

/// Waits until the children end, unless ibsim ends first; then they are killed. Whether ibsim is still there.
fn wait_for_all(round: &Round<'_>, children: Vec<Child>) -> bool {
    for mut child in children {
        // A session that was not killed ends by itself; a rollback command may find the change rolled back already.
        while child.try_wait().unwrap().is_none() {
            if round.stage.has_panicked() {
                break;
            }
            sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    !round.stage.has_panicked()
}

/// Runs one change with a kill on its way there or back; returns what was killed, or `None` if that ended ibsim.
fn one_round(round: &Round<'_>, moments: &mut KillMoments, span_ms: u64) -> Option<String> {
    let mut children: Vec<Child> = vec![round.apply()];
    // Two rounds in three wait for a guard, because a session reads the fabric for longer than a guard writes.
    if moments.below(3) > 0 {
        while children[0].try_wait().unwrap().is_none()
            && !processes(round).iter().any(|(_, role)| role == "begin")
        {
            // Each turn reads all of /proc; the moment is a random one anyway.
            sleep(Duration::from_millis(15));
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
    if !wait_for_all(round, children) {
        for (pid, _) in processes(round) {
            let _ = Command::new("kill").args(["-KILL", &pid]).stderr(std::process::Stdio::null()).status();
        }
        return None;
    }
    if round.phase().is_some() {
        round.take_over_and_check(false);
    }
    round.is_as_before();
    Some(killed)
}

fn rounds(road: &str) -> u64 {
    let (few, many) = (8, 250);
    let rounds = std::env::var("FABDECK_KILLS").ok().and_then(|text| text.parse().ok());
    let rounds = rounds.unwrap_or(if ibsim::long() { many } else { few });
    println!("said: {rounds} kills {road}");
    rounds
}

/// Kills in as many rounds as are wanted; how often what was killed.
fn random_kills(road: &str, begin: impl Fn() -> KillSite) -> BTreeMap<String, u32> {
    let rounds = rounds(road);
    let mut moments = KillMoments(Xoshiro256PlusPlus::seed_from_u64(24));
    let mut seen = BTreeMap::<String, u32>::new();
    let (mut site, mut killed) = (begin(), 0);
    let mut longest_ms = site.measure_span_ms();
    let mut span_ms = longest_ms;
    // A round whose processes had ended by the moment is no round. The machine may be quicker then than it was before.
    for number in 0..3 * rounds {
        if killed == rounds {
            break;
        }
        let round = site.round(&format!("random-{number}"));
        let outcome = one_round(&round, &mut moments, span_ms);
        drop(round);
        let Some(outcome) = outcome else {
            // The fabric is gone with ibsim, and so is what this round would show.
            *seen.entry("ibsim ended too".to_owned()).or_default() += 1;
            site = begin();
            longest_ms = site.measure_span_ms();
            continue;
        };
        let lived = outcome != "none lived";
        killed += u64::from(lived);
        span_ms =
            if lived { longest_ms.min(span_ms * 6 / 5) } else { (longest_ms / 10).max(span_ms * 4 / 5) };
        *seen.entry(outcome).or_default() += 1;
        site.forget_the_dead();
    }
    assert_eq!(killed, rounds, "{seen:?}");
    seen
}

#[test]
fn kills_at_random_moments_leave_every_byte_as_it_was() {
    let seen = random_kills("by datagrams", || KillSite::new(Site::new(), Vec::new()));
    println!("said: killed {seen:?}");
}

#[test]
fn kills_at_random_moments_through_opensm_leave_every_byte_as_it_was() {
    let seen = random_kills("through OpenSM", || {
        let site = opensm_driver::Site::new("kary,k=4,n=2", "routing_engine file,minhop");
        site.plan("sssp", &[], 0);
        opt_in(&site.stage);
        let console = format!("127.0.0.1:{}", site.port());
        let road = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
        KillSite::new(site, road.map(str::to_owned).to_vec())
    });
    println!("said: killed {seen:?}");
}
