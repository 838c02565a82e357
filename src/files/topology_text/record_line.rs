//! The first line of a record: `Switch\t8 "S-0000000000200003"\t\t# "leaf3" base port 0 lid 5 lmc 0`.

use super::line_cursor::{LineCursor, LineFault, parse_count};
use super::line_kind::Keyword;
use super::line_tail::LineTail;
use fabdeck_fabric::{NodeKind, PortNum};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordLine<'a> {
    pub kind: NodeKind,
    pub port_count: u8,
    pub id: &'a str,
    /// `None` if the line has none, or if a cut line may not have all of it.
    pub name: Option<&'a str>,
    pub tail: LineTail<'a>,
}

const HINT: &str = "write a record as: Switch 36 \"S-0123456789abcdef\" # \"name\"";

/// Reads the text after the keyword. Tabs may have become blanks or nothing (`Switch41 "S-..."# "..."`).
pub fn parse_record<'a>(keyword: Keyword, rest: &'a str, cut: bool) -> Result<RecordLine<'a>, LineFault> {
    let fault = |what: &str| LineFault::new("FD-2102", format!("a {} record {what}", keyword.word), HINT);
    let mut scan = LineCursor::new(rest);
    scan.skip_blanks();
    let port_count = parse_count(scan.take_digits()).ok_or_else(|| fault("without a number of ports"))?;
    let port_count = PortNum::new(port_count)
        .ok_or_else(|| fault(&format!("with {port_count} ports; 254 is the most")))?;
    scan.skip_blanks();
    if !scan.skip_char('"') {
        return Err(fault("without the node's id in quotes"));
    }
    let id = scan.take_until('"').filter(|id| !id.is_empty()).ok_or_else(|| fault("whose id has no end"))?;
    let mut record = RecordLine {
        kind: keyword.kind,
        port_count: port_count.value(),
        id,
        name: None,
        tail: LineTail::default(),
    };
    let (before, comment) = scan.rest.split_once('#').unwrap_or((scan.rest, ""));
    record.tail.read(before)?;
    let comment = comment.trim_start();
    let (name, tail) = match comment.strip_prefix('"') {
        Some(quoted) => match quoted.rsplit_once('"') {
            // A name may contain quotes, so in a cut line text must follow it.
            Some((_, "")) if cut => (None, ""),
            Some((name, tail)) => (Some(name), tail),
            None if cut => (None, ""),
            None => return Err(fault("whose name has no closing quote")),
        },
        None => split_unquoted_name(comment, cut),
    };
    record.name = name;
    record.tail.read(tail)?;
    Ok(record)
}

/// Splits a name without quotes before the tool's own words.
fn split_unquoted_name(comment: &str, cut: bool) -> (Option<&str>, &str) {
    let ends = [" enhanced port 0", " base port 0", " port 0 lid ", " lid "];
    let end = ends.iter().find_map(|words| comment.rfind(words));
    match end {
        Some(at) => (Some(&comment[..at]), &comment[at..]),
        None if comment.is_empty() || cut => (None, ""),
        None => {
            let name = comment.trim_end();
            (Some(name.strip_suffix(" (scp)").unwrap_or(name)), "")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line_kind::{LineKind, classify};
    use super::super::line_tail::LidText;
    use super::*;
    use fabdeck_fabric::Lid;

    fn read(line: &str, cut: bool) -> Result<RecordLine<'_>, LineFault> {
        match classify(line) {
            LineKind::Record(keyword, rest) => parse_record(keyword, rest, cut),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_record_in_every_dress() {
        for line in [
            "Switch\t41 \"S-0000000000200003\"\t\t# \"leaf 3\" base port 0 lid 5 lmc 1",
            "Switch41 \"S-0000000000200003\"# \"leaf 3\" base port 0 lid 5 lmc 1",
            "  Switch  41   \"S-0000000000200003\"     #  \"leaf 3\" base port 0 lid 5 lmc 1  ",
            "Switch 41 \"S-0000000000200003\" # leaf 3 base port 0 lid 5 lmc 1",
        ] {
            let record = read(line, false).unwrap();
            assert_eq!((record.port_count, record.id), (41, "S-0000000000200003"), "{line}");
            assert_eq!(record.name, Some("leaf 3"), "{line}");
            assert_eq!(record.tail.enhanced_port0, Some(false), "{line}");
            assert_eq!(record.tail.lid, Lid::new(5).map(LidText::Known), "{line}");
            assert_eq!(record.tail.lmc.map(|lmc| lmc.value()), Some(1), "{line}");
        }
    }

    #[test]
    fn names_may_hold_anything() {
        for name in ["MF0;ib5:SX6036/U1", "a # b [7]", " blank ", "", "half\"quote", "lid 5 lmc 1"] {
            let line = format!("Ca\t2 \"H-1\"\t\t# \"{name}\"");
            assert_eq!(read(&line, false).unwrap().name, Some(name));
        }
        assert_eq!(read("Ca 2 \"H-1\" # host 1 (scp)", false).unwrap().name, Some("host 1"));
        assert_eq!(read("Hca 2 \"host0\"", false).unwrap().name, None);
    }

    #[test]
    fn damage_is_refused_and_a_cut_is_not() {
        for line in
            ["Switch", "Switch x", "Switch 255 \"S-1\"", "Switch 8", "Switch 8 \"S-1", "Switch 8 \"\""]
        {
            assert_eq!(read(line, false).unwrap_err().code, "FD-2102", "{line}");
        }
        assert!(read("Switch 8 \"S-1\" # \"le", false).is_err());
        for line in ["Switch 8 \"S-1\" # \"le", "Switch 8 \"S-1\" # \"le\"", "Switch 8 \"S-1\""] {
            assert_eq!(read(line, true).unwrap().name, None);
        }
    }
}
