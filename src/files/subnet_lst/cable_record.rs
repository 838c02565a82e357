//! One line of the file: a port, the port at the other end of its cable, and the cable.

use fabdeck_fabric::Guid;

use super::super::opensm::{parse_hex, split_word};

/// A port, as one half of a line describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndFields<'a> {
    /// `CA`, `SW`, `Rt`, or `**` if OpenSM does not know.
    pub kind: &'a str,
    /// Whether the port's LID is that of the master subnet manager.
    pub subnet_manager: bool,
    pub port_count: u8,
    pub system_image_guid: Guid,
    pub node_guid: Guid,
    pub port_guid: Guid,
    pub vendor_id: u32,
    pub device_id: u32,
    pub revision: u32,
    pub name: &'a str,
    pub lid: &'a str,
    pub number: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CableRecord<'a> {
    pub ends: [EndFields<'a>; 2],
    pub width: &'a str,
    pub state: &'a str,
    /// Old files have none.
    pub speed: Option<&'a str>,
}

impl<'a> CableRecord<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (near, rest) = split_first(line)?;
        // The name of the far end may hold any text; it ends where the rest can be read as a cable.
        let (far, rest) = EndFields::parse_head(rest)?;
        split_name_ends(rest).find_map(|(name, tail)| {
            let (far, rest) = far.clone().parse_tail(name, tail)?;
            let (width, state, speed) = parse_cable(rest)?;
            Some(CableRecord { ends: [near.clone(), far], width, state, speed })
        })
    }
}

/// Splits off the near end, at the first place where the far end begins.
fn split_first(line: &str) -> Option<(EndFields<'_>, &str)> {
    let (near, rest) = EndFields::parse_head(line)?;
    split_name_ends(rest).find_map(|(name, tail)| {
        let (near, rest) = near.clone().parse_tail(name, tail)?;
        EndFields::parse_head(rest)?;
        Some((near, rest))
    })
}

/// All possible ends of a name: the name, and the text after its brace.
fn split_name_ends(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("} LID:").map(move |(at, _)| (&text[..at], &text[at + 1..]))
}

impl<'a> EndFields<'a> {
    /// Reads `{ SW Ports:24 SystemGUID:... Rev:000000A1 {`; returns the rest too.
    fn parse_head(text: &'a str) -> Option<(Self, &'a str)> {
        let text = text.trim_start().strip_prefix('{')?;
        let (kind, text) = split_word(text);
        let (kind, subnet_manager) = match kind.strip_suffix("-SM") {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        if !matches!(kind, "CA" | "SW" | "Rt" | "RT" | "**") {
            return None;
        }
        let (port_count, text) = parse_hex_field(text, "Ports:")?;
        let (system, text) = parse_hex_field(text, "SystemGUID:")?;
        let (node, text) = parse_hex_field(text, "NodeGUID:")?;
        let (port, text) = parse_hex_field(text, "PortGUID:")?;
        let (vendor, text) = parse_hex_field(text, "VenID:")?;
        let (device, text) = parse_hex_field(text, "DevID:")?;
        let (revision, text) = parse_hex_field(text, "Rev:")?;
        let name = text.trim_start().strip_prefix('{')?;
        let end = Self {
            kind,
            subnet_manager,
            port_count: u8::try_from(port_count).ok()?,
            system_image_guid: Guid(system),
            node_guid: Guid(node),
            port_guid: Guid(port),
            vendor_id: u32::try_from(vendor).ok()?,
            device_id: u32::try_from(device).ok()?,
            revision: u32::try_from(revision).ok()?,
            name: "",
            lid: "",
            number: 0,
        };
        Some((end, name))
    }

    /// Reads ` LID:0007 PN:01 }`; returns the rest too.
    fn parse_tail(mut self, name: &'a str, tail: &'a str) -> Option<(Self, &'a str)> {
        let tail = tail.trim_start().strip_prefix("LID:")?;
        let (lid, rest) = tail.split_at(tail.find([' ', '\t'])?);
        let (number, rest) = parse_hex_field(rest, "PN:")?;
        let rest = rest.trim_start().strip_prefix('}')?;
        (self.name, self.lid) = (name, lid);
        self.number = u8::try_from(number).ok()?;
        Some((self, rest))
    }
}

/// Reads a key with a hexadecimal number, the only kind in this format.
fn parse_hex_field<'a>(text: &'a str, key: &str) -> Option<(u64, &'a str)> {
    let (word, rest) = split_word(text);
    let digits = word.strip_prefix(key)?;
    Some((parse_hex(digits)?, rest))
}

/// Reads `PHY=4x LOG=ACT SPD=2.5`.
fn parse_cable(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let (width, rest) = split_word(text);
    let (state, rest) = split_word(rest);
    let (speed, rest) = split_word(rest);
    let (width, state) = (width.strip_prefix("PHY=")?, state.strip_prefix("LOG=")?);
    if !rest.trim().is_empty() {
        return None;
    }
    match speed {
        "" => Some((width, state, None)),
        speed => Some((width, state, Some(speed.strip_prefix("SPD=")?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(near: &str, far: &str) -> String {
        let end = |kind: &str, name: &str| {
            format!(
                "{{ {kind} Ports:24 SystemGUID:00000000000000aa NodeGUID:00000000000000ab \
                 PortGUID:00000000000000ac VenID:0002C9 DevID:C738 Rev:000000A1 {{{name}}} LID:001F PN:0A }}"
            )
        };
        format!("{} {} PHY=4x LOG=ACT SPD=14", end("SW", near), end("CA-SM", far))
    }

    #[test]
    fn numbers_are_hexadecimal() {
        let line = line("leaf", "host");
        let record = CableRecord::parse(&line).unwrap();
        let [near, far] = &record.ends;
        assert_eq!((near.port_count, near.lid, near.number), (0x24, "001F", 10));
        assert_eq!((near.subnet_manager, far.subnet_manager, far.kind), (false, true, "CA"));
        assert_eq!((record.width, record.state, record.speed), ("4x", "ACT", Some("14")));
    }

    #[test]
    fn a_name_may_hold_anything() {
        for name in
            ["", " ", "a } b", "x} LID:0001", "{", "} LID:0001 PN:01 }", "\"q\" # {}", "PHY=4x LOG=ACT"]
        {
            for text in [line(name, "far"), line("near", name)] {
                let record = CableRecord::parse(&text).unwrap_or_else(|| panic!("{text}"));
                let names = record.ends.map(|end| end.name.to_owned());
                assert!(names == [name, "far"] || names == ["near", name], "{names:?}");
            }
        }
    }

    #[test]
    fn a_line_that_stops_short_is_no_record() {
        let text = line("leaf", "host");
        for end in 0..text.len() - " SPD=14".len() - "ACT".len() - " LOG=".len() + 1 {
            assert_eq!(CableRecord::parse(&text[..end]), None, "{}", &text[..end]);
        }
    }
}
