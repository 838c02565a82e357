//! What cannot be is refused, with the port that stands against it by name.

use super::{
    SENDS, all_to, flat, hosts, lane, level, levels_of, lid, lid_of, look, moved, one_turn, planned, tables,
    verdict, with_lanes,
};
use crate::traffic::test_bed::TestBed;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::lanes::slow_lanes::{TableStatus, lane_state};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{
    Arbitration, Fabric, LinkSpeed, PortNum, Routes, ServiceLevels, Sl2Vl, Tables, VlWeight,
};
use fabdeck_routing::lanes::propose_moves;
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

struct RefusalCase {
    fabric: Fabric,
    routes: Routes,
    tables: Tables,
    stage: TestBed,
}

fn refusal_case(lanes: u8) -> RefusalCase {
    let stage = TestBed::new(2, LinkSpeed::Ddr, false);
    let fabric = with_lanes(&stage.fabric, lanes);
    let tables = tables(&fabric, &stage.routes, &mut flat, &mut one_turn);
    RefusalCase { fabric, routes: (*stage.routes).clone(), tables, stage }
}

impl RefusalCase {
    fn error(&self, sent: LevelsInForce<'_>) -> String {
        let moves = all_to(&self.fabric, self.stage.host(5));
        planned(&look(&self.fabric, &self.tables), &moves, sent).unwrap_err().to_string()
    }

    fn levels(&self) -> ServiceLevels {
        levels_of(&self.fabric, &self.routes)
    }

    /// The last leaf's way to its own host 5.
    fn at_leaf(&self, what: impl FnOnce(&mut fabdeck_fabric::NodeTables, PortNum, PortNum)) -> Tables {
        let mut tables = self.tables.clone();
        let out = self.fabric.peer(self.stage.host(5)).unwrap();
        let from = self.fabric.peer(self.stage.host(6)).unwrap();
        let (out, from) = (self.fabric.port(out), self.fabric.port(from));
        what(tables.node_mut(out.node), from.number, out.number);
        tables
    }

    fn with(&self, what: impl FnOnce(&mut fabdeck_fabric::NodeTables, PortNum, PortNum)) -> RefusalCase {
        let tables = self.at_leaf(what);
        RefusalCase {
            fabric: self.fabric.clone(),
            routes: self.routes.clone(),
            tables,
            stage: refusal_case(2).stage,
        }
    }
}

fn has(error: &str, words: &[&str]) {
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn ports_with_too_few_lanes_are_named() {
    has(
        &refusal_case(1).error(LevelsInForce::One),
        &["FD-7956", "port A[3]", "has 1 lane,", "together are 2"],
    );
    let four = refusal_case(4);
    let mut levels = four.levels();
    levels.add(0, lid(2), level(2));
    let sent = LevelsInForce::Records { levels: &levels, every: true };
    // All levels are on lane 0, and yet the twin of level 2 needs its place.
    has(&four.error(sent), &["FD-7956", "has 4 lanes", "together are 6"]);
    levels.add(0, lid(2), level(7));
    let sent = LevelsInForce::Records { levels: &levels, every: true };
    has(&four.error(sent), &["FD-7954", "up to 7"]);
    assert!(
        planned(
            &look(&four.fabric, &four.tables),
            &all_to(&four.fabric, four.stage.host(5)),
            LevelsInForce::One
        )
        .is_ok()
    );
}

#[test]
fn unknown_tables_are_named() {
    let given = refusal_case(4);
    for sent in [LevelsInForce::Unknown, LevelsInForce::Unsaid] {
        has(&given.error(sent), &["FD-7952", "--lanes-in-force"]);
    }
    has(
        &given.with(|held, from, out| _ = held.sl2vl.remove(&(from, out))).error(LevelsInForce::One),
        &["FD-7957", "switch C", "SL2VL"],
    );
    has(
        &given.with(|held, _, out| _ = held.arbitration.remove(&out)).error(LevelsInForce::One),
        &["FD-7957", "C[1]", "arbitration"],
    );
    has(
        &given.with(|held, _, _| held.lft = None).error(LevelsInForce::One),
        &["FD-7957", "switch C", "LID 5"],
    );
    let mut own = given.with(|_, _, _| {});
    let host = own.fabric.port(own.stage.host(3)).node;
    own.tables.node_mut(host).sl2vl.clear();
    has(&own.error(LevelsInForce::One), &["FD-7957", "port node3[1]"]);
    // A screen shows the rest all the same.
    let moves = all_to(&own.fabric, own.stage.host(5));
    let state = lane_state(&look(&own.fabric, &own.tables), &moves, &[], LevelsInForce::One);
    let cannot = state.tables.iter().filter(|table| matches!(table.standing, TableStatus::Cannot(_)));
    assert_eq!((cannot.count(), state.refused.clone()), (1, None));
    assert!(
        lane_state(&look(&own.fabric, &own.tables), &moves, &[], LevelsInForce::Unknown).refused.is_some()
    );
}

#[test]
fn lanes_without_a_turn_or_a_place_are_named() {
    let given = refusal_case(4);
    let full = |held: &mut fabdeck_fabric::NodeTables, _: PortNum, out: PortNum| {
        let low = vec![VlWeight { lane: lane(0), weight: 9 }; 8];
        held.arbitration.insert(out, Arbitration { low, ..one_turn() });
    };
    has(&given.with(full).error(LevelsInForce::One), &["FD-7958", "low table", "C[1]", "lane 1"]);
    let none = |held: &mut fabdeck_fabric::NodeTables, _: PortNum, out: PortNum| {
        held.arbitration.insert(out, Arbitration::default());
    };
    has(&given.with(none).error(LevelsInForce::One), &["FD-7958", "C[1]", "lane 0 no turn"]);
    let mut away = Sl2Vl::default();
    away.set(level(0), lane(15));
    let dropped = given.with(|held, from, out| _ = held.sl2vl.insert((from, out), away));
    has(&dropped.error(LevelsInForce::One), &["FD-7958", "level 0", "lane 15", "C[1]"]);
}

#[test]
fn levels_that_others_use_are_named() {
    let given = refusal_case(8);
    let in_force = [moved(lid(5), (0, 1), &[lid(1)])];
    let hot = verdict(&given.fabric, &[given.stage.host(5)], &[(given.stage.host(3), SENDS)]);
    let moves = propose_moves(&given.fabric, &hot, &[], &in_force);
    let error = |levels: &ServiceLevels| {
        let sent = LevelsInForce::Records { levels, every: true };
        planned(&look(&given.fabric, &given.tables), &moves, sent)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    // A manager whose policy has the slow level says so to all, and that is no other use of it.
    let mut levels = given.levels();
    (0..3).for_each(|switch| levels.add(switch, lid(5), level(1)));
    assert_eq!(error(&levels), Ok(()));
    levels.add(0, lid(4), level(1));
    has(&error(&levels).unwrap_err(), &["FD-7955", "level 1", "LID 4"]);
    // With two levels in use the twins are others.
    let mut levels = given.levels();
    levels.add(0, lid(4), level(2));
    has(&error(&levels).unwrap_err(), &["FD-7955", "LID 5", "level 1", "would be 3"]);
    // Hosts of one switch on two levels: whose is which nobody knows.
    let mut levels = given.levels();
    levels.add(1, lid(5), level(1));
    let moves = all_to(&given.fabric, given.stage.host(5));
    let sent = LevelsInForce::Records { levels: &levels, every: false };
    let error = planned(&look(&given.fabric, &given.tables), &moves, sent).unwrap_err().to_string();
    has(&error, &["FD-7953", "switch B", "node5[1]", "--lanes-in-force exact"]);
}

/// Routes whose packets wait in a credit loop on one lane, in a ring.
fn ring(engine_id: &str, lanes: u8) -> (Fabric, Routes) {
    let fabric = with_lanes(&generate(&"torus,dims=7".parse::<FabricSpec>().unwrap()).unwrap().fabric, 8);
    let faults = Default::default();
    let request = Request { lanes, ..Request::default() };
    let answer =
        (find_engine(engine_id).unwrap().route)(&Problem::new(&fabric, &faults), &request, &NoProgress);
    let routes = answer.unwrap().routes;
    (fabric, routes)
}

/// A credit loop on the fast lane is a fault of the tables in force, and moving adds none; unless flows are on the slow lane whose
/// tables are no twins, for then nobody knows what waits for what.
#[test]
fn a_credit_loop_that_existed_before_is_none_of_the_transition() {
    let (fabric, routes) = ring("minhop", 1);
    let flat = tables(&fabric, &routes, &mut flat, &mut one_turn);
    let all = hosts(&fabric);
    let moves = all_to(&fabric, all[0]);
    let plan = planned(&look(&fabric, &flat), &moves, LevelsInForce::One).unwrap();
    assert_eq!((&plan.certificate["deadlock_free"], plan.transition.safe), (&false.into(), Some(true)));
    assert!(plan.transition.cycle.is_none() && plan.certificate["cycle"].is_array());
    let in_force = [moved(lid_of(&fabric, all[0]), (0, 1), &[lid_of(&fabric, all[3])])];
    let again = propose_moves(&fabric, &verdict(&fabric, &[all[0]], &[(all[4], SENDS)]), &[], &in_force);
    let safe = |tables: &Tables| {
        planned(&look(&fabric, tables), &again, LevelsInForce::One).unwrap().transition.safe
    };
    assert_eq!(safe(&flat), Some(false));
    assert_eq!(safe(&plan.tables_after(&fabric, &flat)), Some(true));
}

/// No credit loop before and none after, and yet packets on the slow level may close one while its tables are written.
#[test]
fn flows_on_tables_that_are_no_twins_make_the_transition_unknown_where_lanes_split_a_credit_loop() {
    let (fabric, routes) = ring("dfsssp", 4);
    let levels = levels_of(&fabric, &routes);
    let in_use = 16 - levels.all_bits().leading_zeros() as u8;
    assert!(in_use > 1);
    let mut row = Sl2Vl::default();
    (0..u32::from(in_use)).for_each(|at| row.set(level(at), lane(at)));
    let mut turns = one_turn();
    (1..in_use).for_each(|at| turns.low[usize::from(at)] = VlWeight { lane: lane(at.into()), weight: 64 });
    turns.low.extend(vec![VlWeight { lane: lane(0), weight: 0 }; 8]);
    let before = tables(&fabric, &routes, &mut || row, &mut || turns.clone());
    let all = hosts(&fabric);
    let (hot, first, second) = (lid_of(&fabric, all[0]), all[3], all[4]);
    let own = fabric.port(fabric.peer(first).unwrap()).node.0;
    let fast = u32::from(routes.lane(own, hot).value());
    let in_force = [moved(hot, (fast, fast + u32::from(in_use)), &[lid_of(&fabric, first)])];
    let hot = verdict(&fabric, &[all[0]], &[(second, SENDS)]);
    let sent = LevelsInForce::Records { levels: &levels, every: true };
    let of = |tables: &Tables, in_force: &[fabdeck_routing::lanes::MovedFlows]| {
        planned(&look(&fabric, tables), &propose_moves(&fabric, &hot, &[], in_force), sent).unwrap()
    };
    let plan = of(&before, &in_force);
    assert_eq!((&plan.certificate["deadlock_free"], plan.transition.safe), (&true.into(), None));
    let reason = plan.transition.reason.clone().unwrap();
    assert!(reason.contains("may wait on fast lanes too"), "{reason}");
    assert_eq!(of(&before, &[]).transition.safe, Some(true), "nobody is on the slow lane yet");
    assert_eq!(of(&plan.tables_after(&fabric, &before), &in_force).transition.safe, Some(true));
}
