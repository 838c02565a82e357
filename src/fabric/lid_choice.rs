//! The LID that a host sends to, where ports have several.

use super::Lid;

/// The LID that a host sends to when the destination has `lids` LIDs from `base` on: the host's place among all
/// hosts, modulo `lids` (a power of two), as in the MLID scheme of Lin et al. Path records of OpenSM do not choose:
/// without other advice a host sends to the base LID.
pub fn pick_lid(place: u32, base: Lid, lids: u16) -> Lid {
    let offset = place & u32::from(lids.max(1) - 1);
    Lid::new(u32::from(base.value()) + offset).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_spread_over_the_lids_of_a_port() {
        let base = Lid::new(8).unwrap();
        let picked = |lids| (0..6).map(|place| pick_lid(place, base, lids).value()).collect::<Vec<_>>();
        assert_eq!(picked(4), [8, 9, 10, 11, 8, 9]);
        assert_eq!((picked(1), picked(0)), (vec![8; 6], vec![8; 6]));
        let last = Lid::new(u32::from(Lid::MAX)).unwrap();
        assert_eq!(pick_lid(1, last, 2), last);
    }
}
