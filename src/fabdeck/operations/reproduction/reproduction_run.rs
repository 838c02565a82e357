//! Runs headlines one after the other and collects their rows.

use std::sync::Mutex;
use std::time::Duration;

use super::headline::{Headline, HeadlineRow, HeadlineWork};
use super::headline_run::{HeadlineRun, HeadlineStop};
use super::reproduction_row::ReproductionRow;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::operation::Operation;
use crate::operations::progress::ProgressLine;

/// Interval between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

json_type! {
    /// The rows of a run, counted by verdict.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct ReproductionCounts {
        pub headlines: u64,
        pub row_count: u64,
        pub holds: u64,
        pub differs: u64,
        pub printed: u64,
        pub cannot_be_compared: u64,
        /// Rows that must hold and do not.
        pub findings: u64,
        /// Headlines with a value of ours in some row.
        pub with_our_value: u64,
    }
}

/// How headlines are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReproductionOptions {
    /// Whether fewer seeds and samples are taken.
    pub quick: bool,
    /// Whether values that are times are written.
    pub times: bool,
}

/// The rows of the headlines that were computed, and the headlines that a signal left.
#[derive(Debug)]
pub struct Reproduction {
    pub rows: Vec<ReproductionRow>,
    pub left: Vec<&'static Headline>,
}

/// Computes the rows of headlines. After a signal those that are whole are the answer.
pub fn reproduce(
    operation: &mut Operation<'_>,
    headlines: &[&'static Headline],
    options: ReproductionOptions,
) -> Result<Reproduction, Failure> {
    let stop = operation.listen_to_stop();
    let under_way = Mutex::new(String::new());
    let line = operation.reporter.begin_progress();
    let rows = run_beside_progress(line, &under_way, || {
        run_headlines(headlines, &HeadlineRun { quick: options.quick, stop: &stop, under_way: &under_way })
    });
    let left = headlines[rows.len()..].to_vec();
    if rows.is_empty() && !left.is_empty() {
        return Err(Failure::interrupted());
    }
    let of_headline = |(headline, rows): (&&Headline, &Vec<HeadlineRow>)| -> Vec<ReproductionRow> {
        rows.iter().map(|row| ReproductionRow::new(headline, row, options.times)).collect()
    };
    Ok(Reproduction { rows: headlines.iter().zip(&rows).flat_map(of_headline).collect(), left })
}

/// Runs work in another thread and shows what is under way.
fn run_beside_progress<T: Send>(
    mut line: Box<dyn ProgressLine + '_>,
    under_way: &Mutex<String>,
    work: impl FnOnce() -> T + Send,
) -> T {
    let watcher = std::thread::current();
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let done = work();
            watcher.unpark();
            done
        });
        while !worker.is_finished() {
            std::thread::park_timeout(PROGRESS_INTERVAL);
            let words = || under_way.lock().map_or_else(|_| String::new(), |words| words.clone());
            line.show_line(&words);
        }
        worker.join()
    });
    drop(line);
    ended.unwrap_or_else(|bug| std::panic::resume_unwind(bug))
}

/// The rows of each headline, in their order; of fewer if the process is to end.
fn run_headlines(headlines: &[&Headline], run: &HeadlineRun<'_>) -> Vec<Vec<HeadlineRow>> {
    let mut all = Vec::new();
    for (at, headline) in headlines.iter().enumerate() {
        run.show(format!("{} ({} of {})", headline.id, at + 1, headlines.len()));
        let rows = match headline.work {
            HeadlineWork::Rows(rows) => match rows(run) {
                Ok(rows) => rows,
                Err(HeadlineStop::Cancelled) => break,
                Err(HeadlineStop::Failed(why)) => {
                    vec![HeadlineRow { must: true, ..HeadlineRow::without(headline.shows, why) }]
                }
            },
            HeadlineWork::Impossible(why) => vec![HeadlineRow::without(headline.shows, why)],
        };
        all.push(rows);
    }
    all
}

/// Counts rows by verdict.
pub fn count_rows(rows: &[ReproductionRow]) -> ReproductionCounts {
    let mut counts = ReproductionCounts::default();
    let (mut last, mut last_with_value) = (None, None);
    for row in rows {
        counts.row_count += 1;
        match row.verdict {
            "holds" => counts.holds += 1,
            "differs" => counts.differs += 1,
            "printed" => counts.printed += 1,
            _ => counts.cannot_be_compared += 1,
        }
        counts.findings += u64::from(row.is_finding());
        counts.headlines += u64::from(last.replace(row.id) != Some(row.id));
        if row.ours.is_some() {
            counts.with_our_value += u64::from(last_with_value.replace(row.id) != Some(row.id));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::reproduction::headline::HeadlineRelation;
    use crate::system::stop_flag::StopFlag;

    fn headline(work: HeadlineWork) -> Headline {
        Headline { id: "test-1", place: "here", shows: "a value", inputs: "none", work }
    }

    fn rows(work: HeadlineWork) -> Vec<ReproductionRow> {
        let (stop, under_way) = (StopFlag::default(), Mutex::new(String::new()));
        let headline = headline(work);
        let run = HeadlineRun { quick: false, stop: &stop, under_way: &under_way };
        let found = run_headlines(&[&headline], &run);
        found.iter().flatten().map(|row| ReproductionRow::new(&headline, row, false)).collect()
    }

    #[test]
    fn a_row_that_must_hold_is_a_finding_where_it_differs_and_where_its_input_fails() {
        let differs = |_: &HeadlineRun<'_>| {
            Ok(vec![
                HeadlineRow::must("must", 1u64, 2u64, HeadlineRelation::Equal),
                HeadlineRow::may("may", 1u64, 2u64, HeadlineRelation::Equal),
            ])
        };
        let counts = count_rows(&rows(HeadlineWork::Rows(differs)));
        assert_eq!((counts.row_count, counts.differs, counts.findings, counts.with_our_value), (2, 2, 1, 1));
        let fails = |_: &HeadlineRun<'_>| Err(HeadlineStop::Failed("no such fabric".to_owned()));
        let failed = rows(HeadlineWork::Rows(fails));
        assert_eq!((count_rows(&failed).findings, failed[0].why.as_deref()), (1, Some("no such fabric")));
        let open = rows(HeadlineWork::Impossible("a log"));
        let counts = count_rows(&open);
        assert_eq!((counts.findings, counts.cannot_be_compared, counts.with_our_value), (0, 1, 0));
        assert_eq!(open[0].why.as_deref(), Some("a log"));
    }

    #[test]
    fn times_are_left_out_on_request_and_are_no_findings_then() {
        let time = |_: &HeadlineRun<'_>| {
            Ok(vec![HeadlineRow::must("seconds", 1u64, 0.123, HeadlineRelation::Equal).mark_as_time()])
        };
        let rows = rows(HeadlineWork::Rows(time));
        assert_eq!((rows[0].ours.as_deref(), rows[0].verdict), (None, "cannot be compared"));
        assert_eq!(count_rows(&rows).findings, 0);
    }

    #[test]
    fn a_run_that_is_cancelled_keeps_what_is_whole() {
        let (stop, under_way) = (StopFlag::default(), Mutex::new(String::new()));
        let whole = headline(HeadlineWork::Impossible("a log"));
        let cut = headline(HeadlineWork::Rows(|run| run.fabric("demo").map(|_| Vec::new())));
        let run = HeadlineRun { quick: false, stop: &stop, under_way: &under_way };
        assert_eq!(run_headlines(&[&whole, &cut], &run).len(), 2);
        stop.request();
        assert_eq!(run_headlines(&[&whole, &cut, &whole], &run).len(), 1);
    }
}
