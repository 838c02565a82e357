//! Files as the tools pack them (`tests/fixtures/packed`), whole and damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::{codes, folder, gzip, look, look_at};
use crate::commands::binary::{fabdeck, home};

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("FABDECK_ROOT")).join("tests/fixtures").join(folder)
}

fn packed(name: &str) -> Vec<u8> {
    fs::read(fixtures("packed").join(name)).unwrap()
}

const FILES: [&str; 4] = ["net.gz", "net.xz", "net.bz2", "net.zst"];
const ARCHIVES: [&str; 6] =
    ["site.tar", "site.tar.gz", "site.tar.xz", "site.tar.bz2", "site.tar.zst", "site.zip"];

/// Exit code and what is printed, of the program.
fn strict(path: &Path) -> (i32, String) {
    let ended = fabdeck(&home()).args(["show", "fabric", "--strict", "--source"]).arg(path).output().unwrap();
    (ended.status.code().unwrap(), String::from_utf8(ended.stderr).unwrap())
}

/// Every fixture is in one of the two lists, holds the plain dump, and archives its file of names as well.
#[test]
fn every_packing_holds_the_same_dump() {
    let mut names: Vec<_> = fs::read_dir(fixtures("packed"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut listed = [FILES.as_slice(), &ARCHIVES].concat();
    listed.sort_unstable();
    assert_eq!(names, listed);
    let plain = look(&fixtures("topology/plain.ibnetdiscover")).unwrap();
    let spine = fabdeck_fabric::Guid(0x0005_e700_0000_0200);
    for name in listed {
        let seen = look(&fixtures("packed").join(name)).unwrap();
        assert_eq!(
            (seen.fabric == plain.fabric, codes(&seen), seen.is_partial()),
            (true, vec![], false),
            "{name}"
        );
        assert_eq!(seen.time, plain.time, "{name}");
        let named = seen.names.by_guid.get(&spine).map(ToString::to_string);
        assert_eq!(named.as_deref(), ARCHIVES.contains(&name).then_some("spine of row 3"), "{name}");
    }
    assert_eq!(strict(&fixtures("packed/site.tar.xz")).0, 0);
}

/// Wherever it ends, a packed file is refused by its name; an archive may still have a whole file in front.
#[test]
fn a_packed_file_that_is_cut_is_refused_or_partial() {
    for name in [FILES.as_slice(), &ARCHIVES].concat() {
        let whole = packed(name);
        // Behind the last file a tar archive has nothing but zeros, which add nothing.
        let size = if name == "site.tar" { 2048 } else { whole.len() };
        for end in (20..size).step_by(37) {
            match look_at(&whole[..end]) {
                Ok(seen) => assert!(seen.is_partial(), "{name} up to {end}: {:?}", seen.notes),
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        error.contains("FD-2004") || error.contains("FD-2002"),
                        "{name} up to {end}: {error}"
                    );
                }
            }
        }
        let held = folder(&[(name, &whole[..size * 2 / 3])]);
        let (code, text) = strict(&held.path().join(name));
        assert!((code == 7 || code == 2) && text.contains("FD-2004"), "{name}: {code} {text}");
        let held = folder(&[(name, &whole[..size * 2 / 3]), ("plain", &packed_plain())]);
        let (code, text) = strict(held.path());
        assert!(code == 2 && text.contains("FN-509") && text.contains(name), "{name}: {code} {text}");
    }
}

fn packed_plain() -> Vec<u8> {
    fs::read(fixtures("topology/plain.ibnetdiscover")).unwrap()
}

/// An archive of the plain dump, of a file that is cut and of one that no format has.
fn with_damage() -> Vec<(&'static str, Vec<u8>)> {
    let cut = gzip(&packed_plain());
    let entries: [(&str, &[u8]); 4] = [
        ("site/cut.gz", &cut[..cut.len() / 2]),
        ("site/damaged.txt", b"Switch\t8 \"S-0000000000000099\"\t\t# \"x\"\n[1\n"),
        ("site/net.txt", &packed_plain()),
        ("site/unknown", b"\x00\x01\x02\xff"),
    ];
    let mut tar = tar::Builder::new(Vec::new());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, held) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(held.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, held).unwrap();
        zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, held).unwrap();
    }
    let tar = tar.into_inner().unwrap();
    vec![("site.tar.gz", gzip(&tar)), ("site.tar", tar), ("site.zip", zip.finish().unwrap().into_inner())]
}

#[test]
fn a_damaged_file_in_an_archive_is_named_and_the_others_are_used() {
    for (name, bytes) in with_damage() {
        let held = folder(&[(name, &bytes)]);
        let path = held.path().join(name);
        let seen = look(&path).unwrap();
        assert_eq!(seen.fabric, look_at(packed_plain()).unwrap().fabric, "{name}");
        let mut notes: Vec<String> =
            seen.notes.iter().map(|note| note.to_string().replace(path.to_str().unwrap(), name)).collect();
        notes.sort();
        assert!(seen.is_partial(), "{name}");
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes[0].starts_with(&format!("{name}!site/cut.gz: FN-509")), "{notes:?}");
        assert!(notes[1].starts_with(&format!("{name}!site/damaged.txt:2: FN-509")), "{notes:?}");
        assert!(notes[2].contains("FN-501") && notes[2].ends_with("site/unknown"), "{notes:?}");
        assert_eq!(strict(&path).0, 2, "{name}");
    }
}

/// A byte of an entry of a zip archive that is wrong: its checksum tells.
#[test]
fn an_entry_of_a_zip_archive_with_a_wrong_byte_is_left_out() {
    let mut bytes = packed("site.zip");
    let names = bytes.windows(10).position(|part| part == b"site/names").unwrap();
    bytes[names + 14] ^= 0x10;
    let held = folder(&[("site.zip", &bytes)]);
    let seen = look(&held.path().join("site.zip")).unwrap();
    assert_eq!((codes(&seen), seen.is_partial()), (vec!["FN-509"], true));
    assert!(
        seen.notes.iter().all(|note| note.to_string().contains("site.zip!site/names")),
        "{:?}",
        seen.notes
    );
    assert_eq!(seen.fabric, look_at(packed_plain()).unwrap().fabric);
}
