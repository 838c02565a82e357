//! `sar`: scheduling-aware routing (dissertation 5.2.2.2, algorithm 5.1): the routes of `dfsssp`, balanced for the jobs that
//! run. What jobs run on goes first, the largest job before the others, and only paths within a job weigh; then storage
//! (I/O nodes), and then everything else, each balanced on its own over all paths. What a job runs on computes, whatever a
//! list of I/O nodes says. Equals go by switch, in order of GUID, and by LID: jobs have names for nothing but to tell them
//! apart, and the same hosts under other names get the same routes (figure 5.6 counts on that).

mod by_destination;
mod job_classes;
mod sar_routes;

pub use sar_routes::{ID, route};
