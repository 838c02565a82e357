use super::*;

fn read_text(text: &str) -> Result<TableFile, Box<FileError>> {
    read(Input::new("t.lfts", text.as_bytes()))
}

fn section(rows: &str) -> String {
    format!("Unicast lids [0-9] of switch Lid 1 guid 0x00fab10000000001 ('leaf'):\n{rows}9 lids dumped\n")
}

fn refusal(rows: &str) -> (&'static str, Option<u64>) {
    let error = read_text(&section(rows)).unwrap_err();
    (error.code, error.place.line)
}

#[test]
fn lids_that_cannot_be_in_a_table_are_refused_with_their_line() {
    for row in
        ["0x0000 003", "0xc000 003", "0xffff 003", "-1 003", "0x-1 003", "0x 003", "003 # Switch", "12 003"]
    {
        let code = refusal(&format!("0x0001 000 # x\n{row}\n"));
        assert_eq!(code, ("FD-2301", Some(3)), "{row}");
    }
}

#[test]
fn ports_that_cannot_be_are_refused_with_their_line() {
    for row in ["0x0001 256", "0x0001 -1", "0x0001 0x01", "0x0001", "0x0001 # Switch", "0x0001 99999999999"] {
        assert_eq!(refusal(&format!("{row}\n")), ("FD-2302", Some(2)), "{row}");
    }
}

#[test]
fn no_path_is_an_entry_like_another_and_nothing_in_the_table() {
    let file = read_text(&section("0x0001 000\n0x0002 255\n0x0000 255 : (illegal port)\n")).unwrap();
    let lft = file.sections[0].tables.lft.as_ref().unwrap();
    assert_eq!(lft.routed_lids().count(), 1);
    assert!(file.notes.is_empty(), "{:?}", file.notes);
}

#[test]
fn a_heading_without_a_guid_and_a_row_without_a_heading_are_refused() {
    for (text, code) in [
        ("Unicast lids [0-9] of switch Lid 1 guid 0xzz ('leaf'):\n", "FD-2303"),
        ("Unicast lids [0-9] of switch Lid 1:\n", "FD-2303"),
        ("0x0001 001\n", "FD-2304"),
        ("", "FD-2307"),
        ("nothing of the kind\n", "FD-2307"),
    ] {
        assert_eq!(read_text(text).unwrap_err().code, code, "{text}");
    }
}

#[test]
fn counts_that_disagree_make_the_answer_partial() {
    let hex = |count: &str| {
        let head = "Unicast lids [0x0-0x9] of switch Lid 1 guid 0x1 (leaf):\n0x0001 000 \n0x0002 001 \n";
        read_text(&format!("{head}{count}\n")).unwrap().notes.is_partial()
    };
    assert!(!hex("2 valid lids dumped "));
    assert!(hex("3 valid lids dumped "));
    assert!(hex(""));
    // OpenSM counts up to the highest LID, routed or not.
    assert!(!read_text(&section("0x0001 000 # x\n")).unwrap().notes.is_partial());
    assert!(read_text(&section("").replace("9 lids", "8 lids")).unwrap().notes.is_partial());
}

#[test]
fn the_last_entry_of_two_counts_and_is_noted() {
    let file = read_text(&section("0x0001 001 # x\n0x0001 002 # x\n")).unwrap();
    let lft = file.sections[0].tables.lft.as_ref().unwrap();
    assert_eq!(lft.get(Lid::new(1).unwrap()), Some(PortNum(2)));
    assert!(file.notes.has("FN-305") && !file.notes.is_partial());
}

#[test]
fn the_tools_leave_out_a_last_lid_that_begins_a_block() {
    let dump = |rows: &str, count: u32| {
        let head = "Unicast lids [0x0-0x40] of switch Lid 1 guid 0x1 (leaf):\n0x0001 000 \n";
        read_text(&format!("{head}{rows}{count} valid lids dumped \n")).unwrap()
    };
    assert!(dump("", 1).notes.is_partial());
    assert!(!dump("0x0040 001 \n", 2).notes.is_partial());
}

#[test]
fn owners_come_from_rows_first_and_from_headings_then() {
    let file = read_text(&section("0x0002 000 # Switch portguid 0xfe: 'x portguid 0xbad:'\n")).unwrap();
    let owners: Vec<(u16, u64)> = file.owners.iter().map(|(lid, guid)| (lid.value(), guid.0)).collect();
    assert_eq!(owners, [(1, 0x00fa_b100_0000_0001), (2, 0xfe)]);
    let twice = section("0x0002 000 # Switch portguid 0xfe: 'x'\n").repeat(2).replacen("0xfe", "0xff", 1);
    assert!(read_text(&twice).unwrap().notes.has("FN-306"));
}

#[test]
fn a_few_high_lids_do_not_take_all_memory() {
    let mut text = String::new();
    for switch in 1..4000 {
        text += &format!("Unicast lids [0-1] of switch Lid 1 guid {switch:#x} ():\n0xbfff 1 #\n");
    }
    assert_eq!(read_text(&text).unwrap_err().code, "FD-2308");
}

#[test]
fn multicast_rows_in_both_shapes() {
    let group = |text: &str| {
        let head = "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x1 (leaf):\n";
        let file = read_text(&format!("{head}{text}1 valid mlids dumped \n"))?;
        let mft = file.sections[0].tables.mft.clone().unwrap();
        Ok::<_, Box<FileError>>(
            mft.groups.get(&0xC002).map(|ports| ports.iter().map(|p| p.0).collect::<Vec<_>>()),
        )
    };
    let columns = "            0                   1 \n     Ports: 0 1 2 3 4 5 6 7 8 9 0 \n MLid\n";
    assert_eq!(
        group(&format!("{columns}0xc002      x   x               x \n")).unwrap().unwrap(),
        [0, 2, 10]
    );
    assert_eq!(group(" MLid       Port Mask\n0xc002      00050001\n").unwrap().unwrap(), [0, 2, 16]);
    assert_eq!(group("0xc002      y\n").unwrap_err().code, "FD-2303");
    assert_eq!(group("0x0002      x\n").unwrap_err().code, "FD-2301");
}
