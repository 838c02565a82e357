//! The store of a watch: random kills of its writer, full disks, damage, and how large it gets.

// Helpers of tests may fail like tests do; clippy's exception covers only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod full_disk;
mod ledger_size;
mod memory_disk;
mod random_kills;
mod watched_fabric;
mod webhook_queue;
