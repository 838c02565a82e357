//! The waits of ports in one interval, a byte each. A day of them fits into memory, where all values of ports do not.

use std::collections::BTreeMap;
use std::sync::Arc;

use fabdeck_fabric::observe::PortIdentity;

/// The byte of a port whose wait is not known.
const UNKNOWN: u8 = u8::MAX;

/// Most ports of a column that are known as its worst.
const MAX_WORST: usize = 16;

/// Most ports of a column in a fabric with too many for all of them, and of columns with different ports together.
const MAX_LARGEST: usize = 256;
const MAX_MERGED: usize = 4096;

/// The wait of each port in percent of the time, in the order of their identities. A port that is not in the list was not
/// kept, and its wait is not known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WaitColumn {
    ports: Arc<[PortIdentity]>,
    percent: Arc<[u8]>,
    /// The ports with the longest waits above zero, the worst first.
    worst: Arc<[(PortIdentity, u8)]>,
}

impl WaitColumn {
    /// The waits of ports, which are in the order of their identities.
    pub fn new(waits: impl Iterator<Item = (PortIdentity, Option<f64>)>) -> Self {
        let byte = |wait: Option<f64>| wait.map_or(UNKNOWN, |percent| percent.clamp(0.0, 100.0).ceil() as u8);
        let (ports, percent): (Vec<PortIdentity>, Vec<u8>) =
            waits.map(|(port, wait)| (port, byte(wait))).unzip();
        Self::from_bytes(ports.into(), percent.into())
    }

    /// The longest waits above zero only.
    pub fn of_largest(waits: impl Iterator<Item = (PortIdentity, Option<f64>)>) -> Self {
        let mut all: Vec<(PortIdentity, f64)> =
            waits.filter_map(|(port, wait)| Some((port, wait.filter(|wait| *wait > 0.0)?))).collect();
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        all.truncate(MAX_LARGEST);
        all.sort_by_key(|(port, _)| *port);
        Self::new(all.into_iter().map(|(port, wait)| (port, Some(wait))))
    }

    fn from_bytes(ports: Arc<[PortIdentity]>, percent: Arc<[u8]>) -> Self {
        let known = ports.iter().copied().zip(percent.iter().copied());
        let mut worst: Vec<(PortIdentity, u8)> =
            known.filter(|(_, percent)| *percent > 0 && *percent != UNKNOWN).collect();
        let order = |a: &(PortIdentity, u8), b: &(PortIdentity, u8)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
        if worst.len() > MAX_WORST {
            worst.select_nth_unstable_by(MAX_WORST, order);
            worst.truncate(MAX_WORST);
        }
        worst.sort_by(order);
        Self { ports, percent, worst: worst.into() }
    }

    /// The wait of a port; `None` where it is not known.
    pub fn value(&self, port: &PortIdentity) -> Option<f64> {
        let at = self.ports.binary_search(port).ok()?;
        self.percent.get(at).copied().filter(|percent| *percent != UNKNOWN).map(f64::from)
    }

    /// The ports with the longest waits, in percent of the time.
    pub fn worst(&self) -> &[(PortIdentity, u8)] {
        &self.worst
    }

    /// Shares the list of ports with a column that has the same.
    pub fn share_ports(&mut self, other: &Self) {
        if !Arc::ptr_eq(&self.ports, &other.ports) && self.ports == other.ports {
            self.ports = other.ports.clone();
        }
    }

    /// The longer wait of each port. A port that one of both does not know has that of the other.
    pub fn merge(&mut self, later: &Self) {
        let longer = |a: u8, b: u8| match (a, b) {
            (UNKNOWN, known) | (known, UNKNOWN) => known,
            (a, b) => a.max(b),
        };
        if self.ports == later.ports {
            let percent = self.percent.iter().zip(&*later.percent).map(|(a, b)| longer(*a, *b)).collect();
            *self = Self::from_bytes(self.ports.clone(), percent);
            return;
        }
        let mut all: BTreeMap<PortIdentity, u8> = BTreeMap::new();
        for (port, percent) in [&*self, later].into_iter().flat_map(|one| one.ports.iter().zip(&*one.percent))
        {
            let held = all.entry(*port).or_insert(UNKNOWN);
            *held = longer(*held, *percent);
        }
        let mut all: Vec<(PortIdentity, u8)> = all.into_iter().collect();
        if all.len() > MAX_MERGED {
            all.sort_by_key(|(_, percent)| std::cmp::Reverse(percent.wrapping_add(1)));
            all.truncate(MAX_LARGEST);
            all.sort_by_key(|(port, _)| *port);
        }
        let (ports, percent): (Vec<PortIdentity>, Vec<u8>) = all.into_iter().unzip();
        *self = Self::from_bytes(ports.into(), percent.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Guid, PortNum};

    fn port(number: u8) -> PortIdentity {
        (Guid(7), PortNum(number))
    }

    fn column(waits: &[(u8, Option<f64>)]) -> WaitColumn {
        WaitColumn::new(waits.iter().map(|(number, wait)| (port(*number), *wait)))
    }

    #[test]
    fn an_unknown_wait_is_not_zero() {
        let column = column(&[(1, Some(0.0)), (2, None), (3, Some(0.2)), (4, Some(250.0))]);
        let values = [1, 2, 3, 4, 5].map(|number| column.value(&port(number)));
        assert_eq!(values, [Some(0.0), None, Some(1.0), Some(100.0), None]);
        assert_eq!(column.worst(), [(port(4), 100), (port(3), 1)]);
    }

    #[test]
    fn the_longer_wait_stays_also_with_other_ports() {
        let mut one = column(&[(1, Some(5.0)), (2, None), (3, Some(9.0))]);
        one.merge(&column(&[(1, Some(7.0)), (2, Some(0.0)), (3, None)]));
        assert_eq!([1, 2, 3].map(|number| one.value(&port(number))), [Some(7.0), Some(0.0), Some(9.0)]);
        one.merge(&column(&[(3, Some(20.0)), (4, Some(1.0))]));
        let values = [1, 3, 4].map(|number| one.value(&port(number)));
        assert_eq!(values, [Some(7.0), Some(20.0), Some(1.0)]);
        assert_eq!(one.worst()[0], (port(3), 20));
    }

    #[test]
    fn few_ports_are_the_worst() {
        let many: Vec<(u8, Option<f64>)> =
            (0..200).map(|number| (number, Some(f64::from(number) / 2.0))).collect();
        let column = column(&many);
        let worst: Vec<u8> = column.worst().iter().map(|((_, number), _)| number.0).collect();
        // 91.5 and 92 are both 92, and the port with the smaller number comes first.
        assert_eq!((worst.len(), worst[0], worst[15]), (MAX_WORST, 199, 183));
    }
}
