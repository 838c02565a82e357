//! Changes to a fabric: plans (the exact writes, for one fabric), and plans that are applied, confirmed or rolled back.

mod attest;
mod audit;
mod change_dir;
mod change_owner;
mod change_store;
mod change_store_error;
mod clock;
mod cut_off;
mod driver;
mod failed_element;
mod file_lock;
mod fingerprint;
mod folder_ownership;
mod guard;
mod hang_watch;
mod journal;
mod manager_text;
mod migration;
mod migrations_in_force;
mod opensm_site;
mod order;
mod path_bits_in_force;
mod plan;
mod plan_hash;
mod plan_lanes;
mod plan_path_bits;
mod plan_phases;
mod read_queue;
mod route_writes;
mod surviving_fabric;
mod system;
mod trail_check;
mod trail_lines;
mod trail_mark;
mod transition;
pub mod user_names;
mod writes;

pub use attest::{
    Attestation, AttestationVerdict, ChangeHistory, ComparedFabric, DeviceReport, DeviceState, OtherChange,
    compare_changes, merge_histories,
};
pub use audit::{AuditEntry, AuditError};
pub use change_dir::{ChangeDir, GuardLock};
pub use change_owner::{ChangeAccess, Owner};
pub use change_store::ChangeStore;
pub use change_store_error::ChangeStoreError;
pub use clock::{BootTime, Clocks, SystemClocks};
pub use cut_off::CutOffReport;
pub use driver::{
    DirectDriver, Driver, Halt, NOT_VIA_OPENSM, OpensmCheck, OpensmDriver, OpensmRefusal, ProgressCheck,
    Reconnecting, find_unrestored, verify_writes,
};
pub use failed_element::{FailedElement, FailedEnd};
pub use fingerprint::{FabricChange, Fingerprint, LaneFingerprint};
pub use guard::{
    AccessPolicy, Caller, ChangeDescription, ChangeStatus, EVERYTHING_LEFT, Grantee, Guard, GuardAnswer,
    GuardMemory, GuardMode, GuardProcess, GuardRequest, GuardRole, GuardSocket, GuardSocketError,
    GuardTakeover, QueuedRequest, RefusalLog, RequestError, Rights, RollbackOutlook, RolledBackTables,
    RoutingDefects, StartGuard, UNREACHABLE_TIMEOUT, already_decided, current_phase, deadline_now,
    find_defects, find_rollback_defects, first_unreached, host_name, is_listening, list_sockets,
    registration_conflict, request_description, request_status, send_request, send_request_within,
    send_with_restart, socket_path, switched_ports, tables_after_rollback, take_guard_lock, wait_as_standby,
    window_left,
};
pub use journal::{
    BeginRecord, ChainError, ChainHash, ChainedLines, ChangePhase, ChangeState, Disk, EndRecord, FileDisk,
    HostNotification, Journal, JournalContent, JournalError, JournalRecord, JournalStep, MemoryDisk,
    RetryLimit, RollbackRemainder, chain_line, have_most_in_common,
};
pub use manager_text::{manager_in_charge, other_writer_words};
pub use migration::{FollowMode, Migration, MigrationDirection, PlanFlow, PlanPort};
pub use migrations_in_force::{migrations_in_force, moved_flows, remaining_migrations};
pub use opensm_site::OpensmSite;
pub use order::{OrderedWrites, TransientLoss, UnfailedLoss, measure_writes, order_writes};
pub use path_bits_in_force::{ChangedPathBits, UNDO_OF, path_bits_in_force, undone_number};
pub use plan::{CertificateScope, Drift, EntryDrift, ISOLATE, MAX_PLAN_BYTES, Plan, PlanFileError, SCHEMA};
pub use plan_lanes::PlanLanes;
pub use plan_path_bits::PlanPathBits;
pub use plan_phases::{PhasedHost, PlanPhases, SilentHostAction};
pub use route_writes::plan_writes;
pub use surviving_fabric::SurvivingFabric;
pub use system::{
    COMMAND_THREAD, FileKind, FileStatus, ListeningSocket, LocalSystem, LockHolder, OpenFile, OpenMode,
    ProcessStatus, System, ThreadProgress,
};
pub use trail_mark::TrailMark;
pub use transition::{StagedTransition, TransitionReport};
pub use writes::{AlteredWrites, PlanError, PlanWrite, WriteStep, WriteTarget};
