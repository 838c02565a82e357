//! Sweeps ask the agents of hosts that wait where they have flows open, and only these.

use std::time::Duration;

use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_live::{LiveOptions, open};
use fabdeck_mad::access::NoObserver;

use super::TOPOLOGY;

/// Nine hosts, of which all others send to one.
const FABRIC: &str = "sim:kary,k=3,n=2,traffic=hotspot:share=100%,ratio=1:2000";

/// Four sweeps, a second apart.
fn sweeps(text: &str) -> (Observation, Vec<Sweep>) {
    let mut source = open(text, &LiveOptions::default()).unwrap();
    let mut look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    let at = [1, 2, 3, 4].map(Duration::from_secs);
    let all = at.map(|at| source.sweep(&mut look, at, &mut NoObserver).unwrap()).to_vec();
    (look, all)
}

fn names(look: &Observation, sweep: &Sweep) -> Vec<String> {
    let name = |(guid, _): &(fabdeck_fabric::Guid, _)| {
        let node = look.fabric.node_by_guid(*guid).unwrap();
        look.fabric.node(node).facts.description.split(' ').next().unwrap().to_owned()
    };
    sweep.flows.0.keys().map(name).collect()
}

#[test]
fn agents_of_hosts_that_wait_list_their_flows() {
    let (look, all) = sweeps(&format!("{FABRIC},agents=node1+node2"));
    // The first sweep cannot know who waits, and a list holds between two answers.
    assert!(all[..2].iter().all(|sweep| sweep.flows.0.is_empty()), "{all:?}");
    assert_eq!(names(&look, &all[3]), ["node1", "node2"]);
    for ((guid, number), to) in &all[3].flows.0 {
        let own = look.fabric.node_by_guid(*guid).and_then(|node| look.fabric.port_of(node, *number));
        let own = look.fabric.port(own.unwrap()).facts.lid.unwrap();
        // The pattern has flows to all other hosts.
        assert!(to.len() == 8 && !to.contains(&own), "{to:?}");
    }
}

#[test]
fn hosts_without_agents_are_not_asked_for_flows() {
    let (_, without) = sweeps(FABRIC);
    assert!(without.iter().all(|sweep| sweep.flows.0.is_empty()), "{without:?}");
    let (_, with) = sweeps(&format!("{FABRIC},agents=node1"));
    // The subnet manager answers for five minutes: a sweep then costs one request for each agent.
    assert_eq!(with[3].sent, without[3].sent + 1);
}
