use super::*;

fn read_text(text: &str) -> Result<GuidFile, Box<FileError>> {
    read(Input::new("t.guids", text.as_bytes()))
}

#[test]
fn other_formats_are_not_taken_for_lists() {
    for text in [
        "0x00fab10000000001 \"name\"\n",
        "0x00fab10000000001 0x0001 0x0001\n",
        "0x00fab10000000001 12 0\n",
        "0x00fab10000000001 0x0000000000000000\n",
        "0x00fab10000000001:1 0x00fab10000000002:1\n",
        "0x0001 003 # Switch portguid 0x00fab10000000001: 'x'\n",
        "0x0001 : 001  : 01   : yes\n",
        "0x0001\n",
        "# nothing else\n",
        "host1\n",
        "",
    ] {
        assert!(!looks_like(text), "{text}");
    }
    for text in ["0x00fab10000000001\n", "# roots\n0xfab10000000001 spine 1\n\n", "0x00fab10000000001#x"] {
        assert!(looks_like(text), "{text}");
    }
}

#[test]
fn what_is_no_guid_is_refused_with_its_line() {
    for line in ["host1", "0x", "0x0", "12345", "fab1", "-0x1", "0x00fab100000000011"] {
        let error = read_text(&format!("0x00fab10000000001\n{line}\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{line}");
    }
}

#[test]
fn a_list_may_be_empty_a_file_may_not() {
    assert!(read_text("# no entry\n").unwrap().guids.is_empty());
    assert_eq!(read_text("\n").unwrap_err().code, "FD-2307");
}
