//! Which of the LIDs of a port a host sends to, where ports have several.

use super::Lid;

/// The LID that a host at this place among the hosts, in the order of switches and ports, sends to, of so many from a
/// base on (a power of two): the place modulo their number, as Lin et al. have it for MLID. OpenSM's path records pick
/// none: a host that is not told otherwise sends to the base LID.
pub fn pick(place: u32, base: Lid, lids: u16) -> Lid {
    let offset = place & u32::from(lids.max(1) - 1);
    Lid::new(u32::from(base.value()) + offset).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_spread_over_the_lids_of_a_port() {
        let base = Lid::new(8).unwrap();
        let picked = |lids| (0..6).map(|place| pick(place, base, lids).value()).collect::<Vec<_>>();
        assert_eq!(picked(4), [8, 9, 10, 11, 8, 9]);
        assert_eq!((picked(1), picked(0)), (vec![8; 6], vec![8; 6]));
        let last = Lid::new(u32::from(Lid::MAX)).unwrap();
        assert_eq!(pick(1, last, 2), last);
    }
}
