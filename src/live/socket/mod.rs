//! A simulator that several processes share through a Unix socket: the server, and the port of a client.

mod client;
mod inbox;
mod listen;
mod peer;
mod server;
mod wire;

pub use client::connect;
pub use listen::ServeError;
pub use server::{CLIENTS_MAX, Event, Server, Summary};
pub use wire::{DATAGRAM_FRAME, Datagram, Frame, PROTOCOL, Reason, Refusal, WireError, decode, encode};
