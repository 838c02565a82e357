//! Statuses that the agent of subnet administration answers with.

/// Statuses of subnet administration (IBA 15.2.5.2), in the upper byte.
pub const INVALID_REQUEST: u16 = 0x0200;
pub const NO_RECORDS: u16 = 0x0300;
pub const TOO_MANY_RECORDS: u16 = 0x0400;
pub const UNSUPPORTED: u16 = 3 << 2;
