//! Files made to do harm: they are refused before they take memory or time.

use fabdeck_files::capture::{RecordingPlayer, TimelineEvent};
use fabdeck_files::capture_format::{CaptureReader, LIMITS, Lead, MAX_FRAME_BYTES, flags};

/// A capture of one frame: these lines, and what the lead says of their size.
fn frame(lines: &[u8], raw: usize, records: u32) -> Vec<u8> {
    let says = flags::STATE_WHOLE | flags::COUNTERS | flags::COUNTERS_WHOLE | flags::EVENT | flags::MOMENT;
    frame_of(Lead { flags: says, records, raw: raw as u32, ..Lead::default() }, lines)
}

pub fn frame_of(lead: Lead, lines: &[u8]) -> Vec<u8> {
    // The best level takes a millisecond for a single line.
    let level = if lines.len() < 1000 { 1 } else { 19 };
    let mut compressor = zstd::bulk::Compressor::new(level).unwrap();
    compressor.include_checksum(true).unwrap();
    let packed = compressor.compress(lines).unwrap();
    let lead = Lead { packed: packed.len() as u32, ..lead };
    [&lead.to_bytes()[..], &packed].concat()
}

/// A frame of records from a number on.
pub fn frame_from(says: u32, first: u64, records: &[String]) -> Vec<u8> {
    let line = |(at, record)| format!("{{\"seq\":{at},\"time\":0,\"record\":{record}}}\n");
    let lines: String = (first..).zip(records).map(line).collect();
    let (records, raw) = (records.len() as u32, lines.len() as u32);
    frame_of(Lead { flags: says, first, records, raw, ..Lead::default() }, lines.as_bytes())
}

fn refusal(bytes: &[u8]) -> String {
    match CaptureReader::open("bomb", bytes) {
        Ok(mut reader) => reader
            .read_events(0)
            .map_or_else(|damage| damage.to_string(), |_| reader.show_last().unwrap_err().to_string()),
        Err(error) => error.to_string(),
    }
}

pub const HEADER: &str =
    r#"{"header":{"format":"f","fabdeck":"0","source":"s","interval_ms":1,"utc_offset_s":99999999}}"#;

/// The page of the layout has the limits that hold, in this order, and no others.
#[test]
fn limits_stand_in_the_page_of_the_layout() {
    let page = include_str!("../../../docs/capture-format.md");
    let table = page.split("## Limits").nth(1).unwrap().split("A frame that unpacks").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let number = |number: usize| {
        let digits = number.to_string();
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|three| str::from_utf8(three).unwrap()).collect();
        groups.join(",")
    };
    let limits: Vec<String> =
        LIMITS.iter().map(|(what, most)| format!("| {what} | {} |", number(*most))).collect();
    assert_eq!(rows, limits);
}

#[test]
fn a_frame_holds_what_its_lead_says_and_no_more() {
    let zeros = vec![b'0'; 2 * MAX_FRAME_BYTES];
    let small = frame(&zeros, 1000, 1);
    assert!(small.len() < 64 * 1024, "{} bytes unpack to {}", small.len(), zeros.len());
    assert!(refusal(&small).contains("the frame is damaged"), "{}", refusal(&small));
    let large = frame(&zeros, zeros.len(), 1);
    assert!(refusal(&large).contains("FD-2701"), "no lead may say so much: {}", refusal(&large));
    let short = frame(b"0\n", 3, 1);
    assert!(refusal(&short).contains("has 2 bytes and not the 3"), "{}", refusal(&short));
}

#[test]
fn lines_that_would_grow_in_memory_are_refused() {
    let line = |record: &str| format!("{{\"seq\":0,\"time\":0,\"record\":{record}}}\n").into_bytes();
    for (record, why) in [
        (format!("{{\"news\":[{}0]}}", "[],".repeat(100_000)), "a news of 300"),
        (format!("{{\"note\":\"{}\"}}", "x".repeat(70_000)), "a note of 70"),
        (format!("{{\"news\":{}1{}}}", "[".repeat(5000), "]".repeat(5000)), "recursion limit"),
        ("{\"news\":1".to_owned(), "record 0"),
    ] {
        let line = line(&record);
        let said = refusal(&frame(&line, line.len(), 1));
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let counters = |rest: &str| format!(r#"{{"counters":{{"began":1,"took":1,"asked":1,"sent":1,{rest}}}}}"#);
    let node = |ports: &str| {
        let ports = format!(r#""port_count":1,"answered":true,"ports":[{ports}]"#);
        format!(r#"{{"topology":{{"nodes":[{{"kind":"host","guid":"0x1","name":"n",{ports}}}]}}}}"#)
    };
    for (record, why) in [
        (
            counters(r#""at":[],"values":{"moved":{"silent":[],"ports":[0],"by":{}}}"#),
            "index 0 in a list of 0 samples",
        ),
        (counters(r#""at":[1],"values":{"whole":[]}"#), "times and samples differ: 1 and 0"),
        (
            counters(r#""at":[-9],"values":{"whole":[{"counters":[],"ports":[[null,1,1,[]]]}]}"#),
            "impossible time",
        ),
        (
            counters(r#""at":[1],"values":{"whole":[{"counters":["A"],"ports":[[null,1,1,[]]]}]}"#),
            "values and counters differ: 0 and 1",
        ),
        (
            counters(r#""at":[1],"values":{"whole":[{"counters":[],"ports":[[null,1,255,[]]]}]}"#),
            "no port 255",
        ),
        (node(r#"{"number":255}"#), "no port 255"),
        (node(r#"{"number":1,"lid":49152}"#), "no unicast LID"),
        (node(r#"{"number":1,"peer":[9,1]}"#), "a cable to node 9"),
        (node(r#"{"number":1,"state":"Odd"}"#), "'Odd' is no state"),
        (r#"{"tables":{"whole":true,"nodes":{"switch 0x1":{}}}}"#.to_owned(), "no node of this fabric"),
    ] {
        let lines = format!(
            "{{\"seq\":0,\"time\":0,\"record\":{HEADER}}}\n{{\"seq\":1,\"time\":0,\"record\":{record}}}\n"
        );
        let mut bytes = frame(lines.as_bytes(), lines.len(), 2);
        // Both kinds are read as what they are, whatever the frame says that it holds.
        let lead = Lead::from_bytes(&bytes).unwrap();
        let said = Lead { flags: lead.flags | flags::STATE_MOVED, ..lead };
        bytes[..64].copy_from_slice(&said.to_bytes());
        assert!(refusal(&bytes).contains(why), "{why}: {}", refusal(&bytes));
    }
}

/// Few samples that go on from frame to frame, each with very many values.
#[test]
fn values_of_a_sweep_are_counted_over_all_its_frames() {
    let names: Vec<String> = (0..1000).map(|at| format!("\"a{at}\"")).collect();
    let row = format!("[null,1,1,[{}]]", vec!["0"; 1000].join(","));
    let part = |kind: &str, rows: usize| {
        let (at, ports) = (vec!["0"; rows].join(","), vec![row.as_str(); rows].join(","));
        let runs = format!(r#"{{"counters":[{}],"ports":[{ports}]}}"#, names.join(","));
        let values = format!(r#""at":[{at}],"values":{{"{kind}":[{runs}]}}"#);
        format!(r#"{{"counters":{{"began":1,"took":1,"asked":1,"sent":1,{values}}}}}"#)
    };
    let whole = flags::STATE_WHOLE | flags::COUNTERS | flags::COUNTERS_WHOLE;
    let first = frame_from(whole, 0, &[HEADER.to_owned(), part("whole", 900)]);
    let capture = |rows: usize| {
        let middle = frame_from(flags::COUNTERS, 2, &[part("more", 900)]);
        let last = frame_from(flags::COUNTERS | flags::MOMENT, 3, &[part("more", rows)]);
        [first.clone(), middle, last].concat()
    };
    let bytes = capture(300);
    let offset = CaptureReader::open("bomb", bytes.as_slice()).unwrap().frame_slot(2).offset;
    assert!(bytes.len() < 32 * 1024, "{} bytes", bytes.len());
    let said = refusal(&bytes);
    let why = format!(
        "record 3 at byte {offset}: 2,100,000 values of 2,100 samples, more than the limit of 2,000,000"
    );
    assert!(said.contains(&why), "{said}");
    // As much as a record may hold is fine, however few samples it is of.
    CaptureReader::open("fits", capture(200).as_slice()).unwrap().show_last().unwrap();
}

/// Long notes in frame after frame: those for which there is no room are counted.
#[test]
fn a_timeline_is_bounded_and_says_what_it_leaves_out() {
    let counters = r#"{"counters":{"began":1,"took":1,"asked":1,"sent":1,"at":[],"values":{"whole":[]}}}"#;
    let whole = flags::STATE_WHOLE | flags::COUNTERS | flags::COUNTERS_WHOLE | flags::MOMENT;
    let mut bytes = frame_from(whole, 0, &[HEADER.to_owned(), counters.to_owned()]);
    let note = |size: usize| format!(r#"{{"note":"{}"}}"#, "x".repeat(size));
    for part in 0..6 {
        bytes.extend(frame_from(flags::EVENT, 2 + 100 * part, &vec![note(60_000); 100]));
    }
    bytes.extend(frame_from(flags::EVENT, 602, &[note(1)]));
    assert!(bytes.len() < 64 * 1024, "{} bytes", bytes.len());
    let happened = RecordingPlayer::from_reader(CaptureReader::open("notes", bytes.as_slice()).unwrap())
        .timeline()
        .happened;
    let (last, notes) = happened.split_last().unwrap();
    let words: usize =
        notes.iter().map(|one| if let TimelineEvent::Note(text) = &one.event { text.len() } else { 0 }).sum();
    assert!((32_000_000..=32 << 20).contains(&words), "{words}");
    // The short one would have room; behind what is left out nothing is told.
    assert_eq!(last.event, TimelineEvent::LeftOut(601 - notes.len()));
}

#[test]
fn other_versions_and_other_files_are_refused_by_name() {
    let mut later = frame(b"0\n", 2, 1);
    later[14] = b'2';
    assert!(
        refusal(&later).contains("FD-2702") && refusal(&later).contains("version 2"),
        "{}",
        refusal(&later)
    );
    for bytes in [&b""[..], b"P*M\x18", b"a letter", &[0; 100]] {
        assert!(refusal(bytes).contains("FD-2701: no frame of a capture"), "{}", refusal(bytes));
    }
}

/// A record of a kind that comes later is passed over, and a note says so.
#[test]
fn records_of_a_later_version_are_passed_over() {
    let bytes = super::sample_fabric::reference().bytes;
    let line = b"{\"seq\":0,\"time\":0,\"record\":{\"omens\":[1,2]}}\n";
    let mut packed = frame(line, line.len(), 1);
    let lead = Lead { flags: flags::EVENT, ..Lead::from_bytes(&packed).unwrap() };
    packed[..64].copy_from_slice(&lead.to_bytes());
    let both = [packed, bytes].concat();
    let mut reader = CaptureReader::open("both", both.as_slice()).unwrap();
    assert_eq!(reader.read_events(0), Ok(Vec::new()));
    assert!(reader.notes().has("FN-385"));
    reader.show_last().unwrap();
}

/// A reader that does not know what operators left passes over it: what it shows is what it showed before.
#[test]
fn an_older_reader_passes_over_annotations_and_acknowledgements() {
    let plain = super::sample_fabric::reference().bytes;
    // The same records under names that this version does not know either.
    let records = [
        r#"{"annotatiom":{"at":1,"by":"anna","made":2}}"#,
        r#"{"acknowledgememt":{"problem":"stalled:0x1/1","by":"anna","made":2}}"#,
    ];
    for record in records {
        let line = format!("{{\"seq\":0,\"time\":0,\"record\":{record}}}\n").into_bytes();
        let mut packed = frame(&line, line.len(), 1);
        let lead = Lead { flags: flags::EVENT, ..Lead::from_bytes(&packed).unwrap() };
        packed[..64].copy_from_slice(&lead.to_bytes());
        let both = [packed, plain.clone()].concat();
        let timeline =
            |bytes: &[u8]| RecordingPlayer::from_reader(CaptureReader::open("f", bytes).unwrap()).timeline();
        let mut reader = CaptureReader::open("f", both.as_slice()).unwrap();
        assert_eq!(reader.read_events(0), Ok(Vec::new()), "the frame is read, and nothing in it is known");
        let (with, without) = (timeline(&both), timeline(&plain));
        assert_eq!((with.times, with.happened), (without.times, without.happened));
    }
}
