//! Ties the list of `sources` to the keys that every fabric made by name understands.

use crate::generate;
use crate::script::CatalogueKey;

pub fn common_keys() -> Vec<CatalogueKey> {
    let key =
        |key: &generate::Key| CatalogueKey { name: key.name, default: key.default, meaning: key.meaning };
    generate::common_keys().iter().map(key).collect()
}
