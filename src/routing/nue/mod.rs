//! `nue`: deadlock-free and connected for any number of lanes (dissertation, chapter 6).

mod blocks;
mod central;
mod escape;
mod layer;
mod net;
mod order;
mod plan;
mod tree;

pub use plan::route;
