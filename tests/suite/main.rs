//! Everything that needs no other program: files, fabrics, commands.

mod codes;
mod commands;
mod fabric;
mod generate;
mod incident;
mod sources;
mod tables;
mod topology;
