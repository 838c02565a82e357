//! The dissertation (Domke): topologies, their counts, their connectivity, and what failures cut off.

use std::sync::Arc;

use super::headline::HeadlineRelation::{Equal, Printed, Within};
use super::headline::{Headline, HeadlineRow, HeadlineRows, HeadlineWork};
use super::headline_run::{HeadlineRun, HeadlineStop};
use fabdeck_fabric::generate::{FailureCounts, draw_failures};
use fabdeck_fabric::{Faults, SwitchGraph};
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::{MarkedPaths, PathIndex, vertex_connectivity};

pub const HEADLINES: &[Headline] = &[
    Headline {
        id: "domke-3.1",
        place: "dissertation, table 3.1",
        shows: "vertex connectivity of topologies",
        inputs: "generated fabrics, maximum flows over switches",
        work: HeadlineWork::Rows(connectivities),
    },
    Headline {
        id: "domke-3.2",
        place: "dissertation, figures 3.2 and 6.1",
        shows: "shortest paths on a ring of five have a cycle of dependencies",
        inputs: "`torus,dims=5`, engines `minhop`, `dfsssp` and `nue`",
        work: HeadlineWork::Rows(ring_of_five),
    },
    Headline {
        id: "domke-4.1",
        place: "dissertation, table 4.1",
        shows: "failure rates of three systems",
        inputs: "none",
        work: HeadlineWork::Impossible("the authors' logs of production systems"),
    },
    Headline {
        id: "domke-fig-4.2",
        place: "dissertation, figure 4.2",
        shows: "pairs without a path until a reroute follow proposition 4.2",
        inputs: "`kary,k=10,n=3,hosts=1024`, engines `dfsssp`, `ftree`, `updn`, failures by seed",
        work: HeadlineWork::Rows(lost_pairs),
    },
    Headline {
        id: "domke-4.2",
        place: "dissertation, table 4.2",
        shows: "switches, hosts and links of the small topologies",
        inputs: "generated fabrics, balanced and unbalanced",
        work: HeadlineWork::Rows(|run| counts(run, &TABLE_4_2)),
    },
    Headline {
        id: "domke-6.1",
        place: "dissertation, table 6.1",
        shows: "switches, hosts and links of the topologies of chapter 6",
        inputs: "generated fabrics; the two systems are reconstructions",
        work: HeadlineWork::Rows(|run| counts(run, &TABLE_6_1)),
    },
];

/// A topology with the paper's switches, hosts, and links between switches.
type PaperCounts = (&'static str, &'static str, [usize; 3]);

const TABLE_4_2: [PaperCounts; 18] = [
    ("2D mesh(5,5)", "mesh,dims=5x5", [25, 275, 240]),
    ("2D mesh(5,5), unbalanced", "mesh,dims=5x5,hosts=256", [25, 256, 240]),
    ("3D mesh(3,3,3)", "mesh,dims=3x3x3", [27, 270, 216]),
    ("3D mesh(3,3,3), unbalanced", "mesh,dims=3x3x3,hosts=256", [27, 256, 216]),
    ("2D torus(5,5)", "torus,dims=5x5", [25, 275, 300]),
    ("2D torus(5,5), unbalanced", "torus,dims=5x5,hosts=256", [25, 256, 300]),
    ("3D torus(3,3,3)", "torus,dims=3x3x3", [27, 270, 324]),
    ("3D torus(3,3,3), unbalanced", "torus,dims=3x3x3,hosts=256", [27, 256, 324]),
    ("Kautz(2,4)", "kautz,d=2,k=4", [24, 264, 288]),
    ("Kautz(2,4), unbalanced", "kautz,d=2,k=4,hosts=256", [24, 256, 288]),
    ("16-ary 2-tree", "kary,k=16,n=2,hosts=256", [32, 256, 256]),
    ("16-ary 2-tree, unbalanced", "kary,k=16,n=2,hosts=270", [32, 270, 256]),
    ("XGFT(1,22,11)", "xgft,m=12x22,w=1x11", [33, 264, 242]),
    ("XGFT(1,22,11), unbalanced", "xgft,m=12x22,w=1x11,hosts=256", [33, 256, 242]),
    ("dragonfly(10,5,5,4)", "dragonfly,a=10,p=5,h=5,g=4,terminals=7", [40, 280, 276]),
    ("dragonfly(10,5,5,4), unbalanced", "dragonfly,a=10,p=5,h=5,g=4,hosts=256", [40, 256, 276]),
    ("random", "random,switches=32,links=256,hosts=256", [32, 256, 256]),
    ("random, unbalanced", "random,switches=32,links=256,hosts=270", [32, 270, 256]),
];

const TABLE_6_1: [PaperCounts; 8] = [
    ("random", "random,switches=125,links=1000,hosts=1000", [125, 1_000, 1_000]),
    ("3D torus(6,5,5)", "torus,dims=6x5x5,terminals=7,redundancy=4", [150, 1_050, 1_800]),
    ("10-ary 3-tree", "kary,k=10,n=3,hosts=1100", [300, 1_100, 2_000]),
    ("Kautz(7,3)", "kautz,d=5,k=3,terminals=7,redundancy=2", [150, 1_050, 1_500]),
    ("dragonfly(12,6,6,15)", "dragonfly,a=12,p=6,h=6,g=15", [180, 1_080, 1_515]),
    ("Cascade, 2 groups", "cascade,groups=2", [192, 1_536, 3_072]),
    ("TSUBAME2, second rail", "tsubame2", [243, 1_408, 3_384]),
    ("Taurus", "taurus", [211, 2_090, 2_490]),
];

fn counts(run: &HeadlineRun<'_>, table: &[PaperCounts]) -> HeadlineRows {
    let words =
        |[switches, hosts, links]: [usize; 3]| format!("{switches} switches, {hosts} hosts, {links} links");
    let mut rows = Vec::new();
    for (label, name, paper) in table {
        let fabric = run.fabric(name)?;
        let links = fabric.links().filter(|(id, _)| fabric.is_between_switches(*id)).count();
        let ours = words([fabric.switch_count(), fabric.host_count(), links]);
        let row = HeadlineRow::must(*label, words(*paper), ours, Equal);
        rows.push(match *label {
            "Kautz(7,3)" => row.because("error of the paper: these are the counts of Kautz(5,3)"),
            _ => row,
        });
    }
    Ok(rows)
}

/// Steps of the flows of one topology.
const MAX_STEPS: u64 = 100_000_000_000;

fn connectivities(run: &HeadlineRun<'_>) -> HeadlineRows {
    let mut rows = Vec::new();
    for (label, name, paper, error) in [
        ("2D mesh: n", "mesh,dims=5x5", 2u64, ""),
        ("3D mesh: n", "mesh,dims=3x3x3", 3, ""),
        ("2D torus: 2n", "torus,dims=5x5", 4, ""),
        ("3D torus: 2n", "torus,dims=4x4x4", 6, ""),
        ("16-ary 2-tree: k", "kary,k=16,n=2", 16, ""),
        ("10-ary 3-tree: k", "kary,k=10,n=3", 10, ""),
        ("XGFT(1,22,11): w", "xgft,m=12x22,w=1x11", 11, ""),
        (
            "Kautz(2,4): 2d",
            "kautz,d=2,k=4",
            4,
            "error of the paper: the words abab... and baba... are neighbours both ways, so they have 2d - 1",
        ),
        ("dragonfly(12,6,6,73): a + h - 1", "dragonfly,a=12,p=6,h=6,g=73", 17, ""),
        (
            "dragonfly(10,5,5,4): a + h - 1",
            "dragonfly,a=10,p=5,h=5,g=4",
            14,
            "not all global ports of four groups are in use",
        ),
    ] {
        run.show(format!("domke-3.1: {name}"));
        if run.quick && name.ends_with("g=73") {
            rows.push(HeadlineRow::missing(label, paper, "left out with --quick"));
            continue;
        }
        let graph = SwitchGraph::new(&run.fabric(name)?, &Faults::default());
        rows.push(match (vertex_connectivity(&graph, MAX_STEPS), error) {
            (Some(ours), "") => HeadlineRow::must(label, paper, ours, Equal),
            (Some(ours), why) => HeadlineRow::may(label, paper, ours, Equal).because(why),
            (None, _) => HeadlineRow::missing(label, paper, "too large for an exact answer"),
        });
    }
    Ok(rows)
}

fn ring_of_five(run: &HeadlineRun<'_>) -> HeadlineRows {
    let (fabric, faults) = (run.fabric("torus,dims=5")?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut rows = Vec::new();
    for (engine, paper) in [("minhop", "a cycle"), ("dfsssp", "no cycle"), ("nue", "no cycle")] {
        let certificate = run.certify(&problem, &run.route(engine, &problem)?.routes)?;
        let ours = if certificate.cycles.is_empty() { "no cycle" } else { "a cycle" };
        rows.push(HeadlineRow::must(format!("ring of five, {engine}"), paper, ours, Equal));
    }
    Ok(rows)
}

/// Least, mean and most of lost pairs over the seeds.
fn lost_over_seeds(
    run: &HeadlineRun<'_>,
    problem: &Problem<'_>,
    index: &Arc<PathIndex>,
    counts: FailureCounts,
) -> Result<[f64; 3], HeadlineStop> {
    let seeds = run.samples(20, 100);
    let (mut least, mut most, mut sum) = (u64::MAX, 0, 0);
    for seed in 1..=seeds {
        run.check_stop()?;
        let faults = draw_failures(problem.fabric, counts, seed)
            .map_err(|error| HeadlineStop::Failed(error.to_string()))?;
        let mut marked = MarkedPaths::new(Arc::clone(index));
        marked.set_marks(problem.fabric, &faults);
        let pairs = marked.path_losses().pairs;
        (least, most, sum) = (least.min(pairs), most.max(pairs), sum + pairs);
    }
    Ok([least as f64, sum as f64 / seeds as f64, most as f64])
}

fn lost_pairs(run: &HeadlineRun<'_>) -> HeadlineRows {
    let (fabric, faults) = (run.fabric("kary,k=10,n=3,hosts=1024")?, Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let sample = run.sample_words(20, 100, "seeds");
    let mut rows = Vec::new();
    for engine in ["dfsssp", "ftree", "updn"] {
        run.show(format!("domke-fig-4.2: {engine}"));
        let routes = Arc::new(run.route(engine, &problem)?.routes);
        let index = PathIndex::new(&problem, routes, run).map_err(|_| HeadlineStop::Cancelled)?;
        let index = Arc::new(index);
        for links in [1u32, 2, 5, 10, 20, 40, 60] {
            let counts = FailureCounts { links, switches: 0 };
            let [least, mean, most] = lost_over_seeds(run, &problem, &index, counts)?;
            let paper = index.expected(links as usize).linear;
            let label = format!("{engine}, {links} links: mean lost pairs");
            // Few failures of few seeds say little.
            let row = match links {
                20.. => HeadlineRow::must(label, paper, mean, Within(10.0)),
                _ => HeadlineRow::may(label, paper, mean, Within(25.0)),
            };
            rows.push(row.over(format!("{sample}; {least} to {most}")));
        }
        for switches in [1u32, 2, 4, 8] {
            let counts = FailureCounts { links: 0, switches };
            let [least, mean, most] = lost_over_seeds(run, &problem, &index, counts)?;
            let label = format!("{engine}, {switches} switches: mean lost pairs");
            let row = HeadlineRow::may(label, "-", mean, Printed);
            rows.push(row.because("the drawing is lost").over(format!("{sample}; {least} to {most}")));
        }
    }
    Ok(rows)
}
