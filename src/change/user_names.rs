//! Names of users and groups from the system's own files. Directory services are not asked, because a guard must answer
//! while the network is down. Users that only such a service knows are shown by number.

use std::fs;

/// The name of a user, or `uid 1001`.
pub fn user_label(uid: u32) -> String {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    user_name(&passwd, uid).map_or_else(|| format!("uid {uid}"), str::to_owned)
}

/// Whether a user is in a group: by the primary group, or by the group's list of members.
pub fn is_in_group(user: &str, gid: u32, group: &str) -> bool {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    has_member(&groups, user, gid, group)
}

/// A line is `name:password:uid:gid:...`
fn user_name(passwd: &str, uid: u32) -> Option<&str> {
    let mut lines = passwd.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    })
}

/// A line is `name:password:gid:member,member`
fn has_member(groups: &str, user: &str, gid: u32, group: &str) -> bool {
    let mut lines = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.first() == Some(&group) && fields.len() >= 4);
    found.is_some_and(|fields| {
        fields[2].parse() == Ok(gid) || fields[3].split(',').any(|member| member == user)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_are_found_by_number_and_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/srv/ada:/bin/sh\nbroken\n";
        assert_eq!(user_name(passwd, 1000), Some("ada"));
        assert_eq!(user_name(passwd, 1001), None);
        let groups = "root:x:0:\nfabric:x:300:bo,ada\nada:x:1000:\nshort:x\n";
        assert!(has_member(groups, "ada", 1000, "fabric"));
        assert!(has_member(groups, "ada", 1000, "ada"), "the own group lists no members");
        assert!(!has_member(groups, "cy", 1002, "fabric"));
        assert!(!has_member(groups, "ada", 1000, "short"));
    }
}
