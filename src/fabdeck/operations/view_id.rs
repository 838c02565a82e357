//! The table of views that commands print: id, command and view. Schemas, `--fields help` and `docs/fields.md` follow it.
//! A new view is a line here.

use crate::catalogue::field::{Column, Listing};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::adaptive::{ADAPTIVE, adaptive_switches};
use crate::catalogue::views::aggregation::{AGGREGATION, aggregation};
use crate::catalogue::views::counters::{COUNTERS, CounterRows};
use crate::catalogue::views::entries::ENTRIES;
use crate::catalogue::views::file_tables::{FILE_TABLES, file_tables};
use crate::catalogue::views::groups::{GROUPS, groups};
use crate::catalogue::views::hosts::{HOSTS, hosts};
use crate::catalogue::views::lanes::{LANES, lanes};
use crate::catalogue::views::link_users::LINK_USERS;
use crate::catalogue::views::links::{LINKS, links};
use crate::catalogue::views::modules::{LINK_PAGE_FIELDS, MODULES, modules};
use crate::catalogue::views::partitions::{PARTITIONS, partitions};
use crate::catalogue::views::ports::{PORTS, ports};
use crate::catalogue::views::routers::{ROUTERS, routers};
use crate::catalogue::views::sensors::{SENSORS, sensors};
use crate::catalogue::views::switches::{SWITCHES, switches};
use crate::catalogue::views::tables::{TABLES, tables};
use crate::operations::jobs::job_channels::JOB_CHANNELS;
use crate::operations::jobs::rows::RUNNING_JOBS;
use crate::operations::reproduction::reproduction_row::REPRODUCTION;
use crate::operations::study::linear_fit::STUDY_FITS;
use crate::operations::study::study_row::STUDY_CELLS;
use crate::operations::trace::hops::HOPS;
use fabdeck_mad::access::{ReadOptions, WireReadOptions};

macro_rules! define_views {
    ($($id:ident $word:literal $command:literal $view:ident $(of $rows:expr)?;)+) => {
        /// A view with rows. `Entries` needs a switch, `Users` a cable, `Jobs` and `JobChannels` a job list `Hops` a trace, and those of studies a folder; other modules make those.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ViewId { $($id),+ }

        impl ViewId {
            pub const ALL: &[Self] = &[$(Self::$id),+];

            /// The id of the view in schemas and documentation.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$id => $word),+ }
            }

            /// The command that shows the view.
            pub const fn command(self) -> &'static str {
                match self { $(Self::$id => $command),+ }
            }

            /// The columns of the view that do not depend on the source.
            pub fn columns(self) -> Vec<&'static Column> {
                match self { $(Self::$id => $view.columns()),+ }
            }

            /// The rows of the view in a snapshot; `None` for the views that need more than a snapshot.
            pub fn listing(self, look: &Snapshot) -> Option<Box<dyn Listing + '_>> {
                match self {
                    $($(Self::$id => Some(Box::new(($rows)(look))),)?)+
                    _ => None,
                }
            }
        }
    };
}

// After `of` is what makes the rows from a snapshot alone.
define_views! {
    Switches "switches" "show switches" SWITCHES of switches;
    Hosts "hosts" "show hosts" HOSTS of hosts;
    Links "links" "show links" LINKS of |look| links(look, None);
    Ports "ports" "show ports" PORTS of ports;
    Tables "tables" "show tables" TABLES of tables;
    Entries "entries" "show tables SWITCH" ENTRIES;
    Counters "counters" "show counters" COUNTERS of CounterRows::new;
    Lanes "lanes" "show lanes" LANES of lanes;
    Modules "modules" "show modules" MODULES of modules;
    Sensors "sensors" "show sensors" SENSORS of sensors;
    Adaptive "adaptive" "show adaptive" ADAPTIVE of adaptive_switches;
    Partitions "partitions" "show partitions" PARTITIONS of partitions;
    Groups "groups" "show groups" GROUPS of groups;
    Aggregation "aggregation" "show aggregation" AGGREGATION of aggregation;
    Routers "routers" "show routers" ROUTERS of routers;
    FileTables "ibdiagnet" "show ibdiagnet" FILE_TABLES of file_tables;
    Users "users" "show users LINK" LINK_USERS;
    Jobs "jobs" "show jobs" RUNNING_JOBS;
    JobChannels "jobs-channels" "jobs channels" JOB_CHANNELS;
    Hops "trace" "trace" HOPS;
    StudyCells "study-table" "study table" STUDY_CELLS;
    StudyFits "study-fit" "study table --fit" STUDY_FITS;
    Reproduction "reproduction" "reproduce" REPRODUCTION;
}

impl ViewId {
    /// Whether the view has further columns that depend on the source.
    pub fn has_source_columns(self) -> bool {
        self == Self::Counters
    }

    /// Whether a snapshot is enough to make the rows.
    pub fn is_of_snapshot(self) -> bool {
        !matches!(
            self,
            Self::Entries
                | Self::Users
                | Self::Jobs
                | Self::JobChannels
                | Self::Hops
                | Self::StudyCells
                | Self::StudyFits
                | Self::Reproduction
        )
    }

    /// Whether the rows need the number of paths over each link, which takes a walk over all tables. `uses` tells
    /// whether a query shows, sorts or filters by a field.
    pub fn needs_paths(self, uses: impl Fn(&str) -> bool) -> bool {
        self == Self::Links && uses("efi")
    }

    /// What is read for the view about the health of links.
    pub fn wire_options(self, uses: impl Fn(&str) -> bool) -> WireReadOptions {
        let has_verdict = matches!(self, Self::Links | Self::Ports);
        let ports = self == Self::Modules || has_verdict && uses("wire");
        let link_pages = self == Self::Modules && LINK_PAGE_FIELDS.iter().any(|field| uses(field));
        WireReadOptions { devices: self == Self::Sensors, switch_sensors: false, ports, link_pages }
    }

    /// What is read for the view besides nodes, ports and links. Multicast tables cost many datagrams for one column,
    /// so they are read only for a query that uses it: without them every row would seem to have no groups.
    pub fn read_options(self, uses: impl Fn(&str) -> bool) -> ReadOptions {
        ReadOptions {
            tables: matches!(self, Self::Tables | Self::Entries | Self::Users | Self::Adaptive)
                || self.needs_paths(&uses),
            adaptive: self == Self::Switches && uses("adaptive"),
            multicast: self == Self::Tables && uses("groups"),
            lanes: self == Self::Lanes,
            partitions: self == Self::Partitions,
            groups: self == Self::Groups,
            counters: self == Self::Counters || (self == Self::Links && uses("errors")),
        }
    }
}
