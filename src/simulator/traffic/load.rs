//! What a run is given: a fabric with its marks, tables and levels, hardware, and a pattern.

use std::sync::Arc;

use super::lanes::Service;
use super::pattern::Pattern;
use super::settings::Settings;
use fabdeck_fabric::{Fabric, Faults, Routes, Tables};

/// Where packets go.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub fabric: &'a Fabric,
    pub faults: &'a Faults,
    pub routes: &'a Arc<Routes>,
    pub service: &'a Service,
    /// Tables of lanes and of arbitration; the forwarding tables are those of the routes.
    pub tables: &'a Tables,
}

/// Who sends them.
#[derive(Clone, Debug)]
pub struct Load {
    pub pattern: Pattern,
    pub settings: Settings,
}
