//! The figures of a study: all that its rows have values for.

use super::figure::StudyFigure;
use super::figure_curves::{failure_figures, fit_figures, lane_figures, latency_figures, second_figures};
use super::figure_groups::{bar_figures, load_figures, whisker_figures};
use super::figure_rows::FigureRows;
use crate::operations::study::study_row::StudyRow;

/// The figures of rows, in the order in which a page has them. A kind of figure that no row has a value for is left out.
pub fn study_figures(study: &str, rows: &[StudyRow]) -> Vec<StudyFigure> {
    let parts = FigureRows::new(study, rows);
    let kinds = [
        bar_figures(&parts),
        fit_figures(&parts, rows),
        whisker_figures(&parts),
        latency_figures(&parts),
        lane_figures(&parts),
        failure_figures(&parts),
        load_figures(&parts),
        second_figures(&parts),
    ];
    kinds.into_iter().flatten().filter(|figure| figure.content.has_values()).collect()
}
