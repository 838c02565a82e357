//! Collects the service levels that the files of a folder set: a QoS policy of OpenSM, and a list of paths (`psl`).

use fabdeck_fabric::observe::{NotePlace, Notes, PolicyLevels};
use fabdeck_fabric::{Fabric, PathLevelTable, ServiceLevel};

/// The note about levels of paths that stay unknown, because files differ or cannot be read.
const OPEN_LEVELS: &str = "FN-559";
/// The note about paths of the fabric that a list of paths lacks.
const UNLISTED_PATHS: &str = "FN-362";
/// The note about a source or LID of a list of paths that the fabric lacks.
const UNKNOWN_PATH_END: &str = "FN-363";

/// The levels that were read so far.
#[derive(Debug, Default)]
pub(super) struct LevelFiles {
    policy: Option<PolicyLevels>,
    /// The list of paths, with the name of its file.
    paths: Option<(String, PathLevelTable)>,
    /// Whether lists of paths differ, or one cannot be read.
    open_paths: bool,
}

impl LevelFiles {
    /// Adds the levels of a file. If two files differ, the levels in force are unknown.
    pub(super) fn add(&mut self, name: &str, levels: PolicyLevels, place: NotePlace, notes: &mut Notes) {
        let other = match (levels, &self.policy, &self.paths) {
            (PolicyLevels::ByPath(table), _, None) => {
                self.paths = Some((name.to_owned(), table));
                return;
            }
            (PolicyLevels::ByPath(table), _, Some((_, known))) if *known == table => return,
            (PolicyLevels::ByPath(_), ..) => {
                self.open_paths = true;
                "list of paths"
            }
            (levels, None, _) => {
                self.policy = Some(levels);
                return;
            }
            (levels, Some(known), _) if *known == levels => return,
            _ => {
                self.policy = Some(PolicyLevels::Undecided);
                "QoS policy"
            }
        };
        notes.add(OPEN_LEVELS, place, || {
            format!(
                "{name} sets other service levels than another {other} here, so the levels of paths are not known"
            )
        });
    }

    /// Records a file that sets service levels but cannot be read, so that the levels are unknown.
    pub(super) fn add_unread(&mut self, name: &str, is_policy: bool, place: NotePlace, notes: &mut Notes) {
        match is_policy {
            true => self.policy = Some(PolicyLevels::Undecided),
            false => self.open_paths = true,
        }
        notes.add(OPEN_LEVELS, place, || {
            format!("{name} sets service levels and cannot be read, so the levels of paths are not known")
        });
    }

    /// The levels in force. A list of paths decides what the rules of a policy leave undecided. If the two agree, the
    /// policy is used, since it has a level for every path.
    pub(super) fn finish(self, fabric: &Fabric, notes: &mut Notes) -> Option<PolicyLevels> {
        if self.open_paths {
            return Some(PolicyLevels::Undecided);
        }
        let Some((name, table)) = self.paths else { return self.policy };
        note_unknown_ends(&name, &table, fabric, notes);
        match self.policy {
            Some(policy @ PolicyLevels::ByDestination(_)) if is_consistent(&policy, &table, fabric) => {
                Some(policy)
            }
            Some(PolicyLevels::ByDestination(_)) => {
                notes.add(OPEN_LEVELS, NotePlace::file(name.clone()), || {
                    format!(
                        "{name} sets other service levels than the QoS policy here, so the levels of paths are not known"
                    )
                });
                Some(PolicyLevels::Undecided)
            }
            _ => {
                note_unlisted(&name, &table, fabric, notes);
                Some(PolicyLevels::ByPath(table))
            }
        }
    }
}

/// Whether a policy gives every path of a list the level in the list.
fn is_consistent(policy: &PolicyLevels, table: &PathLevelTable, fabric: &Fabric) -> bool {
    let PolicyLevels::ByDestination(by_guid) = policy else { return false };
    let mut paths = table.sources.values().flatten();
    paths.all(|(lid, level)| {
        let Some(port) = fabric.port_by_lid(*lid) else { return true };
        let set = fabric.port(port).facts.guid.and_then(|guid| by_guid.get(&guid));
        set.copied().unwrap_or(0) == ServiceLevel::value(*level)
    })
}

fn note_unknown_ends(name: &str, table: &PathLevelTable, fabric: &Fabric, notes: &mut Notes) {
    let unknown = table.sources.keys().filter(|guid| fabric.node_by_guid(**guid).is_none());
    let mut lids: Vec<_> = table.sources.values().flat_map(|row| row.keys()).collect();
    lids.sort_unstable();
    lids.dedup();
    let lids = lids.into_iter().filter(|lid| fabric.port_by_lid(**lid).is_none());
    let strangers = unknown.map(|guid| guid.to_string()).chain(lids.map(|lid| format!("LID {lid}")));
    for stranger in strangers {
        notes.add(UNKNOWN_PATH_END, NotePlace::file(name), || {
            format!("this list gives service levels for paths from or to {stranger}, which the fabric does not have; they are not used")
        });
    }
}

fn note_unlisted(name: &str, table: &PathLevelTable, fabric: &Fabric, notes: &mut Notes) {
    let listed = table.apply_to(fabric, false);
    let Some((source, lid)) = listed.first_unlisted else { return };
    notes.add(UNLISTED_PATHS, NotePlace::file(name), || {
        let source = fabric.node(source).guid();
        let paths = match listed.unlisted {
            1 => "1 path".to_owned(),
            some => format!("{some} paths"),
        };
        format!(
            "{name} has no level for {paths} of the fabric, the first from {source} to LID {lid}: not known"
        )
    });
}
