//! Files without a newline at their very end: whole where the last record is.

use fabdeck_fabric::LinkSpeed;

use super::{NET, is_net, look_at};

/// The dump with another speed on all cables, or on the last one alone.
fn at(speed: &str, all: bool) -> String {
    let (before, last) = NET.trim_end().rsplit_once('\n').unwrap();
    let far = "\"aggregation\" lid 3 4x";
    let before = match all {
        true => before.replace("4xEDR", &format!("4x{speed}")),
        false => before.replace(&format!("{far}EDR"), &format!("{far}{speed}")),
    };
    format!("{before}\n{}", last.replace("4xEDR", &format!("4x{speed}")))
}

#[test]
fn a_missing_last_newline_is_no_damage() {
    is_net(&look_at(NET.trim_end()).unwrap());
    let cut = look_at(&NET[..NET.len() - 9]).unwrap();
    assert!(cut.is_partial(), "a line without its end is");
}

/// `4xFDR` may be the beginning of `4xFDR10`: what else the dump holds settles it.
#[test]
fn a_speed_at_the_very_end_is_settled_by_the_rest_of_the_dump() {
    for (text, partial, why) in [
        (at("FDR", true), false, "all cables are FDR"),
        (at("FDR", false), false, "one cable is FDR, and its other end says so"),
        (at("FDR10", true), false, "FDR10 is no beginning of another"),
        (
            at("FDR", false).replacen("lid 2 4xEDR", "lid 2 4xFDR10", 1),
            false,
            "another cable is FDR10, but the other end of this one says FDR",
        ),
        (at("FDR10", true).trim_end_matches("10").to_owned(), true, "the other end says FDR10"),
    ] {
        let seen = look_at(&text).unwrap();
        assert_eq!(seen.is_partial(), partial, "{why}: {:?}", seen.notes);
        let speeds: Vec<_> = seen.fabric.ports().filter_map(|(_, port)| port.facts.speed).collect();
        let speed = if text.contains("FDR10") && partial { LinkSpeed::Fdr10 } else { LinkSpeed::Fdr };
        assert!(why.contains("FDR10 is no") || speeds.contains(&speed), "{why}: {speeds:?}");
    }
}

/// Where the other end does not say FDR, the rest of the dump has to, and may not say FDR10.
#[test]
fn a_speed_that_nothing_else_has_is_not_settled() {
    let last = |speed: &str| NET.trim_end().strip_suffix("EDR").unwrap().to_owned() + speed;
    let alone = look_at(last("FDR")).unwrap();
    assert!(alone.is_partial(), "no other cable is FDR: {:?}", alone.notes);
    assert!(!look_at(last("FDR10")).unwrap().is_partial());
    // The other cable is FDR, and the last one's other end FDR10.
    let both =
        at("FDR10", false).replace("lid 2 4xEDR", "lid 2 4xFDR").replace("lid 1 4xEDR\n", "lid 1 4xFDR\n");
    assert!(!look_at(&both).unwrap().is_partial(), "{both}");
    let cut = look_at(both.trim_end_matches("10")).unwrap();
    assert!(cut.is_partial(), "{:?}", cut.notes);
}

fn lst(cables: &[(u8, u8, &str)]) -> String {
    let end = |kind: &str, guid: u8, port: u8| {
        format!(
            "{{ {kind} Ports:24 SystemGUID:00000000000000{guid:02x} NodeGUID:00000000000000{guid:02x} \
             PortGUID:00000000000000{guid:02x} VenID:000002C9 DevID:C7380000 Rev:000000A1 {{n{guid}}} \
             LID:{guid:04X} PN:{port:02X} }} "
        )
    };
    let sides = |(near, far): (u8, u8)| match near {
        1 => end("SW", 1, far) + &end("CA", far, 1),
        _ => end("CA", near, 1) + &end("SW", 1, near),
    };
    let lines =
        cables.iter().map(|(near, far, rest)| format!("{}PHY=4x LOG=ACT{rest}", sides((*near, *far))));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_list_of_cables_ends_with_any_speed_or_none() {
    for (cables, partial) in [
        // Nothing tells whether the speed is cut.
        (vec![(1, 2, " SPD=10")], true),
        (vec![(1, 2, " SPD=5")], true),
        (vec![(1, 2, " SPD=25"), (1, 3, " SPD=10")], true),
        // All cables before have it.
        (vec![(1, 2, " SPD=10"), (1, 3, " SPD=10")], false),
        (vec![(1, 2, " SPD=5"), (1, 3, " SPD=5")], false),
        (vec![(1, 2, " SPD=25"), (1, 3, " SPD=??")], false),
        (vec![(1, 2, ""), (1, 3, "")], false),
        // Both kinds: the other end tells, where it is listed.
        (vec![(1, 2, " SPD=100"), (1, 3, " SPD=10"), (3, 1, " SPD=10")], false),
        (vec![(1, 2, " SPD=50"), (1, 3, " SPD=5"), (3, 1, " SPD=5")], false),
        (vec![(1, 2, " SPD=100"), (1, 3, " SPD=10")], true),
        (vec![(1, 2, " SPD=50"), (1, 3, " SPD=5")], true),
        (vec![(1, 2, " SPD=25"), (1, 3, " SPD=2")], true),
        (vec![(1, 2, " SPD=25"), (1, 3, "")], true),
        // A record alone does not show that the file has no speeds.
        (vec![(1, 2, "")], true),
    ] {
        let seen = look_at(lst(&cables)).unwrap();
        // Of a cable listed once in a list that has others twice, the missing side is another matter.
        let cut = seen.notes.has("FN-301");
        assert_eq!(cut, partial, "{cables:?}: {:?}", seen.notes);
    }
}

#[test]
fn a_net_file_ends_with_the_port_of_its_last_cable() {
    for (text, partial) in [
        ("Switch 8 \"leaf\"\n\nHca 1 \"host\"\n[1] \"leaf\"[1]", false),
        (
            "Switch 8 \"leaf\"\n[2] \"host b\"[1] w=1\n\nHca 1 \"host b\"\n\nHca 1 \"host\"\n[1] \"leaf\"[1]",
            true,
        ),
        ("Switch 8 \"leaf\"\n\nHca 1 \"host\"\n[1] \"leaf\"[", true),
    ] {
        let cut = look_at(text).map(|seen| seen.notes.has("FN-203"));
        assert_eq!(cut.unwrap_or(true), partial, "{text}");
    }
}
