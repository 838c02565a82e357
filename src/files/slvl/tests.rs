use super::*;

fn read_text(text: &str) -> Result<TableFile, Box<FileError>> {
    read(Input::new("t.slvl", text.as_bytes()))
}

#[test]
fn two_lanes_lie_in_a_byte_the_even_level_high() {
    let text = "0x00fab10000000001 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef\n";
    assert!(looks_like(text));
    let file = read_text(text).unwrap();
    let lanes = file.sections[0].tables.sl2vl[&(PortNum(5), PortNum(1))];
    for sl in 0..16 {
        assert_eq!(u32::from(lanes.lane(ServiceLevel::new(sl).unwrap()).value()), sl);
    }
}

#[test]
fn rows_that_cannot_be_are_refused_with_their_line() {
    for (row, code) in [
        ("0x1 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd", "FD-2305"),
        ("0x1 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef 0x00", "FD-2305"),
        ("0x1 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0x1ef", "FD-2305"),
        ("0x1 5 255 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef", "FD-2302"),
        ("0xq 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef", "FD-2303"),
    ] {
        let error = read_text(&format!("\n{row}\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), (code, Some(2)), "{row}");
    }
}
