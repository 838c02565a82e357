//! The rule by which a run has settled (dissertation 4.3.4.1): an end is steady when its average rate up to now is known
//! within a confidence interval of 99 %, and the network when 99 % of the ends that take in are. The text leaves open how
//! wide the interval may be: here five per cent of the average to either side.

use super::network::TrafficRun;

/// Standard errors to either side of an average that hold it in 99 of 100 cases.
const DEVIATIONS: f64 = 2.576;
const WIDTH: f64 = 0.05;
/// Of so few samples nothing is known.
const FEWEST: u64 = 10;
/// Percent of ends.
const ENOUGH: u64 = 99;

/// Rates of the ends, sampled in equal windows.
#[derive(Debug)]
pub(super) struct Steady {
    windows: u64,
    before: Vec<u64>,
    /// Of each end the mean and the sum of squares of the differences to it (Welford).
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Steady {
    pub fn new(ends: usize) -> Self {
        Self { windows: 0, before: vec![0; ends], mean: vec![0.0; ends], squares: vec![0.0; ends] }
    }

    pub fn begin(&mut self) {
        *self = Self::new(self.mean.len());
    }

    fn sample(&mut self, taken: &[u64]) {
        self.windows += 1;
        for (at, taken) in taken.iter().enumerate() {
            let rate = (taken - self.before[at]) as f64;
            self.before[at] = *taken;
            let off = rate - self.mean[at];
            self.mean[at] += off / self.windows as f64;
            self.squares[at] += off * (rate - self.mean[at]);
        }
    }

    fn settled(&self) -> bool {
        if self.windows < FEWEST {
            return false;
        }
        let count = self.windows as f64;
        let width = |squares: f64| DEVIATIONS * (squares / (count - 1.0) / count).sqrt();
        let taking = self.mean.iter().zip(&self.squares).filter(|(mean, _)| **mean > 0.0);
        let (mut all, mut steady) = (0u64, 0u64);
        for (mean, squares) in taking {
            all += 1;
            steady += u64::from(width(*squares) <= WIDTH * mean);
        }
        all > 0 && steady * 100 >= all * ENOUGH
    }
}

impl TrafficRun {
    /// Takes a sample of every end's rate; the samples of a run are to be equally far apart.
    pub fn sample(&mut self) {
        self.steady.sample(&self.tally.taken);
    }

    /// Whether the rates since measuring began have settled.
    pub fn is_steady(&self) -> bool {
        self.steady.settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_rates_settle_and_wild_ones_do_not() {
        let run = |rate: &dyn Fn(u64) -> u64| {
            let mut steady = Steady::new(2);
            let mut taken = [0, 0];
            (0..100).position(|window| {
                taken[0] += rate(window);
                steady.sample(&taken);
                steady.settled()
            })
        };
        assert_eq!(run(&|_| 50), Some(FEWEST as usize - 1), "an end that takes in nothing does not count");
        assert_eq!(run(&|_| 0), None);
        assert!(run(&|window| 45 + window % 2 * 10).is_some_and(|at| at > FEWEST as usize));
        assert_eq!(run(&|window| window % 10 / 9 * 500), None);
    }
}
