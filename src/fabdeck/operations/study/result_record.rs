//! A result as a record of a segment, and the results of all segments together.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::cell_plan::CellId;
use super::study_row::{CellStatus, StudyRow};

/// A record of a segment.
#[derive(Debug, Serialize, Deserialize)]
pub struct ResultRecord {
    pub cell: String,
    /// The canonical text that the cell is named by, for readers of the file.
    #[serde(skip_deserializing)]
    pub text: String,
    /// Real time of the cell, for the rest of a study. It is in no table.
    pub seconds: f64,
    pub row: StudyRow,
}

/// The results of all segments. Two results of one cell differ at most in times and in failures of their process; the same
/// one counts whatever the order in which they are read.
#[derive(Debug, Default)]
pub struct ResultIndex {
    results: HashMap<CellId, ResultRecord, FxBuildHasher>,
    /// Records that another version wrote and this one cannot read.
    pub unreadable: u64,
}

impl ResultIndex {
    pub fn add_json(&mut self, json: &str) {
        match serde_json::from_str::<ResultRecord>(json) {
            Ok(record) => self.add(record),
            Err(_) => self.unreadable += 1,
        }
    }

    pub fn add(&mut self, record: ResultRecord) {
        let Some(id) = CellId::parse(&record.cell) else {
            self.unreadable += 1;
            return;
        };
        match self.results.get_mut(&id) {
            None => drop(self.results.insert(id, record)),
            Some(known) if is_preferred(&record, known) => *known = record,
            Some(_) => {}
        }
    }

    pub fn get(&self, id: CellId) -> Option<&ResultRecord> {
        self.results.get(&id)
    }

    /// Whether a cell needs no further try.
    pub fn is_finished(&self, id: CellId) -> bool {
        self.get(id).is_some_and(|record| is_final(record.row.status, false))
    }
}

/// Whether a cell with this status needs no further try. `again`: cells that failed do.
fn is_final(status: CellStatus, again: bool) -> bool {
    match status {
        CellStatus::Wall => false,
        CellStatus::Failed => !again,
        _ => true,
    }
}

/// The statuses of cells alone, for a process that runs them: a million take 30 MB.
#[derive(Debug, Default)]
pub struct CellStates(HashMap<CellId, CellStatus, FxBuildHasher>);

/// The part of a record that `CellStates` needs.
#[derive(Deserialize)]
struct RecordHead {
    cell: String,
    row: RowHead,
}

#[derive(Deserialize)]
struct RowHead {
    status: CellStatus,
}

impl CellStates {
    /// Adds a record. One that this version cannot read is as if its cell had not run.
    pub fn add_json(&mut self, json: &str) {
        if let Ok(RecordHead { cell, row }) = serde_json::from_str(json)
            && let Some(id) = CellId::parse(&cell)
        {
            self.add(id, row.status);
        }
    }

    pub fn add(&mut self, id: CellId, status: CellStatus) {
        let known = self.0.entry(id).or_insert(status);
        if status.rank() < known.rank() {
            *known = status;
        }
    }

    /// Whether a cell needs no further try. `again`: cells that failed do.
    pub fn is_finished(&self, id: CellId, again: bool) -> bool {
        self.0.get(&id).is_some_and(|status| is_final(*status, again))
    }
}

fn is_preferred(new: &ResultRecord, known: &ResultRecord) -> bool {
    let (a, b) = (new.row.status.rank(), known.row.status.rank());
    let json = |row: &StudyRow| serde_json::to_string(row).unwrap_or_default();
    a < b || a == b && json(&new.row) < json(&known.row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(status: CellStatus, route_seconds: Option<f64>) -> ResultRecord {
        let row = StudyRow { status, route_seconds, ..StudyRow::default() };
        ResultRecord { cell: "00000000000000ff".to_owned(), text: String::new(), seconds: 0.1, row }
    }

    #[test]
    fn of_two_results_the_same_one_counts_in_any_order() {
        let all = [
            (CellStatus::Wall, None),
            (CellStatus::Failed, None),
            (CellStatus::Done, Some(0.25)),
            (CellStatus::Done, Some(0.5)),
        ];
        for rotation in 0..all.len() {
            for backwards in [false, true] {
                let mut order = all;
                order.rotate_left(rotation);
                if backwards {
                    order.reverse();
                }
                let mut index = ResultIndex::default();
                order.into_iter().for_each(|(status, seconds)| index.add(record(status, seconds)));
                let row = &index.get(CellId(255)).unwrap().row;
                assert_eq!((row.status, row.route_seconds), (CellStatus::Done, Some(0.25)));
            }
        }
    }

    #[test]
    fn a_cell_is_tried_again_until_it_has_a_result() {
        let mut states = CellStates::default();
        let id = CellId(255);
        let open = |states: &CellStates| [false, true].map(|again| !states.is_finished(id, again));
        assert_eq!(open(&states), [true, true]);
        for (status, expected) in [
            (CellStatus::Wall, [true, true]),
            (CellStatus::Failed, [false, true]),
            (CellStatus::Refused, [false, false]),
            (CellStatus::Wall, [false, false]),
        ] {
            states.add_json(&serde_json::to_string(&record(status, None)).unwrap());
            assert_eq!(open(&states), expected, "{status:?}");
        }
    }

    #[test]
    fn a_number_survives_its_record() {
        for number in [0.1, 1.0 / 3.0, 629.76, 1e-7, 123_456.0] {
            let row = StudyRow { throughput_gbyte_s: Some(number), ..StudyRow::default() };
            let back: StudyRow = serde_json::from_str(&serde_json::to_string(&row).unwrap()).unwrap();
            assert_eq!(back, row);
        }
        let mut index = ResultIndex::default();
        index.add_json("{\"cell\":\"x\"}");
        assert_eq!(index.unreadable, 1);
    }
}
