//! `[rights]`: requests to guards that users other than the owner of the state folder may send.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fabdeck_change::{Grantee, Rights, user_names};

pub(super) const RIGHTS_HINT: &str = "[rights] has lists such as confirm = [\"ada\", \"@operators\", \"1001\"]; the rights are \
                                      list, confirm, extend, rollback; \"*\" means all users";

pub(super) fn rights(value: &toml::Value) -> Result<Rights, String> {
    let table = value.as_table().ok_or("FD-7116: 'rights' is not a table: write [rights]")?;
    let mut rights = Rights::default();
    for (key, value) in table {
        let granted = match key.as_str() {
            "list" => &mut rights.list,
            "confirm" => &mut rights.confirm,
            "extend" => &mut rights.extend,
            "rollback" => &mut rights.roll_back,
            _ => return Err(format!("FD-7116: [rights] {key}: there is no such right")),
        };
        *granted = grantees(value)
            .ok_or_else(|| format!("FD-7116: [rights] {key}: the value is not a list of users"))?;
    }
    Ok(rights)
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

fn grantees(value: &toml::Value) -> Option<Vec<Grantee>> {
    value.as_array()?.iter().map(|item| Grantee::parse(item.as_str()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let parse = |text: &str| rights(&toml::Value::Table(text.parse().unwrap()));
        let read = parse("list = [\"*\"]\nrollback = [\"ada\", \"@operators\"]").unwrap();
        assert_eq!(read.list, [Grantee::Everyone]);
        assert_eq!(read.roll_back.len(), 2);
        assert!(read.confirm.is_empty() && read.extend.is_empty());
        for wrong in ["apply = [\"ada\"]", "confirm = \"ada\"", "confirm = [1]", "confirm = [\"\"]"] {
            assert!(parse(wrong).unwrap_err().contains("FD-7116"), "{wrong}");
        }
    }
}
