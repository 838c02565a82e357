//! Detects which of the two dialects a file has.

use super::line_kind::{Keyword, LineKind, classify};
use super::record_line::parse_record;

/// The dialect of a topology text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Output of ibnetdiscover: ids of nodes are `S-`, `H-` or `R-` and their GUID.
    Dump,
    /// Input of ibsim: ids of nodes are arbitrary, and GUIDs are assigned in order.
    Net,
}

/// The first line of net files that fabdeck writes, whose records look like those of a dump.
pub const NET_FILE_MARK: &str = "# ibsim net file";

/// Judges the beginning of a file. `None`: neither dialect.
///
/// Any text may have a line that looks like a port or a key (`[12345.678] systemd[1]: ...`, `speed=auto`). So only
/// these count:
/// - the mark of fabdeck's net files, and the line with the time that ibnetdiscover prints;
/// - a readable record with nothing but a comment after its id.
///
/// Words that only ibsim knows (`module=`, `@[3]`) turn records that could be a dump's into a net file.
pub fn detect_dialect(head: &str) -> Option<Dialect> {
    let (mut of_ibsim, mut named) = (false, false);
    let mut lines = head.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim_end() == NET_FILE_MARK {
            return Some(Dialect::Net);
        }
        // The head of a long file may end within a line.
        let cut = lines.peek().is_none() && !head.ends_with('\n');
        match classify(line) {
            LineKind::Comment(text) if text.trim_start().starts_with("Topology file: generated on") => {
                return Some(Dialect::Dump);
            }
            LineKind::Record(keyword, rest) => {
                let Some(id) = plain_record_id(keyword, rest, cut) else { continue };
                let dump = !of_ibsim && (named || is_dump_id(id));
                return Some(if dump { Dialect::Dump } else { Dialect::Net });
            }
            // These are peers of a missing record. The first id may be an anonymised one.
            LineKind::Port(rest) => named |= rest.split('"').nth(1).is_some_and(is_dump_id),
            LineKind::Key { key, .. } => of_ibsim |= key.is_ibsim_only(),
            LineKind::Alias(_) | LineKind::Include(_) => of_ibsim = true,
            _ => {}
        }
    }
    None
}

/// The id of a readable record; `Switch 3 "rack A" was rebooted` is none.
fn plain_record_id(keyword: Keyword, rest: &str, cut: bool) -> Option<&str> {
    let record = parse_record(keyword, rest, cut).ok()?;
    let behind = rest.splitn(3, '"').nth(2)?.trim_start();
    (behind.is_empty() || behind.starts_with('#')).then_some(record.id)
}

fn is_dump_id(id: &str) -> bool {
    ["S-", "H-", "R-"].iter().any(|kind| id.starts_with(kind)) && id.len() == 18
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_differ_by_content() {
        for (head, expected) in [
            ("", None),
            ("# a comment\nSwitchName=a Nodes=b\n", None),
            ("{ \"records\": [1] }\n", None),
            ("$ ibnetdiscover\n\nvendid=0x2c9\n", None),
            ("#\n# Topology file: generated on Mon Mar  3\n#\nvendid=0x2c9\n", Some(Dialect::Dump)),
            ("Switch\t8 \"S-0000000000200003\"\t\t# \"leaf3\"\n", Some(Dialect::Dump)),
            ("# ibsim net file\nSwitch\t8 \"S-0000000000200003\"\n", Some(Dialect::Net)),
            ("Switch 8 \"leaf0\"\n[1] \"spine0\"[1]\n", Some(Dialect::Net)),
            ("vendid=0x8f1\nHca 2 \"Hca1\"\n", Some(Dialect::Net)),
            ("module=\"a\"\n", None),
            ("module=\"a\"\nSwitch 8 \"S-0000000000200003\"\n", Some(Dialect::Net)),
            ("Switch\t8 \"S-0000000000200003\"\t\t# \"le", Some(Dialect::Dump)),
            ("Switch\t : 0x0000000000200003 ports 8 devid 0x0\n", None),
        ] {
            assert_eq!(detect_dialect(head), expected, "{head:?}");
        }
    }

    #[test]
    fn stray_text_is_no_topology() {
        for line in [
            "[12345.678] systemd[1]: Starting \"foo\"...",
            "[1] \"spine0\"[1]",
            "speed=auto",
            "include \"other.conf\"",
            "@[3] \"uplink\"",
            "Switch 3 broke \"at noon\"",
            "Switch 3 \"rack A\" was rebooted",
            "Switch 3 \"rack A",
            "Switch 0x0000000000200003, base LID 2, \"leaf0\"",
        ] {
            assert_eq!(detect_dialect(&format!("{line}\n")), None, "{line}");
            assert_eq!(detect_dialect(line), None, "{line}");
        }
    }
}
