//! What is given away says nothing of who it was, and gives the same answers.

use fabdeck_fabric::observe::{Counter, CounterValues, Observation};
use fabdeck_fabric::{Guid, NameMap};
use fabdeck_files::capture::{
    Aliases, CaptureRange, Moments, OperatorEntry, Recorder, RewriteOptions, rewrite,
};
use fabdeck_files::capture_format::{AcknowledgementRecord, CaptureReader, CaptureRecord, OperatorAction};
use fabdeck_mad::access::NoObserver;
use proptest::prelude::*;
use serde_json::Value;

use super::commands::{json, recorded, run};
use super::sample_fabric::{BEGUN, Memory, header, look, news, sweep};

fn anonymous(bytes: &[u8], keep_notes: bool) -> Vec<u8> {
    let mut moments = Moments::new(CaptureReader::open("f", bytes).unwrap());
    let stretch = CaptureRange::all(&moments).unwrap();
    let aliases = Aliases::from_capture(&mut moments, &mut NoObserver).unwrap();
    let mut edit = |record: CaptureRecord| aliases.anonymize(record, keep_notes);
    let (memory, changes) =
        (Memory::default(), RewriteOptions { edit: Some(&mut edit), ..RewriteOptions::default() });
    rewrite(&mut moments, &stretch, changes, memory.clone()).unwrap();
    memory.bytes.take()
}

fn unpacked(bytes: &[u8]) -> String {
    String::from_utf8(zstd::stream::decode_all(bytes).unwrap()).unwrap().to_lowercase()
}

/// Every GUID and every name of a look.
fn identities(look: &Observation) -> Vec<String> {
    let mut all = Vec::new();
    let mut guid = |guid: Guid| all.extend([format!("{:016x}", guid.0), format!("\"0x{:x}\"", guid.0)]);
    for (id, node) in look.fabric.nodes() {
        guid(node.guid());
        node.facts.system_image_guid.into_iter().for_each(&mut guid);
        look.fabric.ports_of(id).filter_map(|(_, port)| port.facts.guid).for_each(&mut guid);
    }
    look.names.by_guid.keys().copied().for_each(&mut guid);
    look.subnet_manager.iter().for_each(|manager| guid(manager.guid));
    let names = look.fabric.nodes().map(|(_, node)| node.facts.description.clone());
    let names = names.chain(look.names.by_guid.values().cloned()).flat_map(|name| {
        let host = name.split(' ').next().unwrap_or_default().to_owned();
        [name, host]
    });
    all.extend(names.filter(|name| name.len() > 2).map(|name| name.to_lowercase()));
    all
}

/// A recording of two looks with names that stand for nothing else, and words about them.
fn recorded_texts(seed: u64) -> (Vec<u8>, Vec<String>) {
    let looks = ["torus,dims=3,terminals=1", "torus,dims=3,terminals=1,faults=1,seed=3"].map(|name| {
        let mut look = look(name);
        let nodes: Vec<_> = look.fabric.nodes().map(|(_, node)| node.guid()).collect();
        let name = |(at, guid): (usize, &Guid)| (*guid, format!("quux{seed:x}x{at} hca-{}", at % 3));
        look.names = NameMap {
            by_guid: nodes.iter().enumerate().step_by(2).map(name).collect(),
            ..NameMap::default()
        };
        look
    });
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(3, 900);
    for second in 0..8 {
        let look = &looks[usize::from(second > 4)];
        let mut swept = sweep(&look.fabric, second);
        swept.news = if second == 5 { news() } else { Vec::new() };
        recorder.record_sweep(BEGUN + 1000 * second as i64, look, &swept).unwrap();
    }
    let first = looks[0].fabric.nodes().next().unwrap().1.guid();
    recorder
        .record_note(BEGUN + 8000, &format!("quux{seed:x}x0 is slow, see {first}, ask 0x{:X}", first.0))
        .unwrap();
    let acted = OperatorAction {
        what: format!("marked as failed: switch:quux{seed:x}x0; {first}"),
        command: Some(format!(
            "fabdeck --source sim:kary,k=2 whatif --fail quux{seed:x}x2 -o /data/quux{seed:x}x4"
        )),
    };
    recorder.record_entry(BEGUN + 8001, &OperatorEntry::Action(acted)).unwrap();
    let acknowledged = AcknowledgementRecord {
        problem: format!("silent-node:{first}"),
        by: format!("quux{seed:x}"),
        made: BEGUN + 8001,
        note: Some(format!("quux{seed:x}x0 is being replaced")),
        extent: None,
        removed: false,
    };
    recorder.record_entry(BEGUN + 8001, &OperatorEntry::Acknowledgement(acknowledged)).unwrap();
    recorder.record_news(BEGUN + 8001, serde_json::json!({ "secret": format!("quux{seed:x}x2") })).unwrap();
    recorder.finish(BEGUN + 8002).unwrap();
    let mut all: Vec<String> = looks.iter().flat_map(identities).collect();
    all.extend(["sim:kary", "a switch was silent"].map(str::to_owned));
    (memory.bytes.take(), all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_name_remains_anywhere(seed in any::<u64>(), keep in any::<bool>()) {
        let (bytes, identities) = recorded_texts(seed);
        let original = unpacked(&bytes);
        let made = anonymous(&bytes, keep);
        let text = unpacked(&made);
        let known = identities.iter().filter(|word| original.contains(word.as_str())).count();
        prop_assert!(known > 50, "{known} words to look for");
        for word in &identities {
            prop_assert!(!text.contains(word.as_str()), "{word}: {text}");
        }
        prop_assert!(!text.contains("quux") && !text.contains("secret"), "{}", text);
        prop_assert_eq!(text.contains("is slow, see 0x02"), keep);
        prop_assert_eq!(text.contains("is being replaced"), keep);
        prop_assert!(text.contains("\"problem\":\"silent-node:0x02"), "{}", text);
        // The same capture gives the same bytes, and what is given away has nothing left to take out.
        prop_assert_eq!(&anonymous(&bytes, keep), &made);
    }
}

/// What a firmware calls its own counters may name a site; their columns stay in their order.
#[test]
fn counters_of_vendors_have_numbers_and_their_values() {
    let look = look("torus,dims=3,terminals=1");
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header()).with_whole_interval(3, 900);
    let own = ["zz-quux-rack7", "quux-rack7", "Quux site B"].map(|name| Counter::Other(name.into()));
    for second in 0..5 {
        let mut swept = sweep(&look.fabric, second);
        for (at, counter) in own.iter().enumerate() {
            let each = swept.samples.iter_mut().skip(at);
            each.for_each(|sample| sample.values.insert(counter.clone(), Some(second * (at as u64 + 3))));
        }
        recorder.record_sweep(BEGUN + 1000 * second as i64, &look, &swept).unwrap();
    }
    recorder.finish(BEGUN + 5000).unwrap();
    let bytes = memory.bytes.take();
    let made = anonymous(&bytes, false);
    assert!(unpacked(&bytes).contains("quux") && !unpacked(&made).contains("quux"));
    let shown = |bytes: &[u8]| -> Vec<Observation> {
        let mut reader = CaptureReader::open("f", bytes).unwrap();
        let slots = reader.moments().to_vec();
        let shown = |slot| {
            reader.show_moment(slot).unwrap();
            reader.observation()
        };
        slots.into_iter().map(shown).collect()
    };
    for (before, after) in shown(&bytes).iter().zip(shown(&made)) {
        for (one, other) in before.counters.iter().zip(&after.counters) {
            let plain = |(counter, value): (Counter, Option<u64>)| match &counter {
                Counter::Other(name) => {
                    let known = ["Quux site B", "quux-rack7", "zz-quux-rack7"];
                    let at = known
                        .iter()
                        .position(|known| *known == &**name)
                        .map(|at| format!("vendor-{:06}", at + 1));
                    (at.unwrap_or_else(|| name.to_string()), value)
                }
                counter => (counter.name().to_owned(), value),
            };
            let all = |values: &CounterValues| values.iter().map(plain).collect::<Vec<_>>();
            assert_eq!(all(&one.values), all(&other.values));
        }
    }
}

#[test]
fn its_moments_are_those_of_the_original_but_for_names() {
    let (bytes, _) = recorded_texts(7);
    let made = anonymous(&bytes, false);
    let mut readers = [&bytes, &made].map(|bytes| CaptureReader::open("f", bytes.as_slice()).unwrap());
    let slots = readers.each_ref().map(|reader| reader.moments().to_vec());
    assert_eq!(slots[0].len(), slots[1].len());
    for (before, after) in slots[0].iter().zip(&slots[1]) {
        readers[0].show_moment(*before).unwrap();
        readers[1].show_moment(*after).unwrap();
        let [a, b] = readers.each_ref().map(|reader| reader.observation());
        assert_eq!((a.time, &a.tables), (b.time, &b.tables), "tables are by place, and places are the same");
        assert_eq!(a.fabric.links().len(), b.fabric.links().len());
        for ((_, one), (_, other)) in a.fabric.ports().zip(b.fabric.ports()) {
            assert_eq!((one.number, one.node, one.peer), (other.number, other.node, other.peer));
            assert_eq!((one.facts.lid, one.facts.speed), (other.facts.lid, other.facts.speed));
        }
        assert_eq!(a.counters.len(), b.counters.len());
        for (one, other) in a.counters.iter().zip(&b.counters) {
            assert_eq!((&one.values, one.port), (&other.values, other.port));
            let node =
                |fabric: &fabdeck_fabric::Fabric, guid: Option<Guid>| fabric.node_by_guid(guid.unwrap());
            assert_eq!(node(&a.fabric, one.node), node(&b.fabric, other.node));
        }
        assert_eq!(a.notes.iter().filter(|note| note.partial).count(), 1, "{:?}", b.notes);
    }
}

/// Names and GUIDs of an answer replaced as the rows of switches and hosts have them.
fn renamed(home: &tempfile::TempDir, text: &str) -> String {
    let mut pairs = Vec::new();
    for what in ["switches", "hosts"] {
        let [before, after] = ["demo.fdcap", "anonymous.fdcap"]
            .map(|file| json(home, &["--source", file, "show", what, "--fields", "name,guid"], 0));
        for (a, b) in before["rows"].as_array().unwrap().iter().zip(after["rows"].as_array().unwrap()) {
            let word = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
            pairs.extend(["name", "guid"].map(|key| (word(a, key), word(b, key))));
        }
    }
    pairs.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    // No new name is taken for an old one.
    let mut text = text.to_owned();
    for (at, (name, _)) in pairs.iter().enumerate() {
        text = text.replace(name, &format!("\u{1}{at}\u{2}"));
    }
    for (at, (_, name)) in pairs.iter().enumerate() {
        text = text.replace(&format!("\u{1}{at}\u{2}"), name);
    }
    text
}

#[test]
fn it_gives_the_answers_of_the_original_but_for_names() {
    let home = recorded();
    run(&home, &["capture", "anonymize", "demo.fdcap", "-o", "anonymous.fdcap"], 0);
    for args in [
        &["check", "--lanes", "one", "--loads"][..],
        &["hotspots", "--interval", "5s"],
        &["show", "tables"],
        &["show", "links", "--fields", "a,b,efi"],
        &["whatif", "--engine", "minhop,nue", "--fail-random", "2", "--lanes-in-force", "one"],
    ] {
        let answer = |file: &str| {
            let line = [&["--source", file], args, &["--no-times", "--json"]].concat();
            let output = super::commands::fabdeck(&home).args(line).output().unwrap();
            let mut told: Value = serde_json::from_slice(&output.stdout).unwrap();
            for key in ["source", "notes"] {
                told.as_object_mut().unwrap().remove(key);
            }
            (output.status.code(), told.to_string())
        };
        let (code, text) = answer("demo.fdcap");
        let (made_code, made) = answer("anonymous.fdcap");
        assert_eq!((code, renamed(&home, &text)), (made_code, made), "{args:?}");
    }
    let info = json(&home, &["capture", "info", "anonymous.fdcap"], 0);
    assert_eq!(
        (&info["recorded"], &info["sweeps"], &info["ended"]),
        (&"anonymous".into(), &31.into(), &true.into())
    );
}
