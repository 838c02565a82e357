//! Which of the two dialects a file speaks.

use super::line::{LineKind, classify};

/// What a file of this shape is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// What ibnetdiscover saw: nodes are known by `S-`, `H-` or `R-` and their GUID.
    Dump,
    /// What ibsim is to play: nodes are known by any text, GUIDs are given out in order.
    Net,
}

/// The first line of net files written here. Their records look like those of a dump.
pub const NET_FILE_MARK: &str = "# ibsim net file";

/// Judges the beginning of a file by its first line that only one dialect has. `None`: neither.
pub fn dialect(head: &str) -> Option<Dialect> {
    let mut likely = None;
    for line in head.lines() {
        if line.trim_end() == NET_FILE_MARK {
            return Some(Dialect::Net);
        }
        match classify(line) {
            LineKind::Comment(text) if text.trim_start().starts_with("Topology file: generated on") => {
                return Some(Dialect::Dump);
            }
            LineKind::Record(_, rest) | LineKind::Port(rest) => {
                if let Some(dialect) = of_id(rest) {
                    return Some(dialect);
                }
            }
            LineKind::Key { key, .. } if key.of_ibsim_alone() => return Some(Dialect::Net),
            LineKind::Key { .. } => likely = Some(Dialect::Dump),
            LineKind::Alias(_) | LineKind::Include(_) => return Some(Dialect::Net),
            _ => {}
        }
    }
    likely
}

/// The dialect of the first id in a line.
fn of_id(rest: &str) -> Option<Dialect> {
    let (_, id) = rest.split_once('"')?;
    let (id, _) = id.split_once('"')?;
    let dump = ["S-", "H-", "R-"].iter().any(|kind| id.starts_with(kind)) && id.len() == 18;
    Some(if dump { Dialect::Dump } else { Dialect::Net })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_by_content() {
        for (head, expected) in [
            ("", None),
            ("# a comment\nSwitchName=a Nodes=b\n", None),
            ("{ \"records\": [1] }\n", None),
            ("$ ibnetdiscover\n\nvendid=0x2c9\n", Some(Dialect::Dump)),
            ("Switch\t8 \"S-0000000000200003\"\t\t# \"leaf3\"\n", Some(Dialect::Dump)),
            ("# ibsim net file\nSwitch\t8 \"S-0000000000200003\"\n", Some(Dialect::Net)),
            ("Switch 8 \"leaf0\"\n[1] \"spine0\"[1]\n", Some(Dialect::Net)),
            ("vendid=0x8f1\nHca 2 \"Hca1\"\n", Some(Dialect::Net)),
            ("module=\"a\"\n", Some(Dialect::Net)),
            ("Switch\t : 0x0000000000200003 ports 8 devid 0x0\n", None),
        ] {
            assert_eq!(dialect(head), expected, "{head:?}");
        }
    }
}
