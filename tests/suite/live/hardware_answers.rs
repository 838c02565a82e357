//! `report --hardware`: every question and kind of device is in the text, and no key, GUID, name or serial number is.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use fabdeck_fabric::Guid;
use fabdeck_live::{
    HardwareAnswer, HardwareReading, Keys, LiveOptions, SimulatorPool, read_hardware, read_hardware_through,
};
use fabdeck_mad::Mad;
use fabdeck_mad::access::{NoObserver, ReadPort, SourceError};
use fabdeck_simulator::WireProfile;

use super::logged_port::{LoggedPort, SentMads};
use super::{LineFaults, fabric, simulated};

const KEY: u64 = 0xA1B2_C3D4_E5F6_0718;

/// The bytes that a text has in hexadecimal, of all datagrams one after the other; a removed byte is `--`.
fn hex_bytes(text: &str) -> String {
    let is_dump = |line: &&str| line.starts_with("    ") && line.as_bytes().get(8) == Some(&b' ');
    text.lines().filter(is_dump).flat_map(|line| line[8..].split_whitespace()).collect()
}

/// The forms in which a number could be in a text: its value, and the 8 bytes in both orders.
fn forms(number: u64) -> [String; 5] {
    let hex = |bytes: [u8; 8]| bytes.map(|byte| format!("{byte:02x}")).concat();
    [
        hex(number.to_be_bytes()),
        hex(number.to_le_bytes()),
        format!("{number:x}"),
        number.to_string(),
        Guid(number).to_string(),
    ]
}

/// Everything of a reading that may not be in a text, with what it is.
fn identities(reading: &HardwareReading, key: Option<u64>) -> Vec<(&'static str, String)> {
    let look = &reading.observation;
    let mut all = Vec::new();
    let mut numbers: Vec<(&str, u64)> = key.map(|key| ("key", key)).into_iter().collect();
    numbers
        .extend(look.reading.as_ref().and_then(|told| told.subnet_prefix).map(|prefix| ("prefix", prefix)));
    for (id, node) in look.fabric.nodes() {
        numbers.push(("node GUID", node.guid().0));
        numbers.extend(node.facts.system_image_guid.map(|guid| ("system GUID", guid.0)));
        numbers
            .extend(look.fabric.ports_of(id).filter_map(|(_, port)| Some(("port GUID", port.facts.guid?.0))));
        all.push(("name", node.facts.description.trim().to_owned()));
    }
    let modules = look.wire.ports.values().filter_map(|port| port.module.known()?.serial.clone());
    all.extend(modules.map(|serial| ("serial number of a module", serial)));
    let systems = look.wire.devices.values().filter_map(|device| device.system.known()?.serial.clone());
    all.extend(systems.map(|serial| ("serial number of a system", serial)));
    for (what, text) in all.clone() {
        all.push((what, text.bytes().map(|byte| format!("{byte:02x}")).collect()));
        all.push((what, text.bytes().rev().map(|byte| format!("{byte:02x}")).collect()));
    }
    for (what, number) in numbers {
        all.extend(forms(number).map(|form| (what, form)));
    }
    all
}

fn read(text: &str, key: Option<u64>) -> Result<HardwareReading, SourceError> {
    let keys = key.map(Keys::single).unwrap_or_default();
    let options = LiveOptions { keys, own: Some(SimulatorPool::default()), ..LiveOptions::default() };
    read_hardware(text, &options, &mut NoObserver)
}

#[test]
fn no_key_guid_name_or_serial_number_is_in_the_text() {
    for words in
        ["wire=all,ar-plft=all", "wire-optics=all,ar=all,protect=3", "wire=all,ar-recovery=all,protect=2"]
    {
        let source = format!("sim:kary,k=3,n=2,speed=ndr,{words}");
        let key = words.contains("protect").then_some(KEY);
        let reading = read(&source, key).unwrap();
        assert!(!reading.observation.is_partial(), "{:?}", reading.observation.notes);
        let text = reading.answers.to_text("simulator");
        let (lower, bytes) = (text.to_lowercase(), hex_bytes(&text));
        let raw = raw_bytes(&reading);
        let (mut sorts, mut met, mut found) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (what, form) in identities(&reading, key) {
            let form = form.to_lowercase();
            sorts.insert(what);
            if raw.contains(&form) {
                met.insert(what);
            }
            if form.len() > 3 && (lower.contains(&form) || bytes.contains(&form)) {
                found.insert((what, form));
            }
        }
        // The search finds each sort in the answers themselves.
        assert_eq!((&met, sorts.len()), (&sorts, if key.is_some() { 8 } else { 7 }), "{source}");
        assert!(found.is_empty(), "{source}: {found:?}");
        // What the report is for is there: the capabilities, a register, the private tables.
        for wanted in ["AdaptiveRoutingInfo: answered", "AccessRegister PDDR page 3 (module): answered"] {
            assert!(text.contains(wanted), "{source}: {wanted} in {text}");
        }
        assert!(bytes.contains("53494d554c41544544"), "the vendor of the modules, SIMULATED");
    }
}

/// The bytes of all requests and answers, with nothing removed.
fn raw_bytes(reading: &HardwareReading) -> String {
    let hex = |mad: &Mad| mad.0.map(|byte| format!("{byte:02x}")).concat();
    let both = |of: &HardwareAnswer| hex(&of.request) + &of.outcome.answer().map(hex).unwrap_or_default();
    reading.answers.questions.values().map(both).collect()
}

/// The text of a fabric whose nodes all have a profile, with what was sent.
fn text_of(profile: WireProfile) -> (String, Vec<(u8, u16)>) {
    let planned = fabric("kary,k=3,n=2,speed=ndr");
    let simulator = simulated(&planned, LineFaults::default(), 1);
    simulator.with_simulator(|simulator| {
        let world = simulator.fabric_mut();
        planned.nodes().for_each(|(id, _)| world.set_wire(id, profile));
    });
    let sent: SentMads = Arc::new(Mutex::new(Vec::new()));
    let port = ReadPort::new(LoggedPort(simulator.open_port(None).unwrap(), sent.clone()));
    let reading = read_hardware_through(port, "sim", &LiveOptions::default(), &mut NoObserver).unwrap();
    simulator.with_simulator(|simulator| assert_eq!(simulator.fabric_mut().cleared_by_get(), 0));
    let traffic = reading.observation.reading.as_ref().unwrap();
    assert_eq!((traffic.writes, traffic.sets), (0, 0));
    let sent = sent.lock().unwrap().iter().map(|(class, attribute)| (class.0, *attribute)).collect();
    (reading.answers.to_text("simulator"), sent)
}

/// The outcomes of an attribute, one for each kind of device.
fn outcomes<'t>(text: &'t str, question: &str) -> Vec<&'t str> {
    let lines = text.lines().filter(|line| line.starts_with(question));
    lines.filter_map(|line| line.rsplit_once(": ").map(|(_, outcome)| outcome)).collect()
}

#[test]
fn every_question_is_in_the_text_and_absent_refused_and_silent_are_told_apart() {
    const CLASS: &str = "class 0x0a attribute 0x0001 ClassPortInfo";
    const CAUSES: &str = "class 0x04 attribute 0x0015 PortRcvErrorDetails";
    for (profile, of_class, of_causes) in [
        (WireProfile::Full, "answered", "answered"),
        (WireProfile::Keyed, "silent", "answered"),
        (WireProfile::CountersOnly, "absent: ", "answered"),
    ] {
        let (text, sent) = text_of(profile);
        for (class, attribute) in sent {
            let question = format!("class 0x{class:02x} attribute 0x{attribute:04x} ");
            assert!(text.contains(&question), "{profile:?}: {question}");
        }
        for (question, expected) in [(CLASS, of_class), (CAUSES, of_causes)] {
            let lines = text.lines().filter(|line| line.starts_with(question)).collect::<Vec<_>>();
            assert!(!lines.is_empty(), "{profile:?}: {question}");
            let rest = |line: &str| line[question.len() + 2..].to_owned();
            assert!(lines.iter().all(|line| rest(line).starts_with(expected)), "{profile:?}: {lines:?}");
        }
        let node_infos = outcomes(&text, "class 0x81 attribute 0x0011 NodeInfo");
        assert_eq!(node_infos, ["answered", "answered"], "a switch and an adapter");
        assert!(
            text.contains("device: adapter, vendor 0x0002c9,")
                && text.contains("device: switch, vendor 0x0002c9,")
        );
    }
}

#[test]
fn a_file_has_no_raw_answers() {
    let error = read("capture.fdc", None).unwrap_err().to_string();
    assert!(error.starts_with("FD-5069: ") && error.contains("umad"), "{error}");
}
