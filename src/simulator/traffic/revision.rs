//! The revision of the simulated traffic.

/// The revision of the simulated traffic. It rises with every change after which the same seed gives another run, so that
/// stored results of the old one are not mistaken for those of the new one.
pub const TRAFFIC_REVISION: u32 = 1;
