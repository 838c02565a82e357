//! The command `run`: runs the steps of a runbook with the functions of the commands.

mod args;
mod beside;
mod command;
mod crew;
mod deciding;
mod fabric;
mod jobs;
mod journal;
mod looking;
mod planning;
mod schema;
mod standing;
mod told;

pub use args::RunArgs;
pub use command::run;
pub use schema::schema;
