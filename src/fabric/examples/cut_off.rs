//! Marks parts of a fabric as failed and lists the hosts that lose their cable to the largest connected component.
//!
//! `cargo run --example cut_off -- kary,k=4,n=2 switch:leaf0 link:leaf1[5]`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Element, ElementId, Fabric, Faults, NameMap, Names, NodeKind, SwitchGraph};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let spec: FabricSpec = words.next().unwrap_or_else(|| "kary,k=4,n=2".to_owned()).parse()?;
    let fabric = generate(&spec)?.fabric;
    let names = Names::new(&fabric, &NameMap::default());

    let mut faults = Faults::new();
    for word in words {
        faults.mark(Element::find(&fabric, &names, &word)?);
    }
    if faults.is_empty() {
        faults.mark(first_leaf(&fabric)?);
    }
    let marks: Vec<String> = faults.elements(&fabric, &names).iter().map(ToString::to_string).collect();
    println!("marked as failed: {}", marks.join(", "));

    let cut_off = cut_off(&fabric, &faults);
    println!("{} of {} hosts are cut off", cut_off.len(), fabric.count(NodeKind::ChannelAdapter));
    for host in cut_off {
        println!("  {host}");
    }
    Ok(())
}

/// The first switch with a host.
fn first_leaf(fabric: &Fabric) -> Result<ElementId, Box<dyn Error>> {
    let graph = SwitchGraph::new(fabric, &Faults::new());
    let terminal = graph.terminals().first().ok_or("the fabric has no hosts")?;
    let (switch, _) = fabric.switches().nth(terminal.switch as usize).ok_or("the switch is in the fabric")?;
    Ok(ElementId::Node(switch))
}

/// The descriptions of the hosts that no cable connects with the largest component of switches.
fn cut_off(fabric: &Fabric, faults: &Faults) -> Vec<String> {
    let graph = SwitchGraph::new(fabric, faults);
    let (component, count) = graph.components();
    let size = |part: &u32| component.iter().filter(|other| *other == part).count();
    let largest = (0..count).rev().max_by_key(size);
    let connected: Vec<_> = graph
        .terminals()
        .iter()
        .filter(|terminal| Some(component[terminal.switch as usize]) == largest)
        .map(|terminal| fabric.port(terminal.port).node)
        .collect();
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let lost = hosts.filter(|(id, _)| !connected.contains(id));
    lost.map(|(_, node)| node.facts.description.clone()).collect()
}
