//! The ways to a hot-spot, from every host by the forwarding tables: where fast and slow packets pass.
//!
//! All hosts, and not those alone that move now: flows that begin later move with a notice and no write, and a manager whose
//! policy gives the slow level for a hot-spot gives it to every requester.

use std::collections::BTreeMap;

use super::refusal::SlowLaneRefusal;
use fabdeck_fabric::{Fabric, Lid, NodeId, PortId, PortNum, PortState, ServiceLevels, Tables};

/// One hop of a path: packets enter a node at one port and leave at another. Packets that an adapter sends itself
/// enter at its port 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PortHop {
    /// The node.
    pub node: NodeId,
    /// The ingress port.
    pub from: PortNum,
    /// The egress port.
    pub to: PortNum,
}

/// The hops of all paths to hot-spots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HotSpotPaths {
    /// The fast levels that cross each hop, as bits.
    pub(super) hops: BTreeMap<PortHop, u16>,
}

/// Follows the paths from all hosts to LIDs of hot-spots.
pub fn hot_spot_paths(
    fabric: &Fabric,
    tables: &Tables,
    fast: &ServiceLevels,
    hot: &[Lid],
) -> Result<HotSpotPaths, SlowLaneRefusal> {
    let mut all = HotSpotPaths::default();
    for lid in hot {
        let Some(adapter) = fabric.port_by_lid(*lid) else { continue };
        let way = PathWalk { fabric, tables, lid: *lid, adapter };
        let mut hops = BTreeMap::new();
        // A pair of unknown level has one of the known levels.
        let switches = 0..fabric.switch_count() as u32;
        let said = switches.fold(0, |all, switch| all | fast.level_bits(switch, *lid));
        let any = if said == 0 { fast.all_bits() } else { said };
        for (port, switch_port) in hosts(fabric).filter(|(port, _)| *port != adapter) {
            let bits = fast.level_bits(fabric.port(switch_port).node.0, *lid);
            way.follow(port, if bits == 0 { any } else { bits }, &mut hops)?;
        }
        for (hop, bits) in hops {
            *all.hops.entry(hop).or_default() |= bits;
        }
    }
    Ok(all)
}

/// Ports of adapters with a LID that are cabled to a switch, and the port of the switch.
fn hosts(fabric: &Fabric) -> impl Iterator<Item = (PortId, PortId)> {
    let end = |(id, port): (PortId, &fabdeck_fabric::Port)| {
        let (lid, peer) = (port.facts.lid, port.peer?);
        let up = [id, peer].iter().all(|end| fabric.port(*end).facts.state != Some(PortState::Down));
        let is_switch = |port: PortId| fabric.node(fabric.port(port).node).is_switch();
        (lid.is_some() && up && !is_switch(id) && is_switch(peer)).then_some((id, peer))
    };
    fabric.ports().filter_map(end)
}

struct PathWalk<'a> {
    fabric: &'a Fabric,
    tables: &'a Tables,
    lid: Lid,
    adapter: PortId,
}

impl PathWalk<'_> {
    /// From a host until the hot-spot, or until a hop that others took before.
    fn follow(
        &self,
        host: PortId,
        bits: u16,
        hops: &mut BTreeMap<PortHop, u16>,
    ) -> Result<(), SlowLaneRefusal> {
        let Self { fabric, tables, lid, adapter } = *self;
        let own = fabric.port(host);
        let mut taken = vec![(PortHop { node: own.node, from: PortNum::MANAGEMENT, to: own.number }, bits)];
        let mut at = fabric.peer(host);
        while let Some(port) = at.filter(|port| *port != adapter) {
            let here = fabric.port(port);
            if !fabric.node(here.node).is_switch() {
                return Ok(());
            }
            if !tables.is_entry_known(here.node, lid) {
                return Err(SlowLaneRefusal::Unread { switch: here.node, lid });
            }
            let out = tables.lft(here.node).and_then(|lft| lft.get(lid));
            // A host without a path sends nothing there, on no lane.
            let Some(to) = out.filter(|to| *to != PortNum::MANAGEMENT) else { return Ok(()) };
            let hop = PortHop { node: here.node, from: here.number, to };
            let known = hops.get(&hop).copied().unwrap_or(0);
            // Others go on from here.
            if known & bits == bits {
                break;
            }
            // What runs in a loop never comes there.
            if taken.iter().any(|(one, _)| *one == hop) {
                return Ok(());
            }
            taken.push((hop, bits));
            at = fabric.port_of(here.node, to).and_then(|port| fabric.peer(port));
            if at.is_none() {
                return Ok(());
            }
        }
        for (hop, bits) in taken {
            *hops.entry(hop).or_default() |= bits;
        }
        Ok(())
    }
}
