//! Text out of terminals, mails and logs, in every form: what is read and what is said of it (golden), and that it is the
//! same fabric.

use super::{NET, is_net, look_at};

/// Each line behind what a function makes of its number.
fn each(text: &str, prefix: impl Fn(usize) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", prefix(at))).collect()
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// Lines that a window filled to its last column.
fn wrapped(width: usize) -> String {
    let row = |signs: &[char]| signs.iter().collect::<String>() + "\n";
    NET.replace('\t', " ")
        .lines()
        .map(|line| match line.chars().collect::<Vec<char>>() {
            signs if signs.is_empty() => "\n".to_owned(),
            signs => signs.chunks(width).map(row).collect(),
        })
        .collect()
}

/// Lines that a mail ended before the first word that had no room.
fn wrapped_before_words(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.replace('\t', " ").lines() {
        let mut used = 0;
        for word in line.split_whitespace() {
            if used > 0 && used + 1 + word.len() > width {
                out.push('\n');
                used = 0;
            }
            out.push_str(if used > 0 { " " } else { "" });
            out.push_str(word);
            used += usize::from(used > 0) + word.len();
        }
        out.push('\n');
    }
    out
}

/// Adapters whose lines of cables are as long up to the `#` as a line of a mail.
fn adapters() -> String {
    let adapter = |at: usize| {
        format!(
            "caguid=0x{at:x}\nCa\t1 \"H-{at:016x}\"\t\t# \"host {at}\"\n\
             [1](0000:05:00.0)({at:016x}) \t\"S-0000000000000010\"[{at}]\t\t# lid {at} lmc 0 \"leaf\" lid 1 4xEDR\n\n"
        )
    };
    (2..8).map(adapter).collect()
}

/// A name and the bytes of each form that is read.
fn read_forms() -> Vec<(&'static str, Vec<u8>)> {
    let syslog = |at| format!("Nov 21 02:27:{at:02} mgmt ibnet[7]: ");
    let forms = [
        ("line numbers of cat -n", each(NET, |at| format!("{:6}\t", at + 1))),
        ("line numbers of grep -n", each(NET, |at| format!("{}:", at + 1))),
        ("times of ts", each(NET, |at| format!("Nov 21 02:27:{at:02} "))),
        ("times of RFC 3339", each(NET, |at| format!("2026-11-21T02:27:{at:02}.5Z "))),
        ("times since the boot", each(NET, |at| format!("[{:5}.{:06}] ", 12_345, at))),
        ("syslog", each(NET, syslog)),
        ("syslog with other times", each(NET, |_| "2026-11-21T02:27:15+01:00 mgmt ibnet: ".into())),
        (
            "syslog with a priority and several processes",
            each(NET, |at| format!("<30>Nov  1 02:27:{at:02} mgmt ibnet[{at}]: ")),
        ),
        (
            "syslog by RFC 5424",
            each(NET, |at| format!("<30>1 2026-11-21T02:27:{at:02}Z mgmt ibnet {at} - - ")),
        ),
        (
            "times and levels",
            each(NET, |at| {
                let level = if at % 2 == 0 { "INFO" } else { "WARNING" };
                format!("2026-11-21 02:27:{at:02},123 {level} ")
            }),
        ),
        ("line numbers in brackets", each(NET, |at| format!("{}) ", at + 1))),
        ("a number that does not rise", each(NET, |_| "7 ".into())),
        ("mail", each(NET, |_| "> ".into())),
        ("mail in a mail", each(NET, |_| ">> ".into())),
        ("syslog in a mail", each(&each(NET, syslog), |_| "> ".into())),
        ("pdsh", each(NET, |_| "mgmt1: ".into())),
        ("grep in files", each(NET, |_| "net.txt:".into())),
        ("colours", each(NET, |_| "\u{1b}[32m".into()).replace('\n', "\u{1b}[0m\n")),
        ("a window's title", format!("\u{1b}]0;root@mgmt\u{7}{}", each(NET, |_| "\u{1b}[K".into()))),
        ("CRLF and a mark", format!("\u{feff}{}", NET.replace('\n', "\r\n"))),
    ];
    let mut forms: Vec<(&str, Vec<u8>)> = forms.map(|(name, text)| (name, text.into_bytes())).into();
    let marked = format!("\u{feff}{NET}");
    forms.push(("UTF-16 LE", utf_16(&marked, u16::to_le_bytes)));
    forms.push(("UTF-16 BE", utf_16(&marked, u16::to_be_bytes)));
    forms.push(("UTF-16 LE without a mark", utf_16(NET, u16::to_le_bytes)));
    forms.push(("UTF-16 BE without a mark", utf_16(NET, u16::to_be_bytes)));
    forms.push(("UTF-16 LE of a log", utf_16(&each(&marked, syslog), u16::to_le_bytes)));
    forms
}

#[test]
fn every_form_that_is_read_is_the_same_fabric_and_says_what_was_left_out() {
    let plain = look_at(NET).unwrap();
    let mut said = String::new();
    for (name, bytes) in read_forms() {
        let seen = look_at(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        is_net(&seen);
        assert_eq!((&seen.fabric, &seen.time), (&plain.fabric, &plain.time), "{name}");
        let notes: Vec<String> =
            seen.notes.iter().map(|note| format!("{}: {}", note.code, note.text)).collect();
        said += &format!("{name}\n    {}\n", notes.join("\n    "));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn every_form_that_is_refused_is_named_with_what_to_do() {
    let lines: Vec<&str> = NET.lines().collect();
    let without = |prefixed: String, from: usize| -> String {
        prefixed
            .lines()
            .enumerate()
            .map(|(at, line)| format!("{}\n", if at < from { lines[at] } else { line }))
            .collect()
    };
    let mut said = String::new();
    for (name, text) in [
        ("mail below its first words", format!("Yesterday it broke:\n\n{}", each(NET, |_| "> ".into()))),
        ("times from the third line on", without(each(NET, |at| format!("02:27:{at:02} ")), 2)),
        (
            "syslog from the third line on",
            without(each(NET, |_| "Nov 21 02:27:15 mgmt ibnet[7]: ".into()), 2),
        ),
        ("line numbers from the third line on", without(each(NET, |at| format!("{:6}\t", at + 1)), 2)),
        ("wrapped by a window", wrapped(60)),
        ("wrapped by a mail", wrapped_before_words(NET, 60)),
        ("wrapped by a mail, and quoted", each(&wrapped_before_words(NET, 64), |_| "> ".into())),
        ("wrapped by a mail before the words behind cables", wrapped_before_words(&adapters(), 60)),
    ] {
        let error = look_at(&text).map(|seen| format!("{:?}", seen.notes)).unwrap_err().to_string();
        let (_, what) = error.split_once("FD-").unwrap();
        said += &format!("{name}\n    FD-{what}\n");
    }
    insta::assert_snapshot!(said);
}

/// What is in front of lines hides tables as well as topologies.
#[test]
fn tables_behind_a_prefix_are_tables() {
    let path = concat!(env!("FABDECK_ROOT"), "/tests/fixtures/tables/dump_lfts.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let plain =
        fabdeck_files::transcript::read("f", text.as_bytes(), &mut Default::default()).unwrap().unwrap();
    let logged = each(&text, |_| "Nov 21 02:27:15 mgmt lfts[7]: ".into());
    let mut notes = fabdeck_fabric::observe::Notes::new();
    let read = fabdeck_files::transcript::read("f", logged.as_bytes(), &mut notes).unwrap().unwrap();
    assert_eq!((read.0.id, &read.1), (plain.0.id, &plain.1));
    assert!(notes.has("FN-551"), "{notes:?}");
}

#[test]
fn lines_that_are_not_alike_are_reported_with_what_to_remove() {
    let quoted: String = NET.lines().map(|line| format!("> {line}\n")).collect();
    let error = look_at(format!("Yesterday somebody wrote:\n\n{quoted}")).unwrap_err().to_string();
    assert!(error.contains("FD-2007") && error.contains("remove the '>'"), "{error}");
}

/// A format is recognised without a prefix; a prefix is named, with what to remove.
#[test]
fn lines_with_a_prefix_in_a_dump_that_is_read_are_reported() {
    for (prefix, remove) in
        [("> ", "the '>'"), ("Nov 21 02:27:15 mgmt net[7]: ", "the time, host and program")]
    {
        let mixed: String = NET
            .lines()
            .enumerate()
            .map(|(at, line)| format!("{}{line}\n", if at > 9 { prefix } else { "" }))
            .collect();
        let seen = look_at(mixed).unwrap();
        let told: Vec<String> = seen.notes.iter().map(|note| note.to_string()).collect();
        let found = told.iter().find(|note| note.contains("FN-560")).unwrap_or_else(|| panic!("{told:?}"));
        assert!(seen.is_partial() && found.contains(&format!("remove {remove} there")), "{told:?}");
    }
    assert!(!look_at(NET).unwrap().notes.has("FN-560"));
}

/// A dump that some quoted lines make unreadable: the message names the quotes, and not the line that they hide.
#[test]
fn quotes_that_make_a_dump_unreadable_are_named() {
    let mixed = NET.replace("Ca\t", "> Ca\t");
    let error = look_at(mixed).unwrap_err().to_string();
    assert!(error.contains("FD-2007") && error.contains("mail is in front of 2 of 14 lines"), "{error}");
}

#[test]
fn wrapped_lines_are_reported_as_such() {
    let wrapped: String = NET
        .replace('\t', " ")
        .lines()
        .map(|line| {
            let signs: Vec<char> = line.chars().collect();
            signs.chunks(60).map(|row| row.iter().collect::<String>() + "\n").collect::<String>()
                + if line.is_empty() { "\n" } else { "" }
        })
        .collect();
    let error = look_at(&wrapped).unwrap_err().to_string();
    assert!(error.contains("FD-2008") && error.contains("60 columns"), "{error}\n{wrapped}");
}

/// Lines of one length, and a line that is none of the dump.
#[test]
fn a_dump_with_lines_of_one_length_is_not_taken_for_a_wrapped_one() {
    let ports: String = (1..=9)
        .map(|at| format!("[{at}]\t\"H-00000000000000{at}0\"[1]({at}1) \t\t# \"host {at}\" lid {at} 4xEDR\n"))
        .collect();
    for ports in [format!("{ports}a prompt\n"), ports.replace("4xEDR\n", "4xEDR\na prompt\n")] {
        let seen = look_at(format!("Switch\t9 \"S-0000000000000010\"\n{ports}")).unwrap();
        assert_eq!(seen.fabric.links().len(), 9);
    }
}

/// Comments that an operator wrote below a cable are no words that were cut off it.
#[test]
fn comments_behind_lines_are_not_taken_for_wrapped_ones() {
    let noted = wrapped_before_words(&adapters(), 300).replace("4xEDR\n", "4xEDR\n# \"mended in March\"\n");
    let seen = look_at(&noted).unwrap();
    assert_eq!(seen.fabric.links().len(), 6);
}
