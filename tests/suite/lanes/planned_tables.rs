//! After a plan every flow that moved is on its twin lane at every hop, all else is where it was, and nothing waits in a credit loop:
//! on random fabrics, rows and turns, each followed here and not by what made the plan.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{all_to, hops, hosts, lane, level, levels_of, lid_of, look, planned, tables, with_lanes};
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{
    Arbitration, Fabric, Lane, NodeId, PortId, PortNum, ServiceLevel, Sl2Vl, Tables, VlWeight,
};
use fabdeck_routing::lanes::FlowMoves;
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, count: u32) -> u32 {
        (self.0.next_u64() % u64::from(count)) as u32
    }

    /// Levels in use are on the lane of their number, the others anywhere: some where they should be already.
    fn row(&mut self, in_use: u32, lanes: u32) -> Sl2Vl {
        let mut row = Sl2Vl::default();
        for at in 0..16 {
            let twin = self.below(3) == 0;
            let on = if at < in_use || twin { at % lanes } else { self.below(lanes) };
            row.set(level(at), lane(on));
        }
        row
    }

    fn turns(&mut self, in_use: u32, lanes: u32) -> Arbitration {
        let table = |dice: &mut Self| {
            let mut table = vec![VlWeight { lane: lane(0), weight: 0 }; 40];
            for at in 0..in_use {
                table[dice.below(40) as usize] = VlWeight { lane: lane(at), weight: 1 + dice.below(9) as u8 };
            }
            table[dice.below(40) as usize] = VlWeight { lane: lane(dice.below(lanes)), weight: 7 };
            // Whoever is in no table never sends.
            for at in 0..in_use {
                let free = table.iter().position(|turn| turn.weight == 0).unwrap();
                table[free] = VlWeight { lane: lane(at), weight: 4 };
            }
            table
        };
        Arbitration { high_limit: 9, high: table(self), low: table(self) }
    }
}

/// Weights by lane, and where one stands.
fn weights(table: &[VlWeight]) -> BTreeMap<Lane, Vec<u8>> {
    let mut all: BTreeMap<Lane, Vec<u8>> = BTreeMap::new();
    table
        .iter()
        .filter(|turn| turn.weight > 0)
        .for_each(|turn| all.entry(turn.lane).or_default().push(turn.weight));
    all.values_mut().for_each(|weights| weights.sort_unstable());
    all
}

struct Case {
    fabric: Fabric,
    before: Tables,
    after: Tables,
    /// What is between fast and slow.
    apart: u8,
    moves: FlowMoves,
}

impl Case {
    fn lane(
        &self,
        tables: &Tables,
        (node, from, to): (NodeId, PortNum, PortNum),
        level: ServiceLevel,
    ) -> Lane {
        tables.nodes[&node].sl2vl[&(from, to)].lane(level)
    }

    /// Every host, for hosts that did not contribute may do so later.
    fn follow(&self, fast: &dyn Fn(PortId) -> ServiceLevel) -> BTreeMap<(NodeId, PortNum, PortNum), u16> {
        let mut slow_levels: BTreeMap<_, u16> = BTreeMap::new();
        let spot = self.moves.spots[0].adapter;
        let to = lid_of(&self.fabric, spot);
        for host in hosts(&self.fabric).into_iter().filter(|host| *host != spot) {
            let fast = fast(host);
            let slow = level(u32::from(fast.value() + self.apart));
            for hop in hops(&self.fabric, &self.before, host, to) {
                let then = self.lane(&self.before, hop, fast);
                assert_eq!(self.lane(&self.after, hop, fast), then, "the fast lane stays");
                assert_eq!(self.lane(&self.after, hop, slow).value(), then.value() + self.apart, "{hop:?}");
                *slow_levels.entry(hop).or_default() |= 1 << slow.value();
                let turns = |tables: &Tables| tables.nodes[&hop.0].arbitration[&hop.2].clone();
                let (held, now) = (turns(&self.before), turns(&self.after));
                let twin = lane(u32::from(then.value() + self.apart));
                for (held, now) in [(&held.high, &now.high), (&held.low, &now.low)] {
                    assert_eq!(weights(now).get(&twin), weights(held).get(&then), "{hop:?}");
                }
            }
        }
        slow_levels
    }

    /// What is no slow level on a way there is as it was.
    fn assert_others_unmoved(&self, slow: &BTreeMap<(NodeId, PortNum, PortNum), u16>) {
        let ports: BTreeSet<(NodeId, PortNum)> = slow.keys().map(|(node, _, to)| (*node, *to)).collect();
        for (node, held) in &self.before.nodes {
            let now = &self.after.nodes[node];
            assert_eq!(held.lft, now.lft);
            for ((from, to), row) in &held.sl2vl {
                let wrote = slow.get(&(*node, *from, *to)).copied().unwrap_or(0);
                for at in (0..16).filter(|at| wrote >> at & 1 == 0) {
                    assert_eq!(
                        now.sl2vl[&(*from, *to)].lane(level(at)),
                        row.lane(level(at)),
                        "{node:?} {from} {to}"
                    );
                }
            }
            for (port, turns) in &held.arbitration {
                let now = &now.arbitration[port];
                if !ports.contains(&(*node, *port)) {
                    assert_eq!(now, turns);
                    continue;
                }
                assert_eq!(now.high_limit, turns.high_limit);
                for (held, now) in [(&turns.high, &now.high), (&turns.low, &now.low)] {
                    let fast = |turn: &&VlWeight| turn.weight > 0 && turn.lane.value() < self.apart;
                    let left = |table: &[VlWeight]| table.iter().filter(fast).copied().collect::<Vec<_>>();
                    assert_eq!(left(held), left(now), "in their order");
                }
            }
        }
    }

    /// Packets between all hosts, on the fast level or to the hot-spot on either: whoever holds a lane of a channel may wait for the
    /// next. Nobody waits for itself.
    fn assert_no_cycle(&self, fast: &dyn Fn(PortId, PortId) -> ServiceLevel) {
        type Place = (NodeId, PortNum, Lane);
        let mut waits: BTreeMap<Place, BTreeSet<Place>> = BTreeMap::new();
        let spot = self.moves.spots[0].adapter;
        for to in hosts(&self.fabric) {
            for from in hosts(&self.fabric).into_iter().filter(|from| *from != to) {
                let fast = fast(from, to);
                let slow = (to == spot).then(|| level(u32::from(fast.value() + self.apart)));
                for level in [Some(fast), slow].into_iter().flatten() {
                    let way = hops(&self.fabric, &self.after, from, lid_of(&self.fabric, to));
                    let places: Vec<Place> =
                        way.iter().map(|hop| (hop.0, hop.2, self.lane(&self.after, *hop, level))).collect();
                    for pair in places.windows(2) {
                        waits.entry(pair[0]).or_default().insert(pair[1]);
                    }
                }
            }
        }
        // What waits for nobody is taken away until nothing is left.
        while !waits.is_empty() {
            let waiting: BTreeSet<Place> = waits.keys().copied().collect();
            let before = waits.len();
            waits.values_mut().for_each(|next| next.retain(|place| waiting.contains(place)));
            waits.retain(|_, next| !next.is_empty());
            assert!(waits.len() < before, "a credit loop of {before} places");
        }
    }
}

#[test]
fn moved_flows_are_on_their_twins_and_all_else_where_it_was() {
    let rounds = if crate::changes::long() { 200 } else { 24 };
    let mut several = 0;
    for seed in 0..rounds {
        let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
        let name = format!("random,switches=7,links=12,terminals=2,seed={seed}");
        let fabric = with_lanes(&generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric, 8);
        let faults = Default::default();
        let problem = Problem::new(&fabric, &faults);
        let wanted = 1 + (seed % 3) as u8;
        let id = if seed % 2 == 0 { "nue" } else { "dfsssp" };
        let request = Request { lanes: wanted.max(if id == "nue" { 1 } else { 4 }), ..Request::default() };
        let Ok(answer) = (find_engine(id).unwrap().route)(&problem, &request, &NoProgress) else { continue };
        let routes = answer.routes;
        let levels = levels_of(&fabric, &routes);
        let in_use = u32::from(16 - levels.all_bits().leading_zeros() as u8);
        several += usize::from(in_use > 1);
        let mut other = Dice(Xoshiro256PlusPlus::seed_from_u64(seed + 1000));
        let before = tables(&fabric, &routes, &mut || dice.row(in_use, 8), &mut || other.turns(in_use, 8));
        let all = hosts(&fabric);
        let spot = all[dice.below(all.len() as u32) as usize];
        let moves = all_to(&fabric, spot);
        let look = look(&fabric, &before);
        let sent = LevelsInForce::Records { levels: &levels, every: true };
        let plan = planned(&look, &moves, sent).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(plan.certificate["deadlock_free"], true, "{seed}: {:?}", plan.findings);
        let after = plan.tables_after(&fabric, &before);
        let case = Case { fabric, before, after, apart: in_use as u8, moves };
        let of = |from: PortId, to: PortId| {
            let switch = case.fabric.port(case.fabric.peer(from).unwrap()).node;
            level(routes.lane(switch.0, lid_of(&case.fabric, to)).value().into())
        };
        let slow = case.follow(&|host| of(host, spot));
        case.assert_others_unmoved(&slow);
        case.assert_no_cycle(&of);
        // Each flow is in the plan once, from its level to the twin.
        let flows = plan.migrations.iter().flat_map(|migration| {
            migration.flows.iter().map(move |flow| (flow.host.lid, (migration.fast, migration.slow)))
        });
        let flows: BTreeMap<u16, (u8, u8)> = flows.collect();
        for host in all.iter().filter(|host| **host != spot) {
            let fast = of(*host, spot).value();
            let own = lid_of(&case.fabric, *host).value();
            assert_eq!(flows.get(&own), Some(&(fast, fast + case.apart)), "{seed}");
        }
        assert_eq!(flows.len() + 1, all.len());
    }
    assert!(several > rounds as usize / 3, "{several} of {rounds} are on several lanes");
}
