//! The host side of dFtree: the subnet manager says which flows to move, the site's hook moves them, and the agent
//! answers queries for the status.

mod agent_state;
mod daemon;
mod environment;
mod event;
mod flow_lister;
mod hook;
mod rate_limit;
mod subscription;

pub use daemon::{Agent, AgentError, AgentOptions, SHUTDOWN_TIMEOUT};
pub use environment::set_listed_environment;
pub use event::{AgentEvent, AgentSummary, NoticeDirection};
pub use hook::{HookExit, HookProcess};
