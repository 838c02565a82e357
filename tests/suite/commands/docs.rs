//! Pages that are made from the source are not stale. `FABDECK_UPDATE_DOCS=1` writes them anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fabdeck::script::docs::{commands_page, exit_codes_page, fields_page, keys_page};
use fabdeck::script::schemas::schemas;

fn docs() -> PathBuf {
    Path::new(env!("FABDECK_ROOT")).join("docs")
}

fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::from([
        (docs().join("commands.md"), commands_page()),
        (docs().join("fields.md"), fields_page()),
        (docs().join("keys.md"), keys_page()),
        (docs().join("exit-codes.md"), exit_codes_page()),
    ]);
    pages.extend(schemas().into_iter().map(|(name, text)| (docs().join("schemas").join(name), text)));
    pages
}

#[test]
fn generated_pages_are_fresh() {
    let update = std::env::var_os("FABDECK_UPDATE_DOCS").is_some();
    for (path, text) in pages() {
        if update {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "{} is stale; set FABDECK_UPDATE_DOCS=1 and run this test again",
            path.display()
        );
    }
    let known = pages();
    for entry in std::fs::read_dir(docs().join("schemas")).unwrap() {
        let path = entry.unwrap().path();
        assert!(known.contains_key(&path), "{} is the schema of nothing", path.display());
    }
}
