//! Members of partitions as ibdiagnet lists them (`ibdiagnet2.pkey`).
//!
//! ```text
//! GROUP PKey:0x7fff Hosts:2
//!   Full leaf1/P0 lid=0x0018 guid=0x0002c90000000201 dev=54002
//! ```

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::Notes;

use super::FileError;
use super::cables::note_cut;
use super::content::{PartitionFile, PartitionMember, PartitionPorts, PartitionStatement};
use super::opensm::{no_content, note_stray_line, note_truncated_line, parse_prefixed_hex};
use super::port_blocks::read_lines;
use super::text::Input;

pub const ID: &str = "pkey";

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| parse_group(line).is_some())
}

/// The key of a group, without the bit of membership.
fn parse_group(line: &str) -> Option<u16> {
    let key = line.strip_prefix("GROUP PKey:")?.split_whitespace().next()?;
    parse_prefixed_hex(key).filter(|key| *key <= 0xFFFF).map(|key| key as u16 & 0x7FFF)
}

/// Reads `Full NAME lid=0x0018 guid=0x0002c90000000201 dev=54002`. Names may have blanks, so the last words count.
fn parse_member(text: &str) -> Option<(bool, Guid)> {
    let full = match text.split_whitespace().next()? {
        "Full" => true,
        "Part" | "Limited" => false,
        _ => return None,
    };
    let guid = text.split_whitespace().rev().find_map(|word| word.strip_prefix("guid="))?;
    Some((full, Guid::from_hex(guid).ok()?))
}

pub fn read(input: Input<'_>) -> Result<PartitionFile, Box<FileError>> {
    let mut file = PartitionFile::default();
    let mut notes = Notes::new();
    let whole = read_lines(input, |line, text, place| {
        if line.unended {
            note_truncated_line(&mut notes, place, text);
        } else if let Some(key) = parse_group(text) {
            let name = format!("0x{key:04x}");
            file.statements.push(PartitionStatement { name, key, members: Vec::new() });
        } else if let (Some(open), Some((full, guid))) = (file.statements.last_mut(), parse_member(text)) {
            let member = PartitionMember { who: PartitionPorts::Port(guid), full, line: line.number };
            open.members.push(member);
        } else {
            note_stray_line(&mut notes, place, text);
        }
    })?;
    if !whole {
        note_cut(&mut notes, input);
    }
    if file.statements.is_empty() {
        return Err(no_content(input.name, "group with a P_Key"));
    }
    file.notes = notes;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_members() {
        let text = "GROUP PKey:0x7fff Hosts:2\n  Full sw/P0 lid=0x0001 guid=0x1 dev=54002\n\
            \u{20} Part n 1/mlx5_0/P1 lid=0x0002 guid=0x21 dev=4129\n\nGROUP PKey:0x8005 Hosts:1\n\
            \u{20} Full sw/P0 lid=0x0001 guid=0x1 dev=54002\n";
        assert!(looks_like(text));
        let file = read(Input::new("f", text.as_bytes())).unwrap();
        let found: Vec<_> = file
            .statements
            .iter()
            .map(|held| (held.key, held.members.iter().map(|one| (one.who, one.full)).collect::<Vec<_>>()))
            .collect();
        let port = |guid| PartitionPorts::Port(Guid(guid));
        assert_eq!(found, [(0x7FFF, vec![(port(1), true), (port(0x21), false)]), (5, vec![(port(1), true)])]);
        assert!(file.notes.is_empty());
    }
}
