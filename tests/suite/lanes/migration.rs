//! Algorithm 1 on figure 3 of the paper: 1, 3 and 6 send to 5, and 2 to 3.

use super::{flat, lid, look, moved, one_turn, planned, tables, verdict, with_lanes};
use crate::traffic::test_bed::TestBed;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::lanes::migrations::{migration_plan, moved_flows};
use fabdeck::operations::lanes::slow_lanes::{LaneStatus, TableStatus, lane_state};
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck_change::{FollowMode, MigrationDirection};
use fabdeck_fabric::counters::{CongestionRole, Evidence, LikelyRole};
use fabdeck_fabric::{Fabric, FabricBuilder, LinkSpeed, PortFacts, PortId};
use fabdeck_routing::lanes::{FlowMoves, MissingEnd, MovePhase, MovedFlows, propose_moves};

fn stage() -> TestBed {
    let stage = TestBed::new(2, LinkSpeed::Ddr, false);
    TestBed { fabric: with_lanes(&stage.fabric, 4), ..stage }
}

#[test]
fn contributors_move_and_victims_stay() {
    let stage = stage();
    let host = |number| stage.host(number);
    let cases: [(CongestionRole, bool); 6] = [
        (CongestionRole::Contributor(Evidence::NowhereElse { elsewhere: 0.0, sent: 1.0 }), true),
        (
            CongestionRole::Contributor(Evidence::OthersFallShort {
                hot_spot: host(5),
                others: 0.0,
                arrived: 1.0,
            }),
            true,
        ),
        (CongestionRole::Undecided, true),
        (CongestionRole::Unknown, true),
        (CongestionRole::Victim { most: 0.0, sent: 1.0 }, false),
        (CongestionRole::FairShare, false),
    ];
    for (role, moves) in cases {
        let found =
            propose_moves(&stage.fabric, &verdict(&stage.fabric, &[host(5)], &[(host(2), role)]), &[], &[]);
        let joins: &[PortId] = if moves { &[host(2)] } else { &[] };
        assert_eq!((found.spots[0].joins.as_slice(), found.has_moves()), (joins, moves), "{role:?}");
    }
    // What earlier readings say of a host that one reading leaves open: a likely victim would only lose by the slow lane.
    for (likely, moves) in [(None, true), (Some(LikelyRole::Victim { most: 0.0 }), false)] {
        let mut found = verdict(&stage.fabric, &[host(5)], &[(host(2), CongestionRole::Undecided)]);
        found.congested_adapters[0].likely = likely;
        let found = propose_moves(&stage.fabric, &found, &[], &[]);
        assert_eq!(found.spots[0].joins.contains(&host(2)), moves, "{likely:?}");
    }
    // Who is hot does not send to itself, and may send to another that is.
    let both = verdict(&stage.fabric, &[host(5), host(3)], &[(host(3), CongestionRole::Unknown)]);
    let found = propose_moves(&stage.fabric, &both, &[], &[]);
    assert_eq!((found.spots[0].joins.as_slice(), found.spots[1].joins.len()), (&[host(3)][..], 0));
}

#[test]
fn a_plan_has_the_flows_of_the_paper() {
    let stage = stage();
    let tables = tables(&stage.fabric, &stage.routes, &mut flat, &mut one_turn);
    let look = look(&stage.fabric, &tables);
    let host = |number| stage.host(number);
    let held = [1, 3, 6].map(|number| (host(number), CongestionRole::Undecided));
    let found = verdict(
        &stage.fabric,
        &[host(5)],
        &[held[0], held[1], held[2], (host(2), CongestionRole::Victim { most: 0.0, sent: 1.0 })],
    );
    let moves = propose_moves(&stage.fabric, &found, &[], &[]);
    let agents = [(lid(1), Some(true)), (lid(3), Some(false))];
    let plan = migration_plan(&look, &moves, &agents, LevelsInForce::One, PlanOrigin::default()).unwrap();
    let [migration] = plan.migrations.as_slice() else { panic!("{:?}", plan.migrations) };
    assert_eq!((migration.towards, migration.fast, migration.slow), (MigrationDirection::Slow, 0, 1));
    let flows: Vec<_> = migration.flows.iter().map(|flow| (flow.host.lid, flow.follows)).collect();
    assert_eq!(flows, [(1, FollowMode::Agent), (3, FollowMode::Queries), (6, FollowMode::Unknown)]);
    assert_eq!((migration.hot_spot.lid, migration.hot_spot.name.as_str()), (5, "node5[1]"));
    let findings = plan.findings.join("; ");
    assert!(
        findings.contains("1 of 3 hosts has no agent") && findings.contains("whether 1 of 3"),
        "{findings}"
    );
    assert_eq!((plan.transition.safe, plan.impact["to_slow"].as_u64()), (Some(true), Some(3)));
    assert_eq!((plan.lanes.by.as_str(), plan.lanes.count), ("destination", 2));
    let row = plan.lanes.destination.clone().unwrap();
    assert_eq!((&row[10..12], row.matches("01").count()), ("01", 1), "LID 5 alone");
    // Every way to 5, and no other: what others than 5 are reached through stays.
    let state = lane_state(&look, &moves, &agents, LevelsInForce::One);
    assert_eq!((state.spots.len(), state.spots[0].standing), (1, LaneStatus::Proposed));
    assert_eq!(state.differing_tables().count(), plan.writes.len());
    let standing = |table: &fabdeck::operations::lanes::slow_lanes::LaneTable| {
        matches!(table.standing, TableStatus::Differs { .. })
    };
    assert!(state.tables.iter().all(standing));
    // Afterwards they are as they should be.
    let after = super::look(&stage.fabric, &plan.tables_after(&stage.fabric, &tables));
    let again = lane_state(&after, &moves, &agents, LevelsInForce::One);
    assert_eq!((again.differing_tables().count(), again.tables.len()), (0, state.tables.len()));
    let twice = planned(&after, &moves, LevelsInForce::One).unwrap();
    assert!(twice.writes.is_empty() && twice.migrations.len() == 1);
}

#[test]
fn new_flows_join_and_cooled_ones_go_back() {
    let stage = stage();
    let fabric = &stage.fabric;
    let tables = tables(fabric, &stage.routes, &mut flat, &mut one_turn);
    let look = look(fabric, &tables);
    let host = |number| stage.host(number);
    let in_force = [moved(lid(5), (0, 1), &[lid(1), lid(3)])];
    let held = [1, 3, 6].map(|number| (host(number), CongestionRole::Undecided));
    let moves = propose_moves(fabric, &verdict(fabric, &[host(5)], &held), &[], &in_force);
    assert_eq!((moves.spots[0].phase, moves.spots[0].joins.as_slice()), (MovePhase::InForce, &[host(6)][..]));
    let plan = planned(&look, &moves, LevelsInForce::One).unwrap();
    assert_eq!(plan.migrations[0].flows.len(), 1);
    let all = moved_flows(fabric, &plan.migrations);
    assert_eq!(all, [moved(lid(5), (0, 1), &[lid(6)])]);
    assert_eq!(lane_state(&look, &moves, &[], LevelsInForce::One).spots[0].standing, LaneStatus::Partly);
    // Nobody contributes any more, and it is hot still: all stay.
    let quiet = propose_moves(fabric, &verdict(fabric, &[host(5)], &[]), &[], &in_force);
    assert_eq!((quiet.has_moves(), quiet.spots[0].phase), (false, MovePhase::InForce));
    // Their tables are not there, so they are written and nobody moves.
    let state = lane_state(&look, &quiet, &[], LevelsInForce::One);
    assert!(state.needs_plan() && state.needs_tables());
    let repair = planned(&look, &quiet, LevelsInForce::One).unwrap();
    assert!(repair.migrations.is_empty() && repair.writes.len() == state.differing_tables().count());
    let whole = super::look(fabric, &repair.tables_after(fabric, &tables));
    let error = migration_plan(&whole, &quiet, &[], LevelsInForce::One, PlanOrigin::default()).unwrap_err();
    assert!(error.to_string().contains("FD-7951"), "{error}");
    assert!(!lane_state(&whole, &quiet, &[], LevelsInForce::One).needs_plan());
    // It waits no more. Whether that is so, its switch has to have told.
    let told = [fabric.peer(host(5)).unwrap()];
    let cooled = propose_moves(fabric, &verdict(fabric, &[], &[]), &told, &in_force);
    assert_eq!((cooled.has_moves(), cooled.spots[0].phase), (true, MovePhase::Cooled));
    for sent in [LevelsInForce::One, LevelsInForce::Unknown] {
        let plan = planned(&look, &cooled, sent).unwrap();
        assert_eq!(
            (plan.migrations[0].towards, plan.migrations[0].flows.len()),
            (MigrationDirection::Fast, 2)
        );
        assert!(plan.writes.is_empty());
        assert_eq!(plan.lanes.count, 1);
        assert!(
            moved_flows(
                fabric,
                &[planned(&look, &moves, LevelsInForce::One).unwrap().migrations, plan.migrations].concat()
            )
            .len()
                == 1
        );
    }
    let untold =
        propose_moves(fabric, &verdict(fabric, &[], &[]), &[fabric.peer(host(4)).unwrap()], &in_force);
    assert_eq!((untold.has_moves(), untold.spots[0].phase), (false, MovePhase::Untold));
    assert_eq!(lane_state(&look, &untold, &[], LevelsInForce::One).spots[0].standing, LaneStatus::Untold);
    // A LID that nobody has now.
    let gone = propose_moves(fabric, &verdict(fabric, &[], &[]), &told, &[moved(lid(77), (0, 1), &[lid(1)])]);
    assert_eq!((gone.has_moves(), gone.gone.len()), (false, 1));
}

#[test]
fn what_moved_is_what_the_last_change_says() {
    let stage = stage();
    let tables = tables(&stage.fabric, &stage.routes, &mut flat, &mut one_turn);
    let look = look(&stage.fabric, &tables);
    let held = [1, 3].map(|number| (stage.host(number), CongestionRole::Unknown));
    let hot = verdict(&stage.fabric, &[stage.host(5)], &held);
    let there =
        planned(&look, &propose_moves(&stage.fabric, &hot, &[], &[]), LevelsInForce::One).unwrap().migrations;
    let now = moved_flows(&stage.fabric, &there);
    assert_eq!(now, [moved(lid(5), (0, 1), &[lid(1), lid(3)])]);
    let told = [stage.fabric.peer(stage.host(5)).unwrap()];
    let quiet = verdict(&stage.fabric, &[], &[]);
    let back = planned(&look, &propose_moves(&stage.fabric, &quiet, &told, &now), LevelsInForce::One)
        .unwrap()
        .migrations;
    assert_eq!(moved_flows(&stage.fabric, &[there.clone(), back].concat()), []);
    assert_eq!(moved_flows(&stage.fabric, &[there.clone(), there].concat()), now);
}

/// The same with the LIDs of two ports exchanged.
fn exchanged(fabric: &Fabric, [one, other]: [u32; 2]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let keys: Vec<_> =
        fabric.nodes().map(|(_, node)| builder.add_node(node.facts.clone()).unwrap()).collect();
    for (_, port) in fabric.ports() {
        let is = |at| port.facts.lid == Some(lid(at));
        let own = if is(one) { Some(lid(other)) } else { port.facts.lid };
        let own = if is(other) { Some(lid(one)) } else { own };
        *builder.port(keys[port.node.index()], port.number) = PortFacts { lid: own, ..port.facts.clone() };
    }
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, number)| (keys[node.index()], number));
        builder.connect(a, b).unwrap();
    }
    builder.finish()
}

/// LIDs are given anew: whoever has that of a hot-spot now was never one, and nobody is told to go back to it.
#[test]
fn a_host_with_the_former_lid_of_another_is_not_mistaken_for_it() {
    let stage = stage();
    let tables = tables(&stage.fabric, &stage.routes, &mut flat, &mut one_turn);
    let held = [1, 3].map(|number| (stage.host(number), CongestionRole::Unknown));
    let hot = verdict(&stage.fabric, &[stage.host(5)], &held);
    let moves = propose_moves(&stage.fabric, &hot, &[], &[]);
    let there = planned(&look(&stage.fabric, &tables), &moves, LevelsInForce::One).unwrap().migrations;
    let other = exchanged(&stage.fabric, [5, 2]);
    let now = moved_flows(&other, &there);
    let both = moved(lid(5), (0, 1), &[lid(1), lid(3)]);
    assert_eq!(now, [MovedFlows { gone: Some(MissingEnd::HotSpot), ..both }]);
    let mut told: Vec<PortId> = super::hosts(&other).iter().map(|port| other.peer(*port).unwrap()).collect();
    told.sort_unstable();
    let quiet = propose_moves(&other, &verdict(&other, &[], &[]), &told, &now);
    assert_eq!((quiet.has_moves(), quiet.spots.len(), quiet.gone), (false, 0, now));
    // Of a host that has another LID the flows are gone, and the others stay.
    let now = moved_flows(&exchanged(&stage.fabric, [1, 6]), &there);
    let gone = MovedFlows { gone: Some(MissingEnd::Hosts), ..moved(lid(5), (0, 1), &[lid(1)]) };
    assert_eq!(now, [moved(lid(5), (0, 1), &[lid(3)]), gone]);
}

#[test]
fn flows_that_are_gone_block_nothing_and_others_can_be_moved_back() {
    let stage = stage();
    let fabric = &stage.fabric;
    let tables = tables(fabric, &stage.routes, &mut flat, &mut one_turn);
    let look = look(fabric, &tables);
    let hot = verdict(fabric, &[stage.host(5)], &[(stage.host(3), CongestionRole::Unknown)]);
    let of = |in_force: MovedFlows| {
        planned(&look, &propose_moves(fabric, &hot, &[], &[in_force]), LevelsInForce::One)
    };
    // With other twins than those of now.
    let spot = moved(lid(77), (0, 3), &[lid(1)]);
    let host = MovedFlows { gone: Some(MissingEnd::Hosts), ..moved(lid(5), (0, 3), &[lid(77)]) };
    for gone in [spot, host] {
        assert_eq!(of(gone).unwrap().migrations[0].slow, 1);
    }
    let others = moved(lid(5), (0, 3), &[lid(1)]);
    let error = of(others.clone()).unwrap_err().to_string();
    assert!(error.contains("FD-7955") && error.contains("--back"), "{error}");
    for sent in [LevelsInForce::One, LevelsInForce::Unknown] {
        let plan =
            planned(&look, &FlowMoves::return_all(fabric, std::slice::from_ref(&others)), sent).unwrap();
        let [back] = plan.migrations.as_slice() else { panic!("{:?}", plan.migrations) };
        assert_eq!(
            (back.towards, back.fast, back.slow, back.flows.len()),
            (MigrationDirection::Fast, 0, 3, 1)
        );
        assert!(plan.writes.is_empty());
    }
}
