//! Limits of bit error rates and temperatures, with their sources.

use crate::LinkSpeed;
use crate::observe::FecMode;

/// Error rates from which a link is bad; from half of them on it is to be watched.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BitErrorLimits {
    /// Before FEC, on optical and active cables.
    pub raw: f64,
    /// Before FEC, on copper.
    pub raw_copper: f64,
    /// After FEC.
    pub effective: f64,
    /// After FEC and retransmission.
    pub symbol: f64,
    /// Where the limits come from.
    pub source: &'static str,
}

/// The limits of the verdict on links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WireThresholds {
    /// Temperature of a module without a limit of its own, from which it is to be watched, in °C.
    pub module_watch_c: f64,
    /// Temperature from which it is bad.
    pub module_bad_c: f64,
    /// Temperature above which a sensor of a device without a limit of its own is too hot; without it, it is not judged.
    pub sensor_bad_c: Option<f64>,
    /// Limits of error rates before FEC by generation: below HDR, HDR, NDR and later. They replace the usual ones.
    pub raw: [Option<f64>; 3],
    /// The same after FEC.
    pub effective: [Option<f64>; 3],
    /// The same after retransmission.
    pub symbol: [Option<f64>; 3],
}

impl Default for WireThresholds {
    /// 70 °C is the limit of UFM's PDR plugin; 80 °C is the alarm of other tools.
    fn default() -> Self {
        Self {
            module_watch_c: 70.0,
            module_bad_c: 80.0,
            sensor_bad_c: None,
            raw: [None; 3],
            effective: [None; 3],
            symbol: [None; 3],
        }
    }
}

/// The table of UFM's PDR plugin (`Field_BER_Thresholds.csv`, V06).
const PDR: &str = "PDR thresholds V06";
const PDR_NDR: &str = "PDR thresholds V06 for NDR, as none are published for XDR";
const PDR_EDR: &str = "PDR thresholds V06 for EDR, as none are published for slower links";
const CONFIGURED: &str = "configuration";

impl WireThresholds {
    /// The limits for a speed and the FEC mode of the link, where it is known.
    pub fn limits(&self, speed: LinkSpeed, mode: Option<FecMode>) -> BitErrorLimits {
        let resent = mode.is_some_and(FecMode::has_retransmission);
        let usual = |raw: f64, raw_copper: f64, effective: f64, symbol: f64, source| BitErrorLimits {
            raw,
            raw_copper,
            effective,
            symbol,
            source,
        };
        let (place, mut limits) = match speed {
            LinkSpeed::Ndr | LinkSpeed::Xdr => {
                let source = if speed == LinkSpeed::Xdr { PDR_NDR } else { PDR };
                let with = usual(1e-5, 1e-6, 1e-11, 1e-14, source);
                (2, if resent { with } else { usual(1e-5, 1e-7, 1e-13, 1e-13, source) })
            }
            // The table has stricter raw limits for some chips; which chip a port has is not known here.
            LinkSpeed::Hdr => (1, usual(1e-5, 1e-5, 1e-13, if resent { 1e-14 } else { 1e-13 }, PDR)),
            _ => {
                let raw = if mode.is_some_and(FecMode::is_reed_solomon) { 1e-9 } else { 1e-12 };
                let source = if speed == LinkSpeed::Edr { PDR } else { PDR_EDR };
                (0, usual(raw, raw, 1e-13, 1e-13, source))
            }
        };
        if let Some(own) = self.raw[place] {
            (limits.raw, limits.raw_copper, limits.source) = (own, own, CONFIGURED);
        }
        if let Some(own) = self.effective[place] {
            (limits.effective, limits.source) = (own, CONFIGURED);
        }
        if let Some(own) = self.symbol[place] {
            (limits.symbol, limits.source) = (own, CONFIGURED);
        }
        limits
    }
}
