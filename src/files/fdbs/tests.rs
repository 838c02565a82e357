use super::*;

fn read_text(text: &str) -> Result<TableFile, Box<FileError>> {
    read(Input::new("t.fdbs", text.as_bytes()))
}

fn refusal(row: &str) -> (&'static str, Option<u64>) {
    let text = format!("dump_ucast_routes: Switch 0x1\nLID    : Port : Hops : Optimal\n{row}\n");
    let error = read_text(&text).unwrap_err();
    (error.code, error.place.line)
}

#[test]
fn what_cannot_be_in_a_table_is_refused_with_its_line() {
    for row in
        ["0x0000 : 003  : 01   : yes", "0xC000 : 003  : 01   : yes", ": 003 : 01 : yes", "-1 : 003 : 01"]
    {
        assert_eq!(refusal(row), ("FD-2301", Some(3)), "{row}");
    }
    for row in ["0x0001 : 256  : 01   : yes", "0x0001 : -3", "0x0001 :", "0x0001", "0x0001 : WHERE"] {
        assert_eq!(refusal(row), ("FD-2302", Some(3)), "{row}");
    }
    assert_eq!(read_text("0x0001 : 001\n").unwrap_err().code, "FD-2304");
    assert_eq!(read_text("dump_ucast_routes: Switch 0xq\n").unwrap_err().code, "FD-2303");
}

#[test]
fn headings_of_older_versions_are_headings() {
    let text = "osm_ucast_mgr_dump_ucast_routes: Switch 0x2c90000213700\nLID : Port : Hops : Optimal\n0x0001 : 001\n";
    assert!(looks_like(text));
    assert_eq!(read_text(text).unwrap().sections[0].node, Guid(0x0002_c900_0021_3700));
}

#[test]
fn a_shorter_last_table_is_partial() {
    let table = |guid: u32, lids: u16| {
        let rows: String = (1..=lids).map(|lid| format!("0x{lid:04X} : 001  : 01   : yes\n")).collect();
        format!("dump_ucast_routes: Switch {guid:#x}\nLID    : Port : Hops : Optimal\n{rows}")
    };
    assert!(read_text(&(table(1, 5) + &table(2, 4))).unwrap().notes.is_partial());
    assert!(read_text(&(table(1, 5) + &table(2, 0))).unwrap().notes.is_partial());
    assert!(read_text(&(table(1, 5) + &table(2, 5))).unwrap().notes.is_empty());
    let alone = read_text(&table(1, 5)).unwrap();
    assert!(alone.notes.has("FN-302") && !alone.notes.is_partial());
}
