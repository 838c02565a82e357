//! A stream that moves from one cable to another (dissertation, figure 5.13): two switches with two cables, LMC 1. The base
//! LID leads over the first cable, the high LID over the second. The stream is directed to the high LID, drains first,
//! uses the second cable, and moves back.

use super::headline_run::{HeadlineRun, HeadlineStop};
use super::routed_fabric::RoutedFabric;
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, Lmc, NodeFacts, NodeKind, PortId, PortNum, Routes,
};
use fabdeck_simulator::traffic::{Flow, TrafficPattern, TrafficRun, TrafficSettings};

/// Length of a sample, and of each of the three parts: first cable, second cable, first cable again.
const WINDOW_NS: u64 = 20_000;
const WINDOWS_OF_PART: usize = 20;
/// The first base LID of the receiver; the next one is its high LID.
const RECEIVER: u32 = 4;

/// What the receiver saw.
pub struct MigrationResult {
    pub lost: u64,
    pub overtaken: u64,
    pub mean_gbytes: f64,
    /// The least rate of a window, divided by the mean.
    pub least_share: f64,
    /// The share of the packets of the second part that crossed the second cable.
    pub moved_share: f64,
}

fn two_cables() -> Option<(Fabric, [PortId; 2])> {
    let mut builder = FabricBuilder::new();
    let mut keys = Vec::new();
    for number in 0..2u32 {
        let name = format!("switch{number}");
        let switch =
            builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1 + u64::from(number)), 36, name)).ok()?;
        builder.port(switch, PortNum(0)).lid = Lid::new(10 + number);
        let host = NodeFacts::new(
            NodeKind::ChannelAdapter,
            Guid(0x100 + 0x10 * u64::from(number)),
            1,
            format!("node{number}"),
        );
        let host = builder.add_node(host).ok()?;
        let facts = builder.port(host, PortNum(1));
        (facts.lid, facts.lmc) = (Lid::new(2 + 2 * number), Lmc::new(1)?);
        keys.push((switch, host));
    }
    let [(one, sender), (two, receiver)] = *keys.as_slice() else { return None };
    for (a, b) in [
        ((one, PortNum(1)), (sender, PortNum(1))),
        ((two, PortNum(1)), (receiver, PortNum(1))),
        ((one, PortNum(2)), (two, PortNum(2))),
        ((one, PortNum(3)), (two, PortNum(3))),
    ] {
        for (key, port) in [a, b] {
            let facts = builder.port(key, port);
            (facts.speed, facts.width) = (Some(LinkSpeed::Qdr), Some(LinkWidth::X4));
        }
        builder.connect(a, b).ok()?;
    }
    let fabric = builder.finish();
    let port = |number: u64| {
        let node = fabric.node_of(NodeKind::ChannelAdapter, Guid(0x100 + 0x10 * number))?;
        fabric.port_of(node, PortNum(1))
    };
    let ports = [port(0)?, port(1)?];
    Some((fabric, ports))
}

fn cable_routes(fabric: &Fabric) -> Routes {
    let mut routes = Routes::empty(2, fabric.top_lid());
    for (lid, own) in [(2, 0), (3, 0), (RECEIVER, 1), (RECEIVER + 1, 1)] {
        let Some(lid) = Lid::new(lid) else { continue };
        let high = u8::from(lid.value() % 2 == 1);
        for switch in 0..2u32 {
            let port = if switch == own { 1 } else { 2 + high };
            routes.set(switch, lid, Some(PortNum(port)));
        }
    }
    routes
}

/// Payload that arrived in each window, in Gbyte/s.
fn sample_part(
    run: &HeadlineRun<'_>,
    traffic: &mut TrafficRun,
    rates: &mut Vec<f64>,
) -> Result<(), HeadlineStop> {
    for _ in 0..WINDOWS_OF_PART {
        run.check_stop()?;
        traffic.begin_measuring();
        let until = traffic.now_ns() + WINDOW_NS;
        traffic.advance(until);
        rates.push(traffic.total_mbps() as f64 / 8_000.0);
    }
    Ok(())
}

/// Runs the three parts.
pub fn migration(run: &HeadlineRun<'_>) -> Result<MigrationResult, HeadlineStop> {
    let built = two_cables().ok_or_else(|| HeadlineStop::Failed("figure 5.13 has no fabric".to_owned()))?;
    let (fabric, [sender, receiver]) = built;
    let routes = cable_routes(&fabric);
    let second = fabric.switches().next().and_then(|(id, _)| fabric.port_of(id, PortNum(3)));
    let routed = RoutedFabric::of(fabric, routes);
    // 3.6 Gbyte/s: a host bus of 32 Gb/s that pauses for a tenth of the time.
    let settings =
        TrafficSettings { host_limit_mbps: Some(28_800), base_lids: true, ..TrafficSettings::default() };
    let mut traffic = routed.begin(TrafficPattern::Flows(vec![Flow::new(sender, receiver)]), settings)?;
    traffic.advance(WINDOW_NS);
    let sent_by_second = |traffic: &TrafficRun| {
        let counts = traffic.port_counts(&routed.fabric);
        counts.iter().find(|count| Some(count.port) == second).map_or(0, |count| count.xmit_packets)
    };
    let mut rates = Vec::new();
    sample_part(run, &mut traffic, &mut rates)?;
    traffic.select_half(sender, Some(1));
    let (before, [made_before, ..]) = (sent_by_second(&traffic), traffic.packet_totals());
    sample_part(run, &mut traffic, &mut rates)?;
    let (moved, [made, ..]) = (sent_by_second(&traffic) - before, traffic.packet_totals());
    traffic.select_half(sender, None);
    sample_part(run, &mut traffic, &mut rates)?;
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let least = rates.iter().copied().fold(f64::MAX, f64::min);
    let [_, _, lost] = traffic.packet_totals();
    Ok(MigrationResult {
        lost,
        overtaken: traffic.flow_orders().iter().map(|order| order.overtaken).sum(),
        mean_gbytes: mean,
        least_share: least / mean.max(1e-9),
        moved_share: (moved as f64 / (made - made_before).max(1) as f64).min(1.0),
    })
}
