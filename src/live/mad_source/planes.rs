//! Reads the planes beside the one of the fabric: a discovery from each further port for subnet management, each with routes
//! of its own. Nodes are merged by their GUID; no route of a plane serves another.

use super::discovery::discover;
use super::fdr10::KindsWithoutFdr10;
use super::hierarchy::{HierarchyMemory, read_hierarchies};
use super::reader::PortReader;
use fabdeck_fabric::observe::{PlaneAnswer, PlaneReading, PortHierarchies, ReadingPhase, route_text};
use fabdeck_fabric::{Fabric, Guid};
use fabdeck_mad::access::{ReadPort, SourceError};

/// A port for subnet management of a plane.
#[derive(Debug)]
pub struct PlaneSource {
    /// The number of the plane.
    pub plane: u8,
    /// Its port, or why it cannot be used.
    pub port: Result<ReadPort, String>,
}

/// The planes of an adapter: that of the fabric, and the others.
#[derive(Debug, Default)]
pub struct PlaneSources {
    /// The plane of the fabric.
    pub main: u8,
    /// The other planes.
    pub others: Vec<PlaneSource>,
}

/// The names of the phases of each plane.
const PHASES: [&str; 9] =
    ["plane", "plane 1", "plane 2", "plane 3", "plane 4", "plane 5", "plane 6", "plane 7", "plane 8"];

/// What devices said earlier in a session.
pub(super) type PlaneMemory<'m> = (&'m mut KindsWithoutFdr10, &'m mut HierarchyMemory);

/// Reads one plane. A plane that does not answer is noted, and everything else goes on.
pub(super) fn read_plane(
    reader: &mut PortReader<'_>,
    plane: u8,
    main: &Fabric,
    (without_fdr10, hierarchies): PlaneMemory<'_>,
) -> Result<(PlaneReading, PortHierarchies), SourceError> {
    let found = match discover(reader, without_fdr10) {
        Ok(found) => found,
        Err(SourceError::Cancelled) => return Err(SourceError::Cancelled),
        Err(error) => {
            note_silent_plane(reader, plane, &error.to_string());
            return Ok((PlaneReading::silent(plane), PortHierarchies::default()));
        }
    };
    let (fabric, nodes) = found.into_fabric();
    if fabric.links().next().is_none() {
        note_silent_plane(
            reader,
            plane,
            "the link of this host in it is down, or its other end does not answer",
        );
        return Ok((PlaneReading::silent(plane), PortHierarchies::default()));
    }
    let (stated, is_stated) = match read_hierarchies(reader, &fabric, &nodes, hierarchies) {
        Ok(stated) => (stated, true),
        Err(SourceError::Cancelled) => return Err(SourceError::Cancelled),
        Err(_) => (PortHierarchies::default(), false),
    };
    let is_partial = !is_stated || !reader.log.silent.is_empty() || reader.log.notes.is_partial();
    note_missing(reader, plane);
    let answer = if is_partial { PlaneAnswer::Partial } else { PlaneAnswer::Read };
    let mut reading = PlaneReading::of_fabric(plane, answer, &fabric);
    reading.contradicting = fabric
        .nodes()
        .filter(|(_, node)| {
            let known = main.node_by_guid(node.guid()).map(|known| &main.node(known).facts);
            known.is_some_and(|known| {
                let what = |facts: &fabdeck_fabric::NodeFacts| {
                    (facts.kind, facts.port_count, facts.device_id, facts.system_image_guid)
                };
                what(known) != what(&node.facts)
            })
        })
        .map(|(_, node)| node.guid())
        .collect();
    note_contradictions(reader, plane, reading.contradicting.first().copied(), reading.contradicting.len());
    Ok((reading, stated))
}

/// Notes that a plane gave no answer.
fn note_silent_plane(reader: &mut PortReader<'_>, plane: u8, why: &str) {
    reader.log.silent.clear();
    reader.log.note_partial("FN-573", || silent_plane_text(plane, why));
}

pub(super) fn silent_plane_text(plane: u8, why: &str) -> String {
    format!("plane {plane} gave no answer ({why}): which of its links are down is not known")
}

/// Notes the questions without an answer. Their routes mean nothing in the plane of the fabric, so they are not listed with
/// those of it.
fn note_missing(reader: &mut PortReader<'_>, plane: u8) {
    let silent = std::mem::take(&mut reader.log.silent);
    let Some(first) = silent.first() else { return };
    let (count, asked, route) = (silent.len(), &first.asked, route_text(&first.route));
    reader.log.note_partial("FN-574", || {
        format!(
            "plane {plane} answered in part: {count} questions got no answer, the first {asked} over {route}"
        )
    });
}

fn note_contradictions(reader: &mut PortReader<'_>, plane: u8, first: Option<Guid>, count: usize) {
    let Some(first) = first else { return };
    reader.log.note_partial("FN-575", || {
        format!(
            "plane {plane} states {count} of the nodes otherwise than the plane of the fabric, as {first}: their planes \
             are not judged"
        )
    });
}

/// The phases of a plane, by its name.
pub(super) fn name_phases(phases: Vec<ReadingPhase>, plane: u8) -> impl Iterator<Item = ReadingPhase> {
    let name = PHASES.get(usize::from(plane)).copied().unwrap_or(PHASES[0]);
    phases.into_iter().map(move |phase| ReadingPhase { name, ..phase })
}
