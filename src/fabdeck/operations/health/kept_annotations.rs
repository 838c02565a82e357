//! Notes and bookmarks of the user about live fabrics, in a file of the user's state folder. Each line is one of them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::acknowledgements::fabric_key;
use crate::catalogue::snapshot::Snapshot;
use crate::system::access::SystemAccess;
use crate::system::state_lines::{read_lines, update_lines};
use fabdeck_files::capture_format::Annotation;

const FILE_NAME: &str = "annotations";

/// Most annotations that are kept; the oldest go first.
const MAX_KEPT: usize = 5000;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct KeptAnnotation {
    /// The fabric, by the lowest GUID of its switches.
    fabric: String,
    #[serde(flatten)]
    annotation: Annotation,
}

/// The annotations of a fabric.
pub fn read_annotations(system: &dyn SystemAccess, look: &Snapshot) -> Result<Vec<Annotation>, String> {
    let Some(file) = file_path(system) else { return Ok(Vec::new()) };
    let lines = read_lines::<KeptAnnotation>(&file);
    let lines = lines.map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let fabric = fabric_key(look);
    Ok(lines.into_iter().filter(|kept| kept.fabric == fabric).map(|kept| kept.annotation).collect())
}

/// Keeps an annotation, or removes the bookmark that it takes back.
pub fn keep_annotation(
    system: &dyn SystemAccess,
    look: &Snapshot,
    annotation: &Annotation,
) -> Result<(), String> {
    let Some(file) = file_path(system) else {
        return Err("FD-7332: no state folder of this user is known; set HOME or XDG_STATE_HOME".to_owned());
    };
    let fabric = fabric_key(look);
    let changed = update_lines(&file, |lines: &mut Vec<KeptAnnotation>| {
        if annotation.removed {
            lines.retain(|kept| kept.fabric != fabric || !annotation.takes_back(&kept.annotation));
        } else {
            lines.push(KeptAnnotation { fabric, annotation: annotation.clone() });
        }
        let old = lines.len().saturating_sub(MAX_KEPT);
        lines.drain(..old);
    });
    changed.map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

fn file_path(system: &dyn SystemAccess) -> Option<PathBuf> {
    Some(system.user_state()?.join(FILE_NAME))
}
