//! Multiple LIDs (Lin, Chung, Huang): tables, paths and accepted traffic of m-port n-trees.

use super::headline::HeadlineRelation::Equal;
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::mlid_traffic::load_sweep_rows;
use super::routed_fabric::{RoutedFabric, host_ports};
use fabdeck_fabric::{Faults, Lid, NodeKind, PathBits, PortNum, SwitchGraph, pick_lid};

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "mlid-5",
        place: "MLID paper, figure 5 and section 3",
        shows: "cables of FT(4,3)",
        inputs: "`mport,m=4,n=3`",
        work: HeadlineWork::Rows(cables),
    },
    Headline {
        id: "mlid-7",
        place: "MLID paper, figures 7 to 9",
        shows: "four hosts of a leaf of FT(8,2) meet on one uplink with one LID, and on none with four",
        inputs: "`mport,m=8,n=2`, engines `dmodk` and `mlid`",
        work: HeadlineWork::Rows(collisions),
    },
    Headline {
        id: "mlid-10",
        place: "MLID paper, figures 10 and 11",
        shows: "the four paths to P(300) of FT(4,3)",
        inputs: "`mport,m=4,n=3`, engine `mlid`",
        work: HeadlineWork::Rows(four_paths),
    },
    Headline {
        id: "mlid-1",
        place: "MLID paper, table 1",
        shows: "switches and hosts of four fabrics",
        inputs: "`mport`",
        work: HeadlineWork::Rows(counts),
    },
    Headline {
        id: "mlid-12",
        place: "MLID paper, figures 12 to 15",
        shows: "highest accepted traffic and mean latency of MLID divided by those of SLID",
        inputs: "`mport` with 1x SDR links, engines `mlid` and `dmodk`, packets of 32 bytes, buffers of one packet; loads up \
                 to 1.0",
        work: HeadlineWork::Rows(load_sweep_rows),
    },
];

fn cables(run: &HeadlineRun<'_>) -> HeadlineRows {
    let fabric = run.fabric("mport,m=4,n=3")?;
    let peer = |switch: &str, port: u8| {
        let is_named = |description: &str| description.split(' ').next() == Some(switch);
        let (id, _) = fabric.switches().find(|(_, node)| is_named(&node.facts.description))?;
        let peer = fabric.peer(fabric.port_of(id, PortNum(port))?)?;
        let end = fabric.port(peer);
        let description = fabric.node(end.node).facts.description.split(' ').next()?.to_owned();
        Some(format!("{description}[{}]", end.number.value()))
    };
    let found = |peer: Option<String>| peer.unwrap_or_else(|| "no cable".to_owned());
    let mut rows = vec![
        // <01,0> is the second switch of the top, <10,1> the third of the middle; ports here are one higher.
        HeadlineRow::must("<01,0> port 1", "mid2[4]", found(peer("spine1", 2)), Equal),
        // P(201) has PID 9.
        HeadlineRow::must("<20,2> port 1", "node9[1]", found(peer("leaf4", 2)), Equal),
    ];
    let lids = host_ports(&fabric).get(12).and_then(|port| fabric.address_of(*port));
    let words = lids.map_or_else(
        || "no LID".to_owned(),
        |(lid, lmc)| format!("{} to {}", lid.value(), lid.value() + lmc.lid_count() - 1),
    );
    rows.push(HeadlineRow::must("LIDs of P(300)", "49 to 52", words, Equal));
    Ok(rows)
}

/// The most hosts of a leaf that share an uplink on their way to one destination, over all destinations.
fn most_on_an_uplink(routed: &RoutedFabric) -> usize {
    let graph = SwitchGraph::new(&routed.fabric, &Faults::default());
    let bits = PathBits::by_place(&routed.fabric);
    let mut most = 0;
    for to in graph.terminals() {
        let Some(base) = to.lid else { continue };
        let leaf = graph.terminals_of(if to.switch == 0 { 1 } else { 0 });
        let mut users = std::collections::BTreeMap::new();
        for from in leaf {
            let lid = pick_lid(bits.get(from.port), base, to.lmc.lid_count());
            if let Some(port) = routed.routes.get(from.switch, lid) {
                *users.entry(port).or_insert(0usize) += 1;
            }
        }
        most = most.max(users.into_values().max().unwrap_or(0));
    }
    most
}

fn collisions(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (label, engine, paper) in [("one LID (figure 7)", "dmodk", 4u64), ("four LIDs (figure 9)", "mlid", 1)]
    {
        let routed = RoutedFabric::new(run, "mport,m=8,n=2", engine)?;
        let label = format!("hosts of a leaf on one uplink, {label}");
        rows.push(HeadlineRow::must(label, paper, most_on_an_uplink(&routed), Equal));
    }
    Ok(rows)
}

fn four_paths(run: &HeadlineRun<'_>) -> HeadlineRows {
    let routed = RoutedFabric::new(run, "mport,m=4,n=3", "mlid")?;
    // The switches <w0 w1, l> are number 2 w0 + w1 of their level; ports here are one higher than the paper's.
    let paper = [
        "leaf0[3] mid0[3] spine0[4] mid6[1] leaf6[1]",
        "leaf0[4] mid1[3] spine2[4] mid7[1] leaf6[1]",
        "leaf1[3] mid0[4] spine1[4] mid6[1] leaf6[1]",
        "leaf1[4] mid1[4] spine3[4] mid7[1] leaf6[1]",
    ];
    let graph = SwitchGraph::new(&routed.fabric, &Faults::default());
    let bits = PathBits::by_place(&routed.fabric);
    let mut rows = Vec::new();
    for (at, (from, paper)) in graph.terminals().iter().zip(paper).enumerate() {
        let base = Lid::new(49).ok_or_else(|| HeadlineStop::Failed("LID 49".to_owned()))?;
        let lid = pick_lid(bits.get(from.port), base, 4);
        let label = format!("PID {at} to P(300) by LID {lid}");
        rows.push(HeadlineRow::must(label, paper, routed.path_words(from.switch, lid), Equal));
    }
    Ok(rows)
}

fn counts(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (m, n, keys, paper) in [
        (4, 4, "", "56 switches, 32 hosts"),
        (8, 3, "", "80 switches, 128 hosts"),
        (16, 3, ",lmc=5", "320 switches, 1024 hosts"),
        (32, 2, "", "48 switches, 512 hosts"),
    ] {
        let fabric = run.fabric(&format!("mport,m={m},n={n}{keys}"))?;
        let hosts = fabric.count(NodeKind::ChannelAdapter);
        let ours = format!("{} switches, {hosts} hosts", fabric.switch_count());
        let row = HeadlineRow::must(format!("FT({m},{n})"), paper, ours, Equal);
        rows.push(match m {
            16 => row.because("error of the paper: with its LMC of 6 the hosts need 65,536 LIDs; here LMC 5"),
            _ => row,
        });
    }
    Ok(rows)
}
