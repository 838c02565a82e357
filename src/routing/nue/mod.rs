//! `nue`: deadlock-free and connected on any fabric with any number of lanes (dissertation, chapter 6).
//!
//! Destinations are parted into layers, one lane each. A layer keeps the set of channel dependencies that its trees
//! use free of cycles while it makes them, so that it needs no lane beyond its own.
//!
//! The dissertation's: layers, roots by betweenness on the convex subgraph (6.2.3), escape paths (6.2.2), Dijkstra's
//! algorithm on the complete dependency graph (6.2.4), local backtracking and shortcuts (6.2.6).
//!
//! Ours:
//! - Switches and the channels between them only. The LIDs behind a switch get a tree each, for balance: one tree per
//!   switch loads one way with all its terminals (on two-level trees it cannot come near the best). A switch's own
//!   LID goes with its first terminal; on very large fabrics the LIDs of a switch share trees.
//! - Up to some size all switches are put in a line that forbids the turns of which shortest paths have least need
//!   (`spread/line.rs`), and trees are grown along it on one lane, by load alone. Where they come near the best there is
//!   no search; else the better of both is taken.
//! - On larger trees balanced Up*/Down* routes are taken where they come near the best, or with one lane or two, or with
//!   ranks, where the search comes to more paths on its busiest channel. Where links of such trees are missing one lane
//!   serves: the orientation from a switch at the bottom holds every way up and down, and only loads are weighed.
//! - A dependency is used when a switch is settled, not when an edge is relaxed; a Pearce-Kelly order finds cycles;
//!   what a finished tree does not need is given back.
//! - Compact blocks by bisection instead of a multilevel partition.
//! - Escape paths of two kinds (a spanning tree, or all turns of an Up*/Down* orientation): the first trees of two layers
//!   are made with each, and the kind that loads its busiest channel less makes the rest.
//! - A destination that falls back begins from the escape paths and is re-hung, switch by switch, on nearer ways.
//! - Once every switch has its first tree the order of channels stands: what goes along with it closes no cycle. The
//!   other trees ask for nothing more, and are made side by side even on one lane.
//! - A tree that finds no way along the order begins from the first one of its switch; it falls back on escape paths
//!   only where there is none.
//! - When all trees stand, those that load the busiest channels or fell back are taken out and made again, as long as
//!   that is worth it.
//! - Roots that are given take the place of the most central switch, a layer after the other.
//! - Layers run side by side and hear of each other's loads at fixed points, so that threads change nothing. Nothing
//!   is drawn: ties go to the lowest channel, by switch in order of GUID and by port, and the seed is of no use.

mod balanced_updown;
mod central;
mod demand;
#[cfg(test)]
mod figures;
mod layered_search;
mod line_routes;
mod nue_routes;
mod partition;
mod virtual_layer;
mod worked_examples;

pub(super) use demand::Demand;
pub(super) use nue_routes::route_for;
pub use nue_routes::{UPDOWN_REMARK, route};
pub use worked_examples::{FigureValue, figure_values};
