//! Changes to a fabric: plans (the exact writes, for one fabric), and plans that are applied, confirmed or rolled back.

mod attest;
mod audit;
mod clock;
mod cut_off;
mod driver;
mod essence;
mod failed;
mod file_lock;
mod fingerprint;
mod guard;
mod hang;
mod home;
mod in_force;
mod journal;
mod kept;
mod lanes;
mod manager;
mod migration;
mod order;
mod owned;
mod ownership;
mod phases;
mod plan;
mod read_queue;
mod standing;
mod system;
mod trail_mark;
mod transition;
pub mod users;
mod writes;

pub use attest::{
    Attestation, Compared, DeviceReport, DeviceState, History, OtherChange, Verdict, attest,
    in_order_of_writing,
};
pub use audit::{AuditError, Entry};
pub use clock::{BootTime, Clocks, SystemClocks};
pub use cut_off::CutOff;
pub use driver::{
    AlteredWrites, Checked, Direct, Driver, Halt, Heed, NOT_THROUGH_OPENSM, Opensm, OpensmSite, Refusal,
    Reopened, not_back, verify,
};
pub use failed::{FailedElement, FailedEnd};
pub use fingerprint::{Change, Fingerprint, LanePrint};
pub use guard::{
    ALL_LEFT, AccessPolicy, Answer, Ask, Caller, Description, Door, DoorError, Errand, Grantee, Guard,
    GuardMode, GuardProcess, GuardReplaced, OUT_OF_REACH, Order, Outlook, Refusals, RequestError, Rights,
    StartGuard, Status, Wrong, call, call_within, deadline_now, decided, describe, host_name, is_listening,
    request, request_status, socket_in, sockets, stands_against, switched, take_keeping, unreached,
    wait_beside, window_left, wrong,
};
pub use hang::{COMMAND_THREAD, Progress};
pub use home::{Home, HomeError};
pub use in_force::{flows_moved, in_force, left_by};
pub use journal::{
    Begun, ChainError, Chained, Disk, Ended, FileDisk, Hosts, Journal, JournalError, Left, MemoryDisk, Phase,
    Read, Record, Told, have_most_in_common,
};
pub use kept::{Keeping, Kept};
pub use lanes::PlanLanes;
pub use manager::{manager_in_charge, other_writer_words};
pub use migration::{Follows, Migration, PlanFlow, PlanPort, Towards};
pub use order::{OnTheWay, Ordered, in_order};
pub use owned::{Keeper, Owner};
pub use phases::{PhasedHost, PlanPhases, Unanswered};
pub use plan::{Drift, Drifted, Plan, PlanFileError, SCHEMA, Scope};
pub use standing::Standing;
pub use system::{FileKind, FileStatus, LocalSystem, LockHolder, OpenDoor, OpenFile, OpenMode, System};
pub use trail_mark::TrailMark;
pub use transition::{Staged, TransitionReport};
pub use writes::{Holder, PlanError, Step, Write, writes};
