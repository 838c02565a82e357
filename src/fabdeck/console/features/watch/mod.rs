//! The watch of a fabric: the cycle of counter sweeps and verdicts, its state and its texts. `operations` compute the verdicts.

mod feature;
pub mod sweep_cycle;
pub mod watch_state;
pub(crate) mod watch_text;

pub(crate) use feature::FEATURE;
