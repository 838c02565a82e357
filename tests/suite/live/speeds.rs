//! Speeds of links over the wire: every generation, with devices that take the query bit for extended speeds, need it,
//! or refuse it.

use fabdeck_fabric::{FabricBuilder, LinkSpeed, LinkWidth, NodeId};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, Source};
use fabdeck_simulator::{PortInfoForm, SharedSimulator};

use super::{Fabric, LineFaults, TOPOLOGY, fabric, look_at, simulated};

/// The speeds of cabled ports, each once.
fn speeds(fabric: &Fabric) -> Vec<(Option<LinkSpeed>, Option<LinkWidth>)> {
    let cabled = fabric.ports().filter(|(_, port)| port.peer.is_some());
    let mut all: Vec<_> = cabled.map(|(_, port)| (port.facts.speed, port.facts.width)).collect();
    all.sort();
    all.dedup();
    all
}

/// The same fabric with every link at QDR.
fn slowed(planned: &Fabric) -> Fabric {
    let mut builder = FabricBuilder::from_fabric(planned);
    for (_, port) in planned.ports().filter(|(_, port)| port.peer.is_some()) {
        builder.port(port.node.into(), port.number).speed = Some(LinkSpeed::Qdr);
    }
    builder.finish()
}

fn set_forms(simulator: &SharedSimulator, planned: &Fabric, form: PortInfoForm) {
    simulator.with_simulator(|simulator| {
        simulator.enable_log();
        for at in 0..planned.nodes().len() {
            simulator.fabric_mut().set_port_info_form(NodeId(at as u32), form);
        }
    });
}

/// The number of queries that left with an attribute, and of those with the bit for extended speeds.
fn sent(simulator: &SharedSimulator, attribute: &str) -> (usize, usize) {
    simulator.with_simulator(|simulator| {
        let log = simulator.log().text();
        let lines = log.lines().filter(|line| line.contains(" sends ") && line.contains(attribute));
        let bit = |line: &&str| line.contains("modifier 80");
        (lines.clone().count(), lines.filter(bit).count())
    })
}

#[test]
fn every_speed_arrives_and_no_device_answers_twice() {
    for speed in LinkSpeed::ALL {
        let planned = fabric(&format!("kary,k=2,n=2,speed={speed}"));
        for form in [PortInfoForm::Always, PortInfoForm::OnRequest, PortInfoForm::Refusing] {
            let simulator = simulated(&planned, LineFaults::default(), 1);
            set_forms(&simulator, &planned, form);
            let seen = look_at(&mut simulator.open_port(None).unwrap(), TOPOLOGY);
            assert_eq!(speeds(&seen.fabric), [(Some(*speed), Some(LinkWidth::X4))], "{form:?}");
            assert!(!seen.is_partial(), "{speed} {form:?}: {:?}", seen.notes);
            let (all, with_bit) = sent(&simulator, "attribute 0015");
            let ports = seen.fabric.ports().count();
            let expected =
                if form == PortInfoForm::Refusing { ports..2 * ports + 1 } else { ports..ports + 1 };
            assert!(
                expected.contains(&all) && with_bit >= 1,
                "{speed} {form:?}: {all} of {ports}, {with_bit}"
            );
        }
    }
}

#[test]
fn a_refused_bit_is_not_sent_again_and_fdr10_stays_known() {
    let planned = fabric("kary,k=2,n=2,speed=fdr10");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    set_forms(&simulator, &planned, PortInfoForm::Refusing);
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut look = source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    assert_eq!(speeds(&look.fabric), [(Some(LinkSpeed::Fdr10), Some(LinkWidth::X4))]);
    let (asked, bits) = (sent(&simulator, "attribute ff90").0, sent(&simulator, "attribute 0015").1);
    assert_eq!(asked, look.fabric.ports().filter(|(_, port)| port.peer.is_some()).count());
    for _ in 0..3 {
        let sweep = source.sweep(&mut look, Default::default(), &mut NoObserver).unwrap();
        assert!(sweep.fabric.is_none() && sweep.news.is_empty(), "{:?}", sweep.news);
    }
    assert_eq!(speeds(&look.fabric), [(Some(LinkSpeed::Fdr10), Some(LinkWidth::X4))]);
    assert_eq!((sent(&simulator, "attribute ff90").0, sent(&simulator, "attribute 0015").1), (asked, bits));
}

#[test]
fn one_port_of_a_kind_that_has_no_fdr10_is_asked() {
    // Devices of the time of QDR are not asked at all; these are of the next generation and run at QDR.
    let old = fabric("kary,k=4,n=2,speed=qdr");
    let simulator = simulated(&old, LineFaults::default(), 1);
    set_forms(&simulator, &old, PortInfoForm::Always);
    look_at(&mut simulator.open_port(None).unwrap(), TOPOLOGY);
    assert_eq!(sent(&simulator, "attribute ff90").0, 0);
    let planned = slowed(&fabric("kary,k=4,n=2,speed=fdr"));
    let simulator = simulated(&planned, LineFaults::default(), 1);
    set_forms(&simulator, &planned, PortInfoForm::Always);
    let seen = look_at(&mut simulator.open_port(None).unwrap(), TOPOLOGY);
    assert_eq!(speeds(&seen.fabric), [(Some(LinkSpeed::Qdr), Some(LinkWidth::X4))]);
    // Switches are one kind, adapters the other.
    assert_eq!(sent(&simulator, "attribute ff90").0, 2);
    assert!(!seen.is_partial(), "{:?}", seen.notes);
    // A session asks a kind once, however often it reads the fabric.
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    for _ in 0..3 {
        source.observe(TOPOLOGY, &mut NoObserver).unwrap();
    }
    assert_eq!(sent(&simulator, "attribute ff90").0, 4);
}
