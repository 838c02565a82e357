//! Least squares of throughput over the number of failures (dissertation 4.4.2), with an interval of 95 % for the slope.

use std::collections::BTreeMap;

use super::study_row::{StudyRow, six_digits};
use crate::catalogue::field::Field;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;

/// A line through points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinearFit {
    pub points: u64,
    /// The largest x of a point.
    pub farthest: f64,
    pub intercept: f64,
    pub slope: f64,
    /// `None` where the values do not differ, and with fewer than three points, which every line explains.
    pub r2: Option<f64>,
    /// Half of the interval of 95 % around the slope; `None` with fewer than three points.
    pub slope_margin: Option<f64>,
}

impl LinearFit {
    /// The line of least squares; `None` if the points have one place or none.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>()
        };
        let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
        if points.is_empty() || xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let rest = (yy - slope * xy).max(0.0);
        // Values that differ by less than the digits of a table do not differ.
        let is_constant = yy <= (mean_y.abs() * 1e-9).powi(2) * n;
        let margin = |freedom: usize| student_t(freedom) * (rest / freedom as f64 / xx).sqrt();
        Some(Self {
            points: points.len() as u64,
            farthest: points.iter().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max),
            intercept: mean_y - slope * mean_x,
            slope,
            r2: (!is_constant && points.len() > 2).then(|| 1.0 - rest / yy),
            slope_margin: points.len().checked_sub(2).filter(|freedom| *freedom > 0).map(margin),
        })
    }

    /// The value of the line at a place.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Where another line, below at no failures, comes to lie above.
    fn crossing(&self, other: &Self) -> Option<f64> {
        let x = (self.intercept - other.intercept) / (other.slope - self.slope);
        // Lines that begin at one place, to the digits of a table, do not cross.
        let is_below = six_digits(other.at(0.0)) < six_digits(self.at(0.0));
        (is_below && other.slope > self.slope && x.is_finite()).then_some(x)
    }
}

/// The quantile 97.5 % of Student's t distribution. From 31 degrees of freedom on by the expansion of Cornish and Fisher.
pub fn student_t(freedom: usize) -> f64 {
    const FIRST: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788,
        2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
        2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    const Z: f64 = 1.959_964;
    match freedom.checked_sub(1).and_then(|at| FIRST.get(at)) {
        Some(known) => *known,
        None => {
            let v = freedom as f64;
            let first = (Z.powi(3) + Z) / (4.0 * v);
            let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * v * v);
            Z + first + second
        }
    }
}

/// Where the line of another engine comes to lie above.
#[derive(Clone, PartialEq, Debug)]
pub struct FitCrossing {
    /// The other engine, with its lanes where they differ.
    pub engine: String,
    pub failures: f64,
    /// Whether that is at more failures than were measured of both: there the lines only go on.
    pub is_extrapolated: bool,
}

/// The fit of one engine on one topology.
#[derive(Clone, PartialEq, Debug)]
pub struct FitRow {
    pub topology: String,
    pub pattern: String,
    pub message: Option<u64>,
    pub shifts: Option<u64>,
    pub load: Option<f64>,
    pub spread: Option<u64>,
    pub engine: String,
    pub lanes_asked: u64,
    pub fit: LinearFit,
    /// The first engine whose line comes to lie above this one, and after how many failures: at most as many as the
    /// topology has links.
    pub crossing: Option<FitCrossing>,
}

/// What the points of one line have in common; without the engine, what is compared: topology, pattern, message with its
/// shifts, load and spread.
type ComparedKey = (String, String, [Option<u64>; 2], Option<u64>, Option<u64>);
type LineKey = (ComparedKey, String, u64);

/// The fits over rows, in the order in which their first rows come.
pub fn fit_rows(rows: &[StudyRow]) -> Vec<FitRow> {
    let mut order: Vec<LineKey> = Vec::new();
    let mut points: BTreeMap<LineKey, Vec<(f64, f64)>> = BTreeMap::new();
    // The most failures that a topology can have.
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for (row, throughput) in rows.iter().filter_map(|row| Some((row, row.throughput()?))) {
        let load = row.load.map(f64::to_bits);
        let compared =
            (row.topology.clone(), row.pattern.clone(), [row.message, row.shifts], load, row.spread);
        let key = (compared, row.engine.clone(), row.lanes_asked);
        let line = points.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        line.push((row.failures() as f64, throughput));
        let links = row.links.map_or(f64::INFINITY, |links| links as f64);
        most.insert(&row.topology, links);
    }
    let fits: Vec<(LineKey, LinearFit)> = order
        .into_iter()
        .filter_map(|key| LinearFit::through(points.get(&key)?).map(|fit| (key, fit)))
        .collect();
    let row = |(key, fit): &(LineKey, LinearFit)| {
        let ((topology, pattern, [message, shifts], load, spread), engine, lanes_asked) = key.clone();
        let others = fits.iter().filter(|(other, _)| other.0 == key.0 && other != key);
        let crossings = others
            .filter_map(|((_, engine, lanes), other)| Some((fit.crossing(other)?, engine, lanes, other)));
        let possible = most.get(topology.as_str()).copied().unwrap_or(f64::INFINITY);
        let crossings = crossings.filter(|(x, ..)| *x <= possible);
        let first = crossings.min_by(|a, b| a.0.total_cmp(&b.0));
        // An engine that is compared on several numbers of lanes is named with them.
        let has_several = |engine: &str| {
            let mut own = fits.iter().filter(|(other, _)| other.0 == key.0 && other.1 == engine);
            own.nth(1).is_some()
        };
        let name = |engine: &str, lanes: u64| match has_several(engine) {
            true => format!("{engine} ({lanes} {})", if lanes == 1 { "lane" } else { "lanes" }),
            false => engine.to_owned(),
        };
        let crossing = first.map(|(failures, engine, lanes, other)| FitCrossing {
            engine: name(engine, *lanes),
            failures,
            is_extrapolated: failures > fit.farthest.min(other.farthest),
        });
        let load = load.map(f64::from_bits);
        FitRow { topology, pattern, message, shifts, load, spread, engine, lanes_asked, fit: *fit, crossing }
    };
    fits.iter().map(row).collect()
}

type RowField = Field<FitRow, ()>;

/// The fits of a study.
pub const STUDY_FITS: View<FitRow, ()> =
    View::new(FIT_FIELDS, "no engine has throughputs at two numbers of failures");

static FIT_FIELDS: &[RowField] = &[
    RowField::new("topology", "TOPOLOGY", FieldKind::Text, "name of the fabric", |(), row| {
        (&*row.topology).into()
    }),
    RowField::new("pattern", "MEASURE", FieldKind::Text, "what was measured", |(), row| {
        (&*row.pattern).into()
    }),
    RowField::new(
        "message",
        "MESSAGE",
        FieldKind::Number,
        "packets of a message of an exchange",
        |(), row| row.message.into(),
    )
    .on_request(),
    RowField::new(
        "shifts",
        "SHIFTS",
        FieldKind::Number,
        "sampled shifts of an exchange; none where it has all",
        |(), row| row.shifts.into(),
    )
    .on_request(),
    RowField::new(
        "load",
        "LOAD",
        FieldKind::Real,
        "offered load as a share of what hosts can send",
        |(), row| row.load.into(),
    )
    .on_request(),
    RowField::new("spread", "SPREAD", FieldKind::Number, "lanes that packets take in turns", |(), row| {
        row.spread.into()
    })
    .on_request(),
    RowField::new("engine", "ENGINE", FieldKind::Text, "routing engine", |(), row| (&*row.engine).into()),
    RowField::new("lanes_asked", "LANES", FieldKind::Number, "lanes that the engine may use", |(), row| {
        row.lanes_asked.into()
    }),
    RowField::new("points", "POINTS", FieldKind::Number, "cells with a throughput", |(), row| {
        row.fit.points.into()
    }),
    RowField::new(
        "intercept",
        "INTERCEPT Gbyte/s",
        FieldKind::Real,
        "throughput of the line without failures",
        |(), row| real(row.fit.intercept),
    ),
    RowField::new(
        "slope",
        "SLOPE Gbyte/s",
        FieldKind::Real,
        "change of throughput for each failure",
        |(), row| real(row.fit.slope),
    ),
    RowField::new(
        "r2",
        "R2",
        FieldKind::Real,
        "share of the variance that the line explains; none where the throughputs do not differ",
        |(), row| row.fit.r2.and_then(six_digits).into(),
    ),
    RowField::new(
        "slope_low",
        "SLOPE LOW",
        FieldKind::Real,
        "lower end of the interval of 95 % of the slope",
        |(), row| bound(row, -1.0),
    ),
    RowField::new(
        "slope_high",
        "SLOPE HIGH",
        FieldKind::Real,
        "upper end of the interval of 95 % of the slope",
        |(), row| bound(row, 1.0),
    ),
    RowField::new(
        "crossing_engine",
        "CROSSED BY",
        FieldKind::Text,
        "the first engine whose line comes to lie above this one",
        |(), row| row.crossing.as_ref().map(|crossing| &*crossing.engine).into(),
    ),
    RowField::new(
        "crossing_failures",
        "AT FAILURES",
        FieldKind::Real,
        "number of failures where the lines cross",
        |(), row| row.crossing.as_ref().and_then(|crossing| six_digits(crossing.failures)).into(),
    ),
    RowField::new(
        "crossing_extrapolated",
        "EXTRAPOLATED",
        FieldKind::Flag,
        "whether the lines cross at more failures than were measured of both engines",
        |(), row| row.crossing.as_ref().map(|crossing| crossing.is_extrapolated).into(),
    ),
];

fn real(number: f64) -> Value<'static> {
    six_digits(number).into()
}

fn bound(row: &FitRow, sign: f64) -> Value<'static> {
    row.fit.slope_margin.and_then(|margin| six_digits(row.fit.slope + sign * margin)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_by_hand() {
        // Means 2 and 4; xx 10, xy -12.4, yy 16.32: slope -1.24, intercept 4 + 2.48, rest 16.32 - 1.24 x 12.4 = 0.944.
        let points = [(0.0, 7.0), (1.0, 5.0), (2.0, 3.4), (3.0, 2.6), (4.0, 2.0)];
        let fit = LinearFit::through(&points).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} {b}");
        near(fit.slope, -1.24);
        near(fit.intercept, 6.48);
        near(fit.r2.unwrap(), 1.0 - 0.944 / 16.32);
        // t of three degrees times the root of 0.944 / 3 / 10.
        near(fit.slope_margin.unwrap(), 3.1824 * (0.944_f64 / 3.0 / 10.0).sqrt());
        assert_eq!(fit.points, 5);
    }

    #[test]
    fn a_constant_has_no_r_squared_and_one_place_no_line() {
        let fit = LinearFit::through(&[(0.0, 5.0), (1.0, 5.0), (7.0, 5.0)]).unwrap();
        assert_eq!((fit.slope, fit.r2), (0.0, None));
        assert_eq!(LinearFit::through(&[(2.0, 5.0), (2.0, 6.0)]), None);
        assert_eq!(LinearFit::through(&[]), None);
        let two = LinearFit::through(&[(0.0, 1.0), (1.0, 2.0)]).unwrap();
        assert_eq!((two.slope, two.slope_margin, two.r2), (1.0, None, None));
    }

    #[test]
    fn the_quantiles_are_those_of_tables() {
        for (freedom, known) in
            [(1, 12.7062), (3, 3.1824), (30, 2.0423), (40, 2.0211), (60, 2.0003), (120, 1.9799)]
        {
            assert!((student_t(freedom) - known).abs() < 2e-4, "{freedom} {}", student_t(freedom));
        }
    }

    #[test]
    fn the_engine_that_comes_to_lie_above_is_named_with_its_place() {
        let row = |engine: &str, failures, throughput| StudyRow {
            topology: "t".to_owned(),
            engine: engine.to_owned(),
            lanes_asked: 1,
            pattern: "exchange".to_owned(),
            link_faults: failures,
            throughput_gbyte_s: Some(throughput),
            ..StudyRow::default()
        };
        let rows =
            [row("a", 0, 10.0), row("a", 10, 0.0), row("b", 0, 6.0), row("b", 10, 6.0), row("c", 0, 1.0)];
        let fits = fit_rows(&rows);
        assert_eq!(fits.len(), 2);
        let crossing = |failures, is_extrapolated| {
            Some(FitCrossing { engine: "b".to_owned(), failures, is_extrapolated })
        };
        assert_eq!(fits[0].crossing, crossing(4.0, false));
        assert_eq!(fits[1].crossing, None);
        // With two failures measured, the lines cross where one of them only goes on.
        let short = [row("a", 0, 10.0), row("a", 2, 8.0), row("b", 0, 6.0), row("b", 10, 6.0)];
        assert_eq!(fit_rows(&short)[0].crossing, crossing(4.0, true));
        // No line crosses beyond the last link.
        let few = rows.map(|row| StudyRow { links: Some(3), ..row });
        assert_eq!(fit_rows(&few)[0].crossing, None);
    }
}
