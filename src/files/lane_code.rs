//! Number of virtual lanes, as PortInfo encodes it.

/// Number of data lanes for a code of VLCap or OperationalVLs (IBA 14.2.5.6).
pub(super) fn lane_count(code: u64) -> Option<u8> {
    match code {
        1 => Some(1),
        2 => Some(2),
        3 => Some(4),
        4 => Some(8),
        5 => Some(15),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_no_counts() {
        let counts = [0, 1, 2, 3, 4, 5, 6].map(lane_count);
        assert_eq!(counts, [None, Some(1), Some(2), Some(4), Some(8), Some(15), None]);
    }
}
