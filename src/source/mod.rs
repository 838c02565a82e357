//! What `--source` names: files and folders of known formats, and generated fabrics.

mod assemble;
mod disk;
mod generated;
mod open;
pub mod socket;

pub use disk::{FilesSource, read_content};
pub use generated::GeneratedSource;
pub use open::open;
