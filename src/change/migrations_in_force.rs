//! Finds the flows that changes have left on the slow lane.

use super::change_store::ChangeStore;
use super::change_store_error::ChangeStoreError;
use super::journal::{BeginRecord, ChangePhase, ChangeState, HostNotification};
use super::migration::{FollowMode, Migration, MigrationDirection, PlanFlow};

/// The migrations still in force on the fabric of this change, in the order of the changes, and messages about
/// unreadable changes whose moves are not among them.
pub fn migrations_in_force(
    home: &ChangeStore,
    here: &BeginRecord,
) -> Result<(Vec<Migration>, Vec<String>), ChangeStoreError> {
    let (mut moved, mut unread) = (Vec::new(), Vec::new());
    if !home.has_changes() {
        return Ok((moved, unread));
    }
    for kept in home.list()? {
        match kept {
            Ok(kept) if kept.read.state.begun.is_of_fabric_of(here) => {
                moved.extend(moved_flows(&kept.read.state))
            }
            Ok(_) => {}
            Err(ChangeStoreError::Unread { begun: Some(begun), .. }) if !begun.is_of_fabric_of(here) => {}
            Err(error) => unread.push(format!("{error}; flows that it moved are not counted")),
        }
    }
    Ok((remaining_migrations(moved), unread))
}

/// The flows of a change that are still where it moved them, as far as known. Hosts that never followed do not count.
/// Of a rollback, only the hosts count that did not say that they moved back.
pub fn moved_flows(told: &ChangeState) -> Vec<Migration> {
    let counts = |towards: MigrationDirection, flow: &PlanFlow| match (told.phase, told.hosts) {
        (ChangePhase::Applied | ChangePhase::Confirmed, _) => has_followed(told, towards, flow),
        (ChangePhase::RolledBack | ChangePhase::Refused, _) => false,
        (_, HostNotification::Notified | HostNotification::Recalling) => has_followed(told, towards, flow),
        (_, HostNotification::PartlyRecalled) => is_silent(&told.silent, flow),
        (_, HostNotification::NotNotified | HostNotification::Recalled) => false,
    };
    let moved = told.begun.migrations.iter().cloned().map(|mut migration| {
        migration.flows.retain(|flow| counts(migration.towards, flow));
        migration
    });
    moved.filter(|migration| !migration.flows.is_empty()).collect()
}

/// Whether a host moved the flow. Without an agent, only path queries move it to the slow lane, and only a change
/// through OpenSM alters their answers. Towards the fast lane such a host counts as moved, since nothing of it has to
/// be fetched back.
fn has_followed(told: &ChangeState, towards: MigrationDirection, flow: &PlanFlow) -> bool {
    match flow.follows {
        FollowMode::Agent => !is_silent(&told.silent_there, flow),
        FollowMode::Queries | FollowMode::Unknown => {
            towards == MigrationDirection::Fast || told.begun.opensm.is_some()
        }
    }
}

fn is_silent(silent: &[String], flow: &PlanFlow) -> bool {
    flow.follows == FollowMode::Agent && silent.contains(&flow.host.name)
}

/// What a series of migrations has left on the slow lane. The last migration of a host's flows to a hot-spot decides.
pub fn remaining_migrations(migrations: impl IntoIterator<Item = Migration>) -> Vec<Migration> {
    let mut left: Vec<Migration> = Vec::new();
    for migration in migrations {
        let hosts: Vec<&str> = migration.flows.iter().map(|flow| flow.host.guid.as_str()).collect();
        for before in left.iter_mut().filter(|before| before.hot_spot.is_of_flows_to(&migration.hot_spot)) {
            before.flows.retain(|flow| !hosts.contains(&flow.host.guid.as_str()));
        }
        left.retain(|before| !before.flows.is_empty());
        if migration.towards == MigrationDirection::Slow {
            left.push(migration);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Journal, JournalRecord};
    use crate::migration::{FollowMode, PlanFlow, PlanPort};
    use crate::system::LocalSystem;

    fn port(lid: u16) -> PlanPort {
        PlanPort { guid: format!("0x{lid:016x}"), name: format!("h{lid}"), lid }
    }

    fn migration(towards: MigrationDirection, hot_spot: u16, hosts: &[u16]) -> Migration {
        let flow = |lid: &u16| PlanFlow { host: port(*lid), follows: FollowMode::Agent };
        let flows = hosts.iter().map(flow).collect();
        Migration { towards, hot_spot: port(hot_spot), fast: 0, slow: 1, flows }
    }

    fn words(left: &[Migration]) -> Vec<(u16, Vec<u16>)> {
        let hosts = |left: &Migration| left.flows.iter().map(|flow| flow.host.lid).collect();
        left.iter().map(|left| (left.hot_spot.lid, hosts(left))).collect()
    }

    #[test]
    fn the_last_move_of_a_flow_counts() {
        use MigrationDirection::{Fast, Slow};
        let left = remaining_migrations([
            migration(Slow, 9, &[1, 2, 3]),
            migration(Slow, 8, &[1]),
            migration(Fast, 9, &[2]),
            migration(Slow, 9, &[3, 4]),
            migration(Fast, 8, &[1, 5]),
        ]);
        assert_eq!(words(&left), [(9, vec![1]), (9, vec![3, 4])]);
    }

    /// A change in a folder, with these records.
    fn write_change(folder: &std::path::Path, number: u64, begun: BeginRecord, more: &[JournalRecord]) {
        let folder = folder.join(format!("changes/{number:06}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut journal = Journal::create(&LocalSystem, &folder.join("journal")).unwrap();
        journal.append_durably(&JournalRecord::Begun(Box::new(begun))).unwrap();
        more.iter().for_each(|record| journal.append_durably(record).unwrap());
    }

    #[test]
    fn applied_moves_are_in_force_and_undone_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let time = || "2026-11-22T10:00:00Z".to_owned();
        let begun = |switch: &str, migration: Migration| BeginRecord {
            switches: [switch.to_owned()].into(),
            migrations: vec![migration],
            ..BeginRecord::default()
        };
        let applied = || JournalRecord::Applied { time: time(), deadline: time(), ends: None };
        let confirmed = || JournalRecord::Confirmed { time: time(), user: "ada".into() };
        let notifying = |back| JournalRecord::Notifying { time: time(), back };
        let notified = || JournalRecord::Notified { time: time(), answered: Vec::new(), silent: Vec::new() };
        let returned = |left| JournalRecord::Returned { time: time(), left };
        let (home, here) = (
            ChangeStore::open_existing(folder.path()),
            begun("a", migration(MigrationDirection::Slow, 1, &[2])),
        );
        assert_eq!(migrations_in_force(&home, &here).unwrap(), (Vec::new(), Vec::new()));
        let slow = |hot_spot| migration(MigrationDirection::Slow, hot_spot, &[1, 2]);
        write_change(
            folder.path(),
            1,
            begun("a", slow(11)),
            &[notifying(false), notified(), applied(), confirmed()],
        );
        write_change(folder.path(), 2, begun("b", slow(12)), &[applied(), confirmed()]);
        let back =
            [notifying(false), notified(), applied(), notifying(true), notified(), returned(Vec::new())];
        write_change(folder.path(), 3, begun("a", slow(13)), &back);
        let left = vec![crate::RollbackRemainder { what: "hosts".into(), why: String::new() }];
        write_change(folder.path(), 4, begun("a", slow(14)), &[notifying(false), applied(), returned(left)]);
        let fast = migration(MigrationDirection::Fast, 11, &[1]);
        write_change(folder.path(), 5, begun("a", fast), &[notifying(false), applied()]);
        write_change(folder.path(), 6, begun("a", slow(16)), &[]);
        let found = words(&migrations_in_force(&home, &here).unwrap().0);
        assert_eq!(found, [(11, vec![2]), (14, vec![1, 2])]);
    }

    #[test]
    fn hosts_are_where_they_acknowledged() {
        let time = || "2026-11-22T10:00:00Z".to_owned();
        let notifying = |back| JournalRecord::Notifying { time: time(), back };
        let silent = |host: &str| JournalRecord::Notified {
            time: time(),
            answered: Vec::new(),
            silent: vec![host.to_owned()],
        };
        let applied = || JournalRecord::Applied { time: time(), deadline: time(), ends: None };
        let confirmed = || JournalRecord::Confirmed { time: time(), user: "ada".into() };
        let left = vec![crate::RollbackRemainder { what: "host h2".into(), why: String::new() }];
        let returned = || JournalRecord::Returned { time: time(), left: left.clone() };
        let moved = |migration: Migration, records: &[JournalRecord]| {
            let begun = BeginRecord { migrations: vec![migration], ..BeginRecord::default() };
            let records: Vec<JournalRecord> = std::iter::once(JournalRecord::Begun(Box::new(begun)))
                .chain(records.iter().cloned())
                .collect();
            words(&moved_flows(&ChangeState::from_records(&records).unwrap()))
        };
        let (slow, fast) = (
            migration(MigrationDirection::Slow, 9, &[1, 2, 3]),
            migration(MigrationDirection::Fast, 9, &[1, 2, 3]),
        );
        let stands = [notifying(false), silent("h2"), applied(), confirmed()];
        assert_eq!(moved(slow.clone(), &stands), [(9, vec![1, 3])]);
        assert_eq!(
            moved(fast.clone(), &stands),
            [(9, vec![1, 3])],
            "who did not answer is still on the slow lane"
        );
        let back = [notifying(false), silent("h3"), applied(), notifying(true), silent("h2"), returned()];
        assert_eq!(moved(slow.clone(), &back), [(9, vec![2])]);
        let again = |more: &[JournalRecord]| [&back[..], &[notifying(true)], more].concat();
        let gone = JournalRecord::Notified { time: time(), answered: Vec::new(), silent: Vec::new() };
        let over = JournalRecord::Returned { time: time(), left: Vec::new() };
        assert_eq!(moved(slow.clone(), &again(&[gone, over])), []);
        // With direct writes nothing moves without an agent. Back from the slow lane, no host without one is waited
        // for.
        let without = |mut migration: Migration| {
            migration.flows[0].follows = FollowMode::Queries;
            migration.flows[1].follows = FollowMode::Unknown;
            migration
        };
        let stands = [notifying(false), applied(), confirmed()];
        assert_eq!(moved(without(slow), &stands), [(9, vec![3])]);
        assert_eq!(moved(without(fast), &stands), [(9, vec![1, 2, 3])]);
    }
}
