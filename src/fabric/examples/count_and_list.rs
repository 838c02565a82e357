//! Builds a fabric from a list of cables, as a dump of a subnet holds them, then counts its parts and lists its cables.
//!
//! `cargo run --example count_and_list`

#![allow(clippy::print_stdout, reason = "an example prints what it finds")]

use std::collections::BTreeMap;
use std::error::Error;

use fabdeck_fabric::{Fabric, FabricBuilder, Guid, NodeFacts, NodeKey, NodeKind, PortNum};

/// Node and port at both ends of each cable. Names that begin with `leaf` or `spine` are switches.
const CABLES: &str = "\
leaf-1  1  node-1  1
leaf-1  2  node-2  1
leaf-2  1  node-3  1
leaf-2  2  node-4  1
leaf-1  35 spine-1 1
leaf-1  36 spine-2 1
leaf-2  35 spine-1 2
leaf-2  36 spine-2 2
";

fn main() -> Result<(), Box<dyn Error>> {
    let fabric = read(CABLES)?;
    for kind in NodeKind::ALL {
        println!("{:<8} {:>3}", kind.word(), fabric.count(kind));
    }
    println!("{:<8} {:>3}\n", "link", fabric.links().len());

    println!("{:<20} {:<12} {:<20} {:<12}", "FROM", "LID", "TO", "LID");
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, port)| {
            let address = fabric.port_of(node, port).and_then(|port| fabric.address_of(port));
            let lid = address.map_or("-".to_owned(), |(lid, _)| lid.to_string());
            format!("{:<20} {lid:<12}", format!("{}[{port}]", fabric.node(node).facts.description))
        });
        println!("{a} {b}");
    }
    Ok(())
}

/// The fabric of a list of cables, with LIDs as OpenSM gives them.
fn read(cables: &str) -> Result<Fabric, Box<dyn Error>> {
    let mut builder = FabricBuilder::new();
    let mut known = BTreeMap::new();
    for line in cables.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [a, a_port, b, b_port] = words[..] else { return Err(format!("no cable: {line}").into()) };
        let mut ends = Vec::new();
        for (name, port) in [(a, a_port), (b, b_port)] {
            let next = Guid(0x0002_c903_0000_0000 + known.len() as u64);
            let key = *known.entry(name.to_owned()).or_insert_with(|| add(&mut builder, name, next));
            ends.push((key, PortNum(port.parse()?)));
        }
        builder.connect(ends[0], ends[1])?;
    }
    Ok(builder.finish().with_fresh_lids(None))
}

fn add(builder: &mut FabricBuilder, name: &str, guid: Guid) -> NodeKey {
    let is_switch = name.starts_with("leaf") || name.starts_with("spine");
    let (kind, ports) = if is_switch { (NodeKind::Switch, 36) } else { (NodeKind::ChannelAdapter, 1) };
    // `Err` holds the node that has the GUID already.
    builder.add_node(NodeFacts::new(kind, guid, ports, name)).unwrap_or_else(|known| known)
}
