//! Rates, hot-spots and links in trouble, against what is worked out by hand.

use fabdeck_fabric::counters::{
    CongestedAdapter, CongestionRole, Evidence, Growth, LinkProblemKind, Rates, Thresholds,
    classify_adapters, find_hot_spots, link_problems, rates_of_samples,
};
use fabdeck_fabric::observe::{Counter, CounterSample};
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeKind, PortId, PortNum, Tables,
};

/// A 4x DDR link carries 16 Gbit/s of data: 500 million words a second.
const WORDS_A_SECOND: u64 = 500_000_000;

/// Nodes by name, in the order in which cables name them; those that begin with a capital are switches.
struct CableLab {
    fabric: Fabric,
    names: Vec<&'static str>,
}

impl CableLab {
    fn new(cables: &[(&'static str, u8, &'static str, u8)]) -> Self {
        let mut builder = FabricBuilder::new();
        let (mut names, mut keys) = (Vec::new(), Vec::new());
        for (a, a_port, b, b_port) in cables {
            let ends = [(*a, *a_port), (*b, *b_port)].map(|(name, port)| {
                let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    let is_switch = name.starts_with(char::is_uppercase);
                    let kind = if is_switch { NodeKind::Switch } else { NodeKind::ChannelAdapter };
                    let facts = NodeFacts::new(kind, Guid(0x100 + names.len() as u64), 36, name);
                    keys.push(builder.add_node(facts).unwrap());
                    names.push(name);
                    names.len() - 1
                });
                let facts = builder.port(keys[at], PortNum(port));
                (facts.width, facts.speed) = (Some(LinkWidth::X4), Some(LinkSpeed::Ddr));
                (facts.width_supported, facts.speed_supported) = (facts.width, facts.speed);
                if name.starts_with(char::is_lowercase) {
                    facts.lid = Lid::new(names.iter().position(|known| *known == name).unwrap() as u32 + 1);
                }
                (keys[at], PortNum(port))
            });
            builder.connect(ends[0], ends[1]).unwrap();
        }
        Self { fabric: builder.finish(), names }
    }

    fn guid(&self, name: &str) -> Guid {
        Guid(0x100 + self.names.iter().position(|known| *known == name).unwrap() as u64)
    }

    fn port(&self, (name, port): (&str, u8)) -> PortId {
        let node = self.fabric.node_by_guid(self.guid(name)).unwrap();
        self.fabric.port_of(node, PortNum(port)).unwrap()
    }

    /// For each adapter the ports that lead to it.
    fn tables(&self, ways: &[(&'static str, &[(&str, u8)])]) -> Tables {
        let mut tables = Tables::default();
        for (to, ports) in ways {
            let lid = self.fabric.port(self.port((to, 1))).facts.lid.unwrap();
            for (switch, port) in *ports {
                let node = self.fabric.node_by_guid(self.guid(switch)).unwrap();
                tables.node_mut(node).lft.get_or_insert_default().set(lid, Some(PortNum(*port)));
            }
        }
        tables
    }

    /// A sample of every port: zero but for what is listed.
    fn look(&self, values: &[((&str, u8), Counter, u64)]) -> Vec<CounterSample> {
        let zero = || {
            use Counter::{LinkDownedCounter, PortXmitDataExtended, PortXmitWait, SymbolErrorCounter};
            [PortXmitDataExtended, PortXmitWait, SymbolErrorCounter, LinkDownedCounter]
        };
        let sample = |id: PortId| {
            let port = self.fabric.port(id);
            let mine = values.iter().filter(|(at, ..)| self.port(*at) == id);
            let values = zero().into_iter().map(|counter| (counter, Some(0)));
            CounterSample {
                node: Some(self.fabric.node(port.node).guid()),
                port: Some(port.number),
                values: values
                    .chain(mine.map(|(_, counter, value)| (counter.clone(), Some(*value))))
                    .collect(),
                ..CounterSample::default()
            }
        };
        self.fabric.ports().map(|(id, _)| sample(id)).collect()
    }
}

/// Figure 2: nodes 1, 2 and 4 send to node 6; node 7 sends to node 8 over the same link between the switches.
fn figure_2() -> CableLab {
    CableLab::new(&[
        ("A", 1, "n1", 1),
        ("A", 2, "n2", 1),
        ("A", 7, "n7", 1),
        ("A", 10, "B", 10),
        ("B", 4, "n4", 1),
        ("B", 6, "n6", 1),
        ("B", 8, "n8", 1),
    ])
}

const WAIT: Counter = Counter::PortXmitWait;
const DATA: Counter = Counter::PortXmitDataExtended;

#[test]
fn without_time_between_two_readings_there_are_no_rates() {
    let lab = figure_2();
    let before = lab.look(&[]);
    // A port that answers in one of the readings only is no finding either.
    let after = &lab.look(&[(("n1", 1), WAIT, 1)])[1..];
    assert_eq!(rates_of_samples(&lab.fabric, &before, after, 1.0).once.len(), 1);
    for seconds in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(rates_of_samples(&lab.fabric, &before, after, seconds), Rates::default(), "{seconds}");
    }
}

#[test]
fn figure_2_has_one_hot_spot_three_contributors_and_a_victim() {
    let lab = figure_2();
    let before = lab.look(&[(("n1", 1), WAIT, 1_000_000)]);
    // Ten seconds: node 6 takes the whole of its link; three share it, and what node 7 gets through is no more.
    let share = WORDS_A_SECOND * 10 / 3;
    let after = lab.look(&[
        (("n1", 1), WAIT, 4_000_000),
        (("n2", 1), WAIT, 2_500_000),
        (("n4", 1), WAIT, 1_500_000),
        (("n7", 1), WAIT, 2_000_000),
        (("n8", 1), WAIT, 1_000_000), // At the threshold is not beyond it.
        (("A", 10), WAIT, 2_200_000),
        (("B", 6), WAIT, 9_000_000),
        (("B", 6), DATA, WORDS_A_SECOND * 10),
        (("n1", 1), DATA, share),
        (("n2", 1), DATA, share),
        (("n4", 1), DATA, share),
        (("n7", 1), DATA, share),
    ]);
    let rates = rates_of_samples(&lab.fabric, &before, &after, 10.0);
    let n1 = rates.port(lab.port(("n1", 1))).unwrap();
    assert_eq!(n1.congestion(), Some(300_000.0), "equation 1");
    assert_eq!(n1.bandwidth(), Some(share as f64 * 4.0 / 10.0), "equation 2");
    assert!((n1.utilisation().unwrap() - 1.0 / 3.0).abs() < 1e-6, "equation 3");
    assert_eq!(rates.port(lab.port(("B", 6))).unwrap().utilisation(), Some(1.0));

    let verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    let hot: Vec<_> = verdict.hot_spots.iter().map(|hot| (hot.at.port, hot.adapter)).collect();
    assert_eq!(hot, [(lab.port(("B", 6)), lab.port(("n6", 1)))]);
    let held_up: Vec<_> = verdict.congested_adapters.iter().map(|held| (held.at.port, held.role)).collect();
    let suffers = |name| (lab.port((name, 1)), CongestionRole::Undecided);
    assert_eq!(held_up, [suffers("n1"), suffers("n2"), suffers("n7"), suffers("n4")], "the worst first");
    let way: Vec<_> = verdict.congested_ports.iter().map(|way| way.port).collect();
    assert_eq!(way, [lab.port(("A", 10))], "the tree of the hot-spot");
    assert!(verdict.unknown_ports.is_empty() && !verdict.has_narrow_links());
}

#[test]
fn a_host_that_sends_nothing_to_the_hot_spot_is_a_victim() {
    // C has a cable of its own to B, which carries nothing; what n9 sends goes over A to n1.
    let lab = CableLab::new(&[
        ("A", 1, "n1", 1),
        ("A", 2, "n2", 1),
        ("A", 10, "B", 10),
        ("A", 11, "C", 11),
        ("B", 12, "C", 12),
        ("B", 4, "n4", 1),
        ("B", 6, "n6", 1),
        ("C", 9, "n9", 1),
    ]);
    let part = WORDS_A_SECOND / 3;
    let mut counted = vec![(("B", 6), WAIT, 900_000), (("B", 6), DATA, part * 2), (("A", 1), DATA, part)];
    for name in ["n2", "n4", "n9"] {
        counted.extend([((name, 1), WAIT, 900_000), ((name, 1), DATA, part)]);
    }
    counted.extend([(("A", 10), DATA, part), (("C", 11), DATA, part)]);
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &lab.look(&counted), 1.0);
    let mut verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    let counters_alone = verdict.clone();
    classify_adapters(&lab.fabric, &lab.tables(&[]), &rates, &mut verdict);
    assert_eq!(verdict, counters_alone, "where nobody read tables nothing is told");
    let to_n6 = [("A", 10), ("B", 6), ("C", 12)];
    classify_adapters(
        &lab.fabric,
        &lab.tables(&[("n1", &[("A", 1), ("B", 10), ("C", 11)]), ("n6", &to_n6)]),
        &rates,
        &mut verdict,
    );
    let role = |name| {
        verdict
            .congested_adapters
            .iter()
            .find(|held| held.at.port == lab.port((name, 1)))
            .map(|held| held.role)
    };
    let sent = part as f64 * 4.0;
    // All that may have been for n6 lies in the buffer behind the cable of n9: 15 lanes of 128 KiB.
    let most = 15.0 * 131_072.0;
    assert_eq!(role("n9"), Some(CongestionRole::Victim { most, sent }));
    let hot_spot = lab.port(("n6", 1));
    let evidence = Evidence::OthersFallShort { hot_spot, others: sent, arrived: 2.0 * sent };
    for name in ["n2", "n4"] {
        assert_eq!(
            role(name),
            Some(CongestionRole::Contributor(evidence)),
            "{name}: half of it comes from nobody else"
        );
    }
}

/// The roles of n1 and n2, which wait at one switch with the hot-spot n6 and with n8, by the words that each port sent.
fn roles_at_one_switch(sent: &[((&str, u8), u64)]) -> [CongestionRole; 2] {
    let lab = CableLab::new(&[("A", 1, "n1", 1), ("A", 2, "n2", 1), ("A", 6, "n6", 1), ("A", 8, "n8", 1)]);
    let mut counted = vec![(("A", 6), WAIT, 900_000), (("n1", 1), WAIT, 900_000), (("n2", 1), WAIT, 900_000)];
    counted.extend(sent.iter().map(|(at, words)| (*at, DATA, *words)));
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &lab.look(&counted), 1.0);
    let mut verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    let ports = ["n1", "n2", "n6", "n8"].map(|name| (name, [("A", name[1..].parse().unwrap())]));
    let ways: Vec<(&str, &[(&str, u8)])> = ports.iter().map(|(name, ports)| (*name, &ports[..])).collect();
    classify_adapters(&lab.fabric, &lab.tables(&ways), &rates, &mut verdict);
    ["n1", "n2"].map(|name| {
        let held = verdict.congested_adapters.iter().find(|held| held.at.port == lab.port((name, 1)));
        held.unwrap().role
    })
}

/// Of 5 million words that n1 sent, n8 received all but 8 %. These may still lie in the buffer behind its cable.
#[test]
fn what_may_lie_in_buffers_proves_no_contributor() {
    let sent = |n8| {
        roles_at_one_switch(&[
            (("n1", 1), 5_000_000),
            (("n2", 1), 95_000_000 + n8),
            (("A", 6), 100_000_000),
            (("A", 8), n8),
        ])
    };
    let [few, _] = sent(4_600_000);
    assert_eq!(few, CongestionRole::Undecided);
    let [most, _] = sent(1_000_000);
    assert!(matches!(most, CongestionRole::Contributor(_)), "{most:?}");
}

/// 40 % of what arrived at n6 came from n1, and is 4 % of what n1 sends: less than what makes a contributor.
#[test]
fn a_large_part_of_what_arrives_may_be_a_small_part_of_what_an_adapter_sends() {
    let [n1, n2] = roles_at_one_switch(&[
        (("n1", 1), 200_000_000),
        (("n2", 1), 12_000_000),
        (("A", 6), 20_000_000),
        (("A", 8), 192_000_000),
    ]);
    assert!(!matches!(n1, CongestionRole::Contributor(_)), "{n1:?}");
    assert_eq!(n2, CongestionRole::Undecided);
}

/// Ports are read one after the other. The part of the interval that this took is allowed for in every comparison: here
/// half of what arrived proves a contributor, and proves nothing once the two readings may differ by that half.
#[test]
fn ports_read_at_different_moments_prove_less() {
    let lab = CableLab::new(&[
        ("A", 2, "n2", 1),
        ("A", 10, "B", 10),
        ("B", 4, "n4", 1),
        ("B", 6, "n6", 1),
        ("A", 1, "n1", 1),
    ]);
    let part = WORDS_A_SECOND / 3;
    let mut counted = vec![(("B", 6), WAIT, 900_000), (("B", 6), DATA, part * 2), (("A", 1), DATA, part)];
    for name in ["n2", "n4"] {
        counted.extend([((name, 1), WAIT, 900_000), ((name, 1), DATA, part)]);
    }
    counted.push((("A", 10), DATA, part));
    let mut rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &lab.look(&counted), 1.0);
    let verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    let tables = lab.tables(&[("n1", &[("A", 1), ("B", 10)]), ("n6", &[("A", 10), ("B", 6)])]);
    // Half of what arrived is beyond an allowance of 5 % and 44 %, and within one of 5 % and 46 %.
    for (skew, is_proved) in [(0.0, true), (0.44, true), (0.46, false)] {
        rates.skew = skew;
        let mut told_apart = verdict.clone();
        classify_adapters(&lab.fabric, &tables, &rates, &mut told_apart);
        let is_contributor = |held: &&CongestedAdapter| {
            matches!(held.role, CongestionRole::Contributor(Evidence::OthersFallShort { .. }))
        };
        let contributors = told_apart.congested_adapters.iter().filter(is_contributor).count();
        assert_eq!(
            contributors,
            if is_proved { 2 } else { 0 },
            "{skew}: {:?}",
            told_apart.congested_adapters
        );
    }
    // A port that went down in the interval had other paths at its beginning.
    counted.push((("A", 10), Counter::LinkDownedCounter, 1));
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &lab.look(&counted), 1.0);
    let mut undecided = verdict.clone();
    classify_adapters(&lab.fabric, &tables, &rates, &mut undecided);
    assert_eq!(undecided, verdict);
}

#[test]
fn a_host_without_a_path_to_a_hot_spot_is_no_contributor_to_it() {
    let lab = CableLab::new(&[
        ("A", 1, "n1", 1),
        ("A", 2, "n2", 1),
        ("A", 3, "n3", 1),
        ("A", 4, "n4", 1),
        ("A", 5, "n5", 1),
    ]);
    let part = WORDS_A_SECOND / 3;
    // n1 and n2 are hot-spots, and three send to them.
    let mut counted = vec![(("A", 1), WAIT, 900_000), (("A", 1), DATA, part)];
    counted.extend([(("A", 2), WAIT, 900_000), (("A", 2), DATA, part * 2)]);
    for name in ["n3", "n4", "n5"] {
        counted.extend([((name, 1), WAIT, 900_000), ((name, 1), DATA, part)]);
    }
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &lab.look(&counted), 1.0);
    let mut verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    assert_eq!(verdict.hot_spots.len(), 2);
    let (to_n1, to_n2) = ([("A", 1)], [("A", 2)]);
    let mut tables = lab.tables(&[("n1", &to_n1), ("n2", &to_n2)]);
    // Without an entry for n2 nothing that is sent comes there, however much did.
    let node = lab.fabric.node_by_guid(lab.guid("A")).unwrap();
    let lid = lab.fabric.port(lab.port(("n2", 1))).facts.lid.unwrap();
    tables.node_mut(node).lft.as_mut().unwrap().set(lid, None);
    classify_adapters(&lab.fabric, &tables, &rates, &mut verdict);
    let hot_spot = lab.port(("n2", 1));
    for held in &verdict.congested_adapters {
        let wrong = matches!(held.role, CongestionRole::Contributor(Evidence::OthersFallShort { hot_spot: to, .. }) if to == hot_spot);
        assert!(!wrong, "{held:?}");
    }
}

#[test]
fn a_host_with_a_fair_share_is_no_contributor() {
    let lab = figure_2();
    let before = lab.look(&[]);
    let after = lab.look(&[
        (("B", 6), WAIT, 900_000),
        (("n1", 1), WAIT, 900_000),
        (("n1", 1), DATA, WORDS_A_SECOND / 2),
        (("n2", 1), WAIT, 900_000),
        (("n2", 1), DATA, WORDS_A_SECOND / 2 - 1),
    ]);
    let rates = rates_of_samples(&lab.fabric, &before, &after, 1.0);
    let verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    let role = |name| {
        verdict
            .congested_adapters
            .iter()
            .find(|held| held.at.port == lab.port((name, 1)))
            .map(|held| held.role)
    };
    assert_eq!(role("n1"), Some(CongestionRole::FairShare), "half of the link is fair");
    assert_eq!(role("n2"), Some(CongestionRole::Undecided));
}

#[test]
fn uplinks_that_wait_are_no_end_point_hot_spot() {
    // A rail with one uplink a leaf: the hottest waits are the uplinks, and every adapter takes what comes.
    let lab = CableLab::new(&[
        ("S", 1, "L1", 36),
        ("S", 2, "L2", 36),
        ("L1", 1, "a", 1),
        ("L1", 2, "b", 1),
        ("L2", 1, "c", 1),
        ("L2", 2, "d", 1),
    ]);
    let after = lab.look(&[
        (("L1", 36), WAIT, 5_000_000),
        (("S", 2), WAIT, 5_000_000),
        (("a", 1), WAIT, 400_000),
        (("a", 1), DATA, WORDS_A_SECOND / 4),
    ]);
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &after, 1.0);
    let verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    assert!(verdict.hot_spots.is_empty() && verdict.has_narrow_links());
    assert_eq!(verdict.congested_ports.len(), 2);
    let thresholds = Thresholds { congestion: 6_000_000.0, ..Thresholds::default() };
    assert!(find_hot_spots(&lab.fabric, &rates, &thresholds).is_quiet());
}

#[test]
fn what_counters_do_not_tell_is_said() {
    let lab = figure_2();
    let stuck = u64::from(u32::MAX);
    let wide = Counter::PortXmitWaitExt;
    let (n1, n2, n4, n7) = (("n1", 1), ("n2", 1), ("n4", 1), ("n7", 1));
    let mut before =
        lab.look(&[(n1, WAIT, stuck), (n2, WAIT, stuck), (n2, wide.clone(), 7), (n4, WAIT, 800_000)]);
    let after = lab.look(&[
        (n1, WAIT, stuck),
        (n2, WAIT, stuck),
        (n2, wide, 500_007),
        (n4, WAIT, 300_000),
        (n7, WAIT, stuck),
    ]);
    before.retain(|sample| sample.node != Some(lab.guid("n8")));
    let rates = rates_of_samples(&lab.fabric, &before, &after, 1.0);
    let waited = |at| rates.port(lab.port(at)).unwrap().waited;
    assert_eq!(waited(n1), Growth::Stuck);
    assert_eq!(waited(n2), Growth::By(500_000), "the wide counter moves beside a narrow one that is stuck");
    assert_eq!(waited(n4), Growth::Cleared(300_000));
    assert_eq!(waited(n7), Growth::AtLeast(stuck));
    let verdict = find_hot_spots(&lab.fabric, &rates, &Thresholds::default());
    assert_eq!(verdict.unknown_ports, [n1, ("n8", 1)].map(|at| lab.port(at)));
    let bounds: Vec<_> =
        verdict.congested_adapters.iter().map(|held| (held.at.port, held.at.at_least)).collect();
    assert_eq!(bounds, [(lab.port(n7), true), (lab.port(n2), false), (lab.port(n4), true)]);
}

#[test]
fn no_rate_without_time() {
    let lab = figure_2();
    let look = lab.look(&[]);
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(rates_of_samples(&lab.fabric, &look, &look, seconds).ports.is_empty());
    }
}

#[test]
fn links_are_errored_flapping_or_slow_and_say_where() {
    let mut lab = figure_2();
    let after = lab.look(&[
        (("A", 1), Counter::SymbolErrorCounter, 10),
        (("n2", 1), Counter::SymbolErrorCounter, 9),
        (("B", 10), Counter::LinkDownedCounter, 1),
    ]);
    let rates = rates_of_samples(&lab.fabric, &lab.look(&[]), &after, 3600.0);
    let found = link_problems(&lab.fabric, &rates, &Thresholds::default());
    let link = |at| lab.fabric.port(lab.port(at)).link.unwrap();
    let why: Vec<_> = found.iter().map(|trouble| (trouble.link, trouble.why)).collect();
    let (a1, b10) = (lab.port(("A", 1)), lab.port(("B", 10)));
    assert_eq!(
        why,
        [
            (link(("A", 1)), LinkProblemKind::Errored { at: a1, per_hour: 10.0, at_least: false }),
            (link(("A", 10)), LinkProblemKind::Flaps { at: b10, per_hour: 1.0, at_least: false }),
        ],
        "nine errors an hour are below the threshold"
    );
    let patient = Thresholds { flaps_per_hour: 2.0, ..Thresholds::default() };
    assert_eq!(
        link_problems(&lab.fabric, &rates, &patient).len(),
        1,
        "one flap an hour is below this threshold"
    );
    // A link at half the width that both ends have.
    let mut builder = FabricBuilder::new();
    for (guid, kind) in [(1, NodeKind::Switch), (2, NodeKind::ChannelAdapter)] {
        let key = builder.add_node(NodeFacts::new(kind, Guid(guid), 4, "x")).unwrap();
        let facts = builder.port(key, PortNum(1));
        (facts.width, facts.width_supported) = (Some(LinkWidth::X1), Some(LinkWidth::X4));
        (facts.speed, facts.speed_supported) = (Some(LinkSpeed::Hdr), Some(LinkSpeed::Hdr));
    }
    let ends = [(NodeKind::Switch, 1), (NodeKind::ChannelAdapter, 2)]
        .map(|(kind, guid)| (builder.find(kind, Guid(guid)).unwrap(), PortNum(1)));
    builder.connect(ends[0], ends[1]).unwrap();
    lab.fabric = builder.finish();
    let found =
        link_problems(&lab.fabric, &fabdeck_fabric::counters::Rates::default(), &Thresholds::default());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].why, LinkProblemKind::Degraded);
}
