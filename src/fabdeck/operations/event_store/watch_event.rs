//! An event of a watched fabric.

use crate::catalogue::json_type::json_type;

json_type! {
    /// How much an event matters.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EventSeverity {
        Critical,
        Warning,
        Info,
    }
}

impl EventSeverity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

json_type! {
    /// An event. The number counts the events that are stored of the fabric, or those of this run where none are stored.
    #[derive(Clone, PartialEq, Debug, serde::Deserialize)]
    pub struct WatchEvent {
        pub number: u64,
        /// Milliseconds since 1970.
        #[serde(skip)]
        pub time_ms: i64,
        /// What happened: a kind of change (link-down, node-silent, ...), or problem-began, problem-grew, problem-ended,
        /// change-pending, change-overdue, change-decided, change-overwritten, change-stands, fabric-unreadable, fabric-readable.
        pub kind: String,
        pub severity: EventSeverity,
        pub text: String,
        /// The id of the problem or change; empty for other events.
        pub subject: String,
        /// The links, ports and nodes that it is about, as `--fail` takes them.
        pub elements: Vec<String>,
    }
}
