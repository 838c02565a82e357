//! The experiments of the dFtree paper.

use super::test_bed::{EXPERIMENTS, HOST_LIMIT, TestBed, limited};
use fabdeck_fabric::{LinkSpeed, Tables};

/// A figure of the paper within a quarter.
fn near(found: f64, paper: f64) -> bool {
    (found - paper).abs() <= 0.25 * paper
}

#[test]
fn the_victim_of_each_experiment_keeps_the_share_that_the_paper_measured() {
    for experiment in &EXPERIMENTS {
        let alone = experiment.alone();
        assert!(near(alone as f64, f64::from(HOST_LIMIT)) && alone > 12_800, "{}: {alone}", experiment.name);
        let (victim, contributors) = experiment.congested(false);
        let share = victim as f64 / alone as f64;
        let paper = experiment.paper.0 / 12.9;
        println!(
            "experiment {}: {victim} of {alone} Mb/s, share {share:.3}, paper {paper:.3}; {contributors:?}",
            experiment.name
        );
        assert!(near(share, paper), "{}: {share:.3}, the paper has {paper:.3}", experiment.name);
        let (free, contributors) = experiment.congested(true);
        println!("  on lanes of their own: {free} Mb/s; {contributors:?}");
        assert!(free > 2 * victim, "{}: {free} with lanes, {victim} without", experiment.name);
        assert!(free as f64 > 0.75 * experiment.paper.1 * 1000.0, "{}: {free}", experiment.name);
    }
}

#[test]
fn the_flow_from_next_door_gets_half_of_the_parking_lot() {
    let stage = TestBed::new(2, LinkSpeed::Ddr, false);
    let flows = [(1, 5), (3, 5), (6, 5)].map(|(from, to)| stage.flow(from, to));
    let rates = stage.rates(flows.to_vec(), limited(), &Tables::default());
    let all: u64 = rates.iter().sum();
    // 6.8 of 12.8 Gb/s in the paper, the others 3 each.
    assert!(near(rates[2] as f64 / all as f64, 6.8 / 12.8), "{rates:?}");
    assert!(rates[0].abs_diff(rates[1]) * 50 < rates[0], "{rates:?}");
    assert!(rates[2] * 10 > rates[0] * 19, "{rates:?}");
}
