//! Finds the flows that changes have left on the slow lane.

use super::home::{Home, HomeError};
use super::journal::{Begun, Hosts, Phase, Told};
use super::migration::{Follows, Migration, PlanFlow, Towards};

/// The migrations still in force on the fabric of this change, in the order of the changes.
pub fn in_force(home: &Home, here: &Begun) -> Result<Vec<Migration>, HomeError> {
    if !home.is_there() {
        return Ok(Vec::new());
    }
    let mut moved = Vec::new();
    for kept in home.all()? {
        let told = kept?.read.told;
        if told.begun.is_of_fabric_of(here) {
            moved.extend(flows_moved(&told));
        }
    }
    Ok(left_by(moved))
}

/// The flows of a change that are still where it moved them, as far as known. Hosts that never followed do not count.
/// Of a rollback, only the hosts count that did not say that they moved back.
pub fn flows_moved(told: &Told) -> Vec<Migration> {
    let counts = |towards: Towards, flow: &PlanFlow| match (told.phase, told.hosts) {
        (Phase::Applied | Phase::Confirmed, _) => followed(told, towards, flow),
        (Phase::RolledBack | Phase::Refused, _) => false,
        (_, Hosts::Told | Hosts::CallingBack) => followed(told, towards, flow),
        (_, Hosts::PartlyBack) => is_silent(&told.silent, flow),
        (_, Hosts::Untold | Hosts::CalledBack) => false,
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
fn followed(told: &Told, towards: Towards, flow: &PlanFlow) -> bool {
    match flow.follows {
        Follows::Agent => !is_silent(&told.silent_there, flow),
        Follows::Queries | Follows::Unknown => towards == Towards::Fast || told.begun.opensm.is_some(),
    }
}

fn is_silent(silent: &[String], flow: &PlanFlow) -> bool {
    flow.follows == Follows::Agent && silent.contains(&flow.host.name)
}

/// What a series of migrations has left on the slow lane. The last migration of a host's flows to a hot-spot decides.
pub fn left_by(migrations: impl IntoIterator<Item = Migration>) -> Vec<Migration> {
    let mut left: Vec<Migration> = Vec::new();
    for migration in migrations {
        let hosts: Vec<&str> = migration.flows.iter().map(|flow| flow.host.guid.as_str()).collect();
        for before in left.iter_mut().filter(|before| before.hot_spot.is_of_flows_to(&migration.hot_spot)) {
            before.flows.retain(|flow| !hosts.contains(&flow.host.guid.as_str()));
        }
        left.retain(|before| !before.flows.is_empty());
        if migration.towards == Towards::Slow {
            left.push(migration);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Journal, Record};
    use crate::migration::{Follows, PlanFlow, PlanPort};
    use crate::system::LocalSystem;

    fn port(lid: u16) -> PlanPort {
        PlanPort { guid: format!("0x{lid:016x}"), name: format!("h{lid}"), lid }
    }

    fn migration(towards: Towards, hot_spot: u16, hosts: &[u16]) -> Migration {
        let flow = |lid: &u16| PlanFlow { host: port(*lid), follows: Follows::Agent };
        let flows = hosts.iter().map(flow).collect();
        Migration { towards, hot_spot: port(hot_spot), fast: 0, slow: 1, flows }
    }

    fn words(left: &[Migration]) -> Vec<(u16, Vec<u16>)> {
        let hosts = |left: &Migration| left.flows.iter().map(|flow| flow.host.lid).collect();
        left.iter().map(|left| (left.hot_spot.lid, hosts(left))).collect()
    }

    #[test]
    fn flows_are_where_they_were_moved_last() {
        use Towards::{Fast, Slow};
        let left = left_by([
            migration(Slow, 9, &[1, 2, 3]),
            migration(Slow, 8, &[1]),
            migration(Fast, 9, &[2]),
            migration(Slow, 9, &[3, 4]),
            migration(Fast, 8, &[1, 5]),
        ]);
        assert_eq!(words(&left), [(9, vec![1]), (9, vec![3, 4])]);
    }

    /// A change in a folder, with these records.
    fn kept(folder: &std::path::Path, number: u64, begun: Begun, more: &[Record]) {
        let folder = folder.join(format!("changes/{number:06}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut journal = Journal::create(&LocalSystem, &folder.join("journal")).unwrap();
        journal.keep(&Record::Begun(Box::new(begun))).unwrap();
        more.iter().for_each(|record| journal.keep(record).unwrap());
    }

    #[test]
    fn what_stands_is_in_force_and_what_went_back_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let time = || "2026-11-22T10:00:00Z".to_owned();
        let begun = |switch: &str, migration: Migration| Begun {
            switches: [switch.to_owned()].into(),
            migrations: vec![migration],
            ..Begun::default()
        };
        let applied = || Record::Applied { time: time(), deadline: time(), ends: None };
        let confirmed = || Record::Confirmed { time: time(), user: "ada".into() };
        let notifying = |back| Record::Notifying { time: time(), back };
        let notified = || Record::Notified { time: time(), answered: Vec::new(), silent: Vec::new() };
        let returned = |left| Record::Returned { time: time(), left };
        let (home, here) = (Home::there(folder.path()), begun("a", migration(Towards::Slow, 1, &[2])));
        assert_eq!(in_force(&home, &here).unwrap(), []);
        let slow = |hot_spot| migration(Towards::Slow, hot_spot, &[1, 2]);
        kept(folder.path(), 1, begun("a", slow(11)), &[notifying(false), notified(), applied(), confirmed()]);
        kept(folder.path(), 2, begun("b", slow(12)), &[applied(), confirmed()]);
        let back =
            [notifying(false), notified(), applied(), notifying(true), notified(), returned(Vec::new())];
        kept(folder.path(), 3, begun("a", slow(13)), &back);
        let left = vec![crate::Left { what: "hosts".into(), why: String::new() }];
        kept(folder.path(), 4, begun("a", slow(14)), &[notifying(false), applied(), returned(left)]);
        let fast = migration(Towards::Fast, 11, &[1]);
        kept(folder.path(), 5, begun("a", fast), &[notifying(false), applied()]);
        kept(folder.path(), 6, begun("a", slow(16)), &[]);
        let found = words(&in_force(&home, &here).unwrap());
        assert_eq!(found, [(11, vec![2]), (14, vec![1, 2])]);
    }

    #[test]
    fn hosts_are_where_they_said_that_they_went() {
        let time = || "2026-11-22T10:00:00Z".to_owned();
        let notifying = |back| Record::Notifying { time: time(), back };
        let silent = |host: &str| Record::Notified {
            time: time(),
            answered: Vec::new(),
            silent: vec![host.to_owned()],
        };
        let applied = || Record::Applied { time: time(), deadline: time(), ends: None };
        let confirmed = || Record::Confirmed { time: time(), user: "ada".into() };
        let left = vec![crate::Left { what: "host h2".into(), why: String::new() }];
        let returned = || Record::Returned { time: time(), left: left.clone() };
        let moved = |migration: Migration, records: &[Record]| {
            let begun = Begun { migrations: vec![migration], ..Begun::default() };
            let records: Vec<Record> =
                std::iter::once(Record::Begun(Box::new(begun))).chain(records.iter().cloned()).collect();
            words(&flows_moved(&Told::of(&records).unwrap()))
        };
        let (slow, fast) = (migration(Towards::Slow, 9, &[1, 2, 3]), migration(Towards::Fast, 9, &[1, 2, 3]));
        let stands = [notifying(false), silent("h2"), applied(), confirmed()];
        assert_eq!(moved(slow.clone(), &stands), [(9, vec![1, 3])]);
        assert_eq!(
            moved(fast.clone(), &stands),
            [(9, vec![1, 3])],
            "who did not answer is still on the slow lane"
        );
        let back = [notifying(false), silent("h3"), applied(), notifying(true), silent("h2"), returned()];
        assert_eq!(moved(slow.clone(), &back), [(9, vec![2])]);
        let again = |more: &[Record]| [&back[..], &[notifying(true)], more].concat();
        let gone = Record::Notified { time: time(), answered: Vec::new(), silent: Vec::new() };
        let over = Record::Returned { time: time(), left: Vec::new() };
        assert_eq!(moved(slow.clone(), &again(&[gone, over])), []);
        // With direct writes nothing moves without an agent. Back from the slow lane, no host without one is waited
        // for.
        let without = |mut migration: Migration| {
            migration.flows[0].follows = Follows::Queries;
            migration.flows[1].follows = Follows::Unknown;
            migration
        };
        let stands = [notifying(false), applied(), confirmed()];
        assert_eq!(moved(without(slow), &stands), [(9, vec![3])]);
        assert_eq!(moved(without(fast), &stands), [(9, vec![1, 2, 3])]);
    }
}
