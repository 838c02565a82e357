//! The console as a process: the one loop, the terminal, and threads that work behind the screen.

mod desk;
mod paint;
mod run;
mod terminal;
mod threads;
mod wardrobe;

pub use run::run;
pub use terminal::restore;
