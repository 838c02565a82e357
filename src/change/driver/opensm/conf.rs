//! The options of OpenSM that this driver depends on, as `opensm.conf` and the console's `dump_conf` write them.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The options that are kept. A configuration also contains keys, which are not stored.
const KNOWN_OPTIONS: [&str; 6] =
    ["guid", "routing_engine", "lfts_file", "use_ucast_cache", "qos", "qos_policy_file"];
/// Options that only NVIDIA's OpenSM has.
const VENDOR_OPTIONS: [&str; 4] = ["sharp_enabled", "virt_enabled", "pgrp_policy_file", "ar_sl_mask"];
/// The QoS policy file that OpenSM reads by default.
const DEFAULT_POLICY: &str = "/etc/opensm/qos-policy.conf";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpensmConf {
    values: BTreeMap<&'static str, String>,
    /// The first option found that upstream OpenSM does not have.
    pub vendors: Option<&'static str>,
}

impl OpensmConf {
    /// Reads lines of an option and its value. Unknown options are skipped, as OpenSM does.
    pub fn read(text: &str) -> Self {
        let mut config = Self::default();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let Some((key, value)) = line.split_once(char::is_whitespace) else { continue };
            let value = value.trim().trim_matches('"');
            if let Some(option) = VENDOR_OPTIONS.iter().find(|option| **option == key) {
                config.vendors.get_or_insert(option);
            }
            if let Some(kept) = KNOWN_OPTIONS.iter().find(|kept| **kept == key) {
                match value {
                    "" | "(null)" => config.values.remove(kept),
                    value => config.values.insert(kept, value.to_owned()),
                };
            }
        }
        config
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// OpenSM takes every value but this word for FALSE.
    fn is_true(&self, key: &str) -> bool {
        self.value(key) == Some("TRUE")
    }

    /// The routing engines, in the order in which OpenSM tries them.
    pub fn engines(&self) -> Vec<&str> {
        let words = self.value("routing_engine").unwrap_or_default().split([',', ' ', '\t']);
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Whether another engine takes over if the file is missing. Only `no_fallback` prevents that.
    pub fn has_fallback_engine(&self) -> bool {
        self.engines().get(1) != Some(&"no_fallback")
    }

    pub fn lfts_file(&self) -> Option<PathBuf> {
        self.value("lfts_file").map(PathBuf::from)
    }

    pub fn has_cache(&self) -> bool {
        self.is_true("use_ucast_cache")
    }

    pub fn has_qos(&self) -> bool {
        self.is_true("qos")
    }

    pub fn policy_file(&self) -> PathBuf {
        self.value("qos_policy_file").unwrap_or(DEFAULT_POLICY).into()
    }

    /// The GUID of the port that OpenSM is bound to, if the configuration has one.
    pub fn port_guid(&self) -> Option<u64> {
        let digits = self.value("guid")?;
        let value = u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()?;
        (value != 0).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_opensm_reads_them() {
        let text = "# routing_engine ftree\nguid 0x0000000000100001\nm_key 0x1234\nrouting_engine file,updn # ours\n\
                    lfts_file \"/srv/a b.lft\"\nuse_ucast_cache true\nqos TRUE\nqos_policy_file (null)\n";
        let config = OpensmConf::read(text);
        assert_eq!((config.engines(), config.has_fallback_engine()), (vec!["file", "updn"], true));
        assert_eq!(config.lfts_file(), Some("/srv/a b.lft".into()));
        assert_eq!(
            (config.has_cache(), config.has_qos(), config.port_guid()),
            (false, true, Some(0x10_0001))
        );
        assert_eq!((config.policy_file(), config.vendors), (DEFAULT_POLICY.into(), None));
        assert!(!format!("{config:?}").contains("1234"), "keys are not kept");
        let bare = OpensmConf::read("routing_engine file,no_fallback\nlfts_file (null)\nsharp_enabled 2\n");
        assert_eq!((bare.has_fallback_engine(), bare.lfts_file(), bare.port_guid()), (false, None, None));
        assert_eq!(bare.vendors, Some("sharp_enabled"));
        assert!(
            OpensmConf::read("routing_engine file").has_fallback_engine()
                && OpensmConf::read("").engines().is_empty()
        );
    }
}
