//! What `--source` names: files and folders of known formats, and generated fabrics.

mod assemble;
mod disk;
mod generated;
mod live;
mod open;
mod simulated;

pub use disk::{FilesSource, read_content};
pub use generated::GeneratedSource;
pub use live::{Keys, LiveSource, Policy, look};
pub use open::{LiveOptions, open};
pub use simulated::{SIMULATOR_KEYS, SimulatorKey, simulator_of};
