//! The interpreter of runbooks: what a book says, whether it can be carried out, and its steps one after the other, with
//! guards between and what is done on failure. The steps themselves are done by a crew.

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
