//! Whether the line to the terminal is slow. Over a slow line, charts move in steps, and readings alone send a frame less
//! often.

/// Time between two steps of charts, and between two frames of readings, over a slow line.
pub const SLOW_STEP_MS: u64 = 5_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineSpeed {
    /// What the operator set; `None` follows the measurement.
    pub setting: Option<bool>,
    /// Whether the terminal takes frames slowly.
    pub measured_slow: bool,
}

impl LineSpeed {
    pub fn is_slow(self) -> bool {
        self.setting.unwrap_or(self.measured_slow)
    }

    /// The end of charts whose last reading is at this time.
    pub fn chart_end_ms(self, latest_ms: u64) -> u64 {
        if self.is_slow() { latest_ms / SLOW_STEP_MS * SLOW_STEP_MS } else { latest_ms }
    }
}
