//! `[hotspots]`, `[watch]` and `[[fabric]]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::values::{ConfigTable, fraction, interval_or_zero, parsed, parsed_list, quantity, whole_number};
use fabdeck_fabric::Guid;
use fabdeck_fabric::counters::Thresholds;
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
}

impl ConfigTable for Thresholds {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error> {
        HotspotKeys::deserialize(keys)
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
