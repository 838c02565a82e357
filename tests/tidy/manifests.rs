//! Rules for `Cargo.toml`: the dependencies of crates, versions in the workspace alone, and the targets of a crate.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::architecture::Architecture;
use crate::source::{Offence, is_name};
use crate::tree::{folder, join};

/// The manifest of a member of the workspace.
pub struct Manifest {
    path: String,
    text: String,
    table: Table,
}

/// Values of `[package]` that only the workspace states.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];
const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

impl Manifest {
    pub fn read(path: &str, text: &str) -> Self {
        let table = text.parse().unwrap_or_else(|e| panic!("{path}: {e}"));
        Self { path: path.to_owned(), text: text.to_owned(), table }
    }

    /// An offence at the line that begins with this name.
    fn offence(&self, name: &str, what: String) -> Offence {
        let begins = |line: &str| {
            let rest = line.strip_prefix(name).filter(|_| !name.is_empty());
            rest.is_some_and(|rest| !rest.starts_with(|c| is_name(c) || c == '-'))
        };
        let at = self.text.lines().position(begins).unwrap_or(0);
        Offence { path: self.path.clone(), line: at + 1, what }
    }

    /// The source files that Cargo builds from this manifest, by their path from the top of the repository.
    pub fn roots(&self) -> Vec<String> {
        let mut roots = Vec::new();
        for target in ["lib", "bin", "test", "bench", "example"].iter().filter_map(|key| self.table.get(*key))
        {
            let single = target.as_table().into_iter();
            let several = target.as_array().into_iter().flatten().filter_map(Value::as_table);
            let paths = single.chain(several).filter_map(|target| target.get("path")?.as_str());
            roots.extend(paths.map(|path| join(folder(&self.path), path)));
        }
        roots
    }

    /// The dependency tables with their names, including those for single targets.
    fn dependency_tables(&self) -> Vec<(&str, &Table)> {
        let targets = self.table.get("target").and_then(Value::as_table);
        let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
        let places: Vec<&Table> = std::iter::once(&self.table).chain(targets).collect();
        let mut found = Vec::new();
        for kind in DEPENDENCIES {
            let tables = places.iter().filter_map(|place| place.get(*kind)?.as_table());
            found.extend(tables.map(|table| (*kind, table)));
        }
        found
    }

    /// Name of the crate, if the manifest is below `src`.
    fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("src/")?.strip_suffix("/Cargo.toml")
    }

    /// Checks that a crate depends on exactly the crates that the architecture lists for it.
    pub fn check_needs(&self, architecture: &Architecture) -> Vec<Offence> {
        let Some(name) = self.crate_name() else { return Vec::new() };
        let Some(needs) = architecture.needs.get(name) else { return Vec::new() };
        let (mut offences, mut used) = (Vec::new(), BTreeSet::new());
        for (kind, table) in self.dependency_tables() {
            for (package, need) in table.keys().filter_map(|key| Some((key, crate_of(key)?))) {
                if kind == "dependencies" {
                    used.insert(need);
                }
                if !needs.contains(need) {
                    let what = format!("{name} must not depend on {need} by docs/architecture.md");
                    offences.push(self.offence(package, what));
                }
            }
        }
        for need in needs.iter().filter(|need| !used.contains(need.as_str())) {
            let what = format!("docs/architecture.md says that {name} needs {need}, and it does not");
            offences.push(self.offence("", what));
        }
        offences
    }

    /// Checks that a crate has the name of its folder and that a library's root is at the top of it. The translation
    /// of paths assumes both.
    pub fn check_name(&self, architecture: &Architecture) -> Vec<Offence> {
        let Some(name) = self.crate_name() else { return Vec::new() };
        let is_library = architecture.room(name, name).is_some();
        let expected = if is_library { format!("fabdeck-{name}") } else { "fabdeck".to_owned() };
        let value = |section: &str, key: &str| self.table.get(section)?.get(key)?.as_str();
        let mut offences = Vec::new();
        if value("package", "name") != Some(&expected) {
            offences.push(self.offence("name", format!("the package in src/{name} is named {expected}")));
        }
        if value("lib", "path") != Some("lib.rs") || value("lib", "name").is_some() {
            offences.push(self.offence("[lib]", "the library is lib.rs, named as the package".to_owned()));
        }
        offences
    }

    /// Checks that versions, other package values and lints come from the workspace.
    pub fn check_inherited(&self) -> Vec<Offence> {
        let mut offences = Vec::new();
        let inherits = |value: &Value| value.get("workspace").and_then(Value::as_bool) == Some(true);
        for (_, table) in self.dependency_tables() {
            for (name, _) in table.iter().filter(|(_, value)| !inherits(value)) {
                let what = format!("{name}: a dependency is '.workspace = true'");
                offences.push(self.offence(name, what));
            }
        }
        let package = self.table.get("package");
        for key in INHERITED {
            if !package.and_then(|package| package.get(*key)).is_some_and(inherits) {
                offences.push(self.offence(key, format!("{key}.workspace = true is missing")));
            }
        }
        if !self.table.get("lints").is_some_and(inherits) {
            offences.push(self.offence("[lints", "[lints] workspace = true is missing".to_owned()));
        }
        offences
    }
}

/// The folder below `src` of a package of the workspace.
fn crate_of(package: &str) -> Option<&str> {
    if package == "fabdeck" { Some(package) } else { package.strip_prefix("fabdeck-") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::tests::TABLES;

    const CLEAN: &str = "\
[package]
name = \"fabdeck-shed\"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
[lib]
path = \"lib.rs\"
[lints]
workspace = true
[dependencies]
fabdeck-ground.workspace = true
fabdeck-house.workspace = true
serde = { workspace = true, features = [\"rc\"] }
[dev-dependencies]
tempfile.workspace = true
";

    fn offences(folder: &str, text: &str) -> Vec<String> {
        let (manifest, tables) =
            (Manifest::read(&format!("{folder}/Cargo.toml"), text), Architecture::read(TABLES));
        let all = [manifest.check_needs(&tables), manifest.check_name(&tables), manifest.check_inherited()];
        all.concat().iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn one_offence(text: &str, says: &str) {
        let found = offences("src/shed", text);
        assert!(found.len() == 1 && found[0].contains(says), "{text}: {found:?}");
    }

    #[test]
    fn a_manifest_names_its_roots() {
        let manifest = "[lib]\npath = \"lib.rs\"\n[[bin]]\nname = \"a\"\npath = \"main.rs\"\n\
                        [[test]]\nname = \"b\"\npath = \"../../tests/b/main.rs\"\n[[test]]\npath = \"c.rs\"\n\
                        [dependencies]\nd = { path = \"x.rs\" }\n";
        let roots = Manifest::read("src/shed/Cargo.toml", manifest).roots();
        assert_eq!(roots, ["src/shed/lib.rs", "src/shed/main.rs", "tests/b/main.rs", "src/shed/c.rs"]);
    }

    #[test]
    fn dependencies_that_the_architecture_does_not_list_are_caught() {
        assert_eq!(offences("src/shed", CLEAN), [""; 0]);
        one_offence(
            &CLEAN.replace("serde =", "fabdeck.workspace = true\nserde ="),
            "shed must not depend on fabdeck",
        );
        one_offence(
            &CLEAN.replace("tempfile", "fabdeck"),
            "src/shed/Cargo.toml:16: shed must not depend on fabdeck",
        );
        one_offence(
            &format!("{CLEAN}[target.'cfg(unix)'.dependencies]\nfabdeck-attic.workspace = true\n"),
            "shed must not depend on attic",
        );
        one_offence(&CLEAN.replace("fabdeck-house.workspace = true\n", ""), "says that shed needs house");
        let in_tests = CLEAN.replace("tempfile", "fabdeck");
        assert_eq!(offences("tests/fuzz", &in_tests), [""; 0], "tests may need any crate");
    }

    #[test]
    fn versions_outside_the_workspace_are_caught() {
        for stated in ["tempfile = \"3\"", "tempfile = { version = \"3\" }", "tempfile = { path = \"../x\" }"]
        {
            one_offence(&CLEAN.replace("tempfile.workspace = true", stated), "tempfile: a dependency is");
        }
        let of_target = "[target.'cfg(unix)'.dev-dependencies]\nlibc = \"0.2\"\n";
        one_offence(&format!("{CLEAN}{of_target}"), "libc: a dependency is");
        one_offence(&CLEAN.replace("version.workspace = true\ne", "version = \"1.0.0\"\ne"), ":3: version.");
        one_offence(&CLEAN.replace("edition.workspace = true\n", ""), "edition.workspace = true is missing");
    }

    #[test]
    fn crates_without_the_lints_of_the_workspace_are_caught() {
        one_offence(&CLEAN.replace("[lints]\nworkspace = true\n", ""), "[lints] workspace = true");
        one_offence(
            &CLEAN.replace("[lints]\nworkspace = true", "[lints.rust]\nunused = \"allow\""),
            ":9: [lints]",
        );
    }

    #[test]
    fn crates_with_names_of_their_own_are_caught() {
        one_offence(
            &CLEAN.replace("fabdeck-shed", "shed"),
            ":2: the package in src/shed is named fabdeck-shed",
        );
        one_offence(&CLEAN.replace("lib.rs", "src/lib.rs"), "the library is lib.rs");
        one_offence(&CLEAN.replace("[lib]\n", "[lib]\nname = \"barn\"\n"), "the library is lib.rs");
        let found = offences("src/fabdeck", &CLEAN.replace("fabdeck-shed", "fabdeck"));
        assert_eq!(found.len(), 1, "only its need of shed is missing: {found:?}");
    }
}
