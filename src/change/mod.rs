//! Changes: plans of what exactly would be written to which fabric, and plans that are applied, confirmed or rolled back.

mod audit;
mod driver;
mod essence;
mod failed;
mod fingerprint;
mod guard;
mod home;
mod journal;
mod lanes;
mod order;
mod plan;
mod standing;
mod transition;
mod writes;

pub use audit::{AuditError, Entry};
pub use driver::{Checked, Direct, Driver, Halt, Heed, Opensm, OpensmSite, Refusal, not_back, verify};
pub use failed::{FailedElement, FailedEnd};
pub use fingerprint::{Change, Fingerprint, LanePrint};
pub use guard::{Answer, Ask, Door, DoorError, Errand, Guard, Order, Outlook, Status, Wrong, call, wrong};
pub use home::{Home, HomeError, Keeping, Kept};
pub use journal::{
    Begun, ChainError, Chained, Disk, Ended, FileDisk, Journal, JournalError, Left, MemoryDisk, Phase, Read,
    Record, Told,
};
pub use lanes::PlanLanes;
pub use order::{OnTheWay, Ordered, in_order};
pub use plan::{Drift, Drifted, Plan, PlanFileError, SCHEMA, Scope};
pub use standing::Standing;
pub use transition::{Staged, TransitionReport};
pub use writes::{PlanError, Step, Write, writes};
