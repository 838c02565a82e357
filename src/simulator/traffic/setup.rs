//! The input of a run: a fabric with its marks, tables and levels, hardware, and a pattern.

use std::sync::Arc;

use super::lanes::LevelSelection;
use super::pattern::TrafficPattern;
use super::settings::TrafficSettings;
use fabdeck_fabric::{Fabric, Faults, Routes, Tables};

/// The fabric that packets cross.
#[derive(Clone, Copy, Debug)]
pub struct NetworkSetup<'a> {
    pub fabric: &'a Fabric,
    pub faults: &'a Faults,
    pub routes: &'a Arc<Routes>,
    pub service: &'a LevelSelection,
    /// SL2VL and arbitration tables; forwarding tables come from the routes.
    pub tables: &'a Tables,
}

/// The traffic: pattern and hardware.
#[derive(Clone, Debug)]
pub struct TrafficLoad {
    pub pattern: TrafficPattern,
    pub settings: TrafficSettings,
}
