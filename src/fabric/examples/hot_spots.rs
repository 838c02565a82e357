//! Finds the hot-spot in two readings of the counters of a small fabric: `node-0` receives more slowly than the other
//! hosts send to it.
//!
//! `cargo run --example hot_spots`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use fabdeck_fabric::counters::{Thresholds, find_hot_spots, rates_of_samples};
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, LinkSpeed, LinkWidth, NodeFacts, NodeKind, PortId, PortNum,
};

/// The time between the two readings, in seconds.
const SECONDS: u64 = 10;
/// Words of four bytes that a 4x EDR link carries per second.
const FULL_RATE: u64 = 3_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let fabric = star(4)?;
    let before: Vec<CounterSample> = fabric.ports().map(|(id, _)| sample(&fabric, id, 0, 0)).collect();
    let after = fabric.ports().map(|(id, port)| {
        let is_switch = fabric.node(port.node).is_switch();
        let hot = is_switch && port.number == PortNum(1);
        match (is_switch, hot) {
            // The switch port in front of the hot-spot has packets all the time and rarely credits.
            (true, true) => sample(&fabric, id, FULL_RATE / 2 * SECONDS, 900_000_000 * SECONDS),
            (true, false) => sample(&fabric, id, 0, 0),
            (false, _) if fabric.node(port.node).facts.description == "node-0" => sample(&fabric, id, 0, 0),
            // Every other host sends a sixth of the link's rate and waits the rest of the time.
            (false, _) => sample(&fabric, id, FULL_RATE / 6 * SECONDS, 800_000_000 * SECONDS),
        }
    });
    let after: Vec<CounterSample> = after.collect();

    let rates = rates_of_samples(&fabric, &before, &after, SECONDS as f64);
    let verdict = find_hot_spots(&fabric, &rates, &Thresholds::default());
    for spot in &verdict.hot_spots {
        let congestion = spot.at.congestion / 1e6;
        println!("hot-spot {:<8} {congestion:>7.0} M ticks/s", name(&fabric, spot.adapter));
    }
    for waiting in &verdict.congested_adapters {
        println!("waits    {:<8} {:?}", name(&fabric, waiting.at.port), waiting.role);
    }
    Ok(())
}

/// A switch with hosts on its first ports, on 4x EDR cables.
fn star(hosts: u8) -> Result<Fabric, Box<dyn Error>> {
    let mut builder = FabricBuilder::new();
    let mut add = |kind, guid, name: String| {
        builder.add_node(NodeFacts::new(kind, Guid(guid), 36, name)).map_err(|_| "a GUID occurs twice")
    };
    let switch = add(NodeKind::Switch, 0x100, "switch".to_owned())?;
    let mut cables = Vec::new();
    for number in 0..hosts {
        let host = add(NodeKind::ChannelAdapter, 0x200 + u64::from(number), format!("node-{number}"))?;
        cables.push([(switch, PortNum(number + 1)), (host, PortNum(1))]);
    }
    for [a, b] in cables {
        builder.connect(a, b)?;
        for (node, port) in [a, b] {
            let facts = builder.port(node, port);
            (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Edr));
        }
    }
    Ok(builder.finish())
}

fn sample(fabric: &Fabric, id: PortId, sent: u64, waited: u64) -> CounterSample {
    let port = fabric.port(id);
    CounterSample {
        node: Some(fabric.node(port.node).guid()),
        port: Some(port.number),
        values: [(Counter::PortXmitDataExtended, Some(sent)), (Counter::PortXmitWait, Some(waited))]
            .into_iter()
            .collect(),
        ..CounterSample::default()
    }
}

fn name(fabric: &Fabric, port: PortId) -> &str {
    &fabric.node(fabric.port(port).node).facts.description
}
