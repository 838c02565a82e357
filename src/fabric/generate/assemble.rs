//! From a name to a fabric: plan, ports, faults, then GUIDs and LIDs.
//!
//! - Switch i has GUID 0002c901_00000000 + i. Host i has 0002c903_00000000 + 16 i and its ports the numbers behind
//!   it, as ibsim has it; the aggregation node of switch i lies at 0002c904_00000000 + 16 i.
//! - LIDs are dense from 1 in the order of port GUIDs, which is OpenSM's but for the port it runs on: switches, hosts,
//!   aggregation nodes. What has failed keeps its LID to itself, so faults change no other address.
//! - What a dump of ibnetdiscover does not say (port states, what ports support) stays unknown.

use super::catalogue::FabricTemplate;
use super::demo;
use super::direct;
use super::error::GenerateError;
use super::faults::{self, Failures};
use super::irregular::draw_tree::draw_tree;
use super::limits::{self, too_many_ports};
use super::plan::FabricPlan;
use super::production_systems;
use super::random;
use super::shape::Shape;
use super::spec::FabricSpec;
use super::systems;
use super::trees;
use super::wiring::{Wiring, wire};
use crate::{
    Element, Fabric, FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, Lmc, NodeFacts, NodeKey, NodeKind,
    PortNum,
};

const SWITCH_GUID_BASE: u64 = 0x0002_c901_0000_0000;
const HOST_GUID_BASE: u64 = 0x0002_c903_0000_0000;
const AGGREGATION_GUID_BASE: u64 = 0x0002_c904_0000_0000;
const VENDOR_ID: u32 = 0x02c9;
const AGGREGATION_DEVICE_ID: u32 = 0xcf09;

/// A generated fabric with what is known about its making.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeneratedFabric {
    /// The fabric.
    pub fabric: Fabric,
    /// The catalogue entry that it was made from.
    pub entry: &'static FabricTemplate,
    /// The switches, hosts and links that failed and are not in the fabric. A failed switch takes its hosts along.
    pub failed: Vec<Element>,
    /// The GUIDs of the top switches of a tree; empty for a topology without a top.
    pub roots: Vec<Guid>,
    /// Sentences about where the fabric differs from what its name suggests.
    pub notes: Vec<String>,
}

/// Makes the fabric that a [`FabricSpec`] describes.
pub fn generate(spec: &FabricSpec) -> Result<GeneratedFabric, GenerateError> {
    let plan = plan(spec)?;
    let wiring = wire(&plan)?;
    let failures = faults::choose_failures(spec, &plan)?;
    let assembly =
        Assembly { plan: &plan, wiring: &wiring, failures: &failures, aggregation: spec.aggregation() };
    let fabric = assembly.build_fabric()?;
    let fabric = spec.options.lmc.map(|lmc| fabric.with_lmc(lmc)).unwrap_or(fabric);
    let failed = assembly.failed_elements();
    let roots = assembly.roots();
    Ok(GeneratedFabric { fabric, entry: spec.entry, failed, roots, notes: plan.notes })
}

pub fn plan(spec: &FabricSpec) -> Result<FabricPlan, GenerateError> {
    limits::check(spec)?;
    let mut plan = FabricPlan::new(spec);
    match &spec.shape {
        Shape::Demo => demo::demo(&mut plan),
        Shape::Kary { k, n } => trees::kary(&mut plan, *k, *n),
        Shape::Xgft { m, w } => trees::xgft(&mut plan, m, w),
        Shape::Mport { m, n } => trees::mport(&mut plan, *m, *n, spec.options.lmc.is_none()),
        Shape::Gft2 { n, m, r } => trees::xgft(&mut plan, &[*n, *r], &[1, *m]),
        Shape::Torus { dims } => direct::grid(&mut plan, dims, true),
        Shape::Mesh { dims } => direct::grid(&mut plan, dims, false),
        Shape::Dragonfly { a, h, g, .. } => direct::dragonfly(&mut plan, (*a, *h, *g)),
        Shape::Cascade { groups, global } => direct::cascade(&mut plan, *groups, *global),
        Shape::Kautz { d, k } => direct::kautz(&mut plan, *d, *k),
        Shape::Random { switches, links } => random::random(&mut plan, *switches, *links, spec.seed())?,
        Shape::Irregular { family, scale } => {
            draw_tree(&mut plan, *family, *scale, spec.seed());
        }
        Shape::Switch648 => systems::switch648(&mut plan),
        Shape::Racks648 => systems::racks648(&mut plan),
        Shape::Switch3456 => systems::switch3456(&mut plan),
        Shape::Juropa => systems::juropa(&mut plan),
        Shape::Ranger => systems::ranger(&mut plan),
        Shape::Deimos => production_systems::deimos(&mut plan),
        Shape::Tsubame2 => production_systems::tsubame2(&mut plan),
        Shape::Taurus => production_systems::taurus(&mut plan),
        Shape::FullSubnet => systems::full_subnet(&mut plan),
    }
    Ok(plan)
}

struct Assembly<'a> {
    plan: &'a FabricPlan,
    wiring: &'a Wiring,
    failures: &'a Failures,
    aggregation: bool,
}

/// The first LID of each kind of node.
struct Lids {
    switches: u32,
    hosts: u32,
    aggregation: u32,
}

impl Assembly<'_> {
    fn build_fabric(&self) -> Result<Fabric, GenerateError> {
        let lids = self.lids();
        let mut builder = FabricBuilder::new();
        let switches = self.add_switches(&mut builder, &lids)?;
        self.add_hosts(&mut builder, &switches, &lids);
        for (cable, (ports, failed)) in
            self.plan.cables.iter().zip(self.wiring.cables.iter().zip(&self.failures.cables))
        {
            let (Some(a), Some(b)) = (switches[cable.a as usize], switches[cable.b as usize]) else {
                continue;
            };
            if !failed {
                let speed = self.speed(cable.a).min(self.speed(cable.b));
                cable_up(
                    &mut builder,
                    (a, ports.0),
                    (b, ports.1),
                    (self.plan.width.unwrap_or(cable.width), self.plan.width, speed),
                );
            }
        }
        Ok(builder.finish())
    }

    fn lids(&self) -> Lids {
        let switches = self.plan.switches.len() as u32;
        let host_ports: u32 = self.plan.hosts.iter().map(|host| 1 + u32::from(host.second.is_some())).sum();
        match &self.plan.mlid {
            Some(mlid) => Lids { switches: mlid.past, hosts: 1, aggregation: mlid.past + switches },
            None => Lids { switches: 1, hosts: 1 + switches, aggregation: 1 + switches + host_ports },
        }
    }

    /// The width of the cables of adapters.
    fn width(&self) -> LinkWidth {
        self.plan.width.unwrap_or(LinkWidth::X4)
    }

    fn speed(&self, switch: u32) -> LinkSpeed {
        self.plan.switches[switch as usize].speed
    }

    /// Adds the switches that have not failed, and their aggregation nodes.
    fn add_switches(
        &self,
        builder: &mut FabricBuilder,
        lids: &Lids,
    ) -> Result<Vec<Option<NodeKey>>, GenerateError> {
        let radix = u32::from(self.wiring.radix);
        let all_ports = radix + u32::from(self.aggregation);
        let count = PortNum::new(all_ports)
            .ok_or_else(|| too_many_ports(self.plan.fabric, u64::from(all_ports)))?
            .value();
        let mut keys = Vec::with_capacity(self.plan.switches.len());
        for (number, (switch, failed)) in self.plan.switches.iter().zip(&self.failures.switches).enumerate() {
            if *failed {
                keys.push(None);
                continue;
            }
            let guid = switch_guid(number as u32);
            let mut facts = NodeFacts::new(NodeKind::Switch, guid, count, switch.name.as_str());
            set_identity(&mut facts, switch_device(switch.speed), guid);
            facts.enhanced_port0 = Some(false);
            let key = add_node(builder, facts);
            set_address(builder, (key, PortNum::MANAGEMENT), guid, lids.switches + number as u32, 0);
            if self.aggregation {
                let node = Guid(AGGREGATION_GUID_BASE + 16 * number as u64);
                let name = "Mellanox Technologies Aggregation Node";
                let mut facts = NodeFacts::new(NodeKind::ChannelAdapter, node, 1, name);
                set_identity(&mut facts, AGGREGATION_DEVICE_ID, guid);
                let adapter = add_node(builder, facts);
                set_address(
                    builder,
                    (adapter, PortNum(1)),
                    Guid(node.0 + 1),
                    lids.aggregation + number as u32,
                    0,
                );
                cable_up(
                    builder,
                    (key, PortNum(count)),
                    (adapter, PortNum(1)),
                    (self.width(), self.plan.width, switch.speed),
                );
            }
            keys.push(Some(key));
        }
        Ok(keys)
    }

    /// Adds the hosts that a switch is left for.
    fn add_hosts(&self, builder: &mut FabricBuilder, switches: &[Option<NodeKey>], lids: &Lids) {
        let mut dense = lids.hosts;
        for (number, (host, ports)) in self.plan.hosts.iter().zip(&self.wiring.hosts).enumerate() {
            let guid = Guid(HOST_GUID_BASE + 16 * number as u64);
            let mut lid = dense;
            dense += 1 + u32::from(host.second.is_some());
            let mut lmc = 0;
            if let Some(mlid) = &self.plan.mlid {
                (lid, lmc) = (mlid.base[number], mlid.lmc);
            }
            let ends = [Some((host.switch, ports.0)), host.second.zip(ports.1)];
            let count = ends.iter().flatten().count() as u8;
            let mut adapter = None;
            for (end, port) in ends.iter().zip(1u8..) {
                let Some((switch, switch_port)) = *end else { continue };
                let Some(key) = switches[switch as usize] else { continue };
                let adapter = *adapter.get_or_insert_with(|| {
                    let mut facts = NodeFacts::new(NodeKind::ChannelAdapter, guid, count, host.name.as_str());
                    set_identity(&mut facts, adapter_device(self.speed(switch)), Guid(guid.0 + 3));
                    add_node(builder, facts)
                });
                let (here, port_guid) = ((adapter, PortNum(port)), Guid(guid.0 + u64::from(port)));
                set_address(builder, here, port_guid, lid + u32::from(port) - 1, lmc);
                cable_up(
                    builder,
                    (key, switch_port),
                    here,
                    (self.width(), self.plan.width, self.speed(switch)),
                );
            }
        }
    }

    fn failed_elements(&self) -> Vec<Element> {
        let lost = |switch: u32| self.failures.switches[switch as usize];
        let name = |switch: u32| self.plan.switches[switch as usize].name.clone();
        let switches = (0..self.plan.switches.len() as u32).filter(|switch| lost(*switch));
        let mut failed: Vec<Element> = switches.map(|switch| Element::Switch(name(switch))).collect();
        for host in &self.plan.hosts {
            if lost(host.switch) && host.second.is_none_or(lost) {
                failed.push(Element::Host(host.name.clone()));
            }
        }
        let mut links = Vec::new();
        for (cable, (ports, gone)) in
            self.plan.cables.iter().zip(self.wiring.cables.iter().zip(&self.failures.cables))
        {
            if *gone {
                links.push((cable.a, ports.0).min((cable.b, ports.1)));
            }
        }
        links.sort_unstable();
        failed.extend(links.into_iter().map(|(switch, port)| Element::Link(name(switch), port)));
        failed
    }

    fn roots(&self) -> Vec<Guid> {
        let switches = &self.plan.switches;
        let top = switches.iter().map(|switch| switch.level).max().unwrap_or(0);
        if top == 0 && switches.len() > 1 {
            return Vec::new();
        }
        let is_root = |number: &usize| switches[*number].level == top && !self.failures.switches[*number];
        (0..switches.len()).filter(is_root).map(|number| switch_guid(number as u32)).collect()
    }
}

fn switch_guid(number: u32) -> Guid {
    Guid(SWITCH_GUID_BASE + u64::from(number))
}

fn set_identity(facts: &mut NodeFacts, device: u32, system: Guid) {
    facts.vendor_id = Some(VENDOR_ID);
    facts.device_id = Some(device);
    facts.system_image_guid = Some(system);
}

/// GUIDs are dealt out once each; a node that were there already would be the same one.
fn add_node(builder: &mut FabricBuilder, facts: NodeFacts) -> NodeKey {
    builder.add_node(facts).unwrap_or_else(|known| known)
}

fn set_address(
    builder: &mut FabricBuilder,
    (node, port): (NodeKey, PortNum),
    guid: Guid,
    lid: u32,
    lmc: u32,
) {
    let facts = builder.port(node, port);
    facts.guid = Some(guid);
    facts.lid = Lid::new(lid);
    facts.lmc = Lmc::new(lmc).unwrap_or_default();
}

/// Joins two ports. `widest`: what both ports support at most, where the fabric was asked for with a width: its cables are
/// then as wide as they can be.
fn cable_up(
    builder: &mut FabricBuilder,
    a: (NodeKey, PortNum),
    b: (NodeKey, PortNum),
    (width, widest, speed): (LinkWidth, Option<LinkWidth>, LinkSpeed),
) {
    // Every port has one end: the wiring takes each once.
    let joined = builder.connect(a, b);
    debug_assert!(joined.is_ok(), "{joined:?}");
    for (node, port) in [a, b] {
        let facts = builder.port(node, port);
        (facts.width, facts.width_supported, facts.speed) = (Some(width), widest, Some(speed));
    }
}

/// The device of the time: what a switch chip of that speed calls itself.
fn switch_device(speed: LinkSpeed) -> u32 {
    match speed {
        LinkSpeed::Sdr | LinkSpeed::Ddr => 0xb924,
        LinkSpeed::Qdr => 0xbd36,
        LinkSpeed::Fdr10 | LinkSpeed::Fdr => 0xc738,
        LinkSpeed::Edr => 0xcb20,
        LinkSpeed::Hdr => 0xd2f0,
        LinkSpeed::Ndr => 0xd2f2,
        LinkSpeed::Xdr => 0xd2f4,
    }
}

fn adapter_device(speed: LinkSpeed) -> u32 {
    match speed {
        LinkSpeed::Sdr | LinkSpeed::Ddr => 0x6282,
        LinkSpeed::Qdr => 0x673c,
        LinkSpeed::Fdr10 | LinkSpeed::Fdr => 0x1003,
        LinkSpeed::Edr => 0x1013,
        LinkSpeed::Hdr => 0x101b,
        LinkSpeed::Ndr => 0x1021,
        LinkSpeed::Xdr => 0x1023,
    }
}
