//! What fabdeck can do with a fabric, with typed requests and results: check, preview, plan, lanes, jobs, traces,
//! traffic, changes, conversions, reports. The console and the command line call the same operations; nothing here draws on a
//! terminal or prints.

pub mod cabling;
pub mod changes;
pub mod check;
pub(crate) mod convert;
pub mod environment;
pub mod event_store;
pub mod fabric_map;
pub mod health;
pub mod jobs;
pub mod lanes;
pub mod ledger;
pub(crate) mod operation;
pub mod plans;
pub mod policy;
pub mod preview;
pub(crate) mod progress;
pub(crate) mod record;
pub mod replay;
pub mod report;
pub(crate) mod reproduction;
pub mod rowset;
pub(crate) mod service;
pub(crate) mod source_list;
pub(crate) mod study;
pub mod trace;
pub(crate) mod traffic;
pub mod view_id;
pub mod watch;
pub mod webhook;
