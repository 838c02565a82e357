//! The words after `sim:`: the simulator's own keys and their values, or the socket of a simulator that is served.

use std::path::PathBuf;
use std::time::Duration;

use fabdeck_mad::access::SourceError;
use fabdeck_simulator::{
    AdaptiveProfile, LabelProfile, LineFaults, PartitionProfile, Share, TimeRatio, WireProfile,
};

/// A key of the simulator in `sim:NAME,key=value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulatorKey {
    pub name: &'static str,
    pub default: &'static str,
    pub meaning: &'static str,
}

/// The keys, in the order of the help.
pub const SIMULATOR_KEYS: &[SimulatorKey] = &[
    SimulatorKey { name: "at", default: "the first host", meaning: "the node from which the fabric is read" },
    SimulatorKey {
        name: "loss",
        default: "0%",
        meaning: "share of the MADs that get lost, in each direction",
    },
    SimulatorKey { name: "delay", default: "0ms", meaning: "MADs arrive up to so much later, by chance" },
    SimulatorKey { name: "duplicate", default: "0%", meaning: "share of the answers that come twice" },
    SimulatorKey { name: "reorder", default: "0%", meaning: "share of the MADs that others overtake" },
    SimulatorKey {
        name: "foreign",
        default: "0%",
        meaning: "share of the answers that come with an answer of another sender",
    },
    SimulatorKey {
        name: "silent",
        default: "0%",
        meaning: "share of the switches and hosts that never answer",
    },
    SimulatorKey {
        name: "protect",
        default: "0",
        meaning: "M_Key protection level, 0 to 3; the key is that of --mkey-file",
    },
    SimulatorKey {
        name: "traffic",
        default: "none; of demo its own",
        meaning: "a pattern of packets between hosts, as in simulate --pattern, and its parameters: hotspot:share=20%:spots=2",
    },
    SimulatorKey {
        name: "story",
        default: "none",
        meaning: "a file of timed events: flows, cables that go down, nodes that fall silent, new routes",
    },
    SimulatorKey {
        name: "agents",
        default: "none; of demo all",
        meaning: "hosts whose flows follow notices to another lane by themselves: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar",
        default: "none",
        meaning: "switches that say that adaptive routing is on (packets keep to the tables): all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-off",
        default: "none",
        meaning: "switches that have adaptive routing and say that it is off: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-silent",
        default: "none",
        meaning: "switches that do not answer whether they have adaptive routing: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "wire",
        default: "none",
        meaning: "nodes that answer about bit errors, modules and sensors: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "wire-optics",
        default: "none",
        meaning: "the same, with a worn lane at the first cabled port and a hot module at the second",
    },
    SimulatorKey {
        name: "wire-hot",
        default: "none",
        meaning: "the same as wire, with a chip above its limit and, in a switch, a fan that stands still",
    },
    SimulatorKey {
        name: "wire-counters",
        default: "none",
        meaning: "nodes with the counters of FEC and causes of errors alone",
    },
    SimulatorKey {
        name: "wire-keyed",
        default: "none",
        meaning: "nodes that do not answer to class 0x0A without its key",
    },
    SimulatorKey {
        name: "wire-no-modules",
        default: "none",
        meaning: "nodes that answer about all but modules",
    },
    SimulatorKey {
        name: "wire-nonsense",
        default: "none",
        meaning: "nodes whose answers about links cannot be true",
    },
    SimulatorKey {
        name: "ar-refuse",
        default: "none",
        meaning: "switches that say that adaptive routing is on and refuse its tables: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-odd",
        default: "none",
        meaning: "switches whose adaptive tables have another layout: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-recovery",
        default: "none",
        meaning: "switches with fast recovery (SHIELD) alone: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-plft",
        default: "none",
        meaning: "switches with two private tables; service levels from 8 on use the second: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-plft-only",
        default: "none",
        meaning: "switches with two private tables and no adaptive routing: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-loop",
        default: "none",
        meaning: "switches whose groups have all ports to switches, which closes loops: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "ar-lanes",
        default: "none",
        meaning: "switches that select lanes and tables by virtual lane: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "partitions",
        default: "all ports are full members of the default partition",
        meaning: "a partitions.conf of OpenSM, whose P_Keys the ports get (packets are not dropped by them)",
    },
    SimulatorKey {
        name: "pkeys-enforce",
        default: "none",
        meaning: "switches that say that they drop packets of hosts by their P_Key: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "pkeys-lack",
        default: "none",
        meaning: "the same, with the P_Key of the default partition alone",
    },
    SimulatorKey {
        name: "pkeys-off",
        default: "none",
        meaning: "switches that could drop packets by their P_Key, and drop none",
    },
    SimulatorKey {
        name: "pkeys-silent",
        default: "none",
        meaning: "nodes that do not answer about P_Keys: all, or NODE+NODE",
    },
    SimulatorKey { name: "pkeys-absent", default: "none", meaning: "nodes that refuse the P_Key table" },
    SimulatorKey { name: "pkeys-empty", default: "none", meaning: "nodes whose P_Key tables are empty" },
    SimulatorKey {
        name: "labels",
        default: "none",
        meaning: "nodes that state the labels of their ports, with two ports in each cage: all, or NODE+NODE",
    },
    SimulatorKey {
        name: "labels-refuse",
        default: "none",
        meaning: "nodes that say that they have labels, and refuse them",
    },
    SimulatorKey {
        name: "labels-silent",
        default: "none",
        meaning: "nodes that say that they have labels, and do not answer",
    },
    SimulatorKey {
        name: "labels-nonsense",
        default: "none",
        meaning: "nodes whose labels have a template that does not exist",
    },
    SimulatorKey {
        name: "labels-equal",
        default: "none",
        meaning: "nodes that state the same label for all ports",
    },
    SimulatorKey {
        name: "planes",
        default: "none",
        meaning: "planes of the fabric (XDR), 2 to 8: each a network of its own with the same LIDs; traffic and story are those of the first",
    },
    SimulatorKey {
        name: "plane-down",
        default: "none",
        meaning: "with planes: links that are down in the last plane: NODE/PORT+NODE/PORT",
    },
    SimulatorKey {
        name: "ratio",
        default: "1:1000",
        meaning: "time of the traffic to time of the fabric; counters grow as if it were 1:1",
    },
];

/// The possible numbers of planes.
const PLANES: std::ops::RangeInclusive<u8> = 2..=8;

/// The parsed keys of the simulator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SimulatorOptions {
    pub at: Option<String>,
    pub line: LineFaults,
    pub silent: Share,
    pub protect: u8,
    pub seed: u64,
    pub traffic: Option<String>,
    pub ratio: Option<TimeRatio>,
    pub story: Option<String>,
    pub agents: Option<String>,
    /// The answers about adaptive routing, and which switches give them: `all`, or names.
    pub adaptive: Vec<(&'static str, AdaptiveProfile, String)>,
    /// The answers about the health of links, and which nodes give them.
    pub wire: Vec<(&'static str, WireProfile, String)>,
    /// The file of partitions; below, the answers about P_Keys, and which nodes give them.
    pub partition_file: Option<String>,
    pub partitions: Vec<(&'static str, PartitionProfile, String)>,
    /// The answers about labels of ports, and which nodes give them.
    pub labels: Vec<(&'static str, LabelProfile, String)>,
    /// The number of planes; 0 for a fabric without planes.
    pub planes: u8,
    /// The links that are down in the last plane.
    pub plane_down: Option<String>,
    /// The words of the fabric.
    pub fabric: String,
}

/// The answers about adaptive routing, with their names.
const ADAPTIVE_NAMES: [(&str, AdaptiveProfile); 10] = [
    ("ar", AdaptiveProfile::On),
    ("ar-off", AdaptiveProfile::Off),
    ("ar-silent", AdaptiveProfile::Silent),
    ("ar-refuse", AdaptiveProfile::Withheld),
    ("ar-odd", AdaptiveProfile::OddPacking),
    ("ar-recovery", AdaptiveProfile::RecoveryOnly),
    ("ar-plft", AdaptiveProfile::TwoTables),
    ("ar-plft-only", AdaptiveProfile::TablesOnly),
    ("ar-loop", AdaptiveProfile::Loop),
    ("ar-lanes", AdaptiveProfile::ByLane),
];

impl SimulatorOptions {
    /// Takes the nodes of a profile; false if no profile has this name.
    fn read_profile(&mut self, key: &str, value: &str) -> bool {
        fn find<P: Copy>(names: &[(&'static str, P)], key: &str) -> Option<(&'static str, P)> {
            names.iter().copied().find(|(name, _)| *name == key)
        }
        let nodes = value.to_owned();
        if let Some((name, profile)) = find(&ADAPTIVE_NAMES, key) {
            self.adaptive.push((name, profile, nodes));
        } else if let Some((name, profile)) = find(&WireProfile::NAMES, key) {
            self.wire.push((name, profile, nodes));
        } else if let Some((name, profile)) = find(&PartitionProfile::NAMES, key) {
            self.partitions.push((name, profile, nodes));
        } else if let Some((name, profile)) = find(&LabelProfile::NAMES, key) {
            self.labels.push((name, profile, nodes));
        } else {
            return false;
        }
        true
    }
}

/// The path and the node of `sim:SOCKET[,at=NODE]`. A word with a slash or the suffix `.sock` is a path.
pub fn parse_socket(words: &str) -> Result<Option<(PathBuf, Option<&str>)>, SourceError> {
    let (path, more) = words.split_once(',').map_or((words, None), |(path, more)| (path, Some(more)));
    if !path.contains('/') && !path.ends_with(".sock") {
        return Ok(None);
    }
    match more.map(|more| more.strip_prefix("at=").filter(|at| !at.contains('='))) {
        None => Ok(Some((path.into(), None))),
        Some(Some(at)) => Ok(Some((path.into(), Some(at)))),
        Some(None) => Err(SourceError::Name {
            code: "FD-5036",
            what: format!("'{}' is not a key of a served simulator, which has only at=NODE", more.unwrap_or_default()),
            hint: "the other keys belong to the process that serves: --source sim:NAME,key=value simulate --serve".into(),
        }),
    }
}

pub(super) fn parse_options(words: &str) -> Result<SimulatorOptions, SourceError> {
    let mut wishes = SimulatorOptions { seed: 1, ..SimulatorOptions::default() };
    let mut own = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (place, word) in words.split(',').enumerate() {
        let pair = word.split_once('=').filter(|_| place > 0).map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = pair else {
            own.push(word);
            continue;
        };
        if SIMULATOR_KEYS.iter().any(|known| known.name == key) && !seen.insert(key) {
            return Err(bad_key_value(key, value, "it is given twice"));
        }
        let share =
            || Share::parse(value).ok_or_else(|| bad_key_value(key, value, "a share from 0% to 100% as 10%"));
        match key {
            "at" => wishes.at = Some(value.to_owned()),
            "loss" => wishes.line.loss = share()?,
            "delay" => {
                wishes.line.delay =
                    parse_millis(value).ok_or_else(|| bad_key_value(key, value, "a time as 5ms or 200us"))?
            }
            "duplicate" => wishes.line.duplicate = share()?,
            "reorder" => wishes.line.reorder = share()?,
            "foreign" => wishes.line.foreign = share()?,
            "silent" => wishes.silent = share()?,
            "protect" => {
                let level = value.parse().ok().filter(|level| *level <= 3);
                wishes.protect = level.ok_or_else(|| bad_key_value(key, value, "a level from 0 to 3"))?;
            }
            "traffic" => wishes.traffic = Some(value.to_owned()),
            "story" => wishes.story = Some(value.to_owned()),
            "agents" => wishes.agents = Some(value.to_owned()),
            "partitions" => wishes.partition_file = Some(value.to_owned()),
            "planes" => {
                let planes = value.parse().ok().filter(|planes| PLANES.contains(planes));
                wishes.planes = planes.ok_or_else(|| bad_key_value(key, value, "a number from 2 to 8"))?;
            }
            "plane-down" => wishes.plane_down = Some(value.to_owned()),
            "ratio" => {
                let ratio = TimeRatio::parse(value)
                    .ok_or_else(|| bad_key_value(key, value, "a ratio from 1:1 to 1:1000000"))?;
                wishes.ratio = Some(ratio);
            }
            "seed" => {
                // The simulator uses the fabric's seed. The fabric reports an invalid seed.
                wishes.seed = value.parse().unwrap_or(1);
                own.push(word);
            }
            _ if wishes.read_profile(key, value) => {}
            _ => own.push(word),
        }
    }
    wishes.fabric = own.join(",");
    check_planes(&wishes)?;
    Ok(wishes)
}

/// Planes come with labels of their own, and a link can only be down in a plane if there are planes.
fn check_planes(wishes: &SimulatorOptions) -> Result<(), SourceError> {
    match (&wishes.plane_down, wishes.planes, wishes.labels.first()) {
        (Some(names), 0, _) => Err(bad_key_value("plane-down", names, "it needs planes=N")),
        (_, 1.., Some((key, _, nodes))) => {
            Err(bad_key_value(key, nodes, "devices of planes state the labels of planes"))
        }
        _ => Ok(()),
    }
}

fn parse_millis(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let number: u64 = number.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" if number <= 3600 => Some(Duration::from_secs(number)),
        _ => None,
    }
}

pub(super) fn bad_key_value(key: &str, value: &str, allowed: &str) -> SourceError {
    let value: String = value.chars().take(40).collect();
    SourceError::Name {
        code: "FD-5031",
        what: format!("{key}={value} is not possible: {allowed}"),
        hint: "'fabdeck sources' lists the keys".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_distinct() {
        for (words, path, at) in [
            ("/run/lab.sock", "/run/lab.sock", None),
            ("./lab,at=node01", "./lab", Some("node01")),
            ("lab.sock,at=node01/2", "lab.sock", Some("node01/2")),
            ("a/b", "a/b", None),
        ] {
            assert_eq!(parse_socket(words), Ok(Some((path.into(), at))), "{words}");
        }
        for words in ["demo", "demo,at=node01/1", "kary,k=4,n=2,at=node01", "torus,dims=4x4,loss=1%"] {
            assert_eq!(parse_socket(words), Ok(None), "{words}");
        }
        assert!(
            parse_socket("/run/lab.sock,loss=5%").is_err()
                && parse_socket("/run/lab.sock,at=x,loss=5%").is_err()
        );
    }

    #[test]
    fn simulator_keys_are_removed() {
        let wishes = parse_options("torus,dims=4x4,loss=1.5%,seed=9,delay=3ms,faults=2,at=x").unwrap();
        assert_eq!(wishes.fabric, "torus,dims=4x4,seed=9,faults=2");
        assert_eq!(
            (wishes.seed, wishes.at.as_deref(), wishes.line.delay),
            (9, Some("x"), Duration::from_millis(3))
        );
        assert_eq!(Some(wishes.line.loss), Share::parse("1.5%"));
    }
}
