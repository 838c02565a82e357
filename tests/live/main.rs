//! fabdeck beside the real tools: ibsim plays the fabrics, ibnetdiscover and OpenSM run over it, ibdmchk judges. A
//! missing tool fails the test and names its Debian package.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, reason = "a test says what it ran")]

mod adapters;
mod agents;
mod certified;
mod changed;
mod discovered;
mod engines;
mod jobs;
mod killed;
mod kit;
mod lives;
mod lossy;
mod machines;
mod opensm_named;
mod opensm_road;
mod phased;
mod planned;
mod played;
mod random_kills;
mod replayed;
mod reported;
mod routed;
mod runbooks;
mod served;
mod stage;
mod swept;
mod throughput;
mod traced;
mod units;
mod witness;
