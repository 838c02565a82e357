//! Joins cables: a dump states each cable twice, once at each end.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::FileError;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{FabricBuilder, Guid, Lid, NodeKey, NodeKind, PortFacts, PortNum};

pub type PortKey = (NodeKey, PortNum);

/// The claim of one port line: a cable from `near` to `far`, and facts about `far` that its own record should have
/// too.
#[derive(Clone, Copy, Debug)]
pub struct CableClaim {
    pub near: PortKey,
    pub far: PortKey,
    pub line: u64,
    pub far_lid: Option<Lid>,
    pub far_guid: Option<Guid>,
}

/// Connects the ports of all claims. Claims of both ends come first, then claims of one end, each in file order. A
/// claim that contradicts an earlier cable is left out with a note. Returns for each claim the matching claim from the
/// other end.
pub fn join_cables(
    builder: &mut FabricBuilder,
    claims: &[CableClaim],
    notes: &mut Notes,
    file: &str,
) -> Result<Vec<Option<u32>>, Box<FileError>> {
    check_far_ports(builder, claims, file)?;
    let mut by_ends: FxHashMap<(PortKey, PortKey), u32> = FxHashMap::default();
    by_ends.reserve(claims.len());
    for (at, claim) in claims.iter().enumerate() {
        by_ends.entry((claim.near, claim.far)).or_insert(at as u32);
    }
    let partners: Vec<Option<u32>> =
        claims.iter().map(|claim| by_ends.get(&(claim.far, claim.near)).copied()).collect();
    drop(by_ends);
    for confirmed in [true, false] {
        for (claim, _) in claims.iter().zip(&partners).filter(|(_, p)| p.is_some() == confirmed) {
            connect_claim(builder, claim, confirmed, notes, file);
        }
    }
    for claim in claims {
        fill_far_port(builder, claim, notes, file);
    }
    note_unrecorded_nodes(notes, file, builder, claims);
    note_rates(builder, claims, &partners, notes, file);
    Ok(partners)
}

fn check_far_ports(builder: &FabricBuilder, claims: &[CableClaim], file: &str) -> Result<(), Box<FileError>> {
    for claim in claims {
        let node = builder.node(claim.far.0);
        if node.answered && claim.far.1.value() > node.port_count {
            let what = format!(
                "a cable to port {} of {} '{}', which has {} ports",
                claim.far.1, node.guid, node.description, node.port_count
            );
            let hint = "the number of ports in the node's record or this port is wrong";
            return Err(FileError::new("FD-2104", NotePlace::line(file, claim.line), what, hint));
        }
    }
    Ok(())
}

fn connect_claim(
    builder: &mut FabricBuilder,
    claim: &CableClaim,
    confirmed: bool,
    notes: &mut Notes,
    file: &str,
) {
    let place = || NotePlace::line(file, claim.line);
    match builder.connect(claim.near, claim.far) {
        Ok(()) if confirmed || !builder.node(claim.far.0).answered => {}
        Ok(()) => notes.add_partial("FN-208", place(), || {
            format!(
                "only {} names the cable to {}",
                end_label(builder, claim.near),
                end_label(builder, claim.far)
            )
        }),
        Err(stands) => notes.add("FN-207", place(), || {
            format!(
                "the ends disagree: here {} leads to {}, elsewhere {} leads to {}; the latter is kept",
                end_label(builder, claim.near),
                end_label(builder, claim.far),
                end_label(builder, (stands.node, stands.port)),
                end_label(builder, (stands.peer, stands.peer_port))
            )
        }),
    }
}

fn end_label(builder: &FabricBuilder, (node, port): PortKey) -> String {
    let facts = builder.node(node);
    format!("{} '{}' port {port}", facts.guid, facts.description)
}

/// Fills in facts that only the peer states of a port; the port's own record has priority.
fn fill_far_port(builder: &mut FabricBuilder, claim: &CableClaim, notes: &mut Notes, file: &str) {
    if builder.peer(claim.near.0, claim.near.1) != Some(claim.far) {
        return;
    }
    let is_switch = builder.node(claim.far.0).kind == NodeKind::Switch;
    let addressed = if is_switch { PortNum::MANAGEMENT } else { claim.far.1 };
    let mut differs = None;
    if let Some(lid) = claim.far_lid {
        let facts: &mut PortFacts = builder.port(claim.far.0, addressed);
        let known = *facts.lid.get_or_insert(lid);
        if known != lid {
            differs = Some(format!("LID {known} by its record, LID {lid} by its peer"));
        }
    }
    if let Some(guid) = claim.far_guid
        && !is_switch
    {
        let known = *builder.port(claim.far.0, claim.far.1).guid.get_or_insert(guid);
        if known != guid {
            differs = Some(format!("port GUID {known} by its record, {guid} by its peer"));
        }
    }
    if let Some(differs) = differs {
        notes.add("FN-213", NotePlace::line(file, claim.line), || {
            format!("{} has {differs}: the record is kept", end_label(builder, claim.far))
        });
    }
}

/// Notes each node that others name and that has no record.
fn note_unrecorded_nodes(notes: &mut Notes, file: &str, builder: &FabricBuilder, claims: &[CableClaim]) {
    let mut seen = FxHashSet::default();
    for claim in claims {
        let far = builder.node(claim.far.0);
        if far.answered || !seen.insert(claim.far.0) {
            continue;
        }
        notes.add_partial("FN-206", NotePlace::line(file, claim.line), || {
            format!(
                "{} {} '{}' has no record: only its peers name it",
                far.kind.word(),
                far.guid,
                far.description
            )
        });
    }
}

/// Notes cables whose ends name different widths or speeds; each port keeps its own.
fn note_rates(
    builder: &mut FabricBuilder,
    claims: &[CableClaim],
    partners: &[Option<u32>],
    notes: &mut Notes,
    file: &str,
) {
    for (at, claim) in claims.iter().enumerate() {
        // Visits each cable once, at its first claim.
        if partners[at].is_none_or(|partner| partner as usize <= at) {
            continue;
        }
        let near = builder.port(claim.near.0, claim.near.1);
        let (width, speed) = (near.width, near.speed);
        let far = builder.port(claim.far.0, claim.far.1);
        if is_different(width, far.width) || is_different(speed, far.speed) {
            notes.add("FN-218", NotePlace::line(file, claim.line), || {
                let (near, far) = (end_label(builder, claim.near), end_label(builder, claim.far));
                format!("{near} and {far} are the ends of one cable and state different widths or speeds; each port keeps its own")
            });
        }
    }
}

fn is_different<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::NodeFacts;

    fn switches(builder: &mut FabricBuilder, count: u64) -> Vec<NodeKey> {
        let facts = |guid| NodeFacts::new(NodeKind::Switch, Guid(guid), 8, format!("s{guid}"));
        (1..=count).map(|guid| builder.add_node(facts(guid)).unwrap()).collect()
    }

    fn claim(line: u64, near: PortKey, far: PortKey) -> CableClaim {
        CableClaim { near, far, line, far_lid: None, far_guid: None }
    }

    #[test]
    fn what_both_ends_say_outweighs_what_one_says_earlier() {
        let mut builder = FabricBuilder::new();
        let nodes = switches(&mut builder, 3);
        let port = |node: usize, port| (nodes[node], PortNum(port));
        let claims = [
            claim(1, port(0, 1), port(1, 2)),
            claim(2, port(1, 2), port(2, 3)),
            claim(3, port(2, 3), port(1, 2)),
        ];
        let mut notes = Notes::new();
        let partners = join_cables(&mut builder, &claims, &mut notes, "f").unwrap();
        assert_eq!(partners, [None, Some(2), Some(1)]);
        assert_eq!(builder.peer(nodes[1], PortNum(2)), Some(port(2, 3)));
        assert_eq!(builder.peer(nodes[0], PortNum(1)), None);
        let note = notes.iter().next().unwrap();
        assert_eq!((note.code, note.first.line), ("FN-207", Some(1)));
        assert!(note.text.contains("s2") && note.text.contains("s3"), "{}", note.text);
    }

    #[test]
    fn a_cable_from_one_end_is_kept_with_a_note() {
        let mut builder = FabricBuilder::new();
        let nodes = switches(&mut builder, 2);
        let mut notes = Notes::new();
        let claims = [claim(7, (nodes[0], PortNum(1)), (nodes[1], PortNum(2)))];
        join_cables(&mut builder, &claims, &mut notes, "f").unwrap();
        assert_eq!(builder.finish().links().len(), 1);
        assert!(notes.has("FN-208") && notes.is_partial());
    }

    #[test]
    fn a_port_past_the_end_is_refused() {
        let mut builder = FabricBuilder::new();
        let nodes = switches(&mut builder, 2);
        let claims = [claim(7, (nodes[0], PortNum(1)), (nodes[1], PortNum(9)))];
        let error = join_cables(&mut builder, &claims, &mut Notes::new(), "f").unwrap_err();
        assert_eq!((error.code, error.place.line), ("FD-2104", Some(7)));
    }
}
