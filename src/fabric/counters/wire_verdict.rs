//! One verdict on the health of a link's end, from bit error rates and the module, with the evidence for it.

use std::fmt::Write as _;
use std::time::Duration;

use super::wire_thresholds::{BitErrorLimits, WireThresholds};
use crate::observe::{BitErrorCounts, BitErrorRate, CableKind, FecMode, ModuleReading, PortWire};
use crate::{LinkSpeed, LinkWidth};

/// The lanes of a module with monitors.
const MAX_LANES: usize = 8;

/// How well a link is, the best first. Without evidence nothing is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum WireVerdict {
    /// Nothing that was read allows a verdict.
    #[default]
    NotKnown,
    /// All that was read is within its limits.
    Healthy,
    /// A value is above half of its limit.
    Watch,
    /// A value is beyond its limit.
    Bad,
}

impl WireVerdict {
    /// All verdicts.
    pub const ALL: &'static [Self] = &[Self::NotKnown, Self::Healthy, Self::Watch, Self::Bad];

    /// The name on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotKnown => "not known",
            Self::Healthy => "healthy",
            Self::Watch => "watch",
            Self::Bad => "bad",
        }
    }
}

/// A value that was held against a limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireEvidence {
    /// What this value alone says.
    pub verdict: WireVerdict,
    /// The value, its limit and where the limit comes from.
    pub text: String,
}

/// A verdict, with its evidence, the worst first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WireJudgement {
    /// The worst of the evidence.
    pub verdict: WireVerdict,
    /// Every value that was held against a limit.
    pub evidence: Vec<WireEvidence>,
}

/// Errors among bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ErrorShare {
    /// Errors.
    pub errors: u64,
    /// Bits in which they were counted.
    pub bits: f64,
    /// Whether there may have been more errors than were counted.
    pub at_least: bool,
    /// The rate, where the source states it without the counts.
    pub stated: Option<BitErrorRate>,
}

impl ErrorShare {
    /// Errors for each bit.
    pub fn rate(self) -> f64 {
        match self.stated {
            Some(rate) => rate.value().unwrap_or(0.0),
            None if self.bits > 0.0 => self.errors as f64 / self.bits,
            None => 0.0,
        }
    }
}

/// The error rates of a port and the time that they are over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PortErrorRates {
    /// Before FEC.
    pub raw: Option<ErrorShare>,
    /// After FEC.
    pub effective: Option<ErrorShare>,
    /// After FEC and retransmission.
    pub symbol: Option<ErrorShare>,
    /// The time; `None` where the source does not state it.
    pub over: Option<Duration>,
    /// Whether the time is that since the device's counters were cleared, and not between two readings.
    pub since_cleared: bool,
}

impl PortErrorRates {
    /// The rates of a port: between two readings of its bit errors where there are two, else since they were cleared.
    /// A device without them may have FEC counters, which give lower bounds.
    pub fn of_port(said: &PortWire, speed: Option<LinkSpeed>, width: Option<LinkWidth>) -> Option<Self> {
        if let Some(now) = said.bit_errors.known().filter(|now| now.bits == 0) {
            if let Some(rates) = Self::stated(now, speed, width) {
                return Some(rates);
            }
        } else if let Some(now) = said.bit_errors.known() {
            let before = said.earlier_bits.as_ref().filter(|before| now.continues(before));
            let past = before.cloned().unwrap_or_default();
            let bits = now.bits.saturating_sub(past.bits) as f64;
            // A device that states no rate and counts nothing does not measure: its zero is no share.
            let share = |rate: Option<BitErrorRate>, now: u64, past: u64| {
                let errors = now.saturating_sub(past);
                (rate.is_some() || now > 0).then_some(ErrorShare {
                    errors,
                    bits,
                    at_least: false,
                    stated: None,
                })
            };
            return Some(Self {
                raw: share(now.raw, now.lane_sum(), past.lane_sum()),
                effective: share(now.effective, now.effective_errors, past.effective_errors),
                symbol: share(now.symbol, now.symbol_errors, past.symbol_errors),
                over: Some(Duration::from_millis(now.since_ms.saturating_sub(past.since_ms))),
                since_cleared: before.is_none(),
            })
            .filter(|rates| {
                bits > 0.0 && [rates.raw, rates.effective, rates.symbol].iter().any(Option::is_some)
            });
        }
        let (now, (began, before)) = (said.fec_counts.known()?, said.earlier_fec?);
        let over = said.fec_counts_at?.checked_sub(began).filter(|over| !over.is_zero())?;
        let bits = over.as_secs_f64() * f64::from(width?.lanes()) * f64::from(speed?.mbps()) * 1e6;
        let share = |now: u32, before: u32| {
            let errors = now.checked_sub(before)?;
            Some(ErrorShare { errors: errors.into(), bits, at_least: true, stated: None })
        };
        let corrected = match (now.corrected_symbols, before.corrected_symbols) {
            (Some(now), Some(before)) => share(now, before),
            _ => share(now.corrected_blocks, before.corrected_blocks),
        };
        let uncorrected = share(now.uncorrected_blocks, before.uncorrected_blocks);
        Some(Self {
            raw: corrected,
            effective: uncorrected,
            symbol: None,
            over: Some(over),
            since_cleared: false,
        })
    }

    /// The rates of a source that states them without the counts, as files do. The bits follow from the time since the
    /// counters were cleared, where the source states that: a link always sends.
    fn stated(now: &BitErrorCounts, speed: Option<LinkSpeed>, width: Option<LinkWidth>) -> Option<Self> {
        let over = Some(Duration::from_millis(now.since_ms)).filter(|over| !over.is_zero());
        let link =
            speed.zip(width).map(|(speed, width)| f64::from(speed.mbps()) * 1e6 * f64::from(width.lanes()));
        let bits = over.zip(link).map_or(0.0, |(over, link)| over.as_secs_f64() * link);
        let share = |rate: Option<BitErrorRate>, errors: u64| {
            rate.map(|rate| ErrorShare { errors, bits, at_least: false, stated: Some(rate) })
        };
        let rates = Self {
            raw: share(now.raw, now.lane_sum()),
            effective: share(now.effective, now.effective_errors),
            symbol: share(now.symbol, now.symbol_errors),
            over,
            since_cleared: true,
        };
        [rates.raw, rates.effective, rates.symbol].iter().any(Option::is_some).then_some(rates)
    }

    /// The time in words.
    pub fn time_text(&self) -> String {
        match (self.over, self.since_cleared) {
            (None, _) => "a time that the source does not state".to_owned(),
            (Some(over), false) => duration_text(over),
            (Some(over), true) => format!("{} since the counters were cleared", duration_text(over)),
        }
    }
}

fn duration_text(over: Duration) -> String {
    match over.as_secs() {
        0..120 => format!("{} s", over.as_secs()),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A rate as `3e-9`, `none seen`, or `at least 3e-9`.
pub fn share_text(share: ErrorShare) -> String {
    if let Some(rate) = share.stated {
        return rate.to_string();
    }
    let rate = BitErrorRate::of_counts(share.errors, share.bits as u64);
    let text = rate.map_or_else(|| "not known".to_owned(), |rate| rate.to_string());
    if share.at_least && share.errors > 0 { format!("at least {text}") } else { text }
}

/// Judges one end of a link.
pub fn judge_port(
    said: &PortWire,
    (speed, width): (Option<LinkSpeed>, Option<LinkWidth>),
    thresholds: &WireThresholds,
) -> WireJudgement {
    let mut evidence = Vec::new();
    let mode = said.fec.known().copied();
    let module = said.module.known();
    if let (Some(rates), Some(speed)) = (PortErrorRates::of_port(said, speed, width), speed) {
        let limits = thresholds.limits(speed, mode);
        judge_rates(&mut evidence, &rates, &limits, module, (speed, mode));
    }
    if let Some(module) = module {
        judge_module(&mut evidence, module, width, thresholds);
    }
    evidence.sort_by_key(|one| std::cmp::Reverse(one.verdict));
    let verdict = evidence.first().map_or(WireVerdict::NotKnown, |worst| worst.verdict);
    WireJudgement { verdict, evidence }
}

fn judge_rates(
    evidence: &mut Vec<WireEvidence>,
    rates: &PortErrorRates,
    limits: &BitErrorLimits,
    module: Option<&ModuleReading>,
    (speed, mode): (LinkSpeed, Option<FecMode>),
) {
    let copper = module.is_some_and(|module| module.kind == Some(CableKind::Copper));
    let raw = if copper { limits.raw_copper } else { limits.raw };
    for (name, share, limit) in [
        ("raw", rates.raw, raw),
        ("effective", rates.effective, limits.effective),
        ("symbol", rates.symbol, limits.symbol),
    ] {
        let Some((share, verdict)) = share.and_then(|share| Some((share, share_verdict(share, limit)?)))
        else {
            continue;
        };
        let mut text = format!("{name} BER {} over {}", share_text(share), rates.time_text());
        let mode = mode.map_or_else(String::new, |mode| format!(", FEC {}", mode.word()));
        let _ = write!(text, " (limit {limit:e} for {speed}{mode}: {})", limits.source);
        evidence.push(WireEvidence { verdict, text });
    }
}

/// The verdict of a rate; `None` where too few bits passed to tell, or a lower bound stays below the limit.
fn share_verdict(share: ErrorShare, limit: f64) -> Option<WireVerdict> {
    /// Without an error in n bits the rate is below 3/n, at 95 %.
    const NO_ERROR_BOUND: f64 = 3.0;
    let rate = share.rate();
    // A stated rate is the device's own; how many errors it is made of is not known.
    let is_rate = share.errors > 1 || share.stated.is_some();
    if rate >= limit && is_rate {
        Some(WireVerdict::Bad)
    } else if rate >= limit / 2.0 && is_rate {
        Some(WireVerdict::Watch)
    } else if rate > 0.0 && share.stated.is_some() {
        Some(WireVerdict::Healthy)
    } else if share.bits <= 0.0 || share.at_least || NO_ERROR_BOUND / share.bits >= limit {
        None
    } else {
        Some(WireVerdict::Healthy)
    }
}

fn judge_module(
    evidence: &mut Vec<WireEvidence>,
    module: &ModuleReading,
    width: Option<LinkWidth>,
    thresholds: &WireThresholds,
) {
    let mut add = |verdict, text: String| evidence.push(WireEvidence { verdict, text });
    if module.faulty {
        add(WireVerdict::Bad, "the module reports a fault".to_owned());
    }
    match (module.celsius(), module.temperature_limits) {
        (Some(now), Some(own)) => {
            let high = f64::from(own.high) / 256.0;
            let verdict = if now > high { WireVerdict::Bad } else { WireVerdict::Healthy };
            add(verdict, format!("module at {now:.1} °C (its own limit is {high:.1} °C)"));
        }
        (Some(now), None) => {
            let (watch, bad) = (thresholds.module_watch_c, thresholds.module_bad_c);
            let verdict = match now {
                now if now >= bad => WireVerdict::Bad,
                now if now >= watch => WireVerdict::Watch,
                _ => WireVerdict::Healthy,
            };
            add(verdict, format!("module at {now:.1} °C (limits {watch} and {bad} °C: configuration)"));
        }
        (None, _) => {}
    }
    for (name, lanes, limits) in
        [("rx", &module.rx_power, module.rx_limits), ("tx", &module.tx_power, module.tx_limits)]
    {
        let Some(own) = limits.filter(|_| !lanes.is_empty()) else { continue };
        for lane in 0..lanes_in_use(module, width).max(lanes.len()) {
            let power = lanes.get(lane).copied().unwrap_or(0);
            if power < own.low || power > own.high {
                let lane = lane + 1;
                let (low, high) = (own.low, own.high);
                add(
                    WireVerdict::Bad,
                    format!(
                        "{name} power of lane {lane} {power} uW (the module's own limits are {low} to {high} uW)"
                    ),
                );
            }
        }
    }
}

/// The lanes that have to have light: those of the link, and those whose laser is on.
fn lanes_in_use(module: &ModuleReading, width: Option<LinkWidth>) -> usize {
    let lit = module.bias.iter().rposition(|bias| *bias > 0).map_or(0, |last| last + 1);
    width.map_or(0, |width| width.lanes() as usize).min(MAX_LANES).max(lit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{AlarmLimits, BitErrorCounts, DeviceAnswer, FecCounts};

    const NDR: (Option<LinkSpeed>, Option<LinkWidth>) = (Some(LinkSpeed::Ndr), Some(LinkWidth::X4));

    fn judged(said: &PortWire) -> WireJudgement {
        judge_port(said, NDR, &WireThresholds::default())
    }

    fn counts(since_ms: u64, errors: u64, after: u64) -> BitErrorCounts {
        BitErrorCounts {
            since_ms,
            bits: since_ms * 425_000_000,
            lane_errors: vec![errors],
            effective_errors: after,
            symbol_errors: after,
            raw: Some(BitErrorRate::NoneSeen),
            effective: Some(BitErrorRate::NoneSeen),
            symbol: Some(BitErrorRate::NoneSeen),
            ..BitErrorCounts::default()
        }
    }

    fn said(now: BitErrorCounts, before: Option<BitErrorCounts>) -> PortWire {
        PortWire {
            bit_errors: DeviceAnswer::Known(now),
            earlier_bits: before,
            fec: DeviceAnswer::Known(FecMode::Rs544Plr),
            ..PortWire::default()
        }
    }

    #[test]
    fn nothing_read_is_not_known_and_never_healthy() {
        for missing in
            [DeviceAnswer::NotAsked, DeviceAnswer::Absent, DeviceAnswer::Silent, DeviceAnswer::Implausible]
        {
            let silent = PortWire { bit_errors: missing, ..PortWire::default() };
            assert_eq!(
                judged(&silent),
                WireJudgement { verdict: WireVerdict::NotKnown, evidence: Vec::new() }
            );
        }
        // Two seconds without an error say nothing about 1e-14.
        let short = judged(&said(counts(2_000, 0, 0), None));
        assert_eq!(short.verdict, WireVerdict::Healthy, "raw and effective rates are known");
        assert!(short.evidence.iter().all(|one| !one.text.starts_with("symbol")), "{short:?}");
    }

    #[test]
    fn a_stated_rate_is_judged_without_counts_and_none_seen_needs_a_time() {
        let stated = |raw: Option<f64>, symbol: Option<f64>, since_ms| {
            let rate = |value: Option<f64>| value.and_then(BitErrorRate::from_number);
            said(
                BitErrorCounts { raw: rate(raw), symbol: rate(symbol), since_ms, ..Default::default() },
                None,
            )
        };
        for (raw, symbol, since_ms, verdict) in [
            (Some(3e-9), None, 0, WireVerdict::Healthy),
            (Some(6e-6), None, 0, WireVerdict::Watch),
            (Some(1e-5), None, 0, WireVerdict::Bad),
            (Some(3e-9), Some(1e-13), 0, WireVerdict::Bad),
            // No error within an unknown time says nothing; in an hour of NDR it does.
            (None, Some(1.5e-254), 0, WireVerdict::NotKnown),
            (None, Some(1.5e-254), 3_600_000, WireVerdict::Healthy),
            (None, None, 3_600_000, WireVerdict::NotKnown),
        ] {
            let judged = judged(&stated(raw, symbol, since_ms));
            assert_eq!(judged.verdict, verdict, "{raw:?} {symbol:?} {since_ms}");
        }
        let text = &judged(&stated(Some(1e-5), None, 0)).evidence[0].text;
        assert!(text.starts_with("raw BER 1e-5 over a time that the source does not state (limit"), "{text}");
        let text = &judged(&stated(Some(1e-5), None, 120_000)).evidence[0].text;
        assert!(text.starts_with("raw BER 1e-5 over 2 min since the counters were cleared (limit"), "{text}");
    }

    #[test]
    fn a_device_that_does_not_measure_is_not_healthy() {
        let silent = BitErrorCounts { raw: None, effective: None, symbol: None, ..counts(86_400_000, 0, 0) };
        assert_eq!(judged(&said(silent.clone(), None)), WireJudgement::default());
        assert_eq!(PortErrorRates::of_port(&said(silent.clone(), None), NDR.0, NDR.1), None);
        // One count that runs is one share: the others are still not known.
        let counting = BitErrorCounts { lane_errors: vec![0, 1 << 20], ..silent };
        let rates = PortErrorRates::of_port(&said(counting, None), NDR.0, NDR.1).unwrap();
        assert!(rates.raw.is_some() && rates.effective.is_none() && rates.symbol.is_none());
    }

    #[test]
    fn a_window_counts_more_than_the_time_since_the_counters_were_cleared() {
        // A day of errors long ago: 5 minutes without any.
        let before = counts(86_400_000, 1 << 50, 1 << 40);
        let now = counts(86_700_000, 1 << 50, 1 << 40);
        let old = judged(&said(now.clone(), None));
        assert_eq!(old.verdict, WireVerdict::Bad);
        assert!(old.evidence[0].text.contains("since the counters were cleared"), "{old:?}");
        let fresh = judged(&said(now.clone(), Some(before.clone())));
        assert_eq!(fresh.verdict, WireVerdict::Healthy, "{fresh:?}");
        assert!(
            fresh.evidence[0].text.contains("over 5 min (limit 1e-5 for NDR, FEC RS(544)+PLR"),
            "{fresh:?}"
        );
        // Counters that were cleared between the readings give no window.
        let cleared = judged(&said(before, Some(now)));
        assert_eq!(cleared.verdict, WireVerdict::Bad);
    }

    #[test]
    fn limits_are_those_of_speed_and_cable() {
        // 4.25e14 bits in 1000 s: the limits of 1e-5 and, for copper, 1e-6.
        for (errors, optical, copper) in [
            (10_000_000, WireVerdict::Healthy, WireVerdict::Healthy),
            (240_000_000, WireVerdict::Healthy, WireVerdict::Watch),
            (430_000_000, WireVerdict::Healthy, WireVerdict::Bad),
            (2_200_000_000, WireVerdict::Watch, WireVerdict::Bad),
            (4_300_000_000, WireVerdict::Bad, WireVerdict::Bad),
        ] {
            let mut end = said(counts(1_000_000, errors, 0), None);
            assert_eq!(judged(&end).verdict, optical, "{errors}");
            let module = ModuleReading { kind: Some(CableKind::Copper), ..ModuleReading::default() };
            end.module = DeviceAnswer::Known(module);
            assert_eq!(judged(&end).verdict, copper, "{errors}");
        }
    }

    #[test]
    fn fec_counters_give_lower_bounds_that_prove_bad_links_only() {
        let mut end = PortWire {
            fec_counts: DeviceAnswer::Known(FecCounts { uncorrected_blocks: 5, ..FecCounts::default() }),
            fec_counts_at: Some(Duration::from_secs(400)),
            earlier_fec: Some((Duration::from_secs(100), FecCounts::default())),
            bit_errors: DeviceAnswer::Absent,
            ..PortWire::default()
        };
        assert_eq!(judged(&end).verdict, WireVerdict::NotKnown, "5 blocks in 1.3e14 bits are below 1e-13");
        let many = FecCounts { uncorrected_blocks: 500, ..FecCounts::default() };
        end.fec_counts = DeviceAnswer::Known(many);
        let bad = judged(&end);
        assert_eq!(bad.verdict, WireVerdict::Bad);
        assert!(bad.evidence[0].text.starts_with("effective BER at least 4e-12 over 5 min"), "{bad:?}");
        end.earlier_fec = None;
        assert_eq!(judged(&end).verdict, WireVerdict::NotKnown, "one reading is no rate");
    }

    #[test]
    fn a_module_is_held_against_its_own_limits_first() {
        let module = |celsius: i16, limits| PortWire {
            module: DeviceAnswer::Known(ModuleReading {
                temperature: Some(celsius * 256),
                temperature_limits: limits,
                ..ModuleReading::default()
            }),
            ..PortWire::default()
        };
        let own = Some(AlarmLimits { high: 85 * 256, low: 0 });
        for (celsius, with_own, without) in [
            (60, WireVerdict::Healthy, WireVerdict::Healthy),
            (72, WireVerdict::Healthy, WireVerdict::Watch),
            (82, WireVerdict::Healthy, WireVerdict::Bad),
            (86, WireVerdict::Bad, WireVerdict::Bad),
        ] {
            assert_eq!(judged(&module(celsius, own)).verdict, with_own, "{celsius}");
            assert_eq!(judged(&module(celsius, None)).verdict, without, "{celsius}");
        }
        let dark = PortWire {
            module: DeviceAnswer::Known(ModuleReading {
                rx_power: vec![900, 12, 900, 900],
                rx_limits: Some(AlarmLimits { high: 3500, low: 200 }),
                ..ModuleReading::default()
            }),
            ..PortWire::default()
        };
        let judged = judged(&dark);
        assert_eq!(judged.verdict, WireVerdict::Bad);
        assert!(judged.evidence[0].text.contains("rx power of lane 2 12 uW"), "{judged:?}");
    }

    #[test]
    fn a_lane_without_any_light_is_bad_where_the_link_or_the_laser_uses_it() {
        let module = |rx: &[u16], bias: &[u32]| PortWire {
            module: DeviceAnswer::Known(ModuleReading {
                rx_power: rx.to_vec(),
                bias: bias.to_vec(),
                rx_limits: Some(AlarmLimits { high: 3500, low: 200 }),
                ..ModuleReading::default()
            }),
            ..PortWire::default()
        };
        for (rx, bias, width, verdict) in [
            (&[900, 900, 900][..], &[][..], LinkWidth::X4, WireVerdict::Bad),
            (&[900, 900, 900, 0], &[3500; 4], LinkWidth::X1, WireVerdict::Bad),
            (&[900, 900], &[3500; 2], LinkWidth::X2, WireVerdict::NotKnown),
            (&[], &[3500; 4], LinkWidth::X4, WireVerdict::NotKnown),
        ] {
            let end = judge_port(&module(rx, bias), (NDR.0, Some(width)), &WireThresholds::default());
            assert_eq!(end.verdict, verdict, "{rx:?} {width:?}");
        }
    }
}
