//! The details of one element, as lines for a pane or a page.

/// A label and a text.
pub type DetailLine = (&'static str, String);

/// A port of a node, and the peer of the port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortDetail {
    pub number: String,
    /// The problem of the port, or else its state.
    pub state: &'static str,
    pub trouble: bool,
    /// Width and speed.
    pub rate: String,
    pub peer: String,
}

/// The details of one element, for a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DetailPage {
    pub title: String,
    pub pairs: Vec<DetailLine>,
    pub ports: Vec<PortDetail>,
}

use crate::console::features::map::health::NOT_ANSWERING;

/// The label of a number of the fabric.
pub(crate) fn number_label(key: &'static str) -> &'static str {
    match key {
        "switch_links" => "between switches",
        "degraded_links" => "degraded",
        "down_links" => "down",
        "unanswered" => NOT_ANSWERING,
        "silent" => "requests lost",
        key => key,
    }
}

pub(crate) fn value_text(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}
