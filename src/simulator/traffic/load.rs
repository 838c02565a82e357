//! The input of a run: a fabric with its marks, tables and levels, hardware, and a pattern.

use std::sync::Arc;

use super::lanes::Service;
use super::pattern::Pattern;
use super::settings::Settings;
use fabdeck_fabric::{Fabric, Faults, Routes, Tables};

/// The fabric that packets cross.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub fabric: &'a Fabric,
    pub faults: &'a Faults,
    pub routes: &'a Arc<Routes>,
    pub service: &'a Service,
    /// SL2VL and arbitration tables; forwarding tables come from the routes.
    pub tables: &'a Tables,
}

/// The traffic: pattern and hardware.
#[derive(Clone, Debug)]
pub struct Load {
    pub pattern: Pattern,
    pub settings: Settings,
}
