//! Scales of axes: round ends, round steps, and the words of their ticks.

/// A scale from numbers to shares of an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlotScale {
    pub from: f64,
    pub to: f64,
    /// Distance of two ticks; of a logarithmic scale it is not used.
    step: f64,
    is_logarithmic: bool,
}

impl PlotScale {
    /// A scale from zero to a round number above the largest value.
    pub fn from_zero(largest: f64) -> Self {
        Self::between(0.0, if largest > 0.0 { largest } else { 1.0 })
    }

    /// A scale that begins and ends at round numbers around two values.
    pub fn between(least: f64, most: f64) -> Self {
        let span = if most > least { most - least } else { least.abs().max(1.0) };
        let step = round_step(span / 5.0);
        let from = (least / step).floor() * step;
        let to = (most / step - 1e-9).ceil() * step;
        Self { from, to: if to > from { to } else { from + step }, step, is_logarithmic: false }
    }

    /// A scale of powers of ten around two values above zero.
    pub fn logarithmic(least: f64, most: f64) -> Self {
        let [low, high] = [least, most.max(least)].map(|value| value.max(1e-9).log10());
        let (low, high) = (low.floor(), high.ceil());
        let high = if high > low { high } else { low + 1.0 };
        Self { from: 10f64.powf(low), to: 10f64.powf(high), step: 1.0, is_logarithmic: true }
    }

    /// The place of a number: 0 at the beginning of the axis, 1 at its end.
    pub fn share(self, value: f64) -> f64 {
        let share = match self.is_logarithmic {
            false => (value - self.from) / (self.to - self.from),
            true => (value.max(self.from) / self.from).log10() / (self.to / self.from).log10(),
        };
        share.clamp(0.0, 1.0)
    }

    pub fn ticks(self) -> Vec<f64> {
        match self.is_logarithmic {
            true => {
                let powers = (self.to / self.from).log10().round() as i32;
                (0..=powers).map(|power| self.from * 10f64.powi(power)).collect()
            }
            false => {
                let count = ((self.to - self.from) / self.step).round() as i32;
                (0..=count).map(|at| self.from + f64::from(at) * self.step).collect()
            }
        }
    }
}

/// The first of 1, 2, 5 times a power of ten that is not below a value.
fn round_step(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value * 0.999_999).unwrap_or(10.0 * power)
}

/// A number of an axis or a label, with at most four significant digits and thousands apart.
pub fn plot_number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        size if size < 1e-12 => return "0".to_owned(),
        size if size >= 1000.0 => {
            let sign = if value < 0.0 { "-" } else { "" };
            return format!("{sign}{}", fabdeck_fabric::observe::digits_in_groups(size.round() as u64));
        }
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size => {
            let digits = (3 - size.log10().floor() as i32).clamp(1, 12) as usize;
            format!("{value:.digits$}")
        }
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_ends_and_ticks() {
        let scale = PlotScale::from_zero(629.76);
        assert_eq!(scale.ticks(), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(scale.share(400.0), 0.5);
        assert_eq!(PlotScale::from_zero(0.0).to, 1.0);
        assert_eq!(PlotScale::between(1.0, 8.0).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        let powers = PlotScale::logarithmic(0.004, 3.0);
        assert_eq!(powers.ticks().len(), 5);
        assert!((powers.share(0.1) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn numbers_have_four_digits_at_most() {
        let numbers = [0.0, 0.002, 0.25, 3.14259, 20.0, 629.76, 1383.4, -2.5, 120.0];
        let words = ["0", "0.002", "0.25", "3.14", "20", "629.8", "1,383", "-2.5", "120"];
        assert_eq!(numbers.map(plot_number), words);
    }
}
