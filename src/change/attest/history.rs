//! Sorts all changes of one fabric by the order in which they wrote it.

use jiff::Timestamp;

use crate::journal::ChangeState;

/// The changes of a fabric, oldest first.
pub type ChangeHistory = Vec<ChangeState>;

/// Joins the changes of several state folders. Within a folder the numbers give the order, since the wall clock may
/// have been set back. Across folders the wall clock decides.
pub fn merge_histories(folders: Vec<Vec<ChangeState>>) -> ChangeHistory {
    let mut timed: Vec<(Timestamp, ChangeState)> = Vec::new();
    for mut folder in folders {
        folder.sort_by_key(|told| told.begun.number);
        let mut latest = Timestamp::MIN;
        for told in folder {
            latest = told.begun.time.parse().map_or(latest, |time: Timestamp| time.max(latest));
            timed.push((latest, told));
        }
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, told)| told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::BeginRecord;

    #[test]
    fn numbers_order_a_folder_and_times_order_folders() {
        let told = |number: u64, time: &str| {
            ChangeState::new(BeginRecord {
                id: format!("{time}/{number}"),
                number,
                time: format!("2026-11-22T{time}:00Z"),
                ..BeginRecord::default()
            })
        };
        // The clock was set back by three hours between changes 1 and 2.
        let own = vec![told(2, "07:00"), told(1, "10:00"), told(3, "12:00")];
        let other = vec![told(1, "09:00"), told(2, "11:00")];
        let ids: Vec<String> =
            merge_histories(vec![own, other]).into_iter().map(|told| told.begun.id).collect();
        assert_eq!(ids, ["09:00/1", "10:00/1", "07:00/2", "11:00/2", "12:00/3"]);
    }
}
