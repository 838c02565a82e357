//! Changes through OpenSM: a complete file of tables for its `file` engine, and a policy for service levels. This
//! driver sends nothing but Gets to switches.

mod conf;
mod console;
mod console_user;
mod file_swap;
mod judgement;
mod lane_options;
mod opensm_driver;
mod plan_files;
mod process;
mod refusal;
mod site;
mod status;

pub use opensm_driver::{OpensmCheck, OpensmDriver};
pub use refusal::OpensmRefusal;
