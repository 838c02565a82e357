use std::io::Write;

use super::*;

const TEXT: &[u8] = b"a line of a dump\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, held) in entries {
        let mut header = tar::Header::new_gnu();
        // `append_data` refuses paths that lead out of the folder, but an attacker can write them.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(held.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(held);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, held) in entries {
        writer.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(held).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

type UnpackedList = Vec<(String, Result<Vec<u8>, &'static str>)>;

fn unpack_all(bytes: &[u8], limits: Limits) -> (UnpackedList, Notes) {
    unpack_all_while(bytes, limits, &|| true)
}

fn unpack_all_while(bytes: &[u8], limits: Limits, may_go_on: &dyn Fn() -> bool) -> (UnpackedList, Notes) {
    let (mut found, mut notes) = (Vec::new(), Notes::new());
    unpack("f", bytes.into(), limits, &TimeLimit::new(may_go_on), &mut notes, &mut |file| {
        found.push((file.name, file.bytes.map(Cow::into_owned).map_err(|error| error.code)));
    });
    (found, notes)
}

fn one(name: &str, held: Result<&[u8], &'static str>) -> UnpackedList {
    vec![(name.to_owned(), held.map(<[u8]>::to_vec))]
}

#[test]
fn each_stream_is_unpacked_and_text_is_left_alone() {
    let mut xz = HELLO_XZ.to_vec();
    for packed in
        [gzip(TEXT), bzip2_of(TEXT), zstd::encode_all(TEXT, 1).unwrap(), gzip(&gzip(TEXT)), TEXT.to_vec()]
    {
        assert_eq!(unpack_all(&packed, Limits::default()).0, one("f", Ok(TEXT)));
    }
    assert_eq!(unpack_all(&xz, Limits::default()).0, one("f", Ok(b"hello\n")));
    let end = xz.len() - 30;
    xz.truncate(end);
    assert_eq!(unpack_all(&xz, Limits::default()).0, one("f", Err("FD-2004")));
    let half = gzip(TEXT);
    assert_eq!(unpack_all(&half[..half.len() - 9], Limits::default()).0, one("f", Err("FD-2004")));
}

fn bzip2_of(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Output of `printf 'hello\n' | xz`: the crate is built without its encoder.
const HELLO_XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16,
    0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x00,
    0x00, 0x00, 0xa5, 0x60, 0x97, 0xf1, 0x94, 0xf6, 0xfd, 0xe0, 0x00, 0x01, 0x1e, 0x06, 0xc1, 0x2f, 0xa4,
    0x1d, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
];

#[test]
fn archives_are_folders_and_one_may_lie_in_another() {
    let both = [("dump/a.txt", TEXT), ("dump/.hidden", TEXT), ("dump/b.txt.gz", &gzip(TEXT))];
    let expected = [("f!dump/a.txt", TEXT), ("f!dump/b.txt.gz", TEXT)];
    for archive in [tar_of(&both), zip_of(&both), gzip(&tar_of(&both))] {
        let (found, _) = unpack_all(&archive, Limits::default());
        let found: Vec<_> =
            found.iter().map(|(name, held)| (name.as_str(), held.as_deref().unwrap())).collect();
        assert_eq!(found, expected);
    }
    let inner = zip_of(&[("a.txt", TEXT)]);
    let middle = tar_of(&[("in.zip", &inner)]);
    assert_eq!(unpack_all(&middle, Limits::default()).0, one("f!in.zip!a.txt", Ok(TEXT)));
    let outer = zip_of(&[("in.tar", &middle), ("b.txt", TEXT)]);
    let (found, _) = unpack_all(&outer, Limits::default());
    assert_eq!(found[0], ("f!in.tar!in.zip".to_owned(), Err("FD-2005")), "deeper archives are reported");
    assert_eq!(found[1].1.as_deref(), Ok(TEXT), "files beside them are unpacked");
}

#[test]
fn paths_are_labels_and_links_lead_nowhere() {
    let traversal = [("../../etc/passwd", TEXT), ("/etc/cron.d/x", TEXT)];
    let (found, _) = unpack_all(&tar_of(&traversal), Limits::default());
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|(name, held)| name.starts_with("f!") && held.as_deref() == Ok(TEXT)),
        "{found:?}"
    );
    let mut bytes = tar_of(&[("link", b"")]);
    let mut header = tar::Header::new_gnu();
    header.set_path("link").unwrap();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_link_name("/etc/passwd").unwrap();
    header.set_size(0);
    header.set_cksum();
    bytes[..512].copy_from_slice(header.as_bytes());
    let (found, notes) = unpack_all(&bytes, Limits::default());
    assert!(found.is_empty() && notes.has("FN-555"), "{found:?} {notes:?}");
}

#[test]
fn bombs_are_refused_by_size_ratio_and_number() {
    let zeros = vec![0; 4 << 20];
    let few = Limits { bytes: 1 << 20, ..Limits::default() };
    let flat = Limits { ratio: 100, ratio_from: 1 << 10, ..Limits::default() };
    for bomb in [gzip(&zeros), gzip(&gzip(&zeros)), zip_of(&[("a", &zeros)]), bzip2_of(&zeros)] {
        for limits in [few, flat] {
            let (found, _) = unpack_all(&bomb, limits);
            assert!(found.iter().all(|(_, held)| *held == Err("FD-2005")) && !found.is_empty(), "{found:?}");
        }
    }
    let many: Vec<(String, &[u8])> = (0..30).map(|at| (format!("{at}"), TEXT)).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, held)| (name.as_str(), *held)).collect();
    for archive in [tar_of(&many), zip_of(&many)] {
        let (found, _) = unpack_all(&archive, Limits { entries: 20, ..Limits::default() });
        assert_eq!((found.len(), &found[20].1), (21, &Err("FD-2005")));
    }
}

#[test]
fn where_one_file_is_wanted_an_archive_of_one_will_do() {
    let bytes = |packed: Vec<u8>| {
        unpack_one("f", packed, &TimeLimit::new(&|| true)).map(|(_, bytes)| bytes).map_err(|error| error.code)
    };
    assert_eq!(bytes(TEXT.to_vec()), Ok(TEXT.to_vec()));
    assert_eq!(bytes(gzip(&tar_of(&[("a", TEXT)]))), Ok(TEXT.to_vec()));
    assert_eq!(bytes(tar_of(&[("a", TEXT), ("b", TEXT)])), Err("FD-2006"));
}

#[test]
fn damaged_archives_are_reported_wherever_they_end() {
    for archive in [tar_of(&[("a", TEXT), ("b", TEXT)]), zip_of(&[("a", TEXT), ("b", TEXT)])] {
        for end in 0..archive.len() {
            let (found, _) = unpack_all(&archive[..end], Limits::default());
            assert!(found.len() <= 3, "{end}: {found:?}");
        }
    }
}

/// Input that takes long without being large: many empty streams, empty blocks, many small files, and a high ratio.
#[test]
fn unpacking_checks_its_time_limit_often_and_ends_soon_after_it() {
    const SIZE: usize = 1 << 19;
    let again = |part: &[u8]| part.repeat(SIZE / part.len());
    let small: Vec<(&str, &[u8])> = vec![("a", TEXT); SIZE / 1024];
    // A block of deflate that is stored, empty and not the last.
    let blocks = again(&[0, 0, 0, 0xFF, 0xFF]);
    let mut of_blocks = gzip(b"")[..10].to_vec();
    of_blocks.extend_from_slice(&blocks);
    let mut zip_of_blocks = zip_of(&[("a", TEXT)]);
    let head = 30 + "a".len();
    zip_of_blocks.splice(head..head, blocks.iter().copied());
    let grown = u32::try_from(blocks.len()).unwrap();
    // Corrects the sizes in the directory, and the offset of the directory.
    let directory = zip_of_blocks.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    let end = zip_of_blocks.len() - 22;
    for at in [directory + 20, end + 16] {
        let old = u32::from_le_bytes(zip_of_blocks[at..at + 4].try_into().unwrap());
        zip_of_blocks[at..at + 4].copy_from_slice(&(old + grown).to_le_bytes());
    }
    let slow = [
        ("gzip", again(&gzip(b""))),
        ("xz", again(HELLO_XZ)),
        ("bzip2", again(&bzip2_of(b""))),
        ("zstd", again(&zstd::encode_all(&b""[..], 1).unwrap())),
        ("deflate", of_blocks),
        ("zip", zip_of_blocks),
        ("tar", tar_of(&small)),
        ("ratio", bzip2_of(&vec![0; 4 * SIZE])),
    ];
    for (what, bytes) in slow {
        let asked = std::cell::Cell::new(0);
        let count = |most: u32| {
            asked.set(asked.get() + 1);
            asked.get() <= most
        };
        let (found, _) = unpack_all_while(&bytes, Limits::default(), &|| count(u32::MAX));
        assert!(asked.get() >= 30, "{what}: asked {} times: {found:?}", asked.get());
        asked.set(0);
        let (found, _) = unpack_all_while(&bytes, Limits::default(), &|| count(8));
        assert_eq!(found.last().unwrap().1, Err("FD-2005"), "{what}");
        assert!(asked.get() < 20, "{what}: asked {} times", asked.get());
    }
}

/// The zip crate reads the directory as a whole, so its entries are counted first.
#[test]
fn a_directory_of_a_zip_archive_that_is_too_long_is_not_read() {
    let mut bytes = zip_of(&[("a", TEXT)]);
    bytes.extend(ENTRY_OF_ZIP.repeat(100));
    let limits = |entries| Limits { entries, ..Limits::default() };
    assert_eq!(unpack_all(&bytes, limits(5)).0, one("f", Err("FD-2005")));
    assert_ne!(unpack_all(&bytes, limits(50)).0, one("f", Err("FD-2005")));
}

const ENTRY_OF_ZIP: &[u8] = b"PK\x01\x02";

/// Steps without input or output count too.
#[test]
fn empty_steps_count_towards_the_time_limit() {
    let asked = std::cell::Cell::new(0);
    let may_go_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    let pace = TimeLimit::new(&may_go_on);
    let steps = (0..10_000).take_while(|_| pace.count_work(0).is_ok()).count();
    assert!(asked.get() == 3 && (1000..2000).contains(&steps), "{} {steps}", asked.get());
}

#[test]
fn links_and_encrypted_entries_of_a_zip_archive_are_left_out() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    let link = writer.finish().unwrap().into_inner();
    let mut encrypted = zip_of(&[("a", TEXT)]);
    let directory = encrypted.windows(4).position(|part| part == ENTRY_OF_ZIP).unwrap();
    encrypted[6] |= 1;
    encrypted[directory + 8] |= 1;
    for (archive, why) in [(link, "a link"), (encrypted, "encrypted")] {
        let (found, notes) = unpack_all(&archive, Limits::default());
        assert!(found.is_empty() && notes.has("FN-555"), "{why}: {found:?} {notes:?}");
        assert!(notes.iter().all(|note| note.text.ends_with(why)), "{notes:?}");
    }
}

/// Two layers, each below the limit and together above it.
#[test]
fn bytes_of_all_layers_count_together() {
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(700 << 10)
    .collect();
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    assert_eq!(unpack_all(&gzip(&noise), limits).0, one("f", Ok(&noise)));
    assert_eq!(unpack_all(&gzip(&gzip(&noise)), limits).0, one("f", Err("FD-2005")));
}
