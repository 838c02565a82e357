//! The interpreter of runbooks: reads a runbook, checks it, and runs its steps with the guards between them and the
//! steps on failure. The caller supplies the executor of the steps.

mod book;
mod course;
mod fields;
pub mod given;
mod guard;
mod read;
mod report;
mod rows;
mod shapes;
mod values;
mod walk;

pub use book::{Apply, Book, Expected, JobsOf, Program, Propose, Route, Step, Task, Wait};
pub use fields::Fault;
pub use guard::{Bound, Guard, Verdict};
pub use read::{Known, read};
pub use report::{GuardReport, Report, RunState, StepReport, StepState};
pub use rows::{Aggregate, Claim, RowsAre, RowsFound, TABLES};
pub use values::{Found, Values};
pub use walk::{Crew, Did, Mark, Seen, TakenBack, Trouble, walk};
