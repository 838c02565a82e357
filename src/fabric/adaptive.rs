//! Adaptive routing of a switch: what it states about it, and whether its tables are known.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AdaptiveTables, EntryState, Lid, ServiceLevel};

/// The settings of adaptive routing that a switch states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AdaptiveSettings {
    /// Whether the switch does not have adaptive routing. It may have private tables all the same, or select lanes by
    /// virtual lane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Whether adaptive routing is on.
    pub adaptive: bool,
    /// The service levels with adaptive routing, as bits. All, where the switch does not limit it.
    pub levels: u16,
    /// Whether fast recovery (SHIELD) is on: the group serves where the static port is down.
    pub fast_recovery: bool,
    /// Whether hash forwarding (HBF) is on.
    pub hash_forwarding: bool,
    /// Whether weighted hash forwarding is on.
    pub weighted_hash: bool,
    /// The service levels with hash forwarding, as bits.
    pub hash_levels: u16,
    /// Whether notifications of remote failures (pFRN) are on. They remove or prefer ports of a group.
    pub failure_notices: bool,
    /// The number of active sub-groups of a group.
    pub sub_groups: u8,
    /// The highest group.
    pub group_top: u16,
    /// The number of private forwarding tables (PLFTs) in force: 0 where packets use the linear table, or the only
    /// adaptive one. `None`: the switch did not answer.
    pub private_tables: Option<u8>,
    /// The field `sl2vl_act`. 0: SL2VL tables and private tables are selected by service level. `None`: the switch
    /// did not answer.
    pub lane_input: Option<u8>,
}

impl AdaptiveSettings {
    /// Whether packets may leave by other ports than the linear table states.
    pub fn has_choice(&self) -> bool {
        self.adaptive || self.fast_recovery || self.hash_forwarding || self.weighted_hash
    }

    /// Whether the linear table does not determine where packets go: they have a choice, or another table.
    pub fn needs_tables(&self) -> bool {
        self.has_choice() || self.private_tables.is_some_and(|tables| tables > 1)
    }

    /// Whether the switch says that something else than the service level selects lanes, for linear tables too.
    pub fn selects_by_lane(&self) -> bool {
        self.lane_input.is_some_and(|input| input != 0)
    }

    /// Whether linear tables and service levels determine paths and lanes, as far as the switch answered.
    pub fn is_plain(&self) -> bool {
        self.private_tables.is_some_and(|tables| tables <= 1)
            && self.lane_input == Some(0)
            && !self.has_choice()
    }

    /// Whether packets of a level use the group of an entry besides its static port.
    pub fn uses_group(&self, state: EntryState, level: ServiceLevel) -> bool {
        let has = |levels: u16| levels >> level.value() & 1 == 1;
        let by_hash = self.weighted_hash || self.hash_forwarding && has(self.hash_levels);
        // Fast recovery is not documented as limited by service level.
        if by_hash || self.fast_recovery {
            return true;
        }
        match state {
            EntryState::Free | EntryState::Bounded => self.adaptive && has(self.levels),
            EntryState::Hash => self.has_choice(),
            EntryState::Static => false,
        }
    }

    /// Whether packets of some level use the group of a static entry.
    pub fn uses_static_groups(&self) -> bool {
        let mut levels = (0..16).filter_map(ServiceLevel::new);
        levels.any(|level| self.uses_group(EntryState::Static, level))
    }
}

/// What a switch answered about adaptive routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveStatement {
    /// The switch does not have it.
    Absent,
    /// The switch did not answer.
    NoAnswer,
    /// The switch has it; the settings state whether it is on.
    Stated(AdaptiveSettings),
}

/// Why adaptive tables are not understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveMismatch {
    /// The static port of this LID differs from the linear table.
    StaticPort(Lid),
    /// An entry has a group that no table defines.
    Group {
        /// The LID of the entry.
        lid: Lid,
        /// The group.
        group: u16,
    },
    /// An entry has a group of a second group table.
    GroupTable {
        /// The LID of the entry.
        lid: Lid,
        /// The number of the group table.
        table: u8,
    },
    /// A port and service level have a private table that the switch does not have.
    PrivateTable(u8),
    /// Packets use more private tables than are read.
    PrivateTableCount(u8),
    /// The groups have more blocks than a modifier can number.
    GroupBlocks(u32),
}

impl fmt::Display for AdaptiveMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaticPort(lid) => {
                write!(f, "the static port of LID {lid} differs from the linear table")
            }
            Self::Group { lid, group } => write!(f, "LID {lid} has group {group}, which is not defined"),
            Self::GroupTable { lid, table } => write!(f, "LID {lid} has a group of group table {table}"),
            Self::PrivateTable(table) => write!(f, "packets use PLFT {table}, which is not defined"),
            Self::PrivateTableCount(count) => write!(f, "packets use {count} PLFTs, more than are read"),
            Self::GroupBlocks(count) => write!(f, "groups have {count} blocks, more than can be asked for"),
        }
    }
}

/// Whether the adaptive tables of a switch are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum AdaptiveTableState {
    /// The source did not read them.
    #[default]
    NotRead,
    /// The switch did not answer.
    NoAnswer,
    /// The switch does not have the attributes of the tables.
    Absent,
    /// The tables contradict each other, so their layout is not the known one.
    NotUnderstood(AdaptiveMismatch),
    /// The tables. Clones share them.
    Read(Arc<AdaptiveTables>),
}

/// Why the ports by which packets may leave a switch are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdaptiveDoubt {
    /// The switch did not answer whether it routes adaptively.
    NoAnswer,
    /// Its adaptive tables were not read.
    NotRead,
    /// The switch did not answer with its adaptive tables.
    NoTables,
    /// The switch does not have the attributes of adaptive tables.
    TablesAbsent,
    /// Its adaptive tables are not understood.
    NotUnderstood(AdaptiveMismatch),
    /// The switch did not answer how many private tables it has.
    PrivateTables,
    /// The switch maps virtual lanes to virtual lanes, or did not answer whether it does.
    LaneInput(Option<u8>),
    /// The static entry of this LID has group 0, which has ports. Static entries without a group state group 0 too.
    GroupZero(Lid),
}

/// Adaptive routing of one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdaptiveSwitch {
    /// What the switch answered.
    pub statement: AdaptiveStatement,
    /// Its tables.
    pub tables: AdaptiveTableState,
}

impl AdaptiveSwitch {
    /// Makes a switch without adaptive tables.
    pub fn new(statement: AdaptiveStatement) -> Self {
        Self { statement, tables: AdaptiveTableState::NotRead }
    }

    /// The settings, where the switch stated them.
    pub fn settings(&self) -> Option<&AdaptiveSettings> {
        match &self.statement {
            AdaptiveStatement::Stated(settings) => Some(settings),
            AdaptiveStatement::Absent | AdaptiveStatement::NoAnswer => None,
        }
    }

    /// The state in words. "absent", "did not answer" and "off" differ.
    pub fn state_word(&self) -> &'static str {
        match &self.statement {
            AdaptiveStatement::Absent => "absent",
            AdaptiveStatement::NoAnswer => "did not answer",
            AdaptiveStatement::Stated(settings) if settings.has_choice() => "on",
            AdaptiveStatement::Stated(settings) if settings.absent => "absent",
            AdaptiveStatement::Stated(_) => "off",
        }
    }

    /// The state of its tables in words; `None` where packets need none.
    pub fn table_word(&self) -> Option<&'static str> {
        self.settings().filter(|settings| settings.needs_tables())?;
        Some(match &self.tables {
            AdaptiveTableState::NotRead => "not read",
            AdaptiveTableState::NoAnswer => "did not answer",
            AdaptiveTableState::Absent => "absent",
            AdaptiveTableState::NotUnderstood(_) => "not understood",
            AdaptiveTableState::Read(_) => "read",
        })
    }

    /// Whether packets may use other tables than the linear one, or it is not known.
    pub fn needs_tables(&self) -> bool {
        match &self.statement {
            AdaptiveStatement::Absent => false,
            AdaptiveStatement::NoAnswer => true,
            AdaptiveStatement::Stated(settings) => {
                settings.needs_tables() || settings.private_tables.is_none() || settings.selects_by_lane()
            }
        }
    }

    /// The tables that packets use instead of the linear one.
    pub fn tables_in_force(&self) -> Option<(&AdaptiveSettings, &AdaptiveTables)> {
        let settings = self.settings().filter(|settings| settings.needs_tables())?;
        match &self.tables {
            AdaptiveTableState::Read(tables) => Some((settings, tables)),
            _ => None,
        }
    }

    /// Why the ports by which packets may leave are not known.
    pub fn doubt(&self) -> Option<AdaptiveDoubt> {
        let settings = match &self.statement {
            AdaptiveStatement::Absent => return None,
            AdaptiveStatement::NoAnswer => return Some(AdaptiveDoubt::NoAnswer),
            AdaptiveStatement::Stated(settings) => settings,
        };
        if !settings.needs_tables() {
            // A second private table decides where packets go, even where nothing is adaptive.
            return match settings.private_tables {
                None => Some(AdaptiveDoubt::PrivateTables),
                // Lanes follow lanes, not service levels.
                Some(_) if settings.selects_by_lane() => Some(AdaptiveDoubt::LaneInput(settings.lane_input)),
                Some(_) => None,
            };
        }
        match &self.tables {
            AdaptiveTableState::NotRead => Some(AdaptiveDoubt::NotRead),
            AdaptiveTableState::NoAnswer => Some(AdaptiveDoubt::NoTables),
            AdaptiveTableState::Absent => Some(AdaptiveDoubt::TablesAbsent),
            AdaptiveTableState::NotUnderstood(mismatch) => Some(AdaptiveDoubt::NotUnderstood(*mismatch)),
            AdaptiveTableState::Read(_) if settings.private_tables.is_none() => {
                Some(AdaptiveDoubt::PrivateTables)
            }
            AdaptiveTableState::Read(_) => {
                (settings.lane_input != Some(0)).then_some(AdaptiveDoubt::LaneInput(settings.lane_input))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_states_have_different_words_and_only_what_is_known_is_free_of_doubt() {
        let stated = |settings| AdaptiveSwitch::new(AdaptiveStatement::Stated(settings));
        let off = AdaptiveSettings { private_tables: Some(0), lane_input: Some(0), ..Default::default() };
        let on = AdaptiveSettings { adaptive: true, ..off };
        let switches = [
            AdaptiveSwitch::new(AdaptiveStatement::Absent),
            AdaptiveSwitch::new(AdaptiveStatement::NoAnswer),
            stated(off),
            stated(on),
            stated(AdaptiveSettings { absent: true, private_tables: Some(2), ..off }),
        ];
        assert_eq!(
            switches.each_ref().map(AdaptiveSwitch::state_word),
            ["absent", "did not answer", "off", "on", "absent"]
        );
        assert_eq!(
            switches.each_ref().map(AdaptiveSwitch::doubt),
            [
                None,
                Some(AdaptiveDoubt::NoAnswer),
                None,
                Some(AdaptiveDoubt::NotRead),
                Some(AdaptiveDoubt::NotRead)
            ]
        );
        let read = |settings| AdaptiveSwitch {
            tables: AdaptiveTableState::Read(Arc::default()),
            ..stated(settings)
        };
        assert_eq!(read(on).doubt(), None);
        let silent = stated(AdaptiveSettings { private_tables: None, ..off });
        assert_eq!((silent.doubt(), silent.needs_tables()), (Some(AdaptiveDoubt::PrivateTables), true));
        let by_lane = stated(AdaptiveSettings { lane_input: Some(1), ..off });
        assert_eq!(
            (by_lane.doubt(), by_lane.needs_tables()),
            (Some(AdaptiveDoubt::LaneInput(Some(1))), true)
        );
        for (settings, doubt) in [
            (AdaptiveSettings { private_tables: None, ..on }, AdaptiveDoubt::PrivateTables),
            (AdaptiveSettings { lane_input: Some(1), ..on }, AdaptiveDoubt::LaneInput(Some(1))),
            (AdaptiveSettings { lane_input: None, ..on }, AdaptiveDoubt::LaneInput(None)),
        ] {
            assert_eq!(read(settings).doubt(), Some(doubt));
        }
        // A second private table decides where packets go, even where nothing is adaptive.
        assert!(stated(AdaptiveSettings { private_tables: Some(2), ..off }).needs_tables());
    }
}
