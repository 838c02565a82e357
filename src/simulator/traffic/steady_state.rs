//! Steady state of a run (dissertation 4.3.4.1). An end is steady when its average rate so far is known within a 99 %
//! confidence interval. The network is steady when 99 % of the receiving ends are. The text leaves the width of the
//! interval open: here 5 % of the average to either side.

/// Half-width of a 99 % confidence interval, in standard errors.
const CONFIDENCE_DEVIATIONS: f64 = 2.576;
const INTERVAL_WIDTH: f64 = 0.05;
/// Fewer samples prove nothing.
const MIN_SAMPLES: u64 = 10;
/// Share of steady ends, in percent.
const STEADY_PERCENT: u64 = 99;

/// Rates of the ends, sampled in windows of equal length.
#[derive(Debug)]
pub(crate) struct SteadyState {
    windows: u64,
    before: Vec<u64>,
    /// For each end the mean, and the sum of squared deviations from it (Welford).
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl SteadyState {
    pub fn new(ends: usize) -> Self {
        Self { windows: 0, before: vec![0; ends], mean: vec![0.0; ends], squares: vec![0.0; ends] }
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.mean.len());
    }

    pub fn add_sample(&mut self, taken: &[u64]) {
        self.windows += 1;
        for (at, taken) in taken.iter().enumerate() {
            let rate = (taken - self.before[at]) as f64;
            self.before[at] = *taken;
            let off = rate - self.mean[at];
            self.mean[at] += off / self.windows as f64;
            self.squares[at] += off * (rate - self.mean[at]);
        }
    }

    pub fn is_settled(&self) -> bool {
        if self.windows < MIN_SAMPLES {
            return false;
        }
        let count = self.windows as f64;
        let width = |squares: f64| CONFIDENCE_DEVIATIONS * (squares / (count - 1.0) / count).sqrt();
        let taking = self.mean.iter().zip(&self.squares).filter(|(mean, _)| **mean > 0.0);
        let (mut all, mut steady) = (0u64, 0u64);
        for (mean, squares) in taking {
            all += 1;
            steady += u64::from(width(*squares) <= INTERVAL_WIDTH * mean);
        }
        all > 0 && steady * 100 >= all * STEADY_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_rates_settle_and_wild_ones_do_not() {
        let run = |rate: &dyn Fn(u64) -> u64| {
            let mut steady = SteadyState::new(2);
            let mut taken = [0, 0];
            (0..100).position(|window| {
                taken[0] += rate(window);
                steady.add_sample(&taken);
                steady.is_settled()
            })
        };
        assert_eq!(
            run(&|_| 50),
            Some(MIN_SAMPLES as usize - 1),
            "an end that takes in nothing does not count"
        );
        assert_eq!(run(&|_| 0), None);
        assert!(run(&|window| 45 + window % 2 * 10).is_some_and(|at| at > MIN_SAMPLES as usize));
        assert_eq!(run(&|window| window % 10 / 9 * 500), None);
    }
}
