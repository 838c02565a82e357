//! The host side of dFtree: being told by the subnet manager which flows to move, letting the site's hook move them, and
//! saying how far that is to whoever asks.

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
