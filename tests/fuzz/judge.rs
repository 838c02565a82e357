//! What must hold of every input, accepted or refused.

use fabdeck_fabric::{Fabric, Lid, PortNum};
use fabdeck_files::content::Content;
use fabdeck_files::text::Input;
use fabdeck_files::{FileError, Format};

/// Reads the input twice: the answers are equal, and what is accepted is sound.
pub fn judge(format: &Format, input: Input<'_>) {
    let first = (format.read)(input);
    assert_eq!(first, (format.read)(input), "the same bytes were read in two ways");
    match first {
        Ok(content) => judge_content(&content),
        Err(error) => refused(&error),
    }
}

/// What was read is sound, whatever it is.
pub fn judge_content(content: &Content) {
    match content {
        Content::Topology(file) => sound(&file.fabric),
        Content::Observation(seen) => sound(&seen.fabric),
        Content::Tables(file) => {
            for lft in file.sections.iter().filter_map(|section| section.tables.lft.as_ref()) {
                assert!(
                    lft.routed_lids()
                        .all(|(lid, port)| lid.value() <= Lid::MAX && port.value() <= PortNum::MAX)
                );
            }
        }
        _ => {}
    }
}

/// An error says what, where and what to do.
pub fn refused(error: &FileError) {
    assert!(error.code.starts_with("FD-"), "{error}");
    assert!(!error.what.is_empty() && !error.hint.is_empty() && error.place.file == "fuzz", "{error}");
}

/// Links join known ports both ways, numbers are in range.
pub fn sound(fabric: &Fabric) {
    for (id, port) in fabric.ports() {
        assert!(port.number.value() <= PortNum::MAX);
        assert_eq!(fabric.port_of(port.node, port.number), Some(id));
        assert_eq!(port.peer.is_some(), port.link.is_some());
        if let Some(peer) = port.peer {
            assert_eq!(fabric.peer(peer), Some(id), "a cable has two ends");
        }
    }
    for (id, link) in fabric.links() {
        assert!(link.a <= link.b);
        assert_eq!((fabric.port(link.a).link, fabric.port(link.b).link), (Some(id), Some(id)));
    }
}
