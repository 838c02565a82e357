//! Least and greatest values of sums of variables under linear constraints: the bounded simplex method on a dense table.
//!
//! Each row says that the sum of some variables lies between two values; each variable lies between 0 and its upper bound.
//! A first phase finds a solution, and each question goes on from the last one. A question that needs more pivots than are
//! left has no answer, never a wrong one.

/// Smaller coefficients and costs are zero. The caller scales values to about 1.
const ZERO: f64 = 1e-9;

/// A sum of artificial variables above this shows that no solution exists.
const INFEASIBLE: f64 = 1e-6;

/// After this many pivots without progress the choice follows the lowest column, which cannot cycle (Bland's rule).
const STALLED: usize = 40;

/// A row: the variables in its sum, and the least and the greatest sum.
#[derive(Clone, Debug)]
pub(super) struct SumRow {
    pub variables: Vec<usize>,
    pub low: f64,
    pub high: f64,
}

/// In the basis: no variable of the program, only the distance to a solution in the first phase.
const ARTIFICIAL: usize = usize::MAX;

/// A solved program, ready for questions.
#[derive(Clone, Debug)]
pub(super) struct LinearProgram {
    columns: usize,
    variables: usize,
    cells: Vec<f64>,
    /// Of each row: its basic variable and that one's value.
    basis: Vec<usize>,
    values: Vec<f64>,
    upper: Vec<f64>,
    basic: Vec<bool>,
    at_upper: Vec<bool>,
    artificial_limit: f64,
}

impl LinearProgram {
    /// The size of the table of a program.
    pub fn cells(variables: usize, rows: usize) -> usize {
        (variables + rows).saturating_mul(rows)
    }

    /// Finds a first solution. `None`: there is none, or it needs more work than is left.
    pub fn solve(upper: &[f64], rows: &[SumRow], work: &mut usize) -> Option<Self> {
        let variables = upper.len();
        let columns = variables + rows.len();
        let mut program = Self {
            columns,
            variables,
            cells: vec![0.0; columns * rows.len()],
            basis: Vec::new(),
            values: Vec::new(),
            upper: upper.to_vec(),
            basic: vec![false; columns],
            at_upper: vec![false; columns],
            artificial_limit: f64::INFINITY,
        };
        for (at, row) in rows.iter().enumerate() {
            // The sum and its slack make `high`, so the slack is at most the distance of both limits.
            let low = row.low.max(0.0);
            if !row.high.is_finite() || row.high < low {
                return None;
            }
            let slack = variables + at;
            row.variables.iter().for_each(|variable| program.cells[at * columns + variable] = 1.0);
            program.cells[at * columns + slack] = 1.0;
            program.upper.push(row.high - low);
            let solved = low <= 0.0;
            program.basis.push(if solved { slack } else { ARTIFICIAL });
            program.values.push(if solved { row.high } else { low });
            program.basic[slack] = solved;
            program.at_upper[slack] = !solved;
        }
        let distance = program.minimize(&vec![0.0; columns], 1.0, work)?;
        if distance > INFEASIBLE {
            return None;
        }
        program.artificial_limit = 0.0;
        for (at, _) in rows.iter().enumerate().filter(|(at, _)| program.basis[*at] == ARTIFICIAL) {
            program.values[at] = 0.0;
        }
        Some(program)
    }

    /// The least sum of these variables.
    pub fn least(&mut self, sum: &[usize], work: &mut usize) -> Option<f64> {
        self.optimize(sum, 1.0, work)
    }

    /// The greatest sum of these variables.
    pub fn most(&mut self, sum: &[usize], work: &mut usize) -> Option<f64> {
        self.optimize(sum, -1.0, work).map(|least| -least)
    }

    fn optimize(&mut self, sum: &[usize], sign: f64, work: &mut usize) -> Option<f64> {
        let mut costs = vec![0.0; self.columns];
        sum.iter()
            .filter(|variable| **variable < self.variables)
            .for_each(|variable| costs[*variable] = sign);
        self.minimize(&costs, 0.0, work)
    }

    /// Minimizes a cost from the current solution on. Work is counted in cells.
    fn minimize(&mut self, costs: &[f64], artificial_cost: f64, work: &mut usize) -> Option<f64> {
        let cost_of = |column: usize| if column == ARTIFICIAL { artificial_cost } else { costs[column] };
        let mut reduced = costs.to_vec();
        for (row, basic) in self.basis.iter().enumerate() {
            let cost = cost_of(*basic);
            if cost != 0.0 {
                let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
                reduced.iter_mut().zip(cells).for_each(|(reduced, cell)| *reduced -= cost * cell);
            }
        }
        let mut stalled = 0;
        while let Some(entering) = self.entering(&reduced, stalled > STALLED) {
            let left = work.checked_sub(self.cells.len().max(1));
            *work = left.unwrap_or(0);
            left?;
            let step = self.step(entering, &mut reduced);
            stalled = if step > ZERO { 0 } else { stalled + 1 };
        }
        let of_basis: f64 =
            self.basis.iter().zip(&self.values).map(|(basic, value)| cost_of(*basic) * value).sum();
        let at_upper = (0..self.columns).filter(|column| !self.basic[*column] && self.at_upper[*column]);
        let of_others: f64 = at_upper.map(|column| costs[column] * self.upper[column]).sum();
        Some(of_basis + of_others)
    }

    /// The column whose change lowers the cost most.
    fn entering(&self, reduced: &[f64], first: bool) -> Option<usize> {
        let gain = |column: usize| match (self.basic[column], self.at_upper[column]) {
            (true, _) => 0.0,
            (false, true) => reduced[column],
            (false, false) => -reduced[column],
        };
        let mut gains = (0..self.columns)
            .map(|column| (column, gain(column)))
            .filter(|(column, gain)| *gain > ZERO && self.upper[*column] > 0.0);
        let best = if first { gains.next() } else { gains.max_by(|a, b| a.1.total_cmp(&b.1)) };
        best.map(|(column, _)| column)
    }

    /// Moves a column as far as all limits allow, and returns how far.
    fn step(&mut self, entering: usize, reduced: &mut [f64]) -> f64 {
        let direction = if self.at_upper[entering] { -1.0 } else { 1.0 };
        // The nearest limit: that of a row, or the column's own other end.
        let (mut length, mut leaving) = (self.upper[entering], None);
        for (row, basic) in self.basis.iter().enumerate() {
            let slope = direction * self.cells[row * self.columns + entering];
            let limit = if *basic == ARTIFICIAL { self.artificial_limit } else { self.upper[*basic] };
            let room = match slope {
                down if down > ZERO => self.values[row] / down,
                up if up < -ZERO => (limit - self.values[row]) / -up,
                _ => continue,
            };
            let room = room.max(0.0);
            if room < length - ZERO || (room < length + ZERO && self.is_larger(row, leaving, entering)) {
                (length, leaving) = (room.min(length), Some((row, slope > 0.0)));
            }
        }
        for row in 0..self.basis.len() {
            self.values[row] -= direction * length * self.cells[row * self.columns + entering];
        }
        let Some((row, to_zero)) = leaving else {
            self.at_upper[entering] = !self.at_upper[entering];
            return length;
        };
        let old = self.basis[row];
        if old != ARTIFICIAL {
            (self.basic[old], self.at_upper[old]) = (false, !to_zero);
        }
        let from = if direction > 0.0 { 0.0 } else { self.upper[entering] };
        (self.basis[row], self.values[row]) = (entering, from + direction * length);
        (self.basic[entering], self.at_upper[entering]) = (true, false);
        self.eliminate(row, entering, reduced);
        length
    }

    /// Whether a row has the larger pivot of two that limit alike: larger ones lose less precision.
    fn is_larger(&self, row: usize, leaving: Option<(usize, bool)>, column: usize) -> bool {
        let cell = |row: usize| self.cells[row * self.columns + column].abs();
        leaving.is_none_or(|(other, _)| cell(row) > cell(other))
    }

    fn eliminate(&mut self, pivot: usize, column: usize, reduced: &mut [f64]) {
        let columns = self.columns;
        let by = self.cells[pivot * columns + column];
        let mut line: Vec<f64> = self.cells[pivot * columns..(pivot + 1) * columns].to_vec();
        line.iter_mut().for_each(|cell| *cell /= by);
        let subtract = |cells: &mut [f64]| {
            let times = cells[column];
            if times != 0.0 {
                cells.iter_mut().zip(&line).for_each(|(cell, of_line)| *cell -= times * of_line);
                cells[column] = 0.0;
            }
        };
        for (row, cells) in self.cells.chunks_exact_mut(columns).enumerate() {
            if row != pivot {
                subtract(cells);
            }
        }
        subtract(reduced);
        self.cells[pivot * columns..(pivot + 1) * columns].copy_from_slice(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(variables: &[usize], low: f64, high: f64) -> SumRow {
        SumRow { variables: variables.to_vec(), low, high }
    }

    #[test]
    fn two_senders_over_one_cable_to_two_receivers() {
        // Variables: 1 to 3, 1 to 5, 2 to 3, 2 to 5, and 6 to 5 over another cable.
        let rows = [
            row(&[0, 1], 3.0, 3.0),
            row(&[2, 3], 3.0, 3.0),
            row(&[4], 6.0, 6.0),
            row(&[0, 2], 2.0, 2.0),
            row(&[1, 3, 4], 10.0, 10.0),
        ];
        let mut work = 1_000_000;
        let mut program = LinearProgram::solve(&[10.0; 5], &rows, &mut work).unwrap();
        let mut range =
            |sum: &[usize]| [program.least(sum, &mut work).unwrap(), program.most(sum, &mut work).unwrap()];
        for (sum, [least, most]) in [
            (&[1][..], [1.0, 3.0]),
            (&[3], [1.0, 3.0]),
            (&[4], [6.0, 6.0]),
            (&[1, 3], [4.0, 4.0]),
            (&[0], [0.0, 2.0]),
        ] {
            let found = range(sum);
            assert!((found[0] - least).abs() < 1e-9 && (found[1] - most).abs() < 1e-9, "{sum:?} {found:?}");
        }
    }

    #[test]
    fn what_contradicts_itself_has_no_solution_and_too_much_work_no_answer() {
        let rows = [row(&[0, 1], 3.0, 4.0), row(&[0], 0.0, 1.0), row(&[1], 0.0, 1.0)];
        assert!(LinearProgram::solve(&[9.0, 9.0], &rows, &mut 1_000_000).is_none());
        let wider = [row(&[0, 1], 3.0, 4.0), row(&[0], 0.0, 2.0), row(&[1], 0.0, 1.5)];
        let mut program = LinearProgram::solve(&[9.0, 9.0], &wider, &mut 1_000_000).unwrap();
        assert_eq!(program.most(&[0], &mut 0), None);
        assert!((program.most(&[0, 1], &mut 1_000_000).unwrap() - 3.5).abs() < 1e-9);
        assert!(LinearProgram::solve(&[9.0, 9.0], &wider, &mut 0).is_none());
    }
}
