//! The host side of dFtree: the subnet manager says which flows to move, the site's hook moves them, and the agent
//! answers queries for the status.

mod bucket;
mod daemon;
mod environment;
mod hook;
mod kept;
mod subscription;
mod told;

pub use daemon::{Agent, AgentError, FAREWELL, Options};
pub use environment::set_listed_environment;
pub use told::{Direction, Summary, Told};
