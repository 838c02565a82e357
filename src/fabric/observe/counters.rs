//! Counter samples as a port or file states them: raw values, no rates.

use std::fmt;
use std::sync::Arc;

use crate::{Guid, PortNum};

/// What a counter counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CounterKind {
    /// Events that should not happen: errors, discards, links that went down.
    Error,
    /// Words of four bytes.
    Data,
    /// Packets.
    Packets,
    /// Ticks in which a packet waited; how long a tick is depends on the device.
    Wait,
}

/// One line per counter: the name as tools print it, its width in bits, its kind.
macro_rules! counters {
    ($($variant:ident, $bits:literal, $kind:ident;)+) => {
        /// One counter of PerfMgt. A counter of PortCounters and its 64-bit form in PortCountersExtended are two
        /// counters, because they saturate separately; perfquery prints both under one name, ibdiagnet does not.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Counter {
            $(
                #[doc = concat!("`", stringify!($variant), "`, ", $bits, " bits wide.")]
                $variant,
            )+
            /// A counter of a vendor, by the name in the file.
            Other(Arc<str>),
        }

        impl Counter {
            /// All counters except those of vendors, in the order of the attributes.
            pub const KNOWN: &'static [Counter] = &[$(Counter::$variant,)+];

            /// The name that the tools print.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => stringify!($variant),)+
                    Self::Other(name) => name,
                }
            }

            /// The width of the counter in bits; `None` for a vendor's.
            pub fn bits(&self) -> Option<u32> {
                match self {
                    $(Self::$variant => Some($bits),)+
                    Self::Other(_) => None,
                }
            }

            /// What the counter counts; `None` for a vendor's.
            pub fn kind(&self) -> Option<CounterKind> {
                match self {
                    $(Self::$variant => Some(CounterKind::$kind),)+
                    Self::Other(_) => None,
                }
            }
        }
    };
}

counters! {
    // PortCounters (IBA 16.1.3.5): they stick at their maximum.
    SymbolErrorCounter, 16, Error;
    LinkErrorRecoveryCounter, 8, Error;
    LinkDownedCounter, 8, Error;
    PortRcvErrors, 16, Error;
    PortRcvRemotePhysicalErrors, 16, Error;
    PortRcvSwitchRelayErrors, 16, Error;
    PortXmitDiscards, 16, Error;
    PortXmitConstraintErrors, 8, Error;
    PortRcvConstraintErrors, 8, Error;
    LocalLinkIntegrityErrors, 4, Error;
    ExcessiveBufferOverrunErrors, 4, Error;
    QP1Dropped, 16, Error;
    VL15Dropped, 16, Error;
    PortXmitData, 32, Data;
    PortRcvData, 32, Data;
    PortXmitPkts, 32, Packets;
    PortRcvPkts, 32, Packets;
    PortXmitWait, 32, Wait;
    // PortCountersExtended (IBA 16.1.4.11): data and packets.
    PortXmitDataExtended, 64, Data;
    PortRcvDataExtended, 64, Data;
    PortXmitPktsExtended, 64, Packets;
    PortRcvPktsExtended, 64, Packets;
    PortUnicastXmitPkts, 64, Packets;
    PortUnicastRcvPkts, 64, Packets;
    PortMulticastXmitPkts, 64, Packets;
    PortMulticastRcvPkts, 64, Packets;
    // PortCountersExtended: errors, where the device has them (IsAdditionalPortCountersExtendedSupported).
    SymbolErrorCounterExt, 64, Error;
    LinkErrorRecoveryCounterExt, 64, Error;
    LinkDownedCounterExt, 64, Error;
    PortRcvErrorsExt, 64, Error;
    PortRcvRemotePhysicalErrorsExt, 64, Error;
    PortRcvSwitchRelayErrorsExt, 64, Error;
    PortXmitDiscardsExt, 64, Error;
    PortXmitConstraintErrorsExt, 64, Error;
    PortRcvConstraintErrorsExt, 64, Error;
    LocalLinkIntegrityErrorsExt, 64, Error;
    ExcessiveBufferOverrunErrorsExt, 64, Error;
    QP1DroppedExt, 64, Error;
    VL15DroppedExt, 64, Error;
    PortXmitWaitExt, 64, Wait;
    // PortRcvErrorDetails and PortXmitDiscardDetails.
    PortLocalPhysicalErrors, 16, Error;
    PortMalformedPktErrors, 16, Error;
    PortBufferOverrunErrors, 16, Error;
    PortDLIDMappingErrors, 16, Error;
    PortVLMappingErrors, 16, Error;
    PortLoopingErrors, 16, Error;
    PortInactiveDiscards, 16, Error;
    PortNeighborMTUDiscards, 16, Error;
    PortSwLifetimeLimitDiscards, 16, Error;
    PortSwHOQLifetimeLimitDiscards, 16, Error;
    // PortExtendedSpeedsCounters, without its lanes.
    SyncHeaderErrorCounter, 16, Error;
    UnknownBlockCounter, 16, Error;
    PortFECCorrectableBlockCtr, 32, Error;
    PortFECUncorrectableBlockCtr, 32, Error;
    PortFECCorrectedSymbolCtr, 32, Error;
}

/// What tells of a bad cable or a full buffer, with the wide form of each that some devices have. Details of these and
/// blocks that were corrected are counted elsewhere, and so are packets that a port discards instead of sending them: a
/// link that was down for a second has thousands, and none of them tells of its cable.
const LINK_ERRORS: &[(Counter, Counter)] = &[
    (Counter::SymbolErrorCounter, Counter::SymbolErrorCounterExt),
    (Counter::LinkErrorRecoveryCounter, Counter::LinkErrorRecoveryCounterExt),
    (Counter::LinkDownedCounter, Counter::LinkDownedCounterExt),
    (Counter::PortRcvErrors, Counter::PortRcvErrorsExt),
    (Counter::PortRcvRemotePhysicalErrors, Counter::PortRcvRemotePhysicalErrorsExt),
    (Counter::LocalLinkIntegrityErrors, Counter::LocalLinkIntegrityErrorsExt),
    (Counter::ExcessiveBufferOverrunErrors, Counter::ExcessiveBufferOverrunErrorsExt),
];

/// Names of older and other tools.
const ALIASES: &[(&str, Counter)] = &[
    ("SymbolErrors", Counter::SymbolErrorCounter),
    ("LinkRecovers", Counter::LinkErrorRecoveryCounter),
    ("LinkDowned", Counter::LinkDownedCounter),
    ("RcvErrors", Counter::PortRcvErrors),
    ("RcvRemotePhysErrors", Counter::PortRcvRemotePhysicalErrors),
    ("RcvSwRelayErrors", Counter::PortRcvSwitchRelayErrors),
    ("XmtDiscards", Counter::PortXmitDiscards),
    ("XmtConstraintErrors", Counter::PortXmitConstraintErrors),
    ("RcvConstraintErrors", Counter::PortRcvConstraintErrors),
    ("LinkIntegrityErrors", Counter::LocalLinkIntegrityErrors),
    ("ExcBufOverrunErrors", Counter::ExcessiveBufferOverrunErrors),
    ("XmtBytes", Counter::PortXmitData),
    ("XmtData", Counter::PortXmitData),
    ("RcvBytes", Counter::PortRcvData),
    ("RcvData", Counter::PortRcvData),
    ("XmtPkts", Counter::PortXmitPkts),
    ("RcvPkts", Counter::PortRcvPkts),
    ("XmtWait", Counter::PortXmitWait),
    ("PortMalformedPacketErrors", Counter::PortMalformedPktErrors),
    ("LinkDownCounter", Counter::LinkDownedCounter),
    ("PortXmitDiscard", Counter::PortXmitDiscards),
    ("ExcessiveBufferErrors", Counter::ExcessiveBufferOverrunErrors),
    ("PortFECCorrectableBlockCounter", Counter::PortFECCorrectableBlockCtr),
    ("PortFECUncorrectableBlockCounter", Counter::PortFECUncorrectableBlockCtr),
    ("PortFECCorrectedSymbolCounter", Counter::PortFECCorrectedSymbolCtr),
];

impl Counter {
    /// The counter with a name, regardless of case, underscores, and `Ext` or `Extended` at its end.
    pub fn from_name(name: &str) -> Self {
        let wanted = normalize_name(name);
        let known = Self::KNOWN.iter().find(|counter| is_same_name(counter.name(), &wanted));
        let alias =
            || ALIASES.iter().find(|(alias, _)| is_same_name(alias, &wanted)).map(|(_, counter)| counter);
        // Some tools end the names of counters that are 64 bits wide anyway (`PortUniCastRcvPktsExtended`).
        let wide = || {
            let stem = wanted.strip_suffix("ext")?;
            Self::KNOWN
                .iter()
                .find(|counter| counter.bits() == Some(64) && is_same_name(counter.name(), stem))
        };
        known.or_else(alias).or_else(wide).cloned().unwrap_or_else(|| Self::Other(name.trim().into()))
    }

    /// The counters of bad cables and full buffers, each with its 64-bit form.
    pub fn link_error_counters() -> impl Iterator<Item = &'static (Self, Self)> {
        LINK_ERRORS.iter()
    }

    /// The counter of PortCountersExtended that perfquery prints under the same name.
    pub fn extended(self) -> Self {
        if self.bits() == Some(64) {
            return self;
        }
        match Self::from_name(&format!("{}Ext", self.name())) {
            Self::Other(_) => self,
            wide => wide,
        }
    }

    /// Whether a value is one at which the counter stops. Devices print narrow counters through wide fields, so the
    /// maxima of 16 and 32 bits count for every wide counter of errors or ticks too, and that of 32 bits for data.
    pub fn is_saturated(&self, value: u64) -> bool {
        let Some(bits) = self.bits() else { return false };
        if bits < 64 {
            return value == (1 << bits) - 1;
        }
        let narrow = u64::from(u32::MAX);
        match self.kind() {
            Some(CounterKind::Error) => value == narrow || value == u64::from(u16::MAX),
            _ => value == narrow,
        }
    }

    fn index(&self) -> Option<u32> {
        // The variants are declared in the order of KNOWN, and derived order is order of declaration.
        Self::KNOWN.binary_search(self).ok().map(|at| at as u32)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name without case, blanks, underscores and with the short ending.
fn normalize_name(name: &str) -> String {
    let mut plain: String = name.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    plain.make_ascii_lowercase();
    if let Some(stem) = plain.strip_suffix("extended") {
        plain.truncate(stem.len() + "ext".len());
    }
    plain
}

/// Whether a name of ours (no blanks, no underscores) reads the same as a plain one.
fn is_same_name(name: &str, plain: &str) -> bool {
    let name = name.strip_suffix("ended").unwrap_or(name);
    name.eq_ignore_ascii_case(plain)
}

/// A counter prepared for access in many samples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterLookup {
    counter: Counter,
    place: Option<u32>,
}

impl From<Counter> for CounterLookup {
    fn from(counter: Counter) -> Self {
        Self { place: counter.index(), counter }
    }
}

/// Values from here on are no counts: half of 64 bits takes 46 years of words at 400 Gbit/s.
pub(crate) const COUNT_LIMIT: u64 = 1 << 63;

/// The value of one counter, from whichever of its forms says more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterFigure {
    /// The value.
    pub value: u64,
    /// Whether the counter is at its maximum and may have counted more.
    pub saturated: bool,
}

/// The values of one sample. The known counters are stored densely behind three masks: a full subnet has 250,000
/// ports with about sixty counters each, most of which never counted anything.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CounterValues {
    /// Which known counters the source has at all, by their place in `Counter::KNOWN`.
    stated: u64,
    /// Which of them have a value.
    valued: u64,
    /// Which values are not 0; these values in the order of their places.
    counted: u64,
    values: Vec<u64>,
    /// Vendors' counters in the order of their names.
    others: Vec<(Arc<str>, Option<u64>)>,
}

impl CounterValues {
    /// Makes a sample without counters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a counter; `None` states that the source has the counter without a value.
    pub fn insert(&mut self, counter: Counter, value: Option<u64>) {
        let Some(place) = counter.index() else {
            if let Counter::Other(name) = counter {
                self.insert_other(name, value);
            }
            return;
        };
        let bit = 1u64 << place;
        self.stated |= bit;
        match value {
            Some(value) => {
                self.valued |= bit;
                self.set_value(place, value);
            }
            None => {
                self.set_value(place, 0);
                self.valued &= !bit;
            }
        }
    }

    /// Stores a value, and nothing for 0.
    fn set_value(&mut self, place: u32, value: u64) {
        let bit = 1u64 << place;
        let at = self.rank(place);
        match (value, self.counted & bit != 0) {
            (0, true) => {
                self.values.remove(at);
                self.counted &= !bit;
            }
            (0, false) => {}
            (value, true) => self.values[at] = value,
            (value, false) => {
                self.values.insert(at, value);
                self.counted |= bit;
            }
        }
    }

    fn insert_other(&mut self, name: Arc<str>, value: Option<u64>) {
        match self.others.binary_search_by(|(known, _)| known.as_ref().cmp(&name)) {
            Ok(at) => self.others[at].1 = value,
            Err(at) => self.others.insert(at, (name, value)),
        }
    }

    /// How many stored values lie before the one of this place.
    fn rank(&self, place: u32) -> usize {
        (self.counted & ((1u64 << place) - 1)).count_ones() as usize
    }

    /// The value of a known counter.
    fn value_at(&self, place: u32) -> Option<u64> {
        let bit = 1u64 << place;
        match (self.valued & bit, self.counted & bit) {
            (0, _) => None,
            (_, 0) => Some(0),
            _ => self.values.get(self.rank(place)).copied(),
        }
    }

    /// Adds to a value, modulo 2^64; `false` where there is no value.
    pub fn add_to(&mut self, column: &CounterLookup, by: i64) -> bool {
        match (&column.counter, column.place) {
            (_, Some(place)) => {
                let Some(value) = self.value_at(place) else { return false };
                self.set_value(place, value.wrapping_add_signed(by));
                true
            }
            (Counter::Other(name), None) => {
                let found = self.others.binary_search_by(|(known, _)| known.cmp(name)).ok();
                let value = found.and_then(|at| self.others[at].1.as_mut());
                value.map(|value| *value = value.wrapping_add_signed(by)).is_some()
            }
            _ => false,
        }
    }

    /// The sum of all errors of the link, where the source counts any.
    pub fn link_errors(&self) -> Option<u64> {
        let figures = LINK_ERRORS.iter().filter_map(|(narrow, wide)| self.figure(narrow, wide));
        figures.fold(None, |sum, figure| Some(sum.unwrap_or(0).saturating_add(figure.value)))
    }

    /// The value of a counter, where the source has one.
    pub fn get(&self, counter: &Counter) -> Option<u64> {
        match (counter, counter.index()) {
            (_, Some(place)) => self.value_at(place),
            (Counter::Other(name), None) => {
                let at = self.others.binary_search_by(|(known, _)| known.cmp(name)).ok()?;
                self.others[at].1
            }
            _ => None,
        }
    }

    /// The best value of a counter: the wide form where the narrow one is at its maximum, and else the larger of
    /// the two, because a wide form may be absent or never change. Skips values that are no counts.
    pub fn figure(&self, narrow: &Counter, wide: &Counter) -> Option<CounterFigure> {
        let [narrow, wide] = [narrow, wide].map(|form| {
            let value = self.get(form).filter(|value| *value < COUNT_LIMIT)?;
            Some(CounterFigure { value, saturated: form.is_saturated(value) })
        });
        let sticks = narrow.is_some_and(|narrow| narrow.saturated);
        let counts = wide.filter(|wide| sticks && wide.value > 0 && !wide.saturated);
        let larger = || narrow.into_iter().chain(wide).max_by_key(|figure| (figure.value, !figure.saturated));
        counts.or_else(larger)
    }

    /// Whether the source has the counter, with a value or without.
    pub fn has(&self, counter: &Counter) -> bool {
        match (counter, counter.index()) {
            (_, Some(place)) => self.stated & (1 << place) != 0,
            (Counter::Other(name), None) => {
                self.others.binary_search_by(|(known, _)| known.cmp(name)).is_ok()
            }
            _ => false,
        }
    }

    /// Whether two samples have the same counters, and values for the same ones.
    pub fn has_same_counters(&self, other: &Self) -> bool {
        let others = |values: &Self| {
            values.others.iter().map(|(name, value)| (name.clone(), value.is_some())).collect()
        };
        let same_others = self.others.is_empty() && other.others.is_empty() || {
            let (ours, theirs): (Vec<_>, Vec<_>) = (others(self), others(other));
            ours == theirs
        };
        (self.stated, self.valued) == (other.stated, other.valued) && same_others
    }

    /// All counters that the source has: the known ones in the order of the attributes, then those of vendors.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, Option<u64>)> {
        let places = (0..u64::BITS).filter(|place| self.stated & (1 << place) != 0);
        let known = places
            .filter_map(|place| Some((Counter::KNOWN.get(place as usize)?.clone(), self.value_at(place))));
        known.chain(self.others.iter().map(|(name, value)| (Counter::Other(name.clone()), *value)))
    }

    /// The number of counters.
    pub fn len(&self) -> usize {
        self.stated.count_ones() as usize + self.others.len()
    }

    /// Whether the source has no counter.
    pub fn is_empty(&self) -> bool {
        self.stated == 0 && self.others.is_empty()
    }

    /// Frees the room that is kept for more counters.
    pub fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
        self.others.shrink_to_fit();
    }
}

impl fmt::Debug for CounterValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(counter, value)| (counter.name().to_owned(), value))).finish()
    }
}

impl FromIterator<(Counter, Option<u64>)> for CounterValues {
    fn from_iter<I: IntoIterator<Item = (Counter, Option<u64>)>>(values: I) -> Self {
        let mut all = Self::new();
        for (counter, value) in values {
            all.insert(counter, value);
        }
        all
    }
}

/// The counters of one port at one moment, or of all ports of a node together. A file may hold several samples of
/// one port, for other attributes or another moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CounterSample {
    /// The GUID by which the file names the node; ibqueryerrors names an adapter by the GUID of its port.
    pub node: Option<Guid>,
    /// The LID of the port or its switch, where the file names it by LID.
    pub lid: Option<u16>,
    /// The port; `None` for all ports together.
    pub port: Option<PortNum>,
    /// The counters.
    pub values: CounterValues,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_known_counter_has_a_place_a_width_and_reads_back_from_its_name() {
        assert!(Counter::KNOWN.len() <= 64, "the masks have 64 bits");
        for (at, counter) in Counter::KNOWN.iter().enumerate() {
            assert_eq!(counter.index(), Some(at as u32));
            assert_eq!(&Counter::from_name(counter.name()), counter);
            assert_eq!(&Counter::from_name(&counter.to_string().to_uppercase()), counter);
            assert!(counter.bits().is_some() && counter.kind().is_some());
        }
    }

    #[test]
    fn names_of_other_tools() {
        for (name, counter) in [
            ("XmtData", Counter::PortXmitData),
            ("PortXmitDataExt", Counter::PortXmitDataExtended),
            ("SymbolErrorCounterExtended", Counter::SymbolErrorCounterExt),
            (" PortUniCastRcvPkts", Counter::PortUnicastRcvPkts),
            ("PortMultiCastXmitPkts", Counter::PortMulticastXmitPkts),
            ("PortMalformedPacketErrors", Counter::PortMalformedPktErrors),
            ("PortUniCastRcvPktsExtended", Counter::PortUnicastRcvPkts),
            ("port_xmit_wait", Counter::PortXmitWait),
            ("hist[0]", Counter::Other("hist[0]".into())),
        ] {
            assert_eq!(Counter::from_name(name), counter, "{name}");
        }
        for (name, _) in ALIASES {
            assert!(!matches!(Counter::from_name(name), Counter::Other(_)), "{name}");
        }
    }

    #[test]
    fn a_narrow_counter_has_at_most_one_wide_form() {
        assert_eq!(Counter::PortXmitWait.extended(), Counter::PortXmitWaitExt);
        assert_eq!(Counter::PortRcvData.extended(), Counter::PortRcvDataExtended);
        assert_eq!(Counter::PortUnicastXmitPkts.extended(), Counter::PortUnicastXmitPkts);
        assert_eq!(Counter::PortLoopingErrors.extended(), Counter::PortLoopingErrors);
        assert_eq!(Counter::Other("x".into()).extended(), Counter::Other("x".into()));
        for counter in &Counter::KNOWN[..18] {
            assert_eq!(counter.clone().extended().bits(), Some(64), "{counter}");
        }
    }

    #[test]
    fn saturation_follows_the_width() {
        assert!(Counter::LocalLinkIntegrityErrors.is_saturated(15));
        assert!(Counter::SymbolErrorCounter.is_saturated(65_535));
        assert!(!Counter::PortXmitData.is_saturated(65_535));
        assert!(Counter::PortXmitWait.is_saturated(4_294_967_295));
        assert!(Counter::SymbolErrorCounterExt.is_saturated(65_535));
        assert!(!Counter::PortXmitDataExtended.is_saturated(65_535));
        assert!(Counter::PortXmitDataExtended.is_saturated(4_294_967_295));
        assert!(!Counter::Other("x".into()).is_saturated(255));
    }

    #[test]
    fn the_best_figure_is_that_of_the_form_that_counts() {
        let figure = |narrow: Option<u64>, wide: Option<u64>| {
            let forms = [(Counter::PortXmitWait, narrow), (Counter::PortXmitWaitExt, wide)];
            let values: CounterValues = forms.into_iter().collect();
            let figure = values.figure(&Counter::PortXmitWait, &Counter::PortXmitWaitExt);
            figure.map(|figure| (figure.value, figure.saturated))
        };
        let stuck = u64::from(u32::MAX);
        for (narrow, wide, best) in [
            (Some(stuck), Some(9_000_000_000), Some((9_000_000_000, false))),
            (Some(stuck), Some(41_864_608), Some((41_864_608, false))),
            // A wide form that never moves, that sticks too, or that is no count.
            (Some(stuck), Some(0), Some((stuck, true))),
            (Some(stuck), Some(stuck), Some((stuck, true))),
            (Some(stuck), Some(COUNT_LIMIT), Some((stuck, true))),
            (Some(17), Some(0), Some((17, false))),
            (Some(17), Some(18), Some((18, false))),
            (None, Some(18), Some((18, false))),
            (None, None, None),
        ] {
            assert_eq!(figure(narrow, wide), best, "{narrow:?} {wide:?}");
        }
    }

    #[test]
    fn a_sample_stays_small() {
        assert!(size_of::<CounterSample>() <= 96);
    }

    fn any_counter() -> impl Strategy<Value = Counter> {
        prop_oneof![
            4 => (0..Counter::KNOWN.len()).prop_map(|at| Counter::KNOWN[at].clone()),
            1 => "[a-z]{1,3}".prop_map(|name| Counter::from_name(&name)),
        ]
    }

    proptest! {
        #[test]
        fn values_behave_as_a_map(entries in proptest::collection::vec((any_counter(), any::<Option<u64>>()), 0..80)) {
            let map: BTreeMap<Counter, Option<u64>> = entries.iter().cloned().collect();
            let values: CounterValues = entries.into_iter().collect();
            prop_assert_eq!(values.len(), map.len());
            prop_assert_eq!(values.iter().collect::<Vec<_>>(), map.clone().into_iter().collect::<Vec<_>>());
            for counter in Counter::KNOWN {
                prop_assert_eq!(values.get(counter), map.get(counter).copied().flatten());
                prop_assert_eq!(values.has(counter), map.contains_key(counter));
            }
        }
    }
}
