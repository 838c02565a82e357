//! What a plan writes to adapters arrives at the very port that it is for, and is what its fingerprint is over.

use fabdeck_change::{ChangePhase, Plan, PlanFileError, PlanWrite, SurvivingFabric};
use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, Lid, NodeKind, PortFacts, PortNum};
use fabdeck_live::{LiveOptions, WriteRight, open_actuator};
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DeviceId, NoObserver, ReadOptions, Surveyor,
};

use super::processes::ServedLab;
use super::window::confirm_when_applied;
use super::{
    Stage, actuator, fabric, make_simulator_and_plan, observe_simulator_whole, order_channel, plan_by_engine,
    simulated, with_adapters,
};

/// The last adapter has a second port, at the first switch.
fn two_ported(fabric: &Fabric) -> (Fabric, Guid) {
    let mut builder = FabricBuilder::new();
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    let last = hosts.map(|(id, _)| id).last().unwrap();
    let first = fabric.switches().next().unwrap().0;
    let keys: Vec<_> = fabric
        .nodes()
        .map(|(id, node)| {
            let more = u8::from(id == last || id == first);
            let mut facts = node.facts.clone();
            facts.port_count += more;
            builder.add_node(facts).unwrap()
        })
        .collect();
    for (_, port) in fabric.ports() {
        *builder.port(keys[port.node.index()], port.number) = port.facts.clone();
    }
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, number)| (keys[node.index()], number));
        builder.connect(a, b).unwrap();
    }
    let guid = fabric.node(last).guid();
    let own = fabric.port_of(last, PortNum(1)).unwrap();
    let lid = Lid::new(u32::from(fabric.top_lid().unwrap().value()) + 1);
    let facts = PortFacts { guid: Some(Guid(guid.0 + 0x77)), lid, ..fabric.port(own).facts.clone() };
    *builder.port(keys[last.index()], PortNum(2)) = facts;
    let at = PortNum(fabric.node(first).facts.port_count + 1);
    let leaf = fabric.port_of(first, PortNum(1)).unwrap();
    *builder.port(keys[first.index()], at) = fabric.port(leaf).facts.clone();
    builder.connect((keys[last.index()], PortNum(2)), (keys[first.index()], at)).unwrap();
    (builder.finish(), guid)
}

/// Each port of an adapter has lanes of its own, and is written through its own cable.
#[test]
fn a_port_of_an_adapter_gets_what_is_its_own() {
    let (fabric, guid) = two_ported(&fabric("kary,k=2,n=2"));
    let simulator = simulated(&fabric);
    let before = observe_simulator_whole(&simulator).tables;
    let mut hands = actuator(&simulator);
    hands.read_fabric(Default::default(), &mut NoObserver).unwrap();
    let at = DeviceId::Adapter(guid);
    let slots = [1, 2].map(|port| DeviceAttribute { at, part: AttributePart::Lanes([0, port]) });
    let held: Vec<_> = hands.read(&slots).into_iter().map(Result::unwrap).collect();
    let mut other = held[1].clone();
    other.rotate_left(1);
    assert_ne!(other, held[1]);
    hands.write(&slots[1], &other).unwrap();
    let after: Vec<_> = hands.read(&slots).into_iter().map(Result::unwrap).collect();
    assert_eq!(after, [held[0].clone(), other]);
    let turns = [1, 2].map(|port| DeviceAttribute { at, part: AttributePart::Arbitration([port, 1]) });
    let low: Vec<_> = hands.read(&turns).into_iter().map(Result::unwrap).collect();
    let mut weighed = low[0].clone();
    weighed[1] = 9;
    hands.write(&turns[0], &weighed).unwrap();
    // A look finds the same at the same ports.
    let (seen, node) = (observe_simulator_whole(&simulator), at.node(&fabric).unwrap());
    let (held, now) = (&before.nodes[&node], &seen.tables.nodes[&node]);
    let lanes = |port: u8| (PortNum(0), PortNum(port));
    assert_eq!(held.sl2vl[&lanes(1)], now.sl2vl[&lanes(1)]);
    assert_ne!(held.sl2vl[&lanes(2)], now.sl2vl[&lanes(2)]);
    assert_eq!(now.arbitration[&PortNum(1)].low[0].weight, 9);
    assert_eq!(held.arbitration[&PortNum(2)], now.arbitration[&PortNum(2)]);
    let nowhere = DeviceAttribute { at, part: AttributePart::Lanes([0, 3]) };
    let error = hands.read(&[nowhere]).remove(0).unwrap_err().to_string();
    assert!(error.contains("FD-4511") && error.contains(&format!("port 3 of adapter {guid}")), "{error}");
}

/// Another tool has given an adapter other lanes since the plan was made.
#[test]
fn an_adapter_whose_lanes_changed_makes_a_plan_stale() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let plan = with_adapters(&simulator, plan, 1);
    assert_eq!(plan.count_targets().1, 1);
    let slot =
        plan.writes.iter().map(|write| write.to_step().unwrap().slot).find(|slot| slot.destination().1 > 0);
    let slot = slot.unwrap();
    let mut other = actuator(&simulator);
    other.read_fabric(Default::default(), &mut NoObserver).unwrap();
    let slot = DeviceAttribute { part: AttributePart::Lanes([0, slot.destination().1]), ..slot };
    let mut bytes = other.read(&[slot]).remove(0).unwrap();
    bytes.reverse();
    other.write(&slot, &bytes).unwrap();
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    let told = stage.apply(60, &orders).unwrap();
    let why = told.why.unwrap();
    assert_eq!(told.phase, ChangePhase::Refused);
    assert!(why.contains("FD-5625") && why.contains("the SL2VL table of host"), "{why}");
    assert!(stage.witness.course().sets.is_empty());
}

/// Drift at an adapter is reported with its name, and left as it is.
#[test]
fn an_adapter_written_by_another_tool_is_named() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let plan = with_adapters(&simulator, plan, 1);
    let (sender, orders) = order_channel();
    let told = std::thread::scope(|scope| {
        let (simulator, plan) = (&simulator, &plan);
        let running = scope.spawn(move || Stage::new(simulator, plan).apply(60, &orders).unwrap());
        super::window::applied(&sender);
        let mut other = actuator(simulator);
        other.read_fabric(Default::default(), &mut NoObserver).unwrap();
        let steps = plan.writes.iter().map(|write| write.to_step().unwrap());
        let slot =
            steps.map(|step| step.slot).find(|slot| matches!(slot.part, AttributePart::Lanes(_))).unwrap();
        other.write(&slot, &[0x11; 8]).unwrap();
        super::window::send_ask(
            &sender,
            fabdeck_change::GuardRequest::RollBack { user: "ada".into(), anyway: true },
        );
        running.join().unwrap()
    });
    assert_eq!(told.phase, ChangePhase::Incomplete);
    let left = told.ended.unwrap().left;
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].what.contains("SL2VL from port 0 to port 1 of adapter 0x"), "{left:?}");
}

/// A plan says which lanes of adapters it found, or it is none.
#[test]
fn a_plan_that_does_not_know_its_adapters_is_refused() {
    let simulator = simulated(&fabric("kary,k=2,n=2"));
    let plan = plan_by_engine(&simulator, "updn", &Faults::new());
    let whole = with_adapters(&simulator, plan.clone(), 2);
    let mut bare = whole.clone();
    bare.fingerprint = plan.fingerprint.clone();
    let error = Plan::read(&bare.text().unwrap()).unwrap_err();
    assert!(matches!(error, PlanFileError::Write { at: 1, .. }), "{error}");
    let mut wrong = whole;
    let look = observe_simulator_whole(&simulator);
    let guid = look.fabric.nodes().find(|(_, node)| !node.is_switch()).unwrap().1.guid();
    wrong.writes = vec![PlanWrite::for_adapter(guid, AttributePart::Port(1), &[1], &[0])];
    wrong.cover_adapters(&SurvivingFabric::new(&look.fabric, &Faults::new(), None), &look.tables);
    let error = Plan::read(&wrong.text().unwrap()).unwrap_err().to_string();
    assert!(error.contains("FD-5514") && error.contains("of an adapter"), "{error}");
}

/// A whole change that writes adapters, confirmed: their lanes stay.
#[test]
fn a_confirmed_change_leaves_adapters_as_planned() {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let plan = with_adapters(&simulator, plan, 3);
    let (sender, orders) = order_channel();
    let confirming = confirm_when_applied(sender);
    let told = Stage::new(&simulator, &plan).apply(60, &orders).unwrap();
    confirming.join().unwrap();
    assert_eq!(told.phase, ChangePhase::Confirmed);
    let look = observe_simulator_whole(&simulator);
    assert_eq!(plan.tables_after(&look.fabric, &look.tables), look.tables);
}

/// By processes, over a fabric that is served: lanes and arbitration of switches and adapters are there again, byte for byte.
#[test]
fn lanes_of_switches_and_adapters_come_back_byte_for_byte() {
    let lab = ServedLab::new("sim:kary,k=3,n=2,traffic=none");
    let file = lab.home.path().join("a.plan");
    let source = format!("sim:{}", lab.home.path().join("lab.sock").display());
    let mut hands = open_actuator(&source, &LiveOptions::default(), &WriteRight::default()).unwrap();
    let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
    let look = hands.read_fabric(wanted, &mut NoObserver).unwrap();
    let mut slots: Vec<DeviceAttribute> = Vec::new();
    for (_, port) in look.fabric.ports().filter(|(_, port)| port.peer.is_some()) {
        let (node, number) = (look.fabric.node(port.node), port.number.value());
        let at = DeviceId::from_node(node.facts.kind, node.guid());
        let parts = [
            AttributePart::Lanes([0, number]),
            AttributePart::Arbitration([number, 1]),
            AttributePart::Arbitration([number, 3]),
        ];
        slots.extend(parts.map(|part| DeviceAttribute { at, part }));
    }
    let mut bytes = || hands.read(&slots).into_iter().map(Result::unwrap).collect::<Vec<_>>();
    let before = bytes();
    let mut plan = Plan::read(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut after = before.clone();
    for (slot, (old, new)) in slots.iter().zip(before.iter().zip(&mut after)) {
        match slot.part {
            AttributePart::Lanes(_) => new.rotate_left(1),
            _ => new[1] = new[1].wrapping_add(1),
        }
        plan.writes.push(match slot.at {
            DeviceId::Switch(guid) => PlanWrite::for_switch(guid, slot.part, old, new),
            DeviceId::Adapter(guid) => PlanWrite::for_adapter(guid, slot.part, old, new),
        });
    }
    let manager = look.subnet_manager.as_ref().map(|manager| manager.guid);
    plan.cover_adapters(&SurvivingFabric::new(&look.fabric, &Faults::new(), manager), &look.tables);
    std::fs::write(&file, plan.text().unwrap()).unwrap();
    let accepted = "transition,cycle,unreachable,lanes";
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", accepted], 0);
    assert!(bytes() == after, "{}", lab.row());
    assert!(plan.count_targets().1 > 3 && plan.count_targets().0 > 3);
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["rollback", &id], 0);
    assert!(bytes() == before);
}
