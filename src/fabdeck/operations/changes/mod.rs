//! Changes: plans prepared, refused and applied, changes followed and decided, their guards, their rows and words. The
//! command line, runbooks, watches over jobs and consoles share them.

pub(crate) mod acceptance;
pub(crate) mod applied_plan;
pub(crate) mod apply;
pub(crate) mod asked_change;
pub mod attestations;
pub(crate) mod change_comparison;
pub(crate) mod change_control;
pub(crate) mod change_exit;
pub mod change_facts;
mod change_json;
pub(crate) mod change_list;
pub mod change_row;
pub(crate) mod change_store;
pub mod changer;
pub mod console_changes;
mod failure_words;
pub(crate) mod foreign_changes;
pub(crate) mod guard_requests;
pub(crate) mod guard_run;
pub(crate) mod in_process;
pub mod job_effects;
pub(crate) mod other_machine;
pub(crate) mod overdue;
pub mod pair_count;
pub(crate) mod preparation;
pub(crate) mod refusal_audit;
pub(crate) mod rows;
pub(crate) mod seen_changes;
pub(crate) mod standby_guard;
pub(crate) mod undo;
pub mod undo_loss;
pub(crate) mod verification;
pub mod weak_links;
