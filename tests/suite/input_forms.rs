//! What people send: packed files, folders with damage, text out of terminals and mails, dumps of two sites in one.

mod missing_newlines;
mod packed_files;
mod rejected_files;
mod transcripts;
mod truncated_files;
mod wrapped_lines;

use std::fs;
use std::io::Write;
use std::path::Path;

use fabdeck_fabric::Guid;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_live::LiveOptions;
use fabdeck_mad::access::{NoObserver, ReadOptions, SourceError};
use tempfile::TempDir;

/// A switch and two hosts, the second one as ibdiagnet 2.10 writes adapters.
const NET: &str = "\
# Timestamp: 2026-11-21 02:27:15 UTC +0000

vendid=0x2c9
switchguid=0x10(10)
Switch\t66 \"S-0000000000000010\"\t\t# \"leaf\" base port 0 lid 1 lmc 0
[1]\t\"H-0000000000000020\"[1](21) \t\t# \"host a\" lid 2 4xEDR
[65]\t\"H-0000000000000030\"[1](31) \t\t# \"aggregation\" lid 3 4xEDR

vendid=0x2c9
caguid=0x20
Ca\t1 \"H-0000000000000020\"\t\t# \"host a\"
[1](0000:05:00.0)(0000000000000021) \t\"S-0000000000000010\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xEDR

vendid=0x2c9
caguid=0x30
Ca\t1 \"H-0000000000000030\"\t\t# \"aggregation\"
[1](1)(0000000000000031) \t\"S-0000000000000010\"[65]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xEDR
";

fn look(path: &Path) -> Result<Observation, SourceError> {
    fabdeck_live::open(path.to_str().unwrap(), &LiveOptions::default())
        .and_then(|mut source| source.observe(ReadOptions::default(), &mut NoObserver))
}

fn look_at(bytes: impl AsRef<[u8]>) -> Result<Observation, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), bytes).unwrap();
    look(&folder.path().join("file"))
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, held)| fs::write(folder.path().join(name), held).unwrap());
    folder
}

fn codes(seen: &Observation) -> Vec<&'static str> {
    seen.notes.iter().map(|note| note.code).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The same fabric, and whole.
fn is_net(seen: &Observation) {
    assert_eq!((seen.fabric.nodes().count(), seen.fabric.links().len()), (3, 2), "{:?}", seen.notes);
    assert!(!seen.is_partial(), "{:?}", seen.notes);
}

#[test]
fn adapters_in_the_style_of_ibdiagnet_2_10_have_their_guids_and_the_dump_its_time() {
    let seen = look_at(NET).unwrap();
    is_net(&seen);
    assert_eq!(codes(&seen), [""; 0], "{:?}", seen.notes);
    assert_eq!(seen.time.as_deref(), Some("2026-11-21T02:27:15Z"));
    let guids: Vec<Option<Guid>> = seen
        .fabric
        .ports()
        .filter(|(_, port)| !seen.fabric.node(port.node).is_switch())
        .map(|(_, port)| port.facts.guid)
        .collect();
    assert_eq!(guids, [Some(Guid(0x21)), Some(Guid(0x31))]);
}

#[test]
fn a_damaged_file_of_a_folder_is_named_and_takes_nothing_with_it() {
    let damaged = "Switch\t8 \"S-0000000000000099\"\t\t# \"x\"\n[1\n";
    let held = folder(&[
        ("net", NET.as_bytes()),
        ("damaged", damaged.as_bytes()),
        ("cut.gz", &gzip(NET.as_bytes())[..60]),
    ]);
    let seen = look(held.path()).unwrap();
    assert_eq!(seen.fabric.nodes().count(), 3);
    let texts: Vec<String> = seen.notes.iter().map(ToString::to_string).collect();
    assert!(seen.is_partial() && texts.len() == 2, "{texts:?}");
    assert!(texts[1].contains("damaged:2: FN-509") && texts[1].contains("FD-2103"), "{texts:?}");
    assert!(texts[0].contains("cut.gz: FN-509") && texts[0].contains("gzip"), "{texts:?}");
    let alone = folder(&[("damaged", damaged.as_bytes())]);
    assert!(look(alone.path()).unwrap_err().to_string().contains("FD-2103"), "alone it is an error");
}

/// Prose is no part of a fabric, and what ibdiagnet signs says again what its tables say; other files may be missed.
#[test]
fn unknown_files_are_named_and_partial_where_they_may_tell_something() {
    let guids: String = (0..20).map(|at| format!("a{at} 0x{at:016x} y\n")).collect();
    for (held, partial) in [
        (b"it broke at night\n".to_vec(), false),
        (b"\x00\x01\x02\xff".to_vec(), true),
        (guids.clone().into_bytes(), true),
        (format!("# Running version: \"IBDIAGNET 2.10.0\"\n{guids}").into_bytes(), false),
    ] {
        let seen = look(folder(&[("net", NET.as_bytes()), ("other", &held)]).path()).unwrap();
        assert_eq!((codes(&seen), seen.is_partial()), (vec!["FN-501"], partial), "{held:?}");
    }
    // The counters of a run that broke off are missing, which nothing else says.
    let seen = look(folder(&[("net", NET.as_bytes()), ("ibdiagnet2.db_csv", b"")]).path()).unwrap();
    assert_eq!((codes(&seen), seen.is_partial()), (vec!["FN-501"], true));
}

/// Files of subfolders are not read, and a note names the subfolder; the tables in it are missing.
#[test]
fn subfolders_are_named_and_partial_where_they_hold_dumps() {
    let lfts = "Unicast lids [0x0-0x1] of switch Lid 1 guid 0x0000000000000010 ('leaf'):\n";
    let tables =
        lfts.to_owned() + "0x0001 000 : (Switch portguid 0x0000000000000010: 'leaf')\n1 lids dumped\n";
    for (path, held, note) in [
        ("sub/net.lfts", tables.as_bytes(), Some(true)),
        ("sub/below/net.lfts.gz", &gzip(tables.as_bytes()), Some(true)),
        ("sub/notes.txt", b"it broke at night\n", Some(false)),
        ("sub/.hidden", tables.as_bytes(), None),
        (".sub/net.lfts", tables.as_bytes(), None),
    ] {
        let dumps = folder(&[("net", NET.as_bytes())]);
        let path = dumps.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, held).unwrap();
        let seen = look(dumps.path()).unwrap();
        let expected = if note.is_some() { vec!["FN-501"] } else { vec![] };
        assert_eq!((codes(&seen), seen.is_partial()), (expected, note == Some(true)), "{path:?}");
        assert!(seen.notes.iter().all(|note| note.text.contains("subfolders: sub/;")), "{:?}", seen.notes);
    }
}

#[test]
fn a_list_with_each_cable_once_is_whole() {
    let end = |kind: &str, ports: u8, guid: u64, lid: u8, port: u8| {
        format!(
            "{{ {kind} Ports:{ports:02X} SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid:016x} \
             VenID:000002C9 DevID:C7380000 Rev:000000A1 {{n{guid}}} LID:{lid:04X} PN:{port:02X} }} "
        )
    };
    let line = |port| end("SW", 36, 1, 1, port) + &end("CA", 1, 0x10 + u64::from(port), 1 + port, 1);
    let cable = "PHY=4x LOG=ACT SPD=25";
    let seen = look_at(format!("{}{cable}\n{}{cable}", line(1), line(2))).unwrap();
    is_net(&seen);
}

#[test]
fn zeros_in_a_text_are_noted_and_a_hole_is_partial() {
    let seen = look_at(NET.replace("host a", "host\0a")).unwrap();
    assert_eq!((codes(&seen), seen.is_partial()), (vec!["FN-554"], false));
    let hole = NET.to_owned() + "\n" + &"\0".repeat(600) + "\n";
    assert!(look_at(hole).unwrap().is_partial());
}

#[test]
fn a_fabric_of_two_sites_is_reported_first_with_its_parts_and_what_was_merged() {
    let other =
        NET.replace("00000010", "000000a0").replace("00000020", "000000b0").replace("00000030", "000000c0");
    let other = other
        .replace("0x10(10)", "0xa0(a0)")
        .replace("caguid=0x20", "caguid=0xb0")
        .replace("caguid=0x30", "caguid=0xc0");
    let seen = look_at(format!("{NET}\n{other}")).unwrap();
    let first = seen.notes.iter().next().unwrap();
    assert!(first.grave && first.partial && first.code == "FN-556", "{:?}", seen.notes);
    assert!(first.text.starts_with("these are 2 fabrics"), "{}", first.text);
    // One GUID on both sites.
    let twice = other
        .replace("000000b0", "00000020")
        .replace("caguid=0xb0", "caguid=0x20")
        .replace("host a", "host z");
    let seen = look_at(format!("{NET}\n{twice}")).unwrap();
    let merged = seen.notes.iter().find(|note| note.code == "FN-557").unwrap();
    assert!(merged.grave && merged.text.contains("'host a' and 'host z'"), "{}", merged.text);
    // Hosts are named before switches, however many there are of these.
    let dump = |name: &str| {
        let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
        fabdeck_files::ibnetdiscover::write(&fabric, None).unwrap().text
    };
    let seen = look_at(format!("{}\n{}", dump("demo"), dump("kary,k=4,n=2"))).unwrap();
    let merged = seen.notes.iter().find(|note| note.code == "FN-557").unwrap();
    let first = merged.text.find("'login1 mlx5_0'").unwrap();
    assert!(merged.text.find("'rack1-leaf'").is_some_and(|switch| first < switch), "{}", merged.text);
    assert_eq!(merged.text.matches("HCA-1'").count(), 16, "{}", merged.text);
    // The same dump twice is one fabric.
    let seen = look_at(format!("{NET}\n{NET}")).unwrap();
    assert!(seen.notes.grave_notes().next().is_none() && !seen.is_partial(), "{:?}", seen.notes);
}
