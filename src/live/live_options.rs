//! How live fabrics are read, and the source that reads one so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::mad_source::{ExchangePolicy, Keys, LiveSource, RefusalStore};
use super::umad::MadLibrary;
use fabdeck_fabric::observe::Notes;
use fabdeck_mad::access::{InformToken, ReadPort};
use fabdeck_simulator::SharedSimulator;

/// How live fabrics are read.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Which library reads the adapters of this machine.
    pub library: MadLibrary,
    pub policy: ExchangePolicy,
    pub keys: Keys,
    /// The token with which sweeps subscribe to traps; `None` for no traps.
    pub traps: Option<InformToken>,
    /// The simulators of this process, which a second opening shares; without them each opening creates its own.
    pub own: Option<SimulatorPool>,
    /// Where it is kept what kinds of devices refuse; without it each session asks anew.
    pub refusals: Option<Arc<dyn RefusalStore>>,
}

/// Simulators of this process, by the text that named them. The same text leads to the same fabric in its present
/// state.
#[derive(Clone, Debug, Default)]
pub struct SimulatorPool(pub(super) Arc<Mutex<BTreeMap<String, (SharedSimulator, Notes)>>>);

/// A source that reads through a port.
pub(super) fn live_source(text: &str, port: ReadPort, options: &LiveOptions) -> LiveSource {
    LiveSource::new(text, port, options.policy, options.keys.clone())
        .with_traps(options.traps)
        .with_refusals(options.refusals.clone())
}
