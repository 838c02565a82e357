//! `[hotspots]`, `[wire]`, `[watch]` and `[[fabric]]`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::values::{ConfigTable, fraction, interval_or_zero, parsed, parsed_list, quantity, whole_number};
use fabdeck_fabric::Guid;
use fabdeck_fabric::counters::{Thresholds, WireThresholds};
use fabdeck_mad::access::FabricIdentity;

#[derive(Deserialize)]
#[serde(remote = "Thresholds", default = "Thresholds::default")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct HotspotKeys {
    #[serde(deserialize_with = "quantity")]
    congestion: f64,
    #[serde(deserialize_with = "fraction")]
    fair_share: f64,
    #[serde(deserialize_with = "quantity")]
    errors_per_hour: f64,
    #[serde(deserialize_with = "quantity")]
    flaps_per_hour: f64,
    #[serde(deserialize_with = "fraction")]
    brief_wait: f64,
}

impl ConfigTable for Thresholds {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        HotspotKeys::deserialize(keys)
    }
}

#[derive(Deserialize)]
#[serde(remote = "WireThresholds", default = "WireThresholds::default")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WireKeys {
    #[serde(deserialize_with = "quantity")]
    module_watch_c: f64,
    #[serde(deserialize_with = "quantity")]
    module_bad_c: f64,
    #[serde(deserialize_with = "known_quantity")]
    sensor_bad_c: Option<f64>,
    #[serde(deserialize_with = "rates")]
    raw: [Option<f64>; 3],
    #[serde(deserialize_with = "rates")]
    effective: [Option<f64>; 3],
    #[serde(deserialize_with = "rates")]
    symbol: [Option<f64>; 3],
}

fn known_quantity<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    quantity(value).map(Some)
}

/// Error rates by generation: up to EDR, HDR, NDR and later.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a rate for edr, hdr or ndr, such as { ndr = 1e-9 }")]
struct RateKeys {
    edr: Option<f64>,
    hdr: Option<f64>,
    ndr: Option<f64>,
}

fn rates<'de, D: Deserializer<'de>>(keys: D) -> Result<[Option<f64>; 3], D::Error> {
    let RateKeys { edr, hdr, ndr } = RateKeys::deserialize(keys)?;
    let all = [edr, hdr, ndr];
    match all.into_iter().flatten().find(|rate| !(*rate > 0.0 && *rate < 1.0)) {
        Some(rate) => Err(D::Error::custom(format!("{rate} is no error rate between 0 and 1"))),
        None => Ok(all),
    }
}

impl ConfigTable for WireThresholds {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        WireKeys::deserialize(keys)
    }
}

/// `[watch]`; a key that is left out has its default.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchConfig {
    /// Interval of the console's sweeps; zero disables the watch.
    #[serde(deserialize_with = "interval_or_zero")]
    pub interval: Option<Duration>,
    /// Period within which sweeps read every table again; zero means never.
    #[serde(deserialize_with = "interval_or_zero")]
    pub drift_period: Option<Duration>,
    /// Memory for the recording of a watch, in MiB.
    #[serde(deserialize_with = "whole_number::<0, 4096, _, _>")]
    pub past_mib: Option<u64>,
    /// Address that the command `watch` posts events to.
    pub webhook: Option<String>,
    /// Certificates of the authorities that its certificate is checked against.
    pub webhook_ca: Option<PathBuf>,
}

impl ConfigTable for WatchConfig {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        Self::deserialize(keys)
    }
}

/// An entry as `sources --identity` prints it.
#[derive(Deserialize)]
#[serde(remote = "FabricIdentity", default = "FabricIdentity::default")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FabricKeys {
    name: String,
    #[serde(deserialize_with = "parsed_list")]
    switches: Vec<Guid>,
    #[serde(deserialize_with = "subnet_prefix")]
    subnet_prefix: Option<u64>,
    #[serde(rename = "subnet-managers", deserialize_with = "parsed_list")]
    managers: Vec<Guid>,
}

fn subnet_prefix<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    parsed(value).map(|Guid(prefix)| Some(prefix))
}

impl ConfigTable for FabricIdentity {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        let identity = FabricKeys::deserialize(keys)?;
        match identity.name.is_empty() || identity.switches.is_empty() {
            true => Err(Error::custom("a name and the GUIDs of the switches are required")),
            false => Ok(identity),
        }
    }
}
