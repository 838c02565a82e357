//! How far a study is.

use std::collections::BTreeMap;

use super::cell_plan::{CellGroup, StudyCell, StudyPlan};
use super::result_record::ResultIndex;
use super::study_folder::SegmentSummary;
use crate::catalogue::json_type::json_type;

json_type! {
    /// The real time of the cells of one topology, engine and measure.
    #[derive(Clone, PartialEq, Debug)]
    pub struct CellCost {
        pub topology: String,
        pub engine: String,
        pub measure: &'static str,
        pub cells: u64,
        /// Seconds of one thread: of all these cells, and the mean.
        pub seconds: f64,
        pub mean_seconds: f64,
    }

    /// The state of a study.
    #[derive(Clone, PartialEq, Debug)]
    pub struct StudyStatus {
        pub study: String,
        pub cells: u64,
        /// Cells with a result that is final, by status.
        pub statuses: BTreeMap<String, u64>,
        /// Cells without a result, those whose real time ended included.
        pub left: u64,
        /// The time that they take one thread at the pace of cells like them so far; `None` before the first result.
        pub left_seconds: Option<f64>,
        /// What cells took so far, by topology, engine and measure, the dearest first.
        pub costs: Vec<CellCost>,
        pub segments: u64,
        /// Lines of segments with a wrong CRC. Their cells run again.
        pub damaged: u64,
        /// Files among the segments that this version cannot read.
        pub foreign: u64,
    }
}

/// Cells and their seconds.
#[derive(Clone, Copy, Default)]
struct CellPace {
    cells: f64,
    seconds: f64,
}

impl CellPace {
    fn mean(self) -> Option<f64> {
        (self.cells > 0.0).then(|| self.seconds / self.cells)
    }
}

/// Cells that take about as long: those of one topology, engine and measure.
type PaceKey<'p> = (usize, &'p str, &'static str);

fn pace_key<'p>(group: &'p CellGroup, cell: &StudyCell) -> PaceKey<'p> {
    (group.topology, group.engine.id, cell.measure.word())
}

pub fn study_status(plan: &StudyPlan, index: &ResultIndex, segments: SegmentSummary) -> StudyStatus {
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    let mut paces: BTreeMap<PaceKey<'_>, CellPace> = BTreeMap::new();
    let (mut all, mut open) = (CellPace::default(), Vec::new());
    for (group, cell) in
        plan.groups.iter().flat_map(|group| group.cells.iter().map(move |cell| (group, cell)))
    {
        let known = index.get(cell.id);
        if let Some(record) = known {
            *statuses.entry(record.row.status.word().to_owned()).or_default() += 1;
            for pace in [paces.entry(pace_key(group, cell)).or_default(), &mut all] {
                pace.cells += 1.0;
                pace.seconds += record.seconds;
            }
        }
        if !index.is_finished(cell.id) {
            open.push(pace_key(group, cell));
        }
    }
    let mut costs: Vec<CellCost> = paces.iter().map(|(key, pace)| cell_cost(plan, key, *pace)).collect();
    costs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let seconds = |key| paces.get(key).copied().and_then(CellPace::mean).or(all.mean());
    let left_seconds = open.iter().map(seconds).sum::<Option<f64>>();
    StudyStatus {
        study: plan.study.name.clone(),
        cells: plan.cell_count() as u64,
        statuses,
        left: open.len() as u64,
        left_seconds: left_seconds.map(|seconds| (seconds * 10.0).round() / 10.0),
        costs,
        segments: segments.segments,
        damaged: segments.damaged,
        foreign: segments.foreign,
    }
}

fn cell_cost(plan: &StudyPlan, (topology, engine, measure): &PaceKey<'_>, pace: CellPace) -> CellCost {
    let thousandths = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    CellCost {
        topology: plan.topologies[*topology].text.clone(),
        engine: (*engine).to_owned(),
        measure,
        cells: pace.cells as u64,
        seconds: thousandths(pace.seconds),
        mean_seconds: thousandths(pace.mean().unwrap_or_default()),
    }
}

/// A time for people.
pub fn time_words(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
