//! How large the ledger gets: ten years of 40,000 links with events each day.

use std::time::Instant;

use fabdeck::operations::event_store::event_log::LogLimits;
use fabdeck::operations::event_store::stored_state::{LEDGER_FILE, StoredState};
use fabdeck::operations::ledger::cable_history::{CableCounts, CableSighting};
use fabdeck::operations::ledger::link_ledger::LinkLedger;
use fabdeck::system::store_disk::{FolderDisk, StoreDisk};
use fabdeck_fabric::{Guid, PortNum};

use super::watched_fabric::BEGUN_MS;

const LINKS: u64 = 40_000;
const MOST_BYTES: u64 = 512 << 20;
const DAY_MS: i64 = 86_400_000;

/// A ledger of links that had events in each day, week and year that is kept, with large counts, and were worked on often.
fn full_ledger(links: u64) -> StoredState {
    let mut ledger = LinkLedger::default();
    let last = BEGUN_MS;
    for link in 0..links {
        let end = |side: u64| {
            let name = format!("rack{:03}-leaf{:02}[{}]", link % 400, link % 36, side + 1);
            let guid = Guid(0x0002_c903_0000_0000 + link * 2 + side);
            ((guid, PortNum(36)), name, Some(format!("MT2240FT{link:06}{side}")))
        };
        let place = CableSighting::new(end(0), end(1));
        let days = (0..10).map(|year| year * 365).chain((0..104).map(|week| week * 7)).chain(0..90);
        let mut days: Vec<i64> = days.collect();
        days.sort_unstable_by(|a, b| b.cmp(a));
        for day in days {
            let counts = CableCounts {
                downs: [20 + (link + day as u64) % 80, 9, 5],
                errors: 10_000_000 + (link * 7919 + day as u64 * 104_729) % 80_000_000,
                problems: 1 + link % 9,
                bit_error_rate: Some(1.234e-9 / (1.0 + day as f32)),
                action: (day % 300 == 0)
                    .then(|| format!("change {day} of anna: disable link:rack001-leaf01[17]")),
            };
            ledger.apply(&place, &counts, last - day * DAY_MS);
        }
    }
    ledger.delete_old(last);
    StoredState { batch: 1, event: 1, time_ms: last, ledger, ..StoredState::default() }
}

/// The most that the folder of a store takes: the log, and the ledger beside its successor while that is written.
fn most_bytes(ledger: u64) -> u64 {
    let LogLimits { segment_bytes, segments } = LogLimits::default();
    (segment_bytes + (1 << 20)) * (segments as u64 + 1) + 2 * ledger
}

#[test]
fn ten_years_of_all_links_fit() {
    let bytes = full_ledger(50).encode().unwrap().len() as u64 * (LINKS / 50);
    let most = most_bytes(bytes);
    println!("ledger {} MB, store at most {} MB", bytes >> 20, most >> 20);
    assert!(most <= MOST_BYTES, "{} MB", most >> 20);
    // The periods are really there.
    let state = full_ledger(1);
    let cable = state.ledger.histories().next().unwrap();
    assert_eq!((cable.days(BEGUN_MS).count(), cable.weeks().len(), cable.years().len()), (90, 104, 10));
}

/// All of it, on a disk. Set `FABDECK_LONG=1` to run it: it takes a minute without optimization.
#[test]
fn ten_years_of_all_links_are_written_and_read() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut disk = FolderDisk::new(folder.path());
    let state = full_ledger(LINKS);
    let begun = Instant::now();
    disk.replace(LEDGER_FILE, &state.encode().unwrap()).unwrap();
    let written = begun.elapsed();
    let bytes = disk.length(LEDGER_FILE).unwrap();
    let begun = Instant::now();
    let read = StoredState::load(&disk, "store", &mut |line| panic!("{line}")).unwrap();
    println!(
        "{} MB of {LINKS} links, written in {written:?}, read in {:?}; the store takes at most {} MB",
        bytes >> 20,
        begun.elapsed(),
        most_bytes(bytes) >> 20
    );
    assert!(read == state && most_bytes(bytes) <= MOST_BYTES);
}
