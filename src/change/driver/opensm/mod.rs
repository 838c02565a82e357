//! Changes through OpenSM: a complete file of tables that its `file` engine loads, and a policy for service levels. Nothing
//! is sent to the fabric from here but Gets.

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
