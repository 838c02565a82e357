use super::*;

fn read_text(text: &str) -> Result<LidFile, Box<FileError>> {
    read(Input::new("guid2lid", text.as_bytes()))
}

#[test]
fn the_span_tells_the_lmc() {
    let file = read_text("0x0000000000000001 0x0008 0x000f\n\n0x0000000000000002 0x0007 0x0007\n\n").unwrap();
    let lids: Vec<(u16, u8)> = file.lids.values().map(|(lid, lmc)| (lid.value(), lmc.value())).collect();
    assert_eq!(lids, [(8, 3), (7, 0)]);
    assert!(file.notes.is_empty());
}

#[test]
fn spans_that_no_port_can_own_are_refused_with_their_line() {
    for span in
        ["0x0000 0x0000", "0x0008 0x0007", "0x0008 0x000a", "0x0007 0x0008", "0xbfff 0xc000", "0x0100 0x01ff"]
    {
        let error = read_text(&format!("0x0000000000000001 0x0008 0x000f\n\n0x2 {span}\n\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2306", Some(3)), "{span}");
    }
    for line in ["0x1 0x1", "0x1 7 7", "0x0 0x0001 0x0001", "1 0x0001 0x0001", "0x1 0x0001 0x0001 x"] {
        assert_eq!(read_text(&format!("{line}\n")).unwrap_err().code, "FD-2303", "{line}");
    }
}

#[test]
fn claims_that_collide_are_noted() {
    let file = read_text("0x1 0x0008 0x000f\n\n0x2 0x0009 0x0009\n\n0x1 0x0001 0x0001\n\n").unwrap();
    assert!(file.notes.has("FN-306") && file.notes.has("FN-333"));
    assert_eq!(file.lids[&Guid(1)].0, Lid::new(8).unwrap());
}
