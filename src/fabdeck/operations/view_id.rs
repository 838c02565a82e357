//! The views by id, for commands, screens and documentation.

use crate::catalogue::field::{Column, Field, Listing};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::counters::{COUNTER_FIELDS, CounterRows};
use crate::catalogue::views::entries::ENTRY_FIELDS;
use crate::catalogue::views::hosts::{HOST_FIELDS, hosts};
use crate::catalogue::views::lanes::{LANE_FIELDS, lanes};
use crate::catalogue::views::link_users::USER_FIELDS;
use crate::catalogue::views::links::{LINK_FIELDS, links};
use crate::catalogue::views::ports::{PORT_FIELDS, ports};
use crate::catalogue::views::switches::{SWITCH_FIELDS, switches};
use crate::catalogue::views::tables::{TABLE_FIELDS, tables};
use crate::operations::jobs::job_channels::JOB_CHANNEL_COLUMNS;
use crate::operations::jobs::rows::JOB_COLUMNS;
use crate::operations::trace::hops::HOP_FIELDS;

/// A view with rows. `Entries` needs a switch, `Users` a cable, `Jobs` and `JobChannels` a job list and
/// `Hops` a trace; other modules make those.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewId {
    Switches,
    Hosts,
    Links,
    Ports,
    Tables,
    Entries,
    Counters,
    Lanes,
    Users,
    Jobs,
    JobChannels,
    Hops,
}

impl ViewId {
    pub const ALL: &[Self] = &[
        Self::Switches,
        Self::Hosts,
        Self::Links,
        Self::Ports,
        Self::Tables,
        Self::Entries,
        Self::Counters,
        Self::Lanes,
        Self::Users,
        Self::Jobs,
        Self::JobChannels,
        Self::Hops,
    ];

    /// The id of the view in schemas and documentation.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Switches => "switches",
            Self::Hosts => "hosts",
            Self::Links => "links",
            Self::Ports => "ports",
            Self::Tables => "tables",
            Self::Entries => "entries",
            Self::Counters => "counters",
            Self::Lanes => "lanes",
            Self::Users => "users",
            Self::Jobs => "jobs",
            Self::JobChannels => "jobs-channels",
            Self::Hops => "trace",
        }
    }

    /// The command that shows the view.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Switches => "show switches",
            Self::Hosts => "show hosts",
            Self::Links => "show links",
            Self::Ports => "show ports",
            Self::Tables => "show tables",
            Self::Entries => "show tables SWITCH",
            Self::Counters => "show counters",
            Self::Lanes => "show lanes",
            Self::Users => "show users LINK",
            Self::Jobs => "show jobs",
            Self::JobChannels => "jobs channels",
            Self::Hops => "trace",
        }
    }

    /// Whether the view has further columns that depend on the source.
    pub fn has_source_columns(self) -> bool {
        self == Self::Counters
    }

    /// The columns of the view that do not depend on the source.
    pub fn columns(self) -> Vec<&'static Column> {
        match self {
            Self::Switches => columns(SWITCH_FIELDS),
            Self::Hosts => columns(HOST_FIELDS),
            Self::Links => columns(LINK_FIELDS),
            Self::Ports => columns(PORT_FIELDS),
            Self::Tables => columns(TABLE_FIELDS),
            Self::Entries => columns(ENTRY_FIELDS),
            Self::Counters => columns(COUNTER_FIELDS),
            Self::Lanes => columns(LANE_FIELDS),
            Self::Users => columns(USER_FIELDS),
            Self::Jobs => JOB_COLUMNS.iter().collect(),
            Self::JobChannels => JOB_CHANNEL_COLUMNS.iter().collect(),
            Self::Hops => columns(HOP_FIELDS),
        }
    }

    /// The rows of the view in a snapshot; `None` for the views that need more than a snapshot.
    pub fn listing(self, look: &Snapshot) -> Option<Box<dyn Listing + '_>> {
        match self {
            Self::Switches => Some(Box::new(switches(look))),
            Self::Hosts => Some(Box::new(hosts(look))),
            Self::Links => Some(Box::new(links(look, None))),
            Self::Ports => Some(Box::new(ports(look))),
            Self::Tables => Some(Box::new(tables(look))),
            Self::Counters => Some(Box::new(CounterRows::new(look))),
            Self::Lanes => Some(Box::new(lanes(look))),
            Self::Entries | Self::Users | Self::Jobs | Self::JobChannels | Self::Hops => None,
        }
    }
}

fn columns<R>(fields: &'static [Field<R>]) -> Vec<&'static Column> {
    fields.iter().map(|field| &field.column).collect()
}
