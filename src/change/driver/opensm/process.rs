//! Finds the process of OpenSM on this host.

use crate::system::process_status::ProcessStatus;

/// The name that the kernel shows for OpenSM's process.
const NAME: &str = "opensm";

/// Checks the process with a PID that the operator named. It may belong to another user. SIGHUP ends most other
/// programs, so the name must match.
pub fn check_named(pid: u32, status: Option<ProcessStatus>) -> Result<u32, String> {
    match status.filter(|status| status.name == NAME) {
        Some(status) if status.is_zombie => Err(format!("process {pid} is dead (a zombie)")),
        // It may have read a file and not set its tables yet: it would set them after a rollback.
        Some(status) if status.is_stopped => Err(format!("process {pid} is stopped by a signal")),
        Some(_) => Ok(pid),
        None => Err(format!("process {pid} is not called opensm")),
    }
}

/// The only live process of this user and this PID namespace. Any user can start a program of that name.
pub fn find_only(listed: impl Iterator<Item = (u32, ProcessStatus)>, own: u32) -> Result<u32, String> {
    let (mut right, mut others) = (Vec::new(), Vec::new());
    for (pid, status) in listed.filter(|(_, status)| status.name == NAME) {
        match objection(&status, own) {
            None => right.push((pid, status)),
            Some(why) => others.push((pid, why)),
        }
    }
    right.sort_unstable_by_key(|(pid, _)| *pid);
    others.sort_unstable();
    let passed: Vec<String> = others.iter().map(|(pid, why)| format!("; {pid} is {why}")).collect();
    match right.as_slice() {
        [(pid, status)] => check_named(*pid, Some(status.clone())),
        [] => Err(format!("no live process of this user is called opensm{}", passed.concat())),
        several => {
            let pids: Vec<u32> = several.iter().map(|(pid, _)| *pid).collect();
            Err(format!("processes {pids:?} are called opensm"))
        }
    }
}

/// Why a process of the name opensm is not the OpenSM of this user.
fn objection(status: &ProcessStatus, own: u32) -> Option<String> {
    match status {
        ProcessStatus { is_zombie: true, .. } => Some("a zombie".to_owned()),
        ProcessStatus { is_contained: true, .. } => Some("in another pid namespace".to_owned()),
        ProcessStatus { user, .. } if *user != own => Some(format!("of user {user}")),
        _ => None,
    }
}

/// The number in a pid file.
pub fn parse_pid_file(bytes: &[u8]) -> Option<u32> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 1000;

    fn status(name: &str, user: u32) -> ProcessStatus {
        ProcessStatus {
            name: name.to_owned(),
            user,
            is_zombie: false,
            is_stopped: false,
            is_contained: false,
            program: None,
        }
    }

    #[test]
    fn zombies_other_users_and_containers_are_not_opensm() {
        let zombie = ProcessStatus { is_zombie: true, ..status(NAME, OWN) };
        let contained = ProcessStatus { is_contained: true, ..status(NAME, OWN) };
        let mut listed =
            vec![(5, zombie.clone()), (6, status(NAME, 1001)), (7, contained), (8, status("osmtest", OWN))];
        let pick = |listed: &[(u32, ProcessStatus)]| find_only(listed.iter().cloned(), OWN);
        let why = pick(&listed).unwrap_err();
        let named = "5 is a zombie; 6 is of user 1001; 7 is in another pid namespace";
        assert!(why.contains(named) && !why.contains('8'), "{why}");
        listed.push((9, status(NAME, OWN)));
        assert_eq!(pick(&listed), Ok(9));
        listed[4].1.is_stopped = true;
        assert_eq!(pick(&listed), Err("process 9 is stopped by a signal".to_owned()));
        listed.push((10, status(NAME, OWN)));
        assert!(pick(&listed).unwrap_err().contains("[9, 10]"));
        // A process that the operator named may be another user's, but not a dead one.
        assert_eq!(check_named(6, Some(status(NAME, 1001))), Ok(6));
        assert!(check_named(5, Some(zombie)).unwrap_err().contains("zombie"));
        assert!(check_named(8, Some(status("osmtest", OWN))).unwrap_err().contains("not called opensm"));
    }

    #[test]
    fn a_pid_file_names_the_process() {
        assert_eq!(parse_pid_file(b"4711\n"), Some(4711));
        for wrong in [&b"none"[..], b"", b"-1", b"\xff"] {
            assert_eq!(parse_pid_file(wrong), None);
        }
    }
}
