//! Changes through OpenSM: a complete file of tables for its `file` engine, and a policy for service levels. This
//! driver sends nothing but Gets to switches.

mod conf;
mod console;
mod files;
mod judge;
mod lines;
mod made;
mod process;
mod reach;
mod refusal;
mod road;
mod status;

pub use reach::OpensmSite;
pub use refusal::Refusal;
pub use road::{Checked, Opensm};
