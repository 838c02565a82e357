//! Bad days of the program itself, over a served simulator: real sweeps, real changes with their guards and journals. The days
//! of `bad_days` are many and long, in a fabric in memory; these are few and last seconds. At each check every
//! pair has a path, no more links are out than the policy allows, and in the end the tables are those of before.

use std::fs;
use std::time::{Duration, Instant};

use fabdeck_simulator::SimulatorRng;
use serde_json::Value;

use super::applied::PolicyWatch;
use crate::changes::processes::{ServedLab, command};

const FABRIC: &str = "kary,k=3,n=2";
/// How long cables go bad.
const BAD_FOR: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(90);
/// Days in `tests/run`, and with `FABDECK_LONG=1`.
const DAYS: u64 = 1;
const LONG_DAYS: u64 = 40;

/// Cables between switches that count errors or go down and come back; one of a host may do so too. At most two go down, at
/// leaves of their own: every switch can be read at any time.
fn story(rng: &mut SimulatorRng) -> String {
    // A cable with errors from the first second on, so that each day has something to do.
    let mut text = format!("0s errors leaf{}/{} 6000000\n", rng.draw_below(3), 4 + rng.draw_below(3));
    let (first, mut flapping) = (rng.draw_below(3), 0);
    for _ in 0..1 + rng.draw_below(3) {
        let begins = rng.draw_below(8000);
        if flapping == 2 || rng.draw_below(2) == 0 {
            let port = format!("leaf{}/{}", rng.draw_below(3), 4 + rng.draw_below(3));
            text += &format!("{begins}ms errors {port} {}\n", 1_000_000 * (1 + rng.draw_below(9)));
            continue;
        }
        let port = format!("leaf{}/{}", (first + flapping) % 3, 4 + rng.draw_below(3));
        flapping += 1;
        for flap in 0..2 + rng.draw_below(3) {
            let at = begins + flap * 1500;
            text += &format!("{at}ms down {port}\n{}ms up {port}\n", at + 100 + rng.draw_below(900));
        }
    }
    if rng.draw_below(3) == 0 {
        text += &format!("1s errors leaf{}/{} 6000000\n", rng.draw_below(3), 1 + rng.draw_below(3));
    }
    text
}

/// Pairs that tables lose on the fabric without failures.
fn lost_pairs(lab: &ServedLab, tables: &str) -> u64 {
    let home = lab.home.path();
    fs::write(home.join("tables.lfts"), tables).unwrap();
    let ended = command(home)
        .args(["--source", "whole.topo", "check", "--tables", "tables.lfts", "--json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ended.stderr)));
    report["unreachable"].as_u64().unwrap()
}

/// How many links are out of use.
fn links_out(lab: &ServedLab) -> usize {
    let shown: Value = serde_json::from_slice(&lab.run(&["policy", "show", "--json"]).stdout).unwrap();
    shown["rows"].as_array().unwrap().len()
}

/// Lives through a day and returns how many links were out of use at the worst moment.
fn live_a_day(seed: u64) -> usize {
    let mut rng = SimulatorRng::new(seed);
    let story = story(&mut rng);
    let at_once = 1 + rng.draw_below(2) as usize;
    let source = format!("sim:{FABRIC},traffic=none,story=story");
    let lab = ServedLab::with(&source, &[], |home| fs::write(home.join("story"), &story).unwrap());
    // The story has begun: a cable of the served fabric may be down.
    let whole = format!("sim:{FABRIC}");
    lab.run_to_end(&["convert", &whole, "--to", "ibnetdiscover", "-o", "whole.topo"], 0);
    let before = lab.tables();
    assert_eq!(lost_pairs(&lab, &before), 0, "day {seed}: {story}");
    // Half of the 18 links may be in trouble together: with the default a second bad cable would end all actions of the day.
    let limits = format!(
        "confirm_after = \"1s\"\nlinks_at_once = {at_once}\nlinks_an_hour = 100\nbad_together = \"50%\"\nretry_after = \"1s\"\n"
    );
    let bad = format!("{limits}errors_an_hour = 1000\nflaps = 2\ngood_for = \"30d\"\n");
    let watch = PolicyWatch::start(&lab, &bad);
    let (began, mut most) = (Instant::now(), 0);
    // On a busy machine the policy may act later.
    while began.elapsed() < BAD_FOR || most == 0 && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(lost_pairs(&lab, &lab.tables()), 0, "day {seed}: {story}");
        let out = links_out(&lab);
        assert!(out <= at_once, "day {seed}: {out} links are out: {story}");
        most = most.max(out);
    }
    drop(watch);
    // What counts as bad is forgotten, so all links are good.
    let good = format!("{limits}errors_an_hour = 4000000000\nflaps = 1000\ngood_for = \"1s\"\n");
    let watch = PolicyWatch::start(&lab, &good);
    let began = Instant::now();
    while links_out(&lab) > 0 || lab.tables() != before {
        assert!(began.elapsed() < PATIENCE, "day {seed}: {story}{}", lab.logs());
        assert_eq!(lost_pairs(&lab, &lab.tables()), 0, "day {seed}: {story}");
        std::thread::sleep(Duration::from_millis(300));
    }
    drop(watch);
    most
}

#[test]
fn bad_days_over_a_served_simulator_end_well() {
    let is_long = std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1");
    let days: Vec<u64> = (1..=if is_long { LONG_DAYS } else { DAYS }).collect();
    // A day mostly waits.
    for some in days.chunks(8) {
        let most: Vec<usize> = std::thread::scope(|scope| {
            let lived: Vec<_> = some.iter().map(|seed| scope.spawn(|| live_a_day(*seed))).collect();
            lived.into_iter().map(|day| day.join().unwrap()).collect()
        });
        assert!(most.iter().all(|most| *most > 0), "a day on which nothing was taken out: {most:?}");
    }
}
