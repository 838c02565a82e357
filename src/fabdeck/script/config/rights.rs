//! `[rights]`: requests to guards that users other than the owner of the state folder may send.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::values::{ConfigTable, parsed_list};
use fabdeck_change::{Grantee, Rights, user_names};

#[derive(Deserialize)]
#[serde(remote = "Rights", default = "Rights::default", deny_unknown_fields)]
struct RightKeys {
    #[serde(deserialize_with = "parsed_list")]
    list: Vec<Grantee>,
    #[serde(deserialize_with = "parsed_list")]
    confirm: Vec<Grantee>,
    #[serde(deserialize_with = "parsed_list")]
    extend: Vec<Grantee>,
    #[serde(rename = "rollback", deserialize_with = "parsed_list")]
    roll_back: Vec<Grantee>,
}

impl ConfigTable for Rights {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        RightKeys::deserialize(keys)
    }
}

/// Reason why the rights in a file are not used: a user other than root and the current user could have written
/// them.
pub(super) fn rights_objection(file: &Path) -> Option<String> {
    let held = std::fs::metadata(file).ok()?;
    let own = rustix::process::geteuid().as_raw();
    let why = match () {
        () if held.uid() != 0 && held.uid() != own => {
            format!("{} owns the file", user_names::user_label(held.uid()))
        }
        () if held.mode() & 0o022 != 0 => {
            format!("mode {:o} permits other users to write the file", held.mode() & 0o7777)
        }
        () => return None,
    };
    let file = file.display();
    Some(format!(
        "the [rights] in {file} are not used: {why}; as root: chown root {file} && chmod go-w {file}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::config::tests::parse;

    #[test]
    fn rights_are_used_if_no_other_user_could_write_them() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, "[rights]\n").unwrap();
        for (mode, refused) in [(0o644, false), (0o600, false), (0o664, true), (0o646, true)] {
            set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(rights_objection(&file).is_some(), refused, "{mode:o}");
        }
        if rustix::process::geteuid().is_root() {
            set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
            assert!(rights_objection(&file).unwrap().contains("owns the file"));
        }
    }

    #[test]
    fn rights_are_lists_of_users() {
        let parse = |text: &str| parse(&format!("\n[rights]\n\n{text}")).map(|config| config.rights);
        let read = parse("list = [\"*\"]\nrollback = [\"ada\", \"@operators\"]").unwrap();
        assert_eq!(read.list, [Grantee::Everyone]);
        assert_eq!(read.roll_back.len(), 2);
        assert!(read.confirm.is_empty() && read.extend.is_empty());
        for wrong in ["apply = [\"ada\"]", "confirm = \"ada\"", "confirm = [1]", "confirm = [\"\"]"] {
            assert!(parse(wrong).unwrap_err().starts_with("c.toml:4: FD-7116: 'rights."), "{wrong}");
        }
    }
}
