//! Converts the keys of generated fabrics and of the simulator for `fabdeck sources`.

use super::access::CatalogueKey;
use fabdeck_fabric::generate;
use fabdeck_live::SIMULATOR_KEYS;

pub fn common_keys() -> Vec<CatalogueKey> {
    let key = |key: &generate::TemplateKey| CatalogueKey {
        name: key.name,
        default: key.default,
        meaning: key.meaning,
    };
    generate::common_keys().iter().map(key).collect()
}

pub fn simulator_keys() -> Vec<CatalogueKey> {
    let key = |key: &fabdeck_live::SimulatorKey| CatalogueKey {
        name: key.name,
        default: key.default,
        meaning: key.meaning,
    };
    SIMULATOR_KEYS.iter().map(key).collect()
}
