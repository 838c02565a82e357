//! A simulator that several processes share through a Unix socket: the server, and the port of a client.

mod client;
mod inbox;
mod peer;
mod server;
mod socket_file;
mod wire;

pub use client::connect;
pub use server::{MAX_CLIENTS, Server, ServerEvent, ServerSummary};
pub use socket_file::ServeError;
pub use wire::{
    DATAGRAM_FRAME, Datagram, Frame, PROTOCOL, RefusalReason, ServerRefusal, WireError, decode, encode,
};
