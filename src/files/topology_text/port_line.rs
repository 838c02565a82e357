//! Port lines: `[1]\t"H-0000000000100012"[1](100013) \t\t# "host6" lid 13 4xSDR` on a switch, `[1](100007)
//! \t"S-0000000000200001"[1]\t\t# lid 9 lmc 0 "leaf1" lid 3 4xSDR` on an adapter.

use super::line_cursor::{LineCursor, LineFault, parse_count};
use super::line_tail::{LidText, LineTail, split_rate};
use fabdeck_fabric::{Lmc, NodeKind, PortNum};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortLine<'a> {
    pub port: PortNum,
    /// The text in parentheses after the port: a GUID, or a label of ibdiagnet.
    pub label: Option<&'a str>,
    pub peer: &'a str,
    pub peer_port: Option<PortNum>,
    pub peer_label: Option<&'a str>,
    /// Whether blanks precede the bracket of the peer's port, which ibsim then ignores.
    pub spaced: bool,
    /// The LID and LMC of this port; only adapters state them here.
    pub own_lid: Option<LidText>,
    pub own_lmc: Option<Lmc>,
    /// The peer's description.
    pub name: Option<&'a str>,
    /// Words about the peer (its LID) and the link.
    pub tail: LineTail<'a>,
}

const HINT: &str = "write a port as: [1] \"S-0123456789abcdef\"[2] # \"name\" lid 5 4xEDR";

/// Reads the text after the first bracket.
pub fn parse_port(owner: NodeKind, rest: &str, cut: bool) -> Result<PortLine<'_>, LineFault> {
    let mut scan = LineCursor::new(rest);
    let port = read_port_number(&mut scan)?;
    let label = read_labels(&mut scan);
    scan.skip_blanks();
    if !scan.skip_char('"') {
        return Err(bad_port_line("a port line without the peer's id in quotes"));
    }
    let peer = scan.take_until('"').ok_or_else(|| bad_port_line("a port line whose peer's id has no end"))?;
    let mut spaced = scan.skip_blanks();
    let peer_port = match scan.skip_char('[') {
        true => Some(read_port_number(&mut scan)?),
        false => {
            spaced = false;
            None
        }
    };
    let peer_label = read_labels(&mut scan);
    let mut line = PortLine {
        port,
        label,
        peer,
        peer_port,
        peer_label,
        spaced,
        own_lid: None,
        own_lmc: None,
        name: None,
        tail: LineTail::default(),
    };
    let (before, comment) = scan.rest.split_once('#').unwrap_or((scan.rest, ""));
    line.tail.read(before)?;
    line.read_comment(owner, comment.trim_start(), cut)?;
    Ok(line)
}

impl<'a> PortLine<'a> {
    fn read_comment(&mut self, owner: NodeKind, comment: &'a str, cut: bool) -> Result<(), LineFault> {
        let mut rest = comment;
        if owner != NodeKind::Switch && (comment.starts_with("lid ") || comment.starts_with("lid\t")) {
            let (own, behind) = split_own_lid(comment);
            let mut tail = LineTail::default();
            tail.read(own)?;
            (self.own_lid, self.own_lmc) = (tail.lid, tail.lmc);
            rest = behind;
        }
        let (name, tail) = match rest.strip_prefix('"') {
            Some(quoted) => match quoted.rsplit_once('"') {
                Some((_, "")) if cut => (None, ""),
                Some((name, tail)) => (Some(name), tail),
                None if cut => (None, ""),
                None => return Err(bad_port_line("a port line whose name has no closing quote")),
            },
            None => split_unquoted_name(rest, cut),
        };
        self.name = name;
        self.tail.read(tail)
    }
}

/// Splits off the adapter's own `lid 9 lmc 0`.
fn split_own_lid(comment: &str) -> (&str, &str) {
    if let Some(quote) = comment.find('"') {
        return comment.split_at(quote);
    }
    // Without a quoted name, the own words end after the value of lmc, or of lid if there is no lmc.
    let mut scan = LineCursor::new(comment);
    for word in ["lid", "lmc"] {
        let Some(rest) = scan.rest.strip_prefix(word) else { continue };
        let mut behind = LineCursor::new(rest);
        behind.skip_blanks();
        let end = behind.rest.find(char::is_whitespace).unwrap_or(behind.rest.len());
        let value = behind.rest[..end].trim_start_matches('-');
        let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
        let is_value = match digits {
            Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
            None => value.bytes().all(|b| b.is_ascii_digit()),
        };
        if is_value {
            behind.rest = &behind.rest[end..];
            behind.skip_blanks();
        }
        scan = behind;
    }
    comment.split_at(comment.len() - scan.rest.len())
}

/// Splits a name without quotes at the last ` lid `. A text that begins with `lid` or a rate has no name.
fn split_unquoted_name(comment: &str, cut: bool) -> (Option<&str>, &str) {
    let first = comment.split_ascii_whitespace().next().unwrap_or("");
    let no_name = first == "lid" || first.contains('=') || split_rate(first).is_some();
    match comment.rfind(" lid ") {
        _ if no_name => (None, comment),
        Some(at) => (Some(&comment[..at]), &comment[at..]),
        None if cut || first.is_empty() => (None, ""),
        None => (Some(comment.trim_end()), ""),
    }
}

/// Reads the number of a port with its closing bracket, and skips the external number of `-g` (`[ext 5]`).
fn read_port_number(scan: &mut LineCursor<'_>) -> Result<PortNum, LineFault> {
    let digits = scan.take_digits();
    if !scan.skip_char(']') {
        return Err(bad_port_line("a port number without its closing bracket"));
    }
    let number = parse_count(digits).ok_or_else(|| bad_port_line("a port line without a port number"))?;
    if scan.rest.starts_with("[ext") {
        let _ = scan.take_until(']');
    }
    match PortNum::new(number) {
        Some(PortNum::MANAGEMENT) => Err(LineFault::new(
            "FD-2104",
            "a cable at port 0, which has none",
            "cables are at ports 1 to 254",
        )),
        Some(number) => Ok(number),
        None => Err(LineFault::new(
            "FD-2104",
            format!("port {number} cannot exist"),
            "cables are at ports 1 to 254",
        )),
    }
}

/// The text in parentheses after a port. ibdiagnet first writes its own label of the port, or the PCI address of the
/// adapter, and then the GUID: `[1](1)(GUID)`, `[1](0000:05:00.0)(GUID)`. Of several texts the GUID counts.
fn read_labels<'a>(scan: &mut LineCursor<'a>) -> Option<&'a str> {
    let first = read_parenthesised(scan)?;
    let (mut chosen, mut several) = (first, false);
    while let Some(next) = read_parenthesised(scan) {
        several = true;
        if is_guid(next) && (!is_guid(chosen) || next.len() >= chosen.len()) {
            chosen = next;
        }
    }
    (!several || is_guid(chosen)).then_some(chosen)
}

fn is_guid(label: &str) -> bool {
    let digits = label.strip_prefix("0x").unwrap_or(label);
    !digits.is_empty() && digits.len() <= 16 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

fn read_parenthesised<'a>(scan: &mut LineCursor<'a>) -> Option<&'a str> {
    let mut ahead = *scan;
    ahead.skip_blanks();
    if !ahead.skip_char('(') {
        return None;
    }
    let label = ahead.take_until(')')?;
    *scan = ahead;
    Some(label)
}

fn bad_port_line(what: &str) -> LineFault {
    LineFault::new("FD-2103", what, HINT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Lid, LinkSpeed};

    fn lid(value: u32) -> Option<LidText> {
        Lid::new(value).map(LidText::Known)
    }

    fn read(owner: NodeKind, line: &str) -> PortLine<'_> {
        parse_port(owner, line.strip_prefix('[').unwrap(), false).unwrap_or_else(|e| panic!("{line}: {e:?}"))
    }

    #[test]
    fn a_switch_port_in_every_dress() {
        for line in [
            "[1]\t\"H-100012\"[2](100013) \t\t# \"host 6\" lid 13 4xFDR10",
            "[1] \"H-100012\"[2](100013) # \"host 6\" lid 13 4xFDR10",
            "[1]\"H-100012\"[2](100013)# \"host 6\" lid 13 4xFDR10",
            "[1]\"H-100012\"[2](100013) # host 6 lid 13 4xFDR10",
            "[1][ext 4]\t\"H-100012\"[2][ext 1](100013) \t\t# \"host 6\" lid 13 4xFDR10 slot 4",
            "[1](1/1/1) \"H-100012\" [2](100013) # \"host 6\" lid 13 4xFDR10 s=4 w=2 v=4",
        ] {
            let port = read(NodeKind::Switch, line);
            assert_eq!((port.port, port.peer, port.peer_port), (PortNum(1), "H-100012", Some(PortNum(2))));
            assert_eq!((port.peer_label, port.name), (Some("100013"), Some("host 6")), "{line}");
            assert_eq!((port.own_lid, port.tail.lid), (None, lid(13)), "{line}");
            assert_eq!(port.tail.speed, Some(LinkSpeed::Fdr10), "{line}");
        }
    }

    #[test]
    fn an_adapter_port_in_every_dress() {
        for line in [
            "[1](100007) \t\"S-200001\"[3]\t\t# lid 9 lmc 1 \"leaf 1\" lid 3 4xSDR",
            "[1](100007) \"S-200001\"[3]# lid 9 lmc 1 \"leaf 1\" lid 3 4xSDR",
            "[1](100007) \"S-200001\"[3] # lid 9 lmc 1 leaf 1 lid 3 4xSDR",
            "[1](100007) \"S-200001\"[3] # lid 0x9 lmc 1 leaf 1 lid 0x3 4xSDR",
        ] {
            let port = read(NodeKind::ChannelAdapter, line);
            assert_eq!((port.label, port.name), (Some("100007"), Some("leaf 1")), "{line}");
            assert_eq!((port.own_lid, port.tail.lid), (lid(9), lid(3)), "{line}");
            assert_eq!(port.own_lmc.map(Lmc::value), Some(1), "{line}");
        }
        for label in ["(1)(100007)", "(0000:05:00.0)(100007)", "(1)(05:00.0)(0x100007)", "(HCA-1/1)(100007)"]
        {
            let line = format!("[1]{label} \"S-200001\"[65] # lid 9 lmc 1 \"leaf 1\" lid 3 4xSDR");
            let port = read(NodeKind::ChannelAdapter, &line);
            assert_eq!(port.label.map(|label| label.trim_start_matches("0x")), Some("100007"), "{line}");
            assert_eq!((port.peer_port, port.own_lid), (Some(PortNum(65)), lid(9)), "{line}");
        }
        let port = read(NodeKind::ChannelAdapter, "[1] \"S-1\"[3] # lid lmc 0 \"leaf\" lid 4xSDR");
        assert_eq!((port.own_lid, port.tail.lid), (Some(LidText::Unknown), Some(LidText::Unknown)));
        let port = read(NodeKind::ChannelAdapter, "[1] \"leaf\"[3] # lid 9 lmc 0");
        assert_eq!((port.own_lid, port.tail.lid, port.name), (lid(9), None, None));
    }

    #[test]
    fn lines_of_net_files() {
        let port = read(NodeKind::Switch, "[3] \"spine0\"[1]");
        assert_eq!((port.peer, port.peer_port, port.spaced), ("spine0", Some(PortNum(1)), false));
        let port = read(NodeKind::Switch, "[3] \"spine0\"");
        assert_eq!(port.peer_port, None);
        let port = read(NodeKind::Switch, "[3] \"spine0\"[1] w=1 s=7 # lid 4 4xQDR");
        assert_eq!((port.tail.w, port.tail.s, port.name), (Some(1), Some(7), None));
        assert_eq!(port.tail.lid, lid(4));
    }

    #[test]
    fn damage_is_refused() {
        for line in ["1", "1]", "1] S-1", "1] \"S-1", "1] \"S-1\"[2", "1] \"S-1\"[]", "1] \"S-1\"[2] # \"a"] {
            assert_eq!(parse_port(NodeKind::Switch, line, false).unwrap_err().code, "FD-2103", "{line}");
        }
        for line in ["255] \"S-1\"[1]", "0] \"S-1\"[1]", "1] \"S-1\"[99999999999]", "1] \"S-1\"[0]"] {
            assert_eq!(parse_port(NodeKind::Switch, line, false).unwrap_err().code, "FD-2104", "{line}");
        }
    }
}
