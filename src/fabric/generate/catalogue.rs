//! Every fabric that has a name, in one table: help, the list of sources and the docs read it.

use super::error::GenerateError;
use super::irregular::ANY;
use crate::{resembling, shown};

/// A fabric that can be asked for by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    /// The keys of its own; `common_keys` are understood besides.
    pub keys: &'static [Key],
    pub example: &'static str,
}

/// A key of a name, with what stands when it is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    pub name: &'static str,
    pub default: &'static str,
    pub meaning: &'static str,
}

const fn key(name: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { name, default, meaning }
}

/// A system has a form of its own; only the common keys change it.
const fn system(name: &'static str, title: &'static str, example: &'static str) -> Entry {
    Entry { name, title, keys: &[], example }
}

/// Cascade's default links per pair of groups: a bundle count that ten global ports per switch still carry.
pub(super) const BY_GROUPS: &str = "by groups";

/// Random's default links, as both tables of the dissertation have them.
pub(super) const PER_SWITCH: &str = "8 per switch";

const CATALOGUE: &[Entry] = &[
    system(
        "demo",
        "six racks under three spines, with an aggregation node per switch, a trunk at 1x and storage hosts",
        "demo",
    ),
    Entry {
        name: "kary",
        title: "k-ary n-tree: n levels of k^(n-1) switches",
        keys: &[key("k", "10", "links down and up of a switch"), key("n", "3", "levels of switches")],
        example: "kary,k=10,n=3",
    },
    Entry {
        name: "xgft",
        title: "extended generalized fat-tree, lists from the bottom up",
        keys: &[
            key("m", "12x22", "children per node of each level; the first are the hosts of a leaf"),
            key("w", "1x11", "parents per node of each level; the first is the host's, 1"),
        ],
        example: "xgft,m=12x22,w=1x11",
    },
    Entry {
        name: "mport",
        title: "m-port n-tree with the LIDs and the LMC of the multiple LID paper",
        keys: &[key("m", "8", "ports of a switch, a power of two"), key("n", "3", "levels of switches")],
        example: "mport,m=8,n=3",
    },
    Entry {
        name: "gft2",
        title: "two-level generalized fat-tree T(n+m, r)",
        keys: &[
            key("n", "8", "hosts per bottom switch"),
            key("m", "16", "top switches"),
            key("r", "24", "bottom switches"),
        ],
        example: "gft2,n=8,m=16,r=24",
    },
    Entry {
        name: "torus",
        title: "torus of any dimension; one size is a ring",
        keys: &[key("dims", "6x5x5", "switches along each dimension")],
        example: "torus,dims=4x4x3",
    },
    Entry {
        name: "mesh",
        title: "mesh of any dimension",
        keys: &[key("dims", "5x5", "switches along each dimension")],
        example: "mesh,dims=5x5",
    },
    Entry {
        name: "dragonfly",
        title: "dragonfly with complete graphs within and between groups",
        keys: &[
            key("a", "12", "switches per group"),
            key("p", "6", "hosts per switch"),
            key("h", "6", "links per switch to other groups"),
            key("g", "15", "groups"),
        ],
        example: "dragonfly,a=12,p=6,h=6,g=15",
    },
    Entry {
        name: "cascade",
        title: "Cascade groups of 16 x 6 switches, rows and columns fully connected, three links per column pair",
        keys: &[
            key("groups", "2", "groups of 96 switches"),
            key("global", BY_GROUPS, "links per pair of groups: 192, or what ten per switch allow"),
        ],
        example: "cascade,groups=2",
    },
    Entry {
        name: "kautz",
        title: "Kautz graph with (d+1) d^(k-1) switches and full-duplex links",
        keys: &[key("d", "5", "links out of a switch (as many lead in)"), key("k", "3", "letters of a name")],
        example: "kautz,d=7,k=3",
    },
    Entry {
        name: "random",
        title: "a ring in random order and random links; two switches may be linked more than once",
        keys: &[
            key("switches", "125", "switches"),
            key("links", PER_SWITCH, "links, those of the ring included"),
        ],
        example: "random,switches=125,links=1000",
    },
    Entry {
        name: "irregular",
        title: "an irregular tree as production has them, drawn from the seed: no two alike, with cables missing",
        keys: &[
            key(
                "family",
                ANY,
                "pods, half, director, racks, merged, spines, tier, rails or mixed; any: drawn from the seed",
            ),
            key("size", "small", "small: 10 to 60 switches, or large: 200 to 400"),
        ],
        example: "irregular,family=director,seed=3",
    },
    system("switch648", "648-port director: 36 leaves and 18 spines of 36 ports", "switch648"),
    system("racks648", "648-port director with 54 rack switches, joined in pairs by nine links", "racks648"),
    system("switch3456", "3,456-port director: three levels of 24-port switches", "switch3456"),
    system("juropa", "JuRoPA-like: 432 rack switches in pairs on eight 648-port directors", "juropa"),
    system(
        "ranger",
        "Ranger-like: 384 rack switches on two four-stage directors of 24-port switches",
        "ranger",
    ),
    system("deimos", "Deimos: three 288-port directors in a row, 30 links each, SDR", "deimos"),
    system(
        "tsubame2",
        "TSUBAME2: the second rail, or with more than 1,408 hosts the first",
        "tsubame2,hosts=1555",
    ),
    system("taurus", "Taurus: six islands on a 216-port director, FDR and one island QDR", "taurus"),
    system(
        "full-subnet",
        "the largest full fat-tree of one subnet: 56-port switches, three levels",
        "full-subnet",
    ),
];

const COMMON: &[Key] = &[
    key("terminals", "by fabric", "hosts per switch that has hosts"),
    key("hosts", "by fabric", "hosts in all, spread evenly"),
    key("redundancy", "by fabric", "parallel links for each link between switches"),
    key("aggregation", "no (demo: yes)", "an aggregation node on every switch, behind one more port"),
    key("faults", "0", "links between switches that have failed: a count, or a share as 1%"),
    key("switch-faults", "0", "switches that have failed: a count, or a share as 1%"),
    key("disconnect", "no", "let faults cut parts of the fabric off"),
    key("seed", "1", "of everything random"),
    key("speed", "by fabric", "SDR DDR QDR FDR10 FDR EDR HDR NDR XDR"),
];

/// Every fabric with a name, in the order of the documentation.
pub fn catalogue() -> &'static [Entry] {
    CATALOGUE
}

/// The keys that every name understands.
pub fn common_keys() -> &'static [Key] {
    COMMON
}

pub(super) fn entry(name: &str) -> Result<&'static Entry, GenerateError> {
    CATALOGUE.iter().find(|entry| entry.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names = || CATALOGUE.iter().map(|entry| entry.name);
        GenerateError::UnknownName {
            name: shown(name),
            like: resembling(name, names()),
            known: names().collect(),
        }
    })
}

impl Entry {
    pub(super) fn key(&self, name: &str) -> Result<&'static Key, GenerateError> {
        let keys = || self.keys.iter().chain(COMMON);
        keys().find(|key| key.name.eq_ignore_ascii_case(name)).ok_or_else(|| GenerateError::UnknownKey {
            fabric: self.name,
            key: shown(name),
            like: resembling(name, keys().map(|key| key.name)),
            known: keys().map(|key| key.name).collect(),
        })
    }
}
