//! A figure of a study: what is drawn, without how.

use super::plot_scale::PlotScale;
use crate::operations::study::linear_fit::student_t;
use crate::operations::study::study_row::CellStatus;

/// A figure with its words.
#[derive(Clone, PartialEq, Debug)]
pub struct StudyFigure {
    /// The kind of the figure and what it is about, for the name of its file.
    pub kind: &'static str,
    /// The study and the measure.
    pub title: String,
    /// The topology, and the parameters of the measure.
    pub subtitle: String,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<FigureSeries>,
    pub content: FigureContent,
    /// Remarks below the legend: cells without a value, by series, and where lines cross.
    pub remarks: Vec<String>,
}

/// An engine, with its lanes where a study varies them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FigureSeries {
    pub name: String,
    /// The number of its colour and its mark, the same in all figures of a study.
    pub style: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum FigureContent {
    /// Groups side by side, with a value of each series in each.
    Groups(Vec<FigureGroup>),
    /// Curves over numbers.
    Curves(FigureCurves),
}

#[derive(Clone, PartialEq, Debug)]
pub struct FigureGroup {
    pub label: String,
    /// A value for each series of the figure; `None` where the study has no cell.
    pub values: Vec<Option<GroupValue>>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GroupValue {
    /// Minimum, quartiles and maximum.
    Whiskers([f64; 5]),
    Bar(MeanInterval),
    /// No cell has a value; this is the status of most of them.
    Hole(CellStatus),
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct FigureCurves {
    pub curves: Vec<FigureCurve>,
    pub crossings: Vec<FigureCrossing>,
    /// Whether the values are drawn over a logarithmic scale.
    pub is_logarithmic: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FigureCurve {
    /// The position of the series in the figure.
    pub series: usize,
    pub points: Vec<FigurePoint>,
    pub line: CurveLine,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CurveLine {
    /// From point to point.
    Joined,
    /// A line of least squares, by its two ends.
    Fitted([(f64, f64); 2]),
    /// One value at all places: of an engine that uses as many lanes as it needs.
    Level,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigurePoint {
    pub x: f64,
    pub y: f64,
    /// Half of the interval of 95 %.
    pub margin: Option<f64>,
}

/// The place where one line comes to lie above another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigureCrossing {
    pub x: f64,
    pub y: f64,
}

/// A mean of several cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanInterval {
    pub mean: f64,
    /// Half of the interval of 95 % around the mean; `None` for one cell.
    pub margin: Option<f64>,
}

impl MeanInterval {
    /// The mean of values with its interval by Student's t distribution; `None` without a value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let margin = |freedom: usize| student_t(freedom) * (squares / freedom as f64 / count as f64).sqrt();
        let margin = count.checked_sub(1).filter(|freedom| *freedom > 0).map(margin);
        (count > 0).then_some(Self { mean, margin })
    }

    /// The upper end of the interval.
    pub fn high(self) -> f64 {
        self.mean + self.margin.unwrap_or(0.0)
    }

    /// The lower end of the interval.
    pub fn low(self) -> f64 {
        self.mean - self.margin.unwrap_or(0.0)
    }
}

impl FigureCurves {
    /// The scales of both axes: places from zero unless all are far from it, values from zero or over powers of ten.
    pub fn scales(&self, largest: f64) -> (PlotScale, PlotScale) {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let least_x = points().map(|point| point.x).fold(f64::INFINITY, f64::min);
        let most_x = points().map(|point| point.x).fold(0.0, f64::max);
        let x = match least_x > most_x * 0.8 && least_x.is_finite() {
            true => PlotScale::between(least_x, most_x),
            false => PlotScale::from_zero(most_x),
        };
        let positive = points().map(|point| point.y).filter(|y| *y > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min);
        let y = match self.is_logarithmic && least.is_finite() {
            true => PlotScale::logarithmic(least, largest),
            false => PlotScale::from_zero(largest),
        };
        (x, y)
    }
}

impl FigureContent {
    /// Whether there is a value to draw.
    pub fn has_values(&self) -> bool {
        match self {
            Self::Groups(groups) => {
                let values = groups.iter().flat_map(|group| group.values.iter().flatten());
                values.into_iter().any(|value| !matches!(value, GroupValue::Hole(_)))
            }
            Self::Curves(curves) => curves.curves.iter().any(|curve| !curve.points.is_empty()),
        }
    }

    /// The largest value, the ends of intervals included.
    pub fn largest(&self) -> f64 {
        let values: Vec<f64> = match self {
            Self::Groups(groups) => {
                let values = groups.iter().flat_map(|group| group.values.iter().flatten());
                values
                    .map(|value| match value {
                        GroupValue::Whiskers(quartiles) => quartiles[4],
                        GroupValue::Bar(bar) => bar.high(),
                        GroupValue::Hole(_) => 0.0,
                    })
                    .collect()
            }
            Self::Curves(curves) => {
                let points = curves.curves.iter().flat_map(|curve| &curve.points);
                let lines = curves.curves.iter().filter_map(|curve| match curve.line {
                    CurveLine::Fitted(ends) => Some(ends.into_iter().map(|(_, y)| y)),
                    CurveLine::Joined | CurveLine::Level => None,
                });
                points.map(|point| point.y + point.margin.unwrap_or(0.0)).chain(lines.flatten()).collect()
            }
        };
        values.into_iter().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_interval_of_student() {
        // Mean 4, squares 4 + 0 + 4, freedom 2: 4.3027 times the root of 4 / 3.
        let mean = MeanInterval::of(&[2.0, 4.0, 6.0]).unwrap();
        assert!((mean.margin.unwrap() - 4.3027 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-9);
        assert_eq!(MeanInterval::of(&[7.0]), Some(MeanInterval { mean: 7.0, margin: None }));
        assert_eq!(MeanInterval::of(&[]), None);
    }
}
