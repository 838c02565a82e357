use super::*;

fn read_text(text: &str) -> Result<PartitionFile, Box<FileError>> {
    read(Input::new("partitions.conf", text.as_bytes()))
}

/// Each definition as `name key: members`, full members with a `+`.
fn statements(file: &PartitionFile) -> Vec<String> {
    let member = |member: &PartitionMember| {
        let who = match member.who {
            PartitionPorts::All => "all".to_owned(),
            PartitionPorts::Of(kind) => format!("{kind:?}"),
            PartitionPorts::Manager => "manager".to_owned(),
            PartitionPorts::Port(guid) => format!("{:x}", guid.0),
        };
        format!("{who}{}", if member.full { "+" } else { "" })
    };
    let words = |held: &PartitionStatement| held.members.iter().map(member).collect::<Vec<_>>().join(" ");
    file.statements.iter().map(|held| format!("{} {:x}: {}", held.name, held.key, words(held))).collect()
}

#[test]
fn definitions_run_over_lines_and_share_them() {
    let text = "# all\nDefault=0x7fff, ipoib, sl=1 :\n  mgid=ff12::1,sl=1 # a group\n  ALL, SELF=full\n  ALL_SWITCHES=full;\n\
        a=0x8010,defmember=full: 0x11, 0x12=limited; b : 17, 021=bo ,NONE;\n a : 0x13=; c=0x2,defm=full:ALL_C,ALL_ROUTERS\n;\n\
        b : 0x14; 0x9: 0x15=much;d,what:;\n";
    let file = read_text(text).unwrap();
    assert_eq!(
        statements(&file),
        [
            "Default 7fff: all manager+ Switch+",
            "a 10: 11+ 12",
            "b 1: 11 11+",
            "a 10: 13+",
            "c 2: ChannelAdapter+ Router+",
            "b 1: 14",
            " 9: 15",
            "d 3: ",
        ]
    );
    let codes: Vec<_> = file.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["FN-371", "FN-373"]);
}

#[test]
fn what_opensm_would_drop_the_file_for_is_refused_with_its_line() {
    for wrong in
        ["ALL", "a=x: ALL;", "a=0x18000: ALL;", "a=1: host1;", "a=1: 0x0;", "a=1: -5;", "a=1: 0x11 0x12;"]
    {
        let error = read_text(&format!("Default=0x7fff: ALL;\n{wrong}\n")).unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{wrong}");
    }
    assert_eq!(read_text("# no member\n").unwrap_err().code, "FD-2307");
}

#[test]
fn a_file_cut_anywhere_is_read_as_far_as_it_goes() {
    let text =
        "Default=0x7fff, ipoib: ALL, SELF=full;\nfew=0x10, defmember=full: 0x1234,\n 0x5678=limited;\n";
    let whole = statements(&read_text(text).unwrap());
    for end in 0..text.len() {
        match read_text(&text[..end]) {
            Ok(cut) => {
                for (cut, whole) in statements(&cut).iter().zip(&whole) {
                    assert!(whole.starts_with(cut.trim_end()), "{end}: {cut} is no part of {whole}");
                }
                let partial = !text[..end].trim_end().ends_with(';');
                assert!(!partial || cut.notes.is_partial(), "{end}");
            }
            Err(error) => assert_eq!(error.code, "FD-2307", "{end}: {error}"),
        }
    }
}

#[test]
fn other_files_are_not_taken_for_partitions() {
    for text in [
        "",
        "# x\n",
        "Unicast lids [0-3] of switch Lid 1:\n",
        "name: ALL\n",
        "0x0001 : 001 : 01 : yes\n",
        "a b\n",
    ] {
        assert!(!looks_like(text), "{text}");
    }
    for text in
        ["Default=0x7fff,ipoib:ALL=full;", "# x\na , ipoib : 0x12=full\n;", "0x8001:SELF;", "Default:\nALL;"]
    {
        assert!(looks_like(text), "{text}");
    }
}
