//! The history of every port over the last sweeps. One byte per port and sweep holds its waiting and its
//! utilization, each in eight levels.
//!
//! A full subnet has 131,712 ports: 120 sweeps of it take 16 MB.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fabric_history::{ColumnSum, SpanValue, TimeWindow};
use super::hot_ports::UNKNOWN_LEVEL;
use fabdeck_fabric::counters::PortRates;
use fabdeck_fabric::{ElementId, Fabric, PortId};

/// Maximum number of sweeps in the history.
pub const MAX_SWEEPS: usize = 120;

/// The levels of every port; waiting is in the upper four bits of each byte.
pub type PortLevels = Arc<[u8]>;

/// What the history has of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortFigure {
    Waiting,
    Utilization,
}

/// The latest sweeps, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct PortHistory {
    columns: VecDeque<(u64, PortLevels)>,
}

impl PortHistory {
    pub fn push(&mut self, at_ms: u64, levels: PortLevels) {
        if self.columns.len() == MAX_SWEEPS {
            self.columns.pop_front();
        }
        self.columns.push_back((at_ms, levels));
    }

    /// Adds a gap: there were no sweeps for some time.
    pub fn push_gap(&mut self, at_ms: u64) {
        if self.columns.back().is_some_and(|(_, levels)| !levels.is_empty()) {
            self.push(at_ms, Arc::default());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Converts the history to the port ids of another fabric. A new port has no history.
    pub fn carry_over(&self, from: &Fabric, to: &Fabric) -> Self {
        if from.is_numbered_like(to) {
            return self.clone();
        }
        let earlier = |(port, _)| match ElementId::Port(port).translate(to, from) {
            Some(ElementId::Port(port)) => Some(port),
            _ => None,
        };
        let earlier: Vec<Option<PortId>> = to.ports().map(earlier).collect();
        let renumbered = |levels: &PortLevels| -> PortLevels {
            let level = |port: &Option<PortId>| port.and_then(|port| levels.get(port.index()).copied());
            earlier.iter().map(|port| level(port).unwrap_or(UNKNOWN_LEVELS)).collect()
        };
        let column = |(at_ms, levels): &(u64, PortLevels)| {
            (*at_ms, if levels.is_empty() { PortLevels::default() } else { renumbered(levels) })
        };
        Self { columns: self.columns.iter().map(column).collect() }
    }

    /// Time of the oldest of the last `most` sweeps.
    pub fn oldest_ms(&self, most: usize) -> Option<u64> {
        self.columns.get(self.columns.len().saturating_sub(most)).map(|(at_ms, _)| *at_ms)
    }

    /// Waiting or utilization of one port in equal columns of a window, in percent as far as the levels tell.
    pub fn port_columns(
        &self,
        port: PortId,
        figure: PortFigure,
        window: TimeWindow,
        columns: usize,
    ) -> Vec<Option<f64>> {
        let ms = |at_ms: u64| i64::try_from(at_ms).unwrap_or(i64::MAX);
        let span = |at: usize| {
            let (at_ms, levels) = self.columns.get(at)?;
            // The interval before the oldest sweep of the history is not known.
            let (before, _) = self.columns.get(at.checked_sub(1)?)?;
            let (waited, used) = unpack_levels(*levels.get(port.index())?);
            let (level, most) = match figure {
                PortFigure::Waiting => (waited, 7.0),
                PortFigure::Utilization => (used, 8.0),
            };
            let last = at + 1 == self.columns.len();
            let to_ms = if last { ms(*at_ms).max(window.to_ms) } else { ms(*at_ms) };
            let value = (level != UNKNOWN_LEVEL).then(|| f64::from(level) / most * 100.0);
            Some(SpanValue { from_ms: ms(*before), to_ms, value })
        };
        window.columns((0..self.columns.len()).filter_map(span), columns, ColumnSum::Worst)
    }

    /// Levels of waiting and utilization of one port in the last sweeps, the oldest first.
    pub fn port_levels(&self, port: PortId, most: usize) -> impl Iterator<Item = (u8, u8)> {
        let skipped = self.columns.len().saturating_sub(most);
        let byte = move |(_, levels): &(u64, PortLevels)| levels.get(port.index()).copied();
        self.columns
            .iter()
            .skip(skipped)
            .map(move |column| byte(column).map_or((UNKNOWN_LEVEL, UNKNOWN_LEVEL), unpack_levels))
    }
}

/// The levels of waiting and utilization in a byte.
pub fn unpack_levels(byte: u8) -> (u8, u8) {
    (byte >> 4, byte & 15)
}

/// The byte for the rates of a port.
pub fn pack_levels(rates: &PortRates, threshold: f64) -> u8 {
    let by_ticks = || rates.congestion().map(|ticks| waiting_level(ticks, threshold));
    let waited = rates.wait_share().map(waited_level).or_else(by_ticks).unwrap_or(UNKNOWN_LEVEL);
    let used = rates.utilisation().map_or(UNKNOWN_LEVEL, used_level);
    (waited << 4) | used
}

/// The byte of a port with unknown levels.
pub const UNKNOWN_LEVELS: u8 = (UNKNOWN_LEVEL << 4) | UNKNOWN_LEVEL;

/// The level of a share of time in sevenths, rounded up; 0 where lists show 0 %.
fn waited_level(part: f64) -> u8 {
    match part {
        part if (part * 100.0).round() < 1.0 => 0,
        part => (part * 7.0).ceil().clamp(1.0, 7.0) as u8,
    }
}

/// The level of ticks, where the length of a tick is unknown: up to 3 below the threshold, from 4 on above
/// it.
fn waiting_level(ticks: f64, threshold: f64) -> u8 {
    let part = ticks / threshold.max(1.0);
    match () {
        () if ticks <= 0.0 => 0,
        () if part <= 0.01 => 1,
        () if part <= 0.1 => 2,
        () if part <= 1.0 => 3,
        () if part <= 3.0 => 4,
        () if part <= 10.0 => 5,
        () if part <= 30.0 => 6,
        () => 7,
    }
}

/// The level of utilization, in eighths.
pub fn used_level(used: f64) -> u8 {
    (used.clamp(0.0, 0.999) * 8.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_agree_with_the_verdict() {
        let steps = [0.0, 500.0, 5_000.0, 100_000.0, 100_001.0, 400_000.0, 2_000_000.0, 9e9];
        let levels: Vec<u8> = steps.into_iter().map(|ticks| waiting_level(ticks, 100_000.0)).collect();
        assert_eq!(levels, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!([0.0, 0.124, 0.5, 1.0, 1.3].map(used_level), [0, 0, 4, 7, 7]);
    }

    #[test]
    fn waiting_scales_with_the_share_of_time() {
        let parts = [0.0, 0.0049, 0.005, 0.1, 0.15, 0.49, 0.58, 0.86, 1.0];
        assert_eq!(parts.map(waited_level), [0, 0, 1, 1, 2, 4, 5, 7, 7]);
    }

    #[test]
    fn the_latest_sweeps_are_stored_and_a_gap_is_one_column() {
        let mut history = PortHistory::default();
        history.push_gap(0);
        assert!(history.is_empty(), "before the first there is no gap");
        for at in 0..MAX_SWEEPS as u64 + 2 {
            history.push(at, Arc::from([(at % 8) as u8]));
        }
        assert_eq!((history.oldest_ms(MAX_SWEEPS), history.oldest_ms(2)), (Some(2), Some(MAX_SWEEPS as u64)));
        history.push_gap(1000);
        history.push_gap(1001);
        let seen: Vec<(u8, u8)> = history.port_levels(PortId(0), 2).collect();
        assert_eq!(seen, [(0, 1), (UNKNOWN_LEVEL, UNKNOWN_LEVEL)]);
        assert_eq!(
            history.port_levels(PortId(7), 3).collect::<Vec<_>>(),
            [(UNKNOWN_LEVEL, UNKNOWN_LEVEL); 3]
        );
    }
}
