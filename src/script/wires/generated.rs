//! Ties `generate` and `sim:NAME` to the fabrics that are made by name.

use crate::access::SourceError;
use crate::fabric::{FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeKey, NodeKind, PortNum};
use crate::observe::Observation;
use crate::script::CatalogueEntry;

pub fn catalogue() -> Vec<CatalogueEntry> {
    let about = "two spines, four leaves, sixteen hosts";
    vec![CatalogueEntry { name: "demo".into(), keys: String::new(), about: about.into() }]
}

pub fn generate(name: &str) -> Result<Observation, SourceError> {
    match name {
        "demo" => Ok(Observation { fabric: demo(), ..Observation::default() }),
        _ => Err(SourceError::Name {
            code: "FD-7703",
            what: format!("'{name}' is not the name of a fabric"),
            hint: "`fabdeck sources` lists the names".into(),
        }),
    }
}

fn demo() -> crate::fabric::Fabric {
    let mut builder = FabricBuilder::new();
    let mut lid = 0;
    let mut node = |builder: &mut FabricBuilder, facts: NodeFacts, port| -> Option<NodeKey> {
        let key = builder.add_node(facts).ok()?;
        lid += 1;
        builder.port(key, PortNum(port)).lid = Lid::new(lid);
        Some(key)
    };
    let switch = |guid, name: String| NodeFacts::new(NodeKind::Switch, Guid(guid), 8, name);
    let spines: Vec<NodeKey> =
        (0..2).filter_map(|at| node(&mut builder, switch(0x100 + at, format!("spine{at}")), 0)).collect();
    for at in 0..4u8 {
        let Some(leaf) = node(&mut builder, switch(0x200 + u64::from(at), format!("leaf{at}")), 0) else {
            continue;
        };
        for (up, spine) in (5..).zip(&spines) {
            join(&mut builder, (leaf, PortNum(up)), (*spine, PortNum(at + 1)));
        }
        for down in 1..=4u8 {
            let number = at * 4 + down - 1;
            let guid = Guid(0x1000 + u64::from(number));
            let facts = NodeFacts::new(NodeKind::ChannelAdapter, guid, 1, format!("host{number}"));
            let Some(host) = node(&mut builder, facts, 1) else { continue };
            join(&mut builder, (leaf, PortNum(down)), (host, PortNum(1)));
        }
    }
    builder.finish()
}

fn join(builder: &mut FabricBuilder, a: (NodeKey, PortNum), b: (NodeKey, PortNum)) {
    if builder.connect(a, b).is_ok() {
        for (node, port) in [a, b] {
            let facts = builder.port(node, port);
            (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Edr));
        }
    }
}
