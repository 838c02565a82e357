use super::*;

fn read_text(text: &str) -> Result<TableFile, Box<FileError>> {
    read(Input::new("t.sl2vl", text.as_bytes()))
}

const HEAD: &str = "Switch 0x1, base LID 1, \"leaf\"\n#in out : 0\n#---\n";

#[test]
fn rows_that_cannot_be_are_refused_with_their_line() {
    for (row, code) in [
        ("0   1   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6", "FD-2305"),
        ("0   1   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 16", "FD-2305"),
        ("0   1   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 8", "FD-2305"),
        ("0   255 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7", "FD-2302"),
        ("0 1 2   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7", "FD-2303"),
    ] {
        let error = read_text(&format!("{HEAD}{row}\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), (code, Some(4)), "{row}");
    }
    assert_eq!(read_text("0 1 : 0\n").unwrap_err().code, "FD-2304");
}

#[test]
fn a_section_ends_with_a_rule() {
    let row = "0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n";
    assert!(read_text(&format!("{HEAD}{row}")).unwrap().notes.is_partial());
    assert!(read_text(&format!("{HEAD}{row}#---\n\n")).unwrap().notes.is_empty());
}
