//! The journal: what is to be done and how far it came, durable before the first write goes out.

mod chain;
mod disk;
mod record;
mod written;

pub use chain::{ChainError, Chained, chain_places, line};
pub use disk::{Disk, FileDisk, MemoryDisk};
pub use record::{Begun, Ended, Hosts, Left, Phase, Record, Told, have_most_in_common};
pub use written::{Journal, JournalError, Read};
