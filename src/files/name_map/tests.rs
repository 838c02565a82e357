use super::*;

fn read_text(text: &str) -> Result<NameFile, Box<FileError>> {
    read(Input::new("t.map", text.as_bytes()))
}

fn name(line: &str) -> Option<String> {
    read_text(&format!("{line}\n")).unwrap().names.by_guid.into_values().next()
}

#[test]
fn names_are_what_the_tools_read() {
    for (line, expected) in [
        ("0x1 \"IB1 (Rack 11)\"", Some("IB1 (Rack 11)")),
        ("0x1 \"IB1 \" # comment", Some("IB1 ")),
        ("0x1\t\"a\"", Some("a")),
        ("0x1 plain name", Some("plain name")),
        ("0x1 \"rack #3\"", Some("rack ")),
        ("0x1 \"open", Some("open")),
        ("0x1", None),
        ("0x1 \"\"", None),
    ] {
        assert_eq!(name(line).as_deref(), expected, "{line}");
    }
}

#[test]
fn the_first_of_two_names_counts() {
    let file = read_text("0x1 \"one\"\n0x01 \"two\"\n").unwrap();
    assert_eq!(file.names.by_guid[&Guid(1)], "one");
    assert!(file.notes.has("FN-334"));
}

#[test]
fn a_line_without_a_guid_is_refused_as_the_tools_refuse_it() {
    for line in ["\"name\"", "host1 0x1", "0x1\"name\"", "0x1g \"x\""] {
        let error = read_text(&format!("0x1 \"one\"\n{line}\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{line}");
    }
}
