//! How high each switch stands, for those who only want to show it.

use super::engine::Request;
use super::problem::Problem;
use super::ranks;

/// The height of each switch: 0 at the bottom, higher towards the roots. `None` for a fabric that is no tree.
pub fn heights(problem: &Problem<'_>) -> Option<Vec<u32>> {
    ranks::find_ranks("heights", problem, &Request::default()).ok().map(|ranks| ranks.height)
}
