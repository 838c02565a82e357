//! Sets: done with the key, given up without it, and never tried more than three times at a port.

use fabdeck_fabric::{Fabric, NodeId, PhysicalState, PortNum};
use fabdeck_live::{ExchangePolicy, Keys, SetError, SetTarget, Setter};
use fabdeck_mad::access::WritePort;
use fabdeck_mad::{LftBlock, Method, PortInfo, SMP_DATA, Smp, attribute};
use fabdeck_simulator::{LineFaults, Share, SharedSimulator, Simulator};
use zerocopy::IntoBytes;

use super::{exchange, fabric, route_to, switches, world, writable};

const KEY: u64 = 0xA1B2_C3D4_E5F6_0718;
const WRONG: u64 = 0x1122_3344_5566_7788;
const BLOCK: [u8; SMP_DATA] = [7; SMP_DATA];

fn guarded(fabric: &Fabric, switch: NodeId, protect: u8, line: LineFaults, seed: u64) -> SharedSimulator {
    let mut world = world(fabric);
    world.set_key(switch, KEY, protect);
    SharedSimulator::new(Simulator::new(world, line, seed))
}

fn target(fabric: &Fabric, switch: NodeId) -> SetTarget {
    SetTarget { route: route_to(fabric, switch), guid: Some(fabric.node(switch).guid()) }
}

fn violations(simulator: &SharedSimulator, node: NodeId) -> u16 {
    simulator.with_simulator(|simulator| simulator.fabric().violations(node, PortNum(0)))
}

fn set(setter: &mut Setter, port: &mut WritePort, target: &SetTarget) -> Result<u32, SetError> {
    setter.set_attribute(port, target, attribute::LINEAR_FORWARDING, 0, &BLOCK).map(|done| done.sent)
}

#[test]
fn at_each_level_a_set_is_done_with_the_key_and_refused_without() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let target = target(&fabric, switch);
    for level in 0..=3 {
        for (key, right) in [(0, false), (WRONG, false), (KEY, true)] {
            let simulator = guarded(&fabric, switch, level, LineFaults::default(), 1);
            let mut port = writable(&simulator);
            let mut setter = Setter::new(ExchangePolicy::default(), Keys::single(key));
            // As often as it is asked for, and over another route too.
            let other = SetTarget { route: vec![1, 1, 1], ..target.clone() };
            for target in [&target, &target, &other, &target] {
                let done =
                    if right && target == &other { continue } else { set(&mut setter, &mut port, target) };
                let error = match done {
                    Ok(sent) => {
                        assert!(right && sent == 1);
                        continue;
                    }
                    Err(error) => error,
                };
                assert!(!right);
                let suspected = matches!(error, SetError::KeySuspected { .. });
                assert_eq!(suspected, level < 2, "{error}");
                assert!(suspected || matches!(error, SetError::Silent { .. }), "{error}");
                let text = format!("{error} {error:?} {setter:?}");
                assert!(text.contains("M_Key"), "{text}");
                for form in [format!("{KEY:x}"), KEY.to_string(), format!("{WRONG:x}"), WRONG.to_string()] {
                    assert!(!text.contains(&form), "{text}");
                }
            }
            let most = if right {
                0
            } else if level < 2 {
                1
            } else {
                3
            };
            assert_eq!(violations(&simulator, switch), most, "level {level}, right {right}");
        }
    }
}

#[test]
fn a_set_that_is_refused_says_why_and_one_that_goes_too_far_is_not_sent() {
    let fabric = fabric("kary,k=3,n=2");
    let target = target(&fabric, switches(&fabric)[0]);
    let simulator = SharedSimulator::new(Simulator::new(world(&fabric), LineFaults::default(), 1));
    let mut port = writable(&simulator);
    let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
    let error =
        setter.set_attribute(&mut port, &target, attribute::LINEAR_FORWARDING, 9999, &BLOCK).unwrap_err();
    assert!(error.to_string().contains("FD-4503") && error.to_string().contains("invalid field"), "{error}");
    let far = SetTarget { route: vec![1; 64], guid: None };
    let before = port.traffic().total_sent();
    let error = set(&mut setter, &mut port, &far).unwrap_err();
    assert!(error.to_string().contains("FD-4504"), "{error}");
    assert_eq!(port.traffic().total_sent(), before);
}

/// With a right key, loss costs tries and not the Set; nothing that was answered is lost, nobody is suspected.
#[test]
fn loss_is_not_taken_for_a_wrong_key() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let target = target(&fabric, switch);
    let (mut done, mut repeated) = (0, 0);
    for seed in 1..=200 {
        let line = LineFaults { loss: Share::percent(20), ..LineFaults::default() };
        let simulator = guarded(&fabric, switch, (seed % 4) as u8, line, seed);
        let mut setter = Setter::new(ExchangePolicy::default(), Keys::single(KEY));
        match set(&mut setter, &mut writable(&simulator), &target) {
            Ok(sent) => {
                done += 1;
                repeated += u32::from(sent > 1);
            }
            Err(error) => assert!(matches!(error, SetError::Silent { .. }), "{error}"),
        }
        assert_eq!(violations(&simulator, switch), 0);
    }
    assert!(done > 150 && repeated > 20, "{done} done, {repeated} after a repetition");
}

#[test]
fn a_dead_node_gets_three_datagrams_whatever_is_asked_for() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let simulator = SharedSimulator::new(Simulator::new(world(&fabric), LineFaults::default(), 1));
    simulator.with_simulator(|simulator| simulator.fabric_mut().set_silent(switch, true));
    let mut port = writable(&simulator);
    let mut setter =
        Setter::new(ExchangePolicy { retries: 99, ..ExchangePolicy::default() }, Keys::single(KEY));
    for _ in 0..5 {
        let error = set(&mut setter, &mut port, &target(&fabric, switch)).unwrap_err();
        assert!(matches!(error, SetError::Silent { .. }), "{error}");
    }
    assert_eq!(port.traffic().total_sent(), 3);
}

#[test]
fn what_is_set_reads_back() {
    let fabric = fabric("kary,k=3,n=2");
    let switch = switches(&fabric)[0];
    let target = target(&fabric, switch);
    let simulator = SharedSimulator::new(Simulator::new(world(&fabric), LineFaults::default(), 1));
    let mut port = writable(&simulator);
    let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
    let mut switch_info = read(&mut port, &target, attribute::SWITCH_INFO, 0);
    switch_info[6..8].copy_from_slice(&200u16.to_be_bytes());
    let mut lanes = [0; SMP_DATA];
    lanes[..8].copy_from_slice(&[0x01, 0x23, 0x01, 0x23, 0x01, 0x23, 0x01, 0x21]);
    let mut weights = [0; SMP_DATA];
    weights[..6].copy_from_slice(&[0, 10, 1, 20, 2, 30]);
    for (attribute, modifier, data) in [
        (attribute::SWITCH_INFO, 0, switch_info.as_slice()),
        (attribute::LINEAR_FORWARDING, 2, LftBlock { ports: [3; 64] }.as_bytes()),
        (attribute::MULTICAST_FORWARDING, 1, [0, 2].repeat(32).as_slice()),
        (attribute::SL_TO_VL, 0x0102, lanes.as_slice()),
        (attribute::VL_ARBITRATION, 0x1_0002, weights.as_slice()),
        (attribute::VL_ARBITRATION, 0x3_0002, weights.as_slice()),
    ] {
        let data: [u8; SMP_DATA] = data.try_into().unwrap();
        let before = read(&mut port, &target, attribute, modifier);
        let done = setter.set_attribute(&mut port, &target, attribute, modifier, &data).unwrap();
        let after = read(&mut port, &target, attribute, modifier);
        assert_eq!((after, *done.answer.data()), (data, data), "{attribute:#x}");
        assert!(before != after, "{attribute:#x}");
    }
}

fn read(port: &mut WritePort, target: &SetTarget, attribute: u16, modifier: u32) -> [u8; SMP_DATA] {
    let smp = Smp::directed(Method::GET, attribute, modifier, &target.route).unwrap();
    let parcel = fabdeck_mad::access::AddressedMad {
        mad: smp.0,
        address: fabdeck_mad::access::MadAddress::directed(),
    };
    let answer = Smp(exchange(port, parcel).unwrap());
    assert!(answer.0.status().is_ok(), "{attribute:#x}: {}", answer.0.status());
    assert_eq!(answer.hop_pointer(), 0, "it came all the way back");
    *answer.data()
}

/// A port that is disabled takes its cable down, and enabled again it finds its peer; so does one that was up.
#[test]
fn a_port_is_disabled_and_enabled() {
    let fabric = fabric("kary,k=3,n=2");
    let leaf = fabric.ports_of(super::hosts(&fabric)[0]).find_map(|(_, port)| port.peer).unwrap();
    let leaf = fabric.port(leaf).node;
    let (up, far) = fabric
        .ports_of(leaf)
        .find_map(|(_, port)| {
            let peer = fabric.port(port.peer?);
            fabric.node(peer.node).is_switch().then_some((port.number, (peer.node, peer.number)))
        })
        .unwrap();
    let target = target(&fabric, leaf);
    let beyond = target.route.iter().copied().chain([up.value()]).collect::<Vec<u8>>();
    let simulator = SharedSimulator::new(Simulator::new(world(&fabric), LineFaults::default(), 1));
    let mut port = writable(&simulator);
    let mut setter = Setter::new(ExchangePolicy::default(), Keys::default());
    let own = |port: &mut WritePort| {
        let data = read(port, &target, attribute::PORT_INFO, up.value().into());
        let mut smp = Smp::default();
        *smp.data_mut() = data;
        *smp.data::<PortInfo>()
    };
    for (state, reached) in
        [(PhysicalState::Disabled, false), (PhysicalState::Polling, true), (PhysicalState::Polling, true)]
    {
        let info = own(&mut port).with_physical_state(state);
        let data: [u8; SMP_DATA] = info.as_bytes().try_into().unwrap();
        setter.set_attribute(&mut port, &target, attribute::PORT_INFO, up.value().into(), &data).unwrap();
        let expected = if reached { PhysicalState::LinkUp } else { PhysicalState::Disabled };
        assert_eq!(own(&mut port).physical_state(), Some(expected));
        let smp = Smp::directed(Method::GET, attribute::NODE_INFO, 0, &beyond).unwrap();
        let parcel = fabdeck_mad::access::AddressedMad {
            mad: smp.0,
            address: fabdeck_mad::access::MadAddress::directed(),
        };
        assert_eq!(exchange(&mut port, parcel).is_some(), reached, "{far:?}");
    }
}
